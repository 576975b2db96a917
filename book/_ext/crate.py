"""The archive of a release: one RO-Crate, as a folder and as a zip, that anyone can check with Python alone.

    html/                 the built book, with its PDF
    notebooks/            the chapters as they were executed for it
    source/               the repository at the commit: library, text, results, tests, pins
    data-checksums.csv    the data sets of the catalogue, and the checksums of the data that results were made from
    LICENSE-text          which part is under which licence
    verify.py             checks the archive (`verify_crate.py` here)
    manifest-sha256.txt   the checksum of every other file
    ro-crate-metadata.json

`nox -s release` makes it. The same commit, book and versions of libraries give the same bytes. This file knows how an
archive is laid out and described; it must not know what a chapter computes.
"""

import argparse
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote

import edition
import pandas as pd
import pdf
import verify_crate
import yaml
from packaging.requirements import Requirement
from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

ROOT = edition.ROOT
VERSION = "1.2"
"""The version of RO-Crate that the description conforms to."""
OVERVIEW, DATA, VERIFIER = "LICENSE-text", "data-checksums.csv", "verify.py"
SPDX = "https://spdx.org/licenses/"
LICENCES = (
    ("*/LICENSE*", ""),
    ("*.LICENSE*", ""),
    ("*/mathjax/settings.js", "MIT"),
    ("*/mathjax/*", "Apache-2.0"),
    ("*/explore/vega*.js", "BSD-3-Clause"),
    ("*/ledger/sortable*.js", "Unlicense"),
    ("source/tests/book/axe*.js", "MPL-2.0"),
    ("source/results/*", "CC-BY-4.0"),
    ("source/book/*.md", "CC-BY-4.0"),
    ("source/*", "MIT"),
    ("html/_sources/src/*", "MIT"),
    ("html/_static/*", ""),
    ("html/*/*.js", "MIT"),
    ("html/*.css", "MIT"),
    ("html/*", "CC-BY-4.0"),
    ("notebooks/*", "CC-BY-4.0"),
    (DATA, "CC-BY-4.0"),
    (VERIFIER, "MIT"),
)
"""Pattern of files and the SPDX name of their licence; the first that matches counts. For "", `OVERVIEW` says it."""
MEDIA = {
    ".bib": "application/x-bibtex", ".cff": "application/yaml", ".css": "text/css", ".csv": "text/csv",
    ".html": "text/html", ".ipynb": "application/x-ipynb+json", ".js": "text/javascript", ".json": "application/json",
    ".md": "text/markdown", ".parquet": "application/vnd.apache.parquet", ".pdf": "application/pdf",
    ".png": "image/png", ".py": "text/x-python", ".svg": "image/svg+xml", ".toml": "application/toml",
    ".txt": "text/plain", ".yaml": "application/yaml", ".yml": "application/yaml",
}  # fmt: skip
"""Media types by suffix: the system's own table differs from machine to machine."""
RESULTS = "source/results/"
FOLDERS = {
    "html/": ("The built book", "Open html/index.html; it needs no network."),
    "notebooks/": ("Executed notebooks", "The chapters as they were executed for the book."),
    RESULTS: (
        "Results",
        "What the book shows, as parquet tables named for kind, data set and learner; records.parquet has where each "
        "block of their rows came from.",
    ),
}


@dataclass(frozen=True)
class Edition:
    """What an archive is made from.

    Args:
        root: the checkout.
        tracked: the files of the commit, relative to it.
        html: the built book.
        notebooks: the folder with the executed notebooks.
        data: the text of `data-checksums.csv`.
        commit: the commit's name.
        time: when the commit was made.
    """

    root: Path
    tracked: tuple[str, ...]
    html: Path
    notebooks: Path
    data: str
    commit: str
    time: datetime

    @property
    def project(self) -> Mapping:
        """The table `project` of pyproject.toml."""
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    @property
    def citation(self) -> Mapping:
        """What CITATION.cff says."""
        return yaml.safe_load((self.root / "CITATION.cff").read_text(encoding="utf-8"))

    def contents(self) -> dict[str, Path | bytes]:
        """The files of the archive but for description and manifest: by path, where each is or what is in it."""
        made = {f"html/{name}": self.html / name for name in verify_crate.files(self.html)}
        made |= {f"notebooks/{path.name}": path for path in sorted(self.notebooks.glob("*.ipynb"))}
        made |= {f"source/{name}": self.root / name for name in self.tracked}
        made |= {OVERVIEW: self.root / OVERVIEW, VERIFIER: Path(verify_crate.__file__), DATA: self.data.encode()}
        return dict(sorted(made.items()))


