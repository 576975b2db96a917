"""Slow, obvious versions of what ol2r computes, written from the papers: one replica, plain Python, float64.

They draw from the same random words as the library, so that the tests can compare decision for decision. Nothing of
ol2r is used but the numbers of its streams.
"""

import math
from collections import deque
from functools import cache
from itertools import accumulate, combinations, pairwise, permutations

import numpy as np

from ol2r.random import Stream

_MASK = 0xFFFFFFFF


@cache
def philox(counter, key):
    """Philox4x32-10 on Python integers (Salmon et al., 2011)."""
    c, (k0, k1) = list(counter), key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k0, p1 & _MASK, p0 >> 32 ^ c[3] ^ k1, p0 & _MASK]
        k0, k1 = k0 + 0x9E3779B9 & _MASK, k1 + 0xBB67AE85 & _MASK
    return tuple(c)


class Draws:
    """The random words of one replica."""

    def __init__(self, key):
        self.key = int(key) & _MASK, int(key) >> 32

    def word(self, stream, round_, index):
        return philox((index // 4, round_, int(stream), 0), self.key)[index % 4]

    def uniform(self, stream, round_, index):
        return (self.word(stream, round_, index) >> 8) / 2**24

    def below(self, stream, round_, index, bound):
        return self.word(stream, round_, index) * bound >> 32

    def gaussian(self, stream, round_, index):
        """Box and Muller: an even word gives the radius, the odd one after it the angle."""
        even = index - index % 2
        radius = math.sqrt(-2 * math.log((self.word(stream, round_, even) + 0.5) / 2**32))
        angle = 2 * math.pi * self.word(stream, round_, even + 1) / 2**32
        return radius * (math.sin(angle) if index % 2 else math.cos(angle))

    def member(self, number):
        """The draws of one member of an ensemble; the first draws as the replica does."""
        if not number:
            return self
        return Draws(sum(self.word(Stream.MEMBER, 0, 2 * number + half) << 32 * half for half in (0, 1)))

    def directions(self, stream, round_, n, d):
        """n vectors uniform on the unit sphere; each starts at a new block of four words."""
        width = 4 * math.ceil(d / 4)
        rows = np.array([[self.gaussian(stream, round_, i * width + j) for j in range(d)] for i in range(n)])
        return rows.reshape(n, d) / np.linalg.norm(rows.reshape(n, d), axis=1, keepdims=True)


# Rankings and interleaving


def scores(features, weights):
    return [math.fsum(x * weights) for x in features]


def sorted_by(values, draws, round_, salt):
    """Documents by score, the best first; equal scores by their words of the stream of ties."""
    return sorted(range(len(values)), key=lambda j: (-values[j], draws.word(Stream.TIES, round_, salt + j)))


def whole_ranking(features, weights, draws, round_, salt):
    return sorted_by(scores(features, weights), draws, round_, salt)


def top_lists(features, contenders, k, draws, round_):
    size = len(features)
    return [whole_ranking(features, w, draws, round_, m * size)[:k] for m, w in enumerate(contenders)]


def team_draft(lists, first, prefix_credit, draws, round_):
    """The list and, for each slot, who drafted it (None for a shared prefix without credit)."""
    ranking, team = [], []
    depth, rankers = len(lists[0]), len(lists)
    if not prefix_credit:
        for slot in zip(*lists, strict=True):
            if len(set(slot)) > 1:
                break
            ranking.append(slot[0])
            team.append(None)
    turn = 0
    while len(ranking) < depth:
        order = list(range(rankers))
        for m in range(rankers - 1, 0, -1):
            other = draws.below(Stream.INTERLEAVE, round_, turn * rankers + m, m + 1)
            order[m], order[other] = order[other], order[m]
        if first is not None:
            order.remove(first)
            order.insert(0, first)
        for ranker in order[: depth - len(ranking)]:
            ranking.append(next(document for document in lists[ranker] if document not in ranking))
            team.append(ranker)
        turn += 1
    return ranking, team


def masses(features, weights, decay, draws, round_, salt):
    """1 / position^τ of every document."""
    order = whole_ranking(features, weights, draws, round_, salt)
    return [1 / (order.index(j) + 1) ** decay for j in range(len(features))]


def slot_probabilities(mass, ranking):
    """Probability of each slot of a list drawn without replacement, given the slots above it."""
    left, out = list(mass), []
    for document in ranking:
        out.append(left[document] / math.fsum(left))
        left[document] = 0.0
    return out


def probabilistic_interleave(features, contenders, k, decay, draws, round_):
    """The list, and the probability of each slot under each of the two softened rankings."""
    size = len(features)
    mass = [masses(features, w, decay, draws, round_, m * size) for m, w in enumerate(contenders)]
    left, ranking = [list(row) for row in mass], []
    for i in range(min(k, size)):
        own = left[draws.below(Stream.INTERLEAVE, round_, 2 * i, 2)]
        level = draws.uniform(Stream.INTERLEAVE, round_, 2 * i + 1) * math.fsum(own)
        document = next(j for j in range(size) if own[j] > 0 and level < math.fsum(own[: j + 1]))
        ranking.append(document)
        for row in left:
            row[document] = 0.0
    return ranking, [slot_probabilities(row, ranking) for row in mass]


# Users and metrics


def clicks_of(grades, user, draws, round_):
    """What a graded cascade user clicks on a list of these grades."""
    clicks, examining = [], True
    for i, grade in enumerate(grades):
        # the library's probabilities are float32
        clicked = examining and draws.uniform(Stream.CLICK, round_, i) < np.float32(user.click[grade])
        if examining and (clicked or user.stop_rule == "every_document"):
            examining = not draws.uniform(Stream.STOP, round_, i) < np.float32(user.stop[grade])
        clicks.append(bool(clicked))
    return clicks


def dcg(gains):
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains))


def ndcg(grades, all_grades, k):
    """NDCG@k of a list of these grades, shown for a query whose documents have `all_grades`."""
    ideal = dcg([2**g - 1 for g in sorted(all_grades, reverse=True)[:k]])
    return dcg([2**g - 1 for g in grades[:k]]) / ideal if ideal else 0.0


