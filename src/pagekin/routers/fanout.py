"""Asking several children at once, within one deadline."""

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from pagekin.collection import Request
from pagekin.routers.child import Child, time_for_children, with_deadline
from pagekin.routers.connection import ChildError, Outgoing

_NEAR_THREADS = ThreadPoolExecutor(2, "near children")
"""Threads that ask collections in this process. More of them wait for each other: in one run, p95 of a search at the root of 279
sites was 177 ms with six, 128 ms with two, 106 ms with one; two, so that one collection on a slow disk does not stop all."""
T = TypeVar("T")
R = TypeVar("R", bound=Request)


@dataclass(frozen=True)
class ChildAnswer(Generic[T]):
    """How the call to one child ended: with an answer, or with the reason why there is none."""

    name: str
    answer: T | None
    seconds: float
    size: int = 0
    error: str = ""


class FanOut:
    """Sends requests to a router's children and collects what comes back in time."""

    def __init__(self, name: str, mark: str, children: Mapping[str, Child]) -> None:
        self.name, self.mark, self._children = name, mark, children

    def why_stopped(self, request: Request) -> str:
        """Return why a request goes no further, or an empty text: it came around, or passed too many routers."""
        way = [mark.rpartition("/")[0] or mark for mark in request.visited]
        if self.mark in request.visited:
            return f"{self.name}: a loop, {' > '.join((*way, self.name))}"
        if request.hops == 0:
            return f"{self.name}: too many routers on the way, {' > '.join(way)}"
        return ""

    def onward(self, request: R, **changes: Any) -> R:
        """Return a request as it goes on to children."""
        return msgspec.structs.replace(
            request, hops=request.hops - 1, visited=(*request.visited, self.mark)[-32:], **changes
        )

    async def ask(
        self, operation: str, requests: Mapping[str, Request], answer: type[T], deadline: float
    ) -> list[ChildAnswer[T]]:
        """Return how the call to each child ended, in the order of `requests`.

        Collections in this process are asked one after another in one thread: a thread for each would cost more than the
        answers. One timer serves all children, as hundreds would cost too much.
        """
        if not requests:
            return []
        try:
            left = time_for_children(deadline)
        except ChildError as error:
            return [ChildAnswer(name, None, 0.0, 0, str(error)) for name in requests]
        near = {name: request for name, request in requests.items() if self._children[name].direct}
        outgoing: dict[int, Outgoing] = {}
        tasks: dict[str, asyncio.Task[ChildAnswer[T]]] = {}
        for name, request in requests.items():
            if name not in near:
                way = outgoing.setdefault(id(request), Outgoing(with_deadline(request, left)))
                tasks[name] = asyncio.create_task(self._ask_one(operation, name, way, answer))
        found: dict[str, ChildAnswer[T]] = {}
        waiting: set[asyncio.Future[Any]] = set(tasks.values())
        if near:
            until = time.monotonic() + left
            loop = asyncio.get_running_loop()
            waiting.add(loop.run_in_executor(_NEAR_THREADS, self._ask_near, operation, near, until, found))
        try:
            await asyncio.wait(waiting, timeout=left)
        finally:
            for task in tasks.values():
                task.cancel()
        for name, task in tasks.items():
            if task.done() and not task.cancelled():
                found[name] = task.result()
        return [
            found[name] if name in found else ChildAnswer(name, None, left, 0, self._children[name].note_late(left))
            for name in requests
        ]

    async def _ask_one(self, operation: str, name: str, outgoing: Outgoing, answer: type[T]) -> ChildAnswer[T]:
        began = time.perf_counter()
        try:
            found, size = await self._children[name].ask(operation, outgoing, answer)
        except ChildError as error:
            return ChildAnswer(name, None, time.perf_counter() - began, 0, str(error))
        return ChildAnswer(name, found, time.perf_counter() - began, size)

    def _ask_near(
        self, operation: str, requests: Mapping[str, Request], until: float, found: dict[str, ChildAnswer[Any]]
    ) -> None:
        """Ask collections in this process one after another, as long as there is time; put what they answer in `found`."""
        for name, request in requests.items():
            began = time.perf_counter()
            if (left := until - time.monotonic()) <= 0:
                return
            try:
                answer = self._children[name].ask_directly(operation, with_deadline(request, left))
            except ChildError as error:
                found[name] = ChildAnswer(name, None, time.perf_counter() - began, 0, str(error))
            else:
                found[name] = ChildAnswer(name, answer, time.perf_counter() - began)
