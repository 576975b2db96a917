import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.effects import fold_effect, ratio_effect
from ol2r.papers.bubblerank import figures
from ol2r.report.style import CLICK_MODELS

STEPS = [1, 10, 100, 1000]
SLOPES = {"BubbleRank": 1.0, "TopRank": 2.0, "Baseline": 4.0}


@pytest.fixture(scope="module")
def runs():
    """Three queries of two runs: regret a step is the bandit's number times the query's; only TopRank violates."""
    frames = []
    for dataset in ("one", "two"):
        for model in ("PBM", "CM"):
            for name, slope in SLOPES.items():
                for fold in (1, 2, 3):
                    for seed in (0, 1):
                        steps = np.array(STEPS)
                        regret = (slope * fold + (seed - 0.5) * 0.1) * steps
                        frames.append(
                            pd.DataFrame(
                                {"cell": f"{dataset} {model} {name}", "dataset": dataset, "users": model,
                                 "learner": name, "fold": fold, "seed": seed, "round": steps, "regret": regret,
                                 "violations": (name == "TopRank") * np.minimum(steps, 100) * fold // 2,
                                 "ndcg_total": np.where(steps <= 10, 0.5 * steps, 5 + 0.9 * (steps - 10)),
                                 "initial_inversions": 10}
                            )
                        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def line(ax, label):
    handles, labels = ax.get_legend_handles_labels()
    return handles[labels.index(label)]


def test_means_and_intervals_over_queries_are_those_of_fold_effect(runs):
    own = runs.query("dataset == 'one' and users == 'CM' and learner == 'TopRank' and round == 100")
    expected = fold_effect(own.set_index(["fold", "seed"])["regret"])
    (found,) = figures.over_queries(own, "regret", figures.CASE).itertuples()
    assert found.mean == pytest.approx(expected.estimate) == pytest.approx(100 * 2 * 2)
    assert found.error == pytest.approx(expected.standard_error)
    assert (found.low, found.high) == pytest.approx(expected.interval())
    assert (found.queries, found.runs) == (3, 6)
    assert found.run_error == pytest.approx(own["regret"].std() / 6**0.5)


def test_regret_has_a_row_of_panels_a_data_set_and_a_column_a_click_model_in_order(runs):
    fig = figures.regret_curves(runs)
    assert [ax.get_title() for ax in fig.axes[:2]] == [CLICK_MODELS["CM"], CLICK_MODELS["PBM"]]
    assert [ax.get_ylabel() for ax in fig.axes[::2]] == ["one", "two"]
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in fig.axes} == {("log", "log")}
    assert list(line(fig.axes[3], "Baseline").get_ydata()) == pytest.approx([8, 80, 800, 8000])
    assert "over queries" in fig.get_supylabel() and "reward" in fig.get_supylabel()
    assert all(band.get_paths()[0].vertices[:, 1].min() > 0 for band in fig.axes[0].collections)


def test_regret_as_a_multiple_has_the_interval_of_a_ratio_over_queries(runs):
    fig = figures.ratio_curves(runs, "Baseline")
    ax = fig.axes[1]
    assert "Baseline" not in ax.get_legend_handles_labels()[1] and "multiple of that of Baseline" in fig.get_supylabel()
    assert list(line(ax, "BubbleRank").get_ydata()) == pytest.approx([0.25] * 4) and ax.get_ylim()[0] == 0
    drawn = runs.query("dataset == 'two' and users == 'CM' and round == 100")
    drawn = drawn.assign(regret=drawn["regret"] + 9 * (drawn["fold"] % 2) * (drawn["learner"] == "TopRank"))
    sides = (drawn[drawn["learner"] == name].groupby("fold")["regret"].mean() for name in ("TopRank", "Baseline"))
    one, other = (side.to_frame().assign(seed=0).set_index("seed", append=True)["regret"] for side in sides)
    expected = ratio_effect(one, other)
    found = figures.regret_ratios(drawn, "Baseline").set_index("learner").loc["TopRank"]
    assert (found["mean"], found["low"], found["high"]) == pytest.approx((expected.estimate, *expected.interval()))
    assert figures.regret_ratios(drawn[drawn["fold"] == 1], "Baseline").empty


