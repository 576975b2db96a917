"""Texts of the olRankNet page: every number and name in its sentences is read from what they tell of."""

import re
from pathlib import Path

import pandas as pd
import pytest

import ol2r
from ol2r.papers.olranknet import grid, prose, tuning
from ol2r.papers.olranknet.claims import ROUNDS, ROUNDS_HERE
from ol2r.papers.olranknet.figures import IN_LISTS, OFFLINE

BOOK = Path(ol2r.__file__).parents[2] / "book"
PAGES = [BOOK / "olranknet.md", BOOK / "olranknet-theory.md"]


def leads(*lines):
    return pd.DataFrame(lines, columns=["dataset", "users", "row", "panel", "mean", "low", "high"])


def test_a_lead_is_told_by_the_side_on_which_its_interval_lies():
    table = leads(
        ("MQ2008", "navigational", "olRankNet", OFFLINE, -0.01, -0.03, 0.01),
        ("MQ2008", "perfect", "olRankNet", OFFLINE, 0.02, 0.01, 0.03),
        ("MQ2008", "informational", "olRankNet", OFFLINE, 0.03, 0.02, 0.04),
        ("MQ2008", "perfect", "olRankNet", IN_LISTS, 9.0, 8.0, 10.0),
        ("MQ2008", "perfect", "PDGD", OFFLINE, -9.0, -10.0, -8.0),
    )
    assert prose.lead_in_words(table, "olRankNet", "PairRank").startswith(
        "On MQ2008 olRankNet ends above PairRank under perfect (+0.020 [+0.010, +0.030]) and informational (+0.030 "
        "[+0.020, +0.040]) users; not clearly apart from PairRank under navigational (−0.010 [−0.030, +0.010]) users."
    )
    assert "PDGD ends below PairRank under perfect (−9.000" in prose.lead_in_words(table, "PDGD", "PairRank")
    assert prose.lead_in_words(table, "DBGD", "PairRank") == ""


def test_an_interval_that_is_not_known_is_on_no_side():
    table = leads(("MQ2008", "perfect", "olRankNet", OFFLINE, 0.5, float("nan"), float("nan")))
    assert "not clearly apart from PairRank" in prose.lead_in_words(table, "olRankNet", "PairRank")


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


def test_shares_of_both_covariances_are_of_the_last_fifth(frame):
    said = prose.diagonal_in_words(frame, "a, full", "a")
    assert said.endswith(
        "in the last 20 % of the rounds: on MQ2008 80 % and 60 % under perfect and 80 % and 60 % under informational "
        "users."
    )
    assert prose.diagonal_in_words(frame[frame["variant"] == "a"], "a, full", "a") == ""


def test_what_ran_is_counted(frame):
    assert prose.ran_in_words(frame) == "What ran: MQ2008 (10 rounds, 1 seed × 2 folds × 2 kinds of users)."
    assert prose.ran_in_words(frame[:0]) == ""


def test_speed_is_told_at_the_end_and_time_for_all_rounds():
    columns = {"cell": "x", "dataset": "MQ2008", "variant": "a", "fold": 1, "seed": 0, "round": [10, 110]}
    timing = pd.DataFrame(columns | {"replicas": 2, "rank_seconds": [0.1, 1.1], "update_seconds": [0.1, 3.1]})
    assert prose.speed_in_words(timing).endswith("MQ2008: a 50 (2.1 seconds for all 110 rounds).")
    assert prose.speed_in_words(timing[:0]) == ""


def test_the_best_checkpoint_of_long_runs_stands_beside_the_end_of_shorter_ones(frame):
    far = frame[frame["variant"] == "a"].assign(round=lambda f: 100 * f["round"], ndcg=lambda f: 1 - f["ndcg"])
    said = prose.far_in_words(far, frame, ("a, full", "a", "absent"))
    assert said.startswith(
        "MQ2008, perfect users: its best is 1.000, after round 0 of 1,000; a, full 0.400 after 10, a 0.500 after 10. "
    )
    assert prose.far_in_words(far, frame[:0], ("a",)) == ""


