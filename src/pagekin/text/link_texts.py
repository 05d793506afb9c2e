"""What pages are called by others of their host: the words on links that lead to them."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import Array, ArrayFile, Kin, KinWriter, RaggedBytes, Workspace, batch_ranges, smallest_uint
from pagekin.text.analysis import Forms, analyse
from pagekin.text.scoring import SMOOTH

LONGEST = 10
"""Words of a link's text, at most: longer ones are sentences, and no names."""
_BATCH_WORDS = 1 << 20
_AT_ONCE = 1 << 22
"""Pairs of a page and a form that are collected before equal ones are summed: …"""
_PAIR_BYTES = 48
"""… they take so many bytes each."""


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
    names = [RaggedBytes.of(kin, "form").text(one) for one in called.tolist()]
    if "form.same" in kin:  # the form of a term may have the name of another one that stands for the same word
        words = RaggedBytes.of(kin, "term")
        names = analyse([words.text(term) for term in terms[at].tolist()])
    strength = np.asarray(kin["posting.called"])[inside]
    return LinkTexts(names, place, page[inside] - first, strength, terms[at])


def put_link_texts(
    writer: KinWriter, corpus: Corpus, forms: Forms, known: LinkTexts | None = None
) -> tuple[Array, Array, Array]:
    """Write which pages are called by which forms, and how strongly; return offsets by form, pages and strengths.

    This is found in the corpus, unless it is known. Only links from the same host count: the others a site of a network would not
    know, and its pages would have other scores than in one collection of all. A page that links often to another counts once.
    """
    with TemporaryDirectory(dir=writer.work) as folder:
        room = Workspace(Path(folder), writer.memory)
        pieces = _find_link_texts(corpus, forms, room) if known is None else [_number_forms(known, forms)]
        sizes = np.zeros(len(forms.names), np.int64)
        pages = writer.create("posting.called_page", smallest_uint(max(len(corpus) - 1, 0)))
        strengths = writer.create("posting.called", np.uint8)
        for form, page, strength in pieces:
            np.add.at(sizes, form, 1)
            pages.append(page.astype(pages.dtype))
            strengths.append(strength)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    offsets = offsets.astype(smallest_uint(int(offsets[-1])))
    writer.put("posting.called_offsets", offsets)
    return offsets, pages.mapped(), strengths.mapped()


def _number_forms(known: LinkTexts, forms: Forms) -> tuple[Array, Array, Array]:
    """Return (form, page, strength) of known link texts, by the numbers of a corpus's forms; both are in order."""
    place = {name: number for number, name in enumerate(forms.names)}
    number = np.array([place[name] for name in known.names], np.int64)
    if forms.same is None:
        return number[known.form], known.page, known.strength
    form = forms.same[number][known.form].astype(np.int64)
    order = np.lexsort((-known.strength.astype(np.int64), known.page, form))
    form, page, strength = form[order], known.page[order], known.strength[order]
    new = (np.diff(form, prepend=-1) != 0) | (np.diff(page, prepend=-1) != 0)
    return form[new], page[new], strength[new]


def _find_link_texts(corpus: Corpus, forms: Forms, room: Workspace) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (form, page, strength), rising, of what links on the pages of a corpus call its pages, some forms at a time.

    Pairs of a form and a page are counted in runs, each in order, which lie in files; then a range of forms is put together
    from its stretch of every run.
    """
    links, width = np.zeros(len(corpus), np.int64), max(len(corpus), 1)
    at_once = room.memory.items(_AT_ONCE, _PAIR_BYTES)
    sizes = np.zeros(len(forms.names), np.int64)
    waiting: list[Array] = []
    ends = [0]
    pairs, counts = ArrayFile(room.folder / "pairs", np.int64), ArrayFile(room.folder / "counts", np.uint32)

    def write_run() -> None:
        different, count = np.unique(np.concatenate([np.zeros(0, np.int64), *waiting]), return_counts=True)
        np.add.at(sizes, different // width, 1)
        pairs.append(different)
        counts.append(count.astype(np.uint32))
        ends.append(pairs.length)
        waiting.clear()

    try:
        for target, said, form in _read_link_texts(corpus, forms):
            np.add.at(links, target, 1)
            waiting.append(form * width + said)
            if sum(map(len, waiting)) > at_once:
                write_run()
        write_run()
        all_pairs, all_counts = pairs.mapped(), counts.mapped()
    finally:
        pairs.abandon()
        counts.abandon()
    for first, last in batch_ranges(np.cumsum(np.append(0, sizes)), at_once):
        bounds = first * width, last * width
        parts = [begin + np.searchsorted(all_pairs[begin:end], bounds) for begin, end in pairwise(ends)]
        every = np.concatenate([all_pairs[low:high] for low, high in parts])
        different, place = np.unique(every, return_inverse=True)
        weights = np.concatenate([all_counts[low:high] for low, high in parts])
        summed = np.bincount(place, weights, len(different))
        form, page = np.divmod(different, width)
        yield form, page, np.rint(255.0 * np.sqrt(summed / (links[page] + SMOOTH))).astype(np.uint8)


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
