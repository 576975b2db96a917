"""What `import ol2r` offers: the five-line example, on any data, gives what the rooms below give."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import torch
from fakes import heeding
from matplotlib.text import Text
from small import SETTINGS

import ol2r
from ol2r import papers
from ol2r.clicks import GradedCascade, users, users_of_grades
from ol2r.errors import DataError, ExperimentError
from ol2r.experiments import runner
from ol2r.experiments.chapter import stored_results
from ol2r.experiments.kinds.given import travels
from ol2r.face import _looks, setting
from ol2r.learners import LEARNERS
from ol2r.random import Streams, generator, replica_key
from ol2r.ranking import Candidates
from ol2r.report.style import LEARNERS as LOOKS


@pytest.fixture(scope="module")
def own():
    """Sixty queries whose first feature tells the grade, on four grades."""
    rng = generator("a reader's own data", 0)
    features = rng.random((600, 5))
    grades = (features[:, 0] * 3.99).astype(int)
    return ol2r.from_arrays(features, grades, np.repeat(range(60), 10), folds=3, name="own")


@pytest.fixture(scope="module")
def compared(own):
    both = ["perfect", "navigational"]
    return ol2r.compare(own, ["PDGD", "PairRank"], users=both, rounds=60, seeds=2, progress=False)


def test_the_face_is_small_and_cheap():
    assert dir(ol2r) == sorted(ol2r.__all__) and all(hasattr(ol2r, name) for name in dir(ol2r))
    heavy = "import sys, ol2r; print([name for name in ('torch', 'numba', 'pandas') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True).stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'compair'"):
        ol2r.compair  # noqa: B018


def test_a_comparison_loads_no_more_than_it_needs():
    # each would lengthen the start of every process: figures, tests of hypotheses, chapters that lack the learner
    code = """
