"""What the papers printed: one CSV per paper, transcribed number by number.

Only tables and claims read it; nothing that simulates may know what was published.
"""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@cache
def printed_numbers(paper: str) -> "pd.DataFrame":
    """The printed numbers of one paper.

    Args:
        paper: name of its chapter, such as "nsgd".

    Returns:
        One row a number: item (the paper's table or figure, or "reference"), dataset, users, learner, mean and
        deviation as printed, runs (that they are taken over: repeats × folds), significant and bold (1 where the paper
        marks the number), note, source. Empty text is "", a number that is not printed NaN.
    """
    import pandas as pd

    numbers = ["mean", "deviation", "runs", "significant", "bold"]
    with (files(__name__) / f"{paper}.csv").open() as file:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    return table.assign(**{column: pd.to_numeric(table[column]) for column in numbers})
