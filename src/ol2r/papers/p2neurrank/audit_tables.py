"""Tables of P²NeurRank's theory, and what its audits come to in words.

Frames are those of `bounds`; this module computes nothing that is not there.
"""

from functools import partial

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.papers.audits import COVERED, halved
from ol2r.papers.olranknet.audit_tables import errata
from ol2r.papers.p2neurrank import bounds
from ol2r.papers.p2neurrank.audit_figures import learner, setting, strength
from ol2r.papers.p2neurrank.audits import RANKERS, STOPPED, UNCERTAIN
from ol2r.report.tables import Column, columns, named, rounded, share
from ol2r.theory.perturbed import printed_tail_from

__all__ = ["errata"]

QUANTITIES = {
    "martingale": "martingale bound",
    "interval": "Lemma 4.2, corrected",
    "interval, pseudo-pairs": "the same for Eq. 4.2's estimate",
    "interval as printed": "Lemma 4.2 as printed, for Eq. 4.2's estimate",
}


def power(exponent: float) -> str:
    """A number of rankers, given as a power of ten: in digits up to a thousand, as a power in MyST beyond."""
    if exponent < 3:
        return f"{max(np.ceil(10**exponent - 1e-9), 1):.0f}"
    return f"$10^{{{exponent:,.0f}}}$".replace(",", "{,}")


def coverage(table: pd.DataFrame, **told: str) -> str:
    """Coverage of each bound and of its half, and how slack it is: of `bounds.coverage_table` with scales 1 and ½."""
    given: dict[str, Column] = {"worlds of": setting, "bound": lambda line: QUANTITIES[line.quantity], **COVERED}
    return columns(halved(table, bounds.WORLD), given, **told)


needed = partial(
    columns,
    given={
        "worlds of": setting,
        "α corrected": "{alpha:.3g}",
        "enough": "{needed:.2g}",
        "α as printed": "{printed:.3g}",
        "enough for Eq. 4.2": "{needed_twice:.2g}",
        "moved by pseudo-pairs": "{moved:.2g}",
    },
)
"""Both widths of Lemma 4.2 beside what would have been enough: of `bounds.needed_table`."""


def asked(table: pd.DataFrame, **told: str) -> str:
    """How many rankers are asked for in the experiments' settings: of `bounds.settings_table`."""
    best = "better than any setting"
    return columns(
        table,
        {
            "setting": lambda r: best if r.setting == "best case" else f"{named(r.setting)}, d = {r.dimension}",
            "λ": "{regularization:g}",
            "ν²": "{noise:g}",
            "α": "{alpha:.3g}",
            "β, proof": "{printed_beta:,.0f}",
            "N, proof": lambda line: power(line.printed_power),
            "β, corrected": "{beta:,.0f}",
            "N, corrected": lambda line: power(line.power),
            f"ν² at which {table['fewest'].iloc[0]:.0f} are enough": "{enough:,.0f}",
        },
        **told,
    )


def optimism(table: pd.DataFrame, **told: str) -> str:
    """Wrong orders and on how many of them all rankers agree, in the audited worlds: of `bounds.optimism_table`."""
    return columns(
        table[table["noise"] > 0],
        {
            "λ": "{regularization:g}",
            "ν²": "{noise:g}",
            "perturbed": lambda line: "all" if line.pseudo_pairs else "labels",
            "wrong": "{wrong:share}",
            **{f"N = {n}": f"{{wrong and certain, N = {n}:share}}" for n in RANKERS},
            "PairRank, α = .1": "{wrong and certain, α = 0.1:share}",
            "PairRank, Lemma 4.2": "{wrong and certain, α:share}",
        },
        **told,
    )


def failures(table: pd.DataFrame, **told: str) -> str:
    """How often no ranker is optimistic, at ν of the lemma's order and the experiments': of `bounds.optimism_table`."""

    def noise(line: frames.Row) -> str:
        given = f"{strength(line.noise, line.beta)}, λ = {line.regularization:g}"
        return given if line.pseudo_pairs else f"{given}, labels alone"

    failed = table.assign(**{each: 1 - table[each] for each in bounds.OPTIMISTIC})
    failed = failed.rename(columns={"power corrected": "power_corrected"})
    return columns(
        failed.sort_values("beta", ascending=False, kind="stable"),
        {
            "noise": noise,
            "β": "{β:.3g}",
            "N, proof": lambda line: power(line.power),
            "N, corrected": lambda line: power(line.power_corrected),
            **{f"N = {n} fails": f"{{N = {n}:share}}" for n in RANKERS},
            "proof's N fails": "{N of the lemma:share}",
            "corrected N fails": "{N corrected:share}",
        },
        **told,
    )


