"""Return memory that is no longer needed."""

import contextlib
import ctypes


def give_back_memory() -> None:
    """Hand freed memory back to the system, where the C library can; otherwise it piles up."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
