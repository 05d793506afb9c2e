"""Γ the slow way: every pair of documents is looked at, with exact fractions where there are any."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Bag = Mapping[int, float]
Path = tuple[str, ...]


def distance_between(a: Path, b: Path) -> int:
    """Steps from class a up to the first class that is above b too."""
    for up in range(len(a) + 1):
        if a[: len(a) - up] == b[: len(a) - up]:
            return up
    raise AssertionError("the root is above all")


def similarity(a: Bag, b: Bag, metric: str) -> np.float32:
    """Weighted Jaccard or cosine, rounded to single precision."""
    terms = a.keys() | b.keys()
    if metric == "jaccard":
        above = math.fsum(max(a.get(t, 0.0), b.get(t, 0.0)) for t in terms)
        return np.float32(math.fsum(min(a.get(t, 0.0), b.get(t, 0.0)) for t in terms) / above if above else 0.0)
    norm = math.sqrt(math.fsum(w * w for w in a.values())) * math.sqrt(math.fsum(w * w for w in b.values()))
    return np.float32(math.fsum(a.get(t, 0.0) * b.get(t, 0.0) for t in terms) / norm if norm else 0.0)


@dataclass
class Counted:
    """What one source says."""

    concordant: dict[tuple[int, int], int] = field(default_factory=dict)
    discordant: dict[tuple[int, int], int] = field(default_factory=dict)
    tied: dict[tuple[int, int], int] = field(default_factory=dict)
    same_class: int = 0
    orthogonal: int = 0
    ranking: list[tuple[float, int]] = field(default_factory=list)
    """(similarity, document) of those with something in common, the most similar first, the first of equals first."""


def count(source: int, bags: Sequence[Bag], classes: Sequence[Sequence[Path]], metric: str) -> Counted:
    """Each pair of documents at different distances from the source, told apart by similarity."""
    found = Counted()
    others = [d for d in range(len(bags)) if d != source and classes[d]]
    far = {d: min(distance_between(a, b) for a in classes[source] for b in classes[d]) for d in others}
    near = {d: similarity(bags[source], bags[d], metric) for d in others}
    for x in others:
        for y in others:
            if far[x] < far[y]:
                kind = found.concordant if near[x] > near[y] else found.discordant if near[x] < near[y] else found.tied
                kind[far[x], far[y]] = kind.get((far[x], far[y]), 0) + 1
        found.same_class += far[x] == 0
        found.orthogonal += far[x] == 0 and near[x] == 0
    found.ranking = sorted(((float(near[d]), d) for d in others if near[d] > 0), key=lambda pair: (-pair[0], pair[1]))
    return found
