"""The tables of the BubbleRank chapter: regret, violations, other choices, and the bounds of theory.

As in `ol2r.report.tables`, one function computes a comparison as a frame, and a second one, whose name ends in `_told`,
writes it as MyST text. Means and intervals are over queries, as in `figures`.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.clicks import ItemClicks
from ol2r.experiments.claims import Contrast, NotMeasured, Results, StandIn, indexed, of_means, over_folds
from ol2r.experiments.effects import Nearness, TooFewSeeds, at_end, at_own_end, fold_effect
from ol2r.experiments.verdicts import Judgement
from ol2r.papers.bubblerank import grid as bubblerank
from ol2r.papers.bubblerank import worlds as bandit_worlds
from ol2r.papers.bubblerank.claims import EARLY as EARLY_STEPS
from ol2r.papers.bubblerank.claims import IN_100, TIMES, in_100, regret
from ol2r.papers.bubblerank.figures import CASE, models_of, one_setting, over_queries, steps_of
from ol2r.parameters import Value
from ol2r.report.said import NOT_RUN, Lead
from ol2r.report.style import CLICK_MODELS, LEARNERS
from ol2r.report.tables import NOT_AT_HAND, columns, headed, myst, named, significant

EARLY = 100
"""The number of first steps whose violations the paper prints."""


def _places(table: pd.DataFrame) -> list[tuple[str, str]]:
    """The pairs (data set, click model) of a table, in the order of its lines."""
    return [(str(d), m) for d, m in product(table["dataset"].unique(), models_of(table))
            if ((table["dataset"] == d) & (table["users"] == m)).any()]  # fmt: skip


def _placed(table: pd.DataFrame) -> pd.DataFrame:
    """The lines of a table in the order of `_places`."""
    order = {place: number for number, place in enumerate(_places(table))}
    places = [order[str(r.dataset), r.users] for r in frames.rows(table)]
    return table.iloc[np.array(places, dtype=int).argsort(kind="stable")]


def _place(row: frames.Row) -> str:
    return f"{row.users}, {named(str(row.dataset))}"


def _thousands(n: int) -> str:
    """A power of ten in the form 10ⁿ from 10,000 on; any other number in full."""
    exponent = round(np.log10(n))
    return f"10{str(exponent).translate(_RAISED)}" if n == 10**exponent >= 10_000 else f"{n:,}"


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def random_list_violates(initial_inversions: np.ndarray, positions: int) -> np.ndarray:
    """Probability that a uniformly random list has more than |V₀| + K/2 wrong pairs.

    The number of inversions of a random order is a sum of independent ones, uniform on 0 … k − 1 for k = 1 … K.

    Args:
        initial_inversions: |V₀| of each list; no two items may have equal attraction.
        positions: K, which is also the number of items.
    """
    share = np.ones(1)
    for k in range(1, positions + 1):
        share = np.convolve(share, np.full(k, 1 / k))
    at_least = np.append(np.cumsum(share[::-1])[::-1], 0.0)  # P(so many inversions or more)
    least = np.floor(np.asarray(initial_inversions) + positions / 2).astype(int) + 1
    return at_least[np.minimum(least, len(share))]


def early_violations(
    frame: pd.DataFrame, printed: pd.DataFrame, stand_ins: Sequence[StandIn], positions: int
) -> pd.DataFrame:
    """Violations in the first 100 steps: the printed ones beside ours, on each data set that stands in for the paper's.

    Args:
        frame: runs with `round`, `violations` and `initial_inversions`.
        stand_ins: our data sets that stand in for the printed one.
        positions: K.

    Returns:
        dataset (ours), users, learner, published_mean, published_error, the columns of `over_queries`, random (expected
        violations of uniformly random lists, given the |V₀| of the queries), inversions (mean |V₀|).
    """
    rows = one_setting(frame[frame["round"] == EARLY])
    rows = rows.assign(random=EARLY * random_list_violates(rows["initial_inversions"].to_numpy(), positions))
    table = over_queries(rows, "violations", CASE)
    for column, name in (("random", "random"), ("initial_inversions", "inversions")):
        table = table.merge(over_queries(rows, column, CASE)[[*CASE, "mean"]].rename(columns={"mean": name}), on=CASE)
    theirs = {one.data: printed[printed["dataset"] == one.of] for one in stand_ins}
    theirs = [each.assign(dataset=ours) for ours, each in theirs.items()]
    theirs = pd.concat(theirs)[[*CASE, "mean", "deviation"]]
    theirs = theirs.rename(columns={"mean": "published_mean", "deviation": "published_error"})
    return table.merge(theirs, on=CASE, how="left")


def early_violations_told(table: pd.DataFrame, absent: Sequence[str] = (), *, name: str, caption: str) -> str:
    """`early_violations` as a table with a column for each bandit.

    Each click model has a line of printed numbers and a line for each data set. The last column has the violations of
    random lists.

    Args:
        absent: catalogue names of data sets without runs.
    """
    shown = LEARNERS.ordered(table["learner"])
    rows = []
    for model in models_of(table):
        here = table[table["users"] == model]
        cells = here.drop_duplicates("learner").set_index("learner").reindex(shown)
        if cells["published_mean"].notna().any():
            rows.append([f"{model}, printed", *map(_printed, cells["published_mean"], cells["published_error"]), ""])
        for dataset, own in here.groupby("dataset", sort=False):
            cells = own.set_index("learner").reindex(shown)
            ours = [f"{r['mean']:.2f} ± {r['run_error']:.2f} ({r['error']:.2f})" for _, r in cells.iterrows()]
            rows.append([f"{model}, {named(str(dataset))}", *ours, f"{own['random'].iloc[0]:.1f}"])
    rows += [[f"{named(each)}: *{NOT_AT_HAND}*", *[""] * (len(shown) + 1)] for each in absent]
    return myst(["model, data", *shown, "random lists"], rows, name=name, caption=caption)


def _printed(mean: float, error: float) -> str:
    told = f"{mean:.2f}" if np.isfinite(mean) else "–"
    return f"{told} ± {error:.2f}" if np.isfinite(error) else told


def final_regret(frame: pd.DataFrame) -> pd.DataFrame:
    """Regret after the last step of each data set: `CASE` and the columns of `over_queries`."""
    return over_queries(one_setting(at_own_end(frame)), "regret", CASE) if len(frame) else frame.assign(mean=[])


def violated(frame: pd.DataFrame, bandit: str = "BubbleRank") -> pd.Series:
    """V(n) of every run of one bandit after the last step of its data set."""
    return at_own_end(frame)["violations"][frame["learner"] == bandit] if len(frame) else pd.Series(dtype=float)


def sought(queries: pd.DataFrame, steps: int) -> pd.Series:
    """The regret of the list by falling attraction, shown in so many steps, by data set and click model.

    Args:
        queries: runs of `query_cell`.
    """
    listed = queries[queries["ranked"] == "listed"] if len(queries) else queries.assign(sorted_loss=[])
    return steps * listed.set_index(["dataset", "users"])["sorted_loss"].astype(float)


def growth(frame: pd.DataFrame, bandit: str, less: pd.Series | float = 0.0) -> pd.Series:
    """How many times as large a bandit's mean regret is after the last step as after a tenth of the steps, by data set
    and click model; NaN where that step was not recorded.

    Args:
        less: what is taken from the regret of every step.
    """
    if frame.empty:
        return pd.Series(dtype=float)
    n = int(frame["round"].max())
    curves = steps_of(frame[frame["learner"] == bandit], "regret")
    means = curves.pivot_table("mean", ["dataset", "users"], "round").reindex(columns=[n // 10, n])
    return (means[n] - less * n) / (means[n // 10] - less * (n // 10))


def final_regret_told(table: pd.DataFrame, sought: pd.Series, *, name: str, caption: str) -> str:
    """`final_regret` as a table with a line for each click model and data set and a column for each bandit.

    The lowest regret of each line is bold. The last column has what `sought` says.
    """
    shown = LEARNERS.ordered(table["learner"])
    rows = []
    for dataset, model in _places(table):
        own = table[(table["dataset"] == dataset) & (table["users"] == model)].set_index("learner").reindex(shown)
        cells = [f"{significant(r['mean'])} ± {significant(r['error'], 2)}" for _, r in own.iterrows()]
        lowest = int(own["mean"].argmin())
        cells[lowest] = f"**{cells[lowest]}**"
        rows.append([f"{model}, {named(dataset)}", *cells, significant(sought[dataset, model])])
    return myst(["model, data", *shown, "list by attraction"], rows, name=name, caption=caption)


def queries_told(table: pd.DataFrame, positions: int, **told: str) -> str:
    """What the queries are like, by click model and data set, with a second line for more items than positions.

    Args:
        table: runs of `query_cell`.
        positions: K.
    """
    return columns(
        _placed(table),
        {
            "model, data": lambda r: _place(r) + (f", L up to {r.most_items}" if r.most_items > positions else ""),
            "queries": "{queries}",
            "wrong pairs of R₀": "{inversions:significant}",
            "reward of the best list": "{optimum:significant}",
            "with equal attractions": "{tied}",
            "best list not by attraction": "{unsorted}",
            "what sorting loses a step": "{sorted_loss:significant}",
        },
        **told,
    )


def overtaken(frame: pd.DataFrame, ours: str = "BubbleRank") -> pd.DataFrame:
    """The checkpoint from which on a bandit's mean regret stays above each other one's, by data set and click model.

    Returns:
        dataset, users, learner (the other bandit), step (NaN if the first bandit's regret ends below the other's).
    """
    curves = steps_of(frame, "regret")
    found = []
    for dataset, model in _places(curves):
        here = curves[(curves["dataset"] == dataset) & (curves["users"] == model)]
        means = here.pivot(index="round", columns="learner", values="mean").sort_index()  # noqa: PD010 (refuses doubles)
        for other in LEARNERS.ordered(means.columns):
            if other == ours or ours not in means:
                continue
            below = means.index[means[ours] <= means[other]]
            after = means.index[means.index > below.max()] if len(below) else means.index
            found.append((dataset, model, other, float(after[0]) if len(after) else np.nan))
    return pd.DataFrame(found, columns=["dataset", "users", "learner", "step"])


def overtaken_told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """`overtaken` as a table with a line for each click model and data set and a column for each bandit."""
    shown = LEARNERS.ordered(table["learner"])
    rows = []
    for dataset, model in _places(table):
        own = table[(table["dataset"] == dataset) & (table["users"] == model)].set_index("learner")["step"]
        rows.append([f"{model}, {named(dataset)}",
                     *(f"{own[each]:,.0f}" if np.isfinite(own[each]) else "never" for each in shown)])  # fmt: skip
    return myst(["model, data", *shown], rows, name=name, caption=caption)


def beside(main: pd.DataFrame, others: Mapping[str, pd.DataFrame], bandit: str, *compared: str) -> pd.DataFrame:
    """The runs of one bandit in several settings, each under a name of its own, together with those of other bandits.

    Args:
        main: runs of all bandits, with `bandit` in its main setting.
        others: runs in which it has another setting, by the name to give it.
    """
    parts = [main[main["learner"].isin([bandit, *compared])]]
    parts += [own[own["learner"] == bandit].assign(learner=name) for name, own in others.items() if len(own)]
    return pd.concat(parts, ignore_index=True)


def beside_told(frame: pd.DataFrame, steps: Sequence[int], *, name: str, caption: str) -> str:
    """Mean regret of every bandit of `beside` after each of `steps` and after the last step, as a table."""
    curves = steps_of(frame, "regret")
    shown = LEARNERS.ordered(curves["learner"])
    groups = {}
    for step in (*steps, int(curves["round"].max())):
        at = curves[curves["round"] == step]
        lines = groups[f"after {step:,} steps"] = []
        for dataset, model in _places(at):
            own = at[(at["dataset"] == dataset) & (at["users"] == model)].set_index("learner")["mean"]
            told = [significant(own[each]) if each in own else "–" for each in shown]
            lines.append([f"{model}, {named(dataset)}", *told])
    return myst(["model, data", *shown], headed({step: own for step, own in groups.items() if own}),
                name=name, caption=caption)  # fmt: skip


def violation_rates(frame: pd.DataFrame) -> pd.DataFrame:
    """How often the safety constraint is violated in each tenfold of steps, and by how many wrong pairs at most.

    Returns:
        `CASE`, since and round (the steps are since + 1 … round), mean (violations in a hundred steps, mean over
        queries), error, queries, runs; over all steps up to `round`: safe (share of runs without a violation) and
        excess (the largest |V(R_t)| − |V₀| of any run).
    """
    frame = one_setting(frame)
    ends = frame.groupby("dataset")["round"].transform("max")
    exponent = np.log10(frame["round"].to_numpy(float))
    rows = frame[((exponent % 1 == 0) & (frame["round"] >= EARLY)) | (frame["round"] == ends)]
    rows = rows.sort_values([*CASE, "fold", "seed", "round"], kind="stable")
    before = rows.groupby([*CASE, "fold", "seed"], sort=False)[["round", "violations"]].shift(fill_value=0)
    rate = 100 * (rows["violations"] - before["violations"]) / (rows["round"] - before["round"])
    rows = rows.assign(since=before["round"], rate=rate, safe=rows["violations"] == 0)
    by = [*CASE, "since", "round"]
    table = over_queries(rows, "rate", by)
    others = rows.groupby(by, sort=False).agg(safe=("safe", "mean"), excess=("excess", "max")).reset_index()
    return table[[*by, "mean", "error", "queries", "runs"]].merge(others, on=by)


def violation_rates_told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """`violation_rates` as a table with a line for each click model, data set and bandit."""
    windows = sorted(set(zip(table["since"], table["round"], strict=True)), key=lambda window: window[1])
    groups = {}
    for dataset, model in _places(table):
        here = table[(table["dataset"] == dataset) & (table["users"] == model)]
        lines = groups[f"{model}, {named(dataset)}"] = []
        for learner in LEARNERS.ordered(here["learner"]):
            own = here[here["learner"] == learner]
            rates = {(r.since, r.round): significant(r.mean, 2) for r in frames.rows(own)}
            last = own.iloc[own["round"].argmax()]
            safe = f"{100 * last['safe']:.0f} %"
            lines.append([learner, *(rates.get(each, "–") for each in windows), safe, f"{last['excess']:.0f}"])
    header = ["bandit", *(f"to {_thousands(end)}" for _, end in windows), "safe runs", "largest excess"]
    return myst(header, headed(groups), name=name, caption=caption)


def excess_of_more_items(frame: pd.DataFrame) -> pd.DataFrame:
    """The safety of every bandit over all steps, where there are more items than positions.

    Returns:
        `CASE`, violations (mean V(n) over queries), unsafe (share of runs with a violation), excess (the largest
        |V(R_t)| − |V₀|), improved (share of runs whose base list ends with no more wrong pairs than R₀; NaN for a
        bandit without a base list).
    """
    last = one_setting(at_own_end(frame))
    base = last["base_inversions"] if "base_inversions" in last else np.nan
    last = last.assign(
        unsafe=last["violations"] > 0,
        improved=np.where(pd.isna(base), np.nan, base <= last["initial_inversions"]),
    )
    by_run = last.groupby(CASE, sort=False).agg(
        unsafe=("unsafe", "mean"), excess=("excess", "max"), improved=("improved", "mean")
    )
    means = over_queries(last, "violations", CASE)[[*CASE, "mean"]].rename(columns={"mean": "violations"})
    return means.merge(by_run.reset_index(), on=CASE)


def excess_told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """`excess_of_more_items` as a table."""
    groups = {}
    for dataset, model in _places(table):
        here = table[(table["dataset"] == dataset) & (table["users"] == model)].set_index("learner")
        lines = groups[f"{model}, {named(dataset)}"] = []
        for learner in LEARNERS.ordered(here.index):
            own = frames.line(here, learner)
            improved = "–" if pd.isna(own["improved"]) else f"{100 * own['improved']:.0f} %"
            found = [significant(own["violations"]), f"{100 * own['unsafe']:.0f} %", f"{own['excess']:.0f}"]
            lines.append([learner, *found, improved])
    header = ["bandit", "V(n) after the last step", "runs with a violation", "largest excess"]
    header.append("runs whose base list ended no worse than R₀")
    return myst(header, headed(groups), name=name, caption=caption)


inversions_told = partial(
    columns,
    given={
        "model, data": _place,
        "slope, reward a pair": "{slope:significant}",
        "at |V₀| = 0": "{intercept:significant}",
        "R² of the means": "{explained:.3f}",
        "R² of single lists": "{explained_lists:.3f}",
        "values of |V₀|": "{values}",
        "lists": "{lists}",
        "slope within a query [95 %]": "{own:significant} [{low:significant}, {high:significant}]",
    },
)
"""`figures.lines_of_regret` as a table."""


# The synthetic model of Figure 3, right


def steps_to_exchange(examined: tuple[float, float], better: float, worse: float, log_inverse_delta: float) -> float:
    """Steps until BubbleRank is sure that the lower of two neighbours is the better one, in the position-based model.

    A pair is compared in every second step, in both orders equally often. Let d be the mean difference of clicks and p
    the probability that exactly one of the two is clicked. In a comparison s grows by d and n by p on average, so
    s = 2 √(n log(1/δ)) after 4 p log(1/δ) / d² comparisons; fluctuations are left out.

    Args:
        examined: χ of the upper and of the lower position.
        better, worse: attraction of the two items.
        log_inverse_delta: log(1/δ).
    """
    upper, lower = examined
    difference = (upper + lower) / 2 * (better - worse)
    single = (upper + lower) / 2 * (better + worse) - 2 * upper * lower * better * worse
    return 2 * 4 * single * log_inverse_delta / difference**2


def predicted_regret(users: ItemClicks, steps: int, exponent: float, cut: int) -> float:
    """Regret of BubbleRank at the end if one better item rises from the last position and all others are alike.

    The item rises from position p to p − 1 after `steps_to_exchange`. Regret counts the first `cut` positions, which
    are all examined with the same probability, so it stops when the item gets there for good. While the item stands
    right below them, it is shown among them in one step of four.

    Args:
        users: position-based, with one item better than all others.
        steps: the horizon n.
        exponent: δ = n^−exponent.
        cut: positions that the regret counts.
    """
    examined = users.position
    worse, better = sorted(set(users.attraction))
    gap = examined[0] * (better - worse)
    total = 0.0
    for p in range(len(examined) - 1, cut - 1, -1):  # the item is at position p + 1, its neighbour at p
        share = 0.75 if p == cut else 1.0
        total += share * steps_to_exchange((examined[p - 1], examined[p]), better, worse, exponent * np.log(steps))
    return gap * min(total, float(steps))


def predictions(steps: int) -> pd.Series:
    """`predicted_regret` of the synthetic model for each i, at the chapter's settings and so many steps."""
    exponent = float(bubblerank.SETTINGS["BubbleRank"]["exponent"])
    worlds = bandit_worlds.halved_examination().queries()
    return pd.Series({
        i: predicted_regret(world.users, steps, exponent, bubblerank.CUT)
        for i, world in zip(bandit_worlds.HALVINGS, worlds, strict=True)
    })  # fmt: skip


