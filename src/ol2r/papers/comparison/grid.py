"""All learners under one protocol: who is compared, in which settings, on which runs.

No paper has this comparison, so nothing is claimed and nothing is judged. Every learner keeps the settings of its own
chapter, and a run that another chapter shows as well is the same run. Other modules declare what is drawn from the
results, and the rule of the table of decisions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import pandas as pd

from ol2r import data
from ol2r.clicks import GradedCascade, GradedPositions, GradedUser, users
from ol2r.clicks.cascade import USERS, users_of_grades
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell, Item
from ol2r.experiments.chapter import stacked
from ol2r.experiments.grid import SMOKE_CURVE, first_step, on, second_step
from ol2r.experiments.kinds.simulate import Simulate
from ol2r.experiments.kinds.start import Start
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.paper import Paper
from ol2r.experiments.store import Store
from ol2r.learners import LEARNERS
from ol2r.papers.bubblerank.claims import FEW
from ol2r.papers.bubblerank.grid import SETTINGS as BANDITS
from ol2r.papers.bubblerank.safety import BANDIT, CHANCE, STILL, production, safety_cell
from ol2r.papers.comparison import contest, memory
from ol2r.papers.comparison.footprint import Footprint
from ol2r.papers.comparison.tuning import NSGD, ROUNDS_FIRST, ROUNDS_LONGER, SEEDS_FIRST, SEEDS_LONGER, TUNED
from ol2r.papers.nsgd import grid as nsgd
from ol2r.papers.olranknet import grid as olranknet
from ol2r.papers.p2neurrank import grid as p2neurrank
from ol2r.papers.pairrank import grid as pairrank
from ol2r.parameters import Value

SEEDS = 3
"""Seeds of each fold at the paper tier, of all that has no number of its own here."""
ROUNDS, K = olranknet.ROUNDS_HERE, olranknet.K
"""T of all learners, and the cut of lists and of NDCG."""
DATASETS = ("MQ2008",)
ELSEWHERE = ("MQ2007_partial85", "synthetic-mslr", "synthetic-mslr-net")
"""Where the main comparison is run once more: real data of the same make, and synthetic data of MSLR's shape, whose
labels come from a linear ranker and from a network."""

LINEAR_ELSEWHERE = ("OHSUMED",)
"""More data where linear rankers are run: real, with long lists."""

P2LINRANK, P2NEURRANK, P2NEURRANK_5 = "P2LinRank, N = 2", "P2NeurRank, N = 2", "P2NeurRank, N = 5"
NEURAL_GREEDY = "neural epsilon-greedy"
LINEAR = ("PairRank", P2LINRANK, NSGD, "DBGD", "PDGD", "epsilon-greedy")
NETWORKS = ("olRankNet", "olRankNet, full", P2NEURRANK, "neural PDGD")
COMPARED = (*LINEAR, *NETWORKS)
"""Who is compared: one or two learners of each paper, and the baselines that the papers share."""
BASELINES = ("DBGD", "PDGD", "epsilon-greedy", "neural PDGD")
"""Of these, who is no paper's own."""
SKYLINE = olranknet.SKYLINE

_FROM_OLRANKNET = ("PairRank", "DBGD", "PDGD", "neural PDGD", "olRankNet", "olRankNet, full", SKYLINE)
SETTINGS: dict[str, tuple[str, dict[str, Value]]] = {
    **{name: olranknet.SETTINGS[name] for name in _FROM_OLRANKNET},
    **{name: p2neurrank.SETTINGS[name] for name in (P2LINRANK, P2NEURRANK)},
    NSGD: (NSGD, nsgd.SETTINGS[NSGD]),
    "epsilon-greedy": pairrank.SETTINGS["epsilon-greedy"],
}
"""Every variant's learner and hyper-parameters before tuning."""
GRID = replace(olranknet.BY_ROUNDS[ROUNDS], settings=SETTINGS)
"""The conventions of the olRankNet chapter, whose runs are shared."""
_TUNING_GRID = replace(pairrank.GRID, settings=SETTINGS)


def tuned_on(dataset: str) -> str:
    """The data set whose tuned values all learners take for a data set: itself, or the similar one that all of them
    were tuned on."""
    return olranknet.similar(dataset)


