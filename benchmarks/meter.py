"""Measure the stages of a build: time, processor time and memory of this process and all that it started.

Memory is anonymous and shared memory (RssAnon + RssShmem), twenty times a second: files that are mapped are the system's to move
out. Stages report when a piece is done, so what was used since is theirs.
"""

import os
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY = 0.05


def processes(root: int) -> list[int]:
    """Return a process and all that it started, and so on."""
    found = [root]
    for process in found:
        for task in _entries(Path(f"/proc/{process}/task")):
            found += map(int, _read(task / "children").split())
    return found


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _read(file: Path) -> str:
    """Return what a file says; nothing if its process has ended."""
    try:
        return file.read_text()
    except OSError:
        return ""


def memory_of(root: int) -> int:
    """Return the anonymous and shared memory of a process and those that it started, in bytes."""
    total = 0
    for process in processes(root):
        lines = _read(Path(f"/proc/{process}/status")).splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return 1024 * total


def processor_seconds(root: int) -> float:
    """Return the processor time of a process, of those that it waited for and of those that still run."""
    ticks = 0
    for process in processes(root):
        fields = _read(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def where_now() -> str:
    """Return the function of ours that the main thread is in, with the line."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if "pagekin" in path.parts and path.name != "batches.py":
            return f"{path.parent.name}/{path.name}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back
    return ""


@dataclass
class Spent:
    """What one stage took."""

    seconds: float = 0.0
    cpu: float = 0.0
    peak: int = 0
    where: str = ""
    """Where the program was when it had most memory."""


@dataclass
class Meter:
    """Measures stages by what they report."""

    stages: dict[str, Spent] = field(default_factory=dict)
    _since: tuple[float, float] = (0.0, 0.0)
    _peak: tuple[int, str] = (0, "")
    _done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Meter":
        self._since = time.perf_counter(), processor_seconds(os.getpid())
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._done.wait(_EVERY):
            if (used := memory_of(os.getpid())) > self._peak[0]:
                self._peak = used, where_now()

    def tell(self, stage: str, _share: float) -> None:
        """Note that a piece of a stage is done."""
        now = time.perf_counter(), processor_seconds(os.getpid())
        spent = self.stages.setdefault(stage, Spent())
        spent.seconds += now[0] - self._since[0]
        spent.cpu += max(now[1] - self._since[1], 0.0)
        spent.peak, spent.where = max((spent.peak, spent.where), self._peak)
        self._since, self._peak = now, (0, "")
