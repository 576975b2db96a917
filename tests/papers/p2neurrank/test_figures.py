import numpy as np
import pandas as pd
import pytest
from shown import line

from ol2r.papers.olranknet.claims import GAMMA
from ol2r.papers.olranknet.figures import IN_LISTS, OFFLINE
from ol2r.papers.p2neurrank import figures, illustration
from ol2r.papers.p2neurrank.claims import LINEAR_VARIANTS, NEURAL_VARIANTS, SIXTEEN_DIAGONAL, SIXTEEN_FULL, TIMED
from ol2r.papers.p2neurrank.claims import linear as linear_of
from ol2r.papers.p2neurrank.claims import neural as neural_of
from ol2r.report.style import LEARNERS, USERS

ROUNDS = (0, 1, 10, 50)
TWO, TEN, RIVAL = "P2LinRank, N = 2", "P2LinRank, N = 10", "PairRank"


def runs(scores, rounds=ROUNDS, **labels):
    """Runs of two folds with two seeds each: by variant an NDCG that lists have in every round and test queries at the
    end; as many misordered pairs a round as ten times what is missing to 1. Seed 1 is 0.1 better."""
    lines = []
    for (variant, ndcg), users, fold, seed in (
        (item, kind, f, s) for item in scores.items() for kind in USERS for f in (1, 2) for s in (0, 1)
    ):
        for t in rounds:
            shown = ndcg + 0.1 * seed
            lines.append(
                {"cell": f"{variant}/{users}", "dataset": "one", "users": users, "variant": variant, **labels}
                | {"fold": fold, "seed": seed, "round": t, "ndcg": shown * t / rounds[-1]}
                | {"cndcg": shown * sum(GAMMA**k for k in range(t)), "misordered": 10 * (1 - ndcg) * t}
            )
    return pd.DataFrame(lines)


@pytest.fixture(scope="module")
def frame():
    return runs({TWO: 0.45, "P2LinRank, N = 5": 0.4, RIVAL: 0.5})


def test_rivals_are_compared_each_with_its_own_baseline(frame):
    networks = runs({"P2NeurRank, N = 2": 0.7, "olRankNet": 0.5})
    table = figures.rival_leads({RIVAL: (frame, (TWO,)), "olRankNet": (networks, ("P2NeurRank, N = 2",))})
    ends = table[table["panel"] == OFFLINE].groupby(["row", "baseline"])["mean"].first().to_dict()
    assert ends == pytest.approx({(TWO, RIVAL): -0.05, ("P2NeurRank, N = 2", "olRankNet"): 0.2})
    fig = figures.rival_dots(table)
    named = [" ".join(label.get_text().split()) for label in fig.axes[0].get_yticklabels()]
    assert named == ["P²LinRank, N = 2 − PairRank", "P²NeurRank, N = 2 − olRankNet"]


def test_rivals_without_runs_are_left_out(frame):
    assert figures.rival_leads({RIVAL: (frame[:0], (TWO,))}).empty
    assert figures.rival_leads({RIVAL: (frame[frame["variant"] == RIVAL], (TWO,))}).empty
    assert figures.rival_leads({RIVAL: (frame[frame["variant"] == TWO], (TWO,))}).empty


def test_differences_stand_in_rows_with_a_line_at_zero(frame):
    rows = {"few": (TWO,), "more": ("P2LinRank, N = 5",), "none": ("PDGD",)}
    fig = figures.grouped_differences(frame, "cndcg", RIVAL, rows, "NDCG")
    few, more = fig.subfigs
    assert line(few.axes[0], TWO).get_ydata()[0] == pytest.approx(-0.05)
    assert line(more.axes[2], "P2LinRank, N = 5").get_ydata()[0] == pytest.approx(-0.1)
    assert any(list(each.get_ydata()) == [0, 0] for each in few.axes[1].lines)


