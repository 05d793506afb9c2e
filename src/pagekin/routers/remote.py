"""A service at an address: a router or a collection that somebody serves."""

import asyncio
import os
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from pagekin.collection import Health, PublishedLabel, Request, Service, ServiceError, Summary, encode
from pagekin.labels import ContentLabel, label_from_wire, label_parts
from pagekin.net import ConnectError, Guard, HttpClient, HttpError, Reply, is_loopback

T = TypeVar("T")
_SECONDS = 10.0
"""Seconds to wait for labels, summaries and health, which have no deadline."""
_MORE = 1.0
"""Seconds beyond a request's own deadline that its answer may take."""
_DECODERS: dict[type[Any], msgspec.json.Decoder[Any]] = {}


class Remote(Service):
    """A service at an address, asked over HTTP."""

    def __init__(self, address: str, guard: Guard | None = None) -> None:
        super().__init__(address)
        self.address = address.rstrip("/")
        proxies = guard is None and not is_loopback(urlsplit(self.address).hostname or "")
        self._client = HttpClient(guard, proxies=proxies)
        self._label: ContentLabel | None = None

    async def fetch(self, what: str, seconds: float = _SECONDS, body: bytes | None = None) -> bytes:
        """Return its answer at a path below its address; raise a ServiceError with the reason if there is none."""
        try:
            async with asyncio.timeout(seconds):
                reply = await self._client.call(f"{self.address}/{what}", body)
        except TimeoutError:
            raise ServiceError(f"{self.address} did not answer within {seconds:.3g} s", 504) from None
        except HttpError as error:
            raise ServiceError(f"{self.address} cannot be reached: {explain_call(error)}", 502) from None
        if reply.status != 200:
            raise ServiceError(f"{self.address} answered {reply.status}: {_refusal_of(reply)}", reply.status)
        return reply.body

    async def _ask(self, operation: str, request: Request, answer: type[T]) -> T:
        raw = await self.fetch(operation, request.deadline + _MORE, encode(request))
        return decode_answer(raw, answer)

    async def summary(self) -> Summary:
        """Return what is there, for people."""
        return decode_answer(await self.fetch("summary"), Summary)

    async def health(self) -> Health:
        """Return its health."""
        return decode_answer(await self.fetch("health"), Health)

    # -- its label ------------------------------------------------------------------------------------------------------

    @property
    def label(self) -> ContentLabel:
        """Return its content label, which `start` fetched."""
        if self._label is None:
            raise ServiceError(f"the label of {self.name} was not fetched", 503)
        return self._label

    @property
    def published(self) -> PublishedLabel:
        """Return its content label in parts."""
        return PublishedLabel(label_parts(self.label))

    async def start(self) -> None:
        """Fetch its label."""
        self._label = label_from_wire(await self.fetch("label?form=wire", 3 * _SECONDS))

    async def stop(self) -> None:
        """Close the connections."""
        await self._client.close()


def decode_answer(raw: bytes, answer: type[T]) -> T:
    """Return an answer from its JSON form, or raise a ServiceError if it is none."""
    try:
        return decoder_of(answer).decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ServiceError(f"this is not the answer of a Pagekin service: {error}", 502) from None


def decoder_of(answer: type[T]) -> msgspec.json.Decoder[T]:
    """Return the decoder of a kind of answers; made once."""
    if answer not in _DECODERS:
        _DECODERS[answer] = msgspec.json.Decoder(answer)
    return _DECODERS[answer]


def explain_call(error: HttpError) -> str:
    """Return why a call failed, and what to do, for the person who made it."""
    if not isinstance(error, ConnectError):
        return str(error)
    if error.refused:
        return f"{error.refused}{allow_hint(error.refused)}"
    return f"{system_reason(error.os_error)}. Is a router running there?"


def system_reason(error: OSError) -> str:
    """Return the system's message for an error, without the addresses that event loops add."""
    number = error.errno or 0
    return os.strerror(number) if number > 0 else str(error.strerror or error)


def allow_hint(refused: str) -> str:
    """Return what to write to allow an address that the guard refused, if it can be allowed."""
    if "never allowed" in refused:
        return ""
    word = next((word for word in ("loopback", "private") if word in refused), "")
    what = f'"{word}"' if word else "its address or range"
    return f"; to allow it, write allow = [{what}] under [network] in network.toml"


def refusal_reason(body: bytes) -> str:
    """Return the reason in the body of an answer that is an error, as far as it gives one."""
    try:
        text = str(msgspec.json.decode(body[:10_000], type=dict[str, Any]).get("detail", ""))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        text = ""
    return "".join(c for c in text if c.isprintable())[:300] or "no reason was given"


def _refusal_of(reply: Reply) -> str:
    if 300 <= reply.status < 400:
        return f"it leads to {str(reply.headers.get('Location', ''))[:300]}; ask there, if that is a router"
    return refusal_reason(reply.body)
