"""The covariance in torch: rank-one updates of the inverse, all replicas in step."""

import torch

from ol2r.ranking import covariance


class Covariance(covariance.Covariance):
    """See `ranking.covariance.Covariance`."""

    def add(self, x: torch.Tensor, present: torch.Tensor) -> None:
        """See `ranking.covariance.Covariance.add`."""
        x = torch.where(present[..., None], x, 0.0).to(torch.float64)
        for new in x.unbind(dim=1):
            if self.inverse.shape[1] == 1:
                grown = 1.0 + self.inverse[:, 0] * new**2
                self.inverse[:, 0] /= grown
                self.log_det += grown.log().sum(dim=1)
            else:
                u = torch.einsum("rfg,rg->rf", self.inverse, new)
                grown = 1.0 + (u * new).sum(dim=1)
                self.inverse -= u[:, :, None] * u[:, None] / grown[:, None, None]
                self.log_det += grown.log()