def ndcg_over_ties(values, grades, k):
    """Mean NDCG@k over every order of the documents that sorts their scores."""
    orders = [p for p in permutations(range(len(values))) if all(values[a] >= values[b] for a, b in pairwise(p))]
    return sum(ndcg([grades[j] for j in p], grades, k) for p in orders) / len(orders)


def expected_ndcg(values, grades, k):
    """The same for long lists: each place counts the mean gain of the documents that tie for it."""
    gain_of = {s: np.mean([2.0**g - 1 for v, g in zip(values, grades, strict=True) if v == s]) for s in values}
    ideal = dcg([2**g - 1 for g in sorted(grades, reverse=True)[:k]])
    return dcg([gain_of[s] for s in sorted(values, reverse=True)[:k]]) / ideal if ideal else 0.0


def clicks_score(features, weights, shown, clicks, k, measure):
    """How well a ranker does on a recorded query whose clicked documents are the relevant ones: its NDCG@k, or the sum
    of their reciprocal ranks."""
    clicked = [document for document, click in zip(shown, clicks, strict=True) if click]
    if not clicked:
        return 0.0
    s = scores(features, weights)
    order = sorted(range(len(s)), key=lambda j: (-s[j], j))
    if measure == "reciprocal_rank":
        return sum(1 / (order.index(document) + 1) for document in clicked)
    gain = sum(1 / math.log2(order.index(document) + 2) for document in clicked if document in order[:k])
    return gain / dcg([1] * len(clicked))


# Pairs, and stochastic lists


def examined(ranking, clicks, beyond=1):
    """Slots that a user is taken to have looked at: all up to the last click, and the first after it."""
    clicked = [i for i, click in enumerate(clicks) if click]
    return range(min(clicked[-1] + 1 + beyond, len(ranking))) if clicked else range(0)


def pairs_from_clicks(ranking, clicks, kind, draws, round_):
    """(document above, document below, whether the upper one was clicked) by one of three rules, for one of three
    beliefs about what was examined."""
    kind, _, belief = kind.partition("-")
    seen = examined(ranking, clicks, {"": 1, "above": 0, "shown": len(ranking)}[belief])
    clicked, unclicked = ([i for i in seen if clicks[i] == side] for side in (True, False))
    if kind == "matched":
        shuffled = (sorted(side, key=lambda i: draws.word(Stream.PAIRS, round_, i)) for side in (clicked, unclicked))
        slots = [sorted(pair) for pair in zip(*shuffled, strict=False)]
    elif kind == "adjacent":
        slots = [(i, i + 1) for i in seen[::2] if i + 1 in seen and clicks[i] != clicks[i + 1]]
    else:
        slots = sorted(sorted((i, j)) for i in clicked for j in unclicked)
    return [(ranking[upper], ranking[lower], clicks[upper]) for upper, lower in slots]


def blocks_of(order, certain):
    """Merge blocks until of any two every document of one is certainly above every document of the other."""

    def above(one, other):
        return all((i, j) in certain for i in one for j in other)

    blocks = [[j] for j in order]
    while True:
        for one, other in combinations(blocks, 2):
            if not above(one, other) and not above(other, one):
                blocks = [block for block in blocks if block not in (one, other)] + [one + other]
                break
        else:
            return sorted((sorted(block, key=order.index) for block in blocks), key=lambda block: order.index(block[0]))


def arranged(order, certain, conservative, draws, round_):
    """The whole list, block by block, of documents sorted by score and certain orders (better, worse) among them."""
    out, slot = [], 0
    for block in blocks_of(order, certain):
        if not conservative:
            out.append(sorted(block, key=lambda j: draws.word(Stream.SHUFFLE, round_, j)))
            slot += len(block)
            continue
        left, explored = list(block), []
        while left:
            free = [j for j in left if not any((i, j) in certain for i in left)]
            explored.append(free[draws.below(Stream.SHUFFLE, round_, slot, len(free))])
            left.remove(explored[-1])
            slot += 1
        out.append(explored)
    return out


def exchanged(certain, k, draws, round_):
    """The documents 0, 1, … in the order that certain orders leave them in, and the list of k after the tries.

    Args:
        certain: certain[i, j], whether i is certainly better than j.
    """
    order = []
    for document in range(len(certain)):
        above = len(order)
        while above and certain[document, order[above - 1]]:
            above -= 1
        order.insert(above, document)
    shown = order[:k]
    start = draws.below(Stream.SHUFFLE, round_, k, 2)
    for upper in range(start, len(shown) - 1, 2):
        a, b = shown[upper : upper + 2]
        if not certain[a, b] and draws.below(Stream.SHUFFLE, round_, upper, 2):
            shown[upper : upper + 2] = b, a
    return order, shown


def wrong_pairs(ranking, grades):
    """|V(R)| by its words: of two documents of different grade, one of them displayed, the better is not above."""
    place = {document: k for k, document in enumerate(ranking)}
    pairs = [(i, j) for i in range(len(grades)) for j in range(len(grades)) if grades[i] > grades[j]]
    return sum(j in place and not (i in place and place[i] < place[j]) for i, j in pairs)


def plackett_luce(values, k, draws, round_):
    """Documents by score plus Gumbel noise, the best k."""

    def gumbel(j):
        return -math.log(-math.log((draws.word(Stream.SAMPLE, round_, j) + 0.5) / 2**32))

    noisy = [value + gumbel(j) for j, value in enumerate(values)]
    return sorted(range(len(values)), key=lambda j: -noisy[j])[:k]


def list_probability(values, ranking):
    """Probability that Plackett-Luce shows this list."""
    return math.prod(slot_probabilities([math.exp(value) for value in values], ranking))


def pdgd_gradient(features, values, ranking, clicks):
    """Σ ρ e^a e^b / (e^a + e^b)² (x_a − x_b) over clicked a and examined unclicked b, each ρ from two whole lists."""
    seen = examined(ranking, clicks)
    gradient = np.zeros(features.shape[1])
    for i in seen:
        for j in seen:
            if clicks[i] and not clicks[j]:
                a, b = ranking[i], ranking[j]
                swapped = list(ranking)
                swapped[i], swapped[j] = b, a
                p, q = list_probability(values, ranking), list_probability(values, swapped)
                slope = math.exp(values[a] + values[b]) / (math.exp(values[a]) + math.exp(values[b])) ** 2
                gradient += q / (p + q) * slope * (features[a] - features[b])
    return gradient


