"""Writes a paper's chosen values anew from the stored results of both steps of tuning: for all kinds of users together,
or for each by itself; and says where a grid must be widened.

    python -m ol2r.papers.retune PAPER [--by-users]
"""

import sys
from importlib.resources import files
from pathlib import Path

import pandas as pd

from ol2r.errors import MissingRows
from ol2r.experiments.chapter import PARAMETERS, Chapter
from ol2r.experiments.paper import Paper
from ol2r.experiments.store import Store
from ol2r.experiments.tuning import Tuned
from ol2r.papers import paper


def steps_of(of: Paper, store: Store, tuned: Tuned | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The stored results of both steps.

    A data set is left out if its first step is not stored whole. Of the second step it may have no results.

    Args:
        of: the paper; store: where its results are looked up.
        tuned: what it tunes, such as its `by_users` (None: its `tuned`).

    Raises:
        ValueError: the paper tunes nothing.
        MissingRows: no data set has a whole first step.
    """
    if (tuned := tuned or of.tuned) is None:
        raise ValueError(f"{of.name} tunes nothing")
    steps: dict[str, list[pd.DataFrame]] = {item: [] for item in tuned.steps}
    missing = None
    for dataset in tuned.datasets:
        given = {name: parameter.value for name, parameter in PARAMETERS.items()}
        reader = Chapter(of, given | {"tier": "paper", "datasets": [dataset]}, store, never=True)
        for item, frames in steps.items():
            try:
                results = reader.results(item)
            except MissingRows as error:
                missing = error
                break
            if results.not_at_hand:  # rows that are not stored were left out, for they cannot be computed here
                break
            frames.append(results.frame)
    first, longer = (pd.concat(frames) if frames else pd.DataFrame() for frames in steps.values())
    if first.empty:
        raise missing or ValueError("nothing is tuned")
    return first, longer


def stored(of: Paper, store: Store, tuned: Tuned | None = None) -> pd.DataFrame:
    """The shortlists and choices that follow from the stored results, as `Tuned.table` has them.

    Arguments and errors are those of `steps_of`. A data set without a second step has a shortlist but no choice.
    """
    first, longer = steps_of(of, store, tuned)
    tuned = tuned or of.tuned
    assert tuned is not None
    return tuned.table(first, longer)


def write(tuned: Tuned, made: pd.DataFrame) -> None:
    """Put shortlists and choices into the paper's folder."""
    columns = ["dataset", "grid", *tuned.names, "best_of"]
    made[columns].to_csv(Path(str(files(tuned.package) / tuned.file)), index=False, lineterminator="\n")


if __name__ == "__main__":
    asked = paper(sys.argv[1])
    tuned = asked.by_users if "--by-users" in sys.argv[2:] else asked.tuned
    if tuned is None:
        raise SystemExit(f"{asked.name} does not tune for each kind of users")
    found = Store.open()
    made, wider = stored(asked, found, tuned), tuned.open_edges(*steps_of(asked, found, tuned))
    write(tuned, made)
    print(made.to_string())
    print("to be widened:", wider.to_string() if len(wider) else "no grid")
