"""What waits for a machine: items that are declared with what is expected of them, in order of worth, and not run yet.

`ol2r run --minutes M` without a paper runs as much of it as fits into M minutes, on the CPU or with --device cuda, and
stores rows as they come; what is stored is passed over, so it can be started at any time and any number of times. An
entry leaves the list when all its rows are published and a page shows them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ol2r.experiments.cells import Job
from ol2r.experiments.runner import lacking
from ol2r.experiments.store import Store


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
    Queued("comparison", "contest", None, "which linear rankers are within reach of the best learner"),
    Queued("p2neurrank", "fig-7-shared", None, "how many rankers it takes under much noise, if noise alone parts them"),
    Queued("p2neurrank", "fig-8-shared", None, "the same under little noise"),
    Queued("p2neurrank", "starts", None, "what makes two networks disagree, their starts or the noise"),
    Queued("p2neurrank", "fits", None, "how much of the noise arrives, by how far refits go"),
    Queued("olranknet", "fits-as-text", None, "by which fit long runs of networks take less time without being worse"),
    Queued("olranknet", "ranked-later", None, "whether olLambdaRank by its main reading comes out elsewhere as here"),
    Queued("olranknet", "ranked-longer", None, "the same for as many rounds as the paper's"),
    Queued("olranknet", "tuning-by-users", None, "which values networks have for each kind of users"),
    Queued("olranknet", "public-code", None, "what the public code comes to"),
    Queued("pairrank", "tuning-by-users-longer", None, "which values linear rankers have for each kind of users"),
    Queued("comparison", "length", None, "what linear rankers come to at the papers' length, beside which networks "
           "are held"),
    Queued("p2neurrank", "fits-long", None, "the same with ten times as many passes"),
    Queued("comparison", "contest-networks", None, "which networks are within reach of the best learner"),
    Queued("comparison", "controls-networks", None, "what exploring is worth to networks"),
    Queued("comparison", "length-networks", ("synthetic-mq-net",), "whether networks help where labels are a "
           "network's and lists short"),
    Queued("comparison", "length-networks", ("MQ2008",), "whether they help on real labels"),
    Queued("comparison", "length-networks", ("synthetic-mslr-net",), "whether they help where lists are long"),
    Queued("comparison", "length-networks", ("OHSUMED",), "whether they help on real labels and long lists"),
)  # fmt: skip
"""The most worth an hour comes first: the answer that a chapter lacks most, by the least time."""


def waiting(store: Store, queue: Sequence[Queued] = QUEUE) -> list[tuple[Queued, list[Job]]]:
    """Every entry with the jobs of it that a store lacks, each job with the first entry that has it."""
    from ol2r.papers import paper  # here, because the papers' grids are read only by who asks for them

    found, before = [], set()
    for each in queue:
        jobs = lacking(paper(each.paper).items[each.item].jobs("paper", None, each.datasets), store)
        found.append((each, [job for job in jobs if job.cell not in before]))
        before |= {job.cell for job in jobs}
    return found
