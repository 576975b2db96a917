"""Certain orders on shared histories against slow counts of what the learners know, and what must always hold."""

from dataclasses import replace
from functools import cache
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small import SETTINGS

from ol2r import data
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Row
from ol2r.learners import P2LinRank, P2NeurRank
from ol2r.papers.p2neurrank import histories
from ol2r.papers.p2neurrank.claims import LARGE_NOISE, linear, neural, wrong
from ol2r.papers.p2neurrank.histories import NOTHING_CERTAIN, Histories, counted, pairs_of, reached, shares
from ol2r.random import Streams, generator, replica_key
from ol2r.ranking import unanimous_orders

DATASET = "synthetic-tiny"
NOISES = (0.01, LARGE_NOISE)
FAMILIES = ("linear", "neural")
ROW = Row(2, 1)
each_family = pytest.mark.parametrize("family", FAMILIES)


def setting(name, **changed):
    given = {"covariance": "diagonal"} if name == "olRankNet" else {}
    return tuple(sorted(({**SETTINGS[name], **given, **changed}).items()))


def ensemble(name, **changed):
    return tuple(pair for pair in setting(name, **changed) if pair[0] not in ("noise", "rankers"))


def cell(family, **changed):
    names = ("PairRank", "P2LinRank") if family == "linear" else ("olRankNet", "P2NeurRank")
    own = {"noises": NOISES, "rounds": (3, 30), "users": "navigational"}
    own |= {"chooser": setting(names[0]), "ensemble": ensemble(names[1])}
    return Histories(DATASET, data.checksum(DATASET), family, **(own | changed))


@cache
def finished(family):
    """A run after its last round."""
    return cell(family).run(ROW)


@cache
def table(family):
    return cell(family).table([ROW])


def told(lines, quantity, variant=None, noise=None):
    """The values of a quantity by round, N and ν², or of one variant by round."""
    lines = lines[lines["quantity"] == quantity]
    if variant is not None:
        lines = lines[lines["variant"] == variant]
        lines = lines if noise is None else lines[lines["noise"] == noise]
        return lines.set_index("round")["value"]
    return lines.set_index(["round", "rankers", "noise"])["value"]


def scores_and_widths(shared, query):
    """By plain numpy: scores of the chooser, width of every interval, and scores of all rankers, [noises, N, V]."""
    rows = shared.dataset.documents(query)
    x, chooser, ensembles = shared.dataset.features[rows].astype(float), shared.chooser, shared.ensembles
    own = dict(shared.cell.chooser)
    differences = x[:, None] - x[None]
    if shared.cell.family == "linear":
        counts = chooser.counts
        pairs = counts.x[0, : int(counts.n_pairs[0])].numpy().astype(float)
        labels = counts.outcomes[0, : len(pairs)].numpy().sum(axis=1)
        m = own["regularization"] * np.eye(x.shape[1]) + (pairs.T * labels) @ pairs
        squares = np.einsum("ijd,de,ije->ij", differences, np.linalg.inv(m), differences)
        return x @ chooser.theta[0].numpy(), own["alpha"] * np.sqrt(squares), ensembles.estimate.rankers.numpy() @ x.T

    def passed(learner, theta):
        inputs = learner.network.inputs(torch.from_numpy(x))[None].expand(len(theta), -1, -1)
        return learner.network.forward(theta.double(), inputs.contiguous())

    scores, activations = passed(chooser, chooser.fit.theta)
    tangent = chooser.network.tangent(chooser.fit.theta.double(), activations)
    gram = chooser.covariance.gram(tangent)[0].numpy()
    squares = np.diag(gram)[:, None] + np.diag(gram)[None] - 2 * gram
    ranked = passed(ensembles, ensembles.fit.theta).scores.unflatten(0, (len(NOISES), -1))
    return scores[0].numpy(), own["alpha"] * np.sqrt(np.maximum(squares, 0.0)), ranked.numpy()


def slow_reached(above, k):
    """The least p >= k such that every one of some p documents is certainly above every other one."""
    every = range(len(above))
    for p in range(min(k, len(above)), len(above)):
        first = sorted(every, key=lambda i: -above[i].sum())[:p]
        if all(above[i, j] for i in first for j in every if j not in first):
            return p
    return len(above)


