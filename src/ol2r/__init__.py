"""Online learning to rank: five papers, made to run."""

import os

# numba's OpenMP threads spin while they wait: on a machine that does anything else they are ten times slower
os.environ.setdefault("NUMBA_THREADING_LAYER", "workqueue")

__version__ = "0.1.0"


def __getattr__(name: str):
    # imported when first asked for, so that `import ol2r` stays cheap
    if name == "chapter":
        from ol2r.experiments.chapter import chapter

        return chapter
    raise AttributeError(f"module 'ol2r' has no attribute {name!r}")
