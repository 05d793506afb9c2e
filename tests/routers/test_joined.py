"""Networks that stand below each other count each leaf once, and one network answers alike however its parts are reached."""

from pathlib import Path
from typing import Any

import pytest

from pagekin.collection import ReloadingCollection, Service
from pagekin.labels import LABEL_VERSION, ContentLabel, LabelTerms, LeafCount, SubCluster, leaf_identity, router_label
from pagekin.labels.merge import MOST_HOPS, share_leaves
from pagekin.routers import Place, Router
from pagekin.text import ANALYSER

from .webs import Running, Web, ask, eager, free_ports, get, request, wait_for


def label_of(name: str, documents: int, *leaves: LeafCount) -> ContentLabel:
    """A label of documents that are all about one word."""
    terms = LabelTerms((6,), (documents,), (documents,))
    cluster = SubCluster(1, name, documents, 100, 1, heaviest=(name,), terms=terms)
    return ContentLabel(
        LABEL_VERSION, ANALYSER, name, documents, 100, 1, True, words=(name,), terms=terms, clusters=(cluster,), leaves=leaves
    )  # fmt: skip


def documents_of(web: Web, *leaves: str) -> int:
    return sum(int(get(web.urls[leaf], "health").json["documents"]) for leaf in leaves)


def test_networks_below_each_other_converge(web: Web) -> None:
    one, other = free_ports(2)
    urls = {"one": f"http://127.0.0.1:{one}/", "other": f"http://127.0.0.1:{other}/"}
    settings = eager(refresh=0.05)
    with Running([
        (Router("one", {"birds": web.urls["birds"], "other": urls["other"]}, settings), Place("127.0.0.1", one)),
        (Router("other", {"elements": web.urls["elements"], "one": urls["one"]}, settings), Place("127.0.0.1", other)),
    ]):  # fmt: skip
        true = documents_of(web, "birds", "elements")
        wait_for(lambda: all(get(url, "health").json["documents"] == true for url in urls.values()))
        for _ in range(12):
            for url in urls.values():
                assert request(url + "refresh", "POST").status == 202
        assert [get(url, "health").json["documents"] for url in urls.values()] == [true, true]
        wait_for(lambda: settled(urls))


def settled(urls: dict[str, str]) -> bool:
    """Whether labels no longer change from one refresh to the next."""
    before = [get(url, "health").json["etags"] for url in urls.values()]
    for url in urls.values():
        request(url + "refresh", "POST")
    return before == [get(url, "health").json["etags"] for url in urls.values()]


def test_a_leaf_that_two_children_name_counts_for_the_nearest() -> None:
    labels = {
        "direct": label_of("near", 10, LeafCount("a", 10, 0)),
        "router": label_of("far", 30, LeafCount("a", 10, 1), LeafCount("b", 20, 1)),
    }
    leaves, shares = share_leaves(labels)
    assert leaves == (LeafCount("a", 10, 1), LeafCount("b", 20, 2))
    assert shares == {"direct": 1.0, "router": pytest.approx(2 / 3)}
    merged = router_label("above", labels)
    assert merged.label.num_docs == 30
    assert router_label("above", dict(reversed(labels.items()))).label == merged.label


def test_a_leaf_that_is_gone_is_forgotten_after_some_rounds() -> None:
    """Two routers that hear of a leaf only from each other."""
    ghost: tuple[LeafCount, ...] = (LeafCount("gone", 5, 1), LeafCount("here", 2, 0))
    for _round in range(MOST_HOPS + 1):
        ghost, _shares = share_leaves({"other": label_of("one", 7, *ghost)})
        if not any(leaf.identity == "gone" for leaf in ghost):
            break
    assert not any(leaf.identity == "gone" for leaf in ghost)


def test_identities_are_those_of_the_collection_wherever_it_is_served(collections: dict[str, Path]) -> None:
    first, again = (ReloadingCollection(name, collections["birds"]) for name in ("birds", "again"))
    assert leaf_identity(first.published.etags) == leaf_identity(again.published.etags) == first.collection.mark
    assert leaf_identity(first.published.etags) != ReloadingCollection("x", collections["trees"]).collection.mark


@pytest.mark.parametrize("query", ["oxygen OR feathers OR bird", "the", "title:owl", '"of the"'])
def test_children_in_the_same_process_answer_as_those_over_http(collections: dict[str, Path], query: str) -> None:
    names = ("birds", "elements", "mirror", "mountains")
    ports = free_ports(len(names) + 3)
    urls = {name: f"http://127.0.0.1:{port}/" for name, port in zip((*names, "mid", "near", "far"), ports, strict=True)}
    services: dict[str, Service] = {name: ReloadingCollection(name, collections[name]) for name in names}
    # A leaf stands below two routers, and is asked by both.
    services["mid"] = Router("mid", {name: urls[name] for name in names[:3]}, eager(), near=services)
    children = {name: urls[name] for name in ("mid", *names[2:])}
    near, far = Router("top", children, eager(), near=services), Router("top", children, eager())
    places = [Place("127.0.0.1", port) for port in ports]
    with Running(list(zip([*services.values(), near, far], places, strict=True))):
        for name in ("near", "far"):
            wait_for(
                lambda name=name: (
                    get(urls[name], "health").json["ready"] and not get(urls[name], "health").json["waiting"]
                )
            )

        def both(operation: str, **more: Any) -> Any:
            answers = [ask(urls[name], operation, deadline=60.0, **more) for name in ("near", "far")]
            for answer in answers:
                for one in (answer, *answer.get("asked", ())):
                    for field in ("seconds", "bytes"):
                        one.pop(field, None)
                for one in answer.get("asked", ()):
                    one.pop("results")  # in one process, sites leave out hits that those before have bettered
            assert answers[0] == answers[1], operation
            return answers[0]

        hits = both("search", query=query, limit=20)["results"]
        assert hits and all(hit["title"] for hit in hits)
        items = [{key: hit[key] for key in ("kind", "url", "path", "cluster")} for hit in hits[:3]]
        both("search", query=query, first=10, limit=10)
        both("select", query=query)
        both("expand", query=query)
        both("refine", query=query)
        both("suggest", items=items)
        both("related", url=hits[0]["url"], options={"k": 8, "explain": True})
        both("show", query=query, items=items)


def test_a_node_with_a_space_in_its_path_is_reached(collections: dict[str, Path]) -> None:
    (port,) = free_ports(1)
    leaf = ReloadingCollection("other hosts", collections["birds"])
    with Running([(leaf, Place("127.0.0.1", port, "/other%20hosts/"))]):
        at = f"http://127.0.0.1:{port}/other%20hosts/"
        assert get(at, "health").json["documents"] == len(leaf.collection.corpus)
        assert ask(at, "search", query="bird")["total"]