def slow_quantities(shared, noise, n):
    """Quantities of an ensemble, or with N = 0 of the intervals, one pair after another."""
    pairs = certain = judged = false = either = same = sure = shown = documents = 0
    for query in shared.queries:
        rows = shared.dataset.documents(query)
        x, grades = shared.dataset.features[rows], shared.dataset.relevance[rows].astype(int)
        f, width, ranked = scores_and_widths(shared, query)
        above = np.zeros((len(x), len(x)), dtype=bool)
        for i in range(len(x)):
            for j in range(i):
                if (x[i] == x[j]).all():
                    continue
                pairs += 1
                gap = 1 / (1 + np.exp(-(f[i] - f[j]))) - 0.5
                interval = np.sign(gap) if abs(gap) > width[i, j] else 0
                order = interval
                if n:
                    signs = {np.sign(round(a[i] - a[j], 10)) for a in ranked[NOISES.index(noise), :n]}
                    order = signs.pop() if len(signs) == 1 else 0
                above[i, j], above[j, i] = order > 0, order < 0
                certain += order != 0
                either += order != 0 or interval != 0
                sure += interval != 0
                same += order != 0 and order == interval
                judged += order != 0 and grades[i] != grades[j]
                false += order * (grades[i] - grades[j]) < 0
        if len(x) > 10:
            shown, documents = shown + slow_reached(above, 10), documents + len(x)
    values = {"certain": certain / pairs, "false certain": false / judged if judged else 0.0}
    values |= {"before ten": shown / documents if documents else 1.0}
    return values | ({"agree": same / either, "contained": same / sure if sure else 1.0} if n else {})


@each_family
def test_quantities_are_those_of_slow_counts_of_scores_and_widths(family):
    shared = finished(family)
    lines = table(family)
    lines = lines[lines["round"] == 30]
    assert int(shared.chooser.diagnostics()["distinct_pairs"][0]) > 10
    for n, noise in ((0, 0.0), (2, 0.01), (2, 0.1), (10, 0.1)):
        found = lines[(lines["rankers"] == n) & (lines["noise"] == noise)].set_index("quantity")["value"].to_dict()
        assert found == pytest.approx(slow_quantities(shared, noise, n), abs=1e-9)
    values = lines.set_index(["quantity", "rankers", "noise"])["value"]
    assert 0 < values["certain", 0, 0.0] < 1 and 0 < values["certain", 10, 0.1] < 1  # or the test would say nothing
    assert 0 < values["false certain", 2, 0.1] < 1 and 0 < values["agree", 2, 0.1] < 1


