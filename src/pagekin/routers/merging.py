"""Merging what several children answer into one answer, without trust in what they say."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from pagekin.collection import Answer, AskedNode, Hit, Request, SkippedNode, by_score, parse_query
from pagekin.labels import plain_text
from pagekin.routers.child import Child
from pagekin.routers.fanout import ChildAnswer
from pagekin.routers.knowledge import Snapshot
from pagekin.text import largest_score

_LARGEST_COUNT = 2**53
"""Whatever is counted is at most so much on its way."""
_MOST_NODES = 5_000
"""The most services asked, services passed over, and reasons that one child may name."""
_LARGEST_SIMILARITY = 2.0
"""How like a page another can be, with what its place in a sub-cluster adds, and something over."""
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
    more: dict[str, float] = field(default_factory=dict)
    """Children that have further hits -> the lowest score of those that they gave: below it, something may be missing.

    The empty name stands for hits that were given, but not kept."""

    @property
    def threshold(self) -> float:
        """Return the score from which on no child can have a hit that it did not give."""
        return max(self.more.values(), default=float("-inf"))

    def note_missing(self, reasons: Iterable[str]) -> None:
        """Note what is missing besides."""
        self.partial = [*self.partial, *reasons][: 2 * _MOST_NODES]

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
        requests: Mapping[str, Request],
        answers: Sequence[ChildAnswer[Answer]],
        snapshot: Snapshot | None,
        most: int | None = None,
    ) -> MergedAnswer:
        """Merge what children answered to `requests`; with `most`, keep only so many of the best hits, in order."""
        merged = MergedAnswer()
        hits: list[tuple[str, Hit]] = []
        counted: dict[str, int] = {}
        largest = _largest(next(iter(requests.values()), None))
        for child in answers:
            if child.answer is None:
                merged.partial.append(f"{self.name}/{child.name}: {child.error}"[:2000])
                merged.asked.append(AskedNode(path=(self.name, child.name), seconds=child.seconds, failed=True))
                continue
            mine = self._take_hits(merged, child, child.answer, requests[child.name], largest)
            hits += mine
            merged.total = min(merged.total + _count_once(child.answer, counted), _LARGEST_COUNT)
            if child.answer.more and mine:
                merged.more[child.name] = min(hit.score for _name, hit in mine)
            if child.answer.note:
                merged.notes.append(plain_text(child.answer.note))
            merged.strategy = merged.strategy or plain_text(child.answer.strategy)
            merged.alpha = max(merged.alpha, child.answer.alpha)
            merged.subjects += (self._place(snapshot, child.name, hit) for hit in child.answer.subjects[:100])
            self._note_nodes(merged, child, child.answer, len(mine))
            if len(mine) + len(child.answer.asked) + len(child.answer.skipped) > _AT_ONCE:
                await asyncio.sleep(0)
        merged.partial = merged.partial[: 2 * _MOST_NODES]
        hits = self._without_claims(hits)
        if most is not None:
            hits.sort(key=lambda pair: by_score(pair[1]))
            if len(hits) > most:
                merged.more[""] = hits[most - 1][1].score if most else float("inf")
                hits = hits[:most]
        for place, (name, hit) in enumerate(hits, 1):
            merged.hits.append(self._place(snapshot, name, hit))
            if not place % _AT_ONCE:
                await asyncio.sleep(0)
        return merged

    def _take_hits(
        self, merged: MergedAnswer, child: ChildAnswer[Answer], answer: Answer, request: Request, largest: float
    ) -> list[tuple[str, Hit]]:
        """Return the hits of an answer that can be believed; note how many cannot."""
        limit = getattr(request, "limit", 10_000)
        mine = [(child.name, hit) for hit in answer.results[:limit] if self._is_address(hit) and hit.score <= largest]
        if len(mine) < len(answer.results):
            without = len(answer.results) - len(mine)
            why = self._why_left_out(answer.results, limit, largest)
            merged.partial.append(f"{self.name}/{child.name}: {without:,} results are left out, {why}")
        return mine

    def _without_claims(self, hits: list[tuple[str, Hit]]) -> list[tuple[str, Hit]]:
        """Return hits without those of an address that another child, whose own it is, gives too."""
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

    def _note_nodes(self, merged: MergedAnswer, child: ChildAnswer[Answer], answer: Answer, hits: int) -> None:
        """Note that a child was asked, whom it asked and passed over, and what it misses."""
        merged.asked.append(
            AskedNode(
                path=(self.name, child.name), leaf=answer.leaf, seconds=child.seconds, results=hits, bytes=child.size,
                mark=_leaf_mark(answer), total=answer.total if answer.leaf else 0,
            )
        )  # fmt: skip
        merged.asked += [
            AskedNode(
                path=self._path_below(child.name, below.path), leaf=below.leaf, seconds=below.seconds,
                results=below.results, bytes=below.bytes, failed=below.failed, mark=_leaf_mark(below), total=below.total,
            )
            for below in answer.asked[:_MOST_NODES]
        ]  # fmt: skip
        merged.skipped += [
            SkippedNode(path=self._path_below(child.name, below.path), reason=_plain_reason(below.reason))
            for below in answer.skipped[:_MOST_NODES]
        ]
        merged.partial += (plain_text(reason) for reason in answer.partial[:_MOST_NODES])

    def _path_below(self, child: str, path: tuple[str, ...]) -> tuple[str, ...]:
        return (self.name, child, *_plain_path(path)[1:])[:32]

    def _place(self, snapshot: Snapshot | None, child: str, hit: Hit) -> Hit:
        """Return a child's hit as one of this router's: its path, its address, its sub-cluster here."""
        known = self._children[child]
        homes = snapshot.merged.homes.get(child, {}) if snapshot else {}
        number = homes.get(known.cluster_number(hit.cluster), 0)
        url = hit.url if hit.kind == "document" or "://" in hit.url else f"{known.url.rstrip('/')}/{hit.url}"
        return msgspec.structs.replace(
            hit,
            url=url,
            path=self._path_below(child, hit.path),
            cluster=number,
            cluster_name=snapshot.label.clusters[number - 1].name if snapshot and number else "",
            title=plain_text(hit.title),
            snippet=plain_text(hit.snippet),
            marks=tuple(mark for mark in hit.marks if mark[0] <= mark[1] <= len(hit.snippet)),
            language=plain_text(hit.language),
            copies=tuple(filter(is_web_address, hit.copies)),
        )

    @staticmethod
    def _is_address(hit: Hit) -> bool:
        return is_web_address(hit.url) or (hit.kind == "cluster" and _is_relative_cluster(hit.url))

    def _why_left_out(self, hits: Sequence[Hit], limit: int, largest: float) -> str:
        """Return why some of a child's hits are left out."""
        reasons = {
            "as no page can have their scores": any(hit.score > largest for hit in hits),
            "as no web addresses": not all(map(self._is_address, hits)),
            "as too many": len(hits) > limit,
        }
        return " or ".join(reason for reason, holds in reasons.items() if holds)


