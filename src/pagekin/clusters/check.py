"""Proof that the hierarchies of a collection are whole."""

from collections.abc import Iterator

import numpy as np

from pagekin.hypertext import page_count
from pagekin.store import Finding, Kin


def check_trees(kin: Kin) -> Iterator[Finding]:
    """Yield what is wrong with the hierarchies."""
    facts = kin.facts.get("trees")
    if not facts:
        return
    nodes = sum(int(fact["nodes"]) for fact in facts)
    for name, length in (
        ("parent", nodes), ("offsets", nodes + 1), ("words_offsets", nodes + 1), ("central_offsets", nodes + 1),
    ):  # fmt: skip
        if f"tree.{name}" not in kin or len(kin[f"tree.{name}"]) != length:
            yield Finding(f"tree.{name}", f"has not the {length:,} entries that belong")
            return
    for offsets, of in (("offsets", "pages"), ("words_offsets", "words"), ("central_offsets", "central")):
        bounds = np.asarray(kin[f"tree.{offsets}"], dtype=np.int64)
        if int(bounds[0]) != 0 or int(bounds[-1]) != len(kin[f"tree.{of}"]) or bool(np.any(np.diff(bounds) < 0)):
            yield Finding(f"tree.{offsets}", f"does not divide tree.{of}")
    pages = page_count(kin)
    for name in ("pages", "central"):
        if len(kin[f"tree.{name}"]) and int(kin[f"tree.{name}"].max()) >= pages:
            yield Finding(f"tree.{name}", f"refers to a page beyond the last, {pages - 1:,}")
    first = 0
    for fact in facts:
        here = np.asarray(kin["tree.parent"][first : first + int(fact["nodes"])], dtype=np.int64)
        if int(fact["first"]) != first or not len(here) or here[0] != -1:
            yield Finding("tree.parent", f"has no root for the tree {fact['name']}")
        elif bool(np.any((here[1:] < 0) | (here[1:] >= np.arange(1, len(here))))):
            yield Finding("tree.parent", f"has a node before its parent in the tree {fact['name']}")
        first += int(fact["nodes"])
