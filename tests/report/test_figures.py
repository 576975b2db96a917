import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle
from shown import line

from ol2r.experiments.published import printed_numbers
from ol2r.experiments.tuning import grid_scores
from ol2r.report import figures, tables
from ol2r.report.style import CHOICES, LEARNERS, USERS, panels

NUMBERS = printed_numbers("ol2r.papers.nsgd")
OFFLINE = NUMBERS[NUMBERS["item"] == "table-3"]


def test_learning_curves_draw_the_mean_of_every_learner_in_every_panel(grid):
    fig = figures.learning_curves(grid)
    assert [ax.get_title() for ax in fig.axes] == list(USERS)
    assert fig.axes[0].get_xlabel() == "round" and "offline NDCG@10" in fig.axes[0].get_ylabel()
    assert "95 % interval over runs" in fig.axes[0].get_ylabel()
    for ax in fig.axes:
        for name in ("DBGD", "CPS", "DP-DBGD", "MGD", "NSGD"):
            own = grid[(grid["users"] == ax.get_title()) & (grid["learner"] == name)]
            drawn = line(ax, name)
            assert drawn.get_color() == LEARNERS[name].color
            assert list(drawn.get_xdata()) == sorted(own["round"].unique())
            assert drawn.get_ydata() == pytest.approx(own.groupby("round")["ndcg"].mean().to_numpy())


def test_bands_are_the_intervals_of_the_table(grid):
    fig = figures.learning_curves(grid)
    band = fig.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    own = fig.table[(fig.table["users"] == "perfect") & (fig.table["learner"] == "DBGD")]
    assert (band.min(), band.max()) == pytest.approx((own["low"].min(), own["high"].max()))


def test_lines_that_nearly_coincide_are_drawn_as_differences_above_the_scores_of_others(invented_runs):
    means = {"PairRank": 0.55, "P2LinRank, N = 2": 0.5, "P2LinRank, N = 5": 0.45, "DBGD": 0.15}
    scores = {("MQ2008", users, name): mean for users in USERS for name, mean in means.items()}
    frame = invented_runs(scores, ("dataset", "users", "variant"), rounds=(0, 1, 10, 50))
    two, five = list(means)[1:3]
    fig = figures.near_and_far(frame, "ndcg", "PairRank", (two,), ("DBGD", "PDGD"), "NDCG", (five,))
    near, far = fig.subfigs
    assert line(near.axes[0], two).get_ydata()[-1] == pytest.approx(-0.05)
    assert any(list(each.get_ydata()) == [0, 0] for each in near.axes[0].lines)
    ends = {name: line(far.axes[1], name).get_ydata()[-1] for name in ("PairRank", "DBGD")}
    assert ends == pytest.approx({"PairRank": 0.55, "DBGD": 0.15})
    told = fig.table.groupby("variant")["shown"].unique().map(list).to_dict()
    assert told == {two: ["difference"], "PairRank": ["value"], "DBGD": ["value"], five: ["value"]}
    assert line(far.axes[0], five).get_linewidth() < 1 and five not in near.axes[0].get_legend_handles_labels()[1]
    assert list(line(near.axes[0], two).get_xdata()) == [10, 50]


def test_deviation_curves_draw_standard_deviations_over_runs(grid):
    fig = figures.deviation_curves(grid)
    own = grid[(grid["users"] == "perfect") & (grid["learner"] == "MGD")]
    assert line(fig.axes[0], "MGD").get_ydata() == pytest.approx(own.groupby("round")["ndcg"].std().to_numpy())
    assert "standard deviation over runs" in fig.axes[0].get_ylabel()


def test_cumulative_and_cosine_curves_draw_their_columns(grid):
    for draw, column in ((figures.cumulative_curves, "cndcg"), (figures.cosine_curves, "cosine")):
        own = grid[(grid["users"] == "perfect") & (grid["learner"] == "NSGD")]
        drawn = line(draw(grid).axes[0], "NSGD").get_ydata()
        assert drawn == pytest.approx(own.groupby("round")[column].mean().to_numpy())


