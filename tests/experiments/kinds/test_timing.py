"""The timing kind of cell: what it counts, and that nobody expects it to repeat."""

from ol2r import data
from ol2r.clicks import users
from ol2r.experiments.cells import Context, Job, Row
from ol2r.experiments.kinds.timing import Timing
from ol2r.experiments.origins import AtHand

SETTING = {"alpha": 0.1, "regularization": 0.1, "loss": "sum"}
SETTING |= {"pairs": "matched", "shuffle": "random", "covariance": "full"}


def cell(**changed):
    it = data.entry("synthetic-tiny")
    fields = {
        "dataset": it.name,
        "checksum": it.checksum,
        "learner": "PairRank",
        "revision": 1,
        "hyperparameters": tuple(sorted(SETTING.items())),
        "users": users("perfect", it.n_grades, stop_rule="after_click", binary="highest"),
        "replicas": 3,
        "checkpoints": (2, 5, 20),
    }
    return Timing(**fields | changed)


def test_the_seconds_of_a_batch_grow_with_its_rounds():
    (table,) = Timing.run_group([Job(cell(), (Row(1, 0),))], Context())
    assert table["round"].tolist() == [2, 5, 20]
    assert (table[["fold", "seed", "replicas"]] == [1, 0, 3]).all(axis=None)
    for column in ("rank_seconds", "update_seconds", "passes", "distinct_pairs"):
        assert table[column].is_monotonic_increasing
        assert table[column].iloc[0] > 0
    assert table["rounds"].tolist() == [2, 5, 20]
    assert table["update_seconds"].iloc[-1] < 60


def test_all_seeds_of_an_item_share_a_timing():
    assert cell().rows(None, range(3)) == cell().rows((1,), (7,)) == (Row(1, 0),)


def test_a_timing_runs_alone_and_is_not_verified():
    assert not Timing.verifiable
    assert cell().group != cell(replicas=4).group
    assert cell().cost((Row(1, 0),)).seconds > 0
    assert AtHand().missing(cell()) is None
