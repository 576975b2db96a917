"""Tables of olRankNet's theory, and what its audits come to in words.

Frames are those of `bounds`; this module computes nothing that is not there, but for the numbers of the errata.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ol2r import frames
from ol2r.papers.olranknet import bounds
from ol2r.papers.olranknet.audit_figures import COVARIANCES, TRUTHS, setting, start
from ol2r.papers.olranknet.errata import Erratum
from ol2r.report.tables import myst
from ol2r.theory import neural

QUANTITIES = {
    "martingale": "martingale bound",
    "linear": "Lemma 3.3 for the linear model",
    "network": "Lemma 3.3, gradients at θ₀",
    "current": "Lemma 3.3, gradients of each round",
    "diagonal": "the same with the diagonal of A (no proof)",
    "radius": "norm of the fit",
}
HARM = {"none": "none", "constants": "constants", "undefined": "undefined", "proof": "the proof fails"}
HARM |= {"statement": "the statement fails"}
ROUNDS = 5000
PAIRS = 5
"""The paper's T, and the pairs of a round of ten documents."""
LAMBDA = 0.1
"""The largest λ that the paper tries."""


def share(value: float) -> str:
    """A share as a percentage with at most one decimal."""
    return f"{100 * value:.1f}".removesuffix(".0") + " %"


def power_of_ten(log: float) -> str:
    """exp(log) as a power of ten in MyST."""
    return f"$10^{{{log / np.log(10):.0f}}}$"


