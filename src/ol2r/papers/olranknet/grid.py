"""The olRankNet paper (Jia and Wang, 2022): its settings, and the grid of every table and figure at each tier.

Each value that the paper gives is declared here, once; what the paper leaves open is marked as ours. Other modules
declare what is drawn from the results and how claims are judged.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from ol2r import data
from ol2r.clicks import users
from ol2r.clicks.cascade import USERS
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell, Item
from ol2r.experiments.grid import SMOKE_CURVE, USUAL, Grid, first_step, on, second_step
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.paper import Paper
from ol2r.experiments.tuning import for_users
from ol2r.learners import LEARNERS
from ol2r.papers.olranknet import audit_cells, fits, forms, labels, lda
from ol2r.papers.olranknet.claims import (
    AS_TUNED,
    BASELINES,
    CLAIMS,
    COVERAGE_ITEM,
    EXPLORING,
    FAR,
    FULL,
    GAMMA,
    LINEAR_TRUTH,
    MSLR,
    NETWORK_TRUTH,
    ONE_STEP,
    OURS,
    PROTOCOL,
    ROUNDS,
    ROUNDS_HERE,
    SKYLINE,
    STEPPING,
    STILL,
    YAHOO,
    K,
)
from ol2r.papers.olranknet.theorems import THEOREMS
from ol2r.papers.olranknet.tuning import (
    BY_USERS,
    CODE,
    CODE_DIAGONAL,
    FRESH,
    RANKED,
    ROUNDS_FIRST,
    ROUNDS_LONGER,
    SEEDS_FIRST,
    SEEDS_LONGER,
    TUNED,
    is_wide,
)
from ol2r.papers.pairrank import grid as pairrank
from ol2r.parameters import Value

DECAY = 0.999977
PUBLISHED_DATASETS = (MSLR, YAHOO)
DATASETS = (*PUBLISHED_DATASETS, "MQ2008")
ONLINE = (*OURS, *FULL, *BASELINES)
SHOWN = (*ONLINE, SKYLINE)
ELSEWHERE: dict[str, Sequence[str]] = {
    LINEAR_TRUTH: SHOWN,
    NETWORK_TRUTH: (*OURS, *FULL, "PairRank", "PDGD", "neural PDGD"),
    "synthetic-yahoo": (OURS[0], *FULL, "PairRank", "PDGD"),
    "MQ2007_partial85": SHOWN,
    pairrank.CLUEWEB: SHOWN,
}
"""Data sets on which the main figures are run and little else, at the paper tier, each with its learners. The skyline
does not run on all of them, because it takes the most time."""
MQ_NETWORK = "synthetic-mq-net"
"""Documents of MQ2008's shape whose grades come from a network."""
LONG_ON = "MQ2008"
"""The data set on which the main figures are run for as many rounds as the paper's too, on its first fold, without the
skyline."""

NETWORK: dict[str, Value] = {"width": 100, "depth": 2, "init": "symmetric-raw"}
"""m = 100 and one hidden layer are the authors' code's; the start is Algorithm 1's, documents as they are."""
_STEP: dict[str, Value] = NETWORK | {"alpha": 0.1, "decay": DECAY}
_REFIT: dict[str, Value] = NETWORK | {"alpha": 0.1, "regularization": 0.1, "rate": 1e-3, "pairs": "matched"}
_REFIT |= {"covariance": "diagonal", "gradients": "refitted", "refit": "adam", "passes": 20}
_REFIT |= {"start": "warm", "penalty": "theta0"}
FRESH_START: dict[str, Value] = {"init": "he", "start": "fresh", "penalty": "decay", "gradients": "displayed"}
"""Fresh random weights at every refit, a decay of λ over the number of labels towards 0, and gradients as they were
when the list was shown: some of what the authors' public code does, but with the text's scale √m and He's start, by
which random scores are of the order of ten. It was once taken for the public code; no verdict rests on it now."""
PUBLIC_CODE: dict[str, Value] = FRESH_START | {"init": "torch", "biases": True, "output": "plain", "pairs": "all"}
PUBLIC_CODE |= {"batch": 1024, "shuffle": "random", "covariance": "full"}
"""The authors' public code as it is (mathatter997/MTRO at bfb9d70): PyTorch's start with biases, no √m, 20 epochs of
Adam in batches of 1,024 labels, a fresh start and decay towards 0, every clicked with every unclicked examined
document, gradients as displayed, whole blocks shuffled, and by default the full inverse; its ΔNDCG follows the present
ranking.
Not taken over: the output's bias, which no difference of scores depends on; a decay of the rate by 2 · 10⁻⁷ an epoch;
and of olLambdaRank, which the code trains twice in a round from new weights, so that the first time is lost, the rules
that leave out a last short batch and all beyond the tenth."""
_AS_SET: dict[str, Value] = {"alpha": 0.1, "regularization": 0.1, "rate": 0.1}
"""α, λ and the rate with which its script runs unless it is told otherwise."""


