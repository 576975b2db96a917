"""A bandit that serves real users shows the lists that it shows in a simulated world, and says what is wrong."""

import doctest
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import clicks_of
from reference import Draws

import ol2r
from ol2r.bandits import BubbleRank, bubblerank, random_list, simulate_bandit
from ol2r.clicks import ItemClicks
from ol2r.papers.bubblerank import grid
from ol2r.random import generator, replica_key

STEPS = 300


def users(kind, n_items, n_positions):
    """Attractions far enough apart that a few hundred steps tell them."""
    rng = generator("live bandits", n_items)
    position = () if kind == "cascade" else tuple(rng.uniform(0.5, 1.0, n_positions))
    return ItemClicks(kind, tuple(rng.permutation(n_items) / n_items), position)


def served(live, model, key, names, first, last):
    """The lists of these steps; the users of the model click them."""
    draws, number = Draws(key), {name: item for item, name in enumerate(names)}
    shown = []
    for step in range(first, last + 1):
        ranking = [number[name] for name in live.rank()]
        live.update(clicks_of(model, ranking, draws, step))
        shown.append(ranking)
    return shown


@given(
    shape=st.sampled_from([(5, 5), (6, 6), (4, 7), (3, 6), (1, 1), (1, 4)]),
    kind=st.sampled_from(["cascade", "dependent", "position"]),
    doubling_from=st.sampled_from([0, 9, 50]),
    freeze=st.booleans(),
    parity=st.sampled_from(["algorithm", "prose"]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=30, deadline=None)
def test_real_users_are_shown_what_simulated_ones_are(shape, kind, doubling_from, freeze, parity, seed):
    """Clicks as simulated users give them lead to the same list, step by step, whatever items are called."""
    n_positions, n_items = shape
    model, key = users(kind, n_items, n_positions), replica_key("online", 1, seed)
    initial = random_list(key, 0, n_items, n_positions).tolist()
    parameters = {"exponent": 0.1, "doubling_from": doubling_from, "freeze": freeze, "parity": parity}
    expected = simulate_bandit(
        "BubbleRank", parameters, [model], [initial], [key], STEPS, range(1, STEPS + 1), n_positions
    )
    names = [f"item {i}" for i in range(n_items)]
    items = [names[i] for i in [*initial, *(i for i in range(n_items) if i not in initial)]]
    length = {"horizon": STEPS} if doubling_from == 0 else {"doubling_from": doubling_from}
    live = BubbleRank(items, n_positions, exponent=0.1, freeze=freeze, parity=parity, seed=seed, **length)
    assert served(live, model, key, names, 1, STEPS) == expected.shown[0].tolist()


def test_usual_values_are_those_of_the_papers_main_results():
    own = {"exponent": 4.0, "freeze": False, "parity": "algorithm", "doubling_from": grid.DOUBLING_FROM}
    defaults = BubbleRank.__init__.__kwdefaults__
    assert {name: defaults[name] for name in own} == own
    assert own | {"doubling_from": 0} == grid.SETTINGS["BubbleRank"]


def test_a_better_item_bubbles_up_and_no_item_is_ever_far_from_where_it_was():
    live = ol2r.BubbleRank(list("abcd"), horizon=2000, exponent=0.3)
    for _ in range(2000):
        before = live.base
        shown = live.rank()
        assert all(abs(before.index(item) - k) <= 1 for k, item in enumerate(shown))
        live.update([item == "d" for item in shown])
    assert live.base[0] == "d"
    assert live.decided("d", live.base[1]) and not live.decided(live.base[1], "d")
    with pytest.raises(ValueError):
        live.decided("d", "nobody")


def test_two_of_them_learn_apart_and_a_pickled_one_goes_on():
    model, key = users("position", 5, 4), replica_key("online", 1, 3)
    items = list(range(5))

    def fresh():
        return BubbleRank(items, 4, horizon=STEPS, exponent=0.1, seed=3)

    whole, other = fresh(), fresh()
    expected = served(whole, model, key, items, 1, STEPS)
    assert whole.base != items[:4] and other.base == items[:4]
    half = served(other, model, key, items, 1, STEPS // 2)
    again = pickle.loads(pickle.dumps(other))
    assert half + served(again, model, key, items, STEPS // 2 + 1, STEPS) == expected


def test_seeds_flip_other_coins():
    def shown(seed):
        live = BubbleRank(range(10), horizon=9, seed=seed)
        lists = []
        for _ in range(9):
            lists.append(live.rank())
            live.update([False] * 10)
        return lists

    assert shown(1) == shown(1) != shown(2)


@pytest.mark.parametrize(
    ("items", "changed", "message"),
    [
        ([], {}, "at least one item"),
        ("shoes", {}, "expected a list of items, found 'shoes'"),
        (["a", "b", "a"], {}, "but 'a' stands among them 2 times"),
        (["a", "b"], {"n_positions": 0}, "2 items have 1 to 2 positions, not 0"),
        (["a", "b"], {"n_positions": 3}, "2 items have 1 to 2 positions, not 3"),
        (["a", "b"], {"n_positions": 1.5}, r"2 items have 1 to 2 positions, not 1\.5"),
        (["a", "b"], {"horizon": 0}, "horizon must be a whole number from 1 to 4294967295, or None"),
        (["a", "b"], {"horizon": 2.5}, "horizon must be a whole number from 1 to 4294967295, or None"),
        (["a", "b"], {"doubling_from": 0}, "a horizon that is not known is doubled from at least 1"),
        (["a", "b"], {"exponent": -1.0}, "exponent must be a number of at least 0"),
        (["a", "b"], {"parity": "odd"}, "parity must be one of algorithm, prose, not 'odd'"),
    ],
)
def test_what_is_wrong_at_the_start_is_said(items, changed, message):
    with pytest.raises(ValueError, match=message):
        BubbleRank(items, **changed)


def test_what_is_wrong_with_a_turn_is_said():
    live = BubbleRank(["a", "b", "c"], 2, horizon=2)
    with pytest.raises(ValueError, match="no list waits for clicks"):
        live.update([True, False])
    assert live.rank() in (["a", "b"], ["b", "a"], ["a", "c"])
    with pytest.raises(ValueError, match="the last list waits for its clicks"):
        live.rank()
    for wrong in ([True], [True, False, True], [True, 0.5]):
        with pytest.raises(ValueError, match="expected 2 clicks"):
            live.update(wrong)
    live.update([0, 1])
    with pytest.raises(ValueError, match="no list waits for clicks"):
        live.update([0, 1])
    live.rank()
    live.update([False, False])
    with pytest.raises(ValueError, match="the horizon of 2 lists is over"):
        live.rank()


def test_its_example_is_true():
    (example,) = doctest.DocTestFinder(recurse=False).find(BubbleRank, "BubbleRank", module=bubblerank)
    assert example.examples and doctest.DocTestRunner().run(example).failed == 0
