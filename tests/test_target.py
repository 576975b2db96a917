"""Trajectories are the same on every x86-64 machine with AVX2: another host is played in a process of its own.

Elsewhere (ARM, or x86-64 without AVX2) code is compiled for the host, and nothing here is promised.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import binding as llvm

from ol2r import target

HERE = Path(__file__).parent

AVX512_HOST = """
from llvmlite import binding as llvm
real = llvm.get_host_cpu_features
def features():
    found = real()
    found.update(dict.fromkeys(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"), True))
    return found
llvm.get_host_cpu_name = lambda: "skylake-avx512"
llvm.get_host_cpu_features = features
"""
"""This machine as another: numba compiles what the real one cannot run, unless the target is fixed."""

TOLD = """
import json, os
from ol2r import target
print(json.dumps({"told": TELL, "target": target.in_force(), "cache": os.environ["NUMBA_CACHE_DIR"]}))
"""

SUMS = """
import hashlib
import numpy as np
from ol2r.ranking.compiled.scalars import dot, total
rng = np.random.default_rng(0)
pairs = [rng.standard_normal((2, n)) for n in range(1, 140)]
sums = [(dot(*pair.astype(np.float32)), total(pair[0])) for pair in pairs]
TELL = hashlib.sha256(np.array(sums).tobytes()).hexdigest()
"""

GOLDEN = f"""
import importlib.util, sys
TELL = {{}}
for room in ("learners", "bandits"):
    folder = {str(HERE)!r} + "/" + room
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("golden_of_" + room, folder + "/test_golden.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    TELL[room] = module.digests()
"""

fixed_here = pytest.mark.skipif(
    not target.can_be_fixed(), reason="code is compiled for this host alone: trajectories here are its own"
)


def child(code: str, host: str = "", **env: str) -> dict:
    """What a fresh process tells, on a pretended host and with these variables only of those that choose a target."""
    inherited = {name: value for name, value in os.environ.items() if name not in (*target.FIXED, "NUMBA_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", host + "import ol2r\n" + code + TOLD],
        env=inherited | env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1])


@fixed_here
def test_golden_trajectories_are_the_same_on_a_host_with_wider_vectors():
    found = child(GOLDEN, AVX512_HOST)
    assert found["target"]["compiled"].endswith(" haswell") and found["target"]["aten"] == "AVX2"
    for room, digests in found["told"].items():
        golden = json.loads((HERE / room / "golden.json").read_text())
        assert digests == {revision: golden[revision] for revision in digests}


@fixed_here
def test_reordered_sums_follow_the_target_and_not_the_host():
    here, wider = child(SUMS), child(SUMS, AVX512_HOST)
    narrower = child(SUMS, NUMBA_CPU_NAME="nehalem", NUMBA_CPU_FEATURES="")
    assert here == wider
    assert narrower["told"] != here["told"]  # or the digest above could not fail
    assert narrower["target"]["compiled"].endswith(" nehalem") and narrower["cache"] != here["cache"]


@fixed_here
def test_a_host_that_the_user_asks_for_is_compiled_for_and_named():
    found = child("TELL = None", AVX512_HOST, NUMBA_CPU_NAME="skylake-avx512")
    assert "skylake-avx512+" in found["target"]["compiled"] and "skylake-avx512+" in found["cache"]


def test_a_target_that_the_user_chose_stays(monkeypatch):
    for name in target.FIXED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    target.fix()
    assert os.environ["NUMBA_CPU_NAME"] == "generic" and "NUMBA_CPU_FEATURES" not in os.environ


@pytest.mark.parametrize("machine", ["arm64", "x86_64 without AVX2"])
def test_a_machine_that_cannot_run_it_compiles_for_itself(monkeypatch, machine):
    for name in target.FIXED:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(platform, "machine", lambda: machine.split()[0])
    monkeypatch.setattr(llvm, "get_host_cpu_features", dict.fromkeys(target.NEEDED, machine == "arm64").copy)
    assert not target.can_be_fixed()
    target.fix()
    assert not set(target.FIXED) & set(os.environ)
