"""`python -m ol2r.experiments.former PAPER before.json OLD after.json`: see the package."""

import csv
import json
import sys
from pathlib import Path

from ol2r.experiments import former

paper, before, commit, after = sys.argv[1:]
old, new = ([one for one in json.loads(Path(name).read_text()) if one["paper"] == paper] for name in (before, after))
with Path(former.__file__).with_name(f"{paper}.csv").open("w", newline="") as file:
    writer = csv.DictWriter(file, former.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(former.record(old, commit, new))