def halvings(frame: pd.DataFrame, predicted: pd.Series) -> pd.DataFrame:
    """The final regret on the synthetic model for each i, beside the predicted one.

    Returns:
        i, mean (over runs), error (standard error), n (number of runs), predicted, ratio and predicted_ratio (of mean
        and predicted to those of i − 1).
    """
    table = at_end(frame).groupby("fold")["regret"].agg(mean="mean", error="sem", n="count")
    table = table.assign(predicted=predicted.reindex(table.index))
    ratios = {
        "ratio": table["mean"].div(table["mean"].shift()),
        "predicted_ratio": table["predicted"].div(table["predicted"].shift()),
    }
    return table.assign(**ratios).reset_index().rename(columns={"fold": "i"})


def halvings_told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """`halvings` as a table."""
    rows = [
        [f"$0.5^{r.i}$", f"{significant(r.mean)} ± {significant(r.error, 2)}", *map(significant, (r.ratio, r.predicted,
         r.predicted_ratio))]
        for r in frames.rows(table)
    ]  # fmt: skip
    header = ["χ_min", "regret ± s.e.", "times the line above", "predicted", "times the line above"]
    return myst(header, rows, name=name, caption=caption)


def slope(judgement: Judgement) -> Lead:
    """The slope of log₂ regret over halvings with its interval; NaN where there is none.

    Args:
        judgement: of BR7, whose contrast is how near the slope is to 1.
    """
    found = judgement.tested[0].effect if judgement.tested else None
    if not isinstance(found, Nearness):
        return NOT_RUN
    return Lead(*(each + 1 for each in (found.effect.estimate, *found.effect.interval())))


