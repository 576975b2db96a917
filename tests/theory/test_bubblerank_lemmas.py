"""BubbleRank's lemmas, step by step, by enumerating lists, coins and clicks in plain Python.

Items are numbered from 0 by falling attraction, so that the best list is 0, 1, …; positions are numbered from 0 too.
"""

import math
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from ol2r.random import generator
from ol2r.theory import bubblerank

TOLERANCE = 1e-12
KINDS = ("CM", "DCM", "PBM")


def examined(kind, attraction, position, ranking):
    """χ(R, k) of every position, by the user's story."""
    if kind == "PBM":
        return list(position[: len(ranking)])
    chances, left = [], 1.0
    for k, item in enumerate(ranking):
        chances.append(left)
        left *= 1 - attraction[item] * (1 if kind == "CM" else position[k])
    return chances


def rewards(kind, attraction, position, ranking, cut=None):
    """r(R) over the first `cut` positions: clicks (CM, PBM), or clicks after which the user leaves (DCM)."""
    chances = examined(kind, attraction, position, ranking)
    worth = position if kind == "DCM" else [1.0] * len(ranking)
    return sum(chances[k] * attraction[i] * worth[k] for k, i in enumerate(ranking[:cut]))


def earned(kind, attraction, position, cut=None):
    """What a unit of attraction earns at every position of the best list."""
    chances = examined(kind, attraction, position, range(len(attraction)))
    worth = position if kind == "DCM" else [1.0] * len(attraction)
    return np.array([c * w for c, w in zip(chances, worth, strict=False)][:cut])


def click_vectors(kind, attraction, position, ranking):
    """All clicks on a list with their probabilities."""
    for clicks in product((0, 1), repeat=len(ranking)):
        chance, left = 1.0, 1.0  # `left`: chance of being there still, given the clicks so far
        for k, item in enumerate(ranking):
            p = attraction[item] * (position[k] if kind == "PBM" else left)
            chance *= p if clicks[k] else 1 - p
            if clicks[k]:
                left = {"CM": 0.0, "DCM": 1 - position[k], "PBM": 1.0}[kind]
            elif kind != "PBM" and p < 1:
                left = left * (1 - attraction[item]) / (1 - p)
        yield clicks, chance


def falling(draw, n, least=0.05):
    """n different numbers, the largest first, no two of them close."""
    values = draw(st.lists(st.integers(round(100 * least), 99), min_size=n, max_size=n, unique=True))
    return [v / 100 for v in sorted(values, reverse=True)]


@st.composite
def worlds(draw, kinds=KINDS, most=4):
    """A click model that meets what the theorem needs: (kind, attraction, position), v and χ falling."""
    n = draw(st.integers(2, most))
    return draw(st.sampled_from(kinds)), falling(draw, n), falling(draw, n)


def fails(kind, attraction, position, equivalent=False):
    """Which of A1 … A5 some pair of lists contradicts; A4 with ⟹ only, or as printed."""
    lists = list(permutations(range(len(attraction))))
    best = lists[0]
    chi = {ranking: examined(kind, attraction, position, ranking) for ranking in lists}
    found = set()
    for one in lists:
        if rewards(kind, attraction, position, one) > rewards(kind, attraction, position, best) + TOLERANCE:
            found.add("A1")
        for k in range(len(one)):
            if chi[one][k] < chi[best][k] - TOLERANCE:
                found.add("A5")
            if any(chi[one][k] < chi[one][below] - TOLERANCE for below in range(k + 1, len(one))):
                found.add("A3")
            for other in lists:
                if set(one[:k]) == set(other[:k]) and abs(chi[one][k] - chi[other][k]) > TOLERANCE:
                    found.add("A2")
        for k, below in combinations(range(len(one)), 2):
            other = list(one)
            other[k], other[below] = one[below], one[k]
            worse_above = attraction[one[k]] <= attraction[one[below]]
            more_examined = chi[one][below] >= chi[tuple(other)][below] - TOLERANCE
            if (worse_above and not more_examined) or (equivalent and more_examined and not worse_above):
                found.add("A4")
    return found


# Assumption 1


@given(worlds(("CM",)))
@settings(max_examples=20, deadline=None)
def test_the_assumptions_hold_in_the_cascade_model(world):
    assert not fails(*world)


