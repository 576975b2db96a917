import itertools
import shutil
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from fakes import Fake, Loose, Timing, job

from ol2r.errors import ExperimentError
from ol2r.experiments import verify as verify_module
from ol2r.experiments.cells import Job, with_needs
from ol2r.experiments.publication import RECORDS, publish
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store, encode, file_name
from ol2r.experiments.verify import FALSE_ALARM, FEWEST, compare_bits, compare_means, inspect, plans, verify
from ol2r.random import generator


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results", tmp_path / "scratch")


def publish_run(jobs, store, **how):
    """Compute and publish, and leave nothing in scratch."""
    run(jobs, store, **how)
    publish(store, with_needs(jobs))
    shutil.rmtree(store.scratch)


def falsify(jobs, store, change, **provenance):
    """Publish these jobs anew as a forger would: well-formed, with other values."""
    for each in jobs:
        for block in store.publication.blocks(each.cell.key):
            frame, record = block.read()
            path = store.scratch / block.key / file_name(block.rows)
            path.parent.mkdir(parents=True)
            path.write_bytes(encode(change(frame), record | provenance))
    publish(Store(store.published, store.published.with_name("none")), [], drop=True)
    publish(store, jobs)
    shutil.rmtree(store.scratch)


def only_file(store):
    (path,) = (path for path in store.published.rglob("*.parquet") if path.name != RECORDS)
    return path


def only(checks):
    (check,) = checks
    return check


def verified(jobs, store, minutes=1.0, seed="0"):
    return list(verify(jobs, store, minutes=minutes, seed=seed, progress=False))


def test_what_was_stored_here_comes_out_bit_for_bit(store):
    publish_run([job(Fake())], store)
    check = only(verified([job(Fake())], store))
    assert check.passed and check.level == "bits" and check.n_rows == 5


def test_a_falsified_file_is_caught(store):
    publish_run([job(Fake())], store)
    falsify([job(Fake())], store, lambda frame: frame.assign(value=np.nextafter(frame.value, np.float32(np.inf))))
    check = only(verified([job(Fake())], store))
    assert check.passed is False and check.detail == "value differs in 10 of 10 lines"


def test_a_falsified_file_of_another_machine_is_caught_by_its_means(store):
    publish_run([job(Fake())], store)
    falsify([job(Fake())], store, lambda frame: frame, target={"compiled": "another"})
    check = only(verified([job(Fake())], store))
    assert check.passed and check.level == "means" and check.n_rows == 25
    falsify([job(Fake())], store, lambda frame: frame.assign(value=frame.value + 200), target={"compiled": "another"})
    check = only(verified([job(Fake())], store))
    assert check.passed is False and check.level == "means" and check.detail.startswith("value 502 stored, 302 now")


def test_another_cpu_of_the_same_target_is_asked_for_bits(store):
    publish_run([job(Fake())], store)
    falsify([job(Fake())], store, lambda frame: frame, cpu="another")
    assert only(verified([job(Fake())], store)).level == "bits"


def test_a_record_without_a_target_passes_by_bits_or_else_by_means(store):
    publish_run([job(Fake())], store)
    falsify([job(Fake())], store, lambda frame: frame, target=None)
    check = only(verified([job(Fake())], store))
    assert check.passed and check.level == "bits"
    falsify(
        [job(Fake())],
        store,
        lambda frame: frame.assign(value=np.nextafter(frame.value, np.float32(np.inf))),
        target=None,
    )
    check = only(verified([job(Fake())], store))
    assert check.passed and check.level == "means"
    falsify([job(Fake())], store, lambda frame: frame.assign(value=frame.value + 200), target=None)
    assert only(verified([job(Fake())], store)).passed is False


def test_means_are_asked_of_a_cell_that_repeats_in_them_only(store):
    publish_run([job(Loose())], store)
    falsify([job(Loose())], store, lambda frame: frame.assign(value=frame.value + 1))
    check = only(verified([job(Loose())], store))
    assert check.passed and check.level == "means" and check.n_rows == 25
    falsify([job(Loose())], store, lambda frame: frame.assign(value=frame.value + 200))
    check = only(verified([job(Loose())], store))
    assert check.passed is False and check.level == "means"


