"""Writes a paper's `tuned.csv` anew from the stored results of both steps of tuning.

    python -m ol2r.papers.retune PAPER
"""

import sys
from importlib.resources import files
from pathlib import Path

import pandas as pd

from ol2r.errors import MissingRows
from ol2r.experiments.chapter import PARAMETERS, Chapter
from ol2r.experiments.paper import Paper
from ol2r.experiments.store import Store
from ol2r.experiments.tuning import TABLE
from ol2r.papers import paper


def stored(of: Paper, store: Store) -> pd.DataFrame:
    """The shortlists and choices that follow from the stored results, as `Tuned.table` has them.

    A data set is left out if its first step is not stored whole. Without results of the second step it has a shortlist
    but no choice.

    Raises:
        ValueError: the paper tunes nothing.
        MissingRows: no data set has a whole first step.
    """
    if of.tuned is None:
        raise ValueError(f"{of.name} tunes nothing")
    steps: dict[str, list[pd.DataFrame]] = {"tuning": [], "tuning-longer": []}
    missing = None
    for dataset in of.tuned.datasets:
        given = {name: parameter.value for name, parameter in PARAMETERS.items()}
        reader = Chapter(of, given | {"tier": "paper", "datasets": [dataset]}, store, never=True)
        for item, frames in steps.items():
            try:
                frames.append(reader.results(item).frame)
            except MissingRows as error:
                missing = error
                break
    if not steps["tuning"]:
        raise missing or ValueError("nothing is tuned")
    return of.tuned.table(*(pd.concat(frames) if frames else pd.DataFrame() for frames in steps.values()))


def write(of: Paper, made: pd.DataFrame) -> None:
    """Put shortlists and choices into the paper's folder."""
    assert of.tuned is not None
    columns = ["dataset", "grid", *of.tuned.names, "best_of"]
    made[columns].to_csv(Path(str(files(of.package) / TABLE)), index=False, lineterminator="\n")


if __name__ == "__main__":
    asked = paper(sys.argv[1])
    made = stored(asked, Store.open())
    write(asked, made)
    print(made.to_string())