def epsilon_greedy(order, epsilon, k, draws, round_):
    """Each slot is, with probability ε, any document not yet ranked, and otherwise the best of these."""
    ranking, n = [], len(order)
    for i in range(min(k, n)):
        left = [j for j in range(n) if j not in ranking]
        if draws.uniform(Stream.EXPLORE, round_, 2 * i) < np.float32(epsilon):
            ranking.append(left[draws.below(Stream.EXPLORE, round_, 2 * i + 1, len(left))])
        else:
            ranking.append(next(j for j in order if j in left))
    return ranking


# Learners


class Bandit:
    """What the family shares: w¹, candidates w + δ g, and the step w + α g."""

    def __init__(self, d, hyper, draws):
        self.d, self.hyper, self.draws, self.round = d, hyper, draws, 1
        self.w = draws.directions(Stream.INITIAL, 0, 1, d)[0] if hyper["start"] == "unit" else np.zeros(d)
        self.alpha = hyper["alpha"]

    def rank(self, query, features, k):
        self.query, self.features, self.k = query, features, k
        self.directions = self.propose()
        self.contenders = [self.w, *(self.w + self.hyper["delta"] * g for g in self.directions)]
        self.ranking = self.interleave()
        return self.ranking

    def interleave(self):
        lists = top_lists(self.features, self.contenders, self.k, self.draws, self.round)
        first = self.drafts_first()
        self.ranking, self.team = team_draft(lists, first, self.hyper["prefix_credit"], self.draws, self.round)
        return self.ranking

    def drafts_first(self):
        return None

    def credits(self, clicks):
        return [sum(t == m for t, c in zip(self.team, clicks, strict=True) if c) for m in range(len(self.contenders))]

    def update(self, clicks):
        """Step to the mean of the winners, candidates numbered from 0."""
        winners = self.follow(clicks)
        self.learned = bool(winners)
        if winners:
            self.w = self.w + self.alpha * sum(self.directions[i] for i in winners) / len(winners)
            self.alpha *= self.hyper["decay"]
        self.round += 1

    def pick(self, among, uniform):
        return among[int(uniform * len(among))]

    def tied_for_best(self, credit):
        """Candidates with the largest credit, if that is above the current ranker's."""
        return [i for i, c in enumerate(credit[1:]) if c == max(credit) and c > credit[0]]


class DBGD(Bandit):
    def propose(self):
        return self.draws.directions(Stream.DIRECTION, self.round, 1, self.d)

    def follow(self, clicks):
        current, candidate = self.credits(clicks)
        return [0] if candidate > current else []


class MGD(Bandit):
    def propose(self):
        return self.draws.directions(Stream.DIRECTION, self.round, self.hyper["m"], self.d)

    def follow(self, clicks):
        credit = self.credits(clicks)
        winners = self.tied_for_best(credit)
        if self.hyper["winners"] == "better":
            winners = [i for i, c in enumerate(credit[1:]) if c > credit[0]]
        if self.hyper["follow"] == "one" and winners:
            winners = [self.pick(winners, self.draws.uniform(Stream.WINNER, self.round, 0))]
        return winners


class DPDBGD(Bandit):
    last_winner = None

    def propose(self):
        (u,) = self.draws.directions(Stream.DIRECTION, self.round, 1, self.d)
        return [u, -u]

    def drafts_first(self):
        if self.last_winner is None:
            return None
        return 1 if self.directions[0] @ self.last_winner > 0 else 2

    def follow(self, clicks):
        current, plus, minus = self.credits(clicks)
        winners = []
        if plus > current and plus > minus:
            winners = [0]
        if minus > current and minus > plus:
            winners = [1]
        self.last_winner = self.directions[winners[0]] if winners else None
        return winners


class CPS(Bandit):
    def __init__(self, d, hyper, draws):
        super().__init__(d, hyper, draws)
        self.history = [None] * hyper["history"]

    def propose(self):
        n = self.hyper["n_candidates"]
        directions = self.draws.directions(Stream.DIRECTION, self.round, n, self.d)
        remaining = list(range(n))
        for match in range(n - 1):
            u = [self.draws.uniform(Stream.MATCH, self.round, 3 * match + i) for i in range(3)]
            one = self.pick(remaining, u[0])
            other = self.pick([i for i in remaining if i != one], u[1])
            lead = self.lead(directions, one, other)
            one_loses = u[2] < 0.5 if lead == 0 else lead < 0
            remaining.remove(one if one_loses else other)
        return directions[remaining]

    def lead(self, directions, one, other):
        """Σ over recorded interactions of expected credit of one less the other's, per click, importance weighted."""
        lead = 0.0
        for place, recorded in enumerate(self.history):
            if recorded is None:
                continue
            features, ranking, clicks, log_probability = recorded
            p, q = (self.replay(features, ranking, directions[i], place, i) for i in (one, other))
            outcome = sum((a - b) / (a + b) for a, b, click in zip(p, q, clicks, strict=True) if click)
            log_replayed = sum(math.log((a + b) / 2) for a, b in zip(p, q, strict=True))
            lead += outcome / max(1, sum(clicks)) * math.exp(log_replayed - log_probability)
        return lead

    def replay(self, features, ranking, direction, place, candidate):
        salt = (place * self.hyper["n_candidates"] + candidate + 2) * len(features)
        w = self.w + self.hyper["delta"] * direction
        return slot_probabilities(masses(features, w, self.hyper["tau"], self.draws, self.round, salt), ranking)

    def interleave(self):
        self.ranking, self.slots = probabilistic_interleave(
            self.features, self.contenders, self.k, self.hyper["tau"], self.draws, self.round
        )
        return self.ranking

    def follow(self, clicks):
        current, candidate = self.slots
        log_probability = sum(math.log((a + b) / 2) for a, b in zip(current, candidate, strict=True))
        self.history[(self.round - 1) % len(self.history)] = (self.features, self.ranking, clicks, log_probability)
        shares = [b / (a + b) for a, b, click in zip(current, candidate, clicks, strict=True) if click]
        return [0] if sum(shares) > sum(1 - s for s in shares) else []


