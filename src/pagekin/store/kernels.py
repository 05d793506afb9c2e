"""Compile the kernels of all rooms in one way, fast or with every index checked."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pagekin.store.kernel_cache import cache_folder

CHECKED = os.environ.get("PAGEKIN_CHECK_KERNELS", "") not in ("", "0")
"""Whether kernels check every index, and raise IndexError in place of touching memory that is not theirs."""


def kernel(function: Callable[..., Any] | None = None, *, inline: bool = False) -> Any:
    """Compile a kernel and keep the compiled code between runs; for use as `@kernel` or `@kernel(inline=True)`.

    `inline` copies the function into its callers, so that what it returns stays in registers. Kernels run without the
    interpreter's lock: no two threads may give them the same array to write to.
    """
    if function is None:
        return lambda wrapped: kernel(wrapped, inline=inline)
    import numba

    # Numba reads this when it decorates a function.
    folder = cache_folder(Path(function.__code__.co_filename).parent, "checked" if CHECKED else "kernels")
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    compiled = numba.njit(cache=True, nogil=True, boundscheck=CHECKED, inline="always" if inline else "never")
    return compiled(function)
