"""Answers that are given again for some seconds, because the same is often asked by many at once."""

import time
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class Hot(Generic[T]):
    """The newest answers, by what was asked."""

    def __init__(self, seconds: float, most: int) -> None:
        self._seconds, self._most = seconds, most
        self._kept: OrderedDict[bytes, tuple[float, T]] = OrderedDict()

    def get(self, asked: bytes) -> T | None:
        """The answer, if it is new enough."""
        until, answer = self._kept.get(asked, (0.0, None))
        return answer if until > time.monotonic() else None

    def put(self, asked: bytes, answer: T) -> None:
        """Keep an answer; the oldest go."""
        if not self._seconds:
            return
        self._kept[asked] = time.monotonic() + self._seconds, answer
        self._kept.move_to_end(asked)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
