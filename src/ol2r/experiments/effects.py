"""Estimates with their uncertainty: means of runs, paired differences and ratios of deviations.

A run is one (fold, seed). Inference is about seeds within the folds of the data set at hand: folds are strata of equal
weight and are never resampled, except in `fold_effect` and `ratio_effect`, which treat the folds as a sample. This
module must not know what is compared.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

import numpy as np
import pandas as pd
from scipy import special

RESAMPLES = 2000


class TooFewSeeds(ValueError):
    """An interval over seeds within folds needs at least two seeds in every fold."""


class Estimate(Protocol):
    """A number with its uncertainty, over folds × seeds runs."""

    @property
    def estimate(self) -> float: ...

    @property
    def standard_error(self) -> float: ...

    @property
    def folds(self) -> int: ...

    @property
    def seeds(self) -> int: ...

    def interval(self, level: float = 0.95) -> tuple[float, float]: ...

    def p_below(self, margin: float = 0.0) -> float: ...


@dataclass(frozen=True)
class Effect:
    """An estimate with a standard error and the degrees of freedom of its t distribution, over folds × seeds runs."""

    estimate: float
    standard_error: float
    degrees: float
    folds: int
    seeds: int

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """estimate ± t · standard error, with t the (1 + level)/2 quantile."""
        half = float(special.stdtrit(self.degrees, 0.5 + level / 2)) * self.standard_error
        return self.estimate - half, self.estimate + half

    def p_below(self, margin: float = 0.0) -> float:
        """One-sided p-value of the hypothesis that the effect is above the margin: small where it lies below.

        The p-value is under 2.5 % exactly where the 95 % interval lies below the margin. Without any spread the
        estimate is the effect itself, and the p-value is 1 where it is above the margin, else 0.
        """
        if self.standard_error == 0:
            return float(self.estimate > margin)
        return float(special.stdtr(self.degrees, (self.estimate - margin) / self.standard_error))


@cache
def share_interval(held: int, worlds: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of Clopper and Pearson for the share of worlds in which something holds.

    It is kept, because a figure asks for the same few counts thousands of times and each takes a search.
    """
    from scipy import stats  # here, because it takes longer to load than all else that judges

    interval = stats.binomtest(held, worlds).proportion_ci(level)
    return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class Share:
    """The share of simulated worlds in which a statement held, minus the nominal share; its interval is exact.

    Attributes:
        held, seeds: the number of worlds in which the statement held, and of all worlds.
        nominal: the share that theory promises at least.
    """

    held: int
    seeds: int
    nominal: float
    folds: int = 1

    @property
    def estimate(self) -> float:
        return self.held / self.seeds - self.nominal

    @property
    def standard_error(self) -> float:
        """The standard error of the share, with half a world added to either side so that it is never 0."""
        share = (self.held + 0.5) / (self.seeds + 1)
        return (share * (1 - share) / self.seeds) ** 0.5

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval of Clopper and Pearson, minus the nominal share."""
        low, high = share_interval(self.held, self.seeds, level)
        return low - self.nominal, high - self.nominal

    def p_below(self, margin: float = 0.0) -> float:
        """One-sided exact p-value of the hypothesis that the share is at least nominal + margin."""
        from scipy import stats  # as in `share_interval`

        return float(stats.binom.cdf(self.held, self.seeds, min(max(self.nominal + margin, 0.0), 1.0)))


@dataclass(frozen=True)
class Nearness:
    """How near an effect is to 0, as within − |effect|: positive where the effect is nearer to 0 than `within`."""

    effect: Estimate
    within: float

    @property
    def estimate(self) -> float:
        return self.within - abs(self.effect.estimate)

    @property
    def standard_error(self) -> float:
        return self.effect.standard_error

    @property
    def folds(self) -> int:
        return self.effect.folds

    @property
    def seeds(self) -> int:
        return self.effect.seeds

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The range of within − |x| for x in the effect's interval."""
        low, high = self.effect.interval(level)
        nearest = max(low, -high, 0.0)
        return self.within - max(-low, high), self.within - nearest

    def p_below(self, margin: float = 0.0) -> float:
        """One-sided p-value of the hypothesis that the effect is nearer to 0 than within − margin."""
        reach = self.within - margin
        return min(self.effect.p_below(-reach), 1 - self.effect.p_below(reach))


