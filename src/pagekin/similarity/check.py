"""Proving that an index hangs together: with the corpus, with itself, and with its strategy."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import StrategyError, from_dict
from pagekin.bags.copies import PLACES
from pagekin.similarity.makers import make_maker
from pagekin.store import Finding, Kin

ARRAYS = ("bag.", "bagterm.", "copy.", "signature.", "list.")
"""How the names of the arrays begin that an index consists of."""
_STEP = 1 << 22
_SIGNED_AGAIN = 32


def check_index(kin: Kin) -> Iterator[Finding]:
    """Every length, reference, sum or signature that does not fit; nothing if there is no index."""
    facts = kin.facts.get("index")
    if facts is None:
        if any(name.startswith(ARRAYS) for name in kin.arrays):
            yield Finding("manifest.json", "names arrays of an index, but not the strategy that made them")
        return
    try:
        strategy = from_dict(facts["strategy"])
    except (StrategyError, KeyError) as error:
        yield Finding("manifest.json", f"has an index of an unknown strategy: {error}")
        return
    if strategy.digest() != facts["digest"]:
        yield Finding("manifest.json", "has an index whose strategy is not the one it was made by (digest differs)")
    m = strategy.signature.m
    wrong = list(_check_shapes(kin, m))
    yield from wrong
    if not wrong:
        yield from _check_bags(kin)
        yield from _check_lists(kin, m)
        yield from _check_signatures(kin, make_maker(strategy.signature))


def _check_shapes(kin: Kin, m: int) -> Iterator[Finding]:
    facts = kin.facts["index"]
    bags, entries, terms = facts["bags"], facts["bag_entries"], facts["bag_words"] + facts["bag_links"]
    for name, length in (
        ("bag.url", bags), ("bag.offsets", bags + 1), ("bag.inlinks", bags), ("bag.site", bags), ("bag.terms", entries),
        ("bag.weights", entries), ("bag.from", entries), ("bagterm.hash", terms), ("bagterm.order", terms),
        ("bagterm.df", terms), ("bagterm.shown", terms), ("signature.rows", bags * m),
        ("list.docs", facts["answers"] * m), ("list.keys", facts["lists"]), ("list.starts", facts["lists"] + 1),
        ("list.positions", m + 1),
        ("copy.rows", len(kin["page.url"]) * PLACES),
    ):  # fmt: skip
        if name not in kin:
            yield Finding(name, "is missing from the index")
        elif len(kin[name]) != length:
            yield Finding(name, f"has {len(kin[name]):,} entries where {length:,} belong")
    for name in ("bag.offsets", "list.starts", "list.positions", "bag.url"):
        if name in kin and bool(np.any(kin[name][1:] < kin[name][:-1])):
            yield Finding(name, "falls somewhere; it only rises")
    for name, most in (("bag.url", len(kin["url.offsets"]) - 1), ("bag.terms", terms), ("list.docs", bags)):
        if name in kin and any(
            bool(np.any(kin[name][start : start + _STEP] >= most)) for start in range(0, len(kin[name]), _STEP)
        ):
            yield Finding(name, f"refers to a number beyond the last, {most - 1:,}")


def _check_bags(kin: Kin) -> Iterator[Finding]:
    offsets = kin["bag.offsets"].astype(np.int64)
    if len(offsets) > 1 and (offsets[0] != 0 or bool(np.any(offsets[1:] == offsets[:-1]))):
        yield Finding("bag.offsets", "has an empty bag")
        return
    sums = np.add.reduceat(kin["bag.weights"], offsets[:-1], dtype=np.float64) if len(offsets) > 1 else np.ones(0)
    if bool(np.any(~(np.abs(sums - 1) < 1e-4))):
        yield Finding("bag.weights", "has bags whose weights do not sum to 1")
    df = np.bincount(kin["bag.terms"], minlength=len(kin["bagterm.df"]))
    if not np.array_equal(df, kin["bagterm.df"]):
        yield Finding("bagterm.df", "does not count the bags that hold a term")
    hashes = kin["bagterm.hash"][kin["bagterm.order"]]
    if bool(np.any(hashes[1:] < hashes[:-1])):
        yield Finding("bagterm.order", "does not put the hashes in order")


def _check_lists(kin: Kin, m: int) -> Iterator[Finding]:
    """Every list of I holds the documents whose value in H is the list's key."""
    rows = kin["signature.rows"].reshape(-1, m)
    starts, positions = kin["list.starts"].astype(np.int64), kin["list.positions"].astype(np.int64)
    each = kin.facts["index"]["answers"]
    for j in range(m):
        part = slice(int(positions[j]), int(positions[j + 1]))
        docs = kin["list.docs"][j * each : (j + 1) * each]
        values = np.repeat(kin["list.keys"][part], np.diff(starts[part.start : part.stop + 1]))
        if len(values) != len(docs) or not np.array_equal(rows[docs, j], values):
            yield Finding("list.docs", f"does not invert the signatures at position {j}")
            return


def _check_signatures(kin: Kin, maker: Any) -> Iterator[Finding]:
    """Some bags, spread over all, signed again."""
    bags = len(kin["bag.url"])
    rows: npt.NDArray[Any] = kin["signature.rows"].reshape(-1, maker.m)
    for document in np.unique(np.linspace(0, bags - 1, _SIGNED_AGAIN).astype(np.int64)).tolist() if bags else []:
        part = slice(int(kin["bag.offsets"][document]), int(kin["bag.offsets"][document + 1]))
        again = maker.sign(kin["bagterm.hash"][kin["bag.terms"][part]], kin["bag.weights"][part])
        if not np.array_equal(again, rows[document]):
            yield Finding("signature.rows", f"does not sign the bag of document {document:,}")
            return
