"""The PairRank paper (Jia et al., 2021): its settings, and the grid of every table and figure at each tier.

Each value that the paper gives is declared here, once; what the paper leaves open is marked as ours. Other modules
declare what is drawn from the results and how claims are judged.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

from ol2r import data
from ol2r.clicks import users
from ol2r.clicks.cascade import USERS
from ol2r.experiments import grid
from ol2r.experiments.cells import Cell, Item
from ol2r.experiments.grid import SMOKE_CURVE, SMOKE_DATASET, USUAL, Grid, first_step, on, second_step
from ol2r.experiments.kinds.fit import RankNetFit
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.paper import Paper
from ol2r.experiments.tuning import ALL, for_users
from ol2r.learners import LEARNERS
from ol2r.papers.pairrank import tuning
from ol2r.papers.pairrank.audits import confidence_audits
from ol2r.papers.pairrank.claims import CLAIMS, GAMMA, MSLR, PAIRRANK, ROUNDS, YAHOO
from ol2r.parameters import Value
from ol2r.theory import confidence

K = 10
DECAY = 0.999977

AUTHORS = ("DBGD", "MGD", "PDGD")
SHOWN = (*AUTHORS, "epsilon-greedy", "SGD RankNet", *PAIRRANK)
LOSSES = ("sum", "mean")
PUBLISHED_DATASETS = (MSLR, YAHOO)
CLUEWEB = "ClueWeb09_webis"
_ON_TWO = ("synthetic-mslr", "MQ2008")
TUNED_DATASETS = tuning.TUNED.datasets
DATASETS = (
    *PUBLISHED_DATASETS,
    "synthetic-mslr",
    "synthetic-yahoo",
    "MQ2008",
    "MQ2007_partial85",
    "MSLR-WEB30K_sample",
    CLUEWEB,
)

_STEP: dict[str, Value] = {"alpha": 0.1, "decay": DECAY}
_DUEL: dict[str, Value] = {"alpha": 0.01, "delta": 1.0, "decay": 1.0, "start": "zero", "prefix_credit": False}
_REFIT: dict[str, Value] = {"alpha": 0.1, "regularization": 0.1, "loss": "sum", "pairs": "matched"}
_REFIT |= {"covariance": "full"}
SETTINGS: dict[str, tuple[str, dict[str, Value]]] = {
    "DBGD": ("DBGD", _DUEL),
    "MGD": ("MGD", _DUEL | {"m": 9, "winners": "best", "follow": "mean"}),
    "PDGD": ("PDGD", _STEP),
    "epsilon-greedy": ("epsilon-greedy", _STEP | {"pairs": "matched", "epsilon": 0.1, "exploit": "best"}),
    "SGD RankNet": ("SGD RankNet", _STEP | {"pairs": "matched"}),
    "PairRank_R": ("PairRank", _REFIT | {"shuffle": "random"}),
    "PairRank_C": ("PairRank", _REFIT | {"shuffle": "conservative"}),
}
"""Every variant's learner and hyper-parameters before tuning; those of the first three are their authors' own."""

TUNED_ON = {
    MSLR: "synthetic-mslr",
    YAHOO: "synthetic-yahoo",
    "MSLR-WEB30K_sample": "synthetic-mslr",
    CLUEWEB: "MQ2008",
    SMOKE_DATASET: "MQ2008",
}
"""The data set whose tuned values are used for one that is not at hand or has too few validation queries."""

REGULARIZATION = 0.1
"""λ of offline RankNet."""


def reference(dataset: str) -> RankNetFit:
    """w*: RankNet without a hidden layer, fitted to each fold's labels."""
    return RankNetFit(dataset, grid.checksum(dataset), K, regularization=REGULARIZATION, empty="skip")


_CURVE = (0, 1, 2, 5, 10, 20, 50, *range(100, 1001, 100), *range(1200, ROUNDS + 1, 200))
GRID = Grid(SETTINGS, USUAL | {"empty": "skip"}, K, GAMMA, _CURVE, reference)


def tuned_on(dataset: str) -> str:
    """The data set whose tuned values a data set takes: itself if there are values tuned on it, by default MQ2008."""
    return TUNED_ON.get(dataset, dataset if dataset in TUNED_DATASETS else "MQ2008")


def tuned(dataset: str, variant: str, loss: str = "sum", of: str = ALL) -> dict[str, Value]:
    """The hyper-parameters of a variant that were tuned, for a data set: shared, or `of` one variant alone."""
    return dict(tuning.TUNED.chosen(tuned_on(dataset), tuning.grid_of(variant, loss), of))


