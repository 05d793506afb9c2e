"""The ranking of a router: its children's rankings merged, copies folded, as deep as a page of hits needs."""

import time
from collections.abc import Iterable, Sequence

import msgspec

from pagekin.collection import Answer, Hit, Request, SearchRequest, fold_hits, in_thread, merge_hits
from pagekin.routers.fanout import ChildAnswer, FanOut
from pagekin.routers.knowledge import Snapshot
from pagekin.routers.merging import MergedAnswer, Merger

_DEEPER, MOST_LOOKED_AT = 4, 10_000
"""Where copies take most places children are asked for so many times more hits, up to so many."""
_AT_ONCE = 1_000
"""Hits that are folded on the event loop; more are folded in a thread."""


async def rank_children(
    fan_out: FanOut, merger: Merger, snapshot: Snapshot | None, names: Sequence[str], request: SearchRequest, last: int,
    fold: bool, deadline: float,
) -> tuple[MergedAnswer, list[Hit]]:  # fmt: skip
    """Return what children answered and the merged ranking, as deep as its first `last` hits need.

    Each child gives its best hits. Those that score below the last of a child that has more are not certain; where too few
    others remain once copies are folded, the children that have more are asked for more.
    """
    depth = min(last + 1 if fold else last, MOST_LOOKED_AT)
    answers: dict[str, ChildAnswer[Answer]] = {}
    asked: Sequence[str] = names
    while True:
        deeper = msgspec.structs.replace(request, limit=depth)
        requests: dict[str, Request] = dict.fromkeys(asked, deeper)
        answers |= {one.name: one for one in await fan_out.ask("search", requests, Answer, deadline)}
        merged = await merger.merge([answers[name] for name in names], snapshot, _DEEPER * depth if fold else depth)
        if not fold:
            return merged, merge_hits(merged.hits)
        hits = await fold_beside_others(merged.hits)
        certain = sum(hit.score >= merged.threshold for hit in hits)
        asked = [name for name in merged.more if name and merged.more[name] >= merged.threshold]
        if certain > last or not merged.more or depth >= MOST_LOOKED_AT:
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
