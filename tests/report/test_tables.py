import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from shown import NASTY, assert_plain, rows

from ol2r.experiments.published import printed_numbers
from ol2r.report import tables

NUMBERS = printed_numbers("ol2r.papers.nsgd")
OFFLINE = NUMBERS[NUMBERS["item"] == "table-3"]


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


def test_signs_that_cannot_be_seen_are_escapes_in_plain_text():
    assert tables.plain("a\u202eb\x00\x1b[31m\n c") == r"a\\u202eb\\x00\\x1b\[31m c"


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
    assert lines == [["Fig. 2", "{numref}`nsgd-fig-2`", "same"], ["TD2003", "–", "paper's data not at hand"]]
    with pytest.raises(ValueError, match="roughly"):
        tables.item_map([("Fig. 2", "nsgd-fig-2", "roughly the same")], name="m", caption="")


def z_table(switch: str, **z: float) -> pd.DataFrame:
    """Cells at a distance of z units from a print of 10, with a standard error of one."""
    lines = [(switch, "perfect", learner.replace("_", "-"), 10 + value, 10.0, value) for learner, value in z.items()]
    return pd.DataFrame(lines, columns=["switch", "users", "learner", "mean", "published_mean", "z"])


def test_a_switch_explains_users_only_if_it_closes_every_gap_of_theirs_that_it_touches():
    main = z_table("the paper's text", DBGD=-4.0, CPS=0.5, NSGD=-6.0)
    wider = z_table("a larger deviation", DBGD=-4.0, CPS=0.5, NSGD=-5.9).assign(z=[-4.0, 0.5, -2.0])
    screened = pd.concat([
        z_table("closes both", DBGD=1.0, CPS=0.0, NSGD=-2.0),
        z_table("leaves one", DBGD=1.0, CPS=0.0, NSGD=-3.5),
        z_table("hardly closes one", DBGD=-2.9, CPS=0.5, NSGD=-2.0),
        z_table("opens one", DBGD=1.0, CPS=3.5, NSGD=-2.0),
        z_table("touches NSGD only", DBGD=-4.0, CPS=0.5, NSGD=2.9),
        wider,
        z_table("touches no gap", CPS=0.1),
        z_table("touches nothing", DBGD=-4.0 + 1e-12, CPS=0.5, NSGD=float("nan")),
    ])  # fmt: skip
    table = tables.explained({"table-3": (main, screened)}).set_index("switch")
    assert table["users"][table["users"] != ""].to_dict() == {"closes both": "perfect", "touches NSGD only": "perfect"}
    counts = ["touched", "before", "after", "closed", "opened"]
    assert table.loc["opens one", counts].tolist() == [3, 2, 1, 2, 1]
    assert table.loc["hardly closes one", counts].tolist() == [2, 2, 0, 1, 0]
    assert table.loc["touches NSGD only", counts].tolist() == [1, 1, 0, 1, 0]
    assert table.loc["a larger deviation", counts].tolist() == [1, 1, 0, 0, 0]
    assert table.loc["touches nothing", counts].tolist() == [0, 0, 0, 0, 0]
    told = tables.explained_in_words({"table-3": (main, screened)})
    assert "2 of 3 entries" in told
    assert told.endswith("closes both (perfect), touches NSGD only (perfect).")


def test_gaps_are_explained_in_both_printed_tables_or_not_at_all():
    def cells(switch, perfect, navigational):
        return pd.concat([
            z_table(switch, NSGD=perfect), z_table(switch, NSGD=navigational).assign(users="navigational"),
        ])  # fmt: skip

    screens = {
        "table-2": (
            cells("the paper's text", -4.0, -5.0),
            pd.concat([cells("w = 0", 0.0, 0.0), cells("no ties", 0.0, 0.0), cells("δ", 0.0, -4.5)]),
        ),
        "table-3": (
            cells("the paper's text", -4.0, 1.0),
            pd.concat([cells("w = 0", 0.0, 3.5), cells("no ties", -3.5, 2.0), cells("δ", 0.0, 0.0)]),
        ),
    }
    table = tables.explained(screens)
    assert table[["switch", "item", "users"]].to_numpy().tolist() == [
        ["w = 0", "table-2", ""],  # a gap opens for other users of the other table
        ["w = 0", "table-3", ""],
        ["no ties", "table-2", "navigational"],  # the perfect gap of the other table stays
        ["no ties", "table-3", "navigational"],
        ["δ", "table-2", "perfect"],
        ["δ", "table-3", "perfect"],
    ]
    assert tables.explained_in_words(screens).endswith(": no ties (navigational), δ (perfect).")
    lines = rows(tables.explanations(screens, name="t", caption=""))
    assert lines[0] == ["w = 0", "table-2", "2", "2", "0", "2", "0", "–"]
    assert lines[1] == ["w = 0", "table-3", "2", "1", "1", "1", "1", "–"]


