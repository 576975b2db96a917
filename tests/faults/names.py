"""Hostile names, of files, data sets, papers, figures and keys: in tables they are text, and errors have one line."""

import contextlib
import io
import os
import random
import tempfile
import warnings
from pathlib import Path
from unittest import mock

from faults.tally import Tally
from markdown_it import MarkdownIt
from shown import NASTY

from ol2r import cli
from ol2r.data.catalogue import CATALOGUE
from ol2r.data.own import take_in
from ol2r.errors import printable
from ol2r.report import tables

PIECES = [
    NASTY, "<script>alert(1)</script>", "<img src=x onerror=y>", "|", "\\|", "`", "```", "$x$", "$$", "*a*", "_b_",
    "[a](b)", "![a](b)", "{ref}`x`", "{cite:t}`y`", "](javascript:z)", "&lt;", "&#60;", "~s~", "^s^", "# h", "- l",
    "\n", "\r\n", "\t", "\x1b[31m", "\x07", "\u202e", "\u2028", "é", "…", "😀", "%s", "{0}", "{x!r}", "../", "C:\\",
    "'", '"', ";", "$(id)", "--", "\x7f", " ", "nsgd", "fig-2", ":::", "::::{note}", "(a)=",
    "\0", "\ufeff", "\u2066", "\u200b", "\x85", "\x9b31m", "{{x}}", "{{ 1 + 1 }}", "{%", "<!--", "-->", "]]>", "</div>",
    "</script>", "<script", "&copy;", "__b__", '"onload="x', "```{raw} html", "<https://a.b>", "[^1]", "[#a]",
    "\\(x\\)", "\\[", ": x", " #x", "%%", "+++", "@a", "\\input{x}", "long" * 60, "|-|", "~~", "1.", "+ x",
]  # fmt: skip
COMMANDS = (
    ("run", "{}"), ("run", "nsgd", "--datasets", "{}"), ("run", "nsgd", "--data", "{}"),
    ("run", "nsgd", "--item", "{}"),
    ("run", "nsgd", "--tier", "smoke", "--dask", "{}"), ("draw", "nsgd", "{}"), ("draw", "{}", "nsgd-fig-2"),
    ("export", "nsgd", "{}", "-o", "x.csv"), ("status", "{}"), ("claims", "{}"), ("verify", "{}"),
    ("verify", "--cell", "{}"), ("data", "info", "{}"), ("data", "add", "{}"),
)  # fmt: skip


def hostile(draw: random.Random) -> str:
    """A name of one to three hostile pieces, which no command takes for an option."""
    return "x" * draw.randrange(2) + "".join(draw.choice(PIECES) for _ in range(draw.randint(1, 3)))


def commanded(arguments: list[str]) -> tuple[str, str]:
    """The outcome of a command that must refuse in one line."""
    err = io.StringIO()
    try:
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = cli.main(arguments)
    except SystemExit:
        usage = err.getvalue().startswith("usage: ")
        return ("detected", "") if usage else ("unclear", f"{arguments}: {err.getvalue()}")
    except Exception as error:
        return "unclear", f"{arguments}: {error!r}"
    text = err.getvalue()
    lines = text.splitlines()
    if code == 0:
        return "harmless", ""
    control = [sign for sign in text.rstrip("\n") if ord(sign) < 32 or ord(sign) == 127]
    if code in (1, 2) and len(lines) == 1 and text.startswith("ol2r: ") and not control:
        return "detected", ""
    return "unclear", f"{arguments} ended with {code} and said {text!r}"


def commands(n: int, seed: int) -> list[Tally]:
    """Give hostile names to commands."""
    tally, draw = Tally("names: commands", seed), random.Random(f"commands {seed}")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        own = {name: str(Path(folder, name)) for name in ("OL2R_STORE", "OL2R_RESULTS", "OL2R_CONFIG", "OL2R_CACHE")}
        with mock.patch.dict(os.environ, own), mock.patch("ol2r.experiments.cluster.ANSWER_SECONDS", 0.2):
            for number in range(n):
                command, name = COMMANDS[number % len(COMMANDS)], hostile(draw)
                if name.startswith("-"):
                    name = f"x{name}"
                tally.add(*commanded([name if each == "{}" else each for each in command]))
    return [tally]


LETOR = "".join(f"{i % 3} qid:{i // 4} 1:{i / 100} 2:{1 - i % 7 / 7}\n" for i in range(40))


def in_tables(n: int, seed: int) -> list[Tally]:
    """Show hostile names in tables: as text, and of a file as the label of the reader's own data."""
    tally, draw = Tally("names: tables", seed), random.Random(f"tables {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(n):
            name = hostile(draw)
            if number % 2:
                file = Path(folder, name.replace("/", "").replace("\0", "")[:60] + ".txt")
                file.write_text(LETOR)
                it = take_in(str(file))
                label = it.label
                text = tables.named(it.name)
                CATALOGUE.pop(it.name)
                file.unlink()
            else:
                text = tables.plain(name)
                label = printable(" ".join(name.split()))
            table = tables.myst(["data", text], [[text, "1"], ["2", text]], name="t", caption="")
            tally.add(*_shown(table, label))
    return [tally]


def _shown(table: str, expected: str) -> tuple[str, str]:
    """Whether a table shows a name as it is, in two columns and without markup."""
    lines = "\n".join(line for line in table.splitlines() if line.startswith("|"))
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(lines)
    cells = [token for token in tokens if token.type == "inline"]
    if [token.type for token in tokens].count("tr_open") != 3 or len(cells) != 6:
        return "wrong", f"the table breaks at {expected!r}"
    for cell in (cells[1], cells[2], cells[5]):
        kinds = {child.type for child in cell.children or ()}
        found = "".join(child.content for child in cell.children or ())
        if not kinds <= {"text", "text_special"}:
            return "wrong", f"{expected!r} is read as {kinds}"
        if found.strip() != expected.strip():
            return "wrong", f"{expected!r} is shown as {found!r}"
    return "harmless", ""
