"""Learners that live on a site: several lists wait, the process ends, and nothing that was learned or asked is lost."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import living
import numpy as np
import pytest
import torch
from living import DEPTH, FEATURES, HALF, LIST, WHOLE, visit
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from small import OTHERWISE, SETTINGS

import ol2r
from ol2r import saved
from ol2r.errors import DataError
from ol2r.learners import LEARNERS
from ol2r.random import Streams, replica_key
from ol2r.ranking import Candidates

LIVING = {name: SETTINGS[name] for name in LEARNERS if not LEARNERS[name].keeps_queries}
LIVING |= {f"{name} otherwise": LIVING[name] | OTHERWISE[name] for name in LIVING if name in OTHERWISE}
SEED = 5


def named(setting):
    return setting.removesuffix(" otherwise")


def fresh(setting, **changed):
    if setting == "BubbleRank":
        return ol2r.BubbleRank(LIST, DEPTH, exponent=0.01, doubling_from=8, seed=SEED, most_waiting=3)
    return ol2r.Online(named(setting), 5, seed=SEED, **{"most_waiting": 3} | LIVING[setting] | changed)


def content(path):
    """Header and arrays of a learner's file."""
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["ol2r"]), load_file(path)


def rewritten(path, header, arrays):
    told = json.dumps(header)
    save_file(arrays, path, {"ol2r": told, "digest": saved.digest(told, arrays)})


def same(one, other):
    (header, arrays), (second, others) = one, other
    assert header == second and arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert (array.dtype, array.shape, array.tobytes()) == (
            others[name].dtype,
            others[name].shape,
            others[name].tobytes(),
        ), name


@pytest.fixture(scope="module")
def continued(tmp_path_factory):
    """Learners that stopped half-way, with lists waiting, and went on in another process; and those that never stopped.

    One process goes on with all of them.
    """
    folder = tmp_path_factory.mktemp("living")
    never = folder / "never stopped"
    for setting in [*LIVING, "BubbleRank"]:
        stopped, whole = fresh(setting), fresh(setting)
        assert visit(stopped, 0, HALF) == visit(whole, 0, HALF)
        assert len(stopped.waiting) == 2
        stopped.save(folder / f"{setting}.half")
        visit(whole, HALF, WHOLE)
        whole.save(never / f"{setting}.whole")
    subprocess.run([sys.executable, living.__file__, folder], check=True, timeout=900)
    return folder


@pytest.mark.parametrize("setting", [*LIVING, "BubbleRank"])
def test_a_learner_goes_on_in_another_process_as_if_it_had_never_stopped(continued, setting):
    """To the last bit, of all that it keeps: what it learned, random numbers, and the lists that wait."""
    whole = content(continued / "never stopped" / f"{setting}.whole")
    same(whole, content(continued / f"{setting}.whole"))
    half = content(continued / f"{setting}.half")[1]
    assert any(half[name].tobytes() != array.tobytes() for name, array in whole[1].items() if name in half)


@pytest.mark.parametrize("setting", ["PDGD", "PairRank", "BubbleRank"])
@pytest.mark.parametrize("again", [copy.deepcopy, lambda ranker: pickle.loads(pickle.dumps(ranker))])
def test_a_copy_and_a_pickle_go_on_and_share_nothing(tmp_path, setting, again):
    ranker = fresh(setting)
    visit(ranker, 0, HALF)
    other = again(ranker)
    for one, name in ((other, "other"), (ranker, "itself")):
        visit(one, HALF, WHOLE)
        one.save(tmp_path / name)
    same(content(tmp_path / "other"), content(tmp_path / "itself"))


@pytest.mark.parametrize("setting", LIVING)
def test_tickets_in_order_are_the_plain_loop(setting):
    """The learner itself in a loop of rank and update, on documents of which a round names one query."""
    online = fresh(setting)
    learner = LEARNERS[named(setting)](5, LIVING[setting], Streams(np.array([replica_key("online", 1, SEED)])))
    rows = torch.from_numpy(FEATURES.astype(np.float32)).flatten(0, 1)
    offsets, totals = 9 * torch.arange(5), rows.view(4, 9, 5).sum(dim=1)
    for number in range(15):
        query = number * 3 % 4
        plain = Candidates(rows, offsets, totals, torch.tensor([query]))
        ranking = learner.rank(plain, DEPTH)
        shown = online.rank(ol2r.candidates(FEATURES[query], ids=range(9), normalize=False), DEPTH)
        assert shown.tolist() == ranking[0].tolist()
        clicks = living.clicks(number)
        learner.update(plain, ranking, torch.tensor([clicks]))
        online.update(shown.ticket, clicks)
    of = ol2r.candidates(FEATURES[0], normalize=False)
    scores = learner.evaluated().scores(rows[:9], torch.tensor([0]))[:, 0]
    np.testing.assert_array_equal(online.scores(of), scores.double())