class Reading(NamedTuple):
    """Another reading of the paper.

    Args:
        learners: by variant, for those of the paper's own learners that it changes: which learner they then are.
        changed: the hyper-parameters that it sets otherwise.
    """

    learners: Mapping[str, str]
    changed: Mapping[str, Value]


_RANKED = {OURS[1]: "olLambdaRank-ranked"}
_PLAIN = {learner: variant for variant, learner in _RANKED.items()}
READ_OTHERWISE = {
    CODE_DIAGONAL: Reading({OURS[0]: "olRankNet"}, PUBLIC_CODE | {"covariance": "diagonal"}),
    CODE: Reading({OURS[0]: "olRankNet"} | _RANKED, PUBLIC_CODE),
    FRESH: Reading({OURS[0]: "olRankNet"} | _RANKED, FRESH_START),
    RANKED: Reading(_RANKED, {}),
}
"""How a reading takes the paper's own learners, by what the names of its tuning grids end with."""
SETTINGS: dict[str, tuple[str, dict[str, Value]]] = {
    "olRankNet": ("olRankNet", _REFIT),
    "olLambdaRank": ("olLambdaRank", _REFIT),
    "olRankNet, full": ("olRankNet", _REFIT | {"covariance": "full"}),
    "PairRank": pairrank.SETTINGS["PairRank_C"],
    "PDGD": pairrank.SETTINGS["PDGD"],
    "neural PDGD": ("neural PDGD", _STEP),
    "DBGD": pairrank.SETTINGS["DBGD"],
    "neural DBGD": ("neural DBGD", _STEP | {"delta": 1.0, "decay": 1.0, "prefix_credit": False}),
    "neural epsilon-greedy": ("neural epsilon-greedy", _STEP | {"pairs": "matched", "epsilon": 0.1, "decay": 1.0}),
    _RANKED[OURS[1]]: (_RANKED[OURS[1]], _REFIT),
    SKYLINE: (SKYLINE, NETWORK | {"init": "he", "passes": 5, "rate": 1e-2, "regularization": 1e-4}),
}
"""Every variant's learner and hyper-parameters before tuning."""
LINEAR = {"PairRank": "PairRank_C", "PDGD": "PDGD", "DBGD": "DBGD"}
"""By linear baseline, the variant of the PairRank chapter whose tuned values it takes."""

USUALLY = USUAL | {"empty": "skip"}
_EARLY = (0, 1, 2, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200)
_HERE = (*_EARLY, *range(300, ROUNDS_HERE + 1, 100))
BY_ROUNDS = {
    rounds: Grid(SETTINGS, USUALLY, K, GAMMA, curve, lambda dataset: None)
    for rounds, curve in {
        ROUNDS_HERE: _HERE,
        ROUNDS: (*_HERE, *range(ROUNDS_HERE + 200, ROUNDS + 1, 200)),
        FAR: (*_HERE, 2000, *range(5000, FAR + 1, 2500)),
    }.items()
}
"""By T: grids with the same conventions."""


