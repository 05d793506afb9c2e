"""The one HTTP client of routers, the command line and `Remote`: aiohttp, under the guard, within limits.

It follows no redirects, asks for no compression and keeps no cookies. It has no timers: whoever calls ends what takes
too long.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import aiohttp
import yarl

from pagekin.net.guard import Guard
from pagekin.net.resolver import guarded_connector, refusal

LARGEST_ANSWER = 64 << 20
"""The most bytes of an answer, unless a call says less."""
_KEEP_ALIVE = 75.0
"""Seconds for which an idle connection is kept: servers of ours close theirs after 120."""
_CHUNK = 1 << 18


class HttpError(Exception):
    """A call without a whole answer; the message says why."""


class ConnectError(HttpError):
    """No connection was made; `os_error` is the system's reason, `refused` the guard's."""

    def __init__(self, os_error: OSError, refused: str = "") -> None:
        super().__init__(refused or str(os_error))
        self.os_error, self.refused = os_error, refused


class BrokenError(HttpError):
    """A connection was made, but gave no whole answer."""


class TooLargeError(BrokenError):
    """An answer is larger than it may be."""


@dataclass(frozen=True)
class Reply:
    """The status, headers and body of an answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Calls servers and keeps the connections to them. It lives in the event loop of its first call.

    Without a guard every address may be called: for people who typed the address themselves. With `proxies` those of the
    environment are used.
    """

    def __init__(self, guard: Guard | None = None, tls: ssl.SSLContext | None = None, proxies: bool = False) -> None:
        self._guard, self._tls, self._proxies = guard, tls, proxies
        self._opened: aiohttp.ClientSession | None = None
        self._urls: dict[str, yarl.URL] = {}

    @property
    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            options: dict[str, Any] = {"limit": 0, "keepalive_timeout": _KEEP_ALIVE}
            if self._tls is not None:
                options["ssl"] = self._tls
            connector = (
                aiohttp.TCPConnector(**options)
                if self._guard is None
                else guarded_connector(self._guard, None, **options)
            )
            self._opened = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept-Encoding"),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                trust_env=self._proxies,
            )
        return self._opened

    async def call(
        self, url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, most: int = LARGEST_ANSWER
    ) -> Reply:
        """Post a JSON body to an address, or get it; return the answer, or raise an HttpError.

        A call that is cancelled closes its connection, and so does an answer of more than `most` bytes.
        """
        address = self._urls.get(url)
        if address is None:
            address = self._urls[url] = _parse_url(url)
        sent = {"Accept": "*/*", **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        method = "GET" if body is None else "POST"
        try:
            async with self._session.request(
                method, address, data=body, headers=sent, allow_redirects=False
            ) as response:
                return Reply(response.status, response.headers, await _read(response, most))
        except aiohttp.ClientConnectorError as error:
            raise ConnectError(error.os_error, refusal(error)) from error
        except (aiohttp.ServerDisconnectedError, ConnectionResetError) as error:
            raise BrokenError("the connection was closed") from error
        except aiohttp.ClientPayloadError as error:
            raise BrokenError("the connection was closed in the middle of the answer") from error
        except aiohttp.ClientResponseError as error:
            raise BrokenError(f"its answer is not HTTP: {str(error.message)[:200]}") from error
        except OSError as error:
            raise ConnectError(error, refusal(error)) from error
        except (aiohttp.ClientError, ValueError) as error:
            raise BrokenError(f"{type(error).__name__}: {str(error)[:200]}") from error

    async def close(self) -> None:
        """Close all connections."""
        if self._opened is not None:
            await self._opened.close()


async def _read(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the body of an answer that is not too large."""
    if (response.content_length or 0) > most:
        response.close()
        raise TooLargeError(f"its answer is larger than {most:,} bytes")
    chunks, size = [], 0
    async for chunk in response.content.iter_chunked(_CHUNK):
        size += len(chunk)
        if size > most:
            response.close()
            raise TooLargeError(f"its answer is larger than {most:,} bytes")
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _parse_url(url: str) -> yarl.URL:
    try:
        return yarl.URL(url)
    except ValueError as error:
        raise BrokenError(f"'{url[:200]}' is not an address: {error}") from None


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine: no proxy reaches what we call so."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".").lower().rpartition(".")[2] == "localhost"
