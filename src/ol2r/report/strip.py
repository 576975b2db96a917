"""The strip under a figure: where its numbers came from, its data, the commands that make it again, how to cite it.

This module writes the block that the book's `provenance` directive draws; the two share only the names of the keys. The
CSV file holds the aggregate that was drawn, with the keys of the cells that it came from, and never values of single
queries or documents.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

import ol2r
from ol2r import frames
from ol2r.data.catalogue import CATALOGUE, UNCONFIRMED
from ol2r.errors import printable
from ol2r.experiments.claims import label
from ol2r.report.keys import with_keys
from ol2r.report.tables import NOT_AT_HAND

if TYPE_CHECKING:
    from ol2r.experiments.chapter import Results
    from ol2r.report.choice import Choice
    from ol2r.report.style import Drawing


OF_BANDITS = ("play", "query-rewards")
"""The kinds of cells whose rounds, seeds and folds are the steps, runs and queries of a bandit."""


@dataclass(frozen=True)
class Strip:
    """What stands under one figure or table.

    Args:
        facts: what the strip tells, by the names that the book's directive knows.
        table: the aggregate that the figure or table shows, with the column `key`.
        drawing: the figure, or its drawings behind tabs; None under a table.
    """

    facts: Mapping[str, object]
    table: pd.DataFrame
    drawing: "Drawing | Choice | None" = None

    @property
    def anchor(self) -> str:
        """The anchor of the figure or table, such as "nsgd-fig-5b"."""
        return str(self.facts["anchor"])

    @property
    def block(self) -> str:
        """The MyST block `provenance` of YAML."""
        told = (f"{name}: {json.dumps(_printable(value), ensure_ascii=False)}" for name, value in self.facts.items())
        return "\n".join([":::{provenance}", *told, ":::", ""])

    def write(self, path: Path) -> None:
        """Write the table as CSV, each row in one line; the strip's fact `csv` names the file relative to the page."""
        path.parent.mkdir(parents=True, exist_ok=True)
        table = self.table.rename(columns=_in_one_line)
        for name in table.select_dtypes(exclude="number"):
            table[name] = table[name].map(_in_one_line)
        table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


def _in_one_line(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) and value.splitlines() != [value] else value


def _printable(value: object) -> object:
    """The value of a fact, in whose texts signs that cannot be seen are escapes, and no line is empty."""
    if isinstance(value, list):
        return list(map(_printable, value))
    if not isinstance(value, str):
        return value
    lines = (printable(" ".join(line.split())) for line in value.split("\n"))
    return "\n".join(filter(None, lines))


def strip(
    results: "Results | Sequence[Results]",
    shown: "Drawing | Choice | pd.DataFrame",
    *,
    anchor: str,
    command: str,
    drawn: pd.DataFrame | None = None,
    told: Mapping[str, str] | None = None,
) -> Strip:
    """Tell where a figure or table came from.

    Args:
        results: what it was made from (`Chapter.computed` for a figure without stored results); if there are several,
            the first gives title and tier.
        drawn: the rows of the results' frames that were drawn, with their columns `cell`, `fold` and `seed` (None: all
            rows, and then the strip also names the data that is not at hand).
        told: data, rounds or seeds of a figure without stored results.

    Raises:
        ValueError: the aggregate has single runs, queries or documents.
    """
    drawing, table = (None, shown) if isinstance(shown, pd.DataFrame) else (shown, shown.table)
    private = {"seed", "query", "query_id", "document", "document_id"} & set(table.columns)
    if private:
        raise ValueError(f"a figure's data is aggregated, but this table has a column {min(private)!r}")
    sources = results if isinstance(results, Sequence) else [results]
    rows = _drawn(sources, drawn)
    kinds = {cell.key: cell.kind for each in sources for cell in each.cells}
    of_bandits = rows.frame["cell"].map(kinds).isin(OF_BANDITS)
    learners, bandits = rows.frame[~of_bandits], rows.frame[of_bandits]
    data = [_identified(name) for name in rows.frame["dataset"].unique()] if "dataset" in rows.frame else []
    absent = [f"{label(name)} ({NOT_AT_HAND})" for name in rows.not_at_hand]
    records = rows.provenance
    version = f"ol2r {', '.join(_distinct(records, 'ol2r')) or ol2r.__version__}"
    facts = {
        "anchor": anchor,
        "title": rows.title,
        "tier": rows.tier,
        "data": "; ".join([*data, *absent]) or "none",
        "rounds": _rounds(learners),
        "seeds": None if len(bandits) and learners.empty else _runs(learners, "fold", "folds") if records else "none",
        "steps": _rounds(bandits),
        "runs": _runs(bandits, "query", "queries") if len(bandits) else None,
        "device": ", ".join(_distinct(records, "device")) or "none",
        "code": ", ".join([version, *(digest[:12] for digest in _distinct(records, "code"))])
        + (" with local changes" if any(record.get("dirty") for record in records) else ""),
        "csv": f"data/{anchor}.csv",
        "command": command,
        "keys": [str(key) for key in rows.frame["cell"].unique()],
        "source": "" if drawing is None else drawing.drawn_by,
        **(told or {}),
    }
    return Strip(facts, with_keys(table, rows.frame) if len(rows.frame) else table, drawing)


def _identified(dataset: str) -> str:
    """A data set's label, with a note if its checksum is not confirmed."""
    taken = dataset in CATALOGUE and CATALOGUE[dataset].checksum is None
    return f"{label(dataset)} ({UNCONFIRMED})" if taken else label(dataset)


def _drawn(sources: "Sequence[Results]", drawn: pd.DataFrame | None) -> "Results":
    """The first of some results, cut to the drawn rows of all of them and to these rows' provenance."""
    frame = pd.concat([each.frame for each in sources]) if drawn is None else drawn
    keys = set(frame["cell"].unique())
    absent = dict.fromkeys(name for each in sources for name in each.not_at_hand) if drawn is None else ()
    records = (record for each in sources for record in each.provenance if record["key"] in keys)
    return replace(sources[0], frame=frame, provenance=tuple(records), not_at_hand=tuple(absent))


def _distinct(records, field: str) -> list[str]:
    return list(dict.fromkeys(str(record[field]) for record in records if record.get(field)))


def _runs(frame: pd.DataFrame, one: str, several: str) -> str:
    """Seeds × folds of a cell, and all such numbers where cells differ; `one` and `several`: what folds are called."""
    of_cells = frame.groupby("cell", sort=False)[["seed", "fold"]].nunique().drop_duplicates()
    told = (f"{each.seed} × {each.fold} {one if each.fold == 1 else several}" for each in frames.rows(of_cells))
    return " or ".join(told)


def _rounds(frame: pd.DataFrame) -> str | None:
    """The last round of a cell, and all such rounds where cells differ; None without rounds."""
    last = frame.dropna(subset="round").groupby("cell", sort=False)["round"].max() if "round" in frame else ()
    return " or ".join(str(int(each)) for each in dict.fromkeys(last)) or None
