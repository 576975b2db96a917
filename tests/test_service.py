"""The web service of the book under load: killed and started again in the middle, it loses no click.

The service runs in a process of its own, and visitors are threads that wait for their answers, so that these tests ask
nothing of an event loop here, which a browser of other tests may hold. Ports are of the loopback and free ones.
"""

import asyncio
import json
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import ol2r
from ol2r.random import generator
from ol2r.service import service

FEATURES = generator("a shop", 0).random((12, 6, 4))
LISTS, VISITORS, SECONDS = 120, 6, 300.0
SERVER = """
import asyncio, socket, sys
import uvicorn
import ol2r
from ol2r.service import service

def fresh():
    return ol2r.Online("PairRank", 4, pairs="all", most_waiting=1000)

listening = socket.socket()
listening.bind(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
server = uvicorn.Server(uvicorn.Config(service(sys.argv[1], fresh), log_level="error"))
asyncio.run(server.serve(sockets=[listening]))
"""


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """What the service runs is compiled here, not while its visitors wait."""
    ranker = ol2r.Online("PairRank", 4, pairs="all")
    for of in FEATURES[:2]:
        ranker.rank(ol2r.candidates(of), 4)
        ranker.update([False, True], seen=2)


@contextmanager
def running(path):
    """A process that serves the learner in a file, and its address; killed at the end."""
    with subprocess.Popen([sys.executable, "-c", SERVER, path], stdout=subprocess.PIPE, text=True) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        try:
            port = process.stdout.readline().strip()
            assert port, "the service did not start"
            yield process, f"http://127.0.0.1:{port}"
        finally:
            timer.cancel()
            process.kill()


class Site:
    """Asks the service, wherever it runs now, until it answers."""

    def __init__(self):
        self.address, self.end = "", time.monotonic() + SECONDS

    def ask(self, client, place, asked):
        while True:
            assert time.monotonic() < self.end, "no answer"
            try:
                answer = client.post(self.address + place, json=asked, timeout=60)
            except httpx.TransportError:  # it is down: ask again
                time.sleep(0.05)
            else:
                assert answer.status_code == 200, answer.text
                return answer.json()

    def visitor(self, lists, shown, clicked):
        """Some lists, each of whose clicks come after two more; a click on the second place of each."""
        with httpx.Client(trust_env=False) as client:
            waiting = []
            for number in lists:
                asked = {"ids": [f"{number % 12}/{i}" for i in range(6)], "features": FEATURES[number % 12].tolist()}
                waiting.append(self.ask(client, "/rank", asked | {"depth": 4}))
                shown.append(waiting[-1]["ticket"])
                if len(waiting) > 2:
                    self.click(client, waiting.pop(0), clicked)
            for each in waiting:
                self.click(client, each, clicked)

    def click(self, client, told, clicked):
        self.ask(client, "/clicks", {"ticket": told["ticket"], "clicks": [False, True], "seen": 2})
        clicked.append(told["ticket"])


def served_through_a_crash(path):
    """Tickets that visitors got, and those whose clicks were answered, of a service that is killed in the middle."""
    site, shown, clicked = Site(), [], []
    with ThreadPoolExecutor(VISITORS) as pool:
        with running(path) as (process, site.address):
            shares = [range(first, LISTS, VISITORS) for first in range(VISITORS)]
            visits = [pool.submit(site.visitor, share, shown, clicked) for share in shares]
            while len(clicked) < LISTS // 3 and not all(each.done() for each in visits):
                time.sleep(0.01)
            assert not any(each.done() for each in visits)
            process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            process.wait(timeout=20)
        before = ol2r.Online.load(path)
        assert before.waiting  # lists that were shown before the crash, whose clicks come after it
        with running(path) as (_, site.address):
            for each in visits:
                each.result(timeout=SECONDS)
    return before, shown, clicked


def nothing_is_lost(path, before, shown, clicked):
    after = ol2r.Online.load(path)
    assert len(shown) == len(set(shown)) == len(clicked) == LISTS and set(shown) == set(clicked)
    assert 0 < before.n_updates < after.n_updates == LISTS
    # a list whose answer was lost in the crash waits; its visitor asked for another one
    assert len(after.waiting) == after.n_lists - LISTS <= VISITORS
    assert not set(after.waiting) & set(shown)
    # the click on the second place of two that were seen is one label
    assert after.learner.counts.outcomes.sum() == LISTS


def test_a_service_that_is_killed_under_load_loses_no_click(tmp_path):
    path = tmp_path / "learner"
    nothing_is_lost(path, *served_through_a_crash(path))


def block(text, after, kind):
    """The first block of code of a kind that a page prints after a text."""
    return text.split(after)[1].split(f"```{kind}\n")[1].split("```\n")[0]


