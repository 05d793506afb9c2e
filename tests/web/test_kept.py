"""What pages show stays there: each part of a page is looked for, and compared with what the collection holds."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import lxml.html
import pytest
from litestar.testing import TestClient

from pagekin import __version__
from pagekin.bags import Strategy, settings_table
from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import web_app
from pagekin.web.collection_view import CollectionView
from pagekin.web.pages.page import PageView
from pagekin.web.pages.why import SharedTerm, Similar
from pagekin.web.rendering import percent, templates
from tests.bags.webs import record
from tests.routers.webs import build_leaf
from tests.sources.making import http, warc

from .fruit import APPLE, CIDER, ONE, PEAR, TWO, records
from .views import collection_of, page_view

HTML = {"Accept": "text/html"}
FOREIGN = {
    f"{TWO}/apfel": (
        "de",
        "Der Apfel ist eine Frucht und reift im Herbst auf dem Baum in unserem Garten.",
        "2022-10-01",
    ),
    f"{TWO}/pomme": (
        "fr",
        "La pomme est un fruit et elle mûrit dans le jardin pendant les jours d’automne.",
        "2023-09-02",
    ),
}
"""Pages in other languages: of which, what, and when."""
PICTURES = 3
"""Records that are no pages."""


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> ReloadingCollection:
    """The small web about fruit, with pages of other languages and days, and records that are left out."""
    some = [
        *records(),
        *(
            record(url, f"<html lang={code}><title>{code} fruit</title><p>{text} {text}", date=f"{day}T12:00:00Z")
            for url, (code, text, day) in FOREIGN.items()
        ),
        *(warc(f"{ONE}/{n}.png", http(b"\x89PNG", "Content-Type: image/png")) for n in range(PICTURES)),
    ]
    return ReloadingCollection("fruit", build_leaf(tmp_path_factory.mktemp("kept") / "fruit.kin", some, clusters=3))


@pytest.fixture(scope="module")
def fruit(leaf: ReloadingCollection) -> CollectionView:
    return collection_of(leaf)


@pytest.fixture(scope="module")
def client(leaf: ReloadingCollection) -> Iterator[TestClient[Any]]:
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(app) as made:
        yield made


def page_at(client: TestClient[Any], path: str, **asked: Any) -> Any:
    """A page as a tree of elements."""
    answer = client.get(f"{path}?{urlencode(asked)}" if asked else path, headers=HTML)
    assert answer.status_code == 200
    return lxml.html.fromstring(answer.text)


def text_of(element: Any) -> str:
    return " ".join(element.text_content().split())


def below(page: Any, heading: str) -> Any:
    """What follows a heading of the second level, up to the next."""
    (title,) = [one for one in page.iter("h2") if text_of(one).startswith(heading)]
    box = lxml.html.Element("div")
    after = title.getnext()
    while after is not None and after.tag != "h2":
        following = after.getnext()
        box.append(after)
        after = following
    return box


def pairs_of(page: Any, heading: str) -> dict[str, str]:
    """Names and values of the list below a heading."""
    found = below(page, heading)
    return dict(zip(map(text_of, found.iter("dt")), map(text_of, found.iter("dd")), strict=True))


def lengths_of(element: Any) -> list[float]:
    """How long the bars are that are drawn in an element."""
    return [float(path.get("d").rpartition("h")[2]) for path in element.xpath(".//*[contains(@class, 'bar')]//path")]


# -- a page ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def apple(fruit: CollectionView) -> PageView:
    view = page_view(fruit, APPLE)
    assert view.copies and view.similar and view.quotes
    return view


def test_near_copies_of_a_page_are_listed(client: TestClient[Any], apple: PageView) -> None:
    listed = below(page_at(client, "/page", url=APPLE), "Near copies")
    led = [(text_of(one), parse_qs(urlsplit(one.get("href")).query)["url"][0]) for one in listed.iter("a")]
    assert led == [(copy.title, copy.url) for copy in apple.copies]


def why_of(client: TestClient[Any], similar: Similar) -> Any:
    """The part that says why a page is like the apple's."""
    page = page_at(client, "/page", url=APPLE)
    (item,) = [
        one for one in page.xpath("//ol[contains(@class, 'similar')]/li")
        if parse_qs(urlsplit(one.find(".//a").get("href")).query)["url"][0] == similar.page.url
    ]  # fmt: skip
    (why,) = item.iter("details")
    return why


def name_origins(origins: list[str]) -> str:
    """Where a term is from, in the words of pages."""
    names = {
        "content": "text",
        "title": "title",
        "anchors": "link words",
        "links": "links to it",
        "outlinks": "its links",
    }
    return ", ".join(names[one] for one in origins)


def test_why_two_pages_are_alike_is_told_with_bars_and_origins(client: TestClient[Any], apple: PageView) -> None:
    for similar in apple.similar:
        rows = list(why_of(client, similar).find(".//tbody").iter("tr"))
        assert len(rows) == len(similar.terms) > 0
        for row, term in zip(rows, similar.terms, strict=True):
            cells = [text_of(cell) for cell in row]
            assert term.text in cells[0] and cells[1] == percent(term.share)
            assert lengths_of(row) == [pytest.approx(term.share / similar.terms[0].share, abs=0.001)]
            assert cells[2] == (name_origins(term.origins) if term.kind == "word" else "")
    words = [term for similar in apple.similar for term in similar.terms if term.kind == "word"]
    assert {where for term in words for where in name_origins(term.origins).split(", ")} >= {"text", "link words"}


