"""The page on which readers choose curves shows the means and intervals of the figures, and nothing of single runs."""

import json
import re

import pytest

from ol2r.experiments.effects import summarize
from ol2r.report import explore
from ol2r.report.style import LEARNERS


@pytest.fixture
def shown(grid, invented_results):
    return explore.curves("NSGD", invented_results(grid), {"offline": "ndcg", "online": "cndcg"})


def test_every_line_has_the_means_and_intervals_of_its_runs(grid, shown):
    lines = explore.lines(shown)
    assert len(lines) == 2 * 3 * 5
    (line,) = [
        each for each in lines
        if (each["measure"], each["users"], each["learner"]) == ("online", "perfect", "NSGD")
    ]  # fmt: skip
    own = grid[(grid["users"] == "perfect") & (grid["learner"] == "NSGD")]
    table = summarize(own, "cndcg", ["round"]).sort_values("round")
    assert (line["paper"], line["data"], line["over"]) == ("NSGD", "MQ2008", "runs")
    assert line["color"] == LEARNERS["NSGD"].color
    assert line["n"] == table["n"].iloc[0] and line["round"] == list(table["round"])
    for name in ("mean", "low", "high"):
        assert line[name] == pytest.approx(list(table[name]), rel=10.0 ** (1 - explore.DIGITS))


def test_a_line_without_an_interval_says_so(grid, invented_results):
    single = grid[(grid["seed"] == 0) & (grid["fold"] == 1)]
    (line, *_) = explore.lines(explore.curves("NSGD", invented_results(single), {"offline": "ndcg"}))
    assert line["n"] == 1 and set(line["low"]) == {None} and None not in line["mean"]


def test_two_tables_with_the_same_line_are_refused(shown):
    with pytest.raises(ValueError, match="two tables have the line NSGD, MQ2008"):
        explore.lines([*shown, shown[0]])


def test_the_page_holds_its_lines_and_a_drawing_and_no_single_run(shown):
    html = explore.page(shown, "paper")
    held = re.search(r'<script type="application/json" id="explore-data">(.*?)</script>', html, re.S)
    data = json.loads(held[1])
    lines = [line | {"round": data["rounds"][line["round"]]} for line in data["lines"]]
    assert lines == json.loads(json.dumps(explore.lines(shown))) and len(data["rounds"]) == 1
    assert all("seed" not in line and "fold" not in line for line in data["lines"])
    assert data["drawing"] == explore.drawing() and data["tier"] == "paper"


@pytest.mark.parametrize("text", ["</script><b>", "<!--<script>", "\u2028"])
def test_no_text_ends_the_script_that_holds_it_or_hides_its_end(shown, text):
    hostile = [shown[0]._replace(measure=text)]
    (line,) = [line for line in explore.page(hostile, "paper").splitlines() if "explore-data" in line]
    held = line.partition(">")[2].removesuffix("</script>")
    assert "<" not in held and json.loads(held)["lines"][0]["measure"] == text
    assert explore.page(hostile, "paper").count("</script>") == explore.page(shown[:1], "paper").count("</script>")
