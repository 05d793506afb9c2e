"""Memory that is no longer needed."""

import contextlib
import ctypes


def give_back_memory() -> None:
    """Hand freed memory back to the system, where the C library can: else leftovers pile up."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