def tuned(dataset: str, variant: str) -> dict[str, Value]:
    """The hyper-parameters of a variant that were tuned, for a data set, here or in its own chapter.

    Before the table of NSGD's tuning is written, NSGD has the step that its paper gives.
    """
    source = tuned_on(dataset)
    if variant == NSGD:
        return dict(TUNED.chosen(source, NSGD)) if TUNED.shortlist(source, NSGD) else {}
    if variant in (P2LINRANK, P2NEURRANK, P2NEURRANK_5):
        return p2neurrank.tuned(source, variant) | ({} if variant == P2LINRANK else {"depth": p2neurrank.DEPTH_HERE})
    if variant == "epsilon-greedy":
        return pairrank.alone(source, variant)
    if variant == LAMBDARANK:
        return olranknet.tuned(source, variant, olranknet.RANKED)
    return olranknet.tuned(source, variant)


def setting(dataset: str, variant: str) -> dict[str, Value]:
    """All hyper-parameters of a variant, as tuned for a data set."""
    return SETTINGS[variant][1] | tuned(dataset, variant)


def curve(tier: str, dataset: str, kind: str, variant: str, changed: Mapping[str, Value] | None = None) -> Simulate:
    """A learning curve of a variant at its tuned values, except for what `changed` names."""
    return GRID.cell(tier, dataset, kind, variant, {**tuned(dataset, variant), **(changed or {})}, curve=True)


def variant(cell: Cell) -> dict[str, str]:
    """The name that figures give a cell's learner."""
    labels = cell.labels()
    if labels["learner"] == BANDIT:
        return {"variant": BANDIT}
    if labels["learner"] == STILL[0] and labels["alpha"] == STILL[1]["alpha"]:
        return {"variant": CHANCE}
    return p2neurrank.variant(cell) if "rankers" in labels else olranknet.variant(cell)


def beside(tier: str) -> Sequence[str]:
    """Who is run beside the main comparison: under other users, at unlucky values, held against a production ranker's
    lists, on other data. On a laptop these are linear rankers alone."""
    return LINEAR if tier == "laptop" else COMPARED


Cells = Callable[[str], Sequence[Cell]]


def _quality(tier: str) -> Sequence[Cell]:
    """All learners; the skyline too, but not on a laptop."""
    shown = COMPARED if tier == "laptop" else (*COMPARED, SKYLINE)
    return [curve(tier, *run) for run in product(on(*DATASETS)(tier), USERS, shown)]


def _elsewhere(tier: str) -> Sequence[Cell]:
    """All learners on other data; on a laptop on one synthetic data set."""
    datasets = ("synthetic-mslr",) if tier == "laptop" else ELSEWHERE
    runs = list(product(on(*datasets, own=False)(tier), USERS, beside(tier)))
    if tier == "paper":
        runs += product(LINEAR_ELSEWHERE, USERS, LINEAR)
    return [curve(tier, *run) for run in runs]


BY_POSITION, HALFWAY = "by position", "halfway"
OTHER_USERS = (BY_POSITION, HALFWAY)
MOST_PLACES = 10


def other_user(kind: str, n_grades: int) -> GradedUser:
    """Users that no paper on these learners has.

    Args:
        kind: `BY_POSITION`, who look at place i with probability 1/i whatever stands there, and click as navigational
            users do; or `HALFWAY`, whose probabilities are means of those of navigational and informational users.
        n_grades: of the data set.
    """
    navigational, informational = (users_of_grades(each, n_grades) for each in ("navigational", "informational"))
    if kind == BY_POSITION:
        return GradedPositions(kind, navigational.click, tuple(1 / place for place in range(1, MOST_PLACES + 1)))
    click, stop = (
        tuple((a + b) / 2 for a, b in zip(one, other, strict=True))
        for one, other in ((navigational.click, informational.click), (navigational.stop, informational.stop))
    )
    return GradedCascade(kind, click, stop, navigational.stop_rule)


def _other_users(tier: str) -> Sequence[Cell]:
    return [
        replace(curve(tier, dataset, USERS[0], each), users=other_user(kind, data.entry(dataset).n_grades))
        for dataset, kind, each in product(on(*DATASETS)(tier), OTHER_USERS, beside(tier))
    ]


UNLUCKY = {"twice": 2.0, "a tenth": 0.1}
"""By name, what an unlucky choice multiplies the tuned value by."""
UNLUCKY_USERS = "navigational"
AS_TUNED = "as tuned"


