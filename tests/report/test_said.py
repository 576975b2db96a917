"""A person's sentences stand on a page only where their conditions hold; a re-run shows the others set aside."""

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from ol2r.report.said import NotSo, carried, contrasts, every, lead, matching, said

TABLE = pd.DataFrame(
    [("MQ2008", "perfect", 0.02, 0.01, 0.03), ("MQ2008", "informational", -0.01, -0.02, 0.0)],
    columns=["dataset", "users", "mean", "low", "high"],
)


def test_a_text_shows_its_numbers_and_keeps_other_braces():
    shown = said("It ends {gain:signed 2} above {term}`NDCG@10`, ${t^2}$.", [True], {"gain": -0.0149}, published=True)
    assert shown == "It ends −0.01 above {term}`NDCG@10`, ${t^2}$."


@pytest.mark.parametrize(("holds", "gain"), [([True, False], 0.1), ([True], math.nan)])
def test_a_text_that_does_not_hold_is_set_aside_with_its_numbers_and_ends_a_published_page(holds, gain):
    shown = said("It gains {gain:.1f}.", holds, {"gain": gain}, published=False)
    number, title = ("–", "Not run here") if math.isnan(gain) else ("0.1", "Not so in this run")
    assert title in shown and f"The published page says: It gains {number}." in shown
    with pytest.raises(NotSo, match="of the text: It gains"):
        said("It gains {gain:.1f}.", holds, {"gain": gain}, published=True)


def test_a_text_needs_a_condition_and_shows_all_its_numbers():
    for holds, numbers in (([], {}), ([True], {"unshown": 1.0})):
        with pytest.raises(ValueError, match="needs a condition and shows all its numbers"):
            said("It is so.", holds, numbers, published=False)


def test_what_was_not_run_meets_no_condition():
    absent = lead(TABLE, dataset="MSLR")
    assert math.isnan(absent.mean) and not absent.low > 0 and not absent.high <= 0
    assert not every(matching(TABLE, dataset="MSLR")["low"] > 0, 1)


def test_lines_are_found_by_their_labels():
    assert lead(TABLE, users="perfect") == (0.02, 0.01, 0.03)
    assert every(matching(TABLE, users=("perfect", "navigational"))["low"] > 0, 1)
    assert not every(matching(TABLE, users=("perfect", "navigational"))["low"] > 0, 2)  # one was not run
    with pytest.raises(ValueError, match="2 lines"):
        lead(TABLE, dataset="MQ2008")


def test_a_claim_carries_its_verdict_on_a_data_set():
    judgement = SimpleNamespace(elsewhere=(SimpleNamespace(dataset="MQ2008", verdict="mixed"),))
    assert carried(judgement, "MQ2008") == "mixed" and carried(judgement, "MSLR") == ""


def test_effects_of_a_claim_are_found_by_data_set_and_contrast():
    effect = SimpleNamespace(estimate=-0.02, interval=lambda: (-0.03, -0.01))
    contrast = SimpleNamespace(label="A − B")
    tested = [SimpleNamespace(data="MQ2008", contrast=contrast, effect=each) for each in (effect, None)]
    found = contrasts(SimpleNamespace(tested=tested))  # pyright: ignore[reportArgumentType]
    assert found == {("MQ2008", "A − B"): (-0.02, -0.03, -0.01)}
