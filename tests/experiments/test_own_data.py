"""A reader's own data in commands and chapters: known by its content, called the reader's own, never published."""

import json
import re
import shutil

import build
import nbformat
import numpy as np
import pyarrow.parquet as pq
import pytest

import ol2r
from ol2r import cli
from ol2r.clicks import users_of_grades
from ol2r.data import CATALOGUE, is_own, load
from ol2r.data.own import take_in, take_over, taken_in
from ol2r.errors import DataError, ExperimentError
from ol2r.experiments import grid, runner
from ol2r.experiments.cells import TIERS
from ol2r.experiments.claims import label
from ol2r.experiments.origins import awaits_data
from ol2r.experiments.store import Store
from ol2r.experiments.verdicts import judge_all
from ol2r.papers import NAMES, paper
from ol2r.papers.nsgd import grid as nsgd
from ol2r.papers.pairrank import grid as pairrank
from ol2r.report import figures
from ol2r.report.page import Page

SMOKE = ["--tier", "smoke", "--item", "fig-5a", "--seeds", "1"]


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    known = dict(CATALOGUE)
    monkeypatch.setenv("OL2R_STORE", str(tmp_path / "scratch"))
    monkeypatch.setenv("OL2R_RESULTS", str(tmp_path / "results"))
    yield
    CATALOGUE.clear()
    CATALOGUE.update(known)


def letor(n_queries: int = 25, n_grades: int = 4) -> str:
    """Lists of twelve documents with six features, of which the first tells the grade."""
    rng = np.random.default_rng(n_grades)
    lines = []
    for query in range(n_queries):
        for features in rng.random((12, 6)):
            values = " ".join(f"{i}:{value:.4f}" for i, value in enumerate(features, start=1))
            lines.append(f"{int(features[0] * n_grades)} qid:{query} {values}\n")
    return "".join(lines)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "secret place" / "mine.txt"
    path.parent.mkdir()
    path.write_text(letor())
    return path


def files(folder):
    return sorted(folder.glob("*/*.parquet"))


def test_a_run_on_own_data_is_stored_under_its_content_and_found_wherever_it_lies(
    mine, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0.0)  # workers find it as well
    assert cli.main(["run", "nsgd", "--data", str(mine), *SMOKE, "--jobs", "2"]) == 0
    stored = files(tmp_path / "scratch")
    assert len(stored) == 4  # three learners and the reference
    assert cli.main(["publish"]) == 0
    assert not Store.open().publication.keys()
    for path in stored:
        record = json.loads(pq.read_metadata(path).metadata[b"ol2r"])
        fields = record["cell"]["fields"]
        assert fields["dataset"] == f"own-{fields['checksum'][:12]}"
        assert record["data"]["name"] == fields["dataset"] and record["data"]["checksum"] == fields["checksum"]
        assert not record["data"]["confirmed"]
        content = path.read_bytes() + json.dumps(record).encode()
        assert b"mine" not in content and b"secret place" not in content
        assert awaits_data(path)  # `ol2r prune` does not take it for a cell that is declared no more
    capsys.readouterr()
    moved = tmp_path / "elsewhere.txt"
    moved.write_bytes(mine.read_bytes())
    results = ol2r.chapter("nsgd", {"tier": "smoke", "seeds": 1, "datasets": str(moved)}).results("fig-5a")
    assert "to compute" not in capsys.readouterr().out
    (name,) = results.frame["dataset"].unique()
    assert is_own(name) and label(name) == "elsewhere (the reader's own)"
    assert set(results.frame["fold"]) == {1, 2, 3, 4, 5}
    with mine.open("a") as file:
        file.write("1 qid:new 1:0.5\n")
    assert take_in(str(mine)).name != name


def test_other_documents_of_one_name_are_told_apart(tmp_path):
    labels = []
    for grades in (3, 5):
        (tmp_path / str(grades)).mkdir()
        (tmp_path / str(grades) / "mine.txt").write_text(letor(n_grades=grades))
        labels.append(take_in(str(tmp_path / str(grades))).label)  # a folder
        labels.append(take_in(str(tmp_path / str(grades) / "m*.txt")).label)
    assert labels[0] == "3 (the reader's own)" and labels[1] == "mine (the reader's own)"
    assert labels[3].startswith("mine ") and labels[3].endswith(" (the reader's own)") and labels[3] != labels[1]


def test_no_data_set_of_the_project_has_a_name_like_own_data():
    assert not any(map(is_own, CATALOGUE))


def test_an_item_shows_own_data_only_where_it_is_asked_for(mine):
    before = {(name, item, tier): [job.cell.key for job in paper(name).items[item].jobs(tier)]
              for name, item, tier in (("nsgd", "fig-2", "laptop"), ("pairrank", "fig-3", "smoke"))}  # fmt: skip
    own = take_in(str(mine)).name
    for (name, item, tier), keys in before.items():
        assert [job.cell.key for job in paper(name).items[item].jobs(tier)] == keys
        assert {job.cell.dataset for job in paper(name).items[item].jobs(tier, None, [own])} == {own}
    assert not paper("nsgd").items["screen"].jobs("laptop", None, [own])  # which explains gaps to printed numbers
    assert not paper("pairrank").items["tuning"].jobs("paper", None, [own])


def test_every_paper_can_name_its_cells_on_own_data(mine):
    own = take_in(str(mine)).name
    for item in (item for name in NAMES for item in paper(name).items.values()):
        for tier in TIERS:
            for job in item.jobs(tier, 1, [own]):
                assert item.names(job.cell) is not None


