"""Cascade users: what they click, where they stop, and what they refuse."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Draws, clicks_of

from ol2r.clicks import GradedCascade, GradedPositions, UserBatch, users
from ol2r.clicks.cascade import STOP_RULES
from ol2r.random import Streams

ROUND = 3
BODIES = ["click", "_click_batched"]


def click(batch, grades, shown=None, body="click", keys=None):
    grades = torch.as_tensor(grades)
    shown = torch.ones_like(grades, dtype=torch.bool) if shown is None else torch.as_tensor(shown)
    keys = np.arange(len(grades), dtype=np.uint64) if keys is None else keys
    return getattr(UserBatch(batch, Streams(keys)), body)(grades, shown, ROUND)


@pytest.mark.parametrize(
    ("kind", "click_by_grade", "stop_by_grade"),
    [
        ("perfect", (0, 0.5, 1), (0, 0, 0)),
        ("navigational", (0.05, 0.5, 0.95), (0.2, 0.5, 0.9)),
        ("informational", (0.4, 0.7, 0.9), (0.1, 0.3, 0.5)),
    ],
)
def test_users_are_those_of_the_papers_table_1(kind, click_by_grade, stop_by_grade):
    user = users(kind, 3)
    assert (user.click, user.stop, user.stop_rule) == (click_by_grade, stop_by_grade, "after_click")
    binary = users(kind, 2)
    assert (binary.click, binary.stop) == ((user.click[0], user.click[2]), (user.stop[0], user.stop[2]))
    binary = users(kind, 2, binary="middle")
    assert (binary.click, binary.stop) == (user.click[:2], user.stop[:2])
    assert len(users(kind, 5).click) == 5


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("kind", ["perfect", "navigational", "informational"])
@pytest.mark.parametrize("n_grades", [2, 3, 5])
@pytest.mark.parametrize("stop_rule", STOP_RULES)
def test_clicks_and_stops_have_the_probabilities_of_the_grade(kind, n_grades, stop_rule, body):
    user, replicas = users(kind, n_grades, stop_rule=stop_rule), 4000
    for grade in range(n_grades):
        clicks = click([user] * replicas, np.full((replicas, 2), grade), body=body)
        p, q = user.click[grade], user.stop[grade]
        stop = q if stop_rule == "every_document" else p * q
        error = 5 * math.sqrt(0.25 / replicas)
        assert abs(clicks[:, 0].double().mean() - p) < error
        assert abs(clicks[:, 1].double().mean() - (1 - stop) * p) < error


@pytest.mark.parametrize("body", BODIES)
def test_the_stop_rules_differ_only_on_unclicked_documents(body):
    scan = {rule: GradedCascade("scan", (0.0, 1.0), (1.0, 0.0), rule) for rule in STOP_RULES}
    assert click([scan["after_click"]], [[0, 0, 1, 1]], body=body).tolist() == [[False, False, True, True]]
    assert click([scan["every_document"]], [[0, 0, 1, 1]], body=body).tolist() == [[False] * 4]
    one = {rule: GradedCascade("one", (1.0,), (1.0,), rule) for rule in STOP_RULES}
    for user in one.values():
        assert click([user], [[0, 0, 0]], body=body).tolist() == [[True, False, False]]


probability = st.floats(0, 1, width=32)


@settings(deadline=None)
@given(
    rates=st.lists(st.tuples(probability, probability), min_size=1, max_size=5),
    rule=st.sampled_from(STOP_RULES),
    shown=st.integers(0, 6),
    key=st.integers(0, 2**64 - 1),
    data=st.data(),
)
def test_both_bodies_examine_the_same_prefix_as_a_plain_user(rates, rule, shown, key, data):
    user = GradedCascade("any", *zip(*rates, strict=True), rule)
    grades = data.draw(st.lists(st.integers(0, len(rates) - 1), min_size=shown, max_size=shown))
    slots = [grades + [0] * (6 - shown)]
    visible = [[True] * shown + [False] * (6 - shown)]
    expected = clicks_of(grades, user, Draws(key), ROUND) + [False] * (6 - shown)
    for body in BODIES:
        assert click([user], slots, visible, body, np.array([key], dtype=np.uint64)).tolist() == [expected]


@pytest.mark.parametrize("body", BODIES)
def test_users_of_different_kinds_stand_side_by_side(body):
    batch = [users(kind, 3) for kind in ("perfect", "navigational", "informational")]
    grades = np.array([[2, 1, 0, 2, 1]] * 3)
    together = click(batch, grades, body=body)
    for r in range(3):
        alone = click([batch[r]], grades[r : r + 1], body=body, keys=np.array([r], dtype=np.uint64))
        assert torch.equal(alone[0], together[r])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((0.5,), (0.5, 0.1), "after_click"), "1 click but 2 stop probabilities"),
        (((1.5,), (0.5,), "after_click"), r"must lie in \[0, 1\]"),
        (((0.5,), (-0.1,), "after_click"), r"must lie in \[0, 1\]"),
        (((math.nan,), (0.1,), "after_click"), r"must lie in \[0, 1\]"),
        (((0.5,), (0.5,), "sometimes"), "stop_rule must be one of .* not 'sometimes'"),
    ],
)
def test_a_user_that_cannot_be_is_an_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        GradedCascade("someone", *arguments)


def test_unknown_users_and_grades_are_errors():
    with pytest.raises(ValueError, match=r"users must be one of .* not 'perfekt'"):
        users("perfekt", 3)
    with pytest.raises(ValueError, match=r"no table of click probabilities for 4 grades \(known: 2, 3, 5\)"):
        users("perfect", 4)
    with pytest.raises(ValueError, match=r"binary must be one of .* not 'low'"):
        users("perfect", 2, binary="low")


def test_one_batch_has_one_stop_rule_and_one_number_of_grades():
    streams = Streams(np.arange(2, dtype=np.uint64))
    rules = [users("perfect", 3, stop_rule=rule) for rule in STOP_RULES]
    for batch in (rules, [users("perfect", 3), users("perfect", 5)]):
        with pytest.raises(ValueError, match="must share their stop rule and their number of grades"):
            UserBatch(batch, streams)


# Users by position

LOOKING = (1.0, 0.5, 0.25)


@pytest.mark.parametrize("body", BODIES)
def test_users_by_position_look_at_each_place_by_itself_and_click_by_grade(body):
    user, replicas = GradedPositions("by position", (0.1, 0.8), LOOKING), 4000
    for grade in (0, 1):
        clicks = click([user] * replicas, np.full((replicas, 3), grade), body=body).double()
        assert clicks.mean(dim=0).numpy() == pytest.approx(user.click[grade] * np.array(LOOKING), abs=0.04)
    both = (clicks[:, 0] * clicks[:, 1]).mean()  # no click stops anybody
    assert both == pytest.approx(0.8 * 0.8 * 0.5, abs=0.04)


def test_both_bodies_agree_on_users_by_position():
    batch = [GradedPositions("a", (0.3, 0.9), LOOKING), GradedPositions("b", (0.5, 0.6), LOOKING)] * 50
    grades, shown = np.arange(300).reshape(100, 3) % 2, np.arange(300).reshape(100, 3) % 5 > 0
    one, other = (click(batch, grades, shown, body=body) for body in BODIES)
    assert torch.equal(one, other) and one.any() and not one[torch.as_tensor(~shown)].any()


def test_what_users_by_position_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"probabilities must lie in \[0, 1\]"):
        GradedPositions("a", (0.3, 1.9), LOOKING)
    with pytest.raises(ValueError, match="at least one place"):
        GradedPositions("a", (0.3, 0.9), ())
    user = GradedPositions("a", (0.3, 0.9), LOOKING)
    batch = UserBatch([user], Streams(np.arange(1, dtype=np.uint64)))
    batch.check_length(3)
    with pytest.raises(ValueError, match="know 3 places of a list, not 4"):
        batch.check_length(4)
    with pytest.raises(ValueError, match="must share their stop rule"):
        UserBatch([user, users("perfect", 2)], Streams(np.arange(2, dtype=np.uint64)))