@pytest.mark.parametrize("changed", [{"engine": "torch"}, {"versions": {}}, {"device": "cuda"}])
def test_bits_are_asked_only_of_the_same_versions_and_device(store, monkeypatch, changed):
    publish_run([job(Fake())], store)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    falsify([job(Fake())], store, lambda frame: frame, **changed)
    expected = "bits" if "engine" in changed else "means"  # the other engine is here as well
    assert only(verified([job(Fake())], store)).level == expected


def test_a_damaged_published_file_fails_and_stays(store):
    publish_run([job(Fake())], store)
    path = only_file(store)
    path.write_bytes(path.read_bytes()[:-9])
    check = only(verified([job(Fake())], store))
    assert check.passed is False and "damaged" in check.detail
    assert path.exists()


class Fraction(Fake):
    kind: ClassVar[str] = "fraction"
    undefined: ClassVar[tuple[str, ...]] = ("value",)


def test_a_quick_look_allows_nan_only_where_a_kind_of_cell_declares_it(store):
    jobs = [job(Fake()), job(Fraction())]
    publish_run(jobs, store)
    falsify(jobs, store, lambda frame: frame.assign(value=np.nan))
    found = {name.partition(".parquet")[0]: damage for name, damage in inspect(jobs, store)}
    assert found == {"fake": "value holds what is not a finite number", "fraction": None}


def test_timings_and_absent_data_are_skipped(store):
    publish_run([job(Timing()), job(Fake(data="TD2003"))], store)
    checks = verified([job(Timing()), job(Fake(data="TD2003"))], store)
    assert [check.passed for check in checks] == [None, None]


def test_a_block_that_is_published_no_more_is_told(store):
    jobs = [job(Fake()), job(Fake(name="b"))]
    publish_run(jobs, store)
    checks = verify(jobs, store, minutes=1.0, seed="0", progress=False)
    assert next(checks).passed
    publish(store, [], drop=True)
    assert next(checks).detail == "it is not stored any more"


def test_a_cell_that_cannot_be_recomputed_fails(store):
    needed = Fake(name="needed")
    publish_run([job(Fake(needed=needed))], store)
    publish(store, [job(Fake(needed=needed))], drop=True)
    check = only(verified([job(Fake(needed=needed))], store))
    assert check.passed is False and "needed first" in check.detail


def test_only_published_blocks_are_drawn(store):
    run([job(Fake())], store)
    assert verified([job(Fake())], store) == []


def test_the_draw_depends_on_the_seed_only(store):
    jobs = [job(Fake(name=str(i))) for i in range(6)]
    publish_run(jobs, store)
    orders = {seed: [check.cell.name for check in verified(jobs, store, seed=seed)] for seed in "abcd"}
    assert orders["a"] == [check.cell.name for check in verified(jobs, store, seed="a")]
    assert len(set(map(tuple, orders.values()))) > 1


def test_time_is_kept_and_at_least_one_row_is_recomputed(store, monkeypatch):
    jobs = [job(Fake(name=str(i), seconds_a_row=30.0)) for i in range(3)]
    publish_run(jobs, store, n_jobs=1)
    clock = itertools.count(step=10)
    monkeypatch.setattr(verify_module.time, "monotonic", lambda: float(next(clock)))
    first, *later = verified(jobs, store, minutes=0.4)
    assert first.passed and first.n_rows == 1
    assert all(check.passed is None for check in later) and len(later) < 3


def test_a_file_takes_no_more_than_a_share_of_the_time_unless_it_was_asked_for(store):
    jobs = [job(Fake(name=str(i), seconds_a_row=20.0)) for i in range(3)]
    publish_run(jobs, store, n_jobs=1)
    first, *later = verified(jobs, store, minutes=1.0)
    assert first.passed and first.n_rows == 1
    assert [check.passed for check in later] == [None, None]
    assert all("take about 20 s, 15 are left for them" in check.detail for check in later)
    planned = plans(jobs, store, minutes=1.0, seed="0", asked=True)
    assert [len(rows) for plan in planned for _, rows in plan.tries] == [3]


def test_no_results_folder_is_an_error(tmp_path):
    with pytest.raises(ExperimentError, match="no results/ folder"):
        verified([], Store(None, tmp_path))


FRAME = pd.DataFrame({"fold": [1, 1], "seed": [0, 1], "state": [0.5, 0.25], "metric": [0.5, np.nan], "status": "ok"})


