"""Slow, obvious versions of the bandits, written from their papers: one replica, plain Python, lists and dictionaries.

They draw from the same random words as the library, so that the tests can compare list for list. Nothing of ol2r is
used but the numbers of its streams.
"""

import math
from itertools import pairwise

from reference import Draws

from ol2r.random import Stream

# Users and what a list is worth


def clicks_of(model, ranking, draws, step):
    """The clicks of one user, position by position."""
    clicks, left = [], False
    for k, item in enumerate(ranking):
        p = model.attraction[item] * (model.position[k] if model.kind == "position" else 1)
        click = not left and draws.uniform(Stream.CLICK, step, k) < p
        clicks.append(int(click))
        if click and model.kind == "cascade":
            left = True
        if click and model.kind == "dependent":
            left = draws.uniform(Stream.STOP, step, k) < model.position[k]
    return clicks


def reward(model, ranking, cut):
    """Expected clicks (CM, PBM) or expected clicks after which the user leaves (DCM), term by term."""
    total, examined = 0.0, 1.0
    for k, item in enumerate(ranking[:cut]):
        alpha = model.attraction[item]
        if model.kind == "position":
            total += model.position[k] * alpha
        else:
            v = 1.0 if model.kind == "cascade" else model.position[k]
            total += examined * v * alpha
            examined *= 1 - v * alpha
    return total


def wrong_pairs(ranking, attraction):
    """V(R): (i, j) with i the more attractive and j displayed, where i is displayed below j or not at all."""
    place = {item: k for k, item in enumerate(ranking)}
    return {
        (i, j)
        for j in ranking
        for i in range(len(attraction))
        if attraction[i] > attraction[j] and place.get(i, len(ranking)) > place[j]
    }


def dcg(gains):
    return sum(gain / math.log2(k + 2) for k, gain in enumerate(gains))


def ndcg(ranking, attraction, cut):
    best = dcg(sorted(attraction, reverse=True)[: min(cut, len(ranking))])
    return dcg([attraction[item] for item in ranking[:cut]]) / best if best else 1.0


# Bandits: rank(step) gives the list, learn(step, ranking, clicks) takes its clicks


