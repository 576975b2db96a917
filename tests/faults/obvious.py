"""Readers as slow and obvious as can be, to hold the fast ones against: each takes bytes and gives plain values.

What they give has the same form as `readers` makes of what the library reads. They must not call the library.
"""

import csv
import io
import json
import math
import re

import numpy as np

MAX_FEATURES = 100_000
LARGEST = float(np.finfo(np.float32).max)
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?([0-9]+))?")
COLUMNS = ["query", "session", "position", "item", "clicked"]


class Refused(Exception):
    """The text is none of its kind; `line` is where, counted from 1, or None."""

    def __init__(self, line: int | None = None):
        super().__init__(line)
        self.line = line


def letor(content: bytes, n_grades: int, n_features: int | None):
    """LETOR text: by document its grade, query and comment, its features; and the number of features."""
    content = _without_mark(content)
    width = n_features
    if width is None:
        pairs = [token.partition(b":") for line in content.split(b"\n") for token in line.partition(b"#")[0].split()]
        named = [int(index) for index, colon, _ in pairs if colon and re.fullmatch(rb"[0-9]+", index)]
        width = max([1, *(index for index in named if index <= MAX_FEATURES)])
    documents = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        before, carriage, after = line.partition(b"\r")
        if carriage and after.strip(b" \t\r"):
            raise Refused(number)
        text, _, comment = before.partition(b"#")
        tokens = [token for token in re.split(rb"[ \t]+", text) if token]
        if not tokens:
            continue
        try:
            grade, query, *pairs = tokens
        except ValueError:
            raise Refused(number) from None
        if not re.fullmatch(rb"[0-9]+", grade) or int(grade) >= n_grades:
            raise Refused(number)
        if not query.startswith(b"qid:") or not query[4:] or b":" in query[4:]:
            raise Refused(number)
        features, previous = {}, 0
        for pair in pairs:
            index, colon, value = pair.partition(b":")
            found = NUMBER.fullmatch(value)
            if not colon or not re.fullmatch(rb"[0-9]+", index) or not previous < int(index) <= width:
                raise Refused(number)
            if found is None or int(found[1] or 0) >= 10**16:  # an exponent of that size is no number
                raise Refused(number)
            previous = int(index)
            features[previous] = min(max(float(value), -LARGEST), LARGEST)
        documents.append((number, int(grade), query[4:], _document(comment), features))
    if not documents:
        raise Refused
    seen, last = set(), None
    for number, _, query, _, _ in documents:
        if query != last and _text(query) in seen:
            raise Refused(number)
        seen.add(_text(query))
        last = query
    commented = any(document for _, _, _, document, _ in documents)
    return width, [
        (grade, _text(query), _text(document) if commented else None,
         tuple((index, float(np.float32(value))) for index, value in features.items() if np.float32(value)))
        for _, grade, query, document, features in documents
    ]  # fmt: skip


def _document(comment: bytes) -> bytes:
    comment = comment.strip(b" \t\r")
    found = re.match(rb"docid[ \t\r]*=[ \t\r]*([^ \t\r]*)", comment)
    return found[1] if found else comment


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _without_mark(content: bytes) -> bytes:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Refused
    return content.removeprefix(b"\xef\xbb\xbf")


def _decoded(content: bytes) -> str:
    try:
        return _without_mark(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused from None


def sessions(content: bytes, positions: int | None, unshown: str):
    """A session log: by query its items, and of each session the list and what was clicked; clicks on what was not
    shown, and sessions with one."""
    items: dict[str, list[str]] = {}
    found: dict[str, list] = {}
    n_clicks = n_sessions = 0
    for number, line in enumerate(_decoded(content).split("\n"), start=1):
        for text in line.split(";"):
            text = text.strip()
            if not text:
                continue
            parts = re.fullmatch(r"([^\t:]*)\t([^\t:]*):([^\t:]*)", text)
            if parts is None or not parts[1].strip():
                raise Refused(number)
            query, shown = parts[1].strip(), [name.strip() for name in parts[2].split(",")]
            clicked = [name.strip() for name in parts[3].split(",")] if parts[3].strip() else []
            if "" in shown or "" in clicked or len(shown) != len(set(shown)):
                raise Refused(number)
            if positions is not None and len(shown) > positions:
                raise Refused(number)
            elsewhere = [name for name in clicked if name not in shown]
            if elsewhere and unshown == "error":
                raise Refused(number)
            n_clicks += len(elsewhere)
            n_sessions += bool(elsewhere)
            if elsewhere and unshown == "drop":
                continue
            known = items.setdefault(query, [])
            known += [name for name in shown if name not in known]
            found.setdefault(query, []).append((tuple(shown), tuple(name in clicked for name in shown)))
    if not found:
        raise Refused
    return {query: (tuple(items[query]), rows) for query, rows in found.items()}, n_clicks, n_sessions


def table_of_clicks(content: bytes):
    """A CSV table of clicks: by query its sessions, each with its items from the top and what was clicked."""
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
        lines = [line for line in csv.reader(io.StringIO(text, newline=""), strict=True) if line]
    except (UnicodeDecodeError, csv.Error):
        raise Refused from None
    if not lines or len(set(lines[0])) < len(lines[0]) or not set(COLUMNS) <= set(lines[0]):
        raise Refused
    found: dict[str, dict[str, list]] = {}
    for line in lines[1:]:
        if len(line) != len(lines[0]):
            raise Refused
        query, session, position, item, clicked = (dict(zip(lines[0], line, strict=True))[name] for name in COLUMNS)
        place, click = (_plain_number(text) for text in (position, clicked))
        if "" in (query, session, item) or place is None or click not in (0.0, 1.0):
            raise Refused
        found.setdefault(query, {}).setdefault(session, []).append((place, item, bool(click)))
    if not found:
        raise Refused
    for by_session in found.values():
        for rows in by_session.values():
            if len({place for place, _, _ in rows}) < len(rows) or len({item for _, item, _ in rows}) < len(rows):
                raise Refused
    return {
        query: [
            (tuple(item for _, item, _ in sorted(rows)), tuple(click for _, _, click in sorted(rows)))
            for rows in by_session.values()
        ]
        for query, by_session in found.items()
    }


def _plain_number(text: str) -> float | None:
    """A number with any white space around it."""
    if not re.fullmatch(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*", text, re.ASCII):
        return None
    return value if math.isfinite(value := float(text)) else None


def fitted_models(content: bytes, model: str, columns: int):
    """A collection of fitted models: by query its rows of probabilities."""

    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise Refused
        return dict(pairs)

    try:
        collection = json.loads(_decoded(content), object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Refused from None
    queries = collection.get(model) if isinstance(collection, dict) else None
    if not isinstance(queries, dict) or not queries:
        raise Refused
    found = {}
    for query, value in queries.items():
        inside = value.get("model") if isinstance(value, dict) else None
        arguments = inside.get("args") if isinstance(inside, dict) else None
        if not isinstance(arguments, list) or len(arguments) != columns + 1:
            raise Refused
        for row in arguments[:-1]:
            if not isinstance(row, list) or not row or any(type(p) not in (int, float) or not 0 <= p <= 1 for p in row):
                raise Refused
        found[query] = tuple(tuple(float(p) for p in row) for row in arguments[:-1])
    return found
