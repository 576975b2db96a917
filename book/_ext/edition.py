"""At the foot of every page: the version and the commit that the book was made from.

The date is that of the commit, so that the same commit always gives the same pages.
"""

import subprocess
from importlib.metadata import version
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[2]


def git(*words: str) -> str:
    """What a git command prints; empty outside a repository."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def told() -> list[str]:
    """The version, the commit and its date; "-dirty" marks a book made from files that differ from the commit."""
    name = git("describe", "--always", "--dirty", "--exclude=*")
    if not name:  # git may not read a repository that belongs to somebody else
        return [f"ol2r {version('ol2r')}", *(["commit unknown"] if (ROOT / ".git").exists() else [])]
    return [f"ol2r {version('ol2r')}", f"commit {name}", git("log", "-1", "--format=%cs")]


def footer() -> str:
    """The HTML of a page's foot."""
    return f"<p>{' · '.join(told())}</p>"


def write(app: Sphinx, config: Config) -> None:
    config.html_theme_options = {**config.html_theme_options, "extra_footer": footer()}


def setup(app: Sphinx) -> dict[str, object]:
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
