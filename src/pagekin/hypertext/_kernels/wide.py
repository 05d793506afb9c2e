"""Sixteen bytes at a time: what a processor's vector instructions do, on borrowed byte arrays.

Each function reads data[at : at + 16], whatever lies there: the caller sees to it that this is memory of the
array. A "mask" has bit i set where byte i has the property in question.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_BYTES = ir.VectorType(ir.IntType(8), 16)
_WORD = ir.IntType(64)
_THREE = types.UniTuple(types.uint64, 3)
_SPACE = ((9, 10), (12, 13), (32, 32))
_NAME_END = (*_SPACE, (47, 47), (62, 62))
_ATTRIBUTE_END = (*_SPACE, (47, 47), (61, 62))
_LETTER_OR_DIGIT = ((48, 57), (65, 90), (97, 122))
Ranges = Sequence[tuple[int, int]]


def _splat(byte: int) -> ir.Constant:
    """Sixteen times `byte`."""
    return ir.Constant(_BYTES, [byte] * 16)


def _address(builder: Any, pointer: Any, at: Any, kind: Any) -> Any:
    """The address of data[at], as a pointer to `kind`."""
    return builder.bitcast(builder.gep(pointer, [at]), kind.as_pointer())


def _load(builder: Any, pointer: Any, at: Any, kind: Any = _BYTES) -> Any:
    """What lies at data[at]."""
    return builder.load(_address(builder, pointer, at, kind), align=1)


def _within(builder: Any, value: Any, ranges: Ranges) -> Any:
    """Which bytes lie in one of the ranges."""
    found = None
    for low, high in ranges:
        if low == high:
            here = builder.icmp_unsigned("==", value, _splat(low))
        else:
            here = builder.icmp_unsigned("<=", builder.sub(value, _splat(low)), _splat(high - low))
        found = here if found is None else builder.or_(found, here)
    return found


def _mask(builder: Any, found: Any) -> Any:
    """A vector of truths as a mask."""
    return builder.zext(builder.bitcast(found, ir.IntType(16)), _WORD)


def _lowered(builder: Any, value: Any) -> Any:
    """`value` in ASCII lower case."""
    upper = builder.zext(_within(builder, value, ((65, 90),)), _BYTES)
    return builder.or_(value, builder.shl(upper, _splat(5)))


def _run(ranges: Ranges) -> Callable[..., Any]:
    """The generator of a function to (mask of bytes in `ranges`, the bytes in lower case as two numbers)."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        value = _load(builder, args[0], args[1])
        mask = _mask(builder, _within(builder, value, ranges))
        halves = builder.bitcast(_lowered(builder, value), ir.VectorType(_WORD, 2))
        low = builder.extract_element(halves, ir.IntType(32)(0))
        high = builder.extract_element(halves, ir.IntType(32)(1))
        return context.make_tuple(builder, _THREE, (mask, low, high))

    return generate


def _find(ranges: Ranges) -> Callable[..., Any]:
    """The generator of a function to the mask of bytes in `ranges`."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return _mask(builder, _within(builder, _load(builder, args[0], args[1]), ranges))

    return generate


@intrinsic
def word_run(_typing: Any, data: Any, _at: Any) -> Any:
    """(mask of ASCII letters and digits, bytes 0..7 and bytes 8..15 in lower case)."""
    return _THREE(data, types.int64), _run(_LETTER_OR_DIGIT)


@intrinsic
def tag_run(_typing: Any, data: Any, _at: Any) -> Any:
    """(mask of what ends a tag's name, bytes 0..7 and bytes 8..15 in lower case)."""
    return _THREE(data, types.int64), _run(_NAME_END)


@intrinsic
def attribute_run(_typing: Any, data: Any, _at: Any) -> Any:
    """(mask of what ends an attribute's name, bytes 0..7 and bytes 8..15 in lower case)."""
    return _THREE(data, types.int64), _run(_ATTRIBUTE_END)


@intrinsic
def spaces(_typing: Any, data: Any, _at: Any) -> Any:
    """The mask of HTML white space."""
    return types.uint64(data, types.int64), _find(_SPACE)


@intrinsic
def special_in_address(_typing: Any, data: Any, _at: Any) -> Any:
    """The mask of `&` and `#`."""
    return types.uint64(data, types.int64), _find(((38, 38), (35, 35)))


@intrinsic
def br_pairs(_typing: Any, data: Any, _at: Any) -> Any:
    """The mask of `b` before `r`, whatever their case; reads data[at + 16], too."""

    def generate(_context: Any, builder: Any, signature: Any, args: Any) -> Any:
        after = builder.add(args[1], ir.Constant(args[1].type, 1))
        first = builder.or_(_load(builder, args[0], args[1]), _splat(32))
        second = builder.or_(_load(builder, args[0], after), _splat(32))
        pair = builder.and_(_within(builder, first, ((98, 98),)), _within(builder, second, ((114, 114),)))
        return _mask(builder, pair)

    return types.uint64(data, types.int64), generate


@intrinsic
def equal(_typing: Any, data: Any, _at: Any, _byte: Any) -> Any:
    """The mask of bytes equal to `byte`."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        one = builder.insert_element(ir.Constant(_BYTES, ir.Undefined), args[2], ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), 16), [0] * 16)
        wanted = builder.shuffle_vector(one, ir.Constant(_BYTES, ir.Undefined), zeros)
        return _mask(builder, builder.icmp_unsigned("==", _load(builder, args[0], args[1]), wanted))

    return types.uint64(data, types.int64, types.uint8), generate


@intrinsic
def copy(_typing: Any, source: Any, _at: Any, target: Any, _to: Any) -> Any:
    """Copy source[at : at + 16] to target[to:]."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        builder.store(_load(builder, args[0], args[1]), _address(builder, args[2], args[3], _BYTES), align=1)
        return context.get_dummy_value()

    return types.void(source, types.int64, target, types.int64), generate


@intrinsic
def load(_typing: Any, data: Any, _at: Any) -> Any:
    """data[at : at + 8] as a little-endian number."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return _load(builder, args[0], args[1], _WORD)

    return types.uint64(data, types.int64), generate


@intrinsic
def store(_typing: Any, data: Any, _at: Any, _value: Any) -> Any:
    """Write a number to data[at : at + 8], little-endian."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        builder.store(args[2], _address(builder, args[0], args[1], _WORD), align=1)
        return context.get_dummy_value()

    return types.void(data, types.int64, types.uint64), generate


@intrinsic
def first_bit(_typing: Any, _mask: Any) -> Any:
    """The number of the lowest set bit; 64 if there is none."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate
