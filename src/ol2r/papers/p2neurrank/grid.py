"""The P²NeurRank paper (Jia and Wang, SIGIR 2022): its settings, and the grid of every figure at each tier.

Each value that the paper gives is declared here, once; what the paper leaves open is marked as ours. Learners of
earlier chapters are declared as those chapters declare them, so that a run that both show is one run. Other modules
declare what is drawn from the results and how claims are judged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from ol2r import data
from ol2r.clicks import users
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell, Item
from ol2r.experiments.grid import SMOKE_CURVE, first_step, on, second_step
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.paper import Paper
from ol2r.learners import LEARNERS
from ol2r.papers.olranknet import grid as olranknet
from ol2r.papers.olranknet.tuning import is_wide
from ol2r.papers.p2neurrank import audit_cells
from ol2r.papers.p2neurrank.claims import (
    BOTH,
    CLAIMS,
    DIAGONAL,
    FULL_FORMS,
    LARGE_NOISE,
    LINEAR,
    LINEAR_VARIANTS,
    MSLR,
    NEURAL,
    NEURAL_VARIANTS,
    NUMBERS_OF_RANKERS,
    OLRANKNET,
    OLRANKNET_FULL,
    PAIRRANK,
    PAIRRANK_DIAGONAL,
    PROTOCOL,
    ROUNDS,
    SIXTEEN_DIAGONAL,
    SIXTEEN_FULL,
    SKYLINE,
    SMALL_NOISE,
    TENTHS,
    TIMED,
    USERS,
    linear,
    neural,
)
from ol2r.papers.p2neurrank.histories import Histories
from ol2r.papers.p2neurrank.theorems import THEOREMS
from ol2r.papers.p2neurrank.tuning import (
    GRIDS,
    SEEDS_FIRST,
    SEEDS_LONGER,
    TUNED,
    is_linear,
    rounds_first,
    rounds_longer,
)
from ol2r.papers.pairrank import grid as pairrank
from ol2r.parameters import Value

HERE = ("MQ2008",)
ELSEWHERE = ("synthetic-mslr", "MQ2007_partial85", pairrank.CLUEWEB)
"""The data sets of all figures, and others that linear rankers are run on."""
NETWORKS_TOO = ELSEWHERE[:1]
"""Those of the others that networks are run on."""
DATASETS = (*BOTH, *HERE)
OWN_DEPTH, DEPTH_HERE = 3, 2
"""Layers of weights: the paper's networks are d-m-m-1. On data sets that are run here they are d-m-1, as those of
olRankNet are; `choices` has the paper's beside them."""

_PERTURBED: dict[str, Value] = {"noise": LARGE_NOISE, "scorer": "mean"}
_OLRANKNET = olranknet.SETTINGS[OLRANKNET][1]
_INTERVALS = ("alpha", "covariance", "gradients")
_NETWORK: dict[str, Value] = {name: value for name, value in _OLRANKNET.items() if name not in _INTERVALS}
_NETWORK |= {"theta0": "own"} | _PERTURBED
_LINEAR: dict[str, Value] = {"regularization": 1.0, "pairs": "matched", "pseudo_pairs": False} | _PERTURBED
_SIXTEEN = _OLRANKNET | {"width": 16, "depth": 3}
SETTINGS: dict[str, tuple[str, dict[str, Value]]] = {
    **{linear(n): ("P2LinRank", _LINEAR | {"rankers": n}) for n in NUMBERS_OF_RANKERS},
    PAIRRANK: pairrank.SETTINGS["PairRank_C"],
    PAIRRANK_DIAGONAL: ("PairRank", pairrank.SETTINGS["PairRank_C"][1] | {"covariance": "diagonal"}),
    **{name: pairrank.SETTINGS[name] for name in LINEAR_VARIANTS if name in pairrank.SETTINGS},
    **{neural(n): ("P2NeurRank", _NETWORK | {"rankers": n}) for n in (1, *NUMBERS_OF_RANKERS)},
    **{
        name: olranknet.SETTINGS[name]
        for name in (*NEURAL_VARIANTS, OLRANKNET_FULL, SKYLINE)
        if name in olranknet.SETTINGS
    },
    SIXTEEN_FULL: (OLRANKNET, _SIXTEEN | {"covariance": "full"}),
    SIXTEEN_DIAGONAL: (OLRANKNET, _SIXTEEN),
}
"""Every variant's learner and hyper-parameters before tuning."""