uncertain = partial(
    columns,
    given={
        "rankers": lambda line: f"N = {line.rankers:g}, {strength(line.noise, line.beta)}",
        "bound": lambda line: UNCERTAIN[line.quantity],
        "held in worlds": "{held} of {worlds}",
        "largest ratio": "{largest:rounded 2}",
        "where below 1": "{below:rounded 2}",
        "labels from which it is below ½": "{from:,.0f}",
    },
)
"""In how many worlds each bound on uncertain orders held: of `bounds.uncertain_table`."""


units = partial(
    columns,
    given={
        "link": "σ({steepness:g} z)",
        "N": "{rankers}",
        "bound": lambda line: UNCERTAIN[line.quantity],
        "(k_μ α_t)²": "{factor:rounded 2}",
        "held in worlds": "{held} of {worlds}",
        "largest ratio": "{largest:rounded 2}",
    },
)
"""The paper's bounds on uncertain orders where scores are in other units: of `bounds.units_table`."""


growth = partial(
    columns,
    given={
        "learner": lambda line: learner(line.noise, line.rankers, line.pseudo_pairs),
        "rounds": "{rounds:,}",
        "misordered": "{regret:,.0f}",
        "uncertain": "{open:,.0f}",
        "agreed on wrongly": "{wrong:,.0f}",
        "all pairs": "{shown:,.0f}",
        "p of log^p T ± 2 s.e.": lambda line: f"{line.exponent:.2f} ± {2 * line.standard_error:.2f}",
        "bound": "{bound:rounded 2}",
        "worlds within": "{within} of {worlds}",
    },
)
"""How regret ended and grew: of `bounds.growth_table`."""


def answer_in_words(table: pd.DataFrame) -> str:
    """Whether theory covers two rankers at the experiments' ν, and how far it is from that."""
    sets = table[table["setting"] != "best case"]
    best = table[(table["setting"] == "best case") & (table["noise"] == bounds.NOISES[0])].iloc[0]
    nearest = sets[sets["noise"] == bounds.NOISES[0]].sort_values("power").iloc[0]
    return (
        f"**Do they cover two rankers at the experiments' ν? No.** Lemma 4.4 asks for so many rankers that one of them "
        f"is optimistic with probability 1 − δ about an order that the estimate has wrong. At δ = 1/T and "
        f"T = {bounds.ROUNDS:,} that is at least {table['fewest'].iloc[0] - 1:.0f} at *every* ν, because with a linear "
        f"response such a ranker is more often wrong than right. At ν² = {bounds.NOISES[0]:g} it is "
        f"{power(nearest['power'])} "
        f"for {named(nearest['setting'])} ({power(nearest['printed_power'])} as the paper's proof counts), and as "
        f"it counts still {power(best['printed_power'])} where nothing has been labelled and every constant is at its "
        f"best. For {nearest['fewest']:.0f} rankers to be enough, ν² would have to be {nearest['enough']:,.0f}."
    )


def held_in_words(frame: pd.DataFrame) -> str:
    """Whether each lemma held in simulation: Lemma 4.2, both halves of Lemma 4.4."""
    covered = bounds.coverage_table(frame, scales=(1.0,))
    own, printed = (covered[covered["quantity"] == each] for each in bounds.COVERED)
    lost = printed[printed["covered"] < printed["worlds"]]
    where = ""
    if len(lost):
        worlds = "; ".join(setting(line) for line in frames.rows(lost))
        where = f" (all failures where {worlds}{_beyond(lost)})"
    held = bounds.uncertain_table(frame).groupby("quantity")[["held", "worlds"]].sum().loc[list(bounds.PRINTED)]
    by_proof, by_statement = (f"{line.held:,} of {line.worlds:,}" for line in held.itertuples())
    optimistic = bounds.optimism_figure(frame)
    lemma = optimistic[optimistic["quantity"] == "N of the lemma"]
    worst, rest = lemma.iloc[int(lemma["failed"].argmax())], lemma[lemma["beta"] >= printed_tail_from()]
    whole = lost.empty and (held["held"] == held["worlds"]).all() and worst["failed"] <= worst["delta"]
    return (
        f"**Do they hold in simulation?** {'Yes' if whole else 'Not all'}. Lemma 4.2 covered in "
        f"{own['covered'].sum():,} of {own['worlds'].sum():,} worlds as corrected here, in "
        f"{printed['covered'].sum():,} of {printed['worlds'].sum():,} as printed{where}. The bound on uncertain orders "
        f"held in {by_proof} worlds in the form that its proof gives, and in {by_statement} as printed, though the "
        f"proof fails. With as many rankers as Lemma 4.4 asks for and noise of the order that it needs, from "
        f"β = {rest['beta'].min():g} on, none was optimistic in {_at_most(rest['failed'].max())} of the worlds, for a "
        f"promised {share(worst['delta'])} at most.{_too_few(worst)}"
    )


