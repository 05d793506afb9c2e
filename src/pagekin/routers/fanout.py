"""Asking several children at once, within one deadline."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from pagekin.collection import Answer, Request, is_walking, walk
from pagekin.routers.child import Child, time_for_children, with_deadline
from pagekin.routers.connection import ChildError, Outgoing
from pagekin.routers.trust import believable

_WALKERS = ThreadPoolExecutor(2, "walk")
"""Threads that ask services in this process. More of them would only wait for each other."""
_STUCK = 0.25
"""Seconds after which a second thread helps to ask them: one collection on a slow disk does not stop all."""
T = TypeVar("T")
Noted = TypeVar("Noted", contravariant=True)
R = TypeVar("R", bound=Request)


class ChildAnswer(msgspec.Struct, Generic[T], frozen=True):
    """How the call to one child ended: with an answer, or with the reason why there is none."""

    name: str
    answer: T | None
    seconds: float
    size: int = 0
    error: str = ""


class Watch(Protocol[Noted]):
    """What is asked of children one after another may depend on what those before have answered."""

    def request(self, name: str) -> Request | None:
        """Return what a child is asked, or None if it need not be."""

    def note(self, answer: Noted) -> None:
        """Take note of what a child answered."""


class FanOut:
    """Sends requests to a router's children and collects what comes back in time."""

    def __init__(self, name: str, mark: str, children: Mapping[str, Child]) -> None:
        self.name, self.mark, self._children = name, mark, children

    def why_stopped(self, request: Request) -> str:
        """Return why a request goes no further, or an empty text: it came around, or passed too many routers."""
        loop = self.mark in request.visited
        if not loop and request.hops:
            return ""
        way = [mark.rpartition("/")[0] or mark for mark in request.visited]
        if loop:
            return f"{self.name}: a loop, {' > '.join((*way, self.name))}"
        return f"{self.name}: too many routers on the way, {' > '.join(way)}"

    def onward(self, request: R, **changes: Any) -> R:
        """Return a request as it goes on to children."""
        return msgspec.structs.replace(
            request, hops=request.hops - 1, visited=(*request.visited, self.mark)[-32:], **changes
        )

    async def ask(
        self,
        operation: str,
        requests: Mapping[str, Request],
        answer: type[T],
        deadline: float,
        watch: Watch[T] | None = None,
    ) -> list[ChildAnswer[T]]:
        """Return how the call to each child ended, in the order of `requests`.

        With `watch`, children in this process are asked what it says by then, and those that it spares are left out.
        """
        spared: set[str] = set()
        try:
            left = time_for_children(deadline)
        except ChildError as error:
            return [ChildAnswer(name, None, 0.0, 0, str(error)) for name in requests]
        answers: dict[str, ChildAnswer[T]] = {}
        near = deque(name for name in requests if self._children[name].local)

        def walk_near() -> None:
            """Ask children in this process one after another, as long as there is time."""
            while near and (rest := until - time.monotonic()) > 0:
                try:
                    name = near.popleft()
                except IndexError:  # another thread took the last
                    return
                request = watch.request(name) if watch else requests[name]
                if request is None:
                    spared.add(name)
                    continue
                ended = walk(self._ask_one(operation, name, Outgoing(with_deadline(request, rest)), answer))
                answers[name] = ended
                if watch and ended.answer is not None:
                    watch.note(ended.answer)

        until = time.monotonic() + left
        if is_walking():
            walk_near()
        elif requests:
            far = {name: request for name, request in requests.items() if not self._children[name].local}
            await self._ask_at_once(operation, far, answer, until, answers, walk_near if near else None)
        return [
            answers[name] if name in answers else ChildAnswer(name, None, left, 0, self._children[name].note_late(left))
            for name in requests
            if name not in spared
        ]

    async def _ask_at_once(
        self,
        operation: str,
        requests: Mapping[str, Request],
        answer: type[T],
        until: float,
        answers: dict[str, ChildAnswer[T]],
        walk_near: Callable[[], None] | None,
    ) -> None:
        """Put what children answer to `requests` into `answers`, while a thread asks those in this process.

        One timer serves all children, as hundreds would cost too much.
        """
        left = until - time.monotonic()
        outgoing: dict[int, Outgoing] = {}
        tasks: dict[str, asyncio.Task[ChildAnswer[T]]] = {}
        for name, request in requests.items():
            way = outgoing.setdefault(id(request), Outgoing(with_deadline(request, left)))
            tasks[name] = asyncio.create_task(self._ask_one(operation, name, way, answer))
        waiting: set[asyncio.Future[Any]] = set(tasks.values())
        loop = asyncio.get_running_loop()
        try:
            if walk_near:
                waiting.add(loop.run_in_executor(_WALKERS, walk_near))
                _done, waiting = await asyncio.wait(waiting, timeout=min(_STUCK, left))
                if waiting - set(tasks.values()):
                    waiting.add(loop.run_in_executor(_WALKERS, walk_near))
            if waiting:
                await asyncio.wait(waiting, timeout=max(until - time.monotonic(), 0.0))
        finally:
            for task in tasks.values():
                task.cancel()
        answers |= {name: task.result() for name, task in tasks.items() if task.done() and not task.cancelled()}

    async def _ask_one(self, operation: str, name: str, outgoing: Outgoing, answer: type[T]) -> ChildAnswer[T]:
        began = time.perf_counter()
        found: Any
        try:
            found, size = await self._children[name].ask(operation, outgoing, answer)
        except ChildError as error:
            return ChildAnswer(name, None, time.perf_counter() - began, 0, str(error))
        if size and isinstance(found, Answer):  # services in this process clean what comes in from elsewhere
            found = await believable(found, outgoing.request, f"{self.name}/{name}")
        return ChildAnswer(name, found, time.perf_counter() - began, size)
