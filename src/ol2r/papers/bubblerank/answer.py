"""What the paper comes to here, in one sentence from the stored results, for the book's front page."""

from collections.abc import Mapping

from ol2r.experiments.claims import Results
from ol2r.experiments.effects import at_own_end
from ol2r.papers.bubblerank import tables
from ol2r.report.leads import in_range

ITEMS = ("fig-1", "first-100", "query-rewards")
_OURS, _RIVAL = "BubbleRank", "TopRank"


def in_words(results: Mapping[str, Results]) -> str:
    """How often BubbleRank showed a list much worse than the initial one, and what that costs beside TopRank."""
    last = at_own_end(results["fig-1"].frame)
    own, steps = last[last["learner"] == _OURS], int(last["round"].max())
    broken = int(own["violations"].sum())
    lost = tables.compared(results)
    ratios = lost.loc[(lost["row"] == _RIVAL) & (lost["panel"] == tables.after(steps)), "mean"]
    cost = f"; after {steps:,} steps it had lost {in_range(ratios, '{:.1f}'.format)} times as many clicks as {_RIVAL}"
    return (
        f"In {len(own):,} runs {_OURS} {f'showed on {broken:,} steps' if broken else 'never showed'} a list much worse "
        f"than the one that it began with{cost if len(ratios) else ''}."
    )
