"""Arrays without reference counts.

A compiled function counts references of every array it is given, atomically, at each call: a third of the lexer's
time. A borrowed array has no count; whoever lends it keeps it alive.
"""

from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def _pointer(_context, _address):
    def generate(_context, builder, _signature, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.uintp), generate


@njit(cache=True)
def borrow(array):
    """The same memory as `array`, uncounted: valid while the caller holds `array`."""
    return carray(_pointer(array.ctypes.data), array.shape, array.dtype)
