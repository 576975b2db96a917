"""The history of lists: what labels count for by a ranking, against whole lists with two documents swapped."""

import copy
import math

import numpy as np
import pytest
import torch
from labelled import DATASET
from pretend import DEVICE, Pretend
from small import candidates_of

from ol2r.networks import ListedHistory, Network, NetworkFit
from ol2r.networks.problem import CompiledProblem, Problem
from ol2r.random import Streams, generator
from ol2r.ranking import engine

K, REPLICAS = 5, 3
OPS = engine("torch")


def lists(n_rounds, device="cpu"):
    """For each round the candidates, lists, clicks, and labelled pairs; a replica without a click gives none."""
    rng, streams = generator("lists", 0), Streams(np.arange(REPLICAS, dtype=np.uint64))
    for round_ in range(1, n_rounds + 1):
        query = rng.integers(DATASET.n_queries, size=REPLICAS)
        ranking, clicks = np.full((REPLICAS, K), -1), rng.random((REPLICAS, K)) < 0.4
        for r, q in enumerate(query):
            rows = DATASET.documents(int(q))
            shown = rng.permutation(rows.stop - rows.start)[:K]
            ranking[r, : len(shown)] = shown
        clicks[round_ % REPLICAS] = False
        clicks &= ranking >= 0
        shown, clicked = torch.from_numpy(ranking), torch.from_numpy(clicks)
        pairs, labels = OPS.pairs_from_clicks(shown, clicked, "all", streams, round_)
        candidates = candidates_of(DATASET, query.tolist(), device)
        yield candidates, *(each.to(device) for each in (shown, clicked, pairs, labels))


def history_of(n_rounds, device="cpu", network=None):
    """Inputs of a document are its number alone, or what the network reads."""
    history = ListedHistory(REPLICAS, 1 if network is None else network.shapes[0][1], device)
    for round_, (candidates, ranking, clicks, pairs, labels) in enumerate(lists(n_rounds, device), start=1):
        numbers = candidates.starts[:, None] + torch.arange(candidates.width, device=device)
        inputs = numbers[..., None].float() if network is None else network.inputs(candidates.padded()[0])
        history.add_list(candidates, inputs, ranking, clicks, pairs, labels, round_ * pairs.shape[1])
    return history


def dcg(gains):
    return sum(gain / math.log2(i + 2) for i, gain in enumerate(gains))


def outcomes_by_hand(score, n_rounds):
    """By replica: {(preferred document, other): what labels count for}, documents by their numbers in the data set."""
    found = [{} for _ in range(REPLICAS)]
    for candidates, ranking, clicks, pairs, labels in lists(n_rounds):
        for r in range(REPLICAS):
            start, clicked = int(candidates.starts[r]), clicks[r].tolist()
            if not any(clicked):
                continue
            seen = [int(d) for d in ranking[r].tolist()[: max(i for i, c in enumerate(clicked) if c) + 2] if d >= 0]
            grades = dict(zip(seen, map(int, clicked), strict=False))
            order = sorted(seen, key=lambda d, at=start: -score[at + d])
            for (upper, lower), won in zip(pairs[r].tolist(), labels[r].tolist(), strict=True):
                if upper < 0:
                    continue
                swapped = [{upper: lower, lower: upper}.get(d, d) for d in order]
                before, after = (dcg([grades[d] for d in each]) for each in (order, swapped))
                pair = (start + upper, start + lower) if won else (start + lower, start + upper)
                change = abs(before - after) / dcg(sorted(grades.values(), reverse=True))
                found[r][pair] = found[r].get(pair, 0.0) + change
    return found


def by_document(history, outcomes):
    """The same of a history."""
    found = [{} for _ in range(REPLICAS)]
    x, rows = history.documents.cpu().numpy().astype(int)[..., 0], history.pairs.cpu().numpy()
    for r, n in enumerate(history.n_pairs.tolist()):
        for (one, other), counts in zip(rows[r, :n], outcomes[r, :n].cpu().numpy(), strict=True):
            pair = int(x[r, one]), int(x[r, other])
            for each, value in zip((pair, pair[::-1]), counts.tolist(), strict=True):
                if value:
                    found[r][each] = value
    return found


def scores_of(history, score):
    return torch.from_numpy(score)[history.documents.cpu().long()[..., 0]]


@pytest.mark.parametrize("device", ["cpu", str(DEVICE)])
@pytest.mark.parametrize("ties", [False, True], ids=["apart", "ties"])
def test_a_label_counts_for_what_a_swap_changes_in_the_present_ranking(device, ties):
    rng = generator("scores", 0)
    score = rng.integers(0, 3, DATASET.n_documents).astype(float) if ties else rng.random(DATASET.n_documents)
    with Pretend():
        history = history_of(30, device)
        outcomes = history.outcomes_at(scores_of(history, score).to(device))
        assert not history.outcomes.any() and outcomes.dtype == torch.float32
        found, wanted = by_document(history, outcomes), outcomes_by_hand(score, 30)
    for mine, theirs in zip(found, wanted, strict=True):
        counted = {pair: value for pair, value in theirs.items() if value > 1e-9}
        assert mine.keys() == counted.keys() and len(mine) > 20
        assert mine == pytest.approx(counted, rel=1e-5)


