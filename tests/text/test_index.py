"""The index answers as if every word of every page were looked at."""

import random
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.text import (
    ATTRIBUTES,
    And,
    Not,
    Or,
    Phrase,
    Query,
    QueryError,
    Stats,
    TextIndex,
    Word,
    check_text,
    parse_query,
)
from pagekin.text.index import _of_one_type
from tests.bags.webs import record

from .collections import add_text_index, addresses, read, searchable
from .oracle import Oracle

SEEDS = st.integers(0, 2**32 - 1)


def some_query(corpus_words: list[list[str]], seed: int) -> Query:
    """A query of words and phrases that stand on pages, of absent ones, and of all operators."""
    chance = random.Random(seed)

    def atom() -> Query:
        attribute = chance.choice([None, None, None, *ATTRIBUTES])
        page = chance.choice(corpus_words)
        length = chance.choice([1, 1, 1, 2, 2, 3])
        start = chance.randrange(max(len(page) - length, 1))
        words = tuple(page[start : start + length]) or ("nothing",)
        if chance.random() < 0.05:
            words = (*words[:-1], "absentword")
        if chance.random() < 0.2:  # a word of which other forms stand on pages
            words = (*words[:-1], f"{words[-1]}s" if words[-1].isascii() else words[-1])
        return Word(attribute, words[0]) if len(words) == 1 else Phrase(attribute, words)

    def tree(depth: int) -> Query:
        if depth == 0 or chance.random() < 0.3:
            return atom()
        if chance.random() < 0.2:
            return Not(tree(depth - 1))
        kind = chance.choice([And, Or])
        return kind(tuple(tree(depth - 1) for _ in range(chance.choice([2, 2, 3]))))

    found = tree(2)
    try:
        return parse_query(str(found))
    except QueryError:
        return parse_query(str(And((atom(), found))))


def test_a_collection_of_three_pages_has_the_types_that_kernels_are_compiled_for(
    demo: TextIndex, tmp_path: Path
) -> None:
    pages = {f"http://a.test/{n}": f"<title>Owl {n}</title>An <a href=/{n + 1}>owl</a>" for n in range(3)}
    few = searchable(tmp_path / "few.kin", pages)
    assert few.corpus.kin["posting.page"].dtype == np.uint8
    for ours, theirs in zip(few.postings, demo.postings, strict=True):
        assert (ours.dtype, ours.flags.writeable) == (theirs.dtype, theirs.flags.writeable)
    narrow, wide = np.ones(3, np.uint8), np.ones(3, np.uint32)
    assert [column.dtype for column in _of_one_type(narrow, wide)] == [np.uint32, np.uint32]
    assert _of_one_type(wide)[0] is wide


@pytest.fixture(scope="module")
def words_of_pages(demo: TextIndex) -> list[list[str]]:
    corpus = demo.corpus
    return [[corpus.word(word) for word in corpus.words(page).tolist()] for page in range(len(corpus))]


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.integers(0, 30), st.integers(0, 40))
def test_the_same_pages_and_scores_as_by_looking_at_every_word(
    demo: TextIndex, demo_oracle: Oracle, words_of_pages: list[list[str]], seed: int, limit: int, offset: int
) -> None:
    query = some_query(words_of_pages, seed)
    expected = demo_oracle.search(query)
    found = demo.search(query, limit, offset)
    assert found.total == demo.count(query) == len(expected), str(query)
    assert list(zip(found.pages, found.scores, strict=True)) == expected[offset : offset + limit], str(query)


RICH = {
    "http://a.test/1": "<title>Operating systems</title><h1>Locks in operating systems</h1><p>A lock is <b>held</b>.",
    "http://a.test/2": "<title>Front door keys</title><p>The lock has a key. <img alt='a lock'> <address>Lock street 1</address>",
    "http://a.test/3": "<title>Lock</title><meta name=keywords content='door, key'><p>Of virtual memory, and locking",
    "http://a.test/4": "<p>memory virtual<p>virtual <i>memory</i> virtual",
    "http://a.test/5": "<html></html>",
    "http://a.test/6": f"<h2>{'many ' * 300}</h2><p>{'many times ' * 700}",
    "http://b.test/7": "<p>関数は便利 virtual Käse café naïve md5 3.14",
    "http://b.test/8": "<title>Twins</title><p>equal twins",
    "http://b.test/9": "<title>Twins</title><p>equal twins",
    "http://b.test/a": "<p>a bridge <img alt='over one sea'> too <img alt='many'> far <img alt='away'>",
}


