"""Arrays as bare pointers.

A compiled function counts references of every array it is given, atomically, at each call, passes it as seven
numbers, and checks every signed index for being negative. A borrowed array has none of that: indices count
from its start, and whoever lends it keeps it alive.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic


@intrinsic
def borrow(_typing: Any, array: Any) -> Any:
    """A pointer to the first item of a contiguous `array`: valid while the caller holds `array`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def at_address(_typing: Any, address: Any, kind: Any) -> Any:
    """A pointer to items of `kind` (a numpy type) at an address: for arrays whose number is not known beforehand."""

    def generate(_context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _context.get_value_type(signature.return_type)
        return builder.inttoptr(args[0], pointer)

    return types.CPointer(kind.dtype)(address, kind), generate
