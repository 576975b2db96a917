"""What anybody may hand to a public function, in any form: the right result, or one line that says what is wrong."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import csr_matrix

import ol2r
from ol2r.clicks import ItemClicks, wrong_pairs
from ol2r.clicks.fitting import fit_position
from ol2r.clicks.items import simulate_clicks
from ol2r.clicks.likelihood import click_probabilities, conditional_probabilities
from ol2r.data import Fold, RankingDataset, normalize_per_query
from ol2r.data.sessions import QueryCounts, QuerySessions
from ol2r.data.trec import run_of
from ol2r.offline import fit_lambdarank, lambda_gradient, mean_ndcg
from ol2r.offline.lambdarank import lambda_forces
from ol2r.random import generator, replica_key
from ol2r.ranking import metrics

FEATURES = np.round(generator("any input", 0).random((4, 5)) * 8) / 8  # half precision holds these
IDS = ["a", "b", "c", "d"]

READ_ONLY = FEATURES.copy()
READ_ONLY.flags.writeable = False
SAME = {
    "read-only": READ_ONLY,
    "half precision": FEATURES.astype(np.float16),
    "long double": FEATURES.astype(np.longdouble),
    "object": FEATURES.astype(object),
    "text": FEATURES.astype(str),
    "list": FEATURES.tolist(),
    "frame": pd.DataFrame(FEATURES, index=[3, 1, 2, 0]),
    "fortran": np.asfortranarray(FEATURES),
    "strided": np.repeat(FEATURES, 2, axis=0)[::2],
    "backwards": FEATURES[::-1].copy()[::-1],
    "big endian": FEATURES.astype(">f8"),
    "sparse": csr_matrix(FEATURES),
    "tensor": torch.from_numpy(FEATURES),
}


@pytest.mark.parametrize("form", SAME)
def test_every_form_of_features_is_the_same_list_and_the_same_ranges(form):
    for how in ({}, {"normalize": False}, {"ranges": ol2r.Ranges.of(FEATURES)}):
        of, expected = ol2r.candidates(SAME[form], ids=IDS, **how), ol2r.candidates(FEATURES, ids=IDS, **how)
        assert torch.equal(of.features, expected.features) and torch.equal(of.numbers, expected.numbers)
    ranges = ol2r.Ranges.of(SAME[form])
    np.testing.assert_array_equal([ranges.low, ranges.high], [FEATURES.min(axis=0), FEATURES.max(axis=0)])


@pytest.mark.parametrize("normalize", [True, False])
def test_permuting_candidates_permutes_their_numbers_and_scores(normalize):
    order = [2, 0, 3, 1]
    one = ol2r.candidates(FEATURES, ids=IDS, normalize=normalize)
    other = ol2r.candidates(FEATURES[order], ids=np.array(IDS)[order], normalize=normalize)
    assert torch.equal(other.features, one.features[order]) and torch.equal(other.numbers, one.numbers[order])
    ranker = ol2r.Online("PDGD", 5)
    ranker.rank(one)
    ranker.update([False, True, False, True])
    np.testing.assert_array_equal(ranker.scores(other), ranker.scores(one)[order])


def test_huge_and_negative_features_are_scaled_like_others():
    expected = ol2r.candidates(FEATURES).features
    for table in (FEATURES * 2.0**120, -8 + FEATURES, FEATURES * 2.0**-120):
        assert torch.equal(ol2r.candidates(table).features, expected)


WRONG = {
    "one dimension": (FEATURES[0], r"expected features \[documents, features\], found the shape \(5,\)"),
    "three dimensions": (FEATURES[None], r"found the shape \(1, 4, 5\)"),
    "no document": (FEATURES[:0], r"found the shape \(0, 5\)"),
    "no feature": (FEATURES[:, :0], r"found the shape \(4, 0\)"),
    "nothing": (None, "expected finite features, found nan"),
    "text": ("many", "expected numbers as features"),
    "ragged": ([[1.0], [1.0, 2.0]], "expected an array"),
    "names": ([["rope", "tent"]], "expected numbers as features"),
    "too large": (FEATURES * 1e39, r"expected finite features, found .*e\+3. in row"),
    "not a number": (np.where(FEATURES > 0.5, np.nan, FEATURES), "expected finite features, found nan in row"),
    "infinite": (np.where(FEATURES > 0.5, -np.inf, FEATURES), "expected finite features, found -inf in row"),
    "a hole": (np.where(FEATURES > 0.5, None, FEATURES), "expected finite features, found nan in row"),
    "complex": (FEATURES + 1j, "expected numbers as features, found complex128"),
    "dates": (FEATURES.astype("M8[s]"), "expected numbers as features, found datetime64"),
    "masked": (np.ma.masked_greater(FEATURES, 0.5), "expected a value everywhere, found a masked array"),
    "gradients": (torch.from_numpy(FEATURES).requires_grad_(), "expected an array, .*requires grad"),
}


def said(error):
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_table_of_features_is_said_in_a_line(wrong):
    table, message = WRONG[wrong]
    ranges = ol2r.Ranges.of(FEATURES)
    for take in (ol2r.candidates, ol2r.Ranges.of, lambda given: ol2r.candidates(given, ranges=ranges), ranges.scale):
        with pytest.raises(ValueError, match=message) as error:
            take(table)
        said(error)


def test_a_transposed_table_meets_a_learner_of_other_features():
    with pytest.raises(ValueError, match="expected 5 features, found 4"):
        ol2r.Online("PDGD", 5).rank(ol2r.candidates(FEATURES.T))
    with pytest.raises(ValueError, match="expected 5 features, which the ranges have, found 4"):
        ol2r.candidates(FEATURES.T, ranges=ol2r.Ranges.of(FEATURES))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("abcd", "expected a list of identifiers, found 'abcd'"),
        (dict.fromkeys(IDS), "expected a list of identifiers, found {'a': None"),
        ({1, 2, 3, 4}, "expected a list of identifiers, found {1, 2, 3, 4}"),
        (4, "expected a list of identifiers, found 4"),
        ([[1], 2, 3, 4], "identifiers that can be looked up, such as text or numbers: unhashable type: 'list'"),
        (np.arange(8).reshape(4, 2), "identifiers that can be looked up"),
        ([], "an identifier for each of 4 documents, found 0"),
        (["a", None, "b", "c"], "text or whole numbers as identifiers, found None"),
        ([1, 2, 3, float("nan")], "identifiers that can be looked up, found nan"),
        (np.arange(4.0), "text or whole numbers as identifiers, found 0.0"),
        ([b"a", b"b", b"c", b"d"], "text or whole numbers as identifiers, found b'a'"),
        ([1, True, 2, 3], "identifiers must be different, but 1 stands among them 2 times"),
        (pd.Series([7, 7, 2, 3]), "identifiers must be different, but 7 stands among them 2 times"),
    ],
)
def test_what_are_no_identifiers_is_said_in_a_line(ids, message):
    with pytest.raises(ValueError, match=message) as error:
        ol2r.candidates(FEATURES, ids=ids)
    said(error)


def test_identifiers_in_any_form_are_the_same():
    for forms in (
        (IDS, tuple(IDS), np.array(IDS), np.array(IDS, dtype=object), pd.Series(IDS), iter(IDS)),
        ([3, -1, 0, 2**40], np.array([3, -1, 0, 2**40]), pd.Series([3, -1, 0, 2**40])),
    ):
        found = [ol2r.candidates(FEATURES, ids=ids).numbers.tolist() for ids in forms]
        assert all(numbers == found[0] for numbers in found)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        (np.ones(5), np.zeros(5), "the low value of feature 1 is above the high one"),
        (np.zeros(5), np.ones(4), r"a low and a high value for each feature, found the shapes \(\(5,\), \(4,\)\)"),
        (np.zeros((5, 1)), np.ones((5, 1)), "a low and a high value for each feature"),
        ([], [], "a low and a high value for each feature"),
        (0.0, 1.0, "a low and a high value for each feature"),
        (np.full(5, np.nan), np.ones(5), "low: expected finite features, found nan"),
        (np.zeros(5), np.full(5, 1e308), r"high: expected finite features, found 1e\+308"),
        (None, None, "low: expected finite features, found nan"),
    ],
)
def test_what_are_no_ranges_is_said_in_a_line(low, high, message):
    with pytest.raises(ValueError, match=message) as error:
        ol2r.Ranges(low, high)
    said(error)


def test_ranges_in_any_form_scale_alike_and_are_saved(tmp_path):
    expected = ol2r.Ranges(np.zeros(5), np.full(5, 2.0)).scale(FEATURES)
    for low, high in (([0] * 5, [2] * 5), (np.zeros(5, object), np.full(5, 2, np.float16)), (np.zeros(5, int),) * 2):
        ranges = ol2r.Ranges(low, high)
        if ranges.high.any():
            np.testing.assert_array_equal(ranges.scale(FEATURES), expected)
        else:
            assert not ranges.scale(FEATURES).any(), "a feature without a range is 0"
        ol2r.Online("PDGD", 5, ranges=ranges).save(tmp_path / "learner")
        np.testing.assert_array_equal(ol2r.Online.load(tmp_path / "learner").ranges.high, ranges.high)


def learners():
    online, bubbles = ol2r.Online("PDGD", 5), ol2r.BubbleRank(IDS)
    online.rank(ol2r.candidates(FEATURES))
    bubbles.rank()
    return online, bubbles


CLICKS = [True, False, True, True]  # that of the third item tells it from the second


@pytest.mark.parametrize(
    "clicks",
    [
        np.array(CLICKS),
        np.array(CLICKS, dtype=object),
        np.array(CLICKS, dtype=np.uint8),
        np.array(CLICKS, dtype=np.uint64),
        np.repeat(CLICKS, 2)[::2],
        np.frombuffer(bytes(CLICKS), dtype=bool),
        torch.tensor(CLICKS),
        pd.Series(CLICKS, index=[3, 2, 1, 0]),
        tuple(map(int, CLICKS)),
    ],
)
def test_clicks_in_any_form_teach_the_same(clicks):
    for one, other in zip(learners(), learners(), strict=True):
        one.update(CLICKS)
        other.update(clicks)
        if isinstance(one, ol2r.Online):
            assert torch.equal(one.learner.state["weights"], other.learner.state["weights"])
        else:
            assert (one._state.s == other._state.s).all() and one._state.s.any()


@pytest.mark.parametrize(
    "clicks",
    [
        [],
        [True],
        [True] * 5,
        "1001",
        ["1", "0", "0", "1"],
        [1.0, 0.0, 0.0, 1.0],
        [float("nan"), 0, 0, 0],
        [-1, 0, 0, 1],
        [2**70, 0, 0, 0],
        np.array([True, None, False, False], dtype=object),
        np.array([[True], [False], [False], [True]]),
        pd.array([True, None, False, True]),
        {0: True},
        (click for click in CLICKS),
        np.zeros(10_000, dtype=bool),
        [[True], False, False, [True, False]],
        np.ma.masked_array(CLICKS, [0, 0, 1, 0]),
    ],
)
def test_what_are_no_clicks_is_said_in_a_line_and_teaches_nothing(clicks):
    for ranker in learners():
        with pytest.raises(ValueError, match=r"expected 4 clicks, True or False, found|clicks: expected a") as error:
            ranker.update(clicks)
        said(error)
        assert ranker.waiting == (1,)
        ranker.update(CLICKS)


@pytest.mark.parametrize("ticket", [True, 1.0, "1", float("nan"), 2**70, [1], np.array([1]), np.arange(9999)])
def test_what_is_no_ticket_is_said_in_a_line(ticket):
    for ranker in learners():
        for use in (ranker.forget, lambda given, ranker=ranker: ranker.update(given, CLICKS)):
            with pytest.raises(ValueError, match=r"no list with the ticket .* waits for clicks") as error:
                use(ticket)
            said(error)
        with pytest.raises(ValueError, match="of 4 slots 1 to 4 can be seen, not True"):
            ranker.update([True], seen=True)


def test_a_list_has_at_most_the_candidates_that_there_are():
    for name in ("PDGD", "DBGD", "MGD", "PairRank", "epsilon-greedy"):
        one, other = ol2r.Online(name, 5), ol2r.Online(name, 5)
        for _ in range(5):
            of = ol2r.candidates(FEATURES, ids=IDS)
            assert one.rank(of, 4).tolist() == other.rank(of, 10**15).tolist()
            one.update(CLICKS)
            other.update(CLICKS)
        np.testing.assert_array_equal(one.scores(of), other.scores(of))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_features": 0}, "n_features must be a whole number of at least 1, not 0"),
        ({"n_features": 5.0}, "n_features must be a whole number of at least 1, not 5.0"),
        ({"n_features": True}, "n_features must be a whole number of at least 1, not True"),
        ({"n_features": None}, "n_features must be a whole number of at least 1, not None"),
        ({"seed": None}, "seed must be a whole number, not None"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
    ],
)
def test_what_makes_no_learner_is_said_in_a_line(wrong, message):
    with pytest.raises(ValueError, match=message):
        ol2r.Online(**{"name": "PDGD", "n_features": 5} | wrong)
    if "seed" in wrong:
        with pytest.raises(ValueError, match=message):
            ol2r.BubbleRank(IDS, **wrong)


@pytest.mark.parametrize("given", [FEATURES, None, FEATURES.tolist()])
def test_only_candidates_are_ranked(given):
    ranker = ol2r.Online("PDGD", 5)
    for use in (ranker.rank, ranker.scores):
        with pytest.raises(ValueError, match=r"expected the documents of one query, from ol2r\.candidates, found \w+$"):
            use(given)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("abc", "expected a list of items, found 'abc'"),
        (b"abc", "expected a list of items, found b'abc'"),
        (set("a"), "expected a list of items, found {'a'}"),
        (None, "expected a list of items, found None"),
        (3, "expected a list of items, found 3"),
        ([], "expected at least one item"),
        ([[1], [2]], "items that can be looked up, such as text or numbers: unhashable"),
        (np.zeros((2, 2)), "items that can be looked up"),
        ([float("nan"), 1.0], "items that can be looked up, found nan"),
        ([1, True], "items must be different, but 1 stands among them 2 times"),
        (np.array(["a", "a"]), "items must be different, but 'a' stands among them 2 times"),
    ],
)
def test_what_are_no_items_is_said_in_a_line(items, message):
    with pytest.raises(ValueError, match=message) as error:
        ol2r.BubbleRank(items)
    said(error)


def test_items_in_any_form_are_the_same_and_are_saved(tmp_path):
    for forms in ((IDS, np.array(IDS), pd.Series(IDS), iter(IDS)), ([5, 7, 9], np.array([5, 7, 9], dtype=np.uint8))):
        expected = None
        for items in forms:
            ol2r.BubbleRank(items, seed=2).save(tmp_path / "bubbles")
            ranker = ol2r.BubbleRank.load(tmp_path / "bubbles")
            lists = [ranker.items, *([*ranker.rank()] for _ in range(1))]
            assert lists == (expected := expected or lists)


# Functions of arrays: what compiled loops read is checked before, as they would read beyond an array's end

TABLE = (np.round(generator("any input", 1).random((12, 3)) * 8) / 8).astype(np.float32)
GRADES = np.array([0, 1, 2, 0, 3, 0, 1, 1, 0, 2, 2, 0])
OFFSETS = np.array([0, 4, 8, 12])
IDEAL = metrics.ideal_dcg(GRADES, OFFSETS, 3)
WEIGHTS = np.array([0.5, -1.0, 0.25])
SCORES = TABLE @ WEIGHTS
LISTS = np.array([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
CLICKED = np.array([[True, False, False], [False, True, False], [True, False, True]])
LETTERS = ("a", "b", "c")
MODEL = ItemClicks("dependent", (0.5, 0.3, 0.2), (0.9, 0.6, 0.3))


def dataset(**changed):
    whole = {
        "name": "x",
        "features": TABLE,
        "relevance": GRADES,
        "offsets": OFFSETS,
        "query_ids": LETTERS,
        "document_ids": None,
        "folds": (Fold(np.array([0]), np.array([1]), np.array([2])),),
        "n_grades": 4,
        "checksum": "",
        "restricted": False,
        "label": "x",
        "normalization": "none",
    }
    made = RankingDataset(**whole | changed)
    return np.concatenate([made.totals.sum(axis=0), made.sizes, fit_lambdarank(made, 1, epochs=2)])


def attraction(lists=LISTS, clicks=CLICKED):
    (fit,) = fit_position([QuerySessions("q", LETTERS, lists, clicks)], (1.0, 2.0))
    return fit.attraction


def of_tensors(function, *others):
    """A function of tensors, given what can be made one."""

    def take(given):
        values = np.asarray(given, order="C")
        if values.dtype == np.longdouble:  # which torch has not
            values = values.astype(np.float64)
        return function(torch.tensor(values.tolist()), *others)

    return take


KEY = replica_key("any input", 1, 0)
ALL = torch.ones(3, 4, dtype=torch.bool)
TAKERS = {  # what takes an array, and one that is right
    "normalize_per_query": (lambda x: normalize_per_query(x, OFFSETS), TABLE),
    "normalize_per_query, offsets": (lambda x: normalize_per_query(TABLE, x), OFFSETS),
    "a data set's features": (lambda x: dataset(features=x), TABLE),
    "a data set's grades": (lambda x: dataset(relevance=x), GRADES),
    "a data set's offsets": (lambda x: dataset(offsets=x), OFFSETS),
    "ideal_dcg": (lambda x: metrics.ideal_dcg(x, OFFSETS, 3), GRADES),
    "ideal_dcg, offsets": (lambda x: metrics.ideal_dcg(GRADES, x, 3), OFFSETS),
    "gains": (of_tensors(metrics.gains), GRADES),
    "shown_ndcg": (of_tensors(metrics.shown_ndcg, ALL, torch.from_numpy(IDEAL)), GRADES.reshape(3, 4)),
    "misordered_pairs": (of_tensors(metrics.misordered_pairs, ALL), GRADES.reshape(3, 4)),
    "lambda_gradient": (lambda x: lambda_gradient(x, GRADES, OFFSETS, IDEAL, WEIGHTS, 3), TABLE),
    "lambda_gradient, grades": (lambda x: lambda_gradient(TABLE, x, OFFSETS, IDEAL, WEIGHTS, 3), GRADES),
    "lambda_gradient, offsets": (lambda x: lambda_gradient(TABLE, GRADES, x, IDEAL, WEIGHTS, 3), OFFSETS),
    "lambda_gradient, weights": (lambda x: lambda_gradient(TABLE, GRADES, OFFSETS, IDEAL, x, 3), WEIGHTS),
    "lambda_forces": (lambda x: lambda_forces(x, GRADES, OFFSETS, IDEAL, 3), SCORES),
    "lambda_forces, grades": (lambda x: lambda_forces(SCORES, x, OFFSETS, IDEAL, 3), GRADES),
    "mean_ndcg": (lambda x: mean_ndcg(OWN, np.arange(3), x, 3), WEIGHTS),
    "mean_ndcg, queries": (lambda x: mean_ndcg(OWN, x, WEIGHTS, 3), np.array([2, 0])),
    "run_of": (lambda x: [score for own in run_of(OWN, x).values() for score in own.values()], SCORES),
    "sessions": (lambda x: QuerySessions("q", LETTERS, x, CLICKED).counts().views, LISTS),
    "sessions, clicks": (lambda x: QuerySessions("q", LETTERS, LISTS, x).counts().clicks, CLICKED),
    "counts": (lambda x: QueryCounts("q", LETTERS, x, LISTS).most_frequent_list(3), LISTS + 1),
    "counts, clicks": (lambda x: QueryCounts("q", LETTERS, LISTS + 1, x).clicks, LISTS),
    "fit_position": (attraction, LISTS),
    "fit_position, clicks": (lambda x: attraction(clicks=x), CLICKED),
    "click_probabilities": (lambda x: click_probabilities(MODEL, x), LISTS),
    "conditional_probabilities": (lambda x: conditional_probabilities(MODEL, x, CLICKED), LISTS),
    "conditional_probabilities, clicks": (lambda x: conditional_probabilities(MODEL, LISTS, x), CLICKED),
    "a model's attraction": (lambda x: ItemClicks("cascade", x).attraction, np.array([0.5, 0.25, 0.125])),
    "simulate_clicks": (lambda x: simulate_clicks(MODEL, x, KEY), LISTS),
    "wrong_pairs": (lambda x: wrong_pairs(x, [1, 0]), np.array([0.5, 0.25, 0.125])),
    "wrong_pairs, ranking": (lambda x: wrong_pairs(np.array([0.5, 0.25, 0.125]), x), np.array([2, 0])),
}
OWN = ol2r.from_arrays(TABLE, GRADES, np.repeat(range(3), 4), folds=3, normalize=False)


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


FORMS = {
    "read-only": read_only,
    "fortran": np.asfortranarray,
    "strided": lambda array: np.repeat(array, 2, axis=0)[::2],
    "backwards": lambda array: array[::-1].copy()[::-1],
    "big endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "object": lambda array: array.astype(object),
    "list": np.ndarray.tolist,
    "long double": lambda array: array.astype(np.longdouble),
    "small": lambda array: array.astype(np.uint8 if array.dtype.kind in "iub" else np.float32),
    "table": lambda array: pd.DataFrame(array) if array.ndim == 2 else pd.Series(array, range(len(array), 0, -1)),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_every_form_of_an_array_gives_the_same(taker):
    take, array = TAKERS[taker]
    expected = np.asarray(take(array))
    for name, form in FORMS.items():
        if name == "small" and array.dtype == np.float64:
            continue  # single precision holds other numbers
        np.testing.assert_array_equal(take(form(array)), expected, err_msg=name)


def changed(array, value):
    array = array.astype(np.float64 if array.dtype.kind == "f" or value != value else np.int64)
    array.flat[1] = value
    return array


BROKEN = {
    "text": lambda array: np.full(array.shape, "many"),
    "complex": lambda array: array + 1j,
    "one axis more": lambda array: array[None],
    "not a number": lambda array: changed(array, np.nan),
    "negative": lambda array: changed(array, -7),
    "huge": lambda array: changed(array, 10**6 if array.dtype.kind in "iub" else np.inf),
    "short": lambda array: array[:-1],
    "long": lambda array: np.concatenate([array, array]),
    "empty": lambda array: array[:0],
}
ANY_LENGTH = {"gains", "mean_ndcg, queries", "click_probabilities", "a model's attraction", "simulate_clicks"}
ANY_LENGTH |= {"wrong_pairs", "wrong_pairs, ranking"}


@pytest.mark.parametrize("taker", TAKERS)
def test_what_no_array_of_a_function_can_be_is_said_in_a_line(taker):
    take, array = TAKERS[taker]
    whole = array.dtype.kind in "ib"
    wrong = ["text", "complex"]
    wrong += ["one axis more"] if taker != "gains" else []
    wrong += ["not a number"] if whole else []
    wrong += ["negative"] if whole and taker != "misordered_pairs" else []
    wrong += ["huge"] if whole and taker not in ("misordered_pairs", "counts") else []
    wrong += ["short", "long", "empty"] if taker not in ANY_LENGTH else []
    for name in wrong:
        with pytest.raises(ValueError) as error:
            take(BROKEN[name](array))
            pytest.fail(f"{name} was taken")
        said(error)


def test_numbers_that_a_small_type_would_wrap_are_counted_right():
    """A list is chosen by a mark of −1, which a type without signs would take for its largest number."""
    views = np.array([[3, 9], [5, 7], [9, 200]], dtype=np.uint8)
    assert QueryCounts("q", LETTERS, views, views).most_frequent_list(2).tolist() == [2, 0]
    assert views.dtype == np.uint8


def test_every_public_name_is_called_where_wrong_input_is_tried():
    """Where each name of `ol2r` is tried; how hard it is tried there, those tests say."""
    here = {"candidates", "Ranges", "Online", "BubbleRank"}
    elsewhere = {  # files and tables of a reader's own, and what takes a data set that was read
        "tests/data/test_identity.py": {"from_arrays", "from_letor"},
        "tests/data/test_own.py": {"sessions"},
        "tests/data/test_catalogue.py": {"load"},
        "tests/test_face.py": {"compare"},
        "tests/test_simulation.py": {"simulate"},
        "tests/experiments/test_own_data.py": {"chapter"},
    }
    given_back = {"__version__", "Comparison"}  # nobody hands anything to these
    assert given_back.union(here, *elsewhere.values()) == set(ol2r.__all__)
    for file, names in {"tests/test_any_input.py": here, **elsewhere}.items():
        text = (Path(__file__).parents[1] / file).read_text()
        assert [name for name in names if not re.search(rf"\b{name}\(|\b{name}\.\w+\(", text)] == [], file
