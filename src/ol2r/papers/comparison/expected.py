"""How an expectation that was declared before its results is judged: by the interval of a difference paired by run."""

from collections.abc import Sequence
from typing import Literal

MARGIN = 0.005
"""Differences of offline NDCG@10 below this count as none, as in the papers' chapters."""

Side = Literal["near", "lower", "higher"]
"""What is expected of a difference: less than `MARGIN` to either side, or more than `MARGIN` below or above."""

FROM: dict[Side, str] = {
    "near": f"less than {MARGIN:g} from",
    "lower": f"more than {MARGIN:g} below",
    "higher": f"more than {MARGIN:g} above",
}
"""Each side in words, before what the difference is taken from."""

AS_EXPECTED, OPEN, AGAINST = "✔", "○", "✘"
EXPLAINED = (
    f"✔: the whole 95 % interval is where it was expected, beyond {MARGIN:g} or within it; ✘: the whole interval is "
    "elsewhere; ○: neither. ✔ speaks for the difference, not for the reason that was given."
)
"""What the marks mean."""


def outcome(side: Side, low: float, high: float) -> str:
    """Whether an interval of the difference is as expected, against it, or neither."""
    if side == "higher":
        return outcome("lower", -high, -low)
    if side == "lower":
        return AS_EXPECTED if high < -MARGIN else AGAINST if low > -MARGIN else OPEN
    return AS_EXPECTED if -MARGIN < low and high < MARGIN else AGAINST if high < -MARGIN or low > MARGIN else OPEN


def counted(outcomes: Sequence[str]) -> str:
    """How many outcomes are as expected, and how many against it, in words."""
    as_expected, against = (list(outcomes).count(each) for each in (AS_EXPECTED, AGAINST))
    return f"as expected in {as_expected} of {len(outcomes)}, against in {against}"
