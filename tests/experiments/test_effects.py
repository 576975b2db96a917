from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ol2r.experiments.effects import (
    Effect,
    Nearness,
    Share,
    TooFewSeeds,
    at_end,
    deviation_effect,
    effect_over_runs,
    final_effects,
    fold_effect,
    fold_means,
    mean_effect,
    means_of_folds,
    minus,
    ratio_effect,
    resampled_interval,
    summarize,
    time_mean,
    windowed,
)
from ol2r.random import generator


def series(*folds):
    index = [(f + 1, s) for f, values in enumerate(folds) for s in range(len(values))]
    return pd.Series(
        np.concatenate(folds).astype(float), index=pd.MultiIndex.from_tuples(index, names=["fold", "seed"])
    )


def test_one_fold_gives_the_ordinary_t_interval():
    values = [1.0, 2.0, 4.0, 7.0]
    effect = mean_effect(series(values))
    expected = stats.ttest_1samp(values, 0.0)
    assert effect.interval() == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert effect.p_below() == pytest.approx(1 - expected.pvalue / 2)


def test_differences_between_folds_do_not_widen_the_interval():
    effect = mean_effect(series([1.0, 3.0], [101.0, 103.0]))
    assert effect.estimate == (2.0 + 102.0) / 2
    assert effect.standard_error == pytest.approx((2.0 / 2 / 4 + 2.0 / 2 / 4) ** 0.5)
    assert (effect.degrees, effect.folds, effect.seeds) == (pytest.approx(2.0), 2, 2)


def test_equal_differences_have_no_width():
    effect = mean_effect(series([0.5, 0.5], [0.5, 0.5]))
    assert effect.interval() == (0.5, 0.5)
    assert (effect.p_below(0.4), effect.p_below(0.5), effect.p_below(0.6)) == (1.0, 0.0, 0.0)


def uneven(seed, shuffled):
    """Numbers of folds that have from 2 to 40 runs each, in order or not."""
    rng = generator("uneven folds", seed)
    own = series(*(rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4) for n in rng.integers(2, 41, 5)))
    return own.iloc[rng.permutation(len(own))] if shuffled else own


@pytest.mark.parametrize("seed", range(20))
def test_means_of_folds_in_order_are_those_of_a_group_by_to_the_last_bit(seed):
    values = uneven(seed, shuffled=False)
    pd.testing.assert_series_equal(fold_means(values), values.groupby("fold").mean(), check_exact=True)


def test_means_of_folds_do_not_depend_on_the_order_of_runs():
    values = uneven(0, shuffled=True)
    pd.testing.assert_series_equal(fold_means(values), values.groupby("fold").mean())
    some = values[values.index.get_level_values("fold") != 2]  # the index still knows the fold that has no run
    pd.testing.assert_series_equal(fold_means(some), some.groupby("fold").mean())


def test_each_run_is_given_the_mean_of_its_fold_or_none():
    values, runs = uneven(0, shuffled=True), uneven(1, shuffled=True).index
    some = values[values.index.get_level_values("fold") != 2]
    expected = fold_means(some).reindex(runs.get_level_values("fold")).to_numpy()
    np.testing.assert_array_equal(means_of_folds(some, runs), expected)
    assert np.isnan(expected).any() and not np.isnan(expected).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_standard_error_is_that_of_variances_by_group(seed):
    values = uneven(seed, shuffled=False)
    folds = values.groupby("fold")
    effect = mean_effect(values)
    assert effect.estimate == folds.mean().mean()
    assert effect.standard_error == float((folds.var().to_numpy() / folds.size().to_numpy() / 25).sum()) ** 0.5
    assert mean_effect(uneven(seed, shuffled=True)).standard_error == pytest.approx(effect.standard_error)


@pytest.mark.parametrize("degrees", [1.0, 2.5, 40.0, 1e6])
def test_intervals_and_p_values_are_those_of_the_t_distribution(degrees):
    effect = Effect(0.3, 0.2, degrees, 5, 5)
    half = stats.t.ppf(0.95, degrees) * 0.2
    assert effect.interval(0.9) == pytest.approx((0.3 - half, 0.3 + half), rel=1e-12)
    assert effect.p_below(0.5) == pytest.approx(stats.t.cdf(-1.0, degrees), rel=1e-12)


def test_a_ratio_of_numbers_of_different_runs_is_refused():
    with pytest.raises(ValueError, match="same runs"):
        ratio_effect(series([1.0, 2.0], [3.0, 4.0]), series([1.0, 2.0], [3.0]))


def test_a_single_seed_has_no_interval():
    with pytest.raises(TooFewSeeds):
        mean_effect(series([1.0, 2.0], [3.0]))


def test_the_interval_covers_the_mean_as_often_as_it_says():
    rng = generator("coverage", 0)
    hits = [
        low < 0.0 < high
        for draw in rng.standard_normal((400, 5, 4))
        for low, high in [mean_effect(series(*(draw + np.arange(5)[:, None] - 2.0))).interval()]
    ]
    assert np.mean(hits) == pytest.approx(0.95, abs=3 * (0.95 * 0.05 / 400) ** 0.5)


def frames(spread_a, spread_b, seeds=15, folds=5, seed=0):
    rng = generator("deviations", seed)
    index = pd.MultiIndex.from_product([range(1, folds + 1), range(seeds)], names=["fold", "seed"])
    noise = rng.standard_normal((2, folds * seeds))
    noise -= noise.mean(axis=1, keepdims=True)
    noise /= noise.std(axis=1, keepdims=True)
    return tuple(
        pd.DataFrame({100: s[0] * z, 200: s[1] * z}, index=index)
        for s, z in zip((spread_a, spread_b), noise, strict=True)
    )


def test_the_deviation_ratio_is_that_of_the_areas_under_the_curves():
    smaller, larger = frames((1.0, 3.0), (2.0, 8.0))
    effect = deviation_effect(smaller, larger, "test")
    assert effect.estimate == pytest.approx(np.log((2.0 + 8.0) / 2 / ((1.0 + 3.0) / 2)))


def test_the_bootstrap_error_of_a_log_deviation_ratio_is_that_of_normal_samples():
    # the deviation of n normals has a relative error of 1/√(2(n − 1)); two independent ones add in square
    errors = [deviation_effect(*frames((1.0, 1.0), (1.0, 1.0), seed=s), f"{s}").standard_error for s in range(8)]
    assert np.mean(errors) == pytest.approx((2 / (2 * 74)) ** 0.5, rel=0.15)


def test_the_bootstrap_repeats_itself():
    pair = frames((1.0, 1.0), (1.5, 1.0))
    assert deviation_effect(*pair, "same") == deviation_effect(*pair, "same")


def over_folds(folds, seeds, between, within, seed=0):
    rng = generator("resampled", seed)
    index = pd.MultiIndex.from_product([range(1, folds + 1), range(seeds)], names=["fold", "seed"])
    own = between * np.repeat(rng.standard_normal(folds), seeds)
    return pd.Series(own + within * rng.standard_normal(folds * seeds), index)


def test_the_bootstrap_over_folds_and_seeds_has_the_width_of_normal_samples():
    """Its variance is that of means of folds over their number, with the seeds' on top of it once more, both without
    the correction for small samples."""
    folds, seeds, between, within = 40, 6, 1.0, 2.0
    widths = [
        np.diff(resampled_interval(over_folds(folds, seeds, between, within, s), f"{s}"))[0] for s in range(12)
    ]
    of_means = between**2 + within**2 / seeds
    expected = ((of_means * (folds - 1) / folds + within**2 * (seeds - 1) / seeds**2) / folds) ** 0.5
    assert np.mean(widths) == pytest.approx(2 * 1.96 * expected, rel=0.06)


def test_the_bootstrap_over_folds_and_seeds_allows_for_other_folds():
    values = over_folds(8, 50, 1.0, 0.01)
    narrow, wide = mean_effect(values).interval(), resampled_interval(values, "same")
    assert wide == resampled_interval(values, "same") and wide[1] - wide[0] > 20 * (narrow[1] - narrow[0])
    assert wide[0] < values.mean() < wide[1]
    assert all(np.isnan(resampled_interval(values.loc[[1]], "one fold")))
    shuffled = values.sample(frac=1, random_state=0)
    assert resampled_interval(shuffled, "same") == wide


def test_holding_an_effect_against_a_value_agrees_with_its_interval():
    effect = Effect(1.0, 0.5, 10.0, 5, 3)
    low, high = effect.interval()
    assert effect.p_below(high) == pytest.approx(0.025) and effect.p_below(low) == pytest.approx(0.975)


def test_the_time_mean_weighs_unequal_checkpoints_by_their_distance():
    assert time_mean(np.array([0.0, 1.0, 1.0]), np.array([0.0, 10.0, 40.0])) == (5.0 + 30.0) / 40.0
    assert time_mean(np.array([[3.0], [4.0]]), np.array([7.0])).tolist() == [3.0, 4.0]


def test_a_summary_leaves_out_runs_without_a_value():
    frame = pd.DataFrame({"learner": ["a"] * 4, "ndcg": [1.0, 2.0, 3.0, np.nan]})
    row = summarize(frame, "ndcg", ["learner"]).iloc[0]
    assert (row["mean"], row["deviation"], row["n"]) == (2.0, 1.0, 3)
    assert row["high"] - row["mean"] == pytest.approx(stats.t.ppf(0.975, 2) / 3**0.5)


