"""A fast parser of LETOR / SVMlight text, `grade qid:id 1:value 2:value … # comment`, to arrays.

Parsing is compiled and runs over chunks of lines side by side. A file is read as a whole, or block by block within
memory that does not grow with it. This module knows lines and files; it must not know data sets, folds or
normalisation.
"""

import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numba import prange

from ol2r.compiling import kernel, part
from ol2r.errors import DataError
from ol2r.ranking.constants import MOST_GRADES

MAX_FEATURES = 100_000
_CHUNK_BYTES = 1 << 20
_PIECE_BYTES = 1 << 20  # read from a file at once
_BLOCK_BYTES = 1 << 25  # of text that is parsed at once
_BLOCK_VALUES = 1 << 23  # of features that are parsed at once
_TAB, _NEWLINE, _RETURN, _SPACE, _HASH, _COLON = 9, 10, 13, 32, 35, 58
_BYTE_SECONDS = 6e-9  # of one core, to parse a byte of text
_POWERS_OF_TEN = 10.0 ** np.arange(23)  # every one exact in float64, so a product or quotient is rounded once
_FLOAT32_MAX = float(np.finfo(np.float32).max)

_GRADE, _UNKNOWN_GRADE, _QID, _EMPTY_QID, _FEATURE, _ORDER, _RANGE, _NUMBER, _NOT_FINITE = range(1, 10)
_QID_COLON, _LINE_END, _ZERO = 10, 11, 12
_EXPECTED = {
    _GRADE: "an integer grade at the start of the line",
    _UNKNOWN_GRADE: "a grade from 0 to {last_grade}",
    _QID: "'qid:' and the query's id after the grade (where the sizes of queries stand in a .query or .group file, use "
    "from_arrays with query=numpy.repeat(range(len(sizes)), sizes))",
    _EMPTY_QID: "the query's id after 'qid:'",
    _FEATURE: "index:value with a positive integer index",
    _ORDER: "feature indices in increasing order",
    _RANGE: "a feature index from 1 to {n_features}",
    _ZERO: "feature indices that begin with 1 (add 1 to each index of text that begins with 0)",
    _NUMBER: "a decimal number after the colon",
    _NOT_FINITE: "a finite number after the colon",
    _QID_COLON: "a query's id without ':'",
    _LINE_END: "lines that end in a newline, not in a carriage return alone,",
}


class LetorText(NamedTuple):
    """The documents of one text, in its order; query q owns documents offsets[q] … offsets[q + 1] − 1."""

    features: np.ndarray  # float32[documents, features], or float64 where a reader asks for it
    relevance: np.ndarray  # int8[documents]
    offsets: np.ndarray  # int64[queries + 1]
    query_ids: tuple[str, ...]
    document_ids: tuple[str, ...] | None
    spans: np.ndarray  # int64[queries, 2], bytes of the text that hold each query
    largest_index: int  # of a feature that the text names


def read_bytes(path: Path) -> np.ndarray:
    """The decompressed content of a .gz, .xz or plain file, without the byte-order mark of some editors: uint8[bytes].

    Raises:
        DataError: a compressed stream is truncated or damaged, or the text is UTF-16.
    """
    return np.frombuffer(_unmarked(b"".join(_pieces(path)), path), dtype=np.uint8)


def _unmarked(content: bytes, path: Path) -> bytes:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path}: expected text in UTF-8, found UTF-16")
    return content.removeprefix(codecs.BOM_UTF8)


