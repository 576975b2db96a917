"""The worked examples are the paper's, and what is enumerated by hand is what the library's operations do."""

import numpy as np
import pandas as pd
import pytest
import torch

from ol2r.papers.pairrank import illustration
from ol2r.random import Streams
from ol2r.ranking import Candidates, engine

CERTAIN = illustration.EXAMPLE.certain


def uncertain_pairs(certain):
    above, below = np.triu_indices(len(certain), 1)
    return {(i + 1, j + 1) for i, j in zip(above, below, strict=True) if not (certain[i, j] or certain[j, i])}


def test_the_example_is_the_papers():
    example = illustration.figure_1()
    assert uncertain_pairs(example.certain) == {(1, 2), (3, 5), (4, 5)}
    assert example.blocks == [(0, 1), (2, 3, 4)]
    assert not np.tril(example.certain).any()  # certain orders follow the scores


def test_each_proposal_attains_the_regret_that_the_paper_gives_it():
    lists = illustration.figure_1().proposals.groupby("shuffle")["regret"]
    assert 3 in set(lists.get_group("random")) and 2 in set(lists.get_group("conservative"))


@pytest.mark.parametrize(
    ("conservative", "n_lists", "expected"), [(False, 2 * 6, 0.5 + 1.5), (True, 2 * 3, 0.5 + 1.25)]
)
def test_lists_are_enumerated_with_their_probability(conservative, n_lists, expected):
    """Random: ½ of all pairs in a block. Conservative: of 3 4 5, 3 5 4 and 5 3 4 the chances are ¼, ¼, ½."""
    lists = illustration.proposals(CERTAIN, conservative)
    assert len(lists) == n_lists and sum(lists.values()) == pytest.approx(1)
    assert sum(p * illustration.regret(shown) for shown, p in lists.items()) == pytest.approx(expected)


def test_conservative_lists_keep_every_certain_order():
    for shown in illustration.proposals(CERTAIN, True):
        assert not any(CERTAIN[below, above] for i, above in enumerate(shown) for below in shown[i + 1 :])


def test_regret_counts_pairs_that_stand_the_wrong_way_round():
    assert [illustration.regret(shown) for shown in ((0, 1, 2), (1, 0, 2), (2, 1, 0))] == [0, 1, 3]


@pytest.mark.parametrize("name", ["numba", "torch"])
@pytest.mark.parametrize("conservative", [False, True])
def test_the_librarys_operation_shows_these_lists_with_these_frequencies(name, conservative):
    n = 4000
    once = illustration.EXAMPLE.candidates
    candidates = Candidates(once.features, once.offsets, once.totals, torch.zeros(n, dtype=torch.int64))
    ranking, blocks, _ = engine(name).divide_and_conquer(
        candidates,
        torch.from_numpy(illustration.EXAMPLE.scores).expand(n, -1).contiguous(),
        torch.from_numpy(np.diag(illustration.EXAMPLE.variances)).expand(n, -1, -1).contiguous(),
        torch.ones(n, dtype=torch.float64),
        conservative,
        5,
        (1,),
        Streams(np.arange(n, dtype=np.uint64), "cpu"),
        1,
    )
    assert set(blocks.tolist()) == {2}
    expected = illustration.proposals(CERTAIN, conservative)
    seen = pd.Series([tuple(row) for row in ranking.tolist()]).value_counts()
    assert set(seen.index) == set(expected)
    for shown, p in expected.items():
        assert abs(seen[shown] - n * p) < 5 * (n * p * (1 - p)) ** 0.5


def test_figure_2_shows_a_certain_and_an_uncertain_pair_of_nearly_the_same_estimate():
    table = illustration.figure_2(rounds=40)
    low = table["estimate"] - table["half"]
    assert ((low > 0.5) == table["certain"]).all() and (table["half"] > 0).all()
    assert (table["estimate"].diff().dropna() >= 0).all() and (table["estimate"] >= 0.5).all()
    certain, uncertain = (table[table["shown"] == word].iloc[0] for word in ("certain", "uncertain"))
    assert certain["certain"] and not uncertain["certain"]
    assert abs(certain["estimate"] - uncertain["estimate"]) < 0.02
    assert certain["half"] < uncertain["half"]