@given(worlds(("PBM",)))
@settings(max_examples=20, deadline=None)
def test_the_assumptions_hold_in_the_position_based_model_where_examination_falls_but_for_one_half_of_a4(world):
    assert not fails(*world)
    assert fails(*world, equivalent=True) == {"A4"}


def test_rising_examination_breaks_a1_and_a3():
    assert fails("PBM", [0.9, 0.5, 0.2], [0.5, 0.4, 0.6]) == {"A1", "A3"}


@given(worlds(("DCM",)))
@settings(max_examples=20, deadline=None)
def test_a_dependent_click_model_breaks_only_a2_where_leaving_falls(world):
    """Of satisfied clicks. A2 asks for equal sets above; Lemma 8 needs equal lists above, and these it has."""
    _, attraction, position = world
    assume(len(attraction) > 2)
    assert fails("DCM", attraction, position) == {"A2"}
    lists = list(permutations(range(len(attraction))))
    for one, other in product(lists, repeat=2):
        for k in range(len(one)):
            if one[:k] == other[:k]:
                chances = [examined("DCM", attraction, position, each)[k] for each in (one, other)]
                assert chances[0] == chances[1]


def test_a_dependent_click_model_breaks_a1_and_a5_where_leaving_rises():
    assert fails("DCM", [0.9, 0.5, 0.2], [0.2, 0.5, 0.9]) == {"A1", "A2", "A5"}


def test_clicks_of_the_dependent_click_model_are_not_most_on_the_best_list():
    """Eq. (4) counts clicks; section 5.1 clicks after which the user leaves. They differ where all leave at the top."""
    attraction, leaving = [0.9, 0.2], [1.0, 0.1]
    clicks = {r: sum(c * sum(v) for v, c in click_vectors("DCM", attraction, leaving, r)) for r in ((0, 1), (1, 0))}
    assert clicks[1, 0] > clicks[0, 1]


@given(worlds())
@settings(max_examples=30, deadline=None)
def test_clicks_factor_into_examination_and_attraction(world):
    """Eq. (3), with the chances of whole click vectors; and the library's product for χ in both cascades."""
    kind, attraction, position = world
    for ranking in permutations(range(len(attraction))):
        chances = examined(kind, attraction, position, ranking)
        vectors = list(click_vectors(kind, attraction, position, ranking))
        assert sum(chance for _, chance in vectors) == pytest.approx(1)
        for k, item in enumerate(ranking):
            mean = sum(clicks[k] * chance for clicks, chance in vectors)
            assert mean == pytest.approx(chances[k] * attraction[item])
        if kind != "PBM":
            shown = np.array([attraction[i] for i in ranking])
            leaving = 1.0 if kind == "CM" else np.array(position)
            np.testing.assert_allclose(bubblerank.examination_in_cascade(shown, leaving), chances)


def test_the_printed_examination_of_the_dependent_click_model_contradicts_eq_3():
    """∏ (1 − v(i)) α(R(i)) for ∏ (1 − v(i) α(R(i)))."""
    attraction, leaving = [0.9, 0.5], [0.2, 0.3]
    second = sum(clicks[1] * chance for clicks, chance in click_vectors("DCM", attraction, leaving, (0, 1)))
    assert second == pytest.approx((1 - leaving[0] * attraction[0]) * attraction[1])
    assert second != pytest.approx((1 - leaving[0]) * attraction[0] * attraction[1], rel=0.1)


@given(worlds(("CM",), most=5))
@settings(max_examples=30, deadline=None)
def test_in_the_cascade_model_all_orders_of_all_items_earn_the_same(world):
    """Section 3's own setting, D = [K] and reward over K positions: regret is 0 whatever is shown."""
    kind, attraction, position = world
    values = [rewards(kind, attraction, position, ranking) for ranking in permutations(range(len(attraction)))]
    assert max(values) == pytest.approx(min(values), abs=TOLERANCE)
    assert values[0] == pytest.approx(1 - math.prod(1 - a for a in attraction))


# Lemma 3


