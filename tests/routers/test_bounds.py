"""How much children may answer: honest answers pass, and those that do not are cut or refused before they cost much."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.collection import (
    MOST_NODES,
    Answer,
    AskedNode,
    Bag,
    Hit,
    Item,
    RelatedOptions,
    RelatedRequest,
    Request,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SkippedNode,
    SuggestRequest,
    TreeNode,
    TreeRequest,
    encode,
    group_hits,
)
from pagekin.labels import LabelError, LabelLimits, label_from_wire, label_to_wire, read_label_parts
from pagekin.routers.bounds import LARGEST_ANSWER, Bound, bound_of, fit_answer
from pagekin.store import open_kin

from .bad_children import Parts, above, bag
from .fakes import Call, Fake, tells
from .webs import Web, ask

REQUESTS: dict[str, Callable[[int], Request]] = {
    "search": lambda n: SearchRequest(query="x", limit=n),
    "select": lambda n: SelectRequest(query="x", limit=n),
    "expand": lambda n: SelectRequest(query="x", limit=n),
    "suggest": lambda n: SuggestRequest(items=(), limit=n),
    "related": lambda n: RelatedRequest(url="x", options=RelatedOptions(k=max(1, n))),
    "show": lambda n: ShowRequest(query="x", items=(Item("document", "http://x/"),) * min(n, 1000)),
}


def honest(operation: str, number: int, place: int) -> Hit:
    """A result as leaves give it, of the longer kind: an address of 100 characters, below four routers."""
    text: dict[str, Any] = {
        "title": "A title, of some words, " * 4, "snippet": "so, and so, and thus, " * 14, "marks": ((3, 9),) * 8,
        "copies": tuple(f"http://mirror{n}.example/{'y' * 60}" for n in range(3)),
    }  # fmt: skip
    return Hit(
        kind="document", url=f"http://www{place}.example/{'x' * 80}/{place}.html", score=12.3456789012345, cluster=place % 50,
        path=("root", "edu", "cornell.edu", "cs.cornell.edu", "www.cs.cornell.edu"), pages=3, sketch="A" * 172,
        **(text if operation != "search" else {}),
    )  # fmt: skip


@pytest.mark.parametrize("operation", REQUESTS)
@pytest.mark.parametrize("number", [0, 1, 10, 100, 1_000, 10_000])
def test_honest_answers_pass(operation: str, number: int) -> None:
    """With as many results as were asked for, and a network of 8,000 routers that were asked or skipped."""
    request = REQUESTS[operation](number)
    many = len(request.items) if isinstance(request, ShowRequest) else getattr(request, "limit", 0)
    many = request.options.k if isinstance(request, RelatedRequest) else many
    results = tuple(honest(operation, many, place) for place in range(many))
    path = ("root", "edu", "cornell.edu", "cs.cornell.edu")
    answer = Answer(
        query="x" * 100, router="root", total=many, results=results, groups=group_hits(results),
        asked=(AskedNode(path=path, leaf=True, seconds=0.012345678, results=10, bytes=12_345),) * 4_000,
        skipped=(SkippedNode(path=path, reason="no page holds operating, lock"),) * 4_000, partial=("root/edu: dead",) * 100,
    )  # fmt: skip
    bound = bound_of(operation, request)
    assert bound.size <= LARGEST_ANSWER
    if not (
        number == 10_000 and operation in ("select", "expand", "suggest", "related")
    ):  # more text than anybody reads
        assert bound.excess(encode(answer)) == ""


def test_honest_trees_and_bags_pass() -> None:
    for limit in (1, 2, 30, MOST_NODES):
        node = TreeNode(name="www.cs.cornell.edu", url="http://127.0.0.1:8700/cs.cornell.edu/", error="it is gone " * 8)
        tree = msgspec.structs.replace(node, children=(node,) * (limit - 1), error="long " * 400)
        assert bound_of("tree", TreeRequest(limit=limit)).excess(encode(tree)) == ""
    largest = Bag("d" * 64, (-(2**63),) * 20_000, (0.12345678901234567,) * 20_000, (65_535,) * 64, (2**32 - 1,) * 4_096)
    assert bound_of("bag", RelatedRequest(url="x")).excess(encode(largest)) == ""


texts = st.text(st.sampled_from('ab,[{"\\é☃'), max_size=40)
factor = st.integers(1, 50)
founds = st.builds(
    lambda url, text, times, copies: Hit(
        kind="document", url="http://x/" + url * times, title=(text * times)[:2000], snippet=(text * times)[:2000],
        copies=("http://c/" + url * times,) * copies, marks=((0, 1),) * copies,
    ),
    texts, texts, factor, st.integers(0, 100),
)  # fmt: skip


@given(st.lists(founds, max_size=30), st.lists(st.lists(texts, max_size=5), max_size=30), st.integers(2_000, 60_000))
@settings(max_examples=150, deadline=None)
def test_an_answer_that_was_cut_to_fit_does(results: list[Hit], paths: list[list[str]], size: int) -> None:
    answer = Answer(
        router="mid", results=tuple(results), groups=group_hits(results), total=7,
        asked=tuple(AskedNode(path=tuple(path)) for path in paths * 20),
        skipped=tuple(SkippedNode(path=tuple(path), reason="".join(path)) for path in paths * 20),
        partial=tuple("".join(path) for path in paths * 20),
    )  # fmt: skip
    bound = Bound(size, values=max(size // 10, 60 * len(results)))
    small = fit_answer(answer, bound)
    raw = encode(small)
    groups = len(encode(small.groups))
    assert len(raw) - groups <= size + 500 and msgspec.json.decode(raw, type=Answer) == small
    kept = [one.url for one in small.results]
    assert kept == [one.url for one in results if one.url in set(kept)], "in their order"
    each = size // 2 // max(len(results), 1)
    assert set(kept) >= {one.url for one in results if len(encode(one)) < each and len(one.copies) == 0 and each > 600}
    if len(kept) < len(results):
        assert small.partial[0] == f"mid: {len(results) - len(kept):,} results are left out, as they are too large"
    assert bool(small.partial) >= any("".join(path) and len("".join(path)) < 200 for path in paths[:1])
    assert (small.total, small.router) == (7, "mid")


def test_what_holds_too_much_is_refused_by_its_bytes_alone() -> None:
    bound = Bound(10_000_000, objects=5, values=100_000)
    assert bound.excess(b"[" * 50) == "", "a little is decoded at once"
    assert "objects" in bound.excess(b"{" * 300_000)
    assert "values" in bound.excess(b"[1,1,1]," * 50_000)
    assert bound.excess(b'"' + b"x" * 9_000_000 + b'"') == ""
    assert "bytes" in bound.excess(b" " * 10_000_001)


ITEM = {"kind": "document", "url": "http://x.example/", "path": ["root", "bad"]}
ASKED: dict[str, tuple[dict[str, Any], str]] = {
    "tree": ({"limit": 50}, "tree"),
    "search": ({"query": "x", "limit": 10, "raw": True, "routing": "all"}, "search"),
    "expand": ({"query": "bird", "limit": 10}, "select"),
    "suggest": ({"items": [ITEM]}, "suggest"),
    "related": ({"bag": bag()}, "related"),
    "show": ({"query": "x", "items": [ITEM]}, "show"),
}


@pytest.mark.parametrize("operation", ASKED)
@pytest.mark.parametrize("chunked", [False, True])
def test_no_more_is_read_than_the_answer_may_be(web: Web, parts: Parts, operation: str, chunked: bool) -> None:
    sent = 0

    async def flood(_call: Call, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n" + (b"Transfer-Encoding: chunked" if chunked else b"X: y") + b"\r\n\r\n")
        block = b" " * (1 << 16)
        for _ in range(480):  # 30 MB
            writer.write(b"10000\r\n" + block + b"\r\n" if chunked else block)
            await writer.drain()
            sent += len(block)

    with Fake(flood, parts) as bad, above(web, {"bad": bad.url}) as (url, router):
        asked, called = ASKED[operation]
        answer = ask(url, operation, deadline=20.0, **asked)
        assert len(bad.asked(called)) == 1
        below = answer.get("children", ())
        told = answer.get("partial", [f"root/{one['name']}: {one['error']}" for one in below])
        reasons = [reason for reason in told if reason.startswith("root/bad: ")]
        assert ["larger than" in reason for reason in reasons] == [True], reasons
        assert router.children["bad"].failures == 1
    assert sent < 20_000_000, "what lies in buffers on the way counts, too"


def test_a_tree_of_many_tiny_nodes_is_not_decoded(web: Web, parts: Parts) -> None:
    tiny = {"name": "x", "children": [{"name": ""}] * 400_000}
    with Fake(tells(tiny), parts) as bad, above(web, {"bad": bad.url}) as (url, _router):
        tree = ask(url, "tree", deadline=20.0)
        (child,) = (one for one in tree["children"] if one["name"] == "bad")
        assert "objects" in child["error"] and child["children"] == []
        assert [one["error"] for one in tree["children"] if one["name"] != "bad"] == ["", ""]


# -- labels ---------------------------------------------------------------------------------------------------------------


def test_labels_that_are_within_their_limits_pass(collections: dict[str, Path]) -> None:
    for path in collections.values():
        parts = read_label_parts(open_kin(path))
        assert parts
        for part in parts.values():
            label_from_wire(label_to_wire(part), LabelLimits())


def test_labels_beyond_their_limits_are_refused_before_they_are_decoded() -> None:
    def packed(text: bytes) -> bytes:
        return zstandard.ZstdCompressor(level=1).compress(text)

    with pytest.raises(LabelError, match="values"):
        label_from_wire(packed(json.dumps({"words": ["a"] * 5_000_000}).encode()), LabelLimits())
    with pytest.raises(LabelError, match="more than 1,000 bytes"):
        label_from_wire(packed(b" " * 1001), LabelLimits(bytes=1000))
    with pytest.raises(LabelError, match="not a content label"):
        label_from_wire(packed(b" " * 1000), LabelLimits(bytes=1000))
    with pytest.raises(LabelError, match="decompressed"):
        label_from_wire(b"no zstd", LabelLimits())