def test_ablations_are_told_apart_by_variant(grid):
    fig = figures.learning_curves(
        grid.rename(columns={"learner": "variant"}).replace({"variant": {"CPS": "NSGD w/o TB"}}), by="variant"
    )
    assert "NSGD w/o TB" in fig.axes[0].get_legend_handles_labels()[1]


def test_several_data_sets_stand_in_rows_under_their_names(grid):
    other = grid.assign(dataset="MQ2007_partial85", cell="o/" + grid["cell"], ndcg=grid["ndcg"] + 1)
    fig = figures.learning_curves(pd.concat([grid, other]))
    assert [ax.get_title() for ax in fig.axes] == [*USERS, "", "", ""]
    assert fig.axes[0].get_ylabel() == "MQ2008" and "85 %" in fig.axes[3].get_ylabel().replace("\n", " ")
    assert "95 % interval over runs" in fig.get_supylabel()
    for ax, shift in ((fig.axes[1], 0.0), (fig.axes[4], 1.0)):
        own = grid[(grid["users"] == "navigational") & (grid["learner"] == "MGD")]
        assert line(ax, "MGD").get_ydata() == pytest.approx(own.groupby("round")["ndcg"].mean().to_numpy() + shift)
    assert fig.table.groupby("dataset").size().tolist() == [150, 150]


def test_a_single_data_set_may_be_named_too(grid):
    for draw in (figures.learning_curves, figures.cumulative_curves, figures.cosine_curves):
        fig = draw(grid, named=True)
        assert fig.axes[0].get_ylabel() == "MQ2008" and set(fig.table["dataset"]) == {"MQ2008"}


def test_the_offline_ranker_is_a_level_in_its_own_row_and_a_line_of_the_table(grid):
    fig = figures.learning_curves(pd.concat([grid, grid.assign(dataset="own")]), reference={"own": 0.7})
    assert figures.OFFLINE not in fig.axes[0].get_legend_handles_labels()[1]
    assert list(line(fig.axes[3], figures.OFFLINE).get_ydata()) == [0.7, 0.7]
    assert fig.table.query("learner == @figures.OFFLINE")[["dataset", "mean"]].to_numpy().tolist() == [["own", 0.7]] * 3


def test_the_level_of_a_data_set_is_the_mean_over_folds_of_scores_that_a_fit_repeats():
    fits = pd.DataFrame({"dataset": "own", "fold": [1, 1, 1, 2], "seed": 0, "test_ndcg": [0.4, 0.4, 0.4, 0.6]})
    assert figures.levels(fits) == {"own": pytest.approx(0.5)}
    assert figures.levels(fits[["dataset", "fold", "seed"]].head(0)) == {}


def test_curves_of_a_choice_have_the_looks_of_that_choice(grid):
    renamed = grid[grid["learner"].isin(["MGD", "NSGD"])].replace({"learner": {"MGD": "all", "NSGD": "matched"}})
    fig = figures.learning_curves(renamed.rename(columns={"learner": "pairs"}), by="pairs", looks=CHOICES)
    assert line(fig.axes[0], "matched").get_color() == CHOICES["matched"].color


def test_a_figure_of_no_data_set_is_refused(grid):
    with pytest.raises(ValueError, match="data set"):
        figures.learning_curves(grid[:0])


def test_a_sweep_of_two_data_sets_is_refused(grid):
    with pytest.raises(ValueError, match="one data set"):
        figures.sweep(pd.concat([grid, grid.assign(dataset="MQ2007")]), "alpha", "α", published=0.1)


def test_a_sweep_draws_final_scores_and_marks_the_papers_setting(invented_runs):
    keys = {("MQ2008", u, a): 50 + 100 * a for u in USERS for a in (0.5, 0.0, 0.1)}
    frame = invented_runs(keys, ("dataset", "users", "alpha"), column="cndcg")
    fig = figures.sweep(frame, "alpha", r"learning rate $\alpha$", published=0.1)
    ax = fig.axes[0]
    assert ax.get_xlabel() == r"learning rate $\alpha$"
    assert list(line(ax, "perfect").get_xdata()) == [0.0, 0.1, 0.5]
    assert line(ax, "perfect").get_ydata() == pytest.approx([50, 60, 100])
    assert list(line(ax, "the paper's setting").get_xdata()) == [0.1, 0.1]


