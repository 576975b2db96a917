"""What a paper printed: `published.csv` in the paper's folder, transcribed number by number.

Only tables and claims read it; nothing that simulates may know what was published.
"""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@cache
def printed_numbers(package: str) -> "pd.DataFrame":
    """The printed numbers of one paper.

    Returns:
        One row for each number: item (the paper's table or figure, or "reference"), dataset, users, learner, mean and
        deviation as printed, runs (number of runs behind the mean: repeats × folds), significant and bold (1 where the
        paper marks the number), note, source. Empty text is ""; a number that is not printed is NaN.
    """
    import pandas as pd

    numbers = ["mean", "deviation", "runs", "significant", "bold"]
    with (files(package) / "published.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    return table.assign(**{column: pd.to_numeric(table[column]) for column in numbers})
