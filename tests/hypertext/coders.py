"""How streams are coded, for one page and in plain numpy."""

import numpy as np

from pagekin.hypertext.streams import LONG


def encode_gaps(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (bytes, place of the last byte of each gap): a gap of 255 or more takes several bytes, all but the last 255."""
    gaps = np.diff(positions, prepend=0)
    last = np.cumsum(gaps // LONG + 1) - 1
    coded = np.full(int(last[-1]) + 1 if len(last) else 0, LONG, dtype=np.uint8)
    coded[last] = gaps % LONG
    return coded, last
