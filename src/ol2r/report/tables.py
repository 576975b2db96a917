"""Tables of results as MyST text: published beside reproduced, effects, claims, conventions, map of a paper's items.

Comparisons are frames first (for figures, CSV files and tests) and text last. This module knows printed numbers and
runs; it must not know how either came about.
"""

# pandas has no types of its own: every selection is inferred to be anything from a scalar to a frame
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false, reportReturnType=false

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from ol2r.experiments.claims import VERDICTS, Judgement, Verdict, label
from ol2r.experiments.effects import TooFewSeeds, at_end, at_own_end, mean_effect, summarize
from ol2r.experiments.tuning import on_edge
from ol2r.report.style import LEARNERS, USERS, Looks

NOT_AT_HAND = "data not at hand"
MARK = "▲"
CELL = ["dataset", "users", "learner"]

SYMBOLS: dict[Verdict, str] = dict(zip(VERDICTS, "✔≈?✘–·", strict=True))


# Comparisons


def compare(
    frame: pd.DataFrame,
    published: pd.DataFrame,
    column: str,
    stand_ins: Mapping[str, str] | None = None,
    *,
    baseline: str = "MGD",
) -> pd.DataFrame:
    """Published beside reproduced, one line a (data set, users, learner) of either.

    z = (reproduced mean − published mean) / √(s²/n + s_p²/n_p), with s and s_p the deviations over n and n_p runs.

    Args:
        frame: runs of any data sets; its last round counts.
        published: the printed numbers of one table.
        column: what the table is of.
        stand_ins: data at hand for a printed data set that is not: {printed name: name of ours}.
        baseline: the learner that the others are tested against.

    Returns:
        dataset (printed name, or ours where nothing is printed), data (where it was reproduced, or ""), users, learner,
        published_mean, published_deviation, published_error, published_significant, mean, deviation, n, error
        (deviation / √n),
        z, p and significant: a two-sided paired t-test of the learner against the baseline over runs, for a higher mean
        at p < 0.05. What does not exist is NaN.
    """
    last = at_end(frame)
    printed_name = {ours: printed for printed, ours in (stand_ins or {}).items()}
    ours = summarize(last, column, CELL).merge(
        _against(last, column, baseline)[[*CELL, "p", "difference"]], on=CELL, how="left"
    )
    ours = ours.assign(data=ours["dataset"], dataset=ours["dataset"].map(lambda name: printed_name.get(name, name)))
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
               "published_significant", "mean", "deviation", "n", "error", "z", "p", "significant"]  # fmt: skip
    return table[columns].reset_index(drop=True)


def _against(last: pd.DataFrame, column: str, baseline: str) -> pd.DataFrame:
    """Paired comparison of every learner with the baseline on the runs that both have."""
    lines = []
    for (dataset, users), cell in last.groupby(["dataset", "users"], sort=False):
        runs = cell.pivot(index=["fold", "seed"], columns="learner", values=column)  # noqa: PD010 (refuses doubles)
        for learner in LEARNERS.ordered(runs.columns):
            if learner == baseline or baseline not in runs:
                continue
            paired = (runs[learner] - runs[baseline]).dropna()
            p = float(stats.ttest_1samp(paired, 0.0)[1])
            lines.append((dataset, users, learner, paired.mean(), paired.std(), p, paired))
    return pd.DataFrame(lines, columns=[*CELL, "difference", "spread", "p", "paired"])


