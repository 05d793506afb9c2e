"""The tree of routers: what is below one, whoever hangs, lies, or leads in circles."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.collection import MOST_HOPS, MOST_NODES, TreeNode
from pagekin.labels import ContentLabel, read_label_parts
from pagekin.routers import Place, Router
from pagekin.routers.child import KEPT
from pagekin.routers.tree import _within
from pagekin.store import open_kin

from .conftest import TREE
from .fakes import Call, Fake, reply, says, tells
from .webs import DEADLINE, SLACK, Running, Web, ask, eager, free_ports, get, post, wait_for


@pytest.fixture(scope="module")
def parts(collections: dict[str, Path]) -> Mapping[str, ContentLabel]:
    found = read_label_parts(open_kin(collections["planets"]))
    assert found
    return found


@contextmanager
def above(web: Web, children: Mapping[str, str], name: str = "top") -> Iterator[str]:
    """A router above the root of the network and some others, once it is ready."""
    (port,) = free_ports(1)
    router = Router(name, {"root": web.urls["root"], **children}, eager(settle=0.2, label_seconds=1.0))
    with Running([(router, Place("127.0.0.1", port))]):
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: get(url, "health").json["ready"])
        yield url


def nodes(tree: Any) -> list[Any]:
    """All nodes, each level before the one below it."""
    found = [tree]
    for node in found:
        found += node["children"]
    return found


def named(tree: Any) -> Any:
    """Names alone, as {name: {child: …}}."""
    return {child["name"]: named(child) for child in tree["children"]}


def expected(name: str) -> Any:
    return {child: expected(child) for child in TREE.get(name, ())}


def test_the_tree_is_the_network(web: Web) -> None:
    tree = ask(web.urls["root"], "tree", deadline=20.0)
    assert tree["name"] == "root" and named(tree) == expected("root")
    for node in nodes(tree):
        health = get(web.urls[node["name"]], "health").json
        assert node["url"] == (web.urls[node["name"]] if node is not tree else "")
        assert (node["up"], node["error"], node["left_out"]) == (True, "", 0)
        for key in ("leaf", "level", "ready", "documents", "label_bytes"):
            assert node[key] == health[key], (node["name"], key)
        assert node["leaf"] == (node["name"] in web.collections)
        assert node["label_age"] >= 0
    assert ask(web.urls["birds"], "tree")["children"] == []


def test_no_more_nodes_are_shown_than_the_limit(web: Web) -> None:
    whole = ask(web.urls["root"], "tree", deadline=20.0)
    for limit in (*range(1, len(nodes(whole)) + 1), MOST_NODES):
        some = ask(web.urls["root"], "tree", deadline=20.0, limit=limit)
        assert len(nodes(some)) == min(limit, len(nodes(whole)))
        for one in nodes(some):
            assert len(one["children"]) + one["left_out"] == len(TREE.get(one["name"], ()))


trees = st.recursive(st.just(()), lambda below: st.lists(below, max_size=4).map(tuple), max_leaves=30)


@given(trees, st.integers(1, 40))
def test_cutting_leaves_as_many_as_may_be_and_a_fair_share_to_each(shape: Any, limit: int) -> None:
    numbers = iter(range(10_000))

    def made(shape: Any) -> TreeNode:
        return TreeNode(name=str(next(numbers)), children=tuple(map(made, shape)))

    def every(root: TreeNode) -> dict[str, TreeNode]:
        found = {root.name: root}
        for child in root.children:
            found |= every(child)
        return found

    whole = made(shape)
    cut = _within(whole, limit)
    before, after = every(whole), every(cut)
    assert len(after) == min(limit, len(before))
    for name, node in after.items():
        assert len(node.children) + node.left_out == len(before[name].children)
        assert [child.name for child in node.children] == [
            child.name for child in before[name].children[: len(node.children)]
        ]
    share = (limit - 1) // max(len(whole.children), 1)
    for child in whole.children if share else ():
        assert len(every(child)) > share or every(child).keys() <= after.keys()


# -- those that do not answer ---------------------------------------------------------------------------------------------


def test_a_child_that_cannot_be_reached_stands_there_with_the_reason(web: Web) -> None:
    (port,) = free_ports(1)
    dead = f"http://127.0.0.1:{port}/"
    with above(web, {"dead": dead}) as url:
        root, bad = ask(url, "tree", deadline=20.0)["children"]
        assert named(root) == expected("root")
        assert (bad["name"], bad["url"], bad["up"], bad["ready"], bad["children"]) == ("dead", dead, False, False, [])
        assert "cannot be reached" in bad["error"]


def test_a_child_that_went_away_is_shown_as_it_was_last_known(
    web: Web, parts: Mapping[str, ContentLabel], collections: dict[str, Path]
) -> None:
    gone = Fake(tells({"name": "x"}), parts)
    with above(web, {"gone": gone.url}) as url:
        assert ask(url, "tree", deadline=20.0)["children"][1]["up"]
        gone.stop()
        bad = ask(url, "tree", deadline=20.0)["children"][1]
        assert (bad["up"], bad["ready"], bad["name"]) == (False, True, "gone")
        assert bad["documents"] == get(web.urls["planets"], "health").json["documents"] > 0
        assert bad["label_bytes"] > 0 and bad["label_age"] > 0 and bad["error"]


def test_a_child_that_hangs_holds_nobody_up(web: Web, parts: Mapping[str, ContentLabel]) -> None:
    async def hang(_call: Call, _writer: Any) -> None:
        import asyncio

        await asyncio.sleep(600)

    with Fake(hang, parts) as bad, above(web, {"bad": bad.url}) as url:
        began = time.monotonic()
        root, child = ask(url, "tree", deadline=DEADLINE)["children"]
        assert time.monotonic() - began < DEADLINE + SLACK
        assert named(root) == expected("root")
        assert not child["up"] and child["error"].startswith("no answer within")


def test_a_child_that_does_not_know_of_trees_is_up(web: Web, parts: Mapping[str, ContentLabel]) -> None:
    with Fake(says(reply(b'{"detail": "what?"}', "404 Not Hit")), parts) as old, above(web, {"old": old.url}) as url:
        child = ask(url, "tree", deadline=20.0)["children"][1]
        assert (child["up"], child["ready"], child["error"]) == (True, True, "it answered 404: what?")


def nested(depth: int) -> Any:
    """A way down."""
    found: Any = {"name": "deep"}
    for _ in range(depth):
        found = {"name": "deep", "children": [found]}
    return found


LIES: dict[str, tuple[Any, str]] = {
    "no tree": ([1, 2], "cannot be understood"),
    "wrong types": ({"name": "x", "documents": -1}, "cannot be understood"),
    "a way down without end": (nested(200), ""),
    "too many": ({"name": "x", "children": [{"name": str(n)} for n in range(2 * MOST_NODES)]}, ""),
    "mad counts": ({"name": "x", "left_out": 2**53, "children": [nested(30)], "documents": 2**53}, ""),
    "another name": ({"name": "root", "url": "http://169.254.169.254/", "up": False}, ""),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_spoil_neither_the_tree_nor_the_one_above(web: Web, parts: Mapping[str, ContentLabel], lie: str) -> None:
    told, reason = LIES[lie]
    with Fake(tells(told), parts) as bad, above(web, {"bad": bad.url}, "mid") as mid, above(web, {"mid": mid}) as top:
        root, below = ask(top, "tree", deadline=30.0)["children"]
        assert named(root) == expected("root")
        assert (below["up"], below["error"]) == (True, "")
        again, child = below["children"]
        assert (child["name"], child["url"]) == ("bad", bad.url)
        assert child["up"] == (not reason) and reason in child["error"]
        assert named(again) == expected("root")
        assert len(nodes(child)) <= MOST_NODES
        deepest, level = 0, [child]
        while level := [one for node in level for one in node["children"]]:
            deepest += 1
        assert deepest < MOST_HOPS
        if lie in ("too many", "a way down without end"):
            assert sum(one["left_out"] for one in nodes(child)) > 0


def test_names_and_addresses_from_elsewhere_are_plain(web: Web, parts: Mapping[str, ContentLabel]) -> None:
    esc = "\x1b[2J"
    below = [
        {"name": f"a{esc}", "url": "javascript:alert(1)", "error": f"b{esc}"},
        {"name": "c", "url": f"http://x.example/{esc}"},
        {"name": "d", "url": "https://d.example/"},
    ]
    with Fake(tells({"name": "x", "children": below}), parts) as bad, above(web, {"bad": bad.url}) as url:
        reply_ = post(url, "tree", deadline=20.0)
        assert b"u001b" not in reply_.body and b"javascript" not in reply_.body
        assert [one["url"] for one in reply_.json["children"][1]["children"]] == ["", "", "https://d.example/"]


# -- ways that do not end -------------------------------------------------------------------------------------------------


def test_a_circle_is_named_where_it_closes(web: Web) -> None:
    a, b = free_ports(2)
    urls = {"a": f"http://127.0.0.1:{a}/", "b": f"http://127.0.0.1:{b}/"}
    settings = eager(settle=0.2)
    with Running([
        (Router("a", {"b": urls["b"]}, settings), Place("127.0.0.1", a)),
        (Router("b", {"a": urls["a"], "birds": web.urls["birds"]}, settings), Place("127.0.0.1", b)),
    ]):  # fmt: skip
        wait_for(lambda: all(get(url, "health").json["ready"] for url in urls.values()))
        tree = ask(urls["a"], "tree", deadline=20.0)
        assert named(tree) == {"b": {"a": {}, "birds": {}}}
        closing = tree["children"][0]["children"][0]
        assert "a loop, a > b > a" in closing["error"]


def test_deadlines_and_hops_shrink_and_limits_leave_room(web: Web, parts: Mapping[str, ContentLabel]) -> None:
    with Fake(tells({"name": "x"}), parts) as bottom, above(web, {"bad": bottom.url}) as url:
        tree = ask(url, "tree", deadline=4.0, limit=50)
        assert len(nodes(tree)) == 3 + len(nodes(ask(web.urls["root"], "tree"))) - 1
        (call,) = bottom.asked("tree")
        assert 0 < call.json["deadline"] <= 4.0 - KEPT
        assert [mark.partition("/")[0] for mark in call.json["visited"]] == ["top"]
        assert (call.json["hops"], call.json["limit"]) == (MOST_HOPS - 1, 48)
        assert ask(url, "tree", hops=0)["error"].startswith("top: too many routers")
        short = ask(url, "tree", hops=1)
        assert [child["children"] for child in short["children"]] == [[], []]
        assert "too many routers" in short["children"][0]["error"]
        assert post(url, "tree", limit=0).status == 400
        assert post(url, "tree", limit=MOST_NODES + 1).status == 400
