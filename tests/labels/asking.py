"""Asks labels whether they may hold a word, one by one, as a routing table does for many at once."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pagekin.labels import ContentLabel, TermFilter, TermKeys, probes_of, term_key


def may_hold(one: TermFilter, keys: TermKeys) -> npt.NDArray[np.bool_]:
    """Whether each key may be in a filter: all the bits that stand for it are set."""
    if not one.bits:
        return np.zeros(len(keys), np.bool_)
    bits = np.unpackbits(np.frombuffer(one.bits, np.uint8), bitorder="little")
    return np.asarray(bits[(probes_of(keys) % np.uint64(len(bits))).astype(np.int64)].all(axis=1), np.bool_)


def any_may_hold(filters: Iterable[TermFilter], word: str, attribute: str = "text") -> bool:
    """Whether any of the filters may hold a word; without filters, anything may be held."""
    asked = list(filters)
    key = np.array([term_key(word, attribute)], np.uint64)
    return not asked or any(bool(may_hold(one, key)[0]) for one in asked)


def label_may_hold(label: ContentLabel, word: str, attribute: str = "text") -> bool:
    """Whether a document may hold a (folded) word in any form, or the word was added; False is certain."""
    if any_may_hold(label.filters, word, attribute):
        return True
    added = (one.word for one in label.added if attribute in ("text", one.attribute))
    return any(term_key(one) == term_key(word) for one in added)
