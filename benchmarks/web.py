"""The web interface: first byte and size of every page, and how many questions it answers a second.

    python benchmarks/web.py SCHOOL.kin [--processes 2] [--seconds 20]

SCHOOL.kin is a collection with an index, clusters and text (`pagekin build`). It is served by `pagekin serve` in processes
of their own, and beside it, before and after, a bare Litestar route that answers a constant by the same server. Questions are
distinct: words and addresses of pages drawn with a fixed seed, none asked twice; a leaf keeps no answers. The generator is this
process and shares the machine's cores; its share of the processor time is printed.
"""

import argparse
import asyncio
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from urllib.parse import quote, urlencode

import msgspec
from litestar import Litestar, get

from pagekin.bags import STOP_WORDS
from pagekin.clusters import read_trees
from pagekin.hypertext import Corpus
from pagekin.routers import free_port

_TICKS = os.sysconf("SC_CLK_TCK")


# -- questions ------------------------------------------------------------------------------------------------------------


def questions(corpus: Corpus, seed: int) -> Iterator[str]:
    """Queries of one to three words of a page, drawn by occurrence, without end and without repetition."""
    draw, asked = random.Random(seed), set()
    while True:
        page = draw.randrange(len(corpus))
        words = [corpus.word(int(term)) for term in corpus.words(page)]
        words = [word for word in words if word not in STOP_WORDS and len(word) > 2 and word.isalpha()]
        query = " ".join(draw.sample(words, min(len(words), draw.choice((1, 2, 2, 3)))))
        if query and query not in asked:
            asked.add(query)
            yield query


def pages(corpus: Corpus, seed: int) -> list[str]:
    """The addresses of all pages in a random order."""
    found = [corpus.page_url(page) for page in range(len(corpus))]
    random.Random(seed).shuffle(found)
    return found


def routes(corpus: Corpus, count: int, seed: int) -> dict[str, list[str]]:
    """Addresses of every kind of page, so many of each as there are different ones."""
    queries = questions(corpus, seed)
    words = [next(queries) for _ in range(count)]
    urls = pages(corpus, seed)[:count]
    trees = {tree.name: tree for tree in read_trees(corpus.kin)}
    nodes = list(range(1, len(trees["clusters"])))[:count]
    found = {
        "/": ["/"] * 50,
        "/find": [f"/find?{urlencode({'q': query})}" for query in words],
        "/find, select": [f"/find?{urlencode({'q': query, 'mode': 'select'})}" for query in words],
        "/find, expand": [f"/find?{urlencode({'q': query, 'mode': 'expand'})}" for query in words],
        "/page": [f"/page?{urlencode({'url': url})}" for url in urls],
        "/compare": [f"/compare?{urlencode([('url', a), ('url', b)])}" for a, b in pairwise(urls)],
        "/tree/clusters": [f"/tree/clusters/{node}" for node in nodes],
        "/tree": [f"/tree/{quote(name)}" for name in trees] * 10,
        "/cluster": [f"/cluster/{number + 1}" for number in range(5)] * 10,
        "/network": ["/network"] * 50,
        "/evaluation": ["/evaluation"] * 50,
        "/about": ["/about"] * 50,
        "/complete": [f"/complete?{urlencode({'q': query[:4]})}" for query in words],
    }
    json = {f"{name} as JSON": [_as_json(one) for one in some] for name, some in found.items() if name != "/complete"}
    services = {
        "/search (service)": [f"/search?{urlencode({'q': query})}" for query in words],
        "/related (service)": [f"/related?{urlencode({'url': url})}" for url in urls],
        "/refine (service)": [f"/refine?{urlencode({'q': query})}" for query in words],
        "/label (service)": ["/label"] * 20,
        "/healthz": ["/healthz"] * 50,
        "/metrics": ["/metrics"] * 50,
        "/schema": ["/schema/openapi.json"] * 50,
    }
    return {**found, **json, **services}


def _as_json(address: str) -> str:
    path, _, query = address.partition("?")
    return f"{'/index' if path == '/' else path}.json" + (f"?{query}" if query else "")


# -- servers --------------------------------------------------------------------------------------------------------------


@get("/")
async def bare() -> dict[str, str]:
    """The least that the same server can answer."""
    return {"detail": "nothing"}


bare_app = Litestar([bare], openapi_config=None, logging_config=None)


