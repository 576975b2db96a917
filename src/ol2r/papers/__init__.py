"""The papers, one folder each: its experiments and claims, the numbers it printed, and its own figures and tables; and
in a folder of the same kind, the comparison of all their learners.

A folder's `grid` module declares the `PAPER`. A paper may import another one only where `pyproject.toml` says so.
"""

import os
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from ol2r.errors import one_of

if TYPE_CHECKING:
    from ol2r.experiments.chapter import Chapter, Results
    from ol2r.experiments.paper import Paper
    from ol2r.experiments.verdicts import Judgement

PAPERS: tuple[str, ...] = ("nsgd", "pairrank", "bubblerank", "olranknet", "p2neurrank")
"""The papers that have a folder here, in the order of the book."""
NAMES: tuple[str, ...] = (*PAPERS, "comparison")
"""All that has a folder here: the papers, and the comparison of their learners, which claims nothing."""


def paper(name: str) -> "Paper":
    """A paper by name.

    Raises:
        ExperimentError: there is none of that name; the message offers the nearest one.
    """
    return import_module(f"{__name__}.{one_of(name, NAMES, 'paper')}.grid").PAPER


def judgements(name: str, tier: str | None = None) -> "dict[str, Judgement]":
    """Every claim of a paper as the stored results judge it, by the claim's identifier; empty if none are stored.

    Args:
        tier: the tier of the results (None: for each item the largest tier that is stored whole).

    Raises:
        ExperimentError: there is no paper of that name.
    """
    from ol2r.experiments.chapter import stored_results
    from ol2r.experiments.verdicts import judge_all

    own = paper(name)
    results = stored_results(own, tier, own.judged)
    return judge_all(own.claims, results, own.printed(), own.readings) if results else {}


def stored(name: str, items: Collection[str], tier: str | None = None) -> "dict[str, Results]":
    """The stored results of some items of a paper, by item; nothing is computed.

    Args:
        tier: as of `judgements`.
    """
    from ol2r.experiments.chapter import stored_results

    return stored_results(paper(name), tier, items)


def chapter(name: str, given: Mapping[str, object]) -> "Chapter":
    """Check a chapter's parameters and open its results.

    Args:
        name: the paper, such as "nsgd".
        given: the notebook's `globals()`.

    Raises:
        ExperimentError: no such paper; a parameter is unknown, misspelt, of the wrong type or out of range; a data set
            is not one of the paper's; the device is not there.
    """
    from ol2r.experiments.chapter import Chapter, checked
    from ol2r.experiments.store import Store

    own = paper(name)
    return Chapter(own, checked(own, given), Store.open(), never=os.environ.get("OL2R_COMPUTE") == "never")
