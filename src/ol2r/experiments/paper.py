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

    from ol2r.experiments.tuning import Tuned


Settings = Callable[[str], Mapping[str, tuple[str, Mapping[str, Value]]]]


@dataclass(frozen=True)
class Paper:
    """A paper: its figures and tables, its claims, and other ways to read it.

    Args:
        name: the name of the paper's folder and chapter, and what the `ol2r` commands call the paper.
        items: the paper's figures and tables, by name.
        claims: what the paper claims, each with the rule that judges it.
        readings: other readings of the paper than the main one: by name, which items take the place of which.
        package: the package whose folder holds `published.csv` and `former.csv`.
        grid: the conventions of the paper's simulations, None where it has no learner that uses features.
        settings: gives, for a data set, every variant's learner and hyper-parameters in the main results.
        tuned: the tuning grids with what was chosen from them, None where nothing is tuned.
        by_users: the same for each kind of users by itself.
        waiting: items that are declared and whose runs wait for a machine: no page shows them unless it names them.
    """

    name: str
    items: Mapping[str, Item]
    claims: tuple[Claim, ...] = ()
    readings: Readings = field(default_factory=dict)
    package: str = ""
    grid: Grid | None = None
    settings: Settings = lambda dataset: {}
    tuned: "Tuned | None" = None
    by_users: "Tuned | None" = None
    waiting: tuple[str, ...] = ()

    @property
    def shown(self) -> list[str]:
        """The items that a page reads which names none: all whose runs do not wait for a machine."""
        return [item for item in self.items if item not in self.waiting]

    def read_by(self, claim: Claim) -> frozenset[str]:
        """The items that a claim reads, under the main reading or another."""
        others = (other for items in self.readings.values() for item, other in items.items() if item in claim.items)
        return claim.items.union(others)

    @property
    def judged(self) -> frozenset[str]:
        """The items that the claims read."""
        return frozenset[str]().union(*map(self.read_by, self.claims))

    def printed(self) -> "pd.DataFrame":
        """The numbers that the paper printed; see `printed_numbers`."""
        return published.printed_numbers(self.package)

    def former_rules(self) -> "pd.DataFrame":
        """The claims' rules that were changed after results had been seen; see `former.changes`."""
        return former.changes(self.package)