@pytest.fixture(scope="module", params=["plain", "compiled"])
def rich(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> TextIndex:
    index = searchable(tmp_path_factory.mktemp("rich") / "rich.kin", RICH)
    return TextIndex.open(index.corpus, request.param == "compiled")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("lock", "1 2 3"),
        ("Locks", "1 2 3"),
        ("locking locked", "1 2 3"),
        ("title:lock", "3"),
        ("header:lock", "1"),
        ("text:lock", "1 2 3"),
        ("keyword:held", "1"),
        ("keyword:door", "3"),
        ("text:door", ""),
        ("alt:lock", "2"),
        ("address:lock", "2"),
        ("text:keys", "2"),
        ("key", "2 3"),
        ("a lock", "1 2"),
        ('"a lock"', "1"),
        ('alt:"a lock"', "2"),
        ('"operating systems"', "1"),
        ('header:"operating systems"', "1"),
        ('title:"systems operating"', ""),
        ('"front door"', "2"),
        ('title:"front door"', "2"),
        ('text:"front door"', ""),
        ('"virtual memory"', "3 4"),
        ('"memory virtual"', "4"),
        ('"the lock has"', "2"),
        ("virtual NOT memory", "7"),
        ("virtual -locks", "4 7"),
        ("key OR md5", "2 3 7"),
        ('lock ("a key" OR title:operating)', "1 2"),
        ("関数", "7"),
        ("関数は", "7"),
        ("は関", ""),
        ("käse CAFÉ naive", ""),
        ("käse CAFÉ naïve", "7"),
        ("3.14", "7"),
        ("14.3", ""),
        ("absent", ""),
        ('"absent lock"', ""),
        ("lock OR absent", "1 2 3"),
        ("many", "6 a"),
        ('"bridge too far"', "a"),
        ('"bridge over one"', ""),
        ('alt:"one sea many away"', "a"),
        ('"far away"', ""),
    ],
)
def test_attributes_phrases_and_operators(rich: TextIndex, query: str, found: str) -> None:
    assert sorted(addresses(rich.corpus, rich.search(parse_query(query), 20).pages)) == found.split()
    oracle = Oracle(rich.corpus).search(parse_query(query))
    hits = rich.search(parse_query(query), 20)
    assert list(zip(hits.pages, hits.scores, strict=True)) == oracle


def test_a_word_that_stands_very_often_on_a_page_is_counted_whole(rich: TextIndex) -> None:
    page = rich.search(parse_query("header:many"), 1).pages[0]
    found = rich.corpus.kin
    form = rich.forms.find(b"mani")
    here = slice(int(found["posting.offsets"][form]), int(found["posting.offsets"][form + 1]))
    assert int(found["posting.count"][here].sum()) == 1_001
    assert rich.search(parse_query("header:many"), 1).scores == [
        Oracle(rich.corpus).search(parse_query("header:many"))[0][1]
    ]
    assert Oracle(rich.corpus).weight(page, None, "mani") == 1_300


def test_a_title_word_counts_more_than_one_in_the_text(rich: TextIndex) -> None:
    assert addresses(rich.corpus, rich.search(parse_query("lock"), 1).pages) == ["3"]
    stats = rich.stats_of(parse_query("lock"))
    assert stats == Stats(analyser="porter-2", pages=10, words=rich.corpus.facts["words"], df={"lock": 3})


def test_equal_pages_come_in_the_order_of_addresses(rich: TextIndex) -> None:
    found = rich.search(parse_query("twins"), 10)
    assert addresses(rich.corpus, found.pages) == ["8", "9"]
    assert found.scores[0] == found.scores[1] > 0
    assert addresses(rich.corpus, rich.search(parse_query("twins"), 1, 1).pages) == ["9"]


