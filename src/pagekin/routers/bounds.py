"""Limits on the size of answers, derived from the request: an oversized answer is refused at little cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from pagekin.collection import Answer, Hit, RelatedRequest, Request, ShowRequest, TreeRequest, encode, group_hits

T = TypeVar("T")

LARGEST_ANSWER = 12 << 20
"""Bytes of any answer, at most."""
_NODES = 2 << 20
"""Bytes for the lists of routers asked, routers skipped, and missing answers."""
_RESULT, _SHOWN, _NODE = 1_000, 4_000, 2_000
"""Average bytes of a result, of a result with a snippet, and of a node of a tree."""
_LARGEST_BAG = 2 << 20
_HARMLESS = 1 << 18
"""Bytes that can be decoded in some milliseconds, whatever they contain."""
_OBJECTS, _VALUES = 20_000, 200_000
"""Objects and values that can be decoded in some tens of milliseconds: enough for lists of routers, and for bags."""
_OBJECTS_EACH, _VALUES_EACH = 2, 40
"""Additional objects allowed per result: its group, which may be its own."""


@dataclass(frozen=True)
class Bound:
    """The size limits of an answer."""

    size: int
    """In bytes."""
    objects: int = _OBJECTS
    values: int = _VALUES

    def excess(self, raw: bytes) -> str:
        """Return which limit an answer exceeds, or ''; counts in the undecoded bytes, since decoding is costly.

        Braces, brackets and commas are counted also where they stand in a text: no honest answer has that many.
        """
        if len(raw) > self.size:
            return f"it has {len(raw):,} bytes, and {self.size:,} is the most"
        if len(raw) <= _HARMLESS:
            return ""
        if (objects := raw.count(b"{")) > self.objects:
            return f"it holds some {objects:,} objects, and {self.objects:,} is the most"
        if (values := _values(raw)) > self.values:
            return f"it holds some {values:,} values, and {self.values:,} is the most"
        return ""


def bound_of(operation: str, request: Request) -> Bound:
    """Return how large the answer to a request may be."""
    if isinstance(request, TreeRequest):
        # A few nodes too many are left out by the one who asked; many more are not looked at.
        return Bound(min(_NODE * (request.limit + 8), LARGEST_ANSWER), 2 * request.limit + 1_000)
    if operation == "bag":
        return Bound(_LARGEST_BAG)
    if isinstance(request, ShowRequest):
        results = len(request.items)
    elif isinstance(request, RelatedRequest):
        results = request.options.k
    else:
        results = int(getattr(request, "limit", 100))
    bare = operation == "search" and getattr(request, "raw", False)
    size = _NODES + results * (_RESULT if bare else _SHOWN)
    return Bound(min(size, LARGEST_ANSWER), _OBJECTS + _OBJECTS_EACH * results, _VALUES + _VALUES_EACH * results)


def fit_answer(answer: Answer, bound: Bound) -> Answer:
    """Cut an answer that is too large for the client.

    A child that sends too much must not make its parent look like a liar. Fewer of the nodes that were asked or skipped
    are named; results that are larger than their share lose their copies, then their text, and are dropped at last,
    which the answer reports.
    """
    share = Bound(bound.size // 8, values=bound.values // 8)
    places = max(len(answer.results), 1)
    each = Bound(bound.size // 2 // places, values=bound.values // 2 // places)
    results = [small for one in answer.results if (small := _slim(one, each)) is not None]
    partial = _first(answer.partial, share)
    if len(results) < len(answer.results):
        without = len(answer.results) - len(results)
        partial = (f"{answer.router}: {without:,} results are left out, as they are too large", *partial)
    return msgspec.structs.replace(
        answer, results=tuple(results), groups=group_hits(results), asked=_first(answer.asked, share),
        skipped=_first(answer.skipped, share), partial=partial,
    )  # fmt: skip


def _first(items: Sequence[T], share: Bound) -> tuple[T, ...]:
    """Return the first values, as many as fit into a share."""
    size = values = 0
    for place, one in enumerate(items[: _OBJECTS // 4]):
        raw = encode(one)
        size, values = size + len(raw) + 1, values + _values(raw) + 1
        if size > share.size or values > share.values:
            return tuple(items[:place])
    return tuple(items[: _OBJECTS // 4])


def _slim(one: Hit, share: Bound) -> Hit | None:
    """Return a result cut to its share, or None if it cannot be cut."""
    bare = msgspec.structs.replace(one, copies=())
    for small in (one, bare, msgspec.structs.replace(bare, title="", snippet="", marks=())):
        raw = encode(small)
        if len(raw) < share.size and _values(raw) < share.values:
            return small
    return None


def _values(raw: bytes) -> int:
    return raw.count(b",") + raw.count(b"[")
