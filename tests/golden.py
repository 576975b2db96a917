"""Golden snapshots: what readers see of the book, as files, so that two states of the code can be compared.

    python tests/golden.py snapshot before
    python tests/golden.py snapshot after --pages nsgd nsgd-theory
    python tests/golden.py compare before after

A snapshot is a folder with one folder for each kind of what readers see:

    verdicts/   one file for each claim of `ol2r claims --json`
    texts/      one file for each page: the outputs of its cells, at the tier `paper`, from stored results
    figures/    the drawings of each page; equal bytes of SVG are equal pixels
    files/      what the page's strips and drawings write beside it: tables as CSV, drawings for narrow screens
    sources/    one file for each page: the functions that drew its figures
    addresses/  one file for each page: its anchors and, with `--html`, all ids of its page in the built book

Two snapshots are compared in what both hold: a page that one of them left out is no difference, a verdict, drawing or
file that is gone is one.
"""

import argparse
import base64
import difflib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VOLATILE = ((re.compile(r"\bat 0x[0-9a-f]+"), "at ADDRESS"),)
"""What differs between two runs of the same code, and the word that stands for it when snapshots are compared."""
ANCHORS = (
    re.compile(r"^\(([^()\s]+)\)=$", re.MULTILINE),
    re.compile(r"^:name: (\S+)$", re.MULTILINE),
    re.compile(r'^anchor: "?([^"\s]+)"?$', re.MULTILINE),
)
"""How Markdown names an address of a page."""
SOURCE = re.compile(r"^source: .*\n", re.MULTILINE)
SHOWN = 40
"""How many lines of one difference are printed."""


def steady(text: str) -> str:
    """A text without what differs between two runs of the same code."""
    for pattern, word in VOLATILE:
        text = pattern.sub(word, text)
    return text


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def record_verdicts(folder: Path, judgements: Iterable[dict]) -> None:
    """Write the judgements of `ol2r claims --json`, one file each."""
    for judgement in judgements:
        text = json.dumps(judgement, indent=1, ensure_ascii=False) + "\n"
        write(folder / "verdicts" / f"{judgement['paper']}-{judgement['id']}.json", text)


def record_page(folder: Path, name: str, cells: Iterable[dict], ids: Iterable[str] = ()) -> None:
    """Write what one executed page shows.

    Args:
        cells: of the executed notebook.
        ids: of the page in the built book.
    """
    texts, written, figures = [], [], 0
    for cell in cells:
        written.append(cell["source"])
        written.append(f":name: {cell['metadata'].get('mystnb', {}).get('figure', {}).get('name', '')}")
        for output in cell.get("outputs", ()):
            shown = dict(output.get("data", {}))
            for kind, ending in (("image/svg+xml", "svg"), ("image/png", "png")):
                if kind in shown:
                    figures += 1
                    drawing = shown.pop(kind)
                    path = folder / "figures" / name / f"{figures:02}.{ending}"
                    write(path, base64.b64decode(drawing) if ending == "png" else drawing)
                    shown["text/plain"] = f"drawing {figures}: {output['metadata'].get(kind, {}).get('alt', '')}"
            texts.append(shown.get("text/markdown") or shown.get("text/html") or shown.get("text/plain") or "")
            texts[-1] += output.get("text", "") + "\n".join(output.get("traceback", ()))
    text = "\n\n".join(texts) + "\n"
    anchors = {found for pattern in ANCHORS for each in (*written, text) for found in pattern.findall(each)}
    write(folder / "texts" / f"{name}.md", SOURCE.sub("", text))
    write(folder / "sources" / f"{name}.txt", "".join(SOURCE.findall(text)))
    write(folder / "addresses" / f"{name}.txt", "\n".join(sorted({*anchors, *ids})) + "\n")


