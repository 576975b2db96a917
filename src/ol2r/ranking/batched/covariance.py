"""The covariance in torch: all vectors of a round are added at once, all replicas in step."""

import torch

from ol2r.ranking import covariance
from ol2r.ranking.constants import eye

ROWS = 512
"""Rows of a large inverse that an update changes at a time, so that it needs no second matrix of the same size."""


class Covariance(covariance.Covariance):
    """See `ranking.covariance.Covariance`; the vectors of a call are added by one update (Woodbury)."""

    def add(self, x: torch.Tensor, present: torch.Tensor) -> None:
        """See `ranking.covariance.Covariance.add`."""
        self._change(x, present, 1.0)

    def remove(self, x: torch.Tensor, present: torch.Tensor) -> None:
        """See `ranking.covariance.Covariance.remove`."""
        self._change(x, present, -1.0)

    def _change(self, x: torch.Tensor, present: torch.Tensor, sign: float) -> None:
        """M + sign · x xᵀ for every present row x."""
        x = x.masked_fill(~present[..., None], 0.0).to(torch.float64)
        if self.inverse.shape[1] == 1:
            grown = 1.0 + self.inverse * (x * x).sum(dim=1, keepdim=True) * sign
            self.inverse /= grown
            self.log_det += grown.log().sum(dim=(1, 2))
            return
        applied = x @ self.inverse  # [R, P, d]
        # positive definite whatever vectors are added, and for those that were added before whichever are taken away
        root, _ = torch.linalg.cholesky_ex(torch.add(eye(x.shape[1], x.device), applied @ x.mT, alpha=sign))
        half = torch.linalg.solve_triangular(root, applied, upper=False)
        for rows, part in zip(self.inverse.split(ROWS, dim=1), half.split(ROWS, dim=2), strict=True):
            rows.sub_(part.mT @ half, alpha=sign)
        self.log_det += 2.0 * root.diagonal(dim1=1, dim2=2).log().sum(dim=1)