class NSGD(Bandit):
    """Algorithm 2. The directions of line 11 (`drawn`) and line 13 (`chosen`) come from outside; `worst`, `moving` and
    `propose` say what they must satisfy."""

    def __init__(self, d, hyper, draws):
        super().__init__(d, hyper, draws)
        self.lost = []  # of every round that had a loser: its (direction, quality), candidate after candidate
        self.q_h = deque(maxlen=hyper["T_h"])  # (features, list, clicks, quality)
        self.recorded = 0
        self.past = []
        self.drawn = self.chosen = None

    def worst(self):
        """The k_g worst directions of Q_g, newest first among equals."""
        rounds = self.lost[-self.hyper["T_g"] :] if self.hyper["queue"] == "rounds" else self.lost
        q_g = [loser for losers in rounds for loser in losers]
        if self.hyper["queue"] == "directions":
            q_g = q_g[-self.hyper["T_g"] :]
        by_quality = sorted(reversed(q_g), key=lambda loser: loser[1])  # sorted() keeps the order of equals
        return np.array([g for g, _ in by_quality[: int(self.hyper["k_g"])]]).reshape(-1, self.d)

    def combinations_of_echelon_basis(self, n):
        """What public code draws: Gaussian combinations of the unit vectors along the basis of the null space that the
        reduced echelon form of the stored directions gives."""
        g, pivots = self.worst(), []
        for column in range(self.d):
            row = len(pivots)
            if row == len(g):
                break
            largest = row + np.abs(g[row:, column]).argmax()
            if abs(g[largest, column]) < 1e-4:
                continue
            g[[row, largest]] = g[[largest, row]]
            g[row] /= g[row, column]
            for other in range(len(g)):
                if other != row:
                    g[other] -= g[other, column] * g[row]
            pivots.append(column)
        drawn = np.zeros((n, self.d))
        for column in set(range(self.d)) - set(pivots):
            vector = np.zeros(self.d)
            vector[column] = 1.0
            vector[pivots] = -g[: len(pivots), column]
            z = [self.draws.gaussian(Stream.DIRECTION, self.round, i * self.d + column) for i in range(n)]
            drawn += np.outer(z, vector / np.linalg.norm(vector))
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def moving(self):
        lag, epsilon = self.hyper["lag"], self.hyper["epsilon"]
        before = self.past[-lag] if len(self.past) >= lag else self.past[0] if self.past else self.w
        if self.hyper["hybrid"] == "never":
            return False
        if self.hyper["hybrid"] == "literal":
            return np.linalg.norm(self.w - before) >= 1 - epsilon
        cosine = self.w @ before / np.linalg.norm(self.w) / np.linalg.norm(before)
        return self.round <= lag or cosine <= 1 - epsilon

    def propose(self):
        n_uniform = self.hyper["n_uniform"]
        kept = self.hyper["m"] - n_uniform
        if kept:
            x_bar = self.features.sum(axis=0)
            along = [abs(x_bar @ g) for g in self.chosen[:kept]]
            best = [abs(x_bar @ g) for g in self.drawn]
            if len(self.drawn) > kept:
                best = sorted(best, reverse=True)[:kept]
            np.testing.assert_allclose(along, best, atol=1e-4)
            assert {tuple(g) for g in self.chosen[:kept]} <= {tuple(g) for g in self.drawn}
        uniform = self.draws.directions(Stream.MIX, self.round, n_uniform, self.d)
        np.testing.assert_allclose(self.chosen[kept:], uniform, atol=1e-5)
        return list(self.chosen)

    def follow(self, clicks):
        credit = self.credits(clicks)
        counted = any(clicks) or self.hyper["click_free"] == "literal"
        if self.hyper["winners"] == "better":
            winners = [o for o, c in enumerate(credit) if c > credit[0]]
        else:
            winners = [o for o, c in enumerate(credit) if c == max(credit)] if counted else []
        self.remember_losers(credit)
        if self.hyper["tie_break"] == "history":
            if len(winners) > 1:
                winners = self.best_on_history(winners, "ndcg")
            winners = [self.pick(winners, self.draws.uniform(Stream.WINNER, self.round, 0))] if winners else []
        if counted:
            ideal = dcg([1] * sum(clicks))
            self.recorded += 1
            self.q_h.append((self.features, self.ranking, clicks, dcg(clicks) / ideal if ideal else 0.0))
        if 0 in winners:
            winners = []
        if self.hyper["tie_break"] == "early" and len(winners) > 1 and self.recorded < self.hyper["k_h"]:
            winners = self.best_on_history(winners, "reciprocal_rank")[:1]
        self.past.append(self.w)
        return [o - 1 for o in winners]

    def best_on_history(self, winners, measure):
        """Those with the best Σ Eval over the k_h worst recorded queries, the newest first among equals."""
        order = sorted(enumerate(reversed(self.q_h)), key=lambda entry: (round(entry[1][3], 6), entry[0]))
        hard = [entry for _, entry in order[: int(self.hyper["k_h"])]]
        total = {}
        for o in winners:
            evaluated = [clicks_score(x, self.contenders[o], y, c, self.k, measure) for x, y, c, _ in hard]
            total[o] = round(sum(evaluated), 9)
        return [o for o in winners if total[o] == max(total.values())]

    def remember_losers(self, credit):
        losers = [(g, c - credit[0]) for g, c in zip(self.directions, credit[1:], strict=True)]
        if self.hyper["losers"] == "fourth_smallest":
            bound = sorted(credit)[min(3, len(credit) - 1)]
            losers = [(g, quality) for g, quality in losers if quality + credit[0] <= bound]
        losers = [(g, quality) for g, quality in losers if quality < 0]
        if losers:
            self.lost.append(losers)