def test_why_quotes_those_who_link_to_the_similar_page(client: TestClient[Any], apple: PageView) -> None:
    quoting = [similar for similar in apple.similar if similar.quotes]
    assert quoting
    for similar in quoting:
        why = why_of(client, similar)
        quotes = [
            (text_of(one.find(".//mark")), text_of(one)) for one in why.iter("q") if one.find(".//mark") is not None
        ]
        expected = [quote for quote in similar.quotes if quote.text]
        assert len(quotes) == len(expected)
        for (words, whole), quote in zip(quotes, expected, strict=True):
            assert words == quote.text and whole.startswith(quote.before[:20].strip())
        assert {quote.page.title for quote in similar.quotes} <= {text_of(link) for link in why.iter("a")}


def test_how_sure_a_similarity_is_is_told(client: TestClient[Any], apple: PageView) -> None:
    for similar in apple.similar:
        assert f"{similar.similarity * 100:.1f} %, compared exactly" in text_of(why_of(client, similar))
    term = SharedTerm(
        text="pip", kind="word", share=1.0, contribution=0.1, origins=["content"], asked_origins=["content"]
    )
    estimated = Similar(page=apple.similar[0].page, similarity=0.4321, error=0.0567, terms=[term])
    shown: Any = templates().get_template("why.html").module
    assert "43.2 % ± 5.7, estimated" in text_of(lxml.html.fromstring(str(shown.similar_list([estimated], [APPLE]))))


def test_how_alike_a_page_is_is_drawn_and_told(client: TestClient[Any], apple: PageView) -> None:
    lines = page_at(client, "/page", url=APPLE).xpath(
        "//ol[contains(@class, 'similar')]/li//*[contains(@class, 'alike')]"
    )
    assert [text_of(line) for line in lines] == [f"similarity {percent(one.similarity)}" for one in apple.similar]
    best = max(similar.similarity for similar in apple.similar)
    assert [length for line in lines for length in lengths_of(line)] == [
        pytest.approx(similar.similarity / best, abs=0.001) for similar in apple.similar
    ]


def test_what_a_page_is_known_by_says_where_it_is_from(client: TestClient[Any], apple: PageView) -> None:
    chips = below(page_at(client, "/page", url=APPLE), "Known by").xpath(".//li")
    most = max(term.weight for term in apple.terms)
    assert len(chips) == len(apple.terms)
    for chip, term in zip(chips, apple.terms, strict=True):
        assert term.text in text_of(chip) and lengths_of(chip) == [pytest.approx(term.weight / most, abs=0.001)]
        assert term.kind != "word" or text_of(chip).endswith(name_origins(term.origins))


# -- results ---------------------------------------------------------------------------------------------------------------------


def day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def test_a_result_tells_its_site_and_its_day(client: TestClient[Any], fruit: CollectionView) -> None:
    days = Counter()
    for query in ("apple", "frucht OR fruit OR apfel OR pomme"):
        found = page_at(client, "/find", q=query).xpath("//ol[contains(@class, 'pages')]/li[.//a[@data-result]]")
        assert found
        for one in found:
            (link,) = one.xpath(".//a[@data-result]")
            url = parse_qs(urlsplit(link.get("href")).query)["url"][0]
            (page,) = fruit.corpus.pages_of(fruit.corpus.url_number(url))
            expected = day(int(fruit.corpus.kin["page.date"][page]))
            (where,) = one.xpath(".//p[contains(@class, 'where')]")
            assert text_of(where).startswith(url.partition("://")[2])
            assert [(time.get("datetime"), text_of(time)) for time in where.iter("time")] == [(expected, expected)]
            days[expected] += 1
    assert set(days) >= {"2021-05-04", *(date for _code, _text, date in FOREIGN.values())}


def test_results_can_be_narrowed_by_site_day_and_language(client: TestClient[Any], fruit: CollectionView) -> None:
    asked = {"q": "fruit", "since": "2021-01-01", "until": "2022-12-31", "language": "de", "site": "two.example"}
    page = page_at(client, "/find", **asked)
    (form,) = [one for one in page.iter("form") if one.xpath(".//*[@name='since']")]
    (site,) = form.xpath(".//select[@name='site']")
    assert {one.get("value") for one in site.iter("option")} == {"", *(name for name, _pages in fruit.sites)}
    (language,) = form.xpath(".//select[@name='language']")
    known = {one.get("value") for one in language.iter("option")}
    assert known == {"", *(code for code, _pages in fruit.languages if code != "unknown")} and {"de", "fr"} <= known
    assert dict(form.fields) == asked
    for name in ("site", "since", "until", "language"):
        (field,) = form.xpath(f".//*[@name='{name}']")
        assert page.xpath(f"//label[@for='{field.get('id')}']"), "a label that says what it is"
    assert [form.xpath(f".//input[@name='{name}']")[0].get("type") for name in ("since", "until")] == ["date", "date"]


