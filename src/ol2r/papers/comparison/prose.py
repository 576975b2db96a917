"""Texts of the comparison, all from results: its answer, the table of decisions, tables of robustness and cost."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from ol2r import data, frames
from ol2r.experiments.cells import Job
from ol2r.experiments.effects import at_own_end
from ol2r.papers.comparison import tuning
from ol2r.papers.comparison.decisions import Choice, Decision, Situation
from ol2r.papers.comparison.grid import (
    AS_TUNED,
    BASELINES,
    BY_POSITION,
    COMPARED,
    DATASETS,
    ELSEWHERE,
    HALFWAY,
    LINEAR,
    LINEAR_ELSEWHERE,
    MOST_PLACES,
    NETWORKS,
    NSGD,
    ROUNDS,
    SEEDS,
    SETTINGS,
    SKYLINE,
    UNLUCKY,
    UNLUCKY_USERS,
    K,
    setting,
    tuned,
    tuned_on,
    unlucky_name,
)
from ol2r.papers.comparison.measures import EARLY, NEAR, interval_of, over_users
from ol2r.papers.comparison.ranks import LEVEL, Ranks
from ol2r.papers.comparison.tuning import ROUNDS_FIRST, ROUNDS_LONGER
from ol2r.papers.nsgd.grid import SETTINGS as NSGD_SETTINGS
from ol2r.papers.olranknet.claims import GAMMA
from ol2r.papers.queue import Queued
from ol2r.report.leads import joined
from ol2r.report.style import USERS, spelled
from ol2r.report.tables import interval, myst, named, number, plain, signed

SYMBOLS = {"alpha": "α", "regularization": "λ", "rate": "η", "noise": "ν²", "epsilon": "ε"}
"""What tables call hyper-parameters that are tuned."""
ORDERED = {name: place for place, name in enumerate(COMPARED)}


def times(value: float) -> str:
    """A ratio or a time with two significant digits, and no fewer than its whole part has."""
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def size(value: float) -> str:
    """Bytes in words."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= scale:
            return f"{times(value / scale)} {unit}"
    return f"{value:.0f} B"


def _name(variant: str) -> str:
    """A learner as sentences name it, what comes after a comma in brackets."""
    name, _, rest = spelled(variant).partition(", ")
    return f"{name} ({rest})" if rest else name


def _place(dataset: str) -> str:
    """A data set as sentences name it, what comes after a comma in brackets."""
    name, _, rest = named(dataset).partition(", ")
    return f"{name} ({rest})" if rest else name


def _names(variants: Iterable[str]) -> str:
    """Learners as sentences name them, with commas between them."""
    return joined([_name(each) for each in variants])


def _shown(value: float, situation: Situation) -> str:
    return f"{value:.{situation.digits}f}"


def _lead(choice: Choice, situation: Situation) -> str:
    """How far the chosen learner is ahead of the next, with the interval."""
    if choice.next is None:
        return "alone"
    digits = situation.digits
    told = f"{signed(choice.lead, digits)} {interval(choice.low, choice.high, digits)}"
    return f"{told} over {plain(_name(choice.next))}"


def changes(decision: Decision) -> str:
    """What would change a decision: other users, more compute, or more runs where the lead is not clear."""
    told = [f"{kind} users alone: {plain(_name(name))}" for kind, name in decision.by_users.items()]
    if decision.at_any_cost:
        told.append(f"compute without limit: {plain(spelled(decision.at_any_cost))}")
    if decision.choice.next is not None and not decision.choice.clear:
        told.append("more seeds, perhaps: the lead is not clear")
    return "; ".join(told) or "nothing that was run here"


def _scored(decision: Decision, names: Sequence[str]) -> str:
    """Some learners with their scores."""
    choice, situation = decision.choice, decision.situation
    told = [f"{plain(_name(each))} {_shown(choice.means[each], situation)}" for each in names]
    return ", ".join(told) or "none"


