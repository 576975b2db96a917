"""What the audits of P²NeurRank's theory say, as tables for figures and words.

Frames are the stored tables of `audit_cells`, each with its cell's labels as columns. The claims read the frames
themselves; what this module makes of them decides none.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from ol2r.data import entry
from ol2r.experiments.effects import mean_effect, share_interval
from ol2r.papers import audits
from ol2r.papers.audits import of_audit
from ol2r.papers.p2neurrank.audit_cells import UNITS
from ol2r.papers.p2neurrank.audits import RANKERS, RATIOS, STOPPED, UNCERTAIN, fits
from ol2r.random import generator
from ol2r.theory import confidence, perturbed

WORLD = ["dimension", "bound", "regularization"]
"""What tells kinds of world of the coverage audits apart: d, Q, λ."""
COVERED = ("interval", "interval as printed")
"""Lemma 4.2, corrected and as printed."""
PRINTED = ("bound of the proof", "bound as printed")
"""Lemma 4.4's own bounds on uncertain orders, of `UNCERTAIN`."""
SCALES = tuple(float(scale) for scale in np.geomspace(1 / 512, 8, 61))
STRENGTH = ["noise", "beta", "rankers"]
"""What tells the audits of uncertain orders apart: ν², or β where that is 0, and N."""
LEARNER = ["noise", "rankers", "pseudo_pairs"]
"""What tells the learners of the audits of regret apart."""
OPTIMISTIC = (*(f"N = {n}" for n in RANKERS), "N of the lemma", "N corrected")
SURE = tuple(f"wrong and certain, {name}" for name in (*(f"N = {n}" for n in RANKERS), "α", "α = 0.1"))
DATASETS = ("MSLR-WEB10K", "Yahoo-LTRC-1", "MQ2008", "ClueWeb09_webis")
NOISES = (0.1, 0.01)
ROUNDS = 5000
PAIRS = 5
"""The paper's T, and the most pairs of a round of ten documents."""
LAMBDA = 0.1
"""The largest λ that the paper tries; the smaller ones make α_t larger, and with it N."""


def coverage_table(
    frame: pd.DataFrame,
    scales: Sequence[float] = (1.0, 0.5),
    quantities: Sequence[str] = RATIOS,
    audit: str = "coverage",
) -> pd.DataFrame:
    """In how many worlds each bound, multiplied by each of `scales`, held at every look.

    Args:
        audit: `"coverage"` or `STOPPED`.
    """
    return audits.coverage_table(of_audit(frame, audit, *quantities), WORLD, scales)


def coverage_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "coverage against scale": Lemma 4.2, corrected and as printed, closely spaced; and corrected
    with users who stop, as the quantity `STOPPED`."""
    stopped = coverage_table(frame, SCALES, COVERED[:1], STOPPED).assign(quantity=STOPPED)
    return pd.concat([coverage_table(frame, SCALES, COVERED), stopped], ignore_index=True)


def needed_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Widths of Lemma 4.2 beside the constants that would have been enough.

    Returns:
        The columns of `WORLD`, worlds; alpha and printed, medians of both widths; needed and needed_twice, the
        constants that would have covered in 1 − δ of the worlds, for P²LinRank's estimate and for that of Eq. 4.2; and
        moved, the median of the largest change of a preference by the pseudo-pairs.
    """
    lines = []
    for key, own in of_audit(frame, "coverage").groupby(WORLD, sort=False):
        nominal = 1 - float(own["delta"].iloc[0])
        value = {name: each["value"] for name, each in own.groupby("quantity")}
        needed = [
            float(np.quantile(value[name], nominal, method="higher"))
            for name in ("width needed", "width needed, pseudo-pairs")
        ]
        lines.append(
            dict(zip(WORLD, key, strict=True))
            | {"worlds": len(value["width"]), "alpha": value["width"].median()}
            | {"printed": value["width as printed"].median(), "needed": needed[0], "needed_twice": needed[1]}
            | {"moved": value["moved"].median()}
        )
    return pd.DataFrame(lines)


