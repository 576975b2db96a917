"""Tables of results as MyST text: published beside reproduced, effects, conventions, map of a paper's items.

Comparisons are frames first (for figures, CSV files and tests) and text last. This module knows printed numbers and
runs; it must not know how either came about.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from string import Formatter
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy import stats

from ol2r import frames
from ol2r.errors import printable
from ol2r.experiments.claims import label
from ol2r.experiments.effects import (
    TooFewSeeds,
    at_end,
    at_own_end,
    diverged_runs,
    effect_over_runs,
    mean_effect,
    summarize,
)
from ol2r.experiments.tuning import chosen_together
from ol2r.experiments.verdicts import Judgement
from ol2r.report.style import LEARNERS, USERS, Looks, spelled

NOT_AT_HAND = "data not at hand"
MARK = "▲"
DIVERGED = "†"
CELL = ["dataset", "users", "learner"]


# Comparisons


def compare(
    frame: pd.DataFrame,
    published: pd.DataFrame,
    column: str,
    stand_ins: Mapping[str, str] | None = None,
    *,
    baseline: str = "MGD",
) -> pd.DataFrame:
    """Published beside reproduced means, with one line for each (data set, users, learner) that has either.

    z = (reproduced mean − published mean) / √(s²/n + s_p²/n_p), with s and s_p the deviations over n and n_p runs.

    Args:
        frame: runs on any data sets; only the last round counts.
        stand_ins: data sets at hand that take the place of printed ones: {printed name: name of ours}.
        baseline: the learner that the others are tested against.

    Returns:
        dataset (printed name, or ours where nothing is printed), data (where it was reproduced, or ""), users, learner,
        published_mean, published_deviation, published_error, published_significant, mean, deviation, n, error
        (deviation / √n), diverged (runs; NaN where no run can),
        z, p and significant: a two-sided paired t-test of the learner against the baseline over runs, for a higher mean
        at p < 0.05. What does not exist is NaN.
    """
    last = at_end(frame)
    printed_name = {ours: printed for printed, ours in (stand_ins or {}).items()}
    ours = summarize(last, column, CELL).merge(
        _against(last, column, baseline)[[*CELL, "p", "difference"]], on=CELL, how="left"
    )
    ours = ours.assign(data=ours["dataset"], dataset=ours["dataset"].replace(printed_name))
    theirs = published[[*CELL, "mean", "deviation", "runs", "significant"]].add_prefix("published_")
    table = theirs.rename(columns={f"published_{c}": c for c in CELL}).merge(ours, on=CELL, how="outer", sort=False)
    table["data"] = table["data"].fillna("")
    table["published_error"] = table["published_deviation"] / np.sqrt(table["published_runs"])
    table["error"] = table["deviation"] / np.sqrt(table["n"])
    table["z"] = (table["mean"] - table["published_mean"]) / np.hypot(table["error"], table["published_error"])
    table["significant"] = (table["p"] < 0.05) & (table["difference"] > 0)
    order = {name: i for i, name in enumerate([*published["dataset"].unique(), *ours["dataset"].unique()][::-1])}
    rank = [
        table["users"].map({u: i for i, u in enumerate(USERS)}),
        -table["dataset"].map(order),
        table["learner"].map({name: i for i, name in enumerate(LEARNERS)}),
    ]
    table = table.iloc[np.lexsort([key.to_numpy() for key in reversed(rank)])]
    columns = ["dataset", "data", "users", "learner", "published_mean", "published_deviation", "published_error",
               "published_significant", "mean", "deviation", "n", "diverged", "error", "z", "p",
               "significant"]  # fmt: skip
    return table.reindex(columns=columns).reset_index(drop=True)


def _against(last: pd.DataFrame, column: str, baseline: str) -> pd.DataFrame:
    """Paired comparison of every learner with the baseline on the runs that both have."""
    lines = []
    for (dataset, users), cell in last.groupby(["dataset", "users"], sort=False):
        runs = cell.pivot(index=["fold", "seed"], columns="learner", values=column)  # noqa: PD010 (refuses doubles)
        for learner in LEARNERS.ordered(runs.columns):
            if learner == baseline or baseline not in runs:
                continue
            paired = (runs[learner] - runs[baseline]).dropna()
            _, p = cast(tuple[float, float], stats.ttest_1samp(paired, 0.0))  # scipy makes its class at run time
            lines.append((dataset, users, learner, paired.mean(), paired.std(), float(p), paired))
    return pd.DataFrame(lines, columns=[*CELL, "difference", "spread", "p", "paired"])


def effects(frame: pd.DataFrame, column: str, baseline: str = "MGD") -> pd.DataFrame:
    """Effect sizes against a baseline at the last round, paired by run.

    Returns:
        dataset, users, learner, difference (mean of learner − baseline), low and high (its 95 % interval over seeds
        within folds; NaN with fewer than two seeds per fold), d (difference / deviation of the paired differences), p
        (paired t-test).
    """
    table = _against(at_end(frame), column, baseline)
    intervals = []
    for paired in table["paired"]:
        try:
            intervals.append(mean_effect(paired).interval())
        except TooFewSeeds:
            intervals.append((np.nan, np.nan))
    low, high = np.array(intervals).reshape(-1, 2).T
    return table.assign(low=low, high=high, d=table["difference"] / table["spread"])[
        [*CELL, "difference", "low", "high", "d", "p"]
    ]


def screen(frame: pd.DataFrame, published: pd.DataFrame, column: str) -> pd.DataFrame:
    """How far the runs under each switch of a screen lie from the printed numbers.

    A screen runs the paper's experiment with one other choice at a time; each choice is a switch.

    Args:
        frame: runs on one printed data set, with the label column `switch`.

    Returns:
        switch, users, learner, mean, published_mean, z (as in `compare`).
    """
    parts = [compare(runs, published, column).assign(switch=name) for name, runs in frame.groupby("switch", sort=False)]
    table = pd.concat(parts)
    return table.loc[table["data"] != "", _SCREENED].reset_index(drop=True)


_SCREENED = ["switch", "users", "learner", "mean", "published_mean", "z"]
GAP = 3.0
"""Distance in combined standard errors beyond which a table's entry counts as different from the printed number."""


