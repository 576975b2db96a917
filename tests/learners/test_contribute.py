"""The contributor's page, followed to the letter: what it asks of a new learner or figure is all there is to do."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import ol2r

ROOT = Path(__file__).parents[2]
SOURCE = Path(ol2r.__file__).parents[1]
BLOCK = re.compile(r"^(`{3,})\{code-block\} (\w+)\n:caption: ([^\n]+)\n\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
TESTS = ("learners/test_learners.py", "learners/test_golden.py", "learners/test_reference.py", "report/test_style.py")


class Step(NamedTuple):
    """A block of the page."""

    language: str
    place: str
    text: str


def steps(title: str = "Add a learner") -> list[Step]:
    """The blocks of one section, in their order."""
    page = (ROOT / "book/contribute.md").read_text()
    section = page.partition(f"\n## {title}\n")[2].partition("\n## Add a ")[0]
    found = [Step(language, place, text) for _, language, place, text in BLOCK.findall(section)]
    assert found and len(found) == section.count("{code-block}")
    return found


class Copy:
    """A contributor's copy of the tests and of the book's page. The library's own files stay where they are, as their
    compiled code is kept by their place: what goes to their ends is run right after each was imported."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("tests/learners", "tests/report"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        helpers = ("tests/conftest.py", "tests/colours.py", "tests/invented.py", "tests/pictures.py")
        for name in ("pyproject.toml", *helpers, "book/api/learners.md"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        self.written: list[str] = []
        self.at_end: dict[str, str] = {}

    def follow(self, step: Step) -> None:
        if step.language == "bash":
            self.shell(step.text.replace("python ", f"{sys.executable} ", 1).split())
            return
        path = self.folder / step.place
        if (SOURCE.parent / step.place).is_file() and step.place.startswith("src/"):
            self.at_end[step.place] = step.text
        elif path.is_file():
            path.write_text(f"{path.read_text()}\n\n{step.text}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
            self.written.append(step.place)
        self._prepare()

    def _prepare(self) -> None:
        lines = ["import importlib"]
        for place in self.written:
            package = _module(str(Path(place).parent))
            lines.append(f"importlib.import_module({package!r}).__path__.append({str((self.folder / place).parent)!r})")
        for place, text in self.at_end.items():
            lines.append(f"exec({text!r}, vars(importlib.import_module({_module(place)!r})))")
        (self.folder / "sitecustomize.py").write_text("\n".join(lines) + "\n")

    def shell(self, command: list[str]) -> subprocess.CompletedProcess:
        # the library is imported before pytest starts, too early for a check of its annotations
        unchecked = "--jaxtyping-packages= -W ignore::pytest.PytestAssertRewriteWarning"
        places = os.pathsep.join([str(self.folder), str(SOURCE)])
        surroundings = os.environ | {"PYTHONPATH": places, "PYTEST_ADDOPTS": unchecked}
        return subprocess.run(command, cwd=self.folder, env=surroundings, capture_output=True, text=True)

    def tests(self, which: str, files: Sequence[str] = TESTS) -> subprocess.CompletedProcess:
        files = [f"tests/{name}" for name in files]
        return self.shell([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", which, *files])


def _module(place: str) -> str:
    return place.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_a_learner_that_is_added_as_the_page_says_passes_at_once(tmp_path):
    copy = Copy(tmp_path)
    for step in steps():
        copy.follow(step)
    done = copy.tests("Rocchio or every_learner_has or colour")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert int(re.findall(r"(\d+) passed", done.stdout)[0]) > 30
    described = (tmp_path / "book/api/learners.md").read_text()
    assert all(f"automodule:: {_module(place)}\n" in described for place in copy.written)
    assert 'LEARNERS.register("Rocchio"' in copy.at_end["src/ol2r/report/style.py"]


@pytest.mark.parametrize("left_out", ["src/ol2r/learners/__init__.py", "tests/learners/small.py",
                                      "tests/learners/reference.py", "in a shell"])  # fmt: skip
def test_a_step_that_is_left_out_is_missed(tmp_path, left_out):
    copy = Copy(tmp_path)
    for step in steps():
        if step.place != left_out:
            copy.follow(step)
    done = copy.tests("every_learner_has or (a_trajectory and Rocchio)")
    assert done.returncode != 0


@pytest.mark.parametrize("left_out", ["", "in a shell", "src/ol2r/papers/nsgd/figures.py"])
def test_a_figure_that_is_added_as_the_page_says_has_its_picture(tmp_path, left_out):
    copy = Copy(tmp_path)
    for step in steps("Add a figure"):
        if step.place != left_out:
            copy.follow(step)
    done = copy.tests("wins", ["papers/nsgd/test_wins.py"])
    assert (done.returncode == 0) == (not left_out), done.stdout[-4000:] + done.stderr[-2000:]
    if not left_out:
        (drawn,) = tmp_path.glob("tests/papers/nsgd/pictures/*.txt")
        assert "panel: informational\n  x: round, log" in drawn.read_text()
        drawn.write_text(drawn.read_text().replace("(2, 0.2)", "(2, 0.3)"))
        assert copy.tests("wins", ["papers/nsgd/test_wins.py"]).returncode == 1