@given(worlds(most=5))
@settings(max_examples=60, deadline=None)
def test_lemma_3_and_what_is_sharper_bound_the_regret_of_every_list(world):
    kind, attraction, position = world
    n = len(attraction)
    best = list(range(n))
    largest = earned(kind, attraction, position)[0]
    for ranking, cut in product(permutations(best), range(1, n + 1)):
        regret = rewards(kind, attraction, position, best, cut) - rewards(kind, attraction, position, ranking, cut)
        shown = np.array([attraction[i] for i in ranking])
        gap, opened = bubblerank.attraction_gap(shown), bubblerank.open_range(shown)
        sharp = bubblerank.displacement(earned(kind, attraction, position, cut), n) * opened
        assert regret <= sharp + TOLERANCE
        assert opened <= gap + TOLERANCE
        assert sharp <= (n // 2) * largest * gap + TOLERANCE
        assert sharp <= bubblerank.printed_list_regret(gap, cut, largest) + TOLERANCE


def test_the_sharper_lemma_is_reached():
    """Two levels of attraction, upside down, and examination that ends halfway down the list."""
    high, low, n = 0.9, 0.1, 4
    attraction, position = [high, high, low, low], [0.8, 0.8, 0.0, 0.0]
    regret = rewards("PBM", attraction, position, (0, 1, 2, 3)) - rewards("PBM", attraction, position, (3, 2, 1, 0))
    shown = np.array([low, low, high, high])
    sharp = bubblerank.displacement(np.array(position), n) * bubblerank.open_range(shown)
    assert regret == pytest.approx(sharp) == pytest.approx(n // 2 * 0.8 * (high - low))


# Lemma 8


def couples_of(h, n):
    """Positions that Algorithm 1 compares for this h, lines 7-8."""
    return [(2 * k - 2 + h, 2 * k - 1 + h) for k in range(1, (n - h) // 2 + 1)]


def displayed(base, couples, open_):
    """All lists that may be shown, with their probabilities: each open couple is exchanged with probability ½."""
    free = [couple for couple in couples if couple in open_]
    for coins in product((False, True), repeat=len(free)):
        ranking = list(base)
        for (a, b), coin in zip(free, coins, strict=True):
            if coin:
                ranking[a], ranking[b] = ranking[b], ranking[a]
        yield tuple(ranking), 0.5 ** len(free)


def single_click(world, base, couples, open_, couple):
    """E[z] and P(z ≠ 0) of a couple, z the difference of clicks of its better and its worse item."""
    kind, attraction, position = world
    i, j = sorted((base[couple[0]], base[couple[1]]))
    mean = single = 0.0
    for ranking, chance in displayed(base, couples, open_):
        for clicks, p in click_vectors(kind, attraction, position, ranking):
            z = clicks[ranking.index(i)] - clicks[ranking.index(j)]
            mean, single = mean + chance * p * z, single + chance * p * abs(z)
    return mean, single


@given(worlds())
@settings(max_examples=40, deadline=None)
def test_lemma_8_holds_for_every_base_list_and_couple(world):
    """Randomized, whatever else is; or shown as it is, if the better item is above. And E[z] ≥ χ_min (α(i) − α(j))."""
    kind, attraction, position = world
    n = len(attraction)
    least = min(examined(kind, attraction, position, range(n)))
    for base, h in product(permutations(range(n)), (0, 1)):
        couples = couples_of(h, n)
        for couple in couples:
            i, j = sorted((base[couple[0]], base[couple[1]]))
            others = [each for each in couples if each != couple]
            settings_ = [couples, [couple]] + ([others, []] if base[couple[0]] == i else [])
            for open_ in settings_:
                mean, single = single_click(world, base, couples, open_, couple)
                drift = bubblerank.drift(attraction[i], attraction[j])
                assert mean >= drift * single - TOLERANCE
                assert mean >= least * (attraction[i] - attraction[j]) - TOLERANCE


def test_the_second_half_of_lemma_8_has_its_sign_turned():
    """Printed: E[−z | z ≠ 0] ≤ 0 where α(i) < α(j), z = c(i) − c(j)."""
    for kind in ("CM", "PBM"):
        mean, single = single_click((kind, [0.8, 0.3], [0.9, 0.5]), (0, 1), [(0, 1)], [(0, 1)], (0, 1))
        z = -mean / single  # of the worse item over the better one
        assert -z > 0


def test_a_couple_in_the_wrong_order_that_is_not_randomized_need_not_drift_to_the_better_item():
    """Why Lemma 9 cannot count what is seen after a wrong decision."""
    mean, _ = single_click(("PBM", [0.5, 0.4], [0.9, 0.3]), (1, 0), [(0, 1)], [], (0, 1))
    assert mean < 0


def test_the_drift_is_exact_in_the_cascade_model_only_where_examination_is_the_same():
    mean, single = single_click(("PBM", [0.8, 0.3], [1e-9, 1e-9]), (0, 1), [(0, 1)], [(0, 1)], (0, 1))
    assert mean / single == pytest.approx(bubblerank.drift(0.8, 0.3), rel=1e-6)


# Lemmas 4 and 5


def neighbours(base):
    """Positions of neighbours whose order the event lets be decided: the better item is above."""
    return [(k, k + 1) for k in range(len(base) - 1)], [
        (k, k + 1) for k in range(len(base) - 1) if base[k] < base[k + 1]
    ]


def subsets(items):
    return (set(chosen) for size in range(len(items) + 1) for chosen in combinations(items, size))


@given(worlds())
@settings(max_examples=60, deadline=None)
def test_lemmas_4_and_5_hold_for_every_base_list_and_every_set_of_decided_pairs(world):
    """And so does what is sharper: each open pair counts once, one in the right order only where it is exchanged."""
    kind, attraction, position = world
    n = len(attraction)
    weights, most = earned(kind, attraction, position), rewards(kind, attraction, position, range(n))
    for base in permutations(range(n)):
        every, may_be_decided = neighbours(base)
        for decided, h in product(subsets(may_be_decided), (0, 1)):
            couples = couples_of(h, n)
            open_ = [pair for pair in every if pair not in decided]
            gap = {pair: abs(attraction[base[pair[0]]] - attraction[base[pair[1]]]) for pair in open_}
            randomized = sum(gap.values())
            wrong = sum(g for (a, b), g in gap.items() if base[a] > base[b])
            right = sum(g for (a, b), g in gap.items() if base[a] < base[b] and (a, b) in couples)
            mean_open = mean_regret = 0.0
            for ranking, chance in displayed(base, couples, open_):
                shown = np.array([attraction[i] for i in ranking])
                regret = most - rewards(kind, attraction, position, ranking)
                assert bubblerank.attraction_gap(shown) <= 2 * randomized + TOLERANCE  # Lemma 4 has 3
                assert regret <= 3 * bubblerank.printed_list_regret(randomized, n, weights[0]) + TOLERANCE
                mean_open += chance * bubblerank.open_range(shown)
                mean_regret += chance * regret
            assert mean_open <= wrong + right / 2 + TOLERANCE
            assert mean_regret <= bubblerank.displacement(weights, n) * (wrong + right / 2) + TOLERANCE


# Lemmas 2 and 6: what Algorithm 1 does, whatever is clicked


class Algorithm1:
    """BubbleRank to the letter; statistics go on or are frozen."""

    def __init__(self, initial, log_inverse_delta, frozen):
        self.base, self.level, self.frozen = list(initial), log_inverse_delta, frozen
        self.s = {pair: 0 for pair in product(initial, repeat=2)}
        self.n = dict(self.s)

    def better(self, i, j):
        return self.s[i, j] > 2 * math.sqrt(self.n[i, j] * self.level)

    def show(self, t, random):
        self.couples = couples_of(t % 2, len(self.base))
        ranking = list(self.base)
        for a, b in self.couples:
            if not self.better(ranking[a], ranking[b]) and random.random() < 0.5:
                ranking[a], ranking[b] = ranking[b], ranking[a]
        return ranking

    def learn(self, ranking, clicks):
        """Returns the positions of the base list that were exchanged."""
        for a, b in self.couples:
            i, j, z = ranking[a], ranking[b], clicks[a] - clicks[b]
            if z and not (self.frozen and (self.better(i, j) or self.better(j, i))):
                for x, y, sign in ((i, j, 1), (j, i, -1)):
                    self.s[x, y] += sign * z
                    self.n[x, y] += 1
        exchanged = []
        for k in range(len(self.base) - 1):
            i, j = self.base[k], self.base[k + 1]
            if self.better(j, i):
                self.base[k], self.base[k + 1] = j, i
                exchanged.append((k, k + 1))
        return exchanged


def wrong_pairs(ranking):
    return sum(a > b for a, b in combinations(ranking, 2))


@pytest.mark.parametrize("frozen", [True, False])
@given(n=st.integers(2, 6), level=st.floats(0.05, 1.0), skill=st.floats(0.0, 1.0), seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_decided_pairs_stand_in_order_and_exchanges_are_of_couples(frozen, n, level, skill, seed):
    """The lemma on order, in its three parts, and Lemma 6 and 2 of changes made: all without any event."""
    random = generator("any clicks", seed)
    bandit = Algorithm1(random.permutation(n).tolist(), level, frozen)
    changes, met, compared_before = 0, set(), None
    for t in range(1, 150):
        base = list(bandit.base)
        assert not any(bandit.better(low, up) for up, low in combinations(base, 2))
        ranking = bandit.show(t, random)
        compared = {frozenset((base[a], base[b])) for a, b in bandit.couples}
        near = {frozenset(pair) for pair in pairwise(base)}
        if compared_before is not None:
            assert near - compared <= compared_before
            assert not compared & compared_before
        met |= near
        assert len(met) <= bubblerank.randomized_pairs(n, changes)
        assert abs(wrong_pairs(ranking) - wrong_pairs(base)) <= len(bandit.couples) <= n / 2
        clicks = [int(random.random() < skill * (n - item) / n + (1 - skill) * random.random()) for item in ranking]
        exchanged = bandit.learn(ranking, clicks)
        assert set(exchanged) <= set(bandit.couples)
        changes += len(exchanged)
        assert abs(wrong_pairs(bandit.base) - wrong_pairs(base)) <= len(exchanged)
        if all(base[a] > base[b] for a, b in exchanged):
            assert wrong_pairs(bandit.base) == wrong_pairs(base) - len(exchanged)
        compared_before = compared


def test_the_paths_of_that_test_have_several_exchanges_in_one_step():
    """Otherwise it would say little of Lemma 6, whose proof knows one at a time."""
    random = generator("any clicks", 1)
    bandit = Algorithm1([5, 4, 3, 2, 1, 0], 0.05, True)
    most = 0
    for t in range(1, 150):
        ranking = bandit.show(t, random)
        most = max(most, len(bandit.learn(ranking, [int(random.random() < (6 - i) / 6) for i in ranking])))
    assert most > 1


# Lemma 7


@pytest.mark.parametrize("drift", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("level", [0.05, 1.0, 9.0])
def test_no_path_inside_the_event_has_more_net_clicks_than_the_bound_before_it_is_decided(drift, level):
    """All (n, s) that are on event E and undecided: s ≤ 8 ℓ/ρ there, and one click more decides."""
    n = np.arange(math.ceil(2 * (5 / drift) ** 2 * level) + 2)
    radius = 2 * np.sqrt(n * level)
    undecided = np.floor(radius)
    largest = undecided[undecided >= drift * n - radius].max()
    assert largest <= 8 * level / drift + TOLERANCE
    told = bubblerank.net_clicks(drift, level, True)
    assert largest + 1 <= told + TOLERANCE
    if level >= 1:
        assert told <= bubblerank.printed_net_clicks(drift, level)


def test_lemma_7_is_false_for_statistics_that_go_on():
    """The better item is clicked whenever it is shown, the other never: event E holds, and s has no bound."""
    for frozen in (True, False):
        bandit, random = Algorithm1([0, 1], 1.0, frozen), generator("lemma 7", 0)
        for t in range(1, 101):
            ranking = bandit.show(t, random)
            bandit.learn(ranking, [int(item == 0) for item in ranking])
        bound = bubblerank.printed_net_clicks(1.0, 1.0)
        assert (bandit.s[0, 1] <= bound) == frozen


# Lemma 9 and Theorem 1


@pytest.mark.parametrize("mean", [-0.9, -0.3, 0.0, 0.3, 0.9])
@pytest.mark.parametrize("level", [0.1, 0.5, 1.0, 3.0])
def test_a_sum_of_single_clicks_falls_short_with_probability_delta_squared_at_most(mean, level):
    """Hoeffding at a range of 2, against exact binomial tails; Lemma 9 has δ^½."""
    for n in (1, 2, 5, 20, 100, 1000):
        least = n * mean - 2 * math.sqrt(n * level)  # of s = 2 Bin − n
        tail = stats.binom.cdf(math.ceil((least + n) / 2) - 1, n, (1 + mean) / 2)
        assert tail <= math.exp(-2 * level) + TOLERANCE


def test_the_exponent_two_cannot_be_improved_much():
    tail = stats.norm.sf(2 * math.sqrt(9.0))  # of long sums without drift
    assert tail > math.exp(-2.5 * 9.0)


def two_items(attraction, examination, wrong_first, level, steps, frozen):
    """Exact regret of BubbleRank on two items in the PBM, and the probability that event E fails: all paths at once."""
    (better, worse), (up, down) = attraction, examination
    loss = (up - down) * (better - worse)
    most = steps // 2
    n, s = np.ogrid[: most + 1, -most : most + 1]
    radius = 2 * np.sqrt(n * level)
    fails_here = s < bubblerank.drift(better, worse) * n - radius
    certain = {False: s > radius, True: -s > radius}  # that the upper item is the better one, by whether it is wrong
    either = certain[False] | certain[True]
    clicked = {}  # chances that only the better, and only the worse item is clicked
    for wrong, (x, y) in ((False, (up, down)), (True, (down, up))):
        clicked[wrong] = x * better * (1 - y * worse), y * worse * (1 - x * better)
    states = np.zeros((2, 2, *radius.repeat(2 * most + 1, axis=1).shape))  # wrong order, event held, n, s
    states[int(wrong_first), 1, 0, most] = 1.0
    regret = 0.0
    for t in range(1, steps + 1):
        if t % 2 == 1:  # h = 1: nobody has a neighbour
            regret += loss * states[1].sum()
            continue
        after = np.zeros_like(states)
        for wrong in (False, True):
            here = states[int(wrong)]
            regret += loss * (here * np.where(certain[wrong], float(wrong), 0.5)).sum()
            for z, own, fair in zip((1, -1), clicked[wrong], np.add(clicked[False], clicked[True]) / 2, strict=True):
                moved = here * np.where(certain[wrong], own, fair) * (1 - frozen * either)
                after[int(wrong)] -= moved
                after[int(wrong), :, 1:, 1:-1] += moved[:, :-1, 1 - z : -1 - z or None]
            after[int(wrong)] += here
        turned = [after[wrong] * certain[not wrong] for wrong in (0, 1)]
        for wrong in (0, 1):
            after[wrong] += turned[1 - wrong] - turned[wrong]
        broken = after[:, 1] * fails_here
        after[:, 0] += broken
        after[:, 1] -= broken
        states = after
    return regret, states[:, 0].sum()


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("wrong_first", [True, False])
@pytest.mark.parametrize("level", [0.5, 2.5, 4.0])
def test_two_items_lose_what_the_bounds_allow_and_the_event_fails_as_rarely_as_proved(level, wrong_first, frozen):
    attraction, examination, steps = (0.8, 0.2), (1.0, 0.5), 120
    regret, failure = two_items(attraction, examination, wrong_first, level, steps, frozen)
    assert 0 < failure <= bubblerank.event_failure(2, steps, level) <= bubblerank.printed_event_failure(2, steps, level)
    shown = np.array(attraction[::-1] if wrong_first else attraction)
    proved = bubblerank.regret_bound(shown, np.array(examination), examination[1], level, steps, frozen)
    printed = bubblerank.printed_regret_bound(2, int(wrong_first), 0.6, *examination, level, steps)
    assert regret <= sum(proved) <= sum(printed)


def test_the_bound_of_two_items_is_above_the_exact_regret_by_less_than_an_order_of_magnitude():
    """So that the test above could fail."""
    level, steps = 2.0, 300
    regret, _ = two_items((0.8, 0.2), (1.0, 0.5), True, level, steps, True)
    proved = bubblerank.regret_bound(np.array([0.2, 0.8]), np.array([1.0, 0.5]), 0.5, level, steps, True)
    printed = bubblerank.printed_regret_bound(2, 1, 0.6, 1.0, 0.5, level, steps)
    assert proved.leading < 10 * regret
    assert printed.leading > 100 * regret
