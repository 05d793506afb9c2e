"""A router's child over HTTP: calls that never outlast their deadline, answers that are checked, faults that are remembered."""

import asyncio
import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import msgspec
from yarl import URL

from pagekin.labels import ContentLabel, LabelError, LabelLimits, to_json
from pagekin.labels.parts import FUNCTIONS, etag, from_wire, joined
from pagekin.net import refusal
from pagekin.routers.ask import allowing
from pagekin.routers.bounds import Bound, bound_of, check_wire
from pagekin.routers.client import BrokenError, Client, ConnectError
from pagekin.routers.messages import Travel, encode

T = TypeVar("T")
_FAILURES = 3
"""Failures in a row after which a child is left alone for a while."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
_RETRY_AFTER = 0.05
_FAIR, _LEAST_FAIR, _SLOWER = 0.5, 0.1, 10
"""Seconds that a child must have had before it is blamed for giving no answer; less, if that is ten times its usual time."""
_REFUSALS = (400, 404, 413)
"""What a child answers that is well, but does not take the request or does not know the page."""
_DECODERS: dict[type[Any], msgspec.json.Decoder[Any]] = {}
_MARGIN, KEPT = 0.25, 0.3
"""The share of the time left that a router keeps for itself, and how many seconds of it are enough."""


class ChildError(Exception):
    """A child that gave no answer; the message says why."""


class NotReadyError(ChildError):
    """A child that is there, but has no label yet."""


class RefusedError(ChildError):
    """A child that is there, but does not take the request."""


@dataclass
class Child:
    """One child, and what is known of it."""

    name: str
    url: str
    max_bytes: int | None = None
    """How much of its label is wanted; None: all of it."""
    parts: dict[str, ContentLabel] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    label: ContentLabel | None = None
    label_bytes: int = 0
    fresh_at: float | None = None
    """When its label was last known to be fresh, by the clock that only runs forwards."""
    error: str = ""
    calls: int = 0
    failures: int = 0
    _in_a_row: int = 0
    _usual: float | None = None
    """Seconds that it takes to answer."""
    _ill: bool = False
    """Whether it was there when it failed to answer: a label from it does not mend that."""
    _closed_until: float = 0.0
    _addresses: dict[str, URL] = field(default_factory=dict)
    _hosts_of: ContentLabel | None = None
    _known_hosts: frozenset[str] = frozenset()

    @property
    def up(self) -> bool:
        """Whether the last call was answered."""
        return self.calls > self.failures and not self.error

    def numbered(self, cluster: int) -> int:
        """The number, in the label that is here, of one of its sub-clusters: in a label that was cut they have others."""
        if self.max_bytes is None or self.label is None:
            return cluster
        return next((one.number for one in self.label.clusters if cluster in one.nodes), 0)

    def nearness(self, url: str) -> int:
        """How much an address is this child's own: 0 if nothing says so.

        1 if its label names pages of the host, more if its name is the host or a domain of it, the longer the more: names are
        given by whoever runs the router, labels by the child.
        """
        host = _host(url)
        named = self.name.removeprefix("host ").removeprefix("other hosts of ").partition(":")[0].lower()
        if named and (host == named or host.endswith(f".{named}")):
            return 1 + len(named)
        return int(host in self._hosts())

    def _hosts(self) -> frozenset[str]:
        """The hosts of pages that its label names."""
        if self._hosts_of is not self.label:
            urls = (url for cluster in (self.label.clusters if self.label else ()) for url in cluster.urls)
            self._known_hosts = frozenset(map(_host, urls))
            self._hosts_of = self.label
        return self._known_hosts

    @property
    def missing(self) -> bool:
        """Whether it is to be asked again soon: it has told nothing, or not all, or cannot be reached."""
        return self.label is None or bool(self.error) or self.label.waiting > 0

    def pause(self) -> float:
        """Seconds for which it is left alone, after too many failures."""
        return max(0.0, self._closed_until - time.monotonic())

    def succeeded(self) -> None:
        """Note an answer."""
        self.error, self._in_a_row, self._closed_until, self._ill = "", 0, 0.0, False

    def failed(self, reason: str, ill: bool = False) -> None:
        """Note that there was none; after some in a row, wait longer and longer before the next try."""
        self.error, self._ill = reason, ill
        self.failures += 1
        self._in_a_row += 1
        if self._in_a_row >= _FAILURES:
            pause = min(_FIRST_PAUSE * 2 ** (self._in_a_row - _FAILURES), _LONGEST_PAUSE)
            self._closed_until = time.monotonic() + pause * random.uniform(0.8, 1.2)

    def _address(self, operation: str) -> URL:
        """Where it answers an operation."""
        if operation not in self._addresses:
            self._addresses[operation] = URL(f"{self.url.rstrip('/')}/{operation}")
        return self._addresses[operation]

    # -- calls ----------------------------------------------------------------------------------------------------------

    async def call(
        self, client: Client, operation: str, request: Travel, answer: type[T], deadline: float
    ) -> tuple[T, int]:
        """(what the child answers, its bytes), or a ChildError; `deadline` is when the router itself has to be done."""
        left = time_for_children(deadline)
        try:
            async with asyncio.timeout(left):
                bound = bound_of(operation, request)
                return await self.answered(client, operation, body_of(request, left), answer, bound)
        except TimeoutError:
            raise ChildError(self.late(left)) from None

    def late(self, left: float) -> str:
        """Note that no answer came in the time that was left; give the reason."""
        if not self._was_fair(left):
            return f"no answer within {left:.2g} s"
        self.failed(f"no answer within {left:.1f} s", ill=True)
        return self.error

    def _was_fair(self, left: float) -> bool:
        """Whether it had the time to answer: an impatient caller is not its fault."""
        usual = self._usual if self._usual is not None else _FAIR
        return left >= min(_FAIR, max(_LEAST_FAIR, _SLOWER * usual))

    async def answered(
        self, client: Client, operation: str, body: bytes, answer: type[T], bound: Bound
    ) -> tuple[T, int]:
        """(what the child answers to a request, its bytes), or a ChildError; the caller ends it when it takes too long."""
        if pause := self.pause():
            raise ChildError(f"{self.error or 'it failed'}; it is tried again in {pause:.1f} s")
        self.calls += 1
        began = time.monotonic()
        try:
            raw = await self._posted(client, operation, body, bound.size)
            if excess := bound.excess(raw):
                raise ChildError(f"its answer is refused: {excess}")
            found: T = _decoder(answer).decode(raw)
        except RefusedError:
            self.succeeded()
            raise
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            self.failed(f"it answered nonsense: {str(error)[:200]}", ill=True)
        except (ChildError, BrokenError) as error:
            self.failed(str(error), ill=True)
        except (ConnectError, OSError, ValueError) as error:
            self.failed(_reason(error), ill=not isinstance(error, ConnectError))
        else:
            self.succeeded()
            took = time.monotonic() - began
            self._usual = took if self._usual is None else 0.9 * self._usual + 0.1 * took
            return found, len(raw)
        raise ChildError(self.error)

    async def _posted(self, client: Client, operation: str, body: bytes, most: int) -> bytes:
        """The body of the answer; a connection that cannot be made is tried once more."""
        try:
            status, raw = await client.post(self.url, operation, body, most)
        except ConnectError:
            await asyncio.sleep(_RETRY_AFTER * random.uniform(0.5, 1.5))
            status, raw = await client.post(self.url, operation, body, most)
        if status == 200:
            return raw
        kind = RefusedError if status in _REFUSALS else ChildError
        raise kind(f"it answered {status}: {_said(raw)}")

    # -- its label ------------------------------------------------------------------------------------------------------

    async def refresh(self, session: aiohttp.ClientSession, seconds: float, limits: LabelLimits) -> bool:
        """Fetch the parts of its label that changed; whether any did. A ChildError if it cannot be had."""
        self.calls += 1
        try:
            async with asyncio.timeout(seconds):
                fetched = {function: await self._part(session, function, limits) for function in FUNCTIONS}
            changed = any(part is not None for part in fetched.values())
            parts = {**self.parts, **{function: part for function, part in fetched.items() if part is not None}}
            taken = await asyncio.to_thread(_Taken.of, parts) if changed or self.label is None else None
        except TimeoutError:
            self.failed(f"no label within {seconds:.0f} s")
        except NotReadyError as error:
            self.error = str(error)
        except (LabelError, ChildError) as error:
            self.failed(f"its label was refused: {error}" if isinstance(error, LabelError) else str(error))
        except KeyError as error:
            self.failed(f"it gave no part {error} of its label")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            self.failed(_reason(error))
        else:
            self.fresh_at = time.monotonic()
            if taken is not None:
                self.parts, self.label, self.etags, self.label_bytes = parts, taken.label, taken.etags, taken.bytes
            if not self._ill:
                self.succeeded()
            return changed
        raise ChildError(self.error)

    async def _part(self, session: aiohttp.ClientSession, function: str, limits: LabelLimits) -> ContentLabel | None:
        """A part of the label, or None if the one that is here is fresh."""
        headers = {"If-None-Match": f'"{self.etags[function]}"'} if function in self.etags else {}
        within = f"&max_bytes={self.max_bytes}" if self.max_bytes else ""
        url = self._address(f"label?part={function}&form=wire{within}")
        async with session.get(url, headers=headers, allow_redirects=False) as response:
            if response.status == 304:
                return None
            raw = await _body(response, limits.bytes)
            if response.status == 503:
                raise NotReadyError(_said(raw))
            if response.status != 200:
                raise ChildError(f"it answered {response.status}: {_said(raw)}")
            return await asyncio.to_thread(_part_of, raw, limits)

    def label_age(self) -> float | None:
        """Seconds since its label was last known to be fresh."""
        return None if self.fresh_at is None else time.monotonic() - self.fresh_at


@dataclass(frozen=True)
class _Taken:
    """A label as it is taken over; made beside other work, since it takes a while."""

    label: ContentLabel
    etags: dict[str, str]
    bytes: int

    @classmethod
    def of(cls, parts: Mapping[str, ContentLabel]) -> "_Taken":
        whole = joined(parts)
        tags = {function: etag(part) for function, part in parts.items()}
        return cls(whole, tags, sum(len(to_json(part)) for part in parts.values()))


def _part_of(raw: bytes, limits: LabelLimits) -> ContentLabel:
    """A part of a label as it came, or a LabelError; what cannot be one is not decoded."""
    check_wire(raw, limits)
    return from_wire(raw, limits)


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def time_for_children(deadline: float, kept: float = KEPT) -> float:
    """Seconds that children have to answer a router that has to be done by a deadline, and keeps some for itself."""
    left = deadline - time.monotonic()
    left -= min(_MARGIN * left, kept)
    if left <= 0.001:
        raise ChildError("no time was left to ask it")
    return left


def body_of(request: Travel, left: float) -> bytes:
    """A request on its way, with the time that is left for an answer."""
    return encode(msgspec.structs.replace(request, deadline=min(max(left, 0.001), 120.0)))


def _decoder(answer: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of a kind of answers; made once."""
    if answer not in _DECODERS:
        _DECODERS[answer] = msgspec.json.Decoder(answer)
    return _DECODERS[answer]


