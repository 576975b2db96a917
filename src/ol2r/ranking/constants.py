"""Values that are the same in every round. Tensors are made once for a device, and never written to."""

from functools import cache

import numpy as np
import torch


@cache
def numbers(n: int, device: torch.device) -> torch.Tensor:
    """0 … n − 1: Int64[n]."""
    return torch.arange(n, device=device)


@cache
def listed(values: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """The values, sent to a device once: Int64[values]."""
    return torch.tensor(values, dtype=torch.int64, device=device)


@cache
def slot_pairs(k: int, neighbours: bool, device: torch.device) -> torch.Tensor:
    """All pairs of k slots, the upper one first, or only slots 0 and 1, 2 and 3, …: Int64[pairs, 2]."""
    pairs = torch.triu_indices(k, k, 1).T
    if neighbours:
        pairs = pairs[(pairs[:, 0] % 2 == 0) & (pairs[:, 1] == pairs[:, 0] + 1)]
    return pairs.contiguous().to(device)


MOST_GRADES = 127
"""Grades are 0 … 126, at most: data sets keep a grade in a byte, and in double precision every gain 2^grade − 1 of
these is right to 2⁻⁵³ of itself."""

GAINS = ("exponential", "linear")


@cache
def gain_of_grades(kind: str) -> np.ndarray:
    """The gain of each grade 0 … 126, 2^grade − 1 (`"exponential"`) or the grade (`"linear"`): Float64[127].

    All scores take their gains from this table. It must not be written to.
    """
    if kind not in GAINS:
        raise ValueError(f"gain must be one of {GAINS}, not {kind!r}")
    return np.array([2**grade - 1 if kind == "exponential" else grade for grade in range(MOST_GRADES)], np.float64)


@cache
def gain_of_grades_on(kind: str, device: torch.device) -> torch.Tensor:
    """`gain_of_grades` on a device: Float64[127]."""
    return torch.from_numpy(gain_of_grades(kind)).to(device)


def discounts(k: int) -> np.ndarray:
    """1 / log2(i + 1) for ranks i = 1 … k: Float64[k]."""
    return 1.0 / np.log2(np.arange(2, k + 2))


@cache
def discounts_on(k: int, device: torch.device) -> torch.Tensor:
    """`discounts` on a device: Float64[k]."""
    return torch.from_numpy(discounts(k)).to(device)


@cache
def ideal_on(k: int, device: torch.device) -> torch.Tensor:
    """DCG of a list whose first n documents have gain 1, for n = 0 … k: Float64[k + 1]."""
    return torch.nn.functional.pad(discounts_on(k, device).cumsum(0), (1, 0))


@cache
def powers(base: float, n: int, device: torch.device) -> torch.Tensor:
    """base⁰ … baseⁿ⁻¹: Float64[n]."""
    return torch.tensor([base**i for i in range(n)], dtype=torch.float64, device=device)


@cache
def eye(n: int, device: torch.device) -> torch.Tensor:
    """The identity: Float64[n, n]."""
    return torch.eye(n, dtype=torch.float64, device=device)


@cache
def pivot_masks(d: int, device: torch.device) -> torch.Tensor:
    """For each pivot 0 … d, the axes from the pivot on, and the pivot alone: Float32[d + 1, 2, d] of ones and zeros."""
    axis = numbers(d, device)
    pivot = numbers(d + 1, device)[:, None]
    return torch.stack([axis >= pivot, axis == pivot], dim=1).to(torch.float32)
