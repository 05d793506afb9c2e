"""Cleans answers from other services once, on arrival, and drops what cannot be true."""

import asyncio
import re
from functools import lru_cache

import msgspec

from pagekin.collection import MOST_NODES, Answer, AskedNode, Hit, Request, SkippedNode, parse_query
from pagekin.labels import plain_text
from pagekin.text import largest_score

MOST_ON_PATH = 32
"""The most names of a path."""
_LARGEST_SIMILARITY = 2.0
"""The highest possible score of a suggested page, with a margin."""
_RELATIVE_CLUSTER = re.compile(r"cluster/[0-9]{1,11}")
_AT_ONCE = 1_000
"""Hits and services that are processed before yielding to other tasks."""


async def believable(answer: Answer, request: Request, who: str) -> Answer:
    """Return an answer without what cannot be true; it says what was left out of the answer of `who`."""
    limit, largest = getattr(request, "limit", 10_000), _largest_score(request)
    results = []
    for place, hit in enumerate(answer.results[:limit], 1):
        if _is_address(hit) and hit.score <= largest:
            results.append(_plain_hit(hit))
        if not place % _AT_ONCE:
            await asyncio.sleep(0)
    if len(answer.asked) + len(answer.skipped) > _AT_ONCE:
        await asyncio.sleep(0)
    partial = tuple(map(plain_text, answer.partial[:MOST_NODES]))
    if len(results) < len(answer.results):
        reasons = {
            "as no page can have their scores": any(hit.score > largest for hit in answer.results),
            "as no web addresses": not all(map(_is_address, answer.results)),
            "as too many": len(answer.results) > limit,
        }
        why = " or ".join(reason for reason, holds in reasons.items() if holds)
        partial = (f"{who}: {len(answer.results) - len(results):,} results are left out, {why}", *partial)
    return msgspec.structs.replace(
        answer,
        mark=_leaf_mark(answer),
        results=tuple(results),
        subjects=tuple(map(_plain_hit, answer.subjects[:100])),
        strategy=plain_text(answer.strategy),
        note=plain_text(answer.note),
        asked=tuple(
            msgspec.structs.replace(node, path=_plain_path(node.path), mark=_leaf_mark(node))
            for node in answer.asked[:MOST_NODES]
        ),
        skipped=tuple(
            SkippedNode(path=_plain_path(node.path), reason=plain_text(node.reason))
            for node in answer.skipped[:MOST_NODES]
        ),
        partial=partial,
    )


def _largest_score(request: Request) -> float:
    """Return an upper bound of the scores of a request's hits."""
    query = getattr(request, "query", "")
    if not query:
        return _LARGEST_SIMILARITY
    asked = parse_query(query, getattr(request, "match", "best"))
    return max(largest_score(asked, getattr(request, "stats", None)), 1.0)


def _plain_hit(hit: Hit) -> Hit:
    return msgspec.structs.replace(
        hit,
        path=_plain_path(hit.path),
        title=plain_text(hit.title),
        snippet=plain_text(hit.snippet),
        marks=tuple(mark for mark in hit.marks if mark[0] <= mark[1] <= len(hit.snippet)),
        language=plain_text(hit.language),
        copies=tuple(filter(_is_web_address, hit.copies)),
    )


def _leaf_mark(node: Answer | AskedNode) -> str:
    """Return the identity of a leaf, if it can be one."""
    return node.mark if node.leaf and node.mark.isalnum() else ""


@lru_cache(4096)
def _plain_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path whose names are plain; each query meets the same again."""
    return tuple(map(plain_text, path))


def _is_address(hit: Hit) -> bool:
    return _is_web_address(hit.url) or (hit.kind == "cluster" and _RELATIVE_CLUSTER.fullmatch(hit.url) is not None)


def _is_web_address(url: str) -> bool:
    """Return whether an address is http(s) and free of control characters."""
    return url.startswith(("http://", "https://")) and plain_text(url) == url