def test_numbers_of_rankers_have_a_line_each_offline_and_in_the_lists(frame):
    own = frame[frame["users"] == "perfect"]
    fig = figures.zoomed(own)
    offline, shown = fig.axes
    ends = "highest for PairRank (0.55), lowest for P²LinRank, N = 5 (0.45) on one."
    assert fig.alt == f"At the end, {OFFLINE}: {ends} At the end, {IN_LISTS}: {ends}"
    assert [offline.get_title(), shown.get_title()] == [OFFLINE, IN_LISTS]
    assert line(offline, TWO).get_ydata() == pytest.approx([0.5 * t / 50 for t in (10, 50)])
    assert line(shown, TWO).get_ydata() == pytest.approx([0.5, 0.5])
    assert offline.get_xscale() == "log"
    with pytest.raises(ValueError, match="one kind of users"):
        figures.zoomed(frame)


def timing(*variants, rounds=(10, 110)):
    """Batches of 4 replicas: rounds 1 – 10 take 8 ms, rounds 11 – 110 take 20 ms; each variant twice the one before."""
    parts = []
    for k, variant in enumerate(variants):
        columns = {"cell": variant, "dataset": "one", "users": "perfect", "variant": variant, "fold": 1, "seed": 0}
        slower = np.array([0.02, 0.22]) * 2**k, np.array([0.06, 1.86]) * 2**k
        seconds = {"round": rounds, "replicas": 4, "rank_seconds": slower[0], "update_seconds": slower[1]}
        parts.append(pd.DataFrame(columns | seconds))
    return pd.concat(parts)


def test_costs_are_of_one_run_in_a_window_and_so_far():
    each, whole = figures.cost_curves(timing("P2NeurRank, N = 1", "P2NeurRank, N = 2")).axes
    assert line(each, "P2NeurRank, N = 1").get_ydata() == pytest.approx([2, 5])
    totals = {tuple(np.round(drawn.get_ydata(), 6)) for drawn in whole.lines}
    assert totals == {(0.02, 0.52), (0.04, 1.04)}
    assert list(whole.lines[0].get_xdata()) == [10, 110] and each.get_yscale() == "log"


@pytest.fixture(scope="module")
def certainty():
    parts = [
        runs({of(n): 0.4 + n / 100 + noise}, rounds, rankers=n, noise=noise).assign(cell=f"{of(n)} {noise}")
        for of, rounds in ((linear_of, ROUNDS), (neural_of, (0, 1, 20)))
        for n in (2, 10)
        for noise in (0.1, 0.01)
    ]
    return pd.concat(parts, ignore_index=True)


def test_ends_of_linear_rankers_and_networks_are_their_own(certainty):
    ends = figures.at_own_family_end(certainty)
    assert ends.groupby("family")["round"].unique().map(list).to_dict() == {"linear": [50], "neural": [20]}
    two = ends[(ends["variant"] == TWO) & (ends["noise"] == 0.1)]
    assert two["regret"].to_numpy() == pytest.approx(10 * (1 - 0.52))


def test_certainty_has_a_row_for_each_family_and_a_line_for_users_and_noise(certainty):
    fig = figures.certainty_series(certainty)
    assert "from 0.57 to 0.65 for perfect, ν² = 0.1" in fig.alt and "With most rankers, misordered pairs" in fig.alt
    axes = fig.axes
    assert [ax.get_title() for ax in axes] == [OFFLINE, figures.REGRET, "", ""]
    assert list(line(axes[0], "perfect, ν² = 0.1").get_xdata()) == [2, 10]
    assert line(axes[0], "perfect, ν² = 0.1").get_ydata() == pytest.approx([0.57, 0.65])
    assert line(axes[3], "navigational, ν² = 0.01").get_ydata() == pytest.approx([5.7, 4.9])


