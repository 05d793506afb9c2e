"""Merging what several children answer into one answer."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from pagekin.collection import MOST_NODES, Answer, AskedNode, Hit, SearchRequest, SkippedNode, by_score
from pagekin.routers.child import Child
from pagekin.routers.fanout import ChildAnswer
from pagekin.routers.knowledge import Snapshot
from pagekin.routers.trust import MOST_ON_PATH

N = TypeVar("N", AskedNode, SkippedNode)
_LARGEST_COUNT = 2**53
"""Whatever is counted is at most so much on its way."""
NO_REQUESTS: Mapping[str, SearchRequest] = {}
_AT_ONCE = 1_000
"""Hits that are worked on before others have their turn."""


@dataclass
class MergedAnswer:
    """Answers of several children, merged."""

    hits: list[Hit] = field(default_factory=list)
    asked: list[AskedNode] = field(default_factory=list)
    skipped: list[SkippedNode] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    """What is missing."""
    total: int = 0
    notes: list[str] = field(default_factory=list)
    subjects: list[Hit] = field(default_factory=list)
    strategy: str = ""
    alpha: float = 0.0
    other_epochs: int = 0
    """Collections that compared a bag of another epoch with their own."""
    more: dict[str, float] = field(default_factory=dict)
    """Children that have further hits -> the highest score that these can have: below it, something may be missing.

    The empty name stands for hits that were given, but not kept."""

    spared: dict[str, float] = field(default_factory=dict)
    """Children that were not asked, as others have better hits -> the score that none of theirs exceeds."""

    @property
    def threshold(self) -> float:
        """Return the score from which on no child can have a hit that it did not give."""
        return max((*self.more.values(), *self.spared.values()), default=float("-inf"))

    def note_missing(self, reasons: Iterable[str]) -> None:
        """Note what is missing besides."""
        self.partial = [*self.partial, *reasons][: 2 * MOST_NODES]

    def extend(self, other: "MergedAnswer") -> None:
        """Add what other children answered."""
        self.hits += other.hits
        self.asked += other.asked
        self.skipped += other.skipped
        self.note_missing(other.partial)
        self.total = min(self.total + other.total, _LARGEST_COUNT)


class Merger:
    """Brings children's answers into the view of their router: paths, sub-clusters, each leaf counted once."""

    def __init__(self, name: str, children: Mapping[str, Child]) -> None:
        self.name, self._children = name, children

    async def merge(
        self,
        answers: Sequence[ChildAnswer[Answer]],
        snapshot: Snapshot | None,
        most: int | None = None,
        requests: Mapping[str, SearchRequest] = NO_REQUESTS,
    ) -> MergedAnswer:
        """Merge what children answered; with `most`, keep only so many of the best hits, in order.

        `requests` are the searches that they were asked, where hits below some score were left out.
        """
        merged = MergedAnswer()
        hits: list[tuple[str, Hit]] = []
        counted: dict[str, int] = {}
        for child in answers:
            answer = child.answer
            if answer is None:
                merged.partial.append(f"{self.name}/{child.name}: {child.error}"[:2000])
                merged.asked.append(AskedNode(path=(self.name, child.name), seconds=child.seconds, failed=True))
                continue
            hits += [(child.name, hit) for hit in answer.results]
            merged.total = min(merged.total + _count_once(answer, counted), _LARGEST_COUNT)
            request = requests.get(child.name)
            if answer.more and request and len(answer.results) < request.limit:
                merged.more[child.name] = request.above
            elif answer.more and answer.results:
                merged.more[child.name] = min(hit.score for hit in answer.results)
            if answer.note:
                merged.notes.append(answer.note)
            merged.strategy = merged.strategy or answer.strategy
            merged.alpha = max(merged.alpha, answer.alpha)
            merged.other_epochs = min(merged.other_epochs + answer.other_epochs, _LARGEST_COUNT)
            merged.subjects += (self.place(snapshot, child.name, hit) for hit in answer.subjects)
            self._note_nodes(merged, child, answer)
            if len(answer.results) + len(answer.asked) + len(answer.skipped) > _AT_ONCE:
                await asyncio.sleep(0)
        merged.partial = merged.partial[: 2 * MOST_NODES]
        hits = self._without_claims(hits)
        if most is not None:
            hits.sort(key=lambda pair: by_score(pair[1]))
            if len(hits) > most:
                merged.more[""] = hits[most - 1][1].score if most else float("inf")
                hits = hits[:most]
        for place, (name, hit) in enumerate(hits, 1):
            merged.hits.append(self.place(snapshot, name, hit))
            if not place % _AT_ONCE:
                await asyncio.sleep(0)
        return merged

    def _without_claims(self, hits: list[tuple[str, Hit]]) -> list[tuple[str, Hit]]:
        """Return hits without those of an address that another child, whose own it is, gives too."""
        if len({hit.url for _name, hit in hits}) == len(hits):
            return hits
        claims: dict[str, set[str]] = {}
        for name, hit in hits:
            if hit.kind == "document":
                claims.setdefault(hit.url, set()).add(name)
        nearest = {
            url: max(self._children[name].nearness(url) for name in names)
            for url, names in claims.items()
            if len(names) > 1
        }
        if not nearest:
            return hits
        return [
            (name, hit)
            for name, hit in hits
            if hit.url not in nearest or self._children[name].nearness(hit.url) == nearest[hit.url]
        ]

    def _note_nodes(self, merged: MergedAnswer, child: ChildAnswer[Answer], answer: Answer) -> None:
        """Note that a child was asked, whom it asked and passed over, and what it misses."""
        merged.asked.append(
            AskedNode(
                path=(self.name, child.name), leaf=answer.leaf, seconds=child.seconds, results=len(answer.results),
                bytes=child.size, mark=answer.mark, total=answer.total if answer.leaf else 0,
            )
        )  # fmt: skip
        merged.asked += (self._below(child.name, node) for node in answer.asked[:MOST_NODES])
        merged.skipped += (self._below(child.name, node) for node in answer.skipped[:MOST_NODES])
        merged.partial += answer.partial[:MOST_NODES]

    def _below(self, child: str, node: N) -> N:
        """Return a service that a child told of, with its path from here."""
        return msgspec.structs.replace(node, path=(self.name, child, *node.path[1:])[:MOST_ON_PATH])

    def place(self, snapshot: Snapshot | None, child: str, hit: Hit) -> Hit:
        """Return a child's hit as one of this router's: its path, its address, its sub-cluster here."""
        known = self._children[child]
        homes = snapshot.merged.homes.get(child, {}) if snapshot else {}
        number = homes.get(known.cluster_number(hit.cluster), 0)
        return msgspec.structs.replace(
            hit,
            url=hit.url if hit.kind == "document" or "://" in hit.url else f"{known.url.rstrip('/')}/{hit.url}",
            path=(self.name, child, *hit.path[1:])[:MOST_ON_PATH],
            cluster=number,
            cluster_name=snapshot.label.clusters[number - 1].name if snapshot and number else "",
        )


def _count_once(answer: Answer, counted: dict[str, int]) -> int:
    """Return the documents that match but for those of leaves that other children counted; note its leaves.

    A child that lies about its leaves can only make its own documents fewer.
    """
    leaves = [answer] if answer.leaf else [node for node in answer.asked[:MOST_NODES] if node.leaf]
    mine = {leaf.mark: leaf.total for leaf in leaves if leaf.mark}
    again = sum(min(total, counted[mark]) for mark, total in mine.items() if mark in counted)
    for mark, total in mine.items():
        counted.setdefault(mark, total)
    return max(answer.total - again, 0)
