"""Where a result came from: code, versions, machine and time, as plain JSON that travels inside the result's file.

Nothing here may enter a key or a trajectory, and nothing here may name a person, a path or a host.
"""

import hashlib
import importlib.util
import os
import platform
import subprocess
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from llvmlite import binding as llvm

import ol2r
from ol2r import cores, target
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


class Origin(NamedTuple):
    """Where the package's source was checked out.

    Args:
        commit: of the source; dirty: whether the source differs from it. Both are None outside a repository.
        lost: why they are unknown although there is a repository, without any path; else None.
        advice: what a user can do about it.
    """

    commit: str | None = None
    dirty: bool | None = None
    lost: str | None = None
    advice: str = ""


class _GitFailed(Exception):
    """Git cannot say anything of a repository: why, and what a user can do about it."""


def _git(source: Path, *arguments: str) -> str:
    plain = {**os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", str(source), *arguments], capture_output=True, text=True, timeout=10, env=plain
        )
    except FileNotFoundError as error:
        raise _GitFailed("git is not installed", "install it") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _GitFailed("git does not answer", "ask `git status`") from error
    if done.returncode == 0:
        return done.stdout.strip()
    if "dubious ownership" in done.stderr:
        trusted = f"git config --global --add safe.directory {checkout() or source}"
        raise _GitFailed("git does not trust the repository, because it belongs to somebody else", trusted)
    raise _GitFailed("git cannot read the repository", f"ask `git -C {source} status`")


@cache
def origin() -> Origin:
    """The commit that the package's source is checked out at, or why it is unknown."""
    source = Path(ol2r.__file__).resolve().parent
    if not any((folder / ".git").exists() for folder in source.parents):
        return Origin()
    try:
        if not _git(source, "ls-files", "__init__.py"):  # installed inside a repository of something else
            return Origin()
        return Origin(_git(source, "rev-parse", "HEAD"), bool(_git(source, "status", "--porcelain", "--", ".")))
    except _GitFailed as failed:
        return Origin(None, None, *failed.args)


def commit() -> str | None:
    """The commit that the package's source is checked out at, or None outside a repository."""
    return origin().commit


@cache
def tell_what_is_lost() -> None:
    """Warn, once in a process, that results are recorded without their commit, where there is one."""
    if origin().lost:
        told = f"results are recorded without their commit: {origin().lost} ({origin().advice})"
        warnings.warn(told, UserWarning, stacklevel=3)


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
        seconds: wall time of the shard the rows ran in, summed over its segments.
        core_seconds: CPU time, over all cores, that the process used meanwhile.
        shard_rows: number of rows that ran side by side in that shard.
        halved: how often the shard was cut in two before it fitted into the device's memory.
        resumed: how often the shard went on from a state that an earlier run had kept.
    """
    whence = origin()
    lost = {"lost": whence.lost} if whence.lost else {}  # why there is no commit
    return {
        "key": cell.key,
        "cell": cell.declaration,
        "rows": [list(row) for row in rows],
        "data": read_for(cell),
        **circumstances(cell, device, engine),
        "cores": cores.count(),
        "ol2r": ol2r.__version__,
        "commit": whence.commit,
        "dirty": whence.dirty,
        **lost,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "shard_seconds": round(seconds, 3),
        "shard_core_seconds": round(core_seconds, 3),
        "shard_rows": shard_rows,
        "shard_halved": halved,
        "shard_resumed": resumed,
    }
