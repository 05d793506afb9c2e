"""Small webs with an index, and indexes made by hand."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, Strategy, choose_strategy
from pagekin.engines import build_collection
from pagekin.hypertext import ReadPlan
from pagekin.similarity import RelatedIndex, SignatureIndex
from pagekin.store import Kin
from tests.bags.webs import record
from tests.similarity.figure11 import inverted_lists

Array = npt.NDArray[Any]

PLAIN = (
    "stemming=nostem content.scale=1 title.scale=0 anchors.scale=0 links.scale=0 outlinks.scale=0 content.lead=0 "
    "content.furniture=1 weight.distance=none weight.frequency=none weight.tf=raw signals.bag=1 signals.tfidf=0 "
    "signals.containment=0 signals.title=0 signals.links=0 signals.cocitation=0 signals.coupling=0"
).split()
"""Nothing but the bags of own words, each counted as 1: two pages of n words that share s have s / (2n - s) in common."""


def plainly(*settings: str) -> Strategy:
    """The plain strategy with a few settings changed."""
    return choose_strategy(settings=[*PLAIN, *settings])


def index_web(
    folder: Path, pages: Mapping[str, str], strategy: Strategy | None = None, others: Iterable[bytes] = ()
) -> RelatedIndex:
    """The index of pages, given by URL, and of `others`, given as WARC records."""
    archive = folder / "web.warc"
    archive.write_bytes(b"".join([*(record(url, html) for url, html in pages.items()), *others]))
    plan = ReadPlan([str(archive)], folder / "web.kin", parser="strict", workers=1)
    build_collection(plan, strategy or plainly())
    return RelatedIndex.open(plan.out)


def bags_of(bags: Sequence[Mapping[int, float]], terms: int) -> Bags:
    """Bags given as dictionaries of term and weight."""
    sizes = [len(bag) for bag in bags]
    arrays: dict[str, Array] = {
        "bag.url": np.arange(len(bags), dtype=np.uint32),
        "bag.offsets": np.cumsum([0, *sizes]).astype(np.uint32),
        "bag.terms": np.array([term for bag in bags for term in bag], dtype=np.uint32),
        "bag.weights": np.array([weight for bag in bags for weight in bag.values()], dtype=np.float32),
        "bagterm.hash": np.arange(terms, dtype=np.uint64),
    }
    return Bags(Kin(Path("nowhere.kin"), {}, arrays))


def list_arrays(rows: Array, answers: Iterable[int] | None = None) -> dict[str, Array]:
    """H and I as docs/format.md describes them, put together in the plainest way from lists that are dictionaries."""
    may = set(range(len(rows)) if answers is None else answers)
    docs: list[int] = []
    keys: list[int] = []
    starts: list[int] = []
    positions = [0]
    for lists in inverted_lists(rows):
        for value in sorted(lists):
            here = [document for document in lists[value] if document in may]
            if here:
                keys.append(value)
                starts.append(len(docs))
                docs += here
        positions.append(len(keys))
    return {
        "signature.rows": np.asarray(rows, dtype=np.uint32).reshape(-1),
        "list.docs": np.array(docs, dtype=np.uint32),
        "list.keys": np.array(keys, dtype=np.uint32),
        "list.starts": np.array([*starts, len(docs)], dtype=np.uint32),
        "list.positions": np.array(positions, dtype=np.int64),
    }


def signature_index(rows: Array, answers: Iterable[int] | None = None, cuts: Sequence[int] = ()) -> SignatureIndex:
    """The index of these signatures, of which only `answers` are in the lists; in shards that end at `cuts`."""
    may = set(range(len(rows)) if answers is None else answers)
    bounds = [0, *cuts, len(rows)]
    shards = [
        list_arrays(rows[first:last], [document - first for document in may if first <= document < last])
        for first, last in pairwise(bounds)
    ]
    return SignatureIndex([Kin(Path("nowhere.kin"), {}, arrays) for arrays in shards], rows.shape[1])