@contextmanager
def running(command: Sequence[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a process of its own, once it listens."""
    with subprocess.Popen([sys.executable, *command], cwd=Path(__file__).parent, stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 60
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > until:
                        raise SystemExit(f"{' '.join(command)} does not listen") from None
                    time.sleep(0.1)
            time.sleep(2)  # its other processes start a little later
            yield process
        finally:
            process.terminate()


def processor_seconds(process: int) -> float:
    """Processor time of a process and of its children so far."""
    found = 0.0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == process or int(fields[1]) == process:
            found += (int(fields[11]) + int(fields[12])) / _TICKS
    return found


# -- one after another ------------------------------------------------------------------------------------------------------


class Timed(msgspec.Struct):
    """What one kind of address took."""

    first_byte: list[float]
    size: int
    failed: int


def timed(port: int, addresses: Iterable[str]) -> Timed:
    """Ask one after another over one connection."""
    found = Timed([], 0, 0)
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for address in addresses:
            accept = "*/*" if ".json" in address else "text/html"
            head = f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: {accept}\r\n\r\n"
            started = time.perf_counter()
            connection.sendall(head.encode())
            data = connection.recv(65536)
            found.first_byte.append(1000 * (time.perf_counter() - started))
            while (missing := _missing(data)) != 0:
                more = connection.recv(65536)
                if not more:
                    raise SystemExit(f"the connection was closed at {address}, {missing} bytes early")
                data += more
            found.size = max(found.size, len(data.partition(b"\r\n\r\n")[2]))
            found.failed += not data.startswith(b"HTTP/1.1 200")
    return found


def _missing(data: bytes) -> int:
    """Bytes of an answer that are still to come; -1 if that is not known yet."""
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return -1
    lengths = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    if not lengths:
        raise SystemExit("an answer without a length")
    return lengths[0] - len(body)


def first_bytes(port: int, kinds: dict[str, list[str]]) -> None:
    """The table of first bytes and sizes."""
    print(
        "| address | requests | first byte p50, ms | p95, ms | longest, ms | wanted p95 | largest, kB | wanted | failed |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, addresses in kinds.items():
        timed(port, addresses[:3])
        found = timed(port, addresses)
        ordered = sorted(found.first_byte)
        p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        page = "" if "JSON" in name or "service" in name or name in ("/healthz", "/metrics", "/schema") else "100"
        print(
            f"| {name} | {len(ordered)} | {statistics.median(ordered):.1f} | {p95:.1f} | {ordered[-1]:.0f} | 50 | "
            f"{found.size / 1000:.1f} | {page} | {found.failed} |",
            flush=True,
        )


# -- many at once -----------------------------------------------------------------------------------------------------------


class _Asker(asyncio.Protocol):
    """A connection that asks one question after another."""

    def __init__(self, load: "Load") -> None:
        self._load = load
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._data = b""
        head = next(self._load.heads, None)
        if head is None:
            raise SystemExit("all questions have been asked: take fewer seconds")
        self._transport.write(head)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if _missing(self._data) == 0:
            self._load.answered += 1
            self._load.failed += not self._data.startswith(b"HTTP/1.1 200")
            self._ask()

    def connection_lost(self, _error: Exception | None) -> None:
        self._load.lost += not self._load.over


class Load:
    """Questions that are asked as fast as they are answered."""

    def __init__(self, heads: Iterator[bytes]) -> None:
        self.heads = heads
        self.answered = self.failed = self.lost = 0
        self.over = False

    async def run(self, port: int, connections: int, seconds: float) -> float:
        """Ask for so long; give the answers a second."""
        loop = asyncio.get_running_loop()
        made = [await loop.create_connection(lambda: _Asker(self), "127.0.0.1", port) for _ in range(connections)]
        self.answered, started = 0, time.perf_counter()
        await asyncio.sleep(seconds)
        rate = self.answered / (time.perf_counter() - started)
        self.over = True
        for transport, _asker in made:
            transport.close()
        return rate


def heads(addresses: Iterable[str], port: int) -> Iterator[bytes]:
    """The requests."""
    for address in addresses:
        yield f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: */*\r\n\r\n".encode()


def loaded(name: str, port: int, process: int, addresses: Iterable[str], seconds: float, cores: int) -> float:
    """A row of the table of rates; the rate."""
    load = Load(iter(list(islice(heads(addresses, port), int(20_000 * seconds)))))
    own, theirs = time.process_time(), processor_seconds(process)
    rate = asyncio.run(load.run(port, 16, seconds))
    own, theirs = time.process_time() - own, processor_seconds(process) - theirs
    print(
        f"| {name} | {rate:,.0f} | {load.failed + load.lost} | {1000 * theirs / max(load.answered, 1):.2f} | "
        f"{100 * own / (own + theirs):.0f} % | {100 * (own + theirs) / (seconds * cores):.0f} % |",
        flush=True,
    )
    return rate


def mixed(corpus: Corpus, seed: int, search: str, related: str) -> Iterator[str]:
    """Search and related questions in turn, each once."""
    queries, urls = questions(corpus, seed), pages(corpus, seed)
    for url in urls:
        yield f"{related}?{urlencode({'url': url})}"
        yield f"{search}?{urlencode({'q': next(queries)})}"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=8, help="for each rate")
    parser.add_argument("--requests", type=int, default=200, help="of each kind, one after another")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    corpus = Corpus.open(args.collection)
    cores = len(os.sched_getaffinity(0))
    port, beside = free_port("127.0.0.1"), free_port("127.0.0.1")
    serve = ["-m", "pagekin", "serve", str(args.collection.resolve()), "--port", str(port)]
    uvicorn = ["-m", "uvicorn", "web:bare_app", "--port", str(beside), "--log-level", "warning", "--no-access-log"]
    many = ["--processes", str(args.processes)]
    workers = ["--workers", str(args.processes)]
    print(f"{len(corpus):,} pages; {cores} cores, load {os.getloadavg()[0]:.1f}\n\n### First byte, one process\n")
    with running(serve, port):
        first_bytes(port, routes(corpus, args.requests, args.seed))
    print(f"\n### Questions a second, {args.processes} processes, 16 connections, all different\n")
    print("| asked | answers/s | failed | processor time each, ms | the generator's share of it | all cores used |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with running([*uvicorn, *workers], beside) as process:
        least = loaded("bare Litestar route", beside, process.pid, iter(lambda: "/", ""), args.seconds, cores)
    with running([*serve, *many], port) as process:
        half, seconds = mixed(corpus, args.seed, "/search", "/related"), args.seconds
        loaded("(to warm up)", port, process.pid, mixed(corpus, 1, "/search", "/related"), 2, cores)
        rate = loaded("search and related, JSON", port, process.pid, half, seconds, cores)
    with running([*serve, *many], port) as process:
        half = mixed(corpus, args.seed + 1, "/find", "/page")
        shown = loaded("the same as pages", port, process.pid, half, seconds, cores)
    print(
        f"\nWanted: 500 answers/s, none failed. JSON {rate:,.0f} ({rate / least:.2f} of the bare route's {least:,.0f}), "
        f"pages {shown:,.0f}."
    )


if __name__ == "__main__":
    main()
