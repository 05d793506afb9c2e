"""Collections that live: after any updates they are what a build of all sources makes, and nothing stays of what was removed."""

import os
import random
import shutil
import signal
from bisect import bisect_left
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from pagekin.bags import Strategy, choose_strategy
from pagekin.clusters import ClusterSettings, KeptNames, read_trees, write_names
from pagekin.engines import (
    BuildRecipe,
    build_collection,
    build_shards,
    cluster_collection,
    compact_collection,
    index_collection,
    label_collection,
)
from pagekin.hypertext import Corpus, OptOuts, ReadPlan, host_of, part, read_keeping
from pagekin.labels import AddedTerm, added_terms
from pagekin.similarity import RelatedError, RelatedIndex
from pagekin.sources import Limits
from pagekin.store import DELTA, KEPT, KinError, KinWriter, check_files, open_kin
from tests.bags.webs import moved, record
from tests.demo_web import demo_pages
from tests.engines.living import archive, build, files_of, not_found, page_urls, places_of, update
from tests.sources.making import warc
from tests.store.kins import count_changes, in_child, kill_at

SEA = "http://sea.example/"
WHALES, SEALS, KRILL = (f"{SEA}{name}" for name in ("whales", "seals", "krill"))
OLD, NEW = "2001-01-01T00:00:00Z", "2002-02-02T00:00:00Z"
PAGES = {
    WHALES: "<title>Whales</title><p>Whales eat <a href=krill>tiny krill</a> below the ice.",
    SEALS: "<title>Seals</title><p>Seals hunt fish below the ice and meet <a href=whales>singing whales</a>.",
    KRILL: "<title>Krill</title><p>Tiny krill feed <a href=whales>whales</a> and seals below the ice.",
}


@pytest.fixture
def sea(tmp_path: Path) -> Path:
    """A collection of three pages that keeps its parts, and their archive beside it."""
    build(
        [archive(tmp_path, "sea.warc", (record(url, html, OLD) for url, html in PAGES.items()))], tmp_path / "sea.kin"
    )
    return tmp_path / "sea.kin"


def more(folder: Path) -> str:
    """A second archive: a page changed, another is new, a third is gone."""
    return archive(
        folder,
        "more.warc",
        [
            record(WHALES, "<title>Whales</title><p>Whales sing of <a href=squid>giant squid</a> below the ice.", NEW),
            record(f"{SEA}squid", "<title>Squid</title><p>Giant squid flee from whales below the ice.", NEW),
            not_found(SEALS, NEW),
        ],
    )


# -- the same bytes ------------------------------------------------------------------------------------------------------


def test_an_update_gives_the_bytes_of_a_build_of_all_sources(sea: Path, tmp_path: Path) -> None:
    report = update(sea, more(tmp_path))
    assert (report.pages.added, report.pages.changed, report.pages.removed) == (1, 1, 1)
    assert page_urls(sea) == {WHALES, KRILL, f"{SEA}squid"}
    build([str(tmp_path / "more.warc"), str(tmp_path / "sea.warc")], tmp_path / "fresh.kin")
    assert files_of(sea) == files_of(tmp_path / "fresh.kin")
    assert open_kin(sea).facts["sources"] == ["more.warc", "sea.warc"]
    assert list(check_files(sea)) == []
    assert next(result.url for result in RelatedIndex.open(sea).related(WHALES)) == f"{SEA}squid"


def test_what_is_kept_leaves_no_trace_in_the_collection(sea: Path, tmp_path: Path) -> None:
    build([str(tmp_path / "sea.warc")], tmp_path / "bare.kin", keep=False)
    assert files_of(sea) == files_of(tmp_path / "bare.kin")
    assert not (tmp_path / "bare.kin" / KEPT).exists()
    assert list(check_files(sea)) == []


WORLD = [page for page in demo_pages() if "dinosaurs" in page.url or "birds" in page.url][:24]


def random_records(chance: random.Random, day: int) -> list[bytes]:
    """Some new, changed and gone pages and redirects of a day; sometimes older than those before."""
    date = f"2020-01-{chance.choice([day, day, max(1, day - 3)]):02}T00:00:00Z"
    records = []
    for page in chance.sample(WORLD, chance.randint(1, 6)):
        other = chance.choice(WORLD).url
        match chance.randrange(8):
            case 0:
                records.append(not_found(page.url, date))
            case 1:
                records.append(moved(page.url, other))
            case 2:
                claim = f"<link rel=canonical href={other}>".encode()
                records.append(record(page.url, page.html.replace(b"<head>", b"<head>" + claim), date))
            case 3 | 4:
                records.append(record(page.url, page.html + b"<p>changed on day %d" % day, date))
            case _:
                records.append(record(page.url, page.html, date))
    return records


