"""Session logs and collections of fitted models: what is read, what is refused, and how it is told."""

import json
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ol2r.data.sessions import (
    QuerySessions,
    load_fitted_models,
    load_sessions,
    read_fitted_models,
    read_sessions,
)
from ol2r.errors import DataError


@pytest.fixture
def read(tmp_path):
    def read(*texts, positions=4, unshown="ignore"):
        paths = [tmp_path / f"log{i}" for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return read_sessions(*paths, positions=positions, unshown=unshown)

    return read


def sessions(lists, clicks, items=("a", "b", "c")):
    return QuerySessions("q", items, np.array(lists), np.array(clicks, dtype=np.bool_))


SESSION = st.tuples(
    st.sampled_from(["9_0", "98435_1"]), st.permutations("abcdef"), st.integers(1, 4), st.sets(st.integers(0, 3))
)


@settings(deadline=None)
@given(st.lists(SESSION, min_size=1, max_size=12), st.integers(1, 4))
def test_what_is_written_is_read(tmp_path_factory, written, per_line):
    texts, expected = [], {}
    for query, items, n, slots in written:
        shown, clicked = items[:n], [items[k] for k in slots if k < n]
        texts.append(f"{query}\t{','.join(shown)} :{' ' if clicked else ''}{' , '.join(clicked[::-1])}")
        expected.setdefault(query, []).append((shown, clicked))
    path = tmp_path_factory.mktemp("log") / "log"
    path.write_text("\n".join("; ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)))
    (log,) = read_sessions(path, positions=4, unshown="error")
    assert (log.n_sessions, log.unshown_clicks, log.unshown_sessions) == (len(written), 0, 0)
    for query, it in log.queries.items():
        found = [
            ([it.items[i] for i in row if i >= 0], [it.items[i] for i in row[clicked]])
            for row, clicked in zip(it.lists, it.clicks, strict=True)
        ]
        assert [(shown, set(clicked)) for shown, clicked in found] == [
            (shown, set(clicked)) for shown, clicked in expected[query]
        ]


def test_files_read_together_number_items_alike(read):
    train, test = read("q\ta,b : a", "q\tb,c :\nnew\ta :")
    assert train.queries["q"].items == test.queries["q"].items == ("a", "b", "c")
    assert train.queries["q"].lists.tolist() == [[0, 1]]
    assert test.queries["q"].lists.tolist() == [[1, 2]]
    assert "new" not in train.queries


def test_lists_have_room_for_the_longest_of_all_files(read):
    twelve = ",".join(f"i{k}" for k in range(12))
    train, test = read("q\ta,b : a", f"r\t{twelve} : i11", positions=None)
    assert train.queries["q"].lists.shape == train.queries["q"].clicks.shape == (1, 12)
    assert train.queries["q"].lists[0].tolist() == [0, 1] + [-1] * 10
    assert test.queries["r"].clicks[0, 11] and test.queries["r"].most_frequent_list(12).tolist() == list(range(12))
    (log,) = read("q\ta : ; q\tb :", positions=None)
    assert log.queries["q"].lists.tolist() == [[0], [1]]


def test_a_byte_order_mark_is_no_part_of_a_query(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"\xef\xbb\xbfq\ta,b : a\nq\tb,a :")
    (log,) = read_sessions(path, unshown="error")
    assert log.queries.keys() == {"q"} and len(log.queries["q"]) == 2


def test_compressed_logs_read_like_plain_ones(tmp_path):
    path = tmp_path / "log.xz"
    path.write_bytes(lzma.compress(b"q\ta,b : a"))
    assert read_sessions(path, unshown="error")[0].queries["q"].clicks[0, :2].tolist() == [True, False]


def test_a_click_on_what_was_not_shown_is_ignored_or_drops_its_session_or_is_an_error(read):
    text = "q\ta,b : a , x , y; q\tb,a : b\nr\tc : z"
    (log,) = read(text)
    assert log[1:] == (3, 2)
    assert log.queries["q"].clicks[:, :2].tolist() == [[True, False], [True, False]]
    assert len(log.queries["r"]) == 1
    (log,) = read(text, unshown="drop")
    assert log[1:] == (3, 2)
    assert log.queries.keys() == {"q"} and log.queries["q"].lists[:, :2].tolist() == [[0, 1]]
    with pytest.raises(DataError, match=r"log0:1: session 1: expected clicks on items that it shows, found one on 'x'"):
        read(text, unshown="error")
    with pytest.raises(ValueError, match=r"unshown must be one of .* not 'skip'"):
        read(text, unshown="skip")


@pytest.mark.parametrize(
    ("session", "message"),
    [
        ("q a,b : a", r"expected 'query<TAB>item,… : clicked , …', found 'q a,b : a'"),
        ("q\ta,b", "expected 'query<TAB>item"),
        ("q\ta,b : a : b", "expected one ':', which ends the list, found 2 in"),
        (
            "q\thttp://a.org/,http://b.org/ : http://a.org/",
            r"expected one ':', .* found 4 in 'q\\thttp://a.org/,.*; names with one, such as web addresses, must be",
        ),
        ("q\ta,b : http://a.org/", "expected one ':', .* found 2"),
        ("q\ta,b\t: a", "expected 'query<TAB>item"),
        ("q:a\ta,b", "expected 'query<TAB>item"),
        ("q:a\ta,b : b", "expected one ':', .* found 2"),
        ("\ta,b : a", "expected 'query<TAB>item"),
        (" : a", "expected 'query<TAB>item"),
        ("q\t : ", "expected an item between commas"),
        ("q\ta,,b :", "expected an item between commas"),
        ("q\ta,b : a , , b", "expected an item between commas"),
        ("q\ta,b,c,d,e :", "expected at most 4 items, found 5"),
        ("q\ta,b,a :", "expected different items, found 'a' twice"),
    ],
)
def test_an_error_names_file_line_session_and_what_was_expected(read, session, message):
    with pytest.raises(DataError, match=rf"log0:3: session 2: {message}"):
        read(f"q\ta :\n\nq\tb,a : b ;{session}; q\ta :")


@pytest.mark.parametrize("text", ["", "\n \n", " ; \n;;"])
def test_an_empty_log_is_an_error(read, text):
    with pytest.raises(DataError, match="log0: expected at least one session"):
        read(text)


def test_bytes_that_are_no_text_are_an_error(tmp_path):
    (tmp_path / "log").write_bytes(b"q\ta :\xff")
    with pytest.raises(DataError, match=r"log: expected text in UTF-8, found other bytes at 5"):
        read_sessions(tmp_path / "log", unshown="error")


def test_the_most_frequent_list_is_the_earliest_of_equals():
    rows = [[0, 1, -1], [1, 0, 2], [2, 1, 0], [1, 0, 2], [2, 1, 0]]
    it = sessions(rows, np.zeros((5, 3)))
    assert it.most_frequent_list().tolist() == [1, 0, 2]
    assert it.most_frequent_list(2).tolist() == [1, 0]
    assert sessions(rows[:1], np.zeros((1, 3))).most_frequent_list().tolist() == [0, 1]


def test_a_query_with_too_few_items_or_no_sessions_has_no_list_of_that_length():
    it = sessions([[0, 1, -1]], np.zeros((1, 3)))
    message = r"query q: expected 3 items in its most frequent list, found 2 \(3 items in all\)"
    with pytest.raises(DataError, match=message):
        it.most_frequent_list(3)
    with pytest.raises(DataError, match="query q: expected at least one session"):
        sessions(np.empty((0, 3), dtype=np.int64), np.empty((0, 3))).most_frequent_list()


@pytest.mark.parametrize(
    ("lists", "clicks", "message"),
    [
        ([[0, 1]], [[0]], r"clicks: expected the shape \(1, 2\), found \(1, 1\)"),
        ([[0, 3]], [[0, 0]], "an item outside 0 … 2"),
        ([[0, -2]], [[0, 0]], "an item outside 0 … 2"),
        ([[-1, 0]], [[0, 0]], "below the end of its list"),
        ([[0, -1]], [[0, 1]], "below the end of its list"),
        ([[1, 0, 1]], [[0, 0, 0]], "shows an item twice"),
    ],
)
def test_sessions_that_cannot_be_are_an_error(lists, clicks, message):
    with pytest.raises(DataError, match=f"query q: .*{message}"):
        sessions(lists, clicks)


@pytest.mark.parametrize(("lists", "clicks"), [([[0.5, 1.0]], [[False, True]]), ([[0, 1]], [[0, 2]])])
def test_sessions_of_other_types_are_an_error(lists, clicks):
    with pytest.raises(
        DataError,
        match=r"query q: (lists: expected whole numbers|clicks: expected True or False), found others in an array of",
    ):
        QuerySessions("q", ("a", "b"), np.array(lists), np.array(clicks))


COLLECTION = {
    "CM": {"7": {"model": {"args": [[0.5, 0.1], 42]}}},
    "DCM": {"7": {"model": {"args": [[0.5, 0.1], [0.6, 1], 42]}}},
    "PBM": {"7": {"model": {"args": [[0.5, 0.1], [1, 0.25], 42]}}},
}


def test_rows_of_a_collection_are_attraction_and_what_the_position_does(tmp_path):
    path = tmp_path / "60Q.json"
    path.write_text(json.dumps(COLLECTION))
    assert read_fitted_models(path, "CM") == {"7": ((0.5, 0.1), ())}
    assert read_fitted_models(path, "DCM") == {"7": ((0.5, 0.1), (0.6, 1.0))}
    assert read_fitted_models(path, "PBM") == {"7": ((0.5, 0.1), (1.0, 0.25))}
    with pytest.raises(ValueError, match=r"model must be one of .* not 'UBM'"):
        read_fitted_models(path, "UBM")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{'PBM'", ":1: expected JSON"),
        ("[]", ": expected models of kind PBM by query"),
        ('{"PBM": {}}', ": expected models of kind PBM by query"),
        ('{"PBM": {"7": {}}}', ": PBM of query 7: expected rows of probabilities and a seed in model.args"),
        ('{"PBM": {"7": {"model": {"args": []}}}}', ": PBM of query 7: expected rows of probabilities and a seed"),
        ('{"PBM": {"7": {"model": {"args": [["x"], [1], 42]}}}}', ": PBM of query 7: expected rows of probabilities"),
        ('{"PBM": {"7": {"model": {"args": [[0.5], 42]}}}}', ": PBM of query 7: expected 2 rows .* found 1"),
        ('{"PBM": {"7": {"model": {"args": [[], [1], 42]}}}}', ": PBM of query 7: expected 2 rows"),
        ('{"PBM": {"7": {"model": {"args": [[0.5], [1.5], 42]}}}}', r": PBM of query 7: expected probabilities in \[0"),
        ('{"PBM": {"7": {"model": {"args": [["0.5"], [1], 42]}}}}', ": PBM of query 7: expected rows of probabilities"),
        ('{"PBM": {"7": {"model": {"args": [[true], [1], 42]}}}}', ": PBM of query 7: expected rows of probabilities"),
        ('{"PBM": {"7": {}, "7": {}}}', ": expected models by query, found '7' twice"),
        ('{"PBM": ' + "[" * 1_000_000, ": expected models by query, found (maximum recursion|Stack overflow)"),
        ('{"PBM": 1' + "0" * 5_000 + "}", ": expected models by query, found Exceeds the limit"),
        ('{"PBM": {"7": {"model": {"args": [[NaN], [1], 42]}}}}', r": PBM of query 7: expected probabilities in \[0"),
    ],
)
def test_a_damaged_collection_is_an_error_that_names_the_query(tmp_path, text, message):
    path = tmp_path / "60Q.json"
    path.write_text(text)
    with pytest.raises(DataError, match=f"60Q.json{message}"):
        read_fitted_models(path, "PBM")


@pytest.mark.real_data("Yandex_WSCD_sample")
def test_yandex_sessions_are_twenty_queries_fitted_to_and_held_out():
    train, test = load_sessions(unshown="ignore")
    assert (train.n_sessions, test.n_sessions) == (35_064, 21_413)
    assert (train.unshown_clicks, test.unshown_clicks) == (417, 276)
    assert train.queries.keys() == test.queries.keys() and len(train.queries) == 20
    for query, it in train.queries.items():
        assert it.shown.all() and it.items == test.queries[query].items
        assert len(set(it.most_frequent_list(10).tolist())) == 10
    dropped, _ = load_sessions(unshown="drop")
    assert dropped.n_sessions == train.n_sessions - train.unshown_sessions


@pytest.mark.real_data("Yandex_60Q_click_models")
@pytest.mark.parametrize("model", ["CM", "DCM", "PBM"])
def test_the_published_collection_has_60_queries_that_share_what_positions_do(model):
    models = load_fitted_models(model)
    assert len(models) == 60
    assert {len(it.attraction) for it in models.values()} == {10}
    assert len({it.position for it in models.values()}) == 1


@pytest.mark.real_data("Yandex_60Q_click_models")
def test_a_changed_file_of_the_catalogue_is_an_error(tmp_path, monkeypatch):
    folder = tmp_path / "Yandex_60Q_click_models"
    folder.mkdir()
    (folder / "60Q.json").write_text(json.dumps(COLLECTION))
    monkeypatch.setenv("OL2R_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"expected the checksum 5348\w+ for Yandex_60Q_click_models, found"):
        load_fitted_models("PBM")