# Other choices


def choice_effects(frame: pd.DataFrame, main: Mapping[str, Value], changed: Mapping[str, Value]) -> pd.DataFrame:
    """What another choice inside one bandit changes: differences paired by run, with intervals over queries.

    Args:
        frame: runs of the bandit in both settings.
        main: all parameters of the main setting.
        changed: the parameters that the other choice changes, with their other values.

    Returns:
        dataset, users, regret and regret_other (means over queries after the last step), difference (other − main) with
        low and high, early and early_other (violations in the first 100 steps), late and late_other (in all).
    """
    keys = ["dataset", "users", "fold", "seed"]
    found = []
    both = [_setting(frame, main), _setting(frame, {**main, **changed})]
    ends = [at_own_end(each).set_index(keys)[["regret", "violations"]] for each in both]
    early = [each[each["round"] == EARLY].set_index(keys)["violations"] for each in both]
    for (dataset, users), own in ends[0].groupby(["dataset", "users"], sort=False):
        own = own.loc[own.index.intersection(ends[1].index)]
        other = ends[1].loc[own.index]
        effect = fold_effect(other["regret"] - own["regret"])
        counts = [
            _mean(each)
            for each in (early[0].loc[own.index], early[1].loc[own.index], own["violations"], other["violations"])
        ]
        found.append((dataset, users, _mean(own["regret"]), _mean(other["regret"]), effect.estimate,
                      *effect.interval(), *counts))  # fmt: skip
    return pd.DataFrame(found, columns=_EFFECTS)


