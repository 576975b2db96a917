"""From text notebook to page: what the pipeline promises about every chapter, seen on a sample."""

import shutil
from pathlib import Path

import build
import nbformat
import papermill
import pytest

HERE = Path(__file__).parent
CHAPTER = """---
kernelspec:
  name: python3
  display_name: Python 3
---

# A chapter

```{code-cell} python
:tags: [parameters]
tier = "laptop"
```

```{code-cell} python
print(tier)
```
"""


@pytest.fixture
def chapter(tmp_path):
    source = tmp_path / "chapter.md"
    source.write_text(CHAPTER)
    return source


def test_pages_are_listed_in_reading_order(tmp_path):
    toc = tmp_path / "_toc.yml"
    toc.write_text(
        "format: jb-book\nroot: index\nparts:\n"
        "- chapters:\n  - file: one\n    sections:\n    - file: deep/two\n"
        "- chapters:\n  - file: three\n"
    )
    assert build.pages(toc) == ["index", "one", "deep/two", "three"]


def test_only_pages_that_name_a_kernel_are_run(chapter, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\nkernelspec: is a word here\n")
    assert build.is_chapter(chapter)
    assert not build.is_chapter(page)


def test_two_runs_of_a_chapter_give_the_same_bytes(chapter):
    made = []
    for _ in range(2):
        chapter.write_text(CHAPTER)
        build.run_chapter(chapter, {"tier": "paper"})
        made.append(chapter.with_suffix(".ipynb").read_bytes())
    assert made[0] == made[1]


def test_a_parameter_reaches_the_chapter_and_its_cell_is_out_of_sight(chapter):
    build.run_chapter(chapter, {"tier": "paper"})
    cells = nbformat.read(chapter.with_suffix(".ipynb"), as_version=4).cells
    injected = [cell for cell in cells if "injected-parameters" in cell.metadata.get("tags", [])]
    assert cells[-1].outputs[0].text == "paper\n"
    assert ["remove-input" in cell.metadata.tags for cell in injected] == [True]


def test_code_is_folded(chapter):
    build.run_chapter(chapter, {})
    code = [c for c in nbformat.read(chapter.with_suffix(".ipynb"), as_version=4).cells if c.cell_type == "code"]
    assert all("hide-input" in cell.metadata.tags for cell in code)


def test_what_an_image_says_of_itself_is_its_alternative_text():
    facts = {"image/svg+xml": {"alt": "A is highest."}}
    output = nbformat.v4.new_output("display_data", {"image/svg+xml": "<svg/>"}, metadata=facts)
    cell = nbformat.v4.new_code_cell("draw()", outputs=[output], metadata={"mystnb": {"image": {"alt": "typed"}}})
    (made,) = build.publishable(nbformat.v4.new_notebook(cells=[cell])).cells
    assert made.metadata.mystnb.image.alt == "A is highest."


def test_a_failing_cell_fails_the_build(chapter):
    chapter.write_text(CHAPTER.replace("print(tier)", "raise ValueError(tier)"))
    with pytest.raises(papermill.PapermillExecutionError, match="paper"):
        build.run_chapter(chapter, {"tier": "paper"})


def test_chapters_run_side_by_side_give_what_each_gives_alone(chapter):
    other = chapter.with_name("other.md")
    other.write_text(CHAPTER.replace("print(tier)", "print(tier.upper())"))
    build.run_chapters([chapter, other], {"tier": "paper"})
    together = {source: source.with_suffix(".ipynb").read_bytes() for source in (chapter, other)}
    chapter.write_text(CHAPTER)
    other.write_text(CHAPTER.replace("print(tier)", "print(tier.upper())"))
    for source, made in together.items():
        build.run_chapter(source, {"tier": "paper"})
        assert source.with_suffix(".ipynb").read_bytes() == made
    assert len(set(together.values())) == 2


def test_a_failing_cell_fails_the_build_of_several_chapters(chapter):
    failing = chapter.with_name("failing.md")
    failing.write_text(CHAPTER.replace("print(tier)", "raise ValueError(tier)"))
    with pytest.raises(papermill.PapermillExecutionError, match="paper"):
        build.run_chapters([chapter, failing], {"tier": "paper"})


def test_a_page_that_sphinx_leaves_out_fails_the_build(tmp_path, monkeypatch):
    staged = tmp_path / "staged"
    staged.mkdir()
    (staged / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    monkeypatch.setattr(build.subprocess, "run", lambda *arguments, **options: None)
    with pytest.raises(SystemExit, match="no HTML came out for index"):
        build.render(staged, tmp_path / "_config.yml", tmp_path)


def test_the_page_of_one_notebook_is_made_without_the_others(chapter, tmp_path):
    chapter.write_text(CHAPTER + "\nSee {doc}`nsgd`, {numref}`nsgd-fig-2` and {download}`data/runs.csv`.\n")
    build.run_chapter(chapter, {"tier": "smoke"})
    (tmp_path / "files" / "data").mkdir(parents=True)
    (tmp_path / "files" / "data" / "runs.csv").write_text("round\n")
    build.stage_page(chapter.with_suffix(".ipynb"), tmp_path / "files", build.ROOT / "book", tmp_path / "book")
    build.render(tmp_path / "book", build.ROOT / "_config.yml", tmp_path, strict=False)
    html = tmp_path / "_build" / "html"
    assert "smoke" in (html / "chapter.html").read_text()
    assert next(html.glob("_downloads/*/runs.csv")).is_file() and not (html / "nsgd.html").exists()


def test_another_generation_of_jupyter_book_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "version", lambda package: "2.1.0")
    with pytest.raises(SystemExit, match=r"jupyter-book 1\.x"):
        build.render(tmp_path, tmp_path / "_config.yml", tmp_path)


def test_a_warning_fails_the_build(tmp_path):
    staged = tmp_path / "staged"
    staged.mkdir()
    (staged / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (staged / "index.md").write_text("# A page\n\n[nowhere](missing.md)\n")
    shutil.copytree(build.ROOT / "book" / "_offline", staged / "_offline")
    shutil.copy(build.ROOT / "book" / "references.bib", staged)
    with pytest.raises(build.subprocess.CalledProcessError):
        build.render(staged, build.ROOT / "_config.yml", tmp_path)


@pytest.mark.parametrize(("deaths", "runs"), [(0, True), (2, True), (3, False)])
def test_a_kernel_that_dies_at_its_start_is_started_again_twice(chapter, monkeypatch, deaths, runs):
    execute, died = papermill.execute_notebook, []

    def dying(*arguments, **named):
        if len(died) < deaths:
            died.append("Kernel died before replying to kernel_info")
            raise RuntimeError(died[-1])
        return execute(*arguments, **named)

    monkeypatch.setattr(papermill, "execute_notebook", dying)
    if runs:
        build.run_chapter(chapter, {"tier": "paper"})
        assert "paper" in chapter.with_suffix(".ipynb").read_text()
    else:
        with pytest.raises(RuntimeError, match="Kernel died"):
            build.run_chapter(chapter, {})


def test_another_fault_of_a_chapter_is_raised_at_once(chapter, monkeypatch):
    calls = []

    def failing(*arguments, **named):
        calls.append(1)
        raise RuntimeError("out of memory")

    monkeypatch.setattr(papermill, "execute_notebook", failing)
    with pytest.raises(RuntimeError, match="out of memory"):
        build.run_chapter(chapter, {})
    assert len(calls) == 1
