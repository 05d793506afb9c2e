"""Links between documents, read from the pages of one shard and joined over all shards.

The shard of the cited document decides whether it has a bag and counts the links to it; the shard of the citing one counts those
from it. Each sends the other what it counted, since the weights of links go by both.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.links import link_batches
from pagekin.bags.strategy import Strategy
from pagekin.hypertext import Corpus, sites_of_urls
from pagekin.store import IN_MEMORY, Array, RaggedBytes, Workspace, pack_strings, rising_order


class NamedLinks(NamedTuple):
    """Links of a shard's documents to addresses of another shard."""

    names: npt.NDArray[np.uint8]
    """The addresses, as one string, …"""
    offsets: npt.NDArray[np.int64]
    """… and where each begins."""
    targets: npt.NDArray[np.uint32]
    """(links): places among the addresses."""
    sources: Array
    """(links): the citing documents, as they are numbered in the whole."""


class DocumentLinks(NamedTuple):
    """Links between documents, by their numbers in the whole."""

    targets: Array
    sources: Array
    ends: Array
    """(links): how many links lead to the target, or from the source; who needs them knows which."""


def find_links(
    corpus: Corpus,
    strategy: Strategy,
    uses: Array,
    citing: Array,
    documents: Array,
    first_document: int = 0,
    room: Workspace = IN_MEMORY,
) -> tuple[npt.NDArray[np.int64], Array]:
    """Return (addresses, documents) of the links that count: the sorted citing documents of each address.

    `uses` is the `LinkUse` of all anchors, `citing` marks the pages whose links count, `documents` are the URLs with a bag;
    they are numbered from `first_document` on.
    """
    page_url = np.asarray(corpus.pages.url, dtype=np.int64)
    document_of = _number_documents(corpus, documents)
    sites = None if strategy.anchors.within_site else sites_of_urls(corpus.urls)[0].astype(np.int64)
    addresses, citing_documents = [np.zeros(0, np.int64)], [np.zeros(0, np.uint32)]
    for links in link_batches(corpus, room):
        sources = page_url[links.pages]
        counts = citing[links.pages] & (uses[links.anchors] == 0) & (sources != links.targets)
        if sites is not None:
            counts &= sites[sources] != sites[links.targets]
        targets, sources = links.targets[counts], document_of[sources[counts]]
        has_bag = sources >= 0
        pairs = np.unique(targets[has_bag] * max(len(documents), 1) + sources[has_bag])
        targets, sources = np.divmod(pairs, max(len(documents), 1))
        addresses.append(targets)
        citing_documents.append(_narrow(first_document + sources))
    return np.concatenate(addresses), np.concatenate(citing_documents)


def _number_documents(corpus: Corpus, documents: Array) -> npt.NDArray[np.int64]:
    document_of = np.full(len(corpus.urls), -1, dtype=np.int64)
    document_of[documents] = np.arange(len(documents))
    return document_of


def _narrow(numbers: Array) -> Array:
    """Return document numbers as 32-bit integers if they fit."""
    return numbers.astype(np.uint32 if int(numbers.max(initial=0)) < 1 << 32 else np.uint64)


def name_links(corpus: Corpus, addresses: Array, sources: Array) -> NamedLinks:
    """Return links to addresses of another shard by name, given the result of `find_links`."""
    urls, targets = np.unique(addresses, return_inverse=True)
    names = pack_strings([corpus.urls[url] for url in urls.tolist()])
    return NamedLinks(*names, targets.astype(np.uint32), sources)


def number_links(
    corpus: Corpus, documents: Array, own: tuple[Array, Array], visiting: Iterable[NamedLinks] = (),
    first_document: int = 0,
) -> DocumentLinks:  # fmt: skip
    """Return the links to a shard's documents as document numbers, with the number of links to each.

    `own` are the links that `find_links` found on the shard's pages, to its own addresses, `visiting` those of other shards.
    Links to addresses without a bag are left out.
    """
    targets, sources = [own[0]], [own[1]]
    for links in visiting:
        names = RaggedBytes(links.names, links.offsets)
        urls = corpus.urls.find_all(names)
        known = urls[links.targets] >= 0
        targets.append(urls[links.targets][known])
        sources.append(links.sources[known])
    numbers = _number_documents(corpus, documents)[np.concatenate(targets)]
    citing = np.concatenate(sources)[numbers >= 0]
    numbers = numbers[numbers >= 0]
    if len(targets) > 1:
        order = rising_order(numbers, citing)
        numbers, citing = numbers[order], citing[order]
    inlinks = np.bincount(numbers, minlength=len(documents))
    return DocumentLinks(_narrow(first_document + numbers), citing, _narrow(inlinks[numbers]))


def collect_links(parts: Sequence[DocumentLinks], by: str) -> DocumentLinks:
    """Return the links of a shard's documents that several shards sent, sorted by `targets` or `sources`."""
    targets, sources, ends = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = rising_order(*((targets, sources) if by == "targets" else (sources, targets)))
    return DocumentLinks(targets[order], sources[order], ends[order])


def count_outlinks(outlinks: DocumentLinks) -> DocumentLinks:
    """Return the links from a shard's documents, counted by source instead of by target."""
    _sources, places, counts = np.unique(outlinks.sources, return_inverse=True, return_counts=True)
    return outlinks._replace(ends=_narrow(counts[places]))


def divide_links(links: DocumentLinks, by: str, first_documents: Sequence[int]) -> list[DocumentLinks]:
    """Divide links among shards by `targets` or `sources`, given the first document of all shards but the first."""
    owner = np.searchsorted(np.array(first_documents, np.int64), getattr(links, by).astype(np.int64), side="right")
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.arange(len(first_documents) + 2)).tolist()
    return [DocumentLinks(*(column[order[low:high]] for column in links)) for low, high in pairwise(cuts)]
