"""What others are told of the project: citation, archive, workflows, forms for issues, the hook before a commit."""

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pybtex.database import Person, parse_file
from pybtex.richtext import Text

from ol2r.papers import PAPERS

ROOT = Path(__file__).resolve().parents[1]
GITHUB = ROOT / ".github"


def read(*names: str) -> str:
    return ROOT.joinpath(*names).read_text(encoding="utf-8")


def plain(latex: str) -> str:
    return str(Text.from_latex(latex))


def name_of(person: Person) -> tuple[str, str]:
    """Given and family names."""
    given, family = person.first_names + person.middle_names, person.prelast_names + person.last_names
    return plain(" ".join(given)), plain(" ".join(family))


@pytest.fixture(scope="module")
def citation() -> dict:
    return yaml.safe_load(read("CITATION.cff"))


@pytest.fixture(scope="module")
def zenodo() -> dict:
    return json.loads(read(".zenodo.json"))


@pytest.fixture(scope="module")
def papers() -> list:
    """The five papers in the book's bibliography, in the order of the page on citing."""
    entries = parse_file(ROOT / "book" / "references.bib").entries
    keys = re.findall(r"\{cite:t\}`(\w+)`", read("book", "cite.md"))
    assert len(keys) == len(PAPERS)
    return [entries[key] for key in keys]


def test_the_citation_file_has_what_its_format_asks_for(citation):
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= reference.keys()
        assert reference["type"] in ("article", "conference-paper")
        assert re.fullmatch(r"10\.\d{4,}/\S+", reference.get("doi", "10.1145/1"))


def test_a_date_of_release_is_told_once_there_is_a_release(citation):
    heading = re.search(rf"^## {re.escape(citation['version'])}, (.*)$", read("CHANGELOG.md"), re.MULTILINE)[1]
    assert str(citation.get("date-released", "not yet released")) == heading


def test_citation_and_bibliography_agree_on_the_five_papers(citation, papers):
    told = sorted(citation["references"], key=lambda reference: reference["title"])
    listed = sorted(papers, key=lambda paper: plain(paper.fields["title"]))
    for reference, paper in zip(told, listed, strict=True):
        assert reference["title"] == plain(paper.fields["title"])
        assert str(reference["year"]) == paper.fields["year"]
        named = [(author["given-names"], author["family-names"]) for author in reference["authors"]]
        assert named == [name_of(person) for person in paper.persons["author"]]
        where = paper.fields.get("booktitle") or paper.fields["journal"]
        assert (reference.get("collection-title") or reference["journal"]) == plain(where)
        if "pages" in paper.fields:
            assert f"{reference['start']}--{reference['end']}" == paper.fields["pages"]


def test_the_archive_and_the_citation_tell_the_same(zenodo, citation):
    assert zenodo["title"] == citation["title"] and zenodo["keywords"] == citation["keywords"]
    assert [creator["name"] for creator in zenodo["creators"]] == [author["name"] for author in citation["authors"]]
    assert len(zenodo["references"]) == len(citation["references"])
    for reference, line in zip(citation["references"], zenodo["references"], strict=True):
        assert reference["title"] in line and f"({reference['year']})" in line
        assert all(author["family-names"] in line for author in reference["authors"])
        assert reference.get("doi", "") in line
        assert "doi" in reference or reference["url"].startswith("https://")
    known = {reference["doi"] for reference in citation["references"] if "doi" in reference}
    linked = [related["identifier"] for related in zenodo["related_identifiers"]]
    assert known == {each for each in linked if each.startswith("10.")}
    arxiv = [each.removeprefix("arXiv:") for each in linked if each.startswith("arXiv:")]
    assert [reference["url"].rsplit("/")[-1] for reference in citation["references"] if "url" in reference] == arxiv


def test_the_archives_metadata_has_what_zenodo_asks_for(zenodo):
    assert {"title", "upload_type", "description", "creators", "access_right", "license"} <= zenodo.keys()
    assert zenodo["upload_type"] == "software" and zenodo["access_right"] == "open"
    assert all({"identifier", "relation"} <= related.keys() for related in zenodo["related_identifiers"])


def workflows() -> list[Path]:
    return sorted((GITHUB / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", workflows(), ids=lambda path: path.stem)
def test_a_workflow_may_only_read_and_ends(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job.get("permissions") is None or name == "publish"
        assert "timeout-minutes" in job or name == "publish"
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/none@v1"))


def test_the_workflow_of_the_book_runs_what_every_machine_runs_and_publishes_what_that_built():
    jobs = yaml.safe_load(read(".github", "workflows", "book.yml"))["jobs"]
    steps = jobs["check"]["steps"]
    runs = [step["run"] for step in steps if "run" in step]
    assert runs[0] == ".ci/run" and os.access(ROOT / ".ci" / "run", os.X_OK)
    assert runs[1:] == [".nox/base/bin/nox -s pdf"]
    assert [step["with"]["path"] for step in steps if "upload-pages" in step.get("uses", "")] == ["_build/html"]
    main = "github.ref == 'refs/heads/main'"
    assert jobs["publish"]["if"] == main and jobs["publish"]["needs"] == "check"
    assert all(step["if"] == main for step in steps if step.get("run") != ".ci/run" and "upload" in str(step))


def test_every_python_that_the_package_names_can_be_tried_with_the_readmes_command():
    job = yaml.safe_load(read(".github", "workflows", "pythons.yml"))["jobs"]["tests"]
    project = tomllib.loads(read("pyproject.toml"))["project"]
    named = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert job["strategy"]["matrix"]["python"] == named
    assert all(Version(each) in SpecifierSet(project["requires-python"]) for each in named)
    assert job["steps"][-1]["run"] in read("README.md").splitlines()


@pytest.mark.parametrize("path", sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_a_form_for_issues_has_what_its_format_asks_for(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.stem == "config":
        assert form.keys() <= {"blank_issues_enabled", "contact_links"}
        return
    assert {"name", "description", "body"} <= form.keys()
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len(set(ids))
    for field in form["body"]:
        assert field["type"] in ("input", "textarea") and field["attributes"]["label"]


def test_the_hook_before_a_commit_runs_the_chore_lint_as_pinned():
    (repo,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    (hook,) = repo["hooks"]
    assert hook["entry"] == "nox -s lint"
    assert set(hook["additional_dependencies"]) <= set(read("constraints.txt").splitlines())


def test_what_contributors_read_first_names_the_page_and_its_command():
    assert "(book/contribute.md)" in read("CONTRIBUTING.md")
    command = next(line for line in read("CONTRIBUTING.md").splitlines() if line.startswith("python3 -m venv"))
    assert command in read("book", "contribute.md").splitlines()


def test_type_checkers_are_told_that_the_package_has_types():
    project = tomllib.loads(read("pyproject.toml"))
    assert (ROOT / "src" / "ol2r" / "py.typed").is_file()
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["ol2r"]
    assert "Typing :: Typed" in project["project"]["classifiers"]