def rounds_of(dataset: str) -> int:
    """T: the paper's on its own data sets, a fifth of it on those that are run here."""
    return ROUNDS if dataset in PUBLISHED_DATASETS else ROUNDS_HERE


def similar(dataset: str) -> str:
    """Of the data sets that networks are tuned on, the one that a data set resembles: by its features, or MQ2008."""
    return LINEAR_TRUTH if dataset == NETWORK_TRUTH or is_wide(pairrank.tuned_on(dataset)) else "MQ2008"


def tuned_on(dataset: str, grid: str) -> str:
    """The data set whose tuned values a data set takes: itself if the grid was tuned on it, else one that is similar.

    Where networks are not tuned, linear learners take values from there too, although the PairRank chapter may have
    values of their own: so none is favoured.
    """
    return TUNED.tuned_on(grid, dataset, similar(dataset), "MQ2008")


def tuned(dataset: str, variant: str, reading: str = "") -> dict[str, Value]:
    """The hyper-parameters of a variant that were tuned, for a data set.

    Args:
        reading: "", or a key of `READ_OTHERWISE` for another reading of the paper's learners.
    """
    if variant in LINEAR:
        return pairrank.alone(tuned_on(dataset, OURS[0]), LINEAR[variant])
    name = variant + reading
    return dict(TUNED.chosen(tuned_on(dataset, name), name))


def curve(
    tier: str,
    dataset: str,
    kind: str,
    variant: str,
    changed: Mapping[str, Value] | None = None,
    *,
    reading: str = "",
    rounds: int | None = None,
) -> Cell:
    """A learning curve of a variant at its tuned values, except for what `changed` names."""
    of = BY_ROUNDS[rounds or rounds_of(dataset)]
    setting = {**tuned(dataset, variant, reading), **(changed or {})}
    return of.cell(tier, dataset, kind, *_read(variant, reading, setting), curve=True)


def _read(variant: str, reading: str, setting: Mapping[str, Value]) -> tuple[str, dict[str, Value]]:
    """The entry of `SETTINGS` that a variant is by a reading, and what is changed of it, the setting included."""
    if not reading:
        return variant, dict(setting)
    return READ_OTHERWISE[reading].learners[variant], {**READ_OTHERWISE[reading].changed, **setting}


def variant(cell: Cell) -> dict[str, str]:
    """The name that figures give a cell's learner."""
    labels = cell.labels()
    name = _PLAIN.get(str(labels["learner"]), str(labels["learner"]))
    return {"variant": f"{name}, full" if name in OURS and labels["covariance"] == "full" else name}


AS_SHOWN = ""
"""The reading in which olLambdaRank's ΔNDCG is of the list as it was shown."""


def _main(*variants: str, reading: str = RANKED):
    """Learning curves on all data sets; a reading changes the paper's own learners alone, and others than the main one
    are tried at the laptop tier under perfect users alone, and fresh starts not at all. The main figures are run
    elsewhere too. The main one needs values for the present ranking, which only MQ2008 has yet."""

    def cells(tier: str) -> Sequence[Cell]:
        datasets = () if (tier, reading) == ("laptop", FRESH) else on(*DATASETS)(tier)
        changed = READ_OTHERWISE[reading].learners if reading else {}
        runs = product(datasets, _users(tier, reading), variants)
        untuned = PUBLISHED_DATASETS if reading == RANKED else ()
        curves = [
            curve(tier, *run, reading=reading if run[-1] in changed and run[0] not in untuned else AS_SHOWN)
            for run in runs
        ]
        if tier == "paper" and reading == RANKED:
            for dataset, learners in ELSEWHERE.items():
                shown = [each for each in variants if each in learners]
                curves += [curve(tier, dataset, *run) for run in product(USERS, shown)]
        return curves

    return cells