def decision_table(decisions: Sequence[Decision], *, name: str, caption: str) -> str:
    """The table of decisions: a line for each situation."""
    rows = [
        [
            f"{one.situation.name} ({one.situation.criterion})",
            f"**{plain(spelled(one.choice.best))}**",
            _shown(one.choice.score, one.situation),
            _lead(one.choice, one.situation),
            _scored(one, one.choice.fitting),
            _scored(one, one.choice.behind),
            changes(one),
        ]
        for one in decisions
    ]
    header = [
        "when (what is compared)",
        "take",
        "its score",
        "ahead of the next by [95 %]",
        "not clearly behind",
        "clearly behind",
        "what would change it",
    ]
    return myst(header, rows, name=name, caption=caption)


def decided(decisions: Sequence[Decision], column: str, source: str = "quality") -> Decision | None:
    """The first decision by a number that no other condition restricts."""
    found = (
        one
        for one in decisions
        if one.situation.source == source and one.situation.column == column
        and one.situation.users is None and not one.situation.quick
    )  # fmt: skip
    return next(found, None)


def _as_well(choice: Choice, near: Collection[str] | None) -> str:
    """Who is not clearly behind, as the end of a sentence, and whom average ranks leave undecided besides; empty if
    everybody is clearly behind."""
    told = f"; {_names(choice.fitting)} {_are(choice.fitting)} not clearly behind" if choice.fitting else ""
    more = [each for each in near or () if each not in (choice.best, *choice.fitting)]
    if more:
        told += f"; by average ranks, which are about all pairs at once, {_names(more)} {_are(more)} not apart either"
    return told


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def ranker_in_words(decisions: Sequence[Decision], near: Collection[str] | None = None) -> str:
    """Who learns the best ranker, by how much; empty without runs.

    Args:
        near: learners whose average ranks are not apart from the first one's (None: ranks do not matter).
    """
    found = decided(decisions, "offline")
    if found is None:
        return ""
    one, where = found.choice, found.situation
    lead = "" if one.next is None else f", {_lead(one, where)}"
    told = f"{_name(one.best)} learns the best ranker (offline NDCG@10 {_shown(one.score, where)}{lead})"
    own = next((name for name in one.means if name not in BASELINES), None)
    if own is not None and own != one.best:
        before = list(one.means)[: list(one.means).index(own)]
        them = f"{_names(before)} are baselines and no paper's own" if len(before) > 1 else "It is a baseline"
        first = f"{_name(own)} ({_shown(one.means[own], where)})"
        return f"{told}{_as_well(one, near)}. {them}; the first of the papers' own is {first}."
    return f"{told}{_as_well(one, near)}."


def lists_in_words(decisions: Sequence[Decision], near: Collection[str] | None = None) -> str:
    """Whose users saw the best lists on the way; empty without runs; `near` as for `ranker_in_words`."""
    found = decided(decisions, "lists")
    if found is None:
        return ""
    one, where = found.choice, found.situation
    same = decided(decisions, "offline")
    too = " too" if same is not None and same.choice.best == one.best else ""
    lead = "" if one.next is None else f", {_lead(one, where)}"
    told = f"The best lists on the way were {_name(one.best)}'s{too} (NDCG@10 {_shown(one.score, where)}{lead})"
    return f"{told}{_as_well(one, near)}."


