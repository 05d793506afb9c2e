"""PROCESSQUERY as the paper's Figure 11 has it, word for word: the oracle that the served search is held against."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.similarity.lists import matches_above


def process_query(
    signature: npt.NDArray[Any],
    inverted: list[dict[int, list[int]]],
    alpha: float,
    leave_out: frozenset[int] = frozenset(),
) -> list[tuple[int, int]]:
    """Return (document, agreeing positions) of all documents α-similar to the query, the best first, ties by document.

    `inverted[j][h]` lists the documents whose value at position j is h.
    """
    sim: Counter[int] = Counter()
    for j, h in enumerate(signature.tolist()):
        for document in inverted[j].get(h, []):
            sim[document] += 1
    needed = matches_above(alpha, len(signature))
    matching = [(doc, count) for doc, count in sim.items() if count >= needed and doc not in leave_out]
    return sorted(matching, key=lambda pair: (-pair[1], pair[0]))


def inverted_lists(rows: npt.NDArray[Any]) -> list[dict[int, list[int]]]:
    """Return I, made from H in the plainest way."""
    lists: list[dict[int, list[int]]] = []
    for column in np.asarray(rows).T.tolist():
        here: dict[int, list[int]] = {}
        for document, value in enumerate(column):
            here.setdefault(value, []).append(document)
        lists.append(here)
    return lists
