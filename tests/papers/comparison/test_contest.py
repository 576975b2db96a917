"""The contest: what a look decides, that the error of repeated looks holds, and who gets more seeds."""

import numpy as np
import pandas as pd
import pytest

from ol2r.papers.comparison import contest, grid
from ol2r.papers.comparison.contest import LEVEL, LOOKS, WITHIN, contests, granted, had_in, levels, standing
from ol2r.papers.comparison.measures import of_runs

FOLDS, ONE = LOOKS[False], LOOKS[True]


def runs_of(values):
    """Float[folds, seeds] as one number for each run."""
    folds, seeds = np.shape(values)
    index = pd.MultiIndex.from_product([range(1, folds + 1), range(seeds)], names=["fold", "seed"])
    return pd.Series(np.ravel(values), index=index)


@pytest.mark.parametrize("looks", LOOKS.values())
def test_the_levels_of_all_looks_add_up_to_the_level(looks):
    assert sum(levels(looks)) == pytest.approx(LEVEL) and min(levels(looks)) > 0
    assert levels(looks)[-1] == pytest.approx(LEVEL * (1 - looks[-2] / looks[-1]))


@pytest.mark.parametrize(("folds", "looks"), [(5, FOLDS), (1, ONE)])
@pytest.mark.parametrize(("true", "wrong"), [(0.0, "apart"), (WITHIN, "equivalent"), (-WITHIN, "equivalent")])
def test_no_state_is_reached_wrongly_more_often_than_the_level_over_all_looks(folds, looks, true, wrong):
    """Differences of a spread that decides some of them at every look; fixed looks of 5 % each would err more often."""
    rng = np.random.default_rng(5)
    spread = 0.02 if folds == 5 else 0.01
    n, errors, naive = 400, 0, 0
    for _ in range(n):
        own = runs_of(true + spread * rng.standard_normal((folds, looks[-1])))
        errors += standing(own, looks).state == wrong
        if wrong == "apart":
            at = own.index.get_level_values("seed")
            naive += any(contest.effect_over_runs(own[at < look]).interval(0.95)[0] > 0 for look in looks)
    allowed = LEVEL + 3 * (LEVEL * (1 - LEVEL) / n) ** 0.5
    assert errors / n <= allowed
    if wrong == "apart":
        assert naive > errors


def test_a_clear_lead_is_apart_a_narrow_difference_equivalent_and_a_wide_one_open():
    spread = np.tile([-1.0, 0.0, 1.0], (5, 1))
    assert standing(runs_of(0.02 + 1e-4 * spread), FOLDS).state == "apart"
    assert standing(runs_of(0.0 + 1e-3 * spread), FOLDS).state == "equivalent"
    found = standing(runs_of(0.002 + 0.02 * spread), FOLDS)
    assert found.state == "open" and found.seeds == 3 and found.needed > 3
    assert standing(runs_of(0.02 + 1e-4 * spread[:, :2]), FOLDS) is None  # before the first look


def test_what_was_decided_at_a_look_stands():
    early = np.tile([0.019, 0.02, 0.021], (5, 1))
    late = np.full((5, 2), -0.04)
    found = standing(runs_of(np.hstack([early, late])), FOLDS)
    assert found.state == "apart" and found.seeds == 5 and found.lead < 0


def test_who_is_open_gets_the_seeds_of_the_next_look_and_so_does_the_best():
    lines = []
    for variant, plus, spread in (("PairRank", 0.02, 0.0), ("PDGD", 0.019, 0.02), ("DBGD", -0.2, 0.001)):
        for kind in grid.USERS:
            for fold in (1, 2):
                for seed in range(3):
                    score = 0.5 + plus + spread * (seed - 1)
                    shared = {"dataset": "MQ2008", "users": kind, "variant": variant, "fold": fold, "seed": seed}
                    lines += [shared | {"cell": variant + kind, "round": t, "ndcg": score, "cndcg": score * t}
                              | {"misordered": 0.0, "status": "ok"} for t in (0, 10, 100)]  # fmt: skip
    runs = of_runs(pd.DataFrame(lines))
    found = contests(runs, {"MQ2008": 2})
    assert {one.best for one in found if one.situation.column == "offline"} == {"PairRank"}
    assert all(one.of("open") == ["PDGD"] and one.of("apart") == ["DBGD"] for one in found
               if one.situation.column == "offline")  # fmt: skip
    had = had_in(runs)
    assert had == {("MQ2008", name): 3 for name in ("PairRank", "PDGD", "DBGD")}
    seeds = granted(found, had, {"MQ2008": 2})
    assert (seeds["MQ2008", "PDGD"], seeds["MQ2008", "PairRank"], seeds["MQ2008", "DBGD"]) == (5, 5, 3)


def test_a_look_is_taken_once_every_fold_has_its_seeds():
    runs = [(fold, seed) for fold in (1, 2) for seed in range(5 if fold == 1 else 3)]
    index = pd.MultiIndex.from_tuples(runs, names=["fold", "seed"])
    found = standing(pd.Series([0.01 + 0.001 * (seed % 3) for _, seed in runs], index=index), (3, 5, 10))
    assert found is not None and found.seeds == 3


def test_more_seeds_are_granted_at_looks_alone_and_to_learners_that_are_compared():
    for (dataset, variant), n in contest.listed().items():
        assert dataset in (*grid.DATASETS, *grid.ELSEWHERE, *grid.LINEAR_ELSEWHERE) and variant in grid.COMPARED
        assert n in FOLDS or n in ONE


def test_a_place_names_the_nearest_rival_and_one_that_was_not_run_meets_no_condition():
    standings = {"B": contest.Standing("open", 0.01, -0.1, 0.1, 3, 5.0), "C": contest.NOT_RUN._replace(lead=0.02)}
    situation = contest.ON_OTHER_DATA[0]
    one = contest.Contest(situation, "MQ2008", "A", standings, {})
    assert contest.at([one], situation, "MQ2008") == one and one.nearest == "B" and one.to("B").lead == 0.01
    other = contest.at([one], situation, "MQ2007")
    assert other.best == other.nearest == "" and other.to("B") is contest.NOT_RUN