def licence_of(name: str) -> str:
    """The SPDX name of the licence of a file of the archive; empty where `OVERVIEW` says which it is.

    Raises:
        ValueError: no pattern of `LICENCES` matches it.
    """
    if name == OVERVIEW:
        return ""
    for pattern, licence in LICENCES:
        if fnmatchcase(name, pattern):
            return licence
    raise ValueError(f"nothing says under which licence {name} is")


def written(edition: Edition, folder: Path) -> None:
    """Write the archive into an empty folder."""
    for name, content in edition.contents().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            (folder / name).write_bytes(content)
        else:
            shutil.copy(content, folder / name)
    described(edition, folder).metadata.write(folder)
    (folder / verify_crate.MANIFEST).write_bytes(verify_crate.manifest(folder).encode())


def described(edition: Edition, folder: Path) -> ROCrate:
    """The description of an archive whose files lie in a folder."""
    crate, citation, project = ROCrate(version=VERSION), edition.citation, edition.project

    def add(key: str, kind: str, **properties: object) -> Entity:
        return _with(crate.add(ContextEntity(crate, key, properties={"@type": kind})), properties)

    def article(reference: Mapping) -> Entity:
        names = [f"{author['given-names']} {author['family-names']}" for author in reference["authors"]]
        where, title = reference.get("collection-title") or reference["journal"], reference["title"]
        key = f"https://doi.org/{reference['doi']}" if "doi" in reference else reference["url"]
        return add(
            key, "ScholarlyArticle", name=title, datePublished=str(reference["year"]),
            author=[add(f"#{quote(name)}", "Person", name=name) for name in names],
            isPartOf=add(f"#{quote(where)}", "CreativeWork", name=where),
        )  # fmt: skip

    authors = [add(f"#{quote(each['name'])}", "Organization", name=each["name"]) for each in citation["authors"]]
    names = sorted({licence for _, licence in LICENCES if licence})
    licences = {name: add(f"{SPDX}{name}", "CreativeWork", name=name) for name in names}
    files = {
        name: crate.add_file(dest_path=name, properties=_facts(folder / name)) for name in verify_crate.files(folder)
    }
    for name, file in files.items():
        file["license"] = licences.get(licence_of(name), files[OVERVIEW])
    for key, (name, description) in FOLDERS.items():
        about = {"name": name, "description": description, "license": licences["CC-BY-4.0"]}
        parts = [file for path, file in files.items() if path.startswith(key)]
        _with(crate.add_dataset(dest_path=key), {**about, "hasPart": parts})
    lines = "".join(f"{files[name]['sha256']}  {name}\n" for name in files if name.startswith(RESULTS))
    crate.dereference(RESULTS)["identifier"] = add(
        "#results", "PropertyValue", name=f"SHA-256 of the lines of {RESULTS} in {verify_crate.MANIFEST}",
        propertyID="sha256", value=hashlib.sha256(lines.encode()).hexdigest(),
    )  # fmt: skip
    python = {"name": "Python", "version": project["requires-python"]}
    source = {
        "name": project["name"],
        "description": project["description"],
        "version": project["version"],
        "author": authors,
        "license": licences[project["license"]],
        "programmingLanguage": add("https://www.python.org/", "ComputerLanguage", **python),
        "identifier": add("#commit", "PropertyValue", name="commit", propertyID="git commit", value=edition.commit),
        "softwareRequirements": [
            *(files[f"source/{name}"] for name in ("constraints.txt", "environment.yml")),
            *(add(f"#{name}", "SoftwareApplication", name=name, version=pin) for name, pin in pins(edition)),
        ],
    }
    _with(crate.add_dataset(dest_path="source/", properties={"@type": ["Dataset", "SoftwareSourceCode"]}), source)
    whole = {
        "name": citation["title"],
        "description": project["description"],
        "version": project["version"],
        "datePublished": edition.time.date().isoformat(),
        "keywords": citation["keywords"],
        "author": authors,
        "license": files[OVERVIEW],
        "citation": [article(reference) for reference in citation["references"]],
        "mainEntity": files["html/index.html"],
    }
    _with(crate.root_dataset, whole)
    return crate


def _with(entity: Entity, properties: Mapping[str, object]) -> Entity:
    for name, value in properties.items():
        entity[name] = value
    return entity


def _facts(path: Path) -> dict[str, str]:
    """What the description says of a file by itself."""
    facts = {"sha256": verify_crate.digest(path), "contentSize": str(path.stat().st_size)}
    return facts | ({"encodingFormat": MEDIA[path.suffix]} if path.suffix in MEDIA else {})


