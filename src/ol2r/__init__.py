"""Online learning to rank: five papers, made to run.

    import ol2r

    data = ol2r.load("MQ2008")  # or ol2r.from_letor("mine/*.txt.gz"), ol2r.from_arrays(features, relevance, query)
    curve = ol2r.compare(data, ["PairRank", "PDGD"], users="navigational", rounds=1000, seeds=5)
    curve.plot()
"""

from importlib import import_module as _import_module

from ol2r import cores as _cores
from ol2r import folders as _folders
from ol2r import target as _target

__version__ = "0.1.0"

_FROM = {
    "load": "ol2r.data",
    "from_letor": "ol2r.data.own",
    "from_arrays": "ol2r.data.own",
    "sessions": "ol2r.data.own",
    "compare": "ol2r.face",
    "Comparison": "ol2r.face",
    "candidates": "ol2r.online",
    "Ranges": "ol2r.online",
    "Online": "ol2r.online",
    "BubbleRank": "ol2r.bandits",
    "simulate": "ol2r.simulation",
    "chapter": "ol2r.papers",
}
__all__ = ["__version__", *_FROM]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str):
    # imported when first asked for, so that `import ol2r` stays cheap
    if name in _FROM:
        return getattr(_import_module(_FROM[name]), name)
    raise AttributeError(f"module 'ol2r' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)


def _prepare() -> None:
    """Set the environment that numba, torch and OpenMP read once, before anything is compiled or starts threads."""
    import hashlib
    import os
    import sys
    import warnings
    from pathlib import Path

    # OpenMP's threads spin while they wait. On a machine that is busy with something else, long spinning makes the
    # compiled loops many times slower, so threads may spin for a few microseconds only.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    _cores.limit_threads()
    if "numba" in sys.modules:  # numba has read its settings already
        warnings.warn(
            "numba was imported before ol2r, so its target and its cache stay as they are: trajectories may differ "
            "from the published ones in the last bits",
            stacklevel=3,
        )
        return
    _target.fix()
    # numba's cache of compiled code checks the file of a function, but not the files of the functions that it calls.
    # So each target and each state of all files with compiled code gets a cache folder of its own.
    if "NUMBA_CACHE_DIR" not in os.environ:
        texts = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
        state = hashlib.blake2b(b"".join(text for text in texts if b"compiling" in text), digest_size=8).hexdigest()
        os.environ["NUMBA_CACHE_DIR"] = str(_folders.cache_folder() / "compiled" / f"{_target.asked()}-{state}")


_prepare()
