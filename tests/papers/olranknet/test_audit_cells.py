import numpy as np
import pytest

from ol2r.experiments.cells import Row
from ol2r.papers.olranknet import audit_cells as cells
from ol2r.papers.olranknet.audit_cells import ITEMS, READINGS, NetworkAudit, audit_cells
from ol2r.papers.olranknet.audits import Wide

WORLD = Wide(features=3, queries=2, documents=2, width=8)


def run(audit, *seeds, **settings):
    world = {"world": WORLD} if audit in cells.OF_WORLDS else {}
    cell = NetworkAudit(audit, tuple(settings.items()), worlds=2, **world)
    return cell, cell.table([Row(1, seed) for seed in seeds])


@pytest.mark.parametrize(
    ("audit", "settings"),
    [
        ("coverage", {"rounds": 3, "users": "cascade"}),
        ("regret", {"rounds": 3, "scale": 0.5}),
        ("open orders", {"labels": (10**3, 10**4), "scale": 0.5}),
        ("every pair", {"width": 16, "documents": 4, "parameters": "own blocks"}),
        ("kernel", {"widths": (8, 16), "parameters": "own blocks"}),
        ("typical widths", {"labels": (0, 3), "features": 3, "width": 24, "documents": 10}),
        ("blind spot", {"labels": (0, 10)}),
    ],
)
def test_each_row_of_an_audit_is_a_block_of_other_worlds(audit, settings):
    cell, table = run(audit, 0, 4, **settings)
    assert list(table.columns) == ["fold", "seed", "world", "round", "quantity", "value"]
    assert table.groupby("seed")["world"].nunique().to_dict() == {0: 2, 4: 2}
    first, second = (table[table["seed"] == seed]["value"].to_numpy() for seed in (0, 4))
    assert len(first) == len(second) and not np.array_equal(first, second)
    labels = cell.labels()
    assert labels["audit"] == audit and not any(isinstance(value, tuple) for value in labels.values())
    assert labels["assumed"] == (0 if audit == "coverage" else 1)


def test_audits_that_do_not_exist_or_lack_their_world_are_errors():
    with pytest.raises(ValueError, match="audit must be one of coverage"):
        NetworkAudit("covrage", (), 1)
    with pytest.raises(ValueError, match="coverage, regret, open orders have a kind of world"):
        NetworkAudit("kernel", (), 1, WORLD)


@pytest.mark.parametrize("tier", ["smoke", "laptop", "paper"])
def test_cells_are_told_apart_by_their_labels_and_both_readings_share_all_but_kernels_of_all_parameters(tier):
    main, other = (audit_cells(tier, parameters) for parameters in ("all", "own blocks"))
    assert len({tuple(sorted(cell.labels().items())) for cell in main}) == len(set(main)) == len(main)
    assert {cell.audit for cell in set(main) ^ set(other)} == {"kernel", "every pair"}
    assert set(READINGS["zero blocks are no parameters"].values()) < set(ITEMS)


def test_the_paper_tier_has_a_hundred_worlds_of_each_kind_and_stays_under_sixteen_core_minutes():
    jobs = ITEMS["audits"].jobs("paper")
    assert {len(j.rows) * j.cell.worlds for j in jobs if j.cell.audit == "coverage"} == {100}
    assert sum(job.cell.cost(job.rows).seconds for job in jobs) < 16 * 60
