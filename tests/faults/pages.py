"""Hostile names on whole pages: text where a harmless name is text, and the same elements around it.

Each name is shown beside a harmless twin. The HTML that is made of both must have the same elements with the same
attributes, and the same words but for the name. So a name that becomes markup, ends a table or a block too early, or
adds an attribute or a script is noticed wherever it stands.
"""

import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import TextIO

import build
import pandas as pd
from faults.names import hostile
from faults.tally import Tally

from ol2r.report import explore, tables
from ol2r.report.choice import Choice
from ol2r.report.strip import Strip
from ol2r.report.style import Drawing

ROOT = Path(__file__).resolve().parents[2]
TWIN = "harmless"
Event = tuple[str, ...]
"""An element that begins or ends, or the words between two."""


class Events(HTMLParser):
    """What a page consists of, in order: elements with their attributes, and words without needless white space.

    Colours of source text do not count, because they depend on the text.
    """

    def __init__(self, html: str):
        super().__init__()
        self.found: list[Event] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "span" and "pre" in self.open:
            return
        self.found.append(("begin", tag, *(part for name, value in attrs for part in (name, value or ""))))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and "pre" in self.open:
            return
        self.found.append(("end", tag))
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            if "<" in data and "application/json" in self.found[-1]:
                data = "a script with <"
            elif "application/json" in self.found[-1]:
                data = " ".join(strings(json.loads(data)))
        if self.found and self.found[-1][0] == "words":
            data = self.found.pop()[1] + data
        self.found.append(("words", data))


EMPTY = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
"""Elements that have no end."""


def strings(value: object) -> Iterator[str]:
    """All texts in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(each)


def shown(name: str) -> str:
    """How a name must stand on a page: in one line, with escapes for what would not be seen but obeyed."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in " ".join(name.split()))


def in_tex(name: str) -> str:
    """How a name stands in BibTeX."""
    signs = {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "{": "", "}": ""}
    return "".join(signs.get(each, f"\\{each}" if each in "%&#_$" else each) for each in shown(name))


TYPED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "--", "—": "---", "…": "..."})
"""What Sphinx sets for quotes, dashes and dots, as they are typed."""


def typed(text: str) -> str:
    """A text as it was typed before Sphinx set it. It also takes a backslash before such a sign for an escape."""
    return re.sub(r"\\(?=[\\\"'.`-])", "", text.translate(TYPED))


NUMBERED = re.compile(
    r"(?<=_downloads/)[0-9a-f]{32}|(?<=Table )[\d.]+|(?<=Figure )[\d.]+"
    r"|(?<=id)\d+|(?<=sd-tab-item-)\d+|(?<=sd-tab-set-)\d+|\b\d{5}\b"
)
"""What counts up along a page."""


def difference(events: list[Event], twins: list[Event], name: str) -> str:
    """Where a page with a name is something else than its twin with `TWIN`; empty if the name is text everywhere."""
    n_shown = 0
    for event, twin in zip(events, twins, strict=False):
        n_shown += sum(part.count(TWIN) for part in twin)
        found, *expected = (
            [" ".join(NUMBERED.sub("#", typed(part.replace(TWIN, each))).split()) for part in of]
            for of, each in ((event, TWIN), *((twin, told(name)) for told in (shown, in_tex, str)))
        )
        if found not in expected:
            return f"{found!r} is not {expected[0]!r}"
    if len(events) != len(twins):
        return f"{len(events)} elements and texts, not {len(twins)}"
    return "" if n_shown else "the name is shown nowhere"


# One page of all ways to show a name


def _strip(name: str, number: str) -> str:
    anchor = f"nsgd-{number}"
    facts = {"anchor": anchor, "title": name, "tier": name, "data": name, "rounds": "1", "seeds": name, "steps": "1"}
    facts |= {"runs": name, "device": name, "code": name, "csv": f"data/{anchor}.csv", "source": ""}
    facts |= {"command": f"ol2r draw {name}", "keys": [name]}
    strip = Strip(facts, pd.DataFrame({"dataset": [name, "b"], name: [1.5, 2.5]}))
    strip.write(Path(os.environ["OL2R_PAGE"], str(strip.facts["csv"])))
    return strip.block


def _tabs(name: str, number: str) -> str:
    drawings = [Drawing(figsize=(1, 1)), Drawing(figsize=(1, 1))]
    for each in drawings:
        each.table = pd.DataFrame({"x": [1]})
        each.text(0.5, 0.5, "x")
    drawings[0].alt = f"highest for {name}"
    return str(Choice({name: drawings[0], f"other {number}": drawings[1]}, "dataset")._repr_markdown_())