class BubbleRank:
    def __init__(self, attraction, initial, horizon, draws, exponent, doubling_from, freeze, parity):
        self.items, self.initial, self.draws = range(len(attraction)), list(initial), draws
        self.attraction = attraction
        self.exponent, self.freeze, self.parity = exponent, freeze, parity
        self.doubling, self.n_estimated = doubling_from > 0, doubling_from or horizon
        self.s = {(i, j): 0 for i in self.items for j in self.items}
        self.n = dict(self.s)
        self.hidden_at_first = [i for i in self.items if i not in self.initial]
        self.base, self.hidden = list(self.initial), list(self.hidden_at_first)
        self.pairs = set()
        self.event_broken = 0

    def log_inverse_delta(self):
        return self.exponent * math.log(self.n_estimated)

    def radius(self, i, j):
        return 2 * math.sqrt(self.n[i, j] * self.log_inverse_delta())

    def better(self, i, j):
        return self.s[i, j] > self.radius(i, j)

    def positions(self, step):
        """The pairs of positions (from 0) that a step may exchange."""
        h = step % 2 if self.parity == "algorithm" else (step + 1) % 2
        K = len(self.base)
        return [(2 * k - 2 + h, 2 * k - 1 + h) for k in range(1, (K - h) // 2 + 1)], (K - h) % 2 == 1

    def rank(self, step):
        if self.doubling and step == self.n_estimated + 1:
            self.base, self.hidden = list(self.initial), list(self.hidden_at_first)
            self.n_estimated *= 2
        for i, j in pairwise(self.base):  # P_t of Lemma 4
            if self.attraction[i] < self.attraction[j]:
                i, j = j, i
            if self.s[i, j] <= self.radius(i, j):
                self.pairs.add(frozenset((i, j)))
        ranking = list(self.base)
        couples, last_is_single = self.positions(step)
        for p, (a, b) in enumerate(couples):
            i, j = ranking[a], ranking[b]
            coin = self.draws.word(Stream.BANDIT_FLIP, step, 4 * (p // 32)) >> p % 32 & 1
            if self.s[i, j] <= self.radius(i, j) and coin:
                ranking[a], ranking[b] = j, i
        self.away = None
        if self.hidden and last_is_single:
            last = self.base[-1]
            open_ = [j for j in self.hidden if not self.better(last, j)]
            if open_:
                chosen = open_[self.draws.below(Stream.BANDIT_FLIP, step, 1, len(open_))]
                self.pairs.add(frozenset((last, chosen)))
                self.away = chosen
                if self.draws.word(Stream.BANDIT_FLIP, step, 2) >= 2**31:
                    ranking[-1], self.away = chosen, last
        return ranking

    def observe(self, i, j, difference):
        if difference == 0 or (self.freeze and (self.better(i, j) or self.better(j, i))):
            return
        self.s[i, j] += difference
        self.s[j, i] -= difference
        self.n[i, j] += 1
        self.n[j, i] += 1

    def learn(self, step, ranking, clicks):
        couples, _ = self.positions(step)
        for a, b in couples:
            self.observe(ranking[a], ranking[b], clicks[a] - clicks[b])
        if self.away is not None:
            self.observe(ranking[-1], self.away, clicks[-1])
        if not self.event_broken and not self.event():
            self.event_broken = step
        for k in range(len(self.base) - 1):
            i, j = self.base[k], self.base[k + 1]
            if self.better(j, i):
                self.base[k], self.base[k + 1] = j, i
        for x in range(len(self.hidden)):
            if self.better(self.hidden[x], self.base[-1]):
                self.base[-1], self.hidden[x] = self.hidden[x], self.base[-1]

    def event(self):
        """E of Lemma 9 at this step, both halves, over all pairs of different attraction."""
        for i in self.items:
            for j in self.items:
                a, b = self.attraction[i], self.attraction[j]
                if a > b and not (
                    (a - b) / (a + b) * self.n[i, j] - self.radius(i, j) <= self.s[i, j]
                    and self.s[j, i] <= self.radius(j, i)
                ):
                    return False
        return True

    def diagnostics(self):
        return {
            "base_inversions": len(wrong_pairs(self.base, self.attraction)),
            "pairs": len(self.pairs),
            "event_broken": self.event_broken,
        }


class Baseline:
    def __init__(self, attraction, initial, horizon, draws):
        self.initial = list(initial)

    def rank(self, step):
        return self.initial

    def learn(self, step, ranking, clicks):
        pass

    def diagnostics(self):
        return {}


def shuffled(items, draws, step, offset=0, first=0, last=None):
    """Fisher and Yates from the front; place k draws by word offset + k."""
    items = list(items)
    for k in range(first, len(items) if last is None else last):
        left = len(items) - k
        if left > 1:
            other = k + draws.below(Stream.BANDIT_SHUFFLE, step, offset + k, left)
            items[k], items[other] = items[other], items[k]
    return items


class TopRank:
    def __init__(self, attraction, initial, horizon, draws, exponent):
        self.items, self.K, self.draws = set(range(len(attraction))), len(initial), draws
        self.delta = horizon**-exponent
        self.S = {(i, j): 0 for i in self.items for j in self.items}
        self.N = dict(self.S)
        self.G = set()

    def partition(self):
        left, blocks = set(self.items), []
        while left:
            block = {i for i in left if not any((i, j) in self.G for j in left)} or set(left)
            blocks.append(sorted(block))
            left -= block
        return blocks

    def rank(self, step):
        arrangement = []
        for block in self.partition():
            room = max(0, min(self.K - len(arrangement), len(block)))
            arrangement += shuffled(block, self.draws, step, offset=len(arrangement), last=room)
        return arrangement[: self.K]

    def learn(self, step, ranking, clicks):
        C = {i: 0 for i in self.items} | dict(zip(ranking, clicks, strict=True))
        for block in self.partition():
            for i in block:
                for j in block:
                    self.S[i, j] += C[i] - C[j]
                    self.N[i, j] += abs(C[i] - C[j])
        for (i, j), n in self.N.items():
            if n > 0 and self.S[i, j] >= math.sqrt(2 * n * math.log(3.43 / self.delta * math.sqrt(n))):
                self.G.add((j, i))

    def diagnostics(self):
        return {"known": len(self.G)}


def d(p, q):
    return (p * math.log(p / q) if p > 0 else 0) + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0)


def largest_below(p, budget):
    """The largest q ≥ p with d(p, q) ≤ budget."""
    if p == 1:
        return 1.0
    low, high = p, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if low < middle < high and d(p, middle) <= budget:
            low = middle
        else:
            high = middle
    return low


def smallest_above(p, budget):
    """The smallest q ≤ p with d(p, q) ≤ budget."""
    if p == 0:
        return 0.0
    low, high = 0.0, p
    for _ in range(60):
        middle = (low + high) / 2
        if low < middle < high and d(p, middle) <= budget:
            high = middle
        else:
            low = middle
    return high


class PaperBatchRank:
    def __init__(self, attraction, initial, horizon, draws):
        self.L, self.K, self.n, self.draws = len(attraction), len(initial), horizon, draws
        self.c = {i: 0 for i in range(self.L)}
        self.shown = dict(self.c)
        self.batches = [{"slots": (0, self.K), "items": list(range(self.L)), "stage": 0}]

    def length(self, stage):
        return max(1, math.ceil(16 * 2 ** (2 * stage) * math.log(self.n)))

    def budget(self):
        return max(0, math.log(self.n) + 3 * math.log(math.log(self.n))) if self.n > 1 else 0

    def rank(self, step):
        ranking = []
        for batch in self.batches:
            first, last = batch["slots"]
            least = min(self.shown[i] for i in batch["items"])
            items = batch["items"]  # those shown least come forward, each in the place of one that is not
            fresh = 0
            for x in range(len(items)):
                if self.shown[items[x]] == least:
                    items[fresh], items[x] = items[x], items[fresh]
                    fresh += 1
            room = last - first
            if fresh >= room:
                items[:] = shuffled(items[:fresh], self.draws, step, first, last=room) + items[fresh:]
                ranking += items[:room]
            else:
                items[:] = shuffled(items, self.draws, step, first, first=fresh, last=room)
                ranking += shuffled(items[:room], self.draws, step, self.K + first)
        return ranking

    def learn(self, step, ranking, clicks):
        for batch in self.batches:
            least = min(self.shown[i] for i in batch["items"])
            for k in range(*batch["slots"]):
                if self.shown[ranking[k]] == least:
                    self.shown[ranking[k]] += 1
                    self.c[ranking[k]] += clicks[k]
        after = []
        for batch in self.batches:
            after += self.update(batch)
        self.batches = after

    def update(self, batch):
        n = self.length(batch["stage"])
        if min(self.shown[i] for i in batch["items"]) < n:
            return [batch]
        first, last = batch["slots"]
        room = last - first
        U = {i: largest_below(self.c[i] / n, self.budget() / n) for i in batch["items"]}
        L = {i: smallest_above(self.c[i] / n, self.budget() / n) for i in batch["items"]}
        for i in batch["items"]:
            self.c[i] = self.shown[i] = 0
        ordered = sorted(batch["items"], key=lambda i: (-L[i], i))
        split = 0
        for k in range(1, room):
            if L[ordered[k - 1]] > max(U[i] for i in ordered[k:]):
                split = k
        if split:
            return [
                {"slots": (first, first + split), "items": ordered[:split], "stage": 0},
                {"slots": (first + split, last), "items": ordered[split:], "stage": 0},
            ]
        kept = [i for i in ordered if U[i] >= L[ordered[room - 1]]]
        return [{"slots": batch["slots"], "items": kept, "stage": batch["stage"] + 1}]

    def diagnostics(self):
        return {"batches": len(self.batches), "items": sum(len(batch["items"]) for batch in self.batches)}


class PublicBatchRank:
    """As the code of BatchRank's experiments: a batch is the numbers of its positions, its items and its Δ̃."""

    def __init__(self, attraction, initial, horizon, draws, stages):
        self.K, self.draws = len(initial), draws
        self.log_LT = math.log(len(attraction) * horizon)
        self.feedback = stages.removeprefix("public code, ")
        self.C = [0] * len(attraction)
        self.N = [0] * len(attraction)
        self.batches = [(list(range(self.K)), list(range(len(attraction))), 0.5)]

    def rank(self, step):
        self.batches = [
            (places, shuffled(items, self.draws, step, places[0], last=len(places)), delta)
            for places, items, delta in self.batches
        ]
        return [item for places, items, _ in self.batches for item in items[: len(places)]]

    def learn(self, step, ranking, clicks):
        last = max((k for k, click in enumerate(clicks) if click), default=self.K)
        observed = {
            "last click": last + 1,
            "one past the last click": last + 2,
            "whole list": self.K,
        }[self.feedback]
        for item, click in list(zip(ranking, clicks, strict=True))[:observed]:
            self.C[item] += click
            self.N[item] += 1
        self.batches = [part for batch in self.batches for part in self.update(*batch)]

    def update(self, places, items, delta):
        if len(items) == 1 or any(self.N[i] < self.log_LT / delta**2 for i in items):
            return [(places, items, delta)]
        rate = {i: self.C[i] / self.N[i] for i in items}
        U = {i: largest_below(rate[i], self.log_LT / self.N[i]) for i in items}
        L = {i: smallest_above(rate[i], self.log_LT / self.N[i]) for i in items}
        items = sorted(items, key=lambda i: (-rate[i], i))
        parts, begin = [], 0
        for end in range(1, len(items) + 1):
            if end == len(items) or min(L[i] for i in items[:end]) > max(U[i] for i in items[end:]):
                parts.append((places[begin:end], items[begin:end], delta / 2))
                begin = end
        return [part for part in parts if part[0]]  # what has no position is never shown again

    def diagnostics(self):
        return {"batches": len(self.batches), "items": sum(len(items) for _, items, _ in self.batches)}


def BatchRank(attraction, initial, horizon, draws, stages):
    if stages == "paper":
        return PaperBatchRank(attraction, initial, horizon, draws)
    return PublicBatchRank(attraction, initial, horizon, draws, stages)


class CascadeKLUCB:
    def __init__(self, attraction, initial, horizon, draws, budget, observed, start):
        self.L, self.K, self.draws = len(attraction), len(initial), draws
        self.budget, self.observed, self.start = budget, observed, start
        self.T = [0] * self.L
        self.clicks = [0] * self.L

    def upper(self, i, step):
        f = math.log(step)
        if self.budget == "log t + 3 log log t":
            f = max(0, f + 3 * math.log(math.log(step)))
        return largest_below(self.clicks[i] / self.T[i], f / self.T[i])

    def rank(self, step):
        if step > self.L:
            bound = [self.upper(i, step) for i in range(self.L)]
            return sorted(range(self.L), key=lambda i: (-bound[i], self.draws.word(Stream.TIES, step, i)))[: self.K]
        if self.start == "top":
            return [(step - 1 + k) % self.L for k in range(self.K)]
        order = list(range(self.L))
        order[0], order[step - 1] = order[step - 1], order[0]
        return shuffled(order, self.draws, step, first=1, last=self.K)[: self.K]

    def learn(self, step, ranking, clicks):
        places = [k for k, click in enumerate(clicks) if click]
        last = self.K - 1 if not places else places[0] if self.observed == "first click" else places[-1]
        if step <= self.L and self.start == "top":
            last = 0
        for item, click in list(zip(ranking, clicks, strict=True))[: last + 1]:
            self.T[item] += 1
            self.clicks[item] += click

    def diagnostics(self):
        return {}


PLAIN = {
    "Baseline": Baseline,
    "BatchRank": BatchRank,
    "BubbleRank": BubbleRank,
    "CascadeKL-UCB": CascadeKLUCB,
    "TopRank": TopRank,
}


def play(name, parameters, model, initial, key, horizon, steps, cut, best):
    """Every step of one replica: its list, and the sums and diagnostics after it."""
    draws = Draws(key)
    bandit = PLAIN[name](model.attraction, initial, horizon, draws, **parameters)
    regret, violations, excess = 0.0, 0, 0
    at_start = len(wrong_pairs(initial, model.attraction))
    for step in range(1, steps + 1):
        ranking = list(bandit.rank(step))
        base = list(getattr(bandit, "base", []))
        bandit.learn(step, ranking, clicks_of(model, ranking, draws, step))
        more = len(wrong_pairs(ranking, model.attraction)) - at_start
        regret += best - reward(model, ranking, cut)
        violations += more > len(initial) / 2
        excess = max(excess, more)
        yield {
            "ranking": ranking,
            "base": base,  # before the step
            "regret": regret,
            "violations": violations,
            "excess": excess,
            "ndcg": ndcg(ranking, model.attraction, cut),
            **bandit.diagnostics(),
        }
