"""The tables and sentences of the BubbleRank chapter: regret, violations, other choices, and the bounds of theory.

As in `ol2r.report.tables`, one function computes a comparison as a frame, and a second one, whose name ends in `_told`
or `_in_words`, writes it as MyST text. Means and intervals are over queries, as in `figures`.
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
from ol2r.papers.bubblerank.figures import CASE, models_of, one_setting, over_queries, regret_ratios, steps_of
from ol2r.parameters import Value
from ol2r.report.leads import in_range, joined
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
    return over_queries(one_setting(at_own_end(frame)), "regret", CASE)


def final_regret_told(table: pd.DataFrame, queries: pd.DataFrame, steps: int, *, name: str, caption: str) -> str:
    """`final_regret` as a table with a line for each click model and data set and a column for each bandit.

    The lowest regret of each line is bold. The last column has the regret of the list by falling attraction.

    Args:
        queries: runs of `query_cell`.
        steps: n.
    """
    shown, floors = LEARNERS.ordered(table["learner"]), _floors(queries, steps)
    rows = []
    for dataset, model in _places(table):
        own = table[(table["dataset"] == dataset) & (table["users"] == model)].set_index("learner").reindex(shown)
        cells = [f"{significant(r['mean'])} ± {significant(r['error'], 2)}" for _, r in own.iterrows()]
        lowest = int(own["mean"].argmin())
        cells[lowest] = f"**{cells[lowest]}**"
        rows.append([f"{model}, {named(dataset)}", *cells, significant(floors[dataset, model])])
    return myst(["model, data", *shown, "list by attraction"], rows, name=name, caption=caption)


def _floors(queries: pd.DataFrame, steps: int) -> dict[tuple[str, str], float]:
    """The regret of the list by falling attraction after so many steps, by data set and click model."""
    listed = queries[queries["ranked"] == "listed"]
    return {(r.dataset, r.users): steps * float(r.sorted_loss) for r in frames.rows(listed)}


def floors_in_words(table: pd.DataFrame, queries: pd.DataFrame, steps: int) -> str:
    """The share of the lowest regret that comes from seeking the list by falling attraction where it is not the best.

    Args: as for `final_regret_told`.
    """
    told = []
    for (dataset, model), floor in _floors(queries, steps).items():
        here = table[(table["dataset"] == dataset) & (table["users"] == model)]
        if floor > 0 and len(here):
            best = here.iloc[here["mean"].argmin()]
            told.append(f"{100 * floor / best['mean']:.0f} % of {best['learner']}'s ({model}, {named(dataset)})")
    if not told:
        return "In all models here the best list is the list by falling attraction."
    return (
        "Where the list by falling attraction is not the best, its own regret is this much of the lowest regret: "
        f"{'; '.join(told)}. That part is linear in the steps, whatever is learned."
    )


def growth_in_words(frame: pd.DataFrame, queries: pd.DataFrame, bandit: str, limit: float) -> str:
    """The growth of a bandit's regret over the last tenfold of steps, with and without that of the list by attraction.

    Args:
        queries: runs of `query_cell`.
        limit: the largest growth that counts as learning.
    """
    rows = frame[frame["learner"] == bandit]
    n = int(rows["round"].max())
    ends = steps_of(rows[rows["round"].isin([n // 10, n])], "regret").set_index(["dataset", "users", "round"])["mean"]
    told = []
    for (dataset, model), floor in _floors(queries, 1).items():
        if floor > 0 and {(dataset, model, n // 10), (dataset, model, n)} <= set(ends.index):
            now, then = ends[dataset, model, n], ends[dataset, model, n // 10]
            learned = significant((now - floor * n) / (then - floor * (n // 10)), 2)
            told.append(f"{significant(now / then, 2)}-fold and {learned}-fold ({model}, {named(dataset)})")
    if not told:
        return ""
    return (
        f"Over the last tenfold of steps, in which regret may grow {significant(limit)}-fold to count as learning, "
        f"{bandit}'s regret grows, with that part and without it, {'; '.join(told)}."
    )


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


def ratio_in_words(frame: pd.DataFrame, one: str, other: str) -> str:
    """The regret of one bandit as a multiple of another's after the last step, over all cases, in a sentence; empty
    without runs of both.
    """
    pair = frame[frame["learner"].isin([one, other])] if len(frame) else frame
    if len(pair) == 0 or pair["learner"].nunique() < 2:
        return ""
    ends = regret_ratios(pair[pair["round"] == pair["round"].max()], other)
    clear = int(((ends["low"] > 1) | (ends["high"] < 1)).sum())
    told = in_range(ends["mean"], "{:.2f}".format)
    return (
        f"After the last step, the regret of *{one}* is {told} times that of *{other}*; the 95 % interval leaves out 1 "
        f"in {clear} of {len(ends)} cases (click model and data)."
    )


def order_in_words(frame: pd.DataFrame, bandit: str, ours: str = "BubbleRank", step: int = 10_000) -> str:
    """In how many cases one bandit has lower mean regret than another early, and higher at the end, as the paper draws.

    Args:
        bandit: the other bandit; each of its settings is compared, and their names begin with this name.
        ours: the bandit whose regret should be lower early and higher at the end.
        step: the number of steps that is early.
    """
    curves = steps_of(frame, "regret")
    last = int(curves["round"].max())
    told = []
    for each in [one for one in LEARNERS.ordered(curves["learner"]) if one.startswith(bandit)]:
        sides = []
        for at in (step, last):
            means = curves[curves["round"] == at].pivot(index=["dataset", "users"], columns="learner", values="mean")  # noqa: PD010
            if {ours, each} <= set(means):
                both = means[[ours, each]].dropna()
                below = both[ours] < both[each] if at == step else both[ours] > both[each]
                sides.append(f"{below.sum()} of {len(both)}")
        if len(sides) == 2:
            told.append(f"{each}: {sides[0]} early, {sides[1]} at the end")
    return (
        f"Cases (click model and data) in which {ours} has lost less after {step:,} steps, and more after {last:,}, as "
        f"the paper draws it: {'; '.join(told)}."
        if told
        else ""
    )


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


def more_items_in_words(frame: pd.DataFrame, queries: pd.DataFrame, positions: int, ours: str = "BubbleRank") -> str:
    """The regret and the safety of section 4.3's extension to more items than positions; empty if no query has more.

    Args:
        frame: runs of all bandits with more items than positions.
        queries: runs of `query_cell`.
        positions: K.
    """
    most = queries.loc[queries["ranked"] == "all", "most_items"].max()
    if not most > positions:
        return ""
    means = final_regret(frame).set_index(CASE)["mean"].unstack("learner")  # noqa: PD010 (every bandit plays everywhere)
    own = at_own_end(frame[frame["learner"] == ours])
    models = [str(each) for each in means.index.get_level_values("users")]
    left, more = 100 * means[ours] / means["Baseline"], means[ours] / means["TopRank"]
    each = "; ".join(
        f"{significant(a, 2)} % and {significant(b, 2)} times ({model})"
        for a, b, model in zip(left, more, models, strict=True)
    )
    allowed = max(positions // 2, int((positions - 1) // 2 + most - positions))
    return (
        f"After {int(own['round'].max()):,} steps {ours} has lost this share of what the initial list would have lost, "
        f"and this many times TopRank's loss: {each}. In the DCM both include what sorting by attraction loses. "
        "A list broke the "
        f"constraint in {int((own['violations'] > 0).sum()):,} of {len(own):,} runs; "
        f"it had up to {int(own['excess'].max())} wrong pairs more than the initial list, where "
        f"{{eq}}`bubblerank-eq-hidden` allows up to {allowed} (L = {most:.0f}). "
        f"{int((own['base_inversions'] > own['initial_inversions']).sum())} runs ended with a base list worse than "
        "the initial one."
    )


inversions_told = partial(
    columns,
    given={
        "model, data": _place,
        "slope, clicks a pair": "{slope:significant}",
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


def slope_in_words(judgement: Judgement, tolerance: float) -> str:
    """The slope of log₂ regret over halvings, and on which side of doubling it is; empty if it has no interval.

    Args:
        judgement: the judgement of BR7, whose first contrast is tolerance − |slope − 1|.
        tolerance: how far from 1 the rule lets the slope be.
    """
    found = judgement.tested[0].effect
    if not isinstance(found, Nearness):
        return ""
    slope, low, high = (each + 1 for each in (found.effect.estimate, *found.effect.interval()))
    side = "by less than doubling" if high < 1 else "by more than doubling" if low > 1 else "as doubling would"
    return (
        f"With every halving log₂ of regret rises by {slope:.3f} [{low:.3f}, {high:.3f}]: {side}, and the "
        f"rule of BR7 asks for 1 ± {tolerance:g}."
    )


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
    columns = ["dataset", "users", "regret", "regret_other", "difference", "low", "high"]
    columns += ["early", "early_other", "late", "late_other"]
    return pd.DataFrame(found, columns=columns)


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
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


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


def choices_in_words(table: pd.DataFrame) -> str:
    """How BubbleRank's regret compares with TopRank's, with its own δ and with TopRank's, on the same users' coins."""
    at = {item: own.set_index("users") for item, own in table.groupby("item")}
    if not {"bubblerank-delta", "toprank-delta"} <= set(at):
        return ""
    surer, top = at["bubblerank-delta"], at["toprank-delta"]
    ratios = "; ".join(
        f"{significant(surer['regret'][each] / top['regret'][each], 2)} and "
        f"{significant(surer['regret_other'][each] / top['regret'][each], 2)} ({each})"
        for each in models_of(table)
    )
    return (
        "BubbleRank's regret, counted from the best list, is this many times "
        f"TopRank's, with $n^{{-4}}$ for δ and with TopRank's own $1/n$: {ratios}. With "
        f"the latter it broke its constraint on {significant(surer['late_other'].mean())} steps of a run, in the mean."
    )


# Best lists


def best_lists_in_words(positions: pd.DataFrame, cut: int) -> str:
    """A sentence on where v and χ fall, which decides whether the best list is the list by falling attraction.

    The best list matches attraction to v (DCM) or χ (PBM) of the positions that the reward counts, so it is (1, …, K)
    only if these fall.

    Args:
        cut: positions that the reward counts.
    """
    told = []
    for (model, way), own in positions.groupby(["users", "way"], sort=False):
        own = own[own["position"] <= cut].sort_values("position", kind="stable")
        rises = own["position"].to_numpy()[:-1][np.diff(own["value"]) > 0]
        after = f"rises after position {', '.join(map(str, rises))}" if len(rises) else "falls"
        told.append(f"of the {model} ({way}) {after}")
    return f"Over the first {cut} positions the parameter {'; '.join(told)}."


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


def bounds_in_words(table: pd.DataFrame) -> str:
    """In how many worlds Theorem 1 bounds regret by less than K n."""
    says = (table["bound"] < table["everything"]).groupby([table["cell"], table["fold"]]).any()
    return f"Theorem 1 is below $K n$ at some step in {says.sum()} of the {len(says)} worlds; BRT3 is judged in these."


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


def query_bounds_in_words(table: pd.DataFrame) -> str:
    """For how many queries Theorem 1 is below K n, and for how many its assumptions hold.

    Args:
        table: runs of `query_bounds_cell`.
    """
    if table.empty:
        return ""
    says = table[["says", "says_apart", "says_examined", "says_both"]].sum().astype(int)
    by_model = table.groupby("users")[["assumed", "queries"]].sum().astype(int)
    meets = ", ".join(f"{r.assumed} of {r.queries} {r.Index}s" for r in frames.rows(by_model))
    return (
        f"Of {table['queries'].sum():.0f} fitted models in all, Theorem 1 is below $K n$ at this length in "
        f"{says['says']}; with attractions evenly spread in {says['says_apart']}, with all positions examined alike in "
        f"{says['says_examined']}, with both in {says['says_both']}. The first to be below it would be so after "
        f"{_power(table['first_step'].min())} steps. The assumptions hold in {meets}."
    )


def _power(value: float) -> str:
    """A large number as a power of ten."""
    if not np.isfinite(value):
        return "never"
    exponent = int(np.floor(np.log10(value)))
    return f"{value / 10**exponent:.1f}·10{str(exponent).translate(_RAISED)}"


def compared(results: Mapping[str, Results], ours: str = "BubbleRank") -> pd.DataFrame:
    """One bandit beside every other, in the quantities and with the intervals of the claims.

    Regret is counted from the list by falling attraction, which all bandits seek, and is compared by ratio; violations
    of the first 100 steps are compared by difference. What the results do not hold is left out.

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