@pytest.mark.parametrize("seed", range(5))
def test_ten_random_updates_and_compact_give_the_bytes_of_a_fresh_build(seed: int, tmp_path: Path) -> None:
    print(f"seed {seed}")
    chance, kin = random.Random(seed), tmp_path / "living.kin"
    sources = [
        archive(tmp_path, "0.warc", [record(page.url, page.html, "2020-01-01T00:00:00Z") for page in WORLD[::2]])
    ]
    out: set[str] = set()
    build(sources, kin)
    for day in range(2, 12):
        removed = []
        if chance.random() < 0.3:
            removed = [chance.choice(WORLD).url if chance.random() < 0.8 else "dinosaurs.example"]
        else:
            sources.append(archive(tmp_path, f"{day}.warc", random_records(chance, day)))
        report = update(kin, *([] if removed else sources[-1:]), remove=removed)
        out.update(report.opted_out)
    compact_collection(kin)
    assert read_keeping(kin).opt_outs == OptOuts.of(out)
    build(chance.sample(sources, len(sources)), tmp_path / "fresh.kin", opt_outs=OptOuts.of(out))
    assert files_of(kin) == files_of(tmp_path / "fresh.kin"), f"seed {seed}"
    assert list(check_files(kin)) == []


def test_real_archives_one_by_one_give_the_bytes_of_all_together(data: Path, tmp_path: Path) -> None:
    sources = sorted(str(file) for file in (data / "warc").glob("*.warc.gz"))
    kin = tmp_path / "real.kin"
    build(sources[:1], kin, parser="fast")
    for source in sources[1:]:
        update(kin, source)
    removed = [min(page_urls(kin)), "iana.org"]
    report = update(kin, remove=removed)
    assert report.pages.removed > 5
    build(sources[::-1], tmp_path / "fresh.kin", parser="fast", opt_outs=OptOuts.of(report.opted_out))
    assert files_of(kin) == files_of(tmp_path / "fresh.kin")
    assert not any(host_of(url).endswith("iana.org") for url in page_urls(kin))
    addresses = Corpus.open(kin).urls
    assert not any(host_of(url.decode()).endswith("iana.org") for url in addresses), "nor links to them"


def test_compact_gives_clusters_search_and_label_of_a_build_with_the_same_strategy_settings_and_names(
    tmp_path: Path,
) -> None:
    first = archive(tmp_path, "first.warc", (record(page.url, page.html, OLD) for page in WORLD[:16]))
    second = archive(tmp_path, "second.warc", (record(page.url, page.html, OLD) for page in WORLD[16:]))
    kin, fresh = tmp_path / "living.kin", tmp_path / "fresh" / "living.kin"  # the label has the name
    build([first], kin, whole=True)
    strategy, clusters = choose_strategy(settings=["signature.m=32", "window.size=10"]), ClusterSettings(max_clusters=3)
    index_collection(kin, strategy)
    text = write_names(read_trees(open_kin(kin))[0], Corpus.open(kin))
    (tmp_path / "names.toml").write_text(text.replace('name = "', 'name = "My ', 1))
    names = KeptNames.load(tmp_path / "names.toml")
    cluster_collection(kin, clusters, names=names)
    update(kin, second)
    compact_collection(kin)
    assert list(check_files(kin)) == []
    plan = ReadPlan([second, first], fresh, parser="strict")
    build_collection(plan, BuildRecipe(strategy, clusters=clusters, text=True, names=names))
    assert open_kin(fresh).facts["trees"][0]["names"] == names.digest
    assert files_of(kin) == files_of(fresh)
    term = AddedTerm("text", "ornithology", "operator")
    label_collection(kin, [term])
    compact_collection(kin)
    assert added_terms(open_kin(kin).facts) == (term,)


