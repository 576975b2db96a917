import codecs
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ol2r.data import letor
from ol2r.data.letor import letor_blocks, parse_letor, read_letor
from ol2r.errors import DataError


def parse(text: str, n_grades: int = 5, n_features: int | None = None):
    return parse_letor(np.frombuffer(text.encode(), dtype=np.uint8), "some.txt", n_grades, n_features)


def obvious(text: str, n_features: int):
    """The same by splitting strings."""
    features, relevance, qids = [], [], []
    for line in text.splitlines():
        content = line.split("#")[0].split()
        if content:
            row = [0.0] * n_features
            for pair in content[2:]:
                index, value = pair.split(":")
                row[int(index) - 1] = float(value)
            features.append(row)
            relevance.append(int(content[0]))
            qids.append(content[1].removeprefix("qid:"))
    return np.array(features, dtype=np.float32), relevance, qids


DOCUMENT = st.tuples(
    st.integers(0, 4),
    st.dictionaries(st.integers(1, 12), st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=12),
    st.sampled_from(["", " # docid = a-1 inc = 2", "#x", "\t# two words "]),
    st.sampled_from(["\n", "\r\n", " \n"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(DOCUMENT, min_size=1, max_size=4), min_size=1, max_size=4))
def test_parsing_agrees_with_splitting_strings(queries):
    text = "".join(
        f"{grade} qid:q{q} {' '.join(f'{i}:{row[i]!r}' for i in sorted(row))}{comment}{end}"
        for q, documents in enumerate(queries)
        for grade, row, comment, end in documents
    )
    parsed = parse(text, n_features=12)
    features, relevance, qids = obvious(text, 12)
    np.testing.assert_array_equal(parsed.features, features)
    assert parsed.relevance.tolist() == relevance
    assert [q for q, n in zip(parsed.query_ids, np.diff(parsed.offsets), strict=True) for _ in range(n)] == qids


@pytest.mark.parametrize(
    "number",
    "0 -0 1 +1.5 -20.27957 .5 5. 1e-5 2.5E+3 0.1 16777217 0.30000001192092896 1e-400 0e999 "
    "123456789012345678901234567890 0.00000000000000000000000000000001234567".split(),
)
def test_numbers_are_read_as_python_reads_them(number):
    assert parse(f"0 qid:1 1:{number}\n").features[0, 0] == np.float32(float(number))


def test_values_beyond_float32_become_its_largest():
    largest = np.finfo(np.float32).max
    features = parse("0 qid:1 1:1.797693134862315708e+308 2:-1e39\n").features
    assert features.tolist() == [[largest, -largest]]


def test_missing_features_are_zero_and_width_is_the_largest_index():
    parsed = parse("1 qid:1 2:7\n0 qid:1 1:5 4:6 # at 9:30\n")
    assert parsed.features.tolist() == [[0, 7, 0, 0], [5, 0, 0, 6]]
    assert parse("1 qid:1 2:7\n", n_features=6).features.shape == (1, 6)


def test_comments_give_document_ids():
    text = (
        "0 qid:1 1:0 #docid = GX004-93-7097963 inc = 0.0428115405134536 prob = 0.860366\n"
        "0 qid:1 1:0 # docid = clueweb09-en0003-55-31884 \n"
        "0 qid:2 1:0 # some words \n"
        "0 qid:2 1:0\n"
    )
    parsed = parse(text)
    assert parsed.document_ids == ("GX004-93-7097963", "clueweb09-en0003-55-31884", "some words", "")
    assert parse("0 qid:1 1:0\n").document_ids is None


def test_blank_lines_comment_lines_and_a_missing_last_newline_do_not_matter():
    plain = parse("0 qid:1 1:1\n1 qid:2 1:2\n")
    noisy = parse("# header\n\n0 qid:1 1:1\r\n  \n1 qid:2 1:2")
    for a, b in zip(plain[:4], noisy[:4], strict=True):
        np.testing.assert_array_equal(a, b)


def test_spans_hold_each_query():
    text = "0 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:2\n"
    lines = text.split("\n")
    parsed = parse(text)
    assert [text[a:b] for a, b in parsed.spans] == ["\n".join(lines[:2]), lines[2]]


def test_result_does_not_depend_on_where_chunks_are_cut(monkeypatch):
    text = "".join(f"{i % 3} qid:{i // 4} 1:{i} 3:{i / 7} # d{i}\n" for i in range(60))
    whole = parse(text)
    for size in (1, 7, 30, 200):
        monkeypatch.setattr(letor, "_CHUNK_BYTES", size)
        pieces = parse(text)
        assert pieces.query_ids == whole.query_ids and pieces.document_ids == whole.document_ids
        np.testing.assert_array_equal(pieces.features, whole.features)
        with pytest.raises(DataError, match=r"^some.txt:41: "):
            parse(text.replace("qid:10 1:40", "1:40").replace("qid:13 1:52", "1:52"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0 1:1 2:2", "expected 'qid:' and the query's id after the grade (where the sizes of queries stand in"),
        ("0", "expected 'qid:' and the query's id after the grade"),
        ("0 qid: 1:1", "expected the query's id after 'qid:'"),
        ("0 qid:1 2:1 1:1", "expected feature indices in increasing order, found '1:1'"),
        ("0 qid:1 2:1 2:1", "expected feature indices in increasing order, found '2:1'"),
        ("0 qid:1 0:1", "expected feature indices that begin with 1 (add 1 to each index"),
        ("0 qid:1 5:1", "expected a feature index from 1 to 4, found '5:1'"),
        ("0 qid:1 99999999999999999999:1", "expected index:value"),
        ("0 qid:1 1:nan", "expected a finite number after the colon, found '1:nan'"),
        ("0 qid:1 1:-inf", "expected a finite number after the colon, found '1:-inf'"),
        ("0 qid:1 1:Infinity", "expected a finite number after the colon, found '1:Infinity'"),
        ("0 qid:1:0.5 2:1", "expected a query's id without ':', found '1:0.5'"),
        ("0 qid:1 1:", "expected a decimal number after the colon, found '1:'"),
        ("0 qid:1 1:1,5", "expected a decimal number after the colon, found '1:1,5'"),
        ("0 qid:1 1:1e", "expected a decimal number after the colon, found '1:1e'"),
        ("0 qid:1 1:-", "expected a decimal number after the colon, found '1:-'"),
        ("0 qid:1 1:0x1", "expected a decimal number after the colon, found '1:0x1'"),
        ("0 qid:1 one:1", "expected index:value with a positive integer index, found 'one:1'"),
        ("0 qid:1 1 2:1", "expected index:value with a positive integer index, found '1'"),
        ("3 qid:1 1:1", "expected a grade from 0 to 2, found '3'"),
        ("-1 qid:1 1:1", "expected a grade from 0 to 2, found '-1'"),
        ("1.5 qid:1 1:1", "expected an integer grade at the start of the line, found '1.5'"),
        ("good qid:1 1:1", "expected an integer grade at the start of the line, found 'good'"),
    ],
)
def test_an_error_names_file_line_and_what_was_expected(line, expected):
    with pytest.raises(DataError) as error:
        parse(f"0 qid:1 1:1\n# a comment\n{line}\n0 qid:1 1:1\n", n_grades=3, n_features=4)
    assert str(error.value).startswith(f"some.txt:3: {expected}")


def test_ids_in_other_bytes_than_utf_8_stay_different():
    text = np.frombuffer(b"0 qid:\xe9 1:1 # \xe9\n0 qid:\xe8 1:1 # \xe8\n", dtype=np.uint8)
    parsed = parse_letor(text, "some.txt", 5)
    assert parsed.query_ids == parsed.document_ids == ("\\xe9", "\\xe8")
    assert parse("0 qid:è 1:1\n").query_ids == ("è",)


def test_a_long_line_is_one_line():
    text = "0 qid:1 1:1 # " + "x" * (3 << 20) + "\n1 qid:2 1:1"
    assert parse(text).relevance.tolist() == [0, 1]


def test_more_than_memory_holds_is_an_error(monkeypatch):
    def full(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(letor.np, "zeros", full)
    with pytest.raises(DataError, match=r"some.txt: 1 lines of 3 features do not fit into memory"):
        parse("0 qid:1 1:1\n", n_features=3)


def test_more_grades_than_can_be_kept_are_an_error():
    with pytest.raises(ValueError, match="n_grades must be from 1 to 127, not 128"):
        parse("0 qid:1 1:1\n", n_grades=128)


def test_queries_must_stand_side_by_side():
    with pytest.raises(DataError, match=r"some.txt:4: expected the documents of query 1 side by side"):
        parse("0 qid:1 1:1\n\n0 qid:2 1:1\n0 qid:1 1:1\n")


@pytest.mark.parametrize("text", ["", "\n \n", "# nothing here\n"])
def test_a_file_without_documents_is_an_error(text):
    with pytest.raises(DataError, match=r"some.txt: expected at least one document"):
        parse(text)


def test_compressed_files_read_like_plain_ones_and_truncated_ones_are_errors(tmp_path):
    text = b"".join(b"1 qid:%d 1:%d\n" % (i, i * i) for i in range(2000))
    for suffix, content in ((".txt", text), (".txt.gz", gzip.compress(text)), (".txt.xz", lzma.compress(text))):
        path = tmp_path / f"a{suffix}"
        path.write_bytes(content)
        assert read_letor(path, 2).features[:, 0].tolist() == [np.float32(i * i) for i in range(2000)]
        if suffix != ".txt":
            damaged = bytearray(content)
            damaged[len(content) // 2] ^= 0xFF
            for broken in (content[: len(content) // 2], bytes(damaged)):
                path.write_bytes(broken)
                with pytest.raises(DataError, match=rf"a{suffix}: expected a whole .* truncated or damaged"):
                    read_letor(path, 2)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(codecs.BOM_UTF8 + b"1 qid:1 1:2\n")
    assert read_letor(path, 2).relevance.tolist() == [1]
    path.write_text("1 qid:1 1:2\n", encoding="utf-16")
    with pytest.raises(DataError, match=r"a.txt: expected text in UTF-8, found UTF-16$"):
        read_letor(path, 2)


@pytest.mark.parametrize("comment", ["", " # docid = a"])
def test_carriage_returns_alone_end_no_line(comment):
    with pytest.raises(DataError, match=r"some.txt:1: expected lines that end in a newline, not in a carriage return"):
        parse(f"1 qid:1 1:2{comment}\r0 qid:1 1:3{comment}\r")
    assert parse(f"1 qid:1 1:2{comment}\r\r\n0 qid:1 1:3{comment}\r").relevance.tolist() == [1, 0]


def test_all_streams_of_an_xz_file_are_read_or_none(tmp_path):
    path = tmp_path / "a.txt.xz"
    first, second = (lzma.compress(b"%d qid:%d 1:1\n" % (i, i)) for i in range(2))
    for whole in (first + second, first + bytes(8) + second + bytes(4)):
        path.write_bytes(whole)
        assert read_letor(path, 2).relevance.tolist() == [0, 1]
    damaged = bytearray(second)
    damaged[0] ^= 1
    ends = (bytes(damaged), second[:-1], second[:5], b"x", bytes(3))
    for broken in (*(first + end for end in ends), b""):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=r"a.txt.xz: expected a whole .xz file, found a truncated or damaged one"):
            read_letor(path, 2)


# block by block

LONG = "# a header\n\n" + "".join(
    f"{i % 3} qid:{i * i // 70} 1:{i} {i % 5 + 2}:{i / 7}{f' # d{i}' if 30 < i < 40 else ''}\n" + "#\n" * (i % 11 > 0)
    for i in range(90)
)


@pytest.fixture
def cut(monkeypatch):
    """`cut(n_bytes)` makes blocks, and pieces of a file, small."""

    def small(n_bytes: int, n_values: int = 1 << 24):
        monkeypatch.setattr(letor, "_BLOCK_BYTES", n_bytes)
        monkeypatch.setattr(letor, "_PIECE_BYTES", max(1, n_bytes // 3))
        monkeypatch.setattr(letor, "_BLOCK_VALUES", n_values)

    return small


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".txt.xz"])
@pytest.mark.parametrize(("n_bytes", "n_values"), [(4, 10**6), (40, 10**6), (300, 10**6), (1 << 20, 1), (500, 40)])
def test_blocks_are_the_whole_in_parts(tmp_path, cut, suffix, n_bytes, n_values):
    pack = {".txt": bytes, ".txt.gz": gzip.compress, ".txt.xz": lzma.compress}[suffix]
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pack(codecs.BOM_UTF8 + LONG.encode()))
    whole = parse(LONG, n_features=7)
    cut(n_bytes, n_values)
    seen = []
    blocks = list(letor_blocks(path, 5, 7, seen.append))
    assert len(blocks) > 3 and b"".join(seen) == LONG.encode()
    parts = [part for part, _ in blocks]
    np.testing.assert_array_equal(np.concatenate([part.features for part in parts]), whole.features)
    np.testing.assert_array_equal(np.concatenate([part.relevance for part in parts]), whole.relevance)
    assert np.concatenate([np.diff(part.offsets) for part in parts]).tolist() == np.diff(whole.offsets).tolist()
    assert sum((part.query_ids for part in parts), ()) == whole.query_ids
    ids = (part.document_ids or ("",) * len(part.relevance) for part in parts)
    assert sum(ids, ()) == whole.document_ids
    texts = [text[a:b].tobytes().decode() for part, text in blocks for a, b in part.spans]
    assert texts == [LONG[a:b] for a, b in whole.spans]
    assert max(part.largest_index for part in parts) == whole.largest_index
    narrow = (np.pad(part.features, ((0, 0), (0, 7 - part.features.shape[1]))) for part, _ in letor_blocks(path, 5))
    np.testing.assert_array_equal(np.concatenate(list(narrow)), whole.features)


@pytest.mark.parametrize("n_bytes", [100, 1 << 20])
def test_an_error_in_any_block_names_its_line(tmp_path, cut, n_bytes):
    path = tmp_path / "a.txt"
    cut(n_bytes)
    for number, line in enumerate(LONG.split("\n"), start=1):
        if "qid" in line:
            path.write_text(LONG.replace(line, line.replace("1:", "1:x", 1)))
            with pytest.raises(DataError, match=rf"a\.txt:{number}: expected a decimal number after the colon"):
                list(letor_blocks(path, 5))
    path.write_text(f"{LONG}1 qid:3 1:1\n")
    with pytest.raises(DataError, match=rf"a\.txt:{number}: expected the documents of query 3 side by side"):
        list(letor_blocks(path, 5))
    path.write_text("# nothing\n\n" * 200)
    with pytest.raises(DataError, match=r"a\.txt: expected at least one document"):
        list(letor_blocks(path, 5))


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_damage_of_a_compressed_file_is_said_before_what_the_text_became(tmp_path, cut, suffix, compress):
    path = tmp_path / f"a.txt{suffix}"
    cut(100)
    path.write_bytes(compress(LONG.replace("1:7 ", "1:x ").encode())[:-5])
    with pytest.raises(DataError, match=rf"expected a whole {suffix} file, found a truncated or damaged one"):
        list(letor_blocks(path, 5))


def test_a_grade_may_have_a_point_and_noughts():
    found = parse("2.0 qid:1 1:1\n1. qid:1 1:0\n0 qid:1 1:2\n", n_grades=3)
    assert found.relevance.tolist() == [2, 1, 0]
    with pytest.raises(DataError, match=r"some.txt:1: expected an integer grade at the start .* found '1.01'"):
        parse("1.01 qid:1 1:1\n", n_grades=3)


def test_a_suffix_in_capitals_is_read_like_one_in_small_letters(tmp_path):
    text = b"1 qid:1 1:0.5\n"
    for name, content in (("a.TXT", text), ("a.TXT.GZ", gzip.compress(text)), ("a.XZ", lzma.compress(text))):
        (tmp_path / name).write_bytes(content)
        assert read_letor(tmp_path / name, 2).relevance.tolist() == [1]


def test_features_are_doubles_where_they_are_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:1700000030\n0 qid:1 1:1700000000\n")
    ((single, _),) = letor_blocks(tmp_path / "a.txt", 2)
    ((double, _),) = letor_blocks(tmp_path / "a.txt", 2, double=True)
    assert single.features.dtype == np.float32 and double.features.dtype == np.float64
    assert double.features.ravel().tolist() == [1700000030, 1700000000]
