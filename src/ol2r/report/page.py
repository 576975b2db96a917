"""The functions that a chapter's cells call: they give results and verdicts, and put texts and strips on the page.

A page is connected with the results that it shows once, so that a cell says only what it shows. This module must not
know any paper.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ol2r.data import is_own
from ol2r.experiments.chapter import Chapter, Results
from ol2r.experiments.verdicts import Judgement, judge_all
from ol2r.report import tables, verdicts
from ol2r.report.strip import strip

if TYPE_CHECKING:
    from ol2r.report.style import Drawing


def show(*texts: str) -> None:
    """Put MyST texts on the page, in a notebook."""
    from IPython.display import Markdown, display  # here, because only notebooks have it

    display(*map(Markdown, texts))


def _own_in(frame: pd.DataFrame) -> list[str]:
    """The reader's own data sets among the data sets of some runs."""
    return [name for name in frame["dataset"].unique() if is_own(str(name))] if "dataset" in frame else []


class Page:
    """What one page of a chapter shows: results, printed numbers and judgements, and the ways to show them.

    Args:
        chapter: the chapter.
        preferred: data sets for the page's figures, best first; a figure shows the first of them that was run.
        items: the items that the page shows, whose results are read (or computed) immediately (None: all).

    Attributes:
        results: the results by item.
        printed: the paper's printed numbers.
        judgements: the judgement of every claim that reads no other item than the page's, by the claim's identifier.
    """

    def __init__(self, chapter: Chapter, preferred: Sequence[str] = (), items: Iterable[str] | None = None):
        self.chapter = chapter
        self.preferred = tuple(preferred)
        self.results: dict[str, Results] = chapter.all_results(items)
        self.printed = chapter.paper.printed()
        paper = chapter.paper
        readable = [claim for claim in paper.claims if paper.read_by(claim) <= self.results.keys()]
        self.judgements: dict[str, Judgement] = judge_all(readable, self.results, self.printed, paper.readings)

    def sources(
        self, items: str, table: pd.DataFrame, anchor: str | None = None, drawn: pd.DataFrame | None = None
    ) -> None:
        """The strip under a figure or table: where it came from, its data, how to make it again and cite it.

        Args:
            items: names of the items that were drawn, separated by blanks; the first gives title and command.
            table: the aggregate that the figure or table shows.
            anchor: the anchor of the figure or table on the page (None: the chapter's name and the first item's).
            drawn: the rows that were drawn (None: all rows of the items).
        """
        name = self.chapter.name
        names = items.split()
        anchor = anchor or f"{name}-{names[0]}"
        shown = self.results[names[0]].frame if drawn is None else drawn
        own = _own_in(shown)
        command = f"ol2r run {name} --tier {self.chapter.tier} --item {names[0]}{' --data PATH' if own else ''}"
        declared = shown[~shown["dataset"].isin(own)] if own else shown
        if len(declared):
            command += f"\nol2r verify {name} --cell {declared['cell'].iloc[0][:12]}"
        origin = [self.results[item] for item in names]
        told = tables.diverged_in_words(pd.concat([each.frame for each in origin]) if drawn is None else drawn)
        block = strip(origin, table, anchor=anchor, command=command, csv=f"data/{anchor}.csv", drawn=drawn)
        show(*([told] if told else []), block)

    def live(self, item: str, title: str, table: pd.DataFrame, command: str, **told: str) -> None:
        """The strip under a figure that a cell computed itself, without stored results.

        Args:
            told: data, rounds or seeds, where the cell ran a learner.
        """
        name = f"{self.chapter.name}-{item}"
        origin = self.chapter.computed(item, title)
        show(strip(origin, table, anchor=name, command=command, csv=f"data/{name}.csv", told=told))

    def claims(self, *ids: str) -> None:
        """The judgements of some claims."""
        show(*(verdicts.claim(self.judgements[each]) for each in ids))

    def on(self, item: str, *preferred: str) -> pd.DataFrame:
        """The item's runs on the first of these data sets that it has runs on, or else on the item's last data set.

        If no data set is given, a reader's own data comes before those that the chapter prefers. The result is empty if
        the item has no runs.
        """
        frame = self.results[item].frame
        names = [] if frame.empty else list(frame["dataset"].unique())
        first = preferred or (*_own_in(frame), *self.preferred)
        chosen = next((each for each in first if each in names), names[-1] if names else None)
        return frame[frame["dataset"] == chosen] if names else frame

    def among(self, item: str, *datasets: str) -> pd.DataFrame:
        """The item's runs on all of these data sets, in the given order; data sets without runs are left out."""
        frame = self.results[item].frame
        return pd.concat([frame[frame["dataset"] == each] for each in datasets]) if datasets else frame[:0]

    def drawn(
        self, item: str, draw: "Callable[..., Drawing]", *arguments, runs: pd.DataFrame | None = None, **named
    ) -> "Drawing | None":
        """Draw an item's runs, by default those on its preferred data set; None where there are no runs."""
        runs = self.on(item) if runs is None else runs
        return None if runs.empty else draw(runs, *arguments, **named)

    def under(
        self, item: str, figure: "Drawing | None", anchor: str | None = None, runs: pd.DataFrame | None = None
    ) -> None:
        """Show the strip of a figure that `drawn` made of the same runs, or say why there is no figure."""
        if figure is None:
            show(f"*None of the chosen data sets is one of {item}'s.*")
        else:
            self.sources(item, figure.table, anchor, self.on(item) if runs is None else runs)
