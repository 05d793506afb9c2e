"""Which addresses are aliases, beside a slow twin that goes by the definition, whatever the order of records."""

import random

import numpy as np
import pytest

from pagekin.hypertext.aliases import Records, choose_pages
from pagekin.hypertext.chains import Leads, find_ends, follow
from pagekin.hypertext.part import PAGE_ROW
from tests.bags.webs import read_records, record
from tests.sources.making import http, warc

Triples = list[tuple[int, int, int]]


def end_of(url: int, next_of: dict[int, int]) -> int:
    """Follow next addresses one by one; a cycle ends at its least address."""
    way = [url]
    while next_of.get(way[-1], way[-1]) != way[-1]:
        following = next_of[way[-1]]
        if following in way:
            return min(way[way.index(following) :])
        way.append(following)
    return way[-1]


def chain_ends(next_of: np.ndarray) -> np.ndarray:
    """Return where the chain from each number ends, given the next of each."""
    leading = np.flatnonzero(next_of != np.arange(len(next_of)))
    return follow(find_ends(Leads(leading, next_of[leading])), np.arange(len(next_of)))


@pytest.mark.parametrize("seed", range(30))
def test_chains_end_where_the_slow_way_ends(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.choice([1, 2, 3, 10, 60, 300])
    next_of = {url: rng.randrange(count) if rng.random() < 0.8 else url for url in range(count)}
    expected = [end_of(url, next_of) for url in range(count)]
    assert chain_ends(np.array(list(next_of.values()))).tolist() == expected


def test_a_chain_as_long_as_the_web_and_a_ring_of_all_addresses() -> None:
    count = 1_000
    assert set(chain_ends(np.minimum(np.arange(count) + 1, count - 1)).tolist()) == {count - 1}
    assert set(chain_ends((np.arange(count) + 1) % count).tolist()) == {0}
    assert chain_ends(np.zeros(0, np.int64)).tolist() == []


def slow_targets(count: int, canonical: dict[int, int], redirects: Triples, revisits: Triples) -> list[int]:
    """Return where each address leads; `canonical` has all captured pages, and those that name none name themselves."""
    next_of: dict[int, int] = {}
    for kind in (revisits, redirects):
        for url in {url for url, target, _date in kind if url not in canonical}:
            usable = [
                (-date, target)
                for source, target, date in kind
                if source == url and (kind is redirects or (target in canonical and target != url))
            ]
            if usable:
                next_of[url] = min(usable)[1]
    wanted = {url: end_of(named, next_of) for url, named in canonical.items()}
    next_of |= {url: address for url, address in wanted.items() if address in canonical}
    for address in set(wanted.values()) - canonical.keys():
        naming = [url for url, named in wanted.items() if named == address]
        next_of[address] = min(naming)
        next_of |= {url: min(naming) for url in naming}
    return [end_of(url, next_of) for url in range(count)]


def rows_of(canonical: dict[int, int]) -> np.ndarray:
    rows = np.zeros(len(canonical), dtype=PAGE_ROW)
    rows["url"] = sorted(canonical)
    rows["canonical"] = [-1 if canonical[url] == url else canonical[url] for url in sorted(canonical)]
    return rows


@pytest.mark.parametrize("seed", range(60))
def test_aliases_are_those_of_the_slow_way_in_any_order_of_records(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.choice([2, 5, 12, 40])
    captured = rng.sample(range(count), rng.randint(1, count))
    canonical = {url: rng.randrange(count) if rng.random() < 0.5 else url for url in captured}

    def triples() -> Triples:
        return [
            (rng.randrange(count), rng.randrange(count), rng.randint(1, 3)) for _ in range(rng.randint(0, 2 * count))
        ]

    redirects, revisits = ([one for one in triples() if one[0] != one[1]] for _ in range(2))
    expected = slow_targets(count, canonical, redirects, revisits)
    for _ in range(3):
        tables = [np.array(one, np.int64).reshape(-1, 3) for one in (redirects, revisits)]
        choice = choose_pages(
            rows_of(canonical), Records(*tables, np.zeros((0, 3), np.int64)), count, False, lambda _row: b""
        )
        assert choice.target_of.tolist() == expected
        renamed = [url for url in range(count) if expected[url] != url]
        assert choice.alias_url.tolist() == renamed
        assert choice.alias_target.tolist() == [expected[url] for url in renamed]
        assert choice.pages.tolist() == [place for place, url in enumerate(sorted(canonical)) if expected[url] == url]
        rng.shuffle(redirects)
        rng.shuffle(revisits)


PAGE, OTHER = "http://a.example/page", "http://a.example/other"


def at(year: int) -> str:
    return f"{year}-01-01T00:00:00Z"


def answered(status: str, year: int, url: str = PAGE, headers: str = "Content-Type: text/html") -> bytes:
    return warc(url, http(b"<title>here</title> granite", headers, status), date=at(year))


def seen_again(year: int, status: str = "200 OK") -> bytes:
    return warc(PAGE, http(b"", status=status), "revisit", date=at(year))


MOVED = "Content-Type: text/html\nLocation: /other"


@pytest.mark.parametrize(
    ("records", "is_there"),
    [
        ([answered("200 OK", 2019), answered("404 Not Found", 2020)], False),
        ([answered("200 OK", 2019), answered("410 Gone", 2020)], False),
        ([answered("200 OK", 2019), answered("503 Busy", 2020)], True),
        ([answered("200 OK", 2019), answered("404 Not Found", 2018)], True),
        ([answered("200 OK", 2019), answered("404 Not Found", 2019)], True),
        ([answered("200 OK", 2019), answered("404 Not Found", 2020), answered("200 OK", 2021)], True),
        ([answered("200 OK", 2019), answered("404 Not Found", 2020), seen_again(2021)], True),
        ([answered("200 OK", 2019), answered("404 Not Found", 2020), seen_again(2021, "404 Not Found")], False),
        ([answered("200 OK", 2018), answered("200 OK", 2019), seen_again(2021, "404 Not Found")], False),
    ],
)
@pytest.mark.parametrize("all_captures", [False, True])
def test_a_later_answer_that_a_page_is_gone_removes_it(
    records: list[bytes], is_there: bool, all_captures: bool
) -> None:
    linking = record(OTHER, f"<title>other</title> mica <a href='{PAGE}'>granite</a>")
    for order in (records, records[::-1]):
        corpus = read_records([linking, *order], all_captures=all_captures)
        number = corpus.url_number(PAGE)
        assert bool(list(corpus.pages_of(number))) is is_there
        captures = sum(b"200 OK" in one and b"revisit" not in one for one in records)
        assert corpus.facts["skipped"].get("gone", 0) == (0 if is_there else captures)
        assert len(corpus.anchors_in(number)) == 1


def test_a_page_that_is_gone_may_have_moved_later_but_not_before() -> None:
    page, gone = answered("200 OK", 2018), answered("404 Not Found", 2020)
    for year, moved in ((2019, False), (2021, True)):
        redirect = answered("301 Moved", year, headers=MOVED)
        corpus = read_records([record(OTHER, f"mica <a href='{PAGE}'>granite</a>"), page, gone, redirect])
        assert (corpus.url(int(corpus.anchors.target[0])) == OTHER) is moved


def test_captures_without_a_date_outlive_any_answer() -> None:
    undated = warc(PAGE, http(b"granite"), date="")
    corpus = read_records([undated, answered("404 Not Found", 2020)])
    assert len(corpus) == 1


def addresses(records: list[bytes], **options: bool) -> set[str]:
    corpus = read_records(records, **options)
    urls = [corpus.url(number).removeprefix("http://a.example/") for number in range(len(corpus.urls))]
    assert urls == sorted(urls)
    assert corpus.facts["urls"] == len(urls)
    return set(urls)


def test_the_address_table_holds_what_kept_pages_name_and_other_names_of_it() -> None:
    records = [
        record(PAGE, "<a href=/early>early</a> <a href=/always>always</a>", at(2018)),
        record(PAGE, "<a href=/late>late</a> <a href=/always>always</a> <a href=/alias>alias</a>", at(2020)),
        record(OTHER, "<link rel=canonical href=/page> <a href=/copied>copied</a>", at(2020)),
        answered("301 Moved", 2020, "http://a.example/alias", "Location: /moved"),
        answered("301 Moved", 2020, "http://a.example/former", "Location: /page"),
        answered("301 Moved", 2020, "http://a.example/nobody", "Location: /knows"),
        answered("404 Not Found", 2020, "http://a.example/never"),
    ]
    expected = {"page", "other", "always", "late", "alias", "moved", "former"}
    assert addresses(records) == addresses(records[::-1]) == expected
    assert addresses(records, all_captures=True) == expected | {"early"}


def test_a_page_that_is_gone_is_an_address_only_where_others_name_it() -> None:
    gone = [answered("200 OK", 2018), answered("404 Not Found", 2020)]
    assert addresses([*gone, record(OTHER, "mica")]) == {"other"}
    assert addresses([*gone, record(OTHER, "<a href=/page>mica</a>")]) == {"other", "page"}