def test_an_answer_in_stretches_is_the_whole_answer(demo: TextIndex) -> None:
    query = parse_query("the OR of")
    whole = demo.search(query, 10_000)
    assert whole.total == len(whole.pages) > 500
    pages: list[int] = []
    for offset in range(0, whole.total + 7, 7):
        pages += demo.search(query, 7, offset).pages
    assert pages == whole.pages
    assert demo.search(query, 0).pages == []
    for limit, offset in ((-1, 0), (1, -1)):
        with pytest.raises(ValueError, match="0 or more"):
            demo.search(query, limit, offset)


def test_a_mask_keeps_pages_and_leaves_scores_as_they_are(demo: TextIndex) -> None:
    query = parse_query("water")
    whole = demo.search(query, 1_000)
    keep = np.arange(len(demo)) % 3 == 0
    kept = demo.search(query, 1_000, keep=keep)
    expected = [(p, s) for p, s in zip(whole.pages, whole.scores, strict=True) if p % 3 == 0]
    assert expected
    assert list(zip(kept.pages, kept.scores, strict=True)) == expected
    assert demo.count(query, keep) == len(expected)
    with pytest.raises(ValueError, match="the mask is for 3 pages"):
        demo.count(query, np.ones(3, np.bool_))


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_pages_of_one_document_are_searched_as_one_and_are_one_hit(
    demo: TextIndex, demo_oracle: Oracle, words_of_pages: list[list[str]], seed: int
) -> None:
    query = some_query(words_of_pages, seed)
    documents = np.random.default_rng(seed).integers(-1, 400, len(demo))
    pages: dict[int, list[int]] = {}
    for page, document in enumerate(documents.tolist()):
        pages.setdefault(document if document >= 0 else -1 - page, []).append(page)
    scores = demo_oracle.scores(query)
    found_ones = [some for some in pages.values() if demo_oracle.finds_together(query, some)]
    best = [min(some, key=lambda page: (-scores[page], page)) for some in found_ones]
    expected = sorted(((page, scores[page]) for page in best), key=lambda pair: (-pair[1], pair[0]))
    found = demo.search(query, 10_000, documents=documents)
    assert found.total == len(expected)
    assert list(zip(found.pages, found.scores, strict=True)) == expected
    assert demo.search(query, 5, 3, documents=documents).pages == [page for page, _score in expected[3:8]]
    with pytest.raises(ValueError, match="documents of 3 pages"):
        demo.search(query, 5, documents=documents[:3])


def test_sites_with_common_statistics_answer_as_one_collection(tmp_path: Path) -> None:
    chance = random.Random(7)
    words = [f"w{n}" for n in range(30)]
    pages = {
        f"http://{host}.test/{n}": f"<title>{chance.choice(words)}</title><p>{' '.join(chance.choices(words, k=n + 3))}"
        for n in range(25)
        for host in ("a", "b", "c")
    }
    whole = searchable(tmp_path / "all.kin", pages)
    sites = [
        searchable(tmp_path / f"{host}.kin", {url: html for url, html in pages.items() if f"//{host}." in url})
        for host in ("a", "b", "c")
    ]
    for text in ("w1 w2", "w3 OR title:w4 OR w29", '"w5 w6" OR w7', "w8 -w9", "absent OR w1"):
        query = parse_query(text)
        sums = Stats.sum(site.stats_of(query) for site in sites)
        assert sums == whole.stats_of(query)
        sums = msgspec.json.decode(msgspec.json.encode(sums), type=Stats)
        merged = []
        for site in sites:
            found = site.search(query, 1_000, stats=sums)
            merged += [(-s, site.corpus.page_url(p)) for p, s in zip(found.pages, found.scores, strict=True)]
        expected = whole.search(query, 1_000)
        assert sorted(merged) == [
            (-s, whole.corpus.page_url(p)) for p, s in zip(expected.pages, expected.scores, strict=True)
        ]
        assert merged


