"""What linear learners share that list documents block by block."""

import torch
from jaxtyping import Int64
from torch import Tensor

from ol2r.learners.pairwise import PairwiseLearner

RANKS = (1, 5, 10, 20, 30, 50, 75, 100, 125, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900)
"""Places for which the diagnostics record the size of the block."""

EXACT = ("rounds", "blocks", *(f"{what}_{rank}" for what in ("lists", "size") for rank in RANKS))
"""Diagnostics that repeat bit for bit, as the lists do."""


class BlockLearner(PairwiseLearner):
    """A pairwise learner with linear scores that lists blocks of documents; a block ends where all pairs across its end
    are in certain order.
    """

    def initial(self) -> dict[str, torch.Tensor]:
        """Sums over the rounds for the diagnostics, 0 at first."""
        none = torch.zeros(len(self.streams), dtype=torch.int64, device=self.device)
        by_rank = none[:, None].repeat(1, len(RANKS))
        return {"rounds": none, "blocks": none.clone(), "sizes": by_rank, "lists": by_rank.clone()}

    def arranged(
        self, arrangement: tuple[Int64[Tensor, "R k"], Int64[Tensor, " R"], Int64[Tensor, "R ranks"]]
    ) -> Int64[Tensor, "R k"]:
        """The ranking of what `arrange` returned for `RANKS`, of which the blocks are counted."""
        ranking, blocks, sizes = arrangement
        self.state["rounds"] += 1
        self.state["blocks"] += blocks
        self.state["sizes"] += sizes
        self.state["lists"] += sizes > 0
        return ranking

    def diagnostics(self) -> dict[str, torch.Tensor]:
        """Sums over all rounds so far: number of blocks, and for each of `RANKS` the lists that reach it and the sizes
        of the blocks that hold it. Then those of the history."""
        sums = {"rounds": self.state["rounds"].clone(), "blocks": self.state["blocks"].clone()}
        lists, sizes = self.state["lists"], self.state["sizes"]
        for i, rank in enumerate(RANKS):
            sums |= {f"lists_{rank}": lists[:, i].clone(), f"size_{rank}": sizes[:, i].clone()}
        return sums | super().diagnostics()
