"""What pages are called by others of their host: the words on links that lead to them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import Array, Kin, KinWriter, RaggedBytes, batch_ranges, smallest_uint
from pagekin.text.analysis import Forms
from pagekin.text.scoring import SMOOTH

LONGEST = 10
"""Words of a link's text, at most: longer ones are sentences, and no names."""
_BATCH_WORDS = 1 << 20
_AT_ONCE = 1 << 22
"""Pairs of a page and a form that are collected before equal ones are summed."""


class LinkTexts(NamedTuple):
    """What pages are called, by the names of forms: for a shard, found in the whole."""

    names: list[str]
    """Forms that some page is called, in the order of their bytes."""
    form: npt.NDArray[np.int64]
    """Places in `names`, rising, one for each page that is called so."""
    page: npt.NDArray[np.int64]
    strength: npt.NDArray[np.uint8]
    terms: npt.NDArray[np.int64]
    """A term of the corpus for each of `names`."""


def cut_link_texts(kin: Kin, first: int, last: int) -> LinkTexts:
    """Return what the pages `first` to `last` of a collection are called, with pages numbered from `first` on."""
    offsets = np.asarray(kin["posting.called_offsets"], dtype=np.int64)
    page = np.asarray(kin["posting.called_page"], dtype=np.int64)
    inside = np.flatnonzero((page >= first) & (page < last))
    form = np.searchsorted(offsets, inside, side="right") - 1
    called, place = np.unique(form, return_inverse=True)
    of_term = np.asarray(kin["form.of_term"])
    terms = np.flatnonzero(np.isin(of_term, called))
    _forms, at = np.unique(of_term[terms], return_index=True)
    names = RaggedBytes.of(kin, "form")
    strength = np.asarray(kin["posting.called"])[inside]
    return LinkTexts([names.text(one) for one in called.tolist()], place, page[inside] - first, strength, terms[at])


def put_link_texts(
    writer: KinWriter, corpus: Corpus, forms: Forms, known: LinkTexts | None = None
) -> tuple[Array, Array, Array]:
    """Write which pages are called by which forms, and how strongly; return offsets by form, pages and strengths.

    This is found in the corpus, unless it is known. Only links from the same host count: the others a site of a network would not
    know, and its pages would have other scores than in one collection of all. A page that links often to another counts once.
    """
    form, page, strengths = _find_link_texts(corpus, forms) if known is None else _number_forms(known, forms)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(form, minlength=len(forms.names)))])
    pages = page.astype(smallest_uint(max(len(corpus) - 1, 0)))
    offsets = offsets.astype(smallest_uint(int(offsets[-1])))
    writer.put("posting.called_offsets", offsets)
    writer.put("posting.called_page", pages)
    writer.put("posting.called", strengths)
    return offsets, pages, strengths


def _number_forms(known: LinkTexts, forms: Forms) -> tuple[Array, Array, Array]:
    """Return (form, page, strength) of known link texts, by the numbers of a corpus's forms; both are in order."""
    place = {name: number for number, name in enumerate(forms.names)}
    number = np.array([place[name] for name in known.names], np.int64)
    return number[known.form], known.page, known.strength


def _find_link_texts(corpus: Corpus, forms: Forms) -> tuple[Array, Array, Array]:
    """Return (form, page, strength), rising, of what links on the pages of a corpus call its pages."""
    links = np.zeros(len(corpus), np.int64)
    pairs, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    waiting: list[Array] = []
    for target, said, form in _read_link_texts(corpus, forms):
        np.add.at(links, target, 1)
        waiting.append(form * len(corpus) + said)
        if sum(map(len, waiting)) > _AT_ONCE:
            pairs, counts, waiting = *_add_pairs(pairs, counts, waiting), []
    pairs, counts = _add_pairs(pairs, counts, waiting)
    form, page = np.divmod(pairs, max(len(corpus), 1))
    return form, page, np.rint(255.0 * np.sqrt(counts / (links[page] + SMOOTH))).astype(np.uint8)


def _add_pairs(pairs: Array, counts: Array, waiting: list[Array]) -> tuple[Array, Array]:
    """Return (distinct pairs, rising; how often each was met), given those so far and further ones."""
    every = np.concatenate([pairs, *waiting])
    weights = np.concatenate([counts, np.ones(len(every) - len(pairs), np.int64)])
    different, place = np.unique(every, return_inverse=True)
    return different, np.bincount(place, weights, len(different)).astype(np.int64)


def _read_link_texts(corpus: Corpus, forms: Forms) -> Iterator[tuple[Array, Array, Array]]:
    """Yield, batch after batch, (pages that are linked to, once for each page that does; pages and the forms that links say)."""
    from pagekin.text._kernels.link_texts import read_link_texts

    page_of = np.full(len(corpus.urls), -1, np.int64)
    page_of[np.asarray(corpus.pages.url)[::-1]] = np.arange(len(corpus))[::-1]
    hosts, anchors = np.asarray(corpus.pages.host), np.asarray(corpus.pages.anchors).astype(np.int64)
    for first, last in batch_ranges(corpus.pages.tokens, _BATCH_WORDS):
        here = slice(int(anchors[first]), int(anchors[last]))
        target = page_of[corpus.anchors.target[here]]
        source = np.repeat(np.arange(first, last), np.diff(anchors[first : last + 1]))
        length = np.asarray(corpus.anchors.length[here]).astype(np.int64)
        named = (target >= 0) & (target != source) & (length > 0) & (length <= LONGEST)
        named[named] = hosts[source[named]] == hosts[target[named]]
        streams = corpus.stream_batch(first, last)
        said = np.empty(int(length[named].sum()), np.int64)
        read_link_texts(
            streams, DecodedPage.for_longest(streams), forms.of_term, source[named] - first,
            np.asarray(corpus.anchors.start[here]).astype(np.int64)[named], length[named], said,
        )  # fmt: skip
        # A page that links twice to another, or says a word twice, counts once.
        source, target, length = source[named], target[named], length[named]
        linked = np.unique(source * len(corpus) + target) % len(corpus)
        rows = np.stack([np.repeat(source, length), np.repeat(target, length), said])
        rows = rows[:, np.lexsort(rows[::-1])]
        new = np.ones(rows.shape[1], np.bool_)
        new[1:] = np.any(rows[:, 1:] != rows[:, :-1], axis=0)
        yield linked, rows[1, new], rows[2, new]