def histories(quantities=("certain", "false certain", "agree", figures.BEFORE_TEN), families=("linear",)):
    """Two seeds in which ensembles of N are wrong in 1/N and intervals in 0.3 of what is certain; ten times less at the
    smaller noise. Seed 1 has 0.02 more."""
    lines = []
    for family, users, seed, t in ((f, u, s, t) for f in families for u in USERS for s in (0, 1) for t in (5, 50)):
        of, rival = (linear_of, RIVAL) if family == "linear" else (neural_of, "olRankNet")
        sets = [(rival, 0, 0.0), *((of(n), n, noise) for n in (2, 10) for noise in (0.01, 0.1))]
        for (variant, n, noise), quantity in ((one, q) for one in sets for q in quantities):
            if n or quantity != "agree":
                value = 0.3 if not n else 10 * noise / n
                lines.append(
                    {"cell": family + users, "dataset": "one", "users": users, "family": family, "fold": 1}
                    | {"seed": seed, "round": t, "variant": variant, "rankers": n, "noise": noise}
                    | {"quantity": quantity, "value": value + 0.02 * seed}
                )
    return pd.DataFrame(lines)


def test_shared_histories_have_rows_of_users_and_columns_of_quantities_at_one_noise():
    two = histories().query("users != 'navigational'")
    fig = figures.shared_curves(two, 0.1)
    assert len(fig.axes) == 6
    assert [ax.get_title() for ax in fig.axes[:3]] == list(figures.QUANTITIES.values())
    assert line(fig.axes[1], TWO).get_ydata() == pytest.approx([0.51, 0.51])
    assert line(fig.axes[1], RIVAL).get_ydata() == pytest.approx([0.31, 0.31])
    assert [tick.get_text() for tick in fig.axes[3].get_xticklabels()] == ["5"] and fig.axes[3].get_xscale() == "log"
    assert RIVAL not in fig.axes[2].get_legend_handles_labels()[1]
    of_pairs = "At the end, certain orders (share of all pairs): highest for P²LinRank, N = 2 (0.51), lowest for "
    assert of_pairs in fig.alt and "(0.11) under perfect users; highest" in fig.alt
    fewer = figures.shared_curves(histories(("certain",)), 0.01)
    assert len(fewer.axes) == 3 and line(fewer.axes[0], TWO).get_ydata() == pytest.approx([0.06, 0.06])
    with pytest.raises(ValueError, match="linear rankers or networks"):
        figures.shared_curves(histories(families=("linear", "neural")), 0.1)


def test_documents_before_place_ten_have_a_row_for_each_family():
    frame = histories((figures.BEFORE_TEN,), ("linear", "neural"))
    fig = figures.before_ten_curves(frame, 0.1)
    assert "lowest for P²LinRank, N = 10 (0.11) among linear rankers, under perfect users; " in fig.alt
    assert "lowest for P²NeurRank, N = 10 (0.11) among networks, under perfect users; " in fig.alt
    axes = fig.axes
    assert len(axes) == 6 and [ax.get_title() for ax in axes[:3]] == list(USERS)
    assert line(axes[3], "P2NeurRank, N = 10").get_ydata() == pytest.approx([0.11, 0.11])


def test_each_size_of_the_noise_is_behind_a_tab_and_intervals_are_in_all():
    frame = histories((figures.BEFORE_TEN,), ("linear", "neural"))
    choice = figures.at_each_noise(frame, figures.before_ten_curves)
    assert list(choice.drawings) == ["ν² = 0.1", "ν² = 0.01"]
    for drawing, expected in zip(choice.drawings.values(), (0.11, 0.02), strict=True):
        assert line(drawing.axes[3], "P2NeurRank, N = 10").get_ydata() == pytest.approx([expected, expected])
        assert line(drawing.axes[0], RIVAL).get_ydata() == pytest.approx([0.31, 0.31])
    table = choice.table
    assert set(table["noise"]) == {0.0, 0.01, 0.1} and not table.duplicated().any()
    assert len(table) == len(frame) / 2  # a line for both seeds
    assert choice.drawn_by.endswith("before_ten_curves")


