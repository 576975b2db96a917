"""Tables of P²NeurRank's theory, and what its audits come to in words.

Frames are those of `bounds`; this module computes nothing that is not there.
"""

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.papers.olranknet.audit_tables import errata, share
from ol2r.papers.p2neurrank import bounds
from ol2r.papers.p2neurrank.audit_figures import learner, setting, strength
from ol2r.papers.p2neurrank.audits import RANKERS, STOPPED, UNCERTAIN
from ol2r.report.tables import myst, named, rounded
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


def coverage(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Coverage of each bound and of its half, and by which factor the bound could be divided.

    Args:
        table: `bounds.coverage_table` with the scales 1 and ½.
    """
    index = [*bounds.WORLD, "quantity"]
    half = table[np.isclose(table["scale"], 0.5)].set_index(index)["coverage"]
    rows = []
    for line in frames.rows(table[table["scale"] == 1]):
        key = tuple(getattr(line, each) for each in index)
        rows.append([
            setting(line), QUANTITIES[line.quantity], str(line.worlds), share(line.nominal),
            f"{share(line.coverage)} [{share(line.low)}, {share(line.high)}]", share(float(half.loc[key])),
            f"{line.factor:.3g}",
        ])  # fmt: skip
    header = ["worlds of", "bound", "worlds", "nominal", "covered [95 %]", "half of it", "slack"]
    return myst(header, rows, name=name, caption=caption)


def needed(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Both widths of Lemma 4.2 beside what would have been enough.

    Args:
        table: `bounds.needed_table`.
    """
    rows = [
        [
            setting(line), f"{line.alpha:.3g}", f"{line.needed:.2g}", f"{line.printed:.3g}",
            f"{line.needed_twice:.2g}", f"{line.moved:.2g}",
        ]
        for line in frames.rows(table)
    ]  # fmt: skip
    header = ["worlds of", "α corrected", "enough", "α as printed", "enough for Eq. 4.2", "moved by pseudo-pairs"]
    return myst(header, rows, name=name, caption=caption)


def asked(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """How many rankers are asked for in the experiments' settings.

    Args:
        table: `bounds.settings_table`.
    """
    rows = [
        [
            "better than any setting"
            if line.setting == "best case"
            else f"{named(line.setting)}, d = {line.dimension}",
            f"{line.regularization:g}", f"{line.noise:g}", f"{line.alpha:.3g}", f"{line.printed_beta:,.0f}",
            power(line.printed_power),
            f"{line.beta:,.0f}", power(line.power), f"{line.enough:,.0f}",
        ]
        for line in frames.rows(table)
    ]  # fmt: skip
    enough = f"ν² at which {table['fewest'].iloc[0]:.0f} are enough"
    header = ["setting", "λ", "ν²", "α", "β, proof", "N, proof", "β, corrected", "N, corrected", enough]
    return myst(header, rows, name=name, caption=caption)


def optimism(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Wrong orders and on how many of them all rankers agree, in the audited worlds.

    Args:
        table: `bounds.optimism_table`.
    """
    rows = []
    for line in table[table["noise"] > 0].to_dict("records"):
        rows.append([
            f"{line['regularization']:g}", f"{line['noise']:g}", "all" if line["pseudo_pairs"] else "labels",
            share(line["wrong"]), *(share(line[f"wrong and certain, N = {n}"]) for n in RANKERS),
            share(line["wrong and certain, α = 0.1"]), share(line["wrong and certain, α"]),
        ])  # fmt: skip
    header = ["λ", "ν²", "perturbed", "wrong", *(f"N = {n}" for n in RANKERS)]
    return myst([*header, "PairRank, α = .1", "PairRank, Lemma 4.2"], rows, name=name, caption=caption)


def failures(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """How often no ranker is optimistic, at ν of the order that the lemma asks for and at the experiments' ν.

    Args:
        table: `bounds.optimism_table`.
    """
    rows = []
    for line in frames.records(table.sort_values("beta", ascending=False, kind="stable")):
        failed = ["–" if np.isnan(line[each]) else share(1 - line[each]) for each in bounds.OPTIMISTIC]
        given = f"{strength(line['noise'], line['beta'])}, λ = {line['regularization']:g}"
        noise = given if line["pseudo_pairs"] else f"{given}, labels alone"
        rows.append([noise, f"{line['β']:.3g}", power(line["power"]), power(line["power corrected"]), *failed])
    header = ["noise", "β", "N, proof", "N, corrected", *(f"N = {n} fails" for n in RANKERS), "proof's N fails"]
    return myst([*header, "corrected N fails"], rows, name=name, caption=caption)


def uncertain(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """In how many worlds each bound on uncertain orders held.

    Args:
        table: `bounds.uncertain_table`.
    """
    rows = [
        [
            f"N = {rankers:g}, {strength(noise, beta)}", UNCERTAIN[line["quantity"]],
            f"{line['held']} of {line['worlds']}", rounded(line["largest"], 2), rounded(line["below"], 2),
            "–" if np.isnan(line["from"]) else f"{line['from']:,.0f}",
        ]
        for (noise, beta, rankers), own in frames.groups(table, bounds.STRENGTH)
        for line in frames.records(own)
    ]  # fmt: skip
    header = ["rankers", "bound", "held in worlds", "largest ratio", "where below 1", "labels from which it is below ½"]
    return myst(header, rows, name=name, caption=caption)


def units(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """In how many worlds the paper's bounds on uncertain orders held where scores are in other units.

    Args:
        table: `bounds.units_table`.
    """
    rows = [
        [
            f"σ({line.steepness:g} z)", f"{line.rankers}", UNCERTAIN[str(line.quantity)], rounded(line.factor, 2),
            f"{line.held} of {line.worlds}", rounded(line.largest, 2),
        ]
        for line in frames.rows(table)
    ]  # fmt: skip
    header = ["link", "N", "bound", "(k_μ α_t)²", "held in worlds", "largest ratio"]
    return myst(header, rows, name=name, caption=caption)


def growth(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """How regret ended and grew.

    Args:
        table: `bounds.growth_table`.
    """
    rows = [
        [
            learner(line.noise, line.rankers, line.pseudo_pairs), f"{line.rounds:,}", f"{line.regret:,.0f}",
            f"{line.open:,.0f}", f"{line.wrong:,.0f}", f"{line.shown:,.0f}",
            f"{line.exponent:.2f} ± {2 * line.standard_error:.2f}", rounded(line.bound, 2),
            f"{line.within} of {line.worlds}",
        ]
        for line in frames.rows(table)
    ]  # fmt: skip
    header = [
        "learner", "rounds", "misordered", "uncertain", "agreed on wrongly", "all pairs", "p of log^p T ± 2 s.e.",
        "bound", "worlds within",
    ]  # fmt: skip
    return myst(header, rows, name=name, caption=caption)


def answer_in_words(table: pd.DataFrame) -> str:
    """Whether theory covers two rankers at the experiments' ν, and how far it is from that.

    Args:
        table: `bounds.settings_table`.
    """
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
    """Whether the variance of A.2 holds with noise on the pseudo-pairs and without, at first and in the end.

    Args:
        table: `bounds.variance_figure`.
    """
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
    """How often no ranker is optimistic at the experiments' ν² and at that of a label; empty without such worlds.

    Args:
        table: `bounds.optimism_table`.
    """
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
    """Whether Lemma 4.4's bound on uncertain orders holds.

    Args:
        table: `bounds.uncertain_table`.
    """
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
    """What exploring cost where labels do not depend on the list.

    Args:
        table: `bounds.growth_table`.
        dearer: `bounds.dearer_table`.
    """
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
