"""The content label for people: what the pages tell is what the label tells."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from litestar.testing import TestClient
from typer.testing import CliRunner

from pagekin.bags import Signals
from pagekin.cli.app import app, human_bytes, load_verbs
from pagekin.clusters import TERM_ATTRIBUTES
from pagekin.collection import ReloadingCollection, ServiceError
from pagekin.engines import label_collection
from pagekin.labels import AddedTerm, ContentLabel
from pagekin.labels.model import Term, pack_terms
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import web_app
from pagekin.web.pages.cluster import cluster_view, label_view, term_rows
from tests.routers.webs import request, wait_for

from .conftest import EVIL
from .parsed import Parsed, harm

HTML = {"Accept": "text/html"}


@pytest.fixture
def network(network_site: str) -> str:
    """The address of a router that knows its children."""
    wait_for(lambda: request(f"{network_site}health").json["ready"])
    return network_site


def label_of(*terms: Term) -> ContentLabel:
    words, (packed,) = pack_terms([terms])
    return ContentLabel(1, "", "x", 9, 9, 9, True, words=words, terms=packed)


def test_words_are_ordered_by_the_weight_of_their_places() -> None:
    label = label_of(
        Term("text", "often", 9, 3),
        Term("title", "named", 1, 1),
        Term("text", "named", 1, 1),
        Term("alt", "rare", 2, 2),
    )
    rows, attributes = term_rows(label, label.terms)
    # A title counts 10 times: named has 11, often 9.
    assert [row.word for row in rows] == ["named", "often", "rare"]
    assert rows[0].counts == {"title": (1, 1), "text": (1, 1)}
    assert attributes == ("title", "alt", "text")
    assert term_rows(label, label.terms)[0][0].word == "named"


def test_the_whole_label_is_told(demo: ReloadingCollection) -> None:
    view, label = label_view(demo), demo.label
    assert (view.documents, view.bytes, view.terms_total) == (label.num_docs, label.size, label.num_terms)
    assert view.words == label.heaviest
    assert view.terms_told == len(label.terms.steps) > len(view.terms) == 50
    assert {(one.node, one.name, one.pages) for one in view.clusters} == {
        (one.number, one.name, one.num_docs) for one in label.clusters
    }
    assert view.filters.words == sum(one.keys for one in label.filters)
    assert view.filters.bytes == sum(len(one.bits) for one in label.filters)
    assert view.lost["terms"] == label.lost.terms
    counted = {(row.word, attribute): counts for row in view.terms for attribute, counts in row.counts.items()}
    assert counted == {
        (term.word, term.attribute): (term.tf, term.df)
        for term in label.rows(label.terms)
        if term.word in {row.word for row in view.terms}
    }


def test_each_sub_cluster_is_told_and_leads_to_its_pages(demo: ReloadingCollection) -> None:
    tree = demo.collection.trees["clusters"]
    for one in demo.label.clusters:
        view = asyncio.run(cluster_view(demo, one.number))
        assert (view.name, view.documents) == (one.name, one.num_docs)
        assert [page.url for page in view.pages] == list(one.urls)
        assert [node.node for node in view.nodes] == list(one.nodes)
        assert sum(len(tree.pages_of(node.node)) for node in view.nodes) == one.num_docs
    with pytest.raises(ServiceError, match="there are"):
        asyncio.run(cluster_view(demo, len(demo.label.clusters) + 1))


def test_pages_tell_what_the_json_tells(client: TestClient[Any]) -> None:
    for path in ("/cluster", "/cluster/1", "/cluster/3"):
        view = client.get(f"{path}.json").json()
        found = client.get(path, headers=HTML)
        page = Parsed(found.content)
        assert harm(found.content) == []
        assert len(found.content) <= 100_000
        assert view["attributes"] == [one for one in TERM_ATTRIBUTES if one in view["attributes"]]
        for row in view["terms"]:
            assert ("bdi", row["word"]) in page.texts
            for tf, df in row["counts"].values():
                assert f"{tf:,} in {df:,}" in page.text
        for one in view["pages"]:
            assert one["title"] in page.text
        for one in view["clusters"]:
            assert f"/cluster/{one['node']}" in page.links
        for link in page.links:
            if link.startswith("/label"):
                assert client.get(link).status_code == 200
        assert sum(link.startswith("/label") for link in page.links) == 2


@pytest.mark.parametrize("path", ["/cluster/999", "/cluster/x", "/cluster/-1", "/cluster/1.5", "/cluster/" + "1" * 400])
def test_a_sub_cluster_that_does_not_exist_is_told(client: TestClient[Any], path: str) -> None:
    found = client.get(path, headers=HTML)
    assert found.status_code == 404
    assert harm(found.content) == []


def test_added_terms_are_told_and_do_no_harm(demo_collection: Path, tmp_path: Path) -> None:
    path = tmp_path / "added.kin"
    shutil.copytree(demo_collection, path)
    evil = EVIL.replace(" ", "")
    label_collection(path, [AddedTerm("text", "literature", "operator"), AddedTerm("title", evil, "thesaurus")])
    leaf = ReloadingCollection("added", path)
    assert set(label_view(leaf).added) == {("text", "literature", "operator"), ("title", evil, "thesaurus")}
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(app) as client:
        found = client.get("/cluster", headers=HTML)
    assert harm(found.content) == []
    page = Parsed(found.content)
    assert "literature" in page.text and evil in page.text and "by the operator" in page.text


def test_a_router_tells_its_label(network: str) -> None:
    whole = request(f"{network}cluster.json").json
    summary = request(f"{network}summary").json
    assert whole["documents"] == summary["documents"]
    assert len(whole["clusters"]) == len(summary["clusters"])
    number = summary["clusters"][0]["number"]
    view = request(f"{network}cluster/{number}.json").json
    assert [page["url"] for page in view["pages"]] == summary["clusters"][0]["urls"]
    for path in ("cluster", f"cluster/{number}"):
        found = request(f"{network}{path}", headers=HTML)
        assert found.status == 200
        assert harm(found.body) == []
        at = urlsplit(network).path
        assert all(link.startswith((at, "#")) for link in Parsed(found.body).links)


def test_about_tells_how_candidates_are_put_in_order(client: TestClient[Any]) -> None:
    assert client.get("/about.json").json()["signals"] == sum(1 for weight in Signals().weights() if weight) > 1
    assert "7 signals" in client.get("/about", headers=HTML).text


def test_about_and_info_agree_on_what_is_on_disk(client: TestClient[Any], demo_collection: Path) -> None:
    files = [file for file in demo_collection.rglob("*") if file.is_file() and file.name != "manifest.json"]
    told = client.get("/about.json").json()
    assert list(told["parts"]) == ["streams", "text", "index", "search", "clusters"]
    assert all(told["parts"].values())
    assert told["bytes"] == sum(told["parts"].values()) == sum(file.stat().st_size for file in files)
    load_verbs()
    said = json.loads(CliRunner().invoke(app, ["info", str(demo_collection), "--json"]).stdout)["bytes"]
    assert [said[name] for name in ("all", "streams", "plain_text", "index", "search", "trees")] == [
        told["bytes"], *told["parts"].values(),
    ]  # fmt: skip
    line = next(
        line
        for line in CliRunner().invoke(app, ["info", str(demo_collection)]).stdout.splitlines()
        if "on disk" in line
    )
    for name, size in told["parts"].items():
        assert f"{name} {human_bytes(size)}" in line
    assert human_bytes(told["bytes"]) in line


def test_about_a_router_tells_of_its_children(network: str) -> None:
    view = request(f"{network}about.json").json
    health = request(f"{network}health").json
    assert {child["name"] for child in view["children"]} == {"nature", "culture"}
    assert view["pages"] == health["documents"]
    assert view["label_bytes"] == health["label_bytes"] > 0
    found = request(f"{network}about", headers=HTML)
    assert harm(found.body) == []
    page = Parsed(found.body)
    for child in view["children"]:
        assert child["url"] in page.links
        assert child["name"] in page.text