def _chart(name: str, number: str) -> str:
    """The page to explore, without its scripts."""
    rows = [{"dataset": name, "users": name, "learner": "MGD", "round": 1, "mean": 0.5, "low": 0.4, "high": 0.6}]
    table = pd.DataFrame(rows).assign(runs=3)
    page = explore.page([explore.Curves(name, name, table)], "smoke").split("\n")
    return "\n".join(["```{raw} html", *(line for line in page if "explore-data" in line), "```"])


WAYS: Mapping[str, Callable[[str, str], str]] = {
    "table": lambda name, number: tables.myst(
        ["data", tables.plain(name)], [[tables.named(name), "1"], ["2", tables.plain(name)]],
        name=f"table-{number}", caption=f"Of {tables.plain(name)}.",
    ),
    "heads": lambda name, number: tables.myst(
        ["data", "score"], tables.headed({tables.plain(name): [["a", "1"]], "b": [["c", "2"]]}),
        name=f"heads-{number}", caption="Some.",
    ),
    "fold": lambda name, number: tables.folded(tables.plain(name), f"Told of {tables.plain(name)} and others."),
    "strip": _strip,
    "tabs": _tabs,
    "chart": _chart,
}  # fmt: skip
"""Ways to show a name, each as MyST text of a name and a number that makes anchors differ."""


@contextmanager
def silent(file: TextIO) -> Iterator[None]:
    """Let this process and those that it starts write into a file instead."""
    before = {number: os.dup(number) for number in (1, 2)}
    try:
        for number in before:
            os.dup2(file.fileno(), number)
        yield
    finally:
        for number, copy in before.items():
            os.dup2(copy, number)
            os.close(copy)


def rendered(folder: Path, text: str) -> str:
    """The HTML of a page of MyST text, made as the book's pages are."""
    book = folder / "book"
    shutil.copytree(ROOT / "book", book, ignore=lambda _, names: [each for each in names if each.endswith(".md")])
    shutil.copytree(folder / "files", book, dirs_exist_ok=True)
    (book / "_toc.yml").write_text("format: jb-book\nroot: faults\n", encoding="utf-8")
    (book / "faults.md").write_text(f"# Faults\n\n{text}", encoding="utf-8", errors="surrogateescape")
    with (folder / "log").open("w") as log, silent(log):
        build.render(book, ROOT / "_config.yml", folder, strict=False)
    return (folder / "_build" / "html" / "faults.html").read_text(encoding="utf-8")


def parts(events: list[Event], kind: str) -> dict[str, list[Event]]:
    """The contents of those elements of a page that have a class of this kind, by class."""
    found: dict[str, list[Event]] = {}
    for start, event in enumerate(events):
        if event[:2] == ("begin", "div") and (own := re.search(rf"\b{kind}-\d{{5}}\b", " ".join(event[2:]))):
            depth, end = 1, start
            while depth and end + 1 < len(events):
                end += 1
                depth += {"begin": 1, "end": -1}.get(events[end][0], 0) if events[end][1] == "div" else 0
            found[own[0]] = events[start + 1 : end]
    return found


def csv_difference(path: Path, name: str) -> str:
    """Where the CSV file of a strip has something else than its table, of which a row is one line."""
    expected = " ".join(name.split()) if name.splitlines() != [name] else name
    with path.open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    right = [["dataset", expected], [expected, "1.5"], ["b", "2.5"]]
    return "" if found == right and len(path.read_text(encoding="utf-8").splitlines()) == 3 else f"its CSV has {found}"


def _add(tally: Tally, these: list[tuple[str, str]], found: Mapping[str, list[Event]], files: Path) -> None:
    """Count the outcomes of names; the first of `these` are the twins, one of each way."""
    ways = list(WAYS)
    for number, (way, name) in enumerate(these[len(ways) :], start=len(ways)):
        own = found.get(f"way-{number:05}")
        told = "it is not on the page" if own is None else difference(own, found[f"way-{ways.index(way):05}"], name)
        if way == "strip" and not told:
            told = csv_difference(files / "data" / f"nsgd-{number:05}.csv", name)
        tally.add("wrong" if told else "harmless", f"{way} of {name!r}: {told}")


AT_ONCE = 300
"""Names on one page."""


def pages(n: int, seed: int) -> list[Tally]:
    """Show n names on pages, each in one of the `WAYS`, beside a twin of each way."""
    tally, draw = Tally("names: pages", seed), random.Random(f"pages {seed}")
    before = os.environ.get("OL2R_PAGE")
    while tally.injected < n:
        names = [hostile(draw) for _ in range(min(AT_ONCE, n - tally.injected))]
        names = [name if name.split() else f"x{name}" for name in names]
        ways = list(WAYS)
        these = [*((way, TWIN) for way in ways), *((ways[i % len(ways)], name) for i, name in enumerate(names))]
        with tempfile.TemporaryDirectory() as there:
            os.environ["OL2R_PAGE"] = str(Path(there, "files"))
            texts = [
                f"::::::::{{container}} way-{number:05}\n{WAYS[way](name, f'{number:05}')}\n::::::::\n"
                for number, (way, name) in enumerate(these)
            ]
            found = parts(Events(rendered(Path(there), "\n".join(texts))).found, "way")
            _add(tally, these, found, Path(there, "files"))
    os.environ.pop("OL2R_PAGE")
    os.environ.update({} if before is None else {"OL2R_PAGE": before})
    return [tally]


