"""Asks labels whether they may hold a word, one by one, as a routing table does for many at once."""

from collections.abc import Iterable

import numpy as np

from pagekin.labels import ContentLabel, TermFilter, term_key


def any_may_hold(filters: Iterable[TermFilter], word: str, attribute: str = "text") -> bool:
    """Whether any of the filters may hold a word; without filters, anything may be held."""
    asked = list(filters)
    key = np.array([term_key(word, attribute)], np.uint64)
    return not asked or any(bool(one.may_hold(key)[0]) for one in asked)


def label_may_hold(label: ContentLabel, word: str, attribute: str = "text") -> bool:
    """Whether a document may hold a (folded) word in any form, or the word was added; False is certain."""
    if any_may_hold(label.filters, word, attribute):
        return True
    added = (one.word for one in label.added if attribute in ("text", one.attribute))
    return any(term_key(one) == term_key(word) for one in added)
