"""Ways through a network that do not end, or lead to the same place twice."""

from pagekin.routers import Place, Router

from .bad_children import QUERY, above, searched
from .webs import DEADLINE, Running, Web, ask, eager, free_ports, get, post, urls_of, wait_for


def test_a_router_that_names_its_own_parent_as_its_child(web: Web, living: set[str]) -> None:
    a, b = free_ports(2)
    urls = {"a": f"http://127.0.0.1:{a}/", "b": f"http://127.0.0.1:{b}/"}
    settings = eager(settle=0.3)
    with Running([
        (Router("a", {"b": urls["b"]}, settings), Place("127.0.0.1", a)),
        (Router("b", {"a": urls["a"], "birds": web.urls["birds"], "elements": web.urls["elements"]}, settings),
         Place("127.0.0.1", b)),
    ]):  # fmt: skip
        wait_for(lambda: all(get(url, "health").json["ready"] for url in urls.values()))
        for name, way in (("a", "a > b > a"), ("b", "b > a > b")):
            answer = searched(urls[name])
            assert urls_of(answer) == living
            assert [reason for reason in answer["partial"] if "a loop" in reason and way in reason]
            item = {"kind": "document", "url": "http://x.example/", "path": [name, *"ba", *"ba"]}
            for operation, asked in (("expand", {"query": QUERY}), ("suggest", {"items": [item]})):
                assert post(urls[name], operation, deadline=DEADLINE, **asked).status == 200


def test_a_chain_that_is_longer_than_the_hops_left_ends_with_a_reason(web: Web) -> None:
    ports = free_ports(4)
    urls = [f"http://127.0.0.1:{port}/" for port in ports]
    names = ["r0", "r1", "r2", "r3"]
    below = [{names[n + 1]: urls[n + 1]} for n in range(3)] + [{"birds": web.urls["birds"]}]
    with Running(
        [
            (Router(name, children, eager()), Place("127.0.0.1", port))
            for name, children, port in zip(names, below, ports, strict=True)
        ]
    ):
        wait_for(lambda: get(urls[0], "health").json["ready"])
        whole = searched(urls[0])
        assert whole["partial"] == [] and whole["results"]
        for hops in range(4):
            short = searched(urls[0], hops=hops)
            assert short["results"] == []
            assert len(short["partial"]) == 1
            assert short["partial"][0].startswith(f"r{hops}: too many routers on the way")
        assert searched(urls[0], hops=4)["results"]


def test_two_children_of_one_address_and_a_leaf_that_is_its_own_grandchild_count_once(web: Web) -> None:
    with above(web, {"again": web.urls["birds"]}) as (url, _router):
        answer = searched(url)
        urls = [one["url"] for one in answer["results"]]
        assert len(urls) == len(set(urls))


def test_two_networks_whose_routers_share_names_lose_nothing_when_they_are_joined(web: Web) -> None:
    ours, theirs, inner = free_ports(3)
    urls = {name: f"http://127.0.0.1:{port}/" for name, port in (("ours", ours), ("theirs", theirs), ("inner", inner))}
    with Running([
        (Router("example", {"birds": web.urls["birds"], "joined": urls["theirs"]}, eager()), Place("127.0.0.1", ours)),
        (Router("example", {"example": urls["inner"]}, eager()), Place("127.0.0.1", theirs)),
        (Router("example", {"elements": web.urls["elements"]}, eager()), Place("127.0.0.1", inner)),
    ]):  # fmt: skip
        wait_for(lambda: get(urls["ours"], "health").json["ready"])
        answer = searched(urls["ours"], visited=[])
        assert answer["partial"] == []
        assert urls_of(answer) == urls_of(web.search("birds", QUERY)) | urls_of(web.search("elements", QUERY))
        element = next(one for one in answer["results"] if one["path"][-1] == "elements")
        assert element["path"] == ["example", "joined", "example", "elements"]
        shown = ask(urls["ours"], "search", query=QUERY, limit=100, deadline=60.0)
        assert all(one["title"] for one in shown["results"]), "texts come by the same ways"
        longest = Router("x" * 200, {}, eager())
        assert len(longest.mark) <= 200, "messages take no longer names"


def test_a_leaf_below_two_routers_counts_once(web: Web) -> None:
    (top,) = free_ports(1)
    ways = {"nature": web.urls["nature"], "culture": web.urls["culture"], "birds": web.urls["birds"]}
    with Running([(Router("top", ways, eager()), Place("127.0.0.1", top))]):
        url = f"http://127.0.0.1:{top}/"
        wait_for(lambda: get(url, "health").json["ready"] and not get(url, "health").json["waiting"])
        for query in ("bird", QUERY, "the"):
            whole = ask(url, "search", query=query, limit=10_000, raw=True, deadline=60.0)
            leaves = {one["path"][-1] for one in whole["asked"] if one["leaf"]}
            assert whole["total"] == sum(web.search(leaf, query)["total"] for leaf in leaves)
            assert len([one for one in whole["asked"] if one["path"][-1] == "birds"]) == 3, "it came by three ways"