RANKED_LATER = ("MQ2008", "MQ2007_partial85", pairrank.CLUEWEB)
"""Data sets on which olLambdaRank with ΔNDCG of the present ranking is to have all its runs: those that take MQ2008's
values, for nothing was chosen for it elsewhere yet (`tuning-by-users` is to do that)."""


def _ranked_later(tier: str) -> Sequence[Cell]:
    """Expected, from its runs on MQ2008: it ends less than .005 of NDCG@10 below the same with the list as shown."""
    datasets = RANKED_LATER if tier == "paper" else on("MQ2008", own=False)(tier)
    return [curve(tier, *run, OURS[1], reading=RANKED) for run in product(datasets, USERS)]


def _ranked_longer(tier: str) -> Sequence[Cell]:
    """The same for as many rounds as the paper's; not on a laptop."""
    datasets = () if tier == "laptop" else on(LONG_ON, own=False)(tier)
    return [curve(tier, *run, OURS[1], reading=RANKED, rounds=ROUNDS) for run in product(datasets, USERS)]


def _long(*variants: str):
    """Learning curves of the paper's length on a data set where the main figures are shorter; not on a laptop."""

    def cells(tier: str) -> Sequence[Cell]:
        datasets = () if tier == "laptop" else on(LONG_ON, own=False)(tier)
        shown = [each for each in variants if each in ONLINE]
        return [curve(tier, *run, rounds=ROUNDS) for run in product(datasets, USERS, shown)]

    return cells


def _users(tier: str, reading: str) -> Sequence[str]:
    return USERS[:1] if reading != RANKED and tier == "laptop" else USERS


def _tuning_cell(
    tier: str, dataset: str, kind: str, name: str, variant: str, setting: Mapping[str, Value], rounds: int
) -> Cell:
    reading = next((each for each in READ_OTHERWISE if variant.endswith(each)), "")
    run = _read(variant.removesuffix(reading), reading, setting)
    return BY_ROUNDS[ROUNDS_HERE].cell(tier, dataset, kind, *run, split="validation", rounds=rounds)


def _tuning(tier: str) -> Sequence[Cell]:
    """Every cell of the grids, scored on validation queries."""
    return [_tuning_cell(tier, *run, ROUNDS_FIRST) for run in first_step(TUNED, tier, is_wide)]


def _tuning_longer(tier: str) -> Sequence[Cell]:
    """The best cells of `_tuning`, on more rounds and other seeds."""
    return [_tuning_cell(tier, *run, ROUNDS_LONGER) for run in second_step(TUNED, tier, tuned_on)]


def _tuning_by_users(tier: str) -> Sequence[Cell]:
    """Every cell of the grids for each kind of users by itself; many are those of `_tuning`."""
    return [_tuning_cell(tier, *run, ROUNDS_FIRST) for run in first_step(BY_USERS, tier, is_wide)]


def _tuning_by_users_longer(tier: str) -> Sequence[Cell]:
    """The best of them, on more rounds and other seeds; none before the first step was looked at."""
    runs = second_step(BY_USERS, tier, lambda dataset, name: dataset)
    return [_tuning_cell(tier, *run, ROUNDS_LONGER) for run in runs]


def tuned_together(cell: Cell) -> dict[str, str]:
    """What a cell of the tuning is called: its variant, which is the name of its grid as well."""
    labels = cell.labels()
    name = _PLAIN.get(str(labels["learner"]), str(labels["learner"]))
    for reading, (learners, changed) in READ_OTHERWISE.items():
        known = all(labels.get(each) == value for each, value in changed.items())
        if labels["learner"] == learners.get(name) and known:
            return {"variant": name + reading, "grid": name + reading}
    name = variant(cell)["variant"]
    return {"variant": name, "grid": name}


def tuned_for_users(cell: Cell) -> dict[str, str]:
    """What a cell of the tuning for each kind of users is called: its variant, and the grid it belongs to."""
    named = tuned_together(cell)
    return named | {"grid": for_users(named["variant"], str(cell.labels()["users"]))}