def effects(frame: pd.DataFrame, column: str, baseline: str = "MGD") -> pd.DataFrame:
    """Effect sizes against a baseline at the last round, paired by run.

    Returns:
        dataset, users, learner, difference (mean of learner − baseline), low and high (its 95 % interval over seeds
        within folds; NaN with fewer than two seeds a fold), d (difference / deviation of the paired differences), p
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
    """How far every switch's runs lie from the printed numbers: switch, users, learner, z (as in `compare`).

    Args:
        frame: runs on one printed data set, with the label column `switch`.
        published: the printed numbers of one table.
        column: what the table is of.
    """
    parts = [compare(runs, published, column).assign(switch=name) for name, runs in frame.groupby("switch", sort=False)]
    table = pd.concat(parts)
    return table[table["data"] != ""][["switch", "users", "learner", "z"]].reset_index(drop=True)


GAP = 3.0
"""Combined standard errors beyond which a cell does not come out as printed."""


def switch_effects(screened: pd.DataFrame, main: pd.DataFrame) -> dict[str, str]:
    """What each switch changes, in words: the range over users and learners of the paired mean change at the end.

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
    """The main result as first row above the screen's: switch, users, learner, z."""
    return pd.concat([main, screened], ignore_index=True)[["switch", "users", "learner", "z"]]