def price_in_words(decisions: Sequence[Decision], costs: pd.DataFrame) -> str:
    """What the best ranker costs beside the best one of quick rounds; empty without runs or timings."""
    best = decided(decisions, "offline")
    fast = next((one for one in decisions if one.situation.quick), None)
    if best is None or fast is None or costs.empty:
        return ""
    spent = costs.set_index("variant")["milliseconds"]
    dear, cheap = best.choice, fast.choice
    if not {dear.best, cheap.best} <= set(spent.index):
        return ""
    if dear.best == cheap.best:
        lists = decided(decisions, "lists")
        own, least = spent[dear.best], spent.min()
        takes = f"is the quickest, {times(own)} ms" if own == least else f"takes {times(own)} ms"
        beside = "" if own == least else f", and the quickest one's {times(least)}"
        told = f"No ranker that costs more is better on average: {spelled(dear.best)}'s round {takes}{beside}."
        if lists is not None and lists.choice.best in spent.index and lists.choice.best != dear.best:
            named_too = [each for each in (lists.choice.best, lists.choice.next) if each and each in spent.index]
            costs_of = joined([f"{times(spent[each])} ms ({_name(str(each))})" for each in named_too])
            told += f" A round of the learners with the best lists takes {costs_of}."
        return told
    ratio, less = spent[dear.best] / spent[cheap.best], dear.score - cheap.score
    return (
        f"{spelled(dear.best)}'s round takes {times(spent[dear.best])} ms, {times(ratio)} times as long as that of "
        f"{spelled(cheap.best)}, the best learner of quick rounds, whose ranker scores {less:.3f} less."
    )


def safety_in_words(runs: pd.DataFrame, chance: str, bandit: str) -> str:
    """How often lists were much worse than a production ranker's; empty without runs.

    Args:
        runs: from `measures.unsafe`, of one data set.
        chance: the variant that shows random lists; bandit: the one that starts from the production ranker's lists.
    """
    perfect = runs[runs["users"] == "perfect"] if len(runs) else runs
    if perfect.empty:
        return ""
    means = perfect.groupby("variant")["violations"].mean()
    learners = means.drop([chance, bandit], errors="ignore").sort_values(kind="stable")
    told = []
    if bandit in means:
        told.append(
            f"{spelled(bandit)}, which starts from the production ranker's lists, has {times(means[bandit])}, as those "
            "lists unchanged would"
        )
    if len(learners) > 1:
        few, many = (f"{times(count)} ({spelled(str(name))})" for name, count in learners.iloc[[0, -1]].items())
        told.append(f"all others, which start untrained, have from {few} to {many}")
    if chance in means:
        told.append(f"random lists have {times(means[chance])}")
    much = "Lists much worse than the production ranker's, of a hundred, under perfect users"
    noisy = runs[(runs["users"] != "perfect") & ~runs["variant"].isin((chance, bandit))]
    least = noisy.groupby("variant")["violations"].mean().sort_values(kind="stable") if len(noisy) else means[:0]
    after = f" Under other users all learners have at least {times(least.iloc[0])} ({_name(str(least.index[0]))})."
    return f"{much}: {'; '.join(told)}.{after if len(least) else ''}"


def ranks_in_words(found: Mapping[str, Ranks]) -> str:
    """How many pairs of learners average ranks tell apart; empty without ranks."""
    told = []
    for name, own in found.items():
        k, first, *near = len(own.table), *own.with_first()
        p = "below 0.001" if own.p < 0.001 else f"{own.p:.3f}"
        beside = f"with {_names(near)} not apart from it" if near else "apart from all others"
        told.append(
            f"by {name} {own.apart()} of {k * (k - 1) // 2} pairs are apart (critical difference {own.critical:.1f} "
            f"with {own.blocks} blocks; Friedman's p is {p}), and {_name(first)} is first, {beside}"
        )
    return f"Average ranks over kinds of users and folds: {'; '.join(told)}." if told else ""


def near_in_words(runs: pd.DataFrame, frame: pd.DataFrame) -> str:
    """How many queries learners need to come near an offline ranker, and who never does; empty without runs.

    Args:
        runs: from `measures.of_runs`, with `near`.
        frame: the runs behind them, for the number of rounds.
    """
    if runs.empty or runs["near"].isna().all():
        return ""
    last = int(frame["round"].max())
    reached = runs.groupby("variant")["near"].agg(lambda own: own.notna().mean())
    soon = runs.assign(near=runs["near"].fillna(np.inf)).groupby("variant")["near"].median().sort_values(kind="stable")
    first = soon[soon == soon.iloc[0]].index
    never = [spelled(name) for name in COMPARED if name in reached.index and reached[name] == 0]
    told = (
        f"Within {last:,} rounds, {100 * runs['near'].notna().mean():.0f} % of all runs reach {100 * NEAR:.0f} % of "
        "the offline ranker's score at least once"
    )
    if np.isfinite(soon.iloc[0]):
        verb = "do" if len(first) > 1 else "does"
        told += f"; in the median run {_names(first)} {verb} so first, by round {soon.iloc[0]:,.0f}"
    return f"{told}. No run of {joined(never)} gets there." if never else f"{told}."