def test_new_pages_are_read_as_the_others_were(tmp_path: Path) -> None:
    settings = {"content": ("main",), "exclude": ("*/private*",), "limits": Limits(tokens=40), "all_captures": True}
    pages = [
        (f"{SEA}{name}", f"<title>{name}</title><p>menu</p><main><p>{'All fish swim. ' * 30}{name}</main>")
        for name in ("cod", "eel", "private", "tuna")
    ]
    records = [record(url, html, date) for date in (OLD, NEW) for url, html in pages]
    first, second = archive(tmp_path, "first.warc", records[:3]), archive(tmp_path, "second.warc", records[3:])
    build([first], tmp_path / "fish.kin", **settings)
    update(tmp_path / "fish.kin", second)
    build([second, first], tmp_path / "fresh.kin", **settings)
    assert files_of(tmp_path / "fish.kin") == files_of(tmp_path / "fresh.kin")
    facts = open_kin(tmp_path / "fish.kin").facts
    assert (facts["pages"], facts["skipped"]["excluded"], facts["cut"]["tokens"]) == (6, 2, 6)
    assert "menu" not in Corpus.open(tmp_path / "fish.kin").terms.data.tobytes().decode()


def test_a_folder_of_shards_is_updated_like_one_collection(tmp_path: Path) -> None:
    first = archive(tmp_path, "sea.warc", (record(url, html, OLD) for url, html in PAGES.items()))
    kin, fresh = tmp_path / "shards.kin", tmp_path / "fresh" / "shards.kin"
    plan = ReadPlan([first], kin, parser="strict", keep=True, opt_outs=OptOuts.of([KRILL]))
    build_shards(plan, 2, BuildRecipe(Strategy()))
    report = update(kin, more(tmp_path))
    assert (report.pages.added, report.pages.changed, report.pages.removed) == (1, 1, 1)
    assert list(check_files(kin)) == []
    assert len(read_keeping(kin).parts) == 2
    build_shards(replace(plan, sources=[str(tmp_path / "more.warc"), first], out=fresh), 2, BuildRecipe(Strategy()))
    shards = sorted(shard.name for shard in kin.glob("shard-*.kin"))
    assert len(shards) == 2
    assert files_of(kin) == files_of(fresh)
    assert all(files_of(kin / shard) == files_of(fresh / shard) for shard in shards)
    assert [place for shard in shards for place in places_of(kin / shard, KRILL)] == []
    build_shards(replace(plan, keep=False, opt_outs=OptOuts(), replace=True), 2, BuildRecipe(Strategy()))
    assert [place for shard in kin.glob("shard-*.kin") for place in places_of(shard, KRILL)] == []


# -- sources -------------------------------------------------------------------------------------------------------------


def test_an_archive_that_was_read_before_is_left_out_and_nothing_changes(sea: Path, tmp_path: Path) -> None:
    before = files_of(sea)
    notes: list[str] = []
    shutil.copy(tmp_path / "sea.warc", tmp_path / "copy.warc")
    report = update(sea, str(tmp_path / "copy.warc"), note=notes.append)
    assert report.build is None
    assert report.read_before == ["copy.warc"]
    assert notes == ["copy.warc was read before, and is left out"]
    assert files_of(sea) == before


def test_a_folder_takes_the_place_of_what_was_read_of_it_before(tmp_path: Path) -> None:
    site, kin = tmp_path / "site", tmp_path / "site.kin"
    site.mkdir()
    for name in ("birds", "fish"):
        (site / f"{name}.html").write_text(f"<title>{name}</title><p>All about {name} and what they eat.")
    other = archive(tmp_path, "sea.warc", (record(url, html, OLD) for url, html in PAGES.items()))
    build([str(site), other], kin, base_url="http://site.example/")
    (site / "birds.html").unlink()
    (site / "frogs.html").write_text("<title>frogs</title><p>All about frogs and what they eat.")
    report = update(kin, str(site), base_url="http://site.example/")
    assert (report.pages.added, report.pages.changed, report.pages.removed) == (1, 0, 1)
    assert page_urls(kin) == {*PAGES, "http://site.example/fish.html", "http://site.example/frogs.html"}
    assert places_of(kin, "birds") == []


def test_a_folder_whose_address_is_not_given_is_read_as_before(tmp_path: Path) -> None:
    for place in ("a/site", "b/site"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "birds.html").write_text(f"<title>birds</title><p>Birds of {place} and what they eat.")
    first, second = str(tmp_path / "a/site"), str(tmp_path / "b/site")
    build([first], tmp_path / "site.kin", base_url="http://site.example/")
    (tmp_path / "a/site/birds.html").write_text("<title>birds</title><p>Birds are gone, frogs have come.")
    notes: list[str] = []
    assert update(tmp_path / "site.kin", first, note=notes.append).pages == (0, 1, 0)
    assert notes[0] == f"{first} is read as http://site.example/, as before"
    update(tmp_path / "site.kin", second, base_url="http://other.example/")
    with pytest.raises(
        KinError, match=r"several folders called site: http://other.*Say which one: --base-url .*site=URL"
    ):
        update(tmp_path / "site.kin", second)
    assert page_urls(tmp_path / "site.kin") == {f"http://{name}.example/birds.html" for name in ("site", "other")}


