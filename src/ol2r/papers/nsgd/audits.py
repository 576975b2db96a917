"""Audits of NSGD's theory: each compares a statement of `theory/` with a simulation of the world that it assumes.

Each line of a table holds what theory expects, what was measured, and what a plausible mistake (d for d′, half the
radius, no selection) would have predicted. Two z tell how far the measured value is from theory and from the mistake.
If the second is small, the audit could not have told the mistake from the truth. No learner, data set or click model is
used here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from ol2r.cost import Cost
from ol2r.experiments.cells import OneByOne, Row
from ol2r.random import generator
from ol2r.theory import dueling, sphere


class Finding(NamedTuple):
    """One audited quantity: draws whose mean should be `expected`, and what a named mistake would have predicted."""

    quantity: str
    expected: float
    mistake: str
    mistaken: float
    draws: np.ndarray


def world(rng: np.random.Generator, dimension: int, null_dimension: int, energy: float) -> tuple[np.ndarray, ...]:
    """A random null space and a unit gradient with the given share of its energy outside.

    Returns:
        (basis of N: Float64[d', d], gradient g: Float64[d], its direction within N: Float64[d]).
    """
    frame = sphere.random_basis(rng, dimension, dimension)
    basis, outside = frame[:null_dimension], frame[null_dimension:]
    within = sphere.unit_vectors(rng, null_dimension) @ basis
    gradient = np.sqrt(1 - energy) * within
    if energy > 0:
        gradient = gradient + np.sqrt(energy) * sphere.unit_vectors(rng, len(outside)) @ outside
    return basis, gradient, within


def smoothing(rng: np.random.Generator, samples: int, dimension: int, delta: float) -> Iterator[Finding]:
    """The gradient of a smoothed step function estimated from a sphere, and the second moments of two estimates.

    Ranking metrics consist of such steps.
    """
    normal = sphere.unit_vectors(rng, dimension)
    u = sphere.unit_vectors(rng, samples, dimension)
    height, d = 0.3 * delta / np.sqrt(dimension), dimension  # the step lies this far along its normal

    def smoothed(radius: float) -> float:
        return sphere.ball_marginal_density(height / radius, d) / radius

    stepped = d / delta * (delta * u @ normal > height) * (u @ normal)
    yield Finding("gradient of a smoothed step", smoothed(delta), "half the radius", smoothed(delta / 2), stepped)
    value, slope = 0.5, u @ normal
    one = (d / delta * (value + delta * slope)) ** 2
    excess = dueling.one_point_excess(d, value, delta)
    whole = 1 + dueling.spread(d, 1)
    yield Finding("second moment, one point", whole + excess, "f(w) left out", whole, one)
    yield Finding("second moment, difference", whole, "f(w) left in", whole + excess, (d * slope) ** 2)


def null_space(
    rng: np.random.Generator, samples: int, dimension: int, null_dimension: int, delta: float
) -> Iterator[Finding]:
    """The gradient from the sphere of a subspace, for a cubic utility f(w) = ⟨a, w⟩³/6 + ⟨b, w⟩ at w = 0."""
    basis, a, along = world(rng, dimension, null_dimension, energy=0.5)
    b = 0.01 * sphere.unit_vectors(rng, dimension)
    u = sphere.unit_vectors(rng, samples, null_dimension) @ basis
    change = (delta * u @ a) ** 3 / 6 + delta * u @ b
    third = np.einsum("i,j,k->ijk", a, a, a)
    everywhere = float(along @ b + delta**2 / (2 * (dimension + 2)) * along @ a)  # ∇f_δ along P a, as ‖a‖ = 1
    gap = float(along @ dueling.smoothing_gap(third, basis, delta))
    draws = null_dimension / delta * change * (u @ along)
    right = everywhere + gap
    yield Finding("mean along P a", right, "d for d′", right * dimension / null_dimension, draws)
    yield Finding("gap to P ∇f_δ", gap, "no gap", 0.0, draws - everywhere)


def error(
    rng: np.random.Generator,
    samples: int,
    dimension: int,
    null_dimension: int,
    energy: float,
    directions: int,
    orthogonal: bool,
) -> Iterator[Finding]:
    """The squared error of a mean of null-space estimates of a linear utility's gradient."""
    basis, gradient, _ = world(rng, dimension, null_dimension, energy)
    if orthogonal:
        u = sphere.basis_vectors(rng, samples, basis, directions)
    else:
        u = sphere.unit_vectors(rng, samples, directions, null_dimension) @ basis
    slopes = u @ gradient
    estimate = null_dimension * np.einsum("sm,smd->sd", slopes, u) / directions
    setting = (null_dimension, directions, orthogonal)
    scale = 1 / (1 + dueling.spread(*setting))
    yield Finding(
        "squared error",
        dueling.squared_error(energy, *setting),
        "d for d′",
        dueling.squared_error(energy, dimension, directions, orthogonal),
        ((estimate - gradient) ** 2).sum(axis=1),
    )
    yield Finding(
        "squared error, best scaled",
        dueling.best_scaled_error(energy, *setting),
        "bias left out",
        dueling.best_scaled_error(0.0, *setting),
        ((scale * estimate - gradient) ** 2).sum(axis=1),
    )
    share = (1 - energy) / null_dimension
    yield Finding(
        "second moment along g", share, "d for d′", share * null_dimension / dimension, (slopes**2).mean(axis=1)
    )


def _span_share(directions: np.ndarray, unit: np.ndarray) -> np.ndarray:
    q = np.linalg.qr(np.swapaxes(directions, 1, 2)).Q
    return ((unit @ q) ** 2).sum(axis=1)


def _odds(share: np.ndarray) -> np.ndarray:
    return share / (1 - share)


def losers(rng: np.random.Generator, samples: int, dimension: int, lost: int, stored: int) -> Iterator[Finding]:
    """The gradient's energy in the span of directions that lost, for a linear utility without noise."""
    gradient = sphere.unit_vectors(rng, dimension)
    u = sphere.unit_vectors(rng, samples, lost, dimension)
    cosine = -np.abs(u @ gradient)
    u = u * np.where(u @ gradient > 0, -1.0, 1.0)[..., None]  # a direction loses exactly when its opposite wins

    chance = dueling.energy_odds(dueling.loser_alignment(dimension), dimension, stored)
    any_losers = _span_share(u[:, :stored], gradient)
    yield Finding("share, any losers", stored / dimension, "mean odds as a share", chance / (1 + chance), any_losers)
    yield Finding("odds, any losers", chance, "mean share as odds", stored / (dimension - stored), _odds(any_losers))
    worst = np.take_along_axis(u, cosine.argsort(axis=1)[:, :stored, None], axis=1)
    aligned = dueling.worst_loser_alignment(dimension, lost, stored)
    expected = dueling.energy_odds(aligned, dimension, stored)
    yield Finding("odds, worst losers", expected, "no selection", chance, _odds(_span_share(worst, gradient)))
    mean = u[:, :stored].mean(axis=1)
    pull = 2 * dueling.win_constant(dimension)
    yield Finding("cosine of a loser", -pull, "c for 2c", -pull / 2, mean @ gradient)
    yield Finding(
        "squared norm of the mean loser",
        pull**2 / dueling.mean_loser_efficiency(dimension, stored),
        "sign left out",
        1 / stored,
        (mean**2).sum(axis=1),
    )


def margin_losers(
    rng: np.random.Generator, samples: int, dimension: int, stored: int, margin: float
) -> Iterator[Finding]:
    """As `losers`, but a direction loses unless its cosine with the gradient reaches a margin."""
    gradient = sphere.unit_vectors(rng, dimension)
    u = sphere.unit_vectors(rng, samples * stored, dimension)
    won = np.flatnonzero(u @ gradient >= margin)
    while len(won):
        u[won] = sphere.unit_vectors(rng, len(won), dimension)
        won = won[u[won] @ gradient >= margin]
    expected = dueling.energy_odds(dueling.loser_alignment(dimension, margin), dimension, stored)
    chance = dueling.energy_odds(dueling.loser_alignment(dimension), dimension, stored)
    share = _span_share(u.reshape(samples, stored, dimension), gradient)
    yield Finding("odds, losers by a margin", expected, "no margin", chance, _odds(share))


def duel(
    rng: np.random.Generator, samples: int, dimension: int, null_dimension: int, energy: float, sharpness: float
) -> Iterator[Finding]:
    """The mean update of a duel in the null space: certain, and with a logistic link."""
    basis, gradient, within = world(rng, dimension, null_dimension, energy)
    u = sphere.unit_vectors(rng, samples, null_dimension) @ basis
    slope = u @ gradient
    constant = dueling.win_constant(null_dimension)
    won = slope > 0
    yield Finding("certain duel, along P g", constant, "d for d′", dueling.win_constant(dimension), won * (u @ within))
    expected = constant * np.sqrt(1 - energy)
    yield Finding("certain duel, along g", expected, "bias left out", constant, won * slope)
    aside = basis[0] - (basis[0] @ within) * within
    yield Finding("certain duel, aside", 0.0, "the mean along P g", constant, won * (u @ aside) / np.linalg.norm(aside))
    linked = dueling.linked_win_constant(null_dimension, special.expit, sharpness * np.sqrt(1 - energy))
    chosen = rng.random(samples) < special.expit(sharpness * slope)
    yield Finding("logistic duel, along P g", linked, "no noise", constant, chosen * (u @ within))


def best_of(
    rng: np.random.Generator, samples: int, dimension: int, null_dimension: int, energy: float, candidates: int
) -> Iterator[Finding]:
    """The advance of a round that moves to the best of several null-space directions, if it beats the current one."""
    basis, gradient, _ = world(rng, dimension, null_dimension, energy)
    slopes = sphere.unit_vectors(rng, samples, candidates, null_dimension) @ basis @ gradient
    kept = np.sqrt(1 - energy)
    yield Finding(
        "advance along g",
        kept * dueling.expected_progress(null_dimension, candidates),
        "one candidate too many",
        kept * dueling.expected_progress(null_dimension, candidates + 1),
        slopes.max(axis=1).clip(min=0.0),
    )


def preselection(
    rng: np.random.Generator, samples: int, dimension: int, null_dimension: int, proposals: int, kept: int
) -> Iterator[Finding]:
    """Directions kept for their largest |⟨x̄, u⟩|: no sign, more energy along P x̄, and a tilted gradient."""
    basis, gradient, within = world(rng, dimension, null_dimension, energy=0.25)
    aggregate = sphere.unit_vectors(rng, dimension) + within  # neither along P g nor across it
    along = basis.T @ (basis @ aggregate)
    along /= np.linalg.norm(along)
    coordinates = sphere.unit_vectors(rng, samples, proposals, null_dimension)
    largest = np.abs(coordinates @ (basis @ aggregate)).argsort(axis=1)[:, -kept:, None]
    u = np.take_along_axis(coordinates, largest, axis=1) @ basis
    energy = dueling.preselected_energy(null_dimension, proposals, kept)
    cosines = u @ along
    yield Finding("mean along P x̄", 0.0, "a sign", energy, cosines.mean(axis=1))
    yield Finding("energy along P x̄", energy, "no selection", 1 / null_dimension, (cosines**2).mean(axis=1))
    matrix = dueling.preselection_matrix(basis, aggregate, proposals, kept)
    estimate = null_dimension * np.einsum("sm,smd->sd", u @ gradient, u) / kept
    projector = basis.T @ basis
    aside = within - (within @ along) * along
    for name, axis in (("along P x̄", along), ("aside", aside / np.linalg.norm(aside))):
        right, wrong = float(axis @ matrix @ gradient), float(axis @ projector @ gradient)
        yield Finding(f"gradient estimate {name}", right, "no selection", wrong, estimate @ axis)


AUDITS: dict[str, Callable[..., Iterator[Finding]]] = {
    "smoothing": smoothing,
    "null space": null_space,
    "error": error,
    "losers": losers,
    "losers by a margin": margin_losers,
    "duel": duel,
    "best of": best_of,
    "preselection": preselection,
}
_SECONDS_A_DRAW = {"losers": 1.5e-4, "losers by a margin": 6e-5, "preselection": 1e-5, "duel": 5e-7}


@dataclass(frozen=True)
class Audit(OneByOne):
    """One audit at one setting. Each row is a repetition with other draws.

    Its table: fold, seed, quantity, expected, measured, standard_error, z, mistake, mistaken, z_mistaken.

    Args:
        name: a key of `AUDITS`.
        parameters: (name, value) pairs of that audit's arguments.
        samples: number of draws of each quantity.
    """

    name: str
    parameters: tuple[tuple[str, int | float | bool], ...]
    samples: int

    kind: ClassVar[str] = "audit"
    code: ClassVar[tuple[str, ...]] = ("ol2r.random", "ol2r.theory", "ol2r.papers.nsgd.audits")

    @property
    def group(self) -> str:
        """Audits of one name share a group."""
        return self.name

    def labels(self) -> dict[str, str | float | int]:
        """The audit's name, its parameters and the number of draws."""
        return {"audit": self.name, **dict(self.parameters), "samples": self.samples}

    def cost(self, rows: Sequence[Row], device: str = "cpu") -> Cost:
        """The cost of a few random vectors for each draw, on the CPU whatever the device."""
        return Cost(0.01 + self.samples * _SECONDS_A_DRAW.get(self.name, 2e-6)).of(len(rows))

    def table(self, rows: Sequence[Row]) -> pd.DataFrame:
        """The findings of every row."""
        return pd.concat([self._table(row) for row in rows], ignore_index=True)

    def _table(self, row: Row) -> pd.DataFrame:
        rng = generator(self.describe(), row.seed)
        lines = []
        for finding in AUDITS[self.name](rng, self.samples, **dict(self.parameters)):
            measured = float(finding.draws.mean())
            deviation = float(finding.draws.std(ddof=1) / np.sqrt(len(finding.draws)))
            lines.append(
                {
                    "fold": row.fold,
                    "seed": row.seed,
                    "quantity": finding.quantity,
                    "expected": float(finding.expected),
                    "measured": measured,
                    "standard_error": deviation,
                    "z": (measured - finding.expected) / deviation,
                    "mistake": finding.mistake,
                    "mistaken": float(finding.mistaken),
                    "z_mistaken": (measured - finding.mistaken) / deviation,
                }
            )
        return pd.DataFrame(lines)


def holds(table: pd.DataFrame, level: float = 0.001) -> bool:
    """Whether no line of an audit's table is further from theory than chance allows.

    max |z| < Φ⁻¹(1 − level/(2 n)) over the n lines (Bonferroni).
    """
    return bool(table["z"].abs().max() < -special.ndtri(level / (2 * len(table))))


def has_power(table: pd.DataFrame, level: float = 0.001) -> bool:
    """Whether every named mistake would have been reported at the threshold that `holds` applies."""
    return bool(table["z_mistaken"].abs().min() > -special.ndtri(level / (2 * len(table))))


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """One line for each audited quantity: audit, quantity, mistake, lines, largest |z|, smallest |z| of the mistake."""
    table = frame.assign(z=frame["z"].abs(), z_mistaken=frame["z_mistaken"].abs())
    by = table.groupby(["audit", "quantity", "mistake"], sort=False)
    return by.agg(lines=("z", "size"), z=("z", "max"), z_mistaken=("z_mistaken", "min")).reset_index()


def _audit(name: str, samples: int, **parameters: int | float | bool) -> Audit:
    return Audit(name, tuple(parameters.items()), samples)


ENERGIES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)
MARGINS = (-0.1, -0.05, 0.05, 0.1, 0.2, 0.3)
CANDIDATES = (1, 2, 4, 6, 10)


def dueling_audits(tier: str) -> list[Audit]:
    """The audits of the NSGD chapter, at the paper's sizes: d = 46 features, k_g = 25 stored, m = 4 of n = 20.

    The smoke tier has the same lines with fewer draws.
    """
    d, stored = 46, 25
    null = d - stored
    many, few = (2_000, 500) if tier == "smoke" else (200_000, 12_000)
    subspace = {"dimension": d, "null_dimension": null}
    return [
        _audit("smoothing", many, dimension=d, delta=1.0),
        _audit("null space", many, **subspace, delta=1.0),
        *(
            _audit(
                "error",
                few * round((16 / m) ** 0.5),  # draws of fewer directions are noisier
                **subspace,
                energy=energy,
                directions=m,
                orthogonal=orthogonal,
            )
            for m, orthogonal in ((1, False), (4, False), (16, False), (4, True), (16, True))
            for energy in ENERGIES
        ),
        _audit("losers", few // 2, dimension=d, lost=60, stored=stored),
        *(_audit("losers by a margin", few // 2, dimension=d, stored=stored, margin=margin) for margin in MARGINS),
        _audit("duel", many, **subspace, energy=0.5, sharpness=5.0),
        *(
            _audit("best of", few, dimension=d, null_dimension=size, energy=0.0, candidates=m)
            for size in (6, null, d)
            for m in CANDIDATES
        ),
        _audit("preselection", many // 5, **subspace, proposals=20, kept=4),
    ]


def error_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "error of the null-space gradient against the energy it cannot see".

    Args:
        frame: the tables of the "error" audits, each with its cell's labels as columns.

    Returns:
        One line for each setting: `energy`, `directions`, `orthogonal`, `expected`, `measured`, `standard_error` of the
        best scaled squared error; `whole`, the same in the whole space; `threshold`, the energy where the two are
        equal.
    """
    lines = frame.query("audit == 'error' and quantity == 'squared error, best scaled'").reset_index(drop=True)
    drawn = lines.filter(["energy", "directions", "orthogonal", "expected", "measured", "standard_error"])
    drawn = drawn.astype({"directions": int, "orthogonal": bool})  # they were wider where other audits lack them
    settings = list(
        zip(lines["dimension"], lines["null_dimension"], lines["directions"], lines["orthogonal"], strict=True)
    )
    return drawn.assign(
        whole=[dueling.best_scaled_error(0.0, int(d), int(m), bool(o)) for d, _, m, o in settings],
        threshold=[dueling.energy_threshold(int(d), int(null), int(m), bool(o)) for d, null, m, o in settings],
    )


def advance_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "advance of a round against the number of candidates".

    Args:
        frame: the tables of the "best of" audits, each with its cell's labels as columns.

    Returns:
        One line for each setting: `null_dimension`, `candidates`, `expected`, `measured`, `standard_error` of the
        advance along the gradient, in units of the step α.
    """
    lines = frame.query("audit == 'best of'").reset_index(drop=True)
    drawn = lines.filter(["null_dimension", "candidates", "expected", "measured", "standard_error"])
    return drawn.astype({"null_dimension": int, "candidates": int})


def loser_figure(frame: pd.DataFrame) -> pd.DataFrame:
    """Data of the figure "what losing says about a direction": odds of the gradient's energy, over the odds by chance.

    Args:
        frame: the tables of the "losers by a margin" audits, each with its cell's labels as columns.

    Returns:
        One line for each margin: `margin`, and relative to chance `expected`, `measured`, `standard_error`.
    """
    lines = frame.query("audit == 'losers by a margin'").reset_index(drop=True)
    settings = zip(lines["dimension"], lines["stored"], strict=True)
    chance = [dueling.energy_odds(dueling.loser_alignment(int(d)), int(d), int(k)) for d, k in settings]
    relative = lines.filter(["expected", "measured", "standard_error"]).div(chance, axis=0)
    return lines.filter(["margin"]).join(relative)
