"""Term vectors of pages and their similarity (hypursuit-1996, equations 6 to 9)."""

from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pagekin import bags
from pagekin.clusters.settings import TermSettings
from pagekin.hypertext import Attribute, Corpus, DecodedPage, StreamBatch
from pagekin.store import batch_ranges, map_in_order

TERM_ATTRIBUTES = tuple(attribute.name.lower() for attribute in Attribute if attribute.name)
"""Names of the attributes, in the order of their bits."""
TERM_PRESET = "haveliwala2002"
"""Stop words are left out and stems taken as this preset's bags do."""
_MOST_TF = 2**31 - 1
_BATCH_WORDS = 1 << 20
_BATCH_PAIRS = 1 << 26


def term_words(corpus: Corpus) -> "bags.Vocabulary":
    """Return the words of terms."""
    return bags.make_vocabulary(corpus, bags.preset_strategy(TERM_PRESET))


def count_terms(corpus: Corpus, words: "bags.Vocabulary", threads: int = 1) -> "bags.BagMatrix":
    """Count the terms of each page (tf); a term is word * 6 + attribute, ascending on each page.

    Body words count as text, and again under header, keyword or address where they stand in one; title words as title.
    """
    batches = [batch for _first, batch in term_batches(corpus, words, threads)]
    sizes = [np.zeros(1, np.int64), *(np.diff(batch.offsets) for batch in batches)]
    terms = [np.zeros(0, np.int64), *(batch.terms for batch in batches)]
    counts = [np.zeros(0, np.int32), *(batch.weights for batch in batches)]
    columns = len(words.shown) * len(TERM_ATTRIBUTES)
    return bags.BagMatrix(np.cumsum(np.concatenate(sizes)), np.concatenate(terms), np.concatenate(counts), columns)


def term_batches(
    corpus: Corpus, words: "bags.Vocabulary", threads: int = 1, pages: npt.NDArray[np.int64] | None = None
) -> Iterator[tuple[int, "bags.BagMatrix"]]:
    """Yield (first page, counted terms) for batches of pages, in order, with memory for a few batches only.

    Of some `pages`, given by rising numbers, it yields the place of the first among these.
    """
    tokens = np.asarray(corpus.pages.tokens)
    sizes = tokens if pages is None else np.append(0, np.cumsum(np.diff(tokens.astype(np.int64))[pages]))

    def count_batch(first: int, last: int) -> "bags.BagMatrix":
        streams = corpus.stream_batch(first, last) if pages is None else corpus.stream_some(pages[first:last])
        return count_terms_in(streams, words)

    for (first, _last), batch in map_in_order(threads, count_batch, batch_ranges(sizes, _BATCH_WORDS)):
        yield first, batch


def count_terms_in(streams: StreamBatch, words: "bags.Vocabulary") -> "bags.BagMatrix":
    """Count the terms of some pages, given their streams: see `count_terms`."""
    from pagekin.clusters._kernels import terms as kernels

    room, pages = len(streams.words) * len(TERM_ATTRIBUTES), len(streams.tokens) - 1
    terms, counts, ends = np.empty(room, np.int64), np.empty(room, np.int32), np.zeros(pages + 1, np.int64)
    n = kernels.count_terms(streams, DecodedPage.for_longest(streams), words.stem_of, terms, counts, ends[1:])
    return bags.BagMatrix(ends, terms[:n].copy(), counts[:n].copy(), len(words.shown) * len(TERM_ATTRIBUTES))


def weigh_terms(counted: "bags.BagMatrix", settings: TermSettings | None = None) -> "bags.BagMatrix":
    """Weigh terms by equation 8 (w_ki): rows of length 1, or 0 for a page without words."""
    from pagekin.clusters._kernels import terms as kernels

    factors = np.array(astuple(settings or TermSettings()), np.float64)
    weights = np.empty(len(counted.terms), np.float32)
    counts = np.minimum(counted.weights, _MOST_TF).astype(np.int32)
    kernels.weigh(counted.offsets, counted.terms, counts, factors, weights)
    return replace(counted, weights=weights)


def term_vectors(corpus: Corpus, settings: TermSettings | None = None, threads: int = 1) -> "bags.BagMatrix":
    """Return the vectors of all pages, in their order (equations 6 to 8)."""
    return weigh_terms(count_terms(corpus, term_words(corpus), threads), settings)


def term_similarity(
    vectors: "bags.BagMatrix", threads: int = 1, progress: Callable[[float], None] = lambda _s: None
) -> npt.NDArray[np.float32]:
    """Compute S^terms of all pairs of pages (equation 9), symmetric; equal pages have 1, pages without words 0."""
    from pagekin.clusters._kernels import terms as kernels

    pages = len(vectors)
    similarity = np.empty((pages, pages), np.float32)
    table = kernels.by_column(vectors.offsets, vectors.terms, vectors.weights, vectors.columns)
    sizes = np.sqrt(np.bincount(vectors.rows, vectors.weights.astype(np.float64) ** 2, pages))
    # What is to be added up for each page: the rest of each of its terms' columns.
    work = np.concatenate([[0], np.cumsum(table.ends[vectors.terms] - table.places)])[vectors.offsets]
    work += np.arange(pages + 1) * pages
    step = max(1, min(_BATCH_PAIRS, int(work[-1]) // (8 * threads)))

    def part(first: int, last: int) -> None:
        kernels.similarities_after(first, last, table, sizes, similarity)

    for (_first, last), _nothing in map_in_order(threads, part, batch_ranges(work, step)):
        progress(float(work[last] / work[-1]))
    bounds = np.linspace(0, pages, 4 * threads + 1).astype(int).tolist()
    for _part, _nothing in map_in_order(
        threads, lambda first, last: kernels.mirror(similarity, first, last), pairwise(bounds)
    ):
        pass
    return similarity
