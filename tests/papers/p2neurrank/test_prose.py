"""Texts of the P²NeurRank page: every number, name and word of its sentences is read from what they tell of."""

import itertools
import re
from pathlib import Path

import pandas as pd
import pytest

import ol2r
from ol2r.experiments.tuning import TuningGrid
from ol2r.papers.olranknet import tuning as olranknet
from ol2r.papers.olranknet.errata import Erratum
from ol2r.papers.olranknet.figures import OFFLINE
from ol2r.papers.p2neurrank import grid, prose, tuning
from ol2r.papers.p2neurrank.claims import (
    LINEAR,
    NEURAL,
    ROUNDS,
    linear,
    neural,
)
from ol2r.papers.pairrank import tuning as pairrank
from ol2r.report.tables import number

BOOK = Path(ol2r.__file__).parents[2] / "book"
PAGES = [BOOK / f"p2neurrank{part}.md" for part in ("", "-theory", "-extras")]
KINDS = ("perfect", "navigational", "informational")


def leads(*lines):
    columns = ["dataset", "baseline", "users", "row", "panel", "mean", "low", "high"]
    return pd.DataFrame([("MQ2008", "PairRank", *line) for line in lines], columns=columns)


def signed(*signs, row=LINEAR[0], panel=OFFLINE):
    """A lead under each kind of users that is above 0, below 0 or not apart."""
    return leads(*((kind, row, panel, s, s - 0.5, s + 0.5) for kind, s in zip(KINDS, signs, strict=False)))


def test_without_runs_nothing_is_answered():
    empty = pd.DataFrame()
    assert prose.forms_in_words(empty, ()) == prose.slowing_in_words(empty, ()) == ""
    assert prose.times_as_long(empty, LINEAR[0]).empty and prose.beside_full_in_words(empty) == ""
    assert prose.followed_in_words(empty, empty) == ""
    assert prose.noise_sizes_in_words(empty) == prose.noise_shares_in_words(empty) == ""
    assert prose.wrong_in_words(empty, 0.1) == prose.costs_in_words(empty) == "" and prose.early(empty, empty) == {}
    assert prose.chosen_in_words(empty.assign(best_of=[], dataset=[])) == ""


def test_an_interval_that_is_not_known_is_not_apart():
    unknown = signed(1).assign(low=float("nan"), high=float("nan"))
    assert prose.sides(unknown) == {"not apart": ["perfect"]}


def timing(name, users, rounds, seconds):
    columns = {"cell": name + users, "dataset": "MQ2008", "users": users, "variant": name, "fold": 1, "seed": 0}
    shares = [t / rounds[-1] for t in rounds]
    return pd.DataFrame(
        columns
        | {"round": rounds, "replicas": 2, "rank_seconds": [0.5 * seconds * s for s in shares]}
        | {"update_seconds": [1.5 * seconds * s for s in shares]}
    )


def test_times_are_of_whole_runs_beside_the_rival():
    parts = [timing("PairRank", kind, [10, 100], 4.0) for kind in KINDS[:2]]
    parts += [timing(LINEAR[0], kind, [10, 100], 4.0 * f) for kind, f in zip(KINDS[:2], (2, 0.5), strict=True)]
    parts += [timing(NEURAL[0], "perfect", [5, 20], 7.0)]
    frame = pd.concat(parts)
    assert prose.times_as_long(frame, LINEAR[0]).to_dict() == pytest.approx({"perfect": 2, "navigational": 0.5})
    assert prose.times_as_long(frame, NEURAL[0]).empty  # its rival was not timed


def test_a_round_is_told_on_average_and_in_its_first_and_last_window():
    frame = pd.concat([timing(NEURAL[0], "perfect", [5, 20], 7.0), timing("olRankNet", "perfect", [5, 20], 14.0)])
    assert prose.forms_in_words(frame, ("olRankNet", NEURAL[0], "absent")) == (
        "On average over 20 rounds a round takes olRankNet 700 ms and P²NeurRank, N = 2 350 ms."
    )
    frame.loc[(frame["round"] == 20) & (frame["variant"] == "olRankNet"), "update_seconds"] += 30.0
    told = prose.slowing_in_words(frame, ("olRankNet",))
    assert told == "From the first window between checkpoints to the last: olRankNet from 700 to 1,700 ms a round."


