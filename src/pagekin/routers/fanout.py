"""Asking several services at once, within one deadline."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from pagekin.collection import Answer, Request, is_walking, walk
from pagekin.routers.child import time_for_children, with_deadline
from pagekin.routers.connection import ChildError, EncodedRequest
from pagekin.routers.reach import Target
from pagekin.routers.trust import believable

_WALKERS = ThreadPoolExecutor(2, "walk")
"""Threads that ask services in this process; more would only wait for each other."""
_STUCK = 0.25
"""Seconds after which a second thread helps, so that one collection on a slow disk does not block all."""
_SAME_TIME = 0.01
"""Seconds for which a request that goes to one service after another keeps its deadline."""
T = TypeVar("T")
Noted = TypeVar("Noted", contravariant=True)
R = TypeVar("R", bound=Request)


class ChildAnswer(msgspec.Struct, Generic[T], frozen=True):
    """How the call to one target ended: with an answer, or with the reason why there is none."""

    target: Target
    answer: T | None
    seconds: float
    size: int = 0
    error: str = ""


class Watch(Protocol[Noted]):
    """Requests to targets one after another, each of which may depend on earlier answers."""

    def request(self, target: Target) -> Request | None:
        """Return the request for a target, or None if it need not be asked."""

    def note(self, answer: Noted) -> None:
        """Record a target's answer."""


class FanOut:
    """Sends requests to a router's targets and collects what comes back in time."""

    def __init__(self, name: str, mark: str) -> None:
        self.name, self.mark = name, mark

    def why_stopped(self, request: Request) -> str:
        """Return why a request stops here (a loop, or too many routers on its way); '' if it continues."""
        loop = self.mark in request.visited
        if not loop and request.hops:
            return ""
        way = [mark.rpartition("/")[0] or mark for mark in request.visited]
        if loop:
            return f"{self.name}: a loop, {' > '.join((*way, self.name))}"
        return f"{self.name}: too many routers on the way, {' > '.join(way)}"

    def onward(self, request: R, **changes: Any) -> R:
        """Return a request as it is sent on to children."""
        return msgspec.structs.replace(
            request, hops=request.hops - 1, visited=(*request.visited, self.mark)[-32:], **changes
        )

    async def ask(
        self,
        operation: str,
        requests: Mapping[Target, Request],
        answer: type[T],
        deadline: float,
        watch: Watch[T] | None = None,
    ) -> list[ChildAnswer[T]]:
        """Return how the call to each target ended, in the order of `requests`.

        With `watch`, those in this process are asked what it says by then, and those that it spares are left out.
        """
        spared: set[Target] = set()
        try:
            left = time_for_children(deadline)
        except ChildError as error:
            return [ChildAnswer(target, None, 0.0, 0, str(error)) for target in requests]
        answers: dict[Target, ChildAnswer[T]] = {}
        near = deque(target for target in requests if target.local)

        def ask_local_targets() -> None:
            """Ask targets in this process one after another, as long as there is time."""
            asked: Request | None = None
            least = math.inf
            while near and (rest := until - time.monotonic()) > 0:
                try:
                    target = near.popleft()
                except IndexError:  # another thread took the last
                    return
                request = watch.request(target) if watch else requests[target]
                if request is None:
                    spared.add(target)
                    continue
                if request is not asked or rest < least:
                    asked, least, outgoing = request, rest - _SAME_TIME, EncodedRequest(with_deadline(request, rest))
                ended = walk(self._ask_one(operation, target, outgoing, answer))
                answers[target] = ended
                if watch and ended.answer is not None:
                    watch.note(ended.answer)

        until = time.monotonic() + left
        if is_walking():
            ask_local_targets()
        elif requests:
            far = {target: request for target, request in requests.items() if not target.local}
            await self._ask_at_once(operation, far, answer, until, answers, ask_local_targets if near else None)
        return [
            answers[target] if target in answers else ChildAnswer(target, None, left, 0, target.child.note_late(left))
            for target in requests
            if target not in spared
        ]

    async def _ask_at_once(
        self,
        operation: str,
        requests: Mapping[Target, Request],
        answer: type[T],
        until: float,
        answers: dict[Target, ChildAnswer[T]],
        ask_local_targets: Callable[[], None] | None,
    ) -> None:
        """Collect the targets' answers to `requests` in `answers`, while a thread asks those in this process.

        One timer serves all targets, as hundreds would cost too much.
        """
        left = until - time.monotonic()
        outgoing: dict[int, EncodedRequest] = {}
        tasks: dict[Target, asyncio.Task[ChildAnswer[T]]] = {}
        for target, request in requests.items():
            way = outgoing.setdefault(id(request), EncodedRequest(with_deadline(request, left)))
            tasks[target] = asyncio.create_task(self._ask_one(operation, target, way, answer))
        waiting: set[asyncio.Future[Any]] = set(tasks.values())
        loop = asyncio.get_running_loop()
        try:
            if ask_local_targets:
                waiting.add(loop.run_in_executor(_WALKERS, ask_local_targets))
                _done, waiting = await asyncio.wait(waiting, timeout=min(_STUCK, left))
                if waiting - set(tasks.values()):
                    waiting.add(loop.run_in_executor(_WALKERS, ask_local_targets))
            if waiting:
                await asyncio.wait(waiting, timeout=max(until - time.monotonic(), 0.0))
        finally:
            for task in tasks.values():
                task.cancel()
        answers |= {target: task.result() for target, task in tasks.items() if task.done() and not task.cancelled()}

    async def _ask_one(
        self, operation: str, target: Target, outgoing: EncodedRequest, answer: type[T]
    ) -> ChildAnswer[T]:
        began = time.perf_counter()
        response: Any
        try:
            response, size = await target.child.ask(operation, outgoing, answer)
        except ChildError as error:
            return ChildAnswer(target, None, time.perf_counter() - began, 0, str(error))
        if size and isinstance(response, Answer):  # services in this process clean what comes in from elsewhere
            response = await believable(response, outgoing.request, f"{self.name}/{target.name}")
        return ChildAnswer(target, response, time.perf_counter() - began, size)
