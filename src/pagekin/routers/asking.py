"""Asking several children at once, and bringing what they answer together: in time, and without trust in what they say."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from pagekin.labels.model import plain
from pagekin.routers.bounds import bound_of
from pagekin.routers.children import ChildError, body_of, time_for_children
from pagekin.routers.keeper import Keeper, Known
from pagekin.routers.messages import Answer, Asked, Found, Skipped, Travel
from pagekin.routers.results import by_score, merged
from pagekin.routers.routing import parsed
from pagekin.text.largest import largest_score

R = TypeVar("R", bound=Travel)
_MOST = 2**53
"""Whatever is counted is at most so much on its way."""
_MOST_TOLD = 5_000
"""Routers asked, routers skipped, and reasons, of which one child may tell."""
_MOST_ALIKE = 2.0
"""How like a page another can be, with what its place in a sub-cluster adds, and something over."""
_AT_ONCE = 1_000
"""Results that are worked on before others have their turn."""


@dataclass(frozen=True)
class Called:
    """How a call to a child ended: with an answer, or with the reason why there is none."""

    name: str
    answer: Answer | None
    seconds: float
    size: int = 0
    error: str = ""


@dataclass
class Told:
    """What several children answered, as one."""

    results: list[Found] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    partial: list[str] = field(default_factory=list)
    """What is missing."""
    total: int = 0

    def missing(self, reasons: Iterable[str]) -> None:
        """Note what is missing besides."""
        self.partial = [*self.partial, *reasons][: 2 * _MOST_TOLD]

    def and_also(self, other: "Told") -> "Told":
        """The two together."""
        return Told(
            self.results + other.results, self.asked + other.asked, self.skipped + other.skipped,
            (self.partial + other.partial)[: 2 * _MOST_TOLD], min(self.total + other.total, _MOST),
        )  # fmt: skip


class Asking(Keeper):
    """A router that asks its children."""

    def _check_way(self, request: Travel) -> str:
        """Why a request goes no further, or ''."""
        way = [mark.rpartition("/")[0] or mark for mark in request.visited]
        if self.mark in request.visited:
            return f"{self.name}: a loop, {' > '.join((*way, self.name))}"
        if request.hops == 0:
            return f"{self.name}: too many routers on the way, {' > '.join(way)}"
        return ""

    def _further(self, request: R, **changes: Any) -> R:
        """The request as it goes on to children."""
        return msgspec.structs.replace(
            request, hops=request.hops - 1, visited=(*request.visited, self.mark)[-32:], **changes
        )

    async def _ask(
        self, operation: str, requests: Mapping[str, Travel], deadline: float, most: int | None = None
    ) -> Told:
        """What several children answer; with `most` only the best results, the best first."""
        told = Told()
        results: list[tuple[str, Found]] = []
        counted: dict[str, int] = {}
        largest = _largest(next(iter(requests.values()), None))
        for called in await self._called(operation, requests, deadline):
            name, answer = called.name, called.answer
            if answer is None:
                told.partial.append(f"{self.name}/{name}: {called.error}"[:2000])
                told.asked.append(Asked(path=(self.name, name), seconds=called.seconds, failed=True))
                continue
            limit = getattr(requests[name], "limit", 10_000)
            mine = [
                (name, found) for found in answer.results[:limit] if _is_address(found.url) and found.score <= largest
            ]
            if len(mine) < len(answer.results):
                without = len(answer.results) - len(mine)
                told.partial.append(
                    f"{self.name}/{name}: {without:,} results are left out, {_why_left_out(answer.results, limit, largest)}"
                )
            results += mine
            if most is not None and len(results) > most:
                results = sorted(self._by_their_own(results), key=_rank)[:most]
            told.total = min(told.total + _counted_first(answer, counted), _MOST)
            told.asked.append(
                Asked(
                    path=(self.name, name), leaf=answer.leaf, seconds=called.seconds, results=len(mine),
                    bytes=called.size, mark=_mark(answer), total=answer.total if answer.leaf else 0,
                )
            )  # fmt: skip
            self._note_below(told, name, answer)
            if len(mine) + len(answer.asked) + len(answer.skipped) > _AT_ONCE:
                await asyncio.sleep(0)
        results = self._by_their_own(results)
        if most is not None:
            results.sort(key=_rank)
        told.partial = told.partial[: 2 * _MOST_TOLD]
        told.results = await self._all_placed(results)
        return told

    def _by_their_own(self, results: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
        """Results without those of an address that another child, whose own it is, tells of, too."""
        claims: dict[str, set[str]] = {}
        for name, found in results:
            claims.setdefault(found.url, set()).add(name)
        if len(claims) == len(results):
            return results
        nearest = {
            url: max(self.children[name].nearness(url) for name in names)
            for url, names in claims.items()
            if len(names) > 1
        }
        return [
            (name, found)
            for name, found in results
            if found.url not in nearest or self.children[name].nearness(found.url) == nearest[found.url]
        ]

    def _note_below(self, told: Told, name: str, answer: Answer) -> None:
        """Note whom a child asked and skipped, and what it misses."""
        told.asked += [
            Asked(
                path=self._under(name, below.path), leaf=below.leaf, seconds=below.seconds, results=below.results,
                bytes=below.bytes, failed=below.failed, mark=_mark(below), total=below.total,
            )
            for below in answer.asked[:_MOST_TOLD]
        ]  # fmt: skip
        told.skipped += [
            Skipped(path=self._under(name, below.path), reason=_plain_reason(below.reason))
            for below in answer.skipped[:_MOST_TOLD]
        ]
        told.partial += (plain(reason) for reason in answer.partial[:_MOST_TOLD])

    async def _called(self, operation: str, requests: Mapping[str, Travel], deadline: float) -> list[Called]:
        """How the call to each child ended; one timer for all, as hundreds would cost too much."""
        if not requests:
            return []
        began = time.perf_counter()
        try:
            left = time_for_children(deadline)
        except ChildError as error:
            return [Called(name, None, 0.0, 0, str(error)) for name in requests]
        bodies: dict[int, bytes] = {}

        async def one(name: str, request: Travel) -> Called:
            body = bodies.get(id(request)) or bodies.setdefault(id(request), body_of(request, left))
            try:
                bound = bound_of(operation, request)
                answer, size = await self.children[name].answered(self._connected(), operation, body, Answer, bound)
            except ChildError as error:
                return Called(name, None, time.perf_counter() - began, 0, str(error))
            return Called(name, answer, time.perf_counter() - began, size)

        tasks = {asyncio.create_task(one(name, request)): name for name, request in requests.items()}
        try:
            await asyncio.wait(tasks, timeout=left)
        finally:
            for task in tasks:
                task.cancel()
        return [
            task.result()
            if task.done() and not task.cancelled()
            else Called(name, None, left, 0, self.children[name].late(left))
            for task, name in tasks.items()
        ]

    def _under(self, child: str, path: tuple[str, ...]) -> tuple[str, ...]:
        return (self.name, child, *_plain_path(path)[1:])[:32]

    async def _all_placed(self, results: list[tuple[str, Found]]) -> list[Found]:
        """Children's results as this router's, by what it knows now."""
        known, placed = self._known, []
        for place, (child, found) in enumerate(results, 1):
            placed.append(self._placed(known, child, found))
            if not place % _AT_ONCE:
                await asyncio.sleep(0)
        return placed

    def _placed(self, known: Known | None, child: str, found: Found) -> Found:
        """A child's result as one of this router's: its path, and the sub-cluster to which it belongs here."""
        number = known.merged.homes.get(child, {}).get(self.children[child].numbered(found.cluster), 0) if known else 0
        return msgspec.structs.replace(
            found,
            path=self._under(child, found.path),
            cluster=number,
            cluster_name=known.label.clusters[number - 1].name if known and number else "",
            title=plain(found.title),
            snippet=plain(found.snippet),
            marks=tuple(mark for mark in found.marks if mark[0] <= mark[1] <= len(found.snippet)),
            language=plain(found.language),
            copies=tuple(filter(_is_address, found.copies)),
        )

    async def _merged(self, results: Iterable[Found], limit: int, copies: bool = True) -> list[Found]:
        """The best results, those with one address and near-copies as one; many of them beside other work."""
        every = list(results)
        if len(every) <= _AT_ONCE:
            return merged(every, limit, copies)
        return await asyncio.to_thread(merged, every, limit, copies)


def _largest(request: Travel | None) -> float:
    """The score that no result of a request can exceed."""
    query = getattr(request, "query", None)
    return _MOST_ALIKE if query is None else max(largest_score(parsed(query), getattr(request, "stats", None)), 1.0)


def _why_left_out(results: Sequence[Found], limit: int, largest: float) -> str:
    """Why some of a child's results are left out."""
    reasons = {
        "as no page can have their scores": any(found.score > largest for found in results),
        "as no web addresses": not all(_is_address(found.url) for found in results),
        "as too many": len(results) > limit,
    }
    return " or ".join(reason for reason, holds in reasons.items() if holds)


def _counted_first(answer: Answer, counted: dict[str, int]) -> int:
    """Documents that match, but for those of leaves that children before this one counted, too; notes its leaves.

    One that lies about them can only make its own documents fewer.
    """
    told = [answer] if answer.leaf else [one for one in answer.asked[:_MOST_TOLD] if one.leaf]
    mine = {one.mark: one.total for one in told if one.mark}
    again = sum(min(total, counted[mark]) for mark, total in mine.items() if mark in counted)
    for mark, total in mine.items():
        counted.setdefault(mark, total)
    return max(answer.total - again, 0)


def _mark(told: Answer | Asked) -> str:
    """The mark of a leaf, if it can be one."""
    return told.mark if told.leaf and told.mark.isalnum() else ""


def _rank(pair: tuple[str, Found]) -> tuple[float, str]:
    return by_score(pair[1])


@lru_cache(4096)
def _plain_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """A path whose names are plain; each query meets the same again."""
    return tuple(map(plain, path))


@lru_cache(4096)
def _plain_reason(reason: str) -> str:
    return plain(reason)


def _is_address(url: str) -> bool:
    """Whether an address is one of the web, and does nothing to a terminal."""
    return url.startswith(("http://", "https://")) and plain(url) == url
