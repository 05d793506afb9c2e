"""Find and score pages with numpy alone, for one-off queries, where importing numba would take longer.

The functions are those of `_kernels/search.py`, and give the same numbers to the last digit.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus
from pagekin.store import Array
from pagekin.text.groups import Groups
from pagekin.text.scoring import (
    CALLED,
    HEADER,
    HEADER_BIT,
    K1,
    LONG,
    LONGEST_NAME,
    OPENING,
    PRESENT,
    SHORT,
    STRONG,
    TITLE,
    TITLE_BIT,
    B,
    Postings,
    Terms,
)

Mask = npt.NDArray[np.bool_]
_WEIGHTS = np.array([0 if a & TITLE_BIT else HEADER if a & HEADER_BIT else 1 for a in range(256)], np.int64)


def mark_pages(postings: Postings, begin: int, end: int, flags: npt.NDArray[np.uint8]) -> None:
    """Add PRESENT, and above it the attributes of entries `begin` to `end`, to the `flags` of their pages."""
    pages = postings.page[begin:end]
    starts = _first_rows(pages)
    if len(starts):
        flags[pages[starts]] |= np.bitwise_or.reduceat(postings.attributes[begin:end], starts) << 1 | PRESENT


def count_pages(postings: Postings, begin: int, end: int, bit: int) -> int:
    """Return how many pages have entries, from `begin` to `end`, under the attribute `bit`, or any attribute if it is 0."""
    pages = postings.page[begin:end]
    return len(_first_rows(pages[(postings.attributes[begin:end] & bit) != 0] if bit else pages))


class FormParts(NamedTuple):
    """The contribution of one form to scores, in units of its inverse frequency."""

    pages: npt.NDArray[np.int64]
    body: npt.NDArray[np.float64]
    """What it adds for the text of each of `pages`."""
    named: npt.NDArray[np.int64]
    """Pages with it in their titles or in links to them."""
    called: npt.NDArray[np.float64]
    """What that adds to each of `named`, before multiplying by the share of the query in the name."""
    strong: npt.NDArray[np.bool_]
    """Whether each of `named` has it in its title, or in enough of its links."""
    opening: Array
    """Pages with it in their opening."""


def parts_of_form(postings: Postings, begin: int, end: int, bit: int, form: int, mean: float) -> FormParts:
    """Return what the form with entries `begin` to `end` adds to scores, under the attribute `bit`, or any if it is 0."""
    rows, attributes, counts = (column[begin:end] for column in (postings.page, postings.attributes, postings.counts))
    if bit:
        under = (attributes & bit) != 0
        rows, attributes, counts = rows[under], attributes[under], counts[under]
    pages, weights = _sum_by_page(rows, _WEIGHTS[attributes] * counts)
    tf = weights.astype(np.float64)
    length = K1 * (1.0 - B + B * (postings.words[pages] / mean))
    titled = (attributes & TITLE_BIT) != 0
    here, times = _sum_by_page(rows[titled], counts[titled])
    by_title = TITLE * times / (times + (postings.titles[here] + SHORT) / LONG)
    called = slice(*postings.called_offsets[form : form + 2].tolist()) if form >= 0 else slice(0)
    linked = postings.called_page[called]
    untitled = ~np.isin(linked, here)
    by_links = CALLED * postings.called[called][untitled] / 255.0
    strong = postings.called[called][untitled] >= STRONG
    opening = slice(*postings.opening_offsets[form : form + 2].tolist()) if form >= 0 else slice(0)
    return FormParts(
        pages, tf * (K1 + 1.0) / (tf + length),
        np.concatenate((here, linked[untitled].astype(np.int64))), np.concatenate((by_title, by_links)),
        np.concatenate(((postings.titles[here] <= LONGEST_NAME) & (bit == 0), strong)), postings.opening_page[opening],
    )  # fmt: skip


def score_pages(pages: Array, postings: Postings, terms: Terms, mean: float) -> npt.NDArray[np.float64]:
    """Return the scores of `pages`, matching or not: sums over the terms, always in the same order."""
    scores, by_title, named = np.zeros((3, len(postings.words)))
    opened, called = np.zeros((2, len(postings.words)), np.int64)
    all_named = 0.0
    for begin, end, bit, form, _row, rarity in zip(*(column.tolist() for column in terms), strict=True):
        parts = parts_of_form(postings, begin, end, bit, form, mean)
        scores[parts.pages] += rarity * parts.body
        by_title[parts.named] += rarity * parts.called
        named[parts.named] += rarity
        opened[parts.opening] += 1
        called[parts.named[parts.strong]] += 1
        all_named += rarity
    here = named.nonzero()[0]
    share = np.square(named[here] / all_named)
    scores[here] += by_title[here] * (share * share * share)
    if len(terms.rarity) > 1:
        scores[(opened == len(terms.rarity)) | (called == len(terms.rarity))] += OPENING * all_named
    return np.asarray(scores[pages])


def best_of_groups(pages: Array, scores: Array, groups: Groups) -> tuple[Array, Array]:
    """Return (pages, scores) with only the best page of each document, the first of equal ones, in the order of `pages`."""
    if not groups.documents:
        return pages, scores
    group = groups.of_page[pages]
    order = np.lexsort((-scores, group))
    same = (group[order][1:] == group[order][:-1]) & (group[order][1:] >= 0)
    kept = np.ones(len(pages), np.bool_)
    kept[order[1:][same]] = False
    return pages[kept], scores[kept]


def _first_rows(rows: Array) -> npt.NDArray[np.int64]:
    """Return the place of each page's first entry."""
    new = np.ones(len(rows), np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=new[1:])
    return np.asarray(new.nonzero()[0])


def _sum_by_page(rows: Array, counts: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (pages, each once, the sums of their counts)."""
    starts = _first_rows(rows)
    sums = np.add.reduceat(counts, starts, dtype=np.int64) if len(starts) else counts.astype(np.int64)
    return rows[starts].astype(np.int64), sums


def mark_phrase(corpus: Corpus, form_of: Array, forms: Array, bit: int, may: Mask, mask: Mask) -> None:
    """Set `mask` for the pages of `may` that have `forms` as a phrase among the words under the attribute `bit`."""
    for page in np.flatnonzero(may & ~mask).tolist():
        stream = corpus.stream(page)
        words = form_of[stream.words[(stream.attributes & bit) != 0]]
        begins = np.ones(max(len(words) - len(forms) + 1, 0), np.bool_)
        for shift, form in enumerate(forms.tolist()):
            begins &= words[shift : shift + len(begins)] == form
        mask[page] = bool(begins.any())
