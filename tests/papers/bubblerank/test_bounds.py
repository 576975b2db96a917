"""Tables of BubbleRank's theory: counts of an invented audit, and bounds beside runs of small worlds."""

import math

import numpy as np
import pandas as pd
import pytest

from ol2r.clicks import ItemClicks
from ol2r.experiments.cells import Context, Job
from ol2r.experiments.kinds.play import Play
from ol2r.experiments.kinds.populations import Declared
from ol2r.papers.bubblerank import bounds as tables
from ol2r.papers.bubblerank.grid import play
from ol2r.papers.bubblerank.worlds import drawn
from ol2r.theory import bubblerank

STEPS = 10_000


def audit(runs, positions=4, exponent=1.0, users="CM"):
    """A line for each run: (|V₀|, at the end, |P|, first step without E, violations)."""
    columns = ["initial_inversions", "base_inversions", "pairs", "event_broken", "violations"]
    frame = pd.DataFrame(runs, columns=columns)
    frame["fold"], frame["seed"] = np.arange(len(runs)) // 2 + 1, np.arange(len(runs)) % 2
    return frame.assign(users=users, cut=positions, exponent=exponent, dataset="worlds", round=STEPS)


def test_an_audit_counts_what_failed_by_whether_the_event_held():
    frame = audit(
        [
            (2, 0, 7, 0, 0),  # exactly what Lemma 6 allows
            (2, 1, 6, 0, 0),  # more pairs than one exchange can make
            (1, 0, 6, 0, 3),  # more than Lemma 6 allows, and unsafe: the event would be wrong
            (2, 3, 8, 900, 2),  # without the event anything goes
            (0, 0, 3, 0, 0),
        ]
    )
    (line,) = tables.event_audit(frame).to_dict("records")
    assert (line["positions"], line["steps"], line["worlds"], line["runs"], line["held"]) == (4, STEPS, 3, 5, 4)
    assert line["share"] == 0.8 and line["low"] < 0.8 < line["high"]
    assert line["unsafe"] == 0.4 and line["unsafe_held"] == 1
    assert line["pairs_ratio"] == pytest.approx(6 / (3 + 2 * 1))
    assert (line["pairs_over"], line["pairs_over_broken"]) == (1, 1)
    assert line["exchanges_over"] == 2
    assert (line["worse"], line["worse_held"]) == (1, 0)
    assert line["promised"] == 0.0  # δ^½ K² n = 16 √n
    assert line["proved"] == pytest.approx(1 - 6 * 5000 / STEPS**2)


def test_an_audit_has_a_line_for_each_setting():
    frames = [audit([(1, 0, 3, 0, 0)] * 2, positions, exponent) for positions in (4, 6) for exponent in (1.0, 4.0)]
    table = tables.event_audit(pd.concat(frames))
    assert table[["positions", "exponent"]].to_numpy().tolist() == [[4, 1.0], [4, 4.0], [6, 1.0], [6, 4.0]]
    assert table["promised"].tolist() == pytest.approx([0.0, 1 - 16 / STEPS, 0.0, 1 - 36 / STEPS])


def test_pairs_are_of_runs_in_which_the_event_held():
    table = tables.pairs_by_inversions(audit([(2, 0, 5, 0, 0), (2, 0, 6, 0, 0), (2, 0, 9, 7, 0), (0, 0, 3, 0, 0)]))
    assert table[["inversions", "runs", "mean", "most"]].to_numpy().tolist() == [[0, 1, 3, 3], [2, 2, 5.5, 6]]
    assert table["allowed"].tolist() == [3, 7] and table["everything"].tolist() == [6, 6]


FALLING = ItemClicks("position", (0.6, 0.2, 0.4), (0.9, 0.8, 0.7))