class Pairwise:
    """What PDGD and RankNet by gradient steps share: w¹ = 0 and w + α g."""

    def __init__(self, d, hyper, draws):
        self.w, self.hyper, self.draws, self.round = np.zeros(d), hyper, draws, 1
        self.alpha = hyper["alpha"]

    def rank(self, query, features, k):
        self.features = features
        self.ranking = self.show(features, k)
        return self.ranking

    def update(self, clicks):
        gradient = self.gradient(clicks)
        if self.learned:
            self.w = self.w + self.alpha * gradient
            self.alpha *= self.hyper["decay"]
        self.round += 1


class PDGD(Pairwise):
    def show(self, features, k):
        self.values = scores(features, self.w)
        return plackett_luce(self.values, k, self.draws, self.round)

    def gradient(self, clicks):
        self.learned = len({clicks[i] for i in examined(self.ranking, clicks)}) == 2
        return pdgd_gradient(self.features, self.values, self.ranking, clicks)


class SGDRankNet(Pairwise):
    def show(self, features, k):
        return whole_ranking(features, self.w, self.draws, self.round, 0)[:k]

    def gradient(self, clicks):
        pairs = pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round)
        self.learned = bool(pairs)
        x = [(self.features[upper] - self.features[lower], won) for upper, lower, won in pairs]
        return sum((won - 1 / (1 + math.exp(-difference @ self.w))) * difference for difference, won in x)


class EpsilonGreedy(SGDRankNet):
    def show(self, features, k):
        sign = -1 if self.hyper["exploit"] == "worst" else 1
        order = whole_ranking(features, sign * self.w, self.draws, self.round, 0)
        return epsilon_greedy(order, self.hyper["epsilon"], k, self.draws, self.round)


class PairRank:
    """Algorithm 1. Another solver stops elsewhere within its tolerance: its θ comes from outside as `w` and `objective`
    says how good it is."""

    def __init__(self, d, hyper, draws):
        self.hyper, self.draws, self.round = hyper, draws, 1
        self.w, self.m = np.zeros(d), hyper["regularization"] * np.eye(d)
        self.centre = self.w  # to which the ridge pulls
        self.history = []  # x of the preferred document less x of the other

    def width(self):
        return self.hyper["alpha"]

    def rank(self, query, features, k):
        self.features = features
        order = whole_ranking(features, self.w, self.draws, self.round, 0)
        conservative = self.hyper["shuffle"] == "conservative"
        blocks = arranged(order, self.certain_orders(order), conservative, self.draws, self.round)
        self.ranking = [j for block in blocks for j in block][:k]
        return self.ranking

    def kept(self):
        """M, or its diagonal."""
        return np.diag(np.diag(self.m)) if self.hyper["covariance"] == "diagonal" else self.m

    def certain_orders(self, order):
        """(better, worse) where the lower confidence bound of the probability is above ½."""
        inverse, width, certain = np.linalg.inv(self.kept()), self.width(), set()
        for i, j in combinations(order, 2):
            x = self.features[i] - self.features[j]
            if 1 / (1 + math.exp(-x @ self.w)) - width * math.sqrt(max(x @ inverse @ x, 0)) > 0.5:
                certain.add((i, j))
        return certain

    def update(self, clicks):
        pairs = pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round)
        for upper, lower, won in pairs:
            x = self.features[upper] - self.features[lower]
            self.history.append(x if won else -x)
            self.m = self.m + np.outer(x, x)
        self.learned = bool(pairs)
        self.round += 1

    def objective(self, w):
        losses, away = [math.log1p(math.exp(-x @ w)) for x in self.history], w - self.centre
        if self.hyper["loss"] == "mean":
            return math.fsum(losses) / max(len(losses), 1) + self.hyper["regularization"] * away @ away
        return math.fsum(losses) + self.hyper["regularization"] / 2 * away @ away

    def optimum(self):
        """Newton's method, of the sum: the mean loss has the optimum of a sum with another penalty."""
        w, penalty = np.zeros(len(self.w)), self.hyper["regularization"]
        if self.hyper["loss"] == "mean":
            penalty *= 2 * max(len(self.history), 1)
        for _ in range(20):
            x = np.array(self.history).reshape(-1, len(w))
            p = 1 / (1 + np.exp(-x @ w))
            hessian = penalty * np.eye(len(w)) + (x * (p * (1 - p))[:, None]).T @ x
            w = w - np.linalg.solve(hessian, penalty * (w - self.centre) - x.T @ (1 - p))
        return w


class SafePairRank(PairRank):
    """Certain orders of PairRank; the list is `exchanged` from the order in which documents come."""

    def rank(self, query, features, k):
        self.features = features
        documents = range(len(features))
        certain = self.certain_orders(documents) | self.certain_orders(documents[::-1])
        matrix = np.array([[(i, j) in certain for j in documents] for i in documents])
        self.ranking = exchanged(matrix, k, self.draws, self.round)[1]
        return self.ranking


class BoundedPairRank(PairRank):
    """Refits to the labels that are kept; M is made of these or of all. `slots` holds what is kept, in its place."""

    def __init__(self, d, hyper, draws):
        super().__init__(d, hyper, draws)
        self.slots, self.seen, self.all = [], 0, self.m

    def update(self, clicks):
        pairs = pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round)
        room, before = self.hyper["room"], [nth for _, nth in self.slots]
        for nth, (upper, lower, won) in enumerate(pairs):
            x = self.features[upper] - self.features[lower]
            self.all = self.all + np.outer(x, x)
            self.seen += 1
            if len(self.slots) < room:
                self.slots.append((x if won else -x, self.seen))
                continue
            place = (self.seen - 1) % room
            if self.hyper["history"] == "reservoir":
                place = self.draws.below(Stream.MEMORY, self.round, nth, self.seen)
            if place < room:
                self.slots[place] = (x if won else -x, self.seen)
        self.history = [x for x, _ in self.slots]
        own = sum((np.outer(x, x) for x in self.history), self.hyper["regularization"] * np.eye(len(self.w)))
        self.m = own if self.hyper["intervals"] == "kept" else self.all
        self.learned = [nth for _, nth in self.slots] != before
        self.round += 1