_LINEAR_GRID = replace(pairrank.GRID, settings=SETTINGS)
_NEURAL_GRIDS = {rounds: replace(each, settings=SETTINGS) for rounds, each in olranknet.BY_ROUNDS.items()}
"""By T."""


def _depth(dataset: str, variant: str) -> dict[str, Value]:
    """Layers of weights of a variant's network, where they are those of the data set."""
    fixed = is_linear(variant) or variant in (SIXTEEN_FULL, SIXTEEN_DIAGONAL)
    return {} if fixed else {"depth": OWN_DEPTH if dataset in BOTH else DEPTH_HERE}


def tuned_on(dataset: str, grid: str) -> str:
    """The data set whose tuned values a data set takes: itself if the grid was tuned on it, else one that is similar,
    if the grid was tuned on that, by default MQ2008."""
    return TUNED.tuned_on(grid, dataset, olranknet.similar(dataset), "MQ2008")


def tuned(dataset: str, variant: str) -> dict[str, Value]:
    """The hyper-parameters of a variant that were tuned, for a data set, in this chapter or in an earlier one.

    Each learner has those that its own tuning chose; on ClueWeb09 PairRank still has those that MQ2008's tuning chose
    for both of its shuffles together. Other numbers of rankers than were tuned take the values of the nearest one that
    was.
    """
    nearest = {neural(1): NEURAL[0], neural(10): NEURAL[1], linear(10): LINEAR[1]}.get(variant, variant)
    if nearest in GRIDS:
        return dict(TUNED.chosen(tuned_on(dataset, nearest), nearest))
    if variant == PAIRRANK and dataset == pairrank.CLUEWEB:
        return pairrank.tuned(dataset, "PairRank_C")
    if variant in LINEAR_VARIANTS:
        return pairrank.alone(dataset, "PairRank_C" if variant == PAIRRANK else variant)
    return olranknet.tuned(dataset, variant)


def curve(
    tier: str,
    dataset: str,
    kind: str,
    variant: str,
    changed: Mapping[str, Value] | None = None,
    rounds: int | None = None,
) -> Cell:
    """A learning curve of a variant at its tuned values, except for what `changed` names; a network's may have another
    number of rounds than is usual on its data set."""
    best = tuned(dataset, variant) | _depth(dataset, variant)
    of = _LINEAR_GRID if is_linear(variant) else _NEURAL_GRIDS[rounds or olranknet.rounds_of(dataset)]
    return of.cell(tier, dataset, kind, variant, {**best, **(changed or {})}, curve=True)


def variant(cell: Cell) -> dict[str, str]:
    """The name that figures give a cell's learner."""
    labels = cell.labels()
    name = str(labels["learner"])
    if name in ("P2LinRank", "P2NeurRank"):
        name = (linear if name == "P2LinRank" else neural)(int(labels["rankers"]))
    elif name == PAIRRANK and labels["covariance"] == "diagonal":
        name = PAIRRANK_DIAGONAL
    elif name == OLRANKNET and labels["width"] == _SIXTEEN["width"]:
        name = SIXTEEN_FULL if labels["covariance"] == "full" else SIXTEEN_DIAGONAL
    elif name == OLRANKNET and labels["covariance"] == "full":
        name = OLRANKNET_FULL
    return {"variant": name}


Cells = Callable[[str], Sequence[Cell]]


def _main(*variants: str, kinds: Sequence[str] = USERS, elsewhere: Sequence[str] = ()) -> Cells:
    """Learning curves; on the data sets `elsewhere` at the paper tier only."""

    def cells(tier: str) -> Sequence[Cell]:
        runs = list(product(on(*DATASETS)(tier), kinds, variants))
        if tier == "paper":
            runs += product(elsewhere, kinds, variants)
        return [curve(tier, *run) for run in runs]

    return cells


BESIDE_LABELS = ("MQ2008", "MQ2007_partial85", "synthetic-mslr", "synthetic-mslr-net")
"""Data on which two networks ran on all folds, and PairRank beside them for as many rounds."""