def played(users, steps=3000, runs=3, **changed):
    """A frame of BubbleRank with its labels, and its cells."""
    cell = play(users, "BubbleRank", changed.pop("parameters", {}), checkpoints=(steps // 10, steps), **changed)
    job = Job(cell, cell.rows(None, range(runs)))
    (frame,) = Play.run_group([job], Context())
    return frame.assign(cell=cell.key, **cell.labels()), [cell]


@pytest.mark.parametrize("frozen", [True, False])
def test_regret_stands_beside_the_bounds_of_its_world(frozen):
    users = Declared("worlds", "PBM", ((FALLING, (0, 1, 2)), (FALLING, (0, 2, 1))))
    frame, cells = played(users, cut=3, parameters={"freeze": frozen})
    table = tables.regret_against_bounds(frame, cells)
    assert table[["fold", "round"]].to_numpy().tolist() == [[1, 300], [1, 3000], [2, 300], [2, 3000]]
    assert table["inversions"].tolist() == [1, 1, 0, 0] and table["assumed"].all()
    first = table.iloc[0]
    own = frame[(frame["fold"] == 1) & (frame["round"] == 300)]["regret"]
    assert first["regret"] == pytest.approx(own.mean()) and first["highest"] == own.max()
    assert first["error"] == pytest.approx(own.std() / math.sqrt(3))
    level = 4 * math.log(3000)  # the horizon that it was told, not the checkpoint
    printed = bubblerank.printed_regret_bound(3, 1, 0.2, 0.9, 0.7, level, 300)
    assert (first["leading"], first["failure"]) == pytest.approx(tuple(printed))
    assert first["everything"] == 3 * 300 and first["bound"] == first["everything"] and first["share"] == 1.0
    shown, chi = np.array([0.6, 0.2, 0.4]), np.array([0.9, 0.8, 0.7])
    best = 0.9 * 0.6 + 0.8 * 0.4 + 0.7 * 0.2
    assert first["best"] == pytest.approx(300 * best)
    for _, line in table.iterrows():
        start = shown if line["fold"] == 1 else shown[[0, 2, 1]]
        proved = sum(bubblerank.regret_bound(start, chi, 0.7, level, line["round"], frozen))
        assert line["proved"] == pytest.approx(min(proved, line["best"]))
        assert line["proved_share"] == pytest.approx(line["proved"] / line["best"])
        assert line["loose"] == pytest.approx(line["bound"] / line["regret"])
        assert line["proved_loose"] == pytest.approx(line["proved"] / line["regret"])


def test_in_the_cascade_model_nothing_is_lost_over_all_positions_and_so_nothing_is_loose():
    frame, cells = played(drawn("CM", "worlds", 4, 2), cut=4)
    table = tables.regret_against_bounds(frame, cells)
    assert table["regret"].abs().max() < 1e-9
    assert table["loose"].isna().all() and table["proved_loose"].isna().all()
    assert tables.where_it_is_loose(frame, cells).empty


def test_where_the_assumptions_fail_nothing_is_proved_and_the_printed_bound_still_stands():
    rising = ItemClicks("position", (0.6, 0.2, 0.4), (0.7, 0.8, 0.9))
    equal = ItemClicks("position", (0.6, 0.4, 0.4), (0.9, 0.8, 0.7))
    frame, cells = played(Declared("worlds", "PBM", ((rising, (0, 1, 2)), (equal, (0, 1, 2)))), cut=3)
    table = tables.regret_against_bounds(frame, cells)
    assert not table["assumed"].any()
    assert table[["proved", "proved_share"]].isna().all(axis=None)
    assert np.isfinite(table["leading"][table["fold"] == 1]).all()
    assert (table["leading"][table["fold"] == 2] == np.inf).all()
    assert (table["bound"] == table["everything"]).all()


@pytest.mark.parametrize("frozen", [True, False])
def test_the_steps_of_the_proof_multiply_to_the_whole_factor(frozen):
    frame, cells = played(drawn("PBM", "worlds", 4, 3), cut=4, parameters={"freeze": frozen})
    table = tables.where_it_is_loose(frame, cells)
    assert len(table) == 3
    factors = table[["lists", "pairs", "evidence", "gaps", "left"]]
    np.testing.assert_allclose(factors.prod(axis=1), table["ratio"])
    assert (factors[["lists", "pairs", "gaps", "left"]] >= 1).all(axis=None)
    assert (table["evidence"] > 1).all() == frozen
    level, (k, n) = 4 * math.log(3000), (4, 3000)
    needed = level / table["confidence"]
    np.testing.assert_allclose(
        [bubblerank.event_failure(k, n, each) for each in needed], bubblerank.printed_event_failure(k, n, level)
    )


@pytest.mark.parametrize(("model", "cut"), [("PBM", 3), ("PBM", 2), ("CM", 2), ("DCM", 3)])
@pytest.mark.parametrize("frozen", [True, False])
def test_regret_is_below_what_is_proved_and_not_by_orders_of_magnitude_in_the_best_case(model, cut, frozen):
    """In the DCM by what the chapter proves beyond the paper."""
    frame, cells = played(drawn(model, "worlds", 3, 12), 100_000, cut=cut, parameters={"freeze": frozen})
    table = tables.regret_against_bounds(frame, cells)
    told = table[table["assumed"] & (table["round"] == 100_000) & (table["proved_share"] < 1)]
    assert len(told) >= 3
    assert (told["regret"] + 4 * told["error"] < told["proved"]).all()
    assert (told["proved"] < told["leading"] + told["failure"]).all()
    assert told["proved_loose"].min() < 100
