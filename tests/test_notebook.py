"""The notebook of the documents runs from its first cell to the last, and its tables and graphs agree with each other."""

import csv
import runpy
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import pagekin
from pagekin.collection import MissingPackageError, require_package, surt_key, write_gephi, write_graph
from pagekin.index import PageIndex

NOTEBOOK = Path(__file__).parent.parent / "docs/notebook.py"


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the notebook leaves behind."""
    folder = tmp_path_factory.mktemp("notebook")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield {**runpy.run_path(str(NOTEBOOK)), "folder": folder}


@pytest.fixture(scope="module")
def kin(names: dict[str, Any]) -> Any:
    with pagekin.open(names["folder"] / "demo.kin") as opened:
        yield opened


def test_the_notebook_answers_its_questions(names: dict[str, Any]) -> None:
    assert names["answer"].results
    assert len(names["elsewhere"]) == 10
    assert not names["elsewhere"]["url"].str.contains("elements.example").any()
    assert len(names["pages"]) == len(set(names["pages"]["url"]))
    assert set(names["differences"]["first"]) | set(names["differences"]["second"]) == {
        "words alone",
        "with anchor text",
    }


def test_an_answer_shows_itself_as_a_table_in_which_nothing_is_markup_of_pages(kin: PageIndex) -> None:
    answer = kin.search("volcano", limit=3)
    shown = answer._repr_html_()
    assert shown.count("<tr>") == 4
    assert f'<a href="{answer.results[0].url}"' in shown
    frame = answer.to_pandas()
    assert list(frame["url"]) == [hit.url for hit in answer] == answer.to_arrow()["url"].to_pylist()
    assert kin.search("nosuchwordanywhere").to_arrow().num_rows == 0


def test_links_are_the_same_as_rows_as_a_matrix_and_as_a_graph(kin: PageIndex, tmp_path: Path) -> None:
    links = kin.links()
    pairs: dict[tuple[str, str], int] = {}
    for link in links:
        pairs[link.source, link.target] = pairs.get((link.source, link.target), 0) + 1
    matrix, urls = links.to_scipy().tocoo(), links.urls
    assert {
        (urls[row], urls[column]): count for row, column, count in zip(*matrix.coords, matrix.data, strict=True)
    } == pairs
    assert len(links) == sum(pairs.values()) == links.to_arrow().num_rows
    graph = links.to_networkx()
    assert {(source, target): data["weight"] for source, target, data in graph.edges(data=True)} == pairs
    for name, read in (("links.graphml", networkx.read_graphml), ("links.gexf", networkx.read_gexf)):
        write_graph(links, tmp_path / name)
        again = read(tmp_path / name)
        urls_of = {node: data["url"] for node, data in again.nodes(data=True)}
        assert {(urls_of[a], urls_of[b]): data["weight"] for a, b, data in again.edges(data=True)} == pairs
        assert {data["url"] for _node, data in again.nodes(data=True) if data["captured"]} == set(kin.pages())
    write_gephi(links, tmp_path / "gephi")
    with (tmp_path / "gephi/nodes.csv").open() as file:
        topics = {row["Url"]: row["Topic"] for row in csv.DictReader(file) if row["Captured"] == "true"}
    assert topics == {row["url"]: row["cluster"] for row in kin.pages().rows()}
    assert len(set(topics.values())) > 1
    assert topics == {url: data["topic"] for url, data in graph.nodes(data=True) if data["captured"]}
    with (tmp_path / "gephi/edges.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sum(int(row["Weight"]) for row in rows) == len(links)


def test_neighbours_are_what_related_answers(kin: PageIndex) -> None:
    neighbours = kin.neighbours(limit=4)
    url = "http://elements.example/carbon.html"
    mine = [pair for pair in neighbours if pair.url == url]
    asked = kin.related(url, limit=4)
    assert [pair.related for pair in mine] == [hit.url for hit in asked]
    assert np.allclose([pair.similarity for pair in mine], [hit.similarity for hit in asked], atol=1e-6)
    row = neighbours.to_scipy()[[list(kin.urls).index(url)]]
    assert row.sum() == pytest.approx(sum(pair.similarity for pair in mine))


def test_clusters_hold_the_pages_of_their_children(kin: PageIndex) -> None:
    clusters = kin.clusters()
    every = {cluster.cluster: cluster for cluster in clusters}
    assert every[0].pages == len(clusters.urls(0)) == len(kin)
    for cluster in every.values():
        if cluster.parent >= 0:
            assert set(clusters.urls(cluster.cluster)) <= set(clusters.urls(cluster.parent))
            assert cluster.level == every[cluster.parent].level + 1


def test_earlier_names_of_options_still_work_and_unknown_ones_do_not(kin: PageIndex) -> None:
    url = "http://elements.example/carbon.html"
    with pytest.warns(DeprecationWarning) as warned:
        before = kin.related(url, k=5, sites="other", captured_only=True, fold=False)
    assert [str(one.message).partition("=")[0] for one in warned] == [
        "related(sites",
        "related(captured_only",
        "related(fold",
    ]
    now = kin.related(url, limit=5, other_sites=True, captured=True, unfold=True)
    assert [hit.url for hit in before] == [hit.url for hit in now]
    with pytest.raises(TypeError, match="depth"):
        kin.related(url, depth=3)


def test_what_an_optional_package_is_needed_for_is_said() -> None:
    with pytest.raises(MissingPackageError, match=r"to_nothing needs no_such_package: pip install no_such_package"):
        require_package("no_such_package", "to_nothing")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.Example.com/Robots.txt", "com,example)/robots.txt"),
        ("http://docs.example.co.uk:8080/a/b/?z=1&a=2", "uk,co,example,docs:8080)/a/b?a=2&z=1"),
        ("http://www2.example.org/", "org,example)/"),
        ("http://192.168.0.1/x", "192.168.0.1)/x"),
        ("http://wwworld.example/", "example,wwworld)/"),
        ("http://www.cs.example.edu./x", "edu,example,cs)/x"),
    ],
)
def test_addresses_are_sorted_as_archives_do(url: str, key: str) -> None:
    assert surt_key(url) == key