@pytest.mark.parametrize(
    ("column", "value", "same"),
    [
        ("metric", [0.5 + 0.9e-5, np.nan], True),
        ("metric", [0.5 + 1.1e-5, np.nan], False),
        ("metric", [0.5, 0.0], False),
        ("metric", [np.nan, np.nan], False),
        ("state", [0.5 + 1e-15, 0.25], False),
        ("status", ["ok", "diverged"], False),
    ],
)
def test_state_is_compared_by_bits_and_metrics_to_1e_5(column, value, same):
    passed, detail = compare_bits(FRAME, FRAME.assign(**{column: value}), ["state"])
    assert passed is same
    assert same or column in detail


def test_a_cumulative_metric_is_compared_relative_to_its_size():
    frame = pd.DataFrame({"fold": [1], "seed": [0], "cndcg": [100.0]})
    assert compare_bits(frame, frame.assign(cndcg=100 * (1 + 0.9e-5)), [])[0]
    assert not compare_bits(frame, frame.assign(cndcg=100 * (1 + 1.1e-5)), [])[0]


def test_other_columns_or_lines_are_different():
    assert not compare_bits(FRAME, FRAME.iloc[:1], [])[0]
    assert not compare_bits(FRAME, FRAME.drop(columns="metric"), [])[0]
    assert not compare_means(FRAME, FRAME.drop(columns="metric"))[0]


def shifted(n, errors):
    """Two frames of n rows with equal deviations whose means are so many combined standard errors apart."""
    values = np.arange(float(n))
    stored = pd.DataFrame({"fold": 1, "seed": range(n), "round": 5, "metric": values})
    return stored, stored.assign(metric=values + errors * np.sqrt(2 * values.var(ddof=1) / n))


@pytest.mark.parametrize(("errors", "same"), [(2.98, True), (3.03, False)])
def test_means_of_many_rows_agree_within_three_combined_standard_errors(errors, same):
    stored, fresh = shifted(500, errors)
    early = stored.assign(round=1, metric=-1e6)  # earlier rounds are not compared
    passed, detail = compare_means(pd.concat([early, stored]), fresh)
    assert passed is same
    assert f"{errors:.2f} standard errors" in detail


@pytest.mark.parametrize(("n", "quantile"), [(5, 4.277), (10, 3.475)])  # 99.865 %, with 8 and 18 degrees of freedom
def test_few_rows_are_allowed_what_student_s_distribution_allows(n, quantile):
    assert compare_means(*shifted(n, quantile - 0.01))[0] is True
    assert compare_means(*shifted(n, quantile + 0.01))[0] is False


def test_fewer_than_five_rows_have_no_mean_to_compare():
    frame, _ = shifted(4, 0.0)
    assert compare_means(frame, frame) == (None, "4 rows are too few to compare means")


def test_columns_without_spread_must_agree_to_the_tolerance():
    frame = pd.DataFrame({"fold": 1, "seed": range(5), "metric": 2.0})
    assert compare_means(frame, frame)[0] is True
    assert compare_means(frame, frame.assign(metric=2.1)) == (False, "metric 2 stored, 2.1 now: no spread")


def test_infinite_numbers_are_compared_by_their_share():
    values = np.arange(40.0)
    some, none = values.copy(), values.copy()
    some[::4], all_ = np.inf, np.full(40, np.inf)
    frame = pd.DataFrame({"fold": 1, "seed": range(40), "metric": some})
    assert compare_means(frame, frame)[0] is True
    assert compare_means(frame.assign(metric=all_), frame.assign(metric=all_))[0] is True
    passed, detail = compare_means(frame.assign(metric=all_), frame)
    assert passed is False
    assert "infinite metric 1 stored, 0.25 now" in detail
    assert compare_means(frame.assign(metric=all_), frame.assign(metric=none))[0] is False
    shift = np.where(np.isfinite(some), values + 50, np.inf)
    passed, detail = compare_means(frame, frame.assign(metric=shift))
    assert passed is False
    assert detail.startswith("metric ")


def test_numbers_that_are_all_missing_in_one_table_are_different():
    frame = pd.DataFrame({"fold": 1, "seed": range(10), "metric": np.arange(10.0), "cosine": np.nan})
    assert compare_means(frame, frame)[0] is True  # what is missing in both is the same
    passed, detail = compare_means(frame, frame.assign(metric=np.nan))
    assert passed is False
    assert detail.startswith("missing metric 0 stored, 1 now")


