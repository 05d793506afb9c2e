"""The corpora of shards that are made directly from parts are those that are cut from the whole, to the byte."""

import random
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe, build_shards
from pagekin.hypertext import (
    ChosenPages,
    Corpus,
    Cut,
    ReadPlan,
    ShardCorpora,
    close_ranges,
    divide_part,
    find_starts,
    measure_chosen,
    merge_in_shards,
    read_part,
    settle_bounds,
    shard_folders,
    share_work,
    sum_sizes,
    widen_corpus,
    write_part,
)
from pagekin.hypertext.lexer import Lexer
from pagekin.hypertext.merge import merge_parts
from pagekin.hypertext.part import PartBuilder
from pagekin.sources import (
    NO_PLACE,
    Gone,
    Item,
    Limits,
    Page,
    RecordPlace,
    Redirect,
    Revisit,
    Skip,
    demo_pages,
    plan_units,
    read_unit,
)
from pagekin.store import Kin, KinWriter, Names, open_kin
from tests.cutting import cut_corpus, cut_pages

from .sharded_merge import MergedShards, ShardMergeJob
from .shuffling import ShufflingEngine

NO_NUMBERS = np.zeros(0, np.int64)


def make_items(rng: random.Random) -> list[Item]:
    """A small web with all that makes a merge hard: captures, redirects, revisits, claims, cycles, pages that are gone."""
    urls = [
        f"{rng.choice(['http', 'https'])}://{rng.choice('abcd')}.example/{rng.choice(['', 'x/', 'y/'])}{number}"
        for number in range(rng.choice([4, 20, 60]))
    ]
    popular = rng.choice(urls)
    words = "granite mica quartz gneiss basalt marble slate Ünder der die das obsidian".split()

    def page() -> bytes:
        links = "".join(
            f"<a href='{rng.choice(urls)}'>{' '.join(rng.choices(words, k=rng.randint(0, 3)))}</a> {rng.choice(words)}"
            for _ in range(rng.randint(0, 6))
        )
        claim = rng.choice(["", "", f"<link rel=canonical href={rng.choice([popular, rng.choice(urls)])}>"])
        title = f"<title>{rng.choice(words)}</title>"
        language = rng.choice(["", " lang=de", " lang=fr"])
        return f"<html{language}>{title}{claim}{links}<p>{' '.join(rng.choices(words, k=rng.randint(0, 60)))}".encode()

    def date() -> int:
        return rng.choice([0, 100, 200, 300, 70_000])

    def place() -> RecordPlace:
        return rng.choice(
            [NO_PLACE, RecordPlace(f"{rng.choice('xyz')}.warc", rng.randrange(10**6), rng.randrange(300))]
        )

    bodies = [page() for _ in range(len(urls))]
    items: list[Item] = [
        Page(url, rng.choice(bodies), content_type="text/html; charset=utf-8", date=date(), place=place())
        for url in rng.choices(urls, k=rng.choice([2, len(urls) // 2, 2 * len(urls)]))
    ]
    items += [Redirect(rng.choice(urls), rng.choice(urls), date()) for _ in range(rng.randint(0, len(urls)))]
    items += [Revisit(rng.choice(urls), rng.choice(urls), date()) for _ in range(rng.randint(0, len(urls) // 2))]
    items += [Gone(rng.choice(urls), date()) for _ in range(rng.randint(0, len(urls) // 3))]
    items += [Skip("status 500", "web.warc"), Skip("bad record", "web.warc", detail=str(rng.random()))]
    return items


def chained(rng: random.Random) -> list[Item]:
    """Long chains and cycles of redirects, and more claims for one address than are believed."""
    urls = [f"http://h.example/{rng.randrange(10**6):06}" for _ in range(60)]
    items: list[Item] = [
        Page(url, f"<title>{url}</title><a href={rng.choice(urls)}>on</a>".encode()) for url in urls[:5]
    ]
    items += [Redirect(a, b, 1) for a, b in pairwise(urls[5:])]
    items += [Redirect(urls[-1], rng.choice(urls[:40]), 1)]
    claim = f"<link rel=canonical href={urls[0]}>"
    items += [Page(f"http://c.example/{i}", f"<title>{i}</title>{claim}".encode()) for i in range(20)]
    return items


def write_parts(items: Iterable[Item], count: int, rng: random.Random, folder: Path) -> list[Path]:
    """Write items as parts, divided anyhow."""
    limits = Limits()
    builders = [PartBuilder(Lexer(limits), limits) for _ in range(count)]
    shuffled = list(items)
    rng.shuffle(shuffled)
    for item in shuffled:
        rng.choice(builders).take(item)
    paths = [folder / f"part-{number}" for number in range(count)]
    for builder, path in zip(builders, paths, strict=True):
        builder.write(path)
    return paths


def merge_whole(parts: list[Path], all_captures: bool, folder: Path) -> Corpus:
    with KinWriter(folder / "whole.kin", "test") as writer:
        writer.commit(merge_parts(parts, writer, all_captures, lambda _share: None))
    return Corpus(open_kin(folder / "whole.kin"))


def cut_whole(corpus: Corpus, cuts: list[Cut], folder: Path) -> list[Kin]:
    kins = []
    for number, cut in enumerate(cuts):
        with KinWriter(folder / f"cut-{number}.kin", "test") as writer:
            facts, _numbers = cut_corpus(corpus, cut, writer, NO_NUMBERS, NO_NUMBERS)
            writer.commit(facts)
        kins.append(open_kin(folder / f"cut-{number}.kin"))
    return kins


def assert_same_arrays(mine: Kin, expected: Kin) -> None:
    assert mine.arrays.keys() == expected.arrays.keys()
    for name in expected.arrays:
        assert mine[name].dtype == expected[name].dtype, name
        assert mine[name].tobytes() == expected[name].tobytes(), name


def assert_equals_the_cut(made: MergedShards | ShardCorpora, corpus: Corpus, shards: int, folder: Path) -> None:
    cuts = cut_pages(corpus, shards)
    assert made.starts.addresses.strings() == [corpus.urls[cut.first_url] for cut in cuts[1:]]
    assert made.starts.pages.tolist() == [cut.first_page for cut in cuts[1:]]
    for path, cut in zip(made.folders, cut_whole(corpus, cuts, folder), strict=True):
        mine = open_kin(path)
        assert mine.facts == cut.facts
        assert_same_arrays(mine, cut)
    assert made.facts == corpus.facts


def check(items: list[Item], seed: int, folder: Path, all_captures: bool = False, shards: int = 0) -> MergedShards:
    """Merge a web in one piece and in shards, and compare."""
    rng = random.Random(seed)
    parts = write_parts(items, rng.randint(1, 4), rng, folder)
    corpus = merge_whole(parts, all_captures, folder)
    slices = sorted(rng.choices([*corpus.urls, b"a", b"z"], k=rng.randint(0, 4)))
    shards = shards or rng.randint(1, 6)
    made = ShardMergeJob(ShufflingEngine(seed, folder), parts, all_captures).make(shards, slices)
    assert_equals_the_cut(made, corpus, shards, folder)
    return made


def check_here(items: list[Item], seed: int, folder: Path) -> None:
    """Merge a web in one piece and in shards by the functions of one machine, and compare."""
    rng = random.Random(seed)
    parts = write_parts(items, rng.randint(1, 4), rng, folder)
    corpus = merge_whole(parts, False, folder)
    with KinWriter(folder / "here.kin", "test") as writer:
        made = merge_in_shards(parts, 5, False, writer, lambda _share: None)
        assert_equals_the_cut(made, corpus, 5, folder)
        assert made.cuts() == cut_pages(corpus, 5)


@pytest.mark.parametrize("all_captures", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_shards_made_of_parts_are_those_that_are_cut(seed: int, all_captures: bool, tmp_path: Path) -> None:
    check(make_items(random.Random(seed)), seed, tmp_path, all_captures)


@pytest.mark.parametrize("seed", range(4))
def test_long_chains_and_cycles_and_claims_that_nobody_believes(seed: int, tmp_path: Path) -> None:
    check(chained(random.Random(seed)), seed, tmp_path)


def test_the_shards_of_an_engine_are_these_with_the_terms_of_their_bags(tmp_path: Path) -> None:
    made = check(list(demo_pages()), 5, tmp_path, shards=5)
    build_shards(ReadPlan(["demo"], tmp_path / "demo.kin"), 5, BuildRecipe(Strategy()))
    for mine, theirs in zip(made.folders, shard_folders(open_kin(tmp_path / "demo.kin")), strict=True):
        corpus, expected = Corpus(open_kin(mine)), Corpus(open_kin(theirs))
        with KinWriter(tmp_path / "wide.kin", "test") as writer:
            facts = widen_corpus(corpus, expected.urls, expected.terms, writer)
            wide = writer.view({}).arrays.keys()
            for name in corpus.kin.arrays:
                array = writer.view({})[name] if name in wide else corpus.kin[name]
                assert array.dtype == expected.kin[name].dtype, name
                assert array.tobytes() == expected.kin[name].tobytes(), name
        assert {name: expected.facts[name] for name in facts} == facts


def test_shards_begin_at_no_address_that_is_closed(demo_kin: Path) -> None:
    corpus, rng = Corpus.open(demo_kin), random.Random(1)
    addresses = [corpus.page_url(page).encode() for page in range(len(corpus))]
    tokens, nothing = np.diff(np.asarray(corpus.pages.tokens, np.int64)), Names.of([])
    chosen = ChosenPages(
        Names.of(addresses), np.ones(len(addresses), np.int64), tokens, nothing, nothing, np.zeros(4, np.int64),
        np.asarray(0),
    )  # fmt: skip
    for shards, share in ((6, 0.3), (40, 0.8), (200, 0.6)):
        inside = set(rng.sample(range(1, len(corpus)), int(share * len(corpus))))
        closed = close_ranges((addresses[page - 1], addresses[page]) for page in inside)
        shares, wanted = share_work(measure_chosen(chosen), shards), None
        while wanted is None or wanted.tolist() != shares.tolist():
            shares = shares if wanted is None else wanted
            found = find_starts(chosen, sum_sizes([]), shares, closed)
            starts, wanted = settle_bounds([found], shares)
        cuts = cut_pages(corpus, shards, lambda page, inside=inside: page not in inside)  # type: ignore[misc]
        assert starts.pages.tolist() == [cut.first_page for cut in cuts[1:]]


@pytest.mark.parametrize("seed", range(3))
def test_a_part_that_was_divided_merges_as_before(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    (part,) = write_parts(make_items(rng), 1, rng, tmp_path)
    firsts = sorted(rng.choices(read_part(part).urls.strings(), k=3))
    divided = [write_part(one, tmp_path / f"divided-{n}") for n, one in enumerate(divide_part(read_part(part), firsts))]
    (tmp_path / "one").mkdir()
    whole, again = merge_whole([part], True, tmp_path), merge_whole(divided, True, tmp_path / "one")
    assert_same_arrays(again.kin, whole.kin)
    assert again.facts == whole.facts


def test_real_pages_in_shards_are_the_collection_cut(universities: Path, tmp_path: Path) -> None:
    units = plan_units([str(universities)], {})
    items = [item for unit in units for item in read_unit(unit, Limits()) if not isinstance(item, int)]
    check(items, 7, tmp_path, shards=4)


@pytest.mark.parametrize("seed", range(3))
def test_one_machine_merges_shards_a_piece_at_a_time(seed: int, tmp_path: Path) -> None:
    check_here(make_items(random.Random(seed)), seed, tmp_path)
