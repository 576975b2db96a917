"""The theorems of the olRankNet paper as rules on the tables of the audits.

The rules were declared before the audits had run at full length, but for that of Lemma C.3, which was changed twice
(`former.csv`): the paper's A has pairs that share no document. The confidence interval (Lemma 3.3) and the bound on the
log-determinant (Lemma C.3) are judged in realizable worlds, the kernel (Definition B.1 with Lemma D.1) on networks at
the start. This module names the item of the audits and does not import it.
"""

from collections.abc import Mapping
from itertools import product

import numpy as np

from ol2r.experiments.claims import (
    OF_WORLDS,
    WORLDS,
    Claim,
    Contrast,
    Label,
    NotMeasured,
    Part,
    Results,
    Scale,
    Size,
    WorldMeasure,
    covered,
    worded,
)
from ol2r.experiments.effects import Effect, mean_effect
from ol2r.papers import texts

ITEM = "audits"
WIDTH = 100
RATE = 1 / 4
"""Lemma D.1's distance ε takes m of the order ε⁻⁴: it falls as m to the power of minus this."""
DOUBLINGS = 3
"""The doublings of m over which the fall is measured, the last ones of a series."""
POWER = Scale("power of m by which the distance falls, beyond that of the lemma")
LABELS = "labels of the model"
TRUTHS = {"tangent": "a random linear function of the gradients", "network": "another network's function"}


def falls(contrast: Contrast, results: Mapping[str, Results], dataset: str, users: str) -> Effect:
    """By which power of m a distance falls over the last doublings of m, beyond `RATE`.

        log(d at m/8 ÷ d at m)/log 8 − ¼, the mean over draws

    The measure's rounds are the widths m.

    Raises:
        NotMeasured: the series of widths has too few doublings.
    """
    curve = contrast.quantity.curve(results)
    widths = curve.columns.to_numpy(dtype=float)
    now, then = widths[-1], widths[-1] / 2**DOUBLINGS
    if then not in widths:
        raise NotMeasured(f"{contrast.quantity.item} has no kernel at m = {then:g}")
    return mean_effect(np.log(curve[then] / curve[now]) / np.log(now / then) - RATE)


def theorem(name: str, size: Size, *parts: Part) -> Claim:
    return Claim("olranknet", name, parts, size)


def _in(audit: str, **labels: str | float) -> tuple[Label, ...]:
    return (("audit", audit), *labels.items())


def _covered(quantity: str, word: str, truth: str, bound: float, regularization: float, width: int = WIDTH) -> Contrast:
    labels = _in("coverage", users="matched", truth=truth, bound=bound, regularization=regularization, width=width)
    where = f"h {TRUTHS[truth]}, S = {bound:g}, λ = {regularization:g}, m = {width}"
    measure = WorldMeasure(ITEM, quantity, labels)
    return Contrast(f"coverage − (1 − δ₁), {word}, {where}", measure, OF_WORLDS, covered)


INTERVALS = {"network": "gradients at θ₀", "current": "gradients of each round"}
"""The two forms of Lemma 3.3 that are judged, by the audits' quantity."""
SETTINGS = ((1.0, 1.0), (2.0, 1.0), (1.0, 0.1))
"""S and λ of the worlds in which the interval is judged."""
KERNELS = {"log det by rounds": "its limit H̃", "log det as printed": "H as printed"}
"""What Lemma C.3's effective dimension is computed from, by the audits' quantity."""
IN_WORLDS = ((WORLDS, LABELS),)

WORDS = texts.read("olranknet", "theorems", DOUBLINGS=DOUBLINGS, RATE=RATE)
THEOREMS = worded(
    WORDS,
    theorem(
        "ORT1",
        Size(rounds=80, seeds=100, folds=1),
        Part(
            tuple(
                _covered(quantity, word, truth, *setting)
                for (quantity, word), truth, setting in product(INTERVALS.items(), TRUTHS, SETTINGS)
            ),
            IN_WORLDS,
        ),
    ),
    theorem(
        "ORT2",
        Size(rounds=80, seeds=100, folds=1),
        *(
            Part(tuple(_covered(*each, truth, *setting) for truth, setting in product(TRUTHS, SETTINGS)), IN_WORLDS)
            for each in KERNELS.items()
        ),
    ),
    theorem(
        "ORT3",
        Size(rounds=1024, seeds=32, folds=1),
        Part(
            tuple(
                Contrast(
                    f"fall of the distance, L = {depth}",
                    WorldMeasure(ITEM, "from H", _in("kernel", depth=depth)),
                    POWER,
                    falls,
                )
                for depth in (2, 3)
            ),
            ((WORLDS, "networks at the start"),),
        ),
    ),
)
