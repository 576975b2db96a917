"""How soon the pages of the built book show, and how soon a reader can use them, opened from a folder in Chromium.

    python benchmarks/pages.py [--store]

opens each page of _build/html, but for those on the library's modules, six times, each time with nothing kept from
before, and prints its least times:
`paint_s` until the first text shows; `usable_s` until the page answers and no formula in sight is still set as text;
`set_s` until all formulae are set. `processor_s` is how long the page kept its processor busy until then, which tells
less of what else the machine does, and `bytes` is all that was loaded. `--store` keeps them in benchmarks/pages.json,
with the processor and its load, for the page "Machines and timings". Nothing is asserted: times depend on the machine.

It needs a built book (`nox -s book`), Chromium and the packages of the extra "test"; `nox -s pages` has them.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "_ext"))

import build
import pdf
import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession

STORED = Path(__file__).with_name("pages.json")
TIMES = 6
SCREEN = {"width": 1440, "height": 900}
PATIENCE = 600_000
"""Milliseconds that a page may take."""
WATCH = """
const seen = (formula) => {
  const { width, top, bottom } = formula.getBoundingClientRect();
  return width && bottom > 0 && top < innerHeight && !formula.querySelector("mjx-container");
};
function look() {
  const answers = performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd > 0;
  if (answers && ![...document.querySelectorAll(".math")].some(seen)) window.usable = performance.now();
  else requestAnimationFrame(look);
}
requestAnimationFrame(look);
"""
TOLD = """async () => {
  if (document.querySelector("script[src*=mathjax]")) await MathJax.startup.promise;
  const set = performance.now(), paint = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  return {paint_s: paint / 1000, usable_s: usable / 1000, set_s: set / 1000};
}"""
READY = """() => window.usable && performance.getEntriesByName("first-contentful-paint").length
  && (!document.querySelector("script[src*=mathjax]") || window.MathJax?.startup?.promise)"""


def busy(session: "CDPSession") -> float:
    """Seconds of processor time that the page has taken."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "ThreadTime")


def opened(page: Path, browser: "Browser") -> dict[str, Any]:
    """What one opening of a page took."""
    context = browser.new_context(viewport=SCREEN, reduced_motion="reduce")
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.add_init_script(WATCH)
    loaded: set[str] = set()
    tab.on("request", lambda sent: loaded.add(sent.url))
    session = context.new_cdp_session(tab)
    session.send("Performance.enable")
    tab.goto(page.as_uri())
    tab.wait_for_function(READY)
    told = tab.evaluate(TOLD) | {"processor_s": busy(session)}
    context.close()
    weight = sum(Path(unquote(urlsplit(url).path)).stat().st_size for url in loaded if url.startswith("file:"))
    return {name: round(value, 3) for name, value in told.items()} | {"bytes": weight}


def measure(html: Path) -> dict[str, dict[str, Any]]:
    """By page, the least of each quantity over some openings."""
    from playwright.sync_api import sync_playwright  # here, because only measuring needs it

    executable = pdf.chromium()
    if executable is None:
        raise SystemExit("there is no Chromium on this machine to open the pages with")
    found = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name in (page for page in build.pages(build.ROOT / "book" / "_toc.yml") if not page.startswith("api/")):
            openings = [opened(html / f"{name}.html", browser) for _ in range(TIMES)]
            found[name] = {quantity: min(each[quantity] for each in openings) for quantity in openings[0]}
            print(name, found[name], flush=True)
        browser.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="How soon the pages of the built book show and can be used.")
    parser.add_argument("--store", action="store_true", help="keep what was measured in benchmarks/pages.json")
    arguments = parser.parse_args()
    html = build.ROOT / "_build" / "html"
    if not (html / "index.html").is_file():
        raise SystemExit("there is no book to open yet: run `nox -s book` first")
    found = {"pages": measure(html), "how": run.about()}
    if arguments.store:
        STORED.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
