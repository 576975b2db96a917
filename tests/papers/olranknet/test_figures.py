import numpy as np
import pandas as pd
import pytest
from shown import line

from ol2r.papers.olranknet import figures
from ol2r.papers.olranknet.claims import GAMMA, VARIANTS
from ol2r.report import tables
from ol2r.report.style import LEARNERS, USERS

ROUNDS = (0, 1, 10, 40, 50)
FULL, DIAGONAL = "olRankNet, full", "olRankNet"


def runs(scores, **labels):
    """Runs of two folds with two seeds each: by variant an NDCG that the shown lists have in every round and test
    queries at the end, and the shares of certain orders up to round 40 and after it. Seed 1 is 0.1 better."""
    lines = []
    for (variant, (ndcg, early, late)), users, fold, seed in (
        (item, kind, f, s) for item in scores.items() for kind in USERS for f in (1, 2) for s in (0, 1)
    ):
        for t in ROUNDS:
            pairs = 45 * t
            certain = 45 * (early * min(t, 40) + late * max(t - 40, 0))
            shown = ndcg + 0.1 * seed
            lines.append(
                {"cell": f"{variant}/{users}", "dataset": "one", "users": users, "variant": variant, **labels}
                | {"fold": fold, "seed": seed, "round": t, "ndcg": shown * t / 50}
                | {"cndcg": shown * sum(GAMMA**k for k in range(t)), "shown_pairs": pairs, "certain_pairs": certain}
            )
    return pd.DataFrame(lines)


@pytest.fixture(scope="module")
def frame():
    return runs({DIAGONAL: (0.4, 0.2, 0.5), FULL: (0.45, 0.3, 0.8), "PairRank": (0.5, 0.0, 0.0)})


def test_the_score_of_shown_lists_is_a_mean_over_them(frame):
    own = figures.in_lists(frame).query("variant == 'PairRank' and seed == 0")
    assert set(own["round"]) == {1, 10, 40, 50}
    assert own["in_lists"].to_numpy() == pytest.approx(0.5)


def test_shares_of_certain_orders_are_of_their_own_window(frame):
    own = figures.share_of_certain(frame).query("variant == @DIAGONAL and users == 'perfect'")
    own = own[(own["fold"] == 1) & (own["seed"] == 0)]
    assert own["round"].tolist() == [1, 6, 25.5, 45.5]
    assert own["share"].to_numpy() == pytest.approx([0.2, 0.2, 0.2, 0.5])


def test_the_last_share_is_of_the_last_fifth_or_from_the_checkpoint_before_it(frame):
    ends = figures.last_share(frame).groupby("variant")["share"].mean()
    assert ends.to_dict() == pytest.approx({DIAGONAL: 0.5, FULL: 0.8, "PairRank": 0.0})
    coarse = figures.last_share(frame[frame["round"] != 40]).groupby("variant")["share"].mean()
    assert coarse[DIAGONAL] == pytest.approx((30 * 0.2 + 10 * 0.5) / 40)  # from round 10


def test_leads_are_paired_and_in_the_given_order(frame):
    table = figures.leads(frame, "PairRank", variants=(FULL, DIAGONAL))
    assert list(dict.fromkeys(table["row"])) == [FULL, DIAGONAL]
    assert set(table["panel"]) == {figures.OFFLINE, figures.IN_LISTS} and set(table["users"]) == set(USERS)
    assert table["mean"].to_numpy() == pytest.approx(np.where(table["row"] == FULL, -0.05, -0.1))
    assert (table["n"] == 4).all() and table["low"].to_numpy() == pytest.approx(table["high"].to_numpy())
    assert set(figures.leads(frame, "PairRank")["row"]) == {FULL, DIAGONAL}


def test_leads_stand_in_two_panels_that_name_the_baseline(frame):
    fig = figures.lead_dots(figures.leads(frame, "PairRank"), "PairRank")
    assert [ax.get_xlabel() for ax in fig.axes] == [
        "offline NDCG@10,\nminus that of PairRank", "NDCG@10 of the shown lists,\nminus that of PairRank"
    ]  # fmt: skip
    assert line(fig.axes[1], "perfect").get_xdata() == pytest.approx([-0.1, -0.05])


def test_leads_over_users_are_of_each_runs_mean_over_them_and_none_without_both_learners(frame):
    worse = frame["users"].eq("perfect") & frame["variant"].eq(DIAGONAL)
    table = figures.leads_over_users(frame.assign(ndcg=frame["ndcg"] - 0.3 * worse), "PairRank", DIAGONAL)
    offline = table[table["panel"] == figures.OFFLINE]
    assert offline["mean"].tolist() == pytest.approx([-0.1 - 0.3 / 3]) and offline["n"].tolist() == [4]
    assert figures.leads_over_users(frame, "PairRank", "neural PDGD").empty
    assert figures.leads_over_users(pd.DataFrame(), "PairRank", DIAGONAL).empty