def explained(screens: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Which gaps each switch explains, by a rule that was declared, and its reading fixed, before any look at a screen.

    "A switch explains a gap only if it closes it for every learner it touches without opening another" is read for each
    printed table and kind of users, a row of learners. A gap is |z| > `GAP`; a cell is touched when its z is not the
    main result's. A switch explains the row if a gap is among the row's touched cells, all of these close, and no
    touched cell of the whole printed table becomes a gap.

    Args:
        screens: by printed table, the main result's z and the screen's, as `stacked` takes them.

    Returns:
        A line a switch and printed table: switch, item, touched (cells), before and after (gaps among them), closed,
        opened, rows (the users whose row is explained, joined by ", ").
    """
    counts = ["touched", "before", "after", "closed", "opened"]
    lines = []
    for item, (main, screened) in screens.items():
        cells = screened.merge(main, on=["users", "learner"], how="left", suffixes=("", "_main"))
        touched = (cells["z"] - cells["z_main"]).abs() > 1e-9
        before, after = touched & (cells["z_main"].abs() > GAP), touched & (cells["z"].abs() > GAP)
        cells = cells.assign(
            touched=touched, before=before, after=after, closed=before & ~after, opened=after & ~before
        )
        for switch, of_table in cells.groupby("switch", sort=False):
            totals = [int(of_table[count].sum()) for count in counts]
            rows = () if of_table["opened"].any() else of_table.groupby("users", sort=False)
            users = [str(kind) for kind, row in rows if row["before"].any() and (row["before"] == row["closed"]).all()]
            lines.append((switch, item, *totals, ", ".join(users)))
    return pd.DataFrame(lines, columns=["switch", "item", *counts, "rows"])


def explanations(screens: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], *, name: str, caption: str) -> str:
    """`explained` as a table, without the switches that touch nothing of a printed table."""
    table = explained(screens).query("touched > 0")
    header = ["switch", "table", "cells touched", "gaps before", "gaps after", "closed", "opened", "explains"]
    rows = [[*map(str, line[:-1]), line[-1] or "–"] for line in table.itertuples(index=False)]
    return myst(header, rows, name=name, caption=caption)


def explained_in_words(screens: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> str:
    """The outcome of the screen in a sentence or two."""
    main = pd.concat([table for table, _ in screens.values()])
    gaps, cells = int((main["z"].abs() > GAP).sum()), int(main["z"].notna().sum())
    if not cells:
        return "No cell of these tables is at hand, so there is no gap to explain."
    table = explained(screens)
    explaining = table[table["rows"] != ""]
    names = [
        f"{switch} ({'; '.join(f'{r.item}, {r.rows}' for r in of_switch.itertuples())})"
        for switch, of_switch in explaining.groupby("switch", sort=False)
    ]
    told = f"By the paper's text {gaps} of {cells} cells lie more than {GAP:g} standard errors from the print. "
    if not gaps:
        return told + "There is nothing to explain."
    if names:
        return f"{told}By the rule above, these switches explain the gaps of what they touch: {', '.join(names)}."
    return f"{told}By the rule above no switch explains them: they are *not reproduced*, and that is the finding."


# Text


def myst(header: Sequence[str], rows: Iterable[Sequence[str]], *, name: str, caption: str) -> str:
    """A numbered MyST table; `name` is its anchor."""
    lines = [
        " | ".join(line) for line in (map(_cell, header), ["---"] * len(header), *(map(_cell, row) for row in rows))
    ]
    return "\n".join([f":::{{table}} {caption}", f":name: {name}", "", *(f"| {line} |" for line in lines), ":::", ""])


def headed(groups: Mapping[str, Sequence[Sequence[str]]]) -> list[list[str]]:
    """The lines of all groups, each group under a line with its name."""
    return [
        line
        for head, lines in groups.items()
        for line in ([f"**{head}**", *[""] * (len(lines[0]) - 1)], *map(list, lines))
        if lines
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def signed(value: float, digits: int = 3) -> str:
    """A number with its sign, a true minus, and no NaN."""
    return "–" if not np.isfinite(value) else f"{float(value):+,.{digits}f}".replace("-", "−")


def interval(low: float, high: float, digits: int = 3) -> str:
    return f"[{signed(low, digits)}, {signed(high, digits)}]"


def beside(comparison: pd.DataFrame, *, name: str, caption: str, name_of: Callable[[str], str] = label) -> str:
    """Published beside reproduced: for every kind of user and data set a line of each, and their distance.

    Means with deviations over runs in brackets; bold: the best of its line; ▲: above the baseline at p < 0.05; distance
    in combined standard errors.

    Args:
        comparison: from `compare`.
        name_of: what a data set is called.
    """
    learners = LEARNERS.ordered(comparison["learner"])
    rows = []
    for (users, dataset), cell in comparison.groupby(["users", "dataset"], sort=False):
        cell = cell.set_index("learner").reindex(learners)
        data = next(iter(cell["data"].replace("", None).dropna()), None)
        printed = bool(cell["published_mean"].notna().any())
        source = "reproduced" if data == dataset else f"reproduced on {name_of(data)}" if data else f"*{NOT_AT_HAND}*"
        lines = []
        if printed:
            marks = cell["published_significant"] == 1
            lines.append(["published", *_scores(cell["published_mean"], cell["published_deviation"], marks)])
        ours = _scores(cell["mean"], cell["deviation"], cell["significant"] == 1) if data else [""] * len(learners)
        lines.append([source if printed else "ours, not in the paper", *ours])
        if printed and data:
            lines.append(["difference / s.e.", *(signed(z, 1) for z in cell["z"])])
        heads = [[f"{users}, {dataset if printed else name_of(str(dataset))}"], *[[""]] * 2]
        rows += [[*head, *line] for head, line in zip(heads, lines, strict=False)]
    return myst(["users, data", "source", *learners], rows, name=name, caption=caption)


def _scores(means: pd.Series, deviations: pd.Series, marks: pd.Series) -> list[str]:
    cells = []
    for learner, mean in means.items():
        if not np.isfinite(mean):
            cells.append("–")
            continue
        text = f"{float(mean):.3f}"
        text = f"**{text}**" if mean == means.max() else text
        cells.append(f"{text} ({float(deviations[learner]):.3f})" + (f" {MARK}" if marks[learner] else ""))
    return cells


def effect_sizes(table: pd.DataFrame, *, name: str, caption: str, name_of: Callable[[str], str] = label) -> str:
    """Effect sizes against MGD with 95 % intervals, a line a learner.

    Args:
        table: from `effects`.
    """
    rows = [
        [str(r.users), name_of(str(r.dataset)), str(r.learner), f"{signed(r.difference)} {interval(r.low, r.high)}",
         signed(r.d, 2), "< 0.001" if r.p < 0.001 else f"{r.p:.3f}"]
        for r in table.itertuples()
    ]  # fmt: skip
    header = ["users", "data", "learner", "difference to MGD [95 %]", "d", "p"]
    return myst(header, rows, name=name, caption=caption)


def final(frame: pd.DataFrame, columns: Sequence[str], by: str = "variant") -> pd.DataFrame:
    """Scores after every data set's own last round: dataset, users, `by`, score (the column), mean, deviation, n, low,
    high."""
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
    name_of: Callable[[str], str] = label,
) -> str:
    """Final scores, a line a kind of user, data set and score: mean over runs (deviation); bold: the best of its line.

    Args:
        table: from `final`.
        columns: which scores to show, and what they are called where there are several.
        by: the label column that makes the table's columns, in the order of `looks`.
        reference: by data set, the offline ranker's score, shown beside the first of `columns`.
        not_at_hand: catalogue names of declared data sets without runs; each has a line that says so.
        name_of: what a data set is called.
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
            line = _scores(of_each["mean"], of_each["deviation"], pd.Series(False, index=shown))
            level = [f"{reference[dataset]:.3f}" if i == 0 and dataset in reference else ""] if reference else []
            head = "" if i else f"{users}, {name_of(str(dataset))}"
            rows.append([head, *[called] * several, *line, *level])
    rows += [[f"{name_of(each)}: *{NOT_AT_HAND}*", *[""] * (len(header) - 1)] for each in not_at_hand]
    return myst(header, rows, name=name, caption=caption)


def tuning(
    scores: pd.DataFrame,
    names: Mapping[str, str],
    *,
    name: str,
    caption: str,
    by: str = "variant",
    name_of: Callable[[str], str] = label,
) -> str:
    """Best and worst cell of every tuning grid.

    Args:
        scores: `ol2r.experiments.tuning.grid_scores`.
        names: symbols of the hyper-parameters.
        by: the label column of what was tuned.
        name_of: what a data set is called.
    """

    def told(cell: pd.Series) -> str:
        values = ", ".join(f"{symbol} = {cell[key]:g}" for key, symbol in names.items() if pd.notna(cell.get(key)))
        return f"{values}: {cell['score']:.3f}"

    rows = []
    for dataset in scores["dataset"].unique():
        for learner in LEARNERS.ordered(scores.loc[scores["dataset"] == dataset, by]):
            own = scores[(scores["dataset"] == dataset) & (scores[by] == learner)]
            best, worst = (own[own[which]].iloc[0] for which in ("best", "worst"))
            rows.append([name_of(str(dataset)), learner, str(len(own)), told(best), told(worst)])
    return myst(["data", "learner", "cells", "best", "worst"], rows, name=name, caption=caption)


def tuning_edges(
    scores: pd.DataFrame, names: Mapping[str, str], *, by: str = "variant", name_of: Callable[[str], str] = label
) -> str:
    """Which best cells lie on an edge of their grid, in a sentence.

    Args: as of `tuning`.
    """
    told = [
        f"{learner} on {name_of(dataset)} ({', '.join(f'{names[key]} = {value:g}' for key, value in edges.items())})"
        for (dataset, learner), edges in on_edge(scores, list(names), by).items()
    ]
    if not told:
        return "No best cell lies on an edge of its grid."
    return f"Best cells on an edge of their grid, beyond which better ones may lie: {'; '.join(told)}."


def conventions(rows: Iterable[tuple[str, object, str]], *, name: str, caption: str) -> str:
    """The conventions of a chapter: (field, value, source) a line."""
    return myst(["field", "value", "source"], [[f, str(v), s] for f, v, s in rows], name=name, caption=caption)


def silences(
    rows: Iterable[tuple[str, str, str | None]], *, name: str, caption: str, effect: str = "measured effect"
) -> str:
    """What the paper does not say: (what is open, what we did, its measured effect or None) a line.

    Args:
        effect: what the last column is called.
    """
    header = ["the paper does not say", "what we did", effect]
    return myst(header, [[o, d, e or "not measured"] for o, d, e in rows], name=name, caption=caption)


OUTCOMES = ("same", "differs", "undecided", "not at hand")


def outcome_of_table(comparison: pd.DataFrame) -> str:
    """Whether a printed table comes out: a cell on the paper's own data further off than `GAP` makes it differ."""
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
    """Map of the paper's items: (item, anchor of ours or None, outcome) a line.

    Raises:
        ValueError: an outcome other than same, differs, undecided, not at hand.
    """
    lines = []
    for item, anchor, outcome in rows:
        if outcome not in OUTCOMES:
            raise ValueError(f"{item}: {outcome!r} is none of {', '.join(OUTCOMES)}")
        lines.append([item, f"{{numref}}`{anchor}`" if anchor else "–", outcome])
    return myst(["the paper's", "ours", "outcome"], lines, name=name, caption=caption)


def audits(summary: pd.DataFrame, *, name: str, caption: str) -> str:
    """What was audited, how far simulation lies from theory, and how far from a named mistake.

    Args:
        summary: `audits.summary`.
    """
    header = ["audit", "quantity", "lines", "largest |z|", "the mistake it would report", "its smallest |z|"]
    rows = [
        [r.audit, r.quantity, str(r.lines), f"{r.z:.1f}", r.mistake, f"{r.z_mistaken:.1f}"]
        for r in summary.itertuples()
    ]
    return myst(header, rows, name=name, caption=caption)


# Claims


def badge(verdict: Verdict) -> str:
    """A verdict as a mark and its words, readable without colour; the class is for the page's style sheet."""
    return f'<span class="verdict verdict-{_slug(verdict)}">{SYMBOLS[verdict]} {verdict}</span>'


def _slug(verdict: str) -> str:
    return "-".join("".join(c if c.isalpha() else " " for c in verdict).split())


def opening(judgements: Sequence[Judgement]) -> str:
    """The chapter's answer in one sentence: how many claims have which verdict, on what data, at what tier."""
    counts = {v: sum(j.verdict == v for j in judgements) for v in VERDICTS}
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if n)
    data = sorted({label(name) for j in judgements for name in j.data})
    tiers = sorted({j.tier for j in judgements if j.tier})
    on = f" on {'; '.join(data)}" if data else ""
    return f"Of the paper's {len(judgements)} claims: {told} ({', '.join(tiers)} tier{on})."


