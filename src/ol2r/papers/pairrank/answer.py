"""What the paper comes to here, in one sentence from the stored results, for the book's front page."""

from collections.abc import Mapping

from ol2r.experiments.claims import Results
from ol2r.papers.pairrank import prose
from ol2r.papers.pairrank.claims import BASELINES
from ol2r.report import leads

ITEMS = ("fig-3", "fig-4")


def in_words(results: Mapping[str, Results]) -> str:
    """How often PairRank_C is clearly better than a baseline, and how often worse."""
    ahead = prose.ahead_of_baselines(results, ("PairRank_C",))
    told = leads.balance_in_words(ahead, prose.OFFLINE, prose.ONLINE)
    return f"Beside {len(BASELINES)} baselines, PairRank_C {told}."
