"""What a learner may see of a query: the features of its documents, and no labels."""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from ol2r.ranking.constants import numbers


@dataclass(frozen=True)
class Candidates:
    """The documents that each replica has to rank in a round: replica r ranks those of query[r], which vary in number.

    The documents of a data set are stored once; a round only names queries. Rankings hold positions within a query's
    own list (0 is its first document), and −1 beyond the end of a list that is shorter than asked.

    Args:
        features: Float32[documents, features].
        offsets: Int64[queries + 1]; query q owns the documents offsets[q] … offsets[q + 1] − 1.
        totals: Float32[queries, features], the sum of each query's document features.
        query: Int64[R], each replica's query.
        longest: number of documents of the longest query that a learner ever meets, so that all rounds have the same
            shapes; 0 to read it from this round's queries.
        numbers: Int64[documents], by which a learner tells apart all documents that it ever meets, where they are not
            all rows of the same `features`; None for the numbers of these rows.
    """

    features: Float32[Tensor, "documents d"]
    offsets: Int64[Tensor, " boundaries"]
    totals: Float32[Tensor, "queries d"]
    query: Int64[Tensor, " R"]
    longest: int = 0
    numbers: Int64[Tensor, " documents"] | None = None

    @cached_property
    def _spans(self) -> Int64[Tensor, "R 2"]:
        return self.offsets.unfold(0, 2, 1)[self.query]

    @cached_property
    def starts(self) -> Int64[Tensor, " R"]:
        """First document of each replica's query: Int64[R]."""
        return self._spans[:, 0]

    @cached_property
    def sizes(self) -> Int64[Tensor, " R"]:
        """Number of documents of each replica's query: Int64[R]."""
        return self._spans[:, 1] - self.starts

    @cached_property
    def width(self) -> int:
        """V, to which lists of documents are padded; read from this round's queries unless `longest` says it."""
        return self.longest or int(self.sizes.max())

    def number(self, documents: Int64[Tensor, "*places"]) -> Int64[Tensor, "*places"]:
        """The numbers by which a learner tells documents apart, from their rows in `features`."""
        return documents if self.numbers is None else self.numbers[documents]

    def differences(self, pairs: Int64[Tensor, "R P 2"]) -> Float32[Tensor, "R P d"]:
        """Features of each pair's first document less those of its second: Float32[R, P, d], 0 where there is no pair.

        Args:
            pairs: Int64[R, P, 2], positions in the query's own list, padded with −1.
        """
        documents = torch.where(pairs[..., :1] >= 0, self.starts[:, None, None] + pairs, 0)
        return self.features[documents[..., 0]] - self.features[documents[..., 1]]

    def padded(
        self, queries: Int64[Tensor, "*places"] | None = None
    ) -> tuple[Float32[Tensor, "*places V d"], Bool[Tensor, "*places V"]]:
        """Features of the documents of `queries` (default: this round's), padded to the longest list.

        Args:
            queries: Int64[...].

        Returns:
            Float32[..., V, features] with zeros beyond a list's end, and Bool[..., V] that is true where a document is.
        """
        if queries is None:
            start, size = self.starts, self.sizes
            if len(start) == 1 and not self.longest and start.device.type == "cpu":  # nothing to pad
                x = self.features[int(start) : int(start) + int(size)][None].clone()
                return x, x.new_ones(x.shape[:2], dtype=torch.bool)
        else:
            start = self.offsets[queries]
            size = self.offsets[queries + 1] - start
        place = numbers(self.longest or int(size.max()), size.device)
        present = place < size[..., None]
        rows = (start[..., None] + place).clamp_max(self.features.shape[0] - 1)
        return self.features[rows] * present[..., None], present
