"""The lemmas of the P²NeurRank paper as rules on the tables of the audits.

The rules were declared before the audits had run at full length. All are judged for the linear ranker of the paper's
analysis, in worlds where labels are as assumed. This module names the item of the audits and does not import it.
"""

from itertools import product

from ol2r.experiments.claims import (
    OF_WORLDS,
    WORLDS,
    Claim,
    Contrast,
    Part,
    Scale,
    Size,
    WorldMeasure,
    covered,
    worded,
)
from ol2r.papers import texts

ITEM = "audits"
LABELS = "labels of the model"
WITHIN = 0.02
"""How near to one the mean ratio of variances must be."""
EXCESS = Scale("nearness of a ratio of variances to one")


def theorem(name: str, size: Size, *contrasts: Contrast) -> Claim:
    return Claim("p2neurrank", name, (Part(contrasts, ((WORLDS, LABELS),)),), size)


def _measure(audit: str, quantity: str, look: int = -1, **labels: str | float) -> WorldMeasure:
    return WorldMeasure(ITEM, quantity, (("audit", audit), *labels.items()), look)


def _optimistic(beta: float) -> Contrast:
    measure = _measure("optimism", "N of the lemma", beta=beta)
    return Contrast(f"worlds with an optimistic ranker − (1 − δ), β = {beta:g}", measure, OF_WORLDS, covered)


def _bounded(quantity: str, told: str) -> tuple[Contrast, ...]:
    """Of every strength of the noise and number of rankers, and then of another unit of scores."""
    ratio = f"ratio, {quantity}"
    found = []
    for (noise, beta), rankers in product(STRENGTHS, (2, 5)):
        strength = f"β = {beta:g}" if beta else f"ν² = {noise:g}"
        measure = _measure("uncertain", ratio, noise=noise, beta=beta, rankers=rankers)
        name = f"worlds within the {told} − (1 − δ), N = {rankers}, {strength}"
        found.append(Contrast(name, measure, OF_WORLDS, covered))
    measure = _measure("uncertain, other units", ratio, steepness=STEEPNESS, rankers=2)
    name = f"worlds within the {told} − (1 − δ), N = 2, link σ({STEEPNESS:g} z)"
    found.append(Contrast(name, measure, OF_WORLDS, covered))
    return tuple(found)


TAIL_HOLDS = (0.5, 1.0, 1.5)
TAIL_FAILS = (0.15, 0.2)
"""β at which e^{−β²}/(4√πβ) is below P(Z > β), and at which it is above."""
STRENGTHS = ((0.1, 0.0), (0.0, 0.5))
"""(ν², β) at which uncertain orders are counted: the experiments' ν², and the ν of the lemma's order."""
STEEPNESS = 0.03
"""s of the link σ(s z) with which they are counted too: the same worlds with scores in other units."""

OF_VARIANCE = Size(rounds=300, seeds=100, folds=1)
OF_RANKERS = Size(rounds=100, seeds=200, folds=1)
OF_ORDERS = Size(rounds=100_000, seeds=100, folds=1)

WORDS = texts.read("p2neurrank", "theorems", AT_LEAST=1 / max(TAIL_FAILS), WITHIN=WITHIN)
THEOREMS = worded(
    WORDS,
    theorem(
        "PPT1",
        OF_VARIANCE,
        *(
            Contrast(
                f"ratio − 1, {told}, λ = {regularization:g}",
                _measure("variance", "all perturbed", look, regularization=regularization) - 1.0,
                EXCESS,
                within=WITHIN,
            )
            for regularization in (1.0, 0.1)
            for told, look in (("after one round", 0), ("after the last", -1))
        ),
    ),
    theorem("PPT2", OF_RANKERS, *map(_optimistic, TAIL_HOLDS)),
    theorem("PPT3", OF_ORDERS, *_bounded("bound of the proof", "proof")),
    theorem("PPT4", OF_RANKERS, *map(_optimistic, TAIL_FAILS)),
    theorem("PPT5", OF_ORDERS, *_bounded("bound as printed", "statement")),
)
