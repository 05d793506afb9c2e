"""Link similarity the slow way: take the other document out of the graph and search again, for each pair."""

from collections.abc import Iterable, Mapping
from fractions import Fraction

Links = Mapping[int, set[int]]


def links_of(count: int, edges: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Where each document links to; links to itself left out."""
    links: dict[int, set[int]] = {node: set() for node in range(count)}
    for source, target in edges:
        if source != target:
            links[source].add(target)
    return links


def reverse(links: Links) -> dict[int, set[int]]:
    """The same links the other way round."""
    return links_of(len(links), ((target, source) for source in links for target in links[source]))


def steps_from(links: Links, start: int, without: int | None = None) -> dict[int, int]:
    """Lengths of the shortest paths from `start` to what it reaches, itself included, that avoid `without`."""
    steps = {start: 0}
    edge = [start]
    while edge:
        after = []
        for node in edge:
            for target in links[node]:
                if target != without and target not in steps:
                    steps[target] = steps[node] + 1
                    after.append(target)
        edge = after
    return steps


def common_ancestors(links: Links, i: int, j: int, normalise: str, levels: int | None = None) -> Fraction:
    """S^anc of two documents, eq. 3 with the superscripts that it has lost."""
    back = reverse(links)
    to_i, to_j = steps_from(back, i, without=j), steps_from(back, j, without=i)
    either = (set(to_i) | set(to_j)) - {i, j}
    both = (set(to_i) & set(to_j)) - {i, j}

    def level(x: int) -> int:
        return min(steps[x] for steps in (to_i, to_j) if x in steps)

    counted = either if normalise == "union" else both
    total = Fraction(0)
    for x in both:
        if levels is None or level(x) <= levels:
            peers = sum(level(y) == level(x) for y in counted)
            total += Fraction(1, 2 ** (to_i[x] + to_j[x])) / peers
    return total


def common_descendants(links: Links, i: int, j: int, normalise: str, levels: int | None = None) -> Fraction:
    """S^dsc of two documents, eq. 4: what their common ancestors would be if all links were reversed."""
    return common_ancestors(reverse(links), i, j, normalise, levels)


def direct_paths(links: Links, i: int, j: int) -> Fraction:
    """S^spl of two documents, eq. 2; a path that is not there adds nothing."""
    there, back = steps_from(links, i).get(j), steps_from(links, j).get(i)
    return sum((Fraction(1, 2**steps) for steps in (there, back) if steps is not None), Fraction(0))