def test_published_and_reproduced_means_lie_side_by_side(grid):
    comparison = tables.compare(grid, OFFLINE, "ndcg").query("dataset == 'MQ2008'")
    fig = figures.published_against_reproduced(comparison, "offline NDCG@10")
    assert [t.get_text() for t in fig.axes[0].get_yticklabels()] == ["DBGD", "CPS", "DP-DBGD", "MGD", "NSGD"]
    assert line(fig.axes[0], "NSGD published").get_xdata()[0] == 0.488
    own = comparison.query("users == 'perfect' and learner == 'NSGD'").iloc[0]
    assert line(fig.axes[0], "NSGD reproduced").get_xdata()[0] == own["mean"]
    assert "standard errors" in fig.get_supxlabel() and "above the printed one" in fig.alt


def test_several_data_sets_stand_beside_the_same_printed_mean():
    table = pd.DataFrame(
        [("MQ2008", "CM", "TopRank", 80.0, 1.0, 70.0, 2.0), ("MQ2007", "CM", "TopRank", 80.0, 1.0, 90.0, 2.0),
         ("MQ2008", "PBM", "TopRank", None, None, 50.0, 2.0)],
        columns=["data", "users", "learner", "published_mean", "published_error", "mean", "error"],
    )  # fmt: skip
    fig = figures.published_against_reproduced(table, "violations", {"CM": "cascade", "PBM": "position"})
    assert [ax.get_title() for ax in fig.axes] == ["cascade", "position"]
    drawn = {name: line(fig.axes[0], f"TopRank {name}") for name in ("published", "MQ2008", "MQ2007")}
    assert [list(one.get_xdata()) for one in drawn.values()] == [[80.0], [70.0], [90.0]]
    assert len({one.get_marker() for one in drawn.values()}) == len({one.get_ydata()[0] for one in drawn.values()}) == 3
    assert drawn["published"].get_markerfacecolor() == "white" != drawn["MQ2008"].get_markerfacecolor()
    assert fig.get_supxlabel().startswith("violations")


def test_a_screen_has_a_row_a_switch_and_a_column_a_cell(grid):
    switched = pd.concat(
        [grid.assign(switch="as in the paper"), grid.assign(switch="start at 0", ndcg=grid["ndcg"] + 1)]
    )
    table = tables.screen(switched, OFFLINE, "ndcg")
    fig = figures.screen(table)
    drawn = np.asarray(fig.axes[0].collections[0].get_array())
    assert drawn.shape == (2, 15) and (drawn[1] > drawn[0]).all()
    assert [t.get_text() for t in fig.axes[0].get_yticklabels()] == ["as in the paper", "start at 0"]
    first = table.query("switch == 'as in the paper' and users == 'perfect' and learner == 'DBGD'")["z"].iloc[0]
    assert drawn[0, 0] == first
    gaps = (np.abs(drawn) > tables.GAP).sum(axis=1)
    assert f"printed number: {gaps[0]} of 15 with as in the paper." in fig.alt
    assert f"({drawn.max():,.0f}); farthest below: as in the paper, " in fig.alt
    assert figures.screen(table.assign(z=np.nan)).alt == "Nothing is printed."


@pytest.fixture
def grid_of_two():
    """Tuning of two learners: validation scores .5 and .7 apart by users, best at (0.1, 0.01) and at 0.001."""
    lines = []
    for users, shift in (("perfect", 0.1), ("informational", -0.1)):
        for seed in (1000, 1001):
            label = {"dataset": "one", "users": users, "seed": seed, "round": 1000}
            for alpha in (0.1, 0.01):
                for penalty in (0.1, 0.01):
                    score = 0.5 + shift + alpha - penalty
                    lines.append(
                        label | {"variant": "PairRank_C", "alpha": alpha, "regularization": penalty, "ndcg": score}
                    )
            for alpha in (0.1, 0.001):
                lines.append(label | {"variant": "SGD RankNet", "alpha": alpha, "ndcg": 0.4 + shift - alpha})
    frame = pd.DataFrame(lines)
    return pd.concat([frame.assign(round=10, ndcg=9.0), frame])


