"""The label of a collection with a delta counts what is there now, and its filters know every word."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import pagekin
from pagekin.bags import bag_forms, preset_strategy
from pagekin.clusters import TERM_ATTRIBUTES, TERM_PRESET, count_terms, read_trees, term_words
from pagekin.collection import Answer, Collection, ReloadingCollection, SearchRequest
from pagekin.hypertext import open_corpora
from pagekin.labels import FilterBank, label_from_json, label_to_json, term_key
from pagekin.routers import Router
from pagekin.store import KinError, check_files
from tests.bags.webs import record
from tests.command import pagekin as pagekin_command
from tests.demo_web import demo_pages
from tests.engines.living import archive, build, not_found, update
from tests.routers.webs import eager

WORLD = [page for page in demo_pages() if "dinosaurs" in page.url or "birds" in page.url][:40]
FIRST, LATER = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
GONE, REMOVED, CHANGED = WORLD[0].url, WORLD[7].url, WORLD[12]
NEW = "http://birds.example/zyzzyva.html"
Key = tuple[str, str]


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with a delta: pages came, changed, went, and were removed."""
    folder = tmp_path_factory.mktemp("living")
    old = [page for page in WORLD if page.url != NEW]
    build(
        [archive(folder, "old.warc", [record(page.url, page.html, FIRST) for page in old])],
        folder / "x.kin",
        whole=True,
    )
    records = [
        not_found(GONE, LATER),
        record(CHANGED.url, CHANGED.html + b"<p>A quokka is a marsupial.", LATER),
        record(NEW, f"<title>Zyzzyva</title><p>The zyzzyva flies beside <a href={WORLD[3].url}>birds</a>.", LATER),
    ]
    report = update(folder / "x.kin", archive(folder, "new.warc", records), remove=[REMOVED], way="delta")
    assert report.way == "delta"
    return folder / "x.kin"


def counted(path: Path, nodes: tuple[int, ...] | None) -> tuple[Counter[Key], Counter[Key]]:
    """How often terms stand on the pages of some clusters that are there now, and on how many: by counting all of them."""
    tf: Counter[Key] = Counter()
    df: Counter[Key] = Counter()
    for corpus in open_corpora(path):
        tree = next(tree for tree in read_trees(corpus.kin) if tree.name == "clusters")
        pages = set(range(len(corpus)))
        if nodes is not None:
            pages = {int(page) for node in nodes for page in tree.pages_of(node)}
        words = term_words(corpus)
        rows = count_terms(corpus, words)
        for page in sorted(pages):
            if corpus.hidden is not None and corpus.hidden[page]:
                continue
            here = slice(rows.offsets[page], rows.offsets[page + 1])
            for term, times in zip(rows.terms[here].tolist(), rows.weights[here].tolist(), strict=True):
                word, attribute = divmod(term, len(TERM_ATTRIBUTES))
                [stem] = bag_forms([corpus.word(int(words.shown[word]))], preset_strategy(TERM_PRESET))
                tf[stem, TERM_ATTRIBUTES[attribute]] += times
                df[stem, TERM_ATTRIBUTES[attribute]] += 1
    return tf, df


def test_counts_are_those_of_all_pages_that_are_there_now(living: Path) -> None:
    label = Collection("x", living).label
    assert label.num_docs == len(WORLD) - 2 + 1
    assert sum(one.num_docs for one in label.clusters) == label.num_docs
    base = [corpus for corpus in open_corpora(living) if corpus.hidden is not None]
    assert len(base) == 1
    listed = 0
    for part, nodes in [(label, None), *((one, one.nodes) for one in label.clusters)]:
        tf, df = counted(living, nodes)
        for term in label.rows(part.terms):
            [stem] = bag_forms([term.word], preset_strategy(TERM_PRESET))
            key = stem, term.attribute
            # A term of the delta alone is counted there; the base's label may have left it out for its weight.
            assert 0 < term.df <= df[key] and term.tf <= tf[key], key
            listed += (term.tf, term.df) == (tf[key], df[key])
    assert listed > 0.95 * sum(len(part.terms.df) for part in (label, *label.clusters))
    words = {word for part in (label, *label.clusters) for word in (*part.heaviest, *label.words)}
    assert "zyzzyva" in words
    urls = {url for one in label.clusters for url in one.urls}
    assert not urls & {GONE, REMOVED}
    assert label_from_json(label_to_json(label)) == label
    assert list(check_files(living)) == []


def test_filters_hold_every_word_of_base_and_delta(living: Path) -> None:
    label = Collection("x", living).label
    keys = np.array([term_key("zyzzyva"), term_key("quokka"), term_key("zyzzyva", "title")], np.uint64)
    assert FilterBank(label.filters).may_hold(keys).any(axis=0).all()
    holding = [one for one in label.clusters if FilterBank(one.filters).may_hold(keys[:1]).any()]
    assert holding


def test_a_router_does_not_pass_over_a_collection_for_a_word_of_its_delta(living: Path) -> None:
    leaf = ReloadingCollection("x", living)
    router = Router("root", {"x": "http://x.example/"}, eager(), near={"x": leaf})

    async def ask(query: str) -> Answer:
        await router.knowledge.refresh()
        return await router.search(SearchRequest(query=query, match="all", deadline=60))

    assert [hit.url for hit in asyncio.run(ask("zyzzyva flies"))] == [NEW]
    assert not asyncio.run(ask("okapi")).results


def test_summary_refine_and_length_go_over_base_and_delta(living: Path) -> None:
    with pagekin.open(living) as index:
        assert len(index) == index.label().num_docs == index.summary().documents == len(WORLD) - 1
        assert index.refine("zyzzyva").known == 1
        assert index.refine("birds").known > 3
        shown = {url for one in index.summary().clusters for url in one.urls}
        assert not shown & {GONE, REMOVED}


def test_clusters_and_pages_have_those_of_base_and_delta(living: Path) -> None:
    with pagekin.open(living) as index:
        table = index.clusters()
        assert table[0].pages == len(index.pages()) == len(WORLD) - 1
        everywhere = set(table.urls(0))
        assert NEW in everywhere and not everywhere & {GONE, REMOVED}
        assert set(index.pages()) == everywhere
        [row] = [row for row in index.pages().rows() if row["url"] == WORLD[3].url]
        assert row["inlinks"] == index.page(WORLD[3].url)["anchors_in_total"]
        addresses = index.clusters("addresses")
        assert set(addresses.urls(0)) == everywhere
        with pytest.raises(KinError, match="pagekin compact"):
            index.links()


def test_the_command_line_shows_clusters_and_label_of_base_and_delta(living: Path) -> None:
    shown = json.loads(pagekin_command("clusters", living, NEW, "--json").stdout)
    assert shown["pages"] > 1 and shown["path"]
    done = pagekin_command("clusters", living, REMOVED)
    assert done.returncode != 0 and "is not in" in done.stderr
    label = json.loads(pagekin_command("label", living, "--format", "json").stdout)
    assert label["num_docs"] == len(WORLD) - 1
    done = pagekin_command("label", living, "--max-terms", "3")
    assert done.returncode == 2 and "with a delta" in " ".join(done.stderr.split())