@dataclass(frozen=True)
class RatioOfMeans:
    """The ratio of two means over the same sample, with Fieller's interval.

    The interval holds every r for which the mean of a − r b is not significantly different from 0. If the mean of b is
    not significantly different from 0 either, the interval has no upper end.

    Attributes:
        mean_a, mean_b: means of the numerator a and the denominator b.
        var_a, var_b, covariance: variances and covariance of these means.
        folds: size of the sample; seeds: runs behind each member of the sample.
    """

    mean_a: float
    mean_b: float
    var_a: float
    var_b: float
    covariance: float
    folds: int
    seeds: int

    @property
    def estimate(self) -> float:
        return self.mean_a / self.mean_b

    @property
    def standard_error(self) -> float:
        """The standard error of the ratio, to first order."""
        return self._error(self.estimate) / abs(self.mean_b)

    def _error(self, r: float) -> float:
        """Standard error of the mean of a − r b."""
        return max(self.var_a - 2 * r * self.covariance + r * r * self.var_b, 0.0) ** 0.5

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The roots of (ā − r b̄)² = t² var(a − r b)."""
        square = float(special.stdtrit(self.folds - 1, (1 + level) / 2)) ** 2
        a = self.mean_b**2 - square * self.var_b
        b = self.mean_a * self.mean_b - square * self.covariance
        c = self.mean_a**2 - square * self.var_a
        if a <= 0:
            return -np.inf, np.inf
        half = max(b * b - a * c, 0.0) ** 0.5
        return (b - half) / a, (b + half) / a

    def p_below(self, margin: float = 0.0) -> float:
        """One-sided p-value of the hypothesis that the mean of a is at least `margin` times the mean of b > 0."""
        distance, error = self.mean_a - margin * self.mean_b, self._error(margin)
        if error == 0:
            return float(distance > 0)
        return float(special.stdtr(self.folds - 1, distance / error))


def _fold_codes(index: pd.Index) -> tuple[np.ndarray, pd.Index]:
    """Of runs indexed by (fold, seed) the code of each one's fold, and the folds that codes stand for."""
    runs = cast(pd.MultiIndex, index)
    level = runs.names.index("fold")
    return np.asarray(runs.codes[level]), runs.levels[level]


def _strata(index: pd.Index) -> tuple[np.ndarray, np.ndarray]:
    """The fold number (0-based) of every run, and the number of runs in each fold."""
    fold = pd.factorize(_fold_codes(index)[0])[0]  # codes name levels, which all differ
    sizes = np.bincount(fold)
    if sizes.min() < 2:
        raise TooFewSeeds("fewer than two seeds in a fold")
    return fold, sizes


def fold_means(values: pd.Series) -> pd.Series:
    """The mean of every fold's runs, by fold in ascending order.

    The same as `values.groupby("fold").mean()`, which takes ten times as long for so few values.

    Args:
        values: one finite number for each run, indexed by (fold, seed).
    """
    means, codes = _means(values)
    return pd.Series(means, index=_fold_codes(values.index)[1][codes])


def means_of_folds(values: pd.Series, runs: pd.Index) -> np.ndarray:
    """For each run the mean of its fold's values: Float64[runs], NaN where no value is of that fold.

    Args:
        values: one finite number for each run, indexed by (fold, seed), of any runs.
        runs: index (fold, seed).
    """
    own, folds = _fold_codes(runs)
    means, codes = _means(values)
    places = _fold_codes(values.index)[1][codes].get_indexer(folds)
    return np.where(places < 0, np.nan, means[places])[own]


