"""Tensors that are the same in every round: made once for a device, and never written to."""

from functools import cache

import numpy as np
import torch


@cache
def numbers(n: int, device: torch.device) -> torch.Tensor:
    """0 … n − 1: Int64[n]."""
    return torch.arange(n, device=device)


@cache
def discounts_on(k: int, device: torch.device) -> torch.Tensor:
    """1 / log2(i + 1) for ranks i = 1 … k: Float64[k]."""
    return torch.from_numpy(1.0 / np.log2(np.arange(2, k + 2))).to(device)


@cache
def ideal_on(k: int, device: torch.device) -> torch.Tensor:
    """DCG of a list whose first n documents have gain 1, for n = 0 … k: Float64[k + 1]."""
    return torch.nn.functional.pad(discounts_on(k, device).cumsum(0), (1, 0))
