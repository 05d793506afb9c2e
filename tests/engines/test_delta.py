"""Deltas: after small updates a collection answers as if all of it had been made anew under the same epoch."""

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pagekin
import pagekin.errors
from pagekin.bags import Strategy, make_vocabulary
from pagekin.collection import Collection
from pagekin.engines import (
    BuildRecipe,
    UpdateReport,
    build_collection,
    check_delta,
    compact_collection,
    compare_first,
    first_related,
    measure_drift,
    sample_questions,
)
from pagekin.hypertext import Corpus, OptOuts, ReadPlan
from pagekin.similarity import RankingOptions, RelatedIndex, lists, related, signals
from pagekin.store import DELTA, KinError, RaggedBytes, check_files, open_kin
from pagekin.text import form_table
from tests.bags.webs import moved, record
from tests.demo_web import demo_pages
from tests.engines.frozen import remake_under_epoch
from tests.engines.living import archive, build, files_of, not_found, places_of, update
from tests.routers.webs import wait_for

WORLD = [page for page in demo_pages() if "dinosaurs" in page.url or "birds" in page.url][:60]
TINY = WORLD[::3]
FIRST = "2020-01-01T00:00:00Z"
QUESTIONS = ("birds", "what do dinosaurs eat", '"of the"', "changed day", "title:owl", "feathers OR teeth")


def random_records(chance: random.Random, day: int) -> list[bytes]:
    """Some new, changed and gone pages of a day, and now and then a redirect or a canonical address."""
    date = f"2020-01-{day:02}T00:00:00Z"
    records = []
    for page in chance.sample(TINY, chance.randint(1, 3)):
        other = chance.choice(TINY).url
        match chance.randrange(16):
            case 0 | 1 | 2:
                records.append(not_found(page.url, date))
            case 3:
                records.append(moved(page.url, other))
            case 4:
                claim = f"<link rel=canonical href={other}>".encode()
                records.append(record(page.url, page.html.replace(b"<head>", b"<head>" + claim), date))
            case 5 | 6 | 7 | 8:
                link = f"<p>changed on day {day} beside <a href={other}>what others say</a>".encode()
                records.append(record(page.url, page.html + link, date))
            case _:
                records.append(record(page.url, page.html, date))
    return records


UPDATES = 10


@pytest.mark.parametrize("seed", range(5))
def test_random_updates_answer_as_all_made_anew_under_one_epoch(seed: int, tmp_path: Path) -> None:
    """Ten updates each: pages come, change, go and are removed, and after each all answers are compared."""
    print(f"seed {seed}")
    chance, kin, whole = random.Random(seed), tmp_path / "living.kin", tmp_path / "whole" / "living.kin"
    first = archive(tmp_path, "0.warc", [record(page.url, page.html, FIRST) for page in TINY[::2]])
    build_to_search([first], kin)
    shutil.copytree(kin, whole)
    deltas, sources, out = 0, [first], set[str]()
    for day in range(2, 2 + UPDATES):
        source = archive(tmp_path, f"{day}.warc", random_records(chance, day))
        sources.append(source)
        removed = [chance.choice(TINY).url] if chance.random() < 0.3 else []
        notes: list[str] = []
        for path, way in ((kin, "delta"), (whole, "merge")):
            out.update(update(path, source, remove=removed, way=way, note=notes.append).opted_out)
        print(day, notes)
        if DELTA not in open_kin(kin).facts:
            continue
        deltas += 1
        oracle = remake_under_epoch(whole, open_kin(kin), tmp_path / f"oracle-{day}.kin")
        compare_related(kin, oracle)
        compare_when_little_is_read(kin, oracle)
        compare_searches(kin, whole)
    assert deltas >= UPDATES // 2, "most updates are deltas"
    compact_collection(kin)
    build_to_search(sources, tmp_path / "fresh" / "living.kin", opt_outs=OptOuts.of(out))
    assert files_of(kin) == files_of(tmp_path / "fresh" / "living.kin")


def build_to_search(sources: list[str], out: Path, **options: Any) -> None:
    """Build a collection that can be searched, without clusters: updates that make it anew may find other documents."""
    build_collection(ReadPlan(sources, out, parser="strict", keep=True, **options), BuildRecipe(Strategy(), text=True))