def unlucky_name(variant: str) -> str:
    """The hyper-parameter that is chosen badly: λ of those that refit to all pairs, the step of the others."""
    return "regularization" if "regularization" in SETTINGS[variant][1] else "alpha"


def unlucky_setting(dataset: str, variant: str, factor: float) -> dict[str, Value]:
    """The hyper-parameter that is chosen badly, with its bad value."""
    name = unlucky_name(variant)
    return {name: float(f"{float(setting(dataset, variant)[name]) * factor:.12g}")}


def _unlucky(tier: str) -> Sequence[Cell]:
    """As tuned and at both bad values, under one kind of users."""
    return [
        curve(tier, dataset, UNLUCKY_USERS, each, unlucky_setting(dataset, each, factor))
        for dataset, each, factor in product(on(*DATASETS)(tier), beside(tier), (1.0, *UNLUCKY.values()))
    ]


def luck(cell: Cell) -> dict[str, str]:
    """How the hyper-parameter of a cell was chosen."""
    named, labels = variant(cell), cell.labels()
    name = unlucky_name(named["variant"])
    for called, factor in UNLUCKY.items():
        if labels[name] == unlucky_setting(str(labels["dataset"]), named["variant"], factor)[name]:
            return named | {"luck": called}
    return named | {"luck": AS_TUNED}


SEEN = {
    "matched": "to the last click and one beyond",
    "matched-above": "to the last click",
    "matched-shown": "all shown",
}
"""What a learner takes users to have examined, by the value of `pairs`; the first is what the papers suppose."""
BELIEVERS = ("PairRank", P2LINRANK, "epsilon-greedy", "olRankNet")
"""Whose pairs depend on it."""


def believers(tier: str) -> Sequence[str]:
    """Linear ones alone on a laptop."""
    return [each for each in BELIEVERS if tier != "laptop" or each in LINEAR]


def _examination(tier: str) -> Sequence[Cell]:
    """Every belief under the papers' users and under those by position."""
    cells = []
    for dataset, each, pairs in product(on(*DATASETS)(tier), believers(tier), SEEN):
        own = [curve(tier, dataset, kind, each, {"pairs": pairs}) for kind in USERS]
        cells += [*own, replace(own[0], users=other_user(BY_POSITION, data.entry(dataset).n_grades))]
    return cells


WITHOUT = "without"
CONTROLLED = (*DATASETS, *ELSEWHERE, *LINEAR_ELSEWHERE)
"""Data on which learners run without exploring."""
STARTS_ALONE, NOISE_ALONE = "random starts alone", "noise alone"
CONTROLS: dict[str, dict[str, dict[str, Value]]] = {
    WITHOUT: {
        "PairRank": {"alpha": 0.0},
        P2LINRANK: {"noise": 0.0},
        "epsilon-greedy": {"epsilon": 0.0},
        "olRankNet": {"alpha": 0.0},
        P2NEURRANK: {"noise": 0.0, "theta0": "shared"},
    },
    STARTS_ALONE: {P2NEURRANK: {"noise": 0.0}},
    NOISE_ALONE: {P2NEURRANK: {"theta0": "shared"}},
}
"""By way of exploring, the learners that have it, and what is changed in them. PDGD, with either ranker, has no switch:
it draws its lists from its scores. Neither have DBGD and NSGD, which learn from nothing but the candidates that they
explore with. Without intervals olRankNet's covariance makes no difference, so the full one has no control of its own.
P²NeurRank's rankers differ by their noise and by their random starts, of which either can be left out."""


def _controls(kinds: Sequence[str], datasets: Sequence[str]) -> Callable[[str], Sequence[Cell]]:
    """Every learner of these that explores, as tuned and in each other way; on a laptop only where the main comparison
    runs."""

    def cells(tier: str) -> Sequence[Cell]:
        if tier == "laptop" and not set(datasets) & set(DATASETS):
            return []
        made = []
        for dataset, kind in product(on(*(DATASETS if tier == "laptop" else datasets), own=False)(tier), USERS):
            for each in (each for each in kinds if each in CONTROLS[WITHOUT]):
                ways = ({}, *(changed[each] for changed in CONTROLS.values() if each in changed))
                made += [curve(tier, dataset, kind, each, changed) for changed in ways]
        return made

    return cells


def control(cell: Cell) -> dict[str, str]:
    """In which way a cell's learner explores."""
    named, labels = variant(cell), cell.labels()
    for way, changed in CONTROLS.items():  # the first changes most
        own = changed.get(named["variant"], {})
        if own and all(labels[name] == value for name, value in own.items()):
            return named | {"way": way}
    return named | {"way": AS_TUNED}


