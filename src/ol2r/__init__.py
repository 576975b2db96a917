"""Online learning to rank: five papers, made to run."""

import hashlib
import os
from pathlib import Path

from ol2r import folders, target

target.fix()

# OpenMP's threads spin while they wait: on a machine that does anything else the compiled loops would be many times
# slower, and so they may spin a few microseconds only
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

# numba's cache of compiled code looks at the file of a function, not at those of the functions that it calls: a folder
# for each target and each state of all files with compiled code
if "NUMBA_CACHE_DIR" not in os.environ:
    _texts = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    _state = hashlib.blake2b(b"".join(text for text in _texts if b"njit" in text), digest_size=8).hexdigest()
    os.environ["NUMBA_CACHE_DIR"] = str(folders.cache_folder() / "compiled" / f"{target.asked()}-{_state}")

__version__ = "0.1.0"


def __getattr__(name: str):
    # imported when first asked for, so that `import ol2r` stays cheap
    if name == "chapter":
        from ol2r.papers import chapter

        return chapter
    raise AttributeError(f"module 'ol2r' has no attribute {name!r}")
