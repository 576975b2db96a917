"""Clicks of real users are taken as they are, and anything else is refused in one line."""

import numpy as np
import pytest

from ol2r.clicks.real import real_clicks


@pytest.mark.parametrize("clicks", [[True, False, True], (1, 0, 1), np.array([True, False, True]), np.array([1, 0, 1])])
def test_clicks_are_true_or_false_for_each_slot(clicks):
    assert real_clicks(clicks, 3).tolist() == [True, False, True]


@pytest.mark.parametrize("clicks", [[True], [], True, [True, False, 0.5], [2, 0, 0], [[1, 0, 0]], ["a", "b", "c"]])
def test_what_is_no_row_of_clicks_is_refused(clicks):
    with pytest.raises(ValueError, match="expected 3 clicks, True or False, found"):
        real_clicks(clicks, 3)