def _public_code(tier: str) -> Sequence[Cell]:
    """The public code on MQ2008: at the values that its script sets, and at those that are tuned for each kind of users
    once they are there. The diagonal, its other form, for olRankNet alone. Not on a laptop.

    Expected, from runs of a re-implementation at α = λ = rate = .001 with one seed: at tuned values it ends more than
    .005 of NDCG@10 above what `FRESH_START` does, and within .01 of olRankNet as in the main results.
    """
    cells: list[Cell] = []
    datasets = () if tier == "laptop" else on("MQ2008")(tier)
    for dataset, kind, (reading, each) in product(datasets, USERS, _CODES):
        values, of = [_AS_SET], BY_ROUNDS[rounds_of(dataset)]
        with suppress(KeyError):  # nothing was chosen yet
            values.append(dict(BY_USERS.chosen("MQ2008", for_users(each + reading, kind))))
        cells += [of.cell(tier, dataset, kind, *_read(each, reading, value), curve=True) for value in values]
    return cells


_CODES = ((CODE, OURS[0]), (CODE, OURS[1]), (CODE_DIAGONAL, OURS[0]))


def valued(cell: Cell) -> dict[str, str]:
    """What a cell of `_public_code` is called, and whether its values are tuned."""
    labels = cell.labels()
    as_set = all(labels[name] == value for name, value in _AS_SET.items())
    return {"variant": tuned_together(cell)["variant"], "values": "as set" if as_set else "tuned"}


def _far(tier: str) -> Sequence[Cell]:
    """Neural PDGD for as many interactions as its own paper reports."""
    return [
        curve(tier, dataset, kind, "neural PDGD", rounds=FAR)
        for dataset, kind in product(on(*DATASETS)(tier), USERS)
    ]  # fmt: skip


def _separation(tier: str) -> Sequence[Cell]:
    """How far a line separates the grades; at the paper tier also where those of MSLR's shape come from a network."""
    own = lda.lda_cells(tier)
    of_network = replace(own[0], dataset=NETWORK_TRUTH, checksum=grid.checksum(NETWORK_TRUTH))
    return [*own, of_network] if tier == "paper" else own


def _witness(tier: str) -> Sequence[Cell]:
    """olRankNet with either form of the covariance for as many rounds as the paper's, where documents have as many
    features and lists are as long as in MSLR-WEB10K; not on a laptop."""
    datasets = () if tier == "laptop" else on("synthetic-mslr", own=False)(tier)
    return [curve(tier, *run, rounds=ROUNDS) for run in product(datasets, USERS[:1], (OURS[0], *FULL))]


_STILL: dict[str, Value] = {"epsilon": 0.0}


def _exploration(tier: str) -> Sequence[Cell]:
    """The paper's learner as tuned, and without exploration, for which the covariance makes no difference; and the
    network that takes one step a round, without exploration as well. At the paper tier, too, where lists are long."""
    runs: list[tuple[str, dict[str, Value]]] = [*product(EXPLORING, ({}, {"alpha": 0.0})), (STEPPING, _STILL)]
    datasets = (*on("MQ2008")(tier), *(("synthetic-mslr",) if tier == "paper" else ()))
    return [curve(tier, dataset, kind, *run) for dataset, kind, run in product(datasets, USERS, runs)]


def way(cell: Cell) -> dict[str, str]:
    """In which way a cell of `_exploration` learns: with exploration, without, or without refitting either."""
    name, labels = variant(cell), cell.labels()
    if name["variant"] == STEPPING:
        return name | {"way": ONE_STEP}
    return name | {"way": STILL if labels["alpha"] == 0 else AS_TUNED}


WIDTHS = (8, 16, 32, 100)
"""m of the series; the last is that of the main results."""


def _widths(tier: str) -> Sequence[Cell]:
    """Under perfect users alone; two of the widths at the laptop tier."""
    widths = WIDTHS[::3] if tier == "laptop" else WIDTHS
    return [
        curve(tier, dataset, USERS[0], each, {"width": width})
        for dataset, each, width in product(on("MQ2008")(tier), ("olRankNet", *FULL), widths)
    ]