def variance_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "variance of the noise".

    Returns:
        regularization, round, quantity, mean over worlds of the ratio to ν²‖x‖², its standard error, worlds.
    """
    by = of_audit(frame, "variance").groupby(["regularization", "round", "quantity"], sort=False)["value"]
    return by.agg(mean="mean", standard_error="sem", worlds="size").reset_index()


def optimism_table(frame: pd.DataFrame) -> pd.DataFrame:
    """How often some ranker is optimistic, and on how many wrong orders all agree.

    Returns:
        regularization, noise, beta, pseudo_pairs, worlds, delta; for each of `OPTIMISTIC` the share of worlds in which
        one of so many rankers was optimistic at the edge of the interval, missing where it asks for too many; medians
        of "β", "β corrected", and of the powers of ten "power" and "power corrected" of the numbers of rankers that the
        lemma asks for and that are enough; means of "wrong" and of each of `SURE`; and "deviation", the median.
    """
    lines = []
    keys = ["regularization", "noise", "beta", "pseudo_pairs"]
    for key, own in of_audit(frame, "optimism").groupby(keys, sort=False):
        value = {name: each["value"] for name, each in own.groupby("quantity")}
        line: dict[str, Any] = dict(zip(keys, key, strict=True)) | {"worlds": len(value["β"])}
        line["delta"] = float(own["delta"].iloc[0])
        for name in OPTIMISTIC:
            ratios = value.get(name, pd.Series([np.nan]))
            line[name] = np.nan if ratios.isna().any() else float((ratios <= 1).mean())
        line |= {name: float(value[name].median()) for name in ("β", "β corrected", "deviation")}
        line["power"] = float(value["log N"].median()) / np.log(10)
        line["power corrected"] = float(value["log N corrected"].median()) / np.log(10)
        line |= {name: float(value[name].mean()) for name in ("wrong", *SURE)}
        lines.append(line)
    return pd.DataFrame(lines)


def optimism_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "rankers that are not optimistic", at ν of the order that the lemma asks for.

    Returns:
        beta, quantity (of `OPTIMISTIC`), rankers (N, the same in all worlds for the lemma's, else missing), worlds,
        failed (share of worlds without an optimistic ranker) with its exact 95 % interval low … high, delta.
    """
    table = optimism_table(frame)
    lines = []
    for line in table[table["beta"] > 0].sort_values("beta").to_dict("records"):
        for name in OPTIMISTIC:
            if np.isnan(line[name]):
                continue
            failed = round((1 - line[name]) * line["worlds"])
            low, high = share_interval(failed, line["worlds"])
            rankers = float(max(np.ceil(10 ** line["power"]), 1)) if name == "N of the lemma" else np.nan
            lines.append(
                {"beta": line["beta"], "quantity": name, "rankers": rankers, "worlds": line["worlds"]}
                | {"failed": failed / line["worlds"], "low": low, "high": high, "delta": line["delta"]}
            )
    return pd.DataFrame(lines)


def settings_table(
    delta: float = 1 / ROUNDS, tuned: Mapping[str, Mapping[str, float]] = MappingProxyType({})
) -> pd.DataFrame:
    """How many rankers Lemma 4.4 asks for in the experiments' settings, by formulas alone.

    u = Q = 1, T = 5,000, λ = .1 and those of `tuned` for the data sets, log det at its largest; and a case better than
    any: nothing labelled, Q = 0 and the steepest slope.

    Args:
        delta: δ.
        tuned: by data set, another regularization (λ) and noise (ν²), for further lines.

    Returns:
        setting (a data set, or "best case"), dimension, regularization (λ), noise (ν²), alpha (corrected), beta and
        power (corrected β and the power of ten of N), printed_beta and printed_power (of its proof, with the corrected
        α), and enough: the ν² at which as many rankers are enough as are needed at every ν, one more than log₂(1/δ).
    """
    lines = []
    fewest = np.ceil(np.log2(1 / delta)) + 1
    cases: dict[tuple[str, float], tuple[float, ...]] = {(name, LAMBDA): NOISES for name in DATASETS}
    for name, own in tuned.items():
        cases[name, own["regularization"]] = tuple(sorted({*NOISES, own["noise"]}, reverse=True))
    ordered = sorted(cases, key=lambda case: DATASETS.index(case[0]))
    for name, pull in [*ordered, ("best case", LAMBDA)]:
        if name == "best case":
            d, least, alpha = 1, confidence.STEEPEST, perturbed.width(0.0, pull, 0.0, delta, confidence.STEEPEST)
        else:
            d, least = entry(name).n_features, confidence.least_slope(1.0, 1.0)
            log_det = confidence.log_det_bound(d, PAIRS * ROUNDS, 1.0, pull)
            alpha = perturbed.width(log_det, pull, 1.0, delta, least)
        reach = -float(special.ndtri(1 - delta ** (1 / fewest)))
        for noise in cases.get((name, pull), NOISES):
            beta = perturbed.optimism_threshold(alpha, noise)
            printed = perturbed.printed_threshold(alpha, noise, least, proof=True)
            powers = [
                float(perturbed.log_rankers_needed(each, delta, printed=told)) / np.log(10)
                for each, told in ((beta, False), (printed, True))
            ]
            lines.append(
                {"setting": name, "dimension": d, "regularization": pull, "noise": noise, "alpha": alpha, "beta": beta}
                | {"power": powers[0], "printed_beta": printed, "printed_power": powers[1], "fewest": fewest}
                | {"enough": (alpha / (confidence.STEEPEST * reach)) ** 2}
            )
    return pd.DataFrame(lines)


