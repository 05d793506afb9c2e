"""Why a page is like another, in a line: words that tell it from the others, as people write them, and who links to both."""

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from litestar.testing import TestClient
from msgspec.structs import replace

from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import web_app
from pagekin.web.collection_view import CollectionView, PageLink
from pagekin.web.pages.why import TEXT, SharedTerm, Similar, choose_reasons
from pagekin.web.rendering import away, percent
from tests.bags.webs import record
from tests.routers.webs import build_leaf

from .finding import HTML, data, shown
from .views import page_view

GERMS = {
    "malaria": "Malaria is a fever of the tropics. A mosquito brings the parasite; DNA of Plasmodium is found in blood",
    "dengue": "Dengue is a fever of the tropics. A mosquito brings the virus; its RNA is found in blood",
    "sickle": "Sickle anaemia is in the DNA. Blood cells bend, and the parasite of Plasmodium cannot live in blood",
    "cholera": "Cholera is in foul water of the tropics. Bacteria with DNA of their own thrive, and blood grows thick",
    "typhus": "Typhus is a fever that lice bring to camps. Bacteria with DNA of their own thrive in the blood",
}
AT = "http://germs.example"


def germs() -> list[bytes]:
    """Pages about illnesses with a box that is the same on all, two that cite some of them, and one about a storm."""
    box = "<p>ICD classification resources MeSH external"
    found = [
        record(f"{AT}/{name}", f"<title>{name.title()}</title><h1>{name.title()}</h1><p>{text}. {text}.{box}")
        for name, text in GERMS.items()
    ]
    tropics = (
        "Tropical medicine treats fever of the tropics, where a mosquito brings a parasite or a virus into the blood: "
    )
    links = "<a href='malaria'>malaria</a> and <a href='dengue'>dengue</a>"
    found.append(
        record(f"{AT}/medicine", f"<title>Tropical medicine</title><p>{tropics}{links}.{'<a href=x>x</a>' * 9}")
    )
    storm = "The hurricane broke levees and roofs; people waited on motorways for buses. After the flood some feared "
    found.append(record(f"{AT}/storm", f"<title>The storm</title><p>{storm}{links}."))
    return found


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> ReloadingCollection:
    return ReloadingCollection("germs", build_leaf(tmp_path_factory.mktemp("germs") / "germs.kin", germs()))


def similar_to(collection: CollectionView, name: str) -> dict[str, Similar]:
    view = page_view(collection, f"{AT}/{name}")
    return {one.page.url.removeprefix(f"{AT}/"): one for one in view.similar}


def alike(*words: str) -> Similar:
    shared = [
        SharedTerm(text=word, word=word, kind="word", share=0.1, contribution=0.1, origins=[], asked_origins=[])
        for word in words
    ]
    return Similar(page=PageLink(url="u", title="t"), similarity=0.1, terms=shared, reasons=shared)


def test_words_that_most_of_a_list_share_are_left_out_unless_nothing_is_left() -> None:
    found = choose_reasons(
        [alike("icd", "blood", "fever"), alike("icd", "virus"), alike("icd"), alike("blood", "a", "b", "c")]
    )
    assert [[term.word for term in one.reasons] for one in found] == [
        ["blood", "fever"], ["virus"], ["icd"], ["blood", "a", "b"],
    ]  # fmt: skip
    assert [term.word for term in found[0].terms] == ["icd", "blood", "fever"], "the drawer keeps all"
    titled = [replace(term, origins=["title"]) for term in alike("footnote", "end", "footnotes").terms]
    every = choose_reasons([replace(alike(), reasons=titled), *[alike("footnote", "end", "footnotes")] * 3])
    assert [term.word for term in every[0].reasons] == ["footnote", "end"], "in a title they are no template's"
    two = choose_reasons([alike("icd", "a"), alike("icd", "b")])
    assert [one.reasons[0].word for one in two] == ["icd", "icd"], "of two pages most is both"


def test_the_line_says_what_the_box_on_all_pages_does_not(collection: CollectionView) -> None:
    similar = similar_to(collection, "malaria")
    assert len(similar) >= 4
    for name, one in similar.items():
        if name in GERMS:
            assert one.reasons
            assert not {"icd", "classification", "mesh", "external"} & {term.word for term in one.reasons}, name
    assert any(term.word in ("icd", "mesh") for one in similar.values() for term in one.terms), "the drawer has them"


def test_words_are_written_as_pages_write_them_and_search_the_same(collection: CollectionView, asked: Any) -> None:
    view = page_view(collection, f"{AT}/malaria")
    forms = {term.word: term.text for term in view.terms if term.kind == "word"}
    forms |= {term.word: term.text for one in view.similar for term in one.terms if term.kind == "word"}
    assert forms["dna"] == "DNA" and forms["plasmodium"] == "Plasmodium" and forms["blood"] == "blood"
    page = shown(asked, f"/page?url={AT}/malaria")
    assert "DNA" in page.text
    queries = [parse_qs(urlsplit(link).query)["q"][0] for link in page.links if link.startswith("/find?")]
    assert "dna" in queries and "DNA" not in queries
    compared = asked.get("/compare.json", params={"url": [f"{AT}/malaria", f"{AT}/sickle"]}).json()
    assert "DNA" in [term["text"] for term in compared["shared"]]


