"""Check that this archive is whole: no file changed, missing, added or left out of its description.

    python3 verify.py            checks every checksum, and that the description names every file
    python3 verify.py --install  also installs the pinned environment and checks every stored result with it

The first needs Python 3.9 or later and nothing else. `nox -s release` puts this file into the archive, so it imports
nothing beyond the standard library.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

MANIFEST = "manifest-sha256.txt"
"""One line for each other file of the archive: its SHA-256, two spaces, its path (`sha256sum -c` reads this)."""
METADATA = "ro-crate-metadata.json"
"""The description: a JSON-LD graph as RO-Crate defines it."""
SOURCE = "source"
INSTALLED = ("README.md", "LICENSE", "LICENSE-text", "pyproject.toml", "src")
"""What of the source an installation needs."""


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            found.update(chunk)
    return found.hexdigest()


def files(folder: Path) -> list[str]:
    """Paths of all files in a folder, relative to it, with slashes on every system, sorted."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def manifest(folder: Path) -> str:
    """The manifest that a folder should have."""
    return "".join(f"{digest(folder / name)}  {name}\n" for name in files(folder) if name != MANIFEST)


def faults(folder: Path) -> Iterator[str]:
    """Everything that is wrong with an archive, each in one sentence; nothing if it is whole.

    Args:
        folder: the unpacked archive.
    """
    try:
        lines = (folder / MANIFEST).read_text(encoding="utf-8").splitlines()
        listed = {name: recorded for recorded, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError) as fault:
        yield f"{MANIFEST} cannot be read: {fault}"
        return
    if len(listed) < len(lines):
        yield f"{MANIFEST} names a file twice"
    found = set(files(folder)) - {MANIFEST}
    for name in sorted(found | listed.keys()):
        if name not in listed:
            yield f"{name} is not in {MANIFEST}: it was added"
        elif name not in found:
            yield f"{name} is missing"
        elif (folder / name).is_symlink():
            yield f"{name} is a link"
        elif digest(folder / name) != listed[name]:
            yield f"{name} differs from its checksum"
    yield from _faults_of_description(folder, listed)


def _faults_of_description(folder: Path, listed: "dict[str, str]") -> Iterator[str]:
    """What the description says otherwise than the manifest."""
    try:
        graph = json.loads((folder / METADATA).read_text(encoding="utf-8"))["@graph"]
        entities = {entity["@id"]: entity for entity in graph}
        root = entities[entities[METADATA]["about"]["@id"]]
        parts = {part["@id"] for part in root["hasPart"]}
    except (OSError, ValueError, KeyError, TypeError) as fault:
        yield f"{METADATA} cannot be read as the description of an archive: {fault!r}"
        return
    if len(entities) < len(graph):
        yield f"{METADATA} describes something twice"
    described = set()
    for key, entity in entities.items():
        kinds, name = entity.get("@type", []), unquote(key)
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if "Dataset" in kinds and entity is not root and not any(each.startswith(name) for each in listed):
            yield f"{METADATA} describes the folder {name}, in which there is no file"
        if "File" not in kinds:
            continue
        described.add(name)
        if name not in listed:
            yield f"{METADATA} describes {name}, which is not in {MANIFEST}"
        elif entity.get("sha256") != listed[name]:
            yield f"{METADATA} has another checksum of {name}"
        if key not in parts:
            yield f"{METADATA} does not count {name} among the parts of the archive"
    yield from (f"{METADATA} does not describe {name}" for name in sorted(listed.keys() - described - {METADATA}))


def install_and_verify(folder: Path) -> int:
    """Install the archive's source in an environment of its own, at the pinned versions, and check every stored result.

    Nothing is written into the archive. With OL2R_TORCH=cpu, PyTorch comes from its own index of builds without CUDA.

    Args:
        folder: the unpacked archive.

    Returns:
        The exit status of `ol2r verify --quick`.
    """
    pins = folder / SOURCE / "constraints.txt"
    with TemporaryDirectory() as scratch:
        source, environment = Path(scratch, SOURCE), Path(scratch, "environment")
        source.mkdir()
        for name in INSTALLED:
            original = folder / SOURCE / name
            (shutil.copytree if original.is_dir() else shutil.copy)(original, source / name)
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        install = [str(programs / "python"), "-m", "pip", "install", "-q", "-c", str(pins)]
        if build := os.environ.get("OL2R_TORCH"):
            index = f"https://download.pytorch.org/whl/{build}"
            subprocess.run([*install, "torch", "--index-url", index], check=True)
        subprocess.run([*install, str(source)], check=True)
        own = {"OL2R_RESULTS": str(folder / SOURCE / "results"), "OL2R_STORE": str(Path(scratch, "store"))}
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [str(programs / "ol2r"), "verify", "--quick"]
        return subprocess.run(command, env={**inherited, **own}, cwd=scratch).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that this archive is whole.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent, help="the unpacked archive")
    parser.add_argument("--install", action="store_true", help="also install it and check every stored result")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    found = list(faults(folder))
    for fault in found:
        print(fault)
    if found:
        print(f"{len(found)} faults: this archive is not as it was made")
        return 1
    print(f"{len(files(folder))} files, all as they were made and described; SHA-256 of {MANIFEST}:")
    print(digest(folder / MANIFEST))
    return install_and_verify(folder) if arguments.install else 0


if __name__ == "__main__":
    sys.exit(main())
