"""Coroutines without an event loop: one thread asks many services of this process, one after another.

A question is a coroutine, since some of those asked are at other addresses. Where all of them are in this process it
waits for nothing, and a thread can run it from end to end; a task and a thread for each would cost more than the answers.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def walk(question: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in this thread without an event loop; it may yield to others, but must not wait for anything."""
    while True:
        try:
            question.send(None)
        except StopIteration as end:
            answer: T = end.value
            return answer


def is_walking() -> bool:
    """Return whether the current coroutine is run by `walk` and not by an event loop."""
    return asyncio._get_running_loop() is None  # without the exception that the public one makes for each answer


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread, without blocking the event loop; under `walk`, in the current thread."""
    return work(*args, **kwargs) if is_walking() else await asyncio.to_thread(work, *args, **kwargs)