def test_statistics_that_do_not_fit_are_refused(rich: TextIndex) -> None:
    query = parse_query("lock title:key")
    stats = rich.stats_of(query)
    assert set(stats.df) == {"lock", "title:kei"}
    with pytest.raises(QueryError, match="lack 'lock'"):
        rich.search(query, 1, stats=rich.stats_of(parse_query("other")))
    with pytest.raises(QueryError, match="analyser 'porter-9'"):
        rich.search(query, 1, stats=msgspec.structs.replace(stats, analyser="porter-9"))
    with pytest.raises(QueryError, match="same query"):
        Stats.sum([stats, rich.stats_of(parse_query("other"))])
    with pytest.raises(QueryError, match="same query"):
        Stats.sum([])
    for raw in (b'{"analyser":"porter-2","pages":-1,"words":1,"df":{}}', b'{"analyser":"porter-1","pages":1}', b"[]"):
        with pytest.raises(msgspec.DecodeError):
            msgspec.json.decode(raw, type=Stats)


@pytest.mark.parametrize(("pages", "words", "df"), [(0, 0, 0), (1, 0, 5), (1 << 53, 1, 0), (3, 1 << 53, 3)])
def test_absurd_statistics_give_finite_scores(rich: TextIndex, pages: int, words: int, df: int) -> None:
    found = rich.search(
        parse_query("lock"), 10, stats=Stats(analyser="porter-2", pages=pages, words=words, df={"lock": df})
    )
    assert found.total == 3
    assert np.isfinite(found.scores).all()
    assert min(found.scores) >= 0


