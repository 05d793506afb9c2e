"""A published site in a browser: related pages, and search without a server, under a strict policy, also below a path."""

import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import Stemmer

from pagekin.hypertext import Corpus
from pagekin.site import SitePlan, SiteSettings, publish_site
from pagekin.store import open_kin
from pagekin.text import IRREGULAR, TextIndex, parse_query, tokens
from tests.site.manuals import TOPICS, write_manual

from .browser import NARROW, WIDE, Visitor, barriers, overflow, static_site

STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "require-trusted-types-for 'script'"
)
BELOW = "preview-42/docs"
OWN_SEARCH = """window.addEventListener("keydown", (event) => {
  if (event.key === "k" && event.ctrlKey) { event.preventDefault(); document.body.dataset.opened = "theirs"; }
});"""


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(a folder with the manual at its root and below a path, the manual's collection)."""
    where = tmp_path_factory.mktemp("manual")
    root = write_manual(where / "public")
    (root / "own.js").write_text(OWN_SEARCH)
    other = root / "kitchen/part4.html"
    other.write_text(
        other.read_text(encoding="utf-8").replace("</head>", '<script src="../own.js" defer></script></head>')
    )
    for topic in ("volcano", "orbit"):
        named = root / topic / "part4.html"
        named.write_text(named.read_text(encoding="utf-8").replace(f"{topic.title()} part 4", "Overview"))
    (root / "small.css").write_text("html { font-size: 10px; } body { font-size: 1.4rem; }")
    themed = root / "orbit/part3.html"
    style = '<link rel=stylesheet href="../small.css"></head>'
    themed.write_text(themed.read_text(encoding="utf-8").replace("</head>", style))
    publish_site(SitePlan(root, collection=where / "manual.kin", workers=1))
    shutil.copytree(root, where / "below" / BELOW)
    shutil.copytree(where / "below", root, dirs_exist_ok=True)
    return root, where / "manual.kin"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published site of 40 pages in a justifying style; the word of one is misspelt, and a rare one is in a title.

    The pages name no encoding, so browsers do not take scripts for UTF-8 either.
    """
    where = tmp_path_factory.mktemp("crowd")
    root = where / "public"
    root.mkdir()
    (root / "style.css").write_text(
        "p, li, div.body p, div.body li { text-align: justify; } div.body p + ul { margin-top: -18px; }"
    )
    for number in range(40):
        words = ["even" if number % 2 else "odd", *(["third"] if number % 3 == 0 else []), f"own{number} word{number}"]
        misspelt = "expresion" if number == 7 else ""
        title = "Tephrite" if number == 13 else f"Page {number}"
        (root / f"page{number}.html").write_text(
            f"<!doctype html><html lang=en><title>{title}</title><link rel=stylesheet href=style.css>"
            f"<div class=body role=main><h1>{title}</h1><p>About a regular expression {misspelt} {' '.join(words)} and "
            f'<a href="page{(number + 1) % 40}.html">what follows</a>.</div>'
        )
    (root / "favicon.ico").write_bytes(b"")
    settings = SiteSettings(pins={"page0.html": ["page1.html"]})
    publish_site(SitePlan(root, settings, where / "crowd.kin", 1))
    return root


def ask(page: Any, query: str) -> list[str]:
    """The titles that the search box shows for a query."""
    page.keyboard.press("Control+k")
    page.locator("dialog input").fill(query)
    page.wait_for_selector(".pagekin-status:not(:empty)")
    titles: list[str] = page.locator(".pagekin-hits a").all_inner_texts()
    return titles


@pytest.mark.parametrize("path", ["", f"{BELOW}/"])
def test_related_pages_and_a_misspelt_word_lead_to_pages_wherever_the_site_is(
    visit: Visitor, manual: tuple[Path, Path], path: str
) -> None:
    with static_site(manual[0], Content_Security_Policy=STRICT) as (site, asked):
        page = visit(site, f"{path}volcano/part1.html", width=WIDE)
        assert page.locator(".pagekin-related li a").count() >= 2
        assert "Kitchen part" in ask(page, "sauecpan")[0]  # two letters exchanged
        assert "saucepan" in page.inner_text(".pagekin-status")
        assert page.locator(".pagekin-hits mark").count() > 0
        assert barriers(page) == []
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site}{path}kitchen/*.html")
        with page.expect_navigation(wait_until="load"):
            page.locator(".pagekin-related li a").first.click()
        assert page.locator(".pagekin-related li a").count() >= 2
        assert all(status in (200, 304) for _path, status in asked)
        assert all(one.startswith(f"/{path}") for one, _status in asked if "favicon" not in one)


def test_links_are_there_without_javascript_and_nothing_is_wider_than_a_telephone(
    visit: Visitor, manual: tuple[Path, Path]
) -> None:
    with static_site(manual[0], Content_Security_Policy=STRICT) as (site, _asked):
        page = visit(site, "orbit/part2.html", javascript=False)
        assert page.locator(".pagekin-related li a").count() >= 2
        page = visit(site, "orbit/part2.html", width=NARROW)
        page.get_by_role("button", name="Search").click()
        page.locator("dialog input").fill("rocket thruster")
        page.wait_for_selector(".pagekin-hits a")
        assert overflow(page) == []
        page.keyboard.press("Escape")
        assert not page.locator("dialog").is_visible()
        page = visit(site, "pagekin/?q=colander")
        page.wait_for_selector(".pagekin-hits a")
        assert "Kitchen" in page.inner_text(".pagekin-hits")
        assert barriers(page) == []
        assert (
            "Volcano" in page.inner_text(".pagekin-topics") or "volcano" in page.inner_text(".pagekin-topics").lower()
        )


def test_a_theme_with_small_rems_does_not_make_the_search_box_small(visit: Visitor, manual: tuple[Path, Path]) -> None:
    size = "name => parseFloat(getComputedStyle(document.querySelector(name)).fontSize)"
    with static_site(manual[0], Content_Security_Policy=STRICT) as (site, _asked):
        sizes, widths = [], []
        for path in ("orbit/part2.html", "orbit/part3.html"):
            page = visit(site, path, width=WIDE)
            assert ask(page, "rocket thruster")
            parts = (".pagekin-open", "dialog input", ".pagekin-hits a", ".pagekin-hits p", ".pagekin-status")
            sizes.append([page.evaluate(size, part) for part in parts])
            widths.append(page.locator("dialog").bounding_box())
        assert sizes[0] == sizes[1]
        assert min(sizes[1]) >= 14
        assert widths[0] == widths[1]


def test_hits_of_one_title_are_told_apart_by_their_paths(visit: Visitor, manual: tuple[Path, Path]) -> None:
    with static_site(manual[0], Content_Security_Policy=STRICT) as (site, _asked):
        page = visit(site, "volcano/part1.html", width=WIDE)
        assert ask(page, "overview")[:2] == ["Overview", "Overview"]
        assert set(page.locator(".pagekin-path").all_inner_texts()) == {"volcano/part4.html", "orbit/part4.html"}


def test_a_search_of_the_sites_own_keeps_its_key(visit: Visitor, manual: tuple[Path, Path]) -> None:
    with static_site(manual[0], Content_Security_Policy=STRICT) as (site, _asked):
        page = visit(site, "kitchen/part4.html")
        page.keyboard.press("Control+k")
        assert page.get_attribute("body", "data-opened") == "theirs"
        assert not page.locator("dialog").is_visible()
        page.get_by_role("button", name="Search").click()
        assert page.locator("dialog").is_visible()


def test_the_script_stems_and_divides_words_as_the_index_does(visit: Visitor, manual: tuple[Path, Path]) -> None:
    text = Path(__file__).parents[2].joinpath("docs/architecture.md").read_text(encoding="utf-8")
    text += " Größe naïve ΣΊΣΥΦΟΣ книги 東京都に ﾊﾟ re\u00adlation os_path don't 3.11 e\u0301t\u00e9"
    expected = sorted(set(tokens(text)))
    plain = [word for word in expected if len(word) > 2 and word.isascii() and word not in IRREGULAR]
    with static_site(manual[0]) as (site, _asked):
        page = visit(site, "index.html")
        assert sorted(page.evaluate("text => [...new Set(pagekin.words(text))]", text)) == expected
        stems = page.evaluate("words => words.map(pagekin.stem)", plain)
    assert stems == Stemmer.Stemmer("porter").stemWords(plain)


def test_the_order_is_that_of_the_collections_own_search(visit: Visitor, manual: tuple[Path, Path]) -> None:
    """Static files hold no openings, and round what words add to 4 bits: pages of clearly different scores keep their order."""
    root, path = manual
    kin = open_kin(path)
    arrays = {name: array for name, array in kin.arrays.items() if not name.startswith("posting.opening")}
    index = TextIndex.open(Corpus(replace(kin, arrays=arrays)))
    with static_site(root) as (site, _asked):
        page = visit(site, "index.html")
        for topic, words in TOPICS.items():
            for query in (topic, words.split()[3], f"{words.split()[2]} {words.split()[4]}"):
                found = page.evaluate("q => pagekin.search(q + ' ', 20)", query)
                hits = index.search(parse_query(query), 20)
                known = {index.corpus.page_url(one): score for one, score in zip(hits.pages, hits.scores, strict=True)}
                scores = [known.get(one["url"].replace(site, "http://localhost/")) for one in found]
                assert len([one for one in scores if one is not None]) == len(known)
                best = max(known.values())
                assert all(a is None or b is None or a > b - 0.2 * best for a, b in pairwise(scores)), query


def test_a_word_that_no_page_has_and_a_site_without_its_files_are_said_so(
    visit: Visitor, manual: tuple[Path, Path], tmp_path: Path
) -> None:
    with static_site(manual[0]) as (site, _asked):
        page = visit(site, "index.html")
        assert ask(page, "zzzzqqqq") == []
        assert "No page has" in page.inner_text(".pagekin-status")
    shutil.copytree(manual[0], tmp_path / "broken")
    (tmp_path / "broken/pagekin/search/meta.json").unlink()
    with static_site(tmp_path / "broken") as (site, _asked):
        page = visit(site, "index.html")
        assert ask(page, "rocket") == []
        assert "reload" in page.inner_text(".pagekin-status")
    visit.problems[:] = [one for one in visit.problems if "404" not in one]


def test_a_word_that_is_rare_because_it_is_misspelt_gets_an_offer_and_keeps_its_hits(
    visit: Visitor, crowd: Path
) -> None:
    with static_site(crowd, Content_Security_Policy=STRICT) as (site, _asked):
        page = visit(site, "page0.html", width=NARROW)
        assert ask(page, "regular expresion")[0] == "Page 7"
        offer = page.locator(".pagekin-likely button")
        assert offer.inner_text() == "regular expression"
        assert barriers(page) == [] and overflow(page) == []
        offer.click()
        page.get_by_text("40 pages", exact=True).wait_for()
        assert not page.locator(".pagekin-likely").is_visible()
        for fine in ("regular expression", "expressions", "tephrite "):  # the last is rare, but in a title
            assert page.evaluate("async (query) => (await pagekin.search(query)).length", fine) > 0
            ask(page, fine)
            assert not page.locator(".pagekin-likely").is_visible()


def test_pages_with_all_words_are_counted_and_all_hits_can_be_reached(visit: Visitor, crowd: Path) -> None:
    with static_site(crowd, Content_Security_Policy=STRICT) as (site, _asked):
        page = visit(site, "page0.html", width=WIDE)
        hits, more = page.locator(".pagekin-hits a"), page.get_by_role("button", name="More results")
        ask(page, "expression even")
        assert page.inner_text(".pagekin-status") == "20 pages"
        assert hits.count() == 10 and page.locator(".pagekin-border").count() == 0
        for seen in (10, 20, 30):
            more.click()
            hits.nth(seen).wait_for()
            assert hits.nth(seen).evaluate("one => one === document.activeElement")
        assert hits.count() == 40 and not more.is_visible()
        items = page.locator(".pagekin-hits li").all_inner_texts()
        assert items[20] == "Pages with only some of these words"
        page.locator("dialog input").fill("tephrite third")
        page.get_by_text("No page has all of these words; 15 pages have some of them.").wait_for()
        page.locator("dialog input").fill("evn expression ")
        page.get_by_text("Showing 20 pages for “even expression”; no page has “evn expression”.").wait_for()
        assert hits.count() == 10


def test_the_dialog_closes_beside_its_field_and_its_text_is_not_justified(visit: Visitor, crowd: Path) -> None:
    with static_site(crowd, Content_Security_Policy=STRICT) as (site, _asked):
        for width in (WIDE, NARROW):
            page = visit(site, "page0.html", width=width)
            ask(page, "expression")
            close, field = page.locator(".pagekin-close").bounding_box(), page.locator("dialog input").bounding_box()
            assert close["x"] >= field["x"] + field["width"] and close["y"] < field["y"] + field["height"]
            aligned = "some => some.map((one) => getComputedStyle(one).textAlign)"
            for text in (".pagekin-hits li", ".pagekin-hits p", ".pagekin-status", ".pagekin-related li"):
                assert set(page.locator(text).evaluate_all(aligned)) == {"start"}, text
            page.locator(".pagekin-close").click()
            assert not page.locator("dialog").is_visible()


def test_the_list_lies_below_its_title_whatever_the_theme_does_with_lists(visit: Visitor, crowd: Path) -> None:
    with static_site(crowd) as (site, _asked):
        page = visit(site, "page0.html")
        title, links = (page.locator(f".pagekin-related {what}").bounding_box() for what in (".pagekin-title", "ul"))
        assert links["y"] >= title["y"] + title["height"]


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_the_page_of_topics_is_dark_as_a_whole_where_readers_want_that(visit: Visitor, crowd: Path, width: int) -> None:
    with static_site(crowd, Content_Security_Policy=STRICT) as (site, _asked):
        page = visit(site, "pagekin/?q=expression", width=width, dark=True)
        page.wait_for_selector(".pagekin-hits a")
        assert barriers(page) == [] and overflow(page) == []
        canvas = page.evaluate(
            "(root) => { root.style.color = 'Canvas'; return getComputedStyle(root).color; }",
            page.query_selector("html"),
        )
        assert all(int(part) < 60 for part in re.findall(r"\d+", canvas)), canvas
