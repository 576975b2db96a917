"""Experiments: one module for each paper declares what is run; runner and store do it and keep it.

The registry below is all that commands and chapters know of papers. It must not know what any of them declares.
"""

from importlib import import_module
from types import ModuleType

PAPERS: tuple[str, ...] = ("nsgd", "pairrank", "bubblerank")
"""Papers that have a module here, in the order of the book. A module declares PAPER, ITEMS, CLAIMS,
PARAMETERS and READINGS: by name of a reading of the paper that is not the main one, which items stand in the place of
others."""


def papers() -> dict[str, ModuleType]:
    """The experiments module of every paper, by name."""
    return {name: import_module(f"{__name__}.{name}") for name in PAPERS}
