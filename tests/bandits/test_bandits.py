"""What holds of every bandit, what BubbleRank's theory promises, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import get_num_threads, set_num_threads
from plain import wrong_pairs

from ol2r.bandits import BANDITS, Bandit, logarithmic_checkpoints, random_list, simulate_bandit
from ol2r.bandits.bubblerank import begin, display, observe
from ol2r.bandits.cascade import _bound, _entropy
from ol2r.bandits.toprank import _partition
from ol2r.bandits.world import inversions
from ol2r.clicks import ItemClicks
from ol2r.random import generator, replica_key
from ol2r.theory.bandits import upper_bound

PARAMETERS = {
    "Baseline": {},
    "BatchRank": {"stages": "paper"},
    "BubbleRank": {"exponent": 4.0, "doubling_from": 0, "freeze": True, "parity": "algorithm"},
    "CascadeKL-UCB": {"budget": "log t + 3 log log t", "observed": "first click", "start": "top"},
    "TopRank": {"exponent": 1.0},
}
LEARN = sorted(set(BANDITS) - {"Baseline"})
KINDS = ("cascade", "dependent", "position")
PROMISED = [(name, kind) for name in LEARN for kind in KINDS if (name, kind) != ("CascadeKL-UCB", "position")]


def model(kind, n_items, seed, n_positions=None):
    rng = generator(f"bandits {kind} {n_items}", seed)
    position = () if kind == "cascade" else tuple(np.sort(rng.uniform(0.2, 1.0, n_positions or n_items))[::-1])
    return ItemClicks(kind, tuple(rng.uniform(0.02, 0.6, n_items)), position)


def batch(kind, replicas, n_items=6, n_positions=6):
    models = [model(kind, n_items, seed, n_positions) for seed in range(replicas)]
    keys = [replica_key("bandits", n_items, seed) for seed in range(replicas)]
    return models, [random_list(key, 0, n_items, n_positions) for key in keys], keys


def better(attraction):
    world = np.zeros((len(attraction), (len(attraction) + 63) // 64), dtype=np.uint64)
    for i in range(len(attraction)):
        for j in range(len(attraction)):
            if attraction[j] > attraction[i]:
                world[i, j // 64] |= np.uint64(1) << np.uint64(j % 64)
    return world


def test_every_bandit_is_tested():
    assert set(PARAMETERS) == set(BANDITS)


@pytest.mark.parametrize("name", sorted(BANDITS))
def test_a_replica_does_not_depend_on_who_stands_beside_it(name):
    """Nor on the number of threads, nor on where the checkpoints are."""
    models, lists, keys = batch("dependent", 3)
    models, lists, keys = (
        [*models, *batch("position", 2, 9, 4)[0]],
        [*lists, *batch("position", 2, 9, 4)[1]],
        [*keys, 5, 6],
    )
    together = simulate_bandit(name, PARAMETERS[name], models, lists, keys, 3000, (100, 3000), 5)
    threads = get_num_threads()
    set_num_threads(1)
    try:
        for r in range(len(models)):
            alone = simulate_bandit(
                name, PARAMETERS[name], models[r : r + 1], lists[r : r + 1], keys[r : r + 1], 3000, (100, 2000, 3000), 5
            )
            assert alone.regret[0, ::2].tolist() == together.regret[r].tolist()
            assert alone.violations[0, ::2].tolist() == together.violations[r].tolist()
            length = len(lists[r])
            assert alone.shown[0, ::2].tolist() == together.shown[r, :, :length].tolist()
            assert (together.shown[r, :, length:] == -1).all()
            assert together.ndcg[r, 1] == pytest.approx((1900 * alone.ndcg[0, 1] + 1000 * alone.ndcg[0, 2]) / 2900)
    finally:
        set_num_threads(threads)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(BANDITS))
def test_lists_are_of_different_items_and_no_list_is_better_than_the_best(name, kind):
    models, lists, keys = batch(kind, 4, n_items=8, n_positions=5)
    trace = simulate_bandit(name, PARAMETERS[name], models, lists, keys, 1000, range(1, 301), 3)
    for r in range(4):
        assert all(len(set(shown)) == 5 and min(shown) >= 0 and max(shown) < 8 for shown in trace.shown[r].tolist())
    assert (np.diff(trace.regret, prepend=0.0) >= -1e-12).all()
    assert (trace.ndcg <= 1 + 1e-12).all()


@pytest.mark.parametrize(("name", "kind"), PROMISED)
def test_bandits_find_the_order_where_it_is_easy(name, kind):
    position = () if kind == "cascade" else (0.95, 0.85, 0.75)
    users = [ItemClicks(kind, (0.1, 0.4, 0.8), position)] * 4
    keys = [replica_key("easy", 0, seed) for seed in range(4)]
    steps = 60_000
    trace = simulate_bandit(name, PARAMETERS[name], users, [(0, 1, 2)] * 4, keys, steps, (steps // 2, steps), 3)
    assert trace.shown[:, -1].tolist() == [[2, 1, 0]] * 4
    assert (trace.ndcg[:, -1] > 0.99).all()


def test_the_baselines_regret_is_its_lists_and_never_unsafe():
    models, lists, keys = batch("position", 3)
    trace = simulate_bandit("Baseline", {}, models, lists, keys, 10_000, (1, 100, 10_000), 5)
    np.testing.assert_allclose(trace.regret, trace.regret[:, :1] * [[1, 100, 10_000]])
    assert not trace.violations.any() and not trace.excess.any()
    assert (trace.shown == np.array(lists)[:, None]).all()


@pytest.mark.parametrize("freeze", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_bubblerank_is_safe_while_event_e_holds(kind, freeze):
    """Lemma 2, Lemma 6 and the fall of the base list's inversions, at a confidence where E fails now and then."""
    models, lists, keys = batch(kind, 60, n_items=7, n_positions=7)
    parameters = PARAMETERS["BubbleRank"] | {"exponent": 0.3, "freeze": freeze}
    trace = simulate_bandit("BubbleRank", parameters, models, lists, keys, 3000, range(1, 3001), 5)
    holds = trace.diagnostics["event_broken"] == 0
    assert 0 < holds[:, -1].sum() < 60
    assert not trace.violations[holds].any()
    assert (2 * trace.excess[holds] <= 7).all()
    bound = np.broadcast_to(7 - 1 + 2 * trace.initial_inversions[:, None], holds.shape)
    assert (trace.diagnostics["pairs"] <= bound)[holds].all()
    for r in range(60):
        falls = [b <= a for a, b in pairwise(trace.diagnostics["base_inversions"][r, holds[r]])]
        assert all(falls)