def _largest(request: Request | None) -> float:
    """Return the score that no hit of a request can exceed."""
    query = getattr(request, "query", "")
    if not query:
        return _LARGEST_SIMILARITY
    return largest_score(parse_query(query, getattr(request, "match", "best")), getattr(request, "stats", None))


def _count_once(answer: Answer, counted: dict[str, int]) -> int:
    """Return the documents that match but for those of leaves that other children counted; note its leaves.

    A child that lies about its leaves can only make its own documents fewer.
    """
    leaves = [answer] if answer.leaf else [node for node in answer.asked[:_MOST_NODES] if node.leaf]
    mine = {leaf.mark: leaf.total for leaf in leaves if leaf.mark}
    again = sum(min(total, counted[mark]) for mark, total in mine.items() if mark in counted)
    for mark, total in mine.items():
        counted.setdefault(mark, total)
    return max(answer.total - again, 0)


def _leaf_mark(node: Answer | AskedNode) -> str:
    """Return the identity of a leaf, if it can be one."""
    return node.mark if node.leaf and node.mark.isalnum() else ""


@lru_cache(4096)
def _plain_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path whose names are plain; each query meets the same again."""
    return tuple(map(plain_text, path))


@lru_cache(4096)
def _plain_reason(reason: str) -> str:
    return plain_text(reason)


def is_web_address(url: str) -> bool:
    """Return whether an address is one of the web, and does nothing to a terminal."""
    return url.startswith(("http://", "https://")) and plain_text(url) == url


def _is_relative_cluster(url: str) -> bool:
    return url.startswith("cluster/") and url[8:].isdigit() and len(url) < 20