_EFFECTS = ["dataset", "users", "regret", "regret_other", "difference", "low", "high"]
_EFFECTS += ["early", "early_other", "late", "late_other"]


def _mean(values: pd.Series) -> float:
    """Mean over queries of the means of their runs."""
    return float(values.groupby("fold").mean().mean())


def _setting(frame: pd.DataFrame, setting: Mapping[str, Value]) -> pd.DataFrame:
    here = np.ones(len(frame), dtype=bool)
    for name, value in setting.items():
        here &= (frame[name] == value).to_numpy(bool)
    return frame[here]


def choices(
    frames: Mapping[str, pd.DataFrame],
    declared: Sequence[tuple[str, str, str, Mapping[str, Value]]],
    settings: Mapping[str, Mapping[str, Value]],
) -> pd.DataFrame:
    """`choice_effects` of every declared other choice, with the columns item, bandit and choice (its name).

    Args:
        declared: (item, bandit, the name of the other choice, the parameters it changes).
        settings: the main setting of every bandit.
    """
    parts = [
        choice_effects(frames[item], settings[bandit], changed).assign(item=item, bandit=bandit, choice=told)
        for item, bandit, told, changed in declared
        if len(frames[item])
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["item", *_EFFECTS])


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + significant(value)


choices_told = partial(
    columns,
    given={
        "other choice; model, data": _place,
        "regret": "{regret:significant}",
        "with it": "{regret_other:significant}",
        "difference [95 %]": lambda r: f"{_signed(r.difference)} [{_signed(r.low)}, {_signed(r.high)}]",
        "V(100)": "{early:significant} → {early_other:significant}",
        "V(n)": "{late:significant} → {late_other:significant}",
    },
    under="{bandit}: {choice}",
)
"""`choices` as a table: under each choice a line for each click model and data set."""


