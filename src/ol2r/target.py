"""The processor that code is compiled for: the same one on all x86-64 machines with AVX2, even on newer ones.

The order in which the compiler adds up a sum depends on the width of the target's vectors, and trajectories depend on
the last bits of sums. On other machines the target is the host, and trajectories are reproducible on that host only.
Torch's matrix products, exponentials, logarithms and square roots are MKL's: it chooses its code by the processor's
maker, and no setting of it makes all of them the same. Learners that repeat bit for bit do without them.
Nothing here may import numba or torch before the target is fixed, because both read it once.
"""

import hashlib
import os
import platform

from llvmlite import binding as llvm

NEEDED = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
"""Instruction sets that a machine needs to run code compiled for Haswell."""

FIXED = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "", "ATEN_CPU_CAPABILITY": "avx2"}
"""Environment variables for numba (no features beyond those of the named CPU; unset means the host's) and torch."""


def can_be_fixed() -> bool:
    """Whether this machine can run code compiled for the fixed target."""
    features = llvm.get_host_cpu_features()
    return platform.machine().lower() in ("x86_64", "amd64") and all(features.get(name) for name in NEEDED)


def fix() -> None:
    """Fix the target for this process and those it starts, if the machine can run it and the user has set none."""
    if not can_be_fixed():
        return
    if "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:
        os.environ.setdefault("ATEN_CPU_CAPABILITY", FIXED["ATEN_CPU_CAPABILITY"])
        return
    for name, value in FIXED.items():
        os.environ.setdefault(name, value)


def asked() -> str:
    """The target that the environment asks numba for, or the host; part of the cache folder's name."""
    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    return _named(name, llvm.get_host_cpu_features().flatten() if features is None else features)


def in_force() -> dict[str, str]:
    """The targets in use: numba's, the vectors of torch's kernels, and the C library whose exp and log both call."""
    import torch
    from numba.core.registry import cpu_target

    triple, name, features = cpu_target.target_context.codegen().magic_tuple()  # pyright: ignore[reportAttributeAccessIssue]
    return {
        "compiled": f"{triple} {_named(name, features)}",
        "aten": torch.backends.cpu.get_cpu_capability(),
        "libm": " ".join(platform.libc_ver()).strip() or f"{platform.system()} {platform.release()}",
    }


def _named(name: str, features: str) -> str:
    return f"{name}+{hashlib.sha256(features.encode()).hexdigest()[:8]}" if features else name
