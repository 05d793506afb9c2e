"""Sketch a page's own words in 64 small numbers, to recognise copies."""

import numpy as np
from numba import uint64

from pagekin.store import kernel

_UNSEEN = uint64(0xFFFFFFFFFFFFFFFF)


@kernel(inline=True)
def mix_number(value):
    """Mix a 64-bit number as `mix64` does many."""
    z = (value ^ (value >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@kernel
def sketch_pages(kept, hashes, first, last, out):
    """Write the sketches of pages `first` to `last` to `out`; `pagekin.bags.copies` says what a sketch is.

    `kept` is the `KeptWords` of all pages, `hashes` (uint64) are those of its words.
    """
    least = np.empty(out.shape[1], dtype=np.uint64)
    for page in range(first, last):
        least[:] = _UNSEEN
        for i in range(kept.offsets[page], kept.offsets[page + 1] - kept.titles[page]):
            z = mix_number(hashes[kept.words[i]])
            place = z >> uint64(58)
            if z < least[place]:
                least[place] = z
        for b in range(out.shape[1]):
            if least[b] == _UNSEEN:
                out[page - first, b] = 65_535
            else:
                out[page - first, b] = min(least[b] & uint64(0xFFFF), uint64(65_534))
