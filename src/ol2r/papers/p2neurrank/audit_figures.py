"""Figures of P²NeurRank's theory: how often its bounds hold, and what rankers agree on.

Tables are those of `bounds`; this module draws them and computes nothing.
"""

from typing import Any

import pandas as pd

from ol2r import frames
from ol2r.papers.p2neurrank.audits import STOPPED, UNCERTAIN
from ol2r.report import alt
from ol2r.report.grammar import (
    BARS,
    DASHED,
    DOTTED,
    ERRORS,
    LONG,
    Facet,
    Grid,
    Key,
    courses,
    facet,
    level,
    lines,
    long,
    place,
    reaches,
    series,
)
from ol2r.report.style import BLUE, GREEN, INK, MAUVE, ORANGE, RED, SERIES, TEAL, Drawing, styled

PROBABILITY = "probability"
BOUNDS = Facet(
    "quantity",
    {"interval": "corrected", "interval as printed": "as printed", STOPPED: "corrected, users who stop"},
    {
        "interval": "for the corrected interval",
        "interval as printed": "for the printed one",
        STOPPED: "for the corrected one with users who stop",
    },
)
MISORDERED = Facet("line", {"regret": "all misordered pairs", "wrong": "all rankers agree on the wrong order"})
VARIANCES = Key("quantity", {
    "all perturbed": series("noise on pseudo-pairs as well", BLUE, "o"),
    "labels perturbed": series("noise on labels alone", RED, "s", DASHED),
})  # fmt: skip
FAILURES = Key("quantity", {
    "N of the lemma": series("as many as Lemma 4.4 asks for", RED, "s", DASHED),
    "N corrected": series("as many as are enough", BLUE, "o"),
    "N = 2": series("N = 2", ORANGE, "v", DOTTED),
    "N = 5": series("N = 5", MAUVE, "^", DOTTED),
    "N = 10": series("N = 10", GREEN, "D", DOTTED),
})  # fmt: skip
LIMITS = Key("quantity", {
    PROBABILITY: series(PROBABILITY, INK, "o", words="the orders themselves"),
    "bound": series(UNCERTAIN["bound"], TEAL, "v", LONG),
    "bound, curved": series(UNCERTAIN["bound, curved"], BLUE, "D", DASHED),
    "bound of the proof": series(UNCERTAIN["bound of the proof"], ORANGE, "s", (0, (3, 1, 1, 1))),
    "bound as printed": series(UNCERTAIN["bound as printed"], RED, "^", DOTTED),
})  # fmt: skip
SPOTS = Key("quantity", {
    "labels perturbed": series("two rankers, noise on labels alone", RED, "s", DASHED),
    "all perturbed": series("two rankers, noise on pseudo-pairs as well", ORANGE, "o"),
    "α = 0.1": series("PairRank, α = .1", GREEN, "^", DOTTED),
    "α": series("PairRank, Lemma 4.2's α", BLUE, "D", LONG),
})  # fmt: skip


def setting(line: Any) -> str:
    """A kind of world in a few words: d, Q and λ."""
    return f"d = {line.dimension:g}, Q = {line.bound:g}, λ = {line.regularization:,g}"


def strength(noise: float, beta: float) -> str:
    """How strong the noise is: ν², or β where ν was set by it."""
    return f"β = {beta:g}" if beta else f"ν² = {noise:g}"


def learner(noise: float, rankers: float, pseudo_pairs: float) -> str:
    """A learner of the audits of regret."""
    if not noise:
        return "no noise"
    return f"N = {rankers:g}, ν² = {noise:g}" + (", pseudo-pairs too" if pseudo_pairs else "")


@styled
def coverage_against_scale(table: pd.DataFrame) -> Drawing:
    """Share of worlds in which Lemma 4.2, scaled, held at every look: corrected, as printed, and corrected with users
    who stop, which its assumption on labels does not allow.
    """
    own = table.assign(kind=[setting(line) for line in frames.rows(table)])
    kinds = {kind: series(kind, color) for kind, color in zip(dict.fromkeys(own["kind"]), SERIES, strict=False)}
    what, nominal = "The share of worlds in which a multiple of the radius covered all pairs", table["nominal"].max()
    return lines(
        own, "scale", "coverage", [Key("kind", kinds)], Grid(BOUNDS, height=3.4), over=[level(nominal), place(1.0)],
        axis={"xscale": "log", "xlabel": "multiple of the radius", "ylim": (-0.02, 1.02)}, shown=table, ncols=3,
        ylabel="share of worlds in which\nall intervals covered", each_key=True,
        says=reaches(what, "scale", "multiple", nominal, "coverage"),
    )  # fmt: skip


def _strengths(table: pd.DataFrame, column: str, sign: str) -> Facet:
    """A panel for each value of a number."""
    titles = facet(column, table, lambda value: f"{sign} = {value:g}").titles
    return Facet(column, titles, {value: f"with {title}" for value, title in titles.items()})