# Theory


event_told = partial(
    columns,
    given={
        "δ": "$n^{{-{exponent:.3g}}}$",
        "share in which E held [95 %]": "{share:.3f} [{low:.3f}, {high:.3f}]",
        "Lemma 9": "{promised:.3f}",
        "sharpened": "{proved:.3f}",
        "unsafe runs": lambda r: f"{r.unsafe_held} / {round(r.unsafe * r.runs) - r.unsafe_held}",
        "largest |P| / bound": "{pairs_ratio:.2f}",
        "|P| above it": "{pairs_over} / {pairs_over_broken}",
        "base list worse than R₀": lambda r: f"{r.worse_held} / {r.worse - r.worse_held}",
    },
    under="{users}, K = {positions}, {runs:,} runs",
)
"""`bounds.event_audit` as a table, with a line for each click model, K and δ."""


def bounds_told(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """`bounds.regret_against_bounds` after the last step as a table, with a line for each world."""
    rows = []
    for r in frames.rows(at_own_end(table)):
        printed = f"{significant(r.bound)}{' (K n)' if r.bound >= r.everything else ''}"
        regret = f"{significant(r.regret)} ± {significant(r.error, 2)}"
        rows.append([_world(r), str(min(r.cut, r.positions)), regret, printed, significant(r.loose),
                     significant(r.proved), significant(r.proved_loose), significant(r.best)])  # fmt: skip
    header = ["world", "m", "regret ± s.e.", "Theorem 1", "times the regret", "sharpened", "times the regret"]
    return myst([*header, "n r(R*)"], rows, name=name, caption=caption)


def _world(row: frames.Row) -> str:
    return f"{row.users}, K = {row.positions}, |V₀| = {row.inversions}"


looseness_told = partial(
    columns,
    given={
        "world": _world,
        "bound / regret": "{ratio:significant}",
        "= lists": "{lists:significant}",
        "× pairs": "{pairs:significant}",
        "× evidence": "{evidence:significant}",
        "× gaps": "{gaps:significant}",
        "× what is left": "{left:significant}",
        "confidence": "{confidence:significant}",
    },
)
"""`bounds.where_it_is_loose` as a table: the ratio, its five factors, and the confidence."""


def query_bounds_told(table: pd.DataFrame, **told: str) -> str:
    """Runs of `query_bounds_cell` as a table with a line for each click model and data set."""
    says = "{says} / {says_apart} / {says_examined} / {says_both}"
    return columns(
        _placed(table),
        {
            "model, data": _place,
            "queries": "{queries}",
            "attractions differ / χ or v falls / assumptions hold": "{differ} / {falls} / {assumed}",
            "Theorem 1 below K n: as it is / even gaps / even examination / both": says,
            "sharpened below n r(R*)": "{proved_says}",
            "Δ_min / if even": "{gap:significant 2} / {even_gap:significant 2}",
            "below K n from n: first / half": lambda r: f"{_power(r.first_step)} / {_power(r.half_step)}",
        },
        **told,
    )


def _power(value: float) -> str:
    """A large number as a power of ten."""
    if not np.isfinite(value):
        return "never"
    exponent = int(np.floor(np.log10(value)))
    return f"{value / 10**exponent:.1f}·10{str(exponent).translate(_RAISED)}"


def compared(results: Mapping[str, Results], ours: str = "BubbleRank") -> pd.DataFrame:
    """One bandit beside every other, in the quantities and with the intervals of the claims.

    Regret is compared by ratio; violations of the first 100 steps are compared by difference. What the results do not
    hold is left out.

    Args:
        results: of the items fig-1, first-100 and query-rewards, by item.

    Returns:
        dataset, users, row (the other bandit), panel (`after` some steps, or `AT_FIRST`), mean (our regret over the
        other's, or our violations minus the other's), low and high (95 % interval over queries).
    """
    read = indexed({item: results[item] for item in ("fig-1", "first-100", "query-rewards")})
    runs = read["fig-1"].frame
    lines = []
    others = [name for name in LEARNERS.ordered(runs["learner"]) if name != ours]
    for dataset, other, model in product(runs["dataset"].unique(), others, CLICK_MODELS):
        contrasts = {
            after(n): Contrast("", regret(ours, n) / regret(other, n), TIMES, of_means)
            for n in (*EARLY_STEPS, int(runs["round"].max()))
        }
        contrasts[AT_FIRST] = Contrast("", in_100(ours) - in_100(other), IN_100, over_folds)
        for panel, contrast in contrasts.items():
            with suppress(NotMeasured, TooFewSeeds):
                effect = contrast.effect(read, dataset, model)
                lines.append((dataset, model, other, panel, effect.estimate, *effect.interval()))
    return pd.DataFrame(lines, columns=["dataset", "users", "row", "panel", "mean", "low", "high"])


AT_FIRST = f"first {EARLY} steps"
"""The panel of `compared` with violations; those with regret are called as `after` says."""


def after(steps: int) -> str:
    """The panel of `compared` with regret after so many steps."""
    return f"{steps:,} steps"