# -- the collection --------------------------------------------------------------------------------------------------------------


def test_home_tells_the_numbers(client: TestClient[Any], fruit: CollectionView) -> None:
    told = pairs_of(page_at(client, "/").xpath("//section[@aria-labelledby='numbers']")[0], "In numbers")
    facts = fruit.corpus.facts
    assert told["pages"] == f"{len(fruit.corpus):,}" == f"{facts['pages']:,}"
    assert told["sites"] == f"{len(fruit.sites)}" and int(told["sites"]) == 2
    numbers = {int(value.replace(",", "")) for value in told.values()}
    assert {facts["words"], facts["links"]} & numbers and len(told) >= 4
    assert all(value > 0 for value in numbers)


def test_about_tells_of_strategy_skipped_records_versions_and_sources(
    client: TestClient[Any], fruit: CollectionView
) -> None:
    page, facts = page_at(client, "/about"), fruit.corpus.facts
    how = below(page, "How similar pages are found")
    strategy = facts["index"]["strategy"]
    assert f"{strategy['signature']['m']} numbers" in text_of(how) and f"this one is {strategy['name']}" in text_of(how)
    rows = [[text_of(cell) for cell in row] for row in how.find(".//tbody").iter("tr")]
    defaults = Strategy().as_dict()
    meant = {name: about for name, _default, _allowed, about in settings_table(Strategy)}
    for name, value, about in rows:
        part, _, key = name.partition(".")
        given = defaults[part][key] if key else defaults[part]
        assert value == str(given).lower() if isinstance(given, bool) else value == str(given), name
        assert about == meant[name], name
    expected = {
        f"{part}.{key}" if key else part
        for part, several in strategy.items()
        for key in (several if isinstance(several, dict) else [""])
    } - {"name"}
    assert {name for name, _value, _about in rows} == expected

    left_out = {text_of(row[1]): text_of(row[0]) for row in below(page_at(client, "/about"), "Left out").iter("tr")}
    assert left_out == {reason: f"{count:,}" for reason, count in facts["skipped"].items()}
    assert left_out["not html"] == str(PICTURES)
    versions = pairs_of(page_at(client, "/about"), "Versions")
    assert versions["Pagekin, serving"] == __version__ and versions["Pagekin, reading"] == facts["pagekin"]
    assert (versions["parser"], versions["format"]) == (facts["parser"], str(fruit.corpus.kin.manifest["format"]))

    top = page_at(client, "/about").xpath("//dl[contains(@class, 'facts')]")[0]
    known = dict(zip(map(text_of, top.iter("dt")), map(text_of, top.iter("dd")), strict=True))
    assert known["read from"] == "fruit.warc"
    assert known["captured"] == "2021-05-04 to 2023-09-02"
    assert known["pages"].startswith(f"{facts['pages']:,}, from {facts['html_records']:,}")
    assert known["links"].startswith(f"{facts['links']:,} ")
    assert all(f"{code or 'unknown'} {count:,}" in known["languages"] for code, count in fruit.languages)


def test_the_network_tells_how_large_and_how_old_a_description_is(
    client: TestClient[Any], leaf: ReloadingCollection
) -> None:
    (table,) = page_at(client, "/network").xpath("//table[contains(@class, 'nodes')]")
    heads = [text_of(one) for one in table.find(".//thead").iter("th")]
    (row,) = [dict(zip(heads, map(text_of, one), strict=True)) for one in table.find(".//tbody").iter("tr")]
    node = client.get("/network.json").json()["nodes"][0]
    assert node["label_bytes"] == client.get("/health").json()["label_bytes"] > 1000
    assert row["description"] == f"{node['label_bytes'] / 1000:.{1 if node['label_bytes'] < 10_000 else 0}f} kB"
    assert row["checked"] == f"{node['label_age']:.0f} s ago"
    assert row["documents"] == f"{leaf.label.num_docs:,}" and row["router or site"] == "fruit" and row["state"] == "up"


# -- every page ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/find?q=apple", f"/page?{urlencode({'url': PEAR})}", f"/compare?{urlencode({'url': CIDER})}",
             "/tree/clusters", "/cluster", "/network", "/evaluation", "/about"],
)  # fmt: skip
def test_browsers_can_search_from_every_page(client: TestClient[Any], path: str) -> None:
    page = lxml.html.fromstring(client.get(path, headers=HTML).text)
    (link,) = page.xpath("/html/head/link[@rel='search']")
    assert (link.get("type"), link.get("title")) == ("application/opensearchdescription+xml", "fruit")
    described = client.get(link.get("href"))
    assert described.status_code == 200 and described.headers["content-type"].startswith(link.get("type"))
    (form,) = page.xpath("//form[@role='search']")
    assert (form.get("action"), list(form.fields)) == ("/find", ["q"])
    (json,) = page.xpath("/html/head/link[@rel='alternate']")
    assert client.get(json.get("href")).headers["content-type"] == "application/json"
