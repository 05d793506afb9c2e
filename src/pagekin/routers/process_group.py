"""Child processes: start them, wait until they are ready, replace dead ones, and end them with this process."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Self

from pagekin.collection import ServiceError
from pagekin.store import KinError, hold_interrupts

Tell = Callable[..., None]
"""Reports something to the parent process."""
_GRACE = 4.0
"""Seconds before a process that ended cleanly is replaced: a signal to all processes ends this one, too."""
_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
"""Seconds between checks that all processes live; longer the more often they die."""


@dataclass
class _Child:
    """A child process and its messages."""

    process: BaseProcess
    messages: Connection
    failed: str = ""
    ended: float | None = None
    """When its end was noticed."""


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201  # no one else tells


class ProcessGroup:
    """Processes that each run `target(tell, *call)` and report ("line", text) or ("ready", nodes, ill nodes)."""

    def __init__(
        self, target: Callable[..., None], calls: Sequence[tuple[Any, ...]], tell: Callable[[str], None] = _to_stderr
    ) -> None:
        self._target, self._calls, self._tell = target, calls, tell
        self._running: list[_Child] = []
        self._over = threading.Event()
        self._watcher: threading.Thread | None = None
        self.count = self.ill = 0
        """Nodes that they run, and those of them that cannot answer yet."""

    def __enter__(self) -> Self:
        self._running = [self._start(call) for call in self._calls]
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        if self._watcher:
            self._watcher.join(5)
        for one in self._running:
            one.process.terminate()
        for one in self._running:
            one.process.join(5)

    def _start(self, call: tuple[Any, ...]) -> _Child:
        """Start a child process. Ctrl-C reaches only this process, even while the child starts."""
        context = multiprocessing.get_context("spawn")
        messages, report = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(os.getpid(), report, self._target, call), daemon=True)
        with hold_interrupts():
            process.start()
        report.close()
        return _Child(process, messages)

    def until_ready(self) -> None:
        """Wait until all processes listen; raise ServiceError with the reason if one of them cannot."""
        waiting = {one.messages: one for one in self._running}
        while waiting:
            for messages in wait(list(waiting)):
                one = waiting[messages]  # type: ignore[index]  # these are the connections that went in
                kind, *what = self._next(one)
                if kind == "ready":
                    self.count, self.ill = self.count + what[0], self.ill + what[1]
                    del waiting[one.messages]
                elif kind == "failed":
                    raise ServiceError(what[0])
                elif kind == "ended":
                    raise ServiceError(f"a process ended before it was ready (exit code {one.process.exitcode})")

    def _next(self, one: _Child) -> tuple[Any, ...]:
        """Return the next message of a process; pass messages for people on."""
        try:
            message: tuple[Any, ...] = one.messages.recv()
        except (EOFError, OSError):
            one.process.join(5)
            return ("ended",)
        if message[0] == "line":
            self._tell(message[1])
        return message

    def watch(self) -> None:
        """Replace each process that dies from now on."""
        if self._running:
            self._watcher = threading.Thread(target=self._replace_the_dead, daemon=True)
            self._watcher.start()

    def _replace_the_dead(self) -> None:
        pause, last = _PAUSE, time.monotonic()
        while not self._over.wait(pause):
            for place, one in enumerate(self._running):
                self._listen_to(one)
                if self._is_dead(one) and not self._over.is_set():
                    why = one.failed or f"exit code {one.process.exitcode}"
                    self._tell(f"a process has died ({why}); starting another")
                    self._running[place] = self._start(self._calls[place])
                    pause, last = min(2 * pause, _LONGEST_PAUSE), time.monotonic()
            if time.monotonic() - last > 2 * _LONGEST_PAUSE:
                pause = _PAUSE

    @staticmethod
    def _is_dead(one: _Child) -> bool:
        """Return whether a process has failed, or has ended some time ago, so that another one should replace it."""
        if one.process.is_alive():
            return False
        one.ended = one.ended or time.monotonic()
        return one.process.exitcode != 0 or time.monotonic() - one.ended > _GRACE

    def _listen_to(self, one: _Child) -> None:
        """Take the messages that a process has sent by now."""
        while not one.messages.closed and one.messages.poll():
            kind, *what = self._next(one)
            if kind == "ready":
                self._tell(f"its {what[0]:,} nodes listen again")
            elif kind == "failed":
                one.failed = what[0]
            elif kind == "ended":
                one.messages.close()


def _run(parent: int, report: Connection, target: Callable[..., None], call: tuple[Any, ...]) -> None:
    """Run in a separate process until the parent is gone. Signals from the keyboard are left to the parent.

    An error that people can mend is reported without a traceback.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()

    def tell(*what: Any) -> None:
        with contextlib.suppress(OSError):
            report.send(what)

    try:
        target(tell, *call)
    except (ServiceError, KinError) as error:
        tell("failed", str(error))
        sys.exit(1)


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
