"""The `play` kind of cell: its table, and that a row does not depend on what runs beside it."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from ol2r import data
from ol2r.bandits import simulate_bandit
from ol2r.experiments.blocks import check_table
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds.play import Play
from ol2r.experiments.kinds.populations import POSITIONS, Counted, Declared
from ol2r.papers.bubblerank import grid as bubblerank
from ol2r.papers.bubblerank.worlds import halved_examination, small
from ol2r.random import replica_key

CHECKPOINTS = (1, 10, 300)


def cell(bandit="BubbleRank", users=None, **changed):
    return bubblerank.play(users or small("CM"), bandit, checkpoints=CHECKPOINTS, **changed)


def run(*jobs):
    return Play.run_group(jobs, Context())


@pytest.mark.parametrize("bandit", bubblerank.SHOWN)
def test_a_table_has_a_line_for_every_row_and_checkpoint(bandit):
    job = Job(cell(bandit), cell(bandit).rows(None, range(2)))
    (frame,) = run(job)
    check_table(job.cell, job.rows, frame)
    assert len(frame) == 2 * 2 * len(CHECKPOINTS)
    assert set(job.cell.exact) <= set(frame.columns)
    assert not set(job.cell.labels()) & set(frame.columns)


def test_rows_are_what_the_bandit_gives_alone():
    users = small("DCM")
    rows = (Row(1, 0), Row(2, 3))
    (frame,) = run(Job(cell(users=users), rows))
    for row in rows:
        query = users.queries()[row.fold - 1]
        key = replica_key(users.dataset, *row)
        trace = simulate_bandit(
            "BubbleRank", bubblerank.SETTINGS["BubbleRank"], [query.users], [query.initial], [key], 300, CHECKPOINTS, 5
        )
        own = frame[(frame["fold"] == row.fold) & (frame["seed"] == row.seed)]
        np.testing.assert_array_equal(own["regret"], trace.regret[0])
        np.testing.assert_array_equal(own["violations"], trace.violations[0])
        steps = np.diff(CHECKPOINTS, prepend=0)
        np.testing.assert_allclose(own["ndcg_total"], np.cumsum(trace.ndcg[0] * steps))


def test_cells_of_a_group_run_side_by_side_as_they_run_alone():
    jobs = [Job(cell("TopRank", small(model)), (Row(1, 0), Row(2, 1))) for model in ("CM", "PBM")]
    assert jobs[0].cell.group == jobs[1].cell.group
    for together, job in zip(run(*jobs), jobs, strict=True):
        pd.testing.assert_frame_equal(together, run(job)[0])


def test_random_initial_lists_differ_between_runs_and_not_between_bandits():
    first = cell(initial="random")
    frames = [run(Job(one, first.rows((1,), range(4))))[0] for one in (first, cell("Baseline", initial="random"))]
    for frame in frames:
        assert frame["initial_inversions"].min() < frame["initial_inversions"].max()
    np.testing.assert_array_equal(*(frame["initial_inversions"] for frame in frames))


def test_the_synthetic_model_halves_its_least_examination_from_query_to_query():
    least = [query.users.position[-1] for query in halved_examination().queries()]
    assert least == [0.5, 0.25, 0.125, 0.0625, 0.03125]
    query = halved_examination().queries()[0]
    assert sorted(query.initial) == list(range(POSITIONS)) and query.initial[-1] == 0
    assert query.users.attraction[0] == 0.9


def test_a_wrong_declaration_is_refused():
    with pytest.raises(ValueError, match="initial must be"):
        cell(initial="best")
    with pytest.raises(ValueError, match="must have a cascade model"):
        Declared("mixed", "CM", small("PBM").worlds)
    with pytest.raises(ValueError, match="takes"):
        dataclasses.replace(cell(), parameters=())


@pytest.mark.real_data("Yandex_60Q_click_models")
def test_the_published_queries_start_from_the_printed_order():
    population = bubblerank.published("PBM")
    queries = population.queries()
    assert len(queries) == population.n_queries
    assert all(query.initial == tuple(range(POSITIONS)) for query in queries)


@pytest.mark.real_data("Yandex_WSCD_sample")
def test_the_queries_of_the_log_start_from_what_was_shown_most():
    short, long = bubblerank.logged("CM").queries(), bubblerank.logged("CM", bubblerank.LEAST_SHOWN).queries()
    assert len(short) == bubblerank.logged("CM").n_queries
    assert all(query.users.n_items == POSITIONS for query in short)
    for a, b in zip(short, long, strict=True):
        assert a.users.attraction == b.users.attraction[:POSITIONS] and a.initial == b.initial
    assert tuple(i for i, query in enumerate(long, 1) if query.users.n_items > POSITIONS) == bubblerank.LONGER


@pytest.mark.real_data("Yandex_60Q_aggregated")
def test_bubblerank_plays_on_queries_that_are_at_hand_as_counts():
    users = Counted("PBM", data.checksum(Counted.dataset))
    assert len(users.queries()) == users.n_queries == 60
    assert all(query.users.n_items == POSITIONS for query in users.queries())
    assert all(query.users.query and len(query.users.items) == POSITIONS for query in users.queries())
    job = Job(cell(users=users), (Row(1, 0), Row(60, 0)))
    (frame,) = run(job)
    check_table(job.cell, job.rows, frame)
    assert (frame["regret"] >= 0).all() and (frame["excess"] <= 9).all()
