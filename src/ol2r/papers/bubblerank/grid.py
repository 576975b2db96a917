"""The BubbleRank paper (Li et al., 2019): its settings, and the grid of every table and figure at each tier.

Each value that the paper gives is declared here, once; what the paper leaves open is marked as ours. Other modules
declare what is drawn from the results and how claims are judged.
"""

from collections.abc import Mapping, Sequence
from itertools import product

from ol2r.bandits import BANDITS, logarithmic_checkpoints
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell, Item
from ol2r.experiments.kinds.click_fit import CLICK_FIT_SEEDS, click_fit_cells
from ol2r.experiments.kinds.play import Play
from ol2r.experiments.kinds.populations import Logged, LoggedPositions, Model, Population, Published
from ol2r.experiments.kinds.queries import Queries, Rewards
from ol2r.experiments.kinds.query_bounds import QueryBounds
from ol2r.experiments.paper import Paper
from ol2r.papers.bubblerank import worlds as bandit_worlds
from ol2r.papers.bubblerank.claims import (
    CLAIMS,
    EVENT_ITEMS,
    EVENT_STEPS,
    STEPS,
    event_exponents,
)
from ol2r.papers.bubblerank.safety import caution_cells, caution_names, safety_cells, safety_names, safety_seeds
from ol2r.parameters import Value

