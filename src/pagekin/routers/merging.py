"""Merging the answers of several services into one."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from pagekin.collection import MOST_NODES, Answer, AskedNode, Hit, SearchRequest, SkippedNode, by_score
from pagekin.routers.fanout import ChildAnswer
from pagekin.routers.reach import Target
from pagekin.routers.trust import MOST_ON_PATH

N = TypeVar("N", AskedNode, SkippedNode)
PlacedHit = tuple[Target, Hit]
_LARGEST_COUNT = 2**53
"""The upper limit of any count in a message."""
NO_REQUESTS: Mapping[Target, SearchRequest] = {}
_AT_ONCE = 1_000
"""Hits that are processed before yielding to other tasks."""


@dataclass
class MergedAnswer:
    """Answers of several services, merged."""

    hits: list[Hit] = field(default_factory=list)
    asked: list[AskedNode] = field(default_factory=list)
    skipped: list[SkippedNode] = field(default_factory=list)
    passed_over: Mapping[str, str] = field(default_factory=dict)
    """Names of targets that were not asked -> the reason."""
    partial: list[str] = field(default_factory=list)
    """What is missing."""
    total: int = 0
    notes: list[str] = field(default_factory=list)
    subjects: list[Hit] = field(default_factory=list)
    strategy: str = ""
    alpha: float = 0.0
    other_epochs: int = 0
    """Collections that compared a bag of another epoch with their own."""
    more: dict[Target | None, float] = field(default_factory=dict)
    """Targets with further hits -> the highest score that these can have; below it, hits may be missing.

    None stands for hits that were given, but not kept."""

    spared: dict[Target, float] = field(default_factory=dict)
    """Targets that were not asked, because others have better hits -> an upper bound of their scores."""

    @property
    def threshold(self) -> float:
        """Return the lowest score above which no hit can be missing."""
        return max((*self.more.values(), *self.spared.values()), default=float("-inf"))

    def note_missing(self, reasons: Iterable[str]) -> None:
        """Record that something is missing."""
        self.partial = [*self.partial, *reasons][: 2 * MOST_NODES]

    def extend(self, other: "MergedAnswer") -> None:
        """Add what others answered."""
        self.hits += other.hits
        self.asked += other.asked
        self.skipped += other.skipped
        self.note_missing(other.partial)
        self.total = min(self.total + other.total, _LARGEST_COUNT)


async def merge_answers(
    answers: Sequence[ChildAnswer[Answer]],
    most: int | None = None,
    requests: Mapping[Target, SearchRequest] = NO_REQUESTS,
) -> MergedAnswer:
    """Merge the targets' answers, as their router sees them; with `most`, keep only that many of the best hits, in order.

    `requests` are the searches that they were asked, where hits below some score were left out.
    """
    merged = MergedAnswer()
    hits: list[PlacedHit] = []
    counted: dict[str, int] = {}
    for one in answers:
        answer, target = one.answer, one.target
        if answer is None:
            merged.partial.append(f"{'/'.join(target.path[-2:])}: {one.error}"[:2000])
            merged.asked.append(AskedNode(path=target.path, seconds=one.seconds, failed=True))
            continue
        hits += [(target, hit) for hit in answer.results]
        merged.total = min(merged.total + _count_once(answer, counted), _LARGEST_COUNT)
        request = requests.get(target)
        if answer.more and request and len(answer.results) < request.limit:
            merged.more[target] = request.above
        elif answer.more and answer.results:
            merged.more[target] = min(hit.score for hit in answer.results)
        if answer.note:
            merged.notes.append(answer.note)
        merged.strategy = merged.strategy or answer.strategy
        merged.alpha = max(merged.alpha, answer.alpha)
        merged.other_epochs = min(merged.other_epochs + answer.other_epochs, _LARGEST_COUNT)
        merged.subjects += map(target.place, answer.subjects)
        _note_nodes(merged, one, answer)
        if len(answer.results) + len(answer.asked) + len(answer.skipped) > _AT_ONCE:
            await asyncio.sleep(0)
    merged.partial = merged.partial[: 2 * MOST_NODES]
    hits = _without_claims(hits)
    if most is not None:
        hits.sort(key=lambda pair: by_score(pair[1]))
        if len(hits) > most:
            merged.more[None] = hits[most - 1][1].score if most else float("inf")
            hits = hits[:most]
    for place, (target, hit) in enumerate(hits, 1):
        merged.hits.append(target.place(hit))
        if not place % _AT_ONCE:
            await asyncio.sleep(0)
    return merged


def _without_claims(hits: list[PlacedHit]) -> list[PlacedHit]:
    """Drop hits whose address another target also returned, if it belongs to that target."""
    if len({hit.url for _target, hit in hits}) == len(hits):
        return hits
    claims: dict[str, set[Target]] = {}
    for target, hit in hits:
        if hit.kind == "document":
            claims.setdefault(hit.url, set()).add(target)
    owners = {url: _nearest(url, targets, 0) for url, targets in claims.items() if len(targets) > 1}
    return [(target, hit) for target, hit in hits if hit.url not in owners or target in owners[hit.url]]


def _nearest(url: str, targets: Iterable[Target], step: int) -> set[Target]:
    """Return the targets to which an address belongs most; each router on the way chooses among its children."""
    below: dict[str, set[Target]] = {}
    for target in targets:
        below.setdefault(target.path[step + 1], set()).add(target)
    nearness = {name: next(iter(some)).way[step].nearness(url) for name, some in below.items()}
    chosen = [some for name, some in below.items() if nearness[name] == max(nearness.values())]
    return set().union(*(some if len(some) == 1 else _nearest(url, some, step + 1) for some in chosen))


def _note_nodes(merged: MergedAnswer, one: ChildAnswer[Answer], answer: Answer) -> None:
    """Record that a target was asked, which services it asked and skipped, and what it misses."""
    merged.asked.append(
        AskedNode(
            path=one.target.path, leaf=answer.leaf, seconds=one.seconds, results=len(answer.results), bytes=one.size,
            mark=answer.mark, total=answer.total if answer.leaf else 0,
        )
    )  # fmt: skip
    if not answer.leaf:
        merged.asked += (_below(one.target, node) for node in answer.asked[:MOST_NODES])
        merged.skipped += (_below(one.target, node) for node in answer.skipped[:MOST_NODES])
    merged.partial += answer.partial[:MOST_NODES]


def _below(target: Target, node: N) -> N:
    """Return a service that a target's answer mentions, with its path from this router."""
    return msgspec.structs.replace(node, path=(*target.path, *node.path[1:])[:MOST_ON_PATH])


def _count_once(answer: Answer, counted: dict[str, int]) -> int:
    """Return the number of matching documents without leaves that were already counted; record its leaves.

    A child that lies about its leaves can only make its own documents fewer.
    """
    if answer.leaf:  # as most are in one process
        again = min(answer.total, counted.get(answer.mark, 0))
        if answer.mark:
            counted.setdefault(answer.mark, answer.total)
        return max(answer.total - again, 0)
    mine = {node.mark: node.total for node in answer.asked[:MOST_NODES] if node.leaf and node.mark}
    again = sum(min(total, counted[mark]) for mark, total in mine.items() if mark in counted)
    for mark, total in mine.items():
        counted.setdefault(mark, total)
    return max(answer.total - again, 0)
