"""All links to the addresses of a corpus: those on its own pages, and visiting ones from pages of other shards."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pagekin.bags.furniture import host_hashes
from pagekin.bags.links import anchor_pages
from pagekin.bags.raw import temporary_array
from pagekin.bags.strategy import Strategy
from pagekin.bags.visits import Visits
from pagekin.bags.words import Vocabulary
from pagekin.hypertext import Corpus, sites_of_urls
from pagekin.store import Array, RaggedBytes, Workspace, distinct, rising_order, row_entries

if TYPE_CHECKING:
    from pagekin.bags._kernels.keep import KeptWords
    from pagekin.bags._kernels.merge import Web

_COPIED = 1 << 22
_NO_ANCHORS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Inlinks:
    """The links to each address, and the facts about their pages.

    Pages and anchors of the corpus keep their numbers. Visiting pages, which have no words but those around their links, and
    their anchors have the numbers after those.
    """

    corpus: Corpus
    web: "Web"
    kept: "KeptWords"
    own: npt.NDArray[np.int64]
    """(URLs + 1): where the corpus's own links to each address begin."""
    visiting: npt.NDArray[np.int64]
    """(URLs + 1): where the visiting links to each address begin; they are numbered by address, citing address and place."""
    standing: npt.NDArray[np.int64]
    """(pages and visiting pages): numbers in the order of their addresses."""
    more_citations: npt.NDArray[np.int64]
    """(URLs): pages that cite each address, besides those whose links are here."""
    visitors: list[bytes]
    """The addresses of the visiting pages."""
    sum_offsets: npt.NDArray[np.int64]
    """(URLs + 1): where what visiting windows add to the bag of each address begins."""
    sum_terms: npt.NDArray[np.uint32]
    """The words that these add."""
    sums: npt.NDArray[np.int64]
    """What they weigh together, in units."""
    wanted: npt.NDArray[np.bool_] | None = None
    """(URLs): those to which there are links at all; None for all."""

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Return the number of links to each address."""
        counts = np.diff(self.own) + np.diff(self.visiting)
        return counts if self.wanted is None else np.where(self.wanted, counts, 0)

    def sums_to(
        self, first: int, last: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """Return (addresses, counted from `first`; words; sums) that visiting windows add to the bags of some addresses."""
        offsets = self.sum_offsets[first : last + 1]
        part = slice(int(offsets[0]), int(offsets[-1]))
        return np.repeat(np.arange(last - first), np.diff(offsets)), self.sum_terms[part], self.sums[part]

    def to(self, first: int, last: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return (offsets, anchors) of the links to the addresses `first` to `last`, each in the order of citing pages."""
        anchors = np.array(self.corpus.inlinks.anchors[self.own[first] : self.own[last]], dtype=np.int64)
        if self.visiting[first] == self.visiting[last] and self.wanted is None:
            return self.own[first : last + 1] - self.own[first], anchors
        guests = np.arange(self.visiting[first], self.visiting[last]) + len(self.corpus.anchors.target)
        every = np.concatenate([anchors, guests])
        targets = np.concatenate(
            [np.repeat(np.arange(last - first), np.diff(of[first : last + 1])) for of in (self.own, self.visiting)]
        )
        if self.wanted is not None:
            every, targets = (values[self.wanted[first + targets]] for values in (every, targets))
        order = rising_order(targets, self.standing[self.web.anchor_page[every]], every)
        return np.cumsum(np.append(0, self.counts[first:last])), every[order]


