"""Proving that an index hangs together: with the corpus, with itself, and with its strategy."""

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
from pagekin.similarity.makers import Maker, make_maker
from pagekin.store import Finding, Kin, check_shapes

INDEX_ARRAYS = (*BAG_ARRAYS, "signature.", "list.")
"""How the names of the arrays begin that an index consists of."""
_MADE_AGAIN = 32


def check_index(kin: Kin) -> Iterator[Finding]:
    """Yield every length, reference, sum or signature that does not fit; nothing if there is no index.

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
    bags, lists, listed = facts["bags"], facts["lists"], facts["answers"] * m
    lengths = {"signature.rows": bags * m, "list.docs": listed, "list.keys": lists, "list.starts": lists + 1}
    yield from check_shapes(
        kin,
        "index",
        lengths={**lengths, "list.positions": m + 1},
        ends={"list.starts": listed, "list.positions": lists},
        rising=("list.starts",),
        limits={"list.docs": bags},
    )


def _check_lists(kin: Kin, strategy: Strategy) -> Iterator[Finding]:
    """Check that every list of I holds, in order, the documents with the list's key in H that may be answers."""
    m = strategy.signature.m
    rows = kin["signature.rows"].reshape(-1, m)
    may = Bags(kin).inlinks >= strategy.signature.min_inlinks
    starts, positions = kin["list.starts"].astype(np.int64), kin["list.positions"].astype(np.int64)
    each = kin.facts["index"]["answers"]
    for j in range(m):
        part = slice(int(positions[j]), int(positions[j + 1]))
        docs = kin["list.docs"][j * each : (j + 1) * each]
        values = np.repeat(kin["list.keys"][part], np.diff(starts[part.start : part.stop + 1]))
        if len(values) != len(docs) or not np.array_equal(rows[docs, j], values):
            yield Finding("list.docs", f"does not invert the signatures at position {j}")
            return
        pairs = values.astype(np.uint64) << np.uint64(32) | docs
        if bool(np.any(pairs[1:] <= pairs[:-1])) or not bool(np.all(may[docs])):
            yield Finding("list.docs", f"does not hold every answer once and in order at position {j}")
            return


def _check_signatures(kin: Kin, maker: Maker) -> Iterator[Finding]:
    """Sign some bags, spread over all, again."""
    bags, rows = Bags(kin), kin["signature.rows"].reshape(-1, maker.m)
    for document in spread_sample(len(bags), _MADE_AGAIN).tolist():
        terms, weights = bags.bag(document)
        if not np.array_equal(maker.sign(bags.hashes[terms], weights), rows[document]):
            yield Finding("signature.rows", f"does not sign the bag of document {document:,}")
            return