SYNTHETIC_STEPS = 1_000_000
SHORT_STEPS = 100_000
SMOKE_STEPS = 2000
CUT = 5
PUBLISHED_RUNS, LOGGED_RUNS = 10, 3
"""Runs of a query in the main results: the paper's ten of the published queries."""
CODE_RUNS = 3
"""Runs of a query by BatchRank as public code has it, which the paper does not run."""
CHECKPOINTS = tuple(sorted({*logarithmic_checkpoints(STEPS, 5), STEPS // 10, STEPS * 9 // 10}))

MODELS: tuple[Model, ...] = ("CM", "DCM", "PBM")
SHOWN = ("BubbleRank", "CascadeKL-UCB", "BatchRank", "TopRank", "Baseline")
SETTINGS: dict[str, dict[str, Value]] = {
    "BubbleRank": {"exponent": 4.0, "doubling_from": 0, "freeze": False, "parity": "algorithm"},
    "CascadeKL-UCB": {"budget": "log t + 3 log log t", "observed": "first click", "start": "shuffle"},
    "BatchRank": {"stages": "paper"},
    "TopRank": {"exponent": 1.0},
    "Baseline": {},
}
"""Every bandit's parameters in the main results: its own paper's. CascadeKL-UCB starts with random lists, because items
are numbered in the production ranker's order, which it must not know."""

PUBLIC_CODE: dict[str, Value] = {"budget": "log t", "observed": "last click", "start": "shuffle"}
"""CascadeKL-UCB as the code of the BatchRank experiments has it."""
BATCHRANKS: dict[str, tuple[str, str]] = {
    "BatchRank of public code, last click": ("batchrank-last-click", "public code, last click"),
    "BatchRank of public code, one past it": ("batchrank-one-past", "public code, one past the last click"),
}
"""Other BatchRanks by name: the item of the main comparison with it in its paper's place, and its stages. Public code
learns down to the last click or one position further."""

READINGS: dict[str, dict[str, str]] = {
    name: dict.fromkeys(("fig-1", "fig-2", "first-100", "fig-4"), item) for name, (item, _) in BATCHRANKS.items()
}
"""Other readings of the paper: by name, which item takes the place of which."""
DOUBLING_FROM = 1000
LEAST_SHOWN = 50
"""Lists of the log that must show an item before it joins the items to choose from (L > K)."""
LONGER = (1, 2, 3, 4, 8, 9, 12, 13, 14, 15, 17, 18, 19, 20)
"""Queries of the log that have more than ten items to choose from."""


def play(
    users: Population,
    bandit: str,
    changed: Mapping[str, Value] | None = None,
    *,
    initial: str = "own",
    cut: int = CUT,
    checkpoints: tuple[int, ...] = CHECKPOINTS,
) -> Play:
    """One cell with the main setting of a bandit, except for what the arguments change."""
    parameters = {**SETTINGS[bandit], **(changed or {})}
    return Play(
        users=users,  # pyright: ignore[reportArgumentType]
        bandit=bandit,
        revision=BANDITS[bandit].revision,
        parameters=tuple(sorted(parameters.items())),
        initial=initial,
        cut=cut,
        checkpoints=checkpoints,
    )


def published(model: Model) -> Published:
    """The 60 published queries."""
    return Published(model, grid.checksum(Published.dataset))


def logged(model: Model, least_shown: int | None = None) -> Logged:
    """The 20 queries of the raw log."""
    kind = LoggedPositions if model == "PBM" else Logged
    return kind(model, grid.checksum(Logged.dataset), least_shown)


def _up_to(tier: str, steps: int) -> tuple[int, ...]:
    """Checkpoints of a run of so many steps."""
    return logarithmic_checkpoints(SMOKE_STEPS if tier == "smoke" else steps, 5)


def _on(tier: str, *usual: Population) -> tuple[Population, ...]:
    """The queries of an item at a tier: the smoke tier has some of its own."""
    if tier != "smoke":
        return usual
    return tuple(dict.fromkeys(bandit_worlds.small(each.model) for each in usual))


def _length(tier: str) -> tuple[int, ...]:
    return CHECKPOINTS if tier != "smoke" else _up_to(tier, SMOKE_STEPS)


def _main(*bandits: str, **changed: Mapping[str, Value]):
    """The bandits of the main comparison, those named in `changed` with other parameters; the laptop tier has these
    on the published queries only."""

    def cells(tier: str) -> Sequence[Cell]:
        others = () if changed and tier == "laptop" else map(logged, MODELS)
        users = _on(tier, *map(published, MODELS), *others)
        return [
            play(each, bandit, changed.get(bandit), checkpoints=_length(tier))
            for each, bandit in product(users, bandits)
        ]

    return cells


def _changed(bandit: str, *changes: Mapping[str, Value], steps: int = STEPS):
    """One bandit in several settings, on the published queries."""

    def cells(tier: str) -> Sequence[Cell]:
        checkpoints = _length(tier) if steps == STEPS else _up_to(tier, steps)
        users = _on(tier, *map(published, MODELS))
        return [play(each, bandit, changed, checkpoints=checkpoints) for each, changed in product(users, changes)]

    return cells


def _random_lists(tier: str) -> Sequence[Cell]:
    return [
        play(users, "BubbleRank", initial="random", checkpoints=_length(tier))
        for users in _on(tier, *map(published, MODELS))
    ]


def _halvings(tier: str) -> Sequence[Cell]:
    return [play(bandit_worlds.halved_examination(), "BubbleRank", checkpoints=_up_to(tier, SYNTHETIC_STEPS))]


def _full_ranking(tier: str) -> Sequence[Cell]:
    users = _on(tier, *(logged(model, LEAST_SHOWN) for model in MODELS))
    return [play(each, bandit, checkpoints=_up_to(tier, SYNTHETIC_STEPS)) for each, bandit in product(users, SHOWN)]


def _events(tier: str) -> Sequence[Cell]:
    checkpoints = (SMOKE_STEPS,) if tier == "smoke" else (EVENT_STEPS,)
    return [
        play(
            bandit_worlds.audited(model, n_items),
            "BubbleRank",
            {"exponent": exponent},
            cut=n_items,
            checkpoints=checkpoints,
        )
        for model, n_items in product(("CM", "PBM"), EVENT_ITEMS)
        for exponent in event_exponents(n_items)
    ]


def _bounds(tier: str) -> Sequence[Cell]:
    """All positions of the PBM; two of the CM, where some click on a whole list is as likely in any order."""
    cuts: tuple[tuple[Model, int], ...] = (("CM", 2), ("PBM", 5))
    return [
        play(bandit_worlds.bounded(model), "BubbleRank", {"freeze": True}, cut=cut, checkpoints=_length(tier))
        for model, cut in cuts
    ]


def _safety(tier: str) -> Sequence[Cell]:
    return safety_cells(tier, SETTINGS["BubbleRank"])


def _queries(tier: str) -> Sequence[Cell]:
    longer = [logged(model, LEAST_SHOWN) for model in MODELS]
    populations = _on(tier, *map(published, MODELS), *map(logged, MODELS), *longer)
    return [Queries(each, CUT) for each in populations]  # pyright: ignore[reportArgumentType]


def _query_rewards(tier: str) -> Sequence[Cell]:
    populations = _on(tier, *map(published, MODELS), *map(logged, MODELS))
    return [Rewards(each, CUT) for each in populations]  # pyright: ignore[reportArgumentType]


def _query_bounds(tier: str) -> Sequence[Cell]:
    exponent = float(SETTINGS["BubbleRank"]["exponent"])
    populations = _on(tier, *map(published, MODELS), *map(logged, MODELS))
    return [QueryBounds(each, CUT, STEPS, exponent) for each in populations]  # pyright: ignore[reportArgumentType]


def _seeds(published_runs: int, logged_runs: int):
    """Seeds for this many runs at the paper tier, and for one run at the laptop tier."""

    def seeds(tier: str, cell: Cell) -> Sequence[int]:
        labels = cell.labels()
        runs = logged_runs if labels["dataset"] == Logged.dataset else published_runs
        if labels.get("stages", "paper") != "paper":
            runs = min(runs, CODE_RUNS)
        return range({"smoke": 2, "laptop": 1, "paper": runs}[tier])

    return seeds


def _tiers(smoke: int, laptop: int, paper: int) -> dict[str, Sequence[int]]:
    return {"smoke": range(smoke), "laptop": range(laptop), "paper": range(paper)}


def _longer(cell: Cell) -> tuple[int, ...] | None:
    return LONGER if cell.labels()["dataset"] == Logged.dataset else None


_RUNS = _seeds(PUBLISHED_RUNS, LOGGED_RUNS)
_OTHER_RUNS = _tiers(2, 1, PUBLISHED_RUNS)

ITEMS: dict[str, Item] = {
    "fig-1": Item("Regret against steps", _main(*SHOWN), _RUNS),
    "fig-2": Item("Violations of the safety constraint against steps", _main(*SHOWN), _RUNS),
    "first-100": Item("Violations in the first 100 steps", _main(*SHOWN), _RUNS),
    "fig-3-left": Item("Regret against wrong pairs of the initial list", _random_lists, _tiers(3, 1, 10)),
    "fig-3-right": Item("Regret against the least examination probability", _halvings, _tiers(2, 20, 100)),
    "fig-4": Item("NDCG@5 against steps", _main(*(each for each in SHOWN if each != "CascadeKL-UCB")), _RUNS),
    "bounds": Item("Regret against Theorem 1", _bounds, _tiers(2, 4, 10)),
    "event": Item("Event E, randomized pairs and safety", _events, _tiers(1, 20, 100)),
    "cascade-start": Item(
        "CascadeKL-UCB's start", _changed("CascadeKL-UCB", {}, {"start": "top"}, PUBLIC_CODE, steps=SHORT_STEPS),
        _tiers(2, 2, 10),
    ),
    "freeze": Item("Statistics of decided pairs", _changed("BubbleRank", {}, {"freeze": True}), _OTHER_RUNS),
    "parity": Item(
        "Which neighbours are exchanged first", _changed("BubbleRank", {}, {"parity": "prose"}), _OTHER_RUNS
    ),
    "doubling": Item(
        "An unknown horizon", _changed("BubbleRank", {}, {"doubling_from": DOUBLING_FROM}), _OTHER_RUNS
    ),
    "bubblerank-delta": Item("BubbleRank's δ", _changed("BubbleRank", {}, {"exponent": 1.0}), _OTHER_RUNS),
    "batchrank-code": Item(
        "BatchRank of public code",
        _changed("BatchRank", {}, *({"stages": stages} for _, stages in BATCHRANKS.values())), _RUNS,
    ),
    **{
        item: Item(f"The main comparison with {name}", _main(*SHOWN, BatchRank={"stages": stages}), _RUNS)
        for name, (item, stages) in BATCHRANKS.items()
    },
    "toprank-delta": Item("TopRank's δ", _changed("TopRank", {}, {"exponent": 0.5}), _OTHER_RUNS),
    "full-ranking": Item("More items than positions", _full_ranking, _tiers(2, 1, 3), _longer),
    "safety": Item("Safety of learners by features", _safety, safety_seeds, names=safety_names),
    "caution": Item("SafePairRank's intervals", caution_cells, safety_seeds, names=caution_names),
    "queries": Item("What the queries are like", _queries, _tiers(1, 1, 1)),
    "query-rewards": Item("What the best list of a query earns", _query_rewards, _tiers(1, 1, 1)),
    "query-bounds": Item("Theorem 1 and the queries", _query_bounds, _tiers(1, 1, 1)),
    "click-fits": Item("Click models fitted to sessions", click_fit_cells, CLICK_FIT_SEEDS),
}  # fmt: skip

OTHER_CHOICES: tuple[tuple[str, str, str, Mapping[str, Value]], ...] = (
    ("freeze", "BubbleRank", "the statistics of a decided pair stay as they are", {"freeze": True}),
    ("parity", "BubbleRank", "positions 1 and 2, 3 and 4, … first", {"parity": "prose"}),
    (
        "doubling",
        "BubbleRank",
        f"the horizon is unknown: {DOUBLING_FROM:,} steps, doubled when passed",
        {"doubling_from": DOUBLING_FROM},
    ),
    ("bubblerank-delta", "BubbleRank", "δ = 1/n, as TopRank has it", {"exponent": 1.0}),
    (
        "cascade-start",
        "CascadeKL-UCB",
        "in the first L steps the items follow each other in turn, and the top one alone is learned from",
        {"start": "top"},
    ),
    (
        "cascade-start",
        "CascadeKL-UCB",
        "log t for its budget, and all down to the last click examined, as public code has it",
        {name: value for name, value in PUBLIC_CODE.items() if name != "start"},
    ),
    *(("batchrank-code", "BatchRank", stages, {"stages": stages}) for _, stages in BATCHRANKS.values()),
    ("toprank-delta", "TopRank", "δ = 1/√n, as some public code has it", {"exponent": 0.5}),
)
"""(item, bandit, what is done otherwise, the parameters that are changed from the main setting)."""

PAPER = Paper("bubblerank", ITEMS, CLAIMS, READINGS, "ol2r.papers.bubblerank")
