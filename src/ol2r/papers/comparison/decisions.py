"""The table of decisions: for each situation a learner, by a rule that was written before the results existed.

A situation names a number of every run, the users that count and the learners that are eligible. The learner of the
best mean over users, folds and seeds is chosen. Others are not clearly behind if the 95 % interval of the paired
difference to it holds 0. The interval does not know that the best was chosen as the best, so a narrow lead is weaker
than it looks.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from ol2r.papers.comparison.measures import interval_of, over_users
from ol2r.report.style import USERS

TIMES = 10.0
"""Who has no time to spare takes a learner whose round takes at most so many times as long as the fastest one's."""


@dataclass(frozen=True)
class Situation:
    """When a learner is to be chosen, and by what.

    Args:
        name: the situation in plain words.
        criterion: what is compared, in words.
        source: which table of runs has it; see `decide`.
        column: the number of every run.
        users: the kinds of users that count (None: all of the table).
        least: whether the least number is the best.
        quick: whether only learners of quick rounds are eligible; see `TIMES`.
        digits: after the point.
    """

    name: str
    criterion: str
    source: str
    column: str
    users: tuple[str, ...] | None = None
    least: bool = False
    quick: bool = False
    digits: int = 3


class Choice(NamedTuple):
    """Who was chosen among some learners.

    Args:
        best: the learner of the best mean; score: this mean.
        next: the second best (None: there is no other); lead: how much better the best is, at least 0, with its 95 %
            interval low to high (NaN where there are too few runs).
        fitting: the others that are not clearly behind, best first.
        means: the mean of every learner, best first.
    """

    best: str
    score: float
    next: str | None
    lead: float
    low: float
    high: float
    fitting: tuple[str, ...]
    means: Mapping[str, float]

    @property
    def behind(self) -> tuple[str, ...]:
        """The others that are clearly behind, best first."""
        return tuple(name for name in self.means if name != self.best and name not in self.fitting)

    @property
    def clear(self) -> bool:
        """Whether the lead over the next one is clear."""
        return self.low > 0


@dataclass(frozen=True)
class Decision:
    """A situation with the choice made for it, and who is chosen otherwise.

    Args:
        by_users: by kind of users, who is chosen under these users alone, where that is another learner.
        at_any_cost: who is chosen if every learner is eligible, where that is another one; "" otherwise.
    """

    situation: Situation
    choice: Choice
    by_users: Mapping[str, str] = field(default_factory=dict)
    at_any_cost: str = ""


def choose(runs: pd.DataFrame, *, least: bool = False) -> Choice | None:
    """The learner of the best mean, and those that are not clearly behind it; None without runs.

    Args:
        runs: Float[runs, variants] from `over_users`; only runs that all learners have count.
        least: whether the least number is the best.
    """
    whole = runs.dropna()
    if whole.empty or not len(whole.columns):
        return None
    sign = -1.0 if least else 1.0
    means = whole.groupby(level="fold").mean().mean() * sign
    order = [str(name) for name in means.sort_values(ascending=False, kind="stable").index]
    best = order[0]
    gains = {name: interval_of(sign * (whole[best] - whole[name])) for name in order[1:]}
    fitting = tuple(name for name, (_, low, _) in gains.items() if not low > 0)
    second = order[1] if len(order) > 1 else None
    nothing = float("nan")
    lead, low, high = gains[second] if second else (nothing, nothing, nothing)
    scores = {name: float(sign * means[name]) for name in order}
    return Choice(best, scores[best], second, lead, low, high, fitting, scores)


def quick(costs: pd.DataFrame, times: float = TIMES) -> list[str]:
    """The learners whose round takes at most `times` as long as the fastest one's."""
    if costs.empty:
        return []
    return list(costs.loc[costs["milliseconds"] <= times * costs["milliseconds"].min(), "variant"])


