"""Rules that were changed after results had been seen. `former.csv` in the paper's folder holds the old rules, with the
verdicts of the old and the new rule on the same results.

The file is made from two runs of `ol2r claims` on the same stored results, never by hand:

    git checkout OLD && ol2r claims PAPER --json > before.json
    git checkout NEW && ol2r claims PAPER --json > after.json    # before anything is computed again
    python -m ol2r.experiments.former before.json OLD after.json > src/ol2r/papers/PAPER/former.csv

It keeps every claim whose rule or verdict changed. `ol2r.report.verdicts.rule_changes` shows it beside today's
verdicts.
"""

import csv
import json
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: tuple[str, ...] = (
    "id", "old_rule", "old_verdict", "old_elsewhere", "rule", "verdict", "elsewhere", "commit"
)  # fmt: skip


def changes(package: str) -> "pd.DataFrame":
    """The changed rules of one paper; an empty table where no rule was changed.

    Returns:
        One row for each claim: id, old_rule, old_verdict and old_elsewhere (what it said; the latter is empty in older
        files), rule, verdict and elsewhere (what the new rule said of the same results), commit (at which the old rule
        was judged).
    """
    import pandas as pd

    path = files(package) / "former.csv"
    if not path.is_file():
        return pd.DataFrame(columns=list(COLUMNS))
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype=str, keep_default_na=False).reindex(columns=list(COLUMNS), fill_value="")


def places(elsewhere: str) -> list[tuple[str, str]]:
    """The (data set, verdict) pairs in a row's `elsewhere` or `old_elsewhere`."""
    return [(data, verdict) for each in elsewhere.split("; ") if each for data, verdict in [each.rsplit(": ", 1)]]


def record(
    before: Sequence[Mapping[str, Any]], commit: str, after: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """The lines of a paper's file: the claims whose rule or verdict in `after` differs from that in `before`.

    Args:
        before, after: what `ol2r claims PAPER --json` printed with the old and with the new rules.
        commit: the commit that printed `before`.
    """
    old = {one["id"]: one for one in before}
    lines = []
    for new in after:
        former = old.get(new["id"])
        if former and (former["rule"], former["verdict"]) != (new["rule"], new["verdict"]):
            said = [(one["rule"], one["verdict"], _told(one.get("elsewhere", ()))) for one in (former, new)]
            lines.append(dict(zip(COLUMNS, (new["id"], *said[0], *said[1], commit), strict=True)))
    return lines


def _told(elsewhere: Sequence[Mapping[str, Any]]) -> str:
    return "; ".join(f"{place['dataset']}: {place['verdict']}" for place in elsewhere)


if __name__ == "__main__":
    before, commit, after = sys.argv[1:]
    old, new = (json.loads(Path(name).read_text(encoding="utf-8")) for name in (before, after))
    writer: "csv.DictWriter[str]" = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(record(old, commit, new))
