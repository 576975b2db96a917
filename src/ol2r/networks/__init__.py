"""Networks in place of linear scores: their tangents, the covariance of these, and refits to labelled pairs.

All is torch, on any device, with the replicas first. On the CPU, what is not a product of matrices is compiled where a
round spends its time (`problem`, `moments`, `memory`, `descent`, `diagonal`, the counting of `history`).

The room knows features, pairs of documents and which one was preferred; it knows neither users nor learners. A round on
a device asks for no value, and for the same shapes as the round before it, except where the history gets more room.
"""

from ol2r.networks.covariance import Covariance, Dual, Explicit, Full, Inverted
from ol2r.networks.history import History
from ol2r.networks.listed import ListedHistory
from ol2r.networks.network import Network
from ol2r.networks.perturbed import Perturbed
from ol2r.networks.refit import NetworkFit
from ol2r.networks.tangent import Tangent

__all__ = [
    "Network",
    "Tangent",
    "Covariance",
    "Full",
    "Dual",
    "Explicit",
    "Inverted",
    "History",
    "ListedHistory",
    "NetworkFit",
    "Perturbed",
]
