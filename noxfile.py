"""The project's chores, each in an environment of its own made from constraints.txt: `nox -l` lists them.

Arguments after `--` are passed to the tool: `nox -s tests -- tests/learners -x`. With OL2R_TORCH=cpu, PyTorch is
installed from its own index of builds without CUDA. This file must not know what a chapter computes.
"""

import os
import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2024.10"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "types", "tests", "book", "browser"]


def install(session: nox.Session, *requirements: str) -> None:
    if build := os.environ.get("OL2R_TORCH"):
        index = f"https://download.pytorch.org/whl/{build}"
        session.install("-q", "-c", "constraints.txt", "torch", "--index-url", index)
    session.install("-q", "-c", "constraints.txt", *requirements)


@nox.session
def tests(session: nox.Session) -> None:
    """Run every test, one process a core; those that open the built book are skipped until `book` has built one."""
    install(session, "-e", ".[book,dask,release,service,test]")
    one_core = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # else threads of one process wait for the other's
    session.run("pytest", "-n", "auto", "--maxprocesses", "8", "--dist", "worksteal", *session.posargs, env=one_core)


@nox.session
def lint(session: nox.Session) -> None:
    """Check the style of the code, and which packages may import which."""
    install(session, "ruff", "import-linter")
    session.run("ruff", "check", ".")
    session.run("lint-imports", "--no-cache", env={"PYTHONPATH": "src"})


@nox.session
def types(session: nox.Session) -> None:
    """Check static types."""
    install(session, "-e", ".[book,dask,service,test,dev]")
    session.run("pyright", *session.posargs)


@nox.session
def book(session: nox.Session) -> None:
    """Build the published book from committed results only, into _build/html."""
    install(session, "-e", ".[book]")
    session.run("python", "book/_ext/build.py", *session.posargs, env={"OL2R_COMPUTE": "never"})


@nox.session
def browser(session: nox.Session) -> None:
    """Check the built book in a headless Chromium: requests, mathematics, alt text, accessibility, anchors."""
    install(session, "-e", ".[book,test]")
    session.run("pytest", "tests/book", *session.posargs, env={"OL2R_REQUIRE_BROWSER": "1"})


@nox.session
def pdf(session: nox.Session) -> None:
    """Print the built book to one PDF and link it from the front page; needs Chromium, and `book` before it."""
    install(session, "-e", ".[book,test]")
    session.run("python", "book/_ext/pdf.py")


@nox.session
def pages(session: nox.Session) -> None:
    """Measure how soon the pages of the built book open; needs Chromium, and `book` before it."""
    install(session, "-e", ".[book,test]")
    session.run("python", "benchmarks/pages.py", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Make the archive of the last commit, an RO-Crate, as a folder and a zip in _build; builds the book if need be."""
    install(session, "-e", ".[book,release,test]")
    session.run("python", "book/_ext/crate.py", *session.posargs, env={"OL2R_COMPUTE": "never"})


@nox.session
def rerun(session: nox.Session) -> None:
    """Run one chapter through papermill: `nox -s rerun -- nsgd -p tier laptop -p seeds 3` writes nsgd.ipynb here, and
    with `--html` also the chapter's page.
    """
    if not session.posargs:
        session.error("name a chapter, then papermill's arguments: nox -s rerun -- nsgd -p tier smoke")
    chapter, *parameters = (word for word in session.posargs if word != "--html")
    install(session, "-e", ".[book]")
    files = {"OL2R_PAGE": str(Path(session.create_tmp(), "page"))}  # for the files of the page's strips
    shutil.rmtree(files["OL2R_PAGE"], ignore_errors=True)
    source = f"{session.create_tmp()}/{chapter}.ipynb"
    session.run("jupytext", "--to", "ipynb", "--set-kernel", "python3", "-o", source, f"book/{chapter}.md")
    to_terminal = ("--stdout-file", "-", "--stderr-file", "-", "--no-progress-bar")
    session.run("papermill", source, f"{chapter}.ipynb", *to_terminal, *parameters, env=files)
    if "--html" in session.posargs:
        session.run("python", "book/_ext/build.py", "--page", f"{chapter}.ipynb", env=files)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed against public code and against the machine's limit: `nox -s bench -- --quick --json`."""
    install(session, "-e", ".")
    session.run("python", "benchmarks/run.py", *session.posargs)


@nox.session
def faults(session: nox.Session) -> None:
    """Kill runs, flip bits, break disks and inputs, and count what becomes of it: `nox -s faults -- --share 0.1`."""
    install(session, "-e", ".[book,dask,test]")
    session.run("python", "tests/faults/run.py", *session.posargs)


@nox.session
def links(session: nox.Session) -> None:
    """Check every link that leaves the book; needs the network, and `book` must have run before."""
    install(session, "-e", ".[book]")
    session.run("python", "book/_ext/build.py", "--links", env={"OL2R_COMPUTE": "never"})