@each_family
def test_the_first_rankers_of_a_large_ensemble_are_a_small_ensemble_of_the_same_pairs(family):
    """A learner of its own, with N = 2 and one ν², that is given the chooser's pairs; and so with a cell of its own."""
    own = cell(family)
    streams = Streams(np.array([replica_key(DATASET, *ROW)], dtype=np.uint64))
    learner = P2LinRank if family == "linear" else P2NeurRank
    alone = learner(data.load(DATASET).n_features, {**dict(own.ensemble), "noise": NOISES[1], "rankers": 2}, streams)
    follow = histories.Shared.follow

    def followed(shared, candidates, pairs, labels):
        alone.observe(candidates, pairs, labels)
        alone.round += 1
        follow(shared, candidates, pairs, labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(histories.Shared, "follow", followed)
        shared = own.run(ROW)
    few = cell(family, rankers=(2,), noises=NOISES[1:])
    mine, smaller = (each.ensembles for each in (shared, few.run(ROW)))
    if family == "linear":
        assert torch.equal(mine.estimate.rankers[1, :2], alone.estimate.rankers[0])
        assert torch.equal(smaller.estimate.rankers, alone.estimate.rankers)
        assert not torch.equal(mine.estimate.rankers[0, 0], mine.estimate.rankers[1, 0])
    else:
        torch.testing.assert_close(mine.fit.theta.unflatten(0, (2, 10))[1, :2], alone.fit.theta, atol=1e-5, rtol=0)
        torch.testing.assert_close(smaller.fit.theta, alone.fit.theta, atol=1e-5, rtol=0)
    lines, names = table(family), ["round", "variant", "quantity"]
    there = lines[(lines["rankers"] == 2) & (lines["noise"] == NOISES[1])].set_index(names)["value"]
    here = few.table([ROW])
    here = here[here["rankers"] == 2].set_index(names)["value"]
    assert len(here) == 2 * len(NOTHING_CERTAIN) and (here - there).abs().max() <= (0 if family == "linear" else 0.01)


@each_family
def test_ensembles_learn_from_the_labels_of_the_chooser_and_it_learns_as_if_alone(family):
    shared = finished(family)
    if family == "linear":
        counts, others = shared.chooser.counts, shared.ensembles.counts
        n = int(counts.n_pairs[0])
        assert n > 10 and (others.n_pairs == n).all()
        for name in ("x", "outcomes"):
            assert (getattr(others, name)[:, :n] == getattr(counts, name)[:, :n]).all()
    else:
        for name in ("documents", "pairs", "outcomes"):
            assert (getattr(shared.ensembles.history, name) == getattr(shared.chooser.history, name)).all()
        assert float(shared.chooser.history.n_labels[0]) > 10
    quiet = cell(family, rankers=(1,), noises=(1.0,), rounds=(30,)).run(ROW).chooser
    ranker, own = (each.evaluated() for each in (quiet, shared.chooser))
    features = torch.from_numpy(shared.dataset.features[:30])
    torch.testing.assert_close(ranker.scores(features, torch.tensor([0])), own.scores(features, torch.tensor([0])))


@each_family
def test_more_rankers_are_certain_of_fewer_orders_and_one_ranker_of_all(family):
    lines = cell(family, rankers=(1, 2, 10)).table([ROW])
    certain = told(lines, "certain")
    for noise in NOISES:
        one, two, ten = (certain[30, n, noise] for n in (1, 2, 10))
        assert one == 1 > two > ten > 0
    variant = linear(1) if family == "linear" else neural(1)
    assert told(lines, "contained", variant, NOISES[0])[30] < 1  # certain of all orders, but not always of the same


def test_without_noise_linear_rankers_are_one_whatever_their_number():
    lines = cell("linear", noises=(0.0,)).table([ROW])
    ensembles = lines[(lines["rankers"] > 0) & (lines["round"] == 30)]
    for quantity in NOTHING_CERTAIN:
        assert told(ensembles, quantity).nunique() == 1
    assert (told(ensembles, "certain") == 1).all()


def test_intervals_without_width_are_certain_of_every_order_and_infinitely_wide_ones_of_none():
    narrow, wide = (cell("linear", chooser=setting("PairRank", alpha=a)).table([ROW]) for a in (0.0, 1e9))
    assert told(narrow, "certain", "PairRank")[30] == 1 and 0 < told(narrow, "false certain", "PairRank")[30] < 0.6
    assert told(wide, "certain", "PairRank")[30] == told(wide, "false certain", "PairRank")[30] == 0
    few = told(wide, "certain", linear(2), 0.1)
    assert (few > 0).all() and (told(wide, "agree", linear(2), 0.1) == 0).all()
    assert (told(wide, "contained", linear(2), 0.1) == 1).all()


@each_family
def test_a_second_run_repeats_and_rows_do_not_depend_on_each_other(family):
    own = cell(family)
    both = own.table([Row(1, 0), ROW])
    check_table(own, [Row(1, 0), ROW], both)
    later = both[(both["fold"] == ROW.fold) & (both["seed"] == ROW.seed)].reset_index(drop=True)
    names = ["variant", "rankers", "noise", "quantity", "round"]
    assert later[names].equals(table(family)[names])
    assert (later["value"] - table(family)["value"]).abs().max() <= (0 if family == "linear" else 0.01)
    assert not (both["value"][: len(later)].to_numpy() == later["value"].to_numpy()).all()


@each_family
def test_tables_have_every_variant_and_finite_shares_and_claims_read_them(family):
    own, lines = cell(family), table(family)
    variants = [(linear if family == "linear" else neural)(n) for n in (2, 5, 10)]
    chooser = {"linear": "PairRank", "neural": "olRankNet"}[family]
    assert set(lines["variant"]) == {chooser, *variants}
    assert len(lines) == 2 * (3 + 3 * len(NOISES) * len(NOTHING_CERTAIN))
    assert set(lines.loc[lines["variant"] == chooser, "quantity"]) == {"certain", "false certain", "before ten"}
    assert (lines.loc[lines["variant"] == chooser, ["rankers", "noise"]] == 0).all(axis=None)
    assert lines["value"].between(0, 1).all() and not set(own.labels()) & set(lines.columns)
    results = SimpleNamespace(frame=lines.assign(**own.labels(), cell=own.key), tier="smoke", cells=[own])
    for variant in (chooser, *variants):
        found = wrong(variant).values({"histories": results}, DATASET, "navigational")
        noise = None if variant == chooser else LARGE_NOISE
        assert found.to_dict() == {tuple(ROW): told(lines, "false certain", variant, noise)[3]}


def test_the_shares_of_invented_sets():
    better = np.array([1, 1, -1, 0, 1, -1], dtype=np.int8)
    orders = np.array([1, -1, 1, 1, 0, 0], dtype=np.int8)
    intervals = np.array([1, 1, 0, 1, -1, 0], dtype=np.int8)
    counts = counted(orders, intervals, better)
    assert counts.tolist() == [[4, 6], [2, 3], [2, 5], [2, 4]]
    assert shares(counts + counts) == {"certain": 4 / 6, "false certain": 2 / 3, "agree": 0.4, "contained": 0.5}
    assert shares(counted(orders, orders, better)) == shares(counts) | {"agree": 1.0, "contained": 1.0}
    none = np.zeros(6, dtype=np.int8)
    nothing = shares(counted(none, none, better))
    assert nothing == shares(counted(none[:0], none[:0], none[:0])) and nothing.items() <= NOTHING_CERTAIN.items()
    assert shares(counted(orders, none, better)) == shares(counts) | {"agree": 0.0, "contained": 1.0}


def test_true_scores_are_never_falsely_certain_and_their_reverse_always_is():
    dataset = data.load(DATASET)
    graded = [q for q in range(20) if len(set(dataset.relevance[dataset.documents(q)])) > 1]
    assert len(graded) > 3
    for query in graded:
        pairs, grades = pairs_of(dataset, query), torch.from_numpy(dataset.relevance[dataset.documents(query)]).double()
        for sign, false in ((1, 0.0), (-1, 1.0)):
            orders = pairs.directions(unanimous_orders((sign * grades).expand(1, 3, -1))[0])
            found = shares(counted(orders, orders, pairs.better))
            assert found["false certain"] == false and found["agree"] == 1
            assert found["certain"] == np.mean(pairs.better != 0)


def test_documents_with_the_same_features_make_no_pair():
    dataset = data.load(DATASET)
    rows = dataset.documents(0)
    n, features = rows.stop - rows.start, dataset.features.copy()
    assert len(pairs_of(dataset, 0).i) == n * (n - 1) // 2 > 3
    features[rows.start + 1] = features[rows.start + 2]
    pairs = pairs_of(replace(dataset, features=features), 0)
    assert (1, 2) not in set(zip(pairs.i, pairs.j, strict=True)) and len(pairs.i) == n * (n - 1) // 2 - 1
    grades = dataset.relevance[rows]
    order = generator("pairs", 0).permutation(len(pairs.i))[:20]
    for i, j, better in zip(pairs.i[order], pairs.j[order], pairs.better[order], strict=True):
        assert i < j and better == (1 if grades[i] > grades[j] else -1 if grades[i] < grades[j] else 0)


def test_only_the_first_queries_are_looked_at_if_so_asked():
    shared = cell("linear", queries=2).run(ROW)
    assert shared.queries.tolist() == data.load(DATASET).fold(2).test[:2].tolist()
    few, every = (cell("linear", queries=n).cost([ROW]) for n in (2, None))
    assert few.seconds < every.seconds


@each_family
def test_cost_grows_with_rows_and_noises_and_memory_with_noises_alone(family):
    own = cell(family)
    one, two = own.cost([ROW]), own.cost([ROW, Row(1, 0)])
    more = replace(own, noises=(0.01, 0.1, 1.0)).cost([ROW])
    assert two.whole == pytest.approx(2 * one.whole) and two.bytes == one.bytes < more.bytes
    assert more.seconds > one.seconds and one.alone
    assert own.compiling().keys() >= {own.learners.chooser.name, own.learners.ensemble.name}
    assert own.repeats == ("bits" if family == "linear" else "means")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"users": "careless"}, "users must be one of perfect"),
        ({"noises": ()}, "noises must be ascending and at least 0"),
        ({"noises": (0.1, 0.01)}, "noises must be ascending"),
        ({"noises": (-0.1,)}, "noises must be ascending and at least 0"),
        ({"noises": (float("inf"),)}, "P2LinRank: noise must be"),
        ({"rounds": (0, 5)}, "rounds must be ascending and at least 1"),
        ({"rounds": (5, 5)}, "rounds must be ascending"),
        ({"rankers": (0, 2)}, "rankers must be ascending and at least 1"),
        ({"queries": 0}, "queries must be at least 1, or None"),
        ({"ensemble": setting("P2LinRank")}, "must not name noise and rankers"),
        ({"ensemble": ensemble("P2LinRank", pairs="all")}, "`pairs` must be the same"),
        ({"ensemble": ensemble("P2NeurRank")}, "P2LinRank takes"),
        ({"chooser": setting("PairRank", alpha=-1.0)}, "PairRank: alpha must be"),
    ],
)
def test_what_makes_no_sense_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        cell("linear", **changed)


def test_an_unknown_family_is_refused():
    with pytest.raises(ValueError, match="family must be one of linear, neural"):
        replace(cell("linear"), family="forest")


def test_blocks_end_where_some_documents_are_certainly_better_than_all_others():
    rng = generator("blocks of certain orders", 0)
    seen = set()
    for _ in range(200):
        v = int(rng.integers(1, 8))
        scores = torch.from_numpy(rng.normal(size=(1, 2, v)) + rng.choice([0.0, 3.0]) * np.arange(v))
        above = unanimous_orders(scores)[0].numpy()
        for k in (1, 3):
            ends = [  # by every set of p documents, and not the p of most wins alone
                p
                for p in range(min(k, v), v)
                for some in combinations(range(v), p)
                if all(above[i, j] for i in some for j in set(range(v)) - set(some))
            ]
            assert reached(above, k) == slow_reached(above, k) == min([*ends, v])
            seen.add((reached(above, k) < v, reached(above, k) > k))
    assert len(seen) >= 3