def snapshot(folder: Path, names: Sequence[str], html: Path | None, with_verdicts: bool) -> None:
    """Execute the chapters as the published build does, and write what they show.

    Args:
        folder: is replaced.
        names: of pages (empty: all chapters).
        html: of the built book.
        with_verdicts: whether the claims are judged too.
    """
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    import build
    import nbformat

    shutil.rmtree(folder, ignore_errors=True)
    os.environ["OL2R_COMPUTE"] = "never"
    if with_verdicts:
        command = [Path(sys.executable).with_name("ol2r"), "claims", "--json"]
        record_verdicts(folder, json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    with tempfile.TemporaryDirectory() as scratch:
        staged = Path(scratch, "book")
        shutil.copytree(ROOT / "book", staged)
        sources = [path for path in sorted(staged.glob("*.md")) if build.is_chapter(path)]
        if unknown := set(names) - {path.stem for path in sources}:
            raise SystemExit(f"no chapters: {', '.join(sorted(unknown))}")
        sources = [path for path in sources if not names or path.stem in names]
        before = set(staged.rglob("*"))
        os.environ["OL2R_PAGE"] = str(staged)
        try:
            build.run_chapters(sources, {"tier": "paper"})
        finally:  # if a chapter fails, those that ran are kept
            pages = {path.stem: path.with_suffix(".ipynb") for path in sources if not path.exists()}
            notebooks = {path.with_suffix(".ipynb") for path in sources}
            for path in sorted({*staged.rglob("*")} - before - notebooks):
                if path.is_file():
                    write(folder / "files" / path.relative_to(staged), path.read_bytes())
            for name, path in pages.items():
                ids = re.findall(r'\bid="([^"]+)"', (html / f"{name}.html").read_text(encoding="utf-8")) if html else ()
                record_page(folder, name, nbformat.read(path, as_version=4).cells, ids)


def held(folder: Path) -> dict[Path, str]:
    """The texts of a snapshot by their paths in it; of a picture in bytes, its digest."""

    def content(path: Path) -> str:
        if path.suffix == ".png":
            return hashlib.sha256(path.read_bytes()).hexdigest()
        return steady(path.read_text(encoding="utf-8"))

    return {path.relative_to(folder): content(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def differences(before: Path, after: Path) -> Iterator[str]:
    """One text for each file that differs between two snapshots: its kind and name, and what differs in it."""
    old, new = held(before), held(after)
    pages, others = ({path.stem for path in each if path.parts[0] == "texts"} for each in (old, new))
    left_out = {f"{kind}/{page}" for page in pages ^ others for kind in ("texts", "figures", "sources", "addresses")}
    if not all(any(path.parts[0] == "verdicts" for path in each) for each in (old, new)):
        left_out.add("verdicts")
    for path in sorted({*old, *new}):
        kind = path.parts[0]
        if left_out & {kind, *(str(each.with_suffix("")) for each in (path, path.parent))}:
            continue
        if path not in old or path not in new:
            if kind == "files" and pages != others:  # the files of the pages that one snapshot left out
                continue
            yield f"{kind}: {path.relative_to(kind)} is {'new' if path in new else 'gone'}"
        elif old[path] != new[path]:
            pair = (each[path].splitlines() for each in (old, new))
            lines = list(difflib.unified_diff(*pair, lineterm="", n=1))[2:]
            told = [f"{kind}: {path.relative_to(kind)} differs", *lines[:SHOWN]]
            yield "\n".join([*told, *([f"({len(lines)} lines)"] if len(lines) > SHOWN else [])])


def main() -> int:
    parser = argparse.ArgumentParser(description="Record what readers see of the book, and compare two records.")
    actions = parser.add_subparsers(dest="action", required=True)
    taking = actions.add_parser("snapshot", help="write a snapshot to a folder, which is replaced")
    taking.add_argument("folder", type=Path)
    taking.add_argument("--pages", nargs="+", default=(), help="only these chapters")
    taking.add_argument("--html", type=Path, help="the built book, such as _build/html, for the ids of its pages")
    taking.add_argument("--no-verdicts", action="store_true", help="judge no claims")
    comparing = actions.add_parser("compare", help="print what differs between two snapshots; exits with 1 if anything")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    arguments = parser.parse_args()
    if arguments.action == "snapshot":
        snapshot(arguments.folder, arguments.pages, arguments.html, not arguments.no_verdicts)
        return 0
    found = list(differences(arguments.before, arguments.after))
    print("\n".join(found) or "no difference")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