def switch_effects(screened: pd.DataFrame, main: pd.DataFrame) -> dict[str, str]:
    """How much each switch changes the scores, in words: the range of the mean changes over users and learners.

    A change is a difference at the end of two runs with the same data set, users, learner, fold and seed.

    Args:
        screened: runs with the label column `switch`, on one data set.
        main: the main results; runs of the same data set, users, learner, fold and seed are subtracted.
    """
    if screened.empty:
        return {}
    keys = [*CELL, "fold", "seed"]
    paired = at_end(screened)[[*keys, "switch", "ndcg", "cndcg"]].merge(
        at_end(main)[[*keys, "ndcg", "cndcg"]], on=keys, suffixes=("", "_main")
    )
    change = paired.assign(ndcg=paired["ndcg"] - paired["ndcg_main"], cndcg=paired["cndcg"] - paired["cndcg_main"])
    means = change.groupby(["switch", *CELL], sort=False)[["ndcg", "cndcg"]].mean()
    told = {}
    for name, cells in means.groupby("switch", sort=False):
        parts = (("offline", "ndcg", 3), ("online", "cndcg", 2))
        told[str(name)] = "; ".join(
            f"{word} {signed(cells[column].min(), digits)} … {signed(cells[column].max(), digits)}"
            for word, column, digits in parts
        )
    return told


def stacked(main: pd.DataFrame, screened: pd.DataFrame) -> pd.DataFrame:
    """The rows of the main result followed by those of the screen, with the columns that `screen` gives."""
    return pd.concat([main, screened], ignore_index=True)[_SCREENED]