def histories(two, ten, rival=0.2):
    """Shares of wrong orders of linear rankers after 10 of 100 rounds, in four runs with a little spread."""
    sets = [("PairRank", 0, 0.0, rival), (linear(2), 2, 0.1, two), (linear(10), 10, 0.1, ten)]
    sets += [(linear(2), 2, 0.01, 0.9), (linear(10), 10, 0.01, 0.9)]
    lines = [
        ("x", "MQ2008", kind, "linear", 1, seed, t, name, n, noise, quantity, value + (0.001 * seed if n == 2 else 0.0))
        for kind in KINDS[::2] for seed in range(4) for t in (10, 100) for name, n, noise, value in sets
        for quantity in ("certain", "false certain", "agree") if n or quantity != "agree"
    ]  # fmt: skip
    columns = ["cell", "dataset", "users", "family", "fold", "seed", "round", "variant", "rankers", "noise"]
    return pd.DataFrame(lines, columns=[*columns, "quantity", "value"])


def alone(two, ten):
    """Offline scores of linear rankers in runs of their own, with ten times what is missing to 1 as regret."""
    lines = [
        ("x", "MQ2008", kind, of(n), 1, seed, 100, n, noise, score + 0.001 * seed * (n == 2), 1000 * (1 - score))
        for kind in KINDS[::2] for seed in range(4) for of in (linear,) for n, score in ((2, two), (10, ten))
        for noise in (0.1, 0.01)
    ]  # fmt: skip
    columns = ["cell", "dataset", "users", "variant", "fold", "seed", "round", "rankers", "noise", "ndcg", "misordered"]
    return pd.DataFrame(lines, columns=columns)


def test_wrong_orders_are_those_after_a_tenth_of_the_rounds_at_the_size_of_the_noise_that_is_asked_for():
    frame = histories(0.3, 0.1)
    assert prose.wrong_in_words(frame, 0.1) == (
        "At ν² = 0.1 so many of the certain orders of documents with different grades are wrong: *linear rankers*, "
        "after 10 rounds, 30.1 % with N = 2, 10 % with N = 10 and 20 % with PairRank (two beside ten: more under all "
        "users; two beside PairRank: more under all users)."
    )
    small = prose.wrong_in_words(frame, 0.01)
    assert small.startswith("At ν² = 0.01 ") and "90.1 % with N = 2, 90 % with N = 10 and 20 % with PairRank" in small
    assert "(two beside ten: not clearly more or fewer under all users; two beside PairRank: more under all" in small
    assert "fewer under all users" in prose.wrong_in_words(histories(0.05, 0.1), 0.1)
    assert prose.wrong_in_words(frame.query("noise != 0.01"), 0.01) == ""


def test_what_noise_does_to_certain_orders_is_counted_over_rankers_and_users():
    frame = histories(0.3, 0.1)
    less = (frame["noise"] == 0.01) & (frame["quantity"] == "false certain")
    frame.loc[less & (frame["rankers"] == 10), "value"] = 0.05
    assert prose.noise_sizes_in_words(frame) == (
        "**What does ν² do?** In so many pairs of N and users there are clearly more or fewer of these at 0.01 than at "
        "0.1: *linear rankers*, certain orders (more in 4 of 4), wrong ones among those of different grades (more in 2 "
        "and fewer in 2 of 4)."
    )
    assert prose.noise_shares_in_words(frame) == (
        "Shares at ν² = 0.01 minus shares at 0.1 after a tenth of the rounds, in percentage points, over all pairs of "
        "N and users: *linear rankers*, certain orders +60.0 to +80.0 (clearly more in 4 of 4, fewer in 0), wrong ones "
        "among those of different grades −5.0 to +60.0 (clearly more in 2 of 4, fewer in 2)."
    )
    same = frame.assign(value=0.5)
    assert "certain orders (more or fewer in 0 of 4)" in prose.noise_sizes_in_words(same)
    for without in (frame.query("noise != 0.01"), frame[:0]):
        assert prose.noise_sizes_in_words(without) == prose.noise_shares_in_words(without) == ""


@pytest.mark.parametrize(
    ("wrong", "scores", "answer"),
    [
        ((0.3, 0.1), (0.4, 0.5), ({"better"}, {"better"}, {"worse"})),
        ((0.3, 0.1), (0.5, 0.4), ({"better"}, {"worse"}, {"better"})),
        ((0.1, 0.3), (0.4, 0.5), ({"worse"}, {"better"}, {"worse"})),
    ],
)
def test_two_rankers_are_compared_with_ten_in_wrong_orders_in_the_ranker_and_in_regret(wrong, scores, answer):
    assert prose.early(histories(*wrong), alone(*scores)) == {"linear": answer}