SEEDS_OF_ONE_FOLD = 5
"""Seeds at the paper tier of a data set that has one fold."""
SEEDS_OF_CONTROLS = {True: 10, False: 5}
"""Seeds of linear controls at the paper tier, by whether a data set has one fold."""


def _seeds_of_controls(tier: str, cell: Cell) -> Sequence[int]:
    """Networks have the seeds of the main comparison."""
    if tier != "paper" or variant(cell)["variant"] in NETWORKS:
        return _seeds_elsewhere(tier, cell)
    return range(SEEDS_OF_CONTROLS[len(cell.folds) == 1])


def _contest(kinds: Sequence[str]) -> Callable[[str], Sequence[Cell]]:
    """The learners that are granted more seeds; at the smoke tier all, on a laptop none."""

    def cells(tier: str) -> Sequence[Cell]:
        if tier == "smoke":
            return [curve(tier, *run) for run in product(on(own=False)(tier), USERS, kinds)]
        more = [key for key in contest.listed() if key[1] in kinds] if tier == "paper" else []
        return [curve(tier, dataset, kind, each) for dataset, each in more for kind in USERS]

    return cells


def _seeds_of_contest(tier: str, cell: Cell) -> Sequence[int]:
    if tier != "paper":
        return RUNS[tier]
    return range(contest.listed()[str(cell.labels()["dataset"]), variant(cell)["variant"]])


def contested(store: Store, *frames: pd.DataFrame) -> pd.DataFrame:
    """The runs of the main comparison with those of the contest that are stored so far, on the same data, each once.

    Args:
        store: where the runs of more seeds are looked up.
        frames: the runs of the main comparison at the paper tier.
    """
    jobs = [job for item in ("contest", "contest-networks") for job in ITEMS[item].jobs("paper")]
    found = {job: own for job in jobs if (own := store.read(job.cell, job.rows).frame) is not None}
    more = stacked(list(found), list(found.values()), variant)
    whole = pd.concat([own for own in (*frames, more) if len(own)])
    whole = whole[whole["variant"].isin(COMPARED)]
    return whole.drop_duplicates(["cell", "fold", "seed", "round"], ignore_index=True)


LONG_ON = ("synthetic-mq-net", "MQ2008", *LINEAR_ELSEWHERE, "synthetic-mslr-net")
"""Data on which learners run for as many rounds as the papers' on PairRank, olRankNet and P²NeurRank."""
LONG_LINEAR = ("PairRank", P2LINRANK, "PDGD")
LAMBDARANK = "olLambdaRank"
"""By the ΔNDCG of the present ranking, which is the main reading of its paper."""
LONG_NETWORKS = ("olRankNet", "olRankNet, full", LAMBDARANK, P2NEURRANK, P2NEURRANK_5, "neural PDGD", NEURAL_GREEDY)
SEEDS_OF_LENGTH = 5
"""Seeds of each fold."""
_LONG_GRID = replace(
    olranknet.BY_ROUNDS[olranknet.ROUNDS],
    settings=SETTINGS
    | {LAMBDARANK: olranknet.SETTINGS["olLambdaRank-ranked"], NEURAL_GREEDY: olranknet.SETTINGS[NEURAL_GREEDY]}
    | {P2NEURRANK_5: p2neurrank.SETTINGS[P2NEURRANK_5]},
)  # fmt: skip


def _length(variants: Sequence[str]) -> Callable[[str], Sequence[Cell]]:
    """Learning curves of the papers' length; not on a laptop."""

    def cells(tier: str) -> Sequence[Cell]:
        datasets = () if tier == "laptop" else on(*LONG_ON, own=False)(tier)
        return [
            _LONG_GRID.cell(tier, dataset, kind, each, tuned(dataset, each), curve=True)
            for dataset, kind, each in product(datasets, USERS, variants)
        ]

    return cells


def _seeds_of_length(tier: str, cell: Cell) -> Sequence[int]:
    return range(SEEDS_OF_LENGTH) if tier == "paper" else RUNS[tier]


def _seeds_elsewhere(tier: str, cell: Cell) -> Sequence[int]:
    """At the paper tier more on a data set of one fold."""
    return RUNS[tier] if tier != "paper" or len(cell.folds) > 1 else range(SEEDS_OF_ONE_FOLD)