def test_leads_stand_against_what_labels_leave_with_intervals_both_ways_and_the_names_of_data_sets(frame):
    left = pd.DataFrame(
        [("two", 0.03, 0.02, 0.04), ("one", -0.01, -0.015, 0.0)], columns=["dataset", "mean", "low", "high"]
    )
    leads = figures.leads_over_users(frame, "PairRank", DIAGONAL)
    both = pd.concat([leads, leads.assign(dataset="two", mean=0.2, low=0.1, high=0.4), leads.assign(dataset="three")])
    fig = figures.against_labels(both, left, "PairRank")
    assert [ax.get_title() for ax in fig.axes] == [figures.OFFLINE, figures.IN_LISTS]
    for ax in fig.axes:
        found = {bars.get_label(): bars for bars in ax.containers}
        assert set(found) == {text.get_text() for text in ax.texts} == {"one", "two"}  # "three" has no place
        mark = found["one"].lines[0]
        assert mark.get_xdata() == pytest.approx([-0.01]) and mark.get_ydata() == pytest.approx([-0.1])
        across, along = (bars.get_segments()[0] for bars in found["two"].lines[2])
        assert across[:, 0] == pytest.approx([0.02, 0.04]) and along[:, 1] == pytest.approx([0.1, 0.4])
    assert f"{figures.OFFLINE} minus PairRank: 0.2 on two, -0.1 on one" in fig.alt.replace("−", "-")


def test_a_part_is_worth_what_runs_with_it_have_more_than_runs_without(frame):
    parts = {"exploring": (FULL, DIAGONAL), "refitting": (DIAGONAL, "PairRank"), "absent": ("PairRank", "PDGD")}
    table = figures.worth(frame, parts, "variant")
    assert table["mean"].to_numpy() == pytest.approx(np.where(table["row"] == "exploring", 0.05, -0.1))
    assert list(dict.fromkeys(table["row"])) == ["exploring", "refitting"] and len(table) == 12
    assert figures.worth(frame[:0], parts, "variant").empty
    assert figures.worth(frame[frame["variant"] == FULL], parts, "variant").empty


def test_certain_orders_have_a_panel_for_each_kind_of_user_from_none_to_all(frame):
    fig = figures.certain_curves(frame[frame["variant"] != "PairRank"])
    assert [ax.get_title() for ax in fig.axes] == list(USERS)
    assert list(line(fig.axes[2], FULL).get_ydata()) == pytest.approx([0.3, 0.3, 0.3, 0.8])
    assert {ax.get_ylim() for ax in fig.axes} == {(0, 1)}


def test_full_covariance_is_drawn_against_its_diagonal_run_by_run(frame):
    fig = figures.covariance_curves(frame, FULL, DIAGONAL)
    offline, online, certain = fig.axes
    assert fig.alt.startswith("At the end, offline NDCG@10, full minus diagonal: highest for ")
    assert line(offline, "perfect").get_ydata() == pytest.approx([0.05 * t / 50 for t in ROUNDS])
    assert line(online, "navigational").get_ydata() == pytest.approx(np.full(4, 0.05))
    assert line(certain, "informational").get_ydata() == pytest.approx([0.1, 0.1, 0.1, 0.3])


def test_full_covariance_against_its_diagonal_is_told_measure_by_measure(frame):
    better = frame["users"].eq("informational") & frame["variant"].eq(FULL)
    uneven = frame.assign(ndcg=frame["ndcg"] + better * frame["round"] / 500)
    offline, online, certain = figures.covariance_curves(uneven, FULL, DIAGONAL).alt.split(" At the end, ")
    assert offline == (
        "At the end, offline NDCG@10, full minus diagonal: highest for informational users (0.15), lowest for perfect "
        "users (0.05)."
    )
    assert online.startswith("NDCG@10 of the shown lists, full minus diagonal: highest for ")
    assert certain.startswith("share of certain orders, full minus diagonal: highest for ")


def test_two_data_sets_are_never_averaged(frame):
    both = pd.concat([frame, frame.assign(dataset="two", cell="two/" + frame["cell"])])
    one = both[both["users"] == "perfect"]
    for draw in (lambda f: figures.covariance_curves(f, FULL, DIAGONAL), figures.width_series):
        with pytest.raises(ValueError, match="one data set"):
            draw(one)


def test_the_width_series_has_a_line_for_either_covariance_over_all_widths():
    parts = [
        runs({"olRankNet": (0.1 * i + 0.3 * (form == "full"), 0.2, 0.5)}, width=m, covariance=form)
        for i, m in enumerate((8, 100))
        for form in ("diagonal", "full")
    ]
    told = [part.assign(cell=part["cell"] + f"/{k}") for k, part in enumerate(parts)]
    series = pd.concat(told).query("users == 'perfect'")
    fig = figures.width_series(series)
    assert "from 0.35 to 0.45 for full covariance" in fig.alt and "last fifth stays at 0.5 for the diagonal" in fig.alt
    above, below = fig.axes
    assert list(line(above, "full").get_xdata()) == [8, 100]
    assert line(above, "full").get_ydata() == pytest.approx([0.35, 0.45])
    assert line(above, "diagonal").get_ydata() == pytest.approx([0.05, 0.15])
    assert line(below, "full").get_ydata() == pytest.approx([0.5, 0.5])
    assert [t.get_text() for t in below.get_xticklabels()] == ["8", "100"] and below.get_xscale() == "log"
    with pytest.raises(ValueError, match="one kind of users"):
        figures.width_series(pd.concat(told))