def test_a_longer_horizon_makes_bubblerank_slower_and_the_doubling_trick_returns_to_the_initial_list():
    models, lists, keys = batch("position", 20)
    soon, late, doubled = (
        simulate_bandit(
            "BubbleRank", PARAMETERS["BubbleRank"] | {"doubling_from": n}, models, lists, keys, steps, (4096, 4097), 5
        )
        for steps, n in ((5000, 0), (5_000_000, 0), (5000, 1024))
    )
    inversions_ = [trace.diagnostics["base_inversions"][:, -1].sum() for trace in (soon, late)]
    assert inversions_[0] < inversions_[1]
    # at step 2·2048 + 1 the base list is R₀ again, up to one sweep of what is certain
    gained = doubled.diagnostics["base_inversions"][:, 1] - doubled.diagnostics["base_inversions"][:, 0]
    assert (gained > 0).any() and (gained >= 0).all()


@pytest.mark.parametrize("freeze", [True, False])
def test_the_statistics_of_a_decided_pair_stay_if_they_are_frozen(freeze):
    """Lemma 7: then s_t = s_τ for every t after the decision at τ; Algorithm 1 goes on."""
    state = begin(np.arange(2), 2, 1, 0.0, False, freeze, 0)
    state.notes["log_inverse_delta"] = 4.0
    for step in range(1, 101):  # on even steps, as h has it, the two are neighbours
        display(state, np.uint64(1), 2 * step)
        observe(state, state.ranking == 1, 2 * step)
    decided = 17 if freeze else 100  # s = n > 2 √(4 n) from n = 17 on
    assert state.s.tolist() == [[0, -decided], [decided, 0]]
    assert state.n.tolist() == [[0, decided], [decided, 0]]


def test_items_of_equal_attraction_are_never_in_the_wrong_order():
    user = ItemClicks("cascade", (0.3,) * 5)
    keys = [replica_key("ties", 0, seed) for seed in range(3)]
    for name in sorted(BANDITS):
        trace = simulate_bandit(name, PARAMETERS[name], [user] * 3, [range(5)] * 3, keys, 2000, (2000,), 3)
        assert not trace.violations.any() and not trace.excess.any() and not trace.initial_inversions.any()
        np.testing.assert_allclose(trace.regret, 0.0, atol=1e-9)
        np.testing.assert_allclose(trace.ndcg, 1.0)
        assert not trace.diagnostics.get("event_broken", np.zeros(1)).any()