FIRST_SEEDS, MORE_SEEDS = 2, 10
"""Seeds of each fold at the paper tier of networks, and of linear rankers, which with two left nearly all open."""


def _seeds_of_beliefs(tier: str, cell: Cell) -> Sequence[int]:
    own = MORE_SEEDS if variant(cell)["variant"] in LINEAR else FIRST_SEEDS
    return range(own) if tier == "paper" else RUNS[tier]


def belief(cell: Cell) -> dict[str, str]:
    """What a cell's learner takes users to have examined."""
    return variant(cell) | {"seen": SEEN[str(cell.labels()["pairs"])]}


STARTERS = ("PairRank", "PDGD", NSGD, "DBGD", "epsilon-greedy")
"""Who begins from a ranker that was fitted offline."""
UNTRAINED = "untrained"
STARTS = {"right": 1.0, "right, a tenth": 0.1, "wrong, a tenth": -0.1, "wrong": -1.0}
"""What multiplies the weights of the production ranker of few labels; a negative factor turns its lists round."""
START_DATASETS = (*DATASETS, "synthetic-mslr")


def _starts(tier: str) -> Sequence[Cell]:
    """Every start beside the learner's own, which is its run of `_quality`; on a laptop on the first data set only."""
    cells: list[Cell] = []
    datasets = DATASETS if tier == "laptop" else START_DATASETS
    for dataset, kind, each in product(on(*datasets, own=False)(tier), USERS, STARTERS):
        cold, fitted = curve(tier, dataset, kind, each), production(tier, dataset, FEW)
        cells += [cold, *(Start.of(cold, fitted, factor) for factor in STARTS.values())]
    return cells


def _seeds_of_starts(tier: str, cell: Cell) -> Sequence[int]:
    """At the paper tier fewer on a data set of one fold."""
    return (range(MORE_SEEDS) if len(cell.folds) > 1 else range(SEEDS_OF_ONE_FOLD)) if tier == "paper" else RUNS[tier]


def start(cell: Cell) -> dict[str, str]:
    """What a cell's learner begins from."""
    named = {factor: name for name, factor in STARTS.items()}
    return variant(cell) | {"began": named[cell.factor] if isinstance(cell, Start) else UNTRAINED}


def _safety(tier: str) -> Sequence[Cell]:
    """BubbleRank meets perfect users only, who alone have a model by item."""
    cells: list[Cell] = []
    for dataset in on(*DATASETS, own=False)(tier):
        players = {each: (SETTINGS[each][0], setting(dataset, each)) for each in beside(tier)}
        players[CHANCE] = STILL[0], dict(STILL[1])
        cells += [
            safety_cell(tier, dataset, kind, *player, rounds=ROUNDS)
            for player, kind in product(players.values(), USERS)
        ]
        cells.append(safety_cell(tier, dataset, "perfect", BANDIT, BANDITS[BANDIT], rounds=ROUNDS))
    return cells


