"""Queries with declared click models, which are not fitted to a log.

They are the paper's synthetic model, worlds that meet the assumptions of its theorems, and small worlds for the smoke
tier.
"""

from ol2r.clicks import ItemClicks
from ol2r.experiments.claims import WORLDS
from ol2r.experiments.kinds.populations import KINDS, POSITIONS, Declared, Model
from ol2r.random import generator

SYNTHETIC_PBM = "synthetic PBM"
DRAWN = "drawn click models"

HALVINGS = (1, 2, 3, 4, 5)
"""i of Figure 3, right: χ_min = 0.5^i."""


def halved_examination() -> Declared:
    """The synthetic model of section 5.4, once for each i of `HALVINGS`: fold i has χ_min = 0.5^i.

    α = (.9, .5, …, .5), χ = (.9, …, .9, .5^i, .5^i), and the initial list has the best item last. The printed
    R₀ = (2, …, K − 1, 1) misses item K; here it is (2, …, K, 1).
    """
    attraction = (0.9,) + (0.5,) * (POSITIONS - 1)
    initial = (*range(1, POSITIONS), 0)
    worlds = tuple(
        (ItemClicks("position", attraction, (0.9,) * (POSITIONS - 2) + (0.5**i, 0.5**i)), initial) for i in HALVINGS
    )
    return Declared(SYNTHETIC_PBM, "PBM", worlds)


def drawn(model: Model, name: str, n_items: int, n_queries: int) -> Declared:
    """Queries drawn at random: attraction uniform in [.05, .95], χ or v falling, all initial lists equally likely."""
    random = generator(f"click models {name} {model} {n_items}", 0)
    worlds = []
    for _ in range(n_queries):
        attraction = tuple(round(float(a), 3) for a in random.uniform(0.05, 0.95, n_items))
        falling = tuple(sorted((round(float(p), 3) for p in random.uniform(0.3, 1.0, n_items)), reverse=True))
        initial = tuple(int(i) for i in random.permutation(n_items))
        worlds.append((ItemClicks(KINDS[model], attraction, () if model == "CM" else falling), initial))
    return Declared(name, model, tuple(worlds))


def small(model: Model) -> Declared:
    """Two queries of ten items, for the smoke tier."""
    return drawn(model, DRAWN, POSITIONS, 2)


_FALLING = {
    "CM": ((0.6, 0.4, 0.2), (0.5, 0.4, 0.3, 0.2, 0.1)),
    "PBM": ((0.6, 0.4, 0.2), (0.9, 0.7, 0.5, 0.3, 0.1)),
}
_EXAMINED = {3: (0.9, 0.8, 0.7), 5: (0.9, 0.85, 0.8, 0.75, 0.7)}


def bounded(model: Model) -> Declared:
    """Worlds that meet Assumption 1, with gaps so large that Theorem 1's bound is below K n within five million steps.

    They have three items or five, each with the best initial list and with the worst. In the CM, even these gaps are
    too small for the worst list of five items.
    """
    worlds = []
    for attraction in _FALLING[model]:
        n = len(attraction)
        users = ItemClicks(KINDS[model], attraction, _EXAMINED[n] if model == "PBM" else ())
        worlds += [(users, tuple(range(n))), (users, tuple(reversed(range(n))))]
    return Declared(WORLDS, model, tuple(worlds))


def audited(model: Model, n_items: int) -> Declared:
    """Twenty random worlds that meet Assumption 1; their gaps may be small."""
    return drawn(model, WORLDS, n_items, 20)
