"""Check that the hierarchies of a collection are undamaged."""

from collections.abc import Iterator

import numpy as np

from pagekin.hypertext import page_count
from pagekin.store import Finding, Kin, check_shapes


def check_trees(kin: Kin) -> Iterator[Finding]:
    """Yield what is wrong with the hierarchies."""
    facts = kin.facts.get("trees")
    if not facts:
        return
    nodes = sum(int(fact["nodes"]) for fact in facts)
    divided = {"tree.offsets": "tree.pages", "tree.words_offsets": "tree.words", "tree.central_offsets": "tree.central"}
    wrong = [
        *check_shapes(
            kin,
            "trees",
            lengths={"tree.parent": nodes, **dict.fromkeys(divided, nodes + 1)},
            ends={offsets: len(kin[data]) for offsets, data in divided.items()},
            limits=dict.fromkeys(("tree.pages", "tree.central"), page_count(kin)),
        )
    ]
    yield from wrong
    if wrong:
        return
    first = 0
    for fact in facts:
        here = np.asarray(kin["tree.parent"][first : first + int(fact["nodes"])], dtype=np.int64)
        if int(fact["first"]) != first or not len(here) or here[0] != -1:
            yield Finding("tree.parent", f"has no root for the tree {fact['name']}")
        elif bool(np.any((here[1:] < 0) | (here[1:] >= np.arange(1, len(here))))):
            yield Finding("tree.parent", f"has a node before its parent in the tree {fact['name']}")
        first += int(fact["nodes"])
