"""Texts of the P²NeurRank page: every number, name and word of its sentences is read from what they tell of."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import ol2r
from ol2r.experiments.effects import Effect
from ol2r.experiments.tuning import TuningGrid
from ol2r.experiments.verdicts import Finding
from ol2r.papers.olranknet.errata import Erratum
from ol2r.papers.p2neurrank import grid, prose, tuning
from ol2r.papers.p2neurrank.claims import (
    LINEAR,
    NEURAL,
    ROUNDS,
    TIMED,
    linear,
    neural,
)
from ol2r.report.tables import number

BOOK = Path(ol2r.__file__).parents[2] / "book"
PAGES = [BOOK / f"p2neurrank{part}.md" for part in ("", "-theory", "-extras")]
KINDS = ("perfect", "navigational", "informational")


def test_without_runs_there_are_no_numbers():
    empty = pd.DataFrame()
    assert prose.times_as_long(empty, LINEAR[0]).empty and prose.milliseconds(empty).isna().all()
    tables = [prose.wrong(empty, 0.1), prose.two_beside(empty, 0.1), prose.ten_beside_two(empty)]
    for table in [*tables, prose.less_noise(empty, "certain")]:
        assert table.empty and pd.Series(prose.ends(table)).isna().all()


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


def test_a_round_is_timed_over_the_whole_run():
    frame = pd.concat(
        [timing(NEURAL[0], "perfect", [5, 20], 7.0), timing("olRankNet, diagonal", "perfect", [5, 20], 14.0)]
    )
    taken = prose.milliseconds(frame)
    assert list(taken.index) == list(TIMED)
    assert taken.dropna().to_dict() == pytest.approx({NEURAL[0]: 350, "olRankNet, diagonal": 700})


def test_wrong_orders_are_those_after_a_tenth_of_the_rounds_at_the_size_of_the_noise_that_is_asked_for():
    frame = histories(0.3, 0.1)
    own = prose.wrong(frame, 0.1)
    by_row = own.groupby("row")["mean"].agg(["min", "max"]).loc[[linear(2), linear(10), "PairRank"]]
    assert by_row.to_numpy() == pytest.approx(np.array([[0.3015] * 2, [0.1] * 2, [0.2] * 2]))
    assert prose.ends(own[own["row"] == linear(2)], "two_", 100)["linear_two_max"] == pytest.approx(30.15)
    assert set(prose.wrong(frame, 0.01).query("row != 'PairRank'")["mean"].round(1)) == {0.9}
    beside = prose.two_beside(frame, 0.1)
    assert list(beside["row"].unique()) == [linear(10), "PairRank"] and set(beside["family"]) == {"linear"}
    assert list(beside["users"].unique()) == list(KINDS[::2]) and (beside["low"] > 0).all()
    assert (prose.two_beside(histories(0.05, 0.1), 0.1)["high"] < 0).all()


def test_less_noise_is_compared_by_ranker_and_users():
    frame = histories(0.3, 0.1)
    less = (frame["noise"] == 0.01) & (frame["quantity"] == "false certain")
    frame.loc[less & (frame["rankers"] == 10), "value"] = 0.05
    by_row = prose.less_noise(frame, "false certain").groupby("row")["mean"].agg(["size", "min", "max"])
    assert by_row.loc[linear(2)].to_list() == pytest.approx([2, 0.6, 0.6])
    assert by_row.loc[linear(10)].to_list() == pytest.approx([2, -0.05, -0.05])
    assert prose.less_noise(frame.query("noise != 0.01"), "certain").empty


def test_ten_rankers_are_compared_with_two_in_the_ranker_and_in_regret():
    found = prose.ten_beside_two(alone(0.4, 0.5)).groupby("panel")[["low", "high"]].agg(["min", "max"])
    assert (found.loc["ndcg"] > 0).all() and (found.loc["regret"] < 0).all()


def test_effects_of_a_claim_stand_with_their_users():
    one, open_ = (
        Finding(
            SimpleNamespace(label="a − b"),
            (name, "perfect"),
            name,
            Effect(0.5, 0.0, 3, 1, 4) if name == "MQ2008" else None,
        )
        for name, effect in (("MQ2008", Effect(0.5, 0.0, 3, 1, 4)), ("MSLR-WEB10K", None))
    )
    table = prose.tested(SimpleNamespace(tested=(one, open_)))
    assert table.to_numpy().tolist() == [["MQ2008", "perfect", "a − b", 0.5, 0.5, 0.5]]


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
