"""A cache of answers for some seconds, because many clients often ask the same at once."""

import time
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class TtlCache(Generic[T]):
    """The newest answers by request, each kept for some seconds; with 0 seconds nothing is kept."""

    def __init__(self, seconds: float, most: int) -> None:
        self.seconds, self._most = seconds, most
        self._entries: OrderedDict[bytes, tuple[float, T]] = OrderedDict()

    def get(self, key: bytes) -> T | None:
        """Return the answer, if it is new enough."""
        until, answer = self._entries.get(key, (0.0, None))
        return answer if until > time.monotonic() else None

    def put(self, key: bytes, answer: T) -> None:
        """Keep an answer; the oldest go."""
        if not self.seconds:
            return
        self._entries[key] = time.monotonic() + self.seconds, answer
        self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
