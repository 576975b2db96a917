"""Counter-based random numbers: (key, stream, round, index) alone determine each number, not what was drawn before.

The generator is Philox4x32-10 (Salmon et al., 2011); the tests check its published answers. A replica's key is a hash
of (data set, fold, seed), and each use of randomness has its own stream. This room knows no rankings or learners.
"""

import hashlib
from collections.abc import Callable
from enum import IntEnum

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel, part

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF

MOST_ROUNDS = 256
_MOST_WORDS = 1 << 22
"""On a device: rounds that are drawn at once at most, and words of a stream, where that is more than one round's."""


class Stream(IntEnum):
    """What a random number is used for. Every stored result depends on these values: append, never renumber."""

    QUERY = 1  # which query a round serves
    CLICK = 2  # a user's click coins, by slot
    STOP = 3  # a user's stop coins, by slot
    INITIAL = 4  # a learner's starting weights
    DIRECTION = 5  # exploratory directions, by candidate and feature
    TIES = 6  # order of equally scored documents, by ranker and document
    INTERLEAVE = 7  # draft order and coin flips of interleaving, by slot
    WINNER = 8  # choice among winners that remain tied
    BASIS = 9  # which basis vectors of a null space, and their signs
    MATCH = 10  # who meets whom when candidates are preselected
    MIX = 11  # directions from the whole space among those of a null space
    PAIRS = 12  # which clicked document is paired with which examined one
    SHUFFLE = 13  # order within a block of documents, by document or by slot
    SAMPLE = 14  # a Plackett-Luce list, by document
    EXPLORE = 15  # whether a slot explores, and what it shows then
    MEMBER = 16  # keys of the members of an ensemble, by member
    PERTURBATION = 17  # noise on labels, by feature or by pair
    MEMORY = 18  # which label a reservoir gives up for a new one, by label
    BANDIT_INITIAL = 20  # random initial lists of item-level bandits, by slot
    BANDIT_FLIP = 21  # BubbleRank's exchange coins, by pair of positions
    BANDIT_SHUFFLE = 22  # the random order within a block or batch of items, by slot
    BATCH = 23  # the order in which a refit of a network takes labels, by label


def replica_key(dataset: str, fold: int, seed: int) -> np.uint64:
    """Key of a replica: the first 64 bits of BLAKE2b of (data set, fold, seed).

    Learner, users and hyper-parameters are left out on purpose: replicas that differ only in them meet the same
    queries and the same user coins, so that comparisons are paired.
    """
    text = f"{dataset}\x1f{fold}\x1f{seed}".encode()
    return np.uint64(int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little"))


def generator(name: str, seed: int) -> np.random.Generator:
    """A numpy generator for bulk draws outside the simulated rounds (synthetic data, Monte-Carlo audits, bootstrap)."""
    digest = hashlib.blake2b(f"{name}\x1f{seed}".encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest, dtype=np.uint64)))


@part
def _philox_round(c0, c1, c2, c3, k0, k1):
    p0 = np.uint64(_M0) * np.uint64(c0)
    p1 = np.uint64(_M1) * np.uint64(c2)
    return (
        np.uint32(p1 >> np.uint64(32)) ^ c1 ^ k0,
        np.uint32(p1),
        np.uint32(p0 >> np.uint64(32)) ^ c3 ^ k1,
        np.uint32(p0),
    )


@part
def philox(c0, c1, c2, c3, k0, k1):
    """Philox4x32-10: map a counter of four 32-bit words and a key of two to four random 32-bit words."""
    for _ in range(10):
        c0, c1, c2, c3 = _philox_round(c0, c1, c2, c3, k0, k1)
        k0 = np.uint32(k0 + np.uint32(_W0))
        k1 = np.uint32(k1 + np.uint32(_W1))
    return c0, c1, c2, c3


