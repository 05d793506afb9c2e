"""A local web server with virtual hosts, as hostile as a test wants it, that logs every request."""

import contextlib
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pagekin.net import Guard, parse_allowed
from pagekin.sources import CrawlLimits, CrawlPlan

Answer = bytes | Iterable[bytes]
Site = Callable[["ReceivedRequest"], Answer]
QUICK = CrawlLimits(delay=0, backoff=0.05, page_seconds=5, pages=1_000)
LOOPBACK = Guard(parse_allowed(["loopback"]))


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the server received."""

    time: float
    host: str
    """Without the port."""
    path: str
    headers: dict[str, str]


def page(*links: str, head: str = "", body: str = "", headers: str = "", status: str = "200 OK") -> bytes:
    """Return a page with links."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a>' for link in links)
    html = f"<!doctype html><title>A page</title>{head}<body>{body}{anchors}".encode()
    return answer(html, f"Content-Type: text/html\n{headers}".strip(), status)


def answer(body: bytes, headers: str = "Content-Type: text/html", status: str = "200 OK", length: int = -1) -> bytes:
    """Return an HTTP response; its Content-Length is wrong if `length` is given."""
    lines = [f"HTTP/1.1 {status}", *headers.splitlines(), f"Content-Length: {len(body) if length < 0 else length}"]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body


def redirect_to(target: str, status: str = "301 Moved Permanently") -> bytes:
    """Return a redirect."""
    return answer(b"", f"Location: {target}", status)


MISSING = answer(b"<title>Not found</title>Not here", status="404 Not Found")


def pages(table: dict[str, Answer]) -> Site:
    """Return a site with a fixed response for each path."""
    return lambda request: table.get(request.path, MISSING)


@dataclass
class Server:
    """A running server: sites by host name, and the log of requests."""

    sites: dict[str, Site] = field(default_factory=dict)
    log: list[ReceivedRequest] = field(default_factory=list)
    port: int = 0

    def url(self, host: str, path: str = "/") -> str:
        """Return an address of a site."""
        return f"http://{host}:{self.port}{path}"

    def plan(self, out: Path, host: str = "site.test", path: str = "/", **options: Any) -> CrawlPlan:
        """Return the plan of a quick crawl of a site."""
        settings = {"guard": LOOPBACK, "limits": QUICK, "names": {("*", self.port): "127.0.0.1"}, **options}
        return CrawlPlan(self.url(host, path), out, **settings)

    def requested_paths(self, host: str = "site.test") -> list[str]:
        """Return the paths that were requested from a site, in order, without robots.txt."""
        return [each.path for each in self.log if each.host == host and each.path != "/robots.txt"]

    def respond(self, request: ReceivedRequest) -> Answer:
        """Return the site's response."""
        site = self.sites.get(request.host)
        return site(request) if site else MISSING


class _Handler(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        server: Server = self.server.sites  # type: ignore[attr-defined]  # set where the server is made
        data = b""
        while b"\r\n\r\n" not in data:
            piece = self.request.recv(65536)
            if not piece:
                return
            data += piece
        first, *lines = data.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if value}
        request = ReceivedRequest(time.monotonic(), headers["host"].partition(":")[0], first.split(" ")[1], headers)
        server.log.append(request)
        response = server.respond(request)
        with contextlib.suppress(OSError):
            for piece in [response] if isinstance(response, bytes) else response:
                self.request.sendall(piece)
            self.request.shutdown(socket.SHUT_WR)


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False


@contextlib.contextmanager
def serve_sites(sites: dict[str, Site]) -> Iterator[Server]:
    """Run a server of these sites."""
    listener = _Listener(("127.0.0.1", 0), _Handler)
    server = Server(sites, port=listener.server_address[1])
    listener.sites = server  # type: ignore[attr-defined]  # read by the handler
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
