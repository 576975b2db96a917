"""What the project says of itself in several files is one thing: pins, environments, version, imports, commands."""

import ast
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import ol2r

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINS = {
    canonicalize_name(requirement.name): requirement
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
    for requirement in [Requirement(line)]
}
CONDA_NAMES = {
    "matplotlib-base": "matplotlib",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "seaborn-base": "seaborn",
}


def declared(*extras: str) -> list[Requirement]:
    """The project's own requirements, with some extras."""
    project = PYPROJECT["project"]
    lines = project["dependencies"] + [line for extra in extras for line in project["optional-dependencies"][extra]]
    return [Requirement(line) for line in lines]


def pinned(name: str) -> str:
    """The version constraints.txt pins."""
    (pin,) = PINS[canonicalize_name(name)].specifier
    assert pin.operator == "=="
    return pin.version


def test_every_pin_lies_within_the_declared_bounds():
    for requirement in declared("book", "dask", "lab", "release", "service", "test", "dev"):
        assert requirement.specifier.contains(pinned(requirement.name)), requirement


def test_everything_that_is_needed_however_indirectly_is_pinned():
    seen: set[str] = set()

    def visit(requirement: Requirement) -> None:
        name = canonicalize_name(requirement.name)
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            return
        seen.add(name)
        try:
            needs = requires(name) or []
        except PackageNotFoundError:
            return  # of an extra that is not installed here
        # a GPU build of torch names its own libraries, each at one version
        assert name in PINS or name.startswith(("nvidia-", "cuda-", "triton")), requirement
        for line in needs:
            visit(Requirement(line))

    for requirement in declared("book", "dask", "lab", "release", "service", "test", "dev"):
        visit(requirement)


def test_what_is_installed_here_is_what_is_pinned():
    for requirement in declared("book", "dask", "release", "service", "test"):
        assert version(requirement.name).partition("+")[0] == pinned(requirement.name)


def test_conda_users_get_the_same_versions():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    packages = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    pins = dict(package.split("=") for package in packages if "=" in package)
    assert pins.pop("python") in PYPROJECT["project"]["requires-python"]
    for package, found in pins.items():
        assert found == pinned(CONDA_NAMES.get(package, package)), package
    assert pip == ["-c constraints.txt", "-e .[book,dask,lab,release,service,test,dev]"]


def test_pip_resolves_the_pins_of_the_conda_environment():
    """All of them are installed here, so pip needs no index; pins that contradict each other would stop it."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    pins = dict(entry.split("=") for entry in environment["dependencies"] if isinstance(entry, str) and "=" in entry)
    wanted = [f"{CONDA_NAMES.get(name, name)}=={number}" for name, number in pins.items() if name != "python"]
    options = ["--dry-run", "--no-index", "-c", str(ROOT / "constraints.txt")]
    found = subprocess.run([sys.executable, "-m", "pip", "install", *options, *wanted], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "Would install" not in found.stdout


def test_the_container_installs_what_is_pinned_for_the_same_python():
    text = (ROOT / ".devcontainer" / "Dockerfile").read_text()
    environment = (ROOT / "environment.yml").read_text()
    assert re.search(r"FROM python:([\d.]+)", text)[1] == re.search(r"- python=([\d.]+)", environment)[1]
    installs = re.findall(r"pip install[^&\\\n]*", text)
    assert installs and all("-c constraints.txt" in install for install in installs)
    extras = re.search(r"-e \.\[([\w,]+)\]", text)[1].split(",")
    assert set(extras) <= set(PYPROJECT["project"]["optional-dependencies"])
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()


def test_the_gpu_environment_differs_from_the_printed_one_by_one_line():
    text = (ROOT / "environment.yml").read_text()
    assert re.findall(r"^  - pytorch-\w+=", text, re.MULTILINE) == ["  - pytorch-cpu="]
    assert "`pytorch-cpu` by `pytorch-gpu`" in text


def test_every_import_of_the_library_is_declared():
    """A package that is imported but only comes along with another one is a break in waiting."""
    names = {canonicalize_name(requirement.name) for requirement in declared("book", "dask")}
    packages = packages_distributions()  # the package markdown_it, for one, comes with markdown-it-py
    for source in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            for module in {module.partition(".")[0] for module in modules} - sys.stdlib_module_names - {"ol2r"}:
                brought = {canonicalize_name(each) for each in packages.get(module, [module])}
                assert brought & names, f"{source.name} imports {module}"


def test_every_declared_dependency_is_imported():
    sources = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    imported = set(re.findall(r"^\s*(?:import|from) (\w+)", sources, re.MULTILINE))
    assert {requirement.name for requirement in declared()} <= imported


def test_version_and_licence_are_the_same_wherever_they_stand():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PYPROJECT["project"]["version"] == ol2r.__version__ == citation["version"]
    assert f"Version {ol2r.__version__}" in (ROOT / "book" / "cite.md").read_text()
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert ol2r.__version__ == zenodo["version"]
    # one licence: in CITATION.cff two mean that a reader may choose
    assert PYPROJECT["project"]["license"] == citation["license"] == zenodo["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")
    assert "CC BY 4.0" in (ROOT / "LICENSE-text").read_text(encoding="utf-8")


def test_published_numbers_travel_with_the_package():
    for package, patterns in PYPROJECT["tool"]["setuptools"]["package-data"].items():
        folder = ROOT / "src" / Path(*package.split("."))
        assert all(any(folder.glob(pattern)) for pattern in patterns), package


@pytest.mark.parametrize("session", ["tests", "book"])
def test_the_readme_prints_one_line_that_makes_its_own_environment(session):
    lines = re.findall(rf"^[^#\n].*nox -s {session}$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(lines) == 1
    assert lines[0].startswith("python3 -m venv ") and "-c constraints.txt" in lines[0]


def test_compiled_code_is_kept_apart_by_the_state_of_its_sources(tmp_path):
    code = "import os, ol2r; print(os.environ['NUMBA_CACHE_DIR'])"
    package = tmp_path / "ol2r"
    shutil.copytree(ROOT / "src" / "ol2r", package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)} | {"XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)

    def folder():
        run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        return run.stdout.strip()

    before = folder()
    assert before.startswith(str(tmp_path))
    (package / "report" / "strip.py").write_text("nothing that is compiled")
    assert folder() == before
    (package / "random.py").write_text((package / "random.py").read_text() + "\n")
    assert folder() != before


@pytest.mark.parametrize(("asked", "expected"), [(None, 0), ("cpu", 1)])
def test_a_build_of_torch_is_taken_from_its_own_index_only_where_one_asks(asked, expected, monkeypatch):
    """The rest, and torch where nobody asks, comes from the index that pip uses anyway."""
    nox = SimpleNamespace(session=lambda function: function, options=SimpleNamespace(), Session=object)
    monkeypatch.setitem(sys.modules, "nox", nox)
    monkeypatch.delenv("OL2R_TORCH", raising=False)
    if asked:
        monkeypatch.setenv("OL2R_TORCH", asked)
    taken: list[tuple[str, ...]] = []
    session = SimpleNamespace(install=lambda *given: taken.append(given), run=lambda *given, **more: None, posargs=[])
    runpy.run_path(str(ROOT / "noxfile.py"))["tests"](session)
    assert len(taken) == expected + 1 and all(given[:3] == ("-q", "-c", "constraints.txt") for given in taken)
    own_index = ("torch", "--index-url", f"https://download.pytorch.org/whl/{asked}")
    assert [given[3:] for given in taken[:expected]] == [own_index] * expected
    assert "--index-url" not in taken[-1] and not any("--extra-index-url" in given for given in taken)