def test_an_update_reads_the_same_region_of_pages_as_the_build(tmp_path: Path) -> None:
    pages = [record(f"http://a.test/{n}", f"<nav>menuword</nav><main>lava crater own{n}</main>") for n in range(2)]
    build([archive(tmp_path, "a.warc", pages[:1])], tmp_path / "a.kin", content=("main",))
    update(tmp_path / "a.kin", archive(tmp_path, "b.warc", pages[1:]))
    corpus = Corpus.open(tmp_path / "a.kin")
    assert corpus.term_number("own1") >= 0 and corpus.term_number("menuword") == -1


def test_pages_that_were_not_seen_for_long_expire_and_come_back_when_they_are_seen(sea: Path, tmp_path: Path) -> None:
    later = "2003-03-03T00:00:00Z"
    seen = [record(WHALES, PAGES[WHALES], later), warc(KRILL, b"", "revisit", date=later)]
    update(sea, archive(tmp_path, "again.warc", seen))
    report = update(sea, expire_before=1_000_000_000)  # in September 2001
    assert report.pages.removed == 1
    assert page_urls(sea) == {WHALES, KRILL}
    assert open_kin(sea).facts["skipped"]["expired"] == 1
    assert not update(sea, expire_before=1_000_000_000).way, "nothing is left to expire"
    back = archive(tmp_path, "back.warc", [record(SEALS, PAGES[SEALS], later)])
    assert update(sea, back, way="delta", expire_before=1_000_000_000).way == "delta", "an age alone makes nothing anew"
    compact_collection(sea)
    assert page_urls(sea) == set(PAGES)


# -- what is left out ----------------------------------------------------------------------------------------------------


SECRET = f"{SEA}secret"


@pytest.fixture
def secretive(tmp_path: Path) -> Path:
    """A collection with a page that is to go: linked to, known by another name, captured twice, first with other words."""
    records = [
        record(SECRET, "<title>Zyzzyva</title><p>An older zyzzyva with quokkas. <a href=quagga>quagga</a>", OLD),
        record(SECRET, "<title>Zyzzyva</title><p>The zyzzyva below the ice. <a href=okapi>okapi</a>", NEW),
        moved(f"{SEA}alias", SECRET),
        record(f"{SEA}twin", f"<title>Twin</title><link rel=canonical href={SECRET}><p>A zyzzyva again.", NEW),
        record(f"{SEA}list", "<title>List</title><p>See <a href=secret>this page</a> below the ice.", NEW),
    ]
    sea = (record(url, html, OLD) for url, html in PAGES.items())
    build([archive(tmp_path, "all.warc", [*records, *sea])], tmp_path / "all.kin", whole=True)
    return tmp_path / "all.kin"


@pytest.mark.parametrize("removed", [SECRET, f"{SEA}alias"])
def test_nothing_of_a_removed_page_is_left_anywhere(secretive: Path, removed: str) -> None:
    unique = ("zyzzyva", "quokkas", "quagga", "okapi")
    before = {word: places_of(secretive, word) for word in unique}
    for word in ("zyzzyva", "okapi"):  # in a text, in a word stream, among the terms, and in a part
        assert {where.split(" ")[0].split("-")[0] for where in before[word]} >= {"text", "words", "term.bytes", "part"}
    assert before["quokkas"] and before["quagga"]  # an older capture is in a part alone
    assert places_of(secretive, SECRET)
    report = update(secretive, remove=[removed])
    assert report.opted_out == [f"{SEA}alias", SECRET, f"{SEA}twin"]
    assert [place for word in unique for place in places_of(secretive, word)] == []
    [kept_list] = (secretive / KEPT).glob("*.json")
    assert places_of(secretive, SECRET) == [f"{KEPT}/{kept_list.name}"]
    assert open_kin(secretive).facts["skipped"]["opted out"] == 4
    assert page_urls(secretive) == {*PAGES, f"{SEA}list"}
    with pytest.raises(RelatedError, match="is not in"):
        RelatedIndex.open(secretive).related(SECRET)
    assert list(check_files(secretive)) == []


