"""Collections at the edge: one page, no links, no titles, nothing alike, other scripts. Every page stays sensible."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.collection import ReloadingCollection
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import addresses as to
from pagekin.web import web_app
from tests.bags.webs import record

from .parsed import Parsed, harm

HTML = {"Accept": "text/html"}
STONE = "granite mica quartz feldspar"
ALONE = {"http://a.example/": f"<title>Alone</title><p>The only page here is about {STONE}."}
UNLINKED = {f"http://a.example/{n}": f"<title>Page {n}</title><p>{STONE} number{n}" for n in range(6)}
UNTITLED = {f"http://a.example/{n}": f"<p>{STONE} number{n} <a href='{(n + 1) % 6}'><img src=x></a>" for n in range(6)}
STRANGERS = {
    f"http://a{n}.example/": f"<title>Page {n}</title><p>{' '.join(f'word{n}of{m}' for m in range(30))}"
    for n in range(5)
}
SCRIPTS = {
    "http://ar.example/1": "<html lang=ar dir=rtl><title>الجبال والأنهار</title><p>تقع الجبال العالية في شمال البلاد "
    "وتجري الأنهار من ثلوجها إلى البحر. <a href=2>الأنهار الكبيرة</a> تروي الحقول.",
    "http://ar.example/2": "<html lang=ar><title>الأنهار الكبيرة</title><p>تجري الأنهار الكبيرة من الجبال العالية. "
    "<a href=1>الجبال</a>",
    "http://he.example/1": "<html lang=he><title>הרים ונהרות</title><p>ההרים הגבוהים נמצאים בצפון הארץ. "
    "<a href=2>הנהרות הגדולים</a>",
    "http://he.example/2": "<html lang=he><title>הנהרות הגדולים</title><p>הנהרות הגדולים זורמים מן ההרים. "
    "<a href=1>ההרים</a>",
    "http://zh.example/1": "<html lang=zh><title>山与河流</title><p>高山位于国家的北部，河流从雪山流向大海。"
    "<a href=2>大河</a>灌溉田野。",
    "http://zh.example/2": "<html lang=zh><title>大河</title><p>大河从高山流向大海，灌溉北方的田野。<a href=1>高山</a>",
}
WEBS = {"alone": ALONE, "unlinked": UNLINKED, "untitled": UNTITLED, "strangers": STRANGERS, "scripts": SCRIPTS}


def built(path: Path, pages: dict[str, str], clusters: bool = True, text: bool = True) -> Path:
    archive = path.with_suffix(".warc")
    archive.write_bytes(b"".join(record(url, html) for url, html in pages.items()))
    plan = ClusterSettings(max_clusters=3) if clusters else None
    build_collection(ReadPlan([str(archive)], path, workers=1), BuildRecipe(Strategy(), plan, text=text))
    return path


@contextmanager
def asked_of(path: Path) -> Iterator[Any]:
    app: Any = MountedRouters({Place("testserver.local", 80): ReloadingCollection(path.stem, path)}, web_app())
    with TestClient(app) as made:
        yield made


def kinds_of_pages(pages: dict[str, str]) -> list[str]:
    """An address of every kind of page."""
    urls = list(pages)
    return [
        "/", "/find", "/find?q=granite", "/find?q=granite&mode=select", "/find?q=granite&mode=expand", "/find?q=nobody", "/about",
        "/network", "/evaluation", "/cluster", "/cluster/1", "/tree/clusters", "/tree/addresses", "/tree/addresses/1",
        to.compare([]), to.compare(urls[:1]), to.compare(urls[:2]), *map(to.page, urls),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("edges")
    return {name: built(folder / f"{name}.kin", pages) for name, pages in WEBS.items()}


@pytest.mark.parametrize("name", WEBS)
def test_every_kind_of_page_is_there_and_says_nothing_silly(sites: dict[str, Path], name: str) -> None:
    with asked_of(sites[name]) as client:
        for path in kinds_of_pages(WEBS[name]):
            answer = client.get(path, headers=HTML)
            assert answer.status_code == 200, (path, answer.text[:300])
            assert harm(answer.text) == [], path
            page = Parsed(answer.text)
            said = page.text
            assert not re.search(r"\bnan\b|\bNone\b|\b1 (pages|groups|sites|topics|copies)\b|Undefined", said), (
                path,
                said,
            )
            assert not re.search(r"(^|[^,\d])\b0 (pages|groups|topics) in\b", said), (path, said)
            for heading in re.findall(r"<h[1-3][^>]*>(.*?)</h[1-3]>", answer.text, re.DOTALL):
                assert re.sub(r"<[^>]+>|\s", "", heading), (path, "an empty heading")
            assert not re.search(r"<(ul|ol|table|tbody|dl|svg)[^>]*>\s*</\1>", answer.text), (path, "an empty list")


@pytest.mark.parametrize("name", WEBS)
def test_every_link_leads_somewhere(sites: dict[str, Path], name: str) -> None:
    with asked_of(sites[name]) as client:
        found = {
            link for path in kinds_of_pages(WEBS[name]) for link in Parsed(client.get(path, headers=HTML).text).links
        }
        for link in sorted(one for one in found if one.startswith("/")):
            assert client.get(link, headers=HTML).status_code == 200, link


def test_a_page_that_is_alone_says_so(sites: dict[str, Path]) -> None:
    with asked_of(sites["alone"]) as client:
        text = Parsed(client.get(to.page("http://a.example/"), headers=HTML).text).text
        assert "No page is like it." in text
        assert "No other page of this collection links to it." in text
        assert "Around this page" not in text
        assert "to be sorted into topics" in Parsed(client.get("/tree/clusters", headers=HTML).text).text


def test_pages_that_share_nothing_are_not_said_to(sites: dict[str, Path]) -> None:
    urls = list(STRANGERS)
    with asked_of(sites["strangers"]) as client:
        text = Parsed(client.get(to.compare(urls[:2]), headers=HTML).text).text
        assert "They have no significant word in common." in text
        assert "No other page is like all of them." in text
        for url in urls:
            assert client.get("/page.json", params={"url": url}).json()["similar"] == []


def test_a_page_without_a_title_is_called_by_its_address_once(sites: dict[str, Path]) -> None:
    with asked_of(sites["untitled"]) as client:
        page = Parsed(client.get(to.page("http://a.example/2"), headers=HTML).text)
        assert [text for tag, text in page.texts if tag in ("bdi", "a")][:8].count("http://a.example/2") == 1
        for path in ("/tree/addresses/1", "/tree/clusters", "/cluster/1", to.page("http://a.example/1")):
            texts = [text for _tag, text in Parsed(client.get(path, headers=HTML).text).texts]
            assert all(one != other or "a.example" not in one for one, other in pairwise(texts)), path
            assert "a.example/3" not in texts, "the address without its scheme stands below a title only"


def test_words_of_other_scripts_are_found_and_their_titles_are_set_apart(sites: dict[str, Path]) -> None:
    with asked_of(sites["scripts"]) as client:
        for query, title in (("الجبال", "الجبال والأنهار"), ("הנהרות", "הנהרות הגדולים"), ("高山", "山与河流")):
            page = Parsed(client.get(to.find(query), headers=HTML).text)
            assert ("bdi", title) in page.texts
        for url, html in SCRIPTS.items():
            title = re.findall("<title>(.*?)</title>", html)[0]
            page = Parsed(client.get(to.page(url), headers=HTML).text)
            assert ("bdi", title) in page.texts
            assert len(page.all("mark")) >= 1, "the link to it is quoted"
        text = Parsed(client.get(to.page("http://ar.example/1"), headers=HTML).text).text
        assert "Arabic" in text


def test_without_clusters_or_search_it_is_said_what_to_do(tmp_path: Path) -> None:
    for options, page, said in (
        ({"clusters": False}, "/", "pagekin cluster"),
        ({"text": False}, "/find?q=granite", "pagekin index"),
    ):
        path = built(tmp_path / f"{said[-5:]}.kin", UNLINKED, **options)
        app: Any = MountedRouters({Place("testserver.local", 80): ReloadingCollection("some", path)}, web_app())
        with TestClient(app, raise_server_exceptions=False) as client:
            answer = client.get(page, headers=HTML)
            assert answer.status_code >= 400 and f"{said} {path.name}" in Parsed(answer.text).text


def test_without_an_index_of_similar_pages_the_rest_is_shown(sites: dict[str, Path]) -> None:
    leaf = ReloadingCollection("plain", sites["unlinked"])
    leaf.collection.corpus.facts.pop("index")
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(app) as client:
        for path in kinds_of_pages(UNLINKED):
            answer = client.get(path, headers=HTML)
            assert answer.status_code == 200, (path, answer.text[:300])
            assert harm(answer.text) == []
        assert "pagekin index" in client.get(to.page("http://a.example/1"), headers=HTML).text
