"""What a diagonal covariance needs of tangents without any gradient of p entries: compiled, for the CPU."""

import numpy as np
import torch

from ol2r.compiling import kernel, part
from ol2r.networks.tangent import Tangent


def scaled_kernel(tangent: Tangent, scale: torch.Tensor, *, doubled: bool = False) -> torch.Tensor:
    """G diag(scale) Gᵀ/m of some documents, with their gradients as the rows of G: Float64[R, V, V].

    In the part of W_l, only documents with a δ_l other than 0 meet each other.

    Args:
        scale: Float64[R, p].
        doubled: whether both halves of the network's inputs are the same, as in a symmetric network. The products are
            then half as long.
    """
    inputs = tangent.inputs[-1]
    total = inputs.new_zeros(*inputs.shape[:2], inputs.shape[1])
    for start, a, delta in _layers(tangent):
        outputs, read = delta.shape[2], a.shape[2]
        own = scale[:, start : start + outputs * read]
        if doubled and start == 0:
            read //= 2
            own = own.unflatten(1, (outputs, 2, read)).sum(dim=2).flatten(1)
        _add_scaled_kernel(a, delta, own.numpy(), read, total.numpy())
    return total


def squares(documents: Tangent) -> torch.Tensor:
    """Σ (g − g′)²/m over pairs of consecutive documents, entry by entry: Float64[R, p]."""
    layers = [*_layers(documents)]
    start, a, delta = layers[-1]
    total = torch.zeros(len(a), start + delta.shape[2] * a.shape[2], dtype=torch.float64)
    for start, a, delta in layers:
        _add_squares(a, delta, start, total.numpy())
    return total


def _layers(tangent: Tangent):
    """Of each layer its place in θ, a_{l−1} and δ_l, where δ_L = 1: an int, Float64[R, V, inputs], and outputs."""
    last = tangent.inputs[-1]
    start = 0
    for a, delta in zip(tangent.inputs, (*tangent.deltas, last.new_ones(*last.shape[:2], 1)), strict=True):
        yield start, a.contiguous().numpy(), delta.contiguous().numpy()
        start += a.shape[2] * delta.shape[2]


@part(fastmath={"reassoc", "contract", "nsz"})
def _dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def _add_scaled_kernel(a, delta, scale, n_inputs, total):
    """The part of one layer, of whose inputs the first `n_inputs` count."""
    on, scaled = np.empty(a.shape[1], dtype=np.int64), np.empty(n_inputs)
    for r in range(a.shape[0]):
        for o in range(delta.shape[2]):
            n_on = 0
            for v in range(a.shape[1]):
                if delta[r, v, o] != 0.0:
                    on[n_on] = v
                    n_on += 1
            here = scale[r, o * n_inputs : (o + 1) * n_inputs]
            for i in on[:n_on]:
                for f in range(n_inputs):
                    scaled[f] = delta[r, i, o] * here[f] * a[r, i, f]
                for j in on[:n_on]:
                    if j > i:
                        break
                    both = delta[r, j, o] * _dot(scaled, a[r, j, :n_inputs])
                    total[r, i, j] += both
                    if j < i:
                        total[r, j, i] += both


@kernel
def _add_squares(a, delta, start, total):
    n_inputs = a.shape[2]
    for r in range(a.shape[0]):
        for o in range(delta.shape[2]):
            out = total[r, start + o * n_inputs : start + (o + 1) * n_inputs]
            for v in range(0, a.shape[1], 2):
                first, second = delta[r, v, o], delta[r, v + 1, o]
                if first != 0.0 or second != 0.0:
                    for f in range(n_inputs):
                        g = first * a[r, v, f] - second * a[r, v + 1, f]
                        out[f] += g * g
