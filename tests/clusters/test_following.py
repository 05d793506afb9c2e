"""Clusters of a collection that is updated: few new pages join the nearest ones, and everything else stays in its place."""

from collections import Counter
from pathlib import Path

import pytest

from pagekin.clusters import ClusterSettings, Tree, check_trees, load_directory, read_trees
from pagekin.engines import cluster_collection, compact_collection
from pagekin.hypertext import Corpus, host_of
from pagekin.labels import check_stored_label
from pagekin.store import check_files, open_kin
from tests.bags.webs import record
from tests.demo_web import demo_pages
from tests.engines.living import archive, build, files_of, not_found, update

HOSTS = ("birds.example", "elements.example", "composers.example")
WORLD = [page for page in demo_pages() if host_of(page.url) in HOSTS]
NEW = WORLD[5::20]
"""A twentieth of the pages, of all hosts."""
OLD = [page for page in WORLD if page not in NEW]


def records(pages: list, date: str = "2020-01-01T00:00:00Z") -> list[bytes]:
    return [record(page.url, page.html, date) for page in pages]


@pytest.fixture
def kin(tmp_path: Path) -> Path:
    build([archive(tmp_path, "old.warc", records(OLD))], tmp_path / "web.kin", whole=True)
    return tmp_path / "web.kin"


def clusters(path: Path) -> tuple[Tree, Corpus]:
    return read_trees(open_kin(path))[0], Corpus.open(path)


def homes(path: Path) -> dict[str, int]:
    """The node of each page's address."""
    tree, corpus = clusters(path)
    return {corpus.page_url(page): tree.homes(page)[0] for page in range(len(corpus))}


def test_few_new_pages_join_clusters_of_their_kin_and_others_stay(kin: Path, tmp_path: Path) -> None:
    before, tree_before = homes(kin), clusters(kin)[0]
    notes: list[str] = []
    update(kin, archive(tmp_path, "new.warc", records(NEW)), note=notes.append)
    assert notes == [f"{len(NEW)} pages join the clusters nearest to them; pagekin compact makes clusters anew"]
    after, (tree, corpus) = homes(kin), clusters(kin)
    assert {url: node for url, node in after.items() if url in before} == before
    assert [one.name for one in tree.descriptions] == [one.name for one in tree_before.descriptions]
    assert tree.facts["moved"] == len(NEW)
    right = 0
    for page in NEW:
        here = [url for url, node in before.items() if node == after[page.url]]
        right += Counter(map(host_of, here)).most_common(1)[0][0] == host_of(page.url)
    assert right >= 0.8 * len(NEW) > 3
    for one in (one for tree in read_trees(open_kin(kin)) for one in tree.descriptions):
        assert all(0 <= page < len(corpus) for page in one.central)
    assert [*check_files(kin), *check_trees(open_kin(kin)), *check_stored_label(open_kin(kin))] == []


def test_compact_makes_clusters_anew_as_a_build_does(kin: Path, tmp_path: Path) -> None:
    more = archive(tmp_path, "new.warc", records(NEW))
    update(kin, more)
    compact_collection(kin)
    fresh = tmp_path / "fresh" / "web.kin"
    build([str(tmp_path / "old.warc"), more], fresh, whole=True)
    assert "moved" not in clusters(kin)[0].facts
    assert files_of(kin) == files_of(fresh)


def test_pages_that_move_add_up_until_clusters_are_made_anew(kin: Path, tmp_path: Path) -> None:
    later = "2021-01-01T00:00:00Z"
    few = len(OLD) // 25
    changed = [record(page.url, page.html + b"<p>changed", later) for page in OLD[:few]]
    update(kin, archive(tmp_path, "changed.warc", changed))
    assert clusters(kin)[0].facts["moved"] == few
    gone = [not_found(page.url, later) for page in OLD[few : 2 * few]]
    update(kin, archive(tmp_path, "gone.warc", gone))
    assert clusters(kin)[0].facts["moved"] == 2 * few
    assert len(clusters(kin)[1]) == len(OLD) - few
    notes: list[str] = []
    update(kin, archive(tmp_path, "new.warc", records(NEW)), note=notes.append)
    assert notes == [
        f"clusters are made anew: {2 * few + len(NEW)} pages have come, changed or gone since they were made"
    ]
    assert "moved" not in clusters(kin)[0].facts


def test_a_cluster_that_loses_all_its_pages_and_a_removal_make_all_anew(kin: Path, tmp_path: Path) -> None:
    tree, corpus = clusters(kin)
    smallest = min(
        (node for node in range(len(tree)) if len(tree.pages_of(node))), key=lambda node: len(tree.pages_of(node))
    )
    urls = [corpus.page_url(page) for page in tree.pages_of(smallest).tolist()]
    assert len(urls) <= 0.1 * len(OLD)
    notes: list[str] = []
    gone = archive(tmp_path, "gone.warc", [not_found(url, "2021-01-01T00:00:00Z") for url in urls])
    update(kin, gone, note=notes.append)
    assert notes == ["clusters are made anew: one of them has lost all its pages"]
    update(kin, remove=[OLD[0].url])
    assert "moved" not in clusters(kin)[0].facts, "names might come from a removed page"


def test_a_directory_beside_the_clusters_stays(kin: Path, tmp_path: Path) -> None:
    cluster_collection(
        kin,
        ClusterSettings(max_clusters=4),
        load_directory(Corpus.open(kin), "url-path", 3, "lenient", "primary", False),
    )
    before = next(tree for tree in read_trees(open_kin(kin)) if tree.name == "directory")
    update(kin, archive(tmp_path, "new.warc", records(NEW[:2])))
    after = next(tree for tree in read_trees(open_kin(kin)) if tree.name == "directory")
    corpus = clusters(kin)[1]
    assert len(after) == len(before) and len(after.pages) == len(before.pages)
    assert {corpus.page_url(page) for page in after.pages.tolist()} <= {page.url for page in OLD}