def test_a_look_is_after_a_share_of_each_familys_rounds():
    both = histories(families=("linear", "neural"))
    both.loc[both["family"] == "neural", "round"] *= 2
    early = figures.at_a_look(both, 0.1)
    assert early.groupby("family")["round"].unique().map(list).to_dict() == {"linear": [5], "neural": [10]}


def test_differences_of_two_variants_are_paired_by_run():
    own = histories()
    early = own[(own["round"] == 5) & (own["quantity"] == "certain") & own["noise"].isin((0.0, 0.1))]
    table = figures.differences(early, "value", TWO, RIVAL)
    assert table["users"].tolist() == list(USERS)
    assert table[["mean", "low", "high"]].to_numpy() == pytest.approx(0.2)
    assert figures.differences(early, "value", TWO, "absent").empty
    alone = figures.differences(early[early["seed"] == 0], "value", TWO, RIVAL)
    assert alone["low"].isna().all() and alone["mean"].to_numpy() == pytest.approx(0.2)


class Stored:
    """Results of an item, as claims read them."""

    tier, cells = "paper", ()

    def __init__(self, frame):
        self.frame = frame


def test_seconds_stand_beside_scores_and_the_faster_ones_end_is_marked(frame):
    one = timing(RIVAL, TWO, rounds=(10, 50))
    timed = pd.concat([one.assign(users=kind) for kind in ("perfect", "informational")])
    own = figures.spent({"timing": Stored(timed)}, frame, (TWO, RIVAL))
    assert set(own["variant"]) == {TWO, RIVAL} and set(own["users"]) == {"perfect", "informational"}
    at = own.groupby(["variant", "round"])["seconds"].first()
    assert at[RIVAL, 10] == pytest.approx(0.02) and at[TWO, 50] == pytest.approx(1.04)
    assert at[RIVAL, 1] == pytest.approx(0.002)
    fig = figures.against_seconds({"linear": own, "networks": own[:0]})
    assert "(0.5) among linear rankers, under perfect users; " in fig.alt and set(fig.table["family"]) == {"linear"}
    ax, _ = fig.axes
    assert list(line(ax, TWO).get_xdata()) == pytest.approx([0.004, 0.04, 1.04])
    assert any(list(each.get_xdata()) == pytest.approx([0.52, 0.52]) for each in ax.lines)


def test_runs_that_were_not_timed_have_no_seconds(frame):
    assert figures.spent({"timing": Stored(timing(TWO)[:0])}, frame, (TWO,)).empty


def test_choices_are_compared_with_the_main_results_of_their_own_learner():
    choices = {"a": (TWO, {}), "a, first": (TWO, {"scorer": "first"}), "b": (RIVAL, {}), "b, deep": (RIVAL, {"m": 3})}
    parts = [
        runs({TWO: 0.4}).assign(choice="a"), runs({TWO: 0.5}).assign(choice="a, first", cell="2"),
        runs({RIVAL: 0.9}).assign(choice="b", cell="3"),
    ]  # fmt: skip
    table = figures.choice_effects(pd.concat(parts), choices)
    assert set(table["row"]) == {"a, first"} and table["mean"].to_numpy() == pytest.approx(0.1)
    assert figures.choice_effects(pd.concat(parts[:1]), choices).empty


