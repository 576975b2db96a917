"""The commands that the strips of the published book print do what they say."""

import html
import re
import shlex
from collections import defaultdict
from functools import cache

import pytest
import weight

from ol2r import cli, papers
from ol2r.experiments.cells import TIERS, with_needs
from ol2r.experiments.store import Store
from ol2r.experiments.verify import plans
from ol2r.report import redraw


@pytest.fixture(scope="module")
def printed(published_html) -> dict[str, list[tuple[str, list[str]]]]:
    """By page, the anchor of each strip and its commands."""
    found = {}
    for page in sorted(published_html.glob("*.html")):
        _, *rest = page.read_text().split('<div class="provenance docutils container">')
        strips = [text.split("</details>")[0] for text in rest]
        if strips:
            found[page.stem] = [
                (
                    re.findall(r'<summary>.*?<span class="provenance-name">([^<]+)</span>', strip)[0],
                    re.findall(r"^ol2r .*", html.unescape(re.sub(r"<[^>]+>", "", strip)), re.MULTILINE),
                )
                for strip in strips
            ]
    return found


@cache
def declared(paper: str) -> dict[str, list]:
    """By the first digits of a key, the jobs of its cell."""
    found = defaultdict(list)
    items = papers.paper(paper).items.values()
    for job in with_needs(job for item in items for tier in TIERS for job in item.jobs(tier)):
        found[job.cell.key[:12]].append(job)
    return found


def test_every_strip_has_a_command_that_draws_it_from_stored_rows_of_its_own_page(printed):
    wanted = {}  # what a page reads hangs on the results asked for and not on the anchor: each is looked up once
    for page, strips in printed.items():
        for anchor, commands in strips:
            arguments = cli.parser().parse_args(shlex.split(commands[0])[1:])
            assert (arguments.function, arguments.anchor) == (cli.draw, anchor)
            source, chosen = redraw.page_of(arguments.paper, anchor), cli._parameters(arguments)
            assert source.stem == page
            wanted.setdefault((source, repr(chosen)), (anchor, chosen))
    for (source, _), (anchor, chosen) in wanted.items():
        assert redraw.stored(source, chosen) > 0, anchor


def test_every_cell_that_a_strip_prints_can_be_verified_and_every_item_exported(printed):
    store, n_verified = Store.open(), 0
    for page, strips in printed.items():
        for anchor, commands in strips:
            for command in commands[1:]:
                arguments = cli.parser().parse_args(shlex.split(command)[1:])
                if arguments.function is cli.export:
                    assert arguments.item in papers.paper(arguments.paper).items
                    continue
                assert arguments.function is cli.verify
                jobs = declared(arguments.paper)[arguments.cell]
                planned = list(plans(jobs, store, minutes=arguments.minutes, seed="0", asked=True))
                absent = {plan.detail for plan in planned} and all("is not at hand" in p.detail for p in planned)
                assert absent or any(plan.tries for plan in planned), f"{page}: {anchor}, {command}"
                n_verified += 1
    assert n_verified > 100


@pytest.mark.parametrize("anchor", ["nsgd-audit-error", "nsgd-audits-table", "p2neurrank-one-draw"])
def test_a_printed_command_draws_what_its_strip_belongs_to(printed, published_html, tmp_path, monkeypatch, anchor):
    (command,) = (commands[0] for strips in printed.values() for name, commands in strips if name == anchor)
    monkeypatch.chdir(tmp_path)
    assert cli.main(shlex.split(command)[1:]) == 0
    page = redraw.page_of(anchor.split("-")[0], anchor).stem
    (data,) = re.findall(rf'href="(_downloads/[^"]+/{anchor}\.csv)"', (published_html / f"{page}.html").read_text())[:1]
    assert (tmp_path / f"{anchor}.csv").read_text() == (published_html / data).read_text()
    drawing, *others = [path for path in tmp_path.iterdir() if path.suffix != ".csv"]
    assert not others and drawing.stat().st_size > 1000
    images = {path.read_text("utf-8").strip() for path in (published_html / "_images").glob("*.svg")}
    assert drawing.suffix == ".html" or weight.shorter(drawing.read_text("utf-8")).strip() in images