def _at_most(value: float) -> str:
    """A largest share in words."""
    return f"at most {share(value)}" if value else share(value)


def _beyond(lost: pd.DataFrame) -> str:
    """By how much λ of these worlds is above the largest that the paper tries; empty unless all are above it."""
    times = lost["regularization"] / bounds.LAMBDA
    several = " or more" if times.max() > times.min() else ""
    return f", {times.min():,.0f} times{several} the largest λ that the paper tries" if times.min() > 1 else ""


def _too_few(worst: pd.Series) -> str:
    """How often no ranker is optimistic where the printed tail is no bound: a sentence, empty if it harms nothing."""
    if worst["beta"] >= printed_tail_from() or worst["failed"] <= worst["delta"]:
        return ""
    return (
        f" Where ν is {1 / worst['beta']:.1f} times that order (β = {worst['beta']:g}), its tail is no bound, it asks "
        f"for {worst['rankers']:.0f}, and none was optimistic in {share(worst['failed'])}."
    )


def forgotten_in_words(frame: pd.DataFrame) -> str:
    """Where the printed Lemma 4.2 fails for want of the term √λ Q."""
    covered = bounds.coverage_table(frame, scales=(1.0,), quantities=bounds.COVERED[1:])
    lost = covered[covered["covered"] < covered["worlds"]]
    if lost.empty:
        return "In {numref}`p2neurrank-coverage` the printed interval covers everywhere."
    lambdas = " and ".join(f"{each:,g}" for each in sorted(lost["regularization"].unique()))
    return (
        f"In {{numref}}`p2neurrank-coverage` the printed interval fails in worlds of λ = {lambdas}{_beyond(lost)}, and "
        f"covers in all others."
    )


def stopped_in_words(frame: pd.DataFrame) -> str:
    """Whether Lemma 4.2 as corrected covers although users stop, and by how much less room it then has."""
    held, stopped = (bounds.coverage_table(frame, (1.0,), bounds.COVERED[:1], audit) for audit in ("coverage", STOPPED))
    both = stopped.merge(held, on=bounds.WORLD, suffixes=("", " of the model"))
    least, most = (f"{each:.2g}" for each in ((both["factor"] / both["factor of the model"]).agg(["min", "max"])))
    return (
        f"Users who stop break the assumption on labels, here as for PairRank ({{numref}}`pairrank-violations-table`). "
        f"The corrected interval then covered everywhere in {stopped['covered'].sum():,} of "
        f"{stopped['worlds'].sum():,} worlds, which nothing promises. By how much it could be narrower is {least} to "
        f"{most} times what it is with labels of the model."
    )


def agreed_in_words(frame: pd.DataFrame) -> str:
    """Of how many pairs two rankers agree on the wrong order, beside PairRank's constant and theoretical widths."""
    table = bounds.optimism_table(frame)
    own = table[(table["pseudo_pairs"] == 0) & (table["beta"] == 0)]
    own = own[own["regularization"] == own["regularization"].max()].set_index("noise")
    told = [f"{share(own.loc[noise, 'wrong and certain, N = 2'])} at ν² = {noise:g}" for noise in sorted(own.index)]
    first = own.iloc[0]
    return (
        f"**What do two rankers do, then?** In simulated worlds the plain estimate has {share(first['wrong'])} of all "
        f"orders wrong. Two rankers agree on a wrong order in {', '.join(told)}, so that it is not shuffled. "
        f"PairRank's interval is certain of a wrong order in {share(first['wrong and certain, α = 0.1'])} with a "
        f"constant α = .1, with Lemma 4.2's α in {share(first['wrong and certain, α'])}. ν² = ¼ is the noise of a "
        f"label itself: there the rankers spread about as much as the estimate errs."
    )


def variance_in_words(table: pd.DataFrame) -> str:
    """Whether the variance of A.2 holds with noise on the pseudo-pairs and without, at first and in the end."""
    first, last = (
        table[table["round"] == each].set_index(["quantity", "regularization"])["mean"]
        for each in (table["round"].min(), table["round"].max())
    )
    both, alone, ended = first["all perturbed"], first["labels perturbed"], last["labels perturbed"]
    refitted = last["refits"]
    return (
        f"**Is Algorithm 1's noise that of the analysis? No.** With noise on the pseudo-pairs, as in the analysis, the "
        f"variance that optimism needs is {both.min():.3f} to {both.max():.3f} times that of A.2 after the first "
        f"round. Algorithm 1 perturbs labels alone, and then it is {alone.min():.2f} to {alone.max():.2f} of that: "
        f"nothing in directions that no label has touched. After {table['round'].max():,} rounds it is "
        f"{ended.min():.2f} to {ended.max():.2f}: the gap closes as labels reach all directions. Rankers that are "
        f"refitted to the noise spread wider than either, {refitted.min():.0f} to {refitted.max():.0f} times A.2's "
        "variance by then: A.2 takes the response to have slope 1, and σ has at most ¼, which alone is a factor of 16 "
        "or more."
    )