@pytest.mark.parametrize("name", sorted(BANDITS))
def test_nobody_clicks_and_nothing_breaks(name):
    user = ItemClicks("position", (0.0,) * 4, (0.0,) * 4)
    trace = simulate_bandit(name, PARAMETERS[name], [user], [range(4)], [7], 500, (500,), 2)
    assert trace.regret[0, 0] == 0.0 and trace.ndcg[0, 0] == 1.0


@pytest.mark.parametrize("name", LEARN)
def test_certain_clicks_and_positions_that_nobody_examines_are_no_trouble(name):
    user = ItemClicks("position", (1.0, 0.0, 1.0, 0.4), (1.0, 0.0, 0.5, 0.0))
    trace = simulate_bandit(name, PARAMETERS[name], [user], [(1, 3, 0, 2)], [7], 20_000, (100, 20_000), 4)
    assert trace.optimum[0] == pytest.approx(1.0 + 0.5)
    assert np.isfinite(trace.regret).all() and (np.diff(trace.regret) >= 0).all()


@pytest.mark.parametrize("name", sorted(BANDITS))
@pytest.mark.parametrize(("n_items", "n_positions"), [(1, 1), (3, 1), (2, 2), (4, 3)])
def test_short_lists_and_few_items(name, n_items, n_positions):
    """A query with fewer documents than ten is shown whole: its list is as long as it is."""
    user = model("position", n_items, 0, n_positions=10)
    key = replica_key("short", n_items, 0)
    trace = simulate_bandit(
        name, PARAMETERS[name], [user], [random_list(key, 0, n_items, n_positions)], [key], 200, (200,), 5
    )
    assert trace.shown.shape == (1, 1, n_positions)
    assert np.isfinite(trace.regret).all()
    if n_items == 1:
        assert trace.regret[0, 0] == 0.0 and trace.ndcg[0, 0] == 1.0


