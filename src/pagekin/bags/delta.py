"""Make the bags of a delta: new and changed pages, and old ones with changed inlinks, weighted as in the base.

A delta is a shard beside a base that stays as it is. It has the documents that an update touches, under the epoch of the base:
frequencies, furniture and pages that only list are those of the base. What it replaces there is hidden.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.bags import Bags
from pagekin.bags.build import keep, merge, window_rules, write_sketches
from pagekin.bags.epoch import EpochColumns
from pagekin.bags.frequencies import Frequencies
from pagekin.bags.furniture import (
    LABELS,
    EpochJudge,
    HostLinks,
    LinkUse,
    classify_by_epoch,
    hash_names,
    host_hashes,
    mark_sequences,
)
from pagekin.bags.graph import LinkColumns, link_weights, write_links
from pagekin.bags.link_pairs import DocumentLinks, find_links
from pagekin.bags.links import citing_pages
from pagekin.bags.raw import Raw, keep_bags
from pagekin.bags.strategy import Strategy
from pagekin.bags.visits import VisitingLinks, Visits, WindowsInPieces, read_windows
from pagekin.bags.weighing import Presentation, weigh
from pagekin.bags.words import Vocabulary, make_vocabulary
from pagekin.hypertext import Corpus, DecodedPage, host_of, site_names, sites_of_urls
from pagekin.store import (
    Array,
    Columns,
    Kin,
    KinWriter,
    RaggedBytes,
    batch_ranges,
    no_progress,
    read_only,
    row_entries,
    smallest_uint,
)

if TYPE_CHECKING:
    from pagekin.bags._kernels.keep import Anchors

NOWHERE = (1 << 32) - 1
"""In place of a document's new number: it is in the collection no more."""
_BATCH_WORDS = 1 << 20
_WHOLE = ("bags", "own_pages", "own_words")


@dataclass(frozen=True)
class ReplacedColumns(Columns):
    """The documents of the base that a delta replaces; the delta's documents are numbered after the base's."""

    prefix: ClassVar[str] = "replaced"

    document: npt.NDArray[np.uint32]
    """Documents of the base that are hidden, rising."""
    by: npt.NDArray[np.uint32]
    """The document of the delta that stands in place of each of them, or NOWHERE."""
    citing: npt.NDArray[np.uint32]
    """Documents of the base, rising, that stay and link to documents that are hidden."""
    out_weight: npt.NDArray[np.float32]
    """The weights of all that each of these links to, added up: see `LinkColumns`."""
    cited: npt.NDArray[np.uint32]
    """Documents of the base, rising, that stay and are linked to by documents of the delta."""
    in_weight: npt.NDArray[np.float32]
    """The weights of all that link to each of these, added up."""


class PageLinks(NamedTuple):
    """The links on some pages of a base."""

    pages: npt.NDArray[np.int64]
    """The pages, rising."""
    offsets: npt.NDArray[np.int64]
    """(pages + 1): where the links of each begin."""
    targets: npt.NDArray[np.int64]
    uses: npt.NDArray[np.uint8]
    """The `LinkUse` of each."""