def test_what_never_violates_is_drawn_at_zero(runs):
    ax = figures.violation_curves(runs).axes[0]
    assert list(line(ax, "BubbleRank").get_ydata()) == [0, 0, 0, 0]
    assert list(line(ax, "TopRank").get_ydata()) == pytest.approx([(0 + 1 + 1) / 3, (5 + 10 + 15) / 3, 100, 100])
    assert ax.get_ylim()[0] < 0 and ax.get_yscale() == "symlog"


def test_ndcg_is_that_of_the_lists_of_each_window(runs):
    fig = figures.ndcg_curves(runs)
    drawn = line(fig.axes[0], "BubbleRank")
    assert list(drawn.get_ydata()) == pytest.approx([0.5, 0.5, 0.9, 0.9])
    assert list(drawn.get_xdata()) == pytest.approx([1, 20**0.5, 1100**0.5, 101000**0.5])


@pytest.mark.parametrize("draw", [figures.regret_curves, figures.ndcg_curves, figures.violation_curves])
def test_two_settings_of_a_bandit_are_never_averaged_into_one_line(runs, draw):
    with pytest.raises(ValueError, match="more than one setting"):
        draw(pd.concat([runs, runs.assign(cell="other " + runs["cell"])]))


@pytest.fixture
def lists():
    """Twelve queries with lists of 5, 10, 15 and 20 wrong pairs, whose regret is near 100 + 7 a pair; one has 40."""
    rng = np.random.default_rng(0)
    lines = [
        (fold, seed, v, 100 + 7 * v + rng.normal()) for fold in range(1, 13) for seed, v in enumerate((5, 10, 15, 20))
    ]
    lines.append((13, 0, 40, 9999.0))
    frame = pd.DataFrame(lines, columns=["fold", "seed", "initial_inversions", "regret"])
    return frame.assign(dataset="one", users="DCM", learner="BubbleRank", cell="c", round=STEPS[-1])


def test_regret_by_inversions_leaves_out_values_that_few_lists_have(lists):
    table = figures.regret_by_inversions(lists)
    assert table["initial_inversions"].tolist() == [5, 10, 15, 20] and (table["n"] == 12).all()
    assert len(figures.regret_by_inversions(lists, least=1)) == 5


def test_the_line_goes_through_the_means_with_its_straightness(lists):
    (found,) = figures.lines_of_regret(lists).itertuples()
    assert found.slope == pytest.approx(7, abs=0.3) and found.intercept == pytest.approx(100, abs=5)
    assert found.explained_lists < found.explained
    means = figures.regret_by_inversions(lists)
    assert found.explained == pytest.approx(np.corrcoef(means["initial_inversions"], means["mean"])[0, 1] ** 2)


def test_one_list_a_query_gives_a_line_and_no_slope_within_a_query(lists):
    single = lists.assign(fold=range(len(lists)))
    (found,) = figures.lines_of_regret(single).itertuples()
    assert found.slope == pytest.approx(7, abs=0.3) and np.isnan([found.own, found.low, found.high]).all()
    (whole,) = figures.lines_of_regret(lists).itertuples()
    assert whole.low < whole.own < whole.high


def test_the_line_is_drawn_with_its_slope(lists):
    fig = figures.regret_against_inversions(lists)
    (ax,) = fig.axes
    drawn = line(ax, "least-squares line")
    (found,) = figures.lines_of_regret(lists).itertuples()
    assert list(drawn.get_ydata()) == pytest.approx(
        [found.intercept + 5 * found.slope, found.intercept + 20 * found.slope]
    )
    assert f"slope {found.slope:.3g}" in ax.texts[0].get_text()
    assert f"pair: {found.slope:.3g} with R² {found.explained:.2f} for {CLICK_MODELS['DCM']}." in fig.alt


def test_a_figure_without_enough_lists_is_empty_but_drawn(lists):
    fig = figures.regret_against_inversions(lists, least=100)
    assert fig.table.empty and len(fig.axes) == 1 and fig.alt.endswith("too few lists.")