def test_scores_that_differ_by_rounding_alone_keep_the_order_in_which_documents_were_shown():
    history = history_of(20)
    none = torch.zeros(history.documents.shape[:2])
    noise = torch.from_numpy(generator("rounding", 0).normal(0, 1e-8, none.shape)).float()
    assert torch.equal(history.outcomes_at(none), history.outcomes_at(noise))


def test_examined_documents_without_a_label_are_kept_for_their_places():
    history, with_label = history_of(30), [set() for _ in range(REPLICAS)]
    for candidates, _, _, pairs, _ in lists(30):
        for r in range(REPLICAS):
            with_label[r] |= {int(candidates.starts[r]) + d for d in pairs[r].flatten().tolist() if d >= 0}
    assert all(n >= len(own) for n, own in zip(history.n_documents.tolist(), with_label, strict=True))
    assert history.n_labels.sum() > 50 and (history.n_lists < 30).all()


def test_labels_without_a_list_count_one():
    history = history_of(10)
    before = history.outcomes_at(torch.zeros(history.documents.shape[:2])).sum()
    candidates, ranking, *_ = next(lists(1))
    pairs = ranking[:, None, :2].clone()
    labels = torch.ones(REPLICAS, 1, dtype=torch.bool)
    history.add(candidates, torch.zeros(REPLICAS, candidates.width, 1), pairs, labels)
    after = history.outcomes_at(torch.zeros(history.documents.shape[:2])).sum()
    assert float(after - before) == pytest.approx(REPLICAS)


def test_rounds_without_a_click_for_ever_leave_it_empty():
    history = ListedHistory(REPLICAS, DATASET.n_features)
    candidates, ranking, clicks, pairs, labels = next(lists(1))
    nothing = torch.full_like(pairs, -1)
    told = candidates, candidates.padded()[0], ranking, torch.zeros_like(clicks), nothing, labels
    assert not history.add_list(*told).any()
    assert history.documents.shape[1] == 0 and not history.outcomes_at(torch.zeros(REPLICAS, 0)).numel()


NETWORKS = [Network(DATASET.n_features, 6), Network(DATASET.n_features, 4, 2, "symmetric-raw")]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.init)
def test_only_a_pass_that_asks_for_it_weighs_anew(network):
    history = history_of(20, network=network)
    start = network.initial(Streams(np.arange(REPLICAS, dtype=np.uint64)))
    rng, one = generator("somewhere", 1), torch.ones(REPLICAS).double()
    here, there = (start + torch.from_numpy(rng.normal(0, 0.3, start.shape)).float() for _ in range(2))
    told = network, history, None, 0.1 * one, one, torch.float32
    for body in (Problem, CompiledProblem):
        problem = body(*told)
        at_there = problem.expand(there, reweigh=True).value
        assert torch.equal(problem.expand(there).value, at_there)
        problem.expand(here, reweigh=True)
        held = problem.expand(there).value
        assert (held != at_there).any()
        assert torch.equal(problem.expand(there, reweigh=True).value, at_there)
    values = [body(*told).expand(there, reweigh=True).value for body in (Problem, CompiledProblem)]
    torch.testing.assert_close(*values, rtol=1e-4, atol=0)


def alone(history, r):
    """The history of one replica of many, by itself."""
    one = copy.copy(history)
    for name, value in vars(history).items():
        if isinstance(value, torch.Tensor):
            setattr(one, name, value[r : r + 1].clone())
    return one


@pytest.mark.parametrize("method", ["adam", "lbfgs"])
def test_refits_of_one_replica_alone_leave_its_labels_and_are_those_beside_others(method):
    network = Network(DATASET.n_features, 6)
    start = network.initial(Streams(np.arange(REPLICAS, dtype=np.uint64)))
    history, one = history_of(25, network=network), torch.ones(REPLICAS).double()
    own = alone(history, 1)
    labels = own.outcomes.clone()
    told = {"method": method, "passes": 10}
    whole = NetworkFit(network, start, start, 0.01 * one, rate=0.01 * one, **told)
    single = NetworkFit(network, start[1:2], start[1:2], 0.01 * one[:1], rate=0.01 * one[:1], **told)
    for _ in range(3):
        for fit, of in ((whole, history), (single, own)):
            fit.refit(of, torch.ones(len(fit.theta), dtype=torch.bool))
            fit.expand(of)  # a checkpoint asks for the objective
    assert torch.equal(own.outcomes, labels)
    torch.testing.assert_close(single.theta, whole.theta[1:2], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["adam", "lbfgs"])
def test_a_refit_follows_the_ranking(method):
    network = Network(DATASET.n_features, 6)
    start = network.initial(Streams(np.arange(REPLICAS, dtype=np.uint64)))
    history, one = history_of(25, network=network), torch.ones(REPLICAS).double()
    fit = NetworkFit(network, start, start, 0.01 * one, method=method, rate=0.01 * one, passes=10)
    before = fit.expand(history).value
    for _ in range(5):
        fit.refit(history, torch.ones(REPLICAS, dtype=torch.bool))
    assert fit.alive.all() and (fit.expand(history).value < before).all()
