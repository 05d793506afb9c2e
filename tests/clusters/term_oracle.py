"""Term vectors made the slow, obvious way, from what a page's author wrote rather than from what was read.

Nothing here is shared with the code under test, beyond the list of stop words and Porter's stemmer.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.bags.oracle import form

Term = tuple[str, str]
FACTORS = {"title": 10.0, "header": 5.0, "keyword": 5.0, "address": 5.0, "alt": 1.0, "text": 1.0}


@dataclass(frozen=True)
class Piece:
    """Words of a page, and how they are marked: the names of elements around them, the outermost first."""

    words: Sequence[str]
    tags: tuple[str, ...]

    @property
    def html(self) -> str:
        text = " ".join(self.words)
        if self.tags == ("alt",):
            return f'<p><img src="x.png" alt="{text}"></p>'
        return "".join(f"<{tag}>" for tag in self.tags) + text + "".join(f"</{tag}>" for tag in reversed(self.tags))

    @property
    def attributes(self) -> set[str]:
        if self.tags == ("alt",):
            return {"alt"}
        kinds = {"h1": "header", "h3": "header", "b": "keyword", "em": "keyword", "address": "address"}
        return {"text"} | {kinds[tag] for tag in self.tags if tag in kinds}


@dataclass(frozen=True)
class WrittenPage:
    """A page as its author thinks of it."""

    title: Sequence[str]
    keywords: Sequence[str]
    pieces: Sequence[Piece]

    @property
    def html(self) -> str:
        head = f"<title>{' '.join(self.title)}</title>"
        if self.keywords:
            head += f'<meta name="keywords" content="{", ".join(self.keywords)}">'
        return f"<!doctype html><html><head>{head}</head><body>{' '.join(p.html for p in self.pieces)}</body></html>"


def frequencies(page: WrittenPage) -> Counter[Term]:
    """tf of each (attribute, stem)."""
    places = [({"title"}, page.title), ({"keyword"}, page.keywords)]
    places += [(piece.attributes, piece.words) for piece in page.pieces]
    found: Counter[Term] = Counter()
    for attributes, words in places:
        for word in words:
            stem = form(word, "letters", "stem")
            if stem:
                found.update((attribute, stem) for attribute in attributes)
    return found


def weights(page: WrittenPage, factors: Mapping[str, float] = FACTORS) -> dict[Term, float]:
    """w_ki of equations 6 to 8; attributes with the factor 0 are as if they were not there."""
    tf = {term: count for term, count in frequencies(page).items() if factors[term[0]]}
    if not tf:
        return {}
    most = max(tf.values())
    w_tf = {term: 0.5 + 0.5 * count / most for term, count in tf.items()}
    w_ds = 1 / math.sqrt(sum((factors[term[0]] * w_tf[term]) ** 2 for term in tf))
    return {term: w_tf[term] * w_ds * factors[term[0]] for term in tf}


def similarity(one: Mapping[Term, float], other: Mapping[Term, float]) -> float:
    """Equation 9."""
    return sum(weight * other.get(term, 0.0) for term, weight in one.items())
