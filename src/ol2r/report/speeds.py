"""How fast the library runs beside the public code of the field, from the figures that its benchmark stored.

The benchmark writes `speed.json`: by figure, our speed and that of public code, and how ours was measured. This module
shows the stored figures; it must not measure.
"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.lines import Line2D

from ol2r.report.leads import in_range
from ol2r.report.style import INK, LEARNERS, Drawing, panels, styled

Stored = Mapping[str, Mapping]

ROUNDS, STEPS = "rounds a second", "steps a second and core"
ALONE, MANY, PUBLIC = "one run", "many runs at once", "public code"
MARKS = {PUBLIC: "s", ALONE: "D", MANY: "o"}
SHOWN = {
    ROUNDS: {"dbgd": "DBGD", "mgd": "MGD", "nsgd": "NSGD", "pdgd": "PDGD", "pairrank": "PairRank"},
    STEPS: {
        "cascadeklucb": "CascadeKL-UCB",
        "batchrank": "BatchRank",
        "toprank": "TopRank",
        "bubblerank": "BubbleRank",
    },
}
"""What is shown in each unit: by the figures' first word, the learner."""


def speeds(stored: Stored) -> pd.DataFrame:
    """Speeds of learners here and in public code.

    Returns:
        unit, learner, how (`PUBLIC`, `ALONE` or `MANY`), speed; only figures that are stored.
    """
    lines = []
    for unit, names in SHOWN.items():
        for word, learner in names.items():
            whole = f"{word}.{'rounds' if unit == ROUNDS else 'steps'}_per_s"
            found = [(MANY, stored[whole]["ours"]), (PUBLIC, stored[whole]["public"])] if whole in stored else []
            found += [(ALONE, stored[f"{whole}_1"]["ours"])] if f"{whole}_1" in stored else []
            lines += [(unit, learner, how, float(speed)) for how, speed in found]
    return pd.DataFrame(lines, columns=["unit", "learner", "how", "speed"])


def _times(table: pd.DataFrame) -> pd.Series:
    """How many times as fast as public code many runs at once are, by learner."""
    by_how = table.pivot_table("speed", "learner", "how")
    return (by_how[MANY] / by_how[PUBLIC]).dropna().sort_values()


def in_words(table: pd.DataFrame) -> str:
    """How many times as fast as public code many runs at once are, and which learners gain least and most."""
    sentences = []
    for unit, own in table.groupby("unit", sort=False):
        times = _times(own)
        what = "Many runs of a learner at once" if unit == ROUNDS else "Bandits, core by core,"
        told = in_range(times, lambda value: f"{value:,.2g}" if value < 100 else f"{value:,.0f}")
        ends = f", least {times.index[0]} and most {times.index[-1]}" if len(times) > 1 else ""
        sentences.append(f"{what} are {told} times as fast as public code{ends}.")
    return " ".join(sentences)


@styled
def beside_public_code(table: pd.DataFrame) -> Drawing:
    """Speeds on a logarithmic axis: a panel for each unit, a row for each learner, public code hollow.

    Args:
        table: from `speeds`.
    """
    units = list(dict.fromkeys(table["unit"]))
    fig, axes = panels([""] * len(units), table, height=2.6, sharey=False)
    for ax, unit in zip(axes, units, strict=True):
        own = table[table["unit"] == unit]
        rows = list(dict.fromkeys(own["learner"]))
        for how, marker in MARKS.items():
            for _, line in own[own["how"] == how].iterrows():
                color = LEARNERS[line["learner"]].color
                face = "white" if how == PUBLIC else color
                ax.plot(line["speed"], rows.index(line["learner"]), marker, color=color, markerfacecolor=face)
        ax.set(xscale="log", xlabel=unit, yticks=range(len(rows)), yticklabels=rows)
        ax.margins(y=0.15)
        ax.grid(True, axis="x")
        ax.invert_yaxis()
    shown = {how: marker for how, marker in MARKS.items() if how in set(table["how"])}
    faces = {how: "white" if how == PUBLIC else INK for how in shown}
    handles = [
        Line2D([], [], linestyle="", marker=marker, color=INK, markerfacecolor=faces[how], label=how)
        for how, marker in shown.items()
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    fig.alt = f"Speeds beside those of public code. {in_words(table)}"
    return fig