def compare_related(kin: Path, oracle: Path) -> None:
    """Ask both about all documents."""
    ours, theirs = RelatedIndex.open(kin), RelatedIndex.open(oracle)
    urls = [theirs.urls[document] for document in range(len(theirs))]
    assert {url for document, url in enumerate(ours.urls) if not hidden(ours, document)} == set(urls)
    for url in urls:
        found, expected = (
            sorted((-one.similarity, one.url) for one in index.related(url, k=10)) for index in (ours, theirs)
        )
        assert found == expected, url


def compare_when_little_is_read(kin: Path, oracle: Path) -> None:
    """Ask both about all documents, where few lists and links are read, so that most of them decide who is compared at all."""
    little = {
        (related, "DEPTH"): 4, (related, "LIST_ENTRIES"): 40, (lists, "_HIDDEN_MARGIN"): 100, (signals, "LINKED_CANDIDATES"): 2,
        (signals, "LINK_ENTRIES"): 6,
    }  # fmt: skip
    options, ours, theirs = RankingOptions(k=3, fold=False), RelatedIndex.open(kin), RelatedIndex.open(oracle)
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in little.items():
            patch.setattr(module, name, value)
        for url in theirs.urls:
            found, expected = (
                [(one.similarity, one.url) for one in index.answer(index.query_of([url]), options).results]
                for index in (ours, theirs)
            )
            assert found == expected, url


def hidden(index: RelatedIndex, document: int) -> bool:
    return bool(index.documents.are_hidden(np.array([document]))[0])


def compare_searches(kin: Path, whole: Path) -> None:
    with pagekin.open(kin) as ours, pagekin.open(whole) as theirs:
        for question in QUESTIONS:
            found, expected = (
                [(round(hit.score, 9), hit.url) for hit in index.search(question, limit=100)]
                for index in (ours, theirs)
            )
            assert found == expected, question


# -- what people see -----------------------------------------------------------------------------------------------------

SEA = "http://sea.example/"
WHALES, SEALS, SQUID = (f"{SEA}{name}" for name in ("whales", "seals", "squid"))


@pytest.fixture
def sea(tmp_path: Path) -> Path:
    """A collection with clusters, label and search."""
    pages = {
        WHALES: "<title>Whales</title><p>Whales eat <a href=krill>tiny krill</a> below the thick ice.",
        SEALS: "<title>Seals</title><p>Seals hunt fish below the ice and meet <a href=whales>singing whales</a>.",
        f"{SEA}krill": "<title>Krill</title><p>Tiny krill feed <a href=whales>whales</a> and seals below the ice.",
        f"{SEA}terns": "<title>Terns</title><p>Terns fly above the ice and look for <a href=krill>small krill</a>.",
    }
    source = archive(tmp_path, "sea.warc", [record(url, html, FIRST) for url, html in pages.items()])
    build([source], tmp_path / "sea.kin", whole=True)
    return tmp_path / "sea.kin"


def add_squid(sea: Path) -> UpdateReport:
    html = "<title>Squid</title><p>Giant squid flee from <a href=whales>hungry whales</a> below the ice."
    source = archive(sea.parent, "more.warc", [record(SQUID, html, "2021-01-01T00:00:00Z")])
    return update(sea, source, way="delta")


def test_a_new_page_is_in_every_answer_and_the_base_stays_as_it_is(sea: Path) -> None:
    before = files_of(sea)
    with pagekin.open(sea) as index:
        index.search("ice")
        report = add_squid(sea)
        assert report.delta is not None and report.build is None
        assert report.pages == (1, 0, 0)
        after = files_of(sea)
        assert {name for name in before if before[name] != after.get(name)} == {"manifest.json"}
        wait_for(
            lambda: SQUID in [hit.url for hit in index.search("giant squid")], 10
        )  # an open one moves over by itself
        assert SQUID in [hit.url for hit in index.related(WHALES)]
        assert WHALES in [hit.url for hit in index.related(SQUID)]
        assert index.page(SQUID)["captured"]
        assert {anchor["source"] for anchor in index.page(WHALES)["anchors_in"]} == {SEALS, f"{SEA}krill", SQUID}
        assert SQUID in [hit.url for hit in index.expand("squid")]
        assert index.select("squid").results
    findings = [*check_files(sea), *check_delta(open_kin(sea))]
    assert findings == []
    delta = Corpus(open_kin(sea / open_kin(sea).facts[DELTA]["folder"]))
    forms, words = form_table(delta), make_vocabulary(delta, Strategy())
    assert list(forms.table) == list(RaggedBytes.of(delta.kin, "form")), (
        "known words have the forms that they would get"
    )
    assert np.array_equal(forms.of_term, delta.kin["form.of_term"])
    assert set(delta.kin["bagterm.hash"][: delta.facts["index"]["bag_words"]].tolist()) <= set(words.hashes.tolist())


