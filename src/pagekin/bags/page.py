"""The bag of a page that is not in the collection, from its own HTML: by numpy alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.bags import Bags
from pagekin.bags.copies import sketch
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import frequency_weights, normalised, scaled_frequencies, title_weight
from pagekin.bags.words import bag_forms, word_hash
from pagekin.hypertext import Attribute

Array = npt.NDArray[Any]
_RUNNING = int(Attribute.TEXT | Attribute.ALT)
_TITLE = int(Attribute.TITLE)


def page_bag(
    words: list[str], attributes: list[int], strategy: Strategy, bags: Bags
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
    """(hashes, weights, origins) of the bag that the page's own words make; empty if none of them counts.

    Nobody links to the page, so content and title are all there is. Words that the collection does not know count as
    if one bag held them.
    """
    content_scale = strategy.content.scale
    title_scale = title_weight(strategy)
    distinct = sorted(set(words))
    forms = dict(zip(distinct, bag_forms(distinct, strategy), strict=True))
    counts: dict[str, float] = {}
    origins: dict[str, int] = {}
    for word, where in zip(words, attributes, strict=True):
        form = forms[word]
        if not form:
            continue
        if where & _RUNNING:
            scale, origin = content_scale, 1
        elif where & _TITLE:
            scale, origin = title_scale, 4
        else:
            continue
        if scale > 0:
            counts[form] = counts.get(form, 0.0) + scale
            origins[form] = origins.get(form, 0) | origin
    if not counts:
        return np.zeros(0, np.uint64), np.zeros(0, np.float32), np.zeros(0, np.uint8)
    hashes = np.array([word_hash(form) for form in counts], dtype=np.uint64)
    terms = bags.find(hashes)
    df = np.where(terms >= 0, bags.df(np.maximum(terms, 0)), 1) if len(bags.hashes) else np.ones(len(terms))
    tf = np.array(list(counts.values()), dtype=np.float32)
    weights = scaled_frequencies(tf, strategy) * frequency_weights(df, len(bags), strategy)
    flags = np.array([origins[form] for form in counts], dtype=np.uint8)
    return hashes, normalised(weights, np.array([0, len(weights)])), flags


def page_sketch(words: Sequence[str], attributes: Sequence[int], strategy: Strategy) -> npt.NDArray[np.uint16]:
    """The sketch of the page's own words (see `copies`), whatever the strategy has in bags."""
    own = sorted({word for word, where in zip(words, attributes, strict=True) if where & _RUNNING})
    return sketch(np.array([word_hash(form) for form in bag_forms(own, strategy) if form], dtype=np.uint64))
