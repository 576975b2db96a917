"""A process takes the cores that it is given, and compiled loops run in any thread and in any forked process."""

import json
import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ol2r import cores

ROOT = Path(__file__).parents[1]


@pytest.fixture
def eight(monkeypatch):
    """A machine with eight cores."""
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)


def machine(root, groups, files):
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),  # in a container
        ("0::/a/b.scope\n", {"a/b.scope/cpu.max": "300000 100000\n", "a/cpu.max": "max 100000\n"}, 3),
        ("0::/a/b.scope\n", {"a/b.scope/cpu.max": "max 100000\n", "a/cpu.max": "150000 100000\n"}, 2),  # 1.5, of a
        ("0::/a\n", {"a/cpu.max": "5000 100000\n"}, 1),
        ("0::/a\n", {"a/cpu.max": "max 100000\n"}, 8),
        ("0::/a\n", {"a/cpu.max": "6400000 100000\n"}, 8),
        ("0::/\n", {}, 8),
        ("0::/\n", {"unified/cpu.max": "200000 100000\n"}, 2),
        (
            "4:cpu,cpuacct:/docker/1f\n1:memory:/\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "400000", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
            4,
        ),
        ("1:cpu:/x\n", {"cpu/x/cpu.cfs_quota_us": "250000", "cpu/x/cpu.cfs_period_us": "100000"}, 3),
        ("1:cpu:/x\n", {"cpu/x/cpu.cfs_quota_us": "-1", "cpu/x/cpu.cfs_period_us": "100000"}, 8),
        ("1:cpuset:/x\n", {"cpuset/x/cpu.max": "100000 100000"}, 8),
    ],
)
def test_cores_are_those_of_the_quota_of_any_group_around(tmp_path, eight, groups, files, expected):
    assert cores.count(machine(tmp_path, groups, files)) == expected


def test_cores_are_those_of_the_affinity_and_of_the_limit_that_joblib_knows(tmp_path, eight, monkeypatch):
    assert cores.count(tmp_path) == 8
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "3")
    assert cores.count(tmp_path) == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {5})
    assert cores.count(tmp_path) == 1


def test_nobody_counts_cores_for_himself():
    own = re.compile(r"cpu_count\(|sched_getaffinity\(")
    folders = [ROOT / folder for folder in ("src", "book/_ext", "benchmarks")]
    found = [path for folder in folders for path in folder.rglob("*.py") if own.search(path.read_text())]
    assert found == [ROOT / "src/ol2r/cores.py"]


def test_a_quota_limits_the_threads_of_all_libraries_but_not_what_the_user_set():
    code = (
        "import os; os.environ['NUMBA_NUM_THREADS'] = '2'\n"
        "import ol2r, torch, numba; print([os.environ.get(name) for name in ol2r.cores.LIMITS])\n"
        "print(torch.get_num_threads(), numba.get_num_threads())"
    )
    clean = {name: value for name, value in os.environ.items() if name not in cores.LIMITS}
    for limit, expected in (("1", "['2', '1', '1', '1']\n1 2\n"), ("1000", "['2', None, None, None]\n")):
        env = clean | {"LOKY_MAX_CPU_COUNT": limit}
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
        assert told.startswith(expected)


RUN = """
import json, multiprocessing, sys, threading, warnings
import numba, numpy, torch
import ol2r
from ol2r import compiling
from ol2r.clicks import users
from ol2r.random import generator

compiling.PAYS = compiling.SHORT = -1.0  # loops run on several cores from the first call on
rng = generator("threads and forks", 0)
features = rng.random((600, 5))
data = ol2r.from_arrays(features, (features[:, 0] * 3.99).astype(int), numpy.repeat(range(60), 10), folds=3)
sums = torch.ones(1_000_000)

def curve(name):
    frame = ol2r.compare(data, name, rounds=30, seeds=4, progress=False).frame
    float((sums * 2).sum())  # torch's own threads
    return frame[["cndcg", "online_ndcg"]].dropna().to_numpy().tobytes().hex()
"""
FORKED = """
if __name__ == "__main__":
    here = curve("PDGD")
    warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks of a process with threads
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(curve, ["PDGD", "PDGD"]) == [here, here]
    print(numba.threading_layer())
"""
THREADED = """
here, found = curve("PDGD"), []
threads = [threading.Thread(target=lambda: found.append(curve("PDGD"))) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert found == 4 * [here]
print(numba.threading_layer())
"""


def ran(code, **env):
    several = {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", RUN + code], capture_output=True, text=True, env=os.environ | several | env, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_a_process_that_was_forked_after_first_use_computes_the_same(layer):
    assert ran(FORKED, NUMBA_THREADING_LAYER=layer) == layer


@pytest.mark.parametrize("layer", ["omp", "workqueue"])
def test_threads_compute_side_by_side_whatever_the_threading_layer(layer):
    assert ran(THREADED, NUMBA_THREADING_LAYER=layer) == layer


def test_every_module_with_parallel_loops_guards_them():
    source = ROOT / "src"
    files = [path for path in source.rglob("*.py") if "prange" in path.read_text()]
    names = [".".join(path.relative_to(source).with_suffix("").parts) for path in files]
    code = f"""
import importlib, sys, warnings
warnings.simplefilter("ignore")  # numba is there before all but the first
for name in {names}:
    for module in [module for module in sys.modules if module.split(".")[0] == "ol2r"]:
        del sys.modules[module]
    importlib.import_module(name)
    print(name, bool(sys.modules["ol2r.cores"]._guards))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == [f"{name} True" for name in names]


def test_what_has_no_shared_memory_names_its_place(monkeypatch):
    assert cores.no_processes() is None

    def refused(*arguments):
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(multiprocessing.get_context("fork").__class__, "Semaphore", refused)
    assert cores.no_processes() == "worker processes need shared memory, and /dev/shm gives none: Read-only file system"


def test_a_container_for_development_imports_the_source_that_is_mounted():
    folder = ROOT / ".devcontainer"
    settings = json.loads((folder / "devcontainer.json").read_text())
    dockerfile = (folder / "Dockerfile").read_text()
    (installed,) = re.findall(r"^WORKDIR (\S+)", dockerfile, re.MULTILINE)
    assert re.search(r"pip install .* -e \.", dockerfile)  # so Python looks for the package in this folder
    mounted = dict(part.split("=", 1) for part in settings["workspaceMount"].split(","))
    assert mounted == {"source": "${localWorkspaceFolder}", "target": installed, "type": "bind"}
    assert settings["workspaceFolder"] == installed
