"""An engine that runs stages of a build as a cluster might: in any order, in any batches, some tasks twice, some after a failure.

Tasks share nothing but collections on the disk and records that were packed to bytes. Each attempt has a folder of its own.
"""

import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from pagekin.bags import build, furniture, links, visits, weighing
from pagekin.hypertext import merge, string_lists
from pagekin.store import Progress, pack_record, unpack_record

Key = TypeVar("Key")
Part = TypeVar("Part")
Packed = tuple[type[Any], bytes]
BATCHES = (
    (build, "BATCH_WORDS", 3_000), (build, "BATCH_WORK", 20_000), (visits, "BATCH_ANCHORS", 500), (links, "_STEP", 2_000),
    (weighing, "BATCH_ENTRIES", 5_000), (furniture, "_BATCH_LINKS", 500), (furniture, "_BATCH_WORDS", 3_000),
    (merge, "_BLOCK_BYTES", 3_000), (merge, "_OPEN_BLOBS", 4), (string_lists, "FAN_IN", 20), (string_lists, "PIECE_STRINGS", 50),
)  # fmt: skip
"""What decides the sizes of batches, each with a size that makes several of a small web."""


class TaskFailedError(Exception):
    """What a task dies of."""


class Attempt(NamedTuple):
    """What a task is given."""

    folder: Path
    progress: Progress


Task = Callable[[Attempt], Any]


class ShufflingEngine:
    """Runs tasks, and packs what they return."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.failures = self.repeats = 0

    def run(self, tasks: Mapping[Key, Task]) -> dict[Key, Any]:
        """Return what each task returned: a record or a path, or a list of these."""
        results: dict[Key, Any] = {}
        for key in self.shuffled(tasks):
            while self.rng.random() < 0.2:
                self._fail(tasks[key])
            packed = self._attempt(tasks[key])
            if self.rng.random() < 0.3:
                self.repeats += 1
                assert self._without_paths(self._attempt(tasks[key])) == self._without_paths(packed), key
            results[key] = self._unpacked(packed)
        return results

    def combine(self, parts: Iterable[Part], join: Callable[[list[Part]], Part]) -> Part:
        """Join parts in any order, a few at a time."""
        waiting = self.shuffled(parts)
        while len(waiting) > 1:
            some = [waiting.pop() for _ in range(min(self.rng.randint(1, 4), len(waiting)))]
            waiting.insert(self.rng.randint(0, len(waiting)), self._unpacked(self._packed(join(some))))
        return join(waiting)

    def shuffled(self, values: Iterable[Part]) -> list[Part]:
        """Return values in any order."""
        ordered = list(values)
        self.rng.shuffle(ordered)
        return ordered

    def _fail(self, task: Task) -> None:
        """Let a task die, early or late."""
        left = self.rng.randint(0, 6)

        def fuse(_stage: str, _share: float) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise TaskFailedError

        self.failures += 1
        with self._batches():
            try:
                task(Attempt(self.make_room(), fuse))
            except TaskFailedError:
                return

    def _attempt(self, task: Task) -> Any:
        with self._batches():
            return self._packed(task(Attempt(self.make_room(), lambda _stage, _share: None)))

    def make_room(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))

    @contextmanager
    def _batches(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patched:
            for module, name, size in BATCHES:
                if self.rng.random() < 0.5:
                    patched.setattr(module, name, self.rng.randint(max(size // 10, 1), 2 * size))
            yield

    def _packed(self, result: Any) -> Any:
        if isinstance(result, list):
            return [self._packed(one) for one in result]
        return (type(result), pack_record(result)) if isinstance(result, tuple) else result

    def _unpacked(self, result: Any) -> Any:
        if isinstance(result, list):
            return [self._unpacked(one) for one in result]
        return unpack_record(*result) if isinstance(result, tuple) else result

    def _without_paths(self, packed: Any) -> Any:
        if isinstance(packed, list):
            return [self._without_paths(one) for one in packed]
        return None if isinstance(packed, Path) else packed