def uncertain_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "uncertain orders": means over worlds of the probability and of its bounds.

    Returns:
        The columns of `STRENGTH`, labels (of each pair), quantity ("probability" or a key of `UNCERTAIN`), mean,
        worlds.
    """
    lines = of_audit(frame, "uncertain", "probability", *UNCERTAIN)
    by = lines.groupby([*STRENGTH, "round", "quantity"], sort=False)["value"]
    return by.agg(mean="mean", worlds="size").reset_index().rename(columns={"round": "labels"})


def uncertain_table(frame: pd.DataFrame) -> pd.DataFrame:
    """In how many worlds the probability of an uncertain order stayed below each bound, at every number of labels.

    Returns:
        The columns of `STRENGTH`, quantity (of `UNCERTAIN`), worlds, held, holds (worlds in which Lemma 4.2 held),
        largest ratio, below (the largest ratio where the bound, in the mean over a world's pairs, is below 1; NaN where
        it never is), and from: the least number of labels at which the mean bound is below one half.
    """
    means, lines = uncertain_figure(frame), []
    for key, own in of_audit(frame, "uncertain").groupby(STRENGTH, sort=False):
        setting = dict(zip(STRENGTH, key, strict=True))
        holds = int(own.loc[own["quantity"] == "holds", "value"].sum())
        mine = means[(means[STRENGTH] == list(key)).all(axis=1)]
        looks = own.pivot_table(index=["seed", "world", "round"], columns="quantity", values="value")
        for name in UNCERTAIN:
            said = looks[looks[name] < 1]
            ratios = own.loc[own["quantity"] == f"ratio, {name}", "value"]
            low = mine[(mine["quantity"] == name) & (mine["mean"] < 0.5)]
            found = {"quantity": name, "worlds": len(ratios), "held": int((ratios <= 1).sum()), "holds": holds}
            found |= {"largest": float(ratios.max()), "below": (said["probability"] / said[name]).max()}
            lines.append(setting | found | {"from": low["labels"].min()})
    return pd.DataFrame(lines)


def units_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Lemma 4.4's bounds as proved and as printed where scores are in other units.

    Returns:
        steepness, rankers, quantity (of `PRINTED`), factor (the mean over worlds of the printed bound over the proof's
        after the last number of labels at which both are below 1), worlds, held, largest (ratio of the probability to
        the bound). No line without such worlds.
    """
    lines = []
    for (steepness, _), own in of_audit(frame, UNITS).groupby(["steepness", "rankers"], sort=False):
        looks = own.pivot_table(index=["seed", "world", "round"], columns="quantity", values="value")
        said = looks[(looks[list(PRINTED)] < 1).all(axis=1)]
        factor = (said[PRINTED[1]] / said[PRINTED[0]]).groupby("round").mean()
        for name in PRINTED:
            ratios = own.loc[own["quantity"] == f"ratio, {name}", "value"]
            found = {"factor": factor.iloc[-1] if len(factor) else np.nan, "worlds": len(ratios)}
            found |= {"held": int((ratios <= 1).sum()), "largest": float(ratios.max())}
            lines.append({"steepness": steepness, "rankers": int(own["rankers"].iloc[0]), "quantity": name} | found)
    return pd.DataFrame(lines)


def beyond_half(draws: int = 40_000) -> float:
    """The probability that a ranker puts a pair on the far side of the estimate, in an example in which it is above one
    half: 49 of 50 labels of one feature and 6 of 10 of another, a pair that has both, λ = 1, ν² = ¼, pseudo-pairs
    perturbed as well. With a linear response it is one half in every example."""
    x, counts, won = np.eye(2)[None], np.array([[50.0, 10.0]]), np.array([[[49.0, 6.0]]])
    normals = generator("a ranker beyond the estimate", 0).standard_normal((1, draws, 2))
    noise = np.sqrt(0.25 * (counts + 1.0))[:, None] * normals
    moved = fits(x, counts, won + noise, 1.0) - fits(x, counts, won, 1.0)
    return float((moved.sum(axis=2) > 0).mean())


