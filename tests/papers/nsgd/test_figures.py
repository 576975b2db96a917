import pandas as pd
import pytest
from shown import line, rows

from ol2r.experiments.published import printed_numbers
from ol2r.papers.nsgd import figures, prose
from ol2r.papers.nsgd.illustration import figure_1
from ol2r.report.figures import learning_curves


@pytest.fixture
def mixes(invented_runs):
    frame = invented_runs({("MQ2008", n): 60.0 - n for n in range(5)}, ("dataset", "n_uniform"), column="cndcg")
    frame["null_proposed"], frame["uniform_proposed"] = (4 - frame["n_uniform"]) * 100, frame["n_uniform"] * 100
    return frame.assign(null_won=0.3 * frame["null_proposed"], uniform_won=0.1 * frame["uniform_proposed"])


def test_selection_ratios_are_wins_a_proposed_candidate(mixes):
    table = figures.selection_ratios(mixes).set_index(["quantity", "n_uniform"])["mean"]
    assert table["null space"].to_dict() == pytest.approx({n: 0.3 for n in range(4)})  # none proposed in the mix 0:4
    assert table["uniform"].to_dict() == pytest.approx({n: 0.1 for n in range(1, 5)})
    assert table["online"].to_dict() == pytest.approx({n: 60.0 - n for n in range(5)})


def test_wins_and_the_online_score_of_each_mix_stand_in_panels_of_their_own(mixes):
    wins, online = figures.selection_dots(mixes).axes
    assert [t.get_text() for t in wins.get_xticklabels()] == ["4:0", "3:1", "2:2", "1:3", "0:4"]
    assert line(wins, "null space candidates").get_ydata() == pytest.approx([0.3] * 4)
    assert list(map(round, line(wins, "null space candidates").get_xdata())) == [0, 1, 2, 3]
    assert list(map(round, line(wins, "uniform candidates").get_xdata())) == [1, 2, 3, 4]
    assert online.containers[0].lines[0].get_ydata() == pytest.approx([60, 59, 58, 57, 56])


def test_rounds_that_the_paper_names_are_drawn_under_their_users_only(grid):
    printed = printed_numbers("ol2r.papers.nsgd").query("item == 'fig-2'")
    fig = figures.with_printed_rounds(learning_curves(grid), printed)
    for ax in fig.panels():
        told = [text.get_text() for text in ax.texts]
        here = ax.get_title() == "informational"
        assert told == (["before 200", "after 800"] if here else [])
        assert [one.get_xdata()[0] for one in ax.lines if len(one.get_xdata()) == 2] == ([200, 800] if here else [])
    assert figures.with_printed_rounds(None, printed) is None


def test_the_illustration_draws_every_arrow_of_its_data():
    data = figure_1(1)
    fig = figures.illustration(data)
    assert [ax.get_title() for ax in fig.axes] == ["null space", "preselection", "tie breaking"]
    assert fig.table.groupby("panel", sort=False).size().tolist() == [6 + 1 + 2, 8, 2]
    best = fig.table[fig.table["arrow"] == "largest preselection"][["step_1", "step_2"]].to_numpy()[0]
    assert (best == data["candidates"][data["preselection"].argmax()]).all()


def derived(**columns) -> pd.DataFrame:
    return pd.DataFrame({"expected": [1.0, 0.5], "measured": [1.01, 0.49], "standard_error": [0.01, 0.01], **columns})


@pytest.mark.parametrize(
    ("draw", "x", "columns", "told"),
    [
        (figures.advance_against_candidates, "candidates", {"candidates": [1, 4], "null_dimension": 21}, "for d′ = 21"),
        (figures.losers_against_margin, "margin", {"margin": [-0.1, 0.1]}, "1.01 at a margin of -0.1, 0.49 at"),
        (
            figures.error_against_energy,
            "energy",
            {"energy": [0.1, 0.5], "directions": 1, "orthogonal": False, "whole": 0.9, "threshold": 0.4},
            "crosses that of the whole space, 0.9 at φ = 0.4 for 1 direction",
        ),
    ],
)
def test_an_audit_shows_what_was_derived_as_a_line_and_what_was_measured_as_points(draw, x, columns, told):
    table = derived(**columns)
    fig = draw(table)
    line, points = fig.axes[0].lines[0], fig.axes[0].containers[0].lines[0]
    assert line.get_ydata().tolist() == table["expected"].tolist() and line.get_xdata().tolist() == table[x].tolist()
    assert points.get_ydata().tolist() == table["measured"].tolist()
    assert fig.axes[0].get_xlabel() and "standard errors" in fig.axes[0].get_ylabel()
    assert told in fig.alt and fig.alt.endswith("No point is further than 1.0 standard errors from its derived line.")


def test_audits_say_how_far_from_theory_and_from_the_mistake():
    summary = pd.DataFrame({"audit": ["duel"], "quantity": ["mean"], "mistake": ["d for d′"], "lines": [3],
                            "z": [1.26], "z_mistaken": [40.04]})  # fmt: skip
    (told,) = rows(prose.audits_told(summary, name="t", caption=""))
    assert told == ["duel", "mean", "3", "1.3", "d for d′", "40.0"]
