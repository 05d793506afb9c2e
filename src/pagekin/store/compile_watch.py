"""Watchers of the progress of compiling kernels; this module imports nothing heavy."""

import logging
from collections.abc import Callable
from typing import NamedTuple

_log = logging.getLogger("pagekin.store")


class CompileProgress(NamedTuple):
    """The progress of compiling."""

    done: int
    kernels: int
    processes: int
    """0 while another program compiles, which is waited for."""
    seconds_left: float
    """About: by what the list of kernels says, and later by the time that it has taken so far."""


_watches: list[Callable[[CompileProgress], None]] = []


def watch_compiling(watch: Callable[[CompileProgress], None]) -> None:
    """Register a function to be called with the progress of compiling."""
    _watches.append(watch)


def unwatch_compiling(watch: Callable[[CompileProgress], None]) -> None:
    """Call a registered function no more."""
    _watches.remove(watch)


def tell_watches(state: CompileProgress) -> None:
    """Call all watchers; without any, log a line, so that a program does not seem to hang."""
    for watch in _watches:
        watch(state)
    if not _watches and not state.done:
        what = (
            f"about {state.seconds_left:.0f} seconds" if state.processes else "waiting for another program that does so"
        )
        _log.warning("compiling %d kernels, only this once: %s", state.kernels, what)
