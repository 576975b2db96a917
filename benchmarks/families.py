"""What the benchmarks of learners share: the learner of each family of figures, its settings in the chapters, the data
set, and the conventions of the measurement."""

from ol2r.papers.nsgd import grid as nsgd
from ol2r.papers.pairrank import grid as pairrank
from ol2r.simulation import Evaluation

DATASET = "synthetic-mslr"
"""The data set of speeds and bytes: 136 features, about 125 documents a query."""

LEARNER = {
    "pdgd": "PDGD",
    "sgdranknet": "SGD RankNet",
    "egreedy": "epsilon-greedy",
    "dbgd": "DBGD",
    "dp-dbgd": "DP-DBGD",
    "mgd": "MGD",
    "cps": "CPS",
    "nsgd": "NSGD",
    "pairrank": "PairRank",
}
"""The learner of each family of figures."""

_OF_CHAPTERS = nsgd.SETTINGS | dict(
    pairrank.SETTINGS[name] for name in ("PDGD", "PairRank_C", "SGD RankNet", "epsilon-greedy")
)
SETTINGS = {name: _OF_CHAPTERS[name] for name in LEARNER.values()}
"""The hyper-parameters of each learner, as the chapters set them."""


def evaluation(*checkpoints: int) -> Evaluation:
    """The chapters' conventions, with these checkpoints."""
    return Evaluation(
        k=10, split="test", gain="exponential", empty="zero", ties="expected", gamma=0.9995, checkpoints=checkpoints
    )