def pins(edition: Edition) -> Iterator[tuple[str, str]]:
    """Name and pinned version of each package that the library itself needs."""
    lines = (edition.root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    versions = dict(line.lower().split("==") for line in lines if "==" in line)
    for requirement in edition.project["dependencies"]:
        yield (name := Requirement(requirement).name), versions[name.lower()]


def zipped(folder: Path, time: datetime) -> Path:
    """Zip an archive beside its folder; the same files and time give the same bytes.

    Returns:
        The path of the zip.
    """
    path = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in verify_crate.files(folder):
            entry = zipfile.ZipInfo(name, time.timetuple()[:6])
            executable = os.access(folder / name, os.X_OK)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o755 if executable else 0o644) << 16
            archive.writestr(entry, (folder / name).read_bytes())
    return path


def data_checksums(records: Iterable[Mapping], data: Mapping) -> str:
    """The text of `data-checksums.csv`.

    Args:
        records: the provenance of each stored result.
        data: the catalogue's entries by name.

    Returns:
        A CSV table with a line for each data set and checksum: that of the catalogue, and each with which a result was
        made; `n_results` counts the results that name it, `catalogue` tells whether it is the catalogue's.
    """
    n_results: Counter[tuple[str, str]] = Counter()
    for record in records:
        if read := record.get("data"):
            n_results[read["name"], read["checksum"]] += 1
    known = {(name, it.checksum) for name, it in data.items() if it.checksum}
    nowhere = {(name, "") for name in data.keys() - {name for name, _ in known | n_results.keys()}}
    lines = [
        {
            "name": name, "title": data[name].title, "source": data[name].source, "licence": data[name].licence,
            "restricted": data[name].restricted, "queries": data[name].n_queries,
            "documents": data[name].n_documents, "features": data[name].n_features, "checksum": checksum,
            "catalogue": (name, checksum) in known, "n_results": n_results[name, checksum],
        }
        for name, checksum in sorted(known | n_results.keys() | nowhere)
    ]  # fmt: skip
    text = io.StringIO()
    pd.DataFrame(lines).astype({"queries": "Int64", "documents": "Int64"}).to_csv(
        text, index=False, lineterminator="\n"
    )
    return text.getvalue()


def here() -> Edition:
    """The edition of this checkout."""
    from ol2r.data import CATALOGUE  # here, because these load numba
    from ol2r.experiments.publication import Publication

    tracked = tuple(edition.git("ls-files", "-z").rstrip("\0").split("\0"))
    return Edition(
        root=ROOT,
        tracked=tracked,
        html=ROOT / "_build" / "html",
        notebooks=ROOT / "_build" / "book",
        data=data_checksums(Publication(ROOT / "results").records(), CATALOGUE),
        commit=edition.git("rev-parse", "HEAD"),
        time=datetime.fromisoformat(edition.git("log", "-1", "--format=%cI")),
    )


def made(edition: Edition, folder: Path) -> Path:
    """Write an archive into a new folder, check it and zip it.

    Returns:
        The path of the zip.

    Raises:
        SystemExit: the archive does not pass its own check.
    """
    shutil.rmtree(folder, ignore_errors=True)
    written(edition, folder)
    if faults := list(verify_crate.faults(folder)):
        raise SystemExit("\n".join(faults))
    return zipped(folder, edition.time)


def complete(html: Path) -> None:
    """Build the book if there is none of this commit, and print it if there is no PDF but a Chromium."""
    front = html / "index.html"
    if not front.is_file() or edition.footer() not in front.read_text(encoding="utf-8"):
        _run("build.py")
    if (html / pdf.NAME).is_file():
        return
    if pdf.chromium() is None:
        print("there is no Chromium on this machine: the archive has no PDF")
    else:
        _run("pdf.py")


def _run(program: str) -> None:
    subprocess.run([sys.executable, str(Path(__file__).with_name(program))], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the archive of a release from the last commit.")
    parser.add_argument("--draft", action="store_true", help="although files differ from the commit")
    arguments = parser.parse_args()
    if edition.git("status", "--porcelain") and not arguments.draft:
        raise SystemExit("an archive is of one commit, and files differ from the last one: commit them, or add --draft")
    complete(ROOT / "_build" / "html")
    this = here()
    name = f"ol2r-{this.project['version']}{'-draft' if arguments.draft else ''}.crate"
    archive = made(this, ROOT / "_build" / name)
    print(f"the archive is {archive}, {archive.stat().st_size / 1e6:.0f} MB, SHA-256 {verify_crate.digest(archive)}")
    print(f"check it anywhere: python3 -m zipfile -e {archive.name} {name} && python3 {name}/{VERIFIER}")


if __name__ == "__main__":
    main()