@given(n_items=st.integers(1, 150), share=st.floats(0.0, 1.0), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_inversions_are_the_pairs_counted_one_by_one(n_items, share, seed):
    rng = generator("inversions", seed)
    attraction = np.round(rng.random(n_items), 1 if seed % 2 else 6)  # with and without ties
    ranking = rng.permutation(n_items)[: max(1, int(share * n_items))]
    assert inversions(ranking, better(attraction)) == len(wrong_pairs(ranking.tolist(), attraction.tolist()))


def test_worlds_of_more_than_64_items_are_judged_alike():
    user = model("cascade", 130, 1)
    key = replica_key("many", 0, 0)
    initial = random_list(key, 0, 130, 10)
    trace = simulate_bandit("TopRank", {"exponent": 1.0}, [user], [initial], [key], 50, range(1, 51), 5)
    start = len(wrong_pairs(initial.tolist(), user.attraction))
    assert trace.initial_inversions[0] == start
    more = [len(wrong_pairs(shown, user.attraction)) - start for shown in trace.shown[0].tolist()]
    assert trace.violations[0].tolist() == np.cumsum(np.array(more) > 5).tolist()
    assert trace.excess[0].tolist() == np.maximum.accumulate([0, *more])[1:].tolist()


@given(
    observed=st.integers(2, 5_000_000),
    share=st.floats(0.0, 1.0),
    budget=st.floats(0.5, 25.0),
    guess=st.floats(0.0, 1.0),
)
@settings(max_examples=300, deadline=None)
def test_klucbs_iteration_finds_the_bound_from_any_guess(observed, share, budget, guess):
    clicked = min(max(1, round(share * observed)), observed - 1)
    p = clicked / observed
    found = _bound(p, _entropy(p), budget / observed, guess)
    assert found == pytest.approx(upper_bound(p, budget / observed), abs=1e-11)


def test_contradicting_comparisons_leave_one_block():
    worse = np.zeros((4, 4), dtype=bool)
    worse[0, 1] = worse[1, 2] = worse[2, 0] = True  # a cycle
    worse[[0, 1, 2], 3] = True
    order, first, until = np.empty((3, 4), dtype=np.int64)
    _partition(worse, order, first, until)
    assert order.tolist() == [3, 0, 1, 2]
    assert (first.tolist(), until.tolist()) == ([0, 1, 1, 1], [1, 4, 4, 4])


def test_random_lists_and_first_lists_are_uniform():
    """Every item equally often on every place: BANDIT_INITIAL, and TopRank's and BatchRank's first step."""
    keys = [replica_key("uniform", 0, seed) for seed in range(2000)]
    users = [ItemClicks("cascade", (0.1, 0.2, 0.3, 0.4, 0.5))] * len(keys)
    samples = {"random_list": np.array([random_list(key, 3, 5, 3) for key in keys])}
    for name in ("TopRank", "BatchRank"):
        trace = simulate_bandit(name, PARAMETERS[name], users, [(0, 1, 2)] * len(keys), keys, 10, (1,), 3)
        samples[name] = trace.shown[:, 0]
    for name, lists in samples.items():
        for place in range(3):
            counts = np.bincount(lists[:, place], minlength=5)
            assert ((counts - 400) ** 2 / 400).sum() < 23.5, name  # χ² of 4 degrees of freedom, p = 10⁻⁴


def test_random_lists_differ_by_number_and_not_by_call():
    lists = [tuple(random_list(np.uint64(9), number, 10, 10)) for number in range(20)]
    assert len(set(lists)) == 20
    assert tuple(random_list(np.uint64(9), 3, 10, 10)) == lists[3]
    assert all(sorted(ranking) == list(range(10)) for ranking in lists)


@pytest.mark.parametrize("steps", [1, 7, 100, 99_999, 5_000_000])
def test_checkpoints_ascend_to_the_last_step_through_every_power_of_ten(steps):
    found = logarithmic_checkpoints(steps)
    assert list(found) == sorted(set(found)) and found[-1] == steps and found[0] >= 1
    assert {10**d for d in range(len(str(steps))) if 10**d <= steps} <= set(found)
    assert len(found) <= 10 * len(str(steps)) + 1


def test_bandits_refuse_what_they_do_not_know():
    user, key = ItemClicks("position", (0.5, 0.2, 0.1), (0.9, 0.5)), np.uint64(1)

    def play(
        name="TopRank", parameters=None, users=(user,), lists=((0, 1),), keys=(key,), steps=10, checkpoints=(10,), cut=2
    ):
        given = PARAMETERS.get(name, {}) if parameters is None else parameters
        return simulate_bandit(name, given, users, lists, keys, steps, checkpoints, cut)

    play()
    with pytest.raises(
        ValueError, match="bandit must be one of Baseline, BatchRank, BubbleRank, CascadeKL-UCB, TopRank, not 'UCB1'"
    ):
        play("UCB1")
    with pytest.raises(ValueError, match="missing: exponent; unknown: delta"):
        play(parameters={"delta": 1})
    with pytest.raises(ValueError, match="exponent must be a number of at least 0"):
        play(parameters={"exponent": -1.0})
    for wrong in ("4", True, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="exponent must be a number of at least 0"):
            play(parameters={"exponent": wrong})
    with pytest.raises(ValueError, match=r"doubling_from must be a whole number of at least 0, not 0\.5"):
        play("BubbleRank", PARAMETERS["BubbleRank"] | {"doubling_from": 0.5})
    with pytest.raises(ValueError, match="parity must be one of algorithm, prose, not 'odd'"):
        play("BubbleRank", PARAMETERS["BubbleRank"] | {"parity": "odd"})
    with pytest.raises(ValueError, match="go together"):
        play(keys=(key, key))
    with pytest.raises(ValueError, match="go together"):
        play(users=(), lists=(), keys=())
    for lists in [((0, 0),), ((),)]:
        with pytest.raises(ValueError, match="different items, at least one"):
            play(lists=lists)
    for lists in [((0, 3),), ((-1, 0),)]:
        with pytest.raises(ValueError, match="items outside 0 … 2"):
            play(lists=lists)
    with pytest.raises(ValueError, match="slots"):
        play(lists=((0, 1, 2),))
    for checkpoints in [(), (0, 5), (5, 5), (6, 5), (11,)]:
        with pytest.raises(ValueError, match="checkpoints must be steps from 1 to 10"):
            play(checkpoints=checkpoints)
    with pytest.raises(ValueError, match="checkpoints must be whole steps"):
        play(checkpoints=(1.2, 1.7, 5))
    with pytest.raises(ValueError, match="whole item numbers"):
        play(lists=((0.9, 1.2),))
    with pytest.raises(ValueError, match="cut must be at least 1"):
        play(cut=0)
    for positions in (0, 6, 7):
        with pytest.raises(ValueError, match="a list of 5 items has 1 to 5 positions"):
            random_list(key, 0, 5, positions)
    with pytest.raises(ValueError, match="at least 1"):
        logarithmic_checkpoints(0)


def test_the_registry_refuses_a_name_twice():
    with pytest.raises(ValueError, match="two bandits are named 'TopRank'"):
        type("Second", (Bandit,), {"name": "TopRank"})