TENTHS = SMOKE_CURVE[1:], tuple(range(ROUNDS // 10, ROUNDS + 1, ROUNDS // 10))
"""Rounds at which times are read: of the smoke tier, and of others."""


def _timing(tier: str) -> Sequence[Cell]:
    """One replica of each learner under perfect users, on a laptop of linear rankers alone: times and memory kept."""
    cells: list[Cell] = []
    timed_too = LINEAR if tier == "laptop" else COMPARED
    for dataset, each in product(on(*DATASETS, own=False)(tier), timed_too):
        learner = SETTINGS[each][0]
        timed = Timing(
            dataset=dataset,
            checksum=grid.checksum(dataset),
            learner=learner,
            revision=LEARNERS[learner].revision,
            hyperparameters=tuple(sorted(setting(dataset, each).items())),
            users=users("perfect", data.entry(dataset).n_grades),
            replicas=1,
            checkpoints=TENTHS[tier != "smoke"],
        )
        weighed = Footprint(
            dataset=timed.dataset,
            checksum=timed.checksum,
            learner=timed.learner,
            revision=timed.revision,
            hyperparameters=timed.hyperparameters,
            users=timed.users,
            rounds=timed.checkpoints[-1],
        )
        cells += [timed, weighed]
    return cells


def _references(tier: str) -> Sequence[Cell]:
    datasets = on(*DATASETS)(tier) if tier != "paper" else on(*DATASETS, *ELSEWHERE)(tier)
    return [pairrank.reference(dataset) for dataset in datasets]


def _tuning_cell(
    tier: str, dataset: str, kind: str, name: str, variant: str, setting: Mapping[str, Value], rounds: int
) -> Cell:
    return _TUNING_GRID.cell(tier, dataset, kind, variant, setting, split="validation", rounds=rounds)


def _tuning(tier: str) -> Sequence[Cell]:
    """Every step of NSGD, scored on validation queries."""
    return [_tuning_cell(tier, *run, ROUNDS_FIRST) for run in first_step(TUNED, tier, lambda dataset: False)]


def _tuning_longer(tier: str) -> Sequence[Cell]:
    """The best steps of `_tuning`, on more rounds and other seeds."""
    runs = second_step(TUNED, tier, lambda dataset, grid: tuned_on(dataset))
    return [_tuning_cell(tier, *run, ROUNDS_LONGER) for run in runs]


def tuned_together(cell: Cell) -> dict[str, str]:
    """What a cell of the tuning is called: its variant, which is the name of its grid as well."""
    named = variant(cell)
    return named | {"grid": named["variant"]}


RUNS: dict[str, Sequence[int]] = {"smoke": range(2), "laptop": range(1), "paper": range(SEEDS)}
_ONCE: dict[str, Sequence[int]] = dict.fromkeys(RUNS, range(1))
ITEMS: dict[str, Item] = {
    "reference": Item("Offline RankNet, a linear ranker of the true labels", _references, _ONCE),
    "tuning": Item(
        "Tuning of NSGD on validation queries, every step", _tuning, dict.fromkeys(_ONCE, SEEDS_FIRST), (1,),
        tuned_together,
    ),
    "tuning-longer": Item(
        "Tuning of NSGD on validation queries, the best steps on more rounds", _tuning_longer,
        dict.fromkeys(_ONCE, SEEDS_LONGER), (1,), tuned_together,
    ),
    "quality": Item("All learners: ranker, lists, regret", _quality, RUNS, None, variant),
    "elsewhere": Item("All learners on other data", _elsewhere, _seeds_elsewhere, None, variant),
    "safety": Item("Lists much worse than a production ranker's", _safety, RUNS, None, variant),
    "other-users": Item("Users that no paper on these learners has", _other_users, RUNS, None, variant),
    "unlucky": Item("An unlucky λ or step", _unlucky, RUNS, None, luck),
    "examination": Item("What learners take users to have examined", _examination, _seeds_of_beliefs, None, belief),
    "starts": Item("A start from an offline ranker, right or wrong", _starts, _seeds_of_starts, None, start),
    "contest": Item(
        "Linear rankers with more seeds, until it is decided who is within reach of the best", _contest(LINEAR),
        _seeds_of_contest, None, variant,
    ),
    "contest-networks": Item(
        "Networks with more seeds, until it is decided who is within reach of the best", _contest(NETWORKS),
        _seeds_of_contest, None, variant,
    ),
    "controls": Item(
        "Linear rankers with and without exploring", _controls(LINEAR, CONTROLLED), _seeds_of_controls, None, control
    ),
    "controls-networks": Item(
        "Networks with and without exploring", _controls(NETWORKS, CONTROLLED),
        _seeds_of_controls, None, control,
    ),
    "length": Item(
        "Linear rankers for as many rounds as the papers'", _length(LONG_LINEAR), _seeds_of_length, None, variant
    ),
    "length-networks": Item(
        "Networks for as many rounds as the papers'", _length(LONG_NETWORKS), _seeds_of_length, None, variant
    ),
    "timing": Item("What a round costs", _timing, _ONCE, (1,), variant),
    "memory": Item("PairRank with bounded memory", memory.cells, memory.seeds, None, memory.form),
    "memory-timing": Item(
        "What a round of PairRank with bounded memory costs", memory.timing_cells, _ONCE, (1,), memory.form
    ),
}  # fmt: skip

LEFT_OPEN = ("examination", "starts", "memory", "memory-timing")
"""The items that are on the page of what the papers leave open, and on no other."""

QUEUED = ("contest", "contest-networks", "controls-networks", "length", "length-networks")
"""The items whose runs wait for a machine: declared with what is expected of them, and on no page yet."""

PAPER = Paper("comparison", ITEMS, package="ol2r.papers.comparison", tuned=TUNED, waiting=QUEUED)