def scores(runs: pd.DataFrame, *, name: str, caption: str) -> str:
    """Every learner's numbers, averaged over users, with 95 % intervals over runs.

    Args:
        runs: from `measures.of_runs`, of one data set.
    """
    wide = {column: over_users(runs, column) for column in ("offline", "early", "lists", "regret")}
    rows = []
    for each in (each for each in COMPARED if each in set(runs["variant"])):
        own = runs[runs["variant"] == each]["near"]
        soon = own.fillna(np.inf).median()
        entries = [
            _with_interval(wide[column][each].dropna(), digits)
            for column, digits in (("offline", 3), ("early", 3), ("lists", 3), ("regret", 2))
        ]
        near = f"{soon:,.0f}" if np.isfinite(soon) else "–"
        rows.append([plain(spelled(each)), *entries, f"{near} ({100 * own.notna().mean():.0f} %)"])
    header = ["learner", "offline", "offline, early", "shown lists", "regret a round", f"rounds to {100 * NEAR:.0f} %"]
    return myst(header, rows, name=name, caption=caption)


def _with_interval(values: pd.Series, digits: int) -> str:
    mean, low, high = interval_of(values)
    return f"{mean:.{digits}f}" if np.isnan(low) else f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def resampled_table(leads: pd.DataFrame, *, name: str, caption: str) -> str:
    """The chosen learners minus each other one, with both intervals."""
    best = leads.groupby("score")["best"].first()
    scores = {"offline": "offline", "lists": "shown lists"}
    rows = []
    for variant in (each for each in COMPARED if each in set(leads["variant"])):
        row = [plain(spelled(variant))]
        for score in scores:
            own = leads[(leads["score"] == score) & (leads["variant"] == variant)]
            entries = ["–", "–"]
            for line in frames.rows(own):
                entries = [
                    f"{signed(line.mean)} {interval(line.low, line.high)}",
                    interval(line.fold_low, line.fold_high),
                ]
            row += entries
        rows.append(row)
    columns = (text for score, told in scores.items() for text in (
        f"{told}, {plain(_name(str(best[score])))} minus it: seeds", "folds too"))  # fmt: skip
    return myst(["learner", *columns], rows, name=name, caption=caption)


def resampled_in_words(leads: pd.DataFrame) -> str:
    """How many leads of the chosen learners are clear by each interval; empty without leads over several folds."""
    if leads.empty or leads["fold_low"].isna().any():
        return ""
    seeds, folds = (leads[low] > 0 for low in ("low", "fold_low"))
    lost = leads[seeds & ~folds]
    told = (
        f"Of {len(leads)} differences to the learners that are taken {int(seeds.sum())} are clear over seeds; at most "
        f"{int((seeds & folds).sum())} of these stay clear where folds are drawn as well."
    )
    whom = []
    for score, own in lost.groupby("score", sort=False):
        what = "lists" if score == "lists" else "offline"
        whom.append(f"{_names(own['variant'])} behind {_name(str(own['best'].iloc[0]))} ({what})")
    return f"{told} No longer clear: {'; '.join(whom)}." if whom else told


def cost_table(costs: pd.DataFrame, *, name: str, caption: str) -> str:
    """What a round costs, and what is kept."""
    rows = [
        [plain(spelled(str(line.variant))), times(line.milliseconds), f"{times(line.first)} → {times(line.last)}",
         size(line.kept) if np.isfinite(line.kept) else "–"]
        for line in frames.rows(costs.sort_values("milliseconds", kind="stable"))
    ]  # fmt: skip
    return myst(["learner", "ms a round", "first → last window", "memory kept"], rows, name=name, caption=caption)


