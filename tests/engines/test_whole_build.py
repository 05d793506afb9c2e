"""A build with clusters, label and search: one commit, the same for any number of workers, and local when little changes."""

from pathlib import Path
from typing import Any

import pytest

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings, PageThesaurus, PageTopics, check_trees, read_trees
from pagekin.engines import BuildRecipe, build_collection, index_collection
from pagekin.hypertext import Corpus, ReadPlan, check_corpus
from pagekin.labels import check_stored_label, read_label
from pagekin.similarity import check_index
from pagekin.store import check_files, open_kin
from pagekin.text import TextIndex, check_text, parse_query
from tests.bags.webs import record
from tests.demo_web import demo_pages
from tests.labels.asking import label_may_hold

PAGES = {page.url: page.html for page in demo_pages()[::3]}


def build(folder: Path, pages: dict[str, Any], workers: int = 1) -> Path:
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in pages.items()))
    plan = ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=workers)
    build_collection(plan, BuildRecipe(Strategy(), ClusterSettings(max_clusters=8), text=True))
    return plan.out


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("whole"), PAGES)


def test_everything_is_there_and_whole(whole: Path) -> None:
    kin = open_kin(whole)
    corpus = Corpus(kin)
    checks = (check_corpus, check_index, check_trees, check_stored_label, check_text)
    assert [*check_files(whole), *(finding for check in checks for finding in check(kin))] == []
    assert {tree.name for tree in read_trees(kin)} >= {"clusters", "addresses"}
    label = read_label(kin)
    assert label is not None
    assert label.num_docs == len(corpus) == len(PAGES)
    found = TextIndex.open(corpus).search(parse_query("glacier"), 5)
    assert found.total > 3


def test_workers_change_nothing(whole: Path, tmp_path: Path) -> None:
    other = build(tmp_path, PAGES, 2)
    one, two = open_kin(whole), open_kin(other)
    assert one.manifest["files"] == two.manifest["files"]
    assert one.facts["label"] == two.facts["label"]


def test_a_build_again_with_hardly_a_change_keeps_most_etags(whole: Path, tmp_path: Path) -> None:
    again = build(tmp_path, PAGES)
    before = open_kin(again).facts["label"]["etags"]
    assert before == open_kin(whole).facts["label"]["etags"]
    url = next(iter(PAGES))
    # The same page with a word of it twice.
    changed = PAGES[url].replace(b"</body>", b"<p>water</body>")
    assert changed != PAGES[url]
    build(tmp_path, {**PAGES, url: changed})
    assert open_kin(again).facts["label"]["etags"] == before
    build(tmp_path, {**PAGES, url: PAGES[url].replace(b"</body>", b"<p>xylography</body>")})
    after = open_kin(again).facts["label"]["etags"]
    assert after["routing"] != before["routing"]
    assert after["refinement"] == before["refinement"]
    label = read_label(open_kin(again))
    assert label is not None
    assert label_may_hold(label, "xylography")


def test_indexing_again_keeps_clusters_label_and_search(tmp_path: Path) -> None:
    kin = build(tmp_path, PAGES)
    before = open_kin(kin)
    index_collection(kin, Strategy().with_settings({"signature.m": 32}), text=True)
    after = open_kin(kin)
    assert after.facts["label"] == before.facts["label"]
    assert {
        name: entry for name, entry in after.manifest["files"].items() if name.startswith(("form.", "posting."))
    } == {name: entry for name, entry in before.manifest["files"].items() if name.startswith(("form.", "posting."))}
    assert [tree.name for tree in read_trees(after)] == [tree.name for tree in read_trees(before)]


def test_indexing_makes_a_collection_searchable_if_it_is_not(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(b"".join(record(url, html) for url, html in list(PAGES.items())[:20]))
    plan = ReadPlan([str(tmp_path / "web.warc")], tmp_path / "web.kin", parser="strict", workers=1)
    build_collection(plan, BuildRecipe(Strategy()))
    assert "text" not in open_kin(plan.out).facts
    index_collection(plan.out, Strategy(), text=True)
    kin = open_kin(plan.out)
    assert list(check_text(kin)) == []
    assert TextIndex.open(Corpus(kin)).count(parse_query("the")) > 3


def test_suggestions_are_kept_and_the_same_as_made_anew(whole: Path) -> None:
    corpus = Corpus.open(whole)
    kept, made = PageTopics.read(corpus.kin), PageTopics.of(corpus, 2, phrases=True)
    assert kept is not None
    assert kept.terms.tolist() == made.terms.tolist()
    assert list(kept.words) == list(made.words)
    one, two = PageThesaurus(kept), PageThesaurus(made)
    assert one.suggest([one.find("volcanoes")]) == two.suggest([two.find("volcanoes")])
    assert one.suggest([one.find("volcanoes")]).pages > 3
