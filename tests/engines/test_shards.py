"""Shards: a collection divided by ranges of addresses, each a plain collection with the figures of the whole."""

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.bags import Bags, Strategy
from pagekin.clusters import DOCUMENTS_TREE, ClusterSettings, read_trees
from pagekin.engines import (
    BuildRecipe,
    ShardError,
    build_collection,
    build_shards,
    check_shards,
    local_shards,
    needs,
)
from pagekin.hypertext import Corpus, ReadPlan, check_corpus, shard_folders
from pagekin.labels import check_stored_label, read_label
from pagekin.similarity import check_index
from pagekin.store import SHARDS, Kin, KinError, MemoryBudget, RaggedBytes, open_kin
from pagekin.text import check_text
from tests.clusters.conference import BASE_URL, write_site
from tests.cutting import shard_collection

SHARD_COUNT = 5


@pytest.fixture(scope="module")
def shards(demo_kin: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Kin]:
    """The demo web in five shards."""
    out = tmp_path_factory.mktemp("shards") / "demo.kin"
    shard_collection(demo_kin, SHARD_COUNT, out)
    assert list(check_shards(open_kin(out))) == []
    return [open_kin(folder) for folder in shard_folders(open_kin(out))]


def words_of_page(corpus: Corpus, page: int) -> list[str]:
    return [corpus.word(term) for term in corpus.words(page).tolist()]


def test_each_shard_is_a_whole_collection(shards: list[Kin]) -> None:
    for shard in shards:
        for check in (check_corpus, check_index, check_stored_label, check_text):
            assert list(check(shard)) == []


def test_pages_and_documents_of_the_shards_are_those_of_the_whole_in_order(demo_kin: Path, shards: list[Kin]) -> None:
    whole, parts = Corpus.open(demo_kin), [Corpus(shard) for shard in shards]
    addresses = [part.page_url(page) for part in parts for page in range(len(part))]
    assert addresses == [whole.page_url(page) for page in range(len(whole))]
    documents = [part.url(int(url)) for part in parts for url in Bags(part.kin).urls]
    assert documents == [whole.url(int(url)) for url in Bags(whole.kin).urls]
    sizes = [len(part) for part in parts]
    assert [shard.facts["shard"]["first_page"] for shard in shards] == [0, *np.cumsum(sizes)[:-1].tolist()]
    assert max(sizes) < 2 * len(whole) / SHARD_COUNT


def test_a_page_reads_the_same_in_its_shard(demo_kin: Path, shards: list[Kin]) -> None:
    whole, page = Corpus.open(demo_kin), 0
    for part in map(Corpus, shards):
        for own in range(0, len(part), 7):
            assert words_of_page(part, own) == words_of_page(whole, page + own)
            assert part.text_bytes(own)[0] == whole.text_bytes(page + own)[0]
            assert part.titles.text(own) == whole.titles.text(page + own)
            assert part.language(own) == whole.language(page + own)
            targets = [part.url(int(part.anchors.target[anchor])) for anchor in part.anchors_out(own)]
            assert targets == [whole.url(int(whole.anchors.target[a])) for a in whole.anchors_out(page + own)]
        page += len(part)


def test_links_to_an_address_are_those_of_all_shards(demo_kin: Path, shards: list[Kin]) -> None:
    whole, parts = Corpus.open(demo_kin), [Corpus(shard) for shard in shards]
    for url in range(0, len(whole.urls), 11):
        address = whole.url(url)
        known = [(part, part.urls.find(address.encode())) for part in parts]
        assert sum(len(part.anchors_in(own)) for part, own in known if own >= 0) == len(whole.anchors_in(url))


def test_aliases_lead_home_in_the_shards_that_know_them(demo_kin: Path, shards: list[Kin]) -> None:
    whole, parts = Corpus.open(demo_kin), [Corpus(shard) for shard in shards]
    for name, home in zip(*(urls.tolist() for urls in whole.aliases()), strict=True):
        leads = {part.url(number) for part in parts if (number := part.url_number(whole.url(name))) >= 0}
        assert leads == {whole.url(home)}


def test_bags_have_the_terms_weights_and_frequencies_of_the_whole(demo_kin: Path, shards: list[Kin]) -> None:
    corpus, bags = Corpus.open(demo_kin), Bags(open_kin(demo_kin))
    document = 0
    for shard in shards:
        own, part = Bags(shard), Corpus(shard)
        for one in range(0, len(own), 13):
            terms, weights = own.bag(one)
            all_terms, all_weights = bags.bag(document + one)
            assert np.array_equal(own.hashes[terms], bags.hashes[all_terms])
            assert np.array_equal(weights, all_weights)
            assert np.array_equal(own.df(terms), bags.df(all_terms))
            shown = [own.term_text(part, int(term)) for term in terms]
            assert shown == [bags.term_text(corpus, int(term)) for term in all_terms]
        document += len(own)