class BaseReader:
    """Reads the links of some pages of a base, and the words around them, without a pass over all pages."""

    def __init__(self, corpus: Corpus, strategy: Strategy) -> None:
        self.corpus, self.strategy = corpus, strategy
        epoch = EpochColumns.of(corpus.kin)
        self._judge = EpochJudge(corpus, epoch.furniture, epoch.navigation, epoch.lists)
        self._term_hashes = hash_names(corpus.terms)
        self._page_anchors = np.asarray(corpus.pages.anchors, dtype=np.int64)

    def links(self, pages: npt.NDArray[np.int64]) -> Iterator[PageLinks]:
        """Yield the links of some pages, given in order, batch by batch."""
        for _streams, _anchors, links in self._read(pages):
            yield links

    def targets(self, pages: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the targets of meaningful links on some pages."""
        targets = [links.targets[links.uses == LinkUse.COUNTS] for links in self.links(pages)]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *targets]))

    def citing(self, urls: Array) -> npt.NDArray[np.int64]:
        """Return the sorted pages with links to some addresses."""
        offsets = np.asarray(self.corpus.inlinks.offsets, dtype=np.int64)
        anchors = np.asarray(self.corpus.inlinks.anchors)[row_entries(offsets, np.asarray(urls, np.int64))]
        return np.unique(np.searchsorted(self._page_anchors, anchors, side="right") - 1)

    def visits(self, pages: npt.NDArray[np.int64], is_target: npt.NDArray[np.bool_]) -> Visits:
        """Return the links of some pages to the addresses that `is_target` marks, with the words around them."""
        from pagekin.bags._kernels.keep import IN_CRUMBS, KeptWords, keep_words

        corpus, strategy = self.corpus, self.strategy
        words = make_vocabulary(corpus, strategy)
        rules = window_rules(strategy, words)
        hosts = host_hashes(corpus)
        sites = None if strategy.anchors.within_site else sites_of_urls(corpus.urls)[0]
        page_url = np.asarray(corpus.pages.url, dtype=np.int64)
        page_host = np.asarray(corpus.pages.host)
        every = WindowsInPieces(strategy)
        for streams, anchors, links in self._read(pages):
            kept = KeptWords(
                words=np.empty(len(streams.words), dtype=np.int32),
                offsets=np.zeros(len(links.pages) + 1, dtype=np.int64),
                titles=np.empty(len(links.pages), dtype=np.int32),
                spans=np.empty((len(links.targets), 4), dtype=np.int32),
            )
            keep_words(streams, DecodedPage.for_longest(streams), anchors._replace(uses=links.uses), rules, kept)
            kept = kept._replace(words=read_only(kept.words), spans=read_only(kept.spans))
            some = np.flatnonzero(is_target[links.targets] & (kept.spans[:, 1] != IN_CRUMBS))
            of_page = np.repeat(np.arange(len(links.pages)), np.diff(links.offsets))[some]
            sources = page_url[links.pages[of_page]]
            counts = kept.spans[some, 1] >= 0
            if sites is not None:
                counts &= sites[links.targets[some]] != sites[sources]
            visiting = VisitingLinks(
                links.targets[some], sources, hosts[page_host[links.pages[of_page]]], some - links.offsets[of_page], some,
                of_page, counts,
            )  # fmt: skip
            if len(some):
                every.add(read_windows(strategy, words, kept, visiting, len(links.pages)))
        return every.visits(corpus, words)

    def _read(self, pages: npt.NDArray[np.int64]) -> Iterator[tuple[Any, "Anchors", PageLinks]]:
        """Yield (the streams of some pages, their anchors, the `LinkUse` of these)."""
        from pagekin.bags._kernels.keep import Anchors
        from pagekin.bags._kernels.texts import read_link_texts

        corpus, bounds = self.corpus, self._page_anchors
        tokens = np.asarray(corpus.pages.tokens, dtype=np.int64)
        sizes = np.cumsum(np.append(0, tokens[pages + 1] - tokens[pages]))
        for first, last in batch_ranges(sizes, _BATCH_WORDS):
            some = pages[first:last]
            streams = corpus.stream_some(some)
            numbers = row_entries(bounds, some)
            offsets = np.cumsum(np.append(0, bounds[some + 1] - bounds[some]))
            anchors = Anchors(
                offsets=offsets,
                starts=np.asarray(corpus.anchors.start)[numbers].astype(np.int64),
                lengths=np.asarray(corpus.anchors.length)[numbers].astype(np.int64),
                uses=np.zeros(len(numbers), np.uint8),
            )
            texts, first_words = np.zeros(len(numbers), np.uint64), np.full(len(numbers), -1, np.int64)
            labels = np.zeros((len(numbers), LABELS), np.uint64)
            read_link_texts(
                streams, DecodedPage.for_longest(streams), anchors, self._term_hashes, texts, first_words, labels
            )
            mark_sequences(labels, np.asarray(corpus.anchors.flags)[numbers])
            targets = np.asarray(corpus.anchors.target)[numbers].astype(np.int64)
            of_page = np.repeat(some, np.diff(offsets))
            uses = self._judge.uses(HostLinks(numbers, of_page, targets, texts, first_words, labels))
            yield streams, anchors, PageLinks(some, offsets, targets, uses)


def epoch_in(corpus: Corpus, base: Kin) -> tuple[Array, Array, Array]:
    """Return (furniture, navigation, listing pages) of a base's epoch, in the URL numbers of another corpus."""
    epoch, known = EpochColumns.of(base), RaggedBytes.of(base, "url")

    def here(urls: Array) -> npt.NDArray[np.uint32]:
        numbers = corpus.urls.find_all([known[url] for url in urls.tolist()])
        return np.sort(numbers[numbers >= 0]).astype(np.uint32)

    return here(epoch.furniture), np.asarray(epoch.navigation), here(epoch.lists)


def touched_targets(corpus: Corpus, base: Kin) -> npt.NDArray[np.int64]:
    """Return the targets of a corpus's meaningful links, by the epoch of a base."""
    uses = classify_by_epoch(corpus, *epoch_in(corpus, base))
    return np.unique(np.asarray(corpus.anchors.target, dtype=np.int64)[uses == LinkUse.COUNTS])


def make_delta_bags(
    corpus: Corpus, base: Kin, strategy: Strategy, visits: Visits, mine: npt.NDArray[np.bool_], hidden: Array,
    writer: KinWriter, threads: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Write the bags of a delta, and which documents they replace; return the facts about the index.

    The corpus knows all that `visits`, the links of the base's pages that stay, name; `mine` marks its addresses whose documents
    are the delta's, and `hidden` are the addresses of the base, rising, that it replaces.
    """
    words = make_vocabulary(corpus, strategy)
    furniture, navigation, lists = epoch_in(corpus, base)
    with TemporaryDirectory(dir=writer.work) as name:
        folder = Path(name)
        uses = classify_by_epoch(corpus, furniture, navigation, lists)
        kept, _windows = keep(corpus, strategy, words, uses, folder, no_progress, threads)
        write_sketches(kept, words, writer)
        citing = citing_pages(corpus)
        raw = merge(corpus, strategy, words, kept, citing, folder, no_progress, threads, visits)
        raw = keep_bags(raw, mine[raw.urls])
        facts = weigh(
            corpus, strategy, words, raw, _frequencies(base), writer, no_progress, _present(corpus, base, words, raw)
        )
        links = find_links(corpus, strategy, uses, citing, raw.urls, len(Bags(base)))
        facts |= _put_links(corpus, base, uses, raw.urls, links, hidden, writer)
    epoch = EpochColumns.of(base)
    arrays = {"factor": np.asarray(epoch.factor), "furniture": furniture, "navigation": navigation, "lists": lists}
    for name, array in arrays.items():
        writer.put(f"epoch.{name}", array)
    stated = base.facts["index"]
    facts |= {name: stated[name] for name in ("nmdf", "not_citing", "site_rule", "window_words") if name in stated}
    facts["epoch"] = {"identity": stated["epoch"]["identity"], **{name: len(array) for name, array in arrays.items()}}
    facts["whole"] = {name: stated[name] for name in _WHOLE}
    return facts | {"strategy": stated["strategy"], "digest": stated["digest"]}


def _frequencies(base: Kin) -> Frequencies:
    """Return the document frequencies by which the bags of a base were weighted."""
    facts = base.facts["index"]
    limits = np.cumsum([facts["bag_words"], facts["bag_links"], facts["bag_outlinks"]])
    df, pages = (np.asarray(base[f"bagterm.{name}"], dtype=np.int64) for name in ("df", "pages"))
    return Frequencies(np.asarray(base["bagterm.hash"]), limits, df, pages, np.array([facts[name] for name in _WHOLE]))


def _present(corpus: Corpus, base: Kin, words: Vocabulary, raw: Raw) -> Presentation:
    """Return the document numbers and display words of a delta's bags; sites have the base's numbers."""
    sites = _sites(corpus, base, raw.urls)
    return Presentation(
        np.arange(len(corpus.urls)), words.shown.astype(np.int64), sites.astype(smallest_uint(int(sites.max(initial=0)))),
        str(base.facts["index"]["site_rule"]), int(raw.inlinks.max(initial=0)),
    )  # fmt: skip


def _sites(corpus: Corpus, base: Kin, urls: Array) -> npt.NDArray[np.int64]:
    """Return the site of each address, by the numbers and the rule of a base; new sites are numbered after them."""
    known, bags = RaggedBytes.of(base, "url"), Bags(base)
    numbers, first = np.unique(np.asarray(bags.sites), return_index=True)
    if base.facts["index"]["site_rule"] == "domain":
        names = site_names(known)
        number_of = {names[number]: number for number in numbers.tolist()}
        own, own_names = sites_of_urls(corpus.urls)
        called = [own_names[number] for number in own[urls].tolist()]
    else:
        hosts = (host_of(known.text(int(bags.urls[document]))) for document in first.tolist())
        number_of = dict(zip(hosts, numbers.tolist(), strict=True))
        called = [host_of(corpus.url(url)) for url in urls.tolist()]
    free = int(numbers.max(initial=0)) + 1
    for name in sorted(set(called) - number_of.keys()):
        number_of[name] = free
        free += 1
    return np.array([number_of[name] for name in called], np.int64)


def _put_links(
    corpus: Corpus, base: Kin, uses: Array, urls: Array, pairs: tuple[Array, Array], hidden: Array, writer: KinWriter
) -> dict[str, Any]:
    """Write the links of a delta's documents `urls`, and which links they replace; return the number of links.

    `found` are the links on the delta's own pages, `hidden` addresses of the base.
    """
    bags, links, known = Bags(base), LinkColumns.of(base), RaggedBytes.of(base, "url")
    count = len(bags)
    in_base = known.find_all([corpus.urls[url] for url in urls.tolist()])
    place = np.minimum(np.searchsorted(bags.urls, hidden), count - 1)
    replaced = place[np.asarray(bags.urls)[place] == hidden].astype(np.int64)
    by = np.full(count, NOWHERE, np.int64)
    old = np.array([bags.document(url) if url >= 0 else -1 for url in in_base.tolist()], np.int64)
    by[old[old >= 0]] = count + np.flatnonzero(old >= 0)
    stays = np.ones(count, np.bool_)
    stays[replaced] = False
    # Addresses of links on the delta's pages: documents of the delta, or of the base.
    targets, place = np.unique(pairs[0], return_inverse=True)
    number = np.full(len(corpus.urls), -1, np.int64)
    number[urls] = count + np.arange(len(urls))
    others = targets[number[targets] < 0].tolist()
    for url, at in zip(others, known.find_all([corpus.urls[url] for url in others]).tolist(), strict=True):
        document = bags.document(at) if at >= 0 else -1
        number[url] = document if document >= 0 and stays[document] else -1
    to = number[targets][place] if len(targets) else pairs[0]
    own_links = np.stack([to, pairs[1].astype(np.int64)])[:, to >= 0]
    in_offsets, out_offsets = (np.asarray(one, dtype=np.int64) for one in (links.in_offsets, links.out_offsets))
    with_old = np.flatnonzero(old >= 0)
    sources = np.asarray(links.into)[row_entries(in_offsets, old[with_old])].astype(np.int64)
    cited = np.repeat(count + with_old, np.diff(in_offsets)[old[with_old]])
    visiting = np.stack([cited, sources])[:, stays[sources]]
    into = np.concatenate([own_links[:, own_links[0] >= count], visiting], axis=1)
    degrees_in, degrees_out = np.diff(in_offsets), np.diff(out_offsets)
    degrees_in = np.append(degrees_in, np.bincount(into[0] - count, minlength=len(urls)))
    degrees_out = np.append(degrees_out, np.bincount(own_links[1] - count, minlength=len(urls)))
    into = into[:, np.lexsort((into[1], into[0]))]
    out = own_links[:, np.lexsort((own_links[0], own_links[1]))]
    kind = np.uint32
    facts = write_links(
        corpus, uses, urls,
        DocumentLinks(into[0].astype(kind), into[1].astype(kind), degrees_out[into[1]]),
        DocumentLinks(out[0].astype(kind), out[1].astype(kind), degrees_in[out[0]]),
        writer, count,
    )  # fmt: skip
    writer.put("replaced.document", np.sort(replaced).astype(np.uint32))
    writer.put("replaced.by", by[np.sort(replaced)].astype(np.uint32))
    citing = np.unique(np.asarray(links.into)[row_entries(in_offsets, replaced)].astype(np.int64))
    cited = np.unique(np.asarray(links.out)[row_entries(out_offsets, replaced)].astype(np.int64))
    for name, weight, some, offsets, others, degrees in (
        ("citing", "out_weight", citing[stays[citing]], out_offsets, links.out, degrees_in),
        ("cited", "in_weight", cited[stays[cited]], in_offsets, links.into, degrees_out),
    ):
        reached = by_number(np.asarray(others)[row_entries(offsets, some)].astype(np.int64), stays, by)
        weights = np.where(reached == NOWHERE, 0.0, link_weights(degrees[np.where(reached == NOWHERE, 0, reached)]))
        rows = np.repeat(np.arange(len(some)), np.diff(offsets)[some])
        writer.put(f"replaced.{name}", some.astype(np.uint32))
        writer.put(f"replaced.{weight}", np.bincount(rows, weights, minlength=len(some)).astype(np.float32))
    return facts | {"links_into": into.shape[1]}


def by_number(documents: npt.NDArray[np.int64], stays: Array, by: Array) -> npt.NDArray[np.int64]:
    """Return the current numbers of a base's documents, or NOWHERE."""
    return np.where(stays[documents], documents, by[documents])
