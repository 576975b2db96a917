"""The strip under a figure: where its numbers came from, its data, the command that makes it again, how to cite it.

This module writes the block that the book's `provenance` directive draws; the two share only the names of the keys. The
CSV file holds the aggregate that was drawn, never values of single queries or documents.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

import ol2r
from ol2r import frames
from ol2r.data.catalogue import CATALOGUE, UNCONFIRMED
from ol2r.experiments.claims import label
from ol2r.report.tables import NOT_AT_HAND

if TYPE_CHECKING:
    from ol2r.experiments.chapter import Results


def strip(
    results: "Results | Sequence[Results]",
    table: pd.DataFrame,
    *,
    anchor: str,
    command: str,
    csv: str,
    drawn: pd.DataFrame | None = None,
    told: Mapping[str, str] | None = None,
) -> str:
    """Write a figure's data and return the block that tells where it came from.

    Args:
        results: what the figure was drawn from (`Chapter.computed` for a figure without stored results); if there are
            several, the first gives title and tier.
        table: the aggregate that the figure shows (`Drawing.table`, or a table's frame).
        anchor: the figure's anchor on the page, such as "nsgd-fig-5b".
        command: the shell command that makes the results again.
        csv: file to write the table to, relative to the page.
        drawn: the rows of the results' frames that were drawn, with their columns `cell`, `fold` and `seed` (None: all
            rows, and then the strip also names the data that is not at hand).
        told: data, rounds or seeds of a figure without stored results.

    Returns:
        A MyST block `provenance` of YAML.

    Raises:
        ValueError: the table has single runs, queries or documents.
    """
    private = {"seed", "query", "query_id", "document", "document_id"} & set(table.columns)
    if private:
        raise ValueError(f"a figure's data is aggregated, but this table has a column {min(private)!r}")
    Path(csv).parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(csv, index=False, float_format="%.6g", lineterminator="\n")

    sources = results if isinstance(results, Sequence) else [results]
    shown = _drawn(sources, drawn)
    data = [_identified(name) for name in shown.frame["dataset"].unique()] if "dataset" in shown.frame else []
    absent = [f"{label(name)} ({NOT_AT_HAND})" for name in shown.not_at_hand]
    records = shown.provenance
    version = f"ol2r {', '.join(_distinct(records, 'ol2r')) or ol2r.__version__}"
    facts = {
        "anchor": anchor,
        "title": shown.title,
        "tier": shown.tier,
        "data": "; ".join([*data, *absent]) or "none",
        "rounds": _rounds(shown.frame),
        "seeds": _runs(shown.frame) if records else "none",
        "device": ", ".join(_distinct(records, "device")) or "none",
        "code": ", ".join([version, *(digest[:12] for digest in _distinct(records, "code"))])
        + (" with local changes" if any(record.get("dirty") for record in records) else ""),
        "csv": csv,
        "command": command,
        "keys": [str(key) for key in shown.frame["cell"].unique()],
        **(told or {}),
    }
    return "\n".join(
        [":::{provenance}", *(f"{k}: {json.dumps(v, ensure_ascii=False)}" for k, v in facts.items()), ":::", ""]
    )


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


def _runs(frame: pd.DataFrame) -> str:
    """Seeds × folds of a cell, and all such numbers where cells differ."""
    of_cells = frame.groupby("cell", sort=False)[["seed", "fold"]].nunique().drop_duplicates()
    told = (f"{each.seed} × {each.fold} fold{'s' if each.fold != 1 else ''}" for each in frames.rows(of_cells))
    return " or ".join(told)


def _rounds(frame: pd.DataFrame) -> str | None:
    """The last round of a cell, and all such rounds where cells differ; None without rounds."""
    last = frame.dropna(subset="round").groupby("cell", sort=False)["round"].max() if "round" in frame else ()
    return " or ".join(str(int(each)) for each in dict.fromkeys(last)) or None