def test_a_label_that_hardly_differs_is_no_reason_to_keep_words_of_a_removed_page(tmp_path: Path) -> None:
    pages = [record(page.url, page.html, OLD) for page in demo_pages()[::4]]
    secret = "<title>Zyzzyva</title><h1>Zyzzyva</h1><p>" + "The zyzzyva is a weevil of the palms. " * 20
    kin = tmp_path / "many.kin"
    source = archive(tmp_path, "many.warc", [*pages, record(SECRET, secret, OLD)])
    for remove in (
        lambda: update(kin, remove=[SECRET]),
        lambda: build([source], kin, whole=True, opt_outs=OptOuts.of([SECRET])),
    ):
        shutil.rmtree(kin, ignore_errors=True)
        build([source], kin, whole=True)
        assert any(where.startswith("label.") for where in places_of(kin, "zyzzyva"))
        remove()
        assert places_of(kin, "zyzzyva") == []


def test_what_is_opted_out_stays_out_of_later_updates_builds_and_compacts(sea: Path, tmp_path: Path) -> None:
    update(sea, remove=["http://sea.example:80/whales"])
    again = archive(
        tmp_path, "again.warc", [record(WHALES, PAGES[WHALES] + "<p>new", NEW), record(f"{SEA}x", "<p>x y z", NEW)]
    )
    update(sea, again)
    assert page_urls(sea) == {SEALS, KRILL, f"{SEA}x"}
    compact_collection(sea)
    assert page_urls(sea) == {SEALS, KRILL, f"{SEA}x"}
    build([str(tmp_path / "sea.warc"), again], sea, keep=False)
    assert page_urls(sea) == {SEALS, KRILL, f"{SEA}x"}
    assert read_keeping(sea).opt_outs == OptOuts.of([WHALES])
    assert not read_keeping(sea).updatable
    build([str(tmp_path / "sea.warc"), again], sea, keep=True)
    assert WHALES not in page_urls(sea)


def test_it_does_not_matter_in_which_order_pages_that_link_to_each_other_are_removed(tmp_path: Path) -> None:
    pages = [record(url, html, OLD) for url, html in PAGES.items()]
    source = archive(tmp_path, "sea.warc", [*pages, moved(f"{SEA}old", f"{SEA}nowhere")])
    for number, removals in enumerate(
        [[[WHALES, SEALS, f"{SEA}old", f"{SEA}nowhere"]], [[WHALES], [f"{SEA}nowhere"], [f"{SEA}old"], [SEALS]]]
    ):
        kin = tmp_path / str(number) / "sea.kin"
        build([source], kin)
        for removed in removals:
            update(kin, remove=removed)
    assert files_of(tmp_path / "0" / "sea.kin") == files_of(tmp_path / "1" / "sea.kin")
    assert open_kin(tmp_path / "0" / "sea.kin").facts["skipped"]["opted out"] == 3


def test_a_site_goes_with_its_subdomains_and_no_other(tmp_path: Path) -> None:
    hosts = ("a.example", "www.a.example", "a.example:8080", "nota.example", "a.example.org")
    pages = [record(f"http://{host}/", f"<title>{host}</title><p>Home of fish and whales.") for host in hosts]
    kin = tmp_path / "hosts.kin"
    build([archive(tmp_path, "hosts.warc", pages)], kin)
    update(kin, remove=["A.example."])
    assert page_urls(kin) == {"http://nota.example/", "http://a.example.org/"}


# -- what cannot be updated ----------------------------------------------------------------------------------------------


def test_a_collection_without_parts_says_how_to_renew_it(tmp_path: Path) -> None:
    kin = tmp_path / "bare.kin"
    build([archive(tmp_path, "sea.warc", (record(url, html, OLD) for url, html in PAGES.items()))], kin, keep=False)
    for change in (lambda: update(kin, more(tmp_path)), lambda: compact_collection(kin)):
        with pytest.raises(KinError, match=r"pagekin build SOURCE\.\.\. --out .*bare\.kin --updatable"):
            change()
    with pytest.raises(KinError, match="does not exist"):
        update(tmp_path / "none.kin", more(tmp_path))
    assert not (tmp_path / "none.kin").exists()


