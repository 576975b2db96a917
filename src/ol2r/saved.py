"""Files that are put in place whole or not at all, and the one form in which learners that serve a site are saved.

A saved learner is a safetensors file: arrays by name, and a header of JSON with the kind of the learner and the version
of the form. It holds no code that opening it could run. This module must not know what learners keep.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from ol2r.errors import DataError

VERSION = 1
"""Of the form; a change that older readers cannot read raises it."""

TEMPORARY = ".writing-"
"""How the name of a file begins that is being written."""

_TRIES = 10  # at a folder that another process deletes
_HEADER = "ol2r"
_Made = TypeVar("_Made")


def save(path: str | os.PathLike[str], kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a learner's file in the place of what was there, whole or not at all.

    Args:
        path: of the file; its folder is made if need be.
        kind: what is saved; `load` asks for the same.
        header: whatever JSON can hold.
        arrays: the state.

    Raises:
        OSError: the file cannot be written; what was there before is intact.
    """
    from safetensors.numpy import save as packed

    told = json.dumps({"kind": kind, "version": VERSION} | dict(header))
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = packed(plain, {_HEADER: told, "digest": digest(told, plain)})
    publish(Path(path), lambda file: file.write(content), replace=True)


def load(
    path: str | os.PathLike[str], kind: str, make: Callable[[dict[str, Any], dict[str, np.ndarray]], _Made]
) -> _Made:
    """Make again what `save` was given.

    Args:
        path, kind: as of `save`.
        make: is given the header and the arrays.

    Raises:
        DataError: the file is cut short, is not one of this kind, or was written by a newer version.
        OSError: the file is not there or cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    with Path(path).open("rb"):  # a file that is not there is no damaged one
        pass
    try:
        with safe_open(os.fspath(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            header = json.loads(told := metadata.get(_HEADER, "{}"))
            found = header.get("kind")
            if found != kind:
                raise DataError(f"{path}: expected a saved {kind}, found {f'a saved {found}' if found else 'none'}")
            if header["version"] > VERSION:
                raise DataError(
                    f"{path}: saved by a newer version of ol2r, in form {header['version']}; this one reads {VERSION}"
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}
        if digest(told, arrays) != metadata["digest"]:
            raise ValueError("its digest is another")
        return make(header, arrays)
    except DataError:
        raise
    except (SafetensorError, AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: not a saved {kind}, or cut short or changed since it was saved ({reason})") from error


def digest(header: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Of all that a learner's file holds."""
    found = hashlib.blake2b(header.encode(), digest_size=16)
    for name, array in sorted(arrays.items()):
        found.update(f"\x00{name}\x00{array.dtype}\x00{array.shape}\x00".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def publish(path: Path, write: Callable[[BinaryIO], object], *, replace: bool = False) -> None:
    """Put a file in place whole or not at all.

    Args:
        path: of the file.
        write: writes the file's content.
        replace: whether it may replace a file that is there.

    Raises:
        FileExistsError: there is one already that it may not replace.
        OSError: it cannot be written.
    """
    temporary = None
    try:
        handle, temporary = _opened_beside(path)
        with os.fdopen(handle, "w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        if replace:
            temporary.replace(path)
        else:
            place(temporary, path)
        sync_folder(path.parent)
    finally:
        if temporary is not None:
            with suppress(OSError):  # a disk that takes no change; of results `ol2r prune` finds the file later
                temporary.unlink(missing_ok=True)


def _opened_beside(path: Path) -> tuple[int, Path]:
    """An open temporary file in a path's folder, which is made first; `ol2r prune` deletes folders that are empty."""
    for left in reversed(range(_TRIES)):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=TEMPORARY, dir=path.parent)
        except (FileNotFoundError, FileExistsError):  # the latter of a folder that was there for an instant
            if not left:
                raise
        else:
            return handle, Path(name)
    raise AssertionError("the last try returns or raises")


def place(temporary: Path, path: Path) -> None:
    """Give a file its name, unless another one has it.

    Raises:
        FileExistsError: another one has it.
    """
    try:
        path.hardlink_to(temporary)  # unlike a rename, a link never replaces what another run stored first
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links says so in many ways
        if path.exists():
            raise FileExistsError(path) from None
        temporary.rename(path)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system has a way to."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows opens no folders
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