def decide(
    situations: Sequence[Situation],
    tables: Mapping[str, pd.DataFrame],
    eligible: Collection[str],
    fast: Collection[str],
) -> list[Decision]:
    """Choose a learner for each situation; situations without runs are left out.

    Args:
        tables: by source, runs with variant, users, fold, seed and the situations' columns.
        fast: those that can be chosen where rounds have to be quick.
    """
    made = []
    for situation in situations:
        table = tables.get(situation.source)
        if table is None or table.empty:
            continue
        every = table[table["variant"].isin(eligible)]
        own = every[every["variant"].isin(fast)] if situation.quick else every
        of = _chooser(situation)
        choice = of(own, situation.users)
        if choice is None:
            continue
        kinds = [kind for kind in USERS if kind in set(own["users"]) and kind in (situation.users or tuple(USERS))]
        alone = {kind: of(own, (kind,)) for kind in kinds} if len(kinds) > 1 else {}
        others = {kind: found.best for kind, found in alone.items() if found and found.best != choice.best}
        free = of(every, situation.users) if situation.quick else None
        made.append(Decision(situation, choice, others, free.best if free and free.best != choice.best else ""))
    return made


def _chooser(situation: Situation) -> Callable[[pd.DataFrame, Sequence[str] | None], Choice | None]:
    def of(table: pd.DataFrame, users: Sequence[str] | None) -> Choice | None:
        own = table if users is None else table[table["users"].isin(users)]
        return choose(over_users(own, situation.column), least=situation.least) if len(own) else None

    return of


def frame_of(decisions: Sequence[Decision]) -> pd.DataFrame:
    """The decisions as a table of numbers: situation, criterion, variant (who was chosen), score, next, lead, low,
    high, fitting (names with commas between them)."""
    columns = ["situation", "criterion", "variant", "score", "next", "lead", "low", "high", "fitting"]
    lines = [
        (one.situation.name, one.situation.criterion, *one.choice[:6], "; ".join(one.choice.fitting))
        for one in decisions
    ]
    return pd.DataFrame(lines, columns=columns)


SITUATIONS: tuple[Situation, ...] = (
    Situation(
        "the ranker at the end is what counts", "offline NDCG@10 after the last round", "quality", "offline",
    ),
    Situation("few queries", "offline NDCG@10 after a tenth of the rounds", "quality", "early"),
    Situation(
        "noisy users", "offline NDCG@10 after the last round, informational users", "quality", "offline",
        ("informational",),
    ),
    Situation(
        "today's users count as well", "NDCG@10 of the lists that users saw on the way", "quality", "lists",
    ),
    Situation(
        "no compute to spare",
        f"offline NDCG@10 after the last round, of learners whose round takes at most {TIMES:g} times as long as the "
        "fastest one's",
        "quality", "offline", quick=True,
    ),
    Situation(
        "few queries, noisy users and no compute to spare",
        "offline NDCG@10 after a tenth of the rounds, informational users, of the same learners; this line was added "
        "when the others had results",
        "quality", "early", ("informational",), quick=True,
    ),
    Situation(
        "safety first, clean clicks",
        "lists much worse than the production ranker's, of a hundred; perfect users, the only ones that BubbleRank's "
        "model by item fits",
        "safety", "violations", ("perfect",), least=True, digits=2,
    ),
    Situation(
        "safety first, noisy clicks",
        "the same under navigational and informational users",
        "safety", "violations", ("navigational", "informational"), least=True, digits=2,
    ),
    Situation(
        "users look at places, not from the top down",
        "offline NDCG@10 after the last round, users by position",
        "other users", "offline", ("by position",),
    ),
    Situation(
        "λ or step may be off",
        "offline NDCG@10 after the last round, at that of twice and a tenth of the tuned λ or step which is worse on "
        "average; navigational users",
        "unlucky", "offline",
    ),
)  # fmt: skip
"""The situations of the table, declared before any result of theirs was looked at, but for the one that says so. Beside
the main comparison only linear rankers ran then, and networks came later. When the unlucky values of linear rankers had
results, the rule for them was changed, from the worse choice of each run to the choice that is worse on average."""

ON_OTHER_DATA = tuple(one for one in SITUATIONS if one.source == "quality" and not one.quick)
"""The situations that are asked of other data as well; rounds are timed on one data set."""
