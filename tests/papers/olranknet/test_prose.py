"""Texts of the olRankNet page: every number and name in its sentences is read from what they tell of."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ol2r
from ol2r.papers.olranknet import grid, prose, tuning
from ol2r.papers.olranknet.claims import PROTOCOL, ROUNDS, ROUNDS_HERE
from ol2r.papers.olranknet.figures import IN_LISTS, OFFLINE
from ol2r.papers.pairrank.grid import CLUEWEB
from ol2r.report.tables import named

BOOK = Path(ol2r.__file__).parents[2] / "book"
PAGES = [BOOK / f"olranknet{part}.md" for part in ("", "-theory", "-extras")]


def leads(*lines):
    return pd.DataFrame(lines, columns=["dataset", "users", "row", "panel", "mean", "low", "high"])


LEADS = leads(
    ("MQ2008", "navigational", "olRankNet", OFFLINE, -0.01, -0.03, 0.01),
    ("MQ2008", "perfect", "olRankNet", OFFLINE, 0.02, 0.01, 0.03),
    ("MQ2008", "informational", "olRankNet", OFFLINE, 0.03, 0.02, 0.04),
    ("MQ2008", "perfect", "olRankNet", IN_LISTS, -0.5, -0.6, 0.4),
    ("MQ2008", "perfect", "PDGD", OFFLINE, -9.0, -10.0, -8.0),
    ("MQ2008", "perfect", "olRankNet, full", OFFLINE, 0.5, float("nan"), float("nan")),
)


def test_leads_are_told_by_their_range_and_where_their_intervals_lie_on_one_side():
    assert prose.lead_in_words(LEADS, "olRankNet", "PairRank") == (
        "On MQ2008 olRankNet minus PairRank comes to −0.010 to +0.030 in offline NDCG@10, clearly above 0 under "
        "perfect and informational users; −0.500 in the lists that users saw, not clearly apart from 0 under any users "
        "(after the last round, by kind of users, 95 % intervals)."
    )
    assert "−9.0 in offline NDCG@10, clearly below 0 under perfect users" in prose.lead_in_words(LEADS, "PDGD", "x")
    assert prose.lead_in_words(LEADS, "DBGD", "PairRank") == ""


def test_an_interval_that_is_not_known_is_on_no_side():
    said = prose.lead_in_words(LEADS, "olRankNet, full", "PairRank")
    assert said.startswith("On MQ2008 olRankNet with the full matrix minus PairRank comes to +0.500 in")
    assert "not clearly apart from 0 under any users" in said


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
    runs = frame[frame["variant"] == "a"].assign(width=10, depth=2, init="symmetric-raw", regularization=100.0)
    grown = runs["users"].map({"perfect": 1.02, "informational": 1.5})
    runs["log_det"] = p * np.log(grown) * runs["round"] / 10
    said = prose.growth_in_words(runs)
    assert "at λ = 100, the 930 entries of the diagonal end 2 % to 50 % above λ" in said
    assert prose.growth_in_words(runs[:0]) == ""


def test_items_of_the_map_fail_where_an_erratum_says_so_of_their_statement():
    failed = {title.split(",")[0] for title, *_ in prose.MAP if prose.fails(title)}
    assert failed == {"Theorem 4.4", "Definition B.1"}


def test_speed_is_told_at_the_end_and_time_for_all_rounds():
    columns = {"cell": "x", "dataset": "MQ2008", "variant": "a", "fold": 1, "seed": 0, "round": [10, 110]}
    timing = pd.DataFrame(columns | {"replicas": 2, "rank_seconds": [0.1, 1.1], "update_seconds": [0.1, 3.1]})
    assert prose.speed_in_words(timing) == (
        "On MQ2008 a run of 110 rounds takes one core 2.1 seconds with a (at the end 50 rounds a second)."
    )
    assert prose.speed_in_words(timing[:0]) == ""
    slower = timing.assign(variant="b", cell="y", update_seconds=[0.1, 5.2])
    assert prose.times_with_full(pd.concat([timing, slower]), "b", "a") == pytest.approx(1.5)
    assert np.isnan([prose.times_with_full(each, "b", "a") for each in (timing, timing[:0])]).all()


def test_single_runs_of_both_covariances_are_told_with_their_minutes():
    lines = [
        {"cell": name[-4:], "dataset": "MQ2008", "users": "perfect", "fold": 1, "seed": 0, "variant": name,
         "round": rounds, "ndcg": score, "labels": 2.0 * rounds}
        for name, ends in (("olRankNet", (0.1, 0.5)), ("olRankNet, full", (0.2, 0.625)))
        for rounds, score in zip((0, 5000), ends, strict=True)
    ]  # fmt: skip
    records = [{"key": "full", "shard_core_seconds": 3000.0}, {"key": "kNet", "shard_core_seconds": 600.0}]
    said = prose.witness_in_words(pd.DataFrame(lines), records, "olRankNet, full", "olRankNet")
    assert "run of 5,000 rounds on MQ2008 took 50 minutes of a core with the full matrix and 10 minutes with" in said
    assert "ended at 0.625 and 0.500 of" in said and "changed by 10,000 pairs, repeated" in said and "of 0.4 GB" in said
    assert prose.minutes(pd.DataFrame(lines), records) == {"olRankNet": 10.0, "olRankNet, full": 50.0}
    assert prose.minutes(pd.DataFrame(), []) == {}
    assert prose.witness_in_words(pd.DataFrame(lines[:2]), records, "olRankNet, full", "olRankNet") == ""
    assert prose.witness_in_words(pd.DataFrame(), [], "olRankNet, full", "olRankNet") == ""


def test_coverage_is_told_at_the_tuned_alpha_and_where_95_in_a_hundred_hold():
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
    assert prose.covered_in_words(both) == (
        "With α so large that 95 % of the intervals hold it (1.5 and 0.9), 21 % and "
        "14 % of the orders are certain. With one width for all pairs, wide enough for 95 %, 26 % would be."
    )
    assert prose.of_test(table[:0], "inside").empty and prose.covered_in_words(table[:0]) == ""


def test_the_orders_of_lambdarank_are_told_with_the_scores_of_what_was_chosen():
    lines = [("MQ2008", "olLambdaRank", 0.6, "all + x"), ("MQ2008", "olLambdaRank", 0.7, "")]
    lines += [("MQ2008", f"olLambdaRank{tuning.RANKED}", 0.65, "all"), ("other", "olLambdaRank", 0.9, "all")]
    chosen = pd.DataFrame(lines, columns=["dataset", "grid", "longer", "best_of"])
    said = prose.orders_in_words(chosen)
    assert "score 0.650 in the present ranking" in said and said.endswith("and 0.600 with lists as shown.")
    assert prose.orders_in_words(chosen[:2]) == prose.orders_in_words(chosen[:0]) == ""
    assert prose.orders_in_words(chosen.assign(longer=[0.1, 0.2, None, 0.9])) == ""


def test_a_choice_that_stays_though_another_scores_higher_is_told():
    lines = [
        ("MQ2008", "a", 0.6, "all + x"),
        ("MQ2008", "a", 0.625, ""),
        ("MQ2008", "b", 0.7, "all"),
        ("MQ2008", "b", None, ""),
    ]
    chosen = pd.DataFrame(lines, columns=["dataset", "grid", "longer", "best_of"])
    said = prose.kept_in_words(chosen)
    assert said.startswith("It decides a on MQ2008 (+0.0250), where another setting scores higher in the second step")
    assert prose.kept_in_words(chosen[2:]).startswith("Today it decides nothing")
    assert prose.kept_in_words(chosen[:0]) == ""


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
    assert prose.tried_by_the_paper_in_words(scores) == (
        "On MQ2008 the best setting of the first step (α = 0.01, λ = 100, η = 0.0001) scores 0.700, and the best one "
        "with values that the paper tries (α = 0.01, λ = 0.1, η = 0.001) 0.650."
    )
    assert prose.tried_by_the_paper_in_words(scores[:0]) == ""
    assert "no setting lies wholly within the values" in prose.tried_by_the_paper_in_words(scores[:2])


def test_the_best_checkpoint_of_long_runs_stands_beside_the_end_of_shorter_ones(frame):
    far = frame[frame["variant"] == "a"].assign(round=lambda f: 5 * f["round"], ndcg=lambda f: 1 - f["ndcg"])
    said = prose.far_in_words(far, frame, ("a, full", "a", "absent"))
    assert said.startswith(
        "- MQ2008, perfect users: a, full 0.400 after 10 and a 0.500 after 10 rounds; a 0.600 after 40, 0.600 after "
        "40, and at best 1.000, after 0 of 50.\n- "
    )
    assert prose.far_in_words(far, frame[:0], ("a",)) == ""


def test_the_best_of_long_runs_and_the_ends_of_shorter_ones_are_told_by_their_range(frame):
    far = frame[frame["variant"] == "a"].assign(round=lambda f: 5 * f["round"], ndcg=lambda f: 1 - f["ndcg"])
    far["ndcg"] -= 0.25 * (far["users"] == "perfect")
    assert prose.best_in_words(far, frame, ("a, full", "absent")) == (
        "On MQ2008 offline NDCG@10 after 10 rounds is 0.400 with a, full, by kind of users; the best of a in 50 is "
        "0.750 to 1.000. That is 5 times as many rounds, where the paper's comparison has 4 times as many."
    )
    both = prose.best_in_words(far, frame, ("a, full", "a"))
    assert "after 10 rounds is 0.400 with a, full and 0.500 with a, by kind" in both
    assert prose.best_in_words(far, frame[:0], ("a",)) == prose.best_in_words(far[:0], frame, ("a",)) == ""


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