async def _body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """The body of an answer that is not too large."""
    if (response.content_length or 0) > most:
        raise ChildError(f"its answer is larger than {most:,} bytes")
    chunks, size = [], 0
    async for chunk in response.content.iter_chunked(1 << 18):
        size += len(chunk)
        if size > most:
            raise ChildError(f"its answer is larger than {most:,} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def _said(raw: bytes) -> str:
    """The reason in the body of an answer that is an error, as far as it gives one."""
    try:
        said = msgspec.json.decode(raw[:2000], type=dict[str, Any])
        text = str(said.get("detail", ""))
    except (msgspec.MsgspecError, UnicodeError):
        text = ""
    return "".join(c for c in text if c.isprintable())[:300] or "no reason was given"


def _system_says(error: OSError) -> str:
    """What the system says; event loops put addresses there, which the one who asked need not know."""
    number = error.errno or 0
    return os.strerror(number).lower() if number > 0 else str(error.strerror or error)


def _reason(error: BaseException) -> str:
    """An error of the connection in a few words."""
    if refused := refusal(error):
        return f"it may not be called: {refused}{allowing(refused)}"
    if isinstance(error, aiohttp.ClientConnectorError | ConnectError):
        return f"it cannot be reached ({_system_says(error.os_error)})"
    if isinstance(error, aiohttp.ServerDisconnectedError | ConnectionResetError):
        return "the connection was closed"
    return f"{type(error).__name__}: {str(error)[:200]}" if str(error) else type(error).__name__
