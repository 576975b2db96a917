"""What learners and bandits are expected to take grows with what they do, and rows side by side share what they can."""

import math
import sys
from pathlib import Path

import pytest
from small import SETTINGS

from ol2r.bandits import BANDITS
from ol2r.cost import BATCH_BYTES, LARGEST_BATCH, Cost, Shape, batch_size, in_turn, together
from ol2r.experiments.store import Store
from ol2r.learners import LEARNERS
from ol2r.papers.comparison.grid import COMPARED
from ol2r.papers.comparison.grid import SETTINGS as VARIANTS

SHAPE = Shape(features=46, documents=20.0)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_learner_takes_more_for_more_rounds_features_and_documents(name, device):
    def cost(shape=SHAPE, rounds=1000):
        return LEARNERS[name].cost(SETTINGS[name], shape, rounds, device)

    least = cost()
    assert least.seconds > 0 and least.bytes > 0 and least.once > 0
    for more in (cost(rounds=2000), cost(SHAPE._replace(features=92)), cost(SHAPE._replace(documents=40.0))):
        assert more.seconds > least.seconds
        assert more.bytes >= least.bytes and more.once >= least.once
    assert cost(rounds=2000).seconds >= 2 * least.seconds


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("MGD", {"m": 9}),
        ("CPS", {"n_candidates": 8}),
        ("CPS", {"history": 10}),
        ("NSGD", {"n": 20}),
        ("NSGD", {"k_g": 25}),
        ("NSGD", {"sampling": "row_echelon"}),
        ("PairRank", {"pairs": "all"}),
        ("P2LinRank", {"rankers": 10}),
        ("P2NeurRank", {"rankers": 10}),
    ],
)
def test_a_hyper_parameter_that_makes_a_round_longer_is_seen(name, changed):
    usual, other = (LEARNERS[name].cost(SETTINGS[name] | more, SHAPE, 1000).seconds for more in ({}, changed))
    assert other > usual


@pytest.mark.parametrize("shuffle", ["random", "conservative"])
def test_certain_orders_of_long_lists_cost_the_square_of_their_length(shuffle):
    setting = SETTINGS["PairRank"] | {"shuffle": shuffle}
    long, longer = (LEARNERS["PairRank"].cost(setting, Shape(42, length), 1000).seconds for length in (4e3, 16e3))
    assert longer == pytest.approx(16 * long, rel=0.1)


def test_what_a_learner_remembers_of_its_rounds_is_seen():
    few, many = (LEARNERS["PairRank"].cost(SETTINGS["PairRank"], SHAPE, rounds).bytes for rounds in (100, 1000))
    assert many > 5 * few
    short, long = (LEARNERS["NSGD"].cost(SETTINGS["NSGD"] | {"T_g": places}, SHAPE, 9).bytes for places in (4, 4000))
    assert long > short + 4 * 46 * 3000


@pytest.mark.parametrize("name", sorted(BANDITS))
def test_a_bandit_takes_more_for_more_steps_and_items(name):
    least = BANDITS[name].cost({}, 10, 1000)
    assert least.seconds > 0
    assert BANDITS[name].cost({}, 10, 2000).seconds == pytest.approx(2 * least.seconds)
    assert BANDITS[name].cost({}, 20, 1000).seconds > least.seconds
    assert BANDITS[name].cost({}, 20, 1000).bytes > least.bytes


def test_rows_side_by_side_share_what_a_batch_takes_once():
    one = Cost(seconds=2.0, bytes=10, once=5.0)
    assert one.of(3) == Cost(6.0, 30, 5.0) and one.of(3).whole == 11.0
    assert together([one.of(3), Cost(1.0, 4, 7.0)]) == Cost(7.0, 34, 7.0)
    assert together([]) == Cost(0.0)


def test_one_thing_after_another_takes_both():
    assert in_turn([Cost(2.0, 10, 5.0), Cost(1.0, 4, 7.0)]) == Cost(3.0, 14, 12.0)


def test_a_batch_on_the_cpu_is_cut_by_memory_and_by_number_one_on_a_device_is_whole():
    assert batch_size(Cost(1.0, 1), 10_000, "cpu") == LARGEST_BATCH
    assert batch_size(Cost(1.0, BATCH_BYTES // 3), 10_000, "cpu") == 3
    assert batch_size(Cost(1.0, 2 * BATCH_BYTES), 10_000, "cpu") == 1
    assert batch_size(Cost(1.0, BATCH_BYTES), 10_000, "cuda") == 10_000


BENCHMARKS = str(Path(__file__).parents[1] / "benchmarks")


@pytest.fixture(scope="module")
def timed():
    """All runs that were timed on machines that did nothing else, as the benchmark of costs reads them."""
    sys.path.insert(0, BENCHMARKS)
    try:
        import costs
    finally:
        sys.path.remove(BENCHMARKS)
    published = Store.open().publication
    assert published is not None
    return list(costs.timed(published))


def test_what_was_timed_took_what_is_expected(timed):
    off = {run.what: math.exp(abs(math.log(run.expected / run.seconds))) for run in timed}
    assert len(timed) > 100
    assert {what: factor for what, factor in off.items() if factor > 1.5} == {}


def test_every_learner_of_the_comparison_was_timed(timed):
    known = {run.learner for run in timed}
    assert {VARIANTS[name][0] for name in COMPARED} <= known
    assert all(LEARNERS[name].measured() for name in known)


def test_what_users_click_by_mistake_costs_those_who_read_all_labels():
    few, many = (LEARNERS["PairRank"].cost(SETTINGS["PairRank"], SHAPE._replace(labels=n), 1000) for n in (1.0, 3.0))
    assert many.seconds > few.seconds
    few, many = (LEARNERS["PDGD"].cost(SETTINGS["PDGD"], SHAPE._replace(labels=n), 1000) for n in (1.0, 3.0))
    assert many == few