def claims_overview(judgements: Sequence[Judgement], *, name: str, caption: str) -> str:
    """One line a claim, linked to where it is judged: verdict, least favourable effect and interval, cells tested."""
    rows = [
        [f"{{ref}}`{j.id} <{j.anchor}>`", j.statement, badge(j.verdict), _effect(j), f"{j.n_testable} of {j.n_cells}"]
        for j in judgements
    ]
    header = ["claim", "what the paper says", "verdict", "least favourable effect [95 %]", "cells tested"]
    return myst(header, rows, name=name, caption=caption)


def verdicts_by_data(found: Mapping[str, Mapping[str, Judgement]], *, name: str, caption: str) -> str:
    """What each data set alone would say of each claim; a dash where it has nothing to say.

    Args:
        found: by claim, `judge_by_data`.
    """
    datasets = list(dict.fromkeys(data for own in found.values() for data in own))
    rows = [
        [f"{{ref}}`{claim} <{next(iter(own.values())).anchor}>`"]
        + [badge(own[data].verdict) if data in own else "–" for data in datasets]
        for claim, own in found.items()
        if own
    ]
    return myst(["claim", *map(label, datasets)], rows, name=name, caption=caption)


def claim(judgement: Judgement) -> str:
    """One claim with its anchor: statement, rule, verdict, effect, and what the verdict rests on."""
    j = judgement
    return "\n".join([
        f"::::{{admonition}} {j.id}: {j.statement}", f":name: {j.anchor}", f":class: claim-{_slug(j.verdict)}", "",
        f"{badge(j.verdict)} · {_effect(j)}", "", f"*Rule.* {j.rule}.", "", f"*Grounds.* {j.reason}.", "::::", "",
    ])  # fmt: skip


def _effect(j: Judgement) -> str:
    if j.effect is None or j.interval is None:
        return "–"
    digits = 0 if abs(j.effect) >= 1000 else int(np.clip(2 - np.floor(np.log10(max(abs(j.effect), 1e-9))), 2, 5))
    return f"{signed(j.effect, digits)} {interval(*j.interval, digits)}"