def test_readings_stand_beside_the_print(grid):
    two = {"as it is": tables.compare(grid, OFFLINE, "ndcg")}
    two["higher"] = tables.compare(grid.assign(ndcg=grid["ndcg"] + 0.5), OFFLINE, "ndcg")
    lines = rows(tables.readings_beside({"Table 3": two}, "NSGD", name="t", caption=""))
    own = cell(two["as it is"], "MQ2008", "perfect", "NSGD")
    assert lines[0][:2] == ["Table 3, perfect, MQ2008", "0.488"]
    assert lines[0][2] == f"{own['mean']:.3f} ({tables.signed(own['z'], 1)})"
    assert lines[0][3].startswith(f"{own['mean'] + 0.5:.3f} (+") and len(lines) == 3


def test_deviations_stand_beside_the_printed_ones(grid):
    frame = pd.concat([grid.assign(switch="as it is"), grid.assign(switch="twice", ndcg=2 * grid["ndcg"])])
    table = tables.spreads(frame, OFFLINE, "ndcg").set_index(["switch", "users", "learner"])
    own = grid.query("users == 'perfect' and learner == 'NSGD' and round == 1000")["ndcg"].std()
    printed = OFFLINE.query("dataset == 'MQ2008' and users == 'perfect' and learner == 'NSGD'")["deviation"].item()
    assert table.loc[("as it is", "perfect", "NSGD"), "ratio"] == pytest.approx(own / printed)
    assert table.loc[("twice", "perfect", "NSGD"), "ratio"] == pytest.approx(2 * own / printed)
    told = tables.spreads_in_words({"Table 3": table.reset_index()})
    ratios = table["ratio"].groupby("switch").median()
    nearer = np.log(ratios).abs().idxmin()
    assert f"from twice they are {ratios['twice']:.2f} times those of Table 3" in told
    assert told.endswith(f"The printed deviations are nearer to those of runs from {nearer}.")
    lines = rows(tables.spreads_beside({"Table 3": table.reset_index()}, name="t", caption=""))
    assert lines[0][:2] == ["Table 3, perfect", "as it is"] and lines[0][-1] == f"{own / printed:.2f}"


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
        (("reproduced", "undecided"), "undecided"),
        (("undecided",), "undecided"),
        (("not testable",), "undecided"),
        (("not judged (smoke)",), "undecided"),
        ((), "undecided"),
    ],
)
def test_a_figure_is_the_same_only_if_every_claim_on_it_is_reproduced(verdicts, outcome):
    judged = [SimpleNamespace(verdict=verdict) for verdict in verdicts]
    assert tables.outcome_of_figure(True, judged) == outcome
    assert tables.outcome_of_figure(False, judged) == "not at hand"
    assert outcome in tables.OUTCOMES


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
    assert lines[3][-1] == f"**{online.mean():.1f}** ({online.std():.1f})"
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


def by_learner(frame, **named):
    return rows(tables.scores_by_learner(tables.final(frame, ["ndcg"]), name="t", caption="", **named))


def test_many_learners_have_a_line_each_and_users_a_column(two_sets):
    one = two_sets[two_sets["dataset"] == "own"]
    lines = by_learner(one)
    assert [line[0] for line in lines] == tables.LEARNERS.ordered(one["variant"])
    own = one.query("users == 'perfect' and variant == 'NSGD' and round == 500")["ndcg"]
    best = {line[0]: line[1] for line in lines}
    assert best["NSGD"].replace("*", "") == f"{own.mean():.3f} ({own.std():.3f})"
    assert all(sum(line[k].startswith("**") for line in lines) == 1 for k in range(1, len(lines[0])))


def test_what_learns_from_labels_comes_last_and_is_never_the_best(two_sets):
    one = two_sets[two_sets["dataset"] == "own"]
    winner = next(line[0] for line in by_learner(one) if line[1].startswith("**"))
    lines = by_learner(one, apart=(winner,), digits=1)
    assert lines[-1][0] == winner and not any("**" in entry for entry in lines[-1])
    assert sum(line[1].startswith("**") for line in lines) == 1 and re.fullmatch(r"\d\.\d \(\d\.\d\)", lines[-1][1])