_PULL: dict[str, Value] = {"regularization": 0.1}
SMALL_PULL: dict[str, dict[str, Value]] = {
    "λ = 0.1": _PULL,
    "λ = 0.1, gradients as displayed": _PULL | {"gradients": "displayed"},
}
"""By name, the same choice of gradients at the largest λ that the paper tries, for at a large one A hardly moves and it
could not matter; no choices by themselves, and not run on a laptop."""
CHOICES: dict[str, dict[str, Value]] = {
    "as in the main results": {},
    "gradients as displayed": {"gradients": "displayed"},
    "fresh start": {"start": "fresh"},
    "start at θ₀": {"start": "theta0"},
    "pull towards 0": {"penalty": "zero"},
    "decay as in public code": {"penalty": "decay"},
    "L-BFGS": {"refit": "lbfgs"},
    "L-BFGS, 4 passes": {"refit": "lbfgs", "passes": 4},
    "adjacent pairs": {"pairs": "adjacent"},
    "every pair": {"pairs": "all"},
    "He start": {"init": "he"},
    "unit norm": {"init": "symmetric"},
} | SMALL_PULL
"""By name, what is changed in olRankNet as in the main results: one silent choice at a time (of L-BFGS, also with few
passes), and then `SMALL_PULL`."""


def _choices(tier: str) -> Sequence[Cell]:
    """Under perfect users alone; every fourth of the silent choices at the laptop tier."""
    choices = list(CHOICES.values())
    if tier == "laptop":
        choices = choices[: -len(SMALL_PULL) : 4]
    return [
        curve(tier, dataset, USERS[0], "olRankNet", changed)
        for dataset, changed in product(on("MQ2008")(tier), choices)
    ]


def choice(cell: Cell) -> dict[str, str]:
    """Which choice a cell makes otherwise than the main results."""
    labels = cell.labels()
    fits = [name for name, changed in CHOICES.items() if all(labels[each] == value for each, value in changed.items())]
    return variant(cell) | {"choice": max(fits, key=lambda name: len(CHOICES[name]))}


def _as_text(tier: str) -> Sequence[Cell]:
    """Few passes of L-BFGS and 20 of Adam at several rates, where labels leave a network nothing and where they leave
    it something; not on a laptop."""
    datasets = () if tier == "laptop" else on("MQ2008", MQ_NETWORK, own=False)(tier)
    return [
        curve(tier, dataset, kind, OURS[0], {"alpha": fits.ALPHA_OF_WAYS, "regularization": pull, **changed})
        for dataset, (kind, pull), changed in product(datasets, fits.PULL_OF_USERS.items(), fits.AS_TEXT.values())
    ]


def _timing(tier: str) -> Sequence[Cell]:
    """One replica of olRankNet with either form of the covariance, and of neural PDGD, under perfect users."""
    cells: list[Cell] = []
    for dataset, name in product(on("MQ2008", own=False)(tier), ("olRankNet", *FULL, "neural PDGD")):
        learner, setting = SETTINGS[name]
        cells.append(
            Timing(
                dataset=dataset,
                checksum=grid.checksum(dataset),
                learner=learner,
                revision=LEARNERS[learner].revision,
                hyperparameters=tuple(sorted((setting | tuned(dataset, name)).items())),
                users=users("perfect", data.entry(dataset).n_grades),
                replicas=1,
                checkpoints=SMOKE_CURVE[1:] if tier == "smoke" else tuple(range(100, ROUNDS_HERE + 1, 100)),
            )
        )
    return cells


SEEDS = {**dict.fromkeys((*PUBLISHED_DATASETS, "MQ2008", "MQ2007_partial85"), PROTOCOL.seeds), pairrank.CLUEWEB: 2}
"""Seeds of each fold by data set, of the main figures; five on others. On ClueWeb09 lists are long, and a round takes
several times as long."""
SEEDS_HERE = 5
"""Seeds of each fold on other data sets, and of every other figure on data that is not the paper's."""


