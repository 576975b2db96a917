"""How many cores this process may use, and how compiled loops use them from any thread and in any forked process.

Nothing here may know what is computed. numba is loaded by `guard_loops` alone, so that `import ol2r` stays cheap.
"""

import ctypes
import math
import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

LIMITS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables by which numba, OpenMP and the libraries of matrix products are told how many threads to start.
"""

SHARED_MEMORY = Path("/dev/shm")
"""Where Linux keeps the semaphores by which processes wait for each other."""


def count(root: Path = Path("/")) -> int:
    """The number of cores that this process may use: those of the machine, of its affinity, and of its CPU quota.

    A quota of one and a half cores counts as two. `LOKY_MAX_CPU_COUNT` is a limit as well, as for joblib.

    Args:
        root: the folder with `proc` and `sys`.
    """
    limits = [_of_machine(), *map(math.ceil, _quotas(root))]
    if (asked := os.environ.get("LOKY_MAX_CPU_COUNT", "")).isdecimal():
        limits.append(int(asked))
    return max(1, min(limits))


def _of_machine() -> int:
    """The number of cores that numba, torch and OpenMP count themselves."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quotas(root: Path) -> Iterator[float]:
    """The CPU quotas, in cores, of the control groups that this process is in and of all groups around these."""
    groups = root / "sys/fs/cgroup"
    for line in _words(root / "proc/self/cgroup", "\n"):
        _, controllers, own = line.split(":", 2)
        v1 = "cpu" in controllers.split(",")
        if controllers and not v1:
            continue
        # a container sees its own group at the mount point, whatever the path that the host has for it
        path = Path("/", own.strip()).relative_to("/")
        for part in (path, *path.parents):
            if v1:
                found = [
                    _words(groups / mount / part / f"cpu.cfs_{name}_us")
                    for mount in (controllers, "cpu")
                    for name in ("quota", "period")
                ]
                pairs = [[*found[0], *found[1]], [*found[2], *found[3]]]
            else:
                pairs = [_words(mount / part / "cpu.max") for mount in (groups, groups / "unified")]
            for pair in pairs:
                if len(pair) == 2 and pair[0].isdecimal() and int(pair[1]) > 0:  # "max" and −1 are no limit
                    yield int(pair[0]) / int(pair[1])


def _words(file: Path, separator: str | None = None) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").strip().split(separator)
    except OSError:
        return []


def limit_threads() -> None:
    """Let numba, torch and OpenMP start no more threads than the process has cores, where a quota allows fewer than
    they would count themselves; what the user has set stays."""
    allowed = count()
    if allowed >= _of_machine():
        return
    for name in LIMITS:
        os.environ.setdefault(name, str(allowed))
    torch = sys.modules.get("torch")  # it has counted already
    if torch is not None and torch.get_num_threads() > allowed:
        torch.set_num_threads(allowed)


_forked = False


def one_process() -> bool:
    """Whether this process must do all its work itself: it was forked from one with threads, whose worker processes
    it cannot reach, or is itself a worker of `multiprocessing`, which may have no processes of its own."""
    return _forked or bool(multiprocessing.current_process().daemon)


def no_processes() -> str | None:
    """Why worker processes cannot be started on this machine, with the path that is to blame; None where they can."""
    try:
        # of the two kinds the one that is gone with this object
        multiprocessing.get_context("fork" if sys.platform == "linux" else None).Semaphore()
    except (ImportError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return f"worker processes need shared memory, and {SHARED_MEMORY} gives none: {reason}"
    return None


_guards: list[ctypes.c_int64] = []
_code: list[object] = []  # the compiled guards, which must live as long as the process
_LAYERS = ("omppool", "workqueue")  # TBB's threads and forks need no guard


def guard_loops() -> None:
    """Make numba's parallel loops safe in every thread and in forked processes; called before any loop is compiled.

    GNU's OpenMP ends a forked process that starts a parallel loop, whoever waits for it then waits for ever; numba's
    own threads end the process when two of its threads are in a loop. So loops are started through a guard. It runs a
    loop in the calling thread, one piece after another and with the same numbers, where it has one piece, where the
    process was forked from one that had started threads, and where another thread has numba's own threads.
    """
    if _guards:
        return
    parallel: Any = import_module("numba.np.ufunc.parallel")
    if no_processes():  # numba would take a semaphore, which serves several processes alone, and complain
        parallel._backend_init_process_lock = parallel._backend_init_process_lock or nullcontext()
    for name in _LAYERS:
        try:
            layer: Any = import_module(f"numba.np.ufunc.{name}")
        except ImportError:  # a machine without OpenMP
            continue
        guard = _guarded(name, layer.parallel_for)
        layer.parallel_for = guard
        if parallel._is_initialized and name.startswith(parallel.threading_layer()):
            import_module("llvmlite.binding").add_symbol("numba_parallel_for", guard)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _after_fork(parallel))


def _after_fork(parallel: ModuleType) -> None:
    global _forked
    if not parallel._is_initialized:
        return
    _forked = True
    for guard in _guards:
        guard.value = 1
    torch = sys.modules.get("torch")
    if torch is not None:  # it has the same threads, which a fork does not copy
        torch.set_num_threads(1)


_GUARD = """
@alone = global i64 0
@taken = global i64 0
declare void @{name}_launch(ptr, ptr, ptr, ptr, ptr, i64, i64, i64)
define void @guard(ptr %loop, ptr %args, ptr %shape, ptr %steps, ptr %data, i64 %inner, i64 %n, i64 %team) {{
start:
  %forked = load i64, ptr @alone
  %here = icmp ne i64 %forked, 0
  %single = icmp sle i64 %team, 1
  %serial = or i1 %here, %single
  br i1 %serial, label %one, label %ask
ask:
  {ask}
all:
  call void @{name}_launch(ptr %loop, ptr %args, ptr %shape, ptr %steps, ptr %data, i64 %inner, i64 %n, i64 %team)
  store atomic i64 0, ptr @taken seq_cst, align 8
  ret void
one:
  call void %loop(ptr %args, ptr %shape, ptr %steps, ptr %data)
  ret void
}}
"""
"""The guard of a threading layer: with the arguments of numba's `parallel_for`, it starts the threads or runs the loop
here. `{ask}` tells whether the threads are free."""

_ASK = {
    "omppool": "br label %all",  # each thread of Python has threads of its own
    "workqueue": "%was = cmpxchg ptr @taken, i64 0, i64 1 seq_cst seq_cst\n"
    "  %free = extractvalue { i64, i1 } %was, 1\n  br i1 %free, label %all, label %one",
}


def _guarded(name: str, launch: int) -> int:
    """The address of a guard in front of a threading layer's `parallel_for`."""
    llvm = import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.add_symbol(f"{name}_launch", launch)
    module = llvm.parse_assembly(_GUARD.format(name=name, ask=_ASK[name]))
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
    engine.finalize_object()
    _code.append(engine)
    _guards.append(ctypes.c_int64.from_address(engine.get_global_value_address("alone")))
    return engine.get_function_address("guard")
