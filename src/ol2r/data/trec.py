"""Runs and relevance judgements in TREC's text formats, which the field's own tools read and write.

A run has a line `query Q0 document rank score tag` for each document, judgements (qrels) a line
`query 0 document grade`. Read, both are mappings {query: {document: score or grade}}, as `ir_measures` and
`pytrec_eval` take them. A data set without document ids names its documents by their place in their query: d0, d1, …

Other tools score the same lists otherwise, unless they are told not to:

- *Gain.* `ndcg` of trec_eval, and nDCG of ir_measures by default, gain the grade itself; here the gain is 2^grade − 1
  unless a paper says `"linear"`. `qrels(dataset, gain="exponential")` writes gains as grades, so that both agree.
- *Discount and cut.* 1 / log2(rank + 1), and an ideal list that is cut at the same rank, are the same everywhere.
- *Ties.* trec_eval puts documents of equal score in descending order of their names, whatever their order in the run;
  here their order is random, and the score its expectation, unless a paper says `"listed"`.
- *Queries without a relevant document* count 0 there; here they count 0 (`"zero"`) or are left out (`"skip"`).
- *Precision.* trec_eval compares scores in single precision.

This module must not know what a score means.
"""

import math
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from ol2r.arrays import checked
from ol2r.data.dataset import RankingDataset
from ol2r.data.sessions import read_text
from ol2r.errors import DataError
from ol2r.ranking.constants import gain_of_grades

Judgements = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def qrels(dataset: RankingDataset, queries: Iterable[int] | None = None, gain: str = "linear") -> Judgements:
    """The grades of a data set: {query: {document: grade}}.

    Args:
        dataset: the data set.
        queries: query numbers, such as a fold's test queries; None takes all.
        gain: "linear" gives grades, "exponential" 2^grade − 1, by which tools with linear gains score as the papers do.

    Raises:
        DataError: a name has white space in it, or two documents of a query have one name.
    """
    table = gain_of_grades(gain)
    return {
        query: {document: int(table[grade]) for document, grade in zip(names, dataset.relevance[rows], strict=True)}
        for query, names, rows in _documents(dataset, queries)
    }


def run_of(dataset: RankingDataset, scores: np.ndarray, queries: Iterable[int] | None = None) -> Run:
    """A ranker's scores as a run: {query: {document: score}}.

    Args:
        dataset: the data set.
        scores: Float[documents], of all documents of the data set in its order; those of other queries are not read.
        queries: query numbers; None takes all.

    Raises:
        DataError: not one finite score for each document, or names as for `qrels`.
    """
    scores = checked(scores, "a score for each document", (dataset.n_documents,), np.float64)
    result = {
        query: dict(zip(names, scores[rows].tolist(), strict=True))
        for query, names, rows in _documents(dataset, queries)
    }
    if not all(math.isfinite(score) for own in result.values() for score in own.values()):
        raise DataError("expected finite scores")
    return result


def scores_of(run: Mapping[str, Mapping[str, float]], dataset: RankingDataset) -> np.ndarray:
    """A run's scores in the order of a data set's documents, matched by name: Float64[documents].

    Documents of queries that the run leaves out have NaN.

    Raises:
        DataError: a query or document that the data set does not have, or a document of a query that the run leaves
            out.
    """
    scores = np.full(dataset.n_documents, np.nan)
    unknown = set(run) - set(dataset.query_ids)
    if unknown:
        raise DataError(f"the run has {len(unknown)} queries that {dataset.label} has not, such as {min(unknown)}")
    chosen = [number for number, query in enumerate(dataset.query_ids) if query in run]
    for query, names, rows in _documents(dataset, chosen):
        if run[query].keys() != set(names):
            other = min(run[query].keys() ^ set(names))
            raise DataError(
                f"query {query}: the run and {dataset.label} do not have the same documents, such as {other}"
            )
        scores[rows] = [run[query][name] for name in names]
    return scores


def _documents(dataset: RankingDataset, queries: Iterable[int] | None) -> Iterable[tuple[str, tuple[str, ...], slice]]:
    """Name, document names and rows of each query."""
    for number in range(dataset.n_queries) if queries is None else queries:
        rows, query = dataset.documents(int(number)), dataset.query_ids[int(number)]
        ids = dataset.document_ids
        names = tuple(f"d{i}" for i in range(rows.stop - rows.start)) if ids is None else ids[rows]
        wrong = next((name for name in (query, *names) if len(name.split()) != 1 or name.strip() != name), None)
        if wrong is not None:
            raise DataError(
                f"query {query}: the name {wrong!r} cannot stand in a file of TREC's, which white space cuts"
            )
        if len(set(names)) < len(names):
            raise DataError(f"query {query}: two documents have one name")
        yield query, names, rows


def write_qrels(judgements: Mapping[str, Mapping[str, int]], path: str | PathLike[str]) -> None:
    """Write judgements, a line `query 0 document grade` for each."""
    lines = (f"{query} 0 {name} {grade}\n" for query, own in judgements.items() for name, grade in own.items())
    Path(path).write_text("".join(lines), encoding="utf-8")


def write_run(run: Mapping[str, Mapping[str, float]], path: str | PathLike[str], tag: str = "ol2r") -> None:
    """Write a run, best documents first; those of equal score stay in their order.

    Args:
        tag: the name of the run, one word.
    """
    lines = []
    for query, own in run.items():
        best = sorted(own.items(), key=lambda entry: -entry[1])
        lines += [f"{query} Q0 {name} {rank} {score!r} {tag}\n" for rank, (name, score) in enumerate(best, start=1)]
    Path(path).write_text("".join(lines), encoding="utf-8")


def read_qrels(path: str | PathLike[str]) -> Judgements:
    """Read judgements, plain, .gz or .xz.

    Raises:
        DataError: with file and line; also where a document of a query is judged twice.
    """
    return _read(Path(path), 4, "query 0 document grade", 3, int)


def read_run(path: str | PathLike[str]) -> Run:
    """Read a run, plain, .gz or .xz. Scores alone make its order, as in trec_eval; ranks are not read.

    Raises:
        DataError: with file and line; also where a document stands twice in a query.
    """
    return _read(Path(path), 6, "query Q0 document rank score tag", 4, float)


def _read(path: Path, n_fields: int, expected: str, place: int, kind: type) -> dict:
    result: dict[str, dict] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            value = kind(fields[place]) if len(fields) == n_fields else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise DataError(f"{path}:{number}: expected '{expected}', found {line[:60]!r}")
        own = result.setdefault(fields[0], {})
        if fields[2] in own:
            raise DataError(f"{path}:{number}: document {fields[2]} of query {fields[0]} stands there twice")
        own[fields[2]] = value
    if not result:
        raise DataError(f"{path}: expected at least one line '{expected}'")
    return result
