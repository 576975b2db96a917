"""The processor that code is compiled for: one for all x86-64 machines with AVX2, whatever more they can do.

Sums that the compiler may reorder are added up as wide as the target's vectors, and trajectories follow their last
bits. Elsewhere the target is the host, and a trajectory is the host's own. Nothing here may import numba or torch
before the target is fixed: both read it once.
"""

import hashlib
import os
import platform

from llvmlite import binding as llvm

NEEDED = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")
"""Instructions of x86-64 machines that can run code made for Haswell."""

FIXED = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "", "ATEN_CPU_CAPABILITY": "avx2"}
"""Environment of numba (no features beyond those of the name, where unset means the host's) and of torch's kernels."""


def can_be_fixed() -> bool:
    """Whether this machine can run code made for the fixed target."""
    features = llvm.get_host_cpu_features()
    return platform.machine().lower() in ("x86_64", "amd64") and all(features.get(name) for name in NEEDED)


def fix() -> None:
    """Fix the target for this process and those it starts, as far as the machine can run it and the user set none."""
    if not can_be_fixed():
        return
    if "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:
        os.environ.setdefault("ATEN_CPU_CAPABILITY", FIXED["ATEN_CPU_CAPABILITY"])
        return
    for name, value in FIXED.items():
        os.environ.setdefault(name, value)


def asked() -> str:
    """What the environment asks numba to compile for, the host where it leaves that open; names the cache folder."""
    name = os.environ.get("NUMBA_CPU_NAME") or llvm.get_host_cpu_name()
    features = os.environ.get("NUMBA_CPU_FEATURES")
    return _named(name, llvm.get_host_cpu_features().flatten() if features is None else features)


def in_force() -> dict[str, str]:
    """What numba compiles for, the vectors that torch's kernels use, and the C library whose exp and log both call."""
    import torch
    from numba.core.registry import cpu_target

    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    return {
        "compiled": f"{triple} {_named(name, features)}",
        "aten": torch.backends.cpu.get_cpu_capability(),
        "libm": " ".join(platform.libc_ver()).strip() or f"{platform.system()} {platform.release()}",
    }


def _named(name: str, features: str) -> str:
    return f"{name}+{hashlib.sha256(features.encode()).hexdigest()[:8]}" if features else name
