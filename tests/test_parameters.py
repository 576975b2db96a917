"""Declared parameters: what each kind allows, and what a user is told of a value that it does not."""

import math

import numpy as np
import pytest
import torch

from ol2r.parameters import FLAG, Choice, Names, Number, check_all, completed, require

KINDS = {
    "choice": Choice("a", "b"),
    "flag": FLAG,
    "names": Names(),
    "any number": Number(),
    "from 0": Number(least=0),
    "above 0": Number(above=0),
    "to infinity": Number(least=0, most=math.inf),
    "share": Number(least=0, most=1),
    "probability": Number(above=0, below=1),
    "whole": Number(least=1, whole=True),
}

ALLOWED = [
    ("choice", ["a", "b"], ["c", "", None, 1, ("a",), torch.zeros(2)]),
    ("flag", [True, False], [1, 0, 1.0, "True", None]),
    ("names", [["a"], ["a", "b"]], [[], ["a", 1], "a", ("a",), None]),
    ("any number", [0, -1.5, 3e30, np.float32(2), np.int64(2)], [math.inf, -math.inf, math.nan, True, None, [1.0], 1j]),
    ("from 0", [0, 0.0, 1, 1e300], [-1e-300, -1, math.inf, math.nan]),
    ("above 0", [1e-300, 1], [0, -0.0, -1, math.inf, math.nan]),
    ("to infinity", [0, math.inf], [-1, math.nan, -math.inf]),
    ("share", [0, 1, 0.5, True + 0], [-0.1, 1.0000001, math.nan, True]),
    ("probability", [1e-300, 0.5, 1 - 1e-16], [0, 1, 1.0, math.nan]),
    ("whole", [1, 10**12, np.int32(3)], [0, 1.5, 2.0, math.inf, True, "1"]),
    ("share", [torch.tensor([0.0, 1.0]), np.array([0.5]), torch.tensor(0.5)], [torch.tensor([0.5, 1.5])]),
    ("share", [torch.tensor([0, 1])], [torch.tensor([math.nan, 0.5]), torch.tensor([True]), np.array(["a"], object)]),
    ("whole", [torch.tensor([1.0, 2.0]), np.array([3, 4])], [torch.tensor([1.0, 2.5]), np.array([0.0, 1.0])]),
]


@pytest.mark.parametrize(("kind", "allowed", "refused"), ALLOWED)
def test_a_kind_allows_its_values_and_no_others(kind, allowed, refused):
    for value in allowed:
        require("x", KINDS[kind], value)
    for value in refused:
        with pytest.raises(ValueError, match=r"^x must be "):
            require("x", KINDS[kind], value)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (KINDS["choice"], "one of a, b"),
        (FLAG, "one of True, False"),
        (Names(), "a list of names, at least one"),
        (Number(), "a number"),
        (Number(least=0), "a number of at least 0"),
        (Number(least=0, most=math.inf), "a number of at least 0"),
        (Number(above=0, most=0.25), "a number above 0 and at most 0.25"),
        (Number(above=0, below=1), "a number above 0 and below 1"),
        (Number(least=1, whole=True), "a whole number of at least 1"),
        (Number(above=0, because="0 would divide"), "a number above 0 (0 would divide)"),
    ],
)
def test_a_refusal_says_what_was_wanted_and_what_was_given(kind, said):
    with pytest.raises(ValueError) as caught:
        require("depth", kind, None)
    assert str(caught.value) == f"depth must be {said}, not None"


def test_all_that_is_missing_or_unknown_is_named_in_one_message():
    declared = {"b": FLAG, "a": FLAG}
    with pytest.raises(ValueError, match=r"^Ours takes a, b; missing: a, b; unknown: c, d$"):
        check_all("Ours", declared, {"d": 1, "c": 2})
    with pytest.raises(ValueError, match=r"^Ours takes no parameter; missing: none; unknown: c$"):
        check_all("Ours", {}, {"c": 2})
    with pytest.raises(ValueError, match=r"^Ours: b must be one of True, False, not 'yes'$"):
        check_all("Ours", declared, {"a": True, "b": "yes"})
    check_all("Ours", declared, {"a": True, "b": False})


def test_a_parameter_with_a_default_may_be_left_out():
    declared = {"a": FLAG, "b": Choice("x", "y", default="y"), "c": Number(least=0, whole=True, default=0)}
    check_all("Ours", declared, {"a": True})
    assert completed(declared, {"a": True, "b": "x"}) == {"a": True, "b": "x", "c": 0}
    with pytest.raises(ValueError, match=r"^Ours takes a, b, c; missing: a; unknown: none$"):
        check_all("Ours", declared, {"b": "x"})
    with pytest.raises(ValueError, match=r"^Ours: c must be a whole number of at least 0, not -1$"):
        check_all("Ours", declared, {"a": True, "c": -1})
