"""The recipes of the page on clusters: what can be tried without a cluster is tried."""

import os
import re
import shlex
import subprocess
import sys

import build
import numpy as np

from ol2r import cli
from ol2r.data import load

PAGE = (build.ROOT / "book" / "scale.md").read_text()
BLOCKS = {
    language: re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for language in ("bash", "python")
}


def test_every_command_of_the_page_is_one():
    lines = [line for block in BLOCKS["bash"] for line in block.splitlines() if line.startswith("ol2r ")]
    assert len(lines) == 3
    for line in lines:
        arguments = cli.parser().parse_args(shlex.split(line, comments=True)[1:])
        assert arguments.function is cli.run and arguments.dask.startswith("tcp://")


def test_the_recipe_for_slurm_prints_a_job_that_starts_a_worker(tmp_path):
    (recipe,) = [block for block in BLOCKS["python"] if "SLURMCluster" in block]
    dry, submitted, _ = recipe.partition("    cluster.scale(")
    assert submitted
    script = tmp_path / "recipe.py"
    script.write_text(f"{dry}    cluster.close()\n")
    own = {"DASK_CONFIG": str(tmp_path), "DASK_JOBQUEUE__SLURM__SCHEDULER_OPTIONS": '{"host": "127.0.0.1"}'}
    done = subprocess.run([sys.executable, str(script)], env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    job, address = re.split(r"\n+(?=tcp:)", done.stdout)
    for line in ("#SBATCH -p cpu", "#SBATCH --cpus-per-task=16", "#SBATCH -t 08:00:00", "export OL2R_DATA=$HOME/data"):
        assert line in job.splitlines()
    worker = job.strip().splitlines()[-1]
    assert f"distributed.cli.dask_worker {address.strip()} " in worker
    assert "--nthreads 16 " in worker and "--lifetime 470m" in worker


def test_the_recipe_for_data_larger_than_memory_runs_on_a_mapped_file(tmp_path, monkeypatch):
    (recipe,) = [block for block in BLOCKS["python"] if "RankingDataset" in block]
    dataset = load("synthetic-tiny")
    for name, array in (("features", dataset.features), ("grades", dataset.relevance), ("offsets", dataset.offsets)):
        np.save(tmp_path / f"{name}.npy", array)
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(recipe.replace("rounds=1000", "rounds=10, progress=False").replace("n_grades=5", "n_grades=3"), made)
    assert made["mine"]._map is not None and len(made["found"].final())
