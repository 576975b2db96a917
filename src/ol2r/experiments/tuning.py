"""Which hyper-parameters a tuning grid chooses: the best mean validation score over all kinds of users.

It reads results of tuning cells; whether these read no test query and no reported seed is theirs to declare.
"""

# pandas has no types of its own: every selection is inferred to be anything from a scalar to a frame
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportReturnType=false

from collections.abc import Collection, Mapping, Sequence

import pandas as pd

from ol2r.experiments.effects import at_own_end, diverged


def grid_scores(frame: pd.DataFrame, names: Sequence[str], by: str = "variant") -> pd.DataFrame:
    """The criterion of every cell of a tuning grid: the final validation NDCG@10, averaged over users and runs.

    Args:
        frame: dataset, users, `by`, the hyper-parameters `names`, round and ndcg; a hyper-parameter that a learner does
            not have is missing or NaN.
        by: the label column of what was tuned.

    Returns:
        dataset, `by`, names, score (mean over users of the means over runs), n (runs of all users), diverged (of them),
        best and worst (Bool, among the cells of its data set and learner; the first of equals; a cell with a diverged
        run is never best). No line where nothing was tuned.
    """
    if frame.empty:
        return pd.DataFrame(columns=["dataset", by, *names, "score", "n", "diverged", "best", "worst"])
    given = [name for name in names if name in frame]
    last = at_own_end(frame)
    cells = last.assign(diverged=diverged(last)).groupby(["dataset", by, *given, "users"], sort=False, dropna=False)
    means = cells.agg(mean=("ndcg", "mean"), n=("ndcg", "count"), diverged=("diverged", "sum")).reset_index()
    table = means.groupby(["dataset", by, *given], sort=False, dropna=False)
    scores = table.agg(score=("mean", "mean"), n=("n", "sum"), diverged=("diverged", "sum")).reset_index()
    groups = scores.groupby(["dataset", by], sort=False)["score"]
    sound = scores[scores["diverged"] == 0].groupby(["dataset", by], sort=False)["score"]
    index = scores.index.to_series()
    return scores.assign(best=index.isin(sound.idxmax()), worst=index.isin(groups.idxmin()))


def on_edge(scores: pd.DataFrame, names: Sequence[str], by: str = "variant") -> dict[tuple[str, str], dict[str, float]]:
    """Best cells on an edge of their grid, beyond which better ones may lie.

    Args:
        scores: from `grid_scores`.
        names: the hyper-parameters.
        by: the label column of what was tuned.

    Returns:
        By data set and learner, the values that are the least or largest of several that were tried; none of the rest.
    """
    found: dict[tuple[str, str], dict[str, float]] = {}
    for best in scores.query("best").to_dict("records"):
        own = scores[(scores["dataset"] == best["dataset"]) & (scores[by] == best[by])]
        ends = {name: {float(own[name].min()), float(own[name].max())} for name in names if name in own}
        edges = {name: float(best[name]) for name, each in ends.items() if len(each) == 2 and best[name] in each}
        if edges:
            found[str(best["dataset"]), str(best[by])] = edges
    return found


def chosen(frame: pd.DataFrame, tuned: Mapping[str, Collection[str]]) -> dict[str, dict[str, dict[str, float]]]:
    """The best cell of every grid: by data set and variant, the values of what was tuned.

    Args:
        frame: as `grid_scores` takes, with a column `variant`.
        tuned: by variant, the names of its tuned hyper-parameters.

    Raises:
        ValueError: all cells of a grid have a diverged run.
    """
    names = list(dict.fromkeys(name for each in tuned.values() for name in each))
    scores = grid_scores(frame, names)
    best = scores.query("best")
    grids, decided = (set(zip(each["dataset"], each["variant"], strict=True)) for each in (scores, best))
    for dataset, variant in sorted(grids - decided):
        raise ValueError(f"{variant} on {dataset}: a run diverged in every setting that was tuned")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for line in best.to_dict("records"):
        variant = str(line["variant"])
        values = {name: float(line[name]) for name in tuned[variant]}
        found.setdefault(str(line["dataset"]), {})[variant] = values
    return found
