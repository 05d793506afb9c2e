"""Small collections for the tests of the store, and processes that are stopped while they write them."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.store import Finding, KinWriter, check_files, open_kin

OLD: dict[str, npt.NDArray[Any]] = {
    "number": np.arange(1_000, dtype=np.uint32),
    "empty": np.zeros(0, dtype=np.uint16),
    "text.bytes": np.frombuffer(b"once upon a time", dtype=np.uint8),
}
NEW: dict[str, npt.NDArray[Any]] = {
    "number": np.arange(500, 3_000, dtype=np.uint32),
    "empty": np.zeros(0, dtype=np.float32),
    "other": np.linspace(0, 1, 777),
}


def write(path: Path, arrays: dict[str, npt.NDArray[Any]], **facts: Any) -> None:
    """Commit `arrays` to the collection at `path`."""
    with KinWriter(path, "test") as writer:
        for name, values in arrays.items():
            writer.put(name, values)
        writer.commit(facts)


def holds(path: Path, arrays: dict[str, npt.NDArray[Any]]) -> bool:
    """Return whether the collection at `path` consists of exactly `arrays`."""
    kin = open_kin(path)
    return set(kin.arrays) == set(arrays) and all(
        kin[name].dtype == values.dtype and np.array_equal(kin[name], values) for name, values in arrays.items()
    )


def findings(path: Path) -> list[Finding]:
    """All that `check_files` finds."""
    return list(check_files(path))


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a child process; its exit status, negative if a signal ended it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_at(step: int) -> None:
    """Let this process die by kill -9 just before its `step`-th change of the file system from now on."""
    left = step

    def count() -> None:
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    _at_each_change(count)


def count_changes(work: Callable[[], object]) -> int:
    """Run `work` in a child process; return how often it changed the file system."""
    receiver, sender = os.pipe()

    def counted() -> None:
        _at_each_change(lambda: os.write(sender, b"."))
        work()

    reader = threading.Thread(target=lambda: dots.append(_read_to_end(receiver)))
    dots: list[bytes] = []
    reader.start()
    status = in_child(counted)
    os.close(sender)
    reader.join()
    assert status == 0
    return len(dots[0])


def _read_to_end(handle: int) -> bytes:
    with os.fdopen(handle, "rb") as stream:
        return stream.read()


def _at_each_change(act: Callable[[], object]) -> None:
    """Act just before each change of the file system by this process from now on."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir"):
            act()

    sys.addaudithook(hook)