import sys, ol2r
ol2r.compare(ol2r.load("synthetic-tiny"), ["PDGD", "PairRank"], rounds=2, seeds=1, jobs=1, progress=False)
chapters = {f"ol2r.papers.{each}.grid" for each in ("nsgd", "olranknet", "p2neurrank", "comparison")}
print(sorted({"matplotlib", "seaborn", "scipy.stats", "scipy.optimize", "ol2r.report", *chapters} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_learners_learn_what_the_data_has_to_teach(compared):
    frame = compared.frame
    assert list(frame.columns[:6]) == ["dataset", "users", "learner", "fold", "seed", "round"]
    assert len(frame[frame["round"] == 60]) == 2 * 2 * 3 * 2
    first, last = (frame[frame["round"] == at].groupby("learner")["ndcg"].mean() for at in (0, 60))
    assert (last > first + 0.1).all()


@pytest.mark.parametrize("engine", ["numba", "torch"])
def test_a_perfect_list_has_an_online_score_of_one_whatever_its_grade(engine):
    grades = np.array([1, 24, 25, 53, 54, 62, 63, 64, 65, 100, 126])
    data = ol2r.from_arrays(np.ones((len(grades), 2)), grades, np.arange(len(grades)), folds=2)
    frame = ol2r.compare(data, "PDGD", rounds=50, seeds=1, engine=engine, progress=False).frame
    assert (frame["ndcg"] == 1).all() and (frame["online_ndcg"][frame["round"] > 0] == 1).all()


def test_final_scores_are_means_over_runs(compared):
    final = compared.final()
    assert set(final["score"]) == {"offline NDCG", "online score"} and (final["n"] == 6).all()
    line = final.query("learner == 'PDGD' and users == 'perfect' and score == 'offline NDCG'").iloc[0]
    runs = compared.frame.query("learner == 'PDGD' and users == 'perfect' and round == 60")["ndcg"]
    assert line["mean"] == pytest.approx(runs.mean()) and line["low"] < line["mean"] < line["high"]


def test_what_was_compared_is_told(compared):
    told = repr(compared)
    for part in (
        "own (the reader's own)", "60 queries", "4 grades", "2 seeds in each of 3 folds, 60 rounds",
        "those of pairrank", "users perfect: click 0 / 0.267 / 0.667 / 1, then stop 0",
        "PDGD: PDGD of its paper, alpha", "PairRank: PairRank_R of its paper, alpha",
    ):  # fmt: skip
        assert part in told


@pytest.mark.parametrize("score", ["ndcg", "cndcg"])
def test_curves_are_drawn_of_any_names(compared, score):
    drawing = compared.plot(score)
    assert set(drawing.table["learner"]) == {"PDGD", "PairRank"}
    assert "own (the reader's own)" in " ".join(drawing.axes[0].get_ylabel().split())
    colours = {line.get_label(): line.get_color() for line in drawing.axes[0].get_lines()}
    assert colours["PairRank"] == LOOKS["PairRank_R"].color and colours["PDGD"] == LOOKS["PDGD"].color
    with pytest.raises(ExperimentError, match="no score 'ndgc': did you mean 'ndcg'"):
        compared.plot("ndgc")


def test_a_run_repeats_whatever_stands_beside_it(own, compared):
    alone = ol2r.compare(own, {"PDGD": {}}, users=users_of_grades("perfect", 4), rounds=60, seeds=1, progress=False)
    same = compared.frame.query("learner == 'PDGD' and users == 'perfect' and seed == 0")
    pd.testing.assert_frame_equal(alone.frame, same[alone.frame.columns].reset_index(drop=True))


@pytest.fixture
def in_processes(monkeypatch):
    """Short comparisons are spread over processes as long ones are."""
    monkeypatch.setattr(runner, "WORTH_PROCESSES", 0.0)
    monkeypatch.setattr(runner, "SHORTEST_SHARD", 1e-9)


@pytest.mark.usefixtures("in_processes")
def test_the_number_of_processes_changes_nothing():
    rng = generator("data that processes share as a file", 0)
    features = rng.random((6000, 60))  # more than a megabyte
    data = ol2r.from_arrays(features, (features[:, 0] * 3.99).astype(int), np.repeat(range(600), 10), folds=2)
    learners = {"PDGD": {}, "DBGD": {}, "PairRank": {}}

    def frame(jobs):
        return ol2r.compare(data, learners, users=["perfect", "navigational"], rounds=10, seeds=2, jobs=jobs).frame

    alone, several = frame(1), frame(2)
    exact = [name for name in alone if name != "ndcg"]
    pd.testing.assert_frame_equal(alone[exact], several[exact], check_exact=True)
    pd.testing.assert_series_equal(alone["ndcg"], several["ndcg"], rtol=1e-5)
    assert alone["dataset"].unique().tolist() == [data.name]


@pytest.mark.usefixtures("in_processes")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_is_the_same_in_any_number_of_processes(own, jobs):
    untested = replace(own, folds=tuple(replace(fold, test=fold.test[:0]) for fold in own.folds))
    with pytest.raises(ValueError, match=r"^own \(the reader's own\) has no test queries to score in fold 1"):
        ol2r.compare(untested, ["PDGD", "DBGD"], rounds=5, seeds=1, jobs=jobs, progress=False)


def test_data_in_a_file_without_a_name_stays_in_this_process(own, tmp_path):
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        file.write(own.features.tobytes())
        file.flush()
        nameless = np.memmap(file, np.float32, "r", shape=own.features.shape)
        assert travels(own) and not travels(replace(own, features=np.asarray(nameless)))


INTERRUPTED = """
import numpy, ol2r
from ol2r.experiments import runner
runner.WORTH_PROCESSES = 0.0
features = numpy.random.default_rng(0).random((200, 5))
data = ol2r.from_arrays(features, (features[:, 0] * 3.99).astype(int), numpy.repeat(range(20), 10), folds=4)
ol2r.compare(data, "PDGD", rounds=100_000_000, seeds=2, jobs=2)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="children are counted in /proc")
def test_ctrl_c_ends_a_comparison_and_its_processes_with_a_clear_line():
    asked = [sys.executable, "-c", INTERRUPTED]
    process = subprocess.Popen(asked, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heeding)
    while sum(seconds > 3 for seconds in _session(process.pid).values()) < 3:  # itself and two workers that compute
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    told = process.communicate(timeout=300)[1]
    assert told.strip().splitlines()[-1] == (
        "KeyboardInterrupt: the comparison was interrupted; 0 of 8 runs were done, and nothing is kept"
    )
    while _session(process.pid):
        time.sleep(0.1)


def _session(leader):
    """The processes of a session that have not ended, each with its seconds of CPU."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            values = stat.read_text().rpartition(")")[2].split()
            if int(values[3]) == leader and values[0] != "Z":
                found[stat.parent.name] = (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")
    return found


def test_hyper_parameters_change_where_they_are_named(own):
    changed = ol2r.compare(own, {"PDGD": {"alpha": 0.0}}, users="perfect", rounds=20, seeds=1, progress=False)
    assert changed.frame["ndcg"].groupby(changed.frame["fold"]).nunique().eq(1).all()  # nothing is learnt
    with pytest.raises(ValueError, match="PDGD takes alpha, decay"):
        ol2r.compare(own, {"PDGD": {"rate": 0.1}}, rounds=1, progress=False)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"learners": ["PairRnk"]}, ExperimentError, "no learner 'PairRnk': did you mean 'PairRank'"),
        ({"conventions": "bubblerank"}, ExperimentError, "no paper with conventions 'bubblerank'"),
        ({"users": "perfct"}, ExperimentError, "no kind of users 'perfct': did you mean 'perfect'"),
        ({"users": ["perfect", "perfect"]}, ValueError, "two kinds of users have the same name"),
        ({"users": []}, ValueError, "needs a learner and a kind of users"),
        ({"learners": []}, ValueError, "needs a learner and a kind of users"),
        ({"learners": "PDG"}, ExperimentError, "no learner 'PDG': did you mean 'PDGD'"),
        ({"learners": "PairRank-Lemma2"}, ValueError, "PairRank-Lemma2 takes alpha, .*; missing: alpha, bound, "),
        ({"users": users("perfect", 3)}, ValueError, r"^own \(.*\) has 4 grades, the users 'perfect' know 3$"),
        ({"rounds": 0}, ValueError, "rounds must be a whole number of at least 1, not 0"),
        ({"rounds": 2.5}, ValueError, "rounds must be a whole number of at least 1, not 2.5"),
        ({"jobs": 0}, ValueError, "jobs must be a whole number of at least 1, not 0"),
        ({"seeds": 0}, ValueError, "seeds must be a whole number of at least 1, not 0"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(own, changed, error, message):
    given = {"learners": ["PDGD"], "rounds": 2, "seeds": 1, "progress": False} | changed
    with pytest.raises(error, match=message):
        ol2r.compare(own, **given)


def test_every_learner_has_a_setting():
    known = {learner for name in papers.NAMES for learner, _ in papers.paper(name).settings("own").values()}
    other_forms = {"PairRank-Lemma2", "olLambdaRank-ranked", "SafePairRank", "BoundedPairRank", "RecursivePairRank"}
    assert known == set(LEARNERS) - other_forms
    found = setting("PairRank", "own", "pairrank", {"alpha": 0.5})
    assert found[:2] == ("PairRank_R", "PairRank")
    assert found.hyperparameters == {**setting("PairRank_R", "MQ2008", "nsgd", {}).hyperparameters, "alpha": 0.5}


def test_users_of_any_name_are_compared_and_drawn(own):
    mine = GradedCascade("in a hurry", (0.1, 0.2, 0.3, 0.9), (0.9,) * 4, "after_click")
    compared = ol2r.compare(own, "PDGD", users=["perfect", mine], rounds=5, seeds=1, progress=False)
    assert set(compared.plot().table["users"]) == {"perfect", "in a hurry"}
    assert "users in a hurry: click 0.1 / 0.2 / 0.3 / 0.9, then stop 0.9" in repr(compared)


@pytest.mark.parametrize("name", [r"$\frac$", "a$b$", "<b>\x00\u202e\n"])
def test_a_figure_shows_any_name_of_data_and_users_as_text(compared, name):
    hostile = replace(compared, label=name, frame=compared.frame.replace({"users": {"perfect": name}}))
    fig = hostile.plot()
    right = r"<b>\x00\u202e" if "<" in name else name.replace("$", r"\$")
    assert len([text for text in fig.findobj(Text) if text.get_text() == right]) == 2  # of the data and of the users
    ElementTree.fromstring(fig._repr_svg_())


def test_a_figure_tells_apart_as_many_learners_as_it_has_looks():
    looks = _looks({f"PDGD {i}": "PDGD" for i in range(5)})
    assert looks["PDGD 0"] == LOOKS["PDGD"] and len({looks[name].color for name in looks}) == 5
    with pytest.raises(ValueError, match="learners apart, not 99"):
        _looks({str(i): "PDGD" for i in range(99)})


UNSET = {"olRankNet": SETTINGS["olRankNet"]}
"""Learners that no chapter sets, with all their hyper-parameters."""


@pytest.mark.parametrize("name", ["PairRank_C", "PDGD", "epsilon-greedy", "DBGD", "MGD", *UNSET])
def test_a_live_learner_decides_as_one_that_knows_all_queries(name, own):
    """The same learner on the data set's own candidates, of which a round names one query."""
    changed = UNSET.get(name, {})
    online = ol2r.Online(name, own.n_features, seed=3, **changed)
    _, learner, values = setting(name, "", "pairrank", changed)
    known = LEARNERS[learner](own.n_features, values, Streams(np.array([replica_key("online", 1, 3)])))
    features, offsets = torch.from_numpy(own.features), torch.from_numpy(own.offsets)
    totals = torch.from_numpy(np.add.reduceat(own.features, own.offsets[:-1]))
    of = [ol2r.candidates(own.query(query)[0], normalize=False) for query in range(8)]
    drawn = generator("queries", 0).integers(0, len(of), size=60)
    for query in drawn:
        named = Candidates(features, offsets, totals, torch.tensor([query]))
        expected = known.rank(named, 10)
        shown = online.rank(of[query])
        np.testing.assert_array_equal(shown, expected[0])
        clicks = own.query(query)[1][shown] > 2
        known.update(named, expected, torch.from_numpy(clicks)[None])
        online.update(clicks.tolist())
    scores = known.evaluated().scores(torch.from_numpy(own.query(0)[0]), torch.tensor([0]))[:, 0]
    np.testing.assert_array_equal(online.scores(of[0]), scores.double())
    assert online.scores(of[0]).std() > 0


def test_what_is_wrong_with_live_use_is_said():
    online = ol2r.Online("PDGD", 5)
    with pytest.raises(ValueError, match="no list waits for clicks"):
        online.update([])
    with pytest.raises(ValueError, match="expected 5 features, found 2"):
        online.rank(ol2r.candidates(np.ones((3, 2))))
    with pytest.raises(ValueError, match="expected 5 features, found 9"):
        online.scores(ol2r.candidates(np.ones((3, 9))))
    with pytest.raises(DataError, match="expected finite features"):
        ol2r.candidates(np.array([[np.inf]]))
    with pytest.raises(DataError, match="found the shape"):
        ol2r.candidates(np.ones(3))
    with pytest.raises(ExperimentError, match="NSGD replays earlier queries"):
        ol2r.Online("NSGD", 5)
    for wrong in (0, -1, 2.5):
        with pytest.raises(ValueError, match="depth must be a whole number of at least 1"):
            online.rank(ol2r.candidates(np.ones((3, 5))), wrong)
    assert len(online.rank(ol2r.candidates(np.ones((3, 5))))) == 3
    for wrong in ([True], [True, False, 0.5], [2, 0, 0], True):
        with pytest.raises(ValueError, match="expected 3 clicks"):
            online.update(wrong)
    with pytest.raises(ValueError, match="the last list waits for its clicks"):
        online.rank(ol2r.candidates(np.ones((2, 5))))
    online.update([0, 1, 0])
    assert len(online.rank(ol2r.candidates(np.ones((2, 5))))) == 2


@pytest.mark.real_data("MQ2008")
def test_a_comparison_gives_the_published_runs():
    stored = stored_results(papers.paper("pairrank"), "paper")["fig-3"].frame
    frame = ol2r.compare(ol2r.load("MQ2008"), ["PDGD"], rounds=100, seeds=1, progress=False).frame
    published = stored.query("dataset == 'MQ2008' and users == 'navigational' and variant == 'PDGD' and seed == 0")
    both = frame.merge(published, on=["fold", "round"], suffixes=("", "_published"))
    assert len(both) >= 5 * 6
    np.testing.assert_array_equal(both["cndcg"], both["cndcg_published"])
    np.testing.assert_allclose(both["ndcg"], both["ndcg_published"], atol=1e-5)


def test_a_numba_that_was_there_first_is_left_as_it_is():
    code = """
import os, warnings
import numba
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import ol2r
print(len(caught), "imported before ol2r" in str(caught[0].message), os.environ.get("NUMBA_CACHE_DIR"))
"""
    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout == "1 True None\n", done.stderr


def test_grades_that_no_paper_has_are_read_between_those_of_five():
    assert users_of_grades("perfect", 3) == users("perfect", 3)
    seven = users_of_grades("navigational", 7)
    assert isinstance(seven, GradedCascade) and len(seven.click) == 7
    assert (seven.click[0], seven.click[3], seven.click[-1]) == (0.05, 0.5, 0.95)
    assert seven.click[1] == pytest.approx(0.05 + (0.3 - 0.05) * 4 / 6)
    assert all(a <= b for a, b in zip(seven.click, seven.click[1:], strict=False))
    with pytest.raises(ValueError, match="at least 2 grades, not 1"):
        users_of_grades("perfect", 1)
