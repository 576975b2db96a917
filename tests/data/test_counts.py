"""Click logs as counts: what is read, what is refused, and how rows with more clicks than views are treated."""

import numpy as np
import pytest

from ol2r.data import commands
from ol2r.data.counts import load_counts, read_counts
from ol2r.data.sessions import QueryCounts, QuerySessions
from ol2r.errors import DataError, ExperimentError

HEADER = "query,url,pos,Impression,Click"
ROWS = ["q,a,0,10,4", "q,b,1,10,0", "q,b,0,3,5", "r,a,2,1,1"]


@pytest.fixture
def read(tmp_path):
    def read(*rows, header=HEADER, excess="limit"):
        (tmp_path / "counts.csv").write_text("\n".join([header, *rows]))
        return read_counts(tmp_path / "counts.csv", excess=excess)

    return read


def test_counts_stand_by_item_and_position_and_excess_is_named(read):
    log = read(*ROWS)
    assert log.excess == ("q, b, 0",)
    q, r = log.queries.values()
    assert (q.query, q.items, r.query, r.items) == ("q", ("a", "b"), "r", ("a",))
    assert q.views.tolist() == [[10, 0, 0], [3, 10, 0]] and q.clicks.tolist() == [[4, 0, 0], [3, 0, 0]]
    assert r.views.tolist() == [[0, 0, 1]] and r.clicks.tolist() == [[0, 0, 1]]


def test_rows_with_more_clicks_than_views_are_limited_dropped_or_refused(read):
    assert read(*ROWS, excess="drop").queries["q"].views.tolist() == [[10, 0, 0], [0, 10, 0]]
    with pytest.raises(DataError, match=r"counts.csv:4: expected at most 3 clicks, as there are views, found 5"):
        read(*ROWS, excess="error")
    with pytest.raises(ExperimentError, match="did you mean 'limit'"):
        read(*ROWS, excess="limits")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (["q,a,0,10"], r":2: expected 5 values, found 4"),
        (["q,a,-1,10,0"], r":2: expected a whole number from 0, found '-1'"),
        (["q,a,0,1e3,0"], r":2: expected a whole number from 0, found '1e3'"),
        (["q,a,0,1,0", "q,a,0,1,1"], r":3: item a of query q stands at position 0 twice"),
        ([], r": expected at least one row"),
    ],
)
def test_a_bad_row_names_its_line(read, rows, told):
    with pytest.raises(DataError, match=r"counts\.csv" + told):
        read(*rows)


def test_a_missing_column_is_named(read):
    with pytest.raises(DataError, match=r"expected the columns query, url, pos, Impression, Click, found query, url"):
        read(header="query,url,pos,Impression")


def test_the_order_of_rows_and_other_columns_count_for_nothing(read):
    log, other = read(*ROWS), read(*(f"x,{row}" for row in reversed(ROWS)), header=f"note,{HEADER}")
    for query, it in log.queries.items():
        again = other.queries[query]
        order = [again.items.index(item) for item in it.items]
        np.testing.assert_array_equal(again.views[order], it.views)
        np.testing.assert_array_equal(again.clicks[order], it.clicks)


def test_the_list_has_the_item_shown_most_at_each_position_once():
    views = np.array([[9, 9, 0], [5, 8, 0], [1, 1, 1]])
    it = QueryCounts("q", ("a", "b", "c"), views, np.zeros_like(views))
    assert it.most_frequent_list(3).tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="expected 4 items and positions, found 3 and 3"):
        it.most_frequent_list(4)


@pytest.mark.parametrize(
    ("views", "clicks", "told"),
    [
        ([[1]], [[2]], "as many as there are views"),
        ([[1]], [[-1]], "as many as there are views"),
        ([[1.5]], [[1.0]], "whole numbers"),
        ([[1, 1]], [[1]], r"clicks: expected the shape \(1, 2\), found \(1, 1\)"),
        ([[1], [1]], [[1], [1]], r"views: expected the shape \(1, any\), found \(2, 1\)"),
    ],
)
def test_counts_that_cannot_be_are_refused(views, clicks, told):
    with pytest.raises(DataError, match=told):
        QueryCounts("q", ("a",), np.array(views), np.array(clicks))


def test_sessions_have_counts():
    lists, clicks = np.array([[0, 1], [1, 0], [0, -1]]), np.array([[1, 0], [1, 1], [0, 0]], dtype=bool)
    it = QuerySessions("q", ("a", "b"), lists, clicks).counts()
    assert it.views.tolist() == [[2, 1], [1, 1]] and it.clicks.tolist() == [[1, 1], [1, 0]]


def test_two_items_of_one_name_are_refused():
    with pytest.raises(DataError, match="query q: two items have the name 'a'"):
        QuerySessions("q", ("a", "a"), np.array([[0, 1]]), np.zeros((1, 2), dtype=bool))


@pytest.mark.real_data("Yandex_60Q_aggregated")
def test_the_counts_of_yandex_have_their_published_size():
    log = load_counts(excess="limit")
    assert (len(log.queries), len(log.excess)) == (60, 38)
    assert sum(int(it.views.sum()) for it in log.queries.values()) == 24_726_798
    assert sum(int((it.views > 0).sum()) for it in log.queries.values()) == 6_144
    with pytest.raises(DataError, match=r"counts.csv.xz:95: expected at most 62224 clicks"):
        load_counts(excess="error")
    assert "38 rows with more clicks than views" in commands.describe("Yandex_60Q_aggregated")
