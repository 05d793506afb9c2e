"""Membership filters: the words that a collection may hold, in about 1.25 bytes per term, so that routing loses no match.

Keys are words as the full-text search analyses them, so that a filter knows whatever a search could find.
A filter is Bloom's: 10 bits and 7 probes for each key, which wrongly answers "maybe" for 0.8 % of absent keys and never
"no" for one that is there. Two filters of different sizes cannot be joined, and a parent has only its children's
labels: it keeps theirs side by side and asks for any of them, so its wrong answers are at most the sum of theirs.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags import mix64, word_hash
from pagekin.clusters import TERM_ATTRIBUTES
from pagekin.text import analyse

TermKeys = npt.NDArray[np.uint64]
BITS = 10
"""Bits per key: the formula gives 1 % errors for 9.6, and real filters vary around that."""
PROBES = 7
MOST_KEYS = 1 << 27
_STEP = np.uint64(0x9E3779B97F4A7C15)
_PART = 1 << 16
"""How many keys are probed at once."""


class TermFilter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Bloom filter of term keys: it finds every key that was added, and wrongly a few others."""

    keys: Annotated[int, msgspec.Meta(ge=0, le=MOST_KEYS)]
    """How many distinct keys were added."""
    bits: bytes
    """A little more than BITS bits per key, the first in the lowest bit of the first byte; base64 in JSON."""

    @classmethod
    def of(cls, keys: TermKeys) -> "TermFilter":
        """Make the filter of some keys."""
        keys = np.unique(keys)
        held = np.zeros(8 * filter_bytes(len(keys)), np.bool_)
        for start in range(0, len(keys), _PART):
            held[(probes_of(keys[start : start + _PART]) % np.uint64(len(held))).astype(np.int64)] = True
        return cls(len(keys), np.packbits(held, bitorder="little").tobytes())

    def fault(self) -> str:
        """Return what is wrong with a filter from another service, or ''."""
        if len(self.bits) != filter_bytes(self.keys):
            return f"a filter of {self.keys:,} keys has {filter_bytes(self.keys):,} bytes, not {len(self.bits):,}"
        ones = int(np.bitwise_count(np.frombuffer(self.bits, np.uint8)).sum())
        if ones > PROBES * self.keys:
            return f"a filter of {self.keys:,} keys has at most {PROBES * self.keys:,} bits set, not {ones:,}"
        return ""


class FilterBank:
    """Many filters probed together by a compiled kernel, because a search at a router asks hundreds.

    A filter says True of all keys that are in it, and of 0.8 % of the others.
    """

    def __init__(self, filters: Sequence[TermFilter]) -> None:
        from pagekin.labels._kernels.probe import probe_filters

        sizes = np.array([len(one.bits) for one in filters], np.uint64)
        self._bits = np.uint64(8) * sizes
        self._starts = np.cumsum(sizes, dtype=np.uint64) - sizes
        self._data = np.frombuffer(b"".join(one.bits for one in filters), np.uint8)
        self._probe = probe_filters
        # So that it is compiled now, and not when the first query waits.
        self.may_hold(np.zeros(0, np.uint64))

    def __len__(self) -> int:
        return len(self._bits)

    def may_hold(self, keys: TermKeys) -> npt.NDArray[np.bool_]:
        """Return (filters, keys): whether each filter may hold each key."""
        return self.may_hold_probed(probes_of(keys))

    def holds_all(self, keys: TermKeys) -> bool:
        """Return whether each of many keys may be in one of the filters."""
        return all(self.may_hold(keys[start : start + _PART]).any(axis=0).all() for start in range(0, len(keys), _PART))

    def may_hold_probed(self, probes: TermKeys) -> npt.NDArray[np.bool_]:
        """Return the same as `may_hold`, given `probes_of` the keys, which can be shared between banks."""
        held = np.empty((len(self._bits), len(probes)), np.bool_)
        self._probe(self._data, self._starts, self._bits, probes, held)
        return held


def filter_bytes(keys: int) -> int:
    """Return the size of a filter: a few bytes more than BITS per key, since small filters vary."""
    return (BITS * keys + 7) // 8 + 8 if keys else 0


def probes_of(keys: TermKeys) -> TermKeys:
    """Return (keys, PROBES): a number for each probe of each key."""
    with np.errstate(over="ignore"):
        steps = np.arange(1, PROBES + 1, dtype=np.uint64) * _STEP
        return mix64(keys[:, None] + steps)


def attribute_keys(hashes: TermKeys, attributes: npt.NDArray[Any]) -> TermKeys:
    """Return the keys of (attribute, word) pairs, given the words' hashes and the attributes' places.

    A text word has the key of the word under any attribute: most words of a page are text, so a key for each would
    double the filter to tell apart the few that stand in titles alone.
    """
    with np.errstate(over="ignore"):
        marked = mix64(hashes + (attributes.astype(np.uint64) + np.uint64(1)) * _STEP)
    return np.where(attributes == TERM_ATTRIBUTES.index("text"), hashes, marked)


@lru_cache(1 << 16)
def term_key(word: str, attribute: str = "text") -> int:
    """Return the key of a (case-folded) word under an attribute."""
    hashes = np.array([word_hash(analyse([word])[0])], np.uint64)
    return int(attribute_keys(hashes, np.array([TERM_ATTRIBUTES.index(attribute)]))[0])