def safe_in_words(frame: pd.DataFrame, positions: int, ours: str = "BubbleRank") -> str:
    """Whether one bandit ever broke the safety constraint, and how often the others did at first: a sentence.

    Args:
        frame: runs of all bandits, with `Baseline` among them.
        positions: K.
    """
    last = at_own_end(frame)
    own = last[last["learner"] == ours]
    broken = int(own["violations"].sum())
    early = over_queries(frame[frame["round"] == EARLY], "violations", CASE)
    unsafe = early.loc[~early["learner"].isin([ours, "Baseline"]), "mean"]
    return (
        f"{'No' if broken else 'Yes'}: in {len(own):,} runs of {int(last['round'].max()):,} steps {ours} "
        f"{f'on {broken:,} steps' if broken else 'never'} showed a list with more than {positions / 2:g} wrong pairs "
        f"of items more than the initial list has; the other learners did so on {in_range(unsafe, '{:.0f}'.format)} "
        f"of their first {EARLY} steps (means over queries, by click model and data set)."
    )


def price_in_words(table: pd.DataFrame, others: Sequence[str], ours: str = "BubbleRank") -> str:
    """One bandit's regret over that of each of several others, at first and in the end: a sentence.

    Args:
        table: from `compared`, of one or more data sets.
        others: the bandits that it is compared with, each of which the results may lack.
    """
    own = table[(table["panel"] != AT_FIRST) & table["row"].isin(others)]
    told = ""
    for panel in dict.fromkeys([*own["panel"].head(1), *own["panel"].tail(1)]):
        here = own[own["panel"] == panel].groupby("row")["mean"]
        ratios = [f"{in_range(here.get_group(each), _two)} times {each}'s" for each in others if each in here.groups]
        when = f"; after {panel} it is" if told else f"After {panel} {ours}'s loss of clicks is"
        told += f"{when} {joined(ratios)}"
    return f"{told} (by click model and data set)." if told else ""


def learned_in_words(table: pd.DataFrame, ours: str = "BubbleRank") -> str:
    """The share of the initial list's regret that one bandit has in the end: a sentence.

    Args:
        table: from `compared`, of one or more data sets.
    """
    own = table[(table["row"] == "Baseline") & (table["panel"] != AT_FIRST)]
    if own.empty:
        return ""
    last = own["panel"].iloc[-1]
    left = in_range(own.loc[own["panel"] == last, "mean"], lambda share: f"{100 * share:.0f}")
    return f"After {last} {ours} has lost {left} % of the clicks that the initial list would have lost."


def _two(value: float) -> str:
    return significant(value, 2)
