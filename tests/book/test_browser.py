"""The built book as a reader without a network meets it. The sample book stands in until the published one is built."""

import json
import re
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import build
import pytest

from ol2r.experiments.verdicts import ELSEWHERE, VERDICTS
from ol2r.papers.comparison import grid
from ol2r.report.style import spelled

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


PATIENCE = 300_000
"""Milliseconds that a page may take on a busy machine."""
HEAVIEST = 3_000_000
"""Bytes of a page and all that it loads."""


@pytest.fixture
def page(request, browser):
    """An open page with its mathematics set and its faults: requests that left the disk or failed, warnings, weight."""
    book, name = request.param
    html = request.getfixturevalue(f"{book}_html")
    tab = browser.new_page(color_scheme="light", reduced_motion="reduce")
    tab.set_default_timeout(PATIENCE)
    faults: list[str] = []
    local = ("file:", "data:", "blob:")
    loaded: set[str] = set()
    tab.on("request", lambda sent: loaded.add(sent.url) if sent.url.startswith(local) else faults.append(sent.url))
    tab.on("requestfailed", lambda sent: faults.append(f"failed: {sent.url}"))
    tab.on("pageerror", lambda error: faults.append(f"script: {error}"))
    tab.on("console", lambda said: faults.append(said.text) if said.type in ("warning", "error") else None)
    tab.goto((html / f"{name}.html").as_uri())
    tab.evaluate("async () => { if (window.MathJax) await MathJax.startup.promise }")
    bytes_loaded = sum(file_of(url).stat().st_size for url in loaded if url.startswith("file:"))
    if bytes_loaded > HEAVIEST:
        faults.append(f"{bytes_loaded} bytes")
    yield tab, faults
    tab.close()


def file_of(url: str) -> Path:
    return Path(unquote(urlsplit(url).path))


@pytest.mark.parametrize("page", [*PAGES, ("published", "search")], indirect=True, ids="-".join)
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


def violations(tab, options: str, within: str = "document") -> list[tuple[str, str]]:
    """Rules of axe that the page breaks once nothing on it moves any more, and the elements at fault."""
    tab.evaluate("() => Promise.all(document.getAnimations().map(animation => animation.finished))")
    told = "preload: false, resultTypes: ['violations']"  # of rules that hold axe need not describe every element
    broken = tab.evaluate(f"async () => (await axe.run({within}, {{...{options}, {told}}})).violations")
    return [(rule["id"], node["html"]) for rule in broken for node in rule["nodes"]]


CUT = """(least) => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const article = document.querySelector(".bd-article");
  const told = (element, how) => `${element.tagName} ${how}: ${element.textContent.trim().slice(0, 60)}`;
  const faults = [];
  let measured = 0;
  for (const shown of article.querySelectorAll("mjx-container > svg, table, figure, img, figcaption, caption")) {
    const box = shown.getBoundingClientRect();
    if (!box.width) continue;
    measured += 1;
    for (let around = shown.parentElement; around !== article.parentElement; around = around.parentElement) {
      if (around !== article && getComputedStyle(around).overflowX === "visible") continue;
      const edge = around.getBoundingClientRect();
      const out = Math.max(box.right - edge.left - around.clientLeft - around.clientWidth, edge.left - box.left);
      if (out > 1) faults.push(told(shown, `is cut by ${out.toFixed()} px`));
    }
    const scale = box.height / (shown.height?.baseVal?.value || Infinity);
    const small = shown.matches("mjx-container > svg") && scale < least;
    if (small) faults.push(told(shown, `is shown at ${scale.toFixed(2)} of its size`));
  }
  const beyond = document.documentElement.scrollWidth - innerWidth;
  if (beyond > 0) faults.push(`the page scrolls sideways by ${beyond} px`);
  return [measured, faults];
}"""
SHRUNK = """async () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const tab of document.querySelectorAll(".sd-tab-content")) tab.style.display = "block";
  const shown = [...document.querySelectorAll(".bd-article figure img")];
  for (const image of shown) image.loading = "eager";
  await Promise.all(shown.map((image) => image.decode()));
  return shown.map((image) => [image.currentSrc, image.clientWidth / image.naturalWidth]);
}"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits until the page has heard of its new width."""
PHONE, DESK, TABLET = 390, 1440, 1024
PAPER = 718
"""Pixels across a sheet of A4 within a browser's margins."""


