"""The archive of a release: it describes every file, and its own check finds whatever was changed, lost or added."""

import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import crate
import pytest
import verify_crate
import yaml
from rocrate.rocrate import ROCrate

ROOT = Path(__file__).resolve().parents[2]
TRACKED = {
    "LICENSE": "MIT License",
    "LICENSE-text": "CC BY 4.0",
    "book/nsgd.md": "# NSGD",
    "constraints.txt": "# pins\nPyYAML==6.0.3\ntorch==2.13.0\n",
    "environment.yml": "name: ol2r",
    "results/0a/folds1-2-seeds0-4.parquet": "rows",
    "results/0a/with a blank é.parquet": "rows",
    "src/ol2r/__init__.py": "",
    "pyproject.toml": """
        [project]
        name = "ol2r"
        version = "9.8.7"
        description = "A small project"
        requires-python = ">=3.11"
        license = "MIT"
        dependencies = ["pyyaml>=6", "torch>=2.5"]
        """,
}


@pytest.fixture
def small(tmp_path) -> crate.Edition:
    """A small project with a built book and the papers of the real CITATION.cff."""
    root, html, notebooks = tmp_path / "root", tmp_path / "html", tmp_path / "notebooks"
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for name, text in {**TRACKED, "CITATION.cff": citation}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (html / "_images").mkdir(parents=True)
    (html / "index.html").write_text("<p>the book</p>")
    (html / "_images" / "a.svg").write_text("<svg/>")
    notebooks.mkdir()
    (notebooks / "nsgd.ipynb").write_text("{}")
    (notebooks / "cite.md").write_text("no notebook")
    time = datetime(2026, 11, 25, 12, tzinfo=UTC)
    return crate.Edition(root, (*TRACKED, "CITATION.cff"), html, notebooks, "name,checksum\n", "c0ffee", time)


@pytest.fixture
def archive(small, tmp_path) -> Path:
    """The small project's archive, as it comes out of its zip."""
    unpacked = tmp_path / "elsewhere"
    with zipfile.ZipFile(crate.made(small, tmp_path / "small.crate")) as zipped:
        zipped.extractall(unpacked)
    return unpacked


def check(archive: Path) -> subprocess.CompletedProcess:
    """What a reader does: nothing but Python's standard library is at hand."""
    command = [sys.executable, "-I", "-S", str(archive / crate.VERIFIER)]
    return subprocess.run(command, capture_output=True, encoding="utf-8")


def test_an_archive_that_came_out_of_its_zip_is_whole(archive):
    done = check(archive)
    assert done.returncode == 0, done.stdout
    assert f"{len(verify_crate.files(archive))} files" in done.stdout
    assert verify_crate.digest(archive / verify_crate.MANIFEST) in done.stdout


def test_it_holds_pages_notebooks_sources_and_results(archive, small):
    sources = {f"source/{name}" for name in small.tracked}
    made = {"html/index.html", "html/_images/a.svg", "notebooks/nsgd.ipynb", crate.DATA, crate.OVERVIEW, crate.VERIFIER}
    described = {verify_crate.METADATA, verify_crate.MANIFEST}
    assert set(verify_crate.files(archive)) == sources | made | described


def flip(archive: Path) -> str:
    path = archive / "source/results/0a/folds1-2-seeds0-4.parquet"
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)
    return "source/results/0a/folds1-2-seeds0-4.parquet differs from its checksum"


def lose(archive: Path) -> str:
    (archive / "html/_images/a.svg").unlink()
    return "html/_images/a.svg is missing"


def add(archive: Path) -> str:
    (archive / "source/results/0a/new.parquet").write_text("rows")
    return "source/results/0a/new.parquet is not in manifest-sha256.txt"


def link(archive: Path) -> str:
    path = archive / "html/index.html"
    path.rename(archive.with_name("moved.html"))
    path.symlink_to(archive.with_name("moved.html"))
    return "html/index.html is a link"


def no_manifest(archive: Path) -> str:
    (archive / verify_crate.MANIFEST).unlink()
    return "manifest-sha256.txt cannot be read"


def manifest_with(archive: Path, line: str) -> None:
    with (archive / verify_crate.MANIFEST).open("a") as file:
        file.write(line)


