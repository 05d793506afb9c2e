"""The page of a page: what it says is so, whatever the page says does no harm, and what is not there is told."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from litestar.testing import TestClient

from pagekin.bags import LinkUse, Strategy, classify_links
from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.similarity import RankingOptions
from pagekin.web import web_app
from pagekin.web.collection_view import ClusterLink, CollectionView
from pagekin.web.pages.page import PageView, Trail
from tests.bags.webs import record
from tests.routers.webs import build_leaf

from .fruit import (
    ALIAS,
    APPLE,
    APPLE_TEXT,
    CIDER,
    COPY,
    ONE,
    ORCHARD,
    PEAR,
    PRINT,
    TWO,
    WEB,
    bag_of,
    links,
    records,
)
from .parsed import Parsed, harmless
from .views import collection_of, page_view

Client = TestClient[Any]
HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_leaf(tmp_path_factory.mktemp("fruit") / "fruit.kin", records(), clusters=3)


@pytest.fixture(scope="module")
def leaf(path: Path) -> ReloadingCollection:
    return ReloadingCollection("fruit", path)


@pytest.fixture(scope="module")
def fruit(leaf: ReloadingCollection) -> CollectionView:
    return collection_of(leaf)


@pytest.fixture(scope="module")
def asked(leaf: ReloadingCollection) -> Iterator[Client]:
    app: Any = MountedRouters(
        {Place("testserver.local", 80): leaf, Place("testserver.local", 80, "/below/"): leaf}, web_app()
    )
    with TestClient(app) as made:
        yield made


def view_of(fruit: CollectionView, url: str, **options: Any) -> PageView:
    return page_view(fruit, url, **options)


# -- facts ----------------------------------------------------------------------------------------------------------------


def test_what_is_known_of_a_page(fruit: CollectionView) -> None:
    view = view_of(fruit, APPLE)
    assert (view.page.url, view.page.title, view.page.site) == (APPLE, "Apple", "one.example")
    assert view.page.date == 1620129600
    assert view.language == "English"
    assert view.captures == 1
    assert view.aliases == [ALIAS]
    assert view.opening.startswith("The apple is a crisp fruit of temperate gardens"), "not with the menu"


def test_an_alias_and_an_address_without_its_scheme_lead_to_the_page(fruit: CollectionView, asked: Client) -> None:
    for spelling in (ALIAS, "one.example/apple", "HTTP://ONE.example:80/x/../apple#core", f"  {APPLE} "):
        answer = asked.get("/page.json", params={"url": spelling})
        assert answer.status_code == 200 and answer.json()["page"]["url"] == APPLE, spelling


def test_terms_are_the_heaviest_of_the_bag(fruit: CollectionView) -> None:
    view = view_of(fruit, APPLE)
    assert fruit.related
    bag = bag_of(fruit.related, APPLE)
    heaviest = sorted(bag.values(), reverse=True)[: len(view.terms)]
    assert [term.weight for term in view.terms] == pytest.approx(heaviest)
    for term in view.terms:
        assert bag[term.url or term.word] == pytest.approx(term.weight)
        if term.kind == "word" and "content" in term.origins:
            assert (
                term.text[:4]
                in APPLE_TEXT.lower() + " see also pear its cousin old walled orchard herefordshire famous"
            )
        if term.kind == "links to":
            assert (APPLE, term.url) in links() and term.text != term.url
    words = {term.text: term.origins for term in view.terms if term.kind == "word"}
    assert {"title", "anchors"} <= set(words["apple"])


@pytest.mark.parametrize("url", [*WEB, ORCHARD])
def test_links_are_counted_once_for_each_page(fruit: CollectionView, url: str) -> None:
    view = view_of(fruit, url)
    citing = {source for source, target in links() if target == url}
    assert view.linking_pages == len(citing)
    assert view.linked_pages == len({target for source, target in links() if source == url})
    shown = [quote.page.url for quote in view.quotes]
    assert len(shown) == len(set(shown)) == min(8, len(citing)) and set(shown) <= citing


def test_every_page_that_links_here_is_named(demo: ReloadingCollection, client: Client) -> None:
    collection = collection_of(demo)
    corpus = collection.corpus
    for page in range(0, len(corpus), len(corpus) // 40):
        url = corpus.page_url(page)
        view = page_view(collection, url)
        anchors = corpus.anchors_in(corpus.url_number(url)).tolist()
        citing = {corpus.page_url(corpus.page_of_anchor(anchor)) for anchor in anchors} - {url}
        named = [*(quote.page.url for quote in view.quotes), *(link.url for link in view.also_linking)]
        assert len(named) == len(set(named)) and set(named) <= citing
        assert len(named) == min(len(citing), 8 + 100)
        seen = Parsed(client.get("/page", params={"url": url}, headers=HTML).text)
        assert {f"/page?{urlencode({'url': one})}" for one in named} <= set(seen.links)
        assert (f"The other {len(citing) - 8}" in seen.text) == (len(citing) > 8)


def test_a_page_that_all_link_to_stays_small(tmp_path: Path) -> None:
    far = [f"http://many.example/{'é' * 60}/{number}" for number in range(140)]
    words = "volcano lava crater ash eruption"
    records = [
        record(url, f"<title>{'<b>' * 30}</title><p>{words} <a href='http://many.example/'>peak</a>") for url in far
    ]
    records.append(record("http://many.example/", f"<title>Peak</title><p>{words}"))
    leaf = ReloadingCollection("many", build_leaf(tmp_path / "many.kin", records, clusters=2))
    view = page_view(leaf, "http://many.example/")
    assert view.linking_pages == 140 and len(view.also_linking) == 100
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(app) as asked:
        answer = asked.get("/page", params={"url": "http://many.example/"}, headers=HTML)
    assert len(answer.content) <= 100_000
    assert "and 32 more" in harmless(answer.text).text


def test_pages_of_one_title_are_told_apart_by_their_addresses(tmp_path: Path) -> None:
    words = "volcano lava crater ash eruption"
    pages = {
        f"http://same.example/about/{name}.html": f"<title>Home</title><p>{words} <a href='../'>peak</a>"
        for name in "abcdefghijkl"
    }
    pages["http://same.example/"] = f"<title>Peak</title><p>{words}"
    leaf = ReloadingCollection(
        "same", build_leaf(tmp_path / "same.kin", [record(*one) for one in pages.items()], clusters=2)
    )
    view = page_view(leaf, "http://same.example/")
    assert len(view.also_linking) == 4 and {link.title for link in view.also_linking} == {"Home"}
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(app) as asked:
        text = harmless(asked.get("/page", params={"url": "http://same.example/"}, headers=HTML).text).text
        for link in view.also_linking:
            assert f"Home {link.url.removeprefix('http://')}" in text
        some = [link.url for link in view.also_linking[:2]]
        text = harmless(asked.get("/compare", params={"url": some}, headers=HTML).text).text
        assert all(text.count(f"Home {url.removeprefix('http://')}") == 2 for url in some)
    assert view.neighbourhood
    titles = [node.title for node in view.neighbourhood.nodes]
    assert len(titles) == len(set(titles)) > 4 and titles[0] == "Peak"


def test_crumbs_name_nothing_twice_in_a_row() -> None:
    def link(node: int, name: str) -> ClusterLink:
        return ClusterLink(tree="clusters", node=node, name=name, pages=9)

    names = ["All pages", "metals", "metals", "metals", "lead", "metals"]
    trail = Trail(tree="clusters", name="Topic", clusters=[link(node, name) for node, name in enumerate(names)])
    assert [(one.node, one.name) for one in trail.crumbs] == [
        (0, "All pages"),
        (3, "metals"),
        (4, "lead"),
        (5, "metals"),
    ]


def test_links_are_quoted_with_the_text_around_them(fruit: CollectionView) -> None:
    quotes = {quote.page.url: (quote.before, quote.text, quote.after) for quote in view_of(fruit, APPLE).quotes}
    assert quotes[CIDER][:2] == ("Good cider begins with ", "crisp apples")
    assert quotes[CIDER][2].startswith(", pressed cold in autumn. Bittersweet") and quotes[CIDER][2].endswith(" …")
    assert quotes[PEAR] == ("Its cousin is the ", "apple", ".")
    assert quotes[f"{ONE}/"] == ("", "Apples", "")
    assert quotes[f"{TWO}/image"][1] == ""
    assert quotes[f"{TWO}/image"][0].strip() == "Nothing but"


def test_an_address_that_was_not_read_is_known_by_its_links(fruit: CollectionView, asked: Client) -> None:
    view = view_of(fruit, ORCHARD)
    assert (view.captures, view.opening, view.trails, view.document) == (0, "", [], None)
    assert not view.page.captured
    assert {quote.text for quote in view.quotes} == {"old walled orchard", "walled orchard"}
    assert view.similar and {"walled", "orchard"} <= {term.text for term in view.terms}
    assert "was not read" in asked.get("/page", params={"url": ORCHARD}, headers=HTML).text


def test_a_page_stands_in_its_clusters(fruit: CollectionView) -> None:
    for url in WEB:
        view = view_of(fruit, url)
        page = fruit.corpus.pages_of(fruit.corpus.url_number(url))[0]
        assert {trail.tree for trail in view.trails} == set(fruit.trees) - {"documents"}
        for trail in view.trails:
            tree = fruit.trees[trail.tree]
            assert (trail.clusters[0].node, trail.clusters[0].pages) == (0, len(fruit.corpus))
            for above, below in zip(trail.clusters, trail.clusters[1:], strict=False):
                assert tree.parent[below.node] == above.node
            assert all(page in tree.pages_of(cluster.node) for cluster in trail.clusters)


def test_pages_of_one_document_name_each_other(fruit: CollectionView) -> None:
    assert "documents" in fruit.trees, "the guide is one document"
    view = view_of(fruit, f"{TWO}/guide/2")
    assert view.document and view.document.cluster.pages == 5
    assert {page.url for page in view.document.pages} == {f"{TWO}/guide/{name}" for name in ("", "1", "3", "4")}
    assert view_of(fruit, APPLE).document is None


# -- similar pages --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("url", [APPLE, CIDER, ORCHARD])
def test_similar_pages_are_those_of_the_index(fruit: CollectionView, url: str, other: bool) -> None:
    index = fruit.related
    assert index
    answer = index.answer(index.query_of([url]), RankingOptions(sites="other" if other else "all"))
    view = view_of(fruit, url, sites="other" if other else "all")
    assert [(one.page.url, one.similarity) for one in view.similar] == [
        (one.url, one.similarity) for one in answer.results
    ]
    assert [one.copies for one in view.similar] == [list(one.copies) for one in answer.results]
    if other:
        assert not {one.page.site for one in view.similar} & {view.page.site}


@pytest.mark.parametrize(
    "options",
    [
        {}, {"k": 3}, {"sites": "same"}, {"sites": "other"}, {"captured_only": "true"}, {"min_similarity": 0.1},
        {"method": "exact"}, {"method": "estimate"}, {"fold": "false"}, {"site": "two.example"}, {"language": "en"},
        {"since": 1_600_000_000}, {"until": 1_600_000_000},
    ],
)  # fmt: skip
def test_data_lists_the_same_pages_as_the_service_with_the_same_options(asked: Client, options: dict[str, Any]) -> None:
    service = asked.get("/related", params={"url": APPLE, "explain": "true", **options})
    view = asked.get("/page.json", params={"url": APPLE, **options})
    assert service.status_code == view.status_code == 200
    assert [(one["page"]["url"], one["similarity"], one["error"]) for one in view.json()["similar"]] == [
        (one["url"], one["score"], one["error"]) for one in service.json()["results"]
    ]
    for one, hit in zip(view.json()["similar"], service.json()["results"], strict=True):
        assert [term["word"] or term["url"] for term in one["terms"]] == [term["term"] for term in hit["terms"]][:8]


def test_a_day_is_a_filter_too(asked: Client) -> None:
    every = asked.get("/page.json", params={"url": APPLE, "k": 100}).json()["similar"]
    late = asked.get("/page.json", params={"url": APPLE, "k": 100, "since": "2021-05-05"}).json()["similar"]
    assert late == [] or {one["page"]["url"] for one in late} < {one["page"]["url"] for one in every}


def test_the_threshold_is_named_where_it_leaves_out_pages(fruit: CollectionView, asked: Client) -> None:
    few = view_of(fruit, APPLE, min_similarity=0.2)
    none = view_of(fruit, APPLE, min_similarity=0.99)
    assert len(few.similar) < 10 and "α = 0.2" in few.note
    assert none.similar == [] and "α = 0.99" in none.note
    for least, view in ((0.2, few), (0.99, none)):
        page = asked.get("/page", params={"url": APPLE, "min_similarity": least}, headers=HTML).text
        assert view.note in harmless(page).text


def test_near_copies_are_told_also_when_other_sites_are_asked_for(fruit: CollectionView, asked: Client) -> None:
    for other in (False, True):
        view = view_of(fruit, APPLE, sites="other" if other else "all")
        assert {copy.url for copy in view.copies} == {COPY, PRINT}
        assert not {one.page.url for one in view.similar} & {COPY, PRINT}
    assert view_of(fruit, PEAR).copies == []
    assert [one.copies for one in view_of(fruit, PEAR).similar if one.page.url in (APPLE, COPY, PRINT)] != [[]]
    assert "also at " in harmless(asked.get("/page", params={"url": PEAR}, headers=HTML).text).text


def test_why_is_true(fruit: CollectionView) -> None:
    index = fruit.related
    assert index
    view = view_of(fruit, APPLE)
    mine = bag_of(index, APPLE)
    for one in view.similar:
        theirs = bag_of(index, one.page.url)
        shared = {term: min(mine[term], theirs[term]) for term in mine.keys() & theirs.keys()}
        union = sum(mine.values()) + sum(theirs.values()) - sum(shared.values())
        assert 0 < one.similarity <= 1
        assert one.signals
        assert one.error == 0
        best = sorted(shared.values(), reverse=True)[: len(one.terms)]
        assert [term.share * sum(shared.values()) for term in one.terms] == pytest.approx(best)
        for term in one.terms:
            assert term.contribution == pytest.approx(shared[term.url or term.word] / union)
        citing = {source for source, target in links() if target == one.page.url}
        also = {source for source, target in links() if target == APPLE}
        assert {quote.page.url for quote in one.quotes} <= citing
        assert [quote.both for quote in one.quotes] == [quote.page.url in also for quote in one.quotes]
        if citing & also:
            assert one.quotes[0].both


def test_pages_that_link_to_both_come_first(demo: ReloadingCollection) -> None:
    collection = collection_of(demo)
    corpus, told = collection.corpus, 0
    counts = classify_links(corpus, Strategy()) == LinkUse.COUNTS

    def citing(url: str, counting: bool = False) -> set[str]:
        anchors = corpus.anchors_in(corpus.url_number(url)).tolist()
        some = [anchor for anchor in anchors if counts[anchor] or not counting]
        return {corpus.page_url(corpus.page_of_anchor(anchor)) for anchor in some} - {url}

    for page in range(0, len(corpus), len(corpus) // 25):
        view = page_view(collection, corpus.page_url(page))
        mine = citing(view.page.url)
        for one in view.similar:
            theirs = citing(one.page.url, counting=True)
            assert len(one.quotes) == min(2, len(theirs))
            assert sum(quote.both for quote in one.quotes) == min(2, len(mine & theirs))
            told += len(theirs) > 4 and 0 < len(mine & theirs) < len(theirs)
    assert told > 50, "so there was something to choose from"


def test_other_sites_can_be_asked_for_only_where_there_are_some(
    asked: Client, leaf: ReloadingCollection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert (
        "/page?" + urlencode({"url": APPLE, "other": 1})
        in Parsed(asked.get("/page", params={"url": APPLE}, headers=HTML).text).links
    )
    alone = [one for one in records() if b"two.example" not in one and b"gone.example" not in one]
    single = ReloadingCollection("one", build_leaf(tmp_path_factory.mktemp("one") / "one.kin", alone, clusters=2))
    view = page_view(single, PEAR, sites="other")
    assert view.one_site and view.similar == [] and "one host only" in view.note and view.terms
    assert page_view(single, PEAR).similar


# -- the picture ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [*WEB, ORCHARD])
def test_the_neighbourhood_has_all_links_between_its_pages(fruit: CollectionView, url: str) -> None:
    around = view_of(fruit, url).neighbourhood
    assert around
    urls = [node.url for node in around.nodes]
    assert urls[0] == url and len(set(urls)) == len(urls) <= 16
    drawn = {(urls[link.source], urls[link.target]) for link in around.links}
    assert drawn == {(a, b) for a, b in links() if a in urls and b in urls}
    assert len(drawn) == len(around.links)
    for node in around.nodes[1:]:
        if node.role == "in":
            assert (node.url, url) in links()
        if node.role == "out":
            assert (url, node.url) in links() and (node.url, url) not in links()


def test_every_page_of_the_picture_is_a_link(fruit: CollectionView, asked: Client) -> None:
    seen = harmless(asked.get("/page", params={"url": APPLE}, headers=HTML).text)
    around = view_of(fruit, APPLE).neighbourhood
    assert around
    for node in around.nodes:
        assert seen.links.count("/page?" + urlencode({"url": node.url})) >= 2, "on wide and on narrow screens"


# -- as HTML and as JSON ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", [APPLE, ORCHARD, f"{TWO}/guide/2", f"{ONE}/plum"])
def test_json_is_the_view(fruit: CollectionView, asked: Client, url: str) -> None:
    answer = asked.get("/page.json", params={"url": url})
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == json.loads(msgspec.json.encode(view_of(fruit, url)))
    assert msgspec.json.decode(answer.content, type=PageView) == view_of(fruit, url)
    assert asked.get("/page", params={"url": url}, headers={"Accept": "application/json"}).json() == answer.json()


def test_the_page_shows_what_the_view_holds(fruit: CollectionView, asked: Client) -> None:
    view = view_of(fruit, APPLE)
    html = asked.get("/page", params={"url": APPLE}, headers=HTML).text
    seen = harmless(html)
    for text in (view.page.title, "2021-05-04", "English", ALIAS, "5 pages", "crisp apples", "compared exactly"):
        assert text in seen.text, text
    for one in view.similar:
        assert f"/page?{urlencode({'url': one.page.url})}" in seen.links
        assert f"/compare?{urlencode([('url', APPLE), ('url', one.page.url)])}" in seen.links
    assert len([one for one in seen.all("details") if one.get("class") == "why"]) == len(
        [one for one in view.similar if one.terms]
    )
    for trail in view.trails:
        for cluster in trail.clusters:
            assert f"/tree/{trail.tree}" + (f"/{cluster.node}" if cluster.node else "") in seen.links
    assert APPLE in seen.text
    assert "<mark>crisp apples</mark>" in html
    assert f"/compare?{urlencode({'url': APPLE})}" in seen.links


def test_below_a_path_all_addresses_begin_there(asked: Client) -> None:
    seen = harmless(asked.get("/below/page", params={"url": APPLE}, headers=HTML).text)
    ours = [href for href in seen.links if href.startswith("/")]
    assert len(ours) > 30 and all(href.startswith("/below/") for href in ours)


def test_pages_that_mean_harm_do_none(hostile_collection: Path) -> None:
    leaf = ReloadingCollection("<script>alert(1)</script>\"'>", hostile_collection)
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    collection = collection_of(leaf)
    with TestClient(app) as client:
        numbers = range(len(collection.corpus.urls))
        urls = [collection.corpus.url(number) for number in numbers]
        assert len(urls) >= 32
        for url in urls[:: max(1, len(urls) // 24)]:
            for target in ("/page", "/compare"):
                answer = client.get(target, params={"url": url}, headers=HTML)
                assert answer.status_code == 200, (url, answer.text[:300])
                seen = harmless(answer.text)
                assert not any(mark in seen.text for mark in "\u202e\u2067\u2069\u200f")
                assert max(map(len, seen.text.split())) < 1_000
                assert client.get(f"{target}.json", params={"url": url}).status_code == 200


def test_a_page_is_small(client: Client, demo: ReloadingCollection) -> None:
    corpus = collection_of(demo).corpus
    for page in range(0, len(corpus), len(corpus) // 12):
        answer = client.get("/page", params={"url": corpus.page_url(page)}, headers=HTML)
        assert answer.status_code == 200
        assert len(answer.content) <= 100_000, corpus.page_url(page)
        harmless(answer.text)


# -- what is not there ------------------------------------------------------------------------------------------------------


def test_an_unknown_address_is_told_with_the_nearest(asked: Client) -> None:
    wrong = f"{ONE}/aple"
    answer = asked.get("/page", params={"url": wrong}, headers=HTML)
    assert answer.status_code == 404
    assert f"/page?{urlencode({'url': APPLE})}" in harmless(answer.text).links
    told = asked.get("/page.json", params={"url": wrong})
    assert told.status_code == 404
    assert told.json()["status_code"] == 404 and wrong in told.json()["detail"]
    assert APPLE in [one["url"] for one in told.json()["nearest"]]


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "http://", "http://[", "<script>alert(1)</script>", "\u202e", "\x00", "%", "a" * 7_000, "🌋",
     "//one.example/aple", "http://one.example/\ud800"],
)  # fmt: skip
@pytest.mark.parametrize("target", ["/page", "/compare"])
def test_what_is_no_address_is_not_there(asked: Client, url: str, target: str) -> None:
    query = urlencode({"url": url.encode("utf-8", "surrogatepass")})
    answer = asked.get(f"{target}?{query}", headers=HTML)
    assert answer.status_code in (400, 404), answer.status_code
    harmless(answer.text)


def test_what_is_asked_wrongly_is_told(asked: Client) -> None:
    for query in ("", "?url=", "?url=%20", f"?url={'a' * 9_000}", f"?url={APPLE}&other=perhaps"):
        answer = asked.get(f"/page{query}")
        assert answer.status_code == 400, query
        assert answer.json()["detail"]
        shown = asked.get(f"/page{query}", headers=HTML)
        assert shown.status_code == 400 and "<h1>" in shown.text


def test_without_an_index_the_rest_is_shown(path: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "plain.kin"
    shutil.copytree(path, copy)
    leaf = ReloadingCollection("plain", copy)
    leaf.collection.corpus.facts.pop("index")
    view = page_view(leaf, APPLE)
    assert view.similar == [] and view.terms == [] and "pagekin index" in view.note
    assert view.linking_pages == 5 and len(view.quotes) == 5
    assert view.neighbourhood and {node.role for node in view.neighbourhood.nodes} == {"here", "in", "out"}