# Whole chapters on a reader's own data

CHAPTERS = ("nsgd", "pairrank")
LETOR = "".join(
    f"{(7 * query + document) % 3} qid:{query} " + " ".join(
        f"{feature}:{(31 * query + 17 * document + 13 * feature) % 101 / 100}" for feature in range(1, 5)
    ) + "\n"
    for query in range(15) for document in range(6)
)  # fmt: skip
"""A reader's own data, small enough for a chapter on it to run in a minute."""


STARTUP = ""
"""What the kernel of a chapter does first, where a fault is planted."""


def file_name(name: str) -> str:
    """A name that a file can have, and that papermill's -p, which cuts at commas, passes on as it is."""
    return re.sub(r"[/\0,]", "", name).strip()[:80] or "x"


class Chapters:
    """Chapters that run on one small data set, whatever its file is called, at the smoke tier with one seed.

    Args:
        folder: where files, results and pages go.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.twins: dict[str, list[Event]] = {}

    def page(self, chapter: str, name: str, inside: bool) -> list[Event]:
        """The page of a chapter on data in a file of this name, or in a folder of this name.

        Raises:
            RuntimeError: papermill or the book's builder fails.
        """
        own = Path(tempfile.mkdtemp(dir=self.folder))
        given = own / name / "a.txt" if inside else own / f"{name}.txt"
        given.parent.mkdir(exist_ok=True)
        given.write_text(LETOR, encoding="utf-8")
        env = os.environ | {"OL2R_STORE": str(self.folder / "store"), "OL2R_PAGE": str(own / "page")}
        env.pop("OL2R_COMPUTE", None)
        if STARTUP:
            (own / "startup.py").write_text(STARTUP)
            env["PYTHONSTARTUP"] = str(own / "startup.py")
        notebook = own / f"{chapter}.ipynb"
        path = str(given.parent if inside else given)
        to_notebook = ["jupytext", "--to", "ipynb", "--set-kernel", "python3", "-o"]
        parameters = ["-p", "tier", "smoke", "-p", "seeds", "1", "-p", "datasets", path]
        self._run(own, env, *to_notebook, str(notebook), str(ROOT / "book" / f"{chapter}.md"))
        self._run(own, env, "papermill", "--no-progress-bar", str(notebook), str(notebook), *parameters)
        build.stage_page(notebook, own / "page", ROOT / "book", own / "book")
        with (own / "log").open("w") as log, silent(log):
            build.render(own / "book", ROOT / "_config.yml", own, strict=False)
        html = (own / "_build" / "html" / f"{chapter}.html").read_text(encoding="utf-8")
        return Events(html).found

    @staticmethod
    def _run(folder: Path, env: Mapping[str, str], tool: str, *arguments: str) -> None:
        command = [str(Path(sys.executable).with_name(tool)), *arguments]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{tool}: {done.stderr.strip()[-600:]}")

    def outcome(self, chapter: str, name: str, inside: bool) -> tuple[str, str]:
        """The outcome of a chapter on data of this name."""
        if chapter not in self.twins:
            self.twins[chapter] = self.page(chapter, TWIN, inside)
        try:
            events = self.page(chapter, name, inside)
        except RuntimeError as error:
            return "unclear", str(error)
        label = re.sub(r"[^\w.-]+", "-", name.partition(".")[0] or "own data")  # a label holds nothing else
        told = difference(list(map(pictured, events)), list(map(pictured, self.twins[chapter])), label)
        return ("wrong", f"{name!r}: {told}") if told else ("harmless", "")


def pictured(event: Event) -> Event:
    """An event without the names of drawings, which differ because labels are drawn, and without their sizes."""
    if event[:2] in (("begin", "img"), ("begin", "source")):
        told = dict(zip(event[2::2], event[3::2], strict=True))
        kept = {name: value if name in ("alt", "class") else "" for name, value in told.items()}
        return (*event[:2], *(part for fact in sorted(kept.items()) for part in fact))
    return event


def chapters(n: int, seed: int) -> list[Tally]:
    """Run chapters on data of n names, every second time that of a folder, and make their pages."""
    tally, draw = Tally("names: chapters", seed), random.Random(f"chapters {seed}")
    with tempfile.TemporaryDirectory() as folder:
        there = Chapters(Path(folder))
        for number in range(n):
            name = file_name(hostile(draw))
            tally.add(*there.outcome(CHAPTERS[number % len(CHAPTERS)], name, number // len(CHAPTERS) % 2 == 1))
    return [tally]
