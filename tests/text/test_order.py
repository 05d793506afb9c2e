"""What stands first: the page that is called what was asked for, then what speaks of it most."""

from collections import Counter
from pathlib import Path

import pytest

from pagekin.hypertext import ShortTitles
from pagekin.text import And, Stats, TextIndex, Word, analyse, parse_query, tokens

from .collections import addresses, searchable
from .oracle import Oracle

TEXT = "<p>Some words about many other things that nobody asked for, in one row."
LINKS = " ".join(f"<a href=/{number}>harbour {number}</a>" for number in range(40))
NAMED = {
    "http://a.test/1-list": f"<title>A to Z</title><p>{LINKS}",
    "http://a.test/2-list": f"<title>Links to each harbour of all the seas of the world, and to their pilots</title>{TEXT}",
    "http://a.test/3-some": f"<title>Grain</title><p>grain harbour grain harbour grain {TEXT}",
    "http://a.test/4-named": f"<title>Harbour</title>{TEXT}",
    "http://a.test/5-both": f"<title>Grain harbour</title>{TEXT}",
    "http://a.test/6-text": f"<title>Tides</title><p>grain harbour {TEXT}",
    "http://a.test/7-long": f"<title>{'w' * 9_000} harbour</title>{TEXT}",
    "http://a.test/8-none": f"<p>harbour {TEXT}",
    "http://a.test/9-not": f"<title>Ships</title>{TEXT}",
}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return searchable(tmp_path_factory.mktemp("named") / "named.kin", NAMED)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("harbour", "4-named 5-both 2-list 1-list"),
        ("grain harbour", "5-both 3-some 6-text"),
        ("title:harbour", "4-named 5-both 2-list 7-long"),
        ("text:harbour", "1-list 3-some"),
        ("harbour OR grain", "5-both 3-some"),
        ("harbour NOT grain", "4-named 2-list"),
        ('"grain harbour"', "5-both 3-some 6-text"),
    ],
)
def test_the_page_that_is_called_so_stands_first(named: TextIndex, query: str, first: str) -> None:
    found = named.search(parse_query(query), 20)
    expected = first.split()
    assert addresses(named.corpus, found.pages)[: len(expected)] == expected
    assert list(zip(found.pages, found.scores, strict=True)) == Oracle(named.corpus).search(parse_query(query))


def test_a_title_without_end_gains_next_to_nothing(named: TextIndex) -> None:
    found = named.search(parse_query("harbour"), 20)
    names = addresses(named.corpus, found.pages)
    assert names.index("7-long") > names.index("3-some")


def test_most_pages_of_the_demo_web_are_first_by_their_names(demo: TextIndex) -> None:
    titles = ShortTitles(demo.corpus)
    names = [tuple(tokens(titles.text(page))) for page in range(len(demo))]
    often = Counter(tuple(analyse(name)) for name in names)
    asked = [page for page, name in enumerate(names) if name and often[tuple(analyse(name))] == 1 and len(name) < 8]
    assert len(asked) > 800
    first = 0
    for page in asked:
        words = tuple(Word(None, word) for word in dict.fromkeys(names[page]))
        first += demo.search(And(words) if len(words) > 1 else words[0], 1).pages == [page]
    assert first / len(asked) > 0.97


def test_words_that_tell_nothing_anywhere_leave_scores_finite(named: TextIndex) -> None:
    every = Stats(analyser="porter-2", pages=1 << 53, words=1 << 53, df={"harbour": 1 << 53})
    found = named.search(parse_query("harbour"), 20, stats=every)
    assert found.total == 8
    assert set(found.scores) == {0.0}, "a word that is on all pages there are tells nothing"


def test_what_titles_add_is_the_same_on_all_sites(tmp_path: Path) -> None:
    whole = searchable(tmp_path / "all.kin", {**NAMED, **{f"http://b.test/{n}": TEXT for n in range(9)}})
    sites = [
        searchable(
            tmp_path / f"{part}.kin", {url: html for n, (url, html) in enumerate(NAMED.items()) if n % 3 == part}
        )
        for part in range(3)
    ]
    rest = searchable(tmp_path / "rest.kin", {f"http://b.test/{n}": TEXT for n in range(9)})
    for text in ("harbour", "grain harbour", "title:harbour OR grain"):
        query = parse_query(text)
        stats = Stats.sum(site.stats_of(query) for site in (*sites, rest))
        told = {
            site.corpus.page_url(page): score
            for site in sites
            for page, score in zip(*_both(site, text, stats), strict=True)
        }
        found = whole.search(query, 100)
        assert told == {
            whole.corpus.page_url(page): score for page, score in zip(found.pages, found.scores, strict=True)
        }


def _both(site: TextIndex, text: str, stats: Stats) -> tuple[list[int], list[float]]:
    found = site.search(parse_query(text), 100, stats=stats)
    return found.pages, found.scores
