"""What an exchange with an item that is not displayed does to the wrong pairs of a list, by trying every one."""

from itertools import permutations

import numpy as np
import pytest

from ol2r.bandits.world import inversions


def wrong_pairs(shown, attraction):
    """Pairs of which the more attractive item is not above the other, which is displayed."""
    place = {item: k for k, item in enumerate(shown)}
    better = [(i, j) for i in range(len(attraction)) for j in shown if attraction[i] > attraction[j]]
    return sum(place.get(i, len(shown)) > place[j] for i, j in better)


def better_bits(attraction):
    bits = np.packbits(attraction > attraction[:, None], axis=1, bitorder="little")
    better = np.zeros((len(attraction), 1), dtype=np.uint64)
    better.view(np.uint8)[:, : bits.shape[1]] = bits
    return better


@pytest.mark.parametrize("positions", [2, 3, 4])
def test_one_exchange_with_a_hidden_item_is_worth_one_and_the_hidden_items_in_between(positions):
    attraction = np.array([0.9, 0.7, 0.6, 0.4, 0.2, 0.1])
    bits = better_bits(attraction)
    for shown in permutations(range(len(attraction)), positions):
        hidden = [item for item in range(len(attraction)) if item not in shown]
        before, y = wrong_pairs(shown, attraction), shown[-1]
        assert inversions(np.array(shown), bits) == before
        for x in hidden:
            low, high = sorted((attraction[x], attraction[y]))
            between = sum(low < attraction[item] < high for item in hidden)
            change = wrong_pairs((*shown[:-1], x), attraction) - before
            assert change == (1 + between) * (-1 if attraction[x] > attraction[y] else 1)


def test_the_worst_try_costs_as_many_pairs_as_there_are_hidden_items():
    attraction = np.array([0.9, 0.8, 0.5, 0.4, 0.3, 0.2])
    assert wrong_pairs((0, 5), attraction) - wrong_pairs((0, 1), attraction) == 4 == len(attraction) - 2


def test_a_better_item_can_raise_the_wrong_pairs_of_displayed_items():
    attraction = np.array([0.9, 0.8, 0.7, 0.6])

    def displayed(shown):
        return sum(attraction[a] < attraction[b] for k, a in enumerate(shown) for b in shown[k + 1 :])

    assert displayed((1, 2, 3)) == 0 and displayed((1, 2, 0)) == 2
    assert wrong_pairs((1, 2, 0), attraction) < wrong_pairs((1, 2, 3), attraction)
