import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ol2r.experiments.claims import VERDICTS, judge
from ol2r.experiments.nsgd_claims import CLAIMS
from ol2r.experiments.published import printed_numbers
from ol2r.report import tables

NUMBERS = printed_numbers("nsgd")
OFFLINE = NUMBERS[NUMBERS["item"] == "table-3"]


def rows(text):
    """Cells of a MyST table's body."""
    return [
        [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if line.startswith("|")
    ][2:]


def cell(table, dataset, users, learner):
    return table.query("dataset == @dataset and users == @users and learner == @learner").iloc[0]


def test_the_distance_is_in_combined_standard_errors(grid):
    found = cell(tables.compare(grid, OFFLINE, "ndcg"), "MQ2008", "perfect", "NSGD")
    ours = grid.query("users == 'perfect' and learner == 'NSGD' and round == 1000")["ndcg"]
    assert found["mean"] == pytest.approx(ours.mean()) and found["n"] == 75
    error = (ours.std() ** 2 / 75 + 0.043**2 / 75) ** 0.5
    assert found["z"] == pytest.approx((ours.mean() - 0.488) / error)


def test_significance_is_the_two_sided_paired_t_test_against_mgd_for_higher_means(grid):
    table = tables.compare(grid, OFFLINE, "ndcg")
    last = grid.query("users == 'perfect' and round == 1000").pivot_table("ndcg", ["fold", "seed"], "learner")
    for learner in ("DBGD", "NSGD"):
        assert cell(table, "MQ2008", "perfect", learner)["p"] == pytest.approx(
            stats.ttest_rel(last[learner], last["MGD"]).pvalue
        )
    assert cell(table, "MQ2008", "perfect", "NSGD")["significant"]
    assert not cell(table, "MQ2008", "perfect", "DBGD")["significant"]  # significant, but lower
    assert np.isnan(cell(table, "MQ2008", "perfect", "MGD")["p"])


def test_the_printed_error_is_over_the_runs_of_its_own_table(grid):
    found = cell(tables.compare(grid, OFFLINE.assign(runs=25), "ndcg"), "MQ2008", "perfect", "NSGD")
    assert found["published_error"] == pytest.approx(0.043 / 25**0.5)


def test_another_baseline_is_what_the_others_are_tested_against(grid):
    table = tables.compare(grid, OFFLINE, "ndcg", baseline="DBGD")
    assert np.isnan(cell(table, "MQ2008", "perfect", "DBGD")["p"])
    assert cell(table, "MQ2008", "perfect", "MGD")["significant"]


def test_a_comparison_has_every_printed_cell_and_every_one_of_ours(grid):
    table = tables.compare(grid, OFFLINE, "ndcg")
    assert len(table) == 75 and not table.duplicated(["dataset", "users", "learner"]).any()
    extended = tables.compare(grid.assign(dataset="ClueWeb09_webis"), OFFLINE, "ndcg")
    assert len(extended) == 75 + 15
    assert extended[extended["data"] == "ClueWeb09_webis"]["published_mean"].isna().all()


def test_rows_stand_in_the_papers_order_with_ours_last(grid):
    table = tables.compare(grid.assign(dataset="ClueWeb09_webis"), OFFLINE, "ndcg")
    assert table["users"].unique().tolist() == ["perfect", "navigational", "informational"]
    assert table.query("users == 'perfect'")["dataset"].unique().tolist() == [
        "MQ2007", "MQ2008", "HP2003", "NP2003", "TD2003", "ClueWeb09_webis",
    ]  # fmt: skip
    assert table["learner"].tolist()[:5] == ["DBGD", "CPS", "DP-DBGD", "MGD", "NSGD"]


def test_published_beside_reproduced(grid):
    text = tables.beside(tables.compare(grid, OFFLINE, "ndcg"), name="nsgd-table-3", caption="Offline.")
    assert text.startswith(":::{table} Offline.\n:name: nsgd-table-3\n") and text.endswith(":::\n")
    lines = rows(text)
    at = next(i for i, line in enumerate(lines) if line[0] == "perfect, MQ2008")
    published, reproduced, difference = lines[at : at + 3]
    assert published == ["perfect, MQ2008", "published", "0.465 (0.042)", "0.474 (0.042)", "0.461 (0.041)",
                         "0.487 (0.037)", "**0.488** (0.043)"]  # fmt: skip
    assert reproduced[1] == "reproduced" and reproduced[-1].startswith("**0.700** (0.010) ▲")
    assert difference[1] == "difference / s.e." and re.fullmatch(r"[+−]\d+\.\d", difference[-1])


def test_data_that_is_not_at_hand_keeps_its_published_numbers(grid):
    lines = rows(tables.beside(tables.compare(grid, OFFLINE, "ndcg"), name="t", caption=""))
    at = next(i for i, line in enumerate(lines) if line[0] == "informational, TD2003")
    assert lines[at][1:3] == ["published", "0.174 (0.099)"]
    assert lines[at + 1][1] == f"*{tables.NOT_AT_HAND}*" and set(lines[at + 1][2:]) == {""}


def test_a_stand_in_is_called_what_it_is(grid):
    partial = grid.assign(dataset="MQ2007_partial85")
    comparison = tables.compare(partial, OFFLINE, "ndcg", stand_ins={"MQ2007": "MQ2007_partial85"})
    lines = rows(tables.beside(comparison, name="t", caption=""))
    at = next(i for i, line in enumerate(lines) if line[0] == "perfect, MQ2007")
    assert "85" in lines[at + 1][1] and lines[at + 2][1] == "difference / s.e."


def test_our_own_data_set_stands_without_published_numbers(grid):
    lines = rows(
        tables.beside(
            tables.compare(grid.assign(dataset="own"), OFFLINE, "ndcg"), name="t", caption="", name_of=str.upper
        )
    )
    own = [line for line in lines if line[0].endswith(", OWN")]
    assert len(own) == 3 and all(line[1] == "ours, not in the paper" for line in own)


def test_effect_sizes_are_paired_and_carry_their_interval(grid):
    table = tables.effects(grid, "ndcg")
    found = cell(table, "MQ2008", "perfect", "NSGD")
    last = grid.query("users == 'perfect' and round == 1000").pivot_table("ndcg", ["fold", "seed"], "learner")
    paired = last["NSGD"] - last["MGD"]
    assert found["difference"] == pytest.approx(0.1) and found["low"] < 0.1 < found["high"]
    assert found["d"] == pytest.approx(paired.mean() / paired.std())
    assert "MGD" not in set(table["learner"])
    line = rows(tables.effect_sizes(table, name="e", caption="", name_of=str))[3]
    assert (
        line[:3] == ["informational", "MQ2008", "NSGD"] and line[3].startswith("+0.100 [+0.0") and line[5] == "< 0.001"
    )


def test_one_seed_a_fold_has_an_effect_without_an_interval(grid):
    table = tables.effects(grid.query("seed == 0"), "ndcg")
    assert table["low"].isna().all() and table["difference"].notna().all()
    assert "[–, –]" in tables.effect_sizes(table, name="e", caption="", name_of=str)


def test_a_screen_measures_every_switch_against_print(grid):
    table = tables.screen(grid.assign(switch="as printed"), OFFLINE, "ndcg")
    whole = tables.compare(grid, OFFLINE, "ndcg")
    assert len(table) == 15
    found = table.query("users == 'perfect' and learner == 'CPS'")["z"].iloc[0]
    assert found == cell(whole, "MQ2008", "perfect", "CPS")["z"]


def test_cells_of_text_cannot_break_a_table():
    text = tables.conventions([("n | m", 3, "two\nlines")], name="c", caption="")
    assert rows(text) == [["n \\| m", "3", "two lines"]]


def test_what_was_not_measured_says_so():
    text = tables.silences([("ε", "0.01", None), ("n", "20", "+0.1")], name="s", caption="")
    assert [line[2] for line in rows(text)] == ["not measured", "+0.1"]


def test_the_map_links_items_and_knows_four_outcomes():
    lines = rows(
        tables.item_map([("Fig. 2", "nsgd-fig-2", "same"), ("TD2003", None, "not at hand")], name="m", caption="")
    )
    assert lines == [["Fig. 2", "{numref}`nsgd-fig-2`", "same"], ["TD2003", "–", "not at hand"]]
    with pytest.raises(ValueError, match="roughly"):
        tables.item_map([("Fig. 2", "nsgd-fig-2", "roughly the same")], name="m", caption="")


@pytest.fixture(scope="module")
def judgements(grid, invented_results):
    return [judge(claim, {"table-3": invented_results(grid)}, NUMBERS) for claim in CLAIMS[1:4]]


def test_every_claim_is_listed_under_its_anchor(judgements):
    lines = rows(tables.claims_overview(judgements, name="nsgd-claims", caption="Claims."))
    assert [line[0] for line in lines] == ["{ref}`NS2 <nsgd-ns2>`", "{ref}`NS3 <nsgd-ns3>`", "{ref}`NS4 <nsgd-ns4>`"]
    assert lines[0][4] == "3 of 14" and "reproduced" in lines[0][2]
    assert lines[2][3] == "–"


def test_verdicts_of_data_sets_stand_side_by_side(judgements):
    first, second, _ = judgements
    found = {"NS2": {"MQ2008": first}, "NS3": {"MQ2008": second, "simulated worlds": first}, "NS4": {}}
    lines = rows(tables.verdicts_by_data(found, name="v", caption=""))
    assert [line[0] for line in lines] == ["{ref}`NS2 <nsgd-ns2>`", "{ref}`NS3 <nsgd-ns3>`"]
    assert lines[0][1:] == [tables.badge(first.verdict), "–"]
    assert lines[1][1:] == [tables.badge(second.verdict), tables.badge(first.verdict)]


def test_a_claims_block_has_anchor_rule_and_grounds(judgements):
    text = tables.claim(judgements[0])
    assert ":name: nsgd-ns2" in text and judgements[0].rule in text and judgements[0].reason in text


def test_the_opening_counts_verdicts(judgements):
    told = tables.opening(judgements)
    assert told.startswith("Of the paper's 3 claims: ") and "2 reproduced, 1 not testable" in told and "MQ2008" in told


def test_the_opening_says_which_part_of_a_data_set_was_used(judgements):
    told = tables.opening([replace(judgements[0], data=("MQ2007_partial85", "MQ2008"))])
    assert "(paper tier on MQ2007, 85 % of documents; MQ2008)" in told


def test_verdicts_are_told_apart_without_colour():
    assert len({re.sub("<[^>]*>", "", tables.badge(verdict)) for verdict in VERDICTS}) == len(VERDICTS)
    assert 'verdict-not-judged-smoke"' in tables.badge("not judged (smoke)")


def z_table(switch: str, **z: float) -> pd.DataFrame:
    return pd.DataFrame([(switch, "perfect", learner.replace("_", "-"), value) for learner, value in z.items()],
                        columns=["switch", "users", "learner", "z"])  # fmt: skip


def test_a_switch_explains_a_row_only_if_it_closes_every_gap_it_touches_there():
    main = z_table("the paper's text", DBGD=-4.0, CPS=0.5, NSGD=-6.0)
    screened = pd.concat([
        z_table("closes both", DBGD=1.0, CPS=0.0, NSGD=-2.0),
        z_table("leaves one", DBGD=1.0, CPS=0.0, NSGD=-3.5),
        z_table("opens one", DBGD=1.0, CPS=3.5, NSGD=-2.0),
        z_table("touches NSGD only", DBGD=-4.0, CPS=0.5, NSGD=2.9),
        z_table("touches no gap", CPS=0.1),
        z_table("touches nothing", DBGD=-4.0 + 1e-12, CPS=0.5, NSGD=float("nan")),
    ])  # fmt: skip
    table = tables.explained({"table-3": (main, screened)}).set_index("switch")
    assert table["rows"].to_dict() == {
        "closes both": "perfect",
        "leaves one": "",
        "opens one": "",
        "touches NSGD only": "perfect",
        "touches no gap": "",
        "touches nothing": "",
    }
    counts = ["touched", "before", "after", "closed", "opened"]
    assert table.loc["opens one", counts].tolist() == [3, 2, 1, 2, 1]
    assert table.loc["touches NSGD only", counts].tolist() == [1, 1, 0, 1, 0]
    assert table.loc["touches nothing", counts].tolist() == [0, 0, 0, 0, 0]
    told = tables.explained_in_words({"table-3": (main, screened)})
    assert "2 of 3 cells" in told
    assert told.endswith("closes both (table-3, perfect), touches NSGD only (table-3, perfect).")


def test_rows_of_users_and_printed_tables_are_explained_apart():
    def cells(switch, perfect, navigational):
        return pd.concat([
            z_table(switch, NSGD=perfect), z_table(switch, NSGD=navigational).assign(users="navigational"),
        ])  # fmt: skip

    main = cells("the paper's text", -4.0, -5.0)
    screens = {
        "table-2": (main, pd.concat([cells("w = 0", 0.0, -4.5), cells("no ties", 0.0, 0.0)])),
        "table-3": (main.assign(z=[-4.0, 1.0]), pd.concat([cells("w = 0", 0.0, 3.5), cells("no ties", 0.0, 2.0)])),
    }
    table = tables.explained(screens)
    assert table[["switch", "item", "rows"]].to_numpy().tolist() == [
        ["w = 0", "table-2", "perfect"],  # the navigational gap stays
        ["no ties", "table-2", "perfect, navigational"],
        ["w = 0", "table-3", ""],  # a gap opens for other users of the same table
        ["no ties", "table-3", "perfect"],
    ]
    assert tables.explained_in_words(screens).endswith(
        "w = 0 (table-2, perfect), no ties (table-2, perfect, navigational; table-3, perfect)."
    )
    lines = rows(tables.explanations(screens, name="t", caption=""))
    assert lines[0] == ["w = 0", "table-2", "2", "2", "1", "1", "0", "perfect"]
    assert lines[2] == ["w = 0", "table-3", "2", "1", "1", "1", "1", "–"]


def test_gaps_that_no_switch_closes_are_the_finding():
    main = z_table("the paper's text", NSGD=-6.0)
    told = tables.explained_in_words({"table-3": (main, z_table("some", NSGD=-5.0))})
    assert "*not reproduced*" in told
    assert "nothing to explain" in tables.explained_in_words({"t": (main.assign(z=1.0), z_table("some", NSGD=9.0))})
    assert "at hand" in tables.explained_in_words({"t": (main.assign(z=float("nan")), z_table("some"))})


def test_the_effect_of_a_switch_is_its_paired_mean_change(grid):
    higher = grid.assign(switch="up", ndcg=grid["ndcg"] + 0.25, cndcg=grid["cndcg"] - 2.0)
    up = higher[higher["learner"] == "NSGD"]
    assert tables.switch_effects(up, grid) == {"up": "offline +0.250 … +0.250; online −2.00 … −2.00"}


def test_a_printed_table_is_the_same_only_if_no_cell_on_its_own_data_is_a_gap(grid):
    comparison = tables.compare(grid, OFFLINE, "ndcg")
    assert tables.outcome_of_table(comparison.assign(z=comparison["z"] * 0)) == "same"
    assert tables.outcome_of_table(comparison.assign(z=comparison["z"] * 0 + 3.1)) == "differs"
    assert tables.outcome_of_table(comparison.assign(data="another")) == "not at hand"


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        (("reproduced", "reproduced"), "same"),
        (("reproduced", "not reproduced", "undecided"), "differs"),
        (("reproduced", "consistent"), "undecided"),
        (("undecided",), "undecided"),
        (("not testable",), "undecided"),
        (("not judged (smoke)",), "undecided"),
        ((), "undecided"),
    ],
)
def test_a_figure_is_the_same_only_if_every_claim_on_it_is_reproduced(judgements, verdicts, outcome):
    judged = [replace(judgements[0], verdict=verdict) for verdict in verdicts]
    assert tables.outcome_of_figure(True, judged) == outcome
    assert tables.outcome_of_figure(False, judged) == "not at hand"
    assert outcome in tables.OUTCOMES


