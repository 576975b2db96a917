"""How a paper declares its cells: it states settings and conventions once, then asks for each cell by name.

The declared grids of several papers share this module, which must not know any paper.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

from ol2r import data
from ol2r.clicks import users_of_grades
from ol2r.clicks.cascade import USERS, rule_of_grades
from ol2r.experiments.cells import Cell
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.kinds.skyline import GroundTruth, Skyline
from ol2r.experiments.tuning import Tuned, TuningGrid
from ol2r.learners import LEARNERS
from ol2r.parameters import Value
from ol2r.simulation import Evaluation

SMOKE_DATASET = "synthetic-tiny"
SMOKE_ROUNDS = 60
SMOKE_CURVE = (0, 1, 2, 5, 10, 20, 40, SMOKE_ROUNDS)

USUAL: dict[str, Value] = {
    "stop_rule": "after_click",
    "binary": "highest",
    "features": "all",
    "gain": "exponential",
    "empty": "zero",
    "ties": "expected",
}
"""Conventions of a paper that does not state its own; see `GradedCascade`, `Evaluation`, `Simulate` and `users`."""


@dataclass(frozen=True)
class Grid:
    """What the cells of a paper have in common, and the functions that make these cells.

    Args:
        usual: conventions of the main results.
        gamma: discount of the online score.
        curve: checkpoints of a learning curve, in rounds; the last is T.
        reference: gives the fit that a data set's learners are compared with, or None.
    """

    settings: Mapping[str, tuple[str, Mapping[str, Value]]]
    usual: Mapping[str, Value]
    k: int
    gamma: float
    curve: tuple[int, ...]
    reference: Callable[[str], Cell | None]

    def cell(
        self,
        tier: str,
        dataset: str,
        kind: str,
        variant: str,
        changed: Mapping[str, Value] | None = None,
        curve: bool = False,
        *,
        split: str = "test",
        rounds: int | None = None,
    ) -> Simulate:
        """One cell with the paper's setting, except for what the arguments change.

        Args:
            changed: hyper-parameters that differ from `settings`, and conventions that differ from the usual ones.
            curve: whether to record learning curves and the cosine to w*; otherwise only the last round is recorded.
            split: which queries the offline score is taken on.
            rounds: the last round (None: T) where no curve is recorded; the smoke tier has its own.

        Raises:
            ValueError: `rounds` is given for a curve, whose last round is the grid's.
        """
        if curve and rounds is not None:
            raise ValueError(f"a learning curve ends at the grid's last round, not at {rounds}")
        learner, own = self.settings[variant]
        setting = {**self.usual, **own, **(changed or {})}
        convention = {name: str(setting.pop(name)) for name in self.usual}
        skyline = learner == GroundTruth.name
        clickers = _users(
            Skyline.KIND if skyline else kind,
            data.entry(dataset).n_grades,
            stop_rule=convention["stop_rule"],
            binary=convention["binary"],
        )
        checkpoints = SMOKE_CURVE if tier == "smoke" else self.curve
        return (Skyline if skyline else Simulate)(
            dataset=dataset,
            checksum=checksum(dataset),
            learner=learner,
            revision=(GroundTruth if skyline else LEARNERS[learner]).revision,
            hyperparameters=tuple(sorted(setting.items())),
            users=clickers,
            evaluation=_evaluation(
                k=self.k,
                split=split,
                gain=convention["gain"],
                empty=convention["empty"],
                ties=convention["ties"],
                gamma=self.gamma,
                checkpoints=checkpoints if curve else (_last(tier, checkpoints, rounds),),
            ),
            features=convention["features"],
            reference=self.reference(dataset) if curve else None,
        )

    def curves(
        self,
        datasets: Callable[[str], Sequence[str]],
        kinds: Sequence[str],
        variants: Sequence[str],
        changes: Sequence[Mapping[str, Value]] = ({},),
    ) -> Callable[[str], Sequence[Cell]]:
        """A function from a tier to the learning-curve cells of all these combinations, data sets outermost."""
        return lambda tier: [
            self.cell(tier, dataset, kind, variant, changed, curve=True)
            for dataset, kind, variant, changed in product(datasets(tier), kinds, variants, changes)
        ]


_users, _evaluation = cache(users_of_grades), cache(Evaluation)  # thousands of cells have the same few


def _last(tier: str, checkpoints: tuple[int, ...], rounds: int | None) -> int:
    return checkpoints[-1] if rounds is None or tier == "smoke" else rounds


def on(*names: str, own: bool = True) -> Callable[[str], tuple[str, ...]]:
    """A function from a tier to an item's data sets; the smoke tier has a synthetic data set of its own.

    Args:
        names: the data sets at the other tiers.
        own: whether the item can be run on a reader's own data; `Item.jobs` leaves such data out unless asked for it.
    """
    return lambda tier: ((SMOKE_DATASET,) if tier == "smoke" else names) + (data.own_names() if own else ())


class TuningRun(NamedTuple):
    """What is run in a step of tuning."""

    dataset: str
    users: str
    grid: str
    variant: str
    setting: Mapping[str, float]


def first_step(tuned: Tuned, tier: str, is_wide: Callable[[str], bool]) -> list[TuningRun]:
    """Every setting of every grid, for the kinds of users that it is tuned for; at the smoke tier the grids' corners
    alone, with one kind of users.

    Args:
        is_wide: whether fewer settings are tried on a data set; see `TuningGrid.wide`.
    """
    return [
        TuningRun(dataset, kind, name, variant, setting)
        for name, grid, dataset in _tuned_places(tuned, tier)
        for setting, variant, kind in product(grid.at(tier, is_wide(dataset)), grid.variants, _users_of(grid, tier))
    ]


def second_step(tuned: Tuned, tier: str, tuned_on: Callable[[str, str], str]) -> list[TuningRun]:
    """The settings that the first step put on a shortlist; at the smoke tier the first two, with one kind of users.

    Args:
        tuned_on: the data set whose shortlist is taken, for a data set and a grid.
    """
    few = 2 if tier == "smoke" else None
    return [
        TuningRun(dataset, kind, name, variant, setting)
        for name, grid, dataset in _tuned_places(tuned, tier)
        for setting in tuned.shortlist(tuned_on(dataset, name), name)[:few]
        for variant, kind in product(grid.variants, _users_of(grid, tier))
    ]


def _users_of(grid: TuningGrid, tier: str) -> Sequence[str]:
    kinds = grid.users or tuple(USERS)
    return kinds[:1] if tier == "smoke" else kinds


def _tuned_places(tuned: Tuned, tier: str) -> Iterator[tuple[str, TuningGrid, str]]:
    """Every grid with each data set that it is tuned on at a tier. A reader's own is none of them: it takes the values
    tuned on another."""
    for name, grid in tuned.grids.items():
        datasets = ("MQ2008",) if tier == "laptop" else on(*tuned.datasets_of(name), own=False)(tier)
        yield from ((name, grid, dataset) for dataset in datasets)


def checksum(dataset: str) -> str:
    """The checksum that identifies a data set's content in a cell and its key; see `data.checksum`."""
    return data.checksum(dataset)


def click_models(*grades: tuple[int, str]) -> list[tuple[str, str, str]]:
    """Rows of a table of click models: (users, click by grade, stop by grade), those of a reader's own data last.

    Args:
        grades: pairs of a number of grades and the text to add to the users' name.
    """
    own = {data.entry(name).n_grades: data.entry(name).label for name in data.own_names()}
    listed = [*grades, *((n, f", {label}: {rule_of_grades(n)}") for n, label in own.items() if n not in dict(grades))]
    kinds = [(kind + note, users_of_grades(kind, n)) for n, note in listed for kind in USERS]
    return [(name, _listed(user.click), _listed(user.stop)) for name, user in kinds]


def _listed(probabilities: Sequence[float]) -> str:
    return ", ".join(str(round(each, 3)) for each in probabilities)