def test_a_cell_of_the_grid_scores_its_mean_over_users_at_the_end(grid_of_two):
    scores = grid_scores(grid_of_two, ("alpha", "regularization"))
    assert len(scores) == 4 + 2 and (scores["n"] == 4).all()
    best = scores[scores["best"]].set_index("variant")
    assert (best.loc["PairRank_C", "alpha"], best.loc["PairRank_C", "regularization"]) == (0.1, 0.01)
    assert best.loc["PairRank_C", "score"] == pytest.approx(0.5 + 0.1 - 0.01)
    assert best.loc["SGD RankNet", "alpha"] == 0.001


def test_users_count_alike_in_a_cells_score_however_many_runs_they_have(grid_of_two):
    fewer = grid_of_two[(grid_of_two["users"] == "perfect") | (grid_of_two["seed"] == 1000)]
    names = ("alpha", "regularization")
    expected = grid_scores(grid_of_two, names)["score"].to_numpy()
    assert grid_scores(fewer, names)["score"].to_numpy() == pytest.approx(expected)


def test_the_grid_shows_every_score_and_frames_the_best(grid_of_two):
    axes_of = {"SGD RankNet": ("alpha", None), "PairRank_C": ("alpha", "regularization"), "absent": ("alpha", None)}
    fig = figures.tuning_grid(grid_scores(grid_of_two, ("alpha", "regularization")), axes_of, by="variant")
    sgd, pairrank = fig.axes
    assert (sgd.get_title(), pairrank.get_title()) == ("SGD RankNet", "PairRank_C")
    assert [t.get_text() for t in pairrank.texts] == [".500", ".410", ".590", ".500"]
    shown = np.asarray(pairrank.collections[0].get_array()).ravel()
    assert shown == pytest.approx([0.5 + 0.01 - 0.01, 0.5 + 0.01 - 0.1, 0.5 + 0.1 - 0.01, 0.5])
    (frame,) = [patch for patch in pairrank.patches if isinstance(patch, Rectangle)]
    assert frame.get_xy() == (0, 1)  # λ = 0.01 is the first column, α = 0.1 the second row
    assert [t.get_text() for t in pairrank.get_yticklabels()] == ["$10^{-2}$", "$10^{-1}$"]


def test_no_exploration_stands_beside_the_powers_of_ten(grid_of_two):
    axes_of = {"PairRank_C": ("alpha", "regularization")}
    scores = grid_scores(grid_of_two.replace({"alpha": {0.01: 0.0}}), ("alpha", "regularization"))
    (ax,) = figures.tuning_grid(scores, axes_of, by="variant").axes
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "$10^{-1}$"]


def test_any_column_is_drawn_as_learning_curves_are(grid):
    fig = figures.curves(grid.rename(columns={"cosine": "other"}), "other", "learner", "another measure")
    own = grid[(grid["users"] == "perfect") & (grid["learner"] == "NSGD")]
    assert line(fig.axes[0], "NSGD").get_ydata() == pytest.approx(own.groupby("round")["cosine"].mean().to_numpy())
    assert fig.axes[0].get_ylabel() == "another measure"


def test_a_band_is_a_mean_with_its_interval():
    _, (ax,) = panels([""], pd.DataFrame())
    table = pd.DataFrame({"width": [8, 16], "mean": [0.2, 0.4], "low": [0.1, 0.3], "high": [0.3, 0.6]})
    figures.band(ax, table, USERS["perfect"], "perfect", "width")
    drawn = line(ax, "perfect")
    assert list(drawn.get_xdata()) == [8, 16] and list(drawn.get_ydata()) == [0.2, 0.4]
    assert drawn.get_color() == USERS["perfect"].color
    edges = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (edges.min(), edges.max()) == (0.1, 0.6)


