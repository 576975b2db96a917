"""The NSGD paper (Wang et al., 2018): its settings, and the grid of every table and figure at each tier.

Each value that the paper gives is declared here, once; what the paper leaves open is marked as ours. Other modules
declare what is drawn from the results and how claims are judged.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from ol2r.clicks.cascade import USERS
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell, Item
from ol2r.experiments.grid import USUAL, Grid, on
from ol2r.experiments.kinds.fit import Fit
from ol2r.experiments.paper import Paper
from ol2r.papers.nsgd.audits import dueling_audits
from ol2r.papers.nsgd.claims import CLAIMS
from ol2r.parameters import Value

ROUNDS = 1000
K = 10
GAMMA = 0.995

LEARNERS_SHOWN = ("DBGD", "CPS", "DP-DBGD", "MGD", "NSGD")
PUBLISHED_DATASETS = ("MQ2007", "MQ2008", "HP2003", "NP2003", "TD2003")
DATASETS = (*PUBLISHED_DATASETS, "MQ2007_partial85", "ClueWeb09_webis")

_SHARED: dict[str, Value] = {"alpha": 0.1, "delta": 1.0, "decay": 1.0, "start": "unit"}
_DRAFT: dict[str, Value] = {"prefix_credit": False}  # ours, as the field's public code
SETTINGS: dict[str, dict[str, Value]] = {
    "DBGD": _SHARED | _DRAFT,
    "CPS": _SHARED | {"n_candidates": 6, "history": 10, "tau": 3.0},  # lerot's; the paper gives none
    "DP-DBGD": _SHARED | _DRAFT,
    "MGD": _SHARED | _DRAFT | {"m": 4, "winners": "best", "follow": "mean"},
    "NSGD": _SHARED
    | _DRAFT
    | {"m": 4, "k_g": 25, "T_g": 15, "k_h": 10, "T_h": 50}
    | {"n": 20, "lag": 10, "epsilon": 0.01, "hybrid": "cosine"}  # ours: the paper names n, k and ε and gives no value
    | {"queue": "directions", "losers": "below_current", "sampling": "orthonormal"}
    | {"winners": "best", "tie_break": "history", "click_free": "skip", "n_uniform": 0},
}
"""Every learner's hyper-parameters in the main results: the paper's values where it gives them."""

MAIN_READING = "15 directions"
_CHANGES: dict[str, dict[str, Value]] = {
    MAIN_READING: {},  # section 3.2 and Algorithm 2
    "15 rounds": {"queue": "rounds"},  # $k_g = 25$ then means something
    "60 directions": {"T_g": 60},  # the authors' public code
}
K_G_READING = "60 directions"
READING_NAMES = tuple(_CHANGES)
"""The readings of NSGD's queue of losing directions, where the paper takes $k_g = 25$ directions from $T_g = 15$.

The first is the main reading."""


def reference(dataset: str) -> Fit:
    """w*: LambdaRank without a hidden layer, fitted to each fold's labels."""
    return Fit(dataset=dataset, checksum=grid.checksum(dataset), k=K)


_CURVE = (0, 1, 2, 5, 10, *range(20, ROUNDS + 1, 20))


def _grid(reading: str) -> Grid:
    settings = SETTINGS | {"NSGD": SETTINGS["NSGD"] | _CHANGES[reading]}
    return Grid({name: (name, setting) for name, setting in settings.items()}, USUAL, K, GAMMA, _CURVE, reference)


GRID = _grid(MAIN_READING)
cell = GRID.cell

_EVERYWHERE = on(*DATASETS)
_MQ2007 = on("MQ2007", "MQ2007_partial85")
_SWEPT = ("MQ2007", "MQ2007_partial85", "MQ2008")

ABLATION: dict[str, tuple[str, dict[str, Value]]] = {
    "NSGD": ("NSGD", {}),
    "NSGD w/o TB": ("NSGD", {"tie_break": "mean"}),
    "NSGD w/o CDP & TB": ("NSGD", {"tie_break": "mean", "n": 4}),
    "MGD": ("MGD", {}),
}
"""Figure 5c's variants; the paper names two of them with the same words (erratum)."""


def swept(name: str, value: Value) -> dict[str, Value]:
    """The changes that set one hyper-parameter of NSGD; without recorded queries ties go to the mean, as in MGD."""
    return {"k_h": 0, "tie_break": "mean"} if (name, value) == ("k_h", 0) else {name: value}


