import numpy as np
import pytest

from ol2r.experiments.cells import TIERS, Row
from ol2r.papers.p2neurrank.audit_cells import ITEMS, PerturbedAudit, audit_cells
from ol2r.papers.p2neurrank.audits import STOPPED
from ol2r.papers.pairrank.audits import Realizable
from ol2r.theory import perturbed

WORLD = Realizable(dimension=2, queries=2, documents=3, norm=1.0, bound=0.5, gap=0.01)
SETTINGS = {
    "coverage": {"rounds": 4, "every": 2},
    STOPPED: {"rounds": 4, "every": 2},
    "variance": {"looks": (1, 3), "draws": 8},
    "optimism": {"rounds": 4, "noise": 0.1, "draws": 8, "pseudo_pairs": 0},
    "uncertain": {"labels": (2, 4), "noise": 0.1, "draws": 8},
    "regret": {"rounds": 4},
    "blind spot": {"labels": (1, 4), "draws": 8},
}


@pytest.mark.parametrize("audit", SETTINGS)
def test_each_row_of_an_audit_is_a_block_of_other_worlds(audit):
    world = None if audit == "blind spot" else WORLD
    cell = PerturbedAudit(audit, tuple(SETTINGS[audit].items()), 3, world)
    table = cell.table([Row(1, 0), Row(1, 4)])
    assert list(table.columns) == ["fold", "seed", "world", "round", "quantity", "value"]
    assert table.groupby("seed")["world"].nunique().to_dict() == {0: 3, 4: 3}
    first, second = (table[table["seed"] == seed]["value"].to_numpy() for seed in (0, 4))
    assert len(first) == len(second) and not np.array_equal(first, second)
    labels = cell.labels()
    assert labels["audit"] == audit and not any(isinstance(value, tuple) for value in labels.values())
    assert cell.cost([Row(1, 0)]).seconds > 0


def test_audits_that_do_not_exist_or_lack_their_world_are_errors():
    with pytest.raises(ValueError, match="audit must be one of coverage"):
        PerturbedAudit("covrage", (), 1)
    for audit, world in (("coverage", None), ("blind spot", WORLD)):
        with pytest.raises(ValueError, match="every audit but the blind spot has a kind of world"):
            PerturbedAudit(audit, (), 1, world)


@pytest.mark.parametrize("tier", TIERS)
def test_cells_are_told_apart_by_their_labels(tier):
    cells = audit_cells(tier)
    assert len({tuple(sorted(cell.labels().items())) for cell in cells}) == len({cell.key for cell in cells})
    assert len({cell.key for cell in cells}) == len(cells)


def test_the_paper_tier_stays_under_ten_core_minutes():
    jobs = ITEMS["audits"].jobs("paper")
    assert sum(job.cell.cost(job.rows).seconds for job in jobs) < 10 * 60
    assert {len(job.rows) * job.cell.worlds for job in jobs if job.cell.audit == "coverage"} == {200}


def test_noise_of_the_lemmas_order_has_the_fewest_rankers_that_can_be_enough_at_its_own_delta():
    for tier in TIERS:
        (strong,) = (
            dict(cell.settings) for cell in audit_cells(tier) if cell.audit == "regret" and cell.labels()["noise"] > 1
        )
        assert strong["rankers"] - 1 < perturbed.rankers_needed(0.0, strong["delta"]) <= strong["rankers"]
