"""From the text of the book to its pages: run each chapter, strip what changes between runs, let Sphinx do the rest.

Chapters are text notebooks. Papermill runs each once, at the tier asked for, as many side by side as there are cores;
Sphinx never executes anything. This file knows files and cells, not learners or results: a chapter asks `ol2r` for
those itself.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib.metadata import version
from pathlib import Path

import jupytext
import kernels
import nbformat
import papermill
import yaml
from jupyter_core.utils import ensure_event_loop

from ol2r import cores

ROOT = Path(__file__).resolve().parents[2]
STARTS = 3
"""How often a chapter's kernel is started: of two that start at once and choose the same port, one dies."""
ANSWER_SECONDS = 60
"""How long to wait until a kernel says that a cell has ended: on a busy machine the usual four seconds are too few."""


def pages(toc: Path) -> list[str]:
    """Names of all pages of a table of contents, in reading order."""

    def walk(node: object) -> list[str]:
        if isinstance(node, list):
            return [page for item in node for page in walk(item)]
        if not isinstance(node, dict):
            return []
        own = [node[key] for key in ("root", "file") if key in node]
        return own + [page for key in ("parts", "chapters", "sections") for page in walk(node.get(key))]

    return walk(yaml.safe_load(toc.read_text(encoding="utf-8")))


def is_chapter(source: Path) -> bool:
    """Whether a page is a text notebook, that is, whether its front matter names a kernel."""
    text = source.read_text(encoding="utf-8")
    return text.startswith("---\n") and "\nkernelspec:" in text.split("\n---", 1)[0]


def publishable(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The same executed notebook without times, paths and random ids, its code folded and its parameters out of sight.

    What a drawing says of itself becomes the alternative text of its image. Two runs on the same stored results then
    give the same bytes.
    """
    notebook.metadata.pop("papermill", None)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            for facts in output.get("metadata", {}).values():
                if "alt" in facts:  # MyST-NB reads it from the cell alone
                    cell.metadata.setdefault("mystnb", {}).setdefault("image", {})["alt"] = facts["alt"]
        tags = cell.metadata.setdefault("tags", [])
        if "injected-parameters" in tags:
            tags.append("remove-input")
        elif not {"remove-input", "remove-cell", "show-input"} & set(tags):
            tags.append("hide-input")
    return notebook


def run_chapter(source: Path, parameters: Mapping[str, object]) -> None:
    """Replace a text notebook by the notebook papermill made of it, which starts in the folder of its page."""
    notebook = jupytext.read(source)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    page = source.with_suffix(".ipynb")
    # saved once: by default papermill writes the notebook, with its figures, after every cell
    options = {"progress_bar": False, "request_save_on_cell_execute": False, "iopub_timeout": ANSWER_SECONDS}
    # not papermill's `cwd`, which is that of this process too, and so of the chapters beside this one
    options |= {"resources": {"metadata": {"path": str(page.parent)}}, "kernel_manager_class": kernels.KernelManager}
    for left in reversed(range(STARTS)):
        nbformat.write(notebook, page)
        try:
            papermill.execute_notebook(page, page, dict(parameters), **options)
            break
        except RuntimeError as fault:
            if not left or "Kernel died before replying" not in str(fault):
                raise
    nbformat.write(publishable(nbformat.read(page, as_version=4)), page)
    source.unlink()


def stage(book: Path, staged: Path, parameters: Mapping[str, object]) -> None:
    """Copy the book to a scratch folder and run its chapters there."""
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(book, staged)
    shutil.copy(ROOT / "CHANGELOG.md", staged)  # a page includes it
    sources = [staged / f"{page}.md" for page in pages(staged / "_toc.yml")]
    run_chapters([source for source in sources if source.exists() and is_chapter(source)], parameters)


def run_in_thread(source: Path, parameters: Mapping[str, object]) -> None:
    """As `run_chapter`; the event loop that Jupyter keeps for the thread is closed."""
    try:
        run_chapter(source, parameters)
    finally:
        ensure_event_loop().close()


def run_chapters(sources: Sequence[Path], parameters: Mapping[str, object]) -> None:
    """Run chapters side by side, at most one a core; once one fails no other begins, and its error is raised."""
    with ThreadPoolExecutor(cores.count()) as pool:
        runs = {pool.submit(run_in_thread, source, parameters): source for source in sources}
        try:
            for run in as_completed(runs):
                run.result()
                print(f"ran {runs[run].stem}", flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def stage_page(notebook: Path, files: Path, book: Path, staged: Path) -> None:
    """A staged book of one page, made from an executed notebook and the folder with the files of its strips."""
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(book, staged, ignore=lambda _, names: [name for name in names if name.endswith(".md")])
    nbformat.write(publishable(nbformat.read(notebook, as_version=4)), staged / f"{notebook.stem}.ipynb")
    (staged / "_toc.yml").write_text(f"format: jb-book\nroot: {notebook.stem}\n", encoding="utf-8")
    if files.is_dir():
        shutil.copytree(files, staged, dirs_exist_ok=True)


def render(staged: Path, config: Path, out: Path, builder: str = "html", strict: bool = True) -> None:
    """Pages of a staged book in out/_build/html: a page that is not there is an error and, if strict, so is every
    warning, such as that of a reference to another page."""
    if not version("jupyter-book").startswith("1."):
        raise SystemExit(f"jupyter-book 1.x makes this book; {version('jupyter-book')} would ignore _config.yml")
    command = [Path(sys.executable).with_name("jupyter-book"), "build", staged, "--config", config]
    command += ["--path-output", out, "--builder", builder, *(["-W", "-n", "--keep-going"] if strict else ["-q"])]
    # Sphinx reads docstrings off functions, so the API pages are made with numba's compiler off
    subprocess.run([str(word) for word in command], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    html = out / "_build" / "html"
    missing = [page for page in pages(staged / "_toc.yml") if not (html / f"{page}.html").is_file()]
    if missing:
        raise SystemExit(f"no HTML came out for {', '.join(missing)}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the book into _build/html.")
    parser.add_argument("--tier", default="paper", help="smoke, laptop or paper")
    parser.add_argument("--page", type=Path, metavar="NOTEBOOK", help="make the page of one executed notebook instead")
    parser.add_argument("--links", action="store_true", help="check outgoing links of the book staged last")
    arguments = parser.parse_args()
    staged = ROOT / "_build" / "book"
    if arguments.page:
        alone = ROOT / "_build" / "page"
        stage_page(arguments.page, Path(os.environ["OL2R_PAGE"]), ROOT / "book", alone / "book")
        render(alone / "book", ROOT / "_config.yml", alone, strict=False)
        print(f"the page is {alone / '_build' / 'html' / f'{arguments.page.stem}.html'}")
        return
    if arguments.links:
        render(staged, ROOT / "_config.yml", ROOT, "linkcheck")
        return
    shutil.rmtree(ROOT / "_build" / "html", ignore_errors=True)
    os.environ["OL2R_PAGE"] = str(staged)  # to which strips write the files that they name
    stage(ROOT / "book", staged, {"tier": arguments.tier})
    render(staged, ROOT / "_config.yml", ROOT)


if __name__ == "__main__":
    main()