def _all_seeds(tier: str, cell: Cell) -> Sequence[int]:
    return range({"smoke": 2, "laptop": 2, "paper": SEEDS.get(str(cell.labels()["dataset"]), SEEDS_HERE)}[tier])


def _fewer_seeds(tier: str, cell: Cell) -> Sequence[int]:
    own = cell.labels()["dataset"] in PUBLISHED_DATASETS
    return _all_seeds(tier, cell)[: 1 if tier == "laptop" else None if own else SEEDS_HERE]


def _seeds(tier: str, cell: Cell) -> Sequence[int]:
    """All of them, but for what has only its first ones yet (`ranked-later`)."""
    waits = tier == "paper" and cell.labels()["learner"] == _RANKED[OURS[1]]
    return (_fewer_seeds if waits else _all_seeds)(tier, cell)


ONE_SEED: dict[str, Sequence[int]] = {"smoke": range(2), "laptop": range(1), "paper": range(1)}
"""Of each fold, what the paper has no figure of: other choices beside ours."""
FOUR_SEEDS: dict[str, Sequence[int]] = {"smoke": range(2), "laptop": range(1), "paper": range(4)}
"""Of the first fold, the runs in which the truth is known."""
THREE_SEEDS: dict[str, Sequence[int]] = FOUR_SEEDS | {"paper": range(3)}
"""The same where λ or the way of refitting is another one, and the histories that refits follow."""
TEN_SEEDS: dict[str, Sequence[int]] = ONE_SEED | {"paper": range(10)}
"""Of every fold, rankers that are fitted to labels."""
_ONCE: dict[str, Sequence[int]] = dict.fromkeys(ONE_SEED, range(1))


def _fitted() -> dict[str, Value]:
    """olRankNet as in the main results, for the cells that look inside a run."""
    return SETTINGS[OURS[0]][1] | tuned("MQ2008", OURS[0])


_FIGURES: dict[str, tuple[str, Sequence[str]]] = {
    "fig-4": ("Offline NDCG@10 against rounds", SHOWN),
    "fig-5": ("Cumulative NDCG@10 against rounds", SHOWN),
    "fig-6": ("Share of certain orders among shown documents", (*OURS, *FULL)),
}
"""The paper's figures of runs: (title, learners)."""
LONGER = f"{ROUNDS:,} rounds on one fold"
"""The name of the reading in which only runs on `LONG_ON` count that are as long as the paper's."""
PULLED = f"intervals at λ = {fits.PULLED:g}"
"""The name of the reading in which intervals are judged at the largest λ of the paper in place of the tuned one."""
READINGS: dict[str, dict[str, str]] = {
    "ΔNDCG of the list as shown": {name: f"{name}-shown" for name in _FIGURES},
    LONGER: {name: f"{name}-long" for name in _FIGURES},
    PULLED: {COVERAGE_ITEM: "coverage-pulled"},
    **audit_cells.READINGS,
}
"""Other readings of the paper: {name: {item: the item that takes its place}}."""


