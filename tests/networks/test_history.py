"""The history of labelled pairs: documents stored once, pairs counted once, against plain dictionaries."""

from collections import Counter

import numpy as np
import pytest
import torch
from labelled import DATASET, rounds
from pretend import DEVICE, Pretend
from small import candidates_of

from ol2r.networks import History
from ol2r.random import generator
from ol2r.ranking import engine

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("known", [True, False], ids=["bounded", "asked"])
def test_every_document_and_pair_is_stored_once_with_its_counts(device, known):
    replicas = 3
    history = History(replicas, 1, device)
    documents, pairs_of = [set() for _ in range(replicas)], [Counter() for _ in range(replicas)]
    for round_, (query, pairs, labels) in enumerate(rounds(70, replicas), start=1):
        candidates = candidates_of(DATASET, query, device)
        told = (torch.from_numpy(a).to(device) for a in (pairs, labels))
        numbers = candidates.starts[:, None] + torch.arange(candidates.width, device=device)
        there = history.add(candidates, numbers[..., None].float(), *told, most=2 * round_ if known else None)
        assert there.tolist() == (pairs[..., 0] >= 0).any(axis=1).tolist()
        for r, i in zip(*np.nonzero(pairs[..., 0] >= 0), strict=True):
            one, other = pairs[r, i] + DATASET.offsets[query[r]]
            documents[r] |= {one, other}
            pairs_of[r][(min(one, other), max(one, other), bool(labels[r, i] == (one < other)))] += 1
    assert history.n_documents.tolist() == [len(each) for each in documents]
    for r in range(replicas):
        wanted = {pair[:2] for pair in pairs_of[r]}
        assert int(history.n_pairs[r]) == len(wanted) > 20
        assert float(history.n_labels[r]) == pairs_of[r].total() > len(wanted)
        x, rows, outcomes = (each[r].cpu().numpy() for each in (history.documents, history.pairs, history.outcomes))
        assert not outcomes[len(wanted) :].any()
        assert sorted(x[: len(documents[r]), 0]) == sorted(documents[r])
        found = set()
        for (first, second), counts in zip(rows[: len(wanted)], outcomes, strict=False):
            pair = int(x[first, 0]), int(x[second, 0])
            found.add(pair)
            assert counts.tolist() == [pairs_of[r][(*pair, True)], pairs_of[r][(*pair, False)]]
        assert found == wanted


def test_a_device_keeps_the_same_rows_as_the_cpu():
    with Pretend():
        here, there = (History(3, DATASET.n_features, device) for device in ("cpu", DEVICE))
        for query, pairs, labels in rounds(40, 3, pairs_a_round=5):
            for history, device in ((here, "cpu"), (there, DEVICE)):
                candidates = candidates_of(DATASET, query, device)
                told = (torch.from_numpy(each).to(device) for each in (pairs, labels))
                history.add(candidates, candidates.padded()[0], *told)
        for name in ("n_documents", "n_pairs", "n_labels"):
            assert torch.equal(getattr(here, name), getattr(there, name).cpu())
        for name, used in (("documents", here.n_documents), ("pairs", here.n_pairs), ("outcomes", here.n_pairs)):
            one, other = getattr(here, name), getattr(there, name).cpu()
            assert all(torch.equal(one[r, :n], other[r, :n]) for r, n in enumerate(used.tolist()))


@pytest.mark.parametrize("device", ["cpu", str(DEVICE)])
def test_a_label_counts_as_much_as_its_weight_says(device):
    rng = generator("weights of labels", 0)
    with Pretend():
        plain, weighted = (History(3, DATASET.n_features, device) for _ in range(2))
        wanted = Counter()
        for query, pairs, labels in rounds(40, 3, pairs_a_round=5):
            candidates = candidates_of(DATASET, query, device)
            weights = rng.integers(1, 9, labels.shape).astype(np.float32) / 8  # their sums are exact
            told = [torch.from_numpy(each).to(device) for each in (pairs, labels, weights)]
            plain.add(candidates, candidates.padded()[0], *told[:2])
            weighted.add(candidates, candidates.padded()[0], *told)
            for r in range(3):
                present = pairs[r, :, 0] >= 0
                for won in (True, False):
                    first_won = labels[r] == (pairs[r, :, 0] < pairs[r, :, 1])
                    wanted[r, won] += float(weights[r, present & (first_won == won)].sum())
        for name in ("documents", "pairs", "n_pairs", "n_labels"):
            assert torch.equal(getattr(plain, name).cpu(), getattr(weighted, name).cpu())
        sums = weighted.outcomes.cpu().sum(dim=1).tolist()
    assert sums == [[wanted[r, True], wanted[r, False]] for r in range(3)]


def test_it_counts_pairs_as_linear_learners_do():
    history, counts = History(2, DATASET.n_features), engine("torch").PairCounts(2, DATASET.n_features)
    for query, pairs, labels in rounds(30, 2, pairs_a_round=4, seed=1):
        candidates = candidates_of(DATASET, query)
        history.add(candidates, candidates.padded()[0], torch.from_numpy(pairs), torch.from_numpy(labels))
        counts.add(candidates, torch.from_numpy(pairs), torch.from_numpy(labels))
    assert torch.equal(history.n_pairs, counts.n_pairs)
    for r, n in enumerate(history.n_pairs.tolist()):
        first, second = history.documents[r, history.pairs[r, :n]].unbind(dim=1)
        assert torch.equal(first - second, counts.x[r, :n])
        assert torch.equal(history.outcomes[r, :n].double(), counts.outcomes[r, :n])


def test_rounds_without_pairs_for_ever_leave_it_empty():
    history = History(2, DATASET.n_features)
    candidates = candidates_of(DATASET, [3, 4])
    for n in (0, 3):
        nothing = torch.full((2, n, 2), -1), torch.zeros(2, n, dtype=torch.bool)
        assert not history.add(candidates, candidates.padded()[0], *nothing).any()
    assert history.documents.shape[1] == history.pairs.shape[1] == 0 and not history.n_labels.any()
