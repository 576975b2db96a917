import re
from importlib import import_module
from importlib.resources import files

import pytest

from ol2r.papers import PAPERS, paper, texts


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A paper with one file of texts."""
    text = "pairs = [['{n:,} runs', '''\n  of $\\mathrm{n}^{n}$,\n  {ref}`here`''']]\n[short]\nA = '{what}'\n"
    (tmp_path / "some.toml").write_text(text)
    monkeypatch.setattr(texts, "files", {"ol2r.papers.written": tmp_path}.__getitem__)


def test_given_numbers_are_filled_in_and_other_braces_and_blanks_stay(written):
    assert texts.read("written", "some", n=1000, what=2) == {
        "pairs": (("1,000 runs", r"of $\mathrm{n}^{n}$, {ref}`here`"),), "short": {"A": "2"},
    }  # fmt: skip


def test_a_text_outside_of_tables_can_be_named_by_others(tmp_path, monkeypatch):
    (tmp_path / "some.toml").write_text("twice = 'by {n:,}'\n[short]\nA = 'up {twice}'\nB = 'down {twice}'\n")
    monkeypatch.setattr(texts, "files", {"ol2r.papers.written": tmp_path}.__getitem__)
    assert texts.read("written", "some", n=1000)["short"] == {"A": "up by 1,000", "B": "down by 1,000"}


def test_what_no_text_asks_for_is_refused(written):
    with pytest.raises(ValueError, match=r"no text of written/some.toml, has rounds in braces"):
        texts.read("written", "some", n=1, rounds=2)


@pytest.mark.parametrize("name", PAPERS)
def test_no_text_of_a_paper_keeps_a_name_in_braces(name):
    prose = import_module(f"ol2r.papers.{name}.prose")
    shown = str((prose.CONVENTIONS, prose.SILENCES, prose.SHORT, prose.MAP))
    assert re.findall(r"(?<![\w^])\{\w+(?::[^{}]*)?\}(?!`)", shown) == []
    assert set(prose.SHORT) == {claim.id for claim in paper(name).claims}


@pytest.mark.parametrize("name", PAPERS)
def test_every_text_of_a_paper_is_read(name):
    read = {path.name for path in files(f"ol2r.papers.{name}").iterdir() if path.name.endswith(".toml")}
    sources = "".join(
        path.read_text(encoding="utf-8") for path in files(f"ol2r.papers.{name}").iterdir() if path.name.endswith(".py")
    )
    assert read == {f"{each}.toml" for each in re.findall(rf'texts.read\(\s*"{name}",\s+"(\w+)"', sources)}
