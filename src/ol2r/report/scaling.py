"""How rounds per second grow with replicas and with cores, beside what memory allows and beside public code.

The benchmark writes `scaling.json`: by learner the speeds by cores and replicas and those of public code, the bandwidth
of the machine's memory by cores, and the bytes of the data set. `speeds` makes the table that the other functions take.
This module shows the stored figures; it must not measure.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from ol2r import frames
from ol2r.report import alt, fitting
from ol2r.report.leads import joined
from ol2r.report.style import GREY, INK, LEARNERS, Drawing, spelled, styled, tiled
from ol2r.report.tables import rounded

Stored = Mapping[str, Any]

MEASURED, MEMORY = "measured", "memory allows"
BYTES = 4
"""Of a feature."""


def bytes_of_a_list(stored: Stored) -> float:
    """Bytes of the features of a query's documents, in the mean over queries."""
    return stored["dataset"]["documents"] * stored["dataset"]["features"] * BYTES


def speeds(stored: Stored) -> pd.DataFrame:
    """Rounds per second of all replicas together, and what stands beside them.

    Returns:
        learner, what, cores, replicas, speed (rounds per second). `what` is `MEASURED`; or `MEMORY`, the bandwidth of
        so many cores divided by the bytes of a list, without a number of replicas; or the name of a form of public code
        without either number. Learners are in the order of the style. Empty where nothing is stored.
    """
    columns = ["learner", "what", "cores", "replicas", "speed"]
    lines = []
    for learner in LEARNERS.ordered(stored.get("learners", {})):
        own = stored["learners"][learner]
        by_cores = sorted((int(cores), by_replicas) for cores, by_replicas in own["rounds_per_s"].items())
        for cores, by_replicas in by_cores:
            lines += [(learner, MEASURED, cores, int(n), speed) for n, speed in by_replicas.items()]
        for cores, _ in by_cores:
            allowed = stored["bandwidth"][str(cores)] / bytes_of_a_list(stored)
            lines.append((learner, MEMORY, cores, float("nan"), allowed))
        lines += [(learner, name, float("nan"), float("nan"), speed) for name, speed in own["public"].items()]
    return pd.DataFrame(lines, columns=columns)


def _at(table: pd.DataFrame, cores: int, replicas: int) -> pd.Series:
    """Measured rounds per second, by learner."""
    own = table[(table["what"] == MEASURED) & (table["cores"] == cores) & (table["replicas"] == replicas)]
    return own.set_index("learner")["speed"]


def _allowed(table: pd.DataFrame, cores: int) -> pd.Series:
    """What memory allows, by learner."""
    return table[(table["what"] == MEMORY) & (table["cores"] == cores)].set_index("learner")["speed"]


def _public(table: pd.DataFrame) -> pd.Series:
    """The fastest form of public code, by learner."""
    own = table[~table["what"].isin((MEASURED, MEMORY))]
    return own.groupby("learner", sort=False)["speed"].max()


def ends(table: pd.DataFrame) -> tuple[int, int, int, int]:
    """The fewest and the most cores, the fewest and the most replicas."""
    own = table[table["what"] == MEASURED]
    cores, replicas = own["cores"], own["replicas"]
    return int(cores.min()), int(cores.max()), int(replicas.min()), int(replicas.max())


def of_cores(n: int) -> str:
    return f"{n} core{'s' if n > 1 else ''}"


def _told(values: pd.Series, as_text: Callable[[Any], str]) -> str:
    """A value for each learner, with its name."""
    return joined([f"{spelled(str(learner))} {as_text(value)}" for learner, value in values.items()])


def in_range(values: pd.Series, unit: str = "") -> str:
    """The least and the largest value, with their learners, or the one value that all have."""
    ends = values.dropna().sort_values(kind="stable").iloc[[0, -1]]
    told = {f"{rounded(value, 2)}{unit}": f" ({spelled(str(learner))})" for learner, value in ends.items()}
    return " to ".join(value + name * (len(told) > 1) for value, name in told.items())


