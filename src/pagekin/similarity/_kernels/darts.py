"""Signatures of real-valued bags by throwing darts, many bags at a time. `similarity.darts` says how and why."""

from typing import Any

import numpy as np
from numba import float64, njit, types, uint64
from numba.extending import intrinsic


@intrinsic
def _bits(_typing: Any, value: Any) -> Any:
    """A double's 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.uint64))

    return types.uint64(types.float64), generate


@intrinsic
def _double(_typing: Any, bits: Any) -> Any:
    """The double with these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(types.float64))

    return types.float64(types.uint64), generate


GOLDEN = uint64(0x9E3779B97F4A7C15)
_FIRST = uint64(0xBF58476D1CE4E5B9)
_SECOND = uint64(0x94D049BB133111EB)
_NAME = uint64(0xD6E8FEB86659FD93)
_LN2 = 0.6931471805599453
_TOP = (24 + 1023) * 0.6931471805599453
# ln(1.5 + y) for |y| <= 1/2, to 3e-7; `similarity.darts` holds the same numbers.
_C0, _C1, _C2, _C3 = 0.4054652872055158, 0.6666665600887427, -0.22224508255021647, 0.09877903506549046
_C4, _C5, _C6, _C7 = -0.04893241608351673, 0.026069587276651873, -0.017405023404535314, 0.01000928961639147
_FEW, _BLOCK = 8, 8
_EMPTY = uint64(0xFFFFFFFFFFFFFFFF)


@njit(cache=True, nogil=True, inline="always")
def mix64(value):
    """A bijection of 64-bit numbers that leaves no pattern; `similarity.darts` has it for numpy."""
    z = (value ^ (value >> uint64(30))) * _FIRST
    z = (z ^ (z >> uint64(27))) * _SECOND
    return z ^ (z >> uint64(31))


@njit(cache=True, nogil=True, inline="always")
def _dart(counter):
    """(dart, gap to it) of a counter."""
    z = mix64(counter)
    bits = _bits(float64((z >> uint64(16)) & uint64(0xFFFFFF)) + 0.5)
    y = _double((bits & uint64(0xFFFFFFFFFFFFF)) | uint64(0x3FF0000000000000)) - 1.5
    log = _C7 * y + _C6
    log = log * y + _C5
    log = log * y + _C4
    log = log * y + _C3
    log = log * y + _C2
    log = log * y + _C1
    log = log * y + _C0
    return z, _TOP - float64(bits >> uint64(52)) * _LN2 - log


@njit(cache=True, nogil=True)
def _round(state, level, limit, dart, hit, active):
    """The next dart of each of the first `active` terms: no branch and no table, so done eight terms at a time."""
    for i in range(active):
        counter = state[i] + GOLDEN
        z, gap = _dart(counter)
        level[i] += gap
        state[i] = counter
        dart[i] = z
        hit[i] = level[i] <= limit[i]


@njit(cache=True, nogil=True)
def _block(counter, dart, gap):
    """The next eight darts of one term."""
    for i in range(_BLOCK):
        dart[i], gap[i] = _dart(counter + uint64(i + 1) * GOLDEN)


@njit(cache=True, nogil=True)
def throw(terms, weights, first, last, hashes, seed, reach, limit, level, state, dart, hit, chosen, best):
    """Throw one layer's darts at the bag [first, last): `best[j]` becomes the least dart of position j.

    In rounds, one dart for each term that is not yet past its weight; the few heaviest terms one by one. The arrays
    from `limit` to `chosen` have room for the bag's terms, and for eight at least.
    """
    m = uint64(len(best))
    active = last - first
    for i in range(active):
        level[i] = 0.0
        limit[i] = float64(weights[first + i]) * reach
        state[i] = hashes[terms[first + i]] ^ seed
    while active > _FEW:
        _round(state, level, limit, dart, hit, active)
        left = 0
        for i in range(active):
            chosen[left] = i
            left += hit[i]
        for k in range(left):
            i = chosen[k]
            z = dart[i]
            j = ((z & uint64(0xFFFF)) * m) >> uint64(16)
            best[j] = min(best[j], z)
            level[k], limit[k], state[k] = level[i], limit[i], state[i]
        active = left
    gap = level[_FEW:]
    for i in range(active):
        height, counter = level[i], state[i]
        while True:
            _block(counter, dart, gap)
            counter += uint64(_BLOCK) * GOLDEN
            for k in range(_BLOCK):
                height += gap[k]
                if height > limit[i]:
                    break
                z = dart[k]
                j = ((z & uint64(0xFFFF)) * m) >> uint64(16)
                best[j] = min(best[j], z)
            if height > limit[i]:
                break


@njit(cache=True, nogil=True)
def sign_by_darts(terms, weights, offsets, hashes, seeds, reaches, out):
    """Write the signature of each bag i, [offsets[i], offsets[i + 1]), to out[i].

    Layer by layer (a seed and a reach each) until no position is empty. Cost: about m (ln m + 2) darts and one more
    per term, a few ns each.
    """
    m = out.shape[1]
    best = np.empty(m, dtype=np.uint64)
    extra = np.empty(m, dtype=np.uint64)
    most = _FEW + _BLOCK
    for i in range(len(offsets) - 1):
        most = max(most, offsets[i + 1] - offsets[i])
    limit = np.empty(most)
    level = np.empty(most)
    state = np.empty(most, dtype=np.uint64)
    dart = np.empty(most, dtype=np.uint64)
    hit = np.empty(most, dtype=np.uint8)
    chosen = np.empty(most, dtype=np.int64)
    for i in range(len(offsets) - 1):
        best[:] = _EMPTY
        throw(
            terms, weights, offsets[i], offsets[i + 1], hashes, seeds[0], reaches[0], limit, level, state, dart,
            hit, chosen, best,
        )  # fmt: skip
        for layer in range(1, len(seeds)):
            empty = 0
            for j in range(m):
                if best[j] == _EMPTY:
                    empty += 1
            if empty == 0:
                break
            extra[:] = _EMPTY
            throw(
                terms, weights, offsets[i], offsets[i + 1], hashes, seeds[layer], reaches[layer], limit, level,
                state, dart, hit, chosen, extra,
            )  # fmt: skip
            for j in range(m):
                if best[j] == _EMPTY:
                    best[j] = extra[j]
        for j in range(m):
            out[i, j] = np.uint32((best[j] * _NAME) >> uint64(32))