def test_rounds_that_ensembles_follow_stand_beside_those_that_they_run():
    followed, own = histories(0.3, 0.1), alone(0.4, 0.5).assign(round=250)
    assert prose.followed_in_words(followed, own) == (
        "Linear rankers follow 100 rounds, a tenth of which is 10, and run 250 by themselves."
    )
    both = pd.concat([followed, followed.assign(family="neural", round=2 * followed["round"])])
    assert prose.followed_in_words(both, own[:0]) == (
        "Linear rankers follow 100 rounds, a tenth of which is 10; networks follow 200 rounds, a tenth of which is 20."
    )


def test_budgets_of_tuning_are_counted_in_the_grids_and_shortlists_of_each_data_set():
    said = prose.budgets_in_words()
    for name, of in ((NEURAL[0], tuning), (NEURAL[1], tuning), ("olRankNet", olranknet), ("PairRank", pairrank)):
        many = len(list(itertools.product(*of.GRIDS[name].tried.values())))
        assert f"{many} on MQ2008 ({len(of.TUNED.shortlist('MQ2008', name))})" in said
    wide = len(olranknet.GRIDS["olRankNet"].settings(wide=True))
    longer = len(olranknet.TUNED.shortlist("synthetic-mslr", "olRankNet"))
    assert f"olRankNet: {wide} on synthetic-mslr ({longer}) and " in said
    whole = len(pairrank.GRIDS["PairRank"].settings())
    assert f"PairRank: {whole} on synthetic-mslr (" in said  # a data set that is wide to networks alone


def test_the_witness_is_told_in_the_end_and_where_the_main_runs_end():
    lines = [(NEURAL[0], 1000, 0.5), ("olRankNet", 1000, 0.4), (NEURAL[0], 5000, 0.6), ("olRankNet", 5000, 0.7)]
    frame = pd.DataFrame(lines, columns=["variant", "round", "ndcg"])
    assert prose.witness_in_words(frame).startswith(
        "After 5,000 rounds offline NDCG@10 was 0.600 for P²NeurRank, N = 2 and 0.700 for olRankNet, after 1,000 "
        "rounds 0.500 for P²NeurRank, N = 2 and 0.400 for olRankNet."
    )
    assert "1,000" not in prose.witness_in_words(frame[2:])
    assert prose.witness_in_words(frame[:1]) == prose.witness_in_words(frame[:0]) == ""


def test_values_of_the_paper_that_a_grid_leaves_out_are_named():
    assert prose.untried(TuningGrid(("x",), {"rate": (1e-2, 1.0), "noise": (1.0,)})) == "η 0.1 and 0.001"
    assert prose.untried(TuningGrid(("x",), prose.PAPERS_GRID)) == "none"
    wide = TuningGrid(("x",), prose.PAPERS_GRID, wide={"rate": (1e-6, 1e-2, 1e-3)})
    assert prose.untried(wide) == "none; where documents have many features η 0.1"


def test_a_grid_is_told_with_the_values_that_it_tries_where_features_are_many():
    grid_of = TuningGrid(("x",), {"noise": (0.1, 1.0), "rate": (1e-3,)}, wide={"rate": (1e-6,)})
    assert prose.told(grid_of) == "ν² ∈ {0.1, 1}; η ∈ {0.001}; where documents have many features η ∈ {10⁻⁶}"
    told = {name: str(value) for name, value, _ in prose.CONVENTIONS}["grid of P²NeurRank"]
    given = tuning.TUNED.chosen("synthetic-mslr", NEURAL[0])["rate"]
    assert number(given) in told.rpartition("η ∈ ")[2]


def test_shared_histories_are_as_long_as_the_conventions_say():
    told = {name: str(value) for name, value, _ in prose.CONVENTIONS}["shared histories"]
    last = {cell.family: cell.rounds[-1] for cell in grid.ITEMS["histories"].cells("paper")}
    assert f"linear rankers follow {last['linear']:,} rounds, networks {last['neural']:,}" in told