def test_links_between_documents_have_the_numbers_of_the_whole(demo_kin: Path, shards: list[Kin]) -> None:
    whole = open_kin(demo_kin)
    for ends, offsets in (("out", "out_offsets"), ("into", "in_offsets")):
        assert np.array_equal(np.concatenate([shard[f"link.{ends}"] for shard in shards]), whole[f"link.{ends}"])
        sizes = [np.diff(shard[f"link.{offsets}"].astype(np.int64)) for shard in shards]
        assert np.array_equal(np.concatenate(sizes), np.diff(whole[f"link.{offsets}"].astype(np.int64)))


def test_links_of_other_shards_call_pages_by_their_words(demo_kin: Path, shards: list[Kin]) -> None:
    def called(kin: Kin, first: int) -> set[tuple[str, int, int]]:
        offsets = np.asarray(kin["posting.called_offsets"], np.int64)
        forms = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)).tolist()
        pages = (np.asarray(kin["posting.called_page"], np.int64) + first).tolist()
        names = RaggedBytes.of(kin, "form")
        return {
            (names.text(form), page, int(s)) for form, page, s in zip(forms, pages, kin["posting.called"], strict=True)
        }

    every = set().union(*(called(shard, shard.facts["shard"]["first_page"]) for shard in shards))
    assert every == called(open_kin(demo_kin), 0)


def test_no_composite_document_is_cut(tmp_path: Path) -> None:
    write_site(tmp_path / "site")
    plan = ReadPlan([str(tmp_path / "site")], tmp_path / "site.kin", base_url=BASE_URL, workers=1)
    build_collection(plan, BuildRecipe(Strategy(), ClusterSettings()))
    tree = next(tree for tree in read_trees(open_kin(plan.out)) if tree.name == DOCUMENTS_TREE)
    assert len(tree.children[0]) > SHARD_COUNT
    shard_collection(plan.out, SHARD_COUNT, tmp_path / "shards.kin")
    firsts = [one["first_page"] for one in open_kin(tmp_path / "shards.kin").facts[SHARDS]]
    for node in tree.children[0]:
        pages = tree.pages_of(node)
        assert not any(pages[0] < first <= pages[-1] for first in firsts)


def test_trees_keep_their_names_and_divide_their_pages(demo_kin: Path, shards: list[Kin]) -> None:
    for number, tree in enumerate(read_trees(open_kin(demo_kin))):
        parts = [read_trees(shard)[number] for shard in shards]
        firsts = [shard.facts["shard"]["first_page"] for shard in shards]
        for node in range(len(tree)):
            assert all(part.descriptions[node].name == tree.descriptions[node].name for part in parts)
            pages = [part.pages_of(node) + first for part, first in zip(parts, firsts, strict=True)]
            assert np.array_equal(np.concatenate(pages), tree.pages_of(node))


def test_the_label_of_a_shard_names_only_topics_that_have_pages_there(shards: list[Kin]) -> None:
    for shard in shards:
        label = read_label(shard)
        assert label is not None
        assert label.clusters
        assert all(cluster.num_docs for cluster in label.clusters)


def arrays(kin: Kin) -> dict[str, Any]:
    return {folder.name: open_kin(folder).manifest["files"] for folder in shard_folders(kin)}


def test_building_in_shards_gives_the_bytes_of_cutting(demo_kin: Path, tmp_path: Path) -> None:
    plan = ReadPlan(["demo"], tmp_path / "built.kin", workers=1)
    build_shards(plan, 3, BuildRecipe(Strategy(), ClusterSettings(), text=True))
    shard_collection(demo_kin, 3, tmp_path / "cut.kin")
    built, cut = open_kin(plan.out), open_kin(tmp_path / "cut.kin")
    assert arrays(built) == arrays(cut)
    assert {key: value for key, value in built.facts.items() if key != "label"} == {
        key: value for key, value in cut.facts.items() if key != "label"
    }
    assert sorted(one.name for one in plan.out.iterdir()) == sorted(
        [".lock", "manifest.json", *(one["folder"] for one in built.facts[SHARDS])]
    )


def write_small_site(folder: Path) -> ReadPlan:
    """Write some pages that link to each other; return the plan that reads them."""
    site = folder / "site"
    site.mkdir()
    for number in range(24):
        links = "".join(f"<a href={(number + step) % 24}.html>tide {step}</a> " for step in (1, 5, 11))
        (site / f"{number}.html").write_text(f"<title>Tide {number}</title><p>Ebb {number * 7} and flood. {links}")
    return ReadPlan([str(site)], folder / "site.kin", workers=1)


