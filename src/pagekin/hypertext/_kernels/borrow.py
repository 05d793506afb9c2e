"""Give kernels arrays as bare pointers.

A compiled function counts references of every array it is given, atomically, at each call, passes it as seven
numbers, and checks every signed index for being negative. A borrowed array has none of that: indices count
from its start, and whoever lends it keeps it alive. The lexer is 8 times slower with arrays in place of pointers. When
kernels are checked (`pagekin.store.CHECKED`), a borrowed array keeps its length, and any index outside it, a negative
one too, raises IndexError.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pagekin.store import CHECKED


@intrinsic
def fold(_typing: Any, _one: Any, _other: Any) -> Any:
    """Return the two halves of the 128-bit product of two numbers, one XOR the other."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        wide, narrow = ir.IntType(128), ir.IntType(64)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        high = builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), narrow)
        return builder.xor(high, builder.trunc(product, narrow))

    return types.uint64(types.uint64, types.uint64), generate


if CHECKED:
    from pagekin.hypertext._kernels.checked import array_at, borrow, load, store
else:

    @intrinsic
    def borrow(_typing: Any, array: Any) -> Any:
        """Return a pointer to the first item of a contiguous `array`: valid while the caller holds `array`."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.make_array(signature.args[0])(context, builder, args[0]).data

        return types.CPointer(array.dtype)(array), generate

    @intrinsic
    def array_at(_typing: Any, address: Any, _length: Any, kind: Any) -> Any:
        """Return a pointer to `length` items of `kind` (a numpy type) at an address."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

        return types.CPointer(kind.dtype)(address, _length, kind), generate

    def _eight_bytes(builder: Any, array: Any, at: Any) -> Any:
        """Return a pointer to the eight bytes of `array` from `at` on, as one number."""
        return builder.bitcast(builder.gep(array, [at]), ir.IntType(64).as_pointer())

    @intrinsic
    def load(_typing: Any, array: Any, _at: Any) -> Any:
        """Return array[at : at + 8] of a borrowed array of bytes as a little-endian number."""

        def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.load(_eight_bytes(builder, *args), align=1)

        return types.uint64(array, types.int64), generate

    @intrinsic
    def store(_typing: Any, array: Any, _at: Any, _value: Any) -> Any:
        """Write a number to array[at : at + 8] of a borrowed array of bytes, little-endian."""

        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            builder.store(args[2], _eight_bytes(builder, args[0], args[1]), align=1)
            return context.get_dummy_value()

        return types.void(array, types.int64, types.uint64), generate


__all__ = ["array_at", "borrow", "fold", "load", "store"]