def cost_in_words(costs: pd.DataFrame) -> str:
    """Between which times and sizes the learners lie; empty without timings."""
    if costs.empty:
        return ""
    order = costs.sort_values("milliseconds", kind="stable")
    quick, slow = order.iloc[0], order.iloc[-1]
    ends = (f"{times(each['milliseconds'])} ms ({spelled(str(each['variant']))})" for each in (quick, slow))
    told = f"A round takes from {' to '.join(ends)}"
    kept = costs.dropna(subset="kept").sort_values("kept", kind="stable")
    if len(kept) > 1:
        both = (f"{size(each['kept'])} ({spelled(str(each['variant']))})" for each in (kept.iloc[0], kept.iloc[-1]))
        told += f"; at the end a run keeps from {' to '.join(both)}"
    return f"{told}."


def met_again(
    met: Mapping[str, pd.DataFrame], main: pd.DataFrame, *, where: str, name: str, caption: str
) -> str:
    """Offline NDCG@10, with each learner's place, and shown lists in other circumstances, beside its place in the main
    comparison.

    Args:
        met: by circumstance, such as a kind of users, runs from `measures.of_runs`; main: those of the main comparison.
        where: the main comparison in the header.
    """
    present = {name for own in met.values() for name in own["variant"]}
    places = _places(over_users(main[main["variant"].isin(present)], "offline"))
    wide = {called: {column: over_users(own, column) for column in ("offline", "lists")} for called, own in met.items()}
    ranked = {called: _places(own["offline"]) for called, own in wide.items()}
    rows = []
    for each in (each for each in COMPARED if each in present):
        entries = [
            text
            for called, own in wide.items()
            for text in (
                (
                    f"{_with_interval(own['offline'][each].dropna(), 3)}, {ranked[called][each]}",
                    _with_interval(own["lists"][each].dropna(), 3),
                )
                if each in own["offline"]
                else ("–", "–")
            )
        ]
        rows.append([plain(spelled(each)), str(places.get(each, "–")), *entries])
    columns = (text for called in met for text in (f"{called}: offline, place", f"{called}: lists"))
    return myst(["learner", f"place, {where}", *columns], rows, name=name, caption=caption)


def _places(wide: pd.DataFrame) -> dict[str, int]:
    """The place of each learner by its mean, from 1."""
    order = wide.dropna().mean().sort_values(ascending=False, kind="stable").index
    return {str(name): place for place, name in enumerate(order, start=1)}


def other_users_in_words(runs: pd.DataFrame, main: pd.DataFrame) -> str:
    """Who is first under other users, with the place under the papers' users; empty without runs of both."""
    if runs.empty or main.empty:
        return ""
    here, told = _places(over_users(main[main["variant"].isin(runs["variant"])], "offline")), []
    for kind, own in by_circumstance(runs, "users").items():
        first = next(iter(_places(over_users(own, "offline"))))
        told.append(f"{_name(first)} under users {kind} (place {here[first]} under the papers' users)")
    return f"The best ranker after the last round is that of {joined(told)}." if told else ""


