"""What every learner must be, whatever it learns: run over the registry, so that a new learner meets these tests."""

import dataclasses
import hashlib
import io
import re
import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from small import (
    LINEAR,
    OPTIMUM,
    OTHERWISE,
    SETTINGS,
    STEPPING,
    K,
    Played,
    Tape,
    assert_same,
    evaluation,
    make_learner,
    per_replica,
    play,
    replicas_of,
    side_by_side,
    small_dataset,
)
from torch.utils._python_dispatch import TorchDispatchMode

from ol2r.learners import DBGD, LEARNERS
from ol2r.parameters import Choice
from ol2r.random import generator
from ol2r.simulation import make_streams, simulate

ROUNDS = 30
every_learner = pytest.mark.parametrize("name", sorted(LEARNERS))
every_stepping_learner = pytest.mark.parametrize("name", STEPPING)
SETTINGS_OF_ALL = [(name, {}) for name in sorted(LEARNERS)] + sorted(OTHERWISE.items())
every_setting = pytest.mark.parametrize(("name", "changed"), SETTINGS_OF_ALL, ids=str)


@pytest.fixture(scope="module")
def dataset():
    return small_dataset()


def test_every_learner_has_a_setting_here():
    assert set(SETTINGS) == set(LEARNERS)
    for name, learner in LEARNERS.items():
        assert learner.name == name
        assert learner.revision >= 1
        assert not learner.numeric.keys() & learner.structural.keys()
        needed = {each for each, parameter in learner.structural.items() if parameter.default is None}
        told = SETTINGS[name] | OTHERWISE.get(name, {})
        assert learner.numeric.keys() | needed <= told.keys() <= learner.numeric.keys() | learner.structural.keys()


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="two learners are named 'DBGD'"):
        type("Impostor", (DBGD,), {"name": "DBGD"})


@every_learner
def test_a_run_can_be_repeated(dataset, name):
    replicas = replicas_of("navigational", seeds=range(3))
    assert_same(name, *(play(name, dataset, replicas, ROUNDS)[:] for _ in range(2)))


@every_learner
def test_replicas_of_different_seeds_and_folds_differ(dataset, name):
    lists = play(name, dataset, replicas_of("navigational"), ROUNDS).rankings
    assert len({lists[:, r].tobytes() for r in range(4)}) == 4


@every_setting
def test_a_replica_is_the_same_alone_and_in_any_company(dataset, name, changed):
    replicas = replicas_of("perfect", "informational")
    n = len(replicas)
    numbers = per_replica(name, n)
    together = play(name, dataset, replicas, ROUNDS, **changed | numbers)
    backwards = play(name, dataset, replicas[::-1], ROUNDS, **changed | {k: v.flip(0) for k, v in numbers.items()})
    assert_same(name, together[:], backwards[::-1])
    alone = [
        play(name, dataset, [replicas[r]], ROUNDS, **changed | {k: v[r : r + 1] for k, v in numbers.items()})[:]
        for r in range(n)
    ]
    assert_same(name, together[:], side_by_side(alone))


@pytest.mark.parametrize("name", sorted(name for name, learner in LEARNERS.items() if learner.repeats == "means"))
def test_what_repeats_only_in_its_means_goes_the_same_way_at_first_alone_and_in_company(dataset, name):
    replicas = replicas_of("perfect", "informational")
    numbers = per_replica(name, len(replicas))
    together = play(name, dataset, replicas, 6, **numbers)
    for r, replica in enumerate(replicas):
        alone = play(name, dataset, [replica], 6, **{k: v[r : r + 1] for k, v in numbers.items()})
        np.testing.assert_array_equal(alone.rankings[:, 0], together.rankings[:, r])
        np.testing.assert_allclose(alone.weights[-1][0], together.weights[-1][r], atol=1e-4)


@every_learner
def test_shards_put_side_by_side_are_the_whole(dataset, name):
    replicas = replicas_of("informational", seeds=range(4))
    parts = [play(name, dataset, replicas[part], ROUNDS)[:] for part in (slice(0, 3), slice(3, 8))]
    assert_same(name, play(name, dataset, replicas, ROUNDS)[:], side_by_side(parts))


def through_a_file(state):
    """What is left of a state that was saved, and read by one who takes nothing but plain tensors."""
    file = io.BytesIO()
    torch.save(state, file)
    return torch.load(io.BytesIO(file.getvalue()), weights_only=True)


