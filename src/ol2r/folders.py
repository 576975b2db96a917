"""The folders of a user's caches and settings, also for users without a home or an entry in the password file.

This module must not know what is kept there.
"""

import os
import tempfile
from pathlib import Path


def _home(kind: str) -> Path | None:
    folder = os.environ.get(f"XDG_{kind.upper()}_HOME") or os.path.expanduser(f"~/.{kind}")  # noqa: PTH111 - quicker
    return None if folder.startswith("~") else Path(folder, "ol2r")  # ~ stays where the user has no home


def config_folder() -> Path | None:
    """The folder of settings, which need not exist; None for a user without a home."""
    return _home("config")


def cache_folder() -> Path:
    """The folder of caches; if the home cannot be written to, a folder for this user alone among temporary files."""
    folder = _home("cache")
    if folder is not None and _takes_files(folder):
        return folder
    user = str(os.getuid()) if hasattr(os, "getuid") else "cache"
    shared = Path(tempfile.gettempdir()) / f"ol2r-{user}"
    if _takes_files(shared) and (not hasattr(os, "getuid") or shared.lstat().st_uid == os.getuid()):
        return shared
    return Path(tempfile.mkdtemp(prefix="ol2r-"))  # somebody else holds that name


def _takes_files(folder: Path) -> bool:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