def test_a_word_that_would_be_an_operator_is_searched_for_as_a_word(tmp_path: Path) -> None:
    text = "Salem OR lies in OR, say maps: OR is Oregon, and OR has forests"
    pages = [record(f"http://o.example/{n}", f"<title>Salem {n}</title><p>{text} own{n}") for n in range(4)]
    app: Any = MountedRouters(
        {Place("testserver.local", 80): ReloadingCollection("o", build_leaf(tmp_path / "o.kin", pages))}, web_app()
    )
    with TestClient(app) as made:
        page = shown(made, "/page?url=http://o.example/1")
        for link in page.links:
            if link.startswith("/find?"):
                assert data(made, q=parse_qs(urlsplit(link).query)["q"][0])["total"] > 0


def test_a_page_like_both_is_cited_before_one_with_fewer_links(collection: CollectionView, asked: Any) -> None:
    one = similar_to(collection, "malaria")["dengue"]
    assert [quote.page.title for quote in one.quotes] == ["Tropical medicine", "The storm"]
    assert all(quote.both for quote in one.quotes)
    html = asked.get(f"/page?url={AT}/malaria", headers=HTML).text
    lines = [re.sub(r"<[^>]+>", "", line) for line in re.findall(r"<summary>Why\?.*?</summary>", html, re.DOTALL)]
    assert any(" ".join(line.split()).endswith("both linked from Tropical medicine") for line in lines)
    assert collection.related
    (answer,) = [
        each for each in collection.related.related(f"{AT}/malaria", 10, explain=True) if each.url == f"{AT}/dengue"
    ]
    assert [cited.source for cited in answer.citations] == [f"{AT}/medicine", f"{AT}/storm"], "as at the command line"


def test_bars_are_measured_by_the_best_of_the_list(collection: CollectionView, asked: Any) -> None:
    similar = list(similar_to(collection, "malaria").values())
    html = asked.get(f"/page?url={AT}/malaria", headers=HTML).text
    drawn = re.findall(
        r'class="alike">.*?<path d="M0 .5h([\d.]+)"/></svg> <span class="hidden">similarity </span>([\d.]+ %)</span>',
        html,
    )
    assert [float(length) for length, _words in drawn] == [
        pytest.approx(one.similarity / similar[0].similarity, abs=0.001) for one in similar
    ]
    for one, (_length, words) in zip(similar, drawn, strict=True):
        assert words == percent(one.similarity)
    assert "the bar is longest for the best of this list" in html


# -- the original, and its text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "leads"),
    [
        ("http://real.org/x", True),
        ("https://example.org/", True),
        ("http://testing.dev/", True),
        ("http://a.example/x", False),
        ("http://A.TEST:80/", False),
        ("http://x.invalid/", False),
        ("http://localhost:8000/", False),
        ("http://y.localhost./", False),
        ("javascript:alert(1)//real.org", False),
        ("http://[broken", False),
    ],
)
def test_reserved_names_lead_nowhere(url: str, leads: bool) -> None:
    assert away(url) == (url if leads else "")


def test_the_original_is_a_quiet_link_where_there_is_one_and_the_text_can_be_read(tmp_path: Path, asked: Any) -> None:
    reserved = shown(asked, f"/page?url={AT}/malaria")
    assert "Open the original" not in reserved.text and "does not resolve" in reserved.text
    assert not any(link.startswith("http") for link in reserved.links)
    told = "&lt;script&gt;alert(1)&lt;/script&gt; " + "harbour herring tides " * 400
    pages = [
        record("http://real.org/a", f"<title>A</title><p>first line<p>{told}"),
        record("http://real.org/b", "<p>b"),
    ]
    app: Any = MountedRouters(
        {Place("testserver.local", 80): ReloadingCollection("r", build_leaf(tmp_path / "r.kin", pages))}, web_app()
    )
    with TestClient(app) as made:
        page = shown(made, "/page?url=http://real.org/a")
        (link,) = [
            one
            for one in page.all("a")
            if one["href"] == "http://real.org/a" and one.get("rel", "").endswith("nofollow")
        ][-1:]
        assert "class" not in link
        assert "http://real.org/a" in shown(made, "/find?q=harbour").linked(rel="noopener noreferrer nofollow")
        html = made.get("/page?url=http://real.org/a", headers=HTML).text
        (read,) = re.findall(r"<summary>Read its text</summary><p><bdi>(.*?)</bdi></p>", html, re.DOTALL)
        text = unescape(read)
        assert text.startswith("first line\n<script>alert(1)</script> harbour")
        assert len(text) <= TEXT + 1 and len(text) > TEXT - 20
