"""Each theorem of the olRankNet paper against invented tables: it must be able to come out every way."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.claims import WORLDS, Contrast, NotMeasured, WorldMeasure
from ol2r.experiments.verdicts import judge, judge_all
from ol2r.papers.olranknet import audit_cells
from ol2r.papers.olranknet.theorems import INTERVALS, ITEM, KERNELS, POWER, RATE, THEOREMS, falls
from ol2r.random import generator

NUMBERS = pd.DataFrame(columns=["item", "dataset", "users", "learner", "mean"])


def coverage(share, printed, worlds):
    """Worlds of every kind that is declared at the paper tier; in a share of them each bound held, in another one that
    on log det with H as printed."""
    tables = []
    for cell in audit_cells.coverage_audits("paper"):
        for quantity in (*INTERVALS, *KERNELS):
            held = printed if quantity == "log det as printed" else share
            value = np.where(np.arange(worlds) < held * worlds, 0.5, 1.5)
            table = pd.DataFrame({"world": np.arange(worlds), "value": value, "round": 80, "quantity": quantity})
            tables.append(table.assign(**cell.labels(), cell=cell.key))
    return pd.concat(tables)


def kernels(power, noise=0.02, draws=32):
    """Distances that fall as m to the power −p, with some noise."""
    tables, rng = [], generator("invented kernels", 0)
    for depth, widths in ((2, (64, 1024, 2048, 8192)), (3, (64, 128, 1024))):
        for m in widths:
            spread = noise * rng.standard_normal(draws)
            table = pd.DataFrame({"world": np.arange(draws), "value": m**-power * np.exp(spread), "round": m})
            tables.append(table.assign(quantity="from H", audit="kernel", depth=depth, cell=f"kernel {depth}"))
    return pd.concat(tables)


@pytest.fixture
def made(invented_results):
    def make(share=1.0, power=0.5, worlds=100, tier="paper", printed=None, **kernel):
        own = coverage(share, share if printed is None else printed, worlds)
        frame = pd.concat([own, kernels(power, **kernel)], ignore_index=True)
        return {ITEM: invented_results(frame.assign(fold=1, seed=0), tier)}

    return make


def verdicts(results):
    return [found.verdict for found in judge_all(THEOREMS, results, NUMBERS).values()]


def test_there_are_three_theorems_each_with_its_anchor():
    assert [claim.anchor for claim in THEOREMS] == ["olranknet-ort1", "olranknet-ort2", "olranknet-ort3"]
    assert {item for claim in THEOREMS for item in claim.items} == {"audits"} == {ITEM}


def test_where_all_bounds_hold_and_the_kernel_nears_h_all_are_reproduced(made):
    assert verdicts(made()) == ["reproduced"] * 3


def test_where_bounds_fail_in_too_many_worlds_or_the_kernel_stays_away_none_is(made):
    assert verdicts(made(share=0.7, power=0.05)) == ["not reproduced"] * 3


def test_few_worlds_or_noisy_kernels_decide_nothing(made):
    assert verdicts(made(share=0.9, power=RATE, noise=0.5)) == ["undecided"] * 3
    assert verdicts(made(worlds=20)) == ["undecided", "undecided", "reproduced"]


def test_one_kind_of_world_in_which_the_interval_fails_is_enough(made):
    results = made()
    frame = results[ITEM].frame
    here = (frame["truth"] == "network") & (frame["bound"] == 2.0) & (frame["quantity"] == "current")
    frame.loc[here, "value"] = 1.1
    assert verdicts(results) == ["not reproduced", "reproduced", "reproduced"]


def test_a_bound_on_the_log_determinant_that_fails_with_h_as_printed_alone_is_not_reproduced(made):
    assert verdicts(made(printed=0.0)) == ["reproduced", "not reproduced", "reproduced"]
    assert verdicts(made(printed=0.9)) == ["reproduced", "undecided", "reproduced"]


def test_the_log_determinant_is_judged_at_both_regularizations_and_not_where_every_pair_is_labelled(made):
    results = made()
    frame = results[ITEM].frame
    every = frame.iloc[:40].assign(audit="every pair", value=9.0)
    results[ITEM] = replace(results[ITEM], frame=pd.concat([frame, every], ignore_index=True))
    assert verdicts(results) == ["reproduced"] * 3
    small = (frame["regularization"] == 0.1) & (frame["quantity"] == "log det as printed")
    frame.loc[small, "value"] = 9.0
    results[ITEM] = replace(results[ITEM], frame=frame)
    assert verdicts(results) == ["reproduced", "not reproduced", "reproduced"]


def test_worlds_that_break_the_assumption_are_not_judged(made):
    results = made()
    frame = results[ITEM].frame
    frame.loc[frame["assumed"] == 0, "value"] = 9.0
    assert verdicts(results) == ["reproduced"] * 3


def test_the_small_tier_judges_nothing_and_what_did_not_run_cannot_be_tested(made):
    assert set(verdicts(made(tier="smoke"))) == {"not judged (smoke)"}
    results = made()
    results[ITEM] = replace(results[ITEM], frame=results[ITEM].frame.query("audit == 'kernel'"))
    found = judge(THEOREMS[0], results, NUMBERS)
    assert found.verdict == "undecided" and "audits has no network" in found.reason
    assert set(verdicts({})) == {"not testable"}


def test_a_fall_is_the_power_of_the_last_three_doublings_less_the_lemmas(made):
    distance = WorldMeasure(ITEM, "from H", (("audit", "kernel"), ("depth", 2)))
    effect = Contrast("", distance, POWER, falls).effect(made(power=0.4, noise=0.0), WORLDS, "")
    assert effect.estimate == pytest.approx(0.15)
    short = made()
    frame = short[ITEM].frame
    short[ITEM] = replace(short[ITEM], frame=frame[frame["round"] != 1024])
    with pytest.raises(NotMeasured, match="no kernel at m = 1024"):
        Contrast("", distance, POWER, falls).effect(short, WORLDS, "")


def test_every_contrast_has_worlds_among_the_cells_and_as_many_as_its_protocol():
    item = audit_cells.ITEMS[ITEM]
    for claim in THEOREMS:
        for contrast in (one for part in claim.parts for one in part.contrasts):
            (measure,) = contrast.measures
            jobs = [
                job
                for job in item.jobs("paper")
                if dict(measure.labels).items() <= job.cell.labels().items() and job.cell.assumed
            ]
            assert sum(len(job.rows) * job.cell.worlds for job in jobs) == claim.protocol.seeds, contrast.label
            assert len(jobs) == 1


def test_declaring_the_theorems_loads_no_heavy_library():
    code = "import sys, ol2r.papers.olranknet.theorems; assert not {'torch', 'numba', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