@pytest.mark.parametrize(("book", "name"), PAGES)
def test_nothing_is_cut_on_any_screen_or_in_print_and_a_phone_shows_drawings_at_about_their_size(
    book, name, request, browser
):
    """Formulae, tables and figures, with all folds open. A formula may be made smaller to fit, to no less than 0.7 of
    its size. A window on a desk is made narrower after the page has opened.

    The pages on the library's modules have no figures; they are measured on the phone alone.
    """
    page = request.getfixturevalue(f"{book}_html") / f"{name}.html"
    something = any(tag in ("table", "figure") or "math" in (a.get("class") or "").split() for tag, a in elements(page))
    faults, measured = {}, {}
    with open_at(browser, page, PHONE) as tab:
        measured[PHONE], faults[PHONE] = tab.evaluate(CUT, 0.7)
        if book == "published":  # whose drawings have a form for a phone
            faults[PHONE] += [(image, shown) for image, shown in tab.evaluate(SHRUNK) if shown < 0.85]
    if not name.startswith("api/"):
        with open_at(browser, page, DESK) as tab:
            for width in (DESK, TABLET):
                tab.set_viewport_size({"width": width, "height": 900})
                tab.evaluate(DRAWN)
                measured[width], faults[width] = tab.evaluate(CUT, 0.7)
            tab.emulate_media(media="print")
            tab.set_viewport_size({"width": PAPER, "height": 1000})
            faults["print"] = tab.evaluate(CUT, 0.7)[1]
    assert faults == {where: [] for where in faults}
    assert all(measured.values()) or not something


@contextmanager
def open_at(browser, page: Path, width: int):
    """A tab of so many pixels across with the page open in it, its mathematics set."""
    tab = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    tab.set_default_timeout(PATIENCE)
    tab.goto(page.as_uri())
    tab.evaluate("async () => { await window.MathJax?.startup.promise }")
    yield tab
    tab.close()


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
    tab.set_default_timeout(PATIENCE)
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


def cited(page: Path) -> set[str]:
    """The anchors of a page that readers are given to cite: those of its strips and of its claims."""
    text = page.read_text()
    strips = re.findall(r'<summary>[^\n]*?<span class="provenance-name">([^<]+)</span>', text)
    claims = [a["id"] for _, a in Elements(text).found if re.search(r"\bclaim-", a.get("class") or "") and a.get("id")]
    return {*strips, *filter(None, claims)}


def test_every_address_that_a_strip_or_a_claim_gives_is_in_the_list_of_permanent_anchors(published_html):
    given = {(page.stem, anchor) for page in published_html.glob("*.html") for anchor in cited(page)}
    assert len(given) > 200 and ("nsgd", "nsgd-ns1") in given and ("nsgd", "nsgd-fig-2") in given
    assert sorted("#".join(address) for address in given - set(PUBLISHED)) == []


@pytest.mark.parametrize("page", [("published", "pairrank-theory")], indirect=True, ids=["pairrank-theory"])
def test_a_reader_moves_through_a_mechanism_with_the_arrow_keys(page):
    tab, faults = page
    shown = tab.locator("#pairrank-steps-blocks img:visible")
    before = shown.get_attribute("data-at")
    tab.locator("#pairrank-steps-blocks input").press("ArrowRight")
    after = shown.get_attribute("data-at")
    assert float(after) > float(before) and faults == []
    assert tab.locator("#pairrank-steps-blocks output").inner_text() == after


@pytest.mark.parametrize("page", [("published", "explore")], indirect=True, ids=["explore"])
def test_a_reader_chooses_curves_and_the_address_keeps_the_choice(page):
    tab, faults = page
    drawn = "() => document.querySelectorAll('#explore .mark-line path').length"
    tab.wait_for_function("() => document.querySelector('#explore .mark-line path')")
    tab.get_by_label("paper").select_option("PairRank")
    tab.get_by_label("users").select_option("informational")
    learners = tab.locator("#explore fieldset input")
    learners.first.uncheck()
    tab.wait_for_function(f"n => ({drawn})() === n", arg=learners.count() - 1)
    rows = tab.locator("#explore tbody tr").all_inner_texts()
    assert len(rows) == learners.count() - 1
    address = tab.url
    tab.goto("about:blank")
    tab.goto(address)
    tab.wait_for_function(f"n => ({drawn})() === n", arg=len(rows))
    assert tab.get_by_label("users").input_value() == "informational"
    assert tab.locator("#explore tbody tr").all_inner_texts() == rows
    assert faults == []