def test_runs_of_different_lengths_share_a_logarithmic_axis(frame):
    fig = figures.far_curves(frame[(frame["variant"] != FULL) | (frame["round"] < 50)])
    assert {ax.get_xscale() for ax in fig.axes} == {"log"}
    assert list(line(fig.axes[0], DIAGONAL).get_xdata()) == [1, 10, 40, 50]
    assert list(line(fig.axes[0], FULL).get_xdata()) == [1, 10, 40]


@pytest.fixture
def timing():
    """Batches of 4 replicas: rounds 1 – 10 take 2 ms to rank and 6 to learn, rounds 11 – 110 take 2 and 18."""
    columns = {"cell": "one", "dataset": "one", "variant": DIAGONAL, "fold": 1, "seed": 0, "round": [10, 110]}
    return pd.DataFrame(columns | {"replicas": 4, "rank_seconds": [0.02, 0.22], "update_seconds": [0.06, 1.86]})


def test_speeds_are_of_one_replica_in_each_window(timing):
    table = figures.speeds(timing)
    assert table["speed"].to_numpy() == pytest.approx([4 / 0.008, 4 / 0.02])
    assert table["ranking"].to_numpy() == pytest.approx([0.5, 0.5])
    assert table["learning"].to_numpy() == pytest.approx([1.5, 4.5])
    assert table["middle"].tolist() == [5.5, 60.5]


def test_speeds_are_drawn_for_the_whole_round_and_for_ranking(timing):
    slower = timing.assign(cell="two", variant=FULL, rank_seconds=2 * timing["rank_seconds"])
    whole, ranking = figures.speed_curves(pd.concat([timing, slower])).axes
    assert line(whole, DIAGONAL).get_ydata() == pytest.approx([500, 200])
    assert sorted(each.get_ydata()[0] for each in ranking.lines) == pytest.approx([0.5, 1.0])


def test_a_grid_of_three_hyperparameters_has_a_panel_for_each_alpha():
    lines = [(name, rate, a) for name in ("olRankNet", "other") for rate in (0.1, 0.001) for a in (1.0, 0.1)]
    scores = pd.DataFrame(lines, columns=["grid", "rate", "alpha"])
    own, axes_of = figures.by_alpha(scores, "olRankNet")
    assert list(axes_of) == ["α = 0.1", "α = 1"] and set(axes_of.values()) == {("regularization", "rate")}
    assert own.groupby("panel").size().to_dict() == {"α = 0.1": 2, "α = 1": 2}


def test_looks_of_this_chapter_are_registered():
    assert set(VARIANTS) <= set(LEARNERS)


def test_leads_on_every_data_set_are_differences_paired_by_run(frame):
    worse = runs({DIAGONAL: (0.4, 0.2, 0.5), "PairRank": (0.6, 0.0, 0.0)}, dataset="two")
    groups = figures.leads_on_each(pd.concat([frame, worse]), "PairRank", (DIAGONAL, "olLambdaRank"))
    assert list(groups) == [figures.OFFLINE, figures.IN_LISTS]
    for pairs in groups.values():
        assert list(pairs) == ["olRankNet"]
        told = tables.paired_differences({"": pairs}, name="all", caption="All.")
        assert "| perfect, one | −0.100 [" in told and "| perfect, two | −0.200 [" in told


def test_long_runs_stand_beside_runs_of_the_paper_s_length_on_the_same_folds_where_there_are_some():
    far = pd.DataFrame({"fold": [1, 2], "round": [20_000, 20_000]})
    short = pd.DataFrame({"fold": [1, 2], "round": [1000, 1000], "variant": ["olRankNet", "PDGD"]})
    longer = pd.DataFrame({"fold": [1, 1], "round": [5000, 5000], "variant": ["olRankNet", "PDGD"]})
    own, ends, item = figures.beside_far(far, {"fig-4": short, "fig-4-long": longer})
    assert (own["fold"].tolist(), ends["variant"].tolist(), item) == ([1], ["olRankNet"], "fig-4-long")
    own, ends, item = figures.beside_far(far, {"fig-4": short, "fig-4-long": longer[:0]})
    assert (own["fold"].tolist(), ends["round"].tolist(), item) == ([1], [1000], "fig-4")
    assert figures.beside_far(far[:0], {"fig-4": short, "fig-4-long": longer[:0]})[0].empty
