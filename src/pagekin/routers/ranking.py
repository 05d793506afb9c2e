"""The ranking of a router: the merged rankings of its targets, copies folded, as deep as a page of hits needs."""

import heapq
import math
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Generic, TypeVar

import msgspec

from pagekin.collection import (
    Answer,
    Hit,
    RelatedRequest,
    Request,
    SearchRequest,
    fold_hits,
    in_thread,
    merge_hits,
)
from pagekin.routers.fanout import ChildAnswer, FanOut
from pagekin.routers.merging import MergedAnswer, merge_answers
from pagekin.routers.reach import Target

RankedRequest = TypeVar("RankedRequest", SearchRequest, RelatedRequest)
NO_BOUNDS: Mapping[str, float] = {}
_DEEPER, MOST_LOOKED_AT = 4, 10_000
"""Where copies take most places targets are asked for so many times more hits, up to so many."""
_AT_ONCE = 1_000
"""Hits that are folded on the event loop; more are folded in a thread."""


class BestSoFar(Generic[RankedRequest]):
    """A question to targets one after another: earlier answers reduce the work of later targets, or spare it.

    Hits that score less than the `depth` best ones so far are of no use, and nobody need be asked who cannot have better ones.
    """

    def __init__(self, request: RankedRequest, depth: int, bounds: Mapping[str, float] = NO_BOUNDS) -> None:
        self._request: RankedRequest = request
        self._depth, self._bounds = depth, bounds
        self._scores: list[float] = []
        self.asked: dict[Target, RankedRequest] = {}
        self.spared: dict[Target, float] = {}
        """Targets that were not asked -> an upper bound of the scores of their pages."""

    @property
    def above(self) -> float:
        """Return the score that hits must reach by now."""
        enough = 0 < self._depth <= len(self._scores)
        return max(self._request.above, self._scores[0] if enough else 0.0)

    def request(self, target: Target) -> RankedRequest | None:
        """Return the request for a target, or None if it cannot have a useful hit."""
        above = self.above
        if self._bounds.get(target.name, math.inf) < above:
            self.spared[target] = self._bounds[target.name]
            return None
        if self._request.above != above:
            self._request = msgspec.structs.replace(self._request, above=above)
        self.asked[target] = self._request
        return self._request

    def note(self, answer: Answer) -> None:
        """Record the scores of a target's hits."""
        for hit in answer.results:
            if len(self._scores) < self._depth:
                heapq.heappush(self._scores, hit.score)
            else:
                heapq.heappushpop(self._scores, hit.score)


async def rank_targets(
    fan_out: FanOut, targets: Sequence[Target], request: SearchRequest, last: int, fold: bool, deadline: float,
    bounds: Mapping[str, float],
) -> tuple[MergedAnswer, list[Hit]]:  # fmt: skip
    """Return the targets' answers and the merged ranking, as deep as its first `last` hits need.

    Each target gives its best hits. Those that score below the last of one that has more are not certain; where too few others
    remain once copies are folded, those that have more are asked for more. `bounds` are the scores that no page of a target,
    by name, exceeds; those that promise most are asked first.
    """
    depth = min(last + 1 if fold else last, MOST_LOOKED_AT)
    answers: dict[Target, ChildAnswer[Answer]] = {}
    spared: dict[Target, float] = {}
    searches: dict[Target, SearchRequest] = {}
    asked: Sequence[Target] = sorted(targets, key=lambda one: -bounds.get(one.name, 0.0)) if bounds else targets
    while True:
        best = BestSoFar(msgspec.structs.replace(request, limit=depth), depth, bounds)
        for answered in answers.values():
            if answered.answer is not None:
                best.note(answered.answer)
        requests: dict[Target, Request] = dict.fromkeys(asked, msgspec.structs.replace(request, limit=depth))
        ended = await fan_out.ask("search", requests, Answer, deadline, best)
        answers |= {one.target: one for one in ended}
        searches |= best.asked
        spared = {target: bound for target, bound in (spared | best.spared).items() if target not in answers}
        merged = await merge_answers(
            [answers[target] for target in targets if target in answers], _DEEPER * depth if fold else depth, searches
        )
        merged.spared = spared
        if not fold:
            return merged, merge_hits(merged.hits)
        hits = await fold_beside_others(merged.hits)
        left, threshold = merged.more | spared, merged.threshold
        asked = [target for target in left if target and left[target] >= threshold]
        if sum(hit.score >= threshold for hit in hits) > last or not left or depth >= MOST_LOOKED_AT:
            return merged, hits
        if time.monotonic() >= deadline:
            merged.note_missing([f"{fan_out.name}: no time was left to look for hits behind copies"])
            return merged, hits
        depth = min(_DEEPER * depth, MOST_LOOKED_AT)


async def rank_related(
    fan_out: FanOut, targets: Sequence[Target], request: RelatedRequest, left_out: Set[str], fold: bool, deadline: float
) -> tuple[MergedAnswer, list[Hit]]:
    """Return the targets' answers about related pages, and the best hits without the excluded addresses.

    Those that come later need not give the texts of pages behind twice as many better ones. If such a page is among the best,
    since copies were folded, everyone is asked again with all texts.
    """
    most = request.options.k
    requests: dict[Target, Request] = dict.fromkeys(targets, request)
    for depth in (2 * most, 0):
        best = BestSoFar(request, depth)
        merged = await merge_answers(await fan_out.ask("related", requests, Answer, deadline, best))
        hits = await fold_beside_others((hit for hit in merged.hits if hit.url not in left_out), most, fold)
        if best.above == request.above or not hits or hits[-1].score >= best.above:
            break
    return merged, hits


async def fold_beside_others(hits: Iterable[Hit], limit: int | None = None, fold: bool = True) -> list[Hit]:
    """Return hits in order, copies folded if wanted; many hits are processed in a thread."""
    every = list(hits)
    merge = fold_hits if fold else merge_hits
    return merge(every, limit) if len(every) <= _AT_ONCE else await in_thread(merge, every, limit)