def test_audits_say_how_far_from_theory_and_from_the_mistake():
    summary = pd.DataFrame({"audit": ["duel"], "quantity": ["mean"], "mistake": ["d for d′"], "lines": [3],
                            "z": [1.26], "z_mistaken": [40.04]})  # fmt: skip
    assert rows(tables.audits(summary, name="t", caption=""))[-1] == ["duel", "mean", "3", "1.3", "d for d′", "40.0"]


@pytest.fixture
def two_sets(grid):
    """Two data sets, the second with fewer rounds, its learners called variants."""
    other = grid[grid["round"] <= 500].assign(dataset="own", ndcg=grid["ndcg"] + 1, cell="own/" + grid["cell"])
    return pd.concat([grid, other]).rename(columns={"learner": "variant"})


BOTH = {"ndcg": "offline", "cndcg": "online"}


def final_lines(frame, **named):
    return rows(tables.final_scores(tables.final(frame, list(BOTH)), BOTH, name="t", caption="", **named))


def test_final_scores_are_those_of_each_data_sets_last_round(two_sets):
    lines = final_lines(two_sets, name_of=str.upper)
    assert [line[0] for line in lines[:4]] == ["perfect, MQ2008", "", "perfect, OWN", ""]
    assert [line[1] for line in lines[:2]] == ["offline", "online"]
    online = two_sets.query("users == 'perfect' and variant == 'NSGD' and dataset == 'own' and round == 500")["cndcg"]
    assert lines[3][-1] == f"**{online.mean():.3f}** ({online.std():.3f})"
    assert lines[0][-1].startswith("**") and not lines[0][2].startswith("**")


