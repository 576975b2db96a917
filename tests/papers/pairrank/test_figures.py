import numpy as np
import pandas as pd
import pytest
from shown import line

from ol2r.papers.pairrank import figures
from ol2r.papers.pairrank.illustration import figure_1
from ol2r.report.style import CHOICES, LEARNERS, USERS

ROUNDS = [0, 1, 10, 100, 200, 400]


def cumulative(values):
    """Sums of one number a round, at the checkpoints."""
    return np.concatenate([[0], np.cumsum(values)])[ROUNDS]


@pytest.fixture(scope="module")
def runs():
    """Lists of 12 documents whose block at rank r has r documents more than seeds count, then one from round 101 on."""
    t = np.arange(1, ROUNDS[-1] + 1)
    frames = []
    for dataset in ("one", "two"):
        for users in USERS:
            for seed in (0, 2):
                columns = {
                    "dataset": dataset,
                    "variant": "PairRank_C",
                    "users": users,
                    "cell": dataset + users,
                    "fold": 1,
                    "seed": seed,
                }
                columns |= {"round": ROUNDS, "rounds": ROUNDS, "blocks": cumulative(np.where(t <= 200, 2, 6) + seed)}
                for r in (1, 5, 10, 20):
                    long = r <= 12
                    columns |= {f"lists_{r}": cumulative(np.full(len(t), long))}
                    columns |= {f"size_{r}": cumulative(long * np.where(t <= 100, r + seed, 1))}
                frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def test_block_sizes_are_means_over_runs_of_each_windows_lists(runs):
    table = figures.sizes_at_ranks(runs)
    own = table.query("dataset == 'one' and users == 'perfect' and rank == 5").sort_values("round")
    assert own[["since", "round"]].to_numpy().tolist() == [[0, 1], [1, 10], [10, 100], [100, 200], [200, 400]]
    assert own["mean"].tolist() == [6, 6, 6, 1, 1]  # seeds 0 and 2 about 5 + 1
    assert own["middle"].tolist() == [1, 6, 55.5, 150.5, 300.5]
    assert (own["n"] == 2).all()


def test_ranks_that_no_list_reaches_have_no_size(runs):
    assert set(figures.sizes_by_rank(runs, [100])["rank"]) == {1, 5, 10}


def test_block_sizes_have_a_panel_for_each_kind_of_user_and_data_set_on_a_logarithmic_axis(runs):
    fig = figures.block_sizes(runs)
    assert [ax.get_title() for ax in fig.axes] == [*USERS, "", "", ""]
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in fig.axes} == {("log", "log")}
    assert list(line(fig.axes[4], "rank 10").get_ydata()) == [11, 11, 11, 1, 1]
    assert "95 % interval over runs" in fig.get_supylabel()
    assert (fig.axes[0].collections[0].get_paths()[0].vertices[:, 1] >= 1).all()


def both(runs):
    """The runs, and as many of PairRank_R, whose blocks and counts are twice as large."""
    other = runs.assign(variant="PairRank_R", cell="r/" + runs["cell"])
    twice = {name: 2 * other[name] for name in other if name == "blocks" or name.startswith("size_")}
    return pd.concat([runs, other.assign(**twice)])


def test_both_variants_stand_in_rows_or_columns_of_their_own(runs):
    one = both(runs).query("dataset == 'one'")
    sizes = figures.block_sizes(one).axes
    assert [ax.get_ylabel() for ax in sizes[::3]] == ["one\nPairRank_R", "one\nPairRank_C"]
    assert list(line(sizes[0], "rank 10").get_ydata()) == [22, 22, 22, 2, 2]
    counts = figures.block_counts(one).axes
    assert [ax.get_title() for ax in counts] == ["PairRank_R", "PairRank_C"]
    assert list(line(counts[0], "perfect").get_ydata()) == [6, 14]
    profile = figures.block_profile(both(runs).query("users == 'perfect'"), rounds=(10,)).axes
    assert list(line(profile[2], "rounds 2 – 10").get_ydata()) == [4, 12, 22]


def test_a_profile_has_a_line_for_each_window_that_ends_at_a_checkpoint(runs):
    fig = figures.block_profile(runs.query("users == 'informational'"), rounds=(10, 150, 200))
    told = fig.axes[0].get_legend_handles_labels()[1]
    assert told == ["rounds 2 – 10", "rounds 101 – 200", "last rank of every list"]
    assert list(line(fig.axes[1], "rounds 2 – 10").get_xdata()) == [1, 5, 10]
    assert list(line(fig.axes[1], "rounds 2 – 10").get_ydata()) == [2, 6, 11]
    assert fig.axes[1].get_yscale() == "log"
    assert (fig.axes[1].collections[0].get_paths()[0].vertices[:, 1] >= 1).all()  # a block has a document


def test_a_run_shorter_than_all_windows_shows_its_last(runs):
    fig = figures.block_profile(runs.query("users == 'informational'"), rounds=(5000,))
    assert fig.axes[0].get_legend_handles_labels()[1][:-1] == ["rounds 201 – 400"]


def shorter(runs):
    """The runs, with half of the first data set's lists too short for rank 10."""
    half = runs["lists_10"].where(runs["dataset"] == "two", runs["lists_10"] / 2)
    return runs.assign(lists_10=half)


def test_a_profile_marks_how_far_ranks_are_of_the_same_lists(runs):
    fig = figures.block_profile(shorter(runs).query("users == 'informational'"))
    marked = [set(line(ax, "last rank of every list").get_xdata()) for ax in fig.axes]
    assert marked == [{5}, {10}]


