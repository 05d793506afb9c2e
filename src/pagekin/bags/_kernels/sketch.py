"""What a page's own words are, in 64 small numbers: for telling copies."""

import numpy as np
from numba import uint64

from pagekin.store import kernel

_FIRST = uint64(0xBF58476D1CE4E5B9)
_SECOND = uint64(0x94D049BB133111EB)
_UNSEEN = uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def sketch_pages(kept, offsets, titles, hashes, first, last, out):
    """Write the sketches of pages `first` to `last` to `out`; `pagekin.bags.copies` says what a sketch is."""
    least = np.empty(out.shape[1], dtype=np.uint64)
    for page in range(first, last):
        least[:] = _UNSEEN
        for i in range(offsets[page], offsets[page + 1] - titles[page]):
            h = hashes[kept[i]]
            z = (h ^ (h >> uint64(30))) * _FIRST
            z = (z ^ (z >> uint64(27))) * _SECOND
            z ^= z >> uint64(31)
            place = z >> uint64(58)
            if z < least[place]:
                least[place] = z
        for b in range(out.shape[1]):
            if least[b] == _UNSEEN:
                out[page - first, b] = 65_535
            else:
                out[page - first, b] = min(least[b] & uint64(0xFFFF), uint64(65_534))
