"""The robot's HTTP requests: aiohttp under the address guard, within the limits of a page."""

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import Any

import aiohttp
import yarl
from aiohttp.connector import Connection

from pagekin.net import guarded_connector, refusal
from pagekin.sources.robot.addresses import clean_url
from pagekin.sources.robot.exchange import NOT_ALLOWED, Exchange, FetchError
from pagekin.sources.robot.plan import CrawlPlan
from pagekin.sources.robot.robotstxt import MOST_BYTES

ACCEPTED = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.1"
ENCODINGS = "gzip, deflate, br"
_CONNECT_SECONDS = 15.0
_HEADER_BYTES = 32 << 10
_ALL_HEADER_BYTES = 256 << 10
_ROBOTS_REDIRECTS = 5

BodyLimit = Callable[[int, str], int]
"""Returns how many bytes of a body to read, given status and Content-Type; -1 for none."""


class _NoAnswerError(aiohttp.ClientError):
    """The server closed the connection before it answered. After one of its own errors aiohttp would retry at once."""


class _Response(aiohttp.ClientResponse):
    """A response that remembers who sent it, because the connection may be closed when the body has arrived."""

    peer = ""

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        self.peer = str(peer[0]) if peer else ""
        try:
            return await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            raise _NoAnswerError(str(error)) from error


class Fetcher:
    """The HTTP client of one crawl. It has no cookies and no proxy, and follows redirects only for robots.txt."""

    def __init__(self, plan: CrawlPlan) -> None:
        """Open the client for `plan`; an event loop must be running."""
        self._seconds = plan.limits.page_seconds
        headers = {"User-Agent": plan.user_agent, "Accept": ACCEPTED, "Accept-Encoding": ENCODINGS}
        if "@" in plan.contact:
            headers["From"] = plan.contact
        self._session = aiohttp.ClientSession(
            connector=guarded_connector(plan.guard, plan.names, limit=0, enable_cleanup_closed=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            response_class=_Response,
            headers=headers,
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def fetch(self, url: str, body_limit: BodyLimit) -> Exchange:
        """Fetch `url` and return the exchange; FetchError if no answer comes."""
        started, begun = time.time(), time.monotonic()
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(deadline):
                # The address is canonical already; yarl might respell it.
                response: Any = await self._session.get(yarl.URL(url, encoded=True), allow_redirects=False)
        except Exception as error:
            raise _explain(error, self._seconds) from error
        try:
            if sum(len(name) + len(value) for name, value in response.raw_headers) > _ALL_HEADER_BYTES:
                raise FetchError("bad answer", "its headers are too long")
            kind = response.headers.get("Content-Type", "")
            most = body_limit(response.status, kind)
            body, cut = await _read_body(response, most, deadline) if most >= 0 else (b"", "")
        finally:
            response.close()
        version = response.version
        return Exchange(
            url, response.request_info.url.raw_path_qs, tuple(response.request_info.headers.items()), response.peer,
            started, time.monotonic() - begun, f"HTTP/{version.major}.{version.minor}", response.status,
            response.reason or "", tuple(response.raw_headers), body, cut, most < 0,
        )  # fmt: skip

    async def fetch_robots(self, origin: str) -> list[Exchange]:
        """Fetch an origin's robots.txt and follow its redirects; return all exchanges in order."""
        url = f"{origin}/robots.txt"
        exchanges: list[Exchange] = []
        while True:
            exchanges.append(await self.fetch(url, lambda _status, _type: MOST_BYTES))
            redirect = exchanges[-1].redirect
            target = clean_url(redirect, url) if redirect else None
            if target is None or len(exchanges) > _ROBOTS_REDIRECTS:
                return exchanges
            url = target


async def _read_body(response: aiohttp.ClientResponse, most: int, deadline: float) -> tuple[bytes, str]:
    """Return (the body as far as it arrived, why its end is missing)."""
    body = bytearray()
    try:
        async with asyncio.timeout_at(deadline):
            async for piece in response.content.iter_any():
                body += piece
                if len(body) > most:
                    return bytes(body[:most]), "length"
    except TimeoutError:
        return bytes(body), "time"
    except (aiohttp.ClientError, OSError):
        return bytes(body), "disconnect"
    return bytes(body), ""


def _explain(error: Exception, seconds: float) -> FetchError:
    """Convert an error of aiohttp into a FetchError; raise other errors again."""
    if refused := refusal(error):
        return FetchError(NOT_ALLOWED, refused)
    match error:
        case aiohttp.InvalidURL() | UnicodeError():
            return FetchError("bad address", "the host's name is not valid")
        case TimeoutError():
            return FetchError("no answer in time", f"no answer within {seconds:g} s", temporary=True)
        case aiohttp.ClientConnectorDNSError():
            return FetchError("unknown host", f"the host's name cannot be resolved: {error.os_error}", temporary=True)
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError() | ssl.SSLError():
            return FetchError("no secure connection", f"no secure connection: {error}")
        case aiohttp.ClientConnectorError():
            return FetchError("no connection", f"no connection: {error.os_error}", temporary=True)
        case _NoAnswerError() | aiohttp.ClientOSError() | ConnectionError():
            return FetchError("disconnected", "the server closed the connection without an answer", temporary=True)
        case aiohttp.ClientError() | ValueError():
            return FetchError("bad answer", f"the answer is not valid HTTP: {error}"[:300])
    raise error