def test_noise_is_worth_what_a_choice_has_more_than_the_same_without():
    choices = {
        "a": (TWO, {}), "a, shared": (TWO, {"theta0": "shared"}), "a, silent": (TWO, {"noise": 0.0}),
        "a, silent, shared": (TWO, {"noise": 0.0, "theta0": "shared"}), "b": (RIVAL, {}),
    }  # fmt: skip
    scores = {"a": 0.5, "a, shared": 0.4, "a, silent": 0.3, "a, silent, shared": 0.45}
    parts = [runs({TWO: score}).assign(choice=name, cell=name) for name, score in scores.items()]
    parts.append(runs({RIVAL: 0.9}).assign(choice="b", cell="b"))
    table = figures.noise_effects(pd.concat(parts), choices)
    assert dict(zip(table["row"], table["baseline"], strict=True)) == {
        "a": "a, silent", "a, shared": "a, silent, shared",
    }  # fmt: skip
    offline = table[table["panel"] == figures.OFFLINE]
    assert offline.loc[offline["row"] == "a", "mean"].to_numpy() == pytest.approx(0.2)
    assert offline.loc[offline["row"] == "a, shared", "mean"].to_numpy() == pytest.approx(-0.05)
    assert figures.noise_effects(pd.concat(parts[:2]), choices).empty
    assert figures.noise_effects(pd.DataFrame(), choices).empty


def test_disagreement_is_told_by_its_reason_with_the_share_of_certain_orders():
    starts = {"both": "a", "noise alone": "a, shared"}
    parts = [
        runs({TWO: score}).assign(choice=name, cell=name, certain_pairs=certain, shown_pairs=10.0)
        for name, score, certain in (("a", 0.5, 6.0), ("a, shared", 0.4, 9.0), ("b", 0.1, 0.0))
    ]
    table = figures.disagreement(pd.concat(parts), starts)
    assert table.groupby("row")["certain"].unique().map(list).to_dict() == {"both": [0.6], "noise alone": [0.9]}
    offline = table[table["panel"] == figures.OFFLINE].groupby("row")["mean"].mean()
    assert offline["both"] == 0 and offline["noise alone"] == pytest.approx(-0.1)
    assert figures.disagreement(pd.DataFrame(), starts).empty


def test_the_example_has_a_row_for_each_pair_and_a_mark_for_each_ranker():
    example = illustration.figure_1()
    left, right = figures.interval_and_ensemble(example).axes
    assert [label.get_text() for label in left.get_yticklabels()] == example["pair"].tolist()
    assert sum(len(each.get_xdata()) == 1 for each in right.lines) == len(example) * illustration.RANKERS


def test_both_ways_to_draw_the_noise_lie_in_one_ellipse():
    table = illustration.one_draw(50)
    covariance = illustration.NOISE * illustration.history().seen
    fig = figures.two_ways(table, covariance, illustration.reach())
    inside = 100 * (table[table["way"] == "in one draw"]["distance"] <= illustration.reach()).mean()
    assert f"drawn in one draw, {inside:.0f} % of the noise lies in the ellipse" in fig.alt
    noise, _ = fig.axes
    (ellipse,) = noise.patches
    edge = ellipse.get_transform().transform(ellipse.get_path().vertices[::3])  # between them stand control points
    edge = noise.transData.inverted().transform(edge)
    norms = (edge @ np.linalg.inv(covariance) * edge).sum(axis=1)
    assert norms == pytest.approx(illustration.reach(), rel=1e-2)
    assert [len(each.get_xdata()) for each in noise.lines] == [50, 50]


def test_a_grid_has_a_panel_for_each_rate():
    lines = [(name, rate, a) for name in ("two", "five", "other") for rate in (0.1, 0.001) for a in (0.1, 1.0)]
    scores = pd.DataFrame(lines, columns=["grid", "rate", "noise"])
    own, axes_of = figures.panels_of(scores, {"five": "N = 5", "two": "N = 2"}, "noise")
    assert list(axes_of) == ["N = 5\nη = 0.001", "N = 5\nη = 0.1", "N = 2\nη = 0.001", "N = 2\nη = 0.1"]
    assert set(axes_of.values()) == {("regularization", "noise")} and len(own) == 8


def test_looks_of_this_chapter_are_registered():
    extra = (linear_of(10), neural_of(10), SIXTEEN_FULL, SIXTEEN_DIAGONAL)
    assert {*LINEAR_VARIANTS, *NEURAL_VARIANTS, *TIMED, *extra} <= set(LEARNERS)
