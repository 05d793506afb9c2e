"""Check that an index is consistent with the corpus, with itself and with its strategy."""

from collections.abc import Iterator

import numpy as np

from pagekin.bags import (
    BAG_ARRAYS,
    Bags,
    Strategy,
    StrategyError,
    check_bag_shapes,
    check_bags,
    check_links,
    spread_sample,
    strategy_of_index,
)
from pagekin.similarity.index import count_lists, sort_pairs
from pagekin.similarity.makers import Maker, make_maker
from pagekin.similarity.packed import PackedLists, bucket_bits, keeps_single, keys_of, pack_lists
from pagekin.store import Array, Finding, Kin, check_shapes

INDEX_ARRAYS = (*BAG_ARRAYS, "signature.", "list.")
"""How the names of the arrays begin that an index consists of."""
_MADE_AGAIN = 32


def check_index(kin: Kin) -> Iterator[Finding]:
    """Yield a message for every wrong length, reference, sum or signature; nothing if there is no index.

    Expects a whole corpus. What is costly to make, signatures, sketches and hashes, is made again for some.
    """
    facts = kin.facts.get("index")
    if facts is None:
        if any(name.startswith(INDEX_ARRAYS) for name in kin.arrays):
            yield Finding("manifest.json", "names arrays of an index, but not the strategy that made them")
        return
    try:
        strategy = strategy_of_index(facts)
    except (StrategyError, KeyError) as error:
        yield Finding("manifest.json", f"has an index of an unknown strategy: {error}")
        return
    if strategy.digest() != facts["digest"]:
        yield Finding("manifest.json", "has an index whose strategy is not the one it was made by (digest differs)")
    wrong = [*check_bag_shapes(kin), *_check_list_shapes(kin, strategy.signature.m)]
    yield from wrong
    if wrong:
        return
    yield from check_bags(kin, strategy)
    yield from check_links(kin, strategy)
    yield from _check_lists(kin, strategy)
    yield from _check_signatures(kin, make_maker(strategy.signature))


def _check_list_shapes(kin: Kin, m: int) -> Iterator[Finding]:
    facts = kin.facts["index"]
    if "listed" not in facts:
        yield Finding("manifest.json", "has an index whose lists an earlier Pagekin made in another way")
        return
    each, words = (1 << bucket_bits(facts["answers"])) + 1, facts["list_words"]
    yield from check_shapes(
        kin,
        "index",
        lengths={
            "signature.rows": facts["bags"] * m,
            "list.words": words,
            "list.starts": m * each,
            "list.positions": m + 1,
        },
        ends={"list.positions": 8 * (words - 1)},
        limits={},
    )


def _check_lists(kin: Kin, strategy: Strategy) -> Iterator[Finding]:
    """Check that every list of I holds, in order, the documents with the list's value in H that may be answers.

    What the lists say is packed again and compared, so that nothing stands in them that means nothing.
    """
    m, facts = strategy.signature.m, kin.facts["index"]
    rows = kin["signature.rows"].reshape(-1, m)
    may = Bags(kin).inlinks >= strategy.signature.min_inlinks
    packed = PackedLists.of(kin, len(rows))
    words, starts, positions = packed.words, packed.starts.reshape(m, -1), packed.positions
    listed = lists = 0
    for j in range(m):
        try:
            pairs = packed.pairs(j)
        except IndexError as error:
            yield Finding("list.words", f"cannot be read at position {j}: {error}")
            return
        listed, lists = listed + len(pairs), lists + count_lists(pairs)
        docs = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
        if not np.array_equal(keys_of(rows[docs, j]), pairs >> np.uint64(32)):
            yield Finding("list.words", f"does not invert the signatures at position {j}")
            return
        if bool(np.any(pairs[1:] <= pairs[:-1])) or not bool(np.all(may[docs])):
            yield Finding("list.words", f"does not hold every answer once and in order at position {j}")
            return
        left_out = np.setdiff1d(np.flatnonzero(may), docs, assume_unique=True)
        if len(left_out) and not (
            facts["singles_left_out"] and not keeps_single(j) and _are_single(rows[:, j], left_out)
        ):
            yield Finding("list.words", f"does not hold every answer once and in order at position {j}")
            return
        again, begins = pack_lists(pairs, packed.bucket_bits, packed.document_bits)
        part = slice(int(positions[j]) // 8, int(positions[j + 1]) // 8)
        if not np.array_equal(begins, starts[j]) or not np.array_equal(again, words[part]) or positions[j] % 8:
            yield Finding("list.words", f"is not packed as lists are, at position {j}")
            return
    if (listed, lists) != (facts["listed"], facts["lists"]) or words[-1]:
        yield Finding("list.words", f"holds {listed:,} documents in {lists:,} lists, and the manifest says otherwise")


def _are_single(column: Array, documents: Array) -> bool:
    """Return whether each of these documents is the only one with its value."""
    pairs = sort_pairs(column, np.ones(len(column), np.bool_), leaves_out=True)
    return not bool(np.any(np.isin(documents, (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64))))


def _check_signatures(kin: Kin, maker: Maker) -> Iterator[Finding]:
    """Sign an evenly spaced sample of bags again, and compare."""
    bags, rows = Bags(kin), kin["signature.rows"].reshape(-1, maker.m)
    for document in spread_sample(len(bags), _MADE_AGAIN).tolist():
        terms, weights = bags.bag(document)
        if not np.array_equal(maker.sign(bags.hashes[terms], weights), rows[document]):
            yield Finding("signature.rows", f"does not sign the bag of document {document:,}")
            return