def test_difference_curves_are_paired_with_the_baseline(grid):
    fig = figures.difference_curves(grid, "ndcg", "MGD", "offline NDCG@10", by="learner")
    assert "MGD" not in fig.axes[0].get_legend_handles_labels()[1] and "minus that of MGD" in fig.axes[0].get_ylabel()
    own = grid[grid["users"] == "navigational"]
    runs = own.pivot_table("ndcg", index=["fold", "seed", "round"], columns="learner")
    expected = (runs["NSGD"] - runs["MGD"]).groupby("round").mean().to_numpy()
    assert line(fig.axes[1], "NSGD").get_ydata() == pytest.approx(expected)
    assert all(any(list(each.get_ydata()) == [0, 0] for each in ax.lines) for ax in fig.axes)


def test_differences_may_begin_later_on_a_logarithmic_axis_and_name_their_baseline(grid):
    since = sorted(grid["round"].unique())[1]
    fig = figures.difference_curves(grid, "ndcg", "MGD", "NDCG", by="learner", told="the old one", since=since)
    assert "minus that of the old one" in fig.axes[0].get_ylabel()
    assert all(ax.get_xscale() == "log" for ax in fig.axes)
    assert min(line(fig.axes[0], "NSGD").get_xdata()) == since == fig.table["round"].min()


def test_groups_of_lines_have_a_row_of_panels_each(grid):
    groups = {"duels": ("DBGD", "MGD", "absent"), "null space": ("NSGD",), "nobody": ("absent",)}
    fig = figures.grouped_curves(grid, "ndcg", groups, "NDCG", by="learner", beside=("MGD",))
    assert [ax.get_title() for ax in fig.axes] == [*USERS, *USERS]
    above, below = fig.axes[0], fig.axes[len(list(USERS))]
    assert above.get_ylabel() == "duels\nNDCG, MQ2008" and below.get_ylabel() == "null space\nNDCG, MQ2008"
    assert above.get_legend_handles_labels()[1] == ["DBGD", "MGD"]
    assert below.get_legend_handles_labels()[1] == ["NSGD", "MGD"]
    assert (len(above.collections), len(below.collections)) == (2, 1)  # an interval for each, but not beside
    own = grid[(grid["users"] == "perfect") & (grid["round"] > 0)]
    for ax, name in ((above, "DBGD"), (below, "NSGD"), (below, "MGD")):
        expected = own[own["learner"] == name].groupby("round")["ndcg"].mean()
        assert line(ax, name).get_ydata() == pytest.approx(expected.to_numpy())
    assert above.get_xscale() == "log" and set(fig.table["learner"]) == {"DBGD", "MGD", "NSGD"}


def test_a_row_may_have_thin_lines_of_its_own(grid):
    groups = {"duels": ("DBGD",), "null space": ("NSGD",)}
    fig = figures.grouped_curves(grid, "ndcg", groups, "NDCG", by="learner", beside={"null space": ("MGD",)})
    above, below = fig.axes[0], fig.axes[len(list(USERS))]
    assert above.get_legend_handles_labels()[1] == ["DBGD"]
    assert below.get_legend_handles_labels()[1] == ["NSGD", "MGD"]
    assert set(fig.table["learner"]) == {"DBGD", "NSGD", "MGD"}


def test_marks_of_a_single_row_stay_off_the_frame():
    lines = [("p", "only", kind, 0.5, 0.4, 0.6) for kind in USERS]
    table = pd.DataFrame(lines, columns=["panel", "row", "users", "mean", "low", "high"])
    (ax,) = figures.dots(table, {"p": "x"}).axes
    bottom, top = ax.get_ylim()
    places = [line(ax, kind).get_ydata()[0] for kind in USERS]
    assert min(places) - top > 0.3 and bottom - max(places) > 0.3


