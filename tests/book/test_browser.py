"""The built book as a reader without a network meets it. The sample book stands in until the published one is built."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import build
import pytest

HERE = Path(__file__).parent
BOOKS = ("sample", "published")
PAGES = [("sample", "index"), *(("published", page) for page in build.pages(build.ROOT / "book" / "_toc.yml"))]

THEME_FAULTS = {
    ("aria-allowed-role", "doc-biblioentry"),  # docutils' bibliography is a list of <div>
    ("aria-deprecated-role", "doc-biblioentry"),
    ("aria-required-children", "citation-list"),
    ("label-content-name-mismatch", "aria-label"),  # search, colour mode and folds are named otherwise than they read
    ("region", "sidebar-primary-item"),  # the side bar's title lies outside every landmark
}
"""Rules of axe that the theme's own markup breaks on every book made with it, and a word of the element at fault."""


class Elements(HTMLParser):
    """Every element of a page with its attributes, in order."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(page: Path) -> list[tuple[str, dict[str, str | None]]]:
    return Elements(page.read_text()).found


@pytest.fixture
def html(request) -> Path:
    """Folder of the pages of the book that the test's parameter names."""
    return request.getfixturevalue(f"{request.param}_html")


@pytest.fixture
def page(request, browser):
    """An open page with its mathematics set, and the requests that left the disk or failed."""
    book, name = request.param
    html = request.getfixturevalue(f"{book}_html")
    tab = browser.new_page(color_scheme="light", reduced_motion="reduce")
    faults: list[str] = []
    local = ("file:", "data:", "blob:")
    tab.on("request", lambda sent: None if sent.url.startswith(local) else faults.append(sent.url))
    tab.on("requestfailed", lambda sent: faults.append(f"failed: {sent.url}"))
    tab.on("pageerror", lambda error: faults.append(f"script: {error}"))
    tab.goto((html / f"{name}.html").as_uri())
    tab.evaluate("async () => { if (window.MathJax) await MathJax.startup.promise }")
    yield tab, faults
    tab.close()


@pytest.mark.parametrize("page", PAGES, indirect=True, ids="-".join)
def test_a_page_opens_without_network_sets_its_mathematics_and_is_accessible(page):
    tab, faults = page
    assert faults == []
    formulae, typeset, broken = tab.evaluate(
        "() => ['.math', 'mjx-container', 'mjx-merror, [data-mjx-error]'].map(s => document.querySelectorAll(s).length)"
    )
    assert broken == 0
    assert typeset >= formulae
    tab.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    tab.add_script_tag(path=HERE / "axe.min.js")
    found = violations(tab, "{}")
    tab.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += violations(tab, "{runOnly: ['color-contrast']}")
    assert [(rule, at) for rule, at in found if not any(rule == r and word in at for r, word in THEME_FAULTS)] == []


def violations(tab, options: str) -> list[tuple[str, str]]:
    """Rules of axe that the page breaks once nothing on it moves any more, and the elements at fault."""
    tab.evaluate("() => Promise.all(document.getAnimations().map(animation => animation.finished))")
    broken = tab.evaluate(f"async () => (await axe.run({options})).violations")
    return [(rule["id"], node["html"]) for rule in broken for node in rule["nodes"]]


@pytest.mark.parametrize("html", BOOKS, indirect=True)
def test_every_image_says_in_words_what_it_shows(html):
    for page in html.rglob("*.html"):
        for tag, attributes in elements(page):
            if tag == "img":
                assert (attributes.get("alt") or "").strip(), f"{page.name}: {attributes.get('src')} has no alt text"


@pytest.mark.parametrize("html", BOOKS, indirect=True)
def test_nothing_a_page_loads_comes_from_elsewhere(html):
    """Links may leave the book, what a page needs to be shown may not."""
    loads = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
    for page in html.rglob("*.html"):
        for tag, attributes in elements(page):
            source = attributes.get(loads.get(tag, "")) or ""
            assert not source.startswith(("http:", "https:", "//")), f"{page.name}: {tag} {source}"
    for sheet in html.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", sheet.read_text()), sheet.name


