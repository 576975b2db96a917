"""What waits for a machine: items that are declared with what is expected of them, in order of worth, and not run yet.

`ol2r run --minutes M` without a paper runs as much of it as fits into M minutes, on the CPU or with --device cuda, and
stores rows as they come; what is stored is passed over, so it can be started at any time and any number of times. An
entry leaves the list when all its rows are published and a page shows them.
"""

from typing import NamedTuple


class Queued(NamedTuple):
    """Rows that wait.

    Args:
        paper: whose item it is; item: the item.
        datasets: of which data sets (None: all).
        because: what they decide.
    """

    paper: str
    item: str
    datasets: tuple[str, ...] | None
    because: str


QUEUE = (
    Queued("comparison", "length-networks", ("synthetic-mq-net",), "short lists of a network's labels: the least time "
           "for the question where networks should help"),
    Queued("comparison", "controls-networks", None, "what exploring is worth to networks"),
    Queued("comparison", "length-networks", ("MQ2008",), "whether networks help on real labels at the papers' length"),
    Queued("comparison", "length-networks", ("synthetic-mslr-net",), "long lists of a network's labels"),
    Queued("comparison", "length-networks", ("OHSUMED",), "real labels and long lists"),
    Queued("comparison", "contest-networks", None, "which networks are within reach of the best learner"),
)  # fmt: skip
"""The most worth an hour comes first: the answer that a chapter lacks most, by the least time."""