def test_own_data_takes_the_values_of_mq2008_and_users_by_its_grades(mine):
    own = take_in(str(mine)).name
    (cell,) = [
        job.cell for job in pairrank.ITEMS["fig-3"].jobs("laptop", None, [own])
        if (job.cell.learner, job.cell.users.name) == ("PDGD", "navigational")
    ]  # fmt: skip
    theirs = pairrank.settings("MQ2008")["PDGD"][1]
    assert dict(cell.hyperparameters) == theirs
    assert cell.users == users_of_grades("navigational", 4) and len(cell.users.click) == 4
    (row,) = [row for row in grid.click_models((3, "")) if row[0].startswith("navigational, mine")]
    assert row[0] == "navigational, mine (the reader's own): 4 grades read between five"
    assert row[1] == "0.05, 0.367, 0.633, 0.95"


def test_claims_are_not_judged_by_own_data(mine, invented_runs, invented_results):
    own = take_in(str(mine)).name
    kinds = ("perfect", "informational")
    means = {(own, kind, name): i for i, name in enumerate(nsgd.LEARNERS_SHOWN) for kind in kinds}
    runs = invented_runs(means, ("dataset", "users", "learner")).assign(cndcg=lambda frame: frame["ndcg"])
    judged = judge_all(nsgd.CLAIMS, {"table-2": invented_results(runs), "table-3": invented_results(runs)}, EMPTY)
    assert {each.verdict for each in judged.values()} == {"not testable"}
    assert not any(each.elsewhere or own in each.data for each in judged.values())


EMPTY = nsgd.PAPER.printed().iloc[:0]


def test_a_page_draws_own_data_first_and_says_whose_it_is(mine, invented_runs, invented_results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = take_in(str(mine)).name
    means = {(data, "perfect", name): 0.5 for data in ("MQ2008", own) for name in ("MGD", "NSGD")}
    runs = invented_runs(means, ("dataset", "users", "learner")).assign(cndcg=1.0, cosine=0.0)
    chapter = ol2r.chapter("nsgd", {"datasets": f"{mine}, MQ2008"})
    assert chapter.datasets == [own, "MQ2008"]
    monkeypatch.setattr(chapter, "all_results", lambda items=None: {"fig-2": invented_results(runs)})
    shown = []
    monkeypatch.setattr("ol2r.report.page.Audience.texts", lambda self, *texts: shown.extend(texts))
    page = Page(chapter, preferred=("MQ2008",))
    assert set(page.on("fig-2")["dataset"]) == {own}
    figure = page.drawn("fig-2", figures.learning_curves)
    assert " ".join(figure.axes[0].get_ylabel().split()) == "mine (the reader's own)"
    page.sources("fig-2", figure, drawn=page.on("fig-2"))
    assert "data: \"mine (the reader's own)\"" in shown[0]
    assert "fig-2-rows.csv --tier laptop --datasets MQ2008 --data PATH" in shown[0]
    assert "verify" not in shown[0] and "unconfirmed" not in shown[0]


def test_papermill_runs_a_chapter_on_the_file_that_a_path_names(mine, tmp_path):
    source = tmp_path / "nsgd.md"
    shutil.copy(build.ROOT / "book" / "nsgd.md", source)
    build.run_chapter(source, {"tier": "smoke", "seeds": 1, "datasets": str(mine)})
    outputs = (out for cell in nbformat.read(source.with_suffix(".ipynb"), 4).cells for out in cell.get("outputs", ()))
    shown = "\n".join(out.get("data", {}).get("text/markdown", "") for out in outputs)
    assert set(re.findall(r'data: "(.*)"', shown)) == {"mine (the reader's own)", "none"}
    assert len(list((tmp_path / "scratch").glob("*/*.parquet"))) > 10


def test_a_chapter_that_may_not_compute_says_how_to_run_own_data(mine, monkeypatch):
    monkeypatch.setenv("OL2R_COMPUTE", "never")
    with pytest.raises(ExperimentError, match=r"ol2r run nsgd --tier smoke --item fig-2 --data PATH$"):
        ol2r.chapter("nsgd", {"tier": "smoke", "datasets": [str(mine)]}).results("fig-2")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"no file .*mine\.txt"),
        ("", "mine.txt: expected at least one document, found an empty file"),
        ("hello world\n", "mine.txt:1: expected an integer grade at the start of the line, found 'hello'"),
        (letor(3), "mine: 3 queries cannot be cut into 5 folds"),
        (letor(n_grades=1), "mine.txt: none of the 15 queries fold 1 has to learn from has a relevant document"),
    ],
)
def test_what_is_no_data_is_refused_in_one_line(mine, content, message, capsys):
    mine.unlink()
    if content is not None:
        mine.write_text(content)
    assert cli.main(["run", "nsgd", "--data", str(mine), *SMOKE]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(message, line)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bubblerank"], "ol2r: no cell of bubblerank at tier 'laptop' can be run on data of your own"),
        (["nsgd", "--datasets", "MQ2080"], "ol2r: no data set 'MQ2080' in nsgd at tier 'laptop'"),
    ],
)
def test_what_own_data_cannot_do_is_refused_in_one_line(mine, arguments, message, capsys):
    assert cli.main(["run", *arguments, "--data", str(mine)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(message)


def test_a_file_that_changes_under_a_worker_is_noticed(mine):
    it = take_in(str(mine))
    given = taken_in()
    mine.write_text(letor(n_grades=3))
    take_over(given)
    with pytest.raises(DataError, match="has changed since it was first read"):
        load(it.name)
