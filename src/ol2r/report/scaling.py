"""How rounds per second grow with replicas and with cores, beside what memory allows and beside public code.

The benchmark writes `scaling.json`: by learner the speeds by cores and replicas and those of public code, the bandwidth
of the machine's memory by cores, and the bytes of the data set. `speeds` makes the table that the other functions take.
This module shows the stored figures; it must not measure.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import pandas as pd
from matplotlib.lines import Line2D

from ol2r import frames
from ol2r.report import alt, fitting
from ol2r.report.leads import in_range, joined
from ol2r.report.style import GREY, INK, LEARNERS, Drawing, spelled, styled, tiled
from ol2r.report.tables import rounded

Stored = Mapping[str, Any]

MEASURED, MEMORY = "measured", "memory allows"
BYTES = 4
"""Of a feature."""
SLOWER = 0.95
"""All cores count as slower than one where they make at most this many times as many rounds per second."""
FREE = 0.5
"""A learner that makes at most this share of the rounds that memory allows is not limited by it."""


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


def _ends(table: pd.DataFrame) -> tuple[int, int, int, int]:
    """The fewest and the most cores, the fewest and the most replicas."""
    own = table[table["what"] == MEASURED]
    cores, replicas = own["cores"], own["replicas"]
    return int(cores.min()), int(cores.max()), int(replicas.min()), int(replicas.max())


def _cores(n: int) -> str:
    return f"{n} core{'s' if n > 1 else ''}"


def _told(values: pd.Series, as_text: Callable[[Any], str]) -> str:
    """A value for each learner, with its name."""
    return joined([f"{spelled(str(learner))} {as_text(value)}" for learner, value in values.items()])


def _range(values: pd.Series, unit: str = "") -> str:
    """The least and the largest value, with their learners, or the one value that all have."""
    ends = values.dropna().sort_values(kind="stable").iloc[[0, -1]]
    told = {f"{rounded(value, 2)}{unit}": f" ({spelled(str(learner))})" for learner, value in ends.items()}
    return " to ".join(value + name * (len(told) > 1) for value, name in told.items())


def cores_in_words(table: pd.DataFrame) -> str:
    """How many times as fast all cores are as one, with the most replicas; empty where one core is all there is."""
    one, most, _, replicas = _ends(table)
    if one == most:
        return ""
    times = _at(table, most, replicas) / _at(table, one, replicas)
    told = f"With {replicas} replicas, {_cores(most)} are {_range(times)} times as fast as {_cores(one)}."
    own = table[table["what"] == MEASURED].pivot_table("speed", ["learner", "replicas"], "cores")
    least = own[most] / own[one]
    learner, few = cast(tuple[str, int], least.idxmin())
    if least.min() > SLOWER:
        return told
    slower = f"{spelled(str(learner))} with {few:.0f} makes {rounded(least.min(), 2)} times as many rounds"
    return f"{told} With few they can be slower: {slower}."


def replicas_in_words(table: pd.DataFrame) -> str:
    """How many times as many rounds per second the most replicas make as one, and how few of them make half as many."""
    _, cores, one, most = _ends(table)
    own = table[(table["what"] == MEASURED) & (table["cores"] == cores)]
    half = {
        str(learner): lines.loc[lines["speed"] >= lines["speed"].max() / 2, "replicas"].min()
        for (learner,), lines in frames.groups(own, ["learner"])
    }
    times = _at(table, cores, most) / _at(table, cores, one)
    enough = in_range(half.values(), lambda n: f"{n:.0f}")
    return (
        f"On {_cores(cores)}, {most} replicas together make {_range(times)} times as many rounds per second as one; "
        f"{enough} replicas are enough for half of a learner's highest speed."
    )


def memory_in_words(table: pd.DataFrame) -> str:
    """The share of what memory allows that the most replicas on all cores make."""
    _, cores, _, replicas = _ends(table)
    share = _at(table, cores, replicas) / _allowed(table, cores)
    made = f"{replicas} replicas on {_cores(cores)} make {_range(100 * share, '%')}"
    end = ". A share above 100% means that the caches delivered documents, too." if share.max() > 1 else "."
    if share.max() <= FREE:
        end = ", so its bandwidth limits none of them."
    return f"{made} of the rounds for which memory can deliver documents{end}"


def public_in_words(table: pd.DataFrame) -> str:
    """How many times as fast as the fastest form of public code one replica on one core is."""
    cores, _, replicas, _ = _ends(table)
    times = _at(table, cores, replicas) / _public(table)
    return f"One replica on {_cores(cores)} is {_range(times)} times as fast as public code."


def limit_in_words(stored: Stored) -> str:
    """How the limit comes about in numbers, and how much of the data set caches may hold."""
    each, dataset, cache = bytes_of_a_list(stored), stored["dataset"], stored["cache"]
    read = joined([f"{_cores(int(n))} read{'s' * (n == '1')} {speed / 1e9:.1f}" for n, speed in _by_cores(stored)])
    size = f"The features of the set's queries take {dataset['bytes'] / 1e6:,.0f} MB"
    if cache is None:
        fits = "how much of that the caches hold is not known"
    elif cache >= dataset["bytes"]:
        fits = f"the largest cache ({cache / 1e6:,.0f} MB) holds them all, so that learners may exceed the limit"
    else:
        fits = (
            f"the largest cache ({cache / 1e6:,.0f} MB) holds at most {cache / dataset['bytes']:.0%} of them, so that "
            "most lists come from memory"
        )
    return (
        f"A list has {dataset['documents']:.0f} documents in the mean, and their features take {each / 1e3:.0f} kB. "
        f"Of a large array, {read} GB a second. {size}; {fits}."
    )


def _by_cores(stored: Stored) -> list[tuple[str, float]]:
    return sorted(stored["bandwidth"].items(), key=lambda item: int(item[0]))


def measured_in_words(stored: Stored) -> str:
    """On which machine speeds were measured, over how many rounds, and whether other programs used it too."""
    rounds = _told(pd.Series({name: own["rounds"] for name, own in stored["learners"].items()}), "{:,}".format)
    busy = ", while other programs used them too" if stored["load"] > 1.5 else ""
    return (
        f"Measured on {stored['processor']} with {_cores(stored['cores'])}{busy}, code of commit "
        f"{stored['commit'][:10]}. First rounds of a run count: {rounds}."
    )


def speed_rows(table: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Rounds per second at the ends of the lines: header, and a row for each learner."""
    one, all_, few, many = _ends(table)
    places = list(dict.fromkeys((cores, n) for n in (few, many) for cores in (one, all_)))
    columns = [_at(table, *place) for place in places] + [_allowed(table, all_), _public(table)]
    header = ["learner", *(f"{n} replica{'s' * (n > 1)}, {_cores(cores)}" for cores, n in places)]
    header += [f"memory allows, {_cores(all_)}", "public code"]
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
    one, most, _, _ = _ends(table)
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
        **{_cores(n): Line2D([], [], color=INK, linestyle=dashes) for n, (dashes, *_) in shown.items()},
        **{f"memory, {_cores(n)}": Line2D([], [], color=INK, linestyle=dots) for n, (*_, dots) in shown.items()},
        **{name: Line2D([], [], color=GREY, linestyle=dashes) for name, dashes in greys.items()},
    }
    fitting.legend_above(fig, list(handles.values()), list(handles), 3)
    fig.alt = _alt(table, shown)
    return fig


def _alt(table: pd.DataFrame, shown: Iterable[int]) -> str:
    cores = table[table["cores"].isin(list(shown))]
    spoken = cores.assign(way=cores["cores"].map(lambda n: _cores(int(cast(int, n)))), learner="of " + cores["learner"])
    courses = alt.courses(
        spoken[spoken["what"] == MEASURED], "way", "the number of rounds per second", ["learner"], "replicas",
        "the number of replicas", y="speed",
    )  # fmt: skip
    allowed = joined([f"{alt.number(_allowed(table, n).iloc[0])} with {_cores(n)}" for n in shown])
    return f"{courses} Memory allows {allowed}. Public code makes {_told(_public(table), alt.number)}."