def _beside_pairrank(tier: str) -> Sequence[Cell]:
    """Two networks, and PairRank with olRankNet's rounds and values; the runs are those of the comparison. Not on a
    laptop."""
    cells: list[Cell] = []
    datasets = () if tier == "laptop" else on(*BESIDE_LABELS, own=False)(tier)
    for dataset, kind in product(datasets, USERS):
        cells += [curve(tier, dataset, kind, NEURAL[0]), olranknet.curve(tier, dataset, kind, PAIRRANK)]
    return cells


def _witness(tier: str) -> Sequence[Cell]:
    """Two rankers, and olRankNet, for as many rounds as the paper's, where documents have as many features and lists
    are as long as in its first data set; not on a laptop."""
    datasets = () if tier == "laptop" else on(NETWORKS_TOO[0], own=False)(tier)
    return [curve(tier, *run, rounds=ROUNDS) for run in product(datasets, USERS[:1], (NEURAL[0], OLRANKNET))]


def _at_noise(
    tier: str,
    dataset: str,
    kind: str,
    rankers: int,
    noise: float,
    *,
    linear_too: bool = False,
    changed: Mapping[str, Value] | None = None,
) -> list[Cell]:
    """Ensembles that differ in N and ν², and in what `changed` names: the rest is what N = 2 was tuned to."""
    families = (linear, neural) if linear_too else (neural,)
    return [
        curve(tier, dataset, kind, of(rankers), tuned(dataset, of(2)) | {"noise": noise} | dict(changed or {}))
        for of in families
    ]


_TOGETHER: dict[str, Value] = {"theta0": "shared"}


def _noises(noise: float, changed: Mapping[str, Value] | None = None) -> Cells:
    """Figures 7 and 8, of which the paper names neither data nor users: ours are perfect users.

    Expected of networks that start together, before any of them had run with N = 5 or 10: they call more of the shown
    orders certain than networks with starts of their own, and at ν² = 0.01 N = 2, 5 and 10 end less than 0.005 apart.
    """
    return lambda tier: [
        cell
        for dataset, rankers in product(on(*DATASETS)(tier), NUMBERS_OF_RANKERS)
        for cell in _at_noise(tier, dataset, USERS[0], rankers, noise, changed=changed)
    ]


WAITING = ("fig-7-shared", "fig-8-shared", "starts", "fits", "fits-long")
"""Items that are declared and whose runs wait for a machine."""
STARTS: dict[str, dict[str, Value]] = {
    "own starts and noise": {},
    "own starts, no noise": {"noise": 0.0},
    "one start and noise": _TOGETHER,
    "one start, no noise": {"noise": 0.0} | _TOGETHER,
}
"""By name, what makes two networks disagree: random weights of their own, noise, both, or neither; as tuned else."""


def _starts(tier: str) -> Sequence[Cell]:
    """Two networks that disagree for either reason, for both, and for none.

    Expected, before they had run under other than perfect users: networks with starts of their own rank as well without
    noise as with it, within 0.005 in both scores; networks that start together and have no noise show lists that are no
    worse by 0.005.
    """
    return [
        curve(tier, dataset, kind, NEURAL[0], changed)
        for dataset, kind, changed in product(on(*HERE)(tier), USERS, STARTS.values())
    ]


def start(cell: Cell) -> dict[str, str]:
    """What makes the networks of a cell disagree."""
    labels = cell.labels()
    met = [name for name, changed in STARTS.items() if all(labels[each] == value for each, value in changed.items())]
    return variant(cell) | {"start": max(met, key=lambda name: len(STARTS[name]))}


FITS: dict[str, dict[str, Value]] = {
    "Adam, 20 passes": {},
    "Adam, 200 passes": {"passes": 200},
    "L-BFGS, 20 passes": {"refit": "lbfgs"},
    "L-BFGS, 60 passes": {"refit": "lbfgs", "passes": 60},
}
"""By name, how a network is refitted; the first as in the main results."""
LONG_FIT = "Adam, 200 passes"
"""The one that takes ten times as long as the main results."""


