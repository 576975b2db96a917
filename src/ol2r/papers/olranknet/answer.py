"""What the paper comes to here, in one sentence from the stored results, for the book's front page."""

from collections.abc import Mapping

from ol2r.experiments.claims import Results
from ol2r.papers.olranknet import figures
from ol2r.papers.olranknet.claims import OURS
from ol2r.report import leads

ITEMS = ("fig-4",)


def in_words(results: Mapping[str, Results]) -> str:
    """How often olRankNet is clearly better than PairRank, the paper's best linear learner, and how often worse."""
    table = figures.leads(results["fig-4"].frame, "PairRank", variants=OURS[:1])
    told = leads.balance_in_words(table, figures.OFFLINE, figures.IN_LISTS)
    return f"Beside PairRank, the strongest linear learner of its paper, olRankNet {told}."
