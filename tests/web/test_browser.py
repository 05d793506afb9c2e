"""The pages in a browser: the way that a person takes, wide and narrow, with and without JavaScript, by keys, light and dark.

Each test also fails on an error on the console, a dialog, a request elsewhere, and what the policy stops: see `visit`.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest

from tests.routers.webs import get, request

from .browser import NARROW, WIDE, Visitor, barriers, overflow, static_site
from .conftest import EVIL

CARBON, MAUNA_KEA = "http://elements.example/carbon.html", "http://mountains.example/mauna-kea.html"
MOST_BYTES = 100_000


def asked(path: str, **what: Any) -> str:
    return f"{path}?{urlencode(what, doseq=True)}"


DEMO_PATHS = (
    "", "find", asked("find", q="volcano"), asked("find", q="volcano", page=2), asked("find", q="volcano", mode="select"),
    asked("find", q="volcano", mode="expand"), asked("find", q="title:carbon OR silver", site="elements.example"),
    asked("find", q="zzzznothing"), asked("page", url=CARBON), asked("page", url=CARBON, other=1), asked("page", url=MAUNA_KEA),
    asked("compare", url=[CARBON, MAUNA_KEA]), asked("compare", url=CARBON), "tree/clusters", "tree/clusters/5", "tree/addresses",
    "cluster", "cluster/1", "network", asked("network", q="volcano"), "evaluation", "about",
)  # fmt: skip
WRONG_PATHS = (
    (404, "nowhere"), (404, asked("page", url="http://elements.example/carbn.html")), (404, "tree/nothing"),
    (404, "cluster/9999"), (400, asked("find", q='"open')), (400, asked("find", q="volcano", page="x")),
)  # fmt: skip


MOST_SHIFT = 0.01
"""How far a page may move (layout shift). On a busy machine Chromium paints pages that it has read in part, which moves them by
up to 0.004, measured at a twentieth of the processor; a strip that is put in later moves a page by much more."""


def look(page: Any, address: str) -> list[str]:
    """What is wrong with a page at an address, for all who look at it."""
    page.goto(address)
    wrong = [f"wider than the window: {what}" for what in overflow(page)]
    wrong += barriers(page)
    shift = page.evaluate("window.shifted")
    if shift > MOST_SHIFT:
        wrong.append(f"it jumps about by {shift:.3f}")
    if page.locator("h1").count() != 1 or not page.inner_text("h1").strip():
        wrong.append("it has not one heading of the first level")
    return [f"{address}: {what}" for what in wrong]


def test_the_watch_that_all_tests_keep_notices_things(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        "<!doctype html><html><head><title>Bad</title><meta http-equiv=Content-Security-Policy content=\"img-src 'none'\">"
        "</head><body><script>alert(1); console.error('oh'); setTimeout(() => { throw new Error('no') })</script><img src=x.png>"
        "<script src='http://elsewhere.example/x.js'></script><p style='width: 3000px; color: #ccc; background: white'>faint"
    )
    visit = Visitor(browser)
    with static_site(tmp_path) as (site, _asked):
        page = visit(site, "bad.html")
        page.wait_for_load_state("networkidle")
        assert any("3000px" in what for what in overflow(page))
        assert {what.partition(" ")[0] for what in barriers(page)} >= {"color-contrast", "html-has-lang"}
        visit.close()
    for what in (
        "dialog: 1",
        "console: oh",
        "error: no",
        "request elsewhere: http://elsewhere.example/x.js",
        "stopped: img-src",
    ):
        assert any(one.startswith(what) for one in visit.problems), (what, visit.problems)


def test_a_strip_that_comes_late_is_noticed(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "late.html").write_text(
        "<!doctype html><html lang=en><head><title>Late</title></head><body><main><h1>Late</h1>"
        + "<p>Text</p>" * 40
        + "</main><script>"
        "requestAnimationFrame(() => setTimeout(() => { const strip = document.createElement('div'); strip.style.height = '40px';"
        "document.body.prepend(strip); requestAnimationFrame(() => setTimeout(() => { window.late = true })) }, 50))</script>"
    )
    visit = Visitor(browser)
    with static_site(tmp_path) as (site, _asked):
        page = visit(site, "late.html")
        page.wait_for_function("window.late && window.shifted > 0")
        assert page.evaluate("window.shifted") > MOST_SHIFT
        visit.close()


# -- each page ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "dark", "larger"), [(WIDE, False, 1600), (NARROW, True, 0)], ids=["wide-light", "narrow-dark"]
)
def test_every_page_can_be_used_by_everyone(
    visit: Visitor, demo_site: str, width: int, dark: bool, larger: int
) -> None:
    """Each page is looked at in one window, and then made wider where that is asked for."""
    page, wrong = visit(demo_site, width=width, dark=dark), []
    size = page.viewport_size
    for path in DEMO_PATHS:
        wrong += look(page, demo_site + path)
        if larger:
            page.set_viewport_size({**size, "width": larger})
            wrong += [f"{path} in a window of {larger}: {what}" for what in overflow(page)]
            page.set_viewport_size(size)
    assert wrong == []


@pytest.mark.parametrize(("width", "dark"), [(WIDE, True), (NARROW, False)], ids=["wide-dark", "narrow-light"])
def test_some_pages_the_other_ways_round(visit: Visitor, demo_site: str, width: int, dark: bool) -> None:
    page = visit(demo_site, width=width, dark=dark)
    assert [what for path in DEMO_PATHS[::5] for what in look(page, demo_site + path)] == []


def test_pages_are_light_and_their_links_within_lead_somewhere(demo_site: str) -> None:
    for path in DEMO_PATHS:
        reply = request(demo_site + path, headers={"Accept": "text/html"})
        assert reply.status == 200, path
        assert len(reply.body) <= MOST_BYTES, (path, len(reply.body))
        assert "unsafe" not in reply.headers["content-security-policy"]
        at = urlsplit("/" + path)
        told = request(f"{demo_site.rstrip('/')}{'/index' if at.path == '/' else at.path}.json?{at.query}")
        assert told.status == 200, path
        assert json.loads(told.body), path


def test_links_of_our_own_lead_somewhere(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site, javascript=False)
    found: set[str] = set()
    for path in ("", asked("find", q="volcano"), asked("page", url=CARBON), "tree/clusters", "cluster/1", "about"):
        page.goto(demo_site + path)
        links = page.eval_on_selector_all(
            "a[href], link[href], script[src]",
            "all => all.map((e) => new URL(e.getAttribute('href') || e.src, location).href)",
        )
        own = [link.partition("#")[0] for link in links if link.startswith(demo_site)]
        assert len(own) > 10, path
        found |= set(own[:: max(1, len(own) // 25)])
    bad = {link: reply.status for link in sorted(found) if (reply := request(link)).status != 200}
    assert bad == {}


def test_mistakes_get_a_page_that_helps(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site)
    for status, path in WRONG_PATHS:
        answer = page.goto(demo_site + path)
        assert answer.status == status, path
        assert barriers(page) == []
        assert page.locator("main a[href]").count() > 0, path
        assert len(page.inner_text("main")) > 40, path
    page.goto(demo_site + asked("page", url="http://elements.example/carbn.html"))
    assert "carbon.html" in page.inner_text("main")
    # A browser notes such answers itself.
    visit.problems[:] = [what for what in visit.problems if "status of 40" not in what]


def test_dark_is_dark(visit: Visitor, demo_site: str) -> None:
    def lightness(dark: bool) -> float:
        page = visit(demo_site, dark=dark)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, colour.partition("(")[2].rstrip(")").split(", ")[:3])) / 3

    assert lightness(dark=False) > 200
    assert lightness(dark=True) < 60


# -- the way that a person takes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "javascript"), [(WIDE, True), (NARROW, True), (WIDE, False), (NARROW, False)],
    ids=["wide", "narrow", "wide-plain", "narrow-plain"],
)  # fmt: skip
def test_from_a_search_to_a_cluster_and_back(visit: Visitor, demo_site: str, width: int, javascript: bool) -> None:
    page = visit(demo_site, width=width, javascript=javascript)
    steps = []

    def arrived(heading: str = "") -> None:
        page.wait_for_load_state()
        if heading:
            page.wait_for_function(
                "text => document.querySelector('h1').innerText.toLowerCase().includes(text)", arg=heading.lower()
            )
        steps.append((page.url, page.inner_text("h1")))

    arrived()
    page.fill("header input[name=q]", "volcano")
    page.press("header input[name=q]", "Enter")
    page.wait_for_url("**/find?q=volcano*")
    arrived()
    assert page.locator("[data-result]").count() >= 5

    chip = page.locator(".other-words a.chip").first
    term = chip.inner_text().strip()
    chip.click()
    page.wait_for_function("old => location.href !== old", arg=steps[-1][0])
    arrived(term)
    assert term.casefold() in parse_qs(urlsplit(page.url).query)["q"][0].casefold()
    assert page.locator("[data-result]").count() >= 1

    first = page.locator("[data-result]").first
    title = first.inner_text().strip()
    first.click()
    page.wait_for_url("**/page?url=*")
    arrived(title[:40])

    why = page.locator("#similar ~ * details").first
    assert not why.locator("> :not(summary)").first.is_visible()
    why.locator("summary").click()
    assert why.locator("> :not(summary)").first.is_visible()

    related = page.locator("#similar ~ * a.title").first
    title = related.inner_text().strip()
    related.click()
    page.wait_for_function("old => location.href !== old", arg=steps[-1][0])
    arrived(title[:40])

    cluster = page.locator("nav.crumbs a").last
    name = cluster.inner_text().strip()
    cluster.click()
    page.wait_for_url("**/tree/clusters/*")
    arrived(name.rstrip("…")[:30])
    assert page.locator("main a.title").count() >= 1

    for url, heading in reversed(steps[:-1]):
        page.go_back()
        page.wait_for_url(url)
        page.wait_for_function("text => document.querySelector('h1').innerText === text", arg=heading)


def test_words_are_taken_in_and_out_and_filters_away(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site, asked("find", q="volcano crater"))
    page.click("ul.active a.chip >> nth=1")
    page.wait_for_url("**/find?q=volcano")
    page.wait_for_function("() => document.querySelector('h1').innerText === 'volcano'")
    assert page.input_value("header input[name=q]") == "volcano"
    page.goto(demo_site + asked("find", q="volcano", site="mountains.example"))
    hosts = page.eval_on_selector_all("[data-result]", "all => all.map((a) => new URL(a.href).searchParams.get('url'))")
    assert {urlsplit(url).hostname for url in hosts} == {"mountains.example"}
    page.click("ul.active a[aria-label*='filter']")
    page.wait_for_function("() => !location.search.includes('site=')")
    page.wait_for_function("() => !document.querySelector('ul.active a[aria-label*=filter]')")
    page.go_back()
    page.wait_for_url("**site=mountains.example*")
    page.wait_for_selector("ul.active a[aria-label*='filter']")


def test_all_by_keys_alone(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site, "about")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.type("volcano")
    page.keyboard.press("Enter")
    page.wait_for_url("**/find?q=volcano*")
    first = page.locator("[data-result]").nth(0)
    second = page.locator("[data-result]").nth(1)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    assert first.evaluate("e => e === document.activeElement")
    page.keyboard.press("ArrowDown")
    assert second.evaluate("e => e === document.activeElement")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("j")
    assert second.evaluate("e => e === document.activeElement")
    title = second.inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url("**/page?url=*")
    assert page.inner_text("h1").startswith(title[:40])
    page.focus("#similar ~ * details summary")
    page.keyboard.press("Enter")
    assert page.locator("#similar ~ * details").first.evaluate("e => e.open")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")


MOST_TABS = 12
"""Keys that it may take from one thing to do to the next."""


def tab_to(page: Any, what: str) -> int:
    """Press Tab until an element that a selector finds has the focus, and can be seen; how often."""
    for pressed in range(1, 80):
        page.keyboard.press("Tab")
        if page.evaluate("what => document.activeElement.matches(what)", what):
            box = page.evaluate(
                "(({left, top, width}) => [left, top, width])(document.activeElement.getBoundingClientRect())"
            )
            assert box[0] >= 0 and box[1] >= 0 and box[2] > 0, "it cannot be seen"
            return pressed
    raise AssertionError(f"no Tab leads to {what}")


def test_from_words_to_a_cluster_and_back_by_keys_alone(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site)
    steps = []

    def arrived(at: str) -> None:
        page.wait_for_url(at)
        page.wait_for_load_state()
        steps.append((page.url, page.inner_text("h1")))

    arrived("**/")
    page.keyboard.press("/")
    page.keyboard.type("volcano")
    page.keyboard.press("Enter")
    arrived("**/find?q=volcano*")

    # Refining: a link leads to the words that are offered.
    page.keyboard.press("/")
    assert tab_to(page, "main a.skip") <= MOST_TABS
    page.keyboard.press("Enter")
    arrived("**/find?q=volcano#other-words")
    assert tab_to(page, ".other-words a.chip") <= MOST_TABS
    term = page.evaluate("document.activeElement.innerText").strip()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "text => document.querySelector('h1').innerText.toLowerCase().includes(text)", arg=term.lower()
    )
    arrived("**/find?q=volcano*")
    assert page.evaluate("document.activeElement.id") == "main", "what has changed is read next"

    # Walking on: to a result, and from there to a page like it.
    page.keyboard.press("j")
    title = page.evaluate("document.activeElement.innerText")
    page.keyboard.press("Enter")
    arrived("**/page?url=*")
    assert page.inner_text("h1").startswith(title[:40])
    tab_to(page, "#similar ~ * a.title")
    title = page.evaluate("document.activeElement.innerText")
    before = page.url
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != before)
    arrived("**/page?url=*")
    assert page.inner_text("h1").startswith(title[:40])

    # A cluster: where the page belongs.
    tab_to(page, "nav.crumbs li:last-child a")
    name = page.evaluate("document.activeElement.innerText").strip()
    page.keyboard.press("Enter")
    arrived("**/tree/clusters/*")
    assert page.inner_text("h1").startswith(name.rstrip("…")[:30])

    # The key for this is the browser's own, and one without a window has none.
    for url, heading in reversed(steps[:-1]):
        page.go_back()
        page.wait_for_url(url)
        page.wait_for_function("text => document.querySelector('h1').innerText === text", arg=heading)


def test_words_are_offered_while_one_types(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site)
    field = page.locator("header input[name=q]")
    field.click()
    assert field.get_attribute("aria-expanded") == "false"
    page.keyboard.type("volc")
    # On a slow machine words for the first letters are offered for a moment.
    page.wait_for_function(
        "() => { const offered = [...document.querySelectorAll('header [role=option]')];"
        " return offered.length && offered.every(option => option.innerText.startsWith('volc')) }"
    )
    assert field.get_attribute("aria-expanded") == "true"
    options = page.locator("header [role=option]").all_inner_texts()
    assert all(option.startswith("volc") for option in options)
    assert barriers(page) == []
    page.keyboard.press("ArrowDown")
    active = field.get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").inner_text() == options[0] == field.input_value()
    page.keyboard.press("Escape")
    assert (field.input_value(), field.get_attribute("aria-expanded")) == ("volc", "false")
    page.keyboard.type("a")
    page.wait_for_selector("header [role=option]")
    page.keyboard.press("ArrowDown")
    chosen = field.input_value()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/find?q={quote(chosen)}*")


def test_the_map_can_be_enlarged_and_its_clusters_opened(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site)
    box = page.get_attribute("svg[data-zoom]", "viewBox")
    page.click("button[aria-label=Enlarge]")
    page.wait_for_function("old => document.querySelector('svg[data-zoom]').getAttribute('viewBox') !== old", arg=box)
    page.click("button[aria-label='Show all']")
    as_numbers = "[...document.querySelector('svg[data-zoom]').getAttribute('viewBox').split(' ')].map(Number).join()"
    page.wait_for_function(f"old => {as_numbers} === old.split(' ').map(Number).join()", arg=box)
    with page.expect_navigation():
        page.locator("svg[data-zoom] a").first.click()
    assert "/tree/clusters/" in page.url


def test_nothing_moves_for_those_who_asked_for_calm(visit: Visitor, demo_site: str) -> None:
    page = visit(demo_site, reduced_motion="reduce")
    box = page.get_attribute("svg[data-zoom]", "viewBox")
    moved = page.evaluate("""() => {
        document.querySelector("button[aria-label=Enlarge]").click();
        return document.querySelector("svg[data-zoom]").getAttribute("viewBox");
    }""")
    assert moved != box


# -- pages that mean harm ----------------------------------------------------------------------------------------------------


HARM = """() => [
    ...[...document.scripts].filter((e) => !e.src.startsWith(location.origin + "/static/script.js")).map((e) => e.outerHTML),
    ...[...document.querySelectorAll("*")].flatMap((e) => [...e.attributes].filter((a) => /^on|^style$/i.test(a.name))
        .map((a) => e.tagName + " " + a.name)),
    ...[...document.querySelectorAll("[href], [src], [action]")]
        .map((e) => e.getAttribute("href") || e.getAttribute("src") || e.action)
        .filter((link) => !["http:", "https:"].includes(new URL(link, location).protocol)),
    ...[...document.querySelectorAll("iframe, object, embed, base, img")].map((e) => e.outerHTML),
].map((what) => String(what).slice(0, 200))"""


@pytest.mark.parametrize(("width", "javascript"), [(NARROW, True), (WIDE, False)], ids=["narrow", "plain"])
def test_pages_that_mean_harm_are_only_shown(visit: Visitor, hostile_site: str, width: int, javascript: bool) -> None:
    found = get(hostile_site, "search", q="volcano", limit=100).json["results"]
    urls = sorted({one["url"] for one in found})
    assert len(urls) > 8
    paths = [
        "", asked("find", q="volcano"), asked("find", q=EVIL), asked("find", q="volcano", mode="select"),
        asked("find", q="volcano", mode="expand"), asked("compare", url=urls[:8]), "tree/clusters", "tree/addresses",
        "tree/clusters/1", "cluster", "cluster/1", "network", "about", *(asked("page", url=url) for url in urls[::3]),
    ]  # fmt: skip
    page = visit(hostile_site, width=width, javascript=javascript)
    wrong: list[str] = []
    for path in paths:
        answer = page.goto(hostile_site + path)
        assert answer.status == 200, (path, page.inner_text("main"))
        wrong += [f"{path[:80]}: {what}" for what in (*page.evaluate(HARM), *overflow(page))]
        body = answer.body()
        if len(body) > MOST_BYTES:
            wrong.append(f"{path[:80]}: {len(body):,} bytes")
        if "\u202e" in body.decode():
            wrong.append(f"{path[:80]}: turns lines around")
    assert wrong == []


def test_pages_that_mean_harm_are_offered_while_one_types(visit: Visitor, hostile_site: str) -> None:
    page = visit(hostile_site)
    for typed in ("scri", EVIL[:9], "xxxx"):
        page.fill("header input[name=q]", "")
        page.type("header input[name=q]", typed)
        page.wait_for_load_state("networkidle")
    page.press("header input[name=q]", "Enter")
    page.wait_for_url("**/find?q=xxxx*")
    assert page.evaluate(HARM) == []


# -- a network ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "dark"), [(WIDE, False), (NARROW, True)], ids=["wide-light", "narrow-dark"])
def test_a_network_is_browsed_as_one(visit: Visitor, network_site: str, width: int, dark: bool) -> None:
    page = visit(network_site, width=width, dark=dark)
    paths = (
        "", asked("find", q="music OR metal"), asked("find", q="music", mode="select"), asked("find", q="music", mode="expand"),
        "cluster", "network", asked("network", q="music"), "about",
    )  # fmt: skip
    wrong = [what for path in paths for what in look(page, network_site + path)]
    assert wrong == []
    page.goto(network_site + asked("find", q="carbon"))
    title = page.locator("[data-result]").first.inner_text()
    with page.expect_navigation():
        page.locator("[data-result]").first.click()
    assert page.inner_text("h1").startswith(title[:40])
    assert "/elements/page?" in page.url
    assert look(page, page.url) == []
