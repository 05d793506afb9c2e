"""Make the lexer's lookup tables from the definitions in `model` and Python's Unicode and HTML tables."""

from functools import lru_cache
from html.entities import html5
from typing import Any
from unicodedata import category

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels import tags
from pagekin.hypertext._kernels.intern import name_digest
from pagekin.hypertext._kernels.references import REFERENCES, fnv
from pagekin.hypertext._kernels.slots import ATTRIBUTES, NAME_PLACES, Tables
from pagekin.hypertext.model import UNSPACED, CharClass, classify


def _hash_table(digests_of: list[int], places: int) -> tuple[npt.NDArray[np.uint64], list[int]]:
    """Return (an open-addressing table of the digests, 0 for empty; the place of each digest in it)."""
    digests = np.zeros(places, dtype=np.uint64)
    where = []
    for digest in digests_of:
        place = digest & (places - 1)
        while digests[place]:
            place = (place + 1) & (places - 1)
        digests[place] = digest
        where.append(place)
    return digests, where


def _name_table(numbers: dict[str, int]) -> npt.NDArray[np.int64]:
    """Return names and their numbers in the form that `find_name` takes."""
    digests, where = _hash_table([name_digest(name.encode()) for name in numbers], NAME_PLACES)
    table = np.zeros((NAME_PLACES, 2), dtype=np.int64)
    table[:, 0] = digests.view(np.int64)
    table[where, 1] = list(numbers.values())
    return table.ravel()


def _character_classes() -> tuple[npt.NDArray[np.uint16], npt.NDArray[Any]]:
    """Return the classes of all characters in two levels: blocks of 256, equal blocks stored once."""
    unassigned = np.zeros(256, dtype=np.uint8)
    blocks: dict[bytes, int] = {unassigned.tobytes(): 0}
    index = np.zeros(0x1100, dtype=np.uint16)
    for high in range(0x1100):
        if high >= 0x300 and high not in range(0xE00, 0xE02):
            continue  # nothing is assigned there, or it is for private use
        if 0xD8 <= high <= 0xF8:
            continue  # surrogates and private use
        block = _classify_block(range(high << 8, (high + 1) << 8))
        index[high] = blocks.setdefault(block, len(blocks))
    return index, np.frombuffer(b"".join(blocks), dtype=np.uint8).copy()


def _classify_block(codes: range) -> bytes:
    """Return the classes of a block's characters; most blocks are letters of one script, or unassigned."""
    kinds = set(map(category, map(chr, codes)))
    ranges = [(low, high) for low, high in UNSPACED if low <= codes[-1] and codes[0] <= high]
    same_class = not ranges or (ranges[0][0] <= codes[0] and codes[-1] <= ranges[0][1])
    if kinds == {"Cn"} or (kinds == {"Lo"} and same_class):
        return bytes([classify(codes[0])]) * len(codes)
    return bytes(map(classify, codes))


@lru_cache(maxsize=1)
def tables() -> Tables:
    """Return the lexer's tables, made once per process in about a tenth of a second."""
    lower = np.zeros(256, dtype=np.uint8)
    for code in range(128):
        if classify(code) is CharClass.WORD:
            lower[code] = ord(chr(code).lower())
    class_index, class_blocks = _character_classes()
    names = sorted(html5)
    digests, where = _hash_table([int(fnv(name.encode())) for name in names], REFERENCES)
    references = np.zeros((REFERENCES, 3), dtype=np.int64)
    references[:, 0] = digests.view(np.int64)
    for place, name in zip(where, names, strict=True):
        codes = [ord(char) for char in html5[name]]
        references[place, 1 : 1 + len(codes)] = codes
    # Numeric references to C1 controls mean windows-1252 characters, as in browsers.
    c1 = [ord(bytes([byte]).decode("cp1252", "replace")) for byte in range(0x80, 0xA0)]
    c1 = [byte if code == 0xFFFD else code for byte, code in enumerate(c1, 0x80)]
    all_references = np.concatenate([np.array(c1, dtype=np.int64), references.ravel()])
    elements = {name: number for number, name in enumerate(tags.NAMES) if number > 0}
    return Tables(lower, class_index, class_blocks, _name_table(elements), _name_table(ATTRIBUTES), all_references)