def _pieces(path: Path) -> Iterator[bytes]:
    """The decompressed content of a file, at most `_PIECE_BYTES` at a time."""
    try:
        with path.open("rb") as file:
            if path.suffix.lower() == ".xz":
                yield from _all_streams(file)
            else:
                content = gzip.GzipFile(fileobj=file) if path.suffix.lower() == ".gz" else file
                yield from iter(lambda: content.read(_PIECE_BYTES), b"")
    except (lzma.LZMAError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: expected a whole {path.suffix} file, found a truncated or damaged one") from error


def _all_streams(file: BinaryIO) -> Iterator[bytes]:
    """The content of all streams of an .xz file; `lzma.open` silently skips everything from a damaged one on."""
    content = file.read(_PIECE_BYTES)
    while True:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        while not stream.eof:
            if stream.needs_input and not content and not (content := file.read(_PIECE_BYTES)):
                raise EOFError("a stream has no end")
            yield stream.decompress(content, _PIECE_BYTES)
            content = b""
        content, padding = stream.unused_data, 0
        while content.startswith(b"\0") or not content:
            rest = content.lstrip(b"\0")
            padding += len(content) - len(rest)
            if not (content := rest or file.read(_PIECE_BYTES)):
                break
        if padding % 4:
            raise lzma.LZMAError("padding is not a multiple of four bytes")
        if not content:
            return


def read_letor(path: Path, n_grades: int, n_features: int | None = None) -> LetorText:
    """Read one LETOR file (.txt, .gz, .xz) as a whole; see `parse_letor`."""
    return parse_letor(read_bytes(path), str(path), n_grades, n_features)


def parse_letor(text: np.ndarray, source: str, n_grades: int, n_features: int | None = None) -> LetorText:
    """Parse LETOR text.

    Missing features are 0, blank lines and lines that are only a comment are passed over, and a number beyond
    float32 (Istella writes 1.8e308 for "unknown") becomes float32's largest.

    Args:
        text: uint8[bytes].
        source: name of the file, for errors.
        n_grades: grades are 0 … n_grades − 1.
        n_features: the width of the result; None takes the largest index of the text.

    Raises:
        DataError: malformed text, with file, line and what was expected there; or too large a table for memory.
        ValueError: more grades than an int8 holds.
    """
    found, lines = _parse_lines(text, source, n_grades, n_features)
    seen: set[str] = set()
    _add_queries(seen, found, lines, source)
    _expect_documents(seen, source)
    return _single(found)


def _single(found: LetorText) -> LetorText:
    return found._replace(features=found.features.astype(np.float32))


def letor_blocks(
    path: Path,
    n_grades: int,
    n_features: int | None = None,
    see: Callable[[bytes], object] | None = None,
    *,
    double: bool = False,
) -> Iterator[tuple[LetorText, np.ndarray]]:
    """Read one LETOR file (.txt, .gz, .xz) block by block, within memory that does not grow with the file.

    A block holds whole queries: as many as there are in about 32 MiB of text, of which the features take at most
    64 MiB, but at least one.

    Args:
        path: the file.
        n_grades: grades are 0 … n_grades − 1.
        n_features: the width of each block; None takes the largest index of the text that the block is cut from.
        see: called with the decompressed text of the file, one part after the other.
        double: whether features are float64, as small differences of large numbers need it, and not float32.

    Yields:
        What `parse_letor` gives for a block, and the text uint8[bytes] to which its spans refer. Document ids are None
        where no line of the block has a comment.

    Raises:
        DataError: as `parse_letor` and `read_bytes`; blocks before the place of the error may have been given.
        ValueError: more grades than an int8 holds.
    """
    pieces = _pieces(path)
    try:
        blocks = _blocks(pieces, path, n_grades, n_features, see)
        yield from blocks if double else ((_single(found), text) for found, text in blocks)
    except DataError:
        for _ in pieces:  # that its stream is damaged says more of a file than what it made of the text
            pass
        raise


def _blocks(
    pieces: Iterator[bytes],
    path: Path,
    n_grades: int,
    n_features: int | None,
    see: Callable[[bytes], object] | None,
) -> Iterator[tuple[LetorText, np.ndarray]]:
    seen: set[str] = set()
    rest, line, ended = b"", 0, False  # `line` is the number of the first line of `rest`
    while not ended:
        wanted = max(_BLOCK_BYTES, len(rest))  # a query longer than a block is parsed again, but not too often
        more = _joined(pieces, wanted)
        ended = len(more) < wanted
        if not line and not rest:
            more = _unmarked(more, path)
        if see is not None:
            see(more)
        rest += more
        text = np.frombuffer(rest, dtype=np.uint8)[: None if ended else rest.rfind(b"\n") + 1]
        n_lines = max(1, _BLOCK_VALUES // (n_features or _width(text)))
        start = 0
        while start < len(text):
            stop = _end_of_line(text, start, n_lines)
            part = text[start:stop]
            found, lines = _parse_lines(part, str(path), n_grades, n_features, line)
            if stop < len(text) or not ended:  # the last query may go on
                if len(lines) < 2:
                    if stop == len(text):
                        break
                    n_lines *= 2
                    continue
                stop, line = start + int(found.spans[-1, 0]), int(lines[-1])
                found, lines = _without_last_query(found), lines[:-1]
            _add_queries(seen, found, lines, str(path))
            if len(lines):
                yield found, part
            start = stop
        rest = rest[start:]
    _expect_documents(seen, str(path))


def _joined(pieces: Iterator[bytes], n_bytes: int) -> bytes:
    """The next pieces, of at least `n_bytes` together; fewer at the end only."""
    taken, size = [], 0
    while size < n_bytes and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        size += len(piece)
    return b"".join(taken)


def _without_last_query(found: LetorText) -> LetorText:
    n = int(found.offsets[-2])
    return LetorText(
        found.features[:n],
        found.relevance[:n],
        found.offsets[:-1],
        found.query_ids[:-1],
        None if found.document_ids is None else found.document_ids[:n],
        found.spans[:-1],
        found.largest_index,
    )


def _add_queries(seen: set[str], found: LetorText, lines: np.ndarray, source: str) -> None:
    """Add the queries of a text to those seen before it in the file; each begins in one line only."""
    for line, query_id in zip(lines.tolist(), found.query_ids, strict=True):
        if query_id in seen:
            where = f"{source}:{line + 1}"
            raise DataError(f"{where}: expected the documents of query {query_id} side by side, found them again")
        seen.add(query_id)


def _expect_documents(seen: set[str], source: str) -> None:
    if not seen:
        raise DataError(f"{source}: expected at least one document, found an empty file")


def _width(text: np.ndarray) -> int:
    return max(1, int(_largest_index(text, _chunk_starts(text, _CHUNK_BYTES)).max(initial=0)))


def _parse_lines(
    text: np.ndarray, source: str, n_grades: int, n_features: int | None, first_line: int = 0
) -> tuple[LetorText, np.ndarray]:
    """Parse text whose first line has the given number, from 0; also the lines in which queries begin: int64[queries].

    There may be no document, and a query may begin in several places.
    """
    if not 1 <= n_grades <= MOST_GRADES:
        raise ValueError(f"n_grades must be from 1 to {MOST_GRADES}, not {n_grades}")
    chunks = _chunk_starts(text, _CHUNK_BYTES)
    n_ends = [np.count_nonzero(text[a:b] == _NEWLINE) for a, b in pairwise(chunks.tolist())]
    if len(text) and text[-1] != _NEWLINE:
        n_ends[-1] += 1
    first_lines = np.concatenate([[0], np.cumsum(n_ends, dtype=np.int64)])
    n_lines = int(first_lines[-1])
    largest_index = int(_largest_index(text, chunks).max(initial=0))
    if n_features is None:
        n_features = max(largest_index, 1)
    try:
        features = np.zeros((n_lines, n_features))
    except MemoryError as error:
        raise DataError(f"{source}: {n_lines:,} lines of {n_features:,} features do not fit into memory") from error
    relevance = np.full(n_lines, -1, dtype=np.int8)
    marks = np.zeros((n_lines, 6), dtype=np.int64)
    errors = np.zeros((len(chunks) - 1, 3), dtype=np.int64)
    seconds = len(text) * _BYTE_SECONDS
    _parse(text, chunks, first_lines, n_grades, features, relevance, marks, errors, seconds=seconds)
    if errors[:, 0].any():
        code, line, position = (int(x) for x in errors[errors[:, 0] > 0][0])
        expected = _EXPECTED[code].format(last_grade=n_grades - 1, n_features=n_features)
        found = re.split(rb"\s", text[position : position + 60].tobytes(), maxsplit=1)[0].decode(errors="replace")
        where = f"{source}:{first_line + line + 1}"
        raise DataError(f"{where}: expected {expected}, found {found or 'the end of the line'!r}")

    is_document = relevance >= 0
    if not is_document.all():
        line_numbers = np.flatnonzero(is_document)
        features, relevance, marks = features[is_document], relevance[is_document], marks[is_document]
    else:
        line_numbers = np.arange(n_lines)
    starts = np.flatnonzero(_starts_query(text, marks))
    offsets = np.append(starts, len(relevance))
    query_ids = _strings(text, marks[starts, 2:4])
    has_comment = (marks[:, 5] > marks[:, 4]).any()
    document_ids = _strings(text, marks[:, 4:6]) if has_comment else None
    spans = np.stack([marks[starts, 0], marks[offsets[1:] - 1, 1]], axis=1)
    parsed = LetorText(features, relevance, offsets, query_ids, document_ids, spans, largest_index)
    return parsed, first_line + line_numbers[starts]


def _strings(text: np.ndarray, bounds: np.ndarray) -> tuple[str, ...]:
    view = text.data
    # other bytes than UTF-8's stay different from each other, and can be printed
    return tuple(str(view[a:b], "utf-8", "backslashreplace") for a, b in bounds.tolist())


def _chunk_starts(text: np.ndarray, chunk_bytes: int) -> np.ndarray:
    """Byte offsets that cut the text at line ends into chunks of about `chunk_bytes`: int64[chunks + 1]."""
    starts = [0]
    while starts[-1] < len(text):
        starts.append(_end_of_line(text, starts[-1] + chunk_bytes - 1))
    return np.array(starts, dtype=np.int64)


def _end_of_line(text: np.ndarray, start: int, nth: int = 1) -> int:
    """The position after the nth line end at `start` or later, or the end of the text."""
    width = 1 << 12
    while start < len(text):
        ends = np.flatnonzero(text[start : start + width] == _NEWLINE)
        if len(ends) >= nth:
            return start + int(ends[nth - 1]) + 1
        nth -= len(ends)
        start += width
        width = min(2 * width, _PIECE_BYTES)
    return len(text)


@kernel
def _largest_index(text, chunks):
    largest = np.zeros(chunks.shape[0] - 1, dtype=np.int64)
    for c in prange(largest.shape[0]):
        in_comment = False
        for i in range(chunks[c], chunks[c + 1]):
            if text[i] == _NEWLINE:
                in_comment = False
            elif text[i] == _HASH:
                in_comment = True
            elif text[i] == _COLON and not in_comment:
                index, unit, j = 0, 1, i - 1
                while j >= chunks[c] and _is_digit(text[j]) and unit <= MAX_FEATURES:
                    index += unit * (text[j] - 48)
                    unit *= 10
                    j -= 1
                if largest[c] < index <= MAX_FEATURES:
                    largest[c] = index
    return largest


@part
def _is_digit(byte):
    return 48 <= byte <= 57


@part
def _is_blank(byte):
    return byte == _SPACE or byte == _TAB or byte == _RETURN


@part
def _skip_blanks(text, i, end):
    while i < end and _is_blank(text[i]):
        i += 1
    return i


@part
def _ends_token(text, i, end):
    return i >= end or _is_blank(text[i]) or text[i] == _HASH


@part
def _integer(text, i, end):
    """The non-negative integer at i and the position after it; the position stays at i when there is none."""
    value = 0
    while i < end and _is_digit(text[i]) and value < 10**15:
        value = 10 * value + (text[i] - 48)
        i += 1
    return value, i


@part
def _number(text, i, end):
    """The decimal number at i, the position after it and an error code."""
    negative = i < end and text[i] == 45
    if i < end and (text[i] == 45 or text[i] == 43):
        i += 1
    if i < end and text[i] | 32 in (105, 110):  # i(nf), n(an)
        return 0.0, i, _NOT_FINITE
    mantissa, digits, power = np.uint64(0), 0, 0
    while i < end and _is_digit(text[i]):
        if digits < 19:
            mantissa = mantissa * np.uint64(10) + np.uint64(text[i] - 48)
        else:
            power += 1
        digits += mantissa > 0
        i += 1
    any_digit = _is_digit(text[i - 1])
    if i < end and text[i] == 46:
        i += 1
        while i < end and _is_digit(text[i]):
            if digits < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(text[i] - 48)
                power -= 1
            digits += mantissa > 0
            any_digit = True
            i += 1
    if not any_digit:
        return 0.0, i, _NUMBER
    if i < end and text[i] | 32 == 101:  # e
        i += 1
        negative_exponent = i < end and text[i] == 45
        if i < end and (text[i] == 45 or text[i] == 43):
            i += 1
        exponent, after = _integer(text, i, end)
        if after == i:
            return 0.0, i, _NUMBER
        i = after
        power += -exponent if negative_exponent else exponent
    if not _ends_token(text, i, end):
        return 0.0, i, _NUMBER
    value = np.float64(mantissa)
    if -22 <= power <= 22:
        value = value * _POWERS_OF_TEN[power] if power >= 0 else value / _POWERS_OF_TEN[-power]
    elif value > 0:
        value *= 10.0**power
    value = min(value, _FLOAT32_MAX)
    return -value if negative else value, i, 0


@part
def _document_id(text, i, end):
    """Bounds of the id in a comment: LETOR's `docid = X …` gives X, any other comment itself, without blanks around."""
    i = _skip_blanks(text, i, end)
    while end > i and _is_blank(text[end - 1]):
        end -= 1
    is_docid = end - i > 5 and text[i] == 100 and text[i + 1] == 111 and text[i + 2] == 99
    if is_docid and text[i + 3] == 105 and text[i + 4] == 100:
        j = _skip_blanks(text, i + 5, end)
        if j < end and text[j] == 61:
            i = _skip_blanks(text, j + 1, end)
            end = i
            while end < text.shape[0] and text[end] != _NEWLINE and not _is_blank(text[end]):
                end += 1
    return i, end


@part
def _parse_line(text, i, end, n_grades, features, marks):
    """Parse one line into its row; returns (grade or −1 for no document, error code, position of the error)."""
    i = _skip_blanks(text, i, end)
    if i >= end or text[i] == _HASH:
        return -1, 0, i
    grade, after = _integer(text, i, end)
    if after > i and after < end and text[after] == 46:  # 1.0 is a grade of 1
        after += 1
        while after < end and text[after] == 48:
            after += 1
    if after == i or not _ends_token(text, after, end):
        return -1, _UNKNOWN_GRADE if text[i] == 45 else _GRADE, i
    if grade >= n_grades:
        return -1, _UNKNOWN_GRADE, i
    i = _skip_blanks(text, after, end)
    if end - i < 4 or text[i] != 113 or text[i + 1] != 105 or text[i + 2] != 100 or text[i + 3] != _COLON:
        return -1, _QID, i
    marks[2] = i + 4
    i += 4
    while not _ends_token(text, i, end):
        if text[i] == _COLON:
            return -1, _QID_COLON, marks[2]
        i += 1
    marks[3] = i
    if marks[2] == marks[3]:
        return -1, _EMPTY_QID, i
    previous = 0
    while True:
        i = _skip_blanks(text, i, end)
        if i >= end:
            break
        if text[i] == _HASH:
            marks[4], marks[5] = _document_id(text, i + 1, end)
            break
        index, after = _integer(text, i, end)
        if after == i or after >= end or text[after] != _COLON:
            return -1, _FEATURE, i
        if index < 1:
            return -1, _ZERO, i
        if index > features.shape[0]:
            return -1, _RANGE, i
        if index <= previous:
            return -1, _ORDER, i
        previous = index
        value, after, error = _number(text, after + 1, end)
        if error:
            return -1, error, i
        features[index - 1] = value
        i = after
    return grade, 0, i


@kernel
def _parse(text, chunks, first_lines, n_grades, features, relevance, marks, errors):
    for c in prange(chunks.shape[0] - 1):
        start, line = chunks[c], first_lines[c]
        while start < chunks[c + 1]:
            end = start
            carriage = -1  # where the first carriage return of the line is
            while end < chunks[c + 1] and text[end] != _NEWLINE:
                if text[end] == _RETURN and carriage < 0:
                    carriage = end
                end += 1
            marks[line, 0], marks[line, 1] = start, end
            if carriage >= 0 and _skip_blanks(text, carriage, end) < end:
                grade, error, where = -1, _LINE_END, _skip_blanks(text, carriage, end)
            else:
                grade, error, where = _parse_line(text, start, end, n_grades, features[line], marks[line])
            if error:
                errors[c, 0], errors[c, 1], errors[c, 2] = error, line, where
                break
            relevance[line] = grade
            start = end + 1
            line += 1


def _starts_query(text: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Whether each document's query is another one than that of the document before it: Bool[documents]."""
    start, length = marks[:, 2], marks[:, 3] - marks[:, 2]
    starts = np.ones(len(marks), dtype=np.bool_)
    starts[1:] = length[1:] != length[:-1]
    for i in range(int(length.max(initial=0))):
        both = np.flatnonzero(~starts[1:] & (length[1:] > i)) + 1
        starts[both] = text[start[both] + i] != text[start[both - 1] + i]
    return starts
