"""Links that visit other shards: how many travel, and that parts may be joined in any order."""

import random
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import (
    Claims,
    Frequencies,
    Visits,
    choose_strategy,
    citing_pages,
    emit_visits,
    judge_links,
    keep,
    make_vocabulary,
    reduce_visits,
    sum_frequencies,
    sum_visits,
    visits,
)
from pagekin.bags.claims import NO_CLAIMS
from pagekin.bags.furniture import hash_names
from pagekin.hypertext import Corpus
from pagekin.store import RaggedBytes, no_progress

from .test_order import all_records, make_web
from .webs import read_records, read_web

HOME = "http://home.example/"


def visits_of(corpus: Corpus, targets: bytes, folder: Path, settings: str = "") -> list[Visits]:
    """Return the visits to all addresses that begin with `targets`."""
    strategy = choose_strategy(settings=settings.split())
    words = make_vocabulary(corpus, strategy)
    kept, _words = keep(corpus, strategy, words, judge_links(corpus, strategy).uses, folder, no_progress, 1)
    is_target = np.array([url.startswith(targets) for url in corpus.urls])
    return list(emit_visits(corpus, strategy, words, kept, citing_pages(corpus), is_target))


@pytest.fixture(scope="module")
def popular() -> Corpus:
    """A thousand pages of two hosts that link to one page of a third by three texts."""
    texts = ("granite", "mica", "granite quarry")
    return read_web({
        f"http://{host}.example/{page}": f"word{page} <a href={HOME}>{texts[page % 3]}</a> <a href={HOME}>here</a> after{page}"
        for host in ("one", "two")
        for page in range(500)
    })  # fmt: skip


@pytest.mark.parametrize(("settings", "links"), [("", 8), ("anchors.repeat=every", 2_000), ("links.scale=1", 1_002)])
def test_a_popular_page_is_visited_by_as_many_links_as_it_has_texts(
    popular: Corpus, tmp_path: Path, settings: str, links: int
) -> None:
    strategy = choose_strategy(settings=["content.furniture=1", *settings.split()])
    found = visits_of(popular, HOME.encode(), tmp_path, f"content.furniture=1 {settings}")
    reduced = reduce_visits(found, strategy)
    assert reduced.citations.tolist() == [1_000]
    assert len(reduced.target) == links
    assert list(RaggedBytes(reduced.targets, reduced.target_offsets)) == [HOME.encode()]
    if not settings:
        citing = list(RaggedBytes(reduced.citing, reduced.citing_offsets))
        assert citing[:3] == [b"http://one.example/0", b"http://one.example/1", b"http://one.example/101"]


@pytest.mark.parametrize(("settings", "links"), [("", 0), ("anchors.repeat=every", 0), ("links.scale=1", 1_000)])
def test_the_links_to_a_popular_page_travel_as_one_partial_bag(
    popular: Corpus, tmp_path: Path, settings: str, links: int
) -> None:
    strategy = choose_strategy(settings=["content.furniture=1", *settings.split()])
    found = reduce_visits(visits_of(popular, HOME.encode(), tmp_path, f"content.furniture=1 {settings}"), strategy)
    summed = sum_visits([found], strategy)
    assert (len(summed.target), len(summed.words)) == (links, 0)
    assert summed.citations.tolist() == [1_000]
    assert len(summed.sums) == len(summed.hashes) == (9 if strategy.anchors.repeat == "once" else 1_003)
    # What another shard counts is not in the sums, but its page still cites.
    lost = Claims(hash_names(RaggedBytes(found.targets, found.target_offsets)).repeat(len(found.key)), found.key)
    without = sum_visits([found], strategy, lost)
    assert bool(len(without.sums)) == (strategy.anchors.repeat == "every")
    assert (len(without.target), without.citations.tolist()) == (links, [1_000])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", ["", "links.scale=1", "anchors.repeat=every", "anchors.within_site=off"])
def test_parts_are_reduced_in_any_order_and_batches(
    seed: int, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, strategy = random.Random(seed), choose_strategy(settings=settings.split())
    corpus = read_records(all_records(make_web(seed)))
    targets = b"http://beta.example/"
    (expected,) = visits_of(corpus, targets, tmp_path, settings)
    assert len(expected.citations) > 3
    monkeypatch.setattr(visits, "BATCH_ANCHORS", 12)
    parts = visits_of(corpus, targets, tmp_path, settings)
    assert len(parts) > 5
    while len(parts) > 1:
        rng.shuffle(parts)
        parts.append(reduce_visits([parts.pop() for _ in range(min(rng.randint(1, 3), len(parts)))], strategy))
    for mine, theirs, name in zip(reduce_visits(parts, strategy), expected, Visits._fields, strict=True):
        assert (mine.dtype, mine.tolist()) == (theirs.dtype, theirs.tolist()), name


@pytest.mark.parametrize("settings", ["", "links.scale=1", "anchors.repeat=every"])
def test_windows_are_summed_up_a_batch_of_pages_at_a_time(
    popular: Corpus, settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same three texts are in all batches of both hosts."""
    settings = f"content.furniture=1 {settings}"
    strategy = choose_strategy(settings=settings.split())
    (found,) = visits_of(popular, HOME.encode(), tmp_path, settings)
    monkeypatch.setattr(visits, "BATCH_ANCHORS", 300)
    parts = visits_of(popular, HOME.encode(), tmp_path, settings)
    assert len(parts) > 5
    lost = Claims(hash_names(RaggedBytes(found.targets, found.target_offsets)), found.key[found.key != 0][:1])
    for known in (NO_CLAIMS, lost):
        summed, expected = sum_visits(iter(parts), strategy, known), sum_visits([found], strategy, known)
        for mine, theirs, name in zip(summed, expected, Visits._fields, strict=True):
            assert (mine.dtype, mine.tolist()) == (theirs.dtype, theirs.tolist()), name


def frequencies(rng: np.random.Generator) -> Frequencies:
    kinds = [np.unique(rng.integers(0, 60, rng.integers(0, 40)).astype(np.uint64)) for _ in range(3)]
    limits = np.cumsum([len(kind) for kind in kinds])
    df, pages = rng.integers(1, 9, (2, limits[-1]))
    return Frequencies(np.concatenate(kinds), limits, df, pages, rng.integers(0, 99, 3))


def test_frequencies_are_summed_in_any_order() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        parts = [frequencies(rng) for _ in range(5)]
        expected: dict[tuple[int, int], list[int]] = {}
        for part in parts:
            kinds = np.repeat(np.arange(3), np.diff(part.limits, prepend=0))
            for kind, term, df, pages in zip(kinds, part.hashes, part.df, part.pages, strict=True):
                sums = expected.setdefault((int(kind), int(term)), [0, 0])
                sums[0], sums[1] = sums[0] + int(df), sums[1] + int(pages)
        order = rng.permutation(5)
        nested = sum_frequencies([parts[order[0]], sum_frequencies([parts[place] for place in order[1:]])])
        kinds = np.repeat(np.arange(3), np.diff(nested.limits, prepend=0))
        keys = list(zip(kinds.tolist(), nested.hashes.tolist(), strict=True))
        assert keys == sorted(expected)
        assert [list(sums) for sums in zip(nested.df.tolist(), nested.pages.tolist(), strict=True)] == [
            expected[key] for key in keys
        ]
        assert nested.totals.tolist() == np.sum([part.totals for part in parts], axis=0).tolist()
