"""How a router reaches a child: over HTTP, or directly where the child runs in the same process."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import msgspec

from pagekin import labels
from pagekin.collection import PublishedLabel, Request, Service, ServiceError, encode
from pagekin.net import ConnectError, HttpClient, HttpError
from pagekin.routers.bounds import bound_of
from pagekin.routers.remote import allow_hint, decoder_of, refusal_reason, system_reason
from pagekin.store import KinError
from pagekin.text import QueryError

T = TypeVar("T")
_RETRY_AFTER = 0.05
_REFUSALS = (400, 404, 413)
"""Status codes of a healthy child that refuses the request or does not know the page."""


class ChildError(Exception):
    """A child gave no answer; the message says why. `reached` says whether it was reached at all."""

    def __init__(self, message: str, reached: bool = True) -> None:
        super().__init__(message)
        self.reached = reached


class NotReadyError(ChildError):
    """A child was reached, but has no label yet."""


class RefusedError(ChildError):
    """A child was reached, but refuses the request."""


@dataclass
class EncodedRequest:
    """A request on its way to several children, encoded once."""

    request: Request

    @cached_property
    def body(self) -> bytes:
        """Return the request as JSON."""
        return encode(self.request)


class HttpConnection:
    """The connection to a child at an address."""

    def __init__(self, client: HttpClient, url: str) -> None:
        self._client, self._url = client, url.rstrip("/")

    async def ask(self, operation: str, outgoing: EncodedRequest, answer: type[T]) -> tuple[T, int]:
        """Return what the child answers and its size in bytes; a connection that cannot be made is tried once more."""
        url, bound = f"{self._url}/{operation}", bound_of(operation, outgoing.request)
        try:
            try:
                reply = await self._client.call(url, outgoing.body, most=bound.size)
            except ConnectError:
                await asyncio.sleep(_RETRY_AFTER * random.uniform(0.5, 1.5))
                reply = await self._client.call(url, outgoing.body, most=bound.size)
        except HttpError as error:
            raise _child_error(error) from error
        if reply.status != 200:
            kind = RefusedError if reply.status in _REFUSALS else ChildError
            raise kind(f"it answered {reply.status}: {refusal_reason(reply.body)}")
        if excess := bound.excess(reply.body):
            raise ChildError(f"its answer is refused: {excess}")
        try:
            return decoder_of(answer).decode(reply.body), len(reply.body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise ChildError(f"its answer cannot be understood: {str(error)[:200]}") from None

    async def changed_parts(
        self, etags: Mapping[str, str], most: int | None, limits: labels.LabelLimits
    ) -> dict[str, labels.ContentLabel]:
        """Fetch the parts of the child's label whose ETags differ, cut to `most` bytes if that is given."""
        changed = {
            function: await self._part(function, etags.get(function, ""), most, limits)
            for function in labels.ABSTRACTION_FUNCTIONS
        }
        return {function: part for function, part in changed.items() if part is not None}

    async def _part(
        self, function: str, tag: str, most: int | None, limits: labels.LabelLimits
    ) -> labels.ContentLabel | None:
        headers = {"If-None-Match": f'"{tag}"'} if tag else {}
        within = f"&max_bytes={most}" if most else ""
        try:
            reply = await self._client.call(
                f"{self._url}/label?part={function}&form=wire{within}", headers=headers, most=limits.bytes
            )
        except HttpError as error:
            raise _child_error(error) from error
        if reply.status == 304:
            return None
        if reply.status == 503:
            raise NotReadyError(refusal_reason(reply.body))
        if reply.status != 200:
            raise ChildError(f"it answered {reply.status}: {refusal_reason(reply.body)}")
        return await asyncio.to_thread(labels.label_from_wire, reply.body, limits)


class DirectConnection:
    """The connection to a child in the same process: nothing is encoded or sent."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def ask(self, operation: str, outgoing: EncodedRequest, answer: type[T]) -> tuple[T, int]:
        """Return what the child answers; its size is 0."""
        try:
            response: T = await getattr(self.service, operation)(outgoing.request)
        except Exception as error:
            raise self._child_error(error) from error
        return response, 0

    def _child_error(self, error: Exception) -> ChildError:
        if isinstance(error, QueryError):
            return RefusedError(f"it answered 400: {error}"[:500])
        if isinstance(error, ServiceError):
            kind = RefusedError if error.status in _REFUSALS else ChildError
            return kind(f"it answered {error.status}: {error}"[:500])
        return ChildError(f"it answered 500: {self.service.explain_fault(error)}"[:500])

    async def changed_parts(
        self, etags: Mapping[str, str], most: int | None, limits: labels.LabelLimits
    ) -> dict[str, labels.ContentLabel]:
        """Return the parts of the child's label that changed."""
        try:
            published = self.service.published
            if most:
                _cut, published = await asyncio.to_thread(cut_to, self.service.label, most)
        except (ServiceError, KinError) as error:
            raise NotReadyError(str(error)) from None
        tags = published.etags
        return {function: part for function, part in published.parts.items() if tags[function] != etags.get(function)}


Connection = HttpConnection | DirectConnection
"""The connection to a child."""


def cut_to(label: labels.ContentLabel, most: int) -> tuple[labels.ContentLabel, PublishedLabel]:
    """Return a label, whole and in parts, cut to this many bytes for a parent that asks for less."""
    cut = labels.cut_label(label, labels.LabelBudget(clusters=labels.ROUTER_CLUSTERS, bytes=most))
    return cut, PublishedLabel(labels.label_parts(cut))


def _child_error(error: HttpError) -> ChildError:
    """Return a short description of a failed call."""
    if not isinstance(error, ConnectError):
        return ChildError(str(error))
    if error.refused:
        return ChildError(f"it may not be called: {error.refused}{allow_hint(error.refused)}", reached=False)
    return ChildError(f"it cannot be reached ({system_reason(error.os_error).lower()})", reached=False)
