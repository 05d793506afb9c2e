"""Logarithms and powers computed by basic operations only, for the same bits on every machine.

Libraries choose other instructions for these on other processors, and their last bits differ. Additions, multiplications and
divisions of doubles are the same everywhere, so that what is made of them in a fixed order is, too.
"""

import numpy as np
import numpy.typing as npt

from pagekin.store import Array

LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
_LN_2_HIGH = 0.693147180369123816490  # its last 21 bits are 0: a multiple by a small integer is exact
_LN_2_LOW = 1.90821492927058770002e-10
_ROOT_OF_HALF = np.float64(0.7071067811865476).view(np.int64)
_EXPONENT = np.int64(52)
_SERIES = tuple(2 * LOG2_E / (2 * j + 1) for j in range(10))
"""log2 m = s Σ _SERIES[j] s^2j with s = (m - 1) / (m + 1); for m from √½ to √2 the rest is below 1e-16."""
_FACTORIALS = (
    1.0,
    1.0,
    2.0,
    6.0,
    24.0,
    120.0,
    720.0,
    5040.0,
    40320.0,
    362880.0,
    3628800.0,
    39916800.0,
    479001600.0,
    6227020800.0,
)
_LEAST_POWER = -745.0  # below it e^x is 0
_AT_ONCE = 1 << 13
"""Numbers for which the steps are taken together: they stay in the nearest cache."""


def log2(values: Array | float) -> npt.NDArray[np.float64]:
    """Return the binary logarithm of positive numbers, accurate to about 1e-15."""
    numbers = np.asarray(values, dtype=np.float64, order="C")
    logarithms = np.empty(numbers.shape)
    flat, out = numbers.reshape(-1), logarithms.reshape(-1)
    for first in range(0, len(flat), _AT_ONCE):
        out[first : first + _AT_ONCE] = _log2(flat[first : first + _AT_ONCE])
    return logarithms


def _log2(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    bits = numbers.view(np.int64)
    exponent = (bits - _ROOT_OF_HALF) >> _EXPONENT
    mantissa = (bits - (exponent << _EXPONENT)).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    total = np.full(len(s), _SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        total *= square
        total += coefficient
    total *= s
    return np.asarray(total + exponent)


def log(values: Array | float) -> npt.NDArray[np.float64]:
    """Return the natural logarithm of positive numbers."""
    return np.asarray(log2(values) * LN_2)


def exp(values: Array | float) -> npt.NDArray[np.float64]:
    """Return e^x of numbers up to 700, with a relative error of about 1e-15."""
    x = np.maximum(np.asarray(values, dtype=np.float64), _LEAST_POWER)
    power = np.rint(x * LOG2_E)
    rest = (x - power * _LN_2_HIGH) - power * _LN_2_LOW
    total = np.full(x.shape, 1.0 / _FACTORIALS[-1])
    for factorial in _FACTORIALS[-2::-1]:
        total = total * rest + 1.0 / factorial
    return np.asarray(np.ldexp(total, power.astype(np.int64)))
