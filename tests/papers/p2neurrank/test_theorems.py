"""Each lemma of the P²NeurRank paper against invented tables: it must be able to come out every way."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ol2r.experiments.verdicts import judge, judge_all
from ol2r.papers.p2neurrank import audit_cells
from ol2r.papers.p2neurrank.theorems import ITEM, THEOREMS
from ol2r.random import generator

NUMBERS = pd.DataFrame(columns=["item", "dataset", "users", "learner", "mean"])


def of_worlds(cells, quantities, share, worlds):
    """Worlds of all these cells, in a share of which each ratio is below one."""
    tables = []
    for cell, quantity in ((cell, quantity) for cell in cells for quantity in quantities):
        value = np.where(np.arange(worlds) < share * worlds, 0.5, np.inf)
        end = 100_000 if cell.audit in ("uncertain", audit_cells.UNITS) else 100
        table = pd.DataFrame({"world": np.arange(worlds), "value": value, "round": end, "quantity": quantity})
        tables.append(table.assign(**cell.labels(), cell=cell.key))
    return pd.concat(tables)


def variances(first, last, noise, worlds=100):
    tables, rng = [], generator("invented variances", 0)
    for cell in audit_cells.variance_audits("paper"):
        for t, mean in ((1, first), (300, last)):
            value = mean + noise * rng.standard_normal(worlds)
            table = pd.DataFrame({"world": np.arange(worlds), "value": value, "round": t})
            tables.append(table.assign(quantity="all perturbed", **cell.labels(), cell=cell.key))
    return pd.concat(tables)


@pytest.fixture
def made(invented_results):
    def make(share=1.0, below=None, bounded=1.0, printed=None, first=1.0, last=1.0, noise=0.01, worlds=200,
             tier="paper"):  # fmt: skip
        lemma = [cell for cell in audit_cells.optimism_audits("paper") if cell.labels()["beta"]]
        holds = [cell for cell in lemma if cell.labels()["beta"] > 0.35]
        fails = [cell for cell in lemma if cell.labels()["beta"] < 0.35]
        ratios = ("ratio, bound of the proof", "ratio, bound as printed")
        parts = [
            variances(first, last, noise),
            of_worlds(holds, ("N of the lemma",), share, worlds),
            of_worlds(fails, ("N of the lemma",), share if below is None else below, worlds),
            of_worlds(audit_cells.uncertain_audits("paper"), ratios, bounded, worlds),
            of_worlds(audit_cells.units_audits("paper"), ratios[:1], bounded, worlds),
            of_worlds(audit_cells.units_audits("paper"), ratios[1:], bounded if printed is None else printed, worlds),
        ]
        return {ITEM: invented_results(pd.concat(parts, ignore_index=True).assign(fold=1, seed=0), tier)}

    return make


def verdicts(results):
    return [found.verdict for found in judge_all(THEOREMS, results, NUMBERS).values()]


def test_there_are_five_each_with_its_anchor():
    assert [claim.anchor for claim in THEOREMS] == [f"p2neurrank-ppt{i}" for i in range(1, 6)]
    assert {item for claim in THEOREMS for item in claim.items} == {"audits"} == {ITEM}


def test_where_all_bounds_hold_all_are_reproduced(made):
    assert verdicts(made()) == ["reproduced"] * 5


def test_where_they_fail_none_is(made):
    assert verdicts(made(share=0.5, bounded=0.7, first=1.1)) == ["not reproduced"] * 5


def test_the_variance_must_be_right_in_the_first_round_and_in_the_last(made):
    assert verdicts(made(first=0.9))[0] == "not reproduced"
    assert verdicts(made(last=1.05))[0] == "not reproduced"
    assert verdicts(made(noise=0.3))[0] == "undecided"


def test_the_lemma_is_judged_by_itself_at_a_noise_at_which_its_tail_is_no_bound(made):
    assert verdicts(made(below=0.5)) == [*["reproduced"] * 3, "not reproduced", "reproduced"]


def test_the_bound_as_printed_is_judged_by_itself(made):
    assert verdicts(made(printed=0.5)) == [*["reproduced"] * 4, "not reproduced"]


def test_few_worlds_decide_nothing(made):
    assert verdicts(made(share=0.9, bounded=0.9))[1:] == ["undecided"] * 4
    assert verdicts(made(worlds=10))[1:] == ["undecided"] * 4


def test_the_small_tier_judges_nothing_and_what_did_not_run_cannot_be_tested(made):
    assert set(verdicts(made(tier="smoke"))) == {"not judged (smoke)"}
    results = made()
    results[ITEM] = replace(results[ITEM], frame=results[ITEM].frame.query("audit == 'variance'"))
    found = judge(THEOREMS[1], results, NUMBERS)
    assert found.verdict == "undecided" and "audits has no N of the lemma" in found.reason
    assert set(verdicts({})) == {"not testable"}


def test_every_contrast_has_worlds_in_one_cell_and_as_many_as_its_protocol():
    jobs = audit_cells.ITEMS[ITEM].jobs("paper")
    for claim in THEOREMS:
        for contrast in (one for part in claim.parts for one in part.contrasts):
            (measure,) = contrast.measures
            (job,) = (job for job in jobs if dict(measure.labels).items() <= job.cell.labels().items())
            assert len(job.rows) * job.cell.worlds == claim.protocol.seeds, contrast.label


def test_declaring_the_theorems_loads_no_heavy_library():
    code = "import sys, ol2r.papers.p2neurrank.theorems; assert not {'torch', 'numba', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