def test_the_learners_of_all_papers_can_be_seen_in_one_chart(published_html):
    held = re.search(r'id="explore-data">(.*?)</script>', (published_html / "explore.html").read_text(), re.DOTALL)
    compared = [line for line in json.loads(held[1])["lines"] if line["paper"] == "All five papers compared"]
    learners: dict[str, set[str]] = {}
    for line in compared:
        learners.setdefault(line["measure"], set()).add(line["learner"])
    *scores, unsafe = learners
    assert len(scores) == 2 and all(set(map(spelled, grid.COMPARED)) <= learners[score] for score in scores)
    assert grid.BANDIT in learners[unsafe] and grid.CHANCE not in learners[unsafe]
    assert {line["users"] for line in compared} == {*grid.USERS, *grid.OTHER_USERS}


@pytest.mark.parametrize("page", [("published", "claims")], indirect=True, ids=["claims"])
def test_the_table_of_all_claims_is_filtered_by_what_its_lines_say(page):
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
    assert faults == []


COLUMN = """async ([column, direction]) => {
  const header = document.querySelectorAll("#ledger thead th")[column];
  const sorted = new Promise((resolve) => addEventListener("sort-end", resolve, {once: true}));
  header.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true}));
  await sorted;
  if (header.getAttribute("aria-sort") !== direction) throw new Error(header.getAttribute("aria-sort"));
  return [...document.querySelectorAll("#ledger tbody tr")].map((row) => row.cells[column].innerText);
}"""
"""Presses Enter on the head of a column, and says what the column holds from above afterwards."""


def natural(claim: str) -> tuple[str, int]:
    letters, number = re.fullmatch(r"([A-Z]+)(\d+)", claim).groups()
    return letters, int(number)


def effect(text: str) -> float:
    return float(text.split()[0].replace("−", "-").replace(",", ""))


def ranks(scale):
    """A function that gives the ranks of the verdicts in a line, best first."""
    words = "|".join(map(re.escape, scale))
    return lambda text: [scale.index(word) for word in re.findall(rf"[^\w\s]\xa0({words})(?!\w)", text)]


@pytest.mark.parametrize("page", [("published", "claims")], indirect=True, ids=["claims"])
@pytest.mark.parametrize(
    ("column", "key"), [(1, natural), (3, ranks(VERDICTS)), (4, ranks(ELSEWHERE)), (5, effect)],
    ids=["claim", "verdict", "elsewhere", "effect"],
)  # fmt: skip
def test_the_table_of_all_claims_is_sorted_by_number_and_rank_and_dashes_stay_last(page, column, key):
    tab, faults = page
    tab.wait_for_selector("#ledger th[tabindex]")
    before = tab.locator(f"#ledger tbody td:nth-child({column + 1})").all_inner_texts()
    for direction in ("ascending", "descending"):
        lines = tab.evaluate(COLUMN, [column, direction])
        assert sorted(lines) == sorted(before)
        told = [line for line in lines if line != "–"]
        assert lines[len(told) :] == ["–"] * (len(lines) - len(told))
        keys = [key(line) for line in told]
        assert len(told) > 10 and keys == sorted(keys, reverse=direction == "descending")
    assert faults == []


