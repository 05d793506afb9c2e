"""The hash of numbers. Kernels depend on this file, so it imports no other."""

from typing import Any

import numpy as np
import numpy.typing as npt

_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mix64(value: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Mix 64-bit numbers by a bijection that leaves no pattern (the finaliser of SplitMix64)."""
    with np.errstate(over="ignore"):
        z = (value ^ (value >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
    return np.asarray(z ^ (z >> np.uint64(31)))