def alone(dataset: str, variant: str) -> dict[str, Value]:
    """The hyper-parameters that tuning chose for a variant alone. A learner has them wherever it is compared with other
    learners; PairRank has the joint ones only where its two shuffles are compared with each other."""
    return tuned(dataset, variant, of=variant)


def curve(tier: str, dataset: str, kind: str, variant: str, changed: dict[str, Value] | None = None) -> Cell:
    """A learning curve of a variant at the values tuned for its loss, except for what `changed` names."""
    changed = changed or {}
    best = tuned(dataset, variant, str(changed.get("loss", "sum")))
    return GRID.cell(tier, dataset, kind, variant, best | changed, curve=True)


def variant(cell: Cell) -> dict[str, str]:
    """The name that figures give a cell's learner."""
    labels = cell.labels()
    learner = str(labels["learner"])
    if learner.startswith("PairRank"):
        learner = {"random": "PairRank_R", "conservative": "PairRank_C"}[str(labels["shuffle"])]
    return {"variant": learner}


Change = Callable[[str, str], dict[str, Value]]
"""Gives, for a data set and a variant, the hyper-parameters that differ from the tuned ones."""


def _nothing(dataset: str, variant: str) -> dict[str, Value]:
    return {}


def _datasets(tier: str) -> Sequence[str]:
    """The data sets of a tier; the laptop tier leaves out ClueWeb09, whose lists are long and queries few."""
    return [dataset for dataset in on(*DATASETS)(tier) if tier != "laptop" or dataset != CLUEWEB]


def _main(*variants: str, kinds: Sequence[str] = USERS, changed: Change = _nothing):
    """Learning curves on all data sets, of some variants with something changed."""
    return lambda tier: [
        curve(tier, dataset, kind, each, changed(dataset, each))
        for dataset, kind, each in product(_datasets(tier), kinds, variants)
    ]


def _changed(name: str, values: Sequence[Value], variants: Sequence[str], datasets: Sequence[str]):
    """One hyper-parameter at several values."""
    return lambda tier: [
        curve(tier, dataset, kind, each, {name: value})
        for dataset, kind, each, value in product(on(*datasets)(tier), USERS, variants, values)
    ]


def _tuning_cell(
    tier: str, dataset: str, kind: str, grid: str, variant: str, setting: Mapping[str, Value], rounds: int
) -> Cell:
    changed = {**tuning.GRIDS[grid].fixed, **setting}
    return GRID.cell(tier, dataset, kind, variant, changed, split="validation", rounds=rounds)


def _tuned_sets(tier: str) -> Sequence[str]:
    """The data sets to tune on at a tier. A reader's own is none of them: it takes the values tuned on another."""
    return ("MQ2008",) if tier == "laptop" else on(*PUBLISHED_DATASETS, *TUNED_DATASETS, own=False)(tier)


def _tuning(tier: str) -> Sequence[Cell]:
    """Every cell of the grids, scored on validation queries."""
    return [
        _tuning_cell(tier, dataset, kind, name, variant, setting, tuning.ROUNDS_FIRST)
        for dataset, (name, grid) in product(_tuned_sets(tier), tuning.GRIDS.items())
        for setting, variant, kind in product(grid.settings(tuning.is_wide(dataset)), grid.variants, USERS)
    ]


def _tuning_longer(tier: str) -> Sequence[Cell]:
    """The best cells of `_tuning`, on more rounds and other seeds."""
    return [
        _tuning_cell(tier, dataset, kind, name, variant, setting, tuning.ROUNDS_LONGER)
        for dataset, (name, grid) in product(_tuned_sets(tier), tuning.GRIDS.items())
        for setting in tuning.TUNED.shortlist(TUNED_ON.get(dataset, dataset), name)
        for variant, kind in product(grid.variants, USERS)
    ]


def _tuning_by_users(tier: str) -> Sequence[Cell]:
    """Every cell of the grids for each kind of users by itself; most are those of `_tuning`."""
    return [
        _tuning_cell(tier, run.dataset, run.users, tuning.SUM, run.variant, run.setting, tuning.ROUNDS_FIRST)
        for run in first_step(tuning.BY_USERS, tier, tuning.is_wide)
    ]


