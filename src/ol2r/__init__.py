"""Online learning to rank: five papers, made to run."""

import os

# OpenMP's threads spin while they wait: on a machine that does anything else the compiled loops would be many times
# slower, and so they may spin a few microseconds only
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

__version__ = "0.1.0"


def __getattr__(name: str):
    # imported when first asked for, so that `import ol2r` stays cheap
    if name == "chapter":
        from ol2r.experiments.chapter import chapter

        return chapter
    raise AttributeError(f"module 'ol2r' has no attribute {name!r}")