@pytest.mark.parametrize("name", ["PDGD", "DBGD", "MGD", "neural DBGD"])
def test_late_clicks_count_by_what_was_shown(name):
    """All lists are shown with the same weights. Each earns the step that it would earn alone, in whatever order."""
    plain, tickets = {"decay": 1.0} | ({"start": "zero"} if "start" in SETTINGS[name] else {}), range(1, 13)

    def weights(order):
        ranker = fresh(name, most_waiting=len(tickets), **plain)
        for ticket in tickets:
            ranker.rank(ol2r.candidates(FEATURES[ticket % 4]), DEPTH)
        for ticket in order:
            ranker.update(ticket, [ticket % 2 == 0, True, False, False, ticket % 3 == 0])
        return ranker.learner.state["weights"]

    start = weights([])
    steps = [weights([ticket]) - start for ticket in tickets]
    assert len({tuple(step.flatten().tolist()) for step in steps if step.any()}) > 1
    for order in (tickets, tickets[::-1]):
        torch.testing.assert_close(weights(order) - start, sum(steps), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", [name for name in LEARNERS if not LEARNERS[name].keeps_queries])
def test_a_learner_says_what_late_clicks_mean_to_it(name):
    assert "late clicks" in " ".join(LEARNERS[name].__doc__.split()).lower()


def labels(ranker):
    return ranker.learner.diagnostics()["distinct_pairs"].item(), ranker.learner.counts.outcomes[0].sum().item()


def test_documents_are_recognised_by_identifiers_and_features():
    table, ids = FEATURES[0, :2], ["a", 7]
    for again, pairs in (
        (ol2r.candidates(table, ids=ids), 1),
        (ol2r.candidates(table[::-1], ids=ids[::-1]), 1),
        (ol2r.candidates(table, ids=["a", "7"]), 2),
        (ol2r.candidates(table[::-1], ids=ids), 2),
    ):
        for name in ("PairRank", "olRankNet"):
            ranker = fresh(name)
            for of in (ol2r.candidates(table, ids=ids), again):
                ranker.rank(of)
                ranker.update([True, False])
            assert ranker.learner.diagnostics()["distinct_pairs"].item() == pairs, name


def test_labels_on_a_list_in_another_order_are_those_on_the_same_pairs():
    """The first document of a pair is the one that was first when the pair was first met."""
    for name in ("PairRank", "olRankNet"):
        weights = []
        for order in ([0, 1], [1, 0]):
            ranker = fresh(name)
            for places in ([0, 1], order):
                shown = ranker.rank(ol2r.candidates(FEATURES[0, places], ids=places))
                ranker.update([places[position] == 0 for position in shown])
            learner = ranker.learner
            outcomes = learner.counts.outcomes if name == "PairRank" else learner.history.outcomes
            assert outcomes[0, 0].tolist() == [2.0, 0.0]
            weights.append(ranker.scores(ol2r.candidates(FEATURES[1])))
        np.testing.assert_allclose(*weights, rtol=1e-5)


def test_without_identifiers_features_tell():
    twins = np.repeat(FEATURES[0, :1], 3, axis=0)
    numbers = ol2r.candidates(twins, normalize=False).numbers
    assert len(set(numbers.tolist())) == 3
    assert torch.equal(numbers, ol2r.candidates(twins, normalize=False).numbers)
    assert ol2r.candidates(FEATURES[0]).numbers.min() >= 0


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a"], "an identifier for each of 2 documents, found 1"),
        (["a", "a"], "but 'a' stands among them 2 times"),
        ([1.5, 2], "text or whole numbers as identifiers, found 1.5"),
        ([True, 0], "text or whole numbers as identifiers, found True"),
    ],
)
def test_what_is_wrong_with_identifiers_is_said(ids, message):
    with pytest.raises(DataError, match=message):
        ol2r.candidates(np.ones((2, 5)), ids=ids)


