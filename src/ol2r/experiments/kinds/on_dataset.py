"""What all cells that run on a ranking data set share."""

from dataclasses import dataclass

from ol2r import data
from ol2r.experiments.cells import Cell


@dataclass(frozen=True)
class OnDataset(Cell):
    """A cell on a data set; it has the data set's folds, and its results the data set's licence.

    Args:
        dataset: name in the catalogue, or of a reader's own data that this process knows.
        checksum: of its content (`data.checksum`), so that other data is another key.
    """

    dataset: str
    checksum: str

    @property
    def folds(self) -> tuple[int, ...]:
        """All folds of the data set."""
        return tuple(range(1, data.entry(self.dataset).n_folds + 1))

    @property
    def restricted(self) -> bool:
        """Whether the data set's licence forbids storing values of single documents or queries."""
        return data.entry(self.dataset).restricted

    @property
    def on_own_data(self) -> bool:
        """By the data set's name."""
        return data.is_own(self.dataset)
