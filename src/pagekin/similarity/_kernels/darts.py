"""Sign real-valued bags by throwing darts, many bags at a time; `similarity.darts` explains the method."""

import numpy as np
from numba import float64, int64, uint64

from pagekin.bags import mix_number
from pagekin.similarity._kernels.dart_block import throw_block
from pagekin.similarity.darts import BLOCK, EMPTY, GAP, GOLDEN, LATER, LAYERS, LOG2E, NAME, ONE, PIECE, POWERS, ROUND
from pagekin.store import kernel

_ROOM = 2048  # darts on their way to their positions; 16 kB stay in the nearest cache


@kernel(inline=True)
def _bits(value):
    """Return a double's 64 bits."""
    return np.float64(value).view(np.uint64)


@kernel(inline=True)
def _double(bits):
    """Return the double with these 64 bits."""
    return np.uint64(bits).view(np.float64)


@kernel(inline=True)
def _exp(level):
    """Return e^level for levels from 0 to PIECE."""
    p1, p2, p3, p4, p5, p6 = POWERS
    power = level * LOG2E
    rounded = power + ROUND
    y = power - (rounded - ROUND)
    value = ((((p6 * y + p5) * y + p4) * y + p3) * y + p2) * y + p1
    return _double(_bits(value * y + 1.0) + (_bits(rounded) << uint64(52)))


@kernel
def _first_darts(weights, seed, reach, state, rest, hit):
    """Mark in `hit[i]` whether the first dart of term i lies below its weight; count the weights beyond one piece.

    No branch and no table, so that the compiler takes eight terms at a time.
    """
    beyond = 0
    for i in range(len(weights)):
        level = float64(weights[i]) * reach
        beyond += level > PIECE
        rest[i] = _exp(min(level, PIECE))
        dart = mix_number((state[i] ^ seed) + GOLDEN)
        hit[i] = rest[i] * (_double(((dart << uint64(12)) & GAP) | ONE) - (1 - 2.0**-25)) >= 1.0
    return beyond


@kernel(inline=True)
def _settle(queue, waiting, best):
    """Move the waiting darts to their positions: `best[j]` becomes the least dart of position j."""
    m = uint64(len(best))
    for k in range(waiting):
        dart = queue[k]
        j = ((dart & uint64(0xFFFF)) * m) >> uint64(16)
        best[j] = min(best[j], dart)


@kernel(inline=True)
def _throw_piece(state, level, rest, queue, waiting, best):
    """Add the darts of one piece of a term's axis (e^level = rest) to the waiting ones; return how many wait."""
    # The blocks that will do mostly, so that the processor need not guess from each whether it is the last: what it
    # drops after a wrong guess is dearer than a block too many, in which no dart lies below the weight.
    blocks = 1 + int64(level * (1.2 / BLOCK))
    while blocks > 0 or rest >= 1.0:
        if waiting > _ROOM - BLOCK:
            _settle(queue, waiting, best)
            waiting = 0
        count, rest = throw_block(state, rest, queue, waiting)
        waiting += count
        state += uint64(BLOCK) * GOLDEN
        blocks -= 1
    return waiting


@kernel
def _throw(weights, seed, reach, state, rest, hit, chosen, queue, best):
    """Throw one layer's darts at a bag of these weights, whose terms have the hashes `state`.

    First one dart for each term, as most terms of a long bag are not hit at all; then blocks for those that are.
    """
    beyond = _first_darts(weights, seed, reach, state, rest, hit)
    count = 0
    for i in range(len(weights)):
        chosen[count] = i
        count += hit[i]
    waiting = 0
    for k in range(count):
        i = chosen[k]
        level = min(float64(weights[i]) * reach, PIECE)
        waiting = _throw_piece(state[i] ^ seed, level, rest[i], queue, waiting, best)
    if beyond:
        for i in range(len(weights)):
            level = float64(weights[i]) * reach
            piece = uint64(0)
            while level > PIECE:
                level -= PIECE
                piece += uint64(1)
                above = min(level, PIECE)
                counter = state[i] ^ mix_number(seed + piece)
                waiting = _throw_piece(counter, above, _exp(above), queue, waiting, best)
    _settle(queue, waiting, best)


@kernel
def sign_by_darts(terms, weights, offsets, hashes, seed, reach, out):
    """Write the signature of each bag i, [offsets[i], offsets[i + 1]), to out[i].

    Cost, with eight 64-bit lanes: about 3 ns for each term, 5 ns for each block of eight darts, of which there are some
    0.7 m and half of one more for each term, and 0.7 ns for each of 5.5 m darts.
    """
    m = out.shape[1]
    most = 0
    for i in range(len(offsets) - 1):
        most = max(most, offsets[i + 1] - offsets[i])
    state = np.empty(most, dtype=np.uint64)
    rest = np.empty(most)
    hit = np.empty(most, dtype=np.bool_)
    chosen = np.empty(most, dtype=np.uint32)
    queue = np.empty(_ROOM, dtype=np.uint64)
    best = np.empty(m, dtype=np.uint64)
    single = np.empty(1, dtype=np.uint64)
    for i in range(len(offsets) - 1):
        own = weights[offsets[i] : offsets[i + 1]]
        # Apart from the arithmetic on them: look-ups in a table are not done eight at a time.
        own_terms = terms[offsets[i] : offsets[i + 1]]
        for t in range(len(own_terms)):
            state[t] = hashes[own_terms[t]]
        best[:] = EMPTY
        _throw(own, seed, reach, state, rest, hit, chosen, queue, best)
        empty = 0
        for j in range(m):
            empty += best[j] == EMPTY
        if empty:
            for j in range(m):
                if best[j] == EMPTY:
                    for layer in range(1, LAYERS):
                        single[0] = EMPTY
                        higher = mix_number(seed + (uint64(layer) << uint64(32)) + uint64(j))
                        _throw(own, higher, LATER, state, rest, hit, chosen, queue, single)
                        best[j] = single[0]
                        if best[j] != EMPTY:
                            break
        for j in range(m):
            out[i, j] = np.uint32((best[j] * NAME) >> uint64(32))