@part
def block(key, stream, round_, number):
    """Block `number` of a stream in a round: four uint32 words, which are words 4·number … 4·number + 3."""
    return philox(
        np.uint32(number),
        np.uint32(round_),
        np.uint32(stream),
        np.uint32(0),
        np.uint32(key & np.uint64(_MASK)),
        np.uint32(key >> np.uint64(32)),
    )


@part
def word(key, stream, round_, index):
    """Word `index` of a stream in a round, a uint32."""
    w0, w1, w2, w3 = block(key, stream, round_, index >> 2)
    lane = index & 3
    return w0 if lane == 0 else w1 if lane == 1 else w2 if lane == 2 else w3


@part
def _unit_interval(bits):
    return np.float32(bits >> np.uint32(8)) * np.float32(2.0**-24)


@part
def uniform(key, stream, round_, index):
    """A float32 in [0, 1), a multiple of 2⁻²⁴."""
    return _unit_interval(word(key, stream, round_, index))


@part
def integer_below(key, stream, round_, index, bound):
    """An integer in [0, bound), by multiplication; its bias is below bound · 2⁻³²."""
    return np.int64((np.uint64(word(key, stream, round_, index)) * np.uint64(bound)) >> np.uint64(32))


@part
def _box_muller(a, b):
    radius = np.sqrt(np.float32(-2.0) * np.log((np.float32(a) + np.float32(0.5)) * np.float32(2.0**-32)))
    angle = np.float32(2.0 * np.pi) * np.float32(b) * np.float32(2.0**-32)
    return radius * np.cos(angle), radius * np.sin(angle)