def test_lines_of_learners_stand_under_the_name_of_their_data_set(two_sets):
    lines = by_learner(two_sets, not_at_hand=["MSLR-WEB10K"], name_of=str.upper)
    heads = [line[0] for line in lines if set(line[1:]) == {""}]
    assert heads == ["**MQ2008**", "**OWN**", f"MSLR-WEB10K: *{tables.NOT_AT_HAND}*"]
    with pytest.raises(ValueError, match="one score"):
        tables.scores_by_learner(tables.final(two_sets, list(BOTH)), name="t", caption="")


def test_values_on_an_edge_of_their_grid_are_told_with_what_they_gain():
    edges = pd.DataFrame(
        {
            "dataset": "own", "grid": "PairRank", "name": "alpha", "value": 1.0, "inside": 0.1, "gain": -0.002,
            "error": 0.01,
        },
        index=[0],
    )  # fmt: skip
    told = tables.tuning_edges(edges, {"alpha": "α"}, name_of=str.upper)
    assert "PairRank on OWN, α = 1 (−0.002 ± 0.010 over 0.1)." in told
    assert tables.tuning_edges(edges[:0], {}) == "No chosen value lies on an edge of its grid."


def test_tuning_tells_the_range_of_a_grid_and_the_chosen_setting_beside_the_best_other_one():
    scores = pd.DataFrame(
        {"dataset": "own", "grid": ["PairRank"] * 3 + ["PDGD"], "score": [0.4, 0.3, 0.35, 0.2]}
    )
    chosen = pd.DataFrame(
        {
            "dataset": "own", "grid": ["PairRank"] * 3 + ["PDGD"], "alpha": [0.1, 0.01, 0.1, 0.001],
            "regularization": [1e-4, 0.1, 1.0, np.nan], "longer": [0.5, 0.55, 0.1, np.nan],
            "best_of": ["all", "PairRank_C", "", "all"],
        }
    )  # fmt: skip
    names = {"alpha": "α", "regularization": "λ"}
    assert rows(tables.tuning(chosen, scores, names, name="t", caption="", name_of=str.upper)) == [
        ["OWN", "PairRank", "3", "0.300 to 0.400", "α = 0.1, λ = 0.0001: 0.500", "α = 0.01, λ = 0.1: 0.550"],
        ["OWN", "PDGD", "1", "0.200 to 0.200", "–", "–"],
    ]


def test_paired_differences_are_of_the_runs_that_both_have():
    def made(gains, score="ndcg", users="perfect", folds=1):
        lines = [
            {"dataset": "own", "users": users, "fold": fold, "seed": seed, "round": t, score: 0.5 + seed + t * gain}
            for fold in range(1, folds + 1)
            for seed, gain in enumerate(gains)
            for t in (0, 1)
        ]
        return pd.DataFrame(lines)

    def table(**pairs):
        text = tables.paired_differences({"": pairs}, name="t", caption="", name_of=str.upper)
        return rows(text)

    still = made([0.0] * 3)
    assert table(a=(made([0.1, 0.2, 0.3]), still, "ndcg"), b=(still, still, "ndcg")) == [
        ["perfect, OWN", "+0.200 [−0.048, +0.448]", "the same"]
    ]
    assert table(a=(made([0.1, 0.3]), still, "ndcg")) == [["perfect, OWN", "+0.200 [−1.071, +1.471]"]]
    assert table(a=(made([0.1]), still, "ndcg")) == [["perfect, OWN", "+0.100 (one run)"]]
    assert table(a=(made([10.0, 11.0], "cndcg"), made([0.0] * 2, "cndcg"), "cndcg"))[0][1].startswith("+10.5 [")
    of_folds = made([0.1], folds=2).assign(ndcg=lambda f: f["ndcg"] + 0.1 * (f["fold"] == 2) * f["round"])
    assert table(a=(of_folds, made([0.0], folds=2), "ndcg")) == [["perfect, OWN", "+0.150 [−0.485, +0.785]"]]
    pairs = {"a": (made([0.1, 0.2, 0.3]), still, "ndcg"), "b": (made([-0.1, -0.11, -0.12]), still, "ndcg")}
    told = "Four lines: a above 0 in 0 and below in 0 of 1; b above 0 in 0 and below in 1 of 1."
    assert tables.differences_in_words(pairs, "Four lines") == told
    assert tables.differences_in_words({"a": (still[:0], still, "ndcg")}, "None") == ""
    (other,) = table(a=(made([0.1], users="informational"), still, "ndcg"))
    assert other == ["informational, OWN", "–"]
    assert table(a=(still[:0], still, "ndcg"), b=(pd.DataFrame(), still, "ndcg")) == []
    nothing = {"sum": {"a": (still[:0], still, "ndcg")}, "mean": {"a": (still[:0], still, "ndcg")}}
    assert rows(tables.paired_differences(nothing, name="t", caption="")) == []
    grouped = {"sum": {"a": (still, still, "ndcg")}, "mean": {"a": (still, still, "ndcg")}}
    assert [line[0] for line in rows(tables.paired_differences(grouped, name="t", caption=""))] == [
        "**sum**", "perfect, own", "**mean**", "perfect, own",
    ]  # fmt: skip



