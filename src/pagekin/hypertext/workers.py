"""Worker processes that read units, and can be killed in the middle of one.

A page can cost more than anyone foresaw, in compiled code that cannot be interrupted. So a worker sets an alarm of processor
time before each item of its unit, and the system kills it when the alarm goes off. What it had written as parts is kept. What
it had only in memory is read again by a new worker: first page by page, to learn which one took so long, and then without
that page, which is counted as skipped.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from typing import Any

from pagekin.errors import PagekinError
from pagekin.hypertext.journal import Journal
from pagekin.sources import Unit
from pagekin.store import hold_interrupts, is_full

_ALARM = signal.SIGPROF  # what ITIMER_PROF sends; without a handler it ends the process, whatever that is doing


class WorkerError(PagekinError):
    """A worker process that failed; the message is for the user, `detail` for a bug report."""

    fault = "ours"

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


@dataclass(frozen=True)
class Task:
    """A unit to read, or the rest of one."""

    place: int
    unit: Unit
    first: int = 0
    """The items before this one are in written parts."""
    careful: bool = False
    """Read page by page: one of them took too long."""
    refused: frozenset[int] = frozenset()
    """Items that took too long."""
    until: int = -1
    """The item that the source did not give in time: reading ends before it; -1 for none."""


class Clock:
    """The alarm of a worker; after it killed the worker, others can read what it was set for."""

    def __init__(self, seconds: float, shared: Any = None) -> None:
        self._seconds, self._shared = seconds, shared

    def start(self, item: int, taking: bool) -> None:
        """Set the alarm for fetching an item, or for `taking` it in; item -1 stands for the waiting pages."""
        if self._shared is not None:
            self._shared.value = 2 * item + taking
            signal.setitimer(signal.ITIMER_PROF, self._seconds)

    def stop(self) -> None:
        """Cancel the alarm."""
        if self._shared is not None:
            signal.setitimer(signal.ITIMER_PROF, 0)


NO_CLOCK = Clock(0)
"""For reading in this process, which nobody may kill."""


def _run(work: Callable[..., None], args: tuple[Any, ...], connection: Connection, clock: Clock, name: str) -> None:
    """Run a worker: `work(*args, connection, clock, name)`, which ends when it receives None."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted as well, and ends the workers
    signal.signal(_ALARM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        work(*args, connection, clock, name)
    except (EOFError, BrokenPipeError):
        return  # the parent is gone
    except Exception as error:
        clock.stop()
        _send_error(connection, error)


def _end_with_parent() -> None:
    """End this process when its parent is killed, because a later run may read the same units."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _send_error(connection: Connection, error: Exception) -> None:
    detail = "".join(traceback.format_exception(error))
    with contextlib.suppress(BrokenPipeError):
        try:
            connection.send(("failed", error, detail))
        except Exception:  # an error that cannot travel
            connection.send(("failed", RuntimeError(f"{type(error).__name__}: {error}"), detail))


@dataclass
class _Worker:
    """A worker as its parent sees it."""

    process: Any
    connection: Connection
    shared: Any
    tasks: dict[int, Task] = field(default_factory=dict)
    """What it has read or reads, and what is not all in written parts, by place."""
    current: Task | None = None
    ready: bool = False
    finishing: bool = False


class WorkerPool:
    """Workers that read tasks until the journal has all of them in written parts."""

    def __init__(
        self, count: int, seconds: float, work: Callable[..., None], args: tuple[Any, ...], journal: Journal
    ) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._seconds, self._work, self._args = seconds, work, args
        self._names = iter(range(1 << 30))
        self._waiting: deque[Task] = deque()
        self._journal = journal
        self._workers = [self._start() for _ in range(count)]

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        shared = self._context.RawValue("q", -1)
        args = (self._work, self._args, theirs, Clock(self._seconds, shared), str(next(self._names)))
        process = self._context.Process(target=_run, args=args, daemon=True)
        with hold_interrupts():
            process.start()
        theirs.close()
        return _Worker(process, ours, shared)

    def wait_until_ready(self) -> None:
        """Wait until every worker has loaded its code."""
        while not all(worker.ready for worker in self._workers):
            self._receive()

    def read(self, tasks: list[Task]) -> Iterator[int]:
        """Read units, starting in this order; yield the place of each unit when it is finished."""
        self._waiting.extend(tasks)
        untold = {task.place for task in tasks}
        while not all(self._journal.is_read(task.place) for task in tasks):
            self._hand_out()
            self._receive()
            ended = untold.intersection(self._journal.ended_units())
            yield from ended
            untold -= ended

    def _hand_out(self) -> None:
        """Give tasks to idle workers; when none are left, let them write their pages."""
        for worker in self._workers:
            if worker.ready and worker.current is None and not worker.finishing:
                if self._waiting:
                    worker.current = self._waiting.popleft()
                    worker.tasks[worker.current.place] = worker.current
                    self._send(worker, worker.current)
                elif worker.tasks and not any(other.current for other in self._workers):
                    worker.finishing = True
                    self._send(worker, "finish")

    def _send(self, worker: _Worker, message: Any) -> None:
        with contextlib.suppress(BrokenPipeError):  # it died: `_receive` will notice
            worker.connection.send(message)

    def _receive(self) -> None:
        """Wait for messages from workers, or for their ends."""
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(by_connection)):
            worker = by_connection[connection]  # type: ignore[index]
            try:
                self._note(worker, worker.connection.recv())
            except (EOFError, ConnectionResetError):
                self._bury(worker)

    def _note(self, worker: _Worker, message: tuple[Any, ...]) -> None:
        match message:
            case ("ready",):
                worker.ready = True
            case ("part", path, written):
                self._journal.note_part(path, written)
                self._forget_written(worker)
            case ("done", place, stop, size):
                self._journal.note_end(place, stop, size)
                worker.current = None
                self._forget_written(worker)
            case ("finished",):
                worker.finishing = False
            case ("failed", error, detail):
                raise _failure(error, detail)

    def _forget_written(self, worker: _Worker) -> None:
        """Forget a worker's tasks whose items are all in written parts."""
        for place in list(worker.tasks):
            if self._journal.is_read(place):
                del worker.tasks[place]

    def _bury(self, worker: _Worker) -> None:
        """Requeue the tasks of a worker that its alarm killed, and start another worker."""
        worker.process.join()
        worker.connection.close()
        if worker.process.exitcode != -_ALARM:
            raise WorkerError(
                "A reading process ended unexpectedly; if it was killed for lack of memory, use fewer --workers. "
                "The collection is as it was. Run the same command again to continue from what was read."
            )
        item, taking = divmod(worker.shared.value, 2)
        known = worker.current is not None and worker.current.careful and item >= 0
        for place, task in worker.tasks.items():
            # Without `known`, any page in memory may be the one: all that is read again is read page by page.
            careful = task.careful or not known
            again = replace(task, first=self._journal.items(place), careful=careful)
            if known and task is worker.current:
                again = replace(again, refused=task.refused | {item}) if taking else replace(again, until=item)
            self._journal.forget_end(place)
            self._waiting.append(again)
        self._workers[self._workers.index(worker)] = self._start()

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.connection.close()
            worker.process.kill()
            worker.process.join()


def _failure(error: Exception, detail: str) -> Exception:
    """Return the error to raise for a worker's error."""
    if isinstance(error, PagekinError) or is_full(error):
        return error  # it is the disk that parts are written to: who has the collection says so
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return WorkerError(f"Reading failed: {error.strerror or error}{where}", detail)
    return WorkerError(f"Reading failed: {type(error).__name__}: {error}", detail)