class RecursivePairRank(PairRank):
    """One step θ + H⁻¹ (y − p) x for each label, with H = λI + Σ p (1 − p) x xᵀ kept as it is, and solved."""

    def __init__(self, d, hyper, draws):
        super().__init__(d, hyper, draws)
        self.hessian = self.m

    def update(self, clicks):
        super().update(clicks)
        n = len(pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round - 1))
        for x in self.history[len(self.history) - n :]:  # so that y = 1
            p = 1 / (1 + math.exp(-x @ self.w))
            self.hessian = self.hessian + p * (1 - p) * np.outer(x, x)
            self.w = self.w + np.linalg.solve(self.hessian, (1 - p) * x)


class PairRankLemma2(PairRank):
    def width(self):
        lam, slope = self.hyper["regularization"], self.hyper["slope"]
        log_det = np.linalg.slogdet(self.kept())[1] - len(self.w) * math.log(lam)
        noise = math.sqrt((log_det - 2 * math.log(self.hyper["delta"])) / 4)  # R = ½
        return self.hyper["alpha"] * (2 / 4 / slope) * (noise + math.sqrt(lam) * self.hyper["bound"])


class Net:
    """√m W_L φ(… φ(W_1 x)) of one replica, document by document; θ is a vector with the layers one after another."""

    def __init__(self, d, hyper):
        m, depth, self.init = hyper["width"], hyper["depth"], hyper["init"]
        self.symmetric = self.init != "he"
        units = [2 * d if self.symmetric else d, *[m] * (depth - 1), 1]
        self.shapes, self.m = [(out, into) for into, out in pairwise(units)], m
        ends = accumulate((out * into for out, into in self.shapes), initial=0)
        self.places = [slice(*place) for place in pairwise(ends)]

    def initial(self, draws, round_=0):
        def gaussians(n, start):
            return np.array([draws.gaussian(Stream.INITIAL, round_, start + i) for i in range(n)])

        layers, start = [], 0
        for number, (out, into) in enumerate(self.shapes):
            last = number == len(self.shapes) - 1
            half = (1 if last else out // 2, into // 2) if self.symmetric else (out, into)
            w = gaussians(half[0] * half[1], start).reshape(half)
            start += w.size
            if self.symmetric:
                nothing = np.zeros_like(w)
                blocks = [[w, -w]] if last else [[w, nothing], [nothing, w]]
                layers.append(math.sqrt((2 if last else 4) / self.m) * np.block(blocks))
            else:
                layers.append(math.sqrt(2 / into) * w)
        return np.concatenate([w.ravel() for w in layers])

    def layers(self, theta):
        return [theta[place].reshape(shape) for place, shape in zip(self.places, self.shapes, strict=True)]

    def read(self, features):
        if not self.symmetric:
            return features
        scaled = self.init == "symmetric"
        units = [x / np.linalg.norm(x) if scaled and x.any() else x for x in features]
        return np.array([np.concatenate([x, x]) / math.sqrt(2) for x in units])

    def score(self, theta, x):
        *below, last = self.layers(theta)
        for w in below:
            x = np.maximum(w @ x, 0)
        return math.sqrt(self.m) * float((last @ x)[0])

    def gradient(self, theta, x):
        """∂f/∂θ by the chain rule, from the top layer down."""
        layers, inputs = self.layers(theta), [x]
        for w in layers[:-1]:
            inputs.append(np.maximum(w @ inputs[-1], 0))
        above, parts = np.array([math.sqrt(self.m)]), []
        for w, into in zip(layers[::-1], inputs[::-1], strict=True):
            parts.append(np.outer(above, into).ravel())
            above = (w.T @ above) * (into > 0)
        return np.concatenate(parts[::-1])


class Neural(Pairwise):
    """What a network's PDGD, RankNet and DBGD share: θ₀, and θ + α g."""

    def __init__(self, d, hyper, draws):
        self.net, self.hyper, self.draws, self.round = Net(d, hyper), hyper, draws, 1
        self.w, self.alpha = self.net.initial(draws), hyper["alpha"]

    def rank(self, query, features, k):
        self.features = self.net.read(features)
        self.ranking = self.show([self.net.score(self.w, x) for x in self.features], k)
        return self.ranking

    def gradients(self):
        return np.array([self.net.gradient(self.w, x) for x in self.features])


class NeuralPDGD(Neural):
    def show(self, values, k):
        self.values = values
        return plackett_luce(values, k, self.draws, self.round)

    def gradient(self, clicks):
        self.learned = len({clicks[i] for i in examined(self.ranking, clicks)}) == 2
        return pdgd_gradient(self.gradients(), self.values, self.ranking, clicks)


class NeuralEpsilonGreedy(Neural):
    def show(self, values, k):
        self.values = values
        order = sorted_by(values, self.draws, self.round, 0)
        return epsilon_greedy(order, self.hyper["epsilon"], k, self.draws, self.round)

    def gradient(self, clicks):
        pairs = pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round)
        self.learned, g = bool(pairs), self.gradients()
        gap = {(i, j): self.values[i] - self.values[j] for i, j, _ in pairs}
        return sum((won - 1 / (1 + math.exp(-gap[i, j]))) * (g[i] - g[j]) for i, j, won in pairs)


class NeuralDBGD(Neural):
    def show(self, values, k):
        self.direction = self.draws.directions(Stream.DIRECTION, self.round, 1, len(self.w))[0]
        proposed = self.w + self.hyper["delta"] * self.direction
        rivals = [values, [self.net.score(proposed, x) for x in self.features]]
        n = len(values)
        lists = [sorted_by(each, self.draws, self.round, n * i)[:k] for i, each in enumerate(rivals)]
        ranking, self.team = team_draft(lists, None, self.hyper["prefix_credit"], self.draws, self.round)
        return ranking

    def gradient(self, clicks):
        current, candidate = ([t for t, c in zip(self.team, clicks, strict=True) if c].count(m) for m in (0, 1))
        self.learned = candidate > current
        return self.direction


def topological(order, certain, k, draws, round_):
    """The first k documents of a topological order of certain orders (better, worse), at random where it is free."""
    left, ranking = list(order), []
    while left and len(ranking) < k:
        free = [j for j in left if not any((i, j) in certain for i in left)]
        ranking.append(free[draws.below(Stream.SHUFFLE, round_, len(ranking), len(free))])
        left.remove(ranking[-1])
    return ranking


