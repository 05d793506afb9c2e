"""Stages of a build, run shard by shard by an engine that shuffles, repeats and fails, give the bytes of the whole."""

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import Strategy, build, choose_strategy, count_frequencies, judge_links, make_vocabulary
from pagekin.bags.links import citing_pages
from pagekin.bags.raw import Raw
from pagekin.hypertext import Corpus, Cut, ReadPlan, read_sources
from pagekin.store import KinWriter, Workspace, no_progress, open_kin
from tests.bags.test_order import WORDS, all_records, make_web
from tests.bags.webs import make, moved, read_records, record
from tests.cutting import cut_corpus

from .sharded_bags import MadeShards, ShardedJob
from .shuffling import ShufflingEngine

NO_NUMBERS = np.zeros(0, np.int64)


def random_cuts(corpus: Corpus, count: int, rng: random.Random) -> list[Cut]:
    """Cut a corpus anywhere between two addresses, also where no page begins."""
    bounds = [0, *sorted(rng.choices(range(len(corpus.urls) + 1), k=count - 1)), len(corpus.urls)]
    pages = np.searchsorted(corpus.pages.url, bounds).tolist()
    return [Cut(*pages[place : place + 2], *bounds[place : place + 2]) for place in range(count)]


def write_shards(corpus: Corpus, cuts: list[Cut], folder: Path) -> list[Path]:
    """Write the corpora of shards, each without anything that links of others would tell it but its addresses."""
    paths = []
    for number, cut in enumerate(cuts):
        paths.append(folder / f"shard-{number}.kin")
        with KinWriter(paths[-1], "test") as writer:
            facts, _numbers = cut_corpus(corpus, cut, writer, NO_NUMBERS, NO_NUMBERS)
            writer.commit(facts)
    return paths


def merge_whole(corpus: Corpus, strategy: Strategy, folder: Path) -> Raw:
    """Return the merged bags of a collection in one piece."""
    words = make_vocabulary(corpus, strategy)
    uses = judge_links(corpus, strategy).uses
    kept, _words = build.keep(corpus, strategy, words, uses, folder, no_progress, 1)
    return build.merge(corpus, strategy, words, kept, citing_pages(corpus), Workspace(folder), no_progress, 1)


def assert_same(mine: Any, expected: Any, what: str) -> None:
    assert np.asarray(mine).tobytes() == np.asarray(expected).tobytes(), what


def assert_equals_the_whole(corpus: Corpus, strategy: Strategy, made: MadeShards, folder: Path) -> None:
    """Compare what the stages made with the bags of the whole, document by document."""
    whole, raw = make(corpus, strategy), merge_whole(corpus, strategy, folder)
    assert made.identity == whole.facts["epoch"]["identity"]
    for mine, expected in zip(made.frequencies, count_frequencies(corpus, raw), strict=True):
        assert mine.tolist() == expected.tolist()
    document = entry = 0
    links = {"in": 0, "out": 0}
    kin = whole.kin
    for path, part in zip(made.folders, made.raw, strict=True):
        shard = open_kin(path)
        documents = slice(document, document + len(part.urls))
        entries = slice(entry, entry + len(part.terms))
        document, entry = documents.stop, entries.stop
        assert_same(part.hashes[part.terms], raw.hashes[raw.terms[entries]], "terms of merged bags")
        assert_same(np.diff(part.offsets), np.diff(raw.offsets[documents.start : documents.stop + 1]), "sizes of bags")
        for name in ("sums", "origins", "counts"):
            assert_same(getattr(part, name), getattr(raw, name)[entries], name)
        assert part.inlinks.tolist() == raw.inlinks[documents].tolist()
        terms, expected = shard["bag.terms"], kin["bag.terms"][entries]
        for name in ("hash", "df", "pages"):
            assert_same(shard[f"bagterm.{name}"][terms], kin[f"bagterm.{name}"][expected], name)
        for name in ("weights", "from", "counts"):
            assert_same(shard[f"bag.{name}"], kin[f"bag.{name}"][entries], name)
        assert shard["bag.inlinks"].tolist() == kin["bag.inlinks"][documents].tolist()
        for way, ends in (("in", "into"), ("out", "out")):
            rows = slice(links[way], links[way] + len(shard[f"link.{ends}"]))
            links[way] = rows.stop
            assert_same(shard[f"link.{ends}"], kin[f"link.{ends}"][rows], ends)
            sizes = np.diff(kin[f"link.{way}_offsets"][documents.start : documents.stop + 1].astype(np.int64))
            assert np.diff(shard[f"link.{way}_offsets"].astype(np.int64)).tolist() == sizes.tolist()
            assert_same(shard[f"link.{way}_weight"], kin[f"link.{way}_weight"][documents], f"{way}_weight")
        assert_same(shard["link.lists"], kin["link.lists"][documents], "lists")
        assert_same(shard["epoch.factor"], kin["epoch.factor"], "factors")
        assert shard.facts["index"]["epoch"]["identity"] == made.identity
    assert document == len(whole.bags)
    assert links == {"in": len(kin["link.into"]), "out": len(kin["link.out"])}