def _tuning_by_users_longer(tier: str) -> Sequence[Cell]:
    """The best of them, on more rounds and other seeds."""
    return [
        _tuning_cell(tier, run.dataset, run.users, tuning.SUM, run.variant, run.setting, tuning.ROUNDS_LONGER)
        for run in second_step(tuning.BY_USERS, tier, lambda dataset, grid: tuned_on(dataset))
    ]


def tuned_for_users(cell: Cell) -> dict[str, str]:
    """What a cell of the tuning for each kind of users is called: its variant, and the grid it belongs to."""
    named = variant(cell)
    return named | {"grid": for_users(named["variant"], str(cell.labels()["users"]))}


def tuned_together(cell: Cell) -> dict[str, str]:
    """What a cell of the tuning is called: its variant, the grid it belongs to, and both."""
    named = variant(cell)
    grid = tuning.grid_of(named["variant"], str(cell.labels().get("loss", "sum")))
    return named | {"grid": grid, "variant_of": f"{named['variant']} of {grid}"}


def _own_values(tier: str) -> Sequence[Cell]:
    """Both shuffles, each at the values that are best for it alone, on tuned data sets without very many features."""
    datasets = [dataset for dataset in TUNED_DATASETS if not tuning.is_wide(dataset)]
    return [
        curve(tier, dataset, kind, each, {**tuned(dataset, each, loss, of=each), "loss": loss})
        for dataset, kind, each, loss in product(on(*datasets, own=False)(tier), USERS, PAIRRANK, LOSSES)
    ]


def _authors_settings(tier: str) -> Sequence[Cell]:
    """The baselines that the paper runs "according to their original papers", without tuning."""
    return [
        GRID.cell(tier, dataset, kind, each, curve=True)
        for dataset, kind, each in product(_datasets(tier), USERS, AUTHORS)
    ]


EXTREMES = {0.0: "no exploration", 10.0: "nothing but exploration"}
"""By α, what PairRank then does: no order is uncertain, or none is ever certain."""


def _extremes(tier: str) -> Sequence[Cell]:
    """PairRank_C without exploration, and with nothing else, where both shuffles are the same; with either loss. Sets
    with very many features at the paper tier only."""
    datasets = [dataset for dataset in _datasets(tier) if tier != "laptop" or not tuning.is_wide(dataset)]
    return [
        curve(tier, dataset, kind, PAIRRANK[1], {"alpha": alpha, "loss": loss})
        for dataset, kind, loss, alpha in product(datasets, USERS, LOSSES, EXTREMES)
    ]


DELTA = 0.1
BOUND = 1.0
"""δ₁ and Q of Lemma 2's width on data sets, where neither is known."""


def _lemma_2(dataset: str) -> dict[str, dict[str, Value]]:
    """Lemma 2's width with c_μ = σ̇(√d Q), as ‖x_ij‖ ≤ √d for features in [0, 1], and with the largest c_μ there is."""
    least = confidence.least_slope(0.5 * data.entry(dataset).n_features ** 0.5, BOUND)
    return {"Lemma 2": {"slope": least}, "Lemma 2, c = ¼": {"slope": confidence.least_slope(0.0, BOUND)}}


LEMMA_2 = Grid(
    {"PairRank_C": ("PairRank-Lemma2", SETTINGS["PairRank_C"][1] | {"alpha": 1.0, "delta": DELTA, "bound": BOUND})},
    GRID.usual, K, GAMMA, _CURVE, reference,
)  # fmt: skip


def _widths(tier: str) -> Sequence[Cell]:
    cells: list[Cell] = []
    for dataset, kind in product(on("synthetic-mslr", "MQ2008")(tier), USERS):
        cells += [curve(tier, dataset, kind, "PairRank_C"), curve(tier, dataset, kind, "PairRank_C", {"alpha": 0.0})]
        regularization = tuned(dataset, "PairRank_C")["regularization"]
        for changed in _lemma_2(dataset).values():
            changed |= {"regularization": regularization}
            cells.append(LEMMA_2.cell(tier, dataset, kind, "PairRank_C", changed, curve=True))
    return cells


def width(cell: Cell) -> dict[str, str]:
    """Which width a cell's intervals have, with its variant."""
    labels = cell.labels()
    named = {changed["slope"]: name for name, changed in _lemma_2(str(labels["dataset"])).items()}
    constant = "constant" if labels["alpha"] else "none (α = 0)"
    return variant(cell) | {"width": named[labels["slope"]] if "slope" in labels else constant}


