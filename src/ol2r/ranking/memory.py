"""What a bounded memory of labelled pairs tells of a round, in either engine."""

from dataclasses import dataclass

from jaxtyping import Bool, Float32, Int64
from torch import Tensor


@dataclass(frozen=True)
class Exchange:
    """Labels that a memory took in, and those that it gave up for them.

    Args:
        rows: where the labels stand that were taken in, Int64[R, P], −1 for those that were not.
        won: whether the first document of the pair is preferred, Bool[R, P].
        left: whether a label was given up, Bool[R, P]; left_x, left_won: its pair and label, Float32[R, P, d] and
            Bool[R, P].
    """

    rows: Int64[Tensor, "R P"]
    won: Bool[Tensor, "R P"]
    left: Bool[Tensor, "R P"]
    left_x: Float32[Tensor, "R P d"]
    left_won: Bool[Tensor, "R P"]
