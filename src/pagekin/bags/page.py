"""Make the bag of a page outside the collection from its HTML, with numpy only."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from pagekin.bags.bags import Origin
from pagekin.bags.copies import sketch
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import (
    frequency_weights,
    lead_weights,
    normalise,
    scaled_frequencies,
    title_weight,
    whole_units,
)
from pagekin.bags.words import bag_forms, outlink_hash, word_hash
from pagekin.hypertext import Attribute
from pagekin.store import Array

_RUNNING = int(Attribute.TEXT | Attribute.ALT)
_TITLE = int(Attribute.TITLE)


def page_bag(
    words: list[str], attributes: list[int], strategy: Strategy, df: Callable[[npt.NDArray[np.uint64]], Array], bags: int,
    links: Sequence[tuple[str, int]] = (),
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:  # fmt: skip
    """Return (hashes, weights, origins, counts) of the bag made of a page's own words; empty if none of them counts.

    Nobody links to the page, so content, title and its own links, (address, words before it) each, are all there is.
    `df` returns how many of so many `bags` hold each term, given by hashes; what none holds counts as if one did.
    """
    title_units = int(whole_units(title_weight(strategy)))
    lead = lead_weights(strategy, len(words))
    content_units = whole_units(lead * strategy.content.scale).tolist()
    link_units = whole_units(lead * strategy.outlinks.scale).tolist()
    distinct = sorted(set(words))
    forms = dict(zip(distinct, bag_forms(distinct, strategy), strict=True))
    sums: Counter[int] = Counter()
    counts: Counter[int] = Counter()
    origins: dict[int, int] = {}
    hash_of = {form: word_hash(form) for form in set(forms.values())}

    def add(term: int, units: int, origin: Origin) -> None:
        if units:
            sums[term] += units
            counts[term] += origin != Origin.OUTLINKS
            origins[term] = origins.get(term, 0) | origin

    running = 0
    before = [0]
    for word, where in zip(words, attributes, strict=True):
        form = forms[word]
        if form and where & _RUNNING:
            add(hash_of[form], content_units[running], Origin.CONTENT)
            running += 1
        elif form and where & _TITLE:
            add(hash_of[form], title_units, Origin.TITLE)
        before.append(running)
    for address, place in links:
        add(outlink_hash(address), link_units[before[place]], Origin.OUTLINKS)
    if not sums:
        return np.zeros(0, np.uint64), np.zeros(0, np.float32), np.zeros(0, np.uint8), np.zeros(0, np.uint8)
    hashes = np.array(list(sums), dtype=np.uint64)
    weights = scaled_frequencies(np.array(list(sums.values()), dtype=np.int64), strategy) * frequency_weights(
        np.maximum(df(hashes), 1), bags, strategy
    )
    flags = np.array(list(origins.values()), dtype=np.uint8)
    own = np.minimum([counts[term] for term in sums], 255).astype(np.uint8)
    return hashes, normalise(weights, np.array([0, len(weights)])), flags, own


def page_sketch(words: Sequence[str], attributes: Sequence[int], strategy: Strategy) -> npt.NDArray[np.uint16]:
    """Return the sketch of a page's own words (see `copies`), whatever origins the strategy uses."""
    own = sorted({word for word, where in zip(words, attributes, strict=True) if where & _RUNNING})
    return sketch(np.array([word_hash(form) for form in bag_forms(own, strategy) if form], dtype=np.uint64))