def _means(values: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """The mean of every fold's runs in ascending order of folds, and the codes of these folds."""
    codes, _ = _fold_codes(values.index)
    numbers = values.to_numpy(float)
    if (codes[1:] < codes[:-1]).any():
        order = np.argsort(codes, kind="stable")
        codes, numbers = codes[order], numbers[order]
    if not len(codes):
        return numbers, codes
    starts = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    return np.add.reduceat(numbers, starts) / np.diff(starts, append=len(codes)), codes[starts]


def _variances(values: np.ndarray, fold: np.ndarray, folds: int) -> np.ndarray:
    """The variance (with n − 1) of every fold's values after Welford, as the group-by of pandas has it, bit for bit."""
    n, mean, squares = ([0.0] * folds for _ in range(3))
    for f, value in zip(fold.tolist(), values.tolist(), strict=True):
        n[f] += 1
        before = mean[f]
        mean[f] += (value - before) / n[f]
        squares[f] += (value - mean[f]) * (value - before)
    return np.array(squares) / (np.array(n) - 1)


def mean_effect(values: pd.Series) -> Effect:
    """Mean over folds of the fold means, with its stratified standard error.

        d̄ = Σ_f d̄_f / F,   se² = Σ_f s_f² / (n_f F²),   degrees of freedom after Satterthwaite

    Args:
        values: one number for each run, indexed by (fold, seed); a paired difference for a comparison.

    Raises:
        TooFewSeeds: a fold has fewer than two.
        ValueError: a run's number is not finite.
    """
    fold, sizes = _strata(values.index)
    numbers = values.to_numpy(float)
    if not np.isfinite(numbers).all():
        raise ValueError("a mean over runs needs a finite number of each")
    variances = _variances(numbers, fold, len(sizes)) / sizes / len(sizes) ** 2
    total = float(variances.sum())
    degrees = total**2 / float((variances**2 / (sizes - 1)).sum()) if total > 0 else float((sizes - 1).sum())
    return Effect(float(_means(values)[0].mean()), total**0.5, degrees, len(sizes), int(sizes.min()))


def fold_effect(values: pd.Series) -> Effect:
    """Mean over folds of the fold means, with the t interval of a sample of folds.

    For folds that are themselves drawn at random and stand for others, such as a bandit's queries.

    Args:
        values: one number for each run, indexed by (fold, seed).

    Raises:
        TooFewSeeds: fewer than two folds.
    """
    means = fold_means(values)
    if len(means) < 2:
        raise TooFewSeeds("fewer than two folds")
    error = float(means.std(ddof=1)) / len(means) ** 0.5
    return Effect(float(means.mean()), error, len(means) - 1, len(means), _fewest(values.index))


def effect_over_runs(values: pd.Series) -> Effect | None:
    """Mean over folds with its interval over seeds within folds, or over folds where each has one run.

    Args:
        values: one finite number for each run, indexed by (fold, seed).

    Returns:
        None where there are too few runs for either interval.
    """
    for effect_of in (mean_effect, fold_effect):
        with suppress(TooFewSeeds):
            return effect_of(values)
    return None


def resampled_interval(values: pd.Series, name: str, level: float = 0.95) -> tuple[float, float]:
    """The percentile interval of the mean over folds by a bootstrap over folds and over seeds.

    Each resample draws as many folds as there are, with replacement, and as many seeds of each drawn fold as it has,
    with replacement. So the interval allows for other queries as well as for other random draws, while that of
    `mean_effect` is about these folds. Percentiles of few folds are somewhat too narrow.

    Args:
        values: one finite number for each run, indexed by (fold, seed); a paired difference for a comparison.
        name: the name of the bootstrap's stream of random numbers.

    Returns:
        low and high; NaN for fewer than two folds.
    """
    from ol2r.random import generator  # here, because it loads torch, which declaring a claim must not

    values = values.sort_index()
    codes = pd.factorize(_fold_codes(values.index)[0])[0]
    folds = [values.to_numpy(float)[codes == fold] for fold in range(codes.max() + 1)]
    if len(folds) < 2:
        return float("nan"), float("nan")
    random = generator(f"resampled_interval {name}", 0)
    drawn = random.integers(len(folds), size=(RESAMPLES, len(folds)))
    means = np.empty(drawn.shape)
    for fold, own in enumerate(folds):
        here = drawn == fold
        means[here] = own[random.integers(len(own), size=(int(here.sum()), len(own)))].mean(axis=1)
    low, high = np.quantile(means.mean(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def minus(frame: pd.DataFrame, column: str, baseline: object, by: str) -> pd.DataFrame:
    """The rows of all others with the baseline's value taken from `column`, run by run and checkpoint by checkpoint.

    Args:
        frame: dataset, users, fold, seed, round, `by` and `column`.
        baseline: the value of `by` whose runs are subtracted; rows of runs or checkpoints that it lacks are left out.

    Raises:
        ValueError: the baseline has two values for one run and checkpoint.
    """
    runs = ["dataset", "users", "fold", "seed", "round"]
    base = frame[frame[by] == baseline].set_index(runs)[column]
    if base.index.has_duplicates:
        raise ValueError(f"more than one setting of {baseline}: choose one before subtracting it")
    others = frame[frame[by] != baseline]
    taken = base.reindex(pd.MultiIndex.from_frame(others[runs])).to_numpy()
    return others.assign(**{column: others[column] - taken}).dropna(subset=[column])


def final_effects(frame: pd.DataFrame, column: str, by: list[str]) -> pd.DataFrame:
    """Mean with its interval (`effect_over_runs`) after every data set's own last round, for each combination of `by`.

    Args:
        frame: runs, or paired differences of runs (`minus`).

    Returns:
        by, mean, low, high (NaN where there are too few runs), n (number of runs).
    """
    lines = []
    for key, own in at_own_end(frame).groupby(by, sort=False):
        values = own.set_index(["fold", "seed"])[column]
        effect = effect_over_runs(values)
        low, high = effect.interval() if effect else (np.nan, np.nan)
        lines.append((*key, effect.estimate if effect else values.mean(), low, high, len(values)))
    return pd.DataFrame(lines, columns=[*by, "mean", "low", "high", "n"])


def ratio_effect(numerator: pd.Series, denominator: pd.Series) -> RatioOfMeans:
    """The ratio of two numbers' means over folds, where each fold counts with the mean of its runs.

    Args:
        numerator, denominator: a number for each run, indexed alike by (fold, seed); the denominator's mean is
            positive.

    Raises:
        TooFewSeeds: fewer than two folds.
        ValueError: the denominator's mean is not positive.
    """
    if not numerator.index.equals(denominator.index):
        raise ValueError("a ratio needs both numbers of the same runs")
    above, below = fold_means(numerator), fold_means(denominator)
    n = len(above)
    if n < 2:
        raise TooFewSeeds("fewer than two folds")
    mean_a, mean_b = above.mean(), below.mean()
    if not mean_b > 0:
        raise ValueError(f"a ratio needs a denominator of positive mean, not {mean_b:g}")
    (var_a, covariance), (_, var_b) = np.cov(above, below) / n
    fewest = _fewest(numerator.index)
    return RatioOfMeans(float(mean_a), float(mean_b), float(var_a), float(var_b), float(covariance), n, fewest)


def _fewest(index: pd.Index) -> int:
    """The number of runs in the fold that has fewest."""
    return int(np.unique(_fold_codes(index)[0], return_counts=True)[1].min())


def deviation_effect(smaller: pd.DataFrame, larger: pd.DataFrame, name: str) -> Effect:
    """The log ratio of two deviations, each the standard deviation over all runs, averaged over rounds.

        log( ∫ sd(larger) dt / ∫ sd(smaller) dt )

    The standard error comes from a bootstrap that draws n_f − 1 of a fold's n_f seeds with replacement, the same seeds
    for both sides (Rao and Wu, 1988: one draw fewer makes the variance of a mean unbiased in small strata).

    Args:
        smaller, larger: a row for each run, indexed alike by (fold, seed), and a column for each checkpoint, named by
            its round.
        name: the name of the bootstrap's stream of random numbers.

    Raises:
        TooFewSeeds: a fold has fewer than two.
    """
    from ol2r.random import generator  # here, because it loads torch, which declaring a claim must not

    fold, sizes = _strata(smaller.index)
    random = generator(f"deviation_effect {name}", 0)
    counts = np.zeros((RESAMPLES, len(fold)))
    for f, size in enumerate(sizes):
        counts[:, fold == f] = random.multinomial(size - 1, np.full(size, 1 / size), size=RESAMPLES) * size / (size - 1)

    def mean_deviation(runs: pd.DataFrame, weights: np.ndarray) -> np.ndarray:
        values = runs.to_numpy() - runs.to_numpy().mean(axis=0)
        weights = weights / weights.sum(axis=1, keepdims=True)
        variance = weights @ values**2 - (weights @ values) ** 2
        return time_mean(np.sqrt(np.maximum(variance, 0)), runs.columns.to_numpy(dtype=float))

    def log_ratio(weights: np.ndarray) -> np.ndarray:
        return np.log(mean_deviation(larger, weights) / mean_deviation(smaller, weights))

    estimate = float(log_ratio(np.ones((1, len(fold))))[0])
    error = float(log_ratio(counts).std(ddof=1))
    return Effect(estimate, error, float((sizes - 1).sum()), len(sizes), int(sizes.min()))


def time_mean(curves: np.ndarray, rounds: np.ndarray) -> np.ndarray:
    """Mean over time of curves[..., checkpoints], linear between the checkpoints at `rounds`."""
    if len(rounds) == 1:
        return curves[..., 0]
    return np.trapezoid(curves, rounds, axis=-1) / (rounds[-1] - rounds[0])


def summarize(frame: pd.DataFrame, column: str, by: list[str]) -> pd.DataFrame:
    """Mean, deviation and 95 % interval of a column over runs, for every combination of the columns `by`.

    Returns:
        by, mean, deviation (standard deviation over runs, with n − 1), n (number of runs), low and high (mean ±
        t · deviation / √n). If the frame has a status, also diverged: the number of runs that had diverged by then;
        these count with the ranker that they froze. Runs without a value are left out of n.
    """
    columns = {"mean": (column, "mean"), "deviation": (column, "std"), "n": (column, "count")}
    if "status" in frame:
        frame = frame.assign(diverged=diverged(frame))
        columns |= {"diverged": ("diverged", "sum")}
    table = frame.groupby(by, sort=False).agg(**columns).reset_index()
    half = special.stdtrit(np.maximum(table["n"] - 1, 1), 0.975) * table["deviation"] / np.sqrt(table["n"])
    return table.assign(low=table["mean"] - half, high=table["mean"] + half)


def diverged(frame: pd.DataFrame) -> pd.Series:
    """Which rows belong to a replica that had diverged by then and has kept its ranker since: Bool[rows]."""
    return frame["status"] == "diverged" if "status" in frame else pd.Series(False, index=frame.index)


def diverged_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """The (cell, fold, seed) of the runs that diverged at some time, each once."""
    return frame.loc[diverged(frame), ["cell", "fold", "seed"]].drop_duplicates()


def at_end(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the last round of the frame."""
    return frame[frame["round"] == frame["round"].max()]


def at_own_end(frame: pd.DataFrame, *by: str) -> pd.DataFrame:
    """The rows of every data set's own last round, or of each of its runs that have the labels `by` in common."""
    return frame[frame["round"] == frame.groupby(["dataset", *by])["round"].transform("max")]


def windowed(frame: pd.DataFrame, total: str, per: str, width: int | None = None) -> pd.DataFrame:
    """How much a cumulative sum grew in each window between checkpoints, per unit of growth of another sum.

        value = (total_b − total_a) / (per_b − per_a)   in the rounds a + 1 … b

    Args:
        frame: runs, told apart by cell, fold and seed, with `round` and the two cumulative columns, both 0 before the
            first round.
        total, per: names of the two cumulative columns.
        width: rounds in a window; windows end at the checkpoints that are multiples of it and at a cell's own last
            checkpoint (None: every checkpoint ends a window).

    Returns:
        The frame's lines at the ends b of the windows, with `since` (a) and `value` (NaN where `per` did not grow).
    """
    kept = frame.sort_values(["cell", "fold", "seed", "round"], kind="stable")
    kept = kept[kept["round"] > 0]
    if width is not None:
        kept = kept[(kept["round"] % width == 0) | (kept["round"] == kept.groupby("cell")["round"].transform("max"))]
    before = kept.groupby(["cell", "fold", "seed"], sort=False)[["round", total, per]].shift(fill_value=0)
    grown = kept[per] - before[per]
    return kept.assign(since=before["round"], value=(kept[total] - before[total]) / grown.where(grown > 0))