ITEMS: dict[str, Item] = {
    "tuning": Item(
        "Tuning on validation queries, every cell", _tuning, dict.fromkeys(_ONCE, SEEDS_FIRST), (1,), tuned_together,
    ),
    "tuning-longer": Item(
        "Tuning on validation queries, the best cells on more rounds", _tuning_longer,
        dict.fromkeys(_ONCE, SEEDS_LONGER), (1,), tuned_together,
    ),
    "tuning-by-users": Item(
        "Tuning for each kind of users by itself, every cell", _tuning_by_users, dict.fromkeys(_ONCE, SEEDS_FIRST),
        (1,), tuned_for_users,
    ),
    "tuning-by-users-longer": Item(
        "Tuning for each kind of users by itself, the best cells on more rounds", _tuning_by_users_longer,
        dict.fromkeys(_ONCE, SEEDS_LONGER), (1,), tuned_for_users,
    ),
    **{name: Item(title, _main(*shown), _seeds, None, variant) for name, (title, shown) in _FIGURES.items()},
    **{f"{name}-fresh": Item(
        f"{title}, with fresh starts and decay", _main(*(each for each in shown if each not in FULL), reading=FRESH),
        _fewer_seeds, None, variant,
    ) for name, (title, shown) in _FIGURES.items()},
    "public-code": Item("The public code as it is", _public_code, _fewer_seeds, None, valued),
    **{f"{name}-shown": Item(
        f"{title}, ΔNDCG of the list as shown", _main(*shown, reading=AS_SHOWN), _all_seeds, None, variant
    ) for name, (title, shown) in _FIGURES.items()},
    "ranked-later": Item("olLambdaRank by the present ranking, more runs", _ranked_later, _all_seeds, None, variant),
    "ranked-longer": Item(
        "olLambdaRank by the present ranking, for as many rounds as the paper's", _ranked_longer, _fewer_seeds, (1,),
        variant,
    ),
    **{f"{name}-long": Item(
        f"{title}, for as many rounds as the paper's", _long(*shown), _fewer_seeds, (1,), variant
    ) for name, (title, shown) in _FIGURES.items()},
    "labels": Item("What labels leave to a network", labels.label_cells, TEN_SEEDS),
    "lda": Item("How far a line separates the grades", _separation, _ONCE),
    "lda-densities": Item("Documents in the plane of LDA, by grade", lda.density_cells, _ONCE, (1,)),
    "far": Item("Neural PDGD for 20,000 rounds", _far, _fewer_seeds, None, variant),
    "exploration": Item("With and without exploration, and without refitting", _exploration, _fewer_seeds, None, way),
    "width": Item("Width of the network", _widths, ONE_SEED, None, variant),
    "choices": Item("What the paper leaves open, one choice at a time", _choices, ONE_SEED, None, choice),
    "gap": Item("How far refits are from the optimum", lambda tier: fits.gap_cells(tier, _fitted()), THREE_SEEDS, (1,)),
    "coverage": Item(
        "What the intervals cover on real documents", lambda tier: fits.coverage_cells(tier, _fitted()), FOUR_SEEDS,
        (1,),
    ),
    "coverage-pulled": Item(
        "What they cover at the largest λ of the paper", lambda tier: fits.pulled_cells(tier, _fitted()), THREE_SEEDS,
        (1,),
    ),
    "coverage-refit": Item(
        "What they cover at a small λ, by how networks are refitted",
        lambda tier: fits.refit_cells(tier, _fitted()), THREE_SEEDS, (1,), fits.way,
    ),
    "fits-as-text": Item(
        "Few passes of L-BFGS beside Adam at its best", _as_text, THREE_SEEDS, None, fits.way_as_text
    ),
    "witness": Item("One run of the paper's length with full covariance", _witness, _ONCE, (1,), variant),
    "timing": Item("What a round costs", _timing, _ONCE, (1,), variant),
    "forms": Item("What both forms of the full covariance cost", forms.form_cells, _ONCE),
    **audit_cells.ITEMS,
}  # fmt: skip


def settings(dataset: str) -> dict[str, tuple[str, dict[str, Value]]]:
    """Every online learner with its hyper-parameters as tuned for a data set; MQ2008's if nothing is tuned on it."""
    online = {each: SETTINGS[each] for each in ONLINE}
    return {each: (learner, own | tuned(dataset, each)) for each, (learner, own) in online.items()}


PAPER = Paper(
    "olranknet", ITEMS, (*CLAIMS, *THEOREMS), READINGS, "ol2r.papers.olranknet", BY_ROUNDS[ROUNDS_HERE], settings,
    TUNED, BY_USERS, (*BY_USERS.steps, "public-code", "ranked-later", "ranked-longer", "fits-as-text"),
)  # fmt: skip