def test_the_offline_rankers_score_stands_beside_the_offline_scores_only(two_sets):
    assert [line[-1] for line in final_lines(two_sets, reference={"own": 0.5})[:4]] == ["", "", "0.500", ""]


def test_declared_data_that_is_not_at_hand_keeps_its_line(two_sets):
    last = final_lines(two_sets, not_at_hand=["MSLR-WEB10K"])[-1]
    assert last[0] == f"MSLR-WEB10K: *{tables.NOT_AT_HAND}*" and set(last[1:]) == {""}
    assert final_lines(two_sets[:0], not_at_hand=["MSLR-WEB10K"])[0][0] == f"MSLR-WEB10K: *{tables.NOT_AT_HAND}*"


def test_a_single_score_needs_no_name(two_sets):
    text = tables.final_scores(tables.final(two_sets, ["ndcg"]), {"ndcg": "offline"}, name="t", caption="")
    assert "| users, data | DBGD |" in text and "offline" not in text


def test_best_cells_on_an_edge_of_their_grid_are_told_with_the_values_that_are_ends():
    scores = pd.DataFrame(
        {
            "dataset": "own", "variant": ["PairRank_C"] * 3 + ["PairRank_R"] * 3, "alpha": [1, 2, 3] * 2,
            "regularization": 0.1, "epsilon": np.nan, "best": [False, True, False, True, False, False],
        }
    )  # fmt: skip
    names = {"alpha": "α", "regularization": "λ", "epsilon": "ε"}
    assert "lie: PairRank_R on OWN (α = 1)." in tables.tuning_edges(scores, names, name_of=str.upper)
    inside = scores[scores["variant"] == "PairRank_C"]
    assert tables.tuning_edges(inside, names) == "No best cell lies on an edge of its grid."


def test_tuning_tells_the_best_and_the_worst_cell_with_their_values():
    scores = pd.DataFrame(
        {
            "dataset": "own", "variant": ["PairRank_C", "PairRank_C", "SGD RankNet"], "alpha": [0.1, 0.01, 0.001],
            "regularization": [1e-4, 0.1, np.nan], "score": [0.4, 0.3, 0.2], "best": [True, False, True],
            "worst": [False, True, True],
        }
    )  # fmt: skip
    text = tables.tuning(scores, {"alpha": "α", "regularization": "λ"}, name="t", caption="", name_of=str.upper)
    assert rows(text) == [
        ["OWN", "SGD RankNet", "1", "α = 0.001: 0.200", "α = 0.001: 0.200"],
        ["OWN", "PairRank_C", "2", "α = 0.1, λ = 0.0001: 0.400", "α = 0.01, λ = 0.1: 0.300"],
    ]
