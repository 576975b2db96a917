"""What the paper comes to here, in one sentence from the stored results, for the book's front page."""

from collections.abc import Mapping

from ol2r.experiments.claims import Results
from ol2r.papers.olranknet.figures import IN_LISTS, OFFLINE
from ol2r.papers.p2neurrank import figures
from ol2r.papers.p2neurrank.claims import LINEAR, NEURAL, OLRANKNET, PAIRRANK
from ol2r.report import leads

ITEMS = ("fig-2", "fig-4")


def in_words(results: Mapping[str, Results]) -> str:
    """How often two rankers that disagree are clearly better than confidence intervals, and how often worse, linear
    rankers and networks together.
    """
    runs = {PAIRRANK: (results["fig-2"].frame, LINEAR[:1]), OLRANKNET: (results["fig-4"].frame, NEURAL[:1])}
    told = leads.balance_in_words(figures.rival_leads(runs), OFFLINE, IN_LISTS)
    return f"Beside {PAIRRANK} (linear) and {OLRANKNET} (networks), an ensemble of two {told}."