def _references(tier: str) -> Sequence[Cell]:
    return [reference(dataset) for dataset in _datasets(tier)]


def _timing(tier: str) -> Sequence[Cell]:
    """A batch of PairRank_C under perfect users."""
    sizes = {"smoke": {SMOKE_DATASET: 4}, "laptop": {"MQ2008": 32, "synthetic-mslr": 32}}
    sizes["paper"] = sizes["laptop"]
    cells: list[Cell] = []
    for dataset, replicas in sizes[tier].items():
        learner, setting = SETTINGS["PairRank_C"]
        setting = setting | tuned(dataset, "PairRank_C")
        entry = data.entry(dataset)
        cells.append(
            Timing(
                dataset=dataset,
                checksum=grid.checksum(dataset),
                learner=learner,
                revision=LEARNERS[learner].revision,
                hyperparameters=tuple(sorted(setting.items())),
                users=users("perfect", entry.n_grades),
                replicas=replicas,
                checkpoints=SMOKE_CURVE[1:] if tier == "smoke" else tuple(range(250, ROUNDS + 1, 250)),
            )
        )
    return cells


def _folds(cell: Cell) -> tuple[int, ...] | None:
    """The paper does not say which fold of MSLR-WEB10K it used: ours is the first."""
    return (1,) if cell.labels()["dataset"] == MSLR else None


def _seeds(tier: str, cell: Cell) -> Sequence[int]:
    """Twenty runs: 20 seeds of one fold, or 4 of each of five. Smaller tiers have fewer, and so do three sets that the
    paper did not use: ten of one with very many features and of ClueWeb09 with its long lists, five of 90 queries of
    MSLR."""
    dataset = str(cell.labels()["dataset"])
    if dataset == "MSLR-WEB30K_sample":
        return _few_seeds(tier, cell)
    several, slow = len(_folds(cell) or cell.folds) > 1, tuning.is_wide(dataset) or dataset == CLUEWEB
    few = 1 if slow else 2 if several else 4
    many = 2 if dataset == CLUEWEB else 4 if several else 10 if _wide_stand_in(cell) else 20
    return range({"smoke": 2, "laptop": few, "paper": many}[tier])


def _few_seeds(tier: str, cell: Cell) -> Sequence[int]:
    """Five runs of what the paper has no figure of: the other choices beside ours."""
    several = len(cell.folds) > 1
    many = 1 if several else 2 if _wide_stand_in(cell) else 5
    return range({"smoke": 2, "laptop": 1 if several else 2, "paper": many}[tier])


def _wide_stand_in(cell: Cell) -> bool:
    """Whether the cell's data set is none of the paper's and has so many features that a run takes hours."""
    dataset = str(cell.labels()["dataset"])
    return tuning.is_wide(dataset) and dataset not in PUBLISHED_DATASETS


_ONCE: dict[str, Sequence[int]] = {"smoke": range(1), "laptop": range(1), "paper": range(1)}


def _item(title: str, cells, names=variant) -> Item:
    return Item(title, cells, _seeds, _folds, names)


def _other_choices(title: str, cells, names=variant) -> Item:
    return Item(title, cells, _few_seeds, _folds, names)


_FIGURES: dict[str, tuple[str, Sequence[str], Sequence[str]]] = {
    "fig-3": ("Offline NDCG@10 against rounds", SHOWN, USERS),
    "fig-4": ("Cumulative NDCG@10 against rounds", SHOWN, USERS),
    "fig-5": ("Cosine to w*", SHOWN, USERS),
    "fig-6": ("Size of the block that holds rank 1, 5 and 10", PAIRRANK, USERS),
    "fig-7a": ("Size of the block at each rank", PAIRRANK, ("informational",)),
    "fig-7b": ("Number of blocks", PAIRRANK, USERS),
}
"""The paper's figures of runs: (title, learners, users)."""
SHORT_STEPS: dict[tuple[str, str], Value] = {
    ("MQ2008", "MGD"): 1e-4,
    ("MQ2007_partial85", "DBGD"): 1e-3,
    ("MQ2007_partial85", "MGD"): 1e-3,
}
"""The steps of the best validation score, by data set and learner, where they are so short that tuning may no longer
choose them."""


def _mean_loss(dataset: str, variant: str) -> dict[str, Value]:
    return {"loss": "mean"} if variant in PAIRRANK else {}


