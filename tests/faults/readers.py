"""Inputs changed at random, read by each reader of a user's files and by an obvious one: both must say the same.

Inputs that led to something new are kept in `corpus/`, from which later runs begin too.
"""

import json
import random
import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from faults import obvious
from faults.tally import Tally, in_one_line

from ol2r.data import letor as letor_module
from ol2r.data import own, sessions
from ol2r.errors import DataError

CORPUS = Path(__file__).with_name("corpus")
MOST_BYTES = 600
"""Longer inputs are cut, so that both readers are quick."""
MOST_KEPT = 60
"""Inputs kept for each reader."""
ANY_TEXT = [b"", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", "é".encode(),
            "\u2028".encode(), "\u00a0".encode(), b"0", b"1", b"-1", b"1e9", b"1e400", b"nan", b"inf", b"9" * 25,
            b'"', b"'", b",", b";", b":", b"#", b"<script>", b"../", b"%s", b"{}", b"\\", b"True", b"null"]  # fmt: skip


class Reader(NamedTuple):
    """A reader of the library beside an obvious one.

    Args:
        read: takes the file; obvious: takes its content. Both give values of one form.
        begins: inputs to begin with; words: pieces that mutations put in.
    """

    read: Callable[[Path], Any]
    obvious: Callable[[bytes], Any]
    begins: list[bytes]
    words: list[bytes]


def _letor(path: Path, n_features: int | None = None):
    found = letor_module.read_letor(path, 5, n_features)
    queries = np.repeat(np.array(found.query_ids, dtype=object), np.diff(found.offsets))
    documents = found.document_ids or [None] * len(queries)
    return found.features.shape[1], [
        (int(grade), query, document, tuple((int(i) + 1, float(row[i])) for i in np.flatnonzero(row)))
        for grade, query, document, row in zip(found.relevance, queries, documents, found.features, strict=True)
    ]


def _sessions(path: Path, positions: int | None, unshown: Any):
    (log,) = sessions.read_sessions(path, positions=positions, unshown=unshown)
    queries = {
        query: (
            each.items,
            [
                (tuple(each.items[i] for i in row if i >= 0), tuple(bool(c) for c in clicked[row >= 0]))
                for row, clicked in zip(each.lists, each.clicks, strict=True)
            ],
        )
        for query, each in log.queries.items()
    }
    return queries, log.unshown_clicks, log.unshown_sessions


def _table_of_clicks(path: Path):
    return {
        query: [
            (tuple(each.items[i] for i in row if i >= 0), tuple(bool(c) for c in clicked[row >= 0]))
            for row, clicked in zip(each.lists, each.clicks, strict=True)
        ]
        for query, each in own.sessions(path).items()
    }


def _fitted_models(path: Path, model: Any):
    found = sessions.read_fitted_models(path, model)
    return {query: tuple(filter(None, (each.attraction, each.position))) for query, each in found.items()}


_DOCUMENTS = (
    b"0 qid:1 1:0.5 2:-3e-2 # docid = GX-1 inc = 0.04\n2 qid:1 1:1 4:7.25\n\n1 qid:b2 3:0.1 #x\n"
    b"# a comment: 9:30\n4 qid:3 2:16777217 7:1.8e308\r\n"
)
_LOG = b"9_0\ta,b,c : a , c ;9_0\tb,a :\nq\tx,y : z\n9_0\tc,b,a,d : d;\n"
_TABLE = (
    b"query,session,position,item,clicked\nshoes,s1,1,a,0\nshoes,s1,2,b,1\nhats,s1,1,17,1\nshoes,s2,3,a,1\n"
    b"shoes,s2,1,c,0\n"
)
_MODELS = (
    b'{"CM": {"1": {"model": {"args": [[0.5, 0.25, 1], 7]}}, "22": {"model": {"args": [[0, 1e-3], 8]}}}, '
    b'"PBM": {"1": {"model": {"args": [[0.5, 0.25], [1.0, 0.5], 7]}}}}'
)
READERS: dict[str, Reader] = {
    "letor": Reader(
        _letor,
        lambda content: obvious.letor(content, 5, None),
        [_DOCUMENTS],
        [b"qid:", b"qid:1", b"1:", b"2:3", b"100001:1", b"# docid = ", b"#docid=", b"1:.", b"e+", b"0 qid:1 1:1\n"],
    ),
    "letor-of-known-width": Reader(
        lambda path: _letor(path, 7),
        lambda content: obvious.letor(content, 5, 7),
        [_DOCUMENTS],
        [b"qid:", b"7:1", b"8:1", b"0:1", b"-", b"+", b"5 qid:1\n"],
    ),
    "session-log": Reader(
        lambda path: _sessions(path, None, "ignore"),
        lambda content: obvious.sessions(content, None, "ignore"),
        [_LOG],
        [b"q\t", b"a,", b" : ", b"a", b"\ta,b : a", b"q\ta : b;"],
    ),
    "session-log-of-four-positions": Reader(
        lambda path: _sessions(path, 4, "drop"),
        lambda content: obvious.sessions(content, 4, "drop"),
        [_LOG],
        [b"q\t", b"a,", b" : ", b"e,", b",f,g,h", b"q\ta : b;"],
    ),
    "table-of-clicks": Reader(
        _table_of_clicks,
        obvious.table_of_clicks,
        [_TABLE],
        [b"shoes,", b"s1,", b",1", b",0\n", b"item", b"clicked", b"1.0", b",17", b"hats,s1,2,4,1\n"],
    ),
    "fitted-models": Reader(
        lambda path: _fitted_models(path, "CM"),
        lambda content: obvious.fitted_models(content, "CM", 1),
        [_MODELS],
        [b"[", b"]", b"{", b"}", b'"CM":', b'"1":', b'"model":', b'"args":', b"0.5,", b"[" * 50_000, b"1" + b"0" * 400,
         b'"1"', b"true", b"NaN", b"-Infinity"],
    ),
}  # fmt: skip


