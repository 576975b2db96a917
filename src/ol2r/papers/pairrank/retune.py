"""Writes `tuned.csv` anew from the stored results of both steps of tuning: `python -m ol2r.papers.pairrank.retune`."""

from pathlib import Path

import pandas as pd

from ol2r.errors import MissingRows
from ol2r.experiments.chapter import PARAMETERS, Chapter
from ol2r.experiments.store import Store
from ol2r.papers.pairrank import tuning
from ol2r.papers.pairrank.grid import PAPER, TUNED_DATASETS


def stored(store: Store) -> pd.DataFrame:
    """The shortlists and choices that follow from the stored results, as `tuning.table` has them.

    A data set is left out if its first step is not stored whole. Without results of the second step it has a shortlist
    but no choice.

    Raises:
        MissingRows: no data set has a whole first step.
    """
    steps: dict[str, list[pd.DataFrame]] = {"tuning": [], "tuning-longer": []}
    missing = None
    for dataset in TUNED_DATASETS:
        given = {name: parameter.value for name, parameter in PARAMETERS.items()}
        reader = Chapter(PAPER, given | {"tier": "paper", "datasets": [dataset]}, store, never=True)
        for item, frames in steps.items():
            try:
                frames.append(reader.results(item).frame)
            except MissingRows as error:
                missing = error
                break
    if not steps["tuning"]:
        raise missing or ValueError("nothing is tuned")
    return tuning.table(*(pd.concat(frames) if frames else pd.DataFrame() for frames in steps.values()))


if __name__ == "__main__":
    made = stored(Store.open())
    columns = ["dataset", "grid", *tuning.NAMES, "best_of"]
    made[columns].to_csv(Path(__file__).with_name(tuning.TABLE), index=False, lineterminator="\n")
    print(made.to_string())
