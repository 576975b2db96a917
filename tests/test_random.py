import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import stats

from ol2r.random import Stream, Streams, generator, integer_below, philox, replica_key, uniform, word, words_torch


@njit
def _philox_words(counter, key):
    return philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1])


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_known_answers_of_random123(counter, key, answer):
    words = _philox_words(tuple(np.uint32(c) for c in counter), tuple(np.uint32(k) for k in key))
    assert tuple(int(w) for w in words) == answer


@njit
def _word(key, stream, round_, index):
    return word(key, stream, round_, index)


@njit
def _uniform(key, stream, round_, index):
    return uniform(key, stream, round_, index)


@njit
def _integer(key, stream, round_, index, bound):
    return integer_below(key, stream, round_, index, bound)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**31 - 1), st.integers(0, 40))
def test_torch_and_compiled_words_are_the_same_bits(key, round_, index):
    keys = np.array([key], dtype=np.uint64)
    rounds = torch.tensor([round_ + 1, round_])
    torch_words = words_torch(torch.from_numpy(keys.view(np.int64)), Stream.CLICK, rounds, index + 1)
    expected = [_word(keys[0], int(Stream.CLICK), each, index) for each in (round_ + 1, round_)]
    assert torch_words[0, :, index].tolist() == expected


def test_bulk_draws_of_a_replica_do_not_depend_on_its_neighbours():
    keys = np.array([replica_key("a", 1, s) for s in range(5)])
    together, alone = Streams(keys), Streams(keys[3:4])
    for draw in ("uniforms", "gaussians"):
        batch = getattr(together, draw)(Stream.DIRECTION, 7, 13)
        assert torch.equal(batch[3], getattr(alone, draw)(Stream.DIRECTION, 7, 13)[0])
    assert torch.equal(
        together.uniforms(Stream.CLICK, 2, 9)[1, 4], torch.tensor(_uniform(keys[1], int(Stream.CLICK), 2, 4))
    )


def test_integers_below_match_the_compiled_body_and_stay_in_range():
    keys = np.array([replica_key("b", 2, s) for s in range(50)])
    bounds = torch.arange(1, 51)
    drawn = Streams(keys).integers_below(Stream.QUERY, 3, bounds)
    assert bool(((drawn >= 0) & (drawn < bounds)).all())
    assert int(drawn[20]) == _integer(keys[20], int(Stream.QUERY), 3, 0, 21)
    of_rounds = Streams(keys).integers_of_rounds(Stream.QUERY, 2, 3, bounds)
    assert of_rounds.tolist() == [Streams(keys).integers_below(Stream.QUERY, t, bounds).tolist() for t in (2, 3, 4)]


def test_keys_separate_data_set_fold_and_seed():
    keys = {int(replica_key(d, f, s)) for d in ("MQ2008", "MQ2007") for f in range(1, 6) for s in range(20)}
    assert len(keys) == 2 * 5 * 20


def test_uniforms_and_gaussians_have_their_distributions():
    streams = Streams(np.array([replica_key("c", 1, s) for s in range(40)]))
    u = streams.uniforms(Stream.STOP, 1, 500).numpy().ravel()
    g = streams.gaussians(Stream.DIRECTION, 1, 500).numpy().ravel()
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    assert stats.kstest(g, "norm").pvalue > 1e-3


def test_named_generators_repeat_and_differ_by_name():
    assert generator("x", 1).random() == generator("x", 1).random()
    assert generator("x", 1).random() != generator("y", 1).random()


def test_members_of_an_ensemble_draw_apart_the_first_as_its_replica_and_each_as_in_any_number():
    keys = np.array([replica_key("members", 1, seed) for seed in range(3)])
    streams = Streams(keys)
    few, many = (streams.members(n).keys.reshape(3, n) for n in (2, 5))
    np.testing.assert_array_equal(few, many[:, :2])
    np.testing.assert_array_equal(few[:, 0], keys)
    assert len(np.unique(many)) == 15
    low, high = (int(word(keys[1], Stream.MEMBER, 0, 2 * 3 + half)) for half in (0, 1))
    assert int(many[1, 3]) == high << 32 | low
    drawn = streams.members(5).gaussians(Stream.PERTURBATION, 7, 400).numpy()
    assert np.abs(np.corrcoef(drawn) - np.eye(15)).max() < 0.25
    assert streams.members(1).keys.tolist() == keys.tolist()