def test_dots_stand_at_their_means_in_the_row_of_what_was_measured():
    lines = [
        ("offline", row, kind, base + shift, base + shift - 0.1, base + shift + 0.3)
        for row, base in (("b", 0.5), ("a", 0.0))
        for kind, shift in (("informational", 0.2), ("perfect", 0.1))
    ]
    table = pd.DataFrame(lines, columns=["panel", "row", "users", "mean", "low", "high"])
    fig = figures.dots(table, {"offline": "more", "online": "none"})
    offline, online = fig.axes
    assert [t.get_text() for t in offline.get_yticklabels()] == ["b", "a"] and offline.get_xlabel() == "more"
    drawn = line(offline, "perfect")
    assert list(drawn.get_xdata()) == [0.6, 0.1] and list(drawn.get_ydata()) == [-0.1, 0.9]
    bars = [path for each in offline.collections for path in each.get_segments()]
    assert any(np.allclose(bar[:, 0], [0.5, 0.9]) for bar in bars)  # from low to high
    assert offline.yaxis_inverted() and len(line(online, "perfect").get_xdata()) == 0


def test_a_drawing_tells_its_result_in_numbers_of_its_table(grid, grid_of_two):
    curves = figures.learning_curves(grid)
    last = curves.table[curves.table["round"] == curves.table["round"].max()].set_index(["users", "learner"])["mean"]
    best = last["perfect"].idxmax()
    assert f"highest for {best} ({last['perfect', best]:.3g}), lowest for" in curves.alt
    assert curves.alt.count("highest for") == len(list(USERS))
    assert figures.deviation_curves(grid).alt.startswith("At the end, standard deviation of offline NDCG@10: ")

    comparison = tables.compare(grid, OFFLINE, "ndcg").query("dataset == 'MQ2008'")
    assert "of 15 means ours" in figures.published_against_reproduced(comparison, "offline NDCG@10").alt

    scores = grid_scores(grid_of_two, ("alpha", "regularization"))
    chosen = figures.tuning_grid(scores, {"PairRank_C": ("alpha", "regularization")}, by="variant").alt
    assert chosen.endswith("PairRank_C: chosen α = 0.1, λ = 0.01 (0.590).")


def test_dots_tell_which_intervals_leave_out_the_line():
    rows = [("offline", "b", "perfect", 0.6, 0.5, 0.7), ("offline", "a", "perfect", 0.1, -0.1, 0.3)]
    table = pd.DataFrame(rows, columns=["panel", "row", "users", "mean", "low", "high"])
    told = figures.dots(table, {"offline": "more,\nours − other", "online": "none"}).alt
    assert told == (
        "more, ours − other: above 0 b (1 of 1); undecided a (1 of 1). none: nothing was measured. "
        "In brackets: under how many kinds of users."
    )


def test_a_figure_of_many_names_is_taller_by_the_lines_of_its_legend(grid):
    few = figures.learning_curves(grid)
    names = list(LEARNERS)[:12]
    many = pd.concat([grid[grid["learner"] == "MGD"].assign(learner=name) for name in names])
    ncols = 5 if max(map(len, names)) <= 20 else 4
    taller = figures.learning_curves(many).get_figheight() - few.get_figheight()
    assert taller == pytest.approx(0.25 * (-(-len(names) // ncols) - 2)) and taller > 0


def test_tiles_are_coloured_where_an_interval_leaves_out_0_and_absent_where_nothing_was_measured():
    lines = [("PairRank", "MQ2008", 0.02, 0.01, 0.03), ("PairRank", "OHSUMED", -0.01, -0.03, 0.01),
             ("NSGD", "MQ2008", -0.3, -0.4, -0.2)]  # fmt: skip
    table = pd.DataFrame(lines, columns=["learner", "dataset", "mean", "low", "high"]).assign(panel="lists")
    fig = figures.tiles(table, "minus the best baseline")
    (ax,) = fig.axes
    values = ax.collections[0].get_array().reshape(2, 2)
    assert values[0, 0] > 0 and values[0, 1] == 0 and values[1, 0] < 0 and np.ma.is_masked(values[1, 1])
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["+.020", "−.010", "−.300"]
    assert "NSGD: MQ2008 -0.300" in fig.alt
