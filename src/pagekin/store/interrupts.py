"""Keep Ctrl-C from processes that only this one may end."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C while processes are started: they inherit this, and this process is interrupted afterwards.

    A new process imports for a second before it can ignore the signal itself, and would fill the terminal with tracebacks.
    """
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it unblocks the signal when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
