"""A small web service around a learner: an example to start from, which needs the extra `service`.

    uvicorn --factory mine:app      # mine.py: def app(): return service("learner.safetensors", fresh)

A site asks `POST /rank` for a list, shows it, and sends the clicks to `POST /clicks`, in any order. What an answer says
is on disk before it is given, so that no click is lost that was answered, however the process ends.
"""

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ol2r.online import Online, candidates

MOST_BYTES = 1 << 24
"""The longest request that is read."""


def service(path: str | PathLike[str], fresh: Callable[[], Online]) -> Starlette:
    """The service of the learner in a file.

    `POST /rank` takes `{"ids": [...], "features": [[...], ...], "depth": 10}` and answers with a list,
    `{"ticket": 7, "ids": [...]}`. `POST /clicks` takes `{"ticket": 7, "clicks": [false, true, ...], "seen": 5}`, where
    `seen` may be left out, and answers `{"learned": true}`; or `false` for a ticket that waits no longer, so that
    clicks can be sent again when an answer was lost. Once as many lists wait as may, the oldest is forgotten: its
    visitor has long been gone. A request that cannot be served is answered with status 400 and the reason.

    One process serves a file. It handles one request after the other, and saves the learner with each. Where that is
    too slow, save every few seconds and at the end instead: then a crash loses the clicks since.

    Args:
        path: the learner's file.
        fresh: makes a learner where there is no file yet; it needs a `most_waiting` of at least 2.
    """
    path = Path(path)
    ranker = Online.load(path) if path.exists() else fresh()
    if ranker.most_waiting < 2:
        raise ValueError("a service needs a learner with a most_waiting of at least 2")

    def rank(asked: dict) -> dict:
        of = candidates(asked["features"], ids=asked["ids"], ranges=ranker.ranges)
        shown = ranker.rank(of, asked.get("depth", 10))
        if len(ranker.waiting) == ranker.most_waiting:  # after the list, so that a bad request forgets nothing
            ranker.forget(ranker.waiting[0])
        return {"ticket": shown.ticket, "ids": [asked["ids"][position] for position in shown]}

    def clicks(asked: dict) -> dict:
        waits = asked["ticket"] in ranker.waiting
        if waits:
            ranker.update(asked["ticket"], asked["clicks"], seen=asked.get("seen"))
        return {"learned": waits}

    def answers(handle: Callable[[dict], dict]) -> Callable:
        async def answer(request: Request) -> JSONResponse:
            if int(request.headers.get("content-length", MOST_BYTES + 1)) > MOST_BYTES:
                return JSONResponse({"error": f"expected at most {MOST_BYTES:,} bytes"}, 413)
            try:
                told = handle(await request.json())
            except (KeyError, TypeError, ValueError) as error:
                return JSONResponse({"error": f"{type(error).__name__}: {error}"}, 400)
            ranker.save(path)
            return JSONResponse(told)

        return answer

    return Starlette(
        routes=[
            Route("/rank", answers(rank), methods=["POST"]),
            Route("/clicks", answers(clicks), methods=["POST"]),
        ]
    )