@styled
def variance_against_rounds(table: pd.DataFrame) -> Drawing:
    """Variance of the noise over what A.2 says, against rounds; a panel for each λ."""
    return lines(
        table, "round", "mean", [VARIANCES], Grid(_strengths(table, "regularization", "λ"), height=2.8), spread=ERRORS,
        over=[level(1.0)], axis={"xscale": "log", "xlabel": "round", "ylim": (0, None)},
        ylabel="variance over ν²‖x‖²\n(mean over worlds ± 2 s.e.)",
        says=courses("the variance over ν²‖x‖²", "round", "the round"),
    )  # fmt: skip


@styled
def failures_against_beta(table: pd.DataFrame) -> Drawing:
    """Share of worlds without an optimistic ranker against β, for as many rankers as are asked for and for few."""
    course = courses("the share of worlds in which no ranker is optimistic", "beta", "β", "failed")
    delta = table["delta"].max()
    return lines(
        table, "beta", "failed", [FAILURES], spread=BARS, over=[level(delta)], ncols=3,
        axis={"xlabel": "β of Lemma 4.4's proof (larger: less noise)", "ylim": (-0.02, 1.02)},
        ylabel="share of worlds in which\nno ranker is optimistic",
        says=lambda drawn: f"{course(drawn)} The promised share is {delta:g}.",
    )  # fmt: skip


@styled
def uncertain_against_labels(table: pd.DataFrame) -> Drawing:
    """Probability that an order is not unanimously right, and its bounds, against labels of each pair."""
    own = table.assign(case=[f"N = {line.rankers:g}, {strength(line.noise, line.beta)}" for line in frames.rows(table)])
    shown = own.assign(
        panel="with " + own["case"], line=own["quantity"].map({name: one.words for name, one in LIMITS.looks.items()})
    )
    each = shown["quantity"] == PROBABILITY
    pairs = shown[each].merge(shown[~each], on=["panel", "labels"], suffixes=("", "_allowed"))
    last = shown[each & (shown["mean"] > 0)].groupby("panel", sort=False)["labels"].max()
    upto = shown[shown["labels"] <= shown["panel"].map(last)]
    when = "With the most labels that leave a probability above 0"
    told = alt.ends(upto, "line", "probability or bound", ["panel"], x="labels", when=when)
    above = (pairs["mean"] > pairs["mean_allowed"]).sum()
    return lines(
        own[own["mean"] > 0], "labels", "mean", [LIMITS], Grid(facet("case", own), height=3.4), shown=table, ncols=3,
        axis={"xscale": "log", "yscale": "log", "ylim": (1e-5, 2), "xlabel": "labels of each pair"},
        ylabel="probability that an order is\nnot unanimously right",
        says=f"{told} The probability is above a bound in {above} of {len(pairs)} cases.",
    )  # fmt: skip


@styled
def regret_against_rounds(table: pd.DataFrame) -> Drawing:
    """Misordered pairs against rounds on the left; those among them on which all rankers agree on the right."""
    own = table.assign(who=[learner(line.noise, line.rankers, line.pseudo_pairs) for line in frames.rows(table)])
    strokes = ("-", DASHED, DOTTED, LONG, (0, (3, 1, 1, 1)), (0, (2, 1)))
    each = zip(dict.fromkeys(own["who"]), SERIES, "osDv^P", strokes, strict=False)
    looks = {who: series(who, color, mark, stroke) for who, color, mark, stroke in each}
    both = long(own, MISORDERED.titles, ["who", "round", "standard_error"])
    both["standard_error"] = both["standard_error"].where(both["line"] == "regret")
    common = own.groupby("who")["round"].max().min()
    until, when = own[own["round"] <= common], f"After {alt.number(common)} rounds"
    told = (
        alt.courses(own, "who", "the number of misordered pairs", [], "round", "the round", y="regret"),
        alt.ends(until, "who", "misordered pairs on which all rankers agree", [], y="wrong", when=when),
    )
    return lines(
        both, "round", "mean", [Key("who", looks)], Grid(MISORDERED, height=3.4), spread=ERRORS, ncols=3, shown=table,
        axis={"xscale": "log", "yscale": "log", "ylim": (0.5, None), "xlabel": "round"},
        ylabel="pairs so far (mean over worlds,\nleft ± 2 standard errors)", says=" ".join(told),
    )  # fmt: skip


@styled
def blind_spot(table: pd.DataFrame) -> Drawing:
    """Probability that the wrong order of a pair with an unseen direction is certain; a panel for each ν²."""
    return lines(
        table, "labels", "mean", [SPOTS], Grid(_strengths(table, "noise", "ν²"), height=3.0), ncols=2,
        axis={"xscale": "log", "xlabel": "labels of the other direction", "ylim": (-0.03, 1.03)},
        ylabel="probability that the wrong\norder is certain",
        says=courses("the probability", "labels", "the number of labels"),
    )  # fmt: skip