def gather_inlinks(
    corpus: Corpus, strategy: Strategy, words: Vocabulary, kept: "KeptWords", citing: Array,
    visits: Visits | None, room: Workspace, wanted: Array | None = None, lost: Array = _NO_ANCHORS,
) -> Inlinks:  # fmt: skip
    """Return all links to the addresses of a corpus, or only to `wanted` ones; others count as if they had no page.

    Visiting windows already say what those of the corpus's anchors `lost` say, which are left out.
    The corpus knows the addresses that visits lead to and the words around them, and citing addresses where these are terms:
    see `hypertext.widen_corpus`. A ValueError says what it does not know.
    """
    own = np.asarray(corpus.inlinks.offsets, dtype=np.int64)
    web = _web(corpus, strategy, citing, room)
    if wanted is not None:
        web.url_page[~wanted] = -1
    nothing = np.zeros(len(corpus.urls), np.int64)
    if visits is None or not len(visits.citations):
        none, no_sums = np.append(0, nothing), (np.append(0, nothing), np.zeros(0, np.uint32), nothing[:0])
        return Inlinks(corpus, web, kept, own, none, np.arange(len(corpus)), nothing, [], *no_sums, wanted)
    targets = _numbers(corpus, RaggedBytes(visits.targets, visits.target_offsets))
    visitors = list(RaggedBytes(visits.citing, visits.citing_offsets))
    more = nothing.copy()
    more[targets] = visits.citations
    links = np.bincount(targets[visits.target], minlength=len(nothing))
    pairs = distinct(visits.target.astype(np.int64) * max(len(visitors), 1) + visits.source)
    more -= np.bincount(targets[pairs // max(len(visitors), 1)], minlength=len(nothing))
    urls = np.full(len(visitors), len(nothing), np.int64)
    if strategy.links.scale:
        urls = _numbers(corpus, RaggedBytes(visits.citing, visits.citing_offsets))
    web = web._replace(
        page_url=np.append(web.page_url, urls),
        url_site=np.append(web.url_site, -1),
        page_host=np.append(web.page_host, visits.hosts),
        citing=np.append(web.citing, np.ones(len(visitors), np.bool_)),
        anchor_page=np.append(web.anchor_page, (len(corpus) + visits.source).astype(np.uint32)),
    )
    standing = _order_pages(corpus, visitors)
    visiting = np.cumsum(np.append(0, links))
    numbers = _find_words(words, visits)
    every = _append_windows(kept, visits, numbers, room.folder, lost)
    summed = np.bincount(targets[visits.sum_target], minlength=len(nothing))
    sums = np.cumsum(np.append(0, summed)), numbers[visits.sum_word].astype(np.uint32), visits.sums
    return Inlinks(corpus, web, every, own, visiting, standing, more, visitors, *sums, wanted)


def _web(corpus: Corpus, strategy: Strategy, citing: Array, room: Workspace) -> "Web":
    """Return the URLs, pages and anchors in the form that the merging kernel takes."""
    from pagekin.bags._kernels.merge import Web

    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    url_page = np.full(len(corpus.urls), -1, dtype=np.int64)
    url_page[page_url[::-1]] = np.arange(len(corpus))[::-1]  # the first of several captures, the newest, wins
    url_site = np.zeros(len(corpus.urls), dtype=np.int64)
    if not strategy.anchors.within_site:
        url_site = sites_of_urls(corpus.urls)[0].astype(np.int64)
    return Web(
        url_page=url_page,
        url_site=url_site,
        page_url=page_url,
        page_host=host_hashes(corpus)[corpus.pages.host],
        citing=citing,
        page_anchors=np.asarray(corpus.pages.anchors, dtype=np.int64),
        anchor_page=anchor_pages(corpus, room),
    )


def _numbers(corpus: Corpus, addresses: RaggedBytes) -> npt.NDArray[np.int64]:
    """Return the numbers of addresses in a corpus, which must know them all."""
    numbers = corpus.urls.find_all(addresses)
    if len(numbers) and numbers.min() < 0:
        unknown = addresses.text(int(np.argmin(numbers)))
        raise ValueError(f"the shard does not know {unknown}, which visiting links name")
    return numbers


def _find_words(words: Vocabulary, visits: Visits) -> npt.NDArray[np.int32]:
    """Return the bag words with the hashes of visiting words."""
    order = np.argsort(words.hashes)
    known = words.hashes[order]
    place = np.searchsorted(known, visits.hashes)
    is_known = np.append(known, np.uint64(0))[place] == visits.hashes if len(known) else np.zeros(len(place), np.bool_)
    if not np.all(is_known):
        unknown = RaggedBytes(visits.strings, visits.string_offsets).text(int(np.argmin(is_known)))
        raise ValueError(f"the shard does not know the word '{unknown}', which stands around visiting links")
    return order[place].astype(np.int32)


def _order_pages(corpus: Corpus, visitors: list[bytes]) -> npt.NDArray[np.int64]:
    """Return numbers by address for the pages of a corpus and the visiting pages, which are sorted."""
    pages = np.asarray(corpus.pages.url, dtype=np.int64)
    before = corpus.urls.nearest_all(visitors)
    # A visitor stands before the pages of the first address that is not less, and the visitors after it.
    order = np.lexsort((np.arange(len(pages) + len(visitors)), np.append(2 * pages + 1, 2 * before)))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    return numbers


def _append_windows(
    kept: "KeptWords", visits: Visits, numbers: npt.NDArray[np.int32], folder: Path, lost: Array
) -> "KeptWords":
    """Return kept words, without the windows of `lost` anchors, followed by those of visiting links, grouped by visiting page."""
    from pagekin.bags._kernels.keep import ELSEWHERE

    by_page = np.argsort(visits.source, kind="stable")
    sizes = np.diff(visits.word_offsets)
    begins = np.cumsum(np.append(0, sizes[by_page]))
    pages = np.bincount(visits.source, sizes, minlength=len(visits.hosts)).astype(np.int64)
    page_ends = np.cumsum(pages)
    spans = visits.spans.reshape(-1, 4).copy()
    counts = spans[:, 1] >= 0
    in_page = np.empty(len(sizes), np.int64)
    in_page[by_page] = begins[:-1] - (page_ends - pages)[visits.source[by_page]]
    ends_elsewhere = spans[:, 2] == ELSEWHERE
    spans[counts] += in_page[counts, None].astype(np.int32)
    spans[ends_elsewhere, 2] = ELSEWHERE
    with (
        temporary_array(folder / "visited.words", np.int32) as all_words,
        temporary_array(folder / "visited.spans", np.int32) as all_spans,
    ):
        for start in range(0, len(kept.words), _COPIED):
            all_words.append(kept.words[start : start + _COPIED])
        for start in range(0, len(kept.spans), _COPIED // 4):
            own = np.array(kept.spans[start : start + _COPIED // 4])
            low, high = np.searchsorted(lost, [start, start + len(own)])
            own[lost[low:high] - start, 2] = ELSEWHERE
            all_spans.append(own.reshape(-1))
        all_words.append(numbers[visits.words[row_entries(visits.word_offsets, by_page)]])
        all_spans.append(spans.reshape(-1))
        return kept._replace(
            words=all_words.mapped(),
            offsets=np.append(kept.offsets, kept.offsets[-1] + page_ends),
            titles=np.append(kept.titles, np.zeros(len(pages), np.int32)),
            spans=all_spans.mapped().reshape(-1, 4),
        )