def test_chosen_settings_are_told_with_their_symbols():
    lines = [
        ("MQ2008", "olRankNet", 0.1, 1.0, 0.01, None, "all"),
        ("MQ2008", "olRankNet", 0.2, 1.0, 0.01, None, ""),
        ("MQ2008", "neural epsilon-greedy", 1e-5, None, None, 0.25, "all + neural epsilon-greedy"),
    ]
    table = pd.DataFrame(lines, columns=["dataset", "grid", "alpha", "regularization", "rate", "epsilon", "best_of"])
    assert prose.chosen_in_words(table) == (
        "Chosen on MQ2008: olRankNet: α = 0.1, λ = 1, η = 0.01; neural epsilon-greedy: step = 10⁻⁵, ε = 0.25."
    )
    assert prose.chosen_in_words(table[:0]) == ""


def test_conventions_have_the_values_that_run():
    told = {name: str(value) for name, value, _ in prose.CONVENTIONS}
    assert told["rounds T"] == f"{ROUNDS} by the paper's protocol; {ROUNDS_HERE} on MQ2008"
    assert f"{grid.SEEDS_HERE} seeds × 5 folds on MQ2008" in told["runs"]
    steps = ["10⁻⁵", "0.0001", "0.001", "0.01", "0.1", "1"][-len(tuning.GRIDS["neural PDGD"].tried["alpha"]) :]
    assert told["grid of neural PDGD and DBGD"] == f"step ∈ {{{', '.join(steps)}}}"
    assert "α ∈ {0.001, 0.01, 0.1, 1}; λ ∈" in told["grid of olRankNet, olLambdaRank"]
    assert all(source for _, _, source in prose.CONVENTIONS)


def test_grids_that_share_a_line_of_the_conventions_are_the_same():
    for one, other in (
        ("olRankNet", "olLambdaRank"),
        ("neural PDGD", "neural DBGD"),
        ("olRankNet, full", "olRankNet" + tuning.CODE),
    ):
        assert tuning.GRIDS[one].tried == tuning.GRIDS[other].tried


def test_every_claim_is_told_in_a_few_words_and_rests_on_an_item_of_the_map_or_is_ours():
    ids = {claim.id for claim in grid.PAPER.claims}
    assert ids == set(prose.SHORT)
    assert {each for *_, own in prose.MAP for each in own} == {each for each in ids if not each.startswith("ORX")}


def test_both_pages_judge_every_claim_once_and_have_every_anchor_that_is_named_once():
    text = "".join(path.read_text() for path in PAGES)
    judged = re.findall(r'"(OR[TX]?\d+)"', " ".join(re.findall(r"claims\((.*?)\)", text)))
    assert sorted(judged) == sorted(prose.SHORT)
    anchors = re.findall(r"^\s+name: (olranknet-\S+)", text, re.MULTILINE)
    anchors += re.findall(r'name="(olranknet-\S+?)"', text)
    assert len(set(anchors)) == len(anchors)
    assert {anchor for _, anchor, _ in prose.MAP if anchor} <= set(anchors)
    assert {f"olranknet-{item}-effects" for *_, item in prose.SILENCES if item} <= set(anchors)


def test_every_figure_of_the_page_has_caption_anchor_and_alternative_text():
    figures = re.findall(r"---\nmystnb:\n(.*?)\n---\n", PAGES[0].read_text(), re.DOTALL)
    assert figures
    for head in figures:
        assert "caption:" in head and re.search(r"name: olranknet-\S+", head) and re.search(r"alt: \S+", head)


def test_click_models_have_five_grades_first():
    rows = prose.click_models()
    assert [name for name, *_ in rows[:3]] == ["perfect", "navigational", "informational"]
    assert rows[0][1].split(", ") == ["0.0", "0.2", "0.4", "0.8", "1.0"]
    assert "three grades" in rows[3][0]