def by_circumstance(runs: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """Runs by the value of a column, such as users or dataset, in the order in which they come."""
    return {str(value): own for value, own in runs.groupby(column, sort=False)} if len(runs) else {}


def elsewhere_in_words(here: Sequence[Decision], there: Mapping[str, Sequence[Decision]]) -> str:
    """Who has the best ranker and the best lists on other data; empty without runs.

    Args:
        here: decisions of the main comparison; there: by data set, decisions of the same situations.
    """
    told = []
    for column, what in (("offline", "best ranker"), ("lists", "best lists on the way")):
        main = decided(here, column)
        others = {name: found for name, made in there.items() if (found := decided(made, column))}
        if main is None or not others:
            continue
        each = [f"{_name(found.choice.best)} on {_place(name)}" for name, found in others.items()]
        ways = {name: _stands(main.choice.best, found.choice) for name, found in others.items()}
        same = [_place(name) for name, way in ways.items() if way != "behind"]
        taken = _name(main.choice.best)
        if len(same) == len(others):
            holds = f"{taken}, first in the main comparison, is clearly behind on none of them"
        elif same:
            holds = f"{taken}, first in the main comparison, is clearly behind on all but {joined(same)}"
        else:
            holds = f"{taken}, first in the main comparison, is clearly behind on all of them"
        verb = "were those of" if column == "lists" else "is that of"
        told.append(f"The {what} {verb} {joined(each)}; {holds}.")
    return " ".join(told)


def kinds_in_words(met: Mapping[str, pd.DataFrame]) -> str:
    """How far the best network is behind the best linear ranker, or ahead of it, on every data set; empty without
    runs of both kinds.

    Args:
        met: by data set, runs from `measures.of_runs`.
    """
    told = []
    for dataset, own in met.items():
        wide = over_users(own, "offline").dropna()
        kinds = [[name for name in kind if name in wide] for kind in (LINEAR, NETWORKS)]
        if not all(kinds) or wide.empty:
            continue
        linear, network = (str(wide[kind].mean().idxmax()) for kind in kinds)
        lead = interval_of(wide[network] - wide[linear])
        told.append(
            f"{signed(lead[0])} {interval(*lead[1:])} on {_place(dataset)} ({_name(network)} minus {_name(linear)})"
        )
    what = "The best network less the best linear ranker, offline after the last round"
    return f"{what}: {'; '.join(told)}." if told else ""


def _stands(name: str, choice: Choice) -> str:
    """Whether a learner is taken, not clearly behind, or clearly behind; "" if it is not among those compared."""
    if name not in choice.means:
        return ""
    return "taken" if name == choice.best else "near" if name in choice.fitting else "behind"


def decisions_elsewhere(made: Mapping[str, Sequence[Decision]], *, name: str, caption: str) -> str:
    """Who is taken in each situation on each data set, with the lead over the next and who is not clearly behind.

    Args:
        made: by data set, decisions of the same situations.
    """
    situations = {one.situation.name: one.situation for each in made.values() for one in each}
    chosen = {dataset: {one.situation.name: one for one in each} for dataset, each in made.items()}
    rows = [
        [
            f"{called} ({situation.criterion})",
            *(_taken(own[called]) if called in own else "–" for own in chosen.values()),
        ]
        for called, situation in situations.items()
    ]
    return myst(["when (what is compared)", *map(named, made)], rows, name=name, caption=caption)


def _taken(one: Decision) -> str:
    choice, digits = one.choice, one.situation.digits
    lead = "" if choice.next is None else f", {signed(choice.lead, digits)} {interval(choice.low, choice.high, digits)}"
    near = f"; also {plain(_names(choice.fitting))}" if choice.fitting else ""
    return f"**{plain(_name(choice.best))}** {_shown(choice.score, one.situation)}{lead}{near}"


def unlucky(frame: pd.DataFrame, *, name: str, caption: str) -> str:
    """What each learner loses by an unlucky λ or step, paired by run, offline after the last round.

    Args:
        frame: runs of one data set with `luck`.
    """
    last = at_own_end(frame).set_index(["fold", "seed"])
    rows = []
    for each in (each for each in COMPARED if each in set(frame["variant"])):
        own = last[last["variant"] == each]
        tuned = own.loc[own["luck"] == AS_TUNED, "ndcg"]
        entries = []
        for called in UNLUCKY:
            mean, low, high = interval_of((own.loc[own["luck"] == called, "ndcg"] - tuned).dropna())
            entries.append(signed(mean) if np.isnan(low) else f"{signed(mean)} {interval(low, high)}")
        what = unlucky_name(each)
        value = number(float(setting(str(frame["dataset"].iloc[0]), each)[what]))
        rows.append([plain(spelled(each)), f"{SYMBOLS[what]} = {value}", _with_interval(tuned, 3), *entries])
    return myst(["learner", "tuned", "offline as tuned", *UNLUCKY], rows, name=name, caption=caption)


def unlucky_in_words(lost: pd.DataFrame) -> str:
    """Who loses least and most by the worse unlucky choice; empty without runs."""
    if lost.empty:
        return ""
    means = lost.groupby("variant")["lacks"].mean().sort_values(kind="stable")
    clear = [str(name) for name, own in lost.groupby("variant", sort=False)
             if interval_of(own.set_index(["fold", "seed"])["lacks"])[1] > 0]  # fmt: skip
    who = f"It clearly costs {_names(clear)}." if clear else "It clearly costs nobody."
    return (
        f"The worse of both choices takes from {spelled(str(means.index[-1]))} most ({signed(0.0 - means.iloc[-1])}) "
        f"and from {spelled(str(means.index[0]))} least ({signed(0.0 - means.iloc[0])}). {who}"
    )


def lucky_in_words(frame: pd.DataFrame) -> str:
    """Whom a value beside the tuned one clearly helps; empty without such learners.

    Args:
        frame: runs of one data set with `luck`.
    """
    if frame.empty:
        return ""
    last, told = at_own_end(frame).set_index(["fold", "seed"]), []
    for each, called in product((each for each in COMPARED if each in set(last["variant"])), UNLUCKY):
        own = last[last["variant"] == each].groupby("luck")["ndcg"]
        mean, low, high = interval_of((own.get_group(called) - own.get_group(AS_TUNED)).dropna())
        if low > 0:
            told.append(f"{_name(each)}, {called} ({signed(mean)} {interval(low, high)})")
    if not told:
        return ""
    untested = "Of so many contrasts, uncorrected, some are clear by chance; why a value is better was not tested."
    return f"Clearly better than the tuned value: {'; '.join(told)}. {untested}"


def queue_table(waiting: Sequence[tuple[Queued, Sequence[Job]]], *, name: str, caption: str) -> str:
    """What waits for a machine, in order of worth, with its computed cost; entries of which nothing is missing are left
    out.
    """
    rows = [
        [
            f"{one.paper}, {one.item}",
            ", ".join(map(named, one.datasets)) if one.datasets else "all",
            one.because,
            f"{sum(len(job.rows) for job in jobs):,}",
            times(sum(job.cost().whole for job in jobs) / 3600),
        ]
        for one, jobs in waiting
        if jobs
    ]
    return myst(["item", "data", "what it decides", "rows", "core-hours"], rows, name=name, caption=caption)


def ran_in_words(frame: pd.DataFrame) -> str:
    """What was run on each data set: rounds, folds, seeds and users; empty without runs."""
    told = []
    for (dataset,), own in frames.groups(frame, ["dataset"]) if len(frame) else ():
        n = {each: own[each].nunique() for each in ("fold", "seed", "users")}
        counts = [
            f"{n['fold']} fold{'s' * (n['fold'] > 1)}",
            f"{n['seed']} seed{'s' * (n['seed'] > 1)}",
            f"{n['users']} kinds of users",
        ]
        told.append(f"On {_place(dataset)}: {int(own['round'].max()):,} rounds, {' × '.join(counts)}.")
    return " ".join(told)


CONVENTIONS: tuple[tuple[str, str], ...] = (
    ("rounds, queries", f"{ROUNDS:,}, queries drawn uniformly with replacement, the same for all learners of a run"),
    ("folds, seeds", f"all folds, {SEEDS} seeds of each; times of one run alone"),
    ("cut of lists and of NDCG", str(K)),
    ("discount of the shown lists", f"γ = {GAMMA}"),
    ("test queries without relevant documents", "left out offline; online they count zero"),
    ("users", f"the papers' {joined(list(USERS))} users of three grades, who decide to stop after a click"),
    (
        f"users {BY_POSITION}",
        f"look at place i with probability 1/i, up to {MOST_PLACES}; click what they look at as navigational users do",
    ),
    (f"users {HALFWAY}", "all probabilities are means of those of navigational and informational users"),
    (
        "hyper-parameters",
        "tuned in each learner's own chapter, NSGD here, on validation queries of fold 1, some of which other folds "
        "test on, for all learners alike; each has the values that its own tuning chose, PairRank those of the shuffle "
        "that is compared",
    ),
    ("networks", "one hidden layer of 100 units; P²NeurRank's paper has two"),
    (
        "rounds of tuning",
        f"linear rankers {ROUNDS_FIRST:,} and {ROUNDS_LONGER:,}; networks fewer, as in their chapters; all are "
        f"compared at {ROUNDS:,}",
    ),
    (
        "few queries; near the offline ranker",
        f"after {100 * EARLY:.0f} % of the rounds; {100 * NEAR:.0f} % of offline RankNet's score in the same fold",
    ),
    ("unlucky choice", f"{joined(list(UNLUCKY))} of the tuned λ or step; {UNLUCKY_USERS} users"),
    ("average ranks", f"blocks are a kind of users on a fold; critical differences at {100 * LEVEL:.0f} %"),
)
"""(convention, what is done)."""


def settings_table(datasets: Sequence[str], *, name: str, caption: str) -> str:
    """The tuned hyper-parameters of every learner on some data sets, and where they come from."""
    origin = {NSGD: "here", "epsilon-greedy": "{doc}`pairrank-extras`"}
    origin |= {each: "{doc}`pairrank-extras`" for each in ("PairRank", "PDGD", "DBGD")}
    rows = []
    for each in (*COMPARED, SKYLINE):
        told = []
        for dataset in datasets:
            own = tuned(dataset, each) or {"alpha": setting(dataset, each)["alpha"]}
            values = (f"{symbol} = {number(float(own[key]))}" for key, symbol in SYMBOLS.items() if key in own)
            told.append(", ".join(values))
        default = "{doc}`p2neurrank-extras`" if "rankers" in SETTINGS[each][1] else "{doc}`olranknet-extras`"
        rows.append([plain(spelled(each)), *told, origin.get(each, default)])
    return myst(["learner", *map(named, datasets), "tuned in"], rows, name=name, caption=caption)


def tuned_elsewhere_in_words() -> str:
    """Of which data the tuned values are that learners have on other data."""
    everywhere = (*DATASETS, *ELSEWHERE, *LINEAR_ELSEWHERE)
    own = [_place(name) for name in everywhere if tuned_on(name) == name]
    told = [f"on {_place(name)} those of {_place(tuned_on(name))}" for name in everywhere if _place(name) not in own]
    return (
        f"Learners were tuned on {joined(own)}. They have {joined(told)}, so a place there tells also how well values "
        "carry over. Linear rankers were tuned on MQ2007 as well, to other values, which are left out here because "
        "networks were not."
    )


def meetings_in_words(dataset: str) -> str:
    """How often a query comes in a run, and what follows for a learner that learns each query by itself."""
    queries = data.entry(dataset).n_queries
    if not queries:
        return ""
    return (
        f"In {ROUNDS:,} rounds one of {named(dataset)}'s {queries:,} queries, three fifths of which are for training, "
        f"comes {times(ROUNDS / (0.6 * queries))} times on average. So BubbleRank hardly learns here, and its count "
        "says little more than that it starts from the production ranker's lists."
    )


def nsgd_in_words() -> str:
    """Which step of NSGD was chosen, beside that of its paper."""
    printed = float(NSGD_SETTINGS[NSGD]["alpha"])
    chosen = [line for line in tuning.TUNED.lines if line["best_of"]]
    if not chosen:
        return f"NSGD is not tuned yet: it has its paper's step, α = {number(printed)}."
    step = number(float(chosen[0]["alpha"]))
    return f"Tuned by the rule of the PairRank chapter, NSGD's step is α = {step}; its paper has {number(printed)}."