def explained(screens: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Which gaps each switch explains.

    A gap is an entry with |z| > `GAP`. A switch touches an entry if it changes the entry's mean from the main result.
    It closes a gap if |z| is no longer above `GAP` and the difference to the printed number is at most half of what it
    was, so that a larger deviation alone closes nothing. A switch explains the gaps of a kind of users if it touches
    some of them, closes all that it touches, and opens no gap of any users, all counted over the printed tables
    together.

    Args:
        screens: by printed table, the main result and the screen, as `stacked` takes them.

    Returns:
        One row for each switch and printed table: switch, item, touched (number of entries), before and after (number
        of gaps among them), closed, opened, users (whose gaps the switch explains, joined by ", ": the same for all
        tables).
    """
    compared = []
    for item, (main, screened) in screens.items():
        entries = screened.merge(main, on=["users", "learner"], how="left", suffixes=("", "_main"))
        size, size_main = ((entries[f"mean{of}"] - entries[f"published_mean{of}"]).abs() for of in ("", "_main"))
        touched = (entries["mean"] - entries["mean_main"]).abs() > 1e-9
        before, after = touched & (entries["z_main"].abs() > GAP), touched & (entries["z"].abs() > GAP)
        closed = before & ~after & (size <= size_main / 2)
        counted = {"touched": touched, "before": before, "after": after, "closed": closed, "opened": after & ~before}
        compared.append(entries.assign(item=item, **counted))
    entries = pd.concat(compared, ignore_index=True)
    counts = ["touched", "before", "after", "closed", "opened"]
    lines = []
    for switch, own in entries.groupby("switch", sort=False):
        rows = () if own["opened"].any() else own.groupby("users", sort=False)
        users = [str(kind) for kind, row in rows if row["before"].any() and (row["before"] == row["closed"]).all()]
        for item, of_table in own.groupby("item", sort=False):
            lines.append((switch, item, *(int(of_table[count].sum()) for count in counts), ", ".join(users)))
    return pd.DataFrame(lines, columns=["switch", "item", *counts, "users"])


def explanations(screens: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], *, name: str, caption: str) -> str:
    """`explained` as a table, without the rows in which a switch touches no entry of the printed table."""
    table = explained(screens).query("touched > 0")
    header = ["switch", "table", "entries touched", "gaps before", "gaps after", "closed", "opened", "explains"]
    rows = [[*map(str, line[:-1]), line[-1] or "–"] for line in table.itertuples(index=False)]
    return myst(header, rows, name=name, caption=caption)


def explained_in_words(screens: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> str:
    """Which switches explain the gaps between our main result and the print, in two sentences."""
    main = pd.concat([table for table, _ in screens.values()])
    gaps, entries = int((main["z"].abs() > GAP).sum()), int(main["z"].notna().sum())
    if not entries:
        return "None of the data of these tables is at hand, so there is no gap to explain."
    told = f"By the paper's text {gaps} of {entries} entries lie more than {GAP:g} standard errors from the print. "
    if not gaps:
        return told + "There is nothing to explain."
    of_switch = explained(screens).drop_duplicates("switch").set_index("switch")["users"]
    names = [f"{switch} ({users})" for switch, users in of_switch[of_switch != ""].items()]
    if names:
        return f"{told}By the declared rule these explain the gaps of the users in brackets: {', '.join(names)}."
    return f"{told}By the declared rule no switch explains them: they are *not reproduced*, and that is the finding."


def readings_beside(
    comparisons: Mapping[str, Mapping[str, pd.DataFrame]], learner: str, *, name: str, caption: str
) -> str:
    """A learner's means under each reading of the paper beside the printed means.

    There is a line for each printed table, kind of users and data set at hand. The distance from the printed mean, in
    combined standard errors, stands in brackets.

    Args:
        comparisons: tables from `compare`, by the printed table's name and then by reading.
    """
    readings = list(next(iter(comparisons.values())))
    rows = []
    for called, by_reading in comparisons.items():
        first = next(iter(by_reading.values()))
        for place in frames.rows(first[(first["learner"] == learner) & (first["data"] != "")]):
            own_data = place.data == place.dataset and np.isfinite(place.published_mean)
            printed = f"{place.published_mean:.3f}" if own_data else "–"
            entries = []
            for comparison in by_reading.values():
                here = (comparison["data"] == place.data) & (comparison["users"] == place.users)
                own = comparison[here & (comparison["learner"] == learner)]
                z = f" ({signed(own['z'].iloc[0], 1)})" if len(own) and own_data else ""
                entries.append(f"{own['mean'].iloc[0]:.3f}{z}" if len(own) else "–")
            rows.append([f"{called}, {place.users}, {named(place.data)}", printed, *entries])
    return myst(["table, users, data", "published", *readings], rows, name=name, caption=caption)


def spreads(frame: pd.DataFrame, published: pd.DataFrame, column: str) -> pd.DataFrame:
    """Our deviations over runs beside the printed ones, for each setting.

    Args:
        frame: runs on one printed data set, with the label column `switch`.

    Returns:
        switch, users, learner, published_deviation, deviation, ratio.
    """
    parts = [compare(runs, published, column).assign(switch=name) for name, runs in frame.groupby("switch", sort=False)]
    table = pd.concat(parts)
    table = table[(table["data"] != "") & table["published_deviation"].notna()]
    columns = ["switch", "users", "learner", "published_deviation", "deviation"]
    return table.assign(ratio=table["deviation"] / table["published_deviation"])[[*columns, "ratio"]]


def spreads_in_words(tables: Mapping[str, pd.DataFrame]) -> str:
    """How large our deviations are beside the printed ones, by setting, and which setting is nearer to the print.

    Args:
        tables: by what a printed table is called, `spreads`.
    """
    every = pd.concat([table.assign(table=called) for called, table in tables.items()])
    if every.empty:
        return ""
    medians = every.groupby(["switch", "table"], sort=False)["ratio"].median().unstack()  # noqa: PD010
    told = [
        f"from {start} they are {' and '.join(f'{r:.2f} times those of {called}' for called, r in row.items())}"
        for start, row in medians.iterrows()
    ]
    off = medians.apply(np.log).abs().mean(axis=1)
    return (
        f"Our deviations beside the printed ones, in the median over the entries of a table: {'; '.join(told)}. "
        f"The printed deviations are nearer to those of runs from {off.idxmin()}."
    )


def spreads_beside(tables: Mapping[str, pd.DataFrame], *, name: str, caption: str) -> str:
    """Ratios of our deviations to the printed ones, with a line for each printed table, kind of users and setting.

    Args:
        tables: by what a printed table is called, `spreads`.
    """
    learners = LEARNERS.ordered(pd.concat(tables.values())["learner"])
    rows = []
    for called, table in tables.items():
        for (users, switch), own in table.groupby(["users", "switch"], sort=False):
            ratio = own.set_index("learner")["ratio"].reindex(learners)
            rows.append([f"{called}, {users}", str(switch), *(f"{r:.2f}" if np.isfinite(r) else "–" for r in ratio)])
    return myst(["table, users", "start", *learners], rows, name=name, caption=caption)


# Text


def myst(header: Sequence[str], rows: Iterable[Sequence[str]], *, name: str, caption: str, style: str = "") -> str:
    """A numbered MyST table; `name` is its anchor, `style` its class for style sheets and scripts."""
    lines = [
        " | ".join(line)
        for line in (map(_escaped, header), ["---"] * len(header), *(map(_escaped, row) for row in rows))
    ]
    options = [f":name: {name}", *([f":class: {style}"] if style else [])]
    return "\n".join([f":::{{table}} {caption}", *options, "", *(f"| {line} |" for line in lines), ":::", ""])


def folded(title: str, *texts: str) -> str:
    """MyST texts that a reader unfolds by clicking their title."""
    return "\n".join([f"::::{{dropdown}} {title}", *texts, "::::", ""])


def headed(groups: Mapping[str, Sequence[Sequence[str]]]) -> list[list[str]]:
    """The lines of all groups, each group under a line with its name."""
    return [
        line
        for head, lines in groups.items()
        if lines
        for line in ([f"**{head}**", *[""] * (len(lines[0]) - 1)], *map(list, lines))
    ]


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def plain(text: str) -> str:
    """Escape plain text so that MyST shows it as it is, in one line and without reading markup in it; signs that cannot
    be seen are shown as escapes. `myst` escapes bars itself."""
    return re.sub(r"([\\`*_{}\[\]<>$~^&#])", r"\\\1", printable(" ".join(text.split())))


def named(dataset: str) -> str:
    """A data set's label, escaped for MyST."""
    return plain(label(dataset))


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign, a true minus, and no NaN."""
    return "–" if not np.isfinite(value) else f"{float(value):+,.{digits}f}".replace("-", "−")


def rounded(value: float, digits: int) -> str:
    """A number rounded to `digits` digits, written out in full: no power of ten, and no zeros after its last digit."""
    if not np.isfinite(value) or value == 0:
        return "0" if value == 0 else "–"
    decimals = digits - 1 - int(np.floor(np.log10(abs(value))))
    text = f"{round(value, decimals):,.{max(decimals, 0)}f}".replace("-", "−")
    return text.rstrip("0").rstrip(".") if decimals > 0 else text


_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 6) -> str:
    """A number in so many digits as readers write it: below a ten-thousandth and from a million on with a power of
    ten."""
    text = f"{float(f'{abs(value):.{digits}g}'):g}"
    mantissa, _, exponent = text.partition("e")
    if exponent:
        power = f"10{str(int(exponent)).translate(_SUPERSCRIPT)}"
        text = power if mantissa == "1" else f"{mantissa} · {power}"
    return f"−{text}" if value < 0 else text


def significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, zeros at its end among them, and commas between thousands."""
    if not np.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    after = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{after}f}".replace("-", "−")