def test_what_comes_from_data_is_shown_as_it_is_and_never_read_as_markup(two_sets):
    named = two_sets.assign(dataset=two_sets["dataset"].replace("own", NASTY))
    assert_plain(tables.final_scores(tables.final(named, ["ndcg"]), {"ndcg": "offline"}, name="t", caption=""))


def test_folded_texts_stand_whole_inside_their_fold():
    said = tables.folded("More", tables.myst(["a"], [["1"]], name="one", caption="One."), "And this.")
    outer, *inner, end, last = said.split("\n")
    assert (outer, end, last) == ("::::{dropdown} More", "::::", "")
    assert "::::" not in "\n".join(inner) and {":::{table} One.", "And this."} <= set(inner)


@pytest.mark.parametrize(
    ("value", "digits", "told"),
    [
        (162_345.6, 4, "162,300"),
        (1.5e6, 4, "1,500,000"),
        (99_996, 4, "100,000"),
        (1234, 4, "1,234"),
        (53.0, 4, "53"),
        (53.257, 4, "53.26"),
        (9.9996, 4, "10"),
        (0.000_012_34, 2, "0.000012"),
        (-1620.0, 2, "−1,600"),
        (0, 3, "0"),
        (float("nan"), 3, "–"),
    ],
)
def test_a_rounded_number_is_written_out_in_full(value, digits, told):
    assert tables.rounded(value, digits) == told


@pytest.mark.parametrize(
    ("value", "digits", "told"),
    [
        (0.0001, 6, "0.0001"),
        (0.000_01, 6, "10⁻⁵"),
        (-0.000_012_34, 2, "−1.2 · 10⁻⁵"),
        (1.93e-22, 1, "2 · 10⁻²²"),
        (521.4, 2, "520"),
        (1000, 6, "1000"),
        (3_580_000, 2, "3.6 · 10⁶"),
        (-1.4e12, 2, "−1.4 · 10¹²"),
        (0, 6, "0"),
    ],
)
def test_a_number_far_from_one_is_written_with_a_power_of_ten(value, digits, told):
    assert tables.number(value, digits) == told


def test_a_table_by_columns_fills_templates_from_rows_and_asks_functions():
    frame = pd.DataFrame({"users": ["a", "b"], "mean, N = 2": [0.5, np.nan], "n": [1200, 3], "worst": [-0.0312, 0.5]})
    given = {
        "users, n": "{users}: {n:,}",
        "share": "{mean, N = 2:share}",
        "worst": "{worst:signed 2}, {worst:significant 1}",
        "twice": lambda row: f"{2 * row.n}",
    }
    text = tables.columns(frame, given, name="t", caption="c")
    assert text.startswith(":::{table} c\n:name: t\n")
    assert rows(text) == [["a: 1,200", "50 %", "−0.03, −0.03", "2400"], ["b: 3", "–", "+0.50, 0.5", "6"]]
    headed = rows(tables.columns(frame, {"n": "{n}"}, under="{users}{{x}}", name="t", caption="c"))
    assert headed == [["**a{x}**"], ["1200"], ["**b{x}**"], ["3"]]
    assert rows(tables.columns(frame[:0], {"n": "{n}"}, under="{users}", name="t", caption="c")) == []
    with pytest.raises(KeyError, match="rounds"):
        tables.columns(frame, {"rounds": "{rounds}"}, name="t", caption="c")
