"""Texts of the olRankNet page: the numbers of its sentences, and the tables that are data."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ol2r
from ol2r.papers.olranknet import grid, prose, tuning
from ol2r.papers.olranknet.claims import PROTOCOL, ROUNDS, ROUNDS_HERE
from ol2r.papers.pairrank.grid import CLUEWEB
from ol2r.report.tables import named

BOOK = Path(ol2r.__file__).parents[2] / "book"
PAGES = [BOOK / f"olranknet{part}.md" for part in ("", "-theory", "-extras")]


@pytest.fixture
def frame():
    """Two variants under two kinds of users; in the last fifth 30 or 40 of 50 orders are certain."""
    lines = [
        {"cell": name + kind, "dataset": "MQ2008", "users": kind, "variant": name, "fold": f, "seed": 0, "round": t}
        | {"ndcg": score * t / 10, "shown_pairs": 25 * t, "certain_pairs": (t == 10) * certain}
        for name, certain, score in (("a, full", 40, 0.4), ("a", 30, 0.5))
        for kind in ("perfect", "informational")
        for f in (1, 2)
        for t in (0, 8, 10)
    ]
    return pd.DataFrame(lines)


def test_growth_of_the_diagonal_is_a_geometric_mean_over_all_weights(frame):
    p = 2 * 46 * 10 + 10  # inputs are doubled
    runs = frame[frame["variant"] == "a"].assign(width=10, depth=2, init="symmetric-raw")
    runs["log_det"] = p * np.log(runs["users"].map({"perfect": 1.02, "informational": 1.5})) * runs["round"] / 10
    assert prose.growth(runs).to_dict() == pytest.approx({"perfect": 0.02, "informational": 0.5})
    assert prose.growth(runs[:0]).empty


def test_items_of_the_map_fail_where_an_erratum_says_so_of_their_statement():
    failed = {title.split(",")[0] for title, *_ in prose.MAP if prose.fails(title)}
    assert failed == {"Theorem 4.4", "Definition B.1"}


def test_times_are_of_one_run_and_speed_is_that_of_the_end():
    columns = {"cell": "x", "dataset": "MQ2008", "variant": "a", "fold": 1, "seed": 0, "round": [10, 110]}
    timing = pd.DataFrame(columns | {"replicas": 2, "rank_seconds": [0.1, 1.1], "update_seconds": [0.1, 3.1]})
    slower = timing.assign(variant="b", cell="y", update_seconds=[0.1, 5.2])
    found = prose.run_times(pd.concat([timing, slower]))
    assert found["seconds"].to_dict() == pytest.approx({"a": 2.1, "b": 3.15})
    assert found["speed"]["a"] == pytest.approx(50) and prose.run_times(timing[:0]).empty


def test_minutes_are_those_of_the_files_with_one_run_each():
    runs = pd.DataFrame({"cell": ["x", "y", "x"], "variant": ["a", "b", "a"]})
    records = [{"key": "x", "shard_core_seconds": 3000.0}, {"key": "y", "shard_core_seconds": 600.0}]
    assert prose.minutes(runs, records) == {"a": 50.0, "b": 10.0} and prose.minutes(pd.DataFrame(), []) == {}


def test_coverage_is_that_at_the_tuned_alpha_and_where_95_in_a_hundred_hold():
    lines = [
        (covariance, quantity, at, value, part)
        for covariance, inside, wide, certain in (
            ("full", 0.08, 1.5, 0.21), ("diagonal", 0.16, 0.9, 0.14), ("constant", 0.6, 0.2, 0.26)
        )
        for part in ("test", "train")
        for quantity, at, value in (
            ("inside", 0.1, inside + (part == "train")), ("inside", 1.0, 0.9), ("certain where needed", wide, certain)
        )
    ]  # fmt: skip
    table = pd.DataFrame(lines, columns=["covariance", "quantity", "at", "value", "part"])
    table = table.assign(tuned_alpha=0.1, regularization=100.0, round=50)
    early = table.assign(round=10, value=0.5)
    both = pd.concat([early, table])
    assert prose.of_test(both, "inside")[["full", "diagonal"]].tolist() == pytest.approx([0.08, 0.16])
    needed = prose.where_needed(both)
    assert needed["at"]["full"] == 1.5 and needed["value"]["constant"] == 0.26
    assert prose.of_test(table[:0], "inside").empty and prose.where_needed(table[:0]).empty


def test_a_choice_that_stays_though_another_scores_higher_is_kept_by_the_rule():
    lines = [
        ("MQ2008", "a", 0.6, "all + x"),
        ("MQ2008", "a", 0.625, ""),
        ("MQ2008", "b", 0.7, "all"),
        ("MQ2008", "b", None, ""),
    ]
    chosen = pd.DataFrame(lines, columns=["dataset", "grid", "longer", "best_of"])
    assert prose.kept(chosen) == pytest.approx({("MQ2008", "a"): 0.025})
    assert prose.kept(chosen[2:]) == prose.kept(chosen[:0]) == {}


def test_the_best_setting_stands_beside_the_best_that_the_paper_tries():
    lines = [
        ("olRankNet", 0.01, 100.0, 1e-4, 0.7),
        ("olRankNet", 0.01, 0.1, 1e-4, 0.66),
        ("olRankNet", 0.01, 0.1, 1e-3, 0.65),
        ("olRankNet", 0.1, 0.1, 1e-3, 0.6),
        ("olRankNet", 1.0, 0.1, 1e-3, 0.9),
        ("other", 0.01, 0.1, 1e-3, 0.95),
    ]
    scores = pd.DataFrame(lines, columns=["grid", "alpha", "regularization", "rate", "score"]).assign(dataset="MQ2008")
    assert prose.best_tried(scores, "MQ2008") == (0.7, 0.65)
    assert np.isnan(prose.best_tried(scores, "MQ2007")).all() and np.isnan(prose.best_tried(scores[:0], "MQ2008")).all()
    assert np.isnan(prose.best_tried(scores[:2], "MQ2008")[1])


def test_the_best_checkpoint_of_long_runs_stands_beside_the_end_of_shorter_ones(frame):
    far = frame[frame["variant"] == "a"].assign(round=lambda f: 5 * f["round"], ndcg=lambda f: 1 - f["ndcg"])
    ends = frame.replace({"variant": {"a, full": "olRankNet", "a": "other"}})
    found = prose.beside_far(far, ends)
    assert found["users"].tolist() == ["perfect", "informational"] and np.isnan(found["olLambdaRank"]).all()
    columns = ["rounds", "olRankNet", "as long", "longer", "best", "at", "last"]
    assert found[columns].iloc[0].tolist() == pytest.approx([10, 0.4, 0.6, 0.6, 1.0, 0, 50])
    assert prose.beside_far(far, ends[:0]).empty and prose.beside_far(far[:0], ends).empty


def test_conventions_have_the_values_that_run():
    told = {name: str(value) for name, value, _ in prose.CONVENTIONS}
    protocol = f"{ROUNDS} by the paper's protocol; {ROUNDS_HERE} on other data"
    assert told["rounds T"].startswith(f"{protocol}, and {ROUNDS} on one fold of {grid.LONG_ON} and in one run on ")
    assert {grid.SEEDS["MQ2008"], grid.SEEDS["MQ2007_partial85"]} == {PROTOCOL.seeds}
    seeds = f"{grid.SEEDS[CLUEWEB]} seeds of every fold on {named(CLUEWEB)}, {grid.SEEDS_HERE} on other data"
    assert seeds in told["runs"]
    steps = ["10⁻⁵", "0.0001", "0.001", "0.01", "0.1", "1"][-len(tuning.GRIDS["neural PDGD"].tried["alpha"]) :]
    assert told["grid of neural PDGD and DBGD"] == f"step ∈ {{{', '.join(steps)}}}"
    shared = told["grid of olRankNet and olLambdaRank, also with fresh starts and decay"]
    assert "α ∈ {0.001, 0.01, 0.1, 1}; λ ∈" in shared
    assert all(source for _, _, source in prose.CONVENTIONS)


def test_grids_that_share_a_line_of_the_conventions_are_the_same():
    for one, other in (
        ("olRankNet", "olLambdaRank"),
        ("olRankNet", "olRankNet" + tuning.FRESH),
        ("olLambdaRank", "olLambdaRank" + tuning.FRESH),
        ("neural PDGD", "neural DBGD"),
    ):
        assert tuning.GRIDS[one].tried == tuning.GRIDS[other].tried
    assert tuning.GRIDS["olLambdaRank"].wide == tuning.GRIDS["olRankNet, full"].wide


def test_every_claim_is_told_in_a_few_words_and_rests_on_an_item_of_the_map_or_is_ours():
    ids = {claim.id for claim in grid.PAPER.claims}
    assert ids == set(prose.SHORT)
    assert {each for *_, own in prose.MAP for each in own} == {each for each in ids if not each.startswith("ORX")}


def test_every_row_of_the_papers_notation_says_what_it_is_and_what_it_is_here():
    letters = [row[0] for row in prose.TABLE_2]
    assert len(set(letters)) == len(letters) and all(all(row) for row in prose.TABLE_2)
    assert {len(row) for row in prose.TABLE_2} == {len(prose.TABLE_2_HEAD)}


def test_the_pages_judge_every_claim_once_and_have_every_anchor_that_is_named_once():
    text = "".join(path.read_text() for path in PAGES)
    judged = re.findall(r'"(OR[TX]?\d+)"', " ".join(re.findall(r"claims\((.*?)\)", text)))
    assert sorted(judged) == sorted(prose.SHORT)
    anchors = re.findall(r"^\s+name: (olranknet-\S+)", text, re.MULTILINE)
    anchors += re.findall(r'name="(olranknet-\S+?)"', text)
    assert len(set(anchors)) == len(anchors)
    assert {anchor for _, anchor, _ in prose.MAP if anchor} <= set(anchors)
    assert {f"olranknet-{item}-effects" for *_, item in prose.SILENCES if item} <= set(anchors)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_of_a_page_has_caption_and_anchor(page):
    figures = re.findall(r"---\nmystnb:\n(.*?)\n---\n", page.read_text(), re.DOTALL)
    assert figures
    for head in figures:
        assert "caption:" in head and re.search(r"name: olranknet-\S+", head)


def test_click_models_have_five_grades_first():
    rows = prose.click_models()
    assert [name for name, *_ in rows[:3]] == ["perfect", "navigational", "informational"]
    assert rows[0][1].split(", ") == ["0.0", "0.2", "0.4", "0.8", "1.0"]
    assert "three grades" in rows[3][0]
