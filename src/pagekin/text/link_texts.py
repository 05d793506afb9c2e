"""Names of pages in links: the words of links from other pages of the same host."""

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, DecodedPage, host_of
from pagekin.store import (
    Array,
    ArrayFile,
    KinWriter,
    Workspace,
    batch_ranges,
    distinct,
    row_entries,
    smallest_uint,
)
from pagekin.text.analysis import Forms
from pagekin.text.scoring import SMOOTH

LONGEST = 10
"""Maximum words of a link's text; longer ones are sentences, not names."""
_BATCH_WORDS = 1 << 20
_AT_ONCE = 1 << 22
"""How many pairs of a page and a form are collected before equal ones are summed: …"""
_PAIR_BYTES = 48
"""… and the bytes of each pair."""


class LinkTexts(NamedTuple):
    """Names of pages in links, by the text of forms: computed in the whole collection, for a shard."""

    names: list[str]
    """Forms that occur in the name of some page, in the order of their bytes."""
    form: npt.NDArray[np.int64]
    """Positions in `names`, ascending, one for each page with that name."""
    page: npt.NDArray[np.int64]
    strength: npt.NDArray[np.uint8]
    terms: npt.NDArray[np.int64]
    """A term of the corpus for each of `names`."""


class VisitingTexts(NamedTuple):
    """Texts of links from pages of a base to pages of a delta on the same host, by name."""

    targets: list[bytes]
    """Addresses that links lead to."""
    words: list[bytes]
    """The words of the links."""
    links: npt.NDArray[np.int64]
    """(pages that link): places among the targets."""
    said: npt.NDArray[np.int64]
    """(3, words of links): the citing page, places among the targets and among the words."""

    def on(self, corpus: Corpus, forms: Forms) -> tuple[Array, Array, Array]:
        """Return (linked pages; pages and the forms in their link texts), in the numbers of a corpus."""
        urls, page_url = corpus.urls.find_all(self.targets), np.asarray(corpus.pages.url).astype(np.int64)
        place = np.minimum(np.searchsorted(page_url, urls), max(len(page_url) - 1, 0))
        pages = np.where(page_url[place] == urls, place, -1) if len(page_url) else np.full(len(urls), -1)
        terms = corpus.terms.find_all(self.words, np.asarray(corpus.term_table.order))
        form = np.asarray(forms.of_term)[terms].astype(np.int64)
        citing, said, spelt = self.said
        rows = np.flatnonzero(pages[said] >= 0) if len(said) else said
        # A citing page that says a form several times, on its links to a page, counts once.
        width, of_page = max(len(forms), 1), max(len(page_url), 1)
        links, place = np.unique(citing[rows] * of_page + pages[said[rows]], return_inverse=True)
        pairs = distinct(place * width + form[spelt[rows]])  # by links, as pages times pages times forms may not fit
        linked = pages[self.links] if len(self.links) else self.links
        return linked[linked >= 0], links[pairs // width] % of_page, pairs % width


def read_visiting_texts(corpus: Corpus, targets: Array, citing: npt.NDArray[np.int64]) -> VisitingTexts:
    """Return the texts of links from some pages to some addresses, both sorted."""
    from pagekin.text._kernels.link_texts import read_link_texts

    pages, target, start, length = _visiting_links(corpus, targets, citing)
    same_term = np.arange(len(corpus.terms), dtype=np.uint32)
    terms = [np.zeros(0, np.int64)]
    for some, streams in corpus.stream_batches(distinct(pages), _BATCH_WORDS):
        links = slice(*np.searchsorted(pages, [some[0], some[-1] + 1]).tolist())
        place = np.searchsorted(some, pages[links])
        said = np.empty(int(length[links].sum()), np.int64)
        read_link_texts(streams, DecodedPage.for_longest(streams), same_term, place, start[links], length[links], said)
        terms.append(said)
    urls = np.unique(target)
    target = np.searchsorted(urls, target)
    width = max(len(urls), 1)
    words, spelt = _number(np.concatenate(terms), len(corpus.terms))
    return VisitingTexts(
        list(corpus.urls.select(urls)), list(corpus.terms.select(words)), distinct(pages * width + target) % width,
        np.stack([np.repeat(pages, length), np.repeat(target, length), spelt]),
    )  # fmt: skip


def _number(values: Array, limit: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (the distinct values of some numbers below a limit, ascending; the place of each number among them)."""
    is_there = np.zeros(limit, np.bool_)
    is_there[values] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[values]


def _visiting_links(corpus: Corpus, targets: Array, citing: npt.NDArray[np.int64]) -> tuple[Array, Array, Array, Array]:
    """Return (pages, targets, first words, numbers of words) of the links by which pages of the same host name some addresses.

    They are the links on the `citing` pages, in the order of these.
    """
    hosts, bounds = np.asarray(corpus.pages.host), np.asarray(corpus.pages.anchors).astype(np.int64)
    page_url, is_citing = np.asarray(corpus.pages.url).astype(np.int64), np.zeros(len(corpus), np.bool_)
    is_citing[citing] = True
    offsets = np.asarray(corpus.inlinks.offsets).astype(np.int64)
    numbers = np.asarray(corpus.inlinks.anchors)[row_entries(offsets, np.asarray(targets, np.int64))].astype(np.int64)
    target = np.repeat(targets, np.diff(offsets)[targets])
    pages = np.searchsorted(bounds, numbers, side="right") - 1
    length = np.asarray(corpus.anchors.length)[numbers].astype(np.int64)
    named = is_citing[pages] & (length > 0) & (length <= LONGEST) & (page_url[pages] != target)
    named &= _hosts_of(corpus, targets)[np.searchsorted(targets, target)] == hosts[pages]
    rows = np.flatnonzero(named)
    rows = rows[np.argsort(numbers[rows])]
    start = np.asarray(corpus.anchors.start)[numbers[rows]].astype(np.int64)
    return pages[rows], target[rows], start, length[rows]


def _hosts_of(corpus: Corpus, urls: Array) -> npt.NDArray[np.int64]:
    """Return the host of each of some addresses, as pages name it; -1 for one of which there are no pages."""
    page_url = np.asarray(corpus.pages.url).astype(np.int64)
    place = np.minimum(np.searchsorted(page_url, urls), len(page_url) - 1)
    has_page = page_url[place] == urls
    hosts = np.where(has_page, np.asarray(corpus.pages.host)[place].astype(np.int64), -1)
    numbers = {name: number for number, name in enumerate(corpus.hosts)}
    for at in np.flatnonzero(~has_page).tolist():
        hosts[at] = numbers.get(host_of(corpus.url(int(urls[at]))).encode(), -1)
    return hosts


def put_link_texts(
    writer: KinWriter, corpus: Corpus, forms: Forms, known: LinkTexts | VisitingTexts | None = None
) -> tuple[Array, Array, Array]:
    """Write which forms name which pages, and how strongly; return offsets by form, pages and strengths.

    This is found in the corpus, with the links that visit it from a base, unless it is known. Only links from the same host
    count: the others a site of a network would not know, and its pages would have other scores than in one collection of all.
    A page that links often to another counts once.
    """
    with TemporaryDirectory(dir=writer.work) as folder:
        room = Workspace(Path(folder), writer.memory)
        link_texts = chain(
            _read_link_texts(corpus, forms), [known.on(corpus, forms)] if isinstance(known, VisitingTexts) else []
        )
        pieces = (
            [_number_forms(known, forms)] if isinstance(known, LinkTexts) else _add_up(corpus, forms, link_texts, room)
        )
        sizes = np.zeros(len(forms), np.int64)
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
    """Return (form, page, strength) of known link texts, by the numbers of a corpus's forms; forms and pages rise."""
    number = forms.table.find_all([name.encode() for name in known.names])
    form = number[known.form] if forms.same is None else forms.same[number][known.form].astype(np.int64)
    order = np.lexsort((-known.strength.astype(np.int64), known.page, form))
    form, page, strength = form[order], known.page[order], known.strength[order]
    new = (np.diff(form, prepend=-1) != 0) | (np.diff(page, prepend=-1) != 0)
    return form[new], page[new], strength[new]


def find_strength(said: Array, links: Array) -> npt.NDArray[np.uint8]:
    """Return how strongly a form names pages, given how many pages use it and how many link to them."""
    return np.asarray(np.rint(255.0 * np.sqrt(said / (links + SMOOTH))), np.uint8)


def _add_up(
    corpus: Corpus, forms: Forms, link_texts: Iterable[tuple[Array, Array, Array]], room: Workspace
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (form, page, strength), sorted, of the link texts to a corpus's pages, some forms at a time."""
    links = np.zeros(len(corpus), np.int64)
    for form, page, said in sum_said(link_texts, links, len(forms), room):
        yield form, page, find_strength(said, links[page])


def sum_said(
    link_texts: Iterable[tuple[Array, Array, Array]], links: Array, forms: int, room: Workspace
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield (form, target, number of pages with such a link), sorted, some forms at a time; adds up `links` per target.

    Pairs of a form and a target are counted in runs, each in order, which lie in files; then a range of forms is put together
    from its stretch of every run.
    """
    width = max(len(links), 1)
    at_once = room.memory.items(_AT_ONCE, _PAIR_BYTES)
    sizes = np.zeros(forms, np.int64)
    waiting: list[Array] = []
    ends = [0]
    pairs = ArrayFile(room.folder / "pairs", np.int64, temporary=True)
    counts = ArrayFile(room.folder / "counts", np.uint32, temporary=True)

    def write_run() -> None:
        ordered = np.sort(np.concatenate([np.zeros(0, np.int64), *waiting]))
        starts = _starts(ordered)
        np.add.at(sizes, ordered[starts] // width, 1)
        pairs.append(ordered[starts])
        counts.append(np.diff(starts, append=len(ordered)).astype(np.uint32))
        ends.append(pairs.length)
        waiting.clear()

    try:
        for target, said, form in link_texts:
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
        order = np.argsort(every, kind="stable")  # which merges what is in order already
        every = every[order]
        starts = _starts(every)
        weights = np.concatenate([all_counts[low:high] for low, high in parts])[order].astype(np.int64)
        form, page = np.divmod(every[starts], width)
        yield form, page, np.add.reduceat(weights, starts) if len(starts) else weights


def _starts(ordered: Array) -> npt.NDArray[np.int64]:
    """Return the first place of each value of a sorted array."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])


def _read_link_texts(corpus: Corpus, forms: Forms) -> Iterator[tuple[Array, Array, Array]]:
    """Yield in batches (targets of links, once per linking page; pages and the forms in their link texts)."""
    page_of = np.full(len(corpus.urls), -1, np.int64)
    page_of[np.asarray(corpus.pages.url)[::-1]] = np.arange(len(corpus))[::-1]
    host_of_url = np.full(len(corpus.urls), -1, np.int64)
    host_of_url[corpus.pages.url] = corpus.pages.host
    for linked, said, form in read_said(corpus, forms.of_term, host_of_url, page_of):
        yield page_of[linked], page_of[said], form


def read_said(
    corpus: Corpus, form_of_term: Array, host_of_url: Array, page_of: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield in batches (addresses of targets, once per linking page; addresses and the forms in their link texts).

    `host_of_url` has the host of each address that has a page, as the corpus numbers hosts, and -1 for others; `page_of` the
    newest page of each that has one in the corpus.
    """
    from pagekin.text._kernels.link_texts import read_link_texts

    hosts, anchors = np.asarray(corpus.pages.host), np.asarray(corpus.pages.anchors).astype(np.int64)
    width, forms = max(len(corpus.urls), 1), int(form_of_term.max(initial=0)) + 1
    for first, last in batch_ranges(corpus.pages.tokens, _BATCH_WORDS):
        here = slice(int(anchors[first]), int(anchors[last]))
        target = np.asarray(corpus.anchors.target[here]).astype(np.int64)
        source = np.repeat(np.arange(first, last), np.diff(anchors[first : last + 1]))
        length = np.asarray(corpus.anchors.length[here]).astype(np.int64)
        named = (host_of_url[target] == hosts[source]) & (page_of[target] != source)
        named &= (length > 0) & (length <= LONGEST)
        streams = corpus.stream_batch(first, last)
        said = np.empty(int(length[named].sum()), np.int64)
        read_link_texts(
            streams, DecodedPage.for_longest(streams), form_of_term, source[named] - first,
            np.asarray(corpus.anchors.start[here]).astype(np.int64)[named], length[named], said,
        )  # fmt: skip
        # A page that links twice to another, or says a word twice, counts once.
        links, length = (source[named] - first) * width + target[named], length[named]
        linked, place = np.unique(links, return_inverse=True)
        rows = distinct(np.repeat(place, length) * forms + said)
        yield linked % width, linked[rows // forms] % width, rows % forms