def test_what_is_removed_is_in_no_answer_and_its_bytes_go_with_compact(sea: Path) -> None:
    assert places_of(sea, "singing"), "the test would find it"
    update(sea, remove=[SEALS], way="delta")
    with pagekin.open(sea) as index:
        assert SEALS not in [hit.url for hit in index.search("ice")]
        assert not index.search("singing").results
        assert SEALS not in [hit.url for hit in index.related(WHALES)]
        assert SEALS not in [hit.url for hit in index.expand("fish OR ice")]
        assert SEALS not in [anchor["source"] for anchor in index.page(WHALES)["anchors_in"]]
        with pytest.raises(pagekin.errors.PagekinError) as wrong:
            index.page(SEALS)
        assert str(wrong.value).count(SEALS) == 1, "it is not offered either"
    compact_collection(sea)
    assert not places_of(sea, "singing")


def test_erase_leaves_nothing_of_what_is_removed_in_base_delta_and_parts(sea: Path, tmp_path: Path) -> None:
    added, html = f"{SEA}added", "<title>Quagga</title><p>A zyzzyva meets <a href=seals>seals</a> below the ice."
    update(sea, archive(tmp_path, "later.warc", [record(added, html, "2021-01-01T00:00:00Z")]), way="delta")
    old, new = ("singing", "hunt"), ("zyzzyva", "quagga")
    delta = str(open_kin(sea).facts[DELTA]["folder"])
    assert all({"words", "text", "part"} <= kinds_of(places_of(sea, word)) for word in old)
    assert all(f"text of page 0 of {delta}" in places_of(sea, word) for word in new), "the test would find it"
    report = update(sea, remove=[SEALS, added], way="delta")
    assert report.bytes_stay and report.way == "delta"
    assert all(places_of(sea, word) for word in (*old, *new)), "bytes stay until they are erased"
    report = update(sea, erase=True)
    assert report.build is not None and not report.bytes_stay
    assert "were to be erased" in report.reason
    assert report.build.read is not None and report.build.read.parts_rewritten == 2
    assert [place for word in (*old, *new) for place in places_of(sea, word)] == []
    assert update(sea, erase=True).way == "", "there is nothing to erase any more"


def kinds_of(places: list[str]) -> set[str]:
    return {where.split(" ")[0].split("-")[0] for where in places}


def test_erase_with_a_removal_erases_at_once(sea: Path) -> None:
    add_squid(sea)
    report = update(sea, remove=[SEALS], erase=True)
    assert report.build is not None and not report.bytes_stay
    assert not places_of(sea, "singing")


def test_words_of_removed_pages_are_not_in_clusters_that_a_later_update_leaves(tmp_path: Path) -> None:
    secret = "<title>Zyzzyva</title><h1>Zyzzyva</h1><p>" + "The zyzzyva is a weevil of the palms. " * 20
    pages = [record(page.url, page.html, FIRST) for page in WORLD]
    kin, away = tmp_path / "many.kin", f"{SEA}secret"
    build([archive(tmp_path, "many.warc", [*pages, record(away, secret, FIRST)])], kin, whole=True)
    assert any(where.startswith("label.") for where in places_of(kin, "zyzzyva"))
    update(kin, remove=[away], way="delta")
    extra = WORLD[0].html + b"<p>and more of them"
    update(kin, archive(tmp_path, "x.warc", [record(WORLD[0].url, extra, "2021-01-01T00:00:00Z")]), way="merge")
    assert places_of(kin, "zyzzyva") == []