@contextmanager
def serving_as_printed(command, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", *command.replace("8000", port).split()]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            timer.cancel()
            process.terminate()


def test_the_service_of_the_page_runs_as_printed_and_a_ticket_outlives_a_restart(tmp_path):
    page = (Path(__file__).parents[1] / "book" / "library.md").read_text(encoding="utf-8")
    (tmp_path / "mine.py").write_text(block(page, "a whole `mine.py`", "python"))
    start, *asked = block(page, "a whole `mine.py`", "bash").splitlines()
    (_, where, _, ranked), (_, again, _, clicked) = (shlex.split(line) for line in asked)
    assert [where, again] == ["localhost:8000/rank", "localhost:8000/clicks"]
    site = Site()
    with httpx.Client(trust_env=False) as client:
        with serving_as_printed(start, tmp_path) as site.address:
            shown = site.ask(client, "/rank", json.loads(ranked))
        assert shown["ticket"] == json.loads(clicked)["ticket"]
        assert sorted(shown["ids"]) == sorted(json.loads(ranked)["ids"])
        with serving_as_printed(start, tmp_path) as site.address:
            assert site.ask(client, "/clicks", json.loads(clicked)) == {"learned": True}


def answers(app, *asked):
    """Status and content of answers, asked for in a thread with an event loop of its own."""

    async def ask():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://site", timeout=60) as client:
            found = [await client.post(place, **content) for place, content in asked]
            return [(each.status_code, each.json()) for each in found]

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, ask()).result(timeout=SECONDS)


def asking(number=0, **changed):
    return {"ids": list("abcdef"), "features": FEATURES[number].tolist()} | changed


@pytest.mark.parametrize(
    ("place", "content", "status", "message"),
    [
        ("/rank", {"json": asking(ids=["a"])}, 400, "an identifier for each of 6 documents"),
        ("/rank", {"json": asking(features=[[1.0]] * 6)}, 400, "expected 4 features, found 1"),
        ("/rank", {"json": asking(features="none")}, 400, "expected numbers as features"),
        ("/rank", {"json": asking(depth=0)}, 400, "depth must be a whole number"),
        ("/rank", {"json": {}}, 400, "KeyError: 'features'"),
        ("/rank", {"json": [1]}, 400, "TypeError"),
        ("/rank", {"content": b"{"}, 400, "JSONDecodeError"),
        ("/rank", {"content": b" " * ((1 << 24) + 1)}, 413, "at most 16,777,216 bytes"),
        ("/clicks", {"json": {"ticket": 1, "clicks": [True]}}, 400, "expected 6 clicks"),
        ("/clicks", {"json": {"ticket": 1, "clicks": [True], "seen": 9}}, 400, "of 6 slots 1 to 6 can be seen"),
    ],
)
def test_what_is_wrong_with_a_request_is_said(tmp_path, place, content, status, message):
    app = service(tmp_path / "learner", lambda: ol2r.Online("PDGD", 4, most_waiting=2))
    _, (found, told), (_, learned) = answers(
        app, ("/rank", {"json": asking()}), (place, content), ("/clicks", {"json": {"ticket": 1, "clicks": [0] * 6}})
    )
    assert found == status and message in told["error"]
    assert learned == {"learned": True}  # nothing was forgotten


def test_clicks_that_come_twice_are_learned_once_and_the_oldest_list_makes_room(tmp_path):
    path = tmp_path / "learner"
    app = service(path, lambda: ol2r.Online("PDGD", 4, most_waiting=3, ranges=ol2r.Ranges.of(FEATURES[0])))
    click = [("/clicks", {"json": {"ticket": ticket, "clicks": [1] + [0] * 5}}) for ticket in range(4)]
    ask = ("/rank", {"json": asking()})
    found = answers(app, ask, ask, ask, click[1], click[2], click[2], click[3])
    assert [told for _, told in found[3:]] == [{"learned": learned} for learned in (False, True, False, True)]
    assert all(status == 200 for status, _ in found)
    loaded = ol2r.Online.load(path)
    assert (loaded.n_lists, loaded.n_updates, loaded.waiting) == (3, 2, ())
    expected = ol2r.candidates(FEATURES[0], ranges=loaded.ranges)
    other = ol2r.Online("PDGD", 4)
    assert found[0][1]["ids"] == [list("abcdef")[place] for place in other.rank(expected)]
    assert list(tmp_path.iterdir()) == [path]


def test_a_service_needs_room_for_more_than_one_list(tmp_path):
    with pytest.raises(ValueError, match="most_waiting of at least 2"):
        service(tmp_path / "learner", lambda: ol2r.Online("PDGD", 4))