def mutated(content: bytes, others: list[bytes], words: list[bytes], draw: random.Random) -> bytes:
    """The content after one to four changes: a bit, a piece put in, taken out, doubled or moved, lines swapped, cut,
    or joined with another."""
    for _ in range(draw.choice((1, 1, 1, 1, 2, 2, 3, 4))):
        at, end = sorted(draw.randrange(len(content) + 1) for _ in range(2))
        near = min(len(content), at + draw.randrange(1, 9))
        change = draw.randrange(10)
        if change == 0 and at < len(content):
            content = content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]
        elif change in (1, 2):
            content = content[:at] + draw.choice(draw.choice((words, ANY_TEXT))) + content[at:]
        elif change == 3:
            content = content[:at] + draw.choice(draw.choice((words, ANY_TEXT))) + content[near:]
        elif change == 4:
            content = content[:at] + content[near:]
        elif change == 5:
            content = content[:near] + content[at:]
        elif change == 6:
            lines = content.split(b"\n")
            i, j = (draw.randrange(len(lines)) for _ in range(2))
            lines[i], lines[j] = lines[j], lines[i]
            content = b"\n".join(lines)
        elif change == 7:
            lines = content.split(b"\n")
            word = draw.choice(words)
            content = b"\n".join([lines[0], *(line + word if line else line for line in lines[1:])])
        elif change == 8:
            content = content[: draw.choice((at, end))]
        else:
            other = draw.choice(others)
            content = content[:at] + other[draw.randrange(len(other) + 1) :]
    return content if len(content) > 20_000 else content[:MOST_BYTES]


def compared(reader: Reader, content: bytes, path: Path) -> tuple[str, str]:
    """The outcome of an input, and what tells it from others of the same outcome."""
    path.write_bytes(content)
    try:
        expected, line = reader.obvious(content), None
    except obvious.Refused as refusal:
        expected, line = None, refusal.line
    try:
        found = reader.read(path)
    except Exception as error:
        if not in_one_line(error) or not isinstance(error, DataError):
            return "unclear", f"{type(error).__name__}: {error}"[:200]
        message = str(error).removeprefix(str(path))
        where = re.match(r":(\d+)", message)
        if expected is not None:
            return "wrong", f"refused: {message}"[:200]
        if line is not None and (where is None or int(where[1]) != line):
            return "wrong", f"another line than {line}: {message}"[:200]
        return "detected", re.sub(r"\d+|'.*|found .*", "", message)
    if expected is None:
        return "wrong", f"read though it is none: {found!r}"[:200]
    if found != expected:
        return "wrong", f"{found!r} is not {expected!r}"[:400]
    return "harmless", f"of size {len(str(found)) // 40}"


def read_corpus(name: str) -> list[bytes]:
    """The inputs kept for a reader."""
    file = CORPUS / f"{name}.json"
    return [text.encode("latin-1") for text in json.loads(file.read_text())] if file.is_file() else []


def write_corpus(name: str, inputs: Iterable[bytes]) -> None:
    """Keep inputs, those that are kept already first."""
    kept = list(dict.fromkeys([*read_corpus(name), *inputs]))[:MOST_KEPT]
    (CORPUS / f"{name}.json").write_text(json.dumps([each.decode("latin-1") for each in kept], indent=0) + "\n")


def mutations(name: str, n: int, seed: int, *, keep: bool = False) -> Tally:
    """Read n inputs: the corpus, then mutations of it and of what this run found to be new.

    Args:
        keep: whether new inputs go to the corpus.
    """
    reader, tally, draw = READERS[name], Tally(f"input: {name}", seed), random.Random(f"{name} {seed}")
    pool, seen, new = [*reader.begins, *read_corpus(name)], set(), []
    good = list(reader.begins)  # what both read: most inputs come from it, because one mistake hides all others
    ready = list(pool)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "input")
        for _ in range(n):
            begin = draw.choice(draw.choice((good, good, pool)))
            content = ready.pop() if ready else mutated(begin, pool, reader.words, draw)
            outcome, kind = compared(reader, content, path)
            tally.add(outcome, f"{content[:300]!r}: {kind}")
            about = (outcome, kind if outcome in ("detected", "harmless") else kind[:20])
            if about not in seen and len(content) <= MOST_BYTES:
                seen.add(about)
                new.append(content)
                (good if outcome == "harmless" else pool).append(content)
    if keep:
        write_corpus(name, new)
    return tally