def failed_in_words(frame: pd.DataFrame) -> str:
    """How often no ranker is optimistic with as many as the printed tail and as the true one ask for."""
    table = bounds.optimism_figure(frame)
    own = table[table["quantity"] == "N of the lemma"].sort_values("beta")
    worst, rest = own.iloc[0], own[own["beta"] >= printed_tail_from()]
    right = table[table["quantity"] == "N corrected"]
    return (
        f"Where the printed bound on the tail holds, no ranker is optimistic in {_at_most(rest['failed'].max())} "
        f"of the worlds, for a promised {share(worst['delta'])} at most. At β = {worst['beta']:g}, where ν is "
        f"{1 / worst['beta']:.1f} times the order that the lemma needs, it does not hold: it asks for "
        f"{worst['rankers']:.0f} ranker{'' if worst['rankers'] == 1 else 's'}, and in {share(worst['failed'])} of the "
        f"worlds [{share(worst['low'])}, {share(worst['high'])}] none is optimistic. With the true tail the share is "
        f"{_at_most(right['failed'].max())} everywhere."
    )


def usual_in_words(table: pd.DataFrame) -> str:
    """How often no ranker is optimistic at the experiments' ν² and at that of a label; empty without such worlds."""
    own = table[table["noise"] > 0]
    if own.empty:
        return ""
    noises = ", ".join(f"{each:g}" for each in sorted(own["noise"].unique(), reverse=True))
    failed = [f"N = {n}: {_at_least(1 - own[f'N = {n}'].max())}" for n in RANKERS]
    return (
        f"The experiments' noise is far from that order. At ν² = {noises} (the first is that of a label itself) the "
        f"proof's β is {own['β'].min():.0f} to {own['β'].max():.0f}, and of the worlds so many have no optimistic "
        f"ranker: {'; '.join(failed)}. So whatever two to ten rankers gain in the experiments, they do not gain it by "
        "the lemma's way."
    )


def _at_least(value: float) -> str:
    return "all" if value == 1 else f"{share(value)} or more"


def uncertain_in_words(table: pd.DataFrame) -> str:
    """Whether Lemma 4.4's bound on uncertain orders holds."""
    held = table.groupby("quantity", sort=False)[["held", "worlds"]].sum()
    told = [f"{UNCERTAIN[str(name)]}: {line['held']:.0f} of {line['worlds']:.0f}" for name, line in held.iterrows()]
    printed = held.loc[list(bounds.PRINTED)]
    verdict = (
        "So the paper's bound holds here, though its proof does not."
        if (printed["held"] == printed["worlds"]).all()
        else "So the paper's bound is passed in some worlds."
    )
    below = table.groupby("quantity", sort=False)["below"].max().dropna()
    slack = [f"{UNCERTAIN[str(name)]}: {rounded(value, 2)}" for name, value in below.items()]
    far = (
        f" Where a bound is below 1, and so says something, the probability was at most this multiple of it: "
        f"{'; '.join(slack)}. A bound that is wrong by less than the inverse of that would have passed."
        if slack
        else " No bound came below 1, so none of them said anything."
    )
    return (
        f"The probability that an order is not unanimously right stayed below each bound in so many worlds: "
        f"{'; '.join(told)}. {verdict}{far}"
    )


def regret_in_words(table: pd.DataFrame, dearer: pd.DataFrame) -> str:
    """What exploring cost where labels do not depend on the list."""
    told = [
        f"{line.regret:,.0f} of {line.shown:,.0f} pairs with {learner(line.noise, line.rankers, line.pseudo_pairs)}"
        for line in frames.rows(table)
    ]
    more = [
        f"{line.more:,.0f} [{line.low:,.0f}, {line.high:,.0f}] more with ".replace("-", "−")
        + learner(line.noise, line.rankers, line.pseudo_pairs)
        for line in frames.rows(dearer)
    ]
    return (
        f"Misordered at the end: {'; '.join(told)}. In the same worlds and as many rounds as one ranker without "
        f"noise (95 % intervals): {'; '.join(more)}. The corrected bound is {rounded(table['bound'].min(), 2)} pairs "
        f"or more, {(table['bound'] / table['shown']).min():.0f} times all that were shown or more."
    )