def regret_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "regret of perturbed rankers".

    Returns:
        The columns of `LEARNER`, round, worlds; means over worlds of the cumulative numbers of misordered pairs
        (regret, with its standard error), of those in uncertain order (open), of those on whose wrong order all rankers
        agree (wrong) and of all (shown); and bound, the mean of the corrected Theorem 4.5 for every response after the
        last round, else missing.
    """
    lines = of_audit(frame, "regret", "regret", "open", "wrong", "shown")
    by = lines.groupby([*LEARNER, "round", "quantity"], sort=False)["value"]
    table = by.mean().unstack().rename_axis(columns=None)  # noqa: PD010 (a series has no pivot)
    regret = by.agg(["sem", "size"]).xs("regret", level="quantity")
    table = table.assign(standard_error=regret["sem"], worlds=regret["size"]).reset_index()
    bound = of_audit(frame, "regret", "bound, curved").groupby([*LEARNER, "round"])["value"].mean().rename("bound")
    return table.merge(bound.reset_index(), on=[*LEARNER, "round"], how="left")


def growth_table(frame: pd.DataFrame, doublings: int = 3) -> pd.DataFrame:
    """How regret ended, and how fast it grew over the last doublings of T.

    Returns:
        The columns of `LEARNER`, rounds, worlds, regret, open, wrong and shown (means at the end), since (the
        checkpoint from which growth counts), exponent (p of R ∝ log^p T, mean over worlds, with its standard error),
        bound (mean), within (worlds below it).
    """
    lines = []
    for key, own in of_audit(frame, "regret").groupby(LEARNER, sort=False):
        wide = own.pivot_table(index=["seed", "world"], columns=["quantity", "round"], values="value")
        regret = wide["regret"]
        rounds = np.array(regret.columns, dtype=float)
        then = rounds[np.abs(np.log2(rounds) - np.log2(rounds[-1]) + doublings).argmin()]
        before, after = (np.maximum(regret[t], 1.0) for t in (then, rounds[-1]))
        slopes = np.log(after / before) / np.log(np.log(rounds[-1]) / np.log(then))
        ends = {name: float(wide[name, rounds[-1]].mean()) for name in ("regret", "open", "wrong", "shown")}
        bound = wide["bound, curved", rounds[-1]]
        lines.append(
            dict(zip(LEARNER, key, strict=True))
            | {"rounds": int(rounds[-1]), "worlds": len(wide)} | ends
            | {"since": int(then), "exponent": slopes.mean(), "standard_error": slopes.sem()}
            | {"bound": bound.mean(), "within": int((regret[rounds[-1]] <= bound).sum())}
        )  # fmt: skip
    return pd.DataFrame(lines)


def dearer_table(frame: pd.DataFrame) -> pd.DataFrame:
    """How many more pairs each learner misordered than one ranker without noise, in the same worlds.

    Returns:
        The columns of `LEARNER`, for those that ran as long as the ranker without noise; worlds; more, the mean
        difference of regret after the last round, with its 95 % interval low … high.
    """
    own = of_audit(frame, "regret", "regret")
    end = own["round"] == own.groupby(LEARNER)["round"].transform("max")
    wide = own[end].pivot_table(index=["seed", "world", "round"], columns=LEARNER, values="value")
    plain = wide[[key for key in wide.columns if key[0] == 0]].iloc[:, 0]
    lines = []
    for key in wide.columns:
        difference = (wide[key] - plain).dropna()
        if key[0] and len(difference):
            difference.index = pd.MultiIndex.from_product([[1], range(len(difference))], names=["fold", "seed"])
            effect = mean_effect(difference)
            low, high = effect.interval()
            found = {"worlds": len(difference), "more": effect.estimate, "low": low, "high": high}
            lines.append(dict(zip(LEARNER, key, strict=True)) | found)
    return pd.DataFrame(lines)


def blind_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "a direction that nobody has seen".

    Returns:
        noise (ν²), labels, quantity, mean over worlds of the probability that the wrong order is certain, worlds.
    """
    by = of_audit(frame, "blind spot").groupby(["noise", "round", "quantity"], sort=False)["value"]
    return by.agg(mean="mean", worlds="size").reset_index().rename(columns={"round": "labels"})