class OlRankNet:
    """Algorithm 1. A refit in other steps, or in other precision, stops elsewhere: its θ comes from outside as `w`, and
    `refitted` is where a refit of our own comes to from the θ before it."""

    def __init__(self, d, hyper, draws):
        self.net, self.hyper, self.draws, self.round = Net(d, hyper), hyper, draws, 1
        self.w = self.start = self.net.initial(draws)
        self.a = hyper["regularization"] * np.eye(len(self.w))
        self.documents = {}  # of each query, as the network reads them
        self.history = []  # of each label the query, the preferred document, the other one, and the weight by scores

    def rank(self, query, features, k):
        self.query, self.features = query, self.net.read(features)
        self.documents[query] = self.features
        values = [round(self.net.score(self.w, x), 10) for x in self.features]
        order = sorted_by(values, self.draws, self.round, 0)
        self.shown_at = np.array([self.net.gradient(self.w, x) for x in self.features]) / math.sqrt(self.net.m)
        inverse, certain = np.linalg.inv(self.kept()), set()
        for i, j in combinations(order, 2):
            g = self.shown_at[i] - self.shown_at[j]
            if 1 / (1 + math.exp(values[j] - values[i])) - self.hyper["alpha"] * math.sqrt(g @ inverse @ g) > 0.5:
                certain.add((i, j))
        self.ranking = topological(order, certain, k, self.draws, self.round)
        return self.ranking

    def kept(self):
        return np.diag(np.diag(self.a)) if self.hyper["covariance"] == "diagonal" else self.a

    def at(self, theta):
        """The score, and its gradient, of a query's document at θ, each computed once."""
        score = cache(lambda query, j: self.net.score(theta, self.documents[query][j]))
        return score, cache(lambda query, j: self.net.gradient(theta, self.documents[query][j]))

    def weight(self, upper, lower, clicks):
        return lambda score: 1.0

    def update(self, clicks):
        self.pairs = pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round)
        for upper, lower, won in self.pairs:
            better, worse = (upper, lower) if won else (lower, upper)
            self.history.append((self.query, better, worse, self.weight(upper, lower, clicks)))
        self.learned = bool(self.pairs)
        self.round += 1

    def objective_and_gradient(self, theta, weighed_at=None):
        """At θ; labels have the weights of another θ if that is given."""
        away = theta - self.start if self.hyper["penalty"] == "theta0" else theta
        pull = self.hyper["regularization"] * (1 if self.hyper["penalty"] == "decay" else self.net.m)
        value, gradient = pull / 2 * away @ away, pull * away
        score, slopes = self.at(theta)
        weighing = score if weighed_at is None else self.at(weighed_at)[0]
        for query, better, worse, weigh in self.history:
            weight, gap = weigh(weighing), score(query, better) - score(query, worse)
            value += weight * np.logaddexp(0, -gap)
            slope = -weight * math.exp(-np.logaddexp(0, gap))
            gradient = gradient + slope * (slopes(query, better) - slopes(query, worse))
        return value, gradient

    def beginning(self):
        """Where a refit begins; the round is counted on already."""
        theta = {"warm": self.w, "theta0": self.start}.get(self.hyper["start"])
        return self.net.initial(self.draws, self.round - 1) if theta is None else theta

    def refits(self):
        """Of each ranker, here of the only one: where a refit begins, and the objective with its gradient. Weights of
        labels follow θ, but not in L-BFGS, which compares objectives."""
        begin = self.beginning()
        held = begin if self.hyper["refit"] == "lbfgs" else None
        yield begin, lambda theta: self.objective_and_gradient(theta, held)

    def refitted(self, theta, objective_and_gradient):
        """J steps of Adam on the objective for one label in the mean."""
        first, second = np.zeros_like(theta), np.zeros_like(theta)
        for step in range(1, self.hyper["passes"] + 1):
            gradient = objective_and_gradient(theta)[1] / len(self.history)
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            ahead = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
            theta = theta - self.hyper["rate"] * ahead
        return theta

    def take(self, theta):
        """Go on with this θ: it is that of the next list, and of the gradients that A takes in."""
        self.w = theta
        for i, j, _ in self.pairs:
            if self.hyper["gradients"] == "refitted":
                g = (self.net.gradient(theta, self.features[i]) - self.net.gradient(theta, self.features[j]))
                g = g / math.sqrt(self.net.m)
            else:
                g = self.shown_at[i] - self.shown_at[j]
            self.a = self.a + np.outer(g, g)


class OlLambdaRank(OlRankNet):
    present = False

    def weight(self, upper, lower, clicks):
        """How much NDCG changes, from two whole lists, when the documents change places."""
        examined = range(max(i for i, clicked in enumerate(clicks) if clicked) + 2)
        grades = {j: int(clicked) for j, clicked in zip(self.ranking, clicks, strict=True)}
        shown, query = list(self.ranking), self.query

        def change(score):
            order = shown
            if self.present:
                seen = [shown[i] for i in examined if i < len(shown)]
                order = sorted(seen, key=lambda j: -round(score(query, j), 6))  # ties as shown
            swapped = [{upper: lower, lower: upper}.get(j, j) for j in order]
            found = [dcg([grades[j] for j in each]) for each in (order, swapped)]
            return abs(found[0] - found[1]) / dcg(sorted(grades.values(), reverse=True))

        return change


class RankedLambdaRank(OlLambdaRank):
    present = True


def unanimous(values):
    """(better, worse) where each ranker scores the one above the other."""
    return {(i, j) for i, j in permutations(range(len(values[0])), 2) if all(v[i] > v[j] for v in values)}


def semidefinite_root(gram):
    """The upper triangular R with RᵀR = G and no negative entry on its diagonal; a dependent row has zeros."""
    root = np.zeros_like(gram)
    for k in range(len(gram)):
        rest = gram[k] - root[:k, k] @ root[:k]
        if rest[k] > 1e-9 * gram[k, k]:
            root[k] = rest / math.sqrt(rest[k])
    return root