def test_a_list_is_learned_from_as_far_as_it_was_seen():
    """The document after the last click counts as examined only where it was seen."""
    for seen, distinct in ((2, 1), (1, 0), (None, 1)):
        ranker = fresh("PairRank", pairs="all")
        ranker.rank(ol2r.candidates(FEATURES[0, :2]))
        ranker.update(1, [True, False][:seen], seen=seen)
        assert labels(ranker) == (distinct, distinct)


def lists_of(kind):
    """A learner with room for two lists, and what asks it for one."""
    if kind == "BubbleRank":
        ranker = ol2r.BubbleRank(LIST, 3, horizon=100, most_waiting=2)
        return ranker, ranker.rank
    ranker = ol2r.Online("PDGD", 5, most_waiting=2)
    return ranker, lambda: ranker.rank(ol2r.candidates(FEATURES[0]), 3)


@pytest.mark.parametrize("kind", ["Online", "BubbleRank"])
def test_as_many_lists_wait_as_may(kind):
    ranker, ask = lists_of(kind)
    tickets = [ask().ticket, ask().ticket]
    assert ranker.waiting == (1, 2) == tuple(tickets)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"2 lists wait .* update\(\) or forget\(\) one first; the oldest .* 1$"):
            ask()
    with pytest.raises(ValueError, match="2 lists wait for clicks: say which one"):
        ranker.update([True, False, False])
    for wrong in (3, 0, "1", [True]):
        with pytest.raises(ValueError, match=r"no list with the ticket .* waits for clicks"):
            ranker.update(wrong, [True, False, False])
        with pytest.raises(ValueError, match=r"no list with the ticket .* waits for clicks"):
            ranker.forget(wrong)
    for wrong in (0, 4, -1, 1.5, True):
        with pytest.raises(ValueError, match=r"of 3 slots 1 to 3 can be seen|expected 1 clicks"):
            ranker.update(2, [True, False, False], seen=wrong)
    with pytest.raises(ValueError, match="expected 2 clicks, True or False"):
        ranker.update(2, [True, False, False], seen=2)
    assert ranker.waiting == (1, 2)
    ranker.forget(1)
    ranker.update(clicks=[True, False, False])  # only one waits
    assert ranker.waiting == () and ask().ticket == 3
    ranker.update(ticket=np.int64(3), clicks=[True, False], seen=2)


def test_learning_nothing_from_a_list_leaves_the_learner_as_it_was():
    ranker = fresh("PDGD")
    before = ranker.learner.state["weights"].clone()
    ranker.forget(ranker.rank(ol2r.candidates(FEATURES[0])).ticket)
    assert torch.equal(ranker.learner.state["weights"], before)
    with pytest.raises(ValueError, match="most_waiting must be a whole number of at least 1, not 0"):
        fresh("PDGD", most_waiting=0)


# Files


@pytest.fixture
def file(tmp_path):
    ranker = fresh("PairRank")
    visit(ranker, 0, 5)
    ranker.save(tmp_path / "deep" / "learner")
    return tmp_path / "deep" / "learner"


@pytest.mark.parametrize("kept", [0, 4, 100, 3000, -1])
def test_a_file_that_is_cut_short_is_told_in_a_line(file, kept):
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"learner: not a saved Online, or cut short .*") as error:
        ol2r.Online.load(file)
    assert "\n" not in str(error.value)


class Bomb:
    def __reduce__(self):
        return os.abort, ()


@pytest.mark.parametrize("foreign", ["pickle", "text", "safetensors", "torch", "BubbleRank"])
def test_a_foreign_file_is_told_in_a_line_and_not_run(tmp_path, foreign):
    path = tmp_path / "learner"
    if foreign == "pickle":
        path.write_bytes(pickle.dumps(Bomb()))
    elif foreign == "text":
        path.write_text("not a learner\n" * 99)
    elif foreign == "safetensors":
        save_file({"weights": np.zeros(3)}, path)
    elif foreign == "torch":
        torch.save({"weights": torch.zeros(3)}, path)
    else:
        ol2r.BubbleRank(LIST).save(path)
    with pytest.raises(DataError, match=r"learner: (not a|expected a) saved Online") as error:
        ol2r.Online.load(path)
    assert "\n" not in str(error.value)


