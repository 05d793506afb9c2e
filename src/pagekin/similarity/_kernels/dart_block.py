"""Throw eight darts at a time, in the lanes of a vector.

This is the one place where a kernel is written for the compiler by hand, because the compiler does not find the lanes
itself: a plain loop with the same results makes signatures 1.6 times slower. Any processor runs it, in as many steps as
it needs.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pagekin.similarity.darts import BLOCK, GAP, GOLDEN, ONE
from pagekin.store import CHECKED, kernel

# The definition's constants, as numbers for the compiler.
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


@intrinsic
def _throw_block(_typing: Any, state: Any, rest: Any, queue: Any, place: Any) -> Any:
    """Throw eight darts in eight lanes: the implementation of `throw_block`."""
    lanes = range(BLOCK)
    index, word = ir.IntType(32), ir.IntType(64)
    words, doubles = ir.VectorType(word, BLOCK), ir.VectorType(ir.DoubleType(), BLOCK)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def shuffle(one: Any, other: Any, chosen: list[int]) -> Any:
            return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(index, BLOCK), chosen))

        def everywhere(value: Any, kind: Any) -> Any:
            nothing = ir.Constant(kind, ir.Undefined)
            return shuffle(builder.insert_element(nothing, value, index(0)), nothing, [0] * BLOCK)

        def constant(value: int) -> Any:
            return ir.Constant(words, [value] * BLOCK)

        def fold(value: Any, distance: int) -> Any:
            return builder.xor(value, builder.lshr(value, constant(distance)))

        state, rest, queue, place = args
        steps = ir.Constant(words, [int(GOLDEN) * (lane + 1) % 2**64 for lane in lanes])
        dart = builder.add(everywhere(state, words), steps)
        dart = builder.mul(fold(dart, 30), constant(_FIRST))
        dart = builder.mul(fold(dart, 27), constant(_SECOND))
        dart = fold(dart, 31)
        data = context.make_array(signature.args[2])(context, builder, queue).data
        builder.store(dart, builder.bitcast(builder.gep(data, [place]), words.as_pointer()), align=8)
        u = builder.or_(builder.and_(builder.shl(dart, constant(12)), constant(int(GAP))), constant(int(ONE)))
        u = builder.fsub(builder.bitcast(u, doubles), ir.Constant(doubles, [1 - 2.0**-25] * BLOCK))
        ones = ir.Constant(doubles, [1.0] * BLOCK)
        for k in (1, 2, 4):
            # The later half of each 2 k lanes is multiplied by the last of the earlier half.
            u = builder.fmul(u, shuffle(u, ones, [lane // k * k - 1 if lane & k else BLOCK for lane in lanes]))
        left = builder.fmul(everywhere(rest, doubles), u)
        hits = builder.bitcast(builder.fcmp_ordered(">=", left, ones), ir.IntType(BLOCK))
        count = builder.zext(builder.ctpop(hits), word)
        last = builder.extract_element(left, index(BLOCK - 1))
        return context.make_tuple(builder, signature.return_type, [count, last])

    return types.Tuple((types.int64, types.float64))(types.uint64, types.float64, queue, types.intp), generate


@kernel(inline=True)
def throw_block(state, rest, queue, place):
    """Return (the number of a term's next eight darts below its weight, the remainder of `rest` after them).

    Write the eight to `queue` (uint64) from `place` on: those below the weight come first.
    """
    if CHECKED and (place < 0 or place + BLOCK > len(queue)):
        raise IndexError("a kernel writes outside its array")
    return _throw_block(state, rest, queue, place)