def test_the_end_is_the_last_round():
    frame = pd.DataFrame({"round": [1, 10, 10], "ndcg": [0.0, 1.0, 2.0]})
    assert at_end(frame)["ndcg"].tolist() == [1.0, 2.0]


def counted(n_blocks, checkpoints, cell="a", seed=0):
    """One run whose round t had n_blocks[t − 1] blocks, recorded at some checkpoints as cumulative sums."""
    sums = np.concatenate([[0], np.cumsum(n_blocks)])
    return pd.DataFrame(
        {
            "cell": cell,
            "fold": 1,
            "seed": seed,
            "round": checkpoints,
            "blocks": sums[checkpoints],
            "rounds": checkpoints,
        }
    )


@pytest.mark.parametrize("checkpoints", [[0, 1, 3, 6], [1, 3, 6]])
def test_a_window_is_the_mean_of_the_rounds_between_its_checkpoints(checkpoints):
    table = windowed(counted([7, 1, 2, 3, 4, 11], checkpoints), "blocks", "rounds")
    assert table[["since", "round"]].to_numpy().tolist() == [[0, 1], [1, 3], [3, 6]]
    assert table["value"].tolist() == [7.0, (1 + 2) / 2, (3 + 4 + 11) / 3]


def test_windows_of_a_width_end_at_its_multiples_and_at_the_last_round():
    table = windowed(counted(range(1, 8), [0, 1, 2, 3, 4, 6, 7]), "blocks", "rounds", width=2)
    assert table["round"].tolist() == [2, 4, 6, 7]
    assert table["value"].tolist() == [1.5, 3.5, 5.5, 7.0]


def test_a_cell_that_ends_earlier_keeps_its_last_window():
    frame = pd.concat([counted(range(1, 6), [2, 4, 5]), counted(range(1, 10), [2, 4, 5, 6, 8, 9], cell="b")])
    table = windowed(frame, "blocks", "rounds", width=4)
    assert [own["round"].tolist() for _, own in table.groupby("cell")] == [[4, 5], [4, 8, 9]]
    assert table["value"].tolist() == [2.5, 5.0, 2.5, 6.5, 9.0]


def test_a_window_never_reaches_into_another_run():
    frame = pd.concat([counted([5, 5], [1, 2]), counted([9, 9], [1, 2], seed=1), counted([2, 2], [1, 2], cell="b")])
    table = windowed(frame.sample(frac=1, random_state=0), "blocks", "rounds")
    assert table["value"].tolist() == [5, 5, 9, 9, 2, 2]


def test_a_window_without_a_single_list_has_no_value():
    frame = counted([4, 0, 0, 6], [1, 3, 4]).assign(rounds=[1, 1, 2])
    assert windowed(frame, "blocks", "rounds")["value"].tolist() == pytest.approx([4, np.nan, 6], nan_ok=True)


def test_the_interval_of_a_share_is_exact_and_never_leaves_zero_to_one():
    share = Share(held=95, seeds=100, nominal=0.9)
    low, high = share.interval()
    # Clopper and Pearson: quantiles of beta distributions
    assert low == pytest.approx(stats.beta.ppf(0.025, 95, 6) - 0.9)
    assert high == pytest.approx(stats.beta.ppf(0.975, 96, 5) - 0.9)
    assert share.estimate == pytest.approx(0.05)
    sure = Share(held=40, seeds=40, nominal=0.9)
    assert sure.interval() == pytest.approx((stats.beta.ppf(0.025, 40, 1) - 0.9, 0.1))
    assert sure.standard_error > 0 and sure.p_below() == 1.0
    assert share.p_below(high) == pytest.approx(0.025)  # as its interval says
    assert (Share(39, 40, 1.0).p_below(), Share(40, 40, 1.0).p_below()) == (0.0, 1.0)


def test_an_interval_over_folds_is_that_of_their_means():
    index = pd.MultiIndex.from_product([range(1, 5), range(3)], names=["fold", "seed"])
    values = pd.Series(np.repeat([1.0, 2.0, 3.0, 6.0], 3) + np.tile([-1.0, 0.0, 1.0], 4), index=index)
    effect = fold_effect(values)
    wanted = stats.ttest_1samp([1.0, 2.0, 3.0, 6.0], 0.0)
    assert effect.estimate == pytest.approx(3.0) and (effect.folds, effect.seeds) == (4, 3)
    assert effect.interval() == pytest.approx(tuple(wanted.confidence_interval()))
    assert effect.p_below() == pytest.approx(1 - wanted.pvalue / 2)
    with pytest.raises(TooFewSeeds, match="fewer than two folds"):
        fold_effect(values.loc[[1]])


