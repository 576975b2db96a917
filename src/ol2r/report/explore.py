"""Curves that a reader chooses in the browser: means with their intervals over runs, never single runs.

This module turns tables of means into what the page's script reads, and declares how a curve is drawn. It must not know
which papers there are. The static figures remain the record.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from ol2r import frames
from ol2r.experiments.claims import label
from ol2r.experiments.effects import summarize
from ol2r.report.style import LEARNERS, spelled

if TYPE_CHECKING:
    from ol2r.experiments.chapter import Results

DIGITS = 4
"""Significant digits of the numbers that the page holds; whole numbers are exact."""
AXES = ("round", "mean", "low", "high")


class Curves(NamedTuple):
    """The curves of one paper in one measure.

    Args:
        paper: the paper's name, as readers know it.
        measure: what is measured, as on an axis.
        table: dataset, users, `by`, round, mean, low, high and `over`.
        by: the column that tells the lines apart.
        over: what means and intervals are taken over, and the column that counts it.
    """

    paper: str
    measure: str
    table: pd.DataFrame
    by: str = "learner"
    over: str = "runs"


def curves(paper: str, results: "Results", measures: Mapping[str, str], by: str = "learner") -> list[Curves]:
    """The curves of an item's runs.

    Args:
        measures: by name, the columns that are shown.
    """
    where = ["dataset", "users", by, "round"]
    tables = {name: summarize(results.frame, column, where) for name, column in measures.items()}
    return [Curves(paper, name, table.rename(columns={"n": "runs"}), by) for name, table in tables.items()]


def lines(shown: Sequence[Curves]) -> list[dict]:
    """Every line as the page's script reads it: paper, data, users, measure and learner, over how many runs or queries
    it is a mean, colour and dashes, and lists of equal length for round, mean and both ends of the 95 % interval (None:
    no interval).

    Raises:
        ValueError: two tables have a line in common.
    """
    found: dict[tuple, dict] = {}
    for each in shown:
        for (dataset, users, learner), own in frames.groups(each.table, ["dataset", "users", each.by]):
            own = own.sort_values("round", kind="stable")
            key = (each.paper, label(str(dataset)), str(users), each.measure, spelled(str(learner)))
            if key in found:
                raise ValueError(f"two tables have the line {', '.join(key)}")
            look = LEARNERS[str(learner)]
            found[key] = dict(zip(("paper", "data", "users", "measure", "learner"), key, strict=True))
            found[key] |= {"n": int(own[each.over].max()), "over": each.over}
            found[key] |= {"color": look.color, "dash": _dashes(look.line)}
            found[key] |= {name: [_short(value) for value in own[name]] for name in AXES}
    return list(found.values())


def _dashes(line: str | tuple) -> list[float]:
    """A line style of matplotlib, in points of a browser's line of two pixels."""
    return [] if isinstance(line, str) else [2 * length for length in line[1]]


def _short(value: float) -> float | int | None:
    if pd.isna(value):
        return None
    rounded = value if float(value).is_integer() else float(f"{value:.{DIGITS}g}")
    return int(rounded) if float(rounded).is_integer() else rounded


def drawing() -> dict:
    """How the chosen lines are drawn: a Vega-Lite specification without data, colours and titles, which the page's
    script fills in."""
    import altair  # here, because only this page draws in the browser

    color = altair.Color("learner:N").legend(None)  # the choice of learners shows their colours
    table = altair.Chart(altair.NamedData("lines")).encode(x=altair.X("round:Q").axis(labelSeparation=6), color=color)
    score = altair.Y("mean:Q").scale(zero=False)
    near = altair.selection_point(
        name="near", nearest=True, on="pointerover", clear="pointerout", empty=False, fields=["round", "learner"]
    )
    told = [altair.Tooltip(f"{name}:N") for name in ("learner", "round", "mean", "interval", "over")]
    layers = altair.layer(
        table.mark_area(opacity=0.15).encode(altair.Y("low:Q").scale(zero=False), y2="high:Q"),
        table.mark_line(strokeWidth=2).encode(score, strokeDash=altair.StrokeDash("learner:N").legend(None)),
        table.mark_point(filled=True, size=70)
        .encode(score, opacity=altair.when(near).then(altair.value(1)).otherwise(altair.value(0)), tooltip=told)
        .add_params(near),
    )
    return layers.properties(width="container", height=380, background="white").to_dict(validate=True)


def page(shown: Sequence[Curves], tier: str) -> str:
    """The HTML of the page's choices and its chart: data and drawing inside, and the scripts that show them."""
    rounds: dict[tuple, int] = {}  # lines of one item have the same: each list is held once
    told = [each | {"round": rounds.setdefault(tuple(each["round"]), len(rounds))} for each in lines(shown)]
    held = {"tier": tier, "rounds": list(rounds), "lines": told, "drawing": drawing()}
    data = json.dumps(held, separators=(",", ":"))
    data = data.replace("<", "\\u003c")  # so that no text ends the script, or hides its end
    scripts = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js", "explore.js")
    return "\n".join(
        [
            '<link rel="stylesheet" href="explore/explore.css">',
            '<div id="explore"><p>This page needs JavaScript. The chapters show their figures without it.</p></div>',
            f'<script type="application/json" id="explore-data">{data}</script>',
            *(f'<script defer src="explore/{name}"></script>' for name in scripts),
        ]
    )