def test_conventions_have_the_values_that_run():
    told = {name: str(value) for name, value, _ in prose.CONVENTIONS}
    assert told["rounds T"].startswith(f"{ROUNDS:,}; networks 1,000")
    assert f"{grid.RUNS} runs of linear rankers" in told["runs"]
    assert told["grid of P²LinRank"].startswith("ν² ∈ {0.001, 0.01, 0.1, 1, 10}; λ ∈ {0.01,")
    assert all(source for _, _, source in prose.CONVENTIONS)


def test_grids_that_share_a_line_of_the_conventions_are_the_same():
    full, diagonal = (f"olRankNet, 16 × 16, {form}" for form in ("full", "diagonal"))
    for one, other in (LINEAR, NEURAL, (full, diagonal)):
        assert tuning.GRIDS[one].tried == tuning.GRIDS[other].tried
        assert tuning.GRIDS[one].wide == tuning.GRIDS[other].wide


def test_every_claim_is_told_in_a_few_words_and_rests_on_an_item_of_the_map_or_is_ours():
    ids = {claim.id for claim in grid.PAPER.claims}
    assert ids == set(prose.SHORT)
    assert {each for *_, own in prose.MAP for each in own} == ids - set(prose.OURS)


def test_items_of_the_map_fail_where_an_erratum_says_so_of_their_statement():
    failed = {title.split(",")[0] for title, *_ in prose.MAP if prose.fails(title)}
    assert {"Lemma 4.2", "Lemma 4.4", "Theorem 4.5"} == failed
    assert not failed & set(prose.LIVE)


def test_an_erratum_fails_the_items_of_its_place_or_one_of_them(monkeypatch):
    one, other = "A.2, variance of the noise", "A.2, anti-concentration"
    assert any(each.place == other and each.harm == "statement" for each in prose.ERRATA)
    assert not prose.fails(one) and prose.fails(other)
    monkeypatch.setattr(prose, "ERRATA", [Erratum("A.2", "", "statement")])
    assert prose.fails(one) and prose.fails(other) and not prose.fails("Lemma 4.2, deviation of the estimate")
    monkeypatch.setattr(prose, "ERRATA", [Erratum("A.2", "", "proof"), Erratum(one, "", "statement")])
    assert prose.fails(one) and not prose.fails(other)


def test_the_pages_judge_every_claim_once_and_have_every_anchor_that_is_named_once():
    text = "".join(path.read_text() for path in PAGES)
    judged = re.findall(r'"(PP[TX]?\d+)"', " ".join(re.findall(r"claims\((.*?)\)", text)))
    assert sorted(judged) == sorted(prose.SHORT)
    anchors = re.findall(r"^\s+name: (p2neurrank-\S+)", text, re.MULTILINE)
    anchors += re.findall(r'name="(p2neurrank-\S+?)"', text)
    assert len(set(anchors)) == len(anchors)
    assert {anchor for _, anchor, _ in prose.MAP if anchor} <= set(anchors)
    assert {"p2neurrank-choices-effects", "p2neurrank-tuning"} <= set(anchors)
    assert {item for *_, item in prose.SILENCES if item} == {"choices", "tuning"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_figure_of_a_page_has_caption_and_anchor(page):
    figures = re.findall(r"---\nmystnb:\n(.*?)\n---\n", page.read_text(), re.DOTALL)
    assert figures
    for head in figures:
        assert "caption:" in head and re.search(r"name: p2neurrank-\S+", head)


def test_figures_of_networks_say_their_depth():
    own = [*(f"fig-{number}" for number in (4, 5, 6, 7, 9)), "answer", "before-ten", "choices-effects"]
    own += [f"tuning-{each}" for each in ("two", "five", "small")]
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in own:
        caption = text[: text.index(f"name: p2neurrank-{name}\n")].rsplit("caption: |", 1)[1]
        assert "d-m-1" in caption or "d-m-m-1" in caption, name


def test_every_choice_is_of_a_variant_that_runs_as_in_the_main_results_too():
    main = {variant for variant, changed in grid.CHOICES.values() if not changed}
    assert main == {variant for variant, _ in grid.CHOICES.values()} and neural(2) in main


def test_click_models_have_five_grades_first():
    rows = prose.click_models()
    assert [name for name, *_ in rows[:3]] == list(KINDS)
    assert rows[0][1].split(", ") == ["0.0", "0.2", "0.4", "0.8", "1.0"]
    assert "three grades" in rows[3][0]
