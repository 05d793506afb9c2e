"""Fold copies among many sketches."""

import numpy as np

from pagekin.store import kernel


@kernel
def fold_sketches(sketches, keys, empty, threshold, heads):
    """Write the place of each sketch's head: the first earlier head that it is a copy of, or else itself.

    `sketches` (rows, places), places without a word `empty`; `keys` (rows, bands) are equal for equal bands at the same place,
    -1 for a band that no other sketch has. Two are copies if they agree in a share `threshold` of the places that either
    fills. Cost: for each sketch the heads that share a band with it.
    """
    rows, bands = keys.shape
    first = np.full(keys.max() + 1 if rows else 0, -1, np.int32)  # the last head with each key, and before it …
    before = np.full((rows, bands), -1, np.int32)
    seen = np.full(rows, -1, np.int32)
    for row in range(rows):
        best = rows
        shared = False
        for band in range(bands):
            if keys[row, band] < 0:
                continue
            shared = True
            other = first[keys[row, band]]
            while other >= 0:
                if seen[other] != row and other < best:
                    seen[other] = row
                    agree, either = 0, 0
                    for place in range(sketches.shape[1]):
                        a, b = sketches[row, place], sketches[other, place]
                        if a != empty or b != empty:
                            either += 1
                            if a == b:
                                agree += 1
                    if agree / max(either, 1) >= threshold:
                        best = other
                other = before[other, band]
        heads[row] = best if best < rows else row
        if best == rows and shared:
            for band in range(bands):
                if keys[row, band] >= 0:
                    before[row, band] = first[keys[row, band]]
                    first[keys[row, band]] = row