def test_regret_against_examination_stands_beside_the_prediction_and_exact_doubling():
    lines = [(i, seed, n, 2.0**i * n + seed) for i in (1, 2, 3) for seed in (0, 2) for n in (10, 100)]
    frame = pd.DataFrame(lines, columns=["fold", "seed", "round", "regret"])
    predicted = pd.Series({1: 190.0, 2: 390.0, 3: 800.0})
    fig = figures.regret_against_examination(frame, predicted)
    assert "401 for i = 2 (predicted 390, exact doubling 400)" in fig.alt
    steps, ends = fig.axes
    assert list(line(steps, r"$\chi_{\min} = 0.5^{3}$").get_ydata()) == [81, 801]
    assert list(line(ends, "predicted").get_ydata()) == [190, 390, 800]
    assert list(line(ends, "doubling").get_ydata()) == pytest.approx([801 / 4, 801 / 2, 801])


def test_a_full_ranking_has_a_tab_each_of_regret_violations_and_ndcg(runs):
    fig = figures.full_ranking(runs.query("dataset == 'one'"))
    regret, violations, ndcg = (drawing.axes[0] for drawing in fig.drawings.values())
    assert [ax.get_yscale() for ax in (regret, violations, ndcg)] == ["log", "symlog", "linear"]
    assert list(line(violations, "Baseline").get_ydata()) == [0, 0, 0, 0]
    assert list(line(ndcg, "TopRank").get_ydata()) == pytest.approx([0.5, 0.5, 0.9, 0.9])
    assert set(fig.table["quantity"]) == {"regret", "violations", "NDCG@5"}


@pytest.fixture
def pairs():
    """|P| by |V₀| for two numbers of items, as `bubblerank_tables.pairs_by_inversions` has it."""
    lines = [("CM", 4, 1, 3.5, 5, 5, 6), ("CM", 4, 0, 3.0, 3, 3, 6), ("PBM", 6, 2, 7.0, 9, 9, 15)]
    columns = ["users", "positions", "inversions", "mean", "most", "allowed", "everything"]
    return pd.DataFrame(lines, columns=columns).assign(runs=10)


def test_randomized_pairs_stand_below_lemma_6_and_all_pairs(pairs, picture):
    picture(figures.pairs_against_inversions(pairs))


def test_regret_stands_below_both_bounds_and_what_can_be_lost(picture):
    lines = [
        ("CM", 3, wrong, n, 0.1 * n * wrong, 0.01, 3.0 * n, 2.0 * n, 1.0 * n, 0.5 * n)
        for wrong in (0, 3) for n in (1, 100, 10_000)
    ]  # fmt: skip
    columns = ["users", "positions", "inversions", "round", "regret", "error", "everything", "bound", "best", "proved"]
    choice = figures.bounds_by_model(pd.DataFrame(lines, columns=columns))
    ((model, fig),) = choice.drawings.items()
    assert model in CLICK_MODELS.values()
    picture(fig)


def test_the_answer_has_ratios_about_one_and_differences_about_zero():
    lines = [
        ("CM", "TopRank", "1,000 steps", 0.5, 0.25, 0.75),
        ("PBM", "TopRank", "1,000 steps", 2.0, -1.0, 5.0),
        ("CM", "TopRank", "first 100 steps", -50.0, -60.0, -40.0),
    ]
    table = pd.DataFrame(lines, columns=["users", "row", "panel", "mean", "low", "high"]).assign(dataset="one")
    ratio, difference = figures.answer_dots(table).axes
    assert (ratio.get_xscale(), difference.get_xscale()) == ("log", "linear")
    assert [each.get_xdata()[0] for each in ratio.get_lines() if list(each.get_ydata()) == [0, 1]] == [0, 1]
    assert "÷" in ratio.get_xlabel() and "−" in difference.get_xlabel()
    assert ratio.get_legend_handles_labels()[1] == [CLICK_MODELS["CM"], CLICK_MODELS["PBM"]]