def gains(table: pd.DataFrame) -> pd.DataFrame:
    """What replicas give, beside what memory allows and public code.

    Returns:
        By learner: replicas (how many times as many rounds per second the most replicas make as the fewest, on all
        cores), half (how few replicas make half of the highest speed on all cores), memory (the share of what memory
        allows that the most replicas on all cores make), public (how many times as fast as the fastest public code the
        fewest replicas on the fewest cores are).
    """
    one, all_, few, many = ends(table)
    most, own = _at(table, all_, many), table[(table["what"] == MEASURED) & (table["cores"] == all_)]
    enough = own[own["speed"] >= own.groupby("learner")["speed"].transform("max") / 2]
    columns = {"replicas": most / _at(table, all_, few), "half": enough.groupby("learner")["replicas"].min()}
    columns["memory"] = most / _allowed(table, all_)
    return pd.DataFrame(columns | {"public": _at(table, one, few) / _public(table)})


def by_cores(table: pd.DataFrame) -> pd.Series:
    """How many times as fast all cores are as the fewest, by learner and replicas."""
    own = table[table["what"] == MEASURED].pivot_table("speed", ["learner", "replicas"], "cores")
    return own[own.columns.max()] / own[own.columns.min()]


def speed_rows(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Rounds per second at the ends of the lines: header, and a row for each learner."""
    one, all_, few, many = ends(table)
    places = list(dict.fromkeys((cores, n) for n in (few, many) for cores in (one, all_)))
    columns = [_at(table, *place) for place in places] + [_allowed(table, all_), _public(table)]
    header = ["learner", *(f"{n} replica{'s' * (n > 1)}, {of_cores(cores)}" for cores, n in places)]
    header += [f"memory allows, {of_cores(all_)}", "public code"]
    rows = [
        [spelled(str(learner)), *(rounded(column.get(learner, float("nan")), 3) for column in columns)]
        for learner in columns[0].index
    ]
    return header, rows


@styled
def figure(table: pd.DataFrame) -> Drawing:
    """Rounds per second against the number of replicas, a panel for each learner: one core dashed and hollow, all cores
    solid, what memory allows dotted, public code grey.
    """
    one, most, _, _ = ends(table)
    learners = list(dict.fromkeys(table["learner"]))
    names = dict.fromkeys(table.loc[~table["what"].isin((MEASURED, MEMORY)), "what"])
    greys = dict(zip(names, ("-", (0, (6, 2)), (0, (3, 2))), strict=False))
    shown = {one: ("--", "white", (0, (1, 3))), most: ("-", None, ":")}
    fig, axes = tiled(learners, table, height=2.5)
    for ax, learner in zip(axes, learners, strict=True):
        own = table[table["learner"] == learner]
        look = LEARNERS[learner]
        for line in frames.rows(own[own["what"].isin(greys)]):
            ax.axhline(line.speed, color=GREY, linestyle=greys[line.what])
        for cores, (dashes, face, dots) in shown.items():
            ax.axhline(_allowed(own, cores)[learner], color=INK, linestyle=dots)
            at = own[(own["what"] == MEASURED) & (own["cores"] == cores)]
            marks = {"marker": look.marker, "markerfacecolor": face or look.color}
            ax.loglog(at["replicas"], at["speed"], dashes, color=look.color, **marks)
        ax.set_xlabel("replicas")
        ax.set_ylabel("rounds per second")
        ax.label_outer()
    handles = {
        **{of_cores(n): Line2D([], [], color=INK, linestyle=dashes) for n, (dashes, *_) in shown.items()},
        **{f"memory, {of_cores(n)}": Line2D([], [], color=INK, linestyle=dots) for n, (*_, dots) in shown.items()},
        **{name: Line2D([], [], color=GREY, linestyle=dashes) for name, dashes in greys.items()},
    }
    fitting.legend_above(fig, list(handles.values()), list(handles), 3)
    fig.alt = _alt(table, shown)
    return fig


def _alt(table: pd.DataFrame, shown: Iterable[int]) -> str:
    cores = table[table["cores"].isin(list(shown))]
    spoken = cores.assign(way=[of_cores(int(n)) for n in cores["cores"]], learner="of " + cores["learner"])
    courses = alt.courses(
        spoken[spoken["what"] == MEASURED], "way", "the number of rounds per second", ["learner"], "replicas",
        "the number of replicas", y="speed",
    )  # fmt: skip
    allowed = joined([f"{alt.number(_allowed(table, n).iloc[0])} with {of_cores(n)}" for n in shown])
    return f"{courses} Memory allows {allowed}. Public code makes {_told(_public(table), alt.number)}."