def share(value: float) -> str:
    """A share as a percentage with at most one decimal."""
    return f"{100 * value:.1f}".removesuffix(".0") + " %"


def interval(low: float, high: float, digits: int = 3) -> str:
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


FORMS: Mapping[str, Callable[..., str]] = {
    form.__name__: form for form in (number, rounded, share, signed, significant)
}
"""What a template of `columns` may have after the colon beside Python's own forms: one of these, and the digits."""

Column = str | Callable[[frames.Row], str]
"""A template, in which the names of a table's columns stand in braces, or a function of a row."""


def filled(value: Any, form: str) -> str:
    """A value as a template shows it; NaN is a dash.

    Args:
        form: one of `FORMS`, with its number of digits after a blank, or a form that Python knows.
    """
    if isinstance(value, float) and np.isnan(value):
        return "–"
    name, _, digits = form.partition(" ")
    return FORMS[name](value, *map(int, digits.split())) if name in FORMS else format(value, form)


class _Filled(Formatter):
    """Fills in a template from a row, in which a column's name may have dots and commas; NaN becomes a dash."""

    def get_field(self, field_name: str, args: Any, kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        return kwargs[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        return filled(value, format_spec)


def columns(
    table: pd.DataFrame, given: Mapping[str, Column], *, name: str, caption: str, under: Column | None = None
) -> str:
    """A numbered table that has a line for each row of a frame.

    Args:
        given: what stands in each column, by the column's header: "{mean:.2f} ± {error:significant 2}" is a template.
        under: what rows stand together under; None for a table without such heads.
    """
    fill, groups = _Filled(), {}
    for row, values in zip(frames.rows(table), frames.records(table), strict=True):
        head, *line = (
            "" if each is None else each(row) if callable(each) else fill.vformat(each, (), values)
            for each in (under, *given.values())
        )
        groups.setdefault(head, []).append(line)
    return myst(list(given), headed(groups) if under else groups.get("", []), name=name, caption=caption)


def beside(comparison: pd.DataFrame, *, name: str, caption: str, name_of: Callable[[str], str] = named) -> str:
    """`compare` as a table: for each kind of users and data set a published line, a reproduced line and their distance.

    Deviations over runs stand in brackets after the means; bold: the best of its line; ▲: above the baseline at
    p < 0.05; † n: n of the runs diverged. The distance is in combined standard errors.

    Args:
        comparison: from `compare`.
    """
    learners = LEARNERS.ordered(comparison["learner"])
    rows = []
    for (users, dataset), cell in comparison.groupby(["users", "dataset"], sort=False):
        cell = cell.set_index("learner").reindex(learners)
        data = next(iter(cell["data"].replace("", None).dropna()), None)
        printed = bool(cell["published_mean"].notna().any())
        source = "reproduced" if data == dataset else f"ours, on {name_of(data)}" if data else f"*{NOT_AT_HAND}*"
        lines = []
        if printed:
            marks = cell["published_significant"] == 1
            lines.append(["published", *_scores(cell["published_mean"], cell["published_deviation"], marks)])
        ours = [""] * len(learners)
        if data:
            ours = _scores(cell["mean"], cell["deviation"], cell["significant"] == 1, cell["diverged"])
        lines.append([source if printed else "ours, not in the paper", *ours])
        if printed and data:
            lines.append(["difference / s.e.", *(signed(z, 1) for z in cell["z"])])
        heads = [[f"{users}, {dataset if printed else name_of(str(dataset))}"], *[[""]] * 2]
        rows += [[*head, *line] for head, line in zip(heads, lines, strict=False)]
    return myst(["users, data", "source", *learners], rows, name=name, caption=caption + _note(comparison))


def _note(table: pd.DataFrame) -> str:
    """The note added to a table's caption if one of its runs diverged."""
    n = int(table["diverged"].fillna(0).sum()) if "diverged" in table else 0
    told = f" {DIVERGED} n: n of the runs diverged, and count with the ranker that each had last."
    return told if n else ""


def diverged_in_words(frame: pd.DataFrame, name_of: Callable[[str], str] = named) -> str:
    """Which runs of a figure or table diverged, in a sentence; empty where no run did."""
    runs = diverged_runs(frame)
    if runs.empty:
        return ""
    case = ["variant" if "variant" in frame else "learner", "dataset", "users"]
    shown = frame[["cell", *case]].drop_duplicates("cell")
    counts = runs.merge(shown, on="cell")[case].value_counts(sort=False).reset_index()
    told = (
        f"{n} of {spelled(str(name))} ({name_of(str(data))}, {users})" for name, data, users, n in counts.to_numpy()
    )
    return f"*Diverged runs, which count with the ranker that each had last: {'; '.join(told)}.*"


def _scores(
    means: pd.Series,
    deviations: pd.Series,
    marks: pd.Series,
    diverged: pd.Series | None = None,
    apart: Sequence[str] = (),
    digits: int = 3,
    least: bool = False,
) -> list[str]:
    """Means with deviations in brackets, the best in bold, the largest or the `least`; `apart` are never the best."""
    entries = []
    frozen = pd.Series(0, index=means.index) if diverged is None else diverged.fillna(0)
    compared = means.drop(list(apart), errors="ignore")
    best = compared.min() if least else compared.max()
    for name, mean in means.items():
        learner = str(name)
        if not np.isfinite(mean):
            entries.append("–")
            continue
        text = f"{float(mean):.{digits}f}"
        text = f"**{text}**" if mean == best and learner not in apart else text
        mark = f" {MARK}" if marks[learner] else ""
        broken = f" {DIVERGED}{int(frozen[learner])}" if frozen[learner] else ""
        entries.append(f"{text} ({float(deviations[learner]):.{digits}f}){mark}{broken}")
    return entries


def effect_sizes(table: pd.DataFrame, *, name: str, caption: str, name_of: Callable[[str], str] = named) -> str:
    """Effect sizes against MGD with 95 % intervals, with a line for each kind of users, data set and learner.

    Args:
        table: from `effects`.
    """
    rows = [
        [str(r.users), name_of(str(r.dataset)), str(r.learner), f"{signed(r.difference)} {interval(r.low, r.high)}",
         signed(r.d, 2), "< 0.001" if r.p < 0.001 else f"{r.p:.3f}"]
        for r in frames.rows(table)
    ]  # fmt: skip
    header = ["users", "data", "learner", "difference to MGD [95 %]", "d", "p"]
    return myst(header, rows, name=name, caption=caption)


Pair = tuple[pd.DataFrame, pd.DataFrame, str]
"""Runs, the runs they are compared with, and the column of the score."""

Pairs = Mapping[str, Pair]
"""By column of a table: (runs, the runs they are compared with, score). Each of the two has one setting for each data
set and kind of users."""


def paired_differences(
    groups: Mapping[str, Pairs], *, name: str, caption: str, name_of: Callable[[str], str] = named
) -> str:
    """Differences of scores at the end, paired by run, with 95 % intervals.

    There is a line for each kind of users and data set.

    The interval is over runs within folds, or over folds where each has one run.

    Args:
        groups: the compared runs for each group of lines; all groups have the same columns.
    """
    columns = list(next(iter(groups.values())))
    lines: dict[str, list[list[str]]] = {}
    for group, pairs in groups.items():
        gains = [(_gains(pairs[column]), 1 if pairs[column][2] == "cndcg" else 3) for column in columns]
        lines[group] = [
            [f"{users}, {name_of(dataset)}", *(_difference(own.get((dataset, users)), digits) for own, digits in gains)]
            for dataset, users in _places(pairs)
        ]
    rows = headed(lines) if len(lines) > 1 else next(iter(lines.values()))
    return myst(["users, data", *columns], rows, name=name, caption=caption)


def differences(pairs: Pairs) -> pd.DataFrame:
    """The numbers of a group of `paired_differences`: dataset, users, panel (the column there), mean, low, high; a line
    for each difference that has an interval, whose ends are both 0 where it is 0 in every run."""
    lines = [
        {"dataset": dataset, "users": users, "panel": column, "mean": effect.estimate}
        | dict(zip(("low", "high"), effect.interval(), strict=True))
        for column, pair in pairs.items()
        for (dataset, users), gain in _gains(pair).items()
        if (effect := effect_over_runs(gain)) is not None
    ]
    return pd.DataFrame(lines, columns=["dataset", "users", "panel", "mean", "low", "high"])


def differences_in_words(pairs: Pairs, what: str) -> str:
    """In how many lines of a group of `paired_differences` each difference is clearly above or below 0, in a sentence.

    A column without runs is left out.

    Args:
        what: what the lines are called in the sentence.
    """
    told = []
    for column, pair in pairs.items():
        above, below, n = clear_differences(pair)
        if n:
            told.append(f"{column} above 0 in {above} and below in {below} of {n}")
    return f"{what}: {'; '.join(told)}." if told else ""


def clear_differences(pair: Pair) -> tuple[int, int, int]:
    """In how many lines of `paired_differences` a difference is clearly above 0, clearly below, and how many there are.

    A difference that is 0 in every run is neither.
    """
    gains = list(_gains(pair).values())
    ends = [effect.interval() for gain in gains if (effect := effect_over_runs(gain)) is not None and gain.any()]
    return sum(low > 0 for low, _ in ends), sum(high < 0 for _, high in ends), len(gains)


def _places(pairs: Pairs) -> list[tuple[str, str]]:
    frames = [one for one, _, _ in pairs.values() if len(one)]
    found = pd.concat([pd.DataFrame(columns=["dataset", "users"]), *frames])[["dataset", "users"]]
    return [(str(d), u) for u in USERS.ordered(found["users"]) for d in found["dataset"].unique()]


def _gains(pair: Pair) -> dict[tuple[str, str], pd.Series]:
    """By data set and kind of users: differences at the end, for the runs that both sides have, where there are any."""
    *frames, score = pair
    if any(frame.empty for frame in frames):
        return {}
    runs = ["dataset", "users", "fold", "seed"]
    one, other = (at_own_end(frame).set_index(runs)[score] for frame in frames)
    gains = (one - other).dropna()
    places = gains.groupby(level=runs[:2], sort=False)
    return {(str(place[0]), str(place[1])): own.droplevel([0, 1]) for place, own in places}  # pyright: ignore[reportIndexIssue]


def _difference(gain: pd.Series | None, digits: int) -> str:
    if gain is None:
        return "–"
    if not gain.any():
        return "the same"
    effect = effect_over_runs(gain)
    if effect is None:
        return f"{signed(gain.mean(), digits)} (one run)"
    return f"{signed(effect.estimate, digits)} {interval(*effect.interval(), digits)}"


def final(frame: pd.DataFrame, columns: Sequence[str], by: str = "variant") -> pd.DataFrame:
    """Scores after every data set's own last round.

    Returns:
        dataset, users, `by`, score (name of the column), mean, deviation, n, low, high.
    """
    last = at_own_end(frame)
    parts = [summarize(last, column, ["dataset", "users", by]).assign(score=column) for column in columns]
    return pd.concat(parts, ignore_index=True)


def final_scores(
    table: pd.DataFrame,
    columns: Mapping[str, str],
    *,
    name: str,
    caption: str,
    by: str = "variant",
    looks: Looks = LEARNERS,
    reference: Mapping[str, float] | None = None,
    not_at_hand: Sequence[str] = (),
    name_of: Callable[[str], str] = named,
    least: bool = False,
) -> str:
    """Final scores: means over runs, with deviations in brackets and the best of each line in bold.

    There is a line for each kind of users, data set and score. Scores of 10 and more have one digit after the point.

    Args:
        table: from `final`.
        columns: which scores to show, and what they are called where there are several.
        by: the label column that makes the table's columns, in the order of `looks`.
        reference: by data set, the offline ranker's score, shown beside the first of `columns`.
        not_at_hand: catalogue names of declared data sets without runs; each has a line that says so.
        least: whether the least score is the best.
    """
    shown = looks.ordered(table[by])
    reference = reference or {}
    several = len(columns) > 1
    header = ["users, data", *["score"] * several, *shown, *(["offline RankNet"] if reference else [])]
    rows = []
    for users, dataset in product(USERS.ordered(table["users"]), table["dataset"].unique()):
        own = table[(table["users"] == users) & (table["dataset"] == dataset)]
        if own.empty:
            continue
        for i, (column, called) in enumerate(columns.items()):
            of_each = own[own["score"] == column].set_index(by).reindex(shown)
            marks = pd.Series(False, index=shown)
            digits = 3 if of_each["mean"].max() < 10 else 1
            told = of_each["mean"], of_each["deviation"], marks, of_each.get("diverged")
            line = _scores(*told, digits=digits, least=least)
            level = [f"{reference[dataset]:.3f}" if i == 0 and dataset in reference else ""] if reference else []
            head = "" if i else f"{users}, {name_of(str(dataset))}"
            rows.append([head, *[called] * several, *line, *level])
    rows += [[f"{name_of(each)}: *{NOT_AT_HAND}*", *[""] * (len(header) - 1)] for each in not_at_hand]
    return myst(header, rows, name=name, caption=caption + _note(table))


def scores_by_learner(
    table: pd.DataFrame,
    *,
    name: str,
    caption: str,
    by: str = "variant",
    looks: Looks = LEARNERS,
    apart: Sequence[str] = (),
    digits: int = 3,
    not_at_hand: Sequence[str] = (),
    name_of: Callable[[str], str] = named,
) -> str:
    """Final scores with a line for each learner and a column for each kind of users: means over runs, with deviations
    in brackets and the best of each column in bold. Lines of several data sets stand under the data set's name.

    For more learners than fit side by side on a page.

    Args:
        table: from `final`, of one score.
        by: the label column that makes the lines, in the order of `looks`.
        apart: values of `by` that are no learners from clicks; they come last and are never in bold.
        not_at_hand: catalogue names of declared data sets without runs; each has a line that says so.

    Raises:
        ValueError: the table has several scores.
    """
    if len(set(table["score"])) > 1:
        raise ValueError("a table by learner shows one score")
    users = USERS.ordered(table["users"])
    groups = {}
    for dataset, own in table.groupby("dataset", sort=False):
        ordered = looks.ordered(own[by])
        shown = [each for each in ordered if each not in apart] + [each for each in ordered if each in apart]
        columns = []
        for kind in users:
            of_each = own[own["users"] == kind].set_index(by).reindex(shown)
            marks = pd.Series(False, index=shown)
            columns.append(
                _scores(of_each["mean"], of_each["deviation"], marks, of_each.get("diverged"), apart, digits)
            )
        called = (plain(spelled(each)) for each in shown)
        groups[name_of(str(dataset))] = [list(line) for line in zip(called, *columns, strict=True)]
    rows = headed(groups) if len(groups) > 1 or not_at_hand else next(iter(groups.values()))
    rows += [[f"{name_of(each)}: *{NOT_AT_HAND}*", *[""] * len(users)] for each in not_at_hand]
    return myst(["learner", *users], rows, name=name, caption=caption + _note(table))


def tuning(
    chosen: pd.DataFrame,
    scores: pd.DataFrame,
    names: Mapping[str, str],
    *,
    name: str,
    caption: str,
    name_of: Callable[[str], str] = named,
) -> str:
    """Scores of every tuning grid's settings in the first step, and of the second the setting that was chosen for all
    variants of the grid and the best other one.

    Args:
        chosen: from `ol2r.experiments.tuning.Tuned.table`.
        scores: from `ol2r.experiments.tuning.grid_scores` of the first step, by "grid".
    """
    rows = []
    for (dataset, grid), cells in scores.groupby(["dataset", "grid"], sort=False):
        listed = chosen[(chosen["dataset"] == dataset) & (chosen["grid"] == grid)].dropna(subset=["longer"])
        ends = f"{cells['score'].min():.3f} to {cells['score'].max():.3f}"
        won = chosen_together(listed)
        both = [own.nlargest(1, "longer") for own in (listed[won], listed[~won])]
        told = [
            " ".join(f"{_setting(cell, names)}: {cell['longer']:.3f}" for cell in frames.records(own)) or "–"
            for own in both
        ]
        rows.append([name_of(str(dataset)), spelled(str(grid)), str(len(cells)), ends, *told])
    header = ["data", "learner", "settings", "all of them, first step", "chosen, second step", "best other, second"]
    return myst(header, rows, name=name, caption=caption)


def _setting(cell: Mapping[str, float], names: Mapping[str, str]) -> str:
    return ", ".join(f"{symbol} = {number(cell[key])}" for key, symbol in names.items() if pd.notna(cell.get(key)))


def tuning_edges(edges: pd.DataFrame, names: Mapping[str, str], *, name_of: Callable[[str], str] = named) -> str:
    """Which chosen values lie on an edge of their grid, and what that gains, in a sentence.

    Args:
        edges: `ol2r.experiments.tuning.edges`, by "grid".
    """
    if edges.empty:
        return "No chosen value lies on an edge of its grid."
    told = [
        f"{spelled(str(edge.grid))} on {name_of(str(edge.dataset))}, {names[edge.name]} = {number(edge.value)} "
        f"({signed(edge.gain)} ± {edge.error:.3f} over {number(edge.inside)})"
        for edge in frames.rows(edges)
    ]
    return (
        "Chosen values on an edge of their grid, with what each gained in the first step over the value next to it, ± "
        f"one standard error: {'; '.join(told)}."
    )


def conventions(rows: Iterable[tuple[str, object, str]], *, name: str, caption: str) -> str:
    """The conventions of a chapter, with a line for each (field, value, source)."""
    return myst(["field", "value", "source"], [[f, str(v), s] for f, v, s in rows], name=name, caption=caption)


def silences(
    rows: Iterable[tuple[str, str, str | None]], *, name: str, caption: str, effect: str = "measured effect"
) -> str:
    """What the paper leaves open, with a line for each (what is open, what we did, its measured effect or None)."""
    header = ["the paper does not say", "what we did", effect]
    return myst(header, [[o, d, e or "not measured"] for o, d, e in rows], name=name, caption=caption)


OUTCOMES = ("same", "differs", "undecided", "not at hand")


def outcome_of_table(comparison: pd.DataFrame) -> str:
    """Whether a printed table is reproduced: it differs if an entry on the paper's own data is off by over `GAP`."""
    own = comparison[(comparison["data"] == comparison["dataset"]) & comparison["z"].notna()]
    return "not at hand" if own.empty else "differs" if (own["z"].abs() > GAP).any() else "same"


def outcome_of_figure(data_at_hand: bool, judgements: Iterable[Judgement]) -> str:
    """Whether a figure without printed numbers shows what the paper says of it, on the paper's own data.

    "same" only if every claim on it is reproduced, "differs" if one is not reproduced; a figure of which nothing is
    claimed is undecided.
    """
    verdicts = {j.verdict for j in judgements}
    if not data_at_hand:
        return "not at hand"
    return "differs" if "not reproduced" in verdicts else "same" if verdicts == {"reproduced"} else "undecided"


def item_map(rows: Iterable[tuple[str, str | None, str]], *, name: str, caption: str) -> str:
    """Map of the paper's figures and tables, with a line for each (item, anchor of ours or None, outcome).

    Raises:
        ValueError: an outcome other than same, differs, undecided, not at hand.
    """
    lines = []
    for item, anchor, outcome in rows:
        if outcome not in OUTCOMES:
            raise ValueError(f"{item}: {outcome!r} is none of {', '.join(OUTCOMES)}")
        whose = "paper's data " if outcome == "not at hand" else ""  # what is shown is of other data
        lines.append([item, f"{{numref}}`{anchor}`" if anchor else "–", whose + outcome])
    return myst(["the paper's", "ours", "outcome"], lines, name=name, caption=caption)
