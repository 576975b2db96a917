"""The lemmas of the P²NeurRank paper as rules on the tables of the audits.

The rules were declared before the audits had run at full length. All are judged for the linear ranker of the paper's
analysis, in worlds where labels are as assumed. This module names the item of the audits and does not import it.
"""

from dataclasses import replace
from itertools import product

from ol2r.experiments.claims import (
    OF_WORLDS,
    WORLDS,
    Claim,
    Contrast,
    Label,
    Part,
    Scale,
    Size,
    WorldMeasure,
    covered,
)

ITEM = "audits"
LABELS = "labels of the model"
WITHIN = 0.02
"""How near to one the mean ratio of variances must be."""
EXCESS = Scale("nearness of a ratio of variances to one")


def theorem(number: int, statement: str, expected: str, size: Size, *parts: Part) -> Claim:
    return Claim("p2neurrank", f"PPT{number}", parts, size, (), statement, expected)


def _measure(audit: str, quantity: str, **labels: str | float) -> WorldMeasure:
    found: tuple[Label, ...] = (("audit", audit), *labels.items())
    return WorldMeasure(ITEM, quantity, found)


def _part(statement: str, *contrasts: Contrast) -> Part:
    return Part(contrasts, ((WORLDS, LABELS),), statement=statement)


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


def _uncertain(number: int, statement: str, expected: str, quantity: str, told: str) -> Claim:
    return theorem(
        number,
        statement,
        expected,
        Size(rounds=100_000, seeds=100, folds=1),
        _part(
            f"share of worlds in which the probability that N rankers do not agree on the right order, the mean over "
            f"pairs, stays below the mean of that bound, as in the {told}, after every number of labels, above 1 − δ; "
            f"also where scores are in other units",
            *_bounded(quantity, told),
        ),
    )


TAIL_HOLDS = (0.5, 1.0, 1.5)
TAIL_FAILS = (0.15, 0.2)
"""β at which e^{−β²}/(4√πβ) is below P(Z > β), and at which it is above."""
STRENGTHS = ((0.1, 0.0), (0.0, 0.5))
"""(ν², β) at which uncertain orders are counted: the experiments' ν², and the ν of the lemma's order."""
STEEPNESS = 0.03
"""s of the link σ(s z) with which they are counted too: the same worlds with scores in other units."""

THEOREMS = (
    theorem(
        1,
        "A.2: where the pseudo-pairs of Eq. 4.1 are perturbed as well, x·A⁻¹ Σ γ x has the variance ν²‖x‖², "
        "in the norm of A⁻¹.",
        f"In simulated worlds the observed variance is that of the lemma: their ratio is less than {WITHIN:g} from 1.",
        Size(rounds=300, seeds=100, folds=1),
        _part(
            "the ratio of the observed variance to that, with noise drawn label by label, the mean over all pairs",
            *(
                Contrast(
                    f"ratio − 1, {told}, λ = {regularization:g}",
                    replace(measure, look=look) - 1.0,
                    EXCESS,
                    within=WITHIN,
                )
                for regularization in (1.0, 0.1)
                for measure in [_measure("variance", "all perturbed", regularization=regularization)]
                for told, look in (("after one round", 0), ("after the last", -1))
            ),
        ),
    ),
    theorem(
        2,
        "Lemma 4.4: of as many rankers as it asks for, one is optimistic about a pair with probability at least 1 − δ "
        "where Lemma 4.2 holds, at a ν of the order k_μ α/c_μ that it asks for or below (with the β of its proof; "
        "pseudo-pairs perturbed).",
        "In a larger share of simulated worlds than 1 − δ one of the rankers is optimistic about the pair.",
        Size(rounds=100, seeds=200, folds=1),
        _part(
            "share of worlds in which one of that many rankers is, at the worst truth that Lemma 4.2 allows, above "
            "1 − δ; β is its proof's, at which its bound on the normal tail is one",
            *(_optimistic(beta) for beta in TAIL_HOLDS),
        ),
    ),
    _uncertain(
        3,
        "Lemma 4.4, as its proof ends: where Lemma 4.2 holds, the order of a pair is uncertain with at most the "
        "probability 2N k_μ² ν² ‖x‖²/(c_μ² c² Δ_min²).",
        "In a larger share of simulated worlds than 1 − δ the probability that an order is uncertain is below this "
        "bound after every number of labels, whatever the unit of scores.",
        "bound of the proof",
        "proof",
    ),
    theorem(
        4,
        "Lemma 4.4 says the same of any ν, also of one that is larger than the order k_μ α/c_μ that it asks for.",
        "In a larger share of simulated worlds than 1 − δ one of the rankers is optimistic about the pair.",
        Size(rounds=100, seeds=200, folds=1),
        _part(
            f"share of worlds in which one of as many rankers as the lemma asks for is, where its bound on the tail is "
            f"above the tail, which takes a ν {1 / max(TAIL_FAILS):g} times as large as that order or larger",
            *(_optimistic(beta) for beta in TAIL_FAILS),
        ),
    ),
    _uncertain(
        5,
        "Lemma 4.4, as printed: the bound on that probability is k_μ² α_t² times as large as in its proof.",
        "In a larger share of simulated worlds than 1 − δ the probability that an order is uncertain is below the "
        "printed bound after every number of labels, whatever the unit of scores.",
        "bound as printed",
        "statement",
    ),
)
