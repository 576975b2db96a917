"""What the paper comes to here, in one sentence from the stored results, for the book's front page."""

from collections.abc import Mapping

from ol2r.experiments.claims import Results
from ol2r.report import leads

ITEMS = ("table-2", "table-3")
_OFFLINE, _ONLINE = "offline", "online"


def in_words(results: Mapping[str, Results]) -> str:
    """How often NSGD is clearly better than MGD, the learner that the paper tests it against, and how often worse."""
    scores = {_OFFLINE: (results["table-3"].frame, "ndcg"), _ONLINE: (results["table-2"].frame, "cndcg")}
    told = leads.balance_in_words(leads.leads_of("NSGD", scores, by="learner", others=("MGD",)), _OFFLINE, _ONLINE)
    return f"Beside MGD, its paper's main rival, NSGD {told}."
