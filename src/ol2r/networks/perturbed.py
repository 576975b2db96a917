"""One history for an ensemble of networks, each of which sees the labels under noise of its own."""

import torch

from ol2r.networks.history import History


class Perturbed(History):
    """A history of R replicas as N networks of each see it, with noise γ ~ N(0, ν²) on every label (P²NeurRank,
    Eq. 3.3).

    A pair with c labels, y of them 1, has y + Σ γ in place of y, and c less that in place of c − y. Σ γ is normal with
    variance c ν², so it takes one number, however many labels there are. Nothing can be added to it; documents and
    pairs are those of the history as it is now.

    Args:
        history: of R replicas.
        spread: ν, Float32[R].
        normals: independent standard normals, Float32[R · N, pairs], a replica's networks one after another.

    Attributes:
        documents, pairs, outcomes, n_documents, n_pairs, n_labels: as of `History`, with R · N in place of R.
    """

    def __init__(self, history: History, spread: torch.Tensor, normals: torch.Tensor):
        each = len(normals) // len(spread)

        def shared(kept: torch.Tensor) -> torch.Tensor:
            """Of each network what its replica has; with one replica it is there once, and all networks look at it."""
            return kept[:, None].expand(-1, each, *kept.shape[1:]).flatten(0, 1)

        self.n_documents, self.n_pairs, self.n_labels = map(
            shared, (history.n_documents, history.n_pairs, history.n_labels)
        )
        self._shared_documents, self._shared_pairs = shared(history.documents), shared(history.pairs)
        outcomes = shared(history.outcomes)
        noise = shared(spread)[:, None] * outcomes.sum(dim=2).sqrt() * normals
        self._perturbed = outcomes + torch.stack([noise, -noise], dim=2)

    @property
    def documents(self) -> torch.Tensor:
        return self._shared_documents

    @property
    def pairs(self) -> torch.Tensor:
        return self._shared_pairs

    @property
    def outcomes(self) -> torch.Tensor:
        return self._perturbed