def test_nearness_is_how_much_less_than_a_distance_an_effect_is():
    effect = Effect(-1.0, 0.2, 10.0, 5, 3)
    low, high = effect.interval()
    near = Nearness(effect, 3.0)
    assert near.estimate == 2.0 and near.interval() == pytest.approx((3 + low, 3 + high))
    assert near.p_below() == pytest.approx(stats.t.cdf((-1 + 3) / 0.2, 10))
    assert Nearness(effect, -low).interval()[0] == pytest.approx(0)
    assert Nearness(effect, -high).p_below() == pytest.approx(0.025)  # wholly farther on the one side
    assert Nearness(replace(effect, estimate=1.0), -high).p_below() == pytest.approx(0.025)  # and on the other
    assert Nearness(replace(effect, estimate=0.1), 2.0).interval()[1] == 2.0  # an interval across 0


def test_a_ratio_of_means_has_fiellers_interval():
    """Its ends are where the t test of a − r b turns."""
    random = np.random.default_rng(0)
    b = random.gamma(4.0, 2.0, size=40)
    a = 2.5 * b + random.normal(0, 3.0, size=40)
    index = pd.MultiIndex.from_product([range(40), [0]], names=["fold", "seed"])
    found = ratio_effect(pd.Series(a, index=index), pd.Series(b, index=index))
    assert found.estimate == pytest.approx(a.mean() / b.mean())
    low, high = found.interval()
    assert low < found.estimate < high
    for r in (low, high):
        assert stats.ttest_1samp(a - r * b, 0).pvalue == pytest.approx(0.05)
    assert found.p_below(2.0) == pytest.approx(stats.ttest_1samp(a - 2.0 * b, 0, alternative="less").pvalue)
    assert found.p_below(high) == pytest.approx(0.025) and found.p_below(low) == pytest.approx(0.975)


def test_a_ratio_whose_denominator_may_be_zero_has_no_interval():
    index = pd.MultiIndex.from_product([range(4), [0]], names=["fold", "seed"])
    found = ratio_effect(pd.Series([1.0, 2, 3, 4], index=index), pd.Series([-1.0, 1, -1, 1.5], index=index))
    assert found.interval() == (-np.inf, np.inf)
    constant = ratio_effect(pd.Series([10.0, 20, 30, 40], index=index), pd.Series([1.0, 2, 3, 4], index=index))
    assert constant.interval() == pytest.approx((10, 10))
    assert constant.p_below(11.0) < 0.05 < 0.95 < constant.p_below(9.0)
    with pytest.raises(ValueError, match="positive mean"):
        ratio_effect(pd.Series([1.0, 2, 3, 4], index=index), pd.Series([-1.0, -1, -1, -1], index=index))


def test_an_effect_is_over_seeds_or_else_over_folds_or_has_no_interval():
    assert effect_over_runs(series([1, 2], [3, 5])) == mean_effect(series([1, 2], [3, 5]))
    assert effect_over_runs(series([1], [3])) == fold_effect(series([1], [3]))
    assert effect_over_runs(series([1])) is None


def of_two(values):
    """One kind of user; each name's value of run (fold, seed) at round 10 is twice that at round 5."""
    lines = [
        {"dataset": "one", "users": "perfect", "variant": name, "fold": f, "seed": s, "round": t, "ndcg": x * t / 10}
        for name, own in values.items()
        for (f, s), x in own.items()
        for t in (5, 10)
    ]
    return pd.DataFrame(lines)


def test_a_baseline_is_subtracted_run_by_run_and_checkpoint_by_checkpoint():
    frame = of_two({"a": {(1, 0): 4, (1, 1): 7, (2, 0): 9}, "b": {(1, 1): 2, (1, 0): 3}})
    found = minus(frame, "ndcg", "b", "variant")
    assert set(found["variant"]) == {"a"}
    assert found[["fold", "seed", "round", "ndcg"]].to_numpy().tolist() == [
        [1, 0, 5, 0.5], [1, 0, 10, 1], [1, 1, 5, 2.5], [1, 1, 10, 5]
    ]  # fmt: skip


def test_a_baseline_with_two_settings_is_refused():
    frame = of_two({"a": {(1, 0): 4}, "b": {(1, 0): 3}})
    with pytest.raises(ValueError, match="more than one setting of b"):
        minus(pd.concat([frame, frame]), "ndcg", "b", "variant")


def test_final_effects_are_of_the_last_round_with_the_interval_of_the_runs():
    frame = of_two({"a": {(1, 0): 1, (1, 1): 2, (2, 0): 3, (2, 1): 5}, "b": {(1, 0): 6}})
    a, b = final_effects(frame, "ndcg", ["users", "variant"]).to_dict("records")
    effect = mean_effect(series([1, 2], [3, 5]))
    assert (a["mean"], a["low"], a["high"], a["n"]) == (effect.estimate, *effect.interval(), 4)
    assert (b["mean"], b["n"]) == (6, 1) and np.isnan([b["low"], b["high"]]).all()
