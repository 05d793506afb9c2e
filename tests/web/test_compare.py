"""Several pages as one query: what they share and how alike they are, by sums over plain bags; pages come and go by address."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
import pytest
from litestar.testing import TestClient

from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import web_app
from pagekin.web.collection_view import CollectionView
from pagekin.web.pages.compare import MOST, CompareView
from tests.routers.webs import build_leaf, get, wait_for

from .fruit import ALIAS, APPLE, CIDER, ONE, ORCHARD, PEAR, TWO, WEB, bag_of, records
from .parsed import harmless
from .views import collection_of, compare_view

Client = TestClient[Any]
HTML = {"Accept": "text/html"}
SETS = ([APPLE, PEAR], [APPLE, CIDER, f"{TWO}/perry"], [ORCHARD, APPLE], [f"{ONE}/plum", f"{TWO}/guide/2"], [APPLE])


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> ReloadingCollection:
    return ReloadingCollection(
        "fruit", build_leaf(tmp_path_factory.mktemp("fruit") / "fruit.kin", records(), clusters=3)
    )


@pytest.fixture(scope="module")
def fruit(leaf: ReloadingCollection) -> CollectionView:
    return collection_of(leaf)


@pytest.fixture(scope="module")
def asked(leaf: ReloadingCollection) -> Iterator[Client]:
    app: Any = MountedRouters(
        {Place("testserver.local", 80): leaf, Place("testserver.local", 80, "/below/"): leaf}, web_app()
    )
    with TestClient(app) as made:
        made.follow_redirects = False
        yield made


def address(*urls: str, **more: str) -> str:
    return "/compare?" + urlencode([*(("url", url) for url in urls), *more.items()])


def view_of(fruit: CollectionView, urls: list[str]) -> CompareView:
    return compare_view(fruit, urls)


# -- what is told is so -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("urls", SETS)
def test_what_all_share_is_the_least_of_each(fruit: CollectionView, urls: list[str]) -> None:
    assert fruit.related
    bags = [bag_of(fruit.related, url) for url in urls]
    view = view_of(fruit, urls)
    if len(urls) == 1:
        assert view.shared == []
        return
    common = set.intersection(*(set(bag) for bag in bags))
    least = {term: min(bag[term] for bag in bags) for term in common}
    assert [term.weight for term in view.shared] == pytest.approx(sorted(least.values(), reverse=True)[:12])
    for term in view.shared:
        assert term.weight == pytest.approx(least[term.url or term.text])
        assert term.origins


@pytest.mark.parametrize("urls", SETS)
def test_similarities_are_exact(fruit: CollectionView, urls: list[str]) -> None:
    assert fruit.related
    bags = [bag_of(fruit.related, url) for url in urls]
    view = view_of(fruit, urls)
    for one, mine in enumerate(bags):
        for other, theirs in enumerate(bags):
            terms = mine.keys() | theirs.keys()
            expected = sum(min(mine.get(t, 0), theirs.get(t, 0)) for t in terms) / sum(
                max(mine.get(t, 0), theirs.get(t, 0)) for t in terms
            )
            assert view.similarities[one][other] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("urls", SETS)
def test_similar_pages_are_those_of_the_mean(fruit: CollectionView, urls: list[str]) -> None:
    assert fruit.related
    view = view_of(fruit, urls)
    expected = fruit.related.related(urls, 10)
    assert [(one.page.url, one.similarity) for one in view.similar] == [(one.url, one.similarity) for one in expected]
    assert not {one.page.url for one in view.similar} & set(urls)
    assert all(one.terms for one in view.similar if one.similarity > 0)


def test_the_order_of_pages_changes_only_the_order(fruit: CollectionView) -> None:
    one, other = view_of(fruit, [APPLE, CIDER, PEAR]), view_of(fruit, [PEAR, APPLE, CIDER])
    assert {(term.text, term.weight) for term in one.shared} == {(term.text, term.weight) for term in other.shared}
    assert [similar.page for similar in one.similar] == [similar.page for similar in other.similar]
    assert one.similarities[0][1] == other.similarities[1][2]


# -- pages come and go --------------------------------------------------------------------------------------------------------


def test_each_page_can_be_taken_out(asked: Client) -> None:
    urls = [APPLE, PEAR, CIDER]
    seen = harmless(asked.get(address(*urls), headers=HTML).text)
    assert [one["value"] for one in seen.all("button") if one.get("name") == "out"] == urls
    for url in urls:
        for form in ("/compare", "/compare.json", "/below/compare"):
            answer = asked.get(address(*urls, out=url).replace("/compare", form, 1), headers=HTML)
            assert answer.status_code == 303
            left = address(*(other for other in urls if other != url))
            assert answer.headers["location"] == left.replace("/compare", form, 1)
    hidden = [one["value"] for one in seen.all("input") if one.get("type") == "hidden"]
    assert hidden == urls * 2, "they stay when one is taken out or another is added"
    assert [one["action"] for one in seen.all("form")] == ["/find", "/compare", "/compare"]


def test_a_similar_page_is_added_by_a_button(asked: Client, fruit: CollectionView) -> None:
    urls = [PEAR, CIDER]
    seen = harmless(asked.get(address(*urls), headers=HTML).text)
    offered = [one["value"] for one in seen.all("button") if one.get("name") == "add"]
    assert offered == [one.page.url for one in view_of(fruit, urls).similar if one.terms] != []
    answer = asked.get(address(*urls, add=offered[0]), headers=HTML)
    assert answer.headers["location"] == address(*urls, offered[0])


def test_the_last_page_and_one_that_is_not_there_can_be_taken_out(asked: Client) -> None:
    assert asked.get(address(PEAR, out=PEAR)).headers["location"] == "/compare"
    assert asked.get(address(PEAR, out=f"{ONE}/none")).headers["location"] == address(PEAR)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        (CIDER, CIDER),
        ("two.example/cider", CIDER),
        (ALIAS, APPLE),
        (ORCHARD, ORCHARD),
        ("cider", CIDER),
        ("  CIDER!! ", CIDER),
        ("grafting part 3", f"{TWO}/guide/3"),
        ("Bittersweet milled", CIDER),
        ("perry OR (", f"{TWO}/perry"),
    ],
)
def test_a_page_is_added_by_address_or_by_words(asked: Client, added: str, expected: str) -> None:
    for form in ("/compare", "/compare.json", "/below/compare"):
        target = address(PEAR, add=added).replace("/compare", form, 1)
        answer = asked.get(target, headers=HTML)
        assert answer.status_code == 303, (added, answer.text[:300])
        assert answer.headers["location"] == address(PEAR, expected).replace("/compare", form, 1)
        assert asked.get(answer.headers["location"]).status_code == 200


@pytest.mark.parametrize("title", ["Gold", "gold", "  GOLD. ", "Oxygen", "Mount Everest"])
def test_a_title_means_the_page_that_has_it(client: Client, demo: ReloadingCollection, title: str) -> None:
    client.follow_redirects = False
    collection = collection_of(demo)
    (url,) = parse_qs(urlsplit(client.get(address(add=title)).headers["location"]).query)["url"]
    found = collection.link(collection.corpus.url_number(url)).title
    assert found.lower() == title.strip(" .").lower()


def test_of_titles_with_the_words_the_shortest_is_meant(client: Client, demo: ReloadingCollection) -> None:
    client.follow_redirects = False
    collection = collection_of(demo)
    titles = [page.title for page in collection.page_links(range(len(collection.corpus)))]
    long = [title for title in titles if {"gold", "print"} <= set(title.lower().replace("(", "").split())]
    assert len(long) >= 1
    (url,) = parse_qs(urlsplit(client.get(address(add="gold print")).headers["location"]).query)["url"]
    assert collection.link(collection.corpus.url_number(url)).title == min(long, key=len)


def test_words_do_not_add_a_page_twice(asked: Client) -> None:
    answer = asked.get(address(CIDER, add="cider"))
    if answer.status_code == 303:  # another page that speaks of it
        found = parse_qs(urlsplit(answer.headers["location"]).query)["url"]
        assert found[0] == CIDER and found[1] != CIDER
    already = asked.get(address(CIDER, add=CIDER).replace("compare", "compare.json", 1))
    assert already.status_code == 200 and "already" in already.json()["note"]


@pytest.mark.parametrize(
    "added", ["xylophone", "?!", "NOT", "(((", '"', "title:", "http://nowhere.example/", "a" * 5000, "🌋"]
)
def test_what_matches_nothing_is_told(asked: Client, added: str) -> None:
    shown = asked.get(address(PEAR, add=added), headers=HTML)
    assert shown.status_code == 200
    seen = harmless(shown.text)
    told = asked.get(address(PEAR, add=added).replace("compare", "compare.json", 1)).json()
    assert told["note"] and told["note"] in seen.text
    assert [page["url"] for page in told["pages"]] == [PEAR]


def test_the_same_page_twice_counts_once(asked: Client) -> None:
    told = asked.get(address(APPLE, ALIAS, f"{APPLE}#top", PEAR, "").replace("compare", "compare.json", 1)).json()
    assert [page["url"] for page in told["pages"]] == [APPLE, PEAR]


def test_there_are_limits(asked: Client) -> None:
    many = [*WEB, ORCHARD]
    assert len(many) < MOST
    assert asked.get(address(*many)).status_code == 200
    assert asked.get(address("a" * 9_000)).status_code == 400


def test_too_many_pages_are_refused(client: Client, demo: ReloadingCollection) -> None:
    corpus = collection_of(demo).corpus
    urls = [corpus.page_url(page) for page in range(MOST + 1)]
    client.follow_redirects = False
    assert client.get(address(*urls[:MOST])).status_code == 200
    assert len(client.get(address(*urls[:MOST]), headers=HTML).content) <= 100_000
    told = client.get(address(*urls))
    assert told.status_code == 400 and "the limit is 20" in told.json()["detail"]
    full = client.get(address(*urls[:MOST], add=urls[MOST]).replace("compare", "compare.json", 1))
    assert full.status_code == 200 and "remove one first" in full.json()["note"]


# -- as HTML and as JSON --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("urls", [[], *SETS])
def test_json_is_the_view(fruit: CollectionView, asked: Client, urls: list[str]) -> None:
    answer = asked.get(address(*urls).replace("compare", "compare.json", 1).rstrip("?"))
    assert msgspec.json.decode(answer.content, type=CompareView) == view_of(fruit, urls)
    seen = harmless(asked.get(address(*urls).rstrip("?"), headers=HTML).text)
    for one in view_of(fruit, urls).similar:
        assert f"/page?{urlencode({'url': one.page.url})}" in seen.links
    cells = [one for one in seen.all("th") if one.get("scope") == "row"]
    assert len(urls) < 2 or len(cells) >= len(urls)


def test_an_unknown_page_is_told_with_the_nearest(asked: Client) -> None:
    answer = asked.get(address(APPLE, f"{ONE}/peer").replace("compare", "compare.json", 1))
    assert answer.status_code == 404
    assert PEAR in [one["url"] for one in answer.json()["nearest"]]


def test_a_router_lists_pages_like_several(network_site: str) -> None:
    wait_for(lambda: get(network_site, "health").json["ready"])
    first = get(network_site, "search", q="metal").json["results"]
    urls = [hit["url"] for hit in first[:2]]
    view = get(network_site, f"compare.json?{urlencode({'url': urls}, doseq=True)}").json
    assert [page["url"] for page in view["pages"]] == urls
    assert view["shared"] == view["similarities"] == [] and view["similar"]
    assert not {one["page"]["url"] for one in view["similar"]} & set(urls)
    assert all(len(one["path"]) > 1 and one["terms"] for one in view["similar"])
    html = get(network_site, f"compare?{urlencode({'url': urls}, doseq=True)}", headers=HTML).body.decode()
    assert "Pages like all of them together" in harmless(html).text
    added = get(network_site, f"compare.json?{urlencode({'url': urls[0], 'add': first[1]['title']})}")
    together = parse_qs(urlsplit(added.headers["location"]).query)["url"]
    assert added.status == 303 and together[0] == urls[0] and len(together) == 2


def test_without_an_index_pages_are_named_only(leaf: ReloadingCollection) -> None:
    plain = ReloadingCollection("plain", leaf.path)
    plain.collection.corpus.facts.pop("index")
    view = compare_view(plain, [APPLE])
    assert [page.url for page in view.pages] == [APPLE]
    assert view.similar == view.shared == view.similarities == [] and "pagekin index" in view.note
