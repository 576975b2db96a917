"""Texts of the NSGD chapter's tables: conventions, what the paper leaves open, audits, and the map of its items."""

from collections.abc import Mapping
from functools import partial

import pandas as pd

from ol2r.experiments import grid
from ol2r.experiments.chapter import Results
from ol2r.papers import texts
from ol2r.papers.nsgd.claims import STAND_INS
from ol2r.papers.nsgd.grid import GAMMA, ROUNDS, SETTINGS, K
from ol2r.report import tables

TEXTS = texts.read(
    "nsgd",
    "texts",
    rounds=ROUNDS,
    k=K,
    gamma=GAMMA,
    last_weight=GAMMA**ROUNDS,
    candidates=SETTINGS["NSGD"]["m"],
)
CONVENTIONS, SILENCES, SHORT, MAP = (TEXTS[each] for each in ("conventions", "silences", "short", "map"))
"""What the columns of each are, says the file."""

COLUMNS = {"table-2": "cndcg", "table-3": "ndcg"}
"""The printed tables of scores, and the column of the runs that has each score."""


def beside_printed(
    results: Mapping[str, Results], printed: pd.DataFrame, reading: Mapping[str, str] | None = None
) -> dict[str, pd.DataFrame]:
    """The printed tables beside our runs, by table, without those that have no runs; see `tables.compare`.

    Args:
        results: by item.
        printed: the paper's printed numbers.
        reading: for another reading of the paper, by item the one that has its runs (None: the main reading).
    """
    stand_ins = {one.of: one.data for one in STAND_INS}
    runs = {item: results[(reading or {}).get(item, item)].frame for item in COLUMNS}
    return {
        item: tables.compare(runs[item], printed[printed["item"] == item], column, stand_ins)
        for item, column in COLUMNS.items()
        if len(runs[item])
    }


def on_mq2008(comparison: pd.DataFrame) -> pd.DataFrame:
    """The lines of a comparison on MQ2008, or else on the last data set that was run."""
    names = [name for name in comparison["data"].unique() if name]
    return comparison[comparison["data"] == ("MQ2008" if "MQ2008" in names else names[-1])]


def click_models() -> list[tuple[str, str, str]]:
    """The paper's Table 1, and the users of sets with five grades: rows (users, click by grade, stop by grade)."""
    return grid.click_models((3, ""), (5, ", five grades (ours)"))


audits_told = partial(
    tables.columns,
    given={
        "audit": "{audit}",
        "quantity": "{quantity}",
        "lines": "{lines}",
        "largest |z|": "{z:.1f}",
        "the mistake it would report": "{mistake}",
        "its smallest |z|": "{z_mistaken:.1f}",
    },
)
"""How far simulation lies from theory, and how far from a mistake, for each audited quantity: of `audits.summary`."""