def _fits(*names: str, starts: Sequence[Mapping[str, Value]]) -> Cells:
    """Two networks at the larger ν², refitted in several ways, with starts of their own or with one start; under
    perfect users alone.

    Expected, before they had run: after 60 passes of L-BFGS, and after 200 of Adam, fewer of the shown orders are
    certain than after 20 of Adam, by more than one in twenty, because more of the noise arrives; the final score moves
    by less than 0.01.
    """
    return lambda tier: [
        cell
        for dataset, start, name in product(on(*HERE)(tier), starts, names)
        for cell in _at_noise(
            tier, dataset, USERS[0], NUMBERS_OF_RANKERS[0], LARGE_NOISE, changed={**start, **FITS[name]}
        )
    ]


def fit(cell: Cell) -> dict[str, str]:
    """How the networks of a cell are refitted."""
    labels = cell.labels()
    met = [name for name, changed in FITS.items() if all(labels[each] == value for each, value in changed.items())]
    return variant(cell) | {"fit": max(met, key=lambda name: len(FITS[name]))}


EARLY_USERS = (USERS[0], USERS[2])
"""Of PPX1: those who see every document, and those who click at random most."""


def _certainty(tier: str) -> Sequence[Cell]:
    """At both ν², but networks under other than perfect users at the larger one only, which the rules read."""
    return [
        cell
        for dataset, kind, rankers, noise in product(
            on(*DATASETS)(tier), EARLY_USERS, NUMBERS_OF_RANKERS, (SMALL_NOISE, LARGE_NOISE)
        )
        for cell in _at_noise(tier, dataset, kind, rankers, noise, linear_too=True)
        if kind == USERS[0] or noise == LARGE_NOISE or is_linear(variant(cell)["variant"])
    ]