@pytest.mark.parametrize(
    ("name", "changed"), [*SETTINGS_OF_ALL, *((name, {"engine": "torch"}) for name in ("NSGD", "PairRank"))], ids=str
)
def test_a_run_goes_on_from_a_saved_state_as_if_it_had_not_been_interrupted(dataset, name, changed):
    replicas = replicas_of("perfect", "informational")
    changed = changed | per_replica(name, len(replicas))
    conventions = evaluation(ROUNDS, checkpoints=(0, 10, 20, ROUNDS))
    whole, late = (Tape(make_learner(name, dataset, replicas, **changed), dataset) for _ in range(2))
    kept = []
    keeping = {"keep": lambda *them: kept.append(them), "keep_after": lambda round_: round_ == 17}
    uninterrupted = simulate(dataset, replicas, whole.learner, conventions, **keeping)
    ((state, recorded),) = kept
    resumed = simulate(dataset, replicas, late.learner, conventions, resume=through_a_file(state))
    assert_same(name, Played(*(rounds[17:] for rounds in whole[:])), late[:])
    if LEARNERS[name].repeats == "bits":
        pd.testing.assert_frame_equal(pd.concat([recorded, resumed], ignore_index=True), uninterrupted)
    for key, value in late.learner.state_dict().items():
        assert value.dtype == whole.learner.state_dict()[key].dtype


def test_a_state_is_a_copy_which_a_learner_of_another_kind_or_world_refuses(dataset):
    replicas = replicas_of("perfect")
    learner = make_learner("NSGD", dataset, replicas)
    state = learner.state_dict()
    before = {key: value.clone() for key, value in state.items()}
    simulate(dataset, replicas, learner, evaluation(20))
    assert all(torch.equal(value, before[key]) for key, value in state.items())
    others = [
        (make_learner("DBGD", dataset, replicas), "another learner or engine, which differs in clicks, g"),
        (make_learner("NSGD", dataset, replicas[::-1]), "NSGD: a state of other replicas"),
        (make_learner("NSGD", small_dataset(5), replicas), "NSGD: a state of another number of features"),
    ]
    for other, message in others:
        with pytest.raises(ValueError, match=message):
            other.load_state_dict(state)


def from_weights(dataset, n):
    return torch.from_numpy(generator("weights to begin from", 1).standard_normal((n, dataset.n_features)))


STARTING = sorted(name for name, learner in LEARNERS.items() if learner.starts_from_weights)


def test_linear_learners_with_weights_or_one_estimate_begin_from_weights():
    assert set(LINEAR) - set(STARTING) == {"P2LinRank"}  # which has an ensemble


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - set(STARTING)))
def test_others_refuse_to_begin_from_weights(dataset, name):
    learner = make_learner(name, dataset, replicas_of("perfect"))
    with pytest.raises(ValueError, match=f"^{name} cannot begin from given weights$"):
        learner.begin_from(from_weights(dataset, 4))


@pytest.mark.parametrize("name", STARTING)
def test_weights_to_begin_from_are_the_ranker_before_the_first_round_and_of_its_shape(dataset, name):
    replicas = replicas_of("perfect")
    learner, weights = make_learner(name, dataset, replicas), from_weights(dataset, 4)
    with pytest.raises(ValueError, match=r"must be of shape \(4, 12\), not \(3, 12\)"):
        learner.begin_from(weights[:3])
    learner.begin_from(weights)
    assert torch.equal(learner.evaluated().weights, weights.to(torch.float32))
    simulate(dataset, replicas, learner, evaluation(2))
    with pytest.raises(ValueError, match="is in round 3: only a fresh learner begins from given weights"):
        learner.begin_from(weights)