def outside(archive: Path) -> str:
    archive.with_name("secret").write_text("x")
    manifest_with(archive, f"{verify_crate.digest(archive.with_name('secret'))}  ../secret\n")
    return "../secret is missing"


def twice(archive: Path) -> str:
    name = crate.OVERVIEW
    manifest_with(archive, f"{verify_crate.digest(archive / name)}  {name}\n")
    return "manifest-sha256.txt names a file twice"


def broken_line(archive: Path) -> str:
    manifest_with(archive, "no checksum\n")
    return "manifest-sha256.txt cannot be read"


@pytest.mark.parametrize("harm", [flip, lose, add, link, no_manifest, outside, twice, broken_line])
def test_whatever_happens_to_a_file_is_found(archive, harm: Callable[[Path], str]):
    told = harm(archive)
    done = check(archive)
    assert done.returncode == 1 and told in done.stdout, done.stdout


def no_file(graph: list[dict]) -> str:
    graph.append({"@id": "html/none.html", "@type": "File"})
    entity(graph, "./")["hasPart"].append({"@id": "html/none.html"})
    return "describes html/none.html, which is not in manifest-sha256.txt"


def no_folder(graph: list[dict]) -> str:
    graph.append({"@id": "elsewhere/", "@type": "Dataset"})
    return "describes the folder elsewhere/, in which there is no file"


def undescribed(graph: list[dict]) -> str:
    graph.remove(entity(graph, "html/index.html"))
    return "does not describe html/index.html"


def other_checksum(graph: list[dict]) -> str:
    entity(graph, "html/index.html")["sha256"] = "0" * 64
    return "has another checksum of html/index.html"


def no_part(graph: list[dict]) -> str:
    entity(graph, "./")["hasPart"].remove({"@id": "html/index.html"})
    return "does not count html/index.html among the parts"


def described_twice(graph: list[dict]) -> str:
    graph.append(dict(entity(graph, "html/index.html")))
    return "describes something twice"


def no_root(graph: list[dict]) -> str:
    graph.remove(entity(graph, "./"))
    return "cannot be read as the description of an archive"


def entity(graph: list[dict], key: str) -> dict:
    return next(each for each in graph if each["@id"] == key)


@pytest.mark.parametrize("harm", [no_file, no_folder, undescribed, other_checksum, no_part, described_twice, no_root])
def test_a_description_that_does_not_fit_the_files_is_found(archive, harm: Callable[[list[dict]], str]):
    path = archive / verify_crate.METADATA
    metadata = json.loads(path.read_text(encoding="utf-8"))
    told = harm(metadata["@graph"])
    path.write_text(json.dumps(metadata), encoding="utf-8")
    (archive / verify_crate.MANIFEST).write_text(verify_crate.manifest(archive))
    found = list(verify_crate.faults(archive))
    assert len(found) == 1 and told in found[0]


def test_another_reader_of_crates_finds_author_version_licences_papers_and_commit(archive):
    read = ROCrate(archive)
    root = read.root_dataset
    assert root["license"].id == crate.OVERVIEW and root["version"] == "9.8.7"
    assert [author["name"] for author in root["author"]] == ["The ol2r authors"]
    assert str(root.datePublished.date()) == "2026-11-25"
    references = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    papers = root["citation"]
    assert [paper["name"] for paper in papers] == [reference["title"] for reference in references]
    assert {paper.type for paper in papers} == {"ScholarlyArticle"}
    assert all(paper.id.startswith("https://") for paper in papers)  # RO-Crate 1.2 wants absolute addresses of them
    assert "Csaba Szepesvári" in [author["name"] for author in papers[2]["author"]]
    source = read.dereference("source/")
    assert source["identifier"]["value"] == "c0ffee"
    needed = {each.get("name"): each.get("version") for each in source["softwareRequirements"]}
    assert needed["pyyaml"] == "6.0.3" and needed["torch"] == "2.13.0"
    assert read.dereference("source/constraints.txt") in source["softwareRequirements"]


def test_the_results_are_a_dataset_with_one_checksum_for_all(archive):
    read = ROCrate(archive)
    results = read.dereference(crate.RESULTS)
    assert {part.id for part in results["hasPart"]} == {
        quote(f"{crate.RESULTS}0a/{name}") for name in ("folds1-2-seeds0-4.parquet", "with a blank é.parquet")
    }
    lines = (archive / verify_crate.MANIFEST).read_text(encoding="utf-8").splitlines(keepends=True)
    told = "".join(line for line in lines if f"  {crate.RESULTS}" in line)
    assert results["identifier"]["value"] == hashlib.sha256(told.encode()).hexdigest()