def test_damage_to_a_part_is_found_and_nothing_is_made_of_it(sea: Path, tmp_path: Path) -> None:
    [part] = (sea / KEPT).glob("part-*")
    data = bytearray((part / "blobs").read_bytes())
    data[7] ^= 1
    (part / "blobs").write_bytes(data)
    assert [finding.where for finding in check_files(sea)] == [f"{KEPT}/{part.name}/blobs"]
    before = files_of(sea)
    with pytest.raises(KinError, match=r"blobs has changed.*--updatable"):
        update(sea, more(tmp_path))
    assert files_of(sea) == before
    [listed] = (sea / KEPT).glob("*.json")
    listed.write_text(listed.read_text().replace("sea.warc", "see.warc"))
    with pytest.raises(KinError, match="pagekin check"):
        update(sea, more(tmp_path))
    with KinWriter(sea, "the next writer"):
        pass
    assert part.exists(), "a damaged list is no reason to remove parts"


def test_a_renewed_index_goes_on_keeping_the_parts(sea: Path, tmp_path: Path) -> None:
    index_collection(sea, Strategy().with_settings({"signature.m": 16}))
    assert read_keeping(sea).updatable
    assert list(check_files(sea)) == []
    update(sea, more(tmp_path))
    assert open_kin(sea).facts["index"]["strategy"]["signature"]["m"] == 16


EVERY = 5
"""Steps before and after the one that makes the change which are all tried."""

# -- all or nothing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["update", "remove", "compact", "delta", "compact a delta"])
def test_kill_9_at_any_file_operation_leaves_the_old_state_or_the_new(sea: Path, tmp_path: Path, verb: str) -> None:
    archived = more(tmp_path)
    changes = {
        "update": lambda: update(sea, archived),
        "remove": lambda: update(sea, remove=[WHALES]),
        "compact": lambda: compact_collection(sea),
        "delta": lambda: update(sea, archived, remove=[SEALS], way="delta"),
        "compact a delta": lambda: compact_collection(sea),
    }
    if verb.startswith("compact"):
        update(sea, archived, way="delta" if verb.endswith("delta") else "merge")
    assert (DELTA in open_kin(sea).facts) == (verb == "compact a delta")
    shutil.copytree(sea, tmp_path / "before.kin")
    old = files_of(sea), state_of(sea)
    operations = count_changes(changes[verb])
    new = files_of(sea), state_of(sea)
    assert (DELTA in open_kin(sea).facts) == (verb == "delta")

    @cache
    def is_new_after(step: int) -> bool:
        """Kill the change at a step; return whether it had come by then."""
        shutil.rmtree(sea)
        shutil.copytree(tmp_path / "before.kin", sea)

        def killed() -> None:
            kill_at(step)
            changes[verb]()

        assert in_child(killed) == -signal.SIGKILL
        assert [finding for finding in check_files(sea) if not finding.leftover] == [], f"step {step}"
        with KinWriter(sea, "the next writer"):
            pass
        found = files_of(sea), state_of(sea)
        assert found in (old, new), f"step {step}"
        assert [one.where for one in check_files(sea)] in ([], [".resume"]), f"step {step}"
        return found == new

    # Killed early the old one stands, killed late the new one, and the change comes once: every step around it is tried.
    switch = bisect_left(range(operations), True, key=is_new_after)
    around = range(max(0, switch - EVERY), min(operations, switch + EVERY))
    for step in sorted({*range(0, operations, 71), *around}):
        assert is_new_after(step) == (step >= switch), f"step {step}"
    assert operations > 100
    assert verb.startswith("compact") or 50 < switch < operations - 10


def test_an_update_that_was_killed_after_reading_goes_on_from_there(sea: Path, tmp_path: Path) -> None:
    archived = more(tmp_path)

    def kill(stage: str, _share: float) -> None:
        if stage == "words":
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(lambda: update(sea, archived, progress=kill)) == -signal.SIGKILL
    assert page_urls(sea) == set(PAGES)
    notes: list[str] = []
    report = update(sea, archived, note=notes.append)
    assert notes == ["continuing: 1 of 1 pieces were already read"]
    assert (report.pages.added, report.pages.changed, report.pages.removed) == (1, 1, 1)
    assert list(check_files(sea)) == []


def test_parts_of_another_form_are_not_merged(sea: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part, "PART_FORM", "another")
    with pytest.raises(KinError, match=r"parts from another version.*--updatable"):
        update(sea, more(tmp_path))


def state_of(path: Path) -> tuple[set[str], list[str]]:
    """What a collection keeps: parts by their bytes, and what is opted out."""
    kept = read_keeping(path)
    assert all((part / "blobs").exists() for part in kept.parts)
    return {part.name for part in kept.parts}, kept.opt_outs.as_list()