@pytest.mark.parametrize("html", BOOKS, indirect=True)
def test_every_link_inside_the_book_leads_somewhere(html):
    anchors = {page: {a["id"] for _, a in elements(page) if a.get("id")} for page in html.rglob("*.html")}
    for page in anchors:
        for tag, attributes in elements(page):
            target = urlsplit(attributes.get("href") or "")
            if tag != "a" or target.scheme or not (target.path or target.fragment):
                continue
            there = (page.parent / unquote(target.path)).resolve() if target.path else page
            assert there.is_file(), f"{page.name}: {attributes['href']}"
            if target.fragment and there in anchors:
                assert unquote(target.fragment) in anchors[there], f"{page.name}: {attributes['href']}"


@pytest.mark.parametrize("html", BOOKS, indirect=True)
def test_every_strip_gives_its_data_and_belongs_to_something_on_its_page(html):
    for page in html.rglob("*.html"):
        text = page.read_text()
        ids = {attributes["id"] for _, attributes in elements(page) if attributes.get("id")}
        strips = text.split('<div class="provenance docutils container">')[1:]
        for strip in strips:
            (csv,) = re.findall(r'href="([^"]*_downloads/[^"]+\.csv)"', strip.split("<details>")[0])
            assert (page.parent / csv).stat().st_size > 0, f"{page.name}: {csv}"
            anchor = re.search(r'<summary>.*?<span class="provenance-name">([^<]+)</span>', strip)
            assert anchor and anchor[1] in ids, f"{page.name}: a strip for {anchor and anchor[1]}"


PUBLISHED = [tuple(line.split("#")) for line in (HERE / "anchors.txt").read_text().split()]
"""Pages and anchors of all addresses that were ever published: papers cite them, so anchors.txt only grows."""


def anchors(page: Path) -> set[str | None]:
    return {attributes.get("id") for _, attributes in elements(page)}


def test_every_address_that_was_ever_published_leads_to_its_place(published_html, browser):
    """The anchor is on the page, or the page's script goes to the page of its chapter that has it now."""
    from playwright.sync_api import TimeoutError

    here = {page: anchors(published_html / f"{page}.html") for page in {page for page, _ in PUBLISHED}}
    moved = [(page, anchor) for page, anchor in PUBLISHED if anchor not in here[page]]
    tab = browser.new_page()
    tab.route("**/mathjax/**", lambda route: route.abort())
    lost = []
    for page, anchor in moved:
        tab.goto((published_html / f"{page}.html").as_uri() + f"#{anchor}", wait_until="commit")
        try:
            tab.wait_for_function("anchor => document.getElementById(anchor)", arg=anchor, timeout=30_000)
        except TimeoutError:
            lost.append(f"{page}#{anchor}")
    tab.close()
    assert lost == []


def test_the_list_of_permanent_anchors_is_sorted_and_names_each_once():
    lines = (HERE / "anchors.txt").read_text().split()
    assert lines == sorted(set(lines))


@pytest.mark.parametrize("page", [("published", "index")], indirect=True, ids=["index"])
def test_the_table_of_all_claims_is_filtered_and_sorted_by_what_its_lines_say(page):
    tab, faults = page
    shown = "() => [...document.querySelectorAll('#ledger tbody tr:not([hidden])')].map(row => row.innerText)"
    paper, data, verdict = (tab.get_by_label(name, exact=True) for name in ("Paper", "Data", "Verdict"))
    everything = tab.evaluate(shown)
    assert tab.locator(".ledger-choices output").inner_text() == f"{len(everything)} of {len(everything)} claims"
    paper.select_option("PairRank")
    data.select_option("synthetic-yahoo")
    verdict.select_option(label="→ carries over")
    found = tab.evaluate(shown)
    assert found and all(line.startswith("PairRank") for line in found)
    for line in found:
        assert re.search(r"→\xa0carries over\s[^→↛↔?]*synthetic-yahoo", line)
    for choice in (paper, data, verdict):
        choice.select_option("all")
    assert tab.evaluate(shown) == everything
    tab.locator("#ledger th", has_text="claim").first.press("Enter")
    tab.wait_for_function("was => document.querySelector('#ledger tbody tr').innerText !== was", arg=everything[0])
    assert sorted(tab.evaluate(shown)) == sorted(everything)
    assert faults == []