def test_each_quantity_of_a_long_table_is_compared():
    long = pd.DataFrame({"fold": 1, "seed": np.repeat(range(10), 2), "quantity": ["gap", "width"] * 10})
    small, large = np.arange(10.0) / 1000, np.arange(10.0) * 1000
    stored = long.assign(value=np.stack([small, large], axis=1).ravel())
    fresh = long.assign(value=np.stack([small + 1, large], axis=1).ravel())  # its mean over both is lost in `width`'s
    assert compare_means(stored, stored)[0] is True
    passed, detail = compare_means(stored, fresh)
    assert passed is False
    assert detail.startswith("value of gap ")


@pytest.mark.parametrize("n_columns", [1, 8])
@pytest.mark.parametrize("n", [5, 25])
def test_honest_repetitions_are_called_different_as_seldom_as_declared(n, n_columns):
    draws = generator(f"verify {n} {n_columns}", 0).normal(size=(400, 2, n, n_columns))
    names = [f"metric {i}" for i in range(n_columns)]
    runs = {"fold": 1, "seed": range(n)}
    wrong = 0
    for pair in draws:
        a, b = (pd.DataFrame(each, columns=names).assign(**runs)[["fold", "seed", *names]] for each in pair)
        wrong += not compare_means(a, b)[0]
    # 1.1 are expected; six or more would come by chance less than once in a hundred times
    assert wrong <= 5


def test_the_more_files_are_compared_by_means_the_farther_one_may_lie_off(store, monkeypatch):
    levels = []
    honest = verify_module.compare_means
    monkeypatch.setattr(verify_module, "compare_means", lambda *of: levels.append(of[2]) or honest(*of))
    jobs = [job(Loose(name=name)) for name in "abcd"]
    publish_run(jobs, store)
    verified(jobs, store)
    assert levels == pytest.approx([FALSE_ALARM / 2, FALSE_ALARM / 6, FALSE_ALARM / 12, FALSE_ALARM / 20])


def test_few_rows_without_a_target_are_not_called_different_for_their_bits(store):
    few = Job(Fake(), ((1, 0), (1, 1), (2, 0), (2, 1)))
    publish_run([few], store)
    falsify([few], store, lambda frame: frame, target=None)
    assert only(verified([few], store)).passed
    falsify([few], store, lambda frame: frame.assign(value=np.nextafter(frame.value, np.float32(np.inf))), target=None)
    check = only(verified([few], store))
    assert check.passed is None and check.detail == "4 rows are too few to compare means"


def test_a_file_of_few_rows_that_repeat_in_their_means_only_is_not_recomputed(store):
    few = Job(Loose(), ((1, 0), (1, 1), (2, 0), (2, 1)))
    publish_run([few], store)
    check = only(verified([few], store))
    assert check.passed is None and check.level is None and check.detail == "4 rows are too few to compare means"


def test_a_cell_that_was_asked_for_is_compared_however_long_it_takes(store):
    cells = [Loose(name=str(i), seconds_a_row=0.5) for i in range(2)]
    publish_run(list(map(job, cells)), store, n_jobs=1)
    jobs = list(map(job, cells))
    assert {check.passed for check in verified(jobs, store, minutes=0.01)} == {None}
    first, *later = verify(jobs, store, minutes=0.01, seed="0", asked=True, progress=False)
    assert first.n_rows == FEWEST and first.passed and {check.passed for check in later} == {None}
    planned, *_ = plans(jobs, store, minutes=0.01, seed="0", asked=True)
    assert planned.cell == first.cell and planned.seconds == 0.5 * FEWEST


def test_a_plan_is_what_is_then_carried_out(store):
    jobs = [job(Fake()), job(Timing()), job(Fake(name="b", data="TD2003")), job(Loose())]
    publish_run([each for each in jobs if not each.cell.data], store)
    planned = list(plans(jobs, store, minutes=1.0, seed="0"))
    checks = verified(jobs, store)
    assert [plan.block for plan in planned] == [check.block for check in checks]
    assert [len(plan.tries[0][1]) if plan.tries else 0 for plan in planned] == [check.n_rows for check in checks]
