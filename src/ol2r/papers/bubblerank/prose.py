"""Texts of the BubbleRank chapter: conventions, what the paper leaves open, claims in short, the map of its items."""

from ol2r.experiments.kinds.populations import POSITIONS
from ol2r.papers import texts
from ol2r.papers.bubblerank.claims import STEPS
from ol2r.papers.bubblerank.grid import CODE_RUNS, CUT, LOGGED_RUNS, PUBLISHED_RUNS, SYNTHETIC_STEPS

TEXTS = texts.read(
    "bubblerank",
    "texts",
    steps=STEPS,
    synthetic_steps=SYNTHETIC_STEPS,
    published_runs=PUBLISHED_RUNS,
    code_runs=CODE_RUNS,
    logged_runs=LOGGED_RUNS,
    positions=POSITIONS,
    cut=CUT,
)
CONVENTIONS, SILENCES, SHORT, MAP = (TEXTS[each] for each in ("conventions", "silences", "short", "map"))
"""What the columns of each are, says the file."""

OURS = ("BRX1",)
"""The claims that the paper does not make."""
