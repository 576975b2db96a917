"""What commands and chapters see of a paper: the items and claims it declares, and the tables in its folder."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ol2r.experiments import former, published
from ol2r.experiments.cells import Item
from ol2r.experiments.claims import Claim
from ol2r.experiments.grid import Grid
from ol2r.experiments.verdicts import Readings
from ol2r.parameters import Value

if TYPE_CHECKING:
    import pandas as pd


Settings = Callable[[str], Mapping[str, tuple[str, Mapping[str, Value]]]]


@dataclass(frozen=True)
class Paper:
    """One paper.

    Args:
        name: of its folder, its chapter and its commands.
        items: by name, its figures and tables.
        claims: what it claims, and the rules that judge it.
        readings: by name of a reading of the paper that is not the main one, which items stand in the place of others.
        package: the folder with its `published.csv` and `former.csv`.
        grid: the conventions of its simulations, None where it has no learner that uses features.
        settings: by the name of a data set, every variant's learner and hyper-parameters in the main results.
    """

    name: str
    items: Mapping[str, Item]
    claims: tuple[Claim, ...] = ()
    readings: Readings = field(default_factory=dict)
    package: str = ""
    grid: Grid | None = None
    settings: Settings = lambda dataset: {}

    def printed(self) -> "pd.DataFrame":
        """The numbers that it printed; see `printed_numbers`."""
        return published.printed_numbers(self.package)

    def former_rules(self) -> "pd.DataFrame":
        """The rules of its claims that were changed after results had been seen; see `former.changes`."""
        return former.changes(self.package)
