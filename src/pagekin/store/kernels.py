"""Compile the kernels of all rooms in one way, fast or with every index checked."""

from collections.abc import Callable
from typing import Any

from pagekin.store.kernel_cache import CHECKED, KernelCache, fix_processor

__all__ = ["CHECKED", "kernel"]


def kernel(function: Callable[..., Any] | None = None, *, inline: bool = False) -> Any:
    """Compile a kernel and keep the compiled code between runs; for use as `@kernel` or `@kernel(inline=True)`.

    `inline` copies the function into its callers, so that what it returns stays in registers. Kernels run without the
    interpreter's lock: no two threads may give them the same array to write to.
    """
    if function is None:
        return lambda wrapped: kernel(wrapped, inline=inline)
    import numba

    fix_processor()
    compiled: Any = numba.njit(nogil=True, boundscheck=CHECKED, inline="always" if inline else "never")(function)
    compiled._cache = KernelCache(function)  # in place of none; numba's own does not notice edits in other files
    return compiled
