"""Where a result came from: code, versions, machine and time, as plain JSON that travels inside the result's file.

Nothing here may enter a key or a trajectory, and nothing here may name a person, a path or a host.
"""

import hashlib
import importlib.util
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from llvmlite import binding as llvm

import ol2r
from ol2r import target
from ol2r.experiments.cells import Cell, Row
from ol2r.experiments.origins import read_for

LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "numba", "torch")


def checkout() -> Path | None:
    """The root of the repository that contains this package or else the working directory, or None."""
    for start in (Path(__file__).resolve(), Path.cwd()):
        for folder in (start, *start.parents):
            project = folder / "pyproject.toml"
            if project.is_file() and 'name = "ol2r"' in project.read_text(encoding="utf-8"):
                return folder
    return None


@cache
def code_digest(modules: tuple[str, ...]) -> str:
    """SHA-256 of the source of modules and packages (with all they contain), in the order of their file names."""
    files: dict[str, bytes] = {}
    for name in modules:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"no source for {name}, whose digest is the code version of a cell")
        origin = Path(spec.origin)
        sources = sorted(origin.parent.rglob("*.py")) if spec.submodule_search_locations else [origin]
        for source in sources:
            inside = source.relative_to(origin.parent).as_posix()
            files[f"{name}/{inside}"] = source.read_bytes().replace(b"\r\n", b"\n")
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return digest.hexdigest()


def _git(*arguments: str) -> str | None:
    source = Path(ol2r.__file__).parent
    try:
        done = subprocess.run(["git", "-C", str(source), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@cache
def commit() -> str | None:
    """The commit that the package's source is checked out at, or None outside a repository."""
    return _git("rev-parse", "HEAD") if _git("ls-files", "__init__.py") else None


@cache
def dirty() -> bool | None:
    """Whether the package's source differs from its commit, or None outside a repository."""
    return None if commit() is None else bool(_git("status", "--porcelain", "--", "."))


@cache
def cpu() -> str:
    """The kind of processor: its name, what the compiler takes it for, and a digest of the instructions it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    features = hashlib.sha256(llvm.get_host_cpu_features().flatten().encode()).hexdigest()[:8]
    name = names[0] if names else platform.processor()
    return f"{platform.machine()} {name} ({llvm.get_host_cpu_name()}, {features})"


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of the libraries a trajectory can depend on."""
    found = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "absent"
    return found


def accelerator(device: str) -> str | None:
    """Name of the GPU that `device` means, or None on the CPU."""
    if device == "cpu":
        return None
    import torch

    return torch.cuda.get_device_name(torch.device(device))


def circumstances(cell: Cell, device: str, engine: str) -> dict[str, object]:
    """What a trajectory can depend on beside its cell and row: device, engine, machine, libraries and code."""
    return {
        "device": device,
        "engine": engine,
        "accelerator": accelerator(device),
        "cpu": cpu(),
        "target": target.in_force(),
        "versions": versions(),
        "code": code_digest(cell.code),
    }


def provenance(
    cell: Cell,
    rows: Sequence[Row],
    *,
    device: str,
    engine: str,
    seconds: float,
    core_seconds: float,
    shard_rows: int,
    halved: int = 0,
    resumed: int = 0,
) -> dict[str, object]:
    """The provenance record that is stored with a table.

    Args:
        cell: what was run.
        rows: the rows of the table.
        device: "cpu" or "cuda".
        engine: "numba" or "torch".
        seconds: wall time of the shard the rows ran in, summed over its segments.
        core_seconds: CPU time, over all cores, that the process used meanwhile.
        shard_rows: number of rows that ran side by side in that shard.
        halved: how often the shard was cut in two before it fitted into the device's memory.
        resumed: how often the shard went on from a state that an earlier run had kept.
    """
    return {
        "key": cell.key,
        "cell": cell.declaration,
        "rows": [list(row) for row in rows],
        "data": read_for(cell),
        **circumstances(cell, device, engine),
        "cores": os.cpu_count(),
        "ol2r": ol2r.__version__,
        "commit": commit(),
        "dirty": dirty(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "shard_seconds": round(seconds, 3),
        "shard_core_seconds": round(core_seconds, 3),
        "shard_rows": shard_rows,
        "shard_halved": halved,
        "shard_resumed": resumed,
    }