@pytest.mark.parametrize("engine", ["numba", "torch"])
@pytest.mark.parametrize("name", STARTING)
def test_to_begin_from_zero_is_the_start_from_zero_in_every_bit(dataset, name, engine):
    replicas, changed = replicas_of("informational"), {"start": "zero"} if "start" in SETTINGS[name] else {}
    nothing = torch.zeros(len(replicas), dataset.n_features, dtype=torch.float64)
    cold, begun = (
        play(name, dataset, replicas, ROUNDS, engine=engine, begin=begin, **changed) for begin in (None, nothing)
    )
    for a, b in zip((*cold[:], cold.weights), (*begun[:], begun.weights), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(("name", "engine"), [*((name, "numba") for name in STARTING), ("PairRank", "torch")])
def test_a_run_from_weights_goes_on_from_a_saved_state(dataset, name, engine):
    replicas = replicas_of("perfect", "informational")
    whole, late = (Tape(make_learner(name, dataset, replicas, engine=engine), dataset) for _ in range(2))
    whole.learner.begin_from(from_weights(dataset, len(replicas)))
    kept = []
    keeping = {"keep": lambda *them: kept.append(them), "keep_after": lambda round_: round_ == 3}
    simulate(dataset, replicas, whole.learner, evaluation(ROUNDS), **keeping)
    simulate(dataset, replicas, late.learner, evaluation(ROUNDS), resume=through_a_file(kept[0][0]))
    assert_same(name, Played(*(rounds[3:] for rounds in whole[:])), late[:])


def test_memory_of_a_kind_that_cannot_be_saved_is_an_error(dataset, monkeypatch):
    learner = make_learner("PDGD", dataset, replicas_of("perfect"))
    monkeypatch.setattr(learner, "memories", lambda: {"diary": SimpleNamespace(entries=[1, 2])})
    with pytest.raises(TypeError, match=r"SimpleNamespace\.entries is neither a tensor nor an array"):
        learner.state_dict()


@every_learner
def test_replicas_that_differ_in_users_only_are_asked_the_same_queries(dataset, name):
    tape = play(name, dataset, replicas_of("perfect", "informational"), ROUNDS)
    np.testing.assert_array_equal(tape.queries[:, :4], tape.queries[:, 4:])
    assert (tape.rankings[0, :4] == tape.rankings[0, 4:]).all()


@every_learner
def test_lists_are_the_top_of_the_query_and_nothing_else(dataset, name):
    tape = play(name, dataset, replicas_of("informational"), 60)
    assert {1, 2, K - 1, K} <= set(dataset.sizes[tape.queries.ravel()])
    for query, shown in zip(tape.queries.ravel(), tape.rankings.reshape(-1, K), strict=True):
        size = dataset.sizes[query]
        assert (shown[size:] == -1).all()
        assert len(set(shown[:size])) == min(size, K)
        assert shown[:size].min() >= 0
        assert shown.max() < size


def invented_clicks(round_, ranking):
    """Clicks that no label has a part in."""
    words = [hashlib.sha256(f"{round_} {list(shown)}".encode()).digest()[:K] for shown in ranking.tolist()]
    return torch.tensor([[byte < 90 for byte in word] for word in words]) & (ranking >= 0)


@every_learner
def test_labels_reach_a_learner_through_clicks_alone(dataset, name):
    replicas = replicas_of("perfect", seeds=range(3))
    tape = play(name, dataset, replicas, ROUNDS, clicks=invented_clicks)
    relabelled = small_dataset()
    relabelled.relevance[:] = relabelled.relevance[::-1]
    assert_same(name, tape[:], play(name, relabelled, replicas, ROUNDS, clicks=invented_clicks)[:])


def test_learners_load_neither_labels_nor_users():
    code = "import sys, ol2r.learners; print(*[m for m in sys.modules if m.startswith('ol2r.')])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    rooms = {module.split(".")[1] for module in loaded}
    below = {"compiling", "cores", "cost", "folders", "parameters", "target"}
    below |= {"random", "ranking", "networks", "theory", "rankers"}
    assert {"learners"} <= rooms <= {"learners", *below}


@every_stepping_learner
@pytest.mark.parametrize(("engine", "alpha"), [("numba", 1e38), ("numba", torch.inf), ("torch", 1e38)])
def test_a_replica_that_diverges_freezes_and_leaves_the_others_alone(dataset, name, alpha, engine):
    replicas = replicas_of("informational", folds=(1,), seeds=range(6))
    alphas = torch.full((6,), 0.1)
    alphas[2] = alpha
    sound = play(name, dataset, replicas, 40, engine=engine)
    tape = play(name, dataset, replicas, 40, engine=engine, alpha=alphas)
    others = [0, 1, 3, 4, 5]
    if engine == "numba":
        assert_same(name, sound[others], tape[others])
    else:
        np.testing.assert_array_equal(sound.rankings[:, others], tape.rankings[:, others])
    assert tape.table.status.tolist() == ["ok", "ok", "diverged", "ok", "ok", "ok"]
    assert np.isfinite(tape.weights).all()
    assert np.isfinite(tape.table.ndcg).all()
    frozen = np.flatnonzero([(a != b).any() for a, b in pairwise(tape.weights[:, 2])])
    assert (frozen < 38).all(), "the weights still move in the last round"


def test_a_step_out_of_the_finite_numbers_is_not_taken_and_was_the_last(dataset):
    learner = make_learner("DBGD", dataset, replicas_of("perfect"))
    learner.state["weights"], proposed = torch.zeros(4, 3), torch.ones(4, 3)
    proposed[1, 2], proposed[2], proposed[3, 0] = torch.nan, 1e30, -torch.inf
    expected = torch.tensor([[1.0], [0.0], [0.0], [0.0]]).expand(-1, 3)
    for step in (proposed, torch.ones(4, 3)):
        learner.step(step, torch.ones(4, dtype=torch.bool))
        assert torch.equal(learner.state["weights"], expected)
    assert learner.status == ["ok", "diverged", "diverged", "diverged"]


def rounds_alike(one, other):
    """Rounds before the lists or clicks of each replica differ."""
    unlike = (one.rankings != other.rankings).any(axis=2) | (one.clicks != other.clicks).any(axis=2)
    return np.where(unlike.any(axis=0), unlike.argmax(axis=0), len(unlike))


def closer_than_rounding(name, dataset, replicas, compiled, batched):
    """How many replicas part after a decision that rounding alone can turn; any other difference fails.

    Rounding turns a decision if the compiled engine turns it as well, or an earlier one, once each feature's unit is
    changed by about the last bit of a float32, which leaves twins among the documents twins.
    """
    rounds, parted = len(compiled.rankings), rounds_alike(compiled, batched)
    for replica, alike in enumerate(parted):
        here = slice(0, alike), replica
        np.testing.assert_allclose(compiled.weights[here], batched.weights[here], atol=OPTIMUM.get(name, 1e-4))
    late = np.full(len(parted), rounds)
    for seed in range(5 if (parted < rounds).any() else 0):
        units = 1 + np.random.default_rng(seed).uniform(-1, 1, dataset.n_features) * 2.0**-22
        shaken = dataclasses.replace(dataset, features=(dataset.features * units).astype(np.float32))
        late = np.minimum(late, rounds_alike(compiled, play(name, shaken, replicas, rounds, engine="numba")))
    wrong = np.flatnonzero((parted < rounds) & (late > parted))
    assert not len(wrong), f"{name}: replicas {wrong} part in rounds {parted[wrong] + 1}, which rounding does not turn"
    return int((parted < rounds).sum())


@every_learner
def test_both_engines_decide_alike(dataset, name, record_property):
    replicas = replicas_of("perfect", "informational")
    compiled, batched = (play(name, dataset, replicas, 20, engine=engine) for engine in ("numba", "torch"))
    turned = closer_than_rounding(name, dataset, replicas, compiled, batched)
    record_property("replicas that part after a decision closer than rounding", turned)
    print(f"{name}: {turned} of {len(replicas)} replicas part after a decision closer than rounding")
    assert turned <= len(replicas) // 4


def test_engines_that_differ_by_more_than_rounding_are_told_apart(dataset):
    replicas = replicas_of("perfect", "informational")
    right, wrong = (play("DBGD", dataset, replicas, 20, alpha=alpha) for alpha in (0.1, 0.2))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        closer_than_rounding("DBGD", dataset, replicas, right, wrong)
    other = SimpleNamespace(rankings=right.rankings, clicks=right.clicks.copy(), weights=right.weights)
    other.clicks[3, 5] ^= True
    with pytest.raises(
        AssertionError, match=r"DBGD: replicas \[5\] part in rounds \[4\], which rounding does not turn"
    ):
        closer_than_rounding("DBGD", dataset, replicas, right, other)


@every_learner
def test_unknown_and_missing_hyperparameters_are_named(dataset, name):
    streams = make_streams(dataset, replicas_of("perfect"))
    with pytest.raises(ValueError, match=rf"^{re.escape(name)} takes .*missing: none; unknown: aplha$"):
        LEARNERS[name](dataset.n_features, SETTINGS[name] | {"aplha": 0.1}, streams)
    for left_out in SETTINGS[name]:
        without = {key: value for key, value in SETTINGS[name].items() if key != left_out}
        with pytest.raises(ValueError, match=rf"^{re.escape(name)} takes .*missing: {left_out}; unknown: none$"):
            LEARNERS[name](dataset.n_features, without, streams)


@pytest.mark.parametrize("name", LINEAR)
def test_the_start_is_a_unit_vector_or_zero(dataset, name):
    replicas = replicas_of("perfect")
    weights = make_learner(name, dataset, replicas).evaluated().weights
    if "start" in LEARNERS[name].structural:
        torch.testing.assert_close(weights.norm(dim=1), torch.ones(len(replicas)))
        weights = make_learner(name, dataset, replicas, start="zero").evaluated().weights
    assert not weights.any()


@every_stepping_learner
def test_a_rate_of_zero_learns_nothing(dataset, name):
    tape = play(name, dataset, replicas_of("perfect"), ROUNDS, alpha=0.0)
    assert (tape.weights == tape.weights[0]).all()


@every_learner
def test_a_learner_finds_an_easy_truth(dataset, name):
    replicas = replicas_of("perfect", folds=(1,), seeds=range(16))
    table = simulate(dataset, replicas, make_learner(name, dataset, replicas), evaluation(300, checkpoints=(0, 300)))
    before, after = (table[table["round"] == t].ndcg.to_numpy() for t in (0, 300))
    assert (after - before).mean() > 0.1


def test_an_unknown_engine_is_an_error(dataset):
    with pytest.raises(ValueError, match="engine must be one of numba, torch, not 'jax'"):
        make_learner("DBGD", dataset, replicas_of("perfect"), engine="jax")


MISSPELT = [
    (name, parameter)
    for name, learner in sorted(LEARNERS.items())
    for parameter, allowed in learner.structural.items()
    if isinstance(allowed, Choice)
]


@pytest.mark.parametrize(("name", "parameter"), MISSPELT)
def test_a_misspelt_choice_is_an_error(dataset, name, parameter):
    with pytest.raises(ValueError, match=rf"{parameter} must be one of .*not 'misspelt'"):
        make_learner(name, dataset, replicas_of("perfect"), **{parameter: "misspelt"})


OUT_OF_RANGE = [
    ("MGD", "m", 0),
    ("CPS", "n_candidates", 0),
    ("CPS", "history", 0),
    ("NSGD", "m", 0),
    ("NSGD", "n", 3),
    ("NSGD", "n_uniform", 5),
    ("NSGD", "lag", 0),
    ("NSGD", "T_g", 0),
    ("NSGD", "T_h", 0),
    ("NSGD", "T_g", 2.5),
    ("NSGD", "k_g", torch.tensor([1.0, 2.5, 3.0, 4.0])),
    ("epsilon-greedy", "epsilon", -0.1),
    ("epsilon-greedy", "epsilon", torch.tensor([0.1, 0.2, 0.3, 1.1])),
    ("epsilon-greedy", "epsilon", float("nan")),
    ("PairRank", "regularization", 0.0),
    *((name, "decay", value) for name in STEPPING for value in (0.0, -0.5, 1.01)),
    *((name, "delta", value) for name in ("DBGD", "CPS", "DP-DBGD", "MGD", "NSGD") for value in (0.0, -1.0)),
    *(
        (name, parameter, value)
        for name, learner in sorted(LEARNERS.items())
        for parameter in sorted(learner.numeric)
        for value in (-0.1, float("nan"))
    ),
]


@pytest.mark.parametrize(("name", "parameter", "value"), OUT_OF_RANGE)
def test_a_number_out_of_range_is_an_error(dataset, name, parameter, value):
    with pytest.raises(ValueError, match=rf"{parameter} must be .*not {re.escape(str(value))}"):
        make_learner(name, dataset, replicas_of("perfect"), **{parameter: value})


OF_THE_MAKER = {
    "acos",
    "asin",
    "atan",
    "cos",
    "erf",
    "erfc",
    "exp",
    "log",
    "log10",
    "log2",
    "pow",
    "sin",
    "sqrt",
    "tan",
}
OF_THE_MAKER |= {"tanh", "addmm", "addmv", "baddbmm", "bmm", "dot", "mm", "mv"}
"""Operations of torch on a CPU that MKL carries out: it chooses its code by the maker of the processor, and the last
bits differ. Even a square root is rounded otherwise on some."""


class Operations(TorchDispatchMode):
    """Keeps the names of torch's operations while it is entered, without the underscore of those in place."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.names.add(operation.overloadpacket.__name__.rstrip("_"))
        return operation(*args, **kwargs or {})


def settings_by_choice(name):
    """The learner's settings in the tests, and each with one choice made otherwise."""
    choices = {key: each.known for key, each in LEARNERS[name].structural.items() if isinstance(each, Choice)}
    return [{}, OTHERWISE.get(name, {}), *({key: value} for key, known in choices.items() for value in known)]


@pytest.mark.parametrize("name", sorted(name for name, learner in LEARNERS.items() if learner.repeats == "bits"))
def test_what_repeats_bit_for_bit_leaves_nothing_to_the_maker_of_the_processor(dataset, name):
    for changed in settings_by_choice(name):
        with Operations() as called:
            play(name, dataset, replicas_of("perfect", "informational", seeds=[0]), ROUNDS, **changed)
        assert called.names, "no operation was seen"
        assert not called.names & OF_THE_MAKER, changed
        assert {each for each in called.names if each.startswith("linalg")} <= {"linalg_vector_norm"}, changed
