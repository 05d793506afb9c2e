"""The graph of links between documents, in both directions, for signals that do not use words."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from pagekin.bags.arithmetic import log2
from pagekin.bags.epoch import USES, is_shard, stored_uses, uses_by_epoch
from pagekin.bags.furniture import LinkUse
from pagekin.bags.judging import classify_links
from pagekin.bags.link_pairs import DocumentLinks
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import UNIT, whole_units
from pagekin.hypertext import Corpus
from pagekin.store import Array, Columns, Finding, Kin, KinWriter, check_shapes, chunks, smallest_uint


@dataclass(frozen=True)
class LinkColumns(Columns):
    """Links between documents, each pair once, without meaningless ones (see `LinkUse`).

    A document weighs the less the more links it has: 1 / log2(2 + links). As a citing page it is weighed by those that
    lead from it, as a cited one by those that lead to it.
    """

    prefix: ClassVar[str] = "link"

    out_offsets: Array
    """(documents + 1): places in `out`."""
    out: npt.NDArray[np.uint32]
    """The documents that each document links to, rising."""
    in_offsets: Array
    """(documents + 1): places in `into`."""
    into: npt.NDArray[np.uint32]
    """The documents that link to each document, rising."""
    out_weight: npt.NDArray[np.float32]
    """The weights of all that a document links to, added up."""
    in_weight: npt.NDArray[np.float32]
    """The weights of all that link to a document, added up."""
    lists: npt.NDArray[np.uint8]
    """1 for a document whose page only lists others (see `LinkUse`), else 0."""


_FEW_LINKS = 1 << 12


@cache
def _weights_of_few() -> npt.NDArray[np.float64]:
    return _weigh_links(np.arange(_FEW_LINKS))


def _weigh_links(links: Array) -> npt.NDArray[np.float64]:
    return np.asarray(whole_units(1.0 / log2(2.0 + links)) * UNIT)


def link_weights(links: Array) -> npt.NDArray[np.float64]:
    """Return the weights of documents by their number of links, as multiples of 2^-24: sums are exact in any order."""
    few = links < _FEW_LINKS
    if np.all(few):
        return np.asarray(_weights_of_few()[links])
    weights = np.empty(len(links))
    weights[few], weights[~few] = _weights_of_few()[links[few]], _weigh_links(links[~few])
    return weights


def link_shares(links: Array) -> npt.NDArray[np.float64]:
    """Return 1 / links for documents with this many links, as multiples of 2^-24.

    A page that links to hundreds says next to nothing of any two of them; by `link_weights` it would say a fifth of what a
    page says that links to two. For two links and more it is no more than the weight of the document.
    """
    return np.asarray(whole_units(1.0 / np.maximum(links, 1)) * UNIT)


def write_links(
    corpus: Corpus, uses: Array, documents: Array, into: DocumentLinks, out: DocumentLinks, writer: KinWriter,
    first_document: int = 0,
) -> dict[str, int]:  # fmt: skip
    """Write the `link.*` arrays; return (the number of links, the number of listing pages).

    `uses` is the `LinkUse` of all anchors, `documents` are the URLs with a bag, which are numbered from `first_document` on.
    `into` are the links to these, with the number of links from each citing one; `out` are those from them, with the number
    of links to each cited one. Of a collection in one piece these are the same links.
    """
    for name, end, links, here, there in (
        ("in", "into", into, into.targets, into.sources),
        ("out", "out", out, out.sources, out.targets),
    ):
        places = here.astype(np.int64) - first_document
        counts = np.bincount(places, minlength=len(documents))
        writer.put(f"link.{name}_offsets", np.cumsum(np.append(0, counts)).astype(smallest_uint(len(there))))
        writer.put(f"link.{end}", there)
        weights = np.bincount(places, link_weights(links.ends), minlength=len(documents))
        writer.put(f"link.{name}_weight", weights.astype(np.float32))
    lists = _listing_documents(corpus, uses, documents)
    writer.put("link.lists", lists)
    return {"document_links": len(out.targets), "listing_pages": int(lists.sum())}


def _listing_documents(corpus: Corpus, uses: Array, documents: Array) -> npt.NDArray[np.uint8]:
    """Return 1 for each document whose page only lists others, given the `LinkUse` of its anchors."""
    pieces = (start + np.flatnonzero(chunk == LinkUse.LISTED) for start, chunk in chunks(uses))
    listed = np.concatenate([np.zeros(0, np.int64), *pieces])
    pages = np.unique(np.searchsorted(corpus.pages.anchors, listed, side="right") - 1)
    return np.isin(documents, np.asarray(corpus.pages.url)[pages]).astype(np.uint8)


def check_links(kin: Kin, strategy: Strategy) -> Iterator[Finding]:
    """Yield what is wrong with the shapes of the links, or where the two directions differ."""
    facts = kin.facts["index"]
    bags, links = facts["bags"], facts["document_links"]
    links_in = facts.get("links_into", links)
    most = max(facts.get("whole", facts)["bags"], kin.facts.get("shard", {}).get("first_document", 0) + bags)
    wrong = list(
        check_shapes(
            kin,
            "index",
            lengths={
                **dict.fromkeys(("link.out_offsets", "link.in_offsets"), bags + 1),
                "link.out": links,
                "link.into": links_in,
                **dict.fromkeys(("link.out_weight", "link.in_weight", "link.lists"), bags),
            },
            ends={"link.out_offsets": links, "link.in_offsets": links_in},
            limits={"link.out": most, "link.into": most, "link.lists": 2},
        )
    )
    yield from wrong
    if wrong:
        return
    columns, corpus = LinkColumns.of(kin), Corpus(kin)
    uses = uses_by_epoch(kin) if is_shard(kin) else classify_links(corpus, strategy)
    if not np.array_equal(_listing_documents(corpus, uses, kin["bag.url"]), columns.lists):
        yield Finding("link.lists", "does not mark the pages that only list others")
    if USES in kin and not np.array_equal(stored_uses(kin)[0], uses):
        yield Finding(USES, "does not say what links are good for")
    outlinks: Array = np.diff(np.asarray(columns.out_offsets, np.int64))
    inlinks: Array = np.diff(np.asarray(columns.in_offsets, np.int64))
    for name, sizes in (("link.out_offsets", outlinks), ("link.in_offsets", inlinks)):
        if bool(np.any(sizes < 0)):
            yield Finding(name, "falls somewhere")
            return
    first = kin.facts["shard"]["first_document"] if is_shard(kin) else 0
    forth = np.stack([np.repeat(np.arange(bags), outlinks), columns.out.astype(np.int64) - first])
    back = np.stack([columns.into.astype(np.int64) - first, np.repeat(np.arange(bags), inlinks)])
    if is_shard(kin):  # of links to and from other shards there is one direction each
        forth, back = (pairs[:, np.all((pairs >= 0) & (pairs < bags), axis=0)] for pairs in (forth, back))
    if not np.array_equal(forth, back[:, np.lexsort((back[1], back[0]))]):
        yield Finding("link.out", "does not hold the links of link.into")
        return
    if is_shard(kin):
        return
    for name, stored, there, ends, here in (
        ("link.in_weight", columns.in_weight, back[0], outlinks, back[1]),
        ("link.out_weight", columns.out_weight, forth[1], inlinks, forth[0]),
    ):
        if not np.allclose(np.bincount(here, link_weights(ends)[there], minlength=bags), stored, rtol=1e-5):
            yield Finding(name, "does not add up the weights of a document's links")