def test_a_newer_file_is_told_in_a_line(file):
    header, arrays = content(file)
    rewritten(file, header | {"version": saved.VERSION + 1}, arrays)
    with pytest.raises(DataError, match="saved by a newer version of ol2r, in form 2; this one reads 1"):
        ol2r.Online.load(file)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"revision": 99}, "revision 99 of PairRank was saved, this one is 1"),
        ({"learner": "PairRnk"}, "did you mean 'PairRank'"),
        ({"learner": "PDGD"}, "PDGD takes alpha, decay"),
        ({"hyperparameters": {}}, "missing: alpha"),
        ({"waiting": [77]}, "features"),
    ],
)
def test_a_file_that_was_changed_is_told_in_a_line(file, header, message):
    before, arrays = content(file)
    rewritten(file, before | header, arrays)
    with pytest.raises(DataError, match=f"not a saved Online.*{message}"):
        ol2r.Online.load(file)


@pytest.mark.parametrize("place", [40, 3000, -1])
def test_a_bit_that_flipped_is_told_in_a_line(file, place):
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"learner: (not a|expected a) saved Online"):
        ol2r.Online.load(file)


def test_a_missing_file_is_missing(tmp_path):
    for kind in (ol2r.Online, ol2r.BubbleRank):
        with pytest.raises(FileNotFoundError):
            kind.load(tmp_path / "nothing")


def test_a_full_disk_leaves_what_was_saved(file, monkeypatch):
    before = file.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    ranker = ol2r.Online.load(file)
    visit(ranker, 5, 6)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            ranker.save(file)
    assert file.read_bytes() == before and [each.name for each in file.parent.iterdir()] == ["learner"]
    ranker.save(file)
    assert ol2r.Online.load(file).waiting == ranker.waiting == ()


def test_only_items_that_a_file_can_name_are_saved(tmp_path):
    with pytest.raises(ValueError, match=r"only items that are text or whole numbers can be saved, not \(1, 2\)"):
        ol2r.BubbleRank([(1, 2), "a"]).save(tmp_path / "bubbles")
    assert not list(tmp_path.iterdir())


# Scaling


def test_a_list_is_scaled_by_its_own_values_unless_there_are_ranges():
    """A document alone becomes all zeros by the papers' scaling."""
    alone = FEATURES[0, :1]
    assert not ol2r.candidates(alone).features.any()
    ranges = ol2r.Ranges.of(FEATURES[0])
    expected = (alone - FEATURES[0].min(axis=0)) / (FEATURES[0].max(axis=0) - FEATURES[0].min(axis=0))
    np.testing.assert_allclose(ol2r.candidates(alone, ranges=ranges).features, expected, rtol=1e-6)
    whole = ol2r.candidates(FEATURES[0], ranges=ranges)
    assert torch.equal(whole.features[:1], ol2r.candidates(alone, ranges=ranges).features)
    assert torch.equal(whole.features, ol2r.candidates(FEATURES[0]).features)


def test_values_beyond_the_ranges_go_to_their_ends():
    ranges = ol2r.Ranges.of(np.array([[0.0, 5.0], [10.0, 5.0]]))
    assert ol2r.candidates([[-1.0, 5.0], [2.5, 9.0], [99.0, 0.0]], ranges=ranges).features.tolist() == [
        [0.0, 0.0],
        [0.25, 0.0],
        [1.0, 0.0],
    ]
    with pytest.raises(DataError, match="expected 2 features, which the ranges have, found 3"):
        ol2r.candidates(np.ones((1, 3)), ranges=ranges)


def test_ranges_are_of_features_as_they_are_and_are_saved_with_the_learner(tmp_path):
    query, grades = np.repeat(range(20), 3), np.arange(60) % 3
    table = FEATURES.reshape(-1, 5)[np.arange(60) % 36]
    raw = ol2r.from_arrays(table, grades, query, folds=2, normalize=False)
    ranges = ol2r.Ranges.of(raw)
    np.testing.assert_allclose(ranges.low, table.min(axis=0), rtol=1e-6)
    with pytest.raises(DataError, match="features were scaled in each query; read it with normalize=False"):
        ol2r.Ranges.of(ol2r.from_arrays(table, grades, query, folds=2))
    with pytest.raises(ValueError, match="expected ranges of 4 features, found 5"):
        ol2r.Online("PDGD", 4, ranges=ranges)
    ol2r.Online("PDGD", 5, ranges=ranges).save(Path(tmp_path, "learner"))
    loaded = ol2r.Online.load(tmp_path / "learner").ranges
    np.testing.assert_array_equal([loaded.low, loaded.high], [ranges.low, ranges.high])