def test_a_collection_with_many_terms_finds_the_rare_ones(tmp_path: Path) -> None:
    # Terms from number 65,535 on are stored apart.
    half = [" ".join(f"q{n}z" for n in range(start, start + 36_000)) for start in (0, 36_000)]
    pages = {f"http://many.test/{n}": f"<p>common {text} <h1>q7z common</h1>" for n, text in enumerate(half)}
    index = searchable(tmp_path / "many.kin", pages, parser="fast")
    assert index.corpus.facts["terms"] > 65_535
    for n in (7, 20_000, 35_999, 36_000, 71_999):
        assert 0 in index.search(parse_query(f"q{n}z"), 5).pages or n >= 36_000
        assert addresses(index.corpus, index.search(parse_query(f'"q{n}z q{n + 1}z"'), 5).pages) == (
            [str(n // 36_000)] if (n + 1) % 36_000 else []
        )
    assert index.count(parse_query("q7z")) == 2
    assert index.count(parse_query("header:q7z")) == 2
    assert index.count(parse_query("text:q70000z")) == 1


def test_every_capture_of_an_address_is_a_page(tmp_path: Path) -> None:
    captures = [
        record("http://a.test/", f"<p>lock number {year}", f"{year}-01-01T00:00:00Z") for year in (2001, 2002, 2003)
    ]
    read(tmp_path / "all.kin", captures, all_captures=True)
    add_text_index(tmp_path / "all.kin")
    index = TextIndex.at(tmp_path / "all.kin")
    assert index.search(parse_query("lock"), 10).pages == [0, 1, 2]
    assert index.search(parse_query("2002"), 10).pages == [1]
    assert index.search(parse_query("lock"), 10, documents=np.zeros(3, np.int64)).pages == [0]


def test_words_of_very_long_pages_keep_their_places(tmp_path: Path) -> None:
    filler = "filler " * 70_000
    pages = {
        "http://a.test/1": f"<p>early bird {filler} late bird",
        "http://a.test/2": f"<p>early {filler} bird late",
        "http://a.test/3": "<p>late bird",
    }
    index = TextIndex.open(searchable(tmp_path / "long.kin", pages).corpus, compiled=True)
    for query, found in (('"early bird"', "1"), ('"late bird"', "1 3"), ('"bird late"', "2"), ('"filler late"', "1")):
        assert sorted(addresses(index.corpus, index.search(parse_query(query), 5).pages)) == found.split()
    assert not list(check_text(index.corpus.kin))


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    """1,500 pages with few words, so that every word stands on many."""
    chance = random.Random(3)
    words = [f"w{n}" for n in range(12)]
    pages = {
        f"http://a.test/{n:04}": f"<title>{' '.join(chance.choices(words, k=chance.choice([1, 1, 2, 9])))}</title>"
        f"<h1>{chance.choice(words)}</h1><p>{' '.join(chance.choices(words[: chance.randrange(2, 12)], k=chance.randrange(60)))}"
        for n in range(1_500)
    }
    return TextIndex.open(searchable(tmp_path_factory.mktemp("crowded") / "crowded.kin", pages).corpus, compiled=True)


@settings(max_examples=25, deadline=None)
@given(SEEDS)
def test_the_best_of_many_matches_are_those_of_scoring_all(crowded: TextIndex, seed: int) -> None:
    chance = random.Random(seed)
    words = [
        f"{chance.choice(['', '', '', 'title:', 'header:'])}w{chance.randrange(12)}"
        for _ in range(chance.randrange(1, 4))
    ]
    query = parse_query(chance.choice([" ", " OR "]).join(words))
    plain = TextIndex.open(crowded.corpus)
    options: dict[str, object] = {}
    if chance.random() < 0.5:
        options["documents"] = np.random.default_rng(seed).integers(-1, 700, len(crowded))
    if chance.random() < 0.3:
        options["keep"] = np.random.default_rng(seed).random(len(crowded)) < 0.7
    if chance.random() < 0.3:
        own = plain.stats_of(query)
        options["stats"] = msgspec.structs.replace(own, pages=own.pages * 9, words=own.words * chance.randrange(1, 50))
    limit, offset = chance.choice([1, 10, 25]), chance.choice([0, 0, 3, 40])
    assert crowded.search(query, limit, offset, **options) == plain.search(query, limit, offset, **options)  # type: ignore[arg-type]


def test_of_many_matches_only_those_are_scored_that_may_be_among_the_best(
    crowded: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pagekin.text._kernels import rank

    scored = 0
    score = rank.score_pages

    def count(pages: np.ndarray, *rest: object) -> object:
        nonlocal scored
        scored += len(pages)
        return score(pages, *rest)

    # Compiled callers keep the compiled function, so those on the way to it run as plain Python.
    for name in ("rank_words", "_rank_level", "_rank_by_bounds"):
        monkeypatch.setattr(rank, name, getattr(rank, name).py_func)
    monkeypatch.setattr(rank, "score_pages", count)
    hits = crowded.search(parse_query("w1"), 1)
    assert hits.total > 600
    assert 0 < scored < hits.total


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(0, 45), st.randoms(use_true_random=False))
def test_the_best_come_first_and_the_first_pages_of_equal_ones(
    scores: list[int], most: int, chance: random.Random
) -> None:
    from pagekin.text._kernels.rank import best_first

    pages = chance.sample(range(100), len(scores))
    best = best_first(np.array(pages, np.int64), np.array(scores, np.float64), most)
    expected = sorted(zip(scores, pages, strict=True), key=lambda hit: (-hit[0], hit[1]))[:most]
    assert list(zip(best[1].tolist(), best[0].tolist(), strict=True)) == expected


@pytest.mark.parametrize("sparse", [False, True])
def test_pages_with_all_words_are_the_same_by_seeking_and_by_reading_all_entries(
    crowded: TextIndex, monkeypatch: pytest.MonkeyPatch, sparse: bool
) -> None:
    from pagekin.text._kernels import rank

    monkeypatch.setattr(rank, "rank_words", rank.rank_words.py_func)
    monkeypatch.setattr(rank, "_is_sparse", lambda _postings, _terms: sparse)
    oracle = Oracle(crowded.corpus)
    for text in ("w0", "w0 w1", "header:w3 w1", "w0 w1 w2 w3", "w0 OR w11", "title:w3 OR header:w4"):
        query = parse_query(text)
        hits, expected = crowded.search(query, 10), oracle.search(query)
        assert hits.total == len(expected), text
        assert list(zip(hits.pages, hits.scores, strict=True)) == expected[:10], text
