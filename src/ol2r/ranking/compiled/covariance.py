"""The covariance, compiled: rank-one updates of the inverse, one loop for each replica."""

import numpy as np
import torch
from numba import prange

from ol2r.compiling import kernel, part
from ol2r.ranking import covariance
from ol2r.ranking.compiled.blocks import dot64


@part
def product(matrix, x, out):
    """out = matrix · x."""
    for f in range(x.shape[0]):
        out[f] = dot64(matrix[f], x)


@part(fastmath={"reassoc", "contract", "nsz"})
def downdate(inverse, u, scale):
    """inverse ← inverse − scale · u uᵀ (Sherman and Morrison)."""
    for f in range(u.shape[0]):
        c = scale * u[f]
        row = inverse[f]
        for g in range(u.shape[0]):
            row[g] -= c * u[g]


@kernel
def _change(x, present, sign, inverse, log_det):
    """M + sign · x xᵀ for every present row x."""
    for r in prange(inverse.shape[0]):
        u = np.empty(inverse.shape[2])
        for i in range(x.shape[1]):
            if not present[r, i]:
                continue
            new = x[r, i]
            if inverse.shape[1] == 1:
                for f in range(new.shape[0]):
                    grown = 1.0 + sign * inverse[r, 0, f] * np.float64(new[f]) ** 2
                    inverse[r, 0, f] /= grown
                    log_det[r] += np.log(grown)
            else:
                product(inverse[r], new, u)
                grown = 1.0 + sign * dot64(u, new)
                downdate(inverse[r], u, sign / grown)
                log_det[r] += np.log(grown)


class Covariance(covariance.Covariance):
    """See `ranking.covariance.Covariance`."""

    def add(self, x: torch.Tensor, present: torch.Tensor) -> None:
        """See `ranking.covariance.Covariance.add`."""
        _change(x.numpy(), present.numpy(), 1.0, self.inverse.numpy(), self.log_det.numpy())

    def remove(self, x: torch.Tensor, present: torch.Tensor) -> None:
        """See `ranking.covariance.Covariance.remove`."""
        _change(x.numpy(), present.numpy(), -1.0, self.inverse.numpy(), self.log_det.numpy())
