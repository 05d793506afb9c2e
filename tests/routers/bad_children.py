"""A router above children of which some are bad, and what may then be said of its answers."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pagekin.labels import ContentLabel
from pagekin.net import HttpClient
from pagekin.routers import Place, Router
from pagekin.routers.connection import HttpConnection
from pagekin.routers.knowledge import RouterSettings

from .fakes import Call
from .webs import DEADLINE, SLACK, Running, Web, ask, eager, free_ports, get, wait_for

NOBODY = HttpConnection(HttpClient(), "http://nobody.example/")
"""The way to a child that is never asked."""
QUERY = "oxygen OR feathers OR bird"
"""What the two good children hold answers to."""
Parts = Mapping[str, ContentLabel]


@contextmanager
def above(
    web: Web, children: Mapping[str, str], settings: RouterSettings | None = None, name: str = "root"
) -> Iterator[tuple[str, Router]]:
    """A router above two good leaves and some others, once it is ready."""
    (port,) = free_ports(1)
    good = {leaf: web.urls[leaf] for leaf in ("birds", "elements")}
    router = Router(name, {**good, **children}, settings or eager(settle=0.3, label_seconds=1.0))
    with Running([(router, Place("127.0.0.1", port))]):
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: get(url, "health").json["ready"])
        yield url, router


def searched(url: str, **asked: Any) -> Any:
    """The answer, which must come in time."""
    began = time.monotonic()
    answer = ask(url, "search", **{"query": QUERY, "limit": 1000, "raw": True, "deadline": DEADLINE} | asked)
    assert time.monotonic() - began < DEADLINE + SLACK
    return answer


def blamed(answer: Any, name: str = "root/bad", reason: str = "") -> bool:
    """Whether one child alone is blamed, and why."""
    assert len(answer["partial"]) == 1, answer["partial"]
    assert answer["partial"][0].startswith(f"{name}: "), answer["partial"]
    assert reason in answer["partial"][0], answer["partial"]
    return True


async def hang(_call: Call, _writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(600)


def found(url: str, **more: Any) -> dict[str, Any]:
    return {"kind": "document", "url": url, "score": 9.0, **more}


def bag() -> dict[str, Any]:
    return {"strategy": "x", "hashes": [1], "weights": [1.0], "sketch": [1] * 64, "words": [], "url": ""}