_LOOKS = {
    linear: (50, 100, 200, ROUNDS // TENTHS, 1000, 2000, ROUNDS),
    neural: (25, 50, 100, 200, olranknet.ROUNDS_HERE // 2),
}
"""Rounds after which certain orders are compared; the rules ask for a tenth of the history. Networks follow half as
many rounds as they run elsewhere, to save time."""
_SMOKE_LOOKS = (SMOKE_CURVE[-1] // TENTHS, SMOKE_CURVE[-1])
_NOT_GIVEN = ("noise", "rankers")


def _histories(tier: str) -> Sequence[Cell]:
    """Ensembles that follow the clicks of users of PairRank, at its chapter's values, and of users of olRankNet."""
    cells: list[Cell] = []
    for dataset, kind, of in product(on(MSLR, *HERE, own=False)(tier), EARLY_USERS, (linear, neural)):
        chooser, ensemble = (
            {**SETTINGS[name][1], **tuned(dataset, name), **_depth(dataset, name)}
            for name in (PAIRRANK if of is linear else OLRANKNET, of(2))
        )
        chooser |= pairrank.tuned(dataset, "PairRank_C") if of is linear else {}
        cells.append(
            Histories(
                dataset=dataset,
                checksum=grid.checksum(dataset),
                family=of.__name__,
                users=kind,
                chooser=tuple(sorted(chooser.items())),
                ensemble=tuple(sorted((name, each) for name, each in ensemble.items() if name not in _NOT_GIVEN)),
                noises=(SMALL_NOISE, LARGE_NOISE),
                rounds=_SMOKE_LOOKS if tier == "smoke" else _LOOKS[of],
                rankers=NUMBERS_OF_RANKERS,
            )
        )
    return cells


CHOICES: dict[str, tuple[str, dict[str, Value]]] = {
    "P2LinRank as in the main results": (LINEAR[0], {}),
    "P2LinRank, no noise": (LINEAR[0], {"noise": 0.0}),
    "P2LinRank, ranker 1 evaluated": (LINEAR[0], {"scorer": "first"}),
    "P2LinRank, pseudo-pairs perturbed": (LINEAR[0], {"pseudo_pairs": True}),
    "P2NeurRank as in the main results": (NEURAL[0], {}),
    "P2NeurRank, ranker 1 evaluated": (NEURAL[0], {"scorer": "first"}),
    "P2NeurRank, no noise": (NEURAL[0], {"noise": 0.0}),
    "P2NeurRank, rankers start together": (NEURAL[0], _TOGETHER),
    "P2NeurRank, no noise, rankers start together": (NEURAL[0], {"noise": 0.0} | _TOGETHER),
    "P2NeurRank, d-m-m-1": (NEURAL[0], {"depth": OWN_DEPTH}),
    **{f"{neural(n)} as in the main results": (neural(n), {}) for n in NUMBERS_OF_RANKERS[1:]},
    **{f"{neural(n)}, ranker 1 evaluated": (neural(n), {"scorer": "first"}) for n in NUMBERS_OF_RANKERS[1:]},
    "olRankNet as in the main results": (OLRANKNET, {}),
    "olRankNet, d-m-m-1": (OLRANKNET, {"depth": OWN_DEPTH}),
}
"""By name, a variant and what is changed in it: one silent choice at a time, and what is left without noise. Without
noise linear rankers are PairRank with α = 0, and networks that start together olRankNet with α = 0."""
DISAGREEING = {
    "own starts and noise": "P2NeurRank as in the main results",
    "own starts, no noise": "P2NeurRank, no noise",
    "one start and noise": "P2NeurRank, rankers start together",
    "one start, no noise": "P2NeurRank, no noise, rankers start together",
}
"""By what makes two networks disagree, the choice that has it."""


def _choices(tier: str) -> Sequence[Cell]:
    """Under perfect users alone."""
    return [
        curve(tier, dataset, USERS[0], each, changed)
        for dataset, (each, changed) in product(on(*HERE)(tier), CHOICES.values())
    ]


def choice(cell: Cell) -> dict[str, str]:
    """Which choice a cell makes otherwise than the main results."""
    labels, named = cell.labels(), variant(cell)
    own = {name: changed for name, (each, changed) in CHOICES.items() if each == named["variant"]}
    met = [name for name, changed in own.items() if all(labels[each] == value for each, value in changed.items())]
    return named | {"choice": max(met, key=lambda name: len(own[name]))}


def _references(tier: str) -> Sequence[Cell]:
    elsewhere = ELSEWHERE if tier == "paper" else ()
    return [pairrank.reference(dataset) for dataset in (*on(*DATASETS)(tier), *elsewhere)]


def _tuning_cell(
    tier: str, dataset: str, kind: str, name: str, variant: str, setting: Mapping[str, Value], rounds: int
) -> Cell:
    of = _LINEAR_GRID if is_linear(name) else _NEURAL_GRIDS[olranknet.ROUNDS_HERE]
    return of.cell(tier, dataset, kind, variant, setting, split="validation", rounds=rounds)


def _tuning(tier: str) -> Sequence[Cell]:
    """Every cell of the grids, scored on validation queries."""
    return [_tuning_cell(tier, *run, rounds_first(run.grid)) for run in first_step(TUNED, tier, is_wide)]


def _tuning_longer(tier: str) -> Sequence[Cell]:
    """The best cells of `_tuning`, on more rounds and other seeds."""
    return [_tuning_cell(tier, *run, rounds_longer(run.grid)) for run in second_step(TUNED, tier, tuned_on)]


def tuned_together(cell: Cell) -> dict[str, str]:
    """What a cell of the tuning is called: its variant, which is the name of its grid as well."""
    named = variant(cell)
    return named | {"grid": named["variant"]}


def _timed(tier: str, dataset: str, kind: str, name: str, changed: Mapping[str, Value], rounds: int) -> Timing:
    """One replica of a variant, timed up to the end of each tenth of its rounds."""
    learner, setting = SETTINGS[name]
    tenths = tuple(round(rounds * i / TENTHS) for i in range(1, TENTHS + 1))
    return Timing(
        dataset=dataset,
        checksum=grid.checksum(dataset),
        learner=learner,
        revision=LEARNERS[learner].revision,
        hyperparameters=tuple(sorted({**setting, **tuned(dataset, name), **_depth(dataset, name), **changed}.items())),
        users=users(kind, data.entry(dataset).n_grades),
        replicas=1,
        checkpoints=tuple(range(SMOKE_CURVE[-1] // TENTHS, SMOKE_CURVE[-1] + 1, SMOKE_CURVE[-1] // TENTHS))
        if tier == "smoke"
        else tenths,
    )


RIVALRY = (LINEAR[0], PAIRRANK, NEURAL[0], OLRANKNET)
"""Who is compared at equal computing time."""


def _timing(tier: str) -> Sequence[Cell]:
    """PairRank at the value of its chapter, since what a round takes hardly depends on λ."""
    return [
        _timed(
            tier, dataset, kind, name, pairrank.tuned(dataset, "PairRank_C") if name == PAIRRANK else {},
            ROUNDS if is_linear(name) else olranknet.rounds_of(dataset),
        )
        for dataset, kind, name in product(on(*DATASETS, own=False)(tier), USERS, RIVALRY)
    ]  # fmt: skip


FORMS: dict[str, tuple[str, dict[str, Value]]] = {
    **{
        name: (SIXTEEN_FULL, {"covariance": form})
        for name, form in zip(FULL_FORMS, ("inverted", "primal", "dual"), strict=True)
    },
    DIAGONAL: (SIXTEEN_DIAGONAL, {"covariance": "diagonal"}),
    **{name: (name, {"width": _SIXTEEN["width"], "depth": _SIXTEEN["depth"]}) for name in TIMED[-2:]},
}
"""The curves of Figure 9, all of 16 × 16 networks: by name, a variant and what is changed in it."""


def _figure_9(tier: str) -> Sequence[Cell]:
    """Under perfect users, as in the paper."""
    return [
        _timed(tier, dataset, USERS[0], name, changed, olranknet.rounds_of(dataset))
        for dataset, (name, changed) in product(on(MSLR, *HERE, own=False)(tier), FORMS.values())
    ]


def form(cell: Cell) -> dict[str, str]:
    """The name that Figure 9 gives a cell."""
    labels = cell.labels()
    if labels["learner"] != OLRANKNET:
        return variant(cell)
    own = {changed["covariance"]: name for name, (_, changed) in FORMS.items() if "covariance" in changed}
    return {"variant": own[str(labels["covariance"])]}


RUNS = 20
"""Runs of each linear learner, over all folds, as in the PairRank chapter."""
FIVE: dict[str, Sequence[int]] = {"smoke": range(2), "laptop": range(1), "paper": range(5)}
_ONCE: dict[str, Sequence[int]] = dict.fromkeys(FIVE, range(1))


def _is_own(cell: Cell) -> bool:
    """Whether the cell's data set is one of the paper's, so that its whole protocol is declared."""
    return cell.labels()["dataset"] in BOTH


def _linear_seeds(tier: str, cell: Cell) -> Sequence[int]:
    many = PROTOCOL.seeds if _is_own(cell) else max(1, RUNS // len(cell.folds))
    return range({"smoke": 2, "laptop": 1, "paper": many}[tier])


def _neural_folds(cell: Cell) -> tuple[int, ...] | None:
    """All folds of the paper's data sets, the first of others."""
    return None if _is_own(cell) else (1,)


def _neural_seeds(tier: str, cell: Cell) -> Sequence[int]:
    return range(PROTOCOL.seeds) if tier == "paper" and _is_own(cell) else FIVE[tier]


FEW_SEEDS: dict[str, Sequence[int]] = {"smoke": range(2), "laptop": range(1), "paper": range(3)}
"""Of the first fold, where runs take long."""


def _beside_seeds(tier: str, cell: Cell) -> Sequence[int]:
    """At the paper tier more on a data set of one fold."""
    return (FEW_SEEDS if len(cell.folds) > 1 else FIVE)[tier]


def _folds(tier: str) -> Sequence[Cell]:
    """On a laptop under perfect users alone, and without the skyline."""
    if tier == "laptop":
        return _main(NEURAL[0], OLRANKNET, kinds=USERS[:1])(tier)
    return _main(NEURAL[0], OLRANKNET, SKYLINE, elsewhere=NETWORKS_TOO)(tier)


def _folds_seeds(tier: str, cell: Cell) -> Sequence[int]:
    return _neural_seeds(tier, cell) if len(cell.folds) == 1 or _is_own(cell) else FEW_SEEDS[tier]


def _linear_item(title: str, *variants: str) -> Item:
    return Item(title, _main(*variants, elsewhere=ELSEWHERE), _linear_seeds, None, variant)


def _neural_item(title: str, cells: Cells, names=variant) -> Item:
    return Item(title, cells, _neural_seeds, _neural_folds, names)


_COVARIANCES = (NEURAL[0], OLRANKNET, OLRANKNET_FULL, SIXTEEN_FULL, SIXTEEN_DIAGONAL)
ITEMS: dict[str, Item] = {
    "labels": olranknet.ITEMS["labels"],
    "beside-pairrank": Item("Two networks and PairRank", _beside_pairrank, _beside_seeds, None, variant),
    "reference": Item("Offline RankNet, a linear ranker of the true labels", _references, _ONCE),
    "tuning": Item(
        "Tuning on validation queries, every cell", _tuning, dict.fromkeys(_ONCE, SEEDS_FIRST), (1,), tuned_together,
    ),
    "tuning-longer": Item(
        "Tuning on validation queries, the best cells on more rounds", _tuning_longer,
        dict.fromkeys(_ONCE, SEEDS_LONGER), (1,), tuned_together,
    ),
    "fig-2": _linear_item("Offline NDCG@10 against rounds, linear rankers", *LINEAR_VARIANTS),
    "fig-3": _linear_item("Cumulative NDCG@10 against rounds, linear rankers", *LINEAR_VARIANTS),
    "fig-4": _neural_item(
        "Offline NDCG@10 against rounds, networks", _main(*NEURAL_VARIANTS, SKYLINE, elsewhere=NETWORKS_TOO)
    ),
    "fig-5": _neural_item(
        "Cumulative NDCG@10 against rounds, networks", _main(*NEURAL_VARIANTS, elsewhere=NETWORKS_TOO)
    ),
    "folds": Item("Two rankers and olRankNet on all folds", _folds, _folds_seeds, None, variant),
    "fig-6": _neural_item(
        "Networks with the full covariance, and with its diagonal",
        _main(*_COVARIANCES, kinds=USERS[:1], elsewhere=NETWORKS_TOO),
    ),
    "fig-7": _neural_item("N rankers under much noise", _noises(LARGE_NOISE)),
    "fig-8": _neural_item("N rankers under little noise", _noises(SMALL_NOISE)),
    **{
        name: Item(
            f"N rankers under {much} noise, one start for all", _noises(noise, _TOGETHER), FEW_SEEDS, (1,), variant
        )
        for name, much, noise in (("fig-7-shared", "much", LARGE_NOISE), ("fig-8-shared", "little", SMALL_NOISE))
    },
    "starts": _neural_item("What makes two networks disagree", _starts, start),
    "fits": Item(
        "How far refits go", _fits(*(name for name in FITS if name != LONG_FIT), starts=({}, _TOGETHER)),
        FEW_SEEDS, (1,), fit,
    ),
    "fits-long": Item("Ten times as many passes in a refit", _fits(LONG_FIT, starts=({},)), FEW_SEEDS, (1,), fit),
    "fig-9": Item("What a round of 16 × 16 networks costs", _figure_9, _ONCE, (1,), form),
    "certainty": _neural_item("False certainty beside score and regret, against N and ν²", _certainty),
    "histories": Item("Certain orders on the same histories", _histories, _neural_seeds, _neural_folds),
    "choices": _neural_item("What the paper leaves open, one choice at a time", _choices, choice),
    "witness": Item("Single runs of the paper's length, two rankers and olRankNet", _witness, _ONCE, (1,), variant),
    "timing": Item("What a round costs", _timing, _ONCE, (1,), variant),
    **audit_cells.ITEMS,
}  # fmt: skip


def core_hours(item: str) -> float:
    """About how many core-hours all rows of an item take on the data on which networks run here."""
    return sum(job.cost().seconds for job in ITEMS[item].jobs("paper", datasets=HERE)) / 3600


def settings(dataset: str) -> dict[str, tuple[str, dict[str, Value]]]:
    """Every online learner with its hyper-parameters as tuned for a data set; MQ2008's if nothing is tuned on it."""
    online = {each: setting for each, setting in SETTINGS.items() if each != SKYLINE}
    return {each: (learner, own | tuned(dataset, each)) for each, (learner, own) in online.items()}


PAPER = Paper(
    "p2neurrank", ITEMS, (*CLAIMS, *THEOREMS), {}, "ol2r.papers.p2neurrank", _LINEAR_GRID, settings, TUNED,
    waiting=WAITING,
)  # fmt: skip