def test_new_pages_join_clusters_of_the_base(sea: Path) -> None:
    add_squid(sea)
    collection = Collection("sea", sea, compiled=False)
    assert collection.delta is not None
    assert collection.delta.trees.keys() >= {"clusters"}
    page = collection.delta.corpus.pages_of(collection.delta.corpus.url_number(SQUID))[0]
    assert collection.delta.trees["clusters"].homes(page)


def test_verbs_that_need_one_piece_say_so(sea: Path) -> None:
    add_squid(sea)
    with pytest.raises(KinError, match="pagekin compact"):
        Corpus.open(sea)


def test_small_collections_are_made_anew_and_the_reason_is_told(sea: Path) -> None:
    source = archive(sea.parent, "more.warc", [record(SQUID, "<p>Squid", FIRST)])
    report = update(sea, source)
    assert report.way == "merge" and DELTA not in open_kin(sea).facts
    assert "fewer than 2,000 pages" in report.reason


def test_small_updates_of_large_collections_are_deltas_by_themselves(
    sea: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pagekin.engines.update.FEWEST_PAGES", 4)
    monkeypatch.setattr("pagekin.engines.update.LARGEST_SHARE", 1.0)
    html = "<title>Squid</title><p>Giant squid flee from <a href=whales>hungry whales</a> below the ice."
    with pagekin.open(sea) as index:
        report = index.update(archive(sea.parent, "more.warc", [record(SQUID, html, FIRST)]))
        assert report.way == "delta" and "50.0% of the collection's 4 pages" in report.reason
        assert SQUID in [hit.url for hit in index.search("giant squid")]
        assert index.update(remove=[WHALES], way="merge").reason.endswith("this was asked for")
    assert DELTA not in open_kin(sea).facts
    monkeypatch.setattr("pagekin.engines.update.LARGEST_SHARE", 0.2)
    report = update(sea, archive(sea.parent, "on.warc", [record(f"{SEA}eels", html, FIRST)]))
    assert report.way == "merge" and "are the most for a delta" in report.reason


def test_drift_is_the_difference_that_compact_would_make_and_nothing_is_stored(tmp_path: Path) -> None:
    kin = tmp_path / "living.kin"
    build([archive(tmp_path, "0.warc", [record(page.url, page.html, FIRST) for page in TINY[:14]])], kin)
    assert measure_drift(kin).overlap == 1, "there is no delta"
    more = [record(page.url, page.html + b"<p>feathers and teeth", "2021-01-01T00:00:00Z") for page in TINY[10:]]
    assert update(kin, archive(tmp_path, "1.warc", more), way="delta").delta
    state = {file: file.stat().st_mtime_ns for file in kin.rglob("*")}
    drift = measure_drift(kin, questions=12)
    assert {file: file.stat().st_mtime_ns for file in kin.rglob("*")} == state
    asked = sample_questions(kin, 12)
    before = first_related(kin, asked)
    compact_collection(kin)
    assert drift == compare_first(before, first_related(kin, asked))
    assert drift.questions == 12 and 0 < drift.overlap < 1


def test_hosts_of_which_so_many_pages_are_kept_are_chosen_from_anew(tmp_path: Path) -> None:
    kin = tmp_path / "few.kin"
    build([archive(tmp_path, "0.warc", [record(page.url, page.html, FIRST) for page in TINY[:8]])], kin, max_per_host=6)
    more = archive(tmp_path, "1.warc", [record(page.url, page.html, FIRST) for page in TINY[8:]])
    report = update(kin, more, way="delta")
    assert report.way == "merge" and "6 pages of each host" in report.reason


def test_a_delta_without_pages_hides_what_was_removed(tmp_path: Path) -> None:
    pages = {name: f"<title>{name}</title><p>All {name} swim below the thick ice." for name in ("eels", "cod", "tuna")}
    source = archive(tmp_path, "sea.warc", [record(f"{SEA}{name}", html, FIRST) for name, html in pages.items()])
    build_to_search([source], tmp_path / "sea.kin")
    update(tmp_path / "sea.kin", remove=[f"{SEA}eels"], way="delta")
    with pagekin.open(tmp_path / "sea.kin") as index:
        assert len(index) == 2
        assert [hit.url for hit in index.search("eels", ask=0)] == []
        assert [hit.url for hit in index.related(f"{SEA}cod")] == [f"{SEA}tuna"]
