"""The published tables as somebody opens them who has pandas and not this library."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest
from fakes import Fake

from ol2r.experiments.cells import Job
from ol2r.experiments.publication import publish
from ol2r.experiments.runner import run
from ol2r.experiments.store import Store
from ol2r.papers import paper

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Store.open().published
PAGE = (ROOT / "book" / "rerun.md").read_text(encoding="utf-8")
ON_PAGE = re.findall(r"```python\n(import pandas.*?)```", PAGE, re.DOTALL)
published = pytest.mark.skipif(RESULTS is None, reason="results/ is not part of the package")


def outside(code: str, folder: Path) -> str:
    """What code prints in a process of its own that works in a folder and never loads this library."""
    code = f"{code}\nimport sys\nassert not [name for name in sys.modules if name.startswith('ol2r')]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_table_opens_with_pandas_and_one_cell_is_found_by_its_key(tmp_path):
    store = Store(tmp_path / "results", tmp_path / "scratch")
    cells = [Fake(name=name, offset=offset) for name, offset in (("x", 0.0), ("y", 1000.0))]
    jobs = [Job(cell, cell.rows(None, range(3))) for cell in cells]
    run(jobs, store, n_jobs=1)
    publish(store, jobs)
    filters = f"filters=[('cell', '==', '{cells[1].key}')]"
    told = outside(f"import pandas\nprint(pandas.read_parquet('results/fake.parquet', {filters}).to_csv())", tmp_path)
    (tmp_path / "told.csv").write_text(told)
    found = pd.read_csv(tmp_path / "told.csv", index_col=0)
    assert list(found)[:4] == ["cell", "shown_in", "dataset", "name"] and set(found["name"]) == {"y"}
    right = store.read(*jobs[1]).frame
    assert found["value"].tolist() == right["value"].tolist() and found["seed"].tolist() == right["seed"].tolist()


@published
@pytest.mark.parametrize("code", ON_PAGE)
def test_what_the_page_says_of_pandas_works_in_a_clone(code):
    outside(code, RESULTS.parent)


@published
def test_tables_that_are_read_as_the_page_says_lose_no_column_and_the_whole_folder_is_refused():
    (code,) = (code for code in ON_PAGE if "glob" in code)
    columns = json.loads(outside(f"{code}\nimport json\nprint(json.dumps(list(runs.columns)))", RESULTS.parent))
    tables = RESULTS.glob("simulate/MQ2008/*.parquet")
    assert set(columns) == {name for table in tables for name in pyarrow.parquet.read_schema(table).names}
    with pytest.raises(pyarrow.ArrowInvalid, match="SHA256SUMS"):  # not the columns of some kinds without a word
        pd.read_parquet(RESULTS)


@published
def test_the_offline_ndcg_of_a_learner_is_found_from_the_names_of_files_alone():
    code = """
import pandas as pd
(path,) = pathlib.Path("results").glob("simulate/MQ2008/olRankNet.parquet")
runs = pd.read_parquet(path)
runs = runs[runs["shown_in"].str.split().map(lambda items: "olranknet/fig-4" in items)]
runs = runs[(runs["users"] == "navigational") & (runs["covariance"] == "diagonal")]
last = runs[runs["round"] == runs["round"].max()]
print(last.groupby("cell")["ndcg"].agg(["mean", "size"]).to_csv())
"""
    _, *lines = outside(f"import pathlib{code}", RESULTS.parent).strip().splitlines()
    key, mean, size = lines[0].split(",")
    item = paper("olranknet").items["fig-4"]
    (cell,) = (job.cell for job in item.jobs("paper") if job.cell.key == key)
    stored = Store.open().read(cell, sorted(Store.open().listed(cell))).frame
    right = stored[stored["round"] == stored["round"].max()]["ndcg"]
    assert len(lines) == 1 and float(mean) == pytest.approx(right.mean()) and int(size) == len(right)


@published
def test_the_published_folder_is_small_and_its_files_are_few():
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert len(files) < 150 and sum(path.stat().st_size for path in files) < 60e6


@published
def test_the_sums_are_those_of_the_tool_that_every_system_has():
    told = (RESULTS / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    names = {line.split("  ", 1)[1] for line in told}
    assert names == {path.relative_to(RESULTS).as_posix() for path in RESULTS.rglob("*") if path.is_file()} - {
        "SHA256SUMS"
    }
    done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=RESULTS)
    assert done.returncode == 0