def _ascending(dataset: str, variant: str) -> dict[str, Value]:
    return {"exploit": "worst"} if variant == "epsilon-greedy" else {}


def _any_step(dataset: str, variant: str) -> dict[str, Value]:
    step = SHORT_STEPS.get((dataset, variant))
    return {} if step is None else {"alpha": step}


READINGS: dict[str, dict[str, str]] = {
    "mean loss": {name: f"{name}-mean" for name in _FIGURES},
    "ε-greedy in ascending order": {name: f"{name}-ascending" for name in ("fig-3", "fig-4")},
    "DBGD and MGD at any step": {name: f"{name}-any-step" for name in ("fig-3", "fig-4", "fig-5")},
}
"""Other readings of the paper: {name: {item: the item that takes its place}}.

They are PairRank with the loss of its public code, ε-greedy with a fault of the field's public code, and DBGD and MGD
at the steps of the best validation score, even if these make lists nearly random."""

ITEMS: dict[str, Item] = {
    "reference": Item("Offline RankNet, the reference ranker w*", _references, _ONCE, _folds),
    "tuning": Item(
        "Tuning on validation queries, every cell", _tuning, dict.fromkeys(_ONCE, tuning.SEEDS_FIRST), (1,),
        tuned_together,
    ),
    "tuning-longer": Item(
        "Tuning on validation queries, the best cells on more rounds", _tuning_longer,
        dict.fromkeys(_ONCE, tuning.SEEDS_LONGER), (1,), tuned_together,
    ),
    "tuning-by-users": Item(
        "Tuning for each kind of users by itself, every cell", _tuning_by_users,
        dict.fromkeys(_ONCE, tuning.SEEDS_FIRST), (1,), tuned_for_users,
    ),
    "tuning-by-users-longer": Item(
        "Tuning for each kind of users by itself, the best cells on more rounds", _tuning_by_users_longer,
        dict.fromkeys(_ONCE, tuning.SEEDS_LONGER), (1,), tuned_for_users,
    ),
    **{name: _item(title, _main(*shown, kinds=kinds)) for name, (title, shown, kinds) in _FIGURES.items()},
    **{name: _item(f"{title}, mean loss", _main(*shown, kinds=kinds, changed=_mean_loss))
       for name, (title, shown, kinds) in zip(READINGS["mean loss"].values(), _FIGURES.values(), strict=True)},
    **{name: _item(f"{_FIGURES[figure][0]}, ε-greedy in ascending order", _main(*SHOWN, changed=_ascending))
       for figure, name in READINGS["ε-greedy in ascending order"].items()},
    **{name: _item(f"{_FIGURES[figure][0]}, DBGD and MGD at any step", _main(*SHOWN, changed=_any_step))
       for figure, name in READINGS["DBGD and MGD at any step"].items()},
    "own-values": _other_choices("Both shuffles at the values that are best for each alone", _own_values),
    "authors-settings": _item("DBGD, MGD and PDGD as their authors set them", _authors_settings),
    "exploration": _other_choices("PairRank without exploration and with nothing else", _extremes),
    "pairs": _other_choices(
        "Which pairs are learnt from",
        _changed("pairs", ("matched", "adjacent", "all"), PAIRRANK[1:], _ON_TWO),
    ),
    "covariance": _other_choices(
        "Full and diagonal covariance",
        _changed("covariance", ("full", "diagonal"), PAIRRANK[1:], _ON_TWO),
    ),
    "width": _other_choices("Constant and theoretical confidence width", _widths, width),
    "epsilon": _other_choices(
        "How much ε-greedy explores",
        _changed("epsilon", tuning.GRIDS["epsilon-greedy"].tried["epsilon"], ("epsilon-greedy",), _ON_TWO),
    ),
    "audits": Item("What PairRank rests on, against simulation", confidence_audits, _ONCE),
    "timing": Item("What a round costs", _timing, _ONCE, (1,), variant),
}


def settings(dataset: str) -> dict[str, tuple[str, dict[str, Value]]]:
    """Every variant's learner and hyper-parameters as tuned for it alone on a data set; MQ2008's for one that is not
    tuned for."""
    return {each: (learner, own | alone(dataset, each)) for each, (learner, own) in SETTINGS.items()}


PAPER = Paper(
    "pairrank", ITEMS, CLAIMS, READINGS, "ol2r.papers.pairrank", GRID, settings, tuning.TUNED, tuning.BY_USERS,
    tuning.BY_USERS.steps,
)  # fmt: skip