class P2LinRank:
    """Algorithm 1 with linear rankers. Their weights, one ranker's after another's, come from outside as `w`."""

    def __init__(self, d, hyper, draws):
        self.hyper, self.draws, self.round, self.d = hyper, draws, 1, d
        self.members = [draws.member(number) for number in range(hyper["rankers"])]
        self.w, self.history, self.noise = np.zeros(len(self.members) * d), [], [np.zeros(d)] * len(self.members)

    def each(self, w):
        return w.reshape(len(self.members), self.d)

    def rank(self, query, features, k):
        self.features = features
        values = [scores(features, w) for w in self.each(self.w)]
        order = sorted_by(values[0], self.draws, self.round, 0)
        self.ranking = topological(order, unanimous(values), k, self.draws, self.round)
        return self.ranking

    def update(self, clicks):
        pairs = pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round)
        for upper, lower, won in pairs:
            x = self.features[upper] - self.features[lower]
            self.history.append(x if won else -x)
        gram = sum((np.outer(x, x) for x in self.history), np.zeros((self.d, self.d)))
        if self.hyper["pseudo_pairs"]:
            gram = gram + self.hyper["regularization"] * np.eye(self.d)
        self.noise = []
        for member in self.members:
            normals = np.array([member.gaussian(Stream.PERTURBATION, self.round, f) for f in range(self.d)])
            self.noise.append(math.sqrt(self.hyper["noise"]) * semidefinite_root(gram).T @ normals)
        self.learned = bool(pairs) or (self.hyper["noise"] > 0 and gram.any())
        self.round += 1

    def objective(self, w, noise):
        losses = math.fsum(np.logaddexp(0, -x @ w) for x in self.history)
        return losses - noise @ w + self.hyper["regularization"] / 2 * w @ w

    def optimum(self, noise):
        """Newton's method with halved steps."""
        w, penalty = np.zeros(self.d), self.hyper["regularization"]
        x = np.array(self.history).reshape(-1, self.d)
        for _ in range(60):
            p = 1 / (1 + np.exp(-x @ w))
            step = np.linalg.solve(
                penalty * np.eye(self.d) + (x * (p * (1 - p))[:, None]).T @ x, penalty * w - x.T @ (1 - p) - noise
            )
            if np.abs(step).max() < 1e-10:  # what is left of a quadratic convergence
                break
            while self.objective(w - step, noise) > self.objective(w, noise) + 1e-12:
                step = step / 2
            w = w - step
        return w


class P2NeurRank(OlRankNet):
    """Algorithm 1. θ of all rankers, one after another, comes from outside as `w`."""

    def __init__(self, d, hyper, draws):
        self.net, self.hyper, self.draws, self.round = Net(d, hyper), hyper, draws, 1
        self.members = [draws.member(number) for number in range(hyper["rankers"])]
        self.w = self.start = self.fresh()
        self.documents, self.history, self.seen = {}, [], {}

    def fresh(self, round_=0):
        own = self.members if self.hyper["theta0"] == "own" else [self.draws] * len(self.members)
        return np.concatenate([self.net.initial(draws, round_) for draws in own])

    def each(self, w):
        return np.split(w, len(self.members))

    def rank(self, query, features, k):
        self.query, self.features = query, self.net.read(features)
        self.documents[query] = self.features
        values = [[round(self.net.score(theta, x), 10) for x in self.features] for theta in self.each(self.w)]
        order = sorted_by(values[0], self.draws, self.round, 0)
        self.ranking = topological(order, unanimous(values), k, self.draws, self.round)
        return self.ranking

    def update(self, clicks):
        pairs = pairs_from_clicks(self.ranking, clicks, self.hyper["pairs"], self.draws, self.round)
        for upper, lower, won in pairs:
            better, worse = (upper, lower) if won else (lower, upper)
            self.history.append((self.query, better, worse, lambda score: 1.0))
            pair = (self.query, *sorted((upper, lower)))
            self.seen[pair] = self.seen.get(pair, 0) + 1
        self.noise = [
            [math.sqrt(self.hyper["noise"] * count) * member.gaussian(Stream.PERTURBATION, self.round, number)
             for number, count in enumerate(self.seen.values())]
            for member in self.members
        ]  # fmt: skip
        self.learned = bool(pairs) or (self.hyper["noise"] > 0 and bool(self.history))
        self.round += 1

    def refits(self):
        """Of each ranker: where a refit begins, θ₀, and the objective with its gradient."""
        begins = {"warm": self.w, "theta0": self.start}.get(self.hyper["start"])
        begins = self.fresh(self.round - 1) if begins is None else begins
        for begin, start, noise in zip(self.each(begins), self.each(self.start), self.noise, strict=True):
            yield begin, lambda theta, start=start, noise=noise: self.perturbed(theta, start, noise)

    def perturbed(self, theta, start, noise):
        whole, self.start = self.start, start
        value, gradient = self.objective_and_gradient(theta)
        self.start = whole
        score, slopes = self.at(theta)
        for (query, first, second), extra in zip(self.seen, noise, strict=True):
            value -= extra * (score(query, first) - score(query, second))
            gradient = gradient - extra * (slopes(query, first) - slopes(query, second))
        return value, gradient

    def take(self, theta):
        self.w = theta


REFERENCES = {
    "DBGD": DBGD,
    "MGD": MGD,
    "DP-DBGD": DPDBGD,
    "CPS": CPS,
    "NSGD": NSGD,
    "PDGD": PDGD,
    "SGD RankNet": SGDRankNet,
    "epsilon-greedy": EpsilonGreedy,
    "PairRank": PairRank,
    "PairRank-Lemma2": PairRankLemma2,
    "SafePairRank": SafePairRank,
    "BoundedPairRank": BoundedPairRank,
    "RecursivePairRank": RecursivePairRank,
    "neural PDGD": NeuralPDGD,
    "neural epsilon-greedy": NeuralEpsilonGreedy,
    "neural DBGD": NeuralDBGD,
    "olRankNet": OlRankNet,
    "olLambdaRank": OlLambdaRank,
    "olLambdaRank-ranked": RankedLambdaRank,
    "P2LinRank": P2LinRank,
    "P2NeurRank": P2NeurRank,
}