@pytest.mark.parametrize(
    ("name", "licence"),
    [
        ("source/src/ol2r/cli.py", "MIT"),
        ("source/book/api/data.md", "CC-BY-4.0"),
        ("source/book/_offline/mathjax/core.js", "Apache-2.0"),
        ("source/book/_offline/explore/vega.min.js", "BSD-3-Clause"),
        ("source/results/SHA256SUMS", "CC-BY-4.0"),
        ("source/LICENSE", ""),
        ("html/nsgd.html", "CC-BY-4.0"),
        ("html/_images/a.svg", "CC-BY-4.0"),
        ("html/_static/scripts/bootstrap.js", ""),
        ("html/_sources/src/ol2r/cli.py.txt", "MIT"),
        ("html/online-learning-to-rank.pdf", "CC-BY-4.0"),
        ("notebooks/nsgd.ipynb", "CC-BY-4.0"),
    ],
)
def test_code_and_text_have_their_own_licence(name, licence):
    assert crate.licence_of(name) == licence


def test_a_file_of_no_known_licence_is_an_error():
    with pytest.raises(ValueError, match="nothing says under which licence"):
        crate.licence_of("elsewhere/file")


def test_the_same_edition_gives_the_same_bytes(small, tmp_path):
    first, second = (crate.made(small, tmp_path / name / "small.crate") for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_data_sets_are_listed_with_the_checksums_of_what_was_read():
    known = {"title": "T", "source": "S", "licence": "L", "restricted": True, "n_documents": None, "n_features": 4}
    data = {
        "A": SimpleNamespace(**known, n_queries=3, checksum="aa"),
        "B": SimpleNamespace(**known, n_queries=3, checksum=None),
        "C": SimpleNamespace(**known, n_queries=3, checksum=None),
    }
    records = [{"data": {"name": "A", "checksum": "aa"}}] * 2 + [{"data": {"name": "B", "checksum": "bb"}}]
    lines = crate.data_checksums([*records, {"data": None}, {}], data).splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["A", "B", "C"]
    found = [line.split(",")[-3:] for line in lines[1:]]
    assert found == [["aa", "True", "2"], ["bb", "False", "1"], ["", "False", "0"]]


def test_an_installation_uses_the_pins_and_writes_nothing_into_the_archive(archive, monkeypatch):
    ran: list[list[str]] = []

    def run(command, **how):
        ran.append(command)
        if command[0].endswith("ol2r"):
            assert Path(how["env"]["OL2R_RESULTS"]) == archive / "source" / "results"
            assert not Path(how["env"]["OL2R_STORE"]).is_relative_to(archive)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(verify_crate, "INSTALLED", ("LICENSE", "LICENSE-text", "pyproject.toml", "src"))
    monkeypatch.setattr(verify_crate.subprocess, "run", run)
    monkeypatch.setenv("OL2R_TORCH", "cpu")
    before = verify_crate.manifest(archive)
    assert verify_crate.install_and_verify(archive) == 0
    assert verify_crate.manifest(archive) == before
    venv, torch, install, verify = ran
    pins = str(archive / "source" / "constraints.txt")
    assert "venv" in venv and verify[1:] == ["verify", "--quick"]
    assert pins in torch and "torch" in torch and pins in install and not Path(install[-1]).is_relative_to(archive)


def test_what_an_installation_needs_of_the_source_is_there():
    assert all((ROOT / name).exists() for name in verify_crate.INSTALLED)


def test_a_book_of_the_same_commit_is_not_built_again(small, tmp_path, monkeypatch):
    ran: list[str] = []
    monkeypatch.setattr(crate, "_run", ran.append)
    monkeypatch.setattr(crate.pdf, "chromium", lambda: "chromium")
    crate.complete(tmp_path / "html")
    assert ran == ["build.py", "pdf.py"]
    (tmp_path / "html" / "index.html").write_text(crate.edition.footer(), encoding="utf-8")
    (tmp_path / "html" / crate.pdf.NAME).write_text("%PDF")
    crate.complete(tmp_path / "html")
    assert ran == ["build.py", "pdf.py"]