class StoppedError(Exception):
    """What stops a build."""


@pytest.mark.parametrize("stage", ["keep", "finish", "saving"])
def test_a_build_in_shards_that_was_stopped_goes_on_without_merging_again(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write_small_site(tmp_path)

    def stop(current: str, share: float) -> None:
        if current == stage and (share > 0 or stage == "saving"):
            raise StoppedError

    with pytest.raises(StoppedError):
        build_shards(plan, 3, BuildRecipe(Strategy(), text=True), stop)
    assert not (plan.out / "manifest.json").exists()

    def never(*_arguments: object) -> None:
        raise AssertionError("parts are merged again")

    with monkeypatch.context() as patched:
        patched.setattr(local_shards, "merge_in_shards", never)
        build_shards(plan, 3, BuildRecipe(Strategy(), text=True))
    whole = tmp_path / "whole.kin"
    build_collection(ReadPlan(plan.sources, whole, workers=1), BuildRecipe(Strategy(), text=True))
    shard_collection(whole, 3, tmp_path / "cut.kin")
    assert arrays(open_kin(plan.out)) == arrays(open_kin(tmp_path / "cut.kin"))
    assert not (plan.out / ".resume").exists()


def test_a_build_in_shards_never_merges_the_whole_and_keeps_to_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = write_small_site(tmp_path)
    build_shards(plan, 3, BuildRecipe(Strategy(), text=True))

    def never(*_arguments: object) -> None:
        raise AssertionError("the corpus is merged in one piece")

    monkeypatch.setattr(local_shards, "merge_sample", never)
    for constant in ("LEAST_MEMORY", "SHARDS_MORE", "MEMORY_SHARE"):
        monkeypatch.setattr(needs, constant, 0)
    little = ReadPlan(plan.sources, tmp_path / "little.kin", workers=1, memory=MemoryBudget(1 << 20))
    build_shards(little, 3, BuildRecipe(Strategy(), text=True))
    assert arrays(open_kin(little.out)) == arrays(open_kin(plan.out))


def test_a_collection_in_one_piece_takes_the_place_of_shards_and_leaves_nothing_of_them(tmp_path: Path) -> None:
    plan = ReadPlan(["demo"], tmp_path / "demo.kin", workers=1)
    build_shards(plan, 2, BuildRecipe(Strategy()))
    build_collection(plan, BuildRecipe(Strategy()))
    assert SHARDS not in open_kin(plan.out).facts
    assert not list(plan.out.glob("shard-*"))


def test_other_sources_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    page = tmp_path / "site" / "index.html"
    page.parent.mkdir()
    page.write_text("<title>Tides</title><p>The tide goes out.")
    out = tmp_path / "site.kin"
    build_collection(ReadPlan([str(page.parent)], out, workers=1), BuildRecipe(Strategy()))
    before = json.loads((out / "manifest.json").read_text())
    with pytest.raises(KinError, match="other sources"):
        build_shards(ReadPlan(["demo"], out, workers=1), 2, BuildRecipe(Strategy()))
    assert json.loads((out / "manifest.json").read_text()) == before


def test_more_shards_than_pages_are_refused(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for name in ("ebb", "flood"):
        (site / f"{name}.html").write_text(f"<title>{name}</title><p>The tide of {name} comes twice a day.")
    out = tmp_path / "site.kin"
    with pytest.raises(ShardError, match="2 pages cannot be divided into 3 shards; at most 2 are possible"):
        build_shards(ReadPlan([str(site)], out, workers=1), 3, BuildRecipe(Strategy()))
    assert not (out / "manifest.json").exists()


def test_shards_of_different_builds_are_noticed(demo_kin: Path, tmp_path: Path) -> None:
    shard_collection(demo_kin, 2, tmp_path / "two.kin")
    shard_collection(demo_kin, 3, tmp_path / "three.kin")
    two, three = (shard_folders(open_kin(tmp_path / f"{name}.kin")) for name in ("two", "three"))
    shutil.rmtree(two[1])
    shutil.copytree(three[2], two[1])
    findings = list(check_shards(open_kin(tmp_path / "two.kin")))
    assert any("another shard" in finding.what for finding in findings)
    assert any("pages, and the shards have" in finding.what for finding in findings)
    assert any(finding.where == "bagterm.df" for finding in findings)


def test_ranges_of_addresses_do_not_overlap(shards: list[Kin]) -> None:
    for before, after in pairwise(map(Corpus, shards)):
        assert before.page_url(len(before) - 1) < after.page_url(0)