def run(corpus: Corpus, strategy: Strategy, shards: int, seed: int) -> ShufflingEngine:
    """Run all stages over a divided corpus, and compare."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cuts = random_cuts(corpus, shards, random.Random(seed))
        engine = ShufflingEngine(seed, folder)
        bounds = [corpus.urls[cut.first_url] if cut.first_url < len(corpus.urls) else b"\xff" for cut in cuts[1:]]
        made = ShardedJob(engine, write_shards(corpus, cuts, folder), bounds, strategy).make()
        assert_equals_the_whole(corpus, strategy, made, folder)
        return engine


SETTINGS = (
    "",
    "links.scale=1 anchors.repeat=every weight.distance=log",
    "content.lead=3 window.kind=syntactic weight.distance=log links.scale=0.3 outlinks.scale=0.7 anchors.scale=0.1",
    "anchors.within_site=off content.furniture=1 links.scale=1 weight.frequency=log",
    "anchors.scale=0 links.scale=1 anchors.listing=1",
)


@pytest.fixture(scope="module")
def demo(demo_read: Path) -> Corpus:
    return Corpus.open(demo_read)


@pytest.mark.parametrize(("seed", "shards"), [(0, 1), (1, 3), (2, 5)])
def test_the_demo_web_in_shards(demo: Corpus, seed: int, shards: int) -> None:
    engine = run(demo, Strategy(), shards, seed)
    assert engine.repeats
    assert engine.failures


@pytest.mark.parametrize("seed", range(10))
def test_small_webs_in_shards_by_many_strategies(seed: int) -> None:
    rng = random.Random(seed)
    corpus = read_records(all_records(make_web(seed)), all_captures=rng.random() < 0.5)
    run(corpus, choose_strategy(settings=SETTINGS[seed % len(SETTINGS)].split()), rng.randint(1, 5), seed)


def index_web(seed: int) -> list[bytes]:
    """Return one host with furniture, an index in sheets, a list of all pages, and a sidebar that looks like an index."""
    rng = random.Random(seed)
    names = sorted({"".join(rng.choices("abcdefgh", k=3)) + rng.choice(WORDS) for _ in range(70)})
    bar = "".join(f"<a href=/{name}>{name}</a> <a href=/{name}>{name} more</a> " for name in names[:30])
    pages = {}
    for place, name in enumerate(names):
        onwards = f"<a href=/>home</a> <a href=/{names[(place + 1) % len(names)]}>next</a>"
        text = " ".join(rng.choices(WORDS, k=rng.randint(5, 40)))
        other = (
            f"<a href=/{rng.choice(names)}>{rng.choice(WORDS)}</a> <a href=http://b.example/{place % 3}>{text[:9]}</a>"
        )
        pages[name] = f"<title>{name}</title>{onwards} {text} {other} {text} {bar if place % 9 == 4 else text}"
    for letter in "abcdefgh":
        targets = rng.sample(names, 25)
        entries = sorted((f"{letter}{name} {word}", name) for name in targets for word in WORDS[: rng.randint(3, 6)])
        if letter in "bf":  # short sheets, which are known by the others
            entries = entries[:12]
        pages[f"genindex-{letter}"] = "".join(f"<a href=/{name}>{text}</a> " for text, name in entries)
    pages["all"] = "".join(f"<a href=/{name}>{rng.choice(WORDS)}</a> " for name in names)
    pages[""] = "quartz <a href=/all>all</a>"
    host = "http://a.example"
    return [record(f"{host}/{name}", html) for name, html in pages.items()]


@pytest.mark.parametrize("seed", range(4))
def test_an_index_in_sheets_that_lie_in_several_shards(seed: int) -> None:
    corpus = read_records(index_web(seed))
    judged = judge_links(corpus, Strategy())
    lists = {corpus.url(url).rpartition("/")[2] for url in judged.listing.tolist()}
    assert "all" in lists
    assert {f"genindex-{letter}" for letter in "abcdefgh"} <= lists
    assert len(lists) == 9
    assert len(judged.common)
    assert len(judged.navigation)
    run(corpus, Strategy(), 2 + seed % 4, seed)


addresses = some.sampled_from([f"http://{host}/{path}" for host in ("a.example", "b.a.example") for path in "abcdef"])
pieces = some.one_of(
    some.builds("<a href={}>{}</a> ".format, addresses, some.sampled_from(["granite", "mica", "", "next", "<p>slate"])),
    some.sampled_from(["granite ", "<p>", "mica slate ", "<h1>Gneiss</h1>", "<ul><li>", "the of ", "<nav>", "</nav>"]),
)
htmls = some.lists(pieces, max_size=12).map("".join)


@settings(derandomize=True, database=None, deadline=None, max_examples=10)
@given(
    some.dictionaries(addresses, htmls, min_size=1),
    some.lists(some.tuples(addresses, addresses), max_size=3),
    some.sampled_from(SETTINGS),
    some.integers(1, 5),
    some.integers(0, 10**6),
)
def test_any_web_in_shards(
    pages: dict[str, str], redirects: list[tuple[str, str]], together: str, shards: int, seed: int
) -> None:
    records = [record(url, html) for url, html in pages.items()]
    corpus = read_records([*records, *(moved(*pair) for pair in redirects)])
    run(corpus, choose_strategy(settings=together.split()), shards, seed)


@pytest.fixture(scope="module")
def webkb(universities: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    plan = ReadPlan([str(universities)], tmp_path_factory.mktemp("webkb") / "webkb.kin")
    read_sources(plan)
    yield Corpus.open(plan.out)


def test_webkb_in_shards(webkb: Corpus) -> None:
    run(webkb, Strategy(), 4, 7)