@part
def fill_gaussian(key, stream, round_, first_block, out):
    """Fill a float32 vector with standard normals from the blocks first_block, first_block + 1, … (four to a block)."""
    n = out.shape[0]
    for number in range((n + 3) // 4):
        w0, w1, w2, w3 = block(key, stream, round_, first_block + number)
        i = 4 * number
        out[i], sine = _box_muller(w0, w1)
        if i + 1 < n:
            out[i + 1] = sine
        if i + 2 < n:
            cosine, sine = _box_muller(w2, w3)
            out[i + 2] = cosine
            if i + 3 < n:
                out[i + 3] = sine


@kernel
def _words(keys, stream, round_, out):
    for r in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[r, j] = word(keys[r], stream, round_, j)


@kernel
def _uniforms(keys, stream, round_, out):
    for r in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[r, j] = uniform(keys[r], stream, round_, j)


@kernel
def _gaussians(keys, stream, round_, out):
    for r in prange(out.shape[0]):
        fill_gaussian(keys[r], stream, round_, 0, out[r])


@kernel
def _member_keys(keys, out):
    for r in range(out.shape[0]):
        out[r, 0] = keys[r]
        for member in range(1, out.shape[1]):
            low, high = word(keys[r], Stream.MEMBER, 0, 2 * member), word(keys[r], Stream.MEMBER, 0, 2 * member + 1)
            out[r, member] = np.uint64(low) | np.uint64(high) << np.uint64(32)


@kernel
def _integers(keys, stream, first_round, bounds, out):
    for i in range(out.shape[0]):
        for r in range(out.shape[1]):
            out[i, r] = integer_below(keys[r], stream, first_round + i, 0, bounds[r])


def _philox_torch(counter: list[torch.Tensor], key: list[torch.Tensor]) -> list[torch.Tensor]:
    # int64 products wrap modulo 2⁶⁴, so masking after the shift gives the exact high and low words
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c0 * _M0, c2 * _M1
        c0, c1, c2, c3 = (p1 >> 32 & _MASK) ^ c1 ^ k0, p1 & _MASK, (p0 >> 32 & _MASK) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = k0 + _W0 & _MASK, k1 + _W1 & _MASK
    return [c0, c1, c2, c3]


def words_torch(keys: torch.Tensor, stream: int, rounds: torch.Tensor, n: int) -> torch.Tensor:
    """The first n words of a stream in some rounds, for each key: Int64[R, rounds, n], the same bits as `word`.

    Args:
        keys: Int64[R], the bits of the replicas' keys; rounds: Int64[rounds], on the same device.
    """
    number = torch.arange((n + 3) // 4, device=keys.device)
    counter = [number.expand(len(keys), len(rounds), -1), rounds[:, None]]
    counter += [torch.full_like(number, value) for value in (int(stream), 0)]
    key = [(keys & _MASK)[:, None, None], (keys >> 32 & _MASK)[:, None, None]]
    return torch.stack(_philox_torch(counter, key), dim=3).flatten(2)[..., :n]


def _words_torch(words: torch.Tensor) -> torch.Tensor:
    return words


def _uniforms_torch(words: torch.Tensor) -> torch.Tensor:
    return (words >> 8).to(torch.float32) * 2.0**-24


def _gaussians_torch(words: torch.Tensor) -> torch.Tensor:
    a, b = words.unflatten(-1, (-1, 2)).to(torch.float32).unbind(-1)
    radius, angle = torch.sqrt(-2.0 * torch.log((a + 0.5) * 2.0**-32)), 2.0 * np.pi * b * 2.0**-32
    return torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=-1).flatten(-2)


class _Ahead:
    """One kind of draw of one stream on a device, made for several rounds at once and read round by round.

    The tensor that holds the draws is written again for the next rounds, so that what reads it finds them in its place.
    """

    def __init__(self, streams: "Streams", stream: Stream, n: int, made_of: Callable[[torch.Tensor], torch.Tensor]):
        self.keys, self.stream, self.made_of = streams.keys_torch, stream, made_of
        self.n = 4 * ((n + 3) // 4)
        self.n_rounds = 1
        while self.n_rounds < MOST_ROUNDS and 4 * self.n_rounds * self.n * len(streams) <= _MOST_WORDS:
            self.n_rounds *= 4
        self.first: int | None = None

    def draw(self, round_: int) -> None:
        """Hold the draws of this round and of those that share its block."""
        first = round_ - round_ % self.n_rounds
        if first == self.first:
            return
        rounds = torch.arange(first, first + self.n_rounds, device=self.keys.device)
        drawn = self.made_of(words_torch(self.keys, self.stream, rounds, self.n))
        if self.first is None:
            self.drawn = drawn
        else:
            self.drawn.copy_(drawn)
        self.first = first


class Streams:
    """The streams of a batch of replicas: bulk draws as tensors with the replicas first.

    On the CPU a draw comes from the compiled body. On another device it comes from the torch body, for a block of
    rounds at once; a round then reads its own part, at a place that stands on the device as well.

    Args:
        keys: uint64[R], one `replica_key` for each replica.
        device: device of the draws.
    """

    def __init__(self, keys: np.ndarray, device: str | torch.device = "cpu"):
        self.keys = np.ascontiguousarray(keys, dtype=np.uint64)
        self.device = torch.device(device)
        self.keys_torch = torch.from_numpy(self.keys.view(np.int64)).to(self.device)
        self._ahead: dict[tuple[Stream, Callable], _Ahead] = {}
        self._round: int | None = None
        self._places: dict[int, torch.Tensor] = {}  # by length of a block of rounds: this round's place, Int64[1]
        self._members: dict[int, Streams] = {}

    def __len__(self) -> int:
        return len(self.keys)

    def members(self, n: int) -> "Streams":
        """Streams of ensembles with n members in each replica, R × n keys with a replica's members one after another.

        The first member has its replica's own key, so an ensemble of one draws what a single learner draws. A member's
        key does not depend on n.
        """
        if n not in self._members:
            keys = np.empty((len(self), n), dtype=np.uint64)
            _member_keys(self.keys, keys)
            self._members[n] = Streams(keys.ravel(), self.device)
        return self._members[n]

    def seek(self, round_: int) -> None:
        """Make ready what this round will draw, as far as rounds before it have drawn the like.

        On a device a round reads what stands ready; a round that is replayed from a recording must be sought first.
        """
        if self._round == round_ or self.device.type == "cpu":
            return
        self._round = round_
        for ahead in self._ahead.values():
            ahead.draw(round_)
        for n_rounds, place in self._places.items():
            place.fill_(round_ % n_rounds)
        for members in self._members.values():
            members.seek(round_)

    def _there(
        self, stream: Stream, round_: int, n: int, made_of: Callable[[torch.Tensor], torch.Tensor]
    ) -> torch.Tensor:
        if round_ == 0:  # before the first: drawn once, not round after round
            rounds = torch.zeros(1, dtype=torch.int64, device=self.device)
            return made_of(words_torch(self.keys_torch, stream, rounds, 4 * ((n + 3) // 4)))[:, 0, :n]
        self.seek(round_)
        ahead = self._ahead.get((stream, made_of))
        if ahead is None or ahead.n < n:
            ahead = self._ahead[stream, made_of] = _Ahead(self, stream, n, made_of)
            ahead.draw(round_)
        return ahead.drawn.index_select(1, self.place(round_, ahead.n_rounds))[:, 0, :n]

    def place(self, round_: int, n_rounds: int) -> torch.Tensor:
        """On a device, the place of this round in its block of n_rounds, from 0: Int64[1], which `seek` moves on."""
        self.seek(round_)
        if n_rounds not in self._places:
            place = torch.full((1,), round_ % n_rounds, dtype=torch.int64, device=self.device)
            self._places[n_rounds] = place
        return self._places[n_rounds]

    def words(self, stream: Stream, round_: int, n: int) -> torch.Tensor:
        """Int64[R, n] in [0, 2³²): words 0 … n − 1 of the stream in this round."""
        if self.device.type == "cpu":
            out = np.empty((len(self), n), dtype=np.int64)
            _words(self.keys, int(stream), round_, out)
            return torch.from_numpy(out)
        return self._there(stream, round_, n, _words_torch)

    def uniforms(self, stream: Stream, round_: int, n: int) -> torch.Tensor:
        """Float32[R, n] in [0, 1): words 0 … n − 1 of the stream in this round."""
        if self.device.type == "cpu":
            out = np.empty((len(self), n), dtype=np.float32)
            _uniforms(self.keys, int(stream), round_, out)
            return torch.from_numpy(out)
        return self._there(stream, round_, n, _uniforms_torch)

    def gaussians(self, stream: Stream, round_: int, n: int) -> torch.Tensor:
        """Float32[R, n] standard normals by Box and Muller from words 0 … n − 1 (n rounded up to a block of four)."""
        if self.device.type == "cpu":
            out = np.empty((len(self), n), dtype=np.float32)
            _gaussians(self.keys, int(stream), round_, out)
            return torch.from_numpy(out)
        return self._there(stream, round_, n, _gaussians_torch)

    def integers_below(self, stream: Stream, round_: int, bounds: torch.Tensor) -> torch.Tensor:
        """Int64[R]: word 0 of the stream in this round scaled to [0, bounds[r])."""
        return self.integers_of_rounds(stream, round_, 1, bounds)[0]

    def integers_of_rounds(self, stream: Stream, first_round: int, n: int, bounds: torch.Tensor) -> torch.Tensor:
        """Int64[n, R]: `integers_below` of n consecutive rounds, beginning with first_round."""
        if self.device.type == "cpu":
            out = np.empty((n, len(self)), dtype=np.int64)
            _integers(self.keys, int(stream), first_round, bounds.numpy(), out)
            return torch.from_numpy(out)
        rounds = torch.arange(first_round, first_round + n, device=self.device)
        return words_torch(self.keys_torch, stream, rounds, 1)[..., 0].T * bounds >> 32