def test_the_share_of_lists_that_have_a_rank_is_told_by_data_set(runs):
    table = figures.reach(shorter(runs)).set_index(["dataset", "rank"])["share"]
    assert table["one"].to_dict() == {1: 1, 5: 1, 10: 0.5, 20: 0}


def test_blocks_are_counted_over_windows_of_equal_width(runs):
    fig = figures.block_counts(runs, width=200)
    drawn = line(fig.axes[0], "navigational")
    assert list(drawn.get_xdata()) == [100.5, 300.5] and list(drawn.get_ydata()) == [3, 7]


@pytest.mark.parametrize(
    "draw", [figures.block_sizes, figures.block_counts, lambda f: figures.block_profile(f.query("users == 'perfect'"))]
)
def test_two_settings_are_never_averaged_into_one_line(runs, draw):
    with pytest.raises(ValueError, match="more than one setting"):
        draw(pd.concat([runs, runs.assign(cell="other/" + runs["cell"])]))


def test_a_profile_of_two_kinds_of_user_is_refused(runs):
    with pytest.raises(ValueError, match="one kind of user"):
        figures.block_profile(runs)


@pytest.fixture
def timing():
    """Batches of 4 replicas: rounds 1 – 10 take 2 ms to rank and 4 to learn, rounds 11 – 110 take 2 and 12."""
    columns = {"cell": "one", "fold": 1, "seed": 0, "round": [10, 110], "replicas": 4}
    columns |= {"distinct_pairs": [30.0, 300.0]}
    columns |= {"rank_seconds": [0.02, 0.22], "update_seconds": [0.04, 1.24]}
    frame = pd.DataFrame(columns | {"passes": [20.0, 320.0], "refits": [10.0, 110.0]})
    return pd.concat([frame.assign(dataset=name, cell=name) for name in ("one", "two")])


def test_the_cost_of_a_round_is_that_of_one_replica_in_each_window(timing):
    table = figures.cost_of_rounds(timing).query("dataset == 'one'")
    assert table["ranking"].tolist() == pytest.approx([2 / 4, 2 / 4])
    assert table["learning"].tolist() == pytest.approx([4 / 4, 12 / 4])
    assert table["passes"].tolist() == [2.0, 3.0] and table["middle"].tolist() == [5.5, 60.5]


def test_costs_are_those_of_the_whole_batch_and_of_the_first_and_last_window(timing):
    found = figures.costs(timing).loc["two"].to_dict()
    assert found == pytest.approx(
        {"replicas": 4, "rounds": 110, "speed": 110 / 1.46, "passes": 3, "first": 1e3 / 30, "last": 3e3 / 300}
    )


def test_cost_stands_against_rounds_and_against_pairs_with_the_limit_of_passes(timing):
    fig = figures.round_cost(timing, most_passes=4)
    assert "time of learning in milliseconds goes from 1 to 3 for one" in fig.alt
    by_round, by_pairs, passes = fig.axes
    assert list(line(by_round, "two").get_ydata()) == pytest.approx([1, 3])
    assert by_round.get_legend_handles_labels()[1] == ["one", "two", "learning", "ranking"]
    assert list(by_pairs.lines[0].get_xdata()) == [30, 300]
    assert [4, 4] in [list(each.get_ydata()) for each in passes.lines]
    assert all(ax.get_ylim()[0] == 0 for ax in (by_round, by_pairs, passes))


def test_the_worked_example_draws_every_order_block_and_regret():
    example = figure_1()
    fig = figures.divide_and_conquer(example, {"random": 3, "conservative": 2})
    documents, blocks, lists, regrets = fig.axes
    certain = [t for t in documents.texts if t.arrowprops and t.arrowprops["arrowstyle"] == "-|>"]
    uncertain = [t for t in documents.texts if t.arrowprops and t.arrowprops["arrowstyle"] == "-"]
    assert (len(certain), len(uncertain)) == (7, 3)
    assert [t.get_text() for t in blocks.texts if t.get_text()] == ["{1, 2}", "{3, 4, 5}"]
    assert {"regret 3", "regret 2"} <= {t.get_text() for t in lists.texts}
    heights = {shuffle: {} for shuffle in ("random", "conservative")}
    for container in regrets.containers:
        for bar in container:
            heights[container.get_label()][round(bar.get_x() + bar.get_width() / 2)] = bar.get_height()
    assert sum(heights["random"].values()) == pytest.approx(1) == pytest.approx(sum(heights["conservative"].values()))
    assert fig.table is example.proposals


def test_rank_orders_are_intervals_about_their_estimates():
    table = pd.DataFrame(
        {"pair": ["1, 2", "2, 3", "1, 3"], "estimate": [0.6, 0.6, 0.9], "half": [0.05, 0.2, 0.1],
         "certain": [True, False, True], "shown": ["certain", "uncertain", ""]}
    )  # fmt: skip
    fig = figures.rank_orders(table)
    told = dict(zip(*reversed(fig.axes[0].get_legend_handles_labels()), strict=True))
    assert set(told) == {"certain rank orders", "certain: 1, 2", "uncertain: 2, 3"}
    assert list(told["uncertain: 2, 3"].lines[0].get_ydata()) == [0.6]
    (segments,) = told["uncertain: 2, 3"].lines[2]
    assert np.asarray(segments.get_segments()[0])[:, 1] == pytest.approx([0.4, 0.8])


def test_looks_of_this_chapter_are_registered():
    assert {"PDGD", "epsilon-greedy", "SGD RankNet", "PairRank_R", "PairRank_C", "RankNet"} <= set(LEARNERS)
    assert {"matched", "adjacent", "all", "full", "diagonal", "constant", "Lemma 2"} < set(CHOICES)
