"""Small webs with an index, and indexes made by hand."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Bags, Strategy, choose_strategy
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.similarity import RelatedIndex, SignatureIndex
from pagekin.similarity.links import ReplacedDocuments
from pagekin.similarity.packed import bucket_bits, document_bits, keeps_single, leaves_out_singles
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
    build_collection(plan, BuildRecipe(strategy or plainly()))
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
    buckets, number_bits = bucket_bits(len(may)), document_bits(len(rows))
    leaves_out = leaves_out_singles(len(rows))
    packed = b""
    starts: list[int] = []
    positions = [0]
    for j, lists in enumerate(inverted_lists(rows)):
        by_key = {
            value * 0x9E3779B1 % 2**32: [document for document in holders if document in may]
            for value, holders in ((int(value), holders) for value, holders in lists.items())
            if len(holders) > 1 or not leaves_out or keeps_single(j)
        }
        own, begins = packed_position({key: here for key, here in sorted(by_key.items()) if here}, buckets, number_bits)
        packed += own + bytes(-len(own) % 8)
        starts += begins
        positions.append(len(packed))
    return {
        "signature.rows": np.asarray(rows, dtype=np.uint32).reshape(-1),
        "list.words": np.frombuffer(packed + bytes(8), "<u8"),
        "list.starts": np.array(starts, dtype=np.uint32),
        "list.positions": np.array(positions, dtype=np.int64),
    }


class Bits:
    """Numbers one after another, the lowest bit first."""

    def __init__(self) -> None:
        self.number = self.length = 0

    def add(self, value: int, width: int) -> None:
        assert 0 <= value < 1 << width or value == width == 0
        self.number |= value << self.length
        self.length += width

    def to_bytes(self) -> bytes:
        return self.number.to_bytes((self.length + 7) // 8, "little")


def packed_position(by_key: dict[int, list[int]], buckets: int, number_bits: int) -> tuple[bytes, list[int]]:
    """The bytes of one position's lists, given by rising keys, and where each bucket begins, as the format says."""

    def gaps_of(docs: Sequence[int]) -> list[int]:
        return [after - before - 1 for before, after in pairwise(docs)]

    def width_of(run: Sequence[int]) -> int:
        return max(run).bit_length()

    def runs_of(docs: Sequence[int]) -> list[list[int]]:
        return [gaps_of(docs)[i : i + 4] for i in range(0, len(docs) - 1, 4)]

    def add_list(widths: Bits, lists: Bits, docs: Sequence[int]) -> None:
        lists.add(docs[0], number_bits)
        for run in runs_of(docs):
            widths.add(width_of(run), 5)
            for gap in run:
                lists.add(gap, width_of(run))

    in_bucket: list[list[int]] = [[] for _ in range(1 << buckets)]
    for key in by_key:
        in_bucket[key >> (32 - buckets)].append(key)

    def make(long_begins: int) -> tuple[bytes, bytes, list[int]]:
        """All buckets, all long lists and where buckets begin, given where long lists begin."""
        short, far, starts = b"", b"", [0]
        for keys in in_bucket:
            heads, widths, lists = Bits(), Bits(), Bits()
            heads.add(len(keys), 24)
            for key in keys:
                docs = by_key[key]
                heads.add(key % (1 << (32 - buckets)), 32 - buckets)
                heads.add(min(len(docs), 127), 7)
                if len(docs) < 127:
                    add_list(widths, lists, docs)
                else:
                    lists.add(len(docs), 40)
                    lists.add(long_begins + len(far), 40)
                    far_widths, far_docs = Bits(), Bits()
                    add_list(far_widths, far_docs, docs)
                    far_widths.add(far_docs.number, far_docs.length)
                    far += far_widths.to_bytes()
            widths.add(lists.number, lists.length)
            heads.add(widths.number, widths.length)
            short += heads.to_bytes() if keys else b""
            starts.append(len(short))
        return short, far, starts

    short, far, starts = make(make(0)[2][-1])
    return short + far, starts


def signature_index(
    rows: Array, answers: Iterable[int] | None = None, cuts: Sequence[int] = (), replaced: ReplacedDocuments | None = None
) -> SignatureIndex:  # fmt: skip
    """The index of these signatures, of which only `answers` are in the lists; in shards that end at `cuts`."""
    may = set(range(len(rows)) if answers is None else answers)
    bounds = [0, *cuts, len(rows)]
    shards = [
        list_arrays(rows[first:last], [document - first for document in may if first <= document < last])
        for first, last in pairwise(bounds)
    ]
    kins = [Kin(Path("nowhere.kin"), {}, arrays) for arrays in shards]
    return SignatureIndex(kins, rows.shape[1], replaced=replaced)
