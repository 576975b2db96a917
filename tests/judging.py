"""How a paper's claims come out on invented results."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ol2r.experiments.claims import Claim, Results
from ol2r.experiments.published import printed_numbers
from ol2r.experiments.verdicts import Judgement, judge, judge_all


class Judging:
    """Verdicts on the claims of a paper, beside the numbers that it printed."""

    def __init__(self, package: str, claims: Iterable[Claim]):
        self.numbers, self.claims = printed_numbers(package), tuple(claims)
        self.by_id = {claim.id: claim for claim in self.claims}

    def verdicts(self, results: Mapping[str, Results]) -> dict[str, str]:
        """The verdict on each claim on the paper's data."""
        return {i: found.verdict for i, found in judge_all(self.claims, results, self.numbers).items()}

    def elsewhere(self, results: Mapping[str, Results]) -> dict[str, set[str]]:
        """The verdicts on other data sets, without duplicates."""
        judged = judge_all(self.claims, results, self.numbers)
        return {i: {place.verdict for place in one.elsewhere} for i, one in judged.items()}

    def sides(self, name: str, results: Mapping[str, Results]) -> tuple[list[set[int]], Judgement]:
        """The sides of each part's contrasts, and the judgement."""
        claim = self.by_id[name]
        judged = judge(claim, results, self.numbers)
        return [{o.side for o in judged.tested if o.contrast in part.contrasts} for part in claim.parts], judged


def mirrored(values: Mapping[str, float]) -> dict[str, float]:
    """The same values in the opposite order."""
    return {name: max(values.values()) + min(values.values()) - value for name, value in values.items()}


def moved(results: Mapping[str, Results], item: str, column: str, by: float, **labels: object) -> None:
    """Add to a column in the rows with these labels."""
    frame = results[item].frame
    here = np.logical_and.reduce([np.isin(frame[name], value) for name, value in labels.items()])
    assert here.any()
    frame.loc[here, column] += by


def varied(invented_runs, places: Mapping[tuple, tuple[int, ...]], names: tuple[str, ...], noise: float):
    """A run of every variant, of five folds and ten seeds, with a noise of its own in the column `noise`.

    Args:
        places: by the values of the labels, the checkpoints.
        names: of the labels.
    """
    by_rounds: dict[tuple[int, ...], dict[tuple, float]] = {}
    for key, rounds in places.items():
        by_rounds.setdefault(rounds, {})[key] = 0.0
    frames = [
        invented_runs(keys, names, seeds=10, folds=5, rounds=rounds, deviation=noise, column="noise")
        for rounds, keys in by_rounds.items()
    ]
    return pd.concat(frames, ignore_index=True)
