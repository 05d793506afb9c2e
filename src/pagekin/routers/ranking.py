"""The ranking of a router: its children's rankings merged, copies folded, as deep as a page of hits needs."""

import heapq
import math
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pagekin.collection import Answer, Hit, Request, SearchRequest, fold_hits, in_thread, merge_hits
from pagekin.routers.fanout import ChildAnswer, FanOut
from pagekin.routers.knowledge import Snapshot
from pagekin.routers.merging import MergedAnswer, Merger

_DEEPER, MOST_LOOKED_AT = 4, 10_000
"""Where copies take most places children are asked for so many times more hits, up to so many."""
_AT_ONCE = 1_000
"""Hits that are folded on the event loop; more are folded in a thread."""


class BestSoFar:
    """A search of children one after another: what those before have given spares later ones work, or all of it.

    Hits that score less than the `depth` best ones so far are of no use, and no child need be asked that cannot have better ones.
    """

    def __init__(self, request: SearchRequest, depth: int, bounds: Mapping[str, float]) -> None:
        self._request, self._depth, self._bounds = request, depth, bounds
        self._scores: list[float] = []
        self.asked: dict[str, SearchRequest] = {}
        self.spared: dict[str, float] = {}
        """Children that were not asked -> the score that none of their pages exceeds."""

    @property
    def above(self) -> float:
        """Return the score that hits must reach by now."""
        enough = 0 < self._depth <= len(self._scores)
        return max(self._request.above, self._scores[0] if enough else 0.0)

    def request(self, name: str) -> SearchRequest | None:
        """Return what a child is asked, or None if it cannot have a hit that is of use."""
        above = self.above
        if self._bounds.get(name, math.inf) < above:
            self.spared[name] = self._bounds[name]
            return None
        if self._request.above != above:
            self._request = msgspec.structs.replace(self._request, above=above)
        self.asked[name] = self._request
        return self._request

    def note(self, answer: Answer) -> None:
        """Take note of the scores of a child's hits."""
        for hit in answer.results:
            if len(self._scores) < self._depth:
                heapq.heappush(self._scores, hit.score)
            else:
                heapq.heappushpop(self._scores, hit.score)


async def rank_children(
    fan_out: FanOut, merger: Merger, snapshot: Snapshot | None, names: Sequence[str], request: SearchRequest, last: int,
    fold: bool, deadline: float, bounds: Mapping[str, float],
) -> tuple[MergedAnswer, list[Hit]]:  # fmt: skip
    """Return what children answered and the merged ranking, as deep as its first `last` hits need.

    Each child gives its best hits. Those that score below the last of a child that has more are not certain; where too few
    others remain once copies are folded, the children that have more are asked for more. `bounds` are the scores that no
    page of a child exceeds; those that promise most are asked first.
    """
    depth = min(last + 1 if fold else last, MOST_LOOKED_AT)
    answers: dict[str, ChildAnswer[Answer]] = {}
    spared: dict[str, float] = {}
    searches: dict[str, SearchRequest] = {}
    asked: Sequence[str] = sorted(names, key=lambda name: -bounds.get(name, 0.0)) if bounds else names
    while True:
        best = BestSoFar(msgspec.structs.replace(request, limit=depth), depth, bounds)
        for answered in answers.values():
            if answered.answer is not None:
                best.note(answered.answer)
        requests: dict[str, Request] = dict.fromkeys(asked, msgspec.structs.replace(request, limit=depth))
        ended = await fan_out.ask("search", requests, Answer, deadline, best)
        answers |= {one.name: one for one in ended}
        searches |= best.asked
        spared = {name: bound for name, bound in (spared | best.spared).items() if name not in answers}
        merged = await merger.merge(
            [answers[name] for name in names if name in answers], snapshot, _DEEPER * depth if fold else depth, searches
        )
        merged.spared = spared
        if not fold:
            return merged, merge_hits(merged.hits)
        hits = await fold_beside_others(merged.hits)
        certain = sum(hit.score >= merged.threshold for hit in hits)
        left = merged.more | spared
        asked = [name for name in left if name and left[name] >= merged.threshold]
        if certain > last or not left or depth >= MOST_LOOKED_AT:
            return merged, hits
        if time.monotonic() >= deadline:
            merged.note_missing([f"{merger.name}: no time was left to look for hits behind copies"])
            return merged, hits
        depth = min(_DEEPER * depth, MOST_LOOKED_AT)


async def fold_beside_others(hits: Iterable[Hit], limit: int | None = None, fold: bool = True) -> list[Hit]:
    """Return hits in order, copies folded if wanted; many of them in a thread, so that others have their turn."""
    every = list(hits)
    merge = fold_hits if fold else merge_hits
    return merge(every, limit) if len(every) <= _AT_ONCE else await in_thread(merge, every, limit)
