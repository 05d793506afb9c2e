"""Why two pages are related: the terms they share and the pages that cite them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags.bags import Bags, Origin
from pagekin.hypertext import Corpus
from pagekin.hypertext.corpus import AnchorWindow

Array = npt.NDArray[Any]
TERMS = 10
CITATIONS = 3
_LOOKED_AT = 24
_AROUND = 8


@dataclass(frozen=True)
class SharedTerm:
    """A term that both bags hold."""

    term: str
    share: float
    """Its part of what is shared; over all shared terms the parts sum to 1."""
    contribution: float
    """What it adds to the similarity; over all shared terms the sum is the similarity."""
    origins: tuple[str, ...]
    """Where the related page has it from: content, anchors, title, links, outlinks."""
    query_origins: tuple[str, ...]
    """Where the page that was asked about has it from."""


@dataclass(frozen=True)
class Citation:
    """A link to the related page, with the words around it."""

    source: str
    text: str
    left: str
    right: str
    cites_both: bool
    """Whether the same page links to the page that was asked about, too."""


def shared_terms(
    corpus: Corpus, bags: Bags, query: tuple[Array, Array, Array], total: float, document: int, count: int = TERMS
) -> tuple[SharedTerm, ...]:
    """The terms that a query, (terms, weights, origins), shares with a document, those that count most first."""
    terms, weights = bags.bag(document)
    common, mine, theirs = np.intersect1d(query[0], terms, assume_unique=True, return_indices=True)
    least = np.minimum(query[1][mine], weights[theirs]).astype(np.float64)
    shared = float(np.sum(least))
    union = total + float(np.sum(weights, dtype=np.float64)) - shared
    order = np.lexsort((common, -least))[:count]
    origins = bags.origins(document)
    return tuple(
        SharedTerm(
            bags.shown(corpus, int(common[i])),
            float(least[i]) / shared,
            float(least[i]) / union,
            tuple(Origin(int(origins[theirs[i]])).names()),
            tuple(Origin(int(query[2][mine[i]])).names()),
        )
        for i in order.tolist()
        if shared > 0
    )


def citations(
    corpus: Corpus, url: int, also: list[int], shared: set[str], count: int = CITATIONS
) -> tuple[Citation, ...]:
    """Links to a URL with the words around them: from pages that cite one of `also` too, then by shared words.

    Of many links some are looked at, one per citing page and text.
    """
    citing_others = np.concatenate([np.zeros(0, np.int64), *(_citing(corpus, other)[1] for other in also)])
    anchors, pages = _citing(corpus, url)
    citing_both = np.isin(pages, citing_others)
    both = anchors[citing_both].tolist()
    cite_both, looked_at = set(both), both[:_LOOKED_AT]
    if len(np.unique(pages[citing_both][:_LOOKED_AT])) < count:  # others would come behind them
        looked_at = sorted({*looked_at, *_some(anchors)})
    wanted = {corpus.term_number(word) for word in shared}
    best: dict[tuple[int, bytes], tuple[tuple[int, int], AnchorWindow]] = {}
    # Words are told apart by their numbers: only those of the chosen few are read.
    for window in corpus.anchor_windows(looked_at):
        words = {*window.left.tolist(), *window.text.tolist(), *window.right.tolist()}
        rank = (int(window.anchor in cite_both), len(wanted & words))
        key = (window.page, window.text.tobytes())
        if key not in best or rank > best[key][0]:
            best[key] = (rank, window)
    ranked = sorted(best.values(), key=lambda pair: (-pair[0][0], -pair[0][1], pair[1].page))[:count]

    def read(terms: Array) -> str:
        return " ".join(corpus.word(term) for term in terms.tolist())

    return tuple(
        Citation(
            corpus.page_url(one.page),
            read(one.text),
            read(one.left[-_AROUND:]),
            read(one.right[:_AROUND]),
            one.anchor in cite_both,
        )
        for _rank, one in ranked
    )


def _some(anchors: Array) -> list[int]:
    """At most _LOOKED_AT anchors, spread over all."""
    step = max(1, -(-len(anchors) // _LOOKED_AT))
    return [int(a) for a in anchors[::step].tolist()]


def _citing(corpus: Corpus, url: int) -> tuple[Array, Array]:
    """(the anchors on other pages that lead to a URL, their pages)."""
    anchors, first = corpus.anchors_in(url), corpus.kin["page.anchors"]
    pages = np.searchsorted(first, anchors.astype(first.dtype), side="right") - 1
    others = corpus.kin["page.url"][pages] != url
    return anchors[others], pages[others]