def variant(cell: Cell, grid: Grid = GRID) -> dict[str, str]:
    """The name that Figure 5c gives a cell's variant."""
    labels = cell.labels()
    for name, (learner, changed) in ABLATION.items():
        wanted = {**grid.settings[learner][1], **changed}
        if learner == labels["learner"] and all(labels[key] == value for key, value in wanted.items()):
            return {"variant": name}
    raise ValueError(f"{cell.describe()} is no variant of the ablation")


_SEEDS: dict[str, Sequence[int]] = {"smoke": range(2), "laptop": range(5), "paper": range(15)}
_ONCE: dict[str, Sequence[int]] = {"smoke": range(1), "laptop": range(1), "paper": range(1)}


def _items(reading: str) -> dict[str, Item]:
    """Every table and figure with NSGD in it, under a reading of its queue."""
    grid = _grid(reading)

    def main(datasets: Callable[[str], Sequence[str]], kinds=USERS, learners=LEARNERS_SHOWN):
        return grid.curves(datasets, kinds, learners)

    def mixes(changed: Callable[[int], Mapping[str, Value]]) -> Callable[[str], Sequence[Cell]]:
        return lambda tier: [
            grid.cell(tier, dataset, "informational", "NSGD", {"n_uniform": n, **changed(n)}, curve=True)
            for dataset, n in product(_MQ2007(tier), range(5))
        ]

    def ablation(tier: str) -> Sequence[Cell]:
        return [
            grid.cell(tier, dataset, "informational", learner, changed, curve=True)
            for dataset, (learner, changed) in product(_MQ2007(tier), ABLATION.values())
        ]

    def sweep(name: str, values: Sequence[Value]) -> Callable[[str], Sequence[Cell]]:
        return lambda tier: [
            grid.cell(tier, dataset, kind, "NSGD", swept(name, value))
            for dataset, kind, value in product(
                _MQ2007(tier), USERS, values if tier != "smoke" else values[:: max(1, len(values) // 2)]
            )
        ]

    # neither preselection nor basis vectors, which the paper's mixes give to null-space candidates only
    plain = mixes(lambda n: {"n": max(1, 4 - n), "hybrid": "never"})
    items = {
        "table-2": Item("Online score after 1000 rounds", main(_EVERYWHERE), _SEEDS),
        "table-3": Item("Offline score after 1000 rounds", main(_EVERYWHERE), _SEEDS),
        "fig-2": Item("Offline NDCG@10 against rounds", main(_MQ2007), _SEEDS),
        "fig-3": Item("Standard deviation of offline NDCG@10 against rounds", main(_MQ2007), _SEEDS),
        "fig-4": Item("Discounted cumulative NDCG@10 against rounds", main(_MQ2007), _SEEDS),
        "fig-5a": Item("Cosine to w*", main(_MQ2007, ("informational",), ("DBGD", "MGD", "NSGD")), _SEEDS),
        "fig-5b": Item("Null-space against uniform candidates", mixes(lambda n: {}), _SEEDS),
        "fig-5b-plain": Item("Null-space against uniform candidates, both drawn at random", plain, _SEEDS),
        "fig-5c": Item("Ablation", ablation, _SEEDS, names=lambda cell: variant(cell, grid)),
    }
    if reading == K_G_READING:
        items["fig-6c"] = Item("Directions that make the null space", sweep("k_g", range(5, 41, 5)), _SEEDS)
    if reading == MAIN_READING:
        items |= {
            "fig-6a": Item("Number of candidates", sweep("m", range(1, 11)), _SEEDS),
            "fig-6b": Item("Learning rate", sweep("alpha", (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)), _SEEDS),
            "fig-6c": Item("Directions that make the null space, of 15", sweep("k_g", (5, 10, 15)), _SEEDS),
            "fig-6d": Item("Recorded queries that break ties", sweep("k_h", range(0, 41, 5)), _SEEDS),
        }
    return items


_DRAFTERS = ("DBGD", "DP-DBGD", "MGD", "NSGD")
SCREEN: dict[str, tuple[Sequence[str], dict]] = {
    "start at w = 0": (LEARNERS_SHOWN, {"start": "zero"}),
    "stop drawn at every document": (LEARNERS_SHOWN, {"stop_rule": "every_document"}),
    "queries without relevant documents left out": (LEARNERS_SHOWN, {"empty": "skip"}),
    "gain linear in the grade": (LEARNERS_SHOWN, {"gain": "linear"}),
    "equal scores in the data set's order": (LEARNERS_SHOWN, {"ties": "listed"}),
    "constant features dropped": (LEARNERS_SHOWN, {"features": "varying"}),
    "credit on the common prefix": (_DRAFTERS, {"prefix_credit": True}),
    "δ = 0.5": (LEARNERS_SHOWN, {"delta": 0.5}),
    "α = 0.01": (LEARNERS_SHOWN, {"alpha": 0.01}),
    "α decays by 0.999977 a win": (LEARNERS_SHOWN, {"decay": 0.999977}),
    "MGD: all rankers above the current one win": (("MGD",), {"winners": "better"}),
    "MGD: one winner instead of the mean": (("MGD",), {"follow": "one"}),
    **{f"NSGD: queue of {name}": (("NSGD",), changed) for name, changed in _CHANGES.items() if changed},
    "NSGD: mean of the winners": (("NSGD",), {"tie_break": "mean"}),
    "NSGD: click-free rounds count": (("NSGD",), {"click_free": "literal"}),
    "NSGD: hybrid test as printed": (("NSGD",), {"hybrid": "literal"}),
    "NSGD: no preselection": (("NSGD",), {"n": 4}),
    "NSGD: 9 candidates": (("NSGD",), {"m": 9}),
    "NSGD: losers as in public code": (("NSGD",), {"losers": "fourth_smallest"}),
    "NSGD: null space as in public code": (("NSGD",), {"sampling": "row_echelon", "hybrid": "never"}),
    "NSGD: winners as in public code": (("NSGD",), {"winners": "better", "tie_break": "mean"}),
    "NSGD: tie-break as in public code": (("NSGD",), {"tie_break": "early"}),
    "NSGD: public code's variants together": (
        ("NSGD",),
        {"m": 9, "alpha": 0.01, "T_g": 60, "losers": "fourth_smallest", "sampling": "row_echelon", "hybrid": "never"}
        | {"winners": "better", "tie_break": "early", "start": "zero", "stop_rule": "every_document"},
    ),
}
"""The screen: each switch makes one other choice than the paper's text, alone, on MQ2008.

The switches were declared before any result of theirs was seen, with these exceptions: the queues, and what the public
code does with winners and with ties, which an earlier screen had wrong."""


def _screen(tier: str) -> Sequence[Cell]:
    return [
        cell(tier, dataset, kind, learner, changed)
        for dataset in on("MQ2008", own=False)(tier)  # the switches are to explain its gaps to the printed numbers
        for learners, changed in (SCREEN.values() if tier != "smoke" else list(SCREEN.values())[::4])
        for kind, learner in product(USERS, learners)
    ]


def switch(cell: Cell) -> dict[str, str]:
    """The name of the screen's switch that a cell has."""
    labels = cell.labels()
    for name, (learners, changed) in SCREEN.items():
        wanted = USUAL | SETTINGS[str(labels["learner"])] | changed
        if labels["learner"] in learners and all(labels.get(key, value) == value for key, value in wanted.items()):
            return {"switch": name}
    raise ValueError(f"{cell.describe()} is not in the screen")


def _references(tier: str) -> Sequence[Cell]:
    return [reference(dataset) for dataset in _EVERYWHERE(tier)]


READINGS: dict[str, dict[str, str]] = {
    reading: {name: f"{name}-{reading.replace(' ', '-')}" for name in _items(reading)} for reading in READING_NAMES[1:]
}
"""Other readings of the paper: {name: {item: the item that takes its place}}. The sweeps of Figure 6 are run under the
main reading, except that of k_g, which needs a queue that holds more than k_g."""

ITEMS: dict[str, Item] = {
    "reference": Item("Offline LambdaRank, the reference ranker w*", _references, _ONCE),
    **_items(MAIN_READING),
    "mgd-9": Item(
        "MGD with nine candidates",
        lambda tier: [
            cell(tier, dataset, kind, "MGD", {"m": 9}) for dataset, kind in product(on(*_SWEPT)(tier), USERS)
        ],
        _SEEDS,
    ),
    "screen": Item("One switch at a time", _screen, _SEEDS, names=switch),
    "audits": Item("What NSGD rests on, against simulation", dueling_audits, _ONCE),
    **{READINGS[reading][name]: item for reading in READINGS for name, item in _items(reading).items()},
}

PAPER = Paper("nsgd", ITEMS, CLAIMS, READINGS, "ol2r.papers.nsgd", GRID, lambda dataset: GRID.settings)
