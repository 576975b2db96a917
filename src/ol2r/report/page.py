"""The functions that a chapter's cells call: they give results and verdicts, and put texts and strips on the page.

A page is connected with the results that it shows once, so that a cell says only what it shows. What it shows goes to
an audience: the notebook that runs the page, or another reader of it. This module must not know any
paper.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ol2r.data import is_own
from ol2r.experiments.chapter import Chapter, Results
from ol2r.experiments.claims import label
from ol2r.experiments.verdicts import Judgement, judge_all
from ol2r.report import commands, tables, verdicts
from ol2r.report.choice import Choice, apart
from ol2r.report.said import said
from ol2r.report.strip import Strip, strip
from ol2r.report.style import TooManyPanels

if TYPE_CHECKING:
    from ol2r.report.style import Drawing


class Audience:
    """What takes in a page: here the notebook that runs it. Another audience overrides what it wants otherwise."""

    def opened(self, chapter: Chapter, items: Iterable[str] | None) -> None:
        """A page is about to read the results of some items (None: all)."""

    def texts(self, *texts: str) -> None:
        """MyST texts come on the page."""
        from IPython.display import Markdown, display  # here, because only notebooks have it

        display(*map(Markdown, texts))

    def strip(self, strip: Strip) -> None:
        """A strip comes on the page; its file goes beside the page if one is made, and nowhere from a mere notebook."""
        if folder := os.environ.get("OL2R_PAGE"):
            strip.write(Path(folder, str(strip.facts["csv"])))
        self.texts(strip.block)


_audience: ContextVar[Audience] = ContextVar("audience", default=Audience())  # noqa: B039 - it has no state


@contextmanager
def shown_to(audience: Audience) -> Iterator[None]:
    """Show what pages show to another audience meanwhile."""
    token = _audience.set(audience)
    try:
        yield
    finally:
        _audience.reset(token)


def show(*texts: str) -> None:
    """Put MyST texts on the page; an empty one, which a notebook would show as the name of its class, is left out."""
    _audience.get().texts(*filter(None, texts))


def say(text: str, *holds: bool, published: bool, **numbers: float) -> None:
    """Put a text on the page that rests on some conditions, with its numbers; see `ol2r.report.said.said`."""
    show(said(text, holds, numbers, published=published))


def _own_in(frame: pd.DataFrame) -> list[str]:
    """The reader's own data sets among the data sets of some runs."""
    return [name for name in frame["dataset"].unique() if is_own(str(name))] if "dataset" in frame else []


class Page:
    """What one page of a chapter shows: results, printed numbers and judgements, and the ways to show them.

    Args:
        preferred: data sets for the page's figures, best first; a figure shows the first of them that was run.
        items: the items that the page shows, whose results are read (or computed) immediately (None: all).

    Attributes:
        judgements: the judgement of every claim that reads no other item than the page's, by the claim's identifier.
    """

    def __init__(self, chapter: Chapter, preferred: Sequence[str] = (), items: Iterable[str] | None = None):
        _audience.get().opened(chapter, items)
        self.chapter = chapter
        self.preferred = tuple(preferred)
        self.results: dict[str, Results] = chapter.all_results(items)
        self.printed = chapter.paper.printed()
        paper = chapter.paper
        readable = [claim for claim in paper.claims if paper.read_by(claim) <= self.results.keys()]
        self.judgements: dict[str, Judgement] = judge_all(readable, self.results, self.printed, paper.readings)

    def sources(
        self,
        items: str,
        shown: "Drawing | Choice | pd.DataFrame",
        anchor: str | None = None,
        drawn: pd.DataFrame | None = None,
    ) -> None:
        """The strip under a figure or table: where it came from, its data, how to make it again and cite it.

        Args:
            items: names of the items that were drawn, separated by blanks; the first gives the title.
            shown: the figure, or the aggregate that the table shows.
            anchor: the anchor of the figure or table on the page (None: the chapter's name and the first item's).
            drawn: the rows that were drawn (None: all rows of the items).
        """
        names = items.split()
        anchor = anchor or f"{self.chapter.name}-{names[0]}"
        origin = [self.results[item] for item in names]
        rows = pd.concat([each.frame for each in origin]) if drawn is None else drawn
        keys = set(rows["cell"].unique())
        cells = [cell for each in origin for cell in each.cells if cell.key in keys and not cell.on_own_data]
        lines = [commands.draw(self.chapter, anchor, is_table=isinstance(shown, pd.DataFrame))]
        lines += [commands.export(self.chapter, item) for item in names]
        lines += commands.verify(self.chapter, cells)
        if told := tables.diverged_in_words(rows):
            show(told)
        _audience.get().strip(strip(origin, shown, anchor=anchor, command="\n".join(lines), drawn=drawn))

    def live(self, item: str, title: str, shown: "Drawing | Choice | pd.DataFrame", **told: str) -> None:
        """The strip under a figure that a cell computed itself, without stored results.

        Args:
            told: data, rounds or seeds, where the cell ran a learner.
        """
        anchor = f"{self.chapter.name}-{item}"
        command = commands.draw(self.chapter, anchor, is_table=isinstance(shown, pd.DataFrame))
        origin = self.chapter.computed(item, title)
        _audience.get().strip(strip(origin, shown, anchor=anchor, command=command, told=told))

    def say(self, text: str, *holds: bool, **numbers: float) -> None:
        """Show a text that rests on some conditions, with its numbers; see `say`.

        The published pages are those of the tier "paper" with all data and seeds that compute nothing.
        """
        chapter = self.chapter
        whole = chapter.tier == "paper" and chapter.datasets is None and chapter.seeds is None
        say(text, *holds, published=chapter.never and whole, **numbers)

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

    def every(self, item: str) -> pd.DataFrame:
        """The item's runs on all data sets, those first that `on` chooses; `drawn` puts tabs in this order."""
        frame, first = self.results[item].frame, self.on(item)
        return pd.concat([first, frame[~frame["dataset"].isin(first["dataset"])]])

    def among(self, item: str, *datasets: str) -> pd.DataFrame:
        """The item's runs on all of these data sets, in the given order; data sets without runs are left out."""
        frame = self.results[item].frame
        return pd.concat([frame[frame["dataset"] == each] for each in datasets]) if datasets else frame[:0]

    def drawn(
        self, item: str, draw: "Callable[..., Drawing]", *arguments, runs: pd.DataFrame | None = None, **named
    ) -> "Drawing | Choice | None":
        """Draw an item's runs, by default those on its preferred data set; None where there are no runs.

        Where all data sets in one drawing would have too many panels, each has a drawing of its own behind a tab.
        """
        runs = self.on(item) if runs is None else runs
        if runs.empty:
            return None
        try:
            return draw(runs, *arguments, **named)
        except TooManyPanels:
            if len(runs["dataset"].unique()) == 1:
                raise
            return apart(draw, runs, "dataset", label, *arguments, **named)

    def under(
        self, item: str, figure: "Drawing | Choice | None", anchor: str | None = None, runs: pd.DataFrame | None = None
    ) -> None:
        """Show the strip of a figure that `drawn` made of the same runs, or say why there is no figure."""
        if figure is None:
            show(f"*None of the chosen data sets is one of {item}'s.*")
        else:
            self.sources(item, figure, anchor, self.on(item) if runs is None else runs)
