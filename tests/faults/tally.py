"""What became of the faults of one kind: a count for each outcome."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ol2r import cli
from ol2r.errors import DataError, ExperimentError, Failed

OUTCOMES = ("detected", "harmless", "lost", "wrong", "unclear")
"""Detected: told in one line, or set aside and made again. Harmless: the result is the right one. Lost: something that
was stored is gone, or cannot be computed again. Wrong: another result, without a word. Unclear: an error that is not
one line of the project's own."""
BAD = ("lost", "wrong", "unclear")
SHOWN = 5
"""How many examples of bad outcomes a tally remembers."""


@dataclass
class Tally:
    """The faults of one kind.

    Args:
        fault: its name in the record.
        seed: decides which faults there are.
    """

    fault: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    @property
    def injected(self) -> int:
        return self.counts.total()

    @property
    def bad(self) -> int:
        """Outcomes that must not be."""
        return sum(self.counts[each] for each in BAD)

    def add(self, outcome: str, example: str = "") -> None:
        """Count an outcome.

        Args:
            outcome: one of `OUTCOMES`.
            example: what a developer needs to see of a bad one.
        """
        assert outcome in OUTCOMES
        self.counts[outcome] += 1
        if outcome in BAD and len(self.examples) < SHOWN:
            self.examples.append(f"{outcome}: {example}")

    def as_json(self) -> dict[str, object]:
        """The counts, without examples, which may name places on this machine."""
        counts = {each: self.counts[each] for each in OUTCOMES}
        return {"injected": self.injected, **counts, "seed": self.seed}


def in_one_line(error: BaseException) -> bool:
    """Whether the command tells this error in one line and without a traceback."""
    if not isinstance(error, (ExperimentError, DataError, OSError)):
        return False
    return len(cli.printable(str(error), lines=isinstance(error, Failed)).splitlines()) == 1


@contextmanager
def told(tally: Tally, what: str) -> Iterator[None]:
    """Count an error as detected if the command would tell it in one line, else as unclear."""
    try:
        yield
    except Exception as error:
        tally.add("detected" if in_one_line(error) else "unclear", f"{what}: {error!r}"[:300])
