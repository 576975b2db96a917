"""Helpers of the compiled operations: sums, the order of documents by score, and arrays without their tensors."""

import numpy as np

from ol2r.compiling import part
from ol2r.random import Stream, word
from ol2r.ranking.candidates import Candidates


@part(fastmath={"reassoc", "contract", "nsz"})
def dot(a, b):
    """aᵀb of Float32[n] each, in single precision; the compiler chooses the order of the terms."""
    result = np.float32(0.0)
    for i in range(a.shape[0]):
        result += a[i] * b[i]
    return result


@part(fastmath={"reassoc", "contract", "nsz"})
def total(a):
    """Σ a of Float[n], in double precision; the compiler chooses the order of the terms."""
    result = 0.0
    for i in range(a.shape[0]):
        result += a[i]
    return result


@part
def before(score_a, score_b, a, b, key, round_, salt):
    """Whether document a stands before document b: higher score first, equal scores in a random order."""
    if score_a != score_b:
        return score_a > score_b
    return word(key, Stream.TIES, round_, salt + a) < word(key, Stream.TIES, round_, salt + b)


@part
def top(scores, out, key, round_, salt):
    """The best documents in order, by insertion; `out` is padded with −1."""
    depth = out.shape[0]
    filled = 0
    last = np.float32(0.0)
    for j in range(scores.shape[0]):
        if filled == depth:
            if scores[j] < last or not before(scores[j], last, j, out[depth - 1], key, round_, salt):
                continue
            place = depth - 1
        else:
            place = filled
            filled += 1
        while place > 0 and before(scores[j], scores[out[place - 1]], j, out[place - 1], key, round_, salt):
            out[place] = out[place - 1]
            place -= 1
        out[place] = j
        last = scores[out[filled - 1]]
    fill(out[filled:], -1)


# loops, because an array that is assigned to an array, or made by an expression, takes seconds to compile; `np.zeros`
# and its like take longer than `np.empty`, too


@part
def fill(out, value):
    for i in range(out.shape[0]):
        out[i] = value


@part
def put(out, x):
    for i in range(out.shape[0]):
        out[i] = x[i]



def arrays(candidates: Candidates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """features Float32[documents, d], offsets Int64[queries + 1] and query Int64[R], sharing the candidates' memory."""
    return candidates.features.numpy(), candidates.offsets.numpy(), candidates.query.numpy()