def coverage(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Coverage of each bound and of its half, and by which factor the bound could be divided.

    Args:
        table: `bounds.coverage_table` with the scales 1 and ½.
    """
    index = [*bounds.SETTING, "quantity"]
    half = table[np.isclose(table["scale"], 0.5)].set_index(index)["coverage"]
    rows = []
    for line in frames.rows(table[(table["scale"] == 1) & table["quantity"].isin(list(QUANTITIES))]):
        key = tuple(getattr(line, name) for name in index)
        told = setting(line) + ("" if line.assumed else ", users who stop (assumption violated)")
        interval = f"[{share(line.low)}, {share(line.high)}]"
        rows.append([
            told, QUANTITIES[line.quantity], str(line.worlds), share(line.nominal),
            f"{share(line.coverage)} {interval}", share(float(half.loc[key])), f"{line.factor:.3g}",
        ])  # fmt: skip
    header = ["worlds of", "bound", "worlds", "nominal", "covered [95 %]", "half of it", "slack"]
    return myst(header, rows, name=name, caption=caption)


def needed(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """α_t beside what would have been enough."""
    rows = [
        [
            setting(line) + ("" if line.assumed else ", users who stop"), f"{line.alpha:.3g}", f"{line.full:.2g}",
            f"{line.slack:.3g}", f"{line.diagonal:.2g}", f"{line.error:.2g}", f"{line.narrowing:.2g}",
        ]
        for line in frames.rows(table)
    ]  # fmt: skip
    header = ["worlds of", "α of the theorem", "enough, full", "times too wide", "enough, diagonal", "largest ε", "κ"]
    return myst(header, rows, name=name, caption=caption)


def steps(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """In how many worlds each step of the regret bound held."""
    told = {
        "regret ≤ open": "misordered pairs are at most the uncertain ones",
        "open ≤ allowed": "uncertain pairs are at most those that may be",
        "wide ≤ most": "labelled pairs that were wide are at most as many as the log-determinant allows",
        "regret ≤ bound": "regret is at most the corrected Theorem 4.4",
    }
    truths = [truth for truth in TRUTHS if truth in set(table["truth"])]
    rows = []
    for (scale, statement), own in frames.groups(table, ["scale", "statement"]):
        by = own.set_index("truth")
        always = scale == 1 or statement == "wide ≤ most"
        kept = [_held(frames.line(by, truth)) for truth in truths]
        rows.append([_width(scale), told[statement], "yes" if always else "no", *kept])
    header = ["α", "step", "promised", *(f"held in worlds: {TRUTHS[truth]}" for truth in truths)]
    return myst(header, rows, name=name, caption=caption)


def _held(line: pd.Series) -> str:
    """In how many worlds a step held, and in how many it could have failed."""
    able, worlds = line["able"], line["worlds"]
    return f"{line['held']} of {worlds}; " + (f"could fail in {able}" if able else "cannot fail here")


def _width(scale: float) -> str:
    return "the theorem's" if scale == 1 else f"1/{1 / scale:.0f} of it"


def steps_in_words(table: pd.DataFrame) -> str:
    """Which steps of the regret bound could fail, and which did: at the theorem's α, and at parts of it."""
    by = table.groupby(["scale", "statement"], sort=False)[["held", "able", "worlds"]].sum()
    whole = by.xs(1.0, level="scale")
    fixed = whole.index[whole["able"] == 0]
    broken = whole.index[whole["held"] < whole["worlds"]]
    sentences = [
        f"At the theorem's α {len(fixed)} of the {len(whole)} steps cannot fail, because what they allow is at least "
        "all pairs: they say nothing here."
    ]
    if len(broken):
        sentences.append(f"There {len(broken)} of the steps failed.")
    for scale in sorted(set(by.index.get_level_values("scale")) - {1.0}, reverse=True):
        own = by.xs(scale, level="scale")
        open_, allowed = (own.loc[name] for name in ("regret ≤ open", "open ≤ allowed"))
        sentences.append(
            f"At {_width(scale)}, where nothing is promised, uncertain pairs were more than intervals that hold allow "
            f"in {allowed['worlds'] - allowed['held']} of {allowed['worlds']} worlds (it could be in "
            f"{allowed['able']}), and misordered ones more than the uncertain in {open_['worlds'] - open_['held']} (in "
            f"{open_['able']})."
        )
    sentences.append(
        "That wide pairs are as few as the log-determinant allows follows from the log-determinant alone, however "
        "wrong the intervals are."
    )
    return " ".join(sentences)


def open_in_words(table: pd.DataFrame) -> str:
    """From how many labels on orders are settled, and whether more were uncertain than may be."""
    whole, parts = table[table["scale"] == 1], table[table["scale"] < 1]
    able = whole[whole["able"] > 0]
    settled = whole[whole["open"] == 0]["labels"]
    sentences = [
        f"At the theorem's α fewer than all pairs may be uncertain from {able['labels'].min():,} labels of each on, "
        f"and from there more were so in {able['broken'].sum():.0f} of {able['able'].sum():.0f} cases (worlds and "
        "numbers of labels); with fewer labels nothing can fail."
        if len(able)
        else "At the theorem's α all pairs may be uncertain at all these numbers of labels: nothing can fail.",
        f"No pair is uncertain from {settled.min():,} labels on." if len(settled) else "",
    ]
    below = whole[whole["printed"] < whole["open"]]
    if len(below):
        least, most = below["labels"].min(), below["labels"].max()
        many = f"{least:,} labels" if least == most else f"{least:,} to {most:,} labels"
        sentences.append(
            "What Lemma 4.2 prints, which it claims only from its $t'$ on, is below the share of uncertain pairs at "
            f"{many}."
        )
    for (scale,), own in frames.groups(parts, ["scale"]):
        could = own[own["able"] > 0]
        sentences.append(
            f"At {_width(scale)}, where nothing is promised, more pairs were uncertain than may be in "
            f"{could['broken'].sum():.0f} of {could['able'].sum():.0f} cases, and at most {share(own['wrong'].max())} "
            "of the pairs were certain in the wrong order."
        )
    return " ".join(each for each in sentences if each)


def log_det_in_words(table: pd.DataFrame) -> str:
    """Which log-determinants could pass their bounds, and which did."""
    own = table[table["assumed"] == 1]
    once = own["quantity"] == "log det by documents"
    printed, by_documents = own[~once], own[once]
    matched, every = (printed[printed["pairs"] == pairs] for pairs in ("matched", "all"))
    sentences = []
    if len(matched):
        largest = matched["largest"].max()
        so = "too few to come near a bound that counts every pair" if largest < 1 else "enough to pass a printed bound"
        sentences.append(
            "Where pairs that share no document are matched at random, as in the paper's Algorithm 1, the largest "
            f"ratio of all worlds is {largest:.2f}: they are {so}, so this audit could hardly fail. With each document "
            f"counted once the largest is {by_documents['largest'].max():.2f}."
        )
    for (width,), at in frames.groups(every, ["width"]):
        by = at.set_index("quantity")
        told = [
            f"{by.loc[name, 'held']} of {by.loc[name, 'worlds']} worlds with {word} (median ratio "
            f"{by.loc[name, 'median']:.2f})"
            for name, word in (("log det by rounds", "$\\tilde{\\mathbf H}$"), ("log det as printed", "$\\mathbf H$"))
        ]
        documents = at["documents"].iloc[0]
        sentences.append(
            f"Outside the paper's assumption, where every pair of {documents:.0f} documents is labelled, at m = "
            f"{width:,.0f} the bound of the paper's "
            f"proof held in {' and in '.join(told)}; {{prf:ref}}`olranknet-lem-logdet` held in "
            f"{by.loc['log det', 'held']}."
        )
    return " ".join(sentences)


def typical(table: pd.DataFrame, *, name: str, caption: str) -> str:
    """Widths of typical pairs, and what order the diagonal puts them in."""
    rows = [
        [
            f"{start(line.init, line.regularization)}, {line.documents:,} documents", f"{line.pairs:,}",
            f"{line.full:.2g}", f"{line.diagonal:.2g}", share(line.narrower), f"{line.alike:.2f}", f"{line.prior:.2f}",
        ]
        for line in frames.rows(table[table["pairs"] > 0])
    ]  # fmt: skip
    header = [
        "start", "pairs seen", "full width", "diagonal width", "diagonal narrower", "rank correlation of both",
        "of the diagonal with ‖w‖",
    ]  # fmt: skip
    return myst(header, rows, name=name, caption=caption)


def errata(listed: Sequence[Erratum], *, name: str, caption: str) -> str:
    """The errata with what each check computes."""
    rows = [
        [str(number), each.place, each.correction, HARM[each.harm], each.check() if each.check else "by the text"]
        for number, each in enumerate(listed, start=1)
    ]
    return myst(["no.", "place", "correction", "harm", "check"], rows, name=name, caption=caption)


def promised_in_words() -> str:
    """What the theorems promise, and for which networks."""
    units = power_of_ten(neural.least_log_width(PAIRS * ROUNDS, 2, LAMBDA))
    error = power_of_ten(float(np.log(neural.printed_approximation(ROUNDS, 100, 2, LAMBDA, 1e-3, 20))))
    return (
        "**What do the theorems promise?** An interval around the network's preference of a pair covers the true one, "
        f"and regret grows as $\\log^2 T$: both for networks of some {units} hidden units in a run of {ROUNDS:,} "
        f"rounds at $\\lambda = {LAMBDA:g}$ with all unknown constants at 1. At the 100 units of the experiments the "
        f"error that they add to the interval is {error}."
    )


def covered_in_words(frame: pd.DataFrame) -> str:
    """Whether Lemma 3.3 holds in simulation, with its error measured, and how slack it is."""
    table = bounds.coverage_table(frame, quantities=("current",))
    own = table[(table["assumed"] == 1) & (table["scale"] == 1)]
    half = table[(table["assumed"] == 1) & (table["scale"] == 0.5)]
    slack = bounds.needed_table(frame).query("assumed == 1")
    violated = table[(table["assumed"] == 0) & (table["scale"] == 1)]
    return (
        "**Does the interval cover?** Yes. With that error measured in place of bounded, it covered in "
        f"{own['covered'].sum():,} of {own['worlds'].sum():,} simulated worlds "
        f"({half['covered'].sum():,} with half of the radius, and "
        f"{violated['covered'].sum():,} of {violated['worlds'].sum():,} with users who stop, which violates the "
        f"assumption). But it is wide: the factor α of its width is {slack['slack'].min():.0f} to "
        f"{slack['slack'].max():.0f} times the {slack['full'].min():.2g} to {slack['full'].max():.2g} that would have "
        f"been enough, and the paper's experiments try at most {LAMBDA:g}."
    )


def diagonal_in_words(frame: pd.DataFrame) -> str:
    """Whether the diagonal's interval is valid."""
    table = bounds.blind_figure(frame)
    last = table.sort_values("labels").iloc[-1]
    own = bounds.coverage_table(frame, quantities=("diagonal",))
    own = own[(own["assumed"] == 1) & (own["scale"] == 1)]
    return (
        "**Is the diagonal of $A$, which the paper runs, valid?** No. In the worlds above its interval covers "
        f"({own['covered'].sum():,} of {own['worlds'].sum():,}) because α is so large. Yet after "
        f"{last['labels']:,.0f} labels of one pair, the diagonal width of another, of which nothing was learned, is "
        f"{last['narrower']:.1g} of the full one, and its error is {last['diagonal']:.2g} times its interval "
        f"(median of {last['worlds']:.0f} networks); with all of $A$ it is at most {last['full_most']:.2g} times."
    )


def fallen_in_words(table: pd.DataFrame) -> str:
    """Whether a radius that is too small is found out: how many curves of the figure fall below the nominal share."""
    curves = table.groupby([*bounds.SETTING, "quantity"], sort=False)
    fallen = curves["coverage"].min() < curves["nominal"].first()
    told = []
    for quantity, look in COVARIANCES.looks.items():
        own = fallen.xs(quantity, level="quantity")
        told.append(f"{int(own.sum())} of {len(own)} curves by {look.label.removesuffix(' (no proof)')}")
    return (
        "A bound that covers even when halved does not show that the audit would miss one that is too small: in "
        f"{{numref}}`olranknet-coverage` {' and '.join(told)} fall below the nominal line at some scale. A curve that "
        f"does not says only that {table['scale'].min():.1g} of the radius is still enough."
    )


def lengths_in_words(table: pd.DataFrame) -> str:
    """What the diagonal's order of pairs follows, and whether it is too narrow or too wide where documents are new."""
    own = table[(table["documents"] == table["documents"].min()) & (table["pairs"] > 0)]
    last = own[own["pairs"] == own["pairs"].max()]
    longer = int((last["prior"] > last["alike"]).sum())
    sentences = [
        f"After {last['pairs'].max():,} pairs the diagonal's order of pairs agrees more with the length of a gradient "
        f"(rank correlation {_range(last['prior'], '.2f')}) than with the full width, which knows what was seen "
        f"({_range(last['alike'], '.2f')}), in {longer} of {len(last)} cases"
    ]
    if longer == len(last):
        sentences[0] += (
            ": **a diagonal learner explores pairs of long gradients rather than pairs that it has not learned about**"
        )
    sentences[0] += "."
    cases = {start(*key): each.sort_values("pairs") for key, each in frames.groups(own, ["init", "regularization"])}
    wider = {name: (each["diagonal"] > each["full"]).to_numpy() for name, each in cases.items()}
    for told, names in (
        ("is too wide from the first pairs on", [name for name, each in wider.items() if each.all()]),
        ("is too narrow at first, then too wide", [name for name, each in wider.items() if each[-1] > each[0]]),
        ("stays too narrow", [name for name, each in wider.items() if not each.any()]),
    ):
        if names:
            sentences.append(f"The diagonal width {told} with the start {'; '.join(names)}.")
    if table["documents"].max() > table["documents"].min():
        new = table[(table["documents"] == table["documents"].max()) & (table["pairs"] > 0)]
        ratio = new["diagonal"] / new["full"]
        words = "too narrow" if (ratio < 1).all() else "too wide" if (ratio > 1).all() else "too narrow and too wide"
        sentences.append(
            f"With {new['documents'].max():,} documents, most of which are in no pair, as in a data set, and He's "
            f"start it is {_range(ratio, '.2g')} times the full one: {words}."
        )
    return " ".join(sentences)


def blind_in_words(table: pd.DataFrame) -> str:
    """Whether the intervals of the pair of which nothing was learned cover."""
    table = table.sort_values("labels")
    failed = table[table["diagonal"] > 1]["labels"]
    full = "covers in all networks at all these numbers of labels"
    if table["full_most"].max() > 1:
        full = f"fails in some network, by up to {table['full_most'].max():.2g} times its width"
    diagonal = "does so in the median network"
    if len(failed):
        diagonal = f"fails in the median network from {failed.min():,.0f} labels on"
    return f"The full interval {full}; the diagonal one {diagonal}."


def typical_in_words(frame: pd.DataFrame) -> str:
    """In what order the diagonal puts typical pairs: ranges over the starts and λ of the audit."""
    table = bounds.typical_figure(frame)
    own = table[(table["documents"] == table["documents"].min()) & (table["pairs"] > 0)]
    first, last = (own[own["pairs"] == n] for n in (own["pairs"].min(), own["pairs"].max()))
    wide = [f"{_range(at['diagonal'] / at['full'], '.2g')} times" for at in (first, last)]
    return (
        f"**And for typical pairs?** The diagonal width is {wide[0]} the full one after {own['pairs'].min():,.0f} "
        f"pairs, by start and λ, and {wide[1]} after {own['pairs'].max():,.0f}. Its order of pairs then agrees with "
        f"the order by gradient length alone at a rank correlation of {_range(last['prior'], '.2f')}, and with the "
        f"full width's at {_range(last['alike'], '.2f')}."
    )


def _range(values: pd.Series, form: str) -> str:
    """The least and the largest value, or the one that both are."""
    return " to ".join(dict.fromkeys(format(value, form) for value in (values.min(), values.max())))


def kernel_in_words(table: pd.DataFrame) -> str:
    """How near the kernel comes to H and to H̃, with all entries for parameters and with own blocks."""
    own = table[table["depth"] == table["depth"].min()]
    widest = own[own["width"] == own["width"].max()].set_index(["parameters", "quantity"])["mean"]
    return (
        f"At m = {own['width'].max():,} and L = {own['depth'].min()} the kernel is {share(widest['all', 'from H'])} "
        f"away "
        f"from $\\mathbf H$ and {share(widest['all', 'from H̃'])} from $\\tilde{{\\mathbf H}}$ with all entries for "
        f"parameters; with own blocks only it is {share(widest['own blocks', 'from H'])} away from $\\mathbf H$."
    )


def regret_in_words(table: pd.DataFrame) -> str:
    """Regret, uncertain pairs and the bound after the last round."""
    last = table[table["round"] == table["round"].max()]
    told = [
        f"{line.regret:.0f} misordered and {line.open:.0f} uncertain of {line.shown:.0f} pairs at "
        + ("the theorem's α" if line.scale == 1 else f"1/{1 / line.scale:.0f} of it")
        for line in frames.rows(last)
    ]
    bound = float(last["bound"].max())
    return (
        f"After {last['round'].max():,} rounds: {'; '.join(told)}. The corrected bound is {_two_digits(bound)} "
        f"pairs, {_two_digits(bound / last['shown'].max())} times all that were shown."
    )


def _two_digits(number: float) -> str:
    return f"{float(f'{number:.2g}'):,.0f}"
