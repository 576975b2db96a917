"""What the audits of PairRank's bounds say: coverage, widths, regret and growth as tables for figures and claims.

Frames are the stored tables of `confidence_audits`, each with its cell's labels as columns. A bound is judged only
where its assumptions hold (`assumed` = 1); other lines are shown for comparison. `has_power` and `critical_scales` say
whether an audit could have found a bound to be too small.

Claim PRT2 takes its bounds from `regret_figure`; everything else that PRT1 and PRT2 judge comes from the frames
themselves. `covers`, `has_power`, `growth` and `within_bounds` are shown beside the claims and decide none of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ol2r.papers import audits
from ol2r.papers.pairrank.audits import CONSTANT, RATIOS, SCALES, Realizable
from ol2r.theory import confidence

SETTING = ["examination", "pairs", "assumed", "bound"]
VARIANT = ["examination", "shuffle", "width", "alpha"]


def _of(frame: pd.DataFrame, audit: str, *quantities: str) -> pd.DataFrame:
    """The lines of some quantities of an audit that are about single worlds."""
    return audits.of_audit(frame[frame["world"] >= 0], audit, *quantities)


def coverage_table(frame: pd.DataFrame, scales: Sequence[float] = SCALES) -> pd.DataFrame:
    """In how many worlds each bound, multiplied by each of `scales`, held in all rounds.

    Args:
        frame: tables of `confidence_audits`, each with its cell's labels as columns.
        scales: multiples of the bound; 1 is the theorem.

    Returns:
        `audits.coverage_table` by examination, pairs, assumed (1 where the theorem's assumptions hold) and bound (Q);
        quantity is of `RATIOS`, or "constant": θ̃ against the constant width of the experiments. "potential" holds
        surely.
    """
    needed = _of(frame, "coverage", "width needed")
    constant = needed.assign(quantity="constant", value=needed["value"] / CONSTANT)
    measured = pd.concat([_of(frame, "coverage", *RATIOS), constant])
    return audits.coverage_table(measured, SETTING, scales, certain=("potential",))


PROVED = ("martingale", "interval", "interval inside", "potential")


def covers(table: pd.DataFrame, quantities: Sequence[str] = PROVED, level: float = 0.001) -> bool:
    """Whether every proved bound holds where its assumptions do: no coverage is too far below nominal for chance.

    The tests are exact, one-sided and binomial, each at `level` divided by their number (Bonferroni).

    Args:
        table: from `coverage_table`, with any scales; only lines with `assumed` = 1 and scale 1 are judged.
        quantities: the bounds to judge.
        level: level of all tests together.

    Raises:
        ValueError: there is nothing to judge.
    """
    judged = table[(table["assumed"] == 1) & (table["scale"] == 1) & table["quantity"].isin(quantities)]
    if len(judged) == 0:
        raise ValueError("no coverage was measured where the assumptions hold")
    chances = [_below(line) for _, line in judged.iterrows()]
    return min(chances) >= level / len(chances)


def _below(line: pd.Series) -> float:
    """The probability of so little coverage or less, if the true coverage is nominal."""
    return float(stats.binom.cdf(line["covered"], line["worlds"], line["nominal"]))


def has_power(table: pd.DataFrame, quantities: Sequence[str] = PROVED, level: float = 0.001) -> bool:
    """Whether the audit could have failed: each proved bound is found to under-cover at some scale of the table.

    The tests are those of `covers`, at `level` divided by the number of bounds times that of scales, so they are
    stricter than `covers` is at a single scale. `critical_scales` gives the scale of each bound. A bound that is slack
    by a large `factor` is found only at a small scale.
    """
    return bool(critical_scales(table, quantities, level)["scale"].notna().all())


def critical_scales(table: pd.DataFrame, quantities: Sequence[str] = PROVED, level: float = 0.001) -> pd.DataFrame:
    """The largest scale at which each bound is found to under-cover.

    Returns:
        examination, pairs, bound, quantity, factor, and scale (missing if no scale of the table is small enough).
    """
    judged = table[(table["assumed"] == 1) & table["quantity"].isin(quantities)]
    lines = []
    for key, own in judged.groupby(["examination", "pairs", "bound", "quantity"], sort=False):
        found = [line["scale"] for _, line in own.iterrows() if _below(line) < level / len(judged)]
        names = dict(zip(["examination", "pairs", "bound", "quantity"], key, strict=True))
        lines.append(names | {"factor": float(own["factor"].iloc[0]), "scale": max(found, default=np.nan)})
    return pd.DataFrame(lines)


def bias_table(frame: pd.DataFrame) -> pd.DataFrame:
    """How far labels are from Bernoulli(σ(x·θ*)), and how often lists are seen to their end.

    Returns:
        examination, pairs, assumed, bound, worlds, bias (mean over worlds of the mean of y − σ(x·θ*), the upper
        document of a pair first), standard_error, z, examined (share of lists).
    """
    means = _of(frame, "coverage", "bias", "examined").groupby([*SETTING, "quantity"], sort=False)["value"]
    table = means.agg(["size", "mean", "sem"]).unstack("quantity")  # noqa: PD010
    out = pd.DataFrame(
        {
            "worlds": table["size", "bias"],
            "bias": table["mean", "bias"],
            "standard_error": table["sem", "bias"],
            "z": table["mean", "bias"] / table["sem", "bias"],
            "examined": table["mean", "examined"],
        }
    )
    return out.reset_index()


def coverage_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "coverage against scale": `coverage_table` of "martingale" and "interval", closely spaced."""
    scales = np.geomspace(1 / 128, 2, 57)
    table = coverage_table(frame, list(scales))
    return table[table["quantity"].isin(["martingale", "interval"])].reset_index(drop=True)


def width_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "Lemma 2's width against the width needed", for wholly examined lists and matched pairs.

    Returns:
        bound (Q), round, theoretical (the mean α_t), needed (the smallest constant that would have covered 1 − δ of the
        worlds up to this round), needed_now (at this round alone), constant (the experiments').
    """
    names = {"theoretical width": "theoretical", "width needed": "needed", "width needed now": "needed_now"}
    mine = (frame["audit"] == "coverage") & (frame["world"] < 0) & frame["quantity"].isin(list(names))
    mine &= (frame["examination"] == "whole") & (frame["pairs"] == "matched")
    table = frame[mine].pivot_table(index=["bound", "round"], columns="quantity", values="value", aggfunc="mean")
    return table.rename(columns=names).reset_index().rename_axis(columns=None).assign(constant=CONSTANT)


def _sums(frame: pd.DataFrame, *quantities: str) -> pd.DataFrame:
    """The cumulative sums of the regret audits: a column for each, a line for each variant, seed, world and round."""
    index = [*VARIANT, "seed", "world", "round"]
    table = _of(frame, "regret", *quantities).pivot_table(index=index, columns="quantity", values="value", sort=False)
    return table.reset_index().rename_axis(columns=None)


def regret_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "regret and its bounds".

    Returns:
        One line for each variant and round: examination, shuffle ("random" is PairRank_R), width, alpha, round, regret
        (mean over worlds of the cumulative number of misordered pairs), standard_error, open (of pairs in uncertain
        order, ΣN_t), allowed (of pairs that Lemma 2's intervals leave open, a bound on ΣN_t where they hold),
        everything (of all pairs), more and more_error (how many more pairs PairRank_R misordered than PairRank_C in
        the same world, and its standard error; missing for PairRank_C), bound (corrected Theorem 8 at the cell's δ₁,
        for whole lists; missing for constant and halved widths, which it does not cover), and printed_bound (Theorem 8
        as printed, c₁ = c₂ = 1, w = 0).
    """
    sums = _sums(frame, "regret", "open", "allowed", "shown")
    table = sums.groupby([*VARIANT, "round"], sort=False).agg(
        regret=("regret", "mean"),
        standard_error=("regret", "sem"),
        open=("open", "mean"),
        allowed=("allowed", "mean"),
        everything=("shown", "mean"),
    )
    table = table.reset_index().merge(_more(sums), on=[*VARIANT, "round"], how="left")
    settled = float(settling(frame)["printed_rounds"].iloc[0])
    small = _small(frame)
    limits = [_limits(small, line, settled) for _, line in table.iterrows()]
    return table.assign(bound=[a for a, _ in limits], printed_bound=[b for _, b in limits])


def _more(sums: pd.DataFrame) -> pd.DataFrame:
    """What PairRank_R misordered more than PairRank_C, paired by world: `VARIANT`, round, more, more_error."""
    runs = [name for name in (*VARIANT, "seed", "world", "round") if name != "shuffle"]
    random, conservative = (sums[sums["shuffle"] == each].set_index(runs) for each in ("random", "conservative"))
    paired = (random["regret"] - conservative["regret"]).dropna().reset_index().assign(shuffle="random")
    more = paired.groupby([*VARIANT, "round"], sort=False)["regret"].agg(more="mean", more_error="sem")
    return more.reset_index()


def _wide_enough(width: str, alpha: float) -> bool:
    """Whether intervals of this width are proved to hold for whole lists; half of Lemma 2's and constants are not."""
    return width == "Lemma 2" and alpha >= 1


def _limits(small: tuple[Realizable, float, float, float], line: pd.Series, settled: float) -> tuple[float, float]:
    """Theorem 8, corrected and as printed, after a line's rounds; `small` is `_small` of the frame."""
    if not _wide_enough(line["width"], line["alpha"]):
        return np.nan, np.nan
    world, delta, regularization, gap = small
    t = float(line["round"])
    common = {"documents": world.documents, "dimension": world.dimension, "gap": gap, "norm": world.norm}
    common |= {"regularization": regularization, "delta": delta, "least": world.least}
    corrected = confidence.regret_bound(
        t, **common, bound=world.bound, compared=world.compared, conservative=line["shuffle"] == "conservative"
    )
    printed = confidence.printed_regret_bound(
        t,
        **common,
        delta_matrix=delta,
        beta=BETA,
        examined=world.documents,
        whole=1.0,
        settled=settled,
        cross_terms=0.0,
    )
    return corrected, printed


BETA = 0.25
"""The β of the printed statements that have one."""


def _small(frame: pd.DataFrame) -> tuple[Realizable, float, float, float]:
    """The kind of world of the regret audits, δ₁, λ and the least gap that was drawn."""
    lines = _of(frame, "regret", "gap")
    first = lines.iloc[0]
    world = Realizable(
        dimension=int(first["dimension"]),
        queries=int(first["queries"]),
        documents=int(first["documents"]),
        norm=float(first["norm"]),
        bound=float(first["bound"]),
        gap=float(first["least_gap"]),
        base=float(first["base"]),
    )
    return world, float(first["delta"]), float(first["regularization"]), float(lines["value"].min())


def settling(frame: pd.DataFrame) -> pd.DataFrame:
    """When theory says that all orders are certain, in the regret audits' worlds with whole lists.

    Returns:
        One line: gap (the least Δ_min), rounds (of the runs), pairs (labelled in all these rounds, on average, at
        Lemma 2's width), eigenvalue (the mean λ_min(M) after them, divided by pairs), explicit_pairs (the number of
        pairs that the matrix Chernoff bound needs with this eigenvalue as λ_Σ), corrected_pairs and printed_rounds (t′,
        corrected and as printed, with c₁ = c₂ = 1), bound_pays (the rounds from which on the corrected Theorem 8 for
        PairRank_C is below the number of all pairs).
    """
    world, delta, regularization, gap = _small(frame)
    mine = frame[(frame["audit"] == "regret") & (frame["width"] == "Lemma 2") & (frame["alpha"] == 1)]
    mine = mine[mine["examination"] == "whole"]
    last = mine[mine["round"] == mine["round"].max()]
    pairs = float(last[last["quantity"] == "labels"]["value"].mean())
    eigenvalue = float(last[last["quantity"] == "eigenvalue"]["value"].mean()) / pairs
    common = {"gap": gap, "norm": world.norm, "bound": world.bound}
    common |= {"regularization": regularization, "delta": delta, "delta_matrix": delta, "least": world.least}
    sampled = common | {"eigenvalue": eigenvalue}
    explicit = confidence.settling_pairs_explicit(dimension=world.dimension, **sampled)
    corrected = confidence.settling_pairs(dimension=world.dimension, **sampled, beta=BETA, c1=1.0, c2=1.0)
    printed = confidence.printed_settling_time(
        dimension=world.dimension, **sampled, beta=BETA, examined=world.documents, c1=1.0, c2=1.0
    )

    def excess(log_rounds: float) -> float:
        rounds = float(np.exp(log_rounds))
        bound = {k: v for k, v in common.items() if k != "delta_matrix"} | {"delta": 1 / rounds}
        value = confidence.regret_bound(
            rounds,
            dimension=world.dimension,
            documents=world.documents,
            **bound,
            compared=world.compared,
            conservative=True,
        )
        return value - rounds * world.documents * (world.documents - 1) / 2

    log_rounds = 1.0
    while excess(log_rounds) > 0:
        log_rounds += 0.01
    line = {"gap": gap, "pairs": pairs, "rounds": int(last["round"].iloc[0]), "eigenvalue": eigenvalue}
    line |= {"explicit_pairs": explicit, "corrected_pairs": corrected, "printed_rounds": printed}
    return pd.DataFrame([line | {"bound_pays": float(np.exp(log_rounds))}])


def growth(frame: pd.DataFrame, doublings: int = 3) -> pd.DataFrame:
    """Whether regret has stopped growing faster than log⁴ T: R_T/log⁴ T over the last doublings of T.

    Returns:
        One line for each variant: examination, shuffle, width, alpha, since and round (T/2^doublings and T, nearest
        checkpoints), ratio_since and ratio (means over worlds of R/log⁴ there), change (their mean difference, paired
        by world) with its 95 % interval low … high, exponent (mean slope of log R on log log T between the two) with
        its interval exponent_low … exponent_high, and slower: 1 where the change is surely not above 0, 0 where it
        surely is, missing otherwise.
    """
    lines = []
    for key, own in _sums(frame, "regret").groupby(VARIANT, sort=False):
        wide = own.pivot_table(index=["seed", "world"], columns="round", values="regret")
        rounds = np.array(wide.columns, dtype=float)
        then = rounds[np.abs(np.log2(rounds) - np.log2(rounds[-1]) + doublings).argmin()]
        before, after = (wide[t].to_numpy(dtype=float) for t in (then, rounds[-1]))
        log_then, log_now = np.log(then), np.log(rounds[-1])
        change, low, high = _mean_interval(after / log_now**4 - before / log_then**4)
        slopes = np.log(np.maximum(after, 1) / np.maximum(before, 1)) / np.log(log_now / log_then)
        exponent, exponent_low, exponent_high = _mean_interval(slopes)
        lines.append(
            dict(zip(VARIANT, key, strict=True))
            | {"since": int(then), "round": int(rounds[-1])}
            | {"ratio_since": (before / log_then**4).mean(), "ratio": (after / log_now**4).mean()}
            | {"change": change, "low": low, "high": high}
            | {"exponent": exponent, "exponent_low": exponent_low, "exponent_high": exponent_high}
            | {"slower": 1.0 if high <= 0 else 0.0 if low > 0 else np.nan}
        )
    return pd.DataFrame(lines)


def _mean_interval(values: np.ndarray) -> tuple[float, float, float]:
    mean, half = float(values.mean()), 0.0
    if len(values) > 1:
        half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
    return mean, mean - half, mean + half


def within_bounds(frame: pd.DataFrame) -> pd.DataFrame:
    """Whether the steps of Theorem 8's proof hold in the regret audits, in each world and in the mean.

    "regret ≤ open": PairRank_C's regret against ΣN_t, world by world. "open ≤ allowed": ΣN_t against the pairs that are
    wide enough, world by world. Of means over worlds, "compared": q times ΣN_t, less three standard errors, against the
    uncertain pairs that were labelled; "regret ≤ bound": regret against the corrected Theorem 8. None of this is proved
    where `assumed` is 0: for constant and halved widths, whose intervals need not hold, and where lists are not
    examined whole.

    Returns:
        One line for each variant and statement: examination, shuffle, width, alpha, assumed, statement, worlds, held
        (number of worlds in which it held; all or none for means), holds (in all worlds), slack (mean of the larger
        side over that of the smaller, without standard errors), vacuous (whether the bound is above the number of all
        pairs).
    """
    sums = _sums(frame, "regret", "open", "allowed", "shown", "compared")
    drawn = regret_figure(frame).set_index([*VARIANT, "round"])["bound"]
    world, *_ = _small(frame)
    lines = []
    for key, own in sums[sums["round"] == sums["round"].max()].groupby(VARIANT, sort=False):
        names: dict[str, Any] = dict(zip(VARIANT, key, strict=True))
        assumed = names["examination"] == "whole" and _wide_enough(names["width"], names["alpha"])
        names |= {"assumed": int(assumed), "worlds": len(own)}
        every = {"open ≤ allowed": (own["open"], own["allowed"])}
        if names["shuffle"] == "conservative":
            every = {"regret ≤ open": (own["regret"], own["open"])} | every
        spare = own["compared"] - world.compared * own["open"]
        means = {"compared": (world.compared * own["open"].mean(), own["compared"].mean())}
        chance = {"compared": 3 * float(spare.sem())}  # the expected share is at least q; a measured one scatters
        bound = float(drawn.loc[(*key, own["round"].iloc[0])])
        if np.isfinite(bound):
            means["regret ≤ bound"] = (own["regret"].mean(), bound)
        for statement, (small, large) in every.items():
            held, slack = int((small <= large).sum()), float(large.sum() / small.sum())
            lines.append(names | {"statement": statement, "held": held, "slack": slack, "vacuous": False})
        for statement, (small, large) in means.items():
            vacuous = statement == "regret ≤ bound" and large > own["shown"].mean()
            held = len(own) * int(small - chance.get(statement, 0.0) <= large)
            lines.append(names | {"statement": statement, "held": held, "slack": large / small, "vacuous": vacuous})
    table = pd.DataFrame(lines)
    table.insert(list(table.columns).index("held") + 1, "holds", table["held"] == table["worlds"])
    return table


def uncertain_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "uncertain orders and Lemma 7", PairRank_R at Lemma 2's width, between checkpoints.

    Returns:
        examination, shuffle, width, alpha, round (the end of the window), uncertain (share of pairs in uncertain
        order), standard_error (over worlds), allowed (share wide enough: the corrected statement), printed (mean of
        Lemma 7's printed bound, at most 1).
    """
    sums = _sums(frame, "open", "allowed", "printed", "shown")
    sums = sums[(sums["width"] == "Lemma 2") & (sums["shuffle"] == "random")].sort_values("round", kind="stable")
    by = [*VARIANT, "seed", "world"]
    values = ["open", "allowed", "printed", "shown"]
    sums[values] = sums[values] - sums.groupby(by, sort=False)[values].shift(fill_value=0.0)
    shares = sums.assign(**{name: sums[name] / sums["shown"] for name in values[:-1]})
    table = shares.groupby([*VARIANT, "round"], sort=False).agg(
        uncertain=("open", "mean"),
        standard_error=("open", "sem"),
        allowed=("allowed", "mean"),
        printed=("printed", "mean"),
    )
    return table.reset_index()
