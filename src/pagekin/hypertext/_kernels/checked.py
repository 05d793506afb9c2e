"""Lend arrays to kernels with every index checked: what `borrow` gives when `pagekin.store.CHECKED` is set.

Numba's own checks take a negative index for one that counts from the end, as Python does. A bare pointer, in whose place
this stands, would be read before its start.
"""

import operator
from typing import Any

import numpy as np
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic, make_attribute_wrapper, models, overload, register_model

from pagekin.store import kernel


class LentType(types.Type):  # type: ignore[misc]  # numba has no types
    """The type of a lent array, for the compiler."""

    def __init__(self, array: Any) -> None:
        self.array = array
        super().__init__(name=f"Lent({array})")


@register_model(LentType)
class LentModel(models.StructModel):  # type: ignore[misc]  # numba has no types
    """A lent array in memory: the array itself."""

    def __init__(self, manager: Any, lent: LentType) -> None:
        super().__init__(manager, lent, [("array", lent.array)])


make_attribute_wrapper(LentType, "array", "array")


@intrinsic
def borrow(_typing: Any, array: Any) -> Any:
    """Return a one-dimensional `array` as one that takes only indices from 0 to its length."""
    lent_type = LentType(array)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lent = cgutils.create_struct_proxy(lent_type)(context, builder)
        lent.array = args[0]
        context.nrt.incref(builder, signature.args[0], args[0])
        return lent._getvalue()

    return lent_type(array), generate


@intrinsic
def _pointer(_typing: Any, address: Any, kind: Any) -> Any:
    """Return a pointer to items of `kind` (a numpy type) at an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(kind.dtype)(address, kind), generate


@kernel
def array_at(address, length, kind):
    """Return the `length` items of `kind` (a numpy type) at an address, as `borrow` does."""
    return borrow(carray(_pointer(address, kind), (length,)))


@overload(operator.getitem)
def _get_item(lent: Any, index: Any) -> Any:
    """Read an item of a lent array."""
    if not isinstance(lent, LentType):
        return None

    def get(lent: Any, index: Any) -> Any:
        place = np.int64(index)
        if place < 0 or place >= len(lent.array):
            raise IndexError("a kernel reads outside its array")
        return lent.array[place]

    return get


@overload(operator.setitem)
def _set_item(lent: Any, index: Any, value: Any) -> Any:
    """Write an item of a lent array."""
    if not isinstance(lent, LentType):
        return None

    def put(lent: Any, index: Any, value: Any) -> None:
        place = np.int64(index)
        if place < 0 or place >= len(lent.array):
            raise IndexError("a kernel writes outside its array")
        lent.array[place] = value

    return put


@kernel
def load(array, at):
    """Return array[at : at + 8] of a lent array of bytes as a little-endian number."""
    value = np.uint64(0)
    for i in range(8):
        value |= np.uint64(array[at + i]) << np.uint64(8 * i)
    return value


@kernel
def store(array, at, value):
    """Write a number to array[at : at + 8] of a lent array of bytes, little-endian."""
    for i in range(8):
        array[at + i] = np.uint8(value >> np.uint64(8 * i))
