"""Sentences that a person wrote for a page: their numbers come from the results, and each names what it rests on.

Where the published results no longer meet a sentence's conditions, the page cannot be built. A run with other
parameters shows such a sentence set aside, with the numbers of that run. This module must not know any paper.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ol2r.errors import ExperimentError
from ol2r.experiments.verdicts import Judgement
from ol2r.report.tables import filled

_FIELD = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


class NotSo(ExperimentError):
    """The published results do not meet a condition of a sentence on a published page."""


class Lead(NamedTuple):
    """A difference with its 95 % interval; all three are NaN where nothing was run, so that no condition is met."""

    mean: float
    low: float
    high: float


NOT_RUN = Lead(np.nan, np.nan, np.nan)


def lead(table: pd.DataFrame, **where: str) -> Lead:
    """The line of a table with these values in these columns.

    Args:
        table: with the columns mean, low and high, such as that of `ol2r.report.leads.leads`.

    Raises:
        ValueError: several lines have them.
    """
    lines = matching(table, **where)
    if len(lines) > 1:
        raise ValueError(f"{len(lines)} lines with {where}")
    return Lead(*map(float, lines[list(Lead._fields)].iloc[0])) if len(lines) else NOT_RUN


def matching(table: pd.DataFrame, **where: str | Iterable[str]) -> pd.DataFrame:
    """The lines of a table whose columns have one of these values; a table without lines may lack the columns."""
    for column, wanted in where.items() if len(table) else ():
        table = table[table[column].isin([wanted] if isinstance(wanted, str) else list(wanted))]
    return table


def every(held: pd.Series, n: int) -> bool:
    """Whether something holds in every line and there are `n` of them, so that none that was not run is passed over."""
    return len(held) == n and bool(held.all())


def carried(judgement: Judgement, dataset: str) -> str:
    """The verdict of a claim on a data set that the paper did not use; empty where it was not judged there."""
    return next((place.verdict for place in judgement.elsewhere if place.dataset == dataset), "")


def contrasts(judgement: Judgement) -> dict[tuple[str, str], Lead]:
    """The effects that a claim was judged by, with their 95 % intervals, by data set and name of the contrast."""
    found = ((one.data or "", getattr(one.contrast, "label", ""), one.effect) for one in judgement.tested)
    return {(data, name): Lead(effect.estimate, *effect.interval()) for data, name, effect in found if effect}


def said(text: str, holds: Iterable[bool], numbers: Mapping[str, float], *, published: bool) -> str:
    """A sentence or a paragraph with its numbers, set aside where a condition is not met or a number is not there.

    Args:
        text: MyST, in which "{name}" or "{name:form}" stands for a number (`ol2r.report.tables.FORMS`); all other
            braces stay.
        holds: the conditions that what the text says rests on.
        numbers: by name; NaN where something was not run.
        published: whether the page is built from the published results, so that every condition must be met.

    Raises:
        NotSo: a condition of a published text is not met, or a number of it is not there.
        ValueError: the text has no condition, or a number that it does not show.
    """
    conditions = [bool(each) for each in holds]
    unshown = numbers.keys() - {name for name, _ in _FIELD.findall(text)}
    if unshown or not conditions:
        raise ValueError(f"a text needs a condition and shows all its numbers (unshown: {sorted(unshown)}): {text!r}")
    shown = _FIELD.sub(
        lambda field: filled(numbers[field[1]], field[2] or "") if field[1] in numbers else field[0], text
    )
    missing = sorted(name for name, number in numbers.items() if np.isnan(number))
    if all(conditions) and not missing:
        return shown
    if published:
        failed = [number for number, met in enumerate(conditions, start=1) if not met]
        raise NotSo(f"conditions {failed} are not met, numbers {missing} are not there, of the text: {shown}")
    title = "Not run here" if missing else "Not so in this run"
    return f":::{{admonition}} {title}\n:class: note\nThe published page says: {shown}\n:::"
