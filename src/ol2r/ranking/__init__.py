"""Pure functions on rankings: candidates, top-k lists, certain orders, interleaving, null spaces, metrics.

Documents are known here by their features and their position in a query's list, never by their labels; a metric takes
the grades it needs as an argument. Operations on the measured hot path have two bodies with the same names and
signatures, `compiled` (numba, CPU) and `batched` (torch, any device); `engine(name)` gives one of the two.
"""

from types import ModuleType

from ol2r.ranking.candidates import Candidates
from ol2r.ranking.orders import interval_orders, unanimous_orders

__all__ = ["Candidates", "default_engine", "engine", "interval_orders", "unanimous_orders"]

ENGINES = ("numba", "torch")


def engine(name: str) -> ModuleType:
    """The module with the hot operations: `"numba"` or `"torch"`.

    Raises:
        ValueError: for any other name.
    """
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {name!r}")
    if name == "numba":
        from ol2r.ranking import compiled

        return compiled
    from ol2r.ranking import batched

    return batched


def default_engine(device: str) -> str:
    """numba on the CPU, torch elsewhere."""
    return "numba" if str(device) == "cpu" else "torch"
