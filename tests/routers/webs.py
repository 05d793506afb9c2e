"""Networks for the tests: leaves of the demo web's hosts, routers above them, all served over HTTP in a thread."""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings, document_of, read_trees
from pagekin.collection import ReloadingCollection, Service, parse_query
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.net import Guard, parse_allowed
from pagekin.routers import Place, Router, router_app
from pagekin.routers.knowledge import RouterSettings
from pagekin.routers.serve import MakeApp, serve
from pagekin.routers.warm import warm
from pagekin.text import Stats, TextIndex
from tests.bags.webs import record
from tests.demo_web import demo_pages

PAGES_A_HOST = 24
DEADLINE, SLACK = 1.5, 2.0
"""Seconds that a caller gives, and that a busy machine may take besides."""


def eager(**changes: Any) -> RouterSettings:
    """Settings of a router that does not let a test wait, and may call loopback addresses."""
    loopback = Guard(parse_allowed(["loopback"]))
    return RouterSettings(**{"refresh": 600.0, "patience": 0.1, "cached": 0.0, "guard": loopback} | changes)


def build_leaf(path: Path, records: Iterable[bytes], clusters: int = 5) -> Path:
    """A collection of some records with clusters, label and search."""
    path.parent.mkdir(parents=True, exist_ok=True)
    archive = path.with_suffix(".warc")
    archive.write_bytes(b"".join(records))
    plan = ReadPlan([str(archive)], path, workers=1)
    build_collection(plan, BuildRecipe(Strategy(), ClusterSettings(max_clusters=clusters), text=True))
    return path


def host_records(most: int = PAGES_A_HOST) -> dict[str, list[bytes]]:
    """The first pages of each host of the demo web, as records, by the first word of the host's name."""
    found: dict[str, list[bytes]] = {}
    for page in demo_pages():
        mine = found.setdefault(str(urlsplit(page.url).hostname).partition(".")[0], [])
        if len(mine) < most:
            mine.append(record(page.url, page.html))
    return found


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Ports that nobody listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((host, 0))
        return [int(one.getsockname()[1]) for one in sockets]


class Running:
    """Routers that are served in a thread with an event loop of its own, until `stop`."""

    def __init__(self, services: Sequence[tuple[Service, Place]], make_app: MakeApp = router_app) -> None:
        self._make_app = make_app
        self.services = {service.name: service for service, _place in services}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._error: BaseException | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(services,), daemon=True)
        self._thread.start()
        assert self._ready.wait(30), "the routers do not listen"
        if self._error:
            raise self._error

    def _run(self, services: Sequence[tuple[Service, Place]]) -> None:
        async def whole() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            await serve(services, self._ready.set, self._stop, self._make_app)

        try:
            asyncio.run(whole())
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()

    def stop(self) -> None:
        """End all of them."""
        if self._loop and self._stop and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        assert not self._thread.is_alive(), "the routers do not end"

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def request(
    url: str,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    seconds: float = 30,
) -> Reply:
    """Ask a server by a connection of its own."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port or 80, timeout=seconds)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body, dict(headers or {}))
        answer = connection.getresponse()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def post(at: str, operation: str, /, **asked: Any) -> Reply:
    """A service's reply to JSON."""
    body = json.dumps(asked).encode()
    return request(f"{at.rstrip('/')}/{operation}", "POST", body, {"Content-Type": "application/json"})


def ask(at: str, operation: str, /, **asked: Any) -> Any:
    """A service's answer, which must be one."""
    reply = post(at, operation, **asked)
    assert reply.status == 200, (reply.status, reply.body[:500])
    return reply.json


def get(at: str, operation: str, /, headers: Mapping[str, str] | None = None, **asked: Any) -> Reply:
    """A service's reply to a question in an address."""
    return request(f"{at.rstrip('/')}/{operation}" + (f"?{urlencode(asked)}" if asked else ""), headers=headers)


def wait_for(what: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What a function gives as soon as it is true; a failure if it never is."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError(f"it did not come within {seconds} s")


@dataclass
class Web:
    """A network as it is served."""

    urls: dict[str, str]
    children: dict[str, tuple[str, ...]]
    running: dict[str, Running] = field(default_factory=dict)
    collections: dict[str, Path] = field(default_factory=dict)

    @property
    def leaves(self) -> list[str]:
        return [name for name in self.urls if name not in self.children]

    def below(self, name: str) -> set[str]:
        """The leaves below a router."""
        if name not in self.children:
            return {name}
        return set().union(*(self.below(child) for child in self.children[name]))

    def search(self, name: str, query: str, **asked: Any) -> Any:
        """What a service finds for all words of a query, also where few pages hold them."""
        exactly = {"limit": 10_000, "raw": True, "deadline": 60.0, "match": "all"}
        return ask(self.urls[name], "search", query=query, **exactly | asked)

    def await_labels(self) -> None:
        """Wait until every router knows all its children."""
        wait_for(
            lambda: all(
                (health := get(self.urls[name], "health").json)["ready"]
                and all(child["up"] and child["label_bytes"] for child in health["children"])
                for name in self.children
            ),
            60,
        )


def searched_in(index: TextIndex, query: str, stats: Stats | None = None) -> dict[str, float]:
    """Address and score of all documents that a query finds in a collection, by the full-text index itself."""
    trees = {tree.name: tree for tree in read_trees(index.corpus.kin)}
    documents = document_of(trees.get("documents"), len(index))
    hits = index.search(parse_query(query), len(index), stats=stats, documents=documents)
    return {index.corpus.page_url(page): score for page, score in zip(hits.pages, hits.scores, strict=True)}


def urls_of(answer: Any) -> set[str]:
    """The addresses of all results, copies too."""
    return {url for one in answer["results"] for url in (one["url"], *one["copies"])}


@contextlib.contextmanager
def served(
    collections: Mapping[str, Path], children: Mapping[str, Sequence[str]], hosts: Sequence[str] = ("127.0.0.1",),
    paths: bool = False, settings: RouterSettings | None = None,
) -> Iterator[Web]:  # fmt: skip
    """Leaves and routers in one thread: a port each on the hosts in turn, or one port and a path for each."""
    names = [*children, *collections]
    places: dict[str, Place] = {}
    if paths:
        port = free_ports(1, hosts[0])[0]
        places = {name: Place(hosts[0], port, f"/{name}/") for name in names}
    else:
        turn = [hosts[number % len(hosts)] for number in range(len(names))]
        ports = {host: iter(free_ports(turn.count(host), host)) for host in set(turn)}
        places = {name: Place(host, next(ports[host])) for name, host in zip(names, turn, strict=True)}
    urls = {name: f"http://{at.host}:{at.port}{at.path}" for name, at in places.items()}
    chosen = settings or eager()
    services: list[tuple[Service, Place]] = [
        (Router(name, {child: urls[child] for child in below}, chosen), places[name])
        for name, below in children.items()
    ]
    services += [(ReloadingCollection(name, path), places[name]) for name, path in collections.items()]
    web = Web(urls, {name: tuple(below) for name, below in children.items()}, collections=dict(collections))
    # As every process that serves does: no first question waits for a compiler.
    warm(service for service, _place in services)
    with Running(services) as running:
        web.running["all"] = running
        web.await_labels()
        yield web