@pytest.fixture
def tab(browser):
    """A tab of a desktop browser, which fails the test by any warning, error or script that fails."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    tab.set_default_timeout(PATIENCE)
    faults: list[str] = []
    tab.on("console", lambda said: faults.append(said.text) if said.type in ("warning", "error") else None)
    tab.on("pageerror", lambda error: faults.append(str(error)))
    yield tab
    tab.close()
    assert faults == []


SEARCHES = {"sample": ("theorem figure", "A sample chapter"), "published": ("confidence interval estimate", None)}


@pytest.mark.parametrize("html", BOOKS, indirect=True)
def test_search_in_a_folder_finds_sections_and_leads_to_them(html, tab, request):
    query, title = SEARCHES[request.node.callspec.params["html"]]
    tab.goto((html / "index.html").as_uri())
    tab.get_by_role("button", name="Search").first.click()
    tab.locator("dialog input[name=q]").fill(query)
    tab.locator("dialog input[name=q]").press("Enter")
    tab.wait_for_url("**/search.html?q=*")
    first = tab.locator("#search-results li").first
    assert title is None or first.locator("a").inner_text() == title
    marked = " ".join(first.locator("mark").all_inner_texts()).lower()
    assert any(word in marked for word in query.split())
    for link in tab.locator("#search-results a").all():
        address = urlsplit(link.get_attribute("href") or "")
        assert address.fragment in anchors(html / address.path)
    first.locator("a").click()
    tab.wait_for_url("**#*")
    assert tab.locator(".highlighted").first.inner_text().lower() in query
    tab.wait_for_url(lambda address: "highlight=" not in address)  # so that an address that is kept marks nothing


def test_search_lists_chapters_before_modules_and_takes_greek_letters_by_their_names(published_html, tab):
    found = {}
    for query in ("verify", "δ = 1/n", "delta 1/n"):
        tab.goto((published_html / "search.html").as_uri() + f"?q={quote(query)}")
        links = [link.get_attribute("href") for link in tab.locator("#search-results li > a").all()]
        found[query] = [link.split("?")[0] for link in links]
    assert not found["verify"][0].startswith("api/") and any(page.startswith("api/") for page in found["verify"])
    assert found["δ = 1/n"] == found["delta 1/n"] and "bubblerank" in found["δ = 1/n"][0]


@pytest.mark.parametrize("html", BOOKS, indirect=True)
def test_search_says_what_it_did_not_find_and_misspelt_words_still_find(html, tab):
    tab.goto((html / "search.html").as_uri() + "?q=xyzzyplugh")
    assert tab.locator("#search-status").inner_text() == "0 sections for “xyzzyplugh”."
    tab.goto((html / "search.html").as_uri() + "?q=teorem")
    assert tab.locator("#search-results li").count()


def test_a_figure_opens_at_full_size_by_keyboard_and_tap_and_closes_by_escape(sample_html, tab):
    tab.goto((sample_html / "index.html").as_uri())
    opened = tab.locator("dialog.zoomed[open] img")
    button = tab.get_by_role("button", name="Enlarge Fig. 1")
    button.press("Enter")
    assert opened.bounding_box()["width"] > tab.locator("#sample-fig-1 img").bounding_box()["width"]
    assert opened.get_attribute("alt") == tab.locator("#sample-fig-1 img").get_attribute("alt")
    tab.add_script_tag(path=HERE / "axe.min.js")
    assert violations(tab, "{}", "'dialog'") == []
    tab.keyboard.press("Escape")
    assert opened.count() == 0
    assert button.evaluate("button => document.activeElement === button")
    tab.locator("#sample-fig-1 img").click()
    assert opened.count() == 1


def test_a_reference_shows_what_it_leads_to_by_pointer_and_keyboard_but_not_by_finger(sample_html, tab):
    tab.goto((sample_html / "index.html").as_uri())
    tab.evaluate("async () => { await MathJax.startup.promise }")
    shown = tab.locator(".preview")
    for anchor, content in (("sample-theorem", "One is one"), ("sample-fig-1", "The line"), ("equation-sample-", "")):
        link = tab.locator(f'p a.internal[href*="#{anchor}"]').first
        link.hover()
        shown.wait_for()
        assert content in shown.inner_text()
        assert link.get_attribute("aria-describedby") == shown.get_attribute("id")
        tab.keyboard.press("Escape")
        assert shown.count() == 0
        tab.mouse.move(0, 0)
    tab.keyboard.press("Tab")
    link.focus()
    shown.wait_for()
    assert shown.locator("mjx-container").count() == 1
    link.blur()
    assert shown.count() == 0
    link.dispatch_event("pointerenter", {"pointerType": "touch"})
    tab.wait_for_timeout(400)
    assert shown.count() == 0


def test_a_reference_to_another_page_shows_what_stands_there(published_html, tab):
    """The script of that page is loaded when the pointer first rests on a reference to it."""
    tab.goto((published_html / "pairrank-extras.html").as_uri())
    tab.evaluate("async () => { await MathJax.startup.promise }")
    tab.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    link = tab.locator('.bd-article a.internal[href^="pairrank-theory.html#pairrank-thm-"]').first
    link.hover()
    shown = tab.locator(".preview")
    shown.wait_for()
    assert link.inner_text().removeprefix("our ") in shown.inner_text()  # a title begins with a capital
    assert shown.locator("mjx-container").count() == shown.locator(".math").count() > 0

