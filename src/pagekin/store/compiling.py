"""Compile kernels before they are needed: all that are missing at once, by several processes, with progress.

`kernel_list.txt` names the kernels that programs call, with the types of their arguments and the seconds that compiling took
where the list was made; `scripts/kernels.py` makes it. A kernel that is not in it, or not for these types, is compiled when it
is first called.
"""

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, NamedTuple

from pagekin.store.batches import core_count
from pagekin.store.compile_watch import CompileProgress, tell_watches
from pagekin.store.kernel_cache import CHECKED, KernelFiles, writable_folder
from pagekin.store.kernel_types import read_signature

_HOUSE = Path(__file__).parent.parent
_LIST = Path(__file__).with_name("kernel_list.txt")
_MOST_PROCESSES = 8
_IN_CREW = "PAGEKIN_COMPILES"
"""Set in the environment of processes that compile for another."""
FEW_SECONDS = 3.0
"""Kernels that take less than this together are compiled as they are called: starting processes takes about as long."""


class ListedKernel(NamedTuple):
    """A kernel that programs call, with the types of its arguments."""

    module: str
    function: str
    signature: str
    seconds: float

    @property
    def file(self) -> Path | None:
        """Return the file that holds its machine code; None if it would have to be compiled here."""
        source = _HOUSE.joinpath(*self.module.split(".")[1:]).with_suffix(".py")
        return KernelFiles(source, self.function).find(self.signature)


_tried = False


@cache
def listed_kernels() -> tuple[ListedKernel, ...]:
    """Return the kernels that programs call."""
    lines = [line.split("\t") for line in _LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return tuple(
        ListedKernel(module, function, signature, float(seconds)) for seconds, module, function, signature in lines
    )


def missing_kernels() -> list[ListedKernel]:
    """Return the kernels of the list that would have to be compiled here."""
    return [kernel for kernel in listed_kernels() if kernel.file is None]


def compile_kernels(processes: int = 0) -> int:
    """Compile all missing kernels of the list in some processes (0: one per core); return how many were missing.

    Others who do the same at this time are waited for, and what they compiled is not compiled again. Nothing happens where
    compiled kernels cannot be kept.
    """
    folder = writable_folder()
    if folder is None or not sys.executable:
        return 0
    with _alone(folder / "compiling.lock"):
        missing = missing_kernels()
        if missing:
            _Crew(missing, processes or core_count()).run()
    return len(missing)


def compile_missing() -> bool:
    """Compile the kernels of the list that are missing, if compiling them takes long; return whether it was done."""
    if CHECKED or os.environ.get(_IN_CREW):
        return False
    return sum(kernel.seconds for kernel in missing_kernels()) > FEW_SECONDS and compile_kernels() > 0


def compile_once(module: str, function: str, signature: str) -> bool:
    """Compile all missing kernels when the first one is missing; return whether to look for that kernel again."""
    global _tried
    if _tried or not any(one[:3] == (module, function, signature) for one in listed_kernels()):
        return False
    _tried = True
    return compile_missing()


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Wait until no other process is compiling, and report the wait."""
    with file.open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell_watches(CompileProgress(0, len(missing_kernels()), 0, 0.0))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class _Crew:
    """Processes that compile, each watched by a thread that hands it kernels, those of one module after another."""

    def __init__(self, kernels: list[ListedKernel], processes: int) -> None:
        modules: dict[str, list[ListedKernel]] = defaultdict(list)
        for kernel in kernels:
            modules[kernel.module].append(kernel)
        costs = {module: sum(one.seconds for one in some) for module, some in modules.items()}
        self._waiting = deque(modules[module] for module in sorted(costs, key=lambda module: -costs[module]))
        self._count, self._total, self._longest = len(kernels), sum(costs.values()), max(costs.values())
        self._processes = max(1, min(processes, len(modules), _MOST_PROCESSES))
        self._lock = threading.Lock()
        self._done, self._seconds, self._began = 0, 0.0, time.monotonic()

    def run(self) -> None:
        """Compile all kernels; one that fails is compiled when it is first called."""
        self._report()
        workers = [_start_worker() for _ in range(self._processes)]
        threads = [threading.Thread(target=self._drive, args=(worker,), daemon=True) for worker in workers]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()

    def _drive(self, worker: "subprocess.Popen[str]") -> None:
        """Hand a process one kernel after another until there are none, or it has died."""
        assert worker.stdin is not None and worker.stdout is not None
        with suppress(OSError, IndexError):
            while kernels := self._next_module():
                for kernel in kernels:
                    worker.stdin.write("\t".join(kernel[:3]) + "\n")
                    worker.stdin.flush()
                    if not worker.stdout.readline():
                        return
                    with self._lock:
                        self._done += 1
                        self._seconds += kernel.seconds
                        self._report()

    def _next_module(self) -> list[ListedKernel]:
        with self._lock:
            return self._waiting.popleft()

    def _report(self) -> None:
        """Report progress: estimated from the list at first, then from the speed so far."""
        passed, share = time.monotonic() - self._began, self._seconds / max(self._total, 1e-9)
        planned = max(self._total / self._processes, self._longest)
        left = passed / share - passed if share > 0.1 else planned * (1 - share)
        tell_watches(CompileProgress(self._done, self._count, self._processes, max(left, 0.0)))


def _start_worker() -> "subprocess.Popen[str]":
    paths = [str(_HOUSE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), _IN_CREW: "1"}
    return subprocess.Popen(
        [sys.executable, "-c", "from pagekin.store.compiling import work; work()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
    )  # fmt: skip


def work(lines: IO[str] = sys.stdin, answers: IO[str] = sys.stdout) -> None:
    """Compile the kernels named on standard input, answering each with a line: the main loop of a crew process."""
    for line in lines:
        module, function, signature = line.rstrip("\n").split("\t")
        try:
            getattr(import_module(module), function).compile(read_signature(signature))
        except Exception as error:  # whoever calls this kernel compiles it, and sees the error
            print(f"failed: {error!r}".replace("\n", " "), file=answers, flush=True)
        else:
            print("done", file=answers, flush=True)
