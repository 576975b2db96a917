"""Visits to learners that live on a site, the same in every process; run as a script, it goes on with saved ones.

    python tests/living.py FOLDER     loads FOLDER/*.half, and writes each after its last visit to *.whole
"""

import sys
from pathlib import Path

import numpy as np

import ol2r
from ol2r.random import generator

HALF, WHOLE, DEPTH = 11, 21, 5  # visits; after the first half, two lists wait
FEATURES = generator("a site", 0).random((4, 9, 5))
LIST = ["rope", "tent", "lamp", "stove", "mug", "map"]


def clicks(ticket: int, slots: int = DEPTH) -> list[bool]:
    return [(7 * ticket + 3 * slot) % 4 == 0 for slot in range(slots)]


def visit(ranker: ol2r.Online | ol2r.BubbleRank, first: int, last: int) -> list[list]:
    """The lists of some visits; clicks on three lists come together, the newest first, or only in part, or never."""
    lists = []
    for number in range(first, last):
        if isinstance(ranker, ol2r.BubbleRank):
            lists.append(list(ranker.rank()))
        else:
            query = number % len(FEATURES)
            order = generator("candidates", number).permutation(9)
            of = ol2r.candidates(FEATURES[query, order], ids=[f"{query}/{place}" for place in order])
            lists.append(order[ranker.rank(of, DEPTH)].tolist())
        if number % 3 == 2:
            for ticket in reversed(ranker.waiting):
                if ticket % 7 == 0:
                    ranker.forget(ticket)
                elif ticket % 5 == 0:
                    ranker.update(ticket, clicks(ticket)[:3], seen=3)
                else:
                    ranker.update(ticket, np.array(clicks(ticket)))
    return lists


if __name__ == "__main__":
    for half in sorted(Path(sys.argv[1]).glob("*.half")):
        kind = ol2r.BubbleRank if half.stem == "BubbleRank" else ol2r.Online
        ranker = kind.load(half)
        visit(ranker, HALF, WHOLE)
        ranker.save(half.with_suffix(".whole"))
