"""No page is heavier than 100,000 bytes, whatever a collection holds, and long addresses lead where they should."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.collection import ReloadingCollection
from pagekin.web import addresses as to
from pagekin.web.brief import LONGEST, brief, number_in_full
from pagekin.web.collection_view import CollectionView
from pagekin.web.pages.compare import MOST
from pagekin.web.rendering import HEAVIEST, ends, few, href, listing, piece, short
from tests.bags.webs import read_records, record
from tests.routers.webs import build_leaf, get, wait_for

from .browser import network_below_paths
from .heavy import DEEP, PAGES, address, host, records, title
from .parsed import Parsed, harm
from .views import page_view

HTML = {"Accept": "text/html"}
LONG_QUERY = "volcano OR " + " OR ".join(f"{'é' * 10}{number:02}" for number in range(29))
"""Nearly as long as it may be."""


@pytest.fixture(scope="module")
def heavy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_leaf(tmp_path_factory.mktemp("heavy") / "heavy.kin", records(), clusters=30)


@pytest.fixture(scope="module")
def leaf(heavy: Path) -> ReloadingCollection:
    return ReloadingCollection(title(1)[:200], heavy)


def kept(collection: CollectionView, number: int) -> str:
    """The address of a page as the collection keeps it."""
    return collection.corpus.url(collection.corpus.url_number(address(number)))


def all_pages(leaf: ReloadingCollection) -> Iterator[str]:
    """The address of every kind of page of a collection, and of many of each."""
    collection = CollectionView.of(leaf.collection)
    corpus = collection.corpus
    yield from ("/", "/find", "/network", "/evaluation", "/about", "/cluster", "/nowhere", f"/{'nowhere' * 1_000}")
    for mode in ("search", "select", "expand"):
        for query in ("volcano", LONG_QUERY, "volcano NOT own1", corpus.word(0), f'"{title(1)[:900]}'):
            yield to.find(query, mode=mode)
            yield to.find(query, mode=mode, page=2, language="en", site=host(1), since="2011-01-01", until="2019-01-01")
    yield to.network("volcano")
    yield from (to.cluster(one.number) for one in leaf.label.clusters)
    for name, tree in collection.trees.items():
        yield from (to.tree(name, node) for node in range(0, len(tree), max(1, len(tree) // 30)))
    numbers = range(0, len(corpus.urls), 9)
    yield from (to.page(corpus.url(number)) for number in numbers)
    yield from (to.page(corpus.url(number), other=True) for number in numbers[::3])
    urls = [corpus.page_url(page) for page in range(len(corpus))]
    yield from (to.compare(urls[first : first + count]) for first in (0, 40) for count in (1, 2, 9, MOST))
    yield f"/compare?{urlencode({'add': title(3)[:2000]})}"
    for url in (*urls[:6], f"{urls[0]}-not-there", "http://" + "'" * 7_000, "'" * 7_900):
        yield f"/page?{urlencode({'url': url})}"
    yield "/page?url=" + "'" * 7_900
    yield "/about?" + "&" * 30_000


def test_no_page_is_heavier_than_allowed(leaf: ReloadingCollection, asked: Any) -> None:
    statuses = set()
    for path in all_pages(leaf):
        answer = asked.get(path, headers=HTML)
        statuses.add(answer.status_code)
        assert answer.status_code in (200, 400, 404), (path[:200], answer.text[:500])
        assert answer.headers["content-type"].startswith("text/html"), path[:200]
        assert len(answer.content) <= HEAVIEST, (path[:200], len(answer.content))
        assert harm(answer.text) == [], path[:200]
    assert statuses == {200, 400, 404}


def test_nor_at_a_router_above(heavy: Path) -> None:
    name = "n" * 60
    with network_below_paths({name: heavy}, {"top": ("middle",), "middle": (name,)}) as site:
        wait_for(lambda: get(site, "health").json["ready"] and get(site, "search", q="volcano").json["results"])
        found = get(site, "search", q="volcano").json["results"][0]
        paths = ["", "find", "network", "about", "cluster", "cluster/1", to.network("volcano")[1:]]
        paths += [
            to.find(query, mode=mode)[1:]
            for query in ("volcano", LONG_QUERY)
            for mode in ("search", "select", "expand")
        ]
        paths += (
            [to.page(found["url"])[1:]] if len(found["url"]) < LONGEST else [f"page?{urlencode({'url': found['url']})}"]
        )
        for path in paths:
            reply = get(site, path, headers=HTML)
            assert reply.status in (200, 404), (path[:100], reply.body[:300])
            assert len(reply.body) <= HEAVIEST, (path[:100], len(reply.body))
            assert harm(reply.body) == [], path[:100]
        led = [link for link in Parsed(get(site, paths[-1], headers=HTML).body).links if "path=" in link]
        assert led, "similar pages of the network"
        at = f"{site.partition('/top/')[0]}{led[0]}"
        for _step in range(2):
            reply = get(at, "", headers=HTML) if at.endswith("/") else get(*at.rsplit("/", 1), headers=HTML)
            assert reply.status == 303
            at = reply.headers["location"]
        final = get(*at.rsplit("/", 1), headers=HTML)
        assert final.status == 200
        assert len(final.body) <= HEAVIEST


def test_nothing_is_left_out_of_a_heavy_page_but_letters(collection: CollectionView, asked: Any) -> None:
    for number in range(0, PAGES, 18):
        view = page_view(collection, kept(collection, number))
        links = Parsed(asked.get(to.page(kept(collection, number)), headers=HTML).text).links
        assert len(view.similar) == 10
        assert view.neighbourhood
        shown = [one.page.url for one in view.similar] + [node.url for node in view.neighbourhood.nodes]
        assert {to.page(url) for url in shown} <= set(links)
        assert {to.compare([view.page.url, one.page.url]) for one in view.similar} <= set(links)


def test_every_link_of_a_heavy_page_leads_to_a_page(collection: CollectionView, asked: Any) -> None:
    links = Parsed(asked.get(to.page(kept(collection, 0)), headers=HTML).text).links
    ours = {link for link in links if link.startswith("/") and not link.startswith(("/schema", "/page.json"))}
    assert len(ours) > 60
    for link in sorted(ours)[::3]:
        assert asked.get(link, headers=HTML).status_code == 200, link


# -- long addresses in short ------------------------------------------------------------------------------------------------


def test_an_abbreviated_address_is_the_page(collection: CollectionView, asked: Any) -> None:
    for number in range(0, PAGES, 6):
        url = kept(collection, number)
        short_one = brief(url)
        assert len(url) > 1_900
        assert len(quote_plus(short_one)) <= LONGEST
        assert asked.get("/page.json", params={"url": short_one}).json()["page"]["url"] == url
        assert number_in_full(collection.corpus, short_one) == collection.corpus.url_number(url)


def test_it_is_the_same_in_every_build_and_of_an_alias_it_is_its_page() -> None:
    urls = [f"http://a.example/{'x' * 300}{number:04d}" for number in range(50)]
    few_pages = read_records([record(urls[7], "<title>Seven</title>")])
    many = read_records(
        [record(url, f"<title>{url}</title>") for url in (*reversed(urls), "http://a.example/", urls[0][:48])]
    )
    for corpus in (few_pages, many):
        number = number_in_full(corpus, brief(urls[7]))
        assert corpus.url(number) == urls[7]
    assert number_in_full(few_pages, brief(urls[8])) == -1
    assert len({brief(url) for url in urls}) == 50


@given(st.text(st.characters(codec="utf-8"), max_size=3_000))
def test_whatever_is_asked_for_is_no_abbreviation_or_found(text: str) -> None:
    url = f"http://a.example/{quote_plus(text)}"
    assert len(quote_plus(brief(url))) <= LONGEST
    assert (brief(url) == url) == (len(quote_plus(url)) <= LONGEST)


def test_an_abbreviation_of_nothing_is_not_there(collection: CollectionView, asked: Any) -> None:
    url = collection.corpus.url(0)
    begun, digest = brief(url).split("…")
    for wrong in (f"{begun}…{digest[:-1]}", f"{begun}…{digest[:-1]}x", f"{begun}…1-{'0' * 24}", f"{begun[1:]}…{digest}",
                  f"{begun}…999999999-{'0' * 24}", "…", f"{begun}…", f"{'水' * 48}…12-{'0' * 24}"):  # fmt: skip
        assert number_in_full(collection.corpus, wrong) == -1, wrong
        assert asked.get("/page", params={"url": wrong}, headers=HTML).status_code == 404


def test_many_long_pages_are_compared_and_taken_out(collection: CollectionView, asked: Any) -> None:
    urls = [collection.corpus.page_url(page) for page in range(MOST)]
    page = Parsed(asked.get(to.compare(urls), headers=HTML).text)
    hidden = [one["value"] for one in page.all("input") if one.get("name") == "url"]
    assert hidden[:MOST] == [brief(url) for url in urls]
    (out,) = (one["value"] for one in page.all("button") if one.get("value") == brief(urls[3]) and one["name"] == "out")
    answer = asked.get("/compare", params=[*(("url", one) for one in hidden[:MOST]), ("out", out)], headers=HTML)
    left = parse_qs(urlsplit(str(answer.url)).query)["url"]
    assert left == [brief(url) for url in urls if url != urls[3]]
    told = asked.get("/compare.json", params=[("url", one) for one in left]).json()
    assert [page["url"] for page in told["pages"]] == [url for url in urls if url != urls[3]]


def test_a_page_below_a_thousand_folders_names_the_first_and_the_last(collection: CollectionView, asked: Any) -> None:
    view = page_view(collection, kept(collection, DEEP))
    (trail,) = (one for one in view.trails if one.tree == "addresses")
    assert len(trail.clusters) > 500
    for path in (to.page(kept(collection, DEEP)), to.tree("addresses", trail.clusters[-1].node)):
        links = Parsed(asked.get(path, headers=HTML).text).links
        for one in (trail.clusters[0], trail.clusters[1], trail.clusters[-2]):
            assert to.tree("addresses", one.node) in links
        assert sum(link.startswith("/tree/addresses") for link in links) < 60


def test_a_long_query_is_refused_in_words(asked: Any) -> None:
    answer = asked.get("/find", params={"q": "ö" * 400}, headers=HTML)
    assert answer.status_code == 400
    assert "2,400 bytes in an address; 2,000 is the most" in Parsed(answer.text).text


# -- texts and rows, cut -------------------------------------------------------------------------------------------------------


def test_pieces_keep_the_spaces_at_their_borders() -> None:
    assert piece("before the ", -20) == "before the "
    assert piece("x" * 30 + " before the ", -20) == "…" + "xxxxxxxx before the "
    assert piece(" and after it", 20) == " and after it"
    assert piece(" and after it there is more", 20) == " and after it there…"


@given(st.lists(st.integers(), max_size=30), st.integers(1, 30))
def test_the_ends_of_a_row_and_its_beginning(items: list[int], most: int) -> None:
    shown = ends(items)
    assert len(shown) <= 8
    assert [one for one in shown if one is not None] == (items if len(items) <= 8 else items[:3] + items[-4:])
    assert (None in shown) == (len(items) > 8)
    assert few(items, most) == items[:most]


def test_only_addresses_that_are_not_too_long_lead_away() -> None:
    assert href("http://a.example/" + "x" * 1_900)
    assert not href("http://a.example/" + "x" * 2_000)
    assert not href("http://a.example/" + "&" * 500), "each takes five bytes"
    assert href("http://a.example/" + "&" * 500, 20_000)
    assert not href("javascript:alert(1)", 20_000)


def test_a_title_is_cut_and_says_so() -> None:
    assert short("one two", 20) == "one two"
    assert len(short("w" * 10_000, 60)) == 60
    assert short("w" * 10_000, 60).endswith("…")
    assert listing(["granite", "gneiss", "schist"], 20) == "granite, gneiss"
    assert listing(["w" * 99, "gneiss"], 60) == short("w" * 99, 60)
