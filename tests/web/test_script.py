"""The script: keys, other words without a new page, words while one types, maps that can be enlarged."""

import time
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from .browser import overflow

MOST_BYTES = 10_000


def until(page: Any, told: str, seconds: float = 10.0) -> None:
    """Wait until an expression is true in a page; the policy forbids playwright's own way."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if page.evaluate(told):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"it never came true at {page.url}: {told}")


def asked(page: Any) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def stay(page: Any) -> None:
    """Mark the document, so that a new one is noticed."""
    page.evaluate("window.stays = true")


def stayed(page: Any) -> bool:
    return bool(page.evaluate("window.stays === true"))


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent"))


def words_for(page: Any, text: str) -> None:
    """Wait for the words that go on from all that was typed: those for less may come before."""
    shown = "[...document.querySelectorAll('.words:not([hidden]) li')]"
    until(page, f"{shown}.length && {shown}.every((one) => one.textContent.startsWith({text!r}))")


def test_it_is_small() -> None:
    script = (files("pagekin.web") / "static" / "script.js").read_bytes()
    assert len(script) < MOST_BYTES
    assert script.startswith(b'"use strict";')
    for harm in (b"innerHTML", b"eval(", b"http:", b"https:", b".style"):
        assert harm not in script


def test_other_words_come_without_a_new_page_and_back_brings_them_back(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "find?q=river")
    stay(page)
    before = page.inner_text("main")
    term = page.locator(".other-words a.chip").first
    word = term.inner_text().lower()
    term.click()
    until(page, "document.querySelector('.chips.active')")
    assert asked(page) == {"q": f"river AND {word}"}
    assert page.title().startswith(f"river AND {word}")
    assert page.input_value("#q") == f"river AND {word}"
    assert focused(page) == "main"
    assert stayed(page)
    page.click("nav.modes a >> nth=1")
    until(page, "location.search.includes('mode=select')")
    page.go_back()
    until(page, "document.querySelector('nav.modes a[aria-current]').textContent.startsWith('Pages')")
    page.go_back()
    until(page, "document.querySelector('#q').value === 'river'")
    assert page.inner_text("main") == before
    assert page.title().startswith("river ·")
    assert stayed(page)
    page.go_forward()
    until(page, f"document.querySelector('#q').value === 'river AND {word}'")


def test_filters_and_pages_of_results_come_without_a_new_page(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "find?q=mountain")
    stay(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    down = page.evaluate("scrollY")
    page.click("a[rel=next]")
    until(page, "document.querySelector('a[rel=prev]')")
    assert asked(page) == {"q": "mountain", "page": "2"}
    assert page.evaluate("scrollY") == 0
    page.go_back()
    until(page, "!document.querySelector('a[rel=prev]')")
    until(page, f"Math.abs(scrollY - {down}) < 3")
    page.select_option("#f-site", "mirror.example")
    page.click(".result-filters button")
    until(page, "document.querySelector('.chips.active')")
    assert asked(page) == {"q": "mountain", "site": "mirror.example"}, "what is empty is left out"
    assert stayed(page)


def test_the_last_of_two_clicks_counts(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "find?q=river")
    stay(page)
    page.evaluate(
        "document.querySelectorAll('nav.modes a')[1].click(); document.querySelectorAll('nav.modes a')[2].click()"
    )
    until(page, "location.search.includes('mode=expand')")
    page.wait_for_timeout(300)
    assert asked(page)["mode"] == "expand"
    assert page.locator("nav.modes a[aria-current]").inner_text().startswith("By topic")
    assert stayed(page)


def test_what_cannot_be_fetched_is_followed_as_a_plain_link(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "find?q=river")
    page.route(
        "**/find?*", lambda route: route.fulfill(body="no page") if route.request.resource_type == "fetch" else route.continue_()
    )  # fmt: skip
    stay(page)
    page.click("nav.modes a >> nth=1")
    page.wait_for_url("**mode=select")
    until(page, "document.querySelector('nav.modes')")
    assert not stayed(page)


def test_keys_walk_the_results(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "find?q=mountain")
    titles = page.locator("[data-result]").all_inner_texts()
    page.keyboard.press("ArrowDown")
    assert focused(page) == titles[0]
    for key, place in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert focused(page) == titles[place], key
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body")
    page.keyboard.press("/")
    assert focused(page) == "q"
    assert page.input_value("#q") == "mountain", "the key itself is not typed"
    page.keyboard.press("End")
    page.keyboard.type("/jk")
    assert page.input_value("#q") == "mountain/jk", "while one types keys are letters"


def test_words_while_one_types(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "find")
    page.click("#q")
    page.keyboard.type("title:mou")
    words_for(page, "title:mou")
    assert page.get_attribute("#q", "aria-expanded") == "true"
    field, options = page.locator("#q"), page.locator("#words-1 [role=option]")
    assert (field.get_attribute("role"), field.get_attribute("aria-controls")) == ("combobox", "words-1")
    words = options.all_inner_texts()
    assert words[0] == "title:mount"
    page.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    assert (page.input_value("#q"), options.first.get_attribute("aria-selected")) == (words[0], "true")
    page.keyboard.press("ArrowUp")
    assert (page.input_value("#q"), field.get_attribute("aria-activedescendant")) == ("title:mou", None)
    page.keyboard.press("ArrowUp")
    assert page.input_value("#q") == words[-1]
    page.keyboard.press("Escape")
    assert (page.input_value("#q"), field.get_attribute("aria-expanded")) == ("title:mou", "false")
    assert focused(page) == "q"
    page.keyboard.type("n")
    words_for(page, "title:moun")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/find?q=*")
    assert asked(page)["q"].startswith("title:moun")
    assert page.locator("[data-result]").count()


@pytest.mark.parametrize("width", [1280, 390, 320])
@pytest.mark.parametrize(("path", "field"), [("", "#q"), ("find?q=river", "#q"), ("find", "#q-main")])
def test_words_stand_below_the_field_and_are_as_wide(
    visit: Any, demo_site: str, path: str, field: str, width: int
) -> None:
    page = visit(demo_site, path, width=width)
    page.fill(field, "")
    page.click(field)
    page.keyboard.type("volc")
    words_for(page, "volc")
    at, words = page.locator(field).bounding_box(), page.locator(".words:not([hidden])").bounding_box()
    assert (words["x"], words["width"]) == pytest.approx((at["x"], at["width"]), abs=1)
    assert 0 <= words["y"] - (at["y"] + at["height"]) <= 8


@pytest.mark.parametrize("path", ["", "find?q=river", "find", "compare", "about"])
def test_on_the_narrowest_screens_nothing_is_cut_off_and_no_name_is_broken(
    visit: Any, demo_site: str, path: str
) -> None:
    page = visit(demo_site, path, width=320)
    assert overflow(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    lines = "[...document.querySelectorAll('.top nav a')].map((one) => one.getClientRects().length)"
    assert set(page.evaluate(lines)) == {1}
    assert all(one.bounding_box()["height"] < 45 for one in page.locator(".top nav a").all())


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", ["find?q=qwertzuiop", "compare"])
def test_the_foot_of_a_short_page_is_at_the_bottom(visit: Any, demo_site: str, path: str, width: int) -> None:
    page = visit(demo_site, path, width=width)
    height = page.evaluate("innerHeight")
    assert page.evaluate("document.documentElement.scrollHeight") == height
    foot = page.locator("footer.bottom").bounding_box()
    assert foot["y"] + foot["height"] == pytest.approx(height, abs=1)


def test_a_word_can_be_clicked(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "find", width=390)
    page.click("#q-main")
    page.keyboard.type("everes")
    words_for(page, "everes")
    page.locator(".words:not([hidden]) li").first.click()
    page.wait_for_url("**/find?q=everest")


def test_words_of_pages_that_mean_harm_are_text(visit: Any, hostile_site: str) -> None:
    page = visit(hostile_site, "find")
    page.click("#q")
    page.keyboard.type("<img src=x onerror=al")
    words_for(page, "<img src=x onerror=al")
    assert page.locator(".words img, .words b").count() == 0
    assert page.locator(".words li").first.inner_text().startswith("<img src=x onerror=al")


@pytest.mark.parametrize(
    "path", ["", "tree/clusters", "find?q=volcano", "page?url=http%3A%2F%2Felements.example%2Fcarbon.html"]
)
def test_what_scripts_add_moves_nothing(visit: Any, demo_site: str, path: str) -> None:
    places = """() => [...document.querySelectorAll("main h1, main h2, main li, main figcaption, footer")]
        .map((one) => [one.textContent.trim().slice(0, 40), one.getBoundingClientRect().top])"""
    with_script, without = (visit(demo_site, path, javascript=it).evaluate(places) for it in (True, False))
    assert len(with_script) > 10
    assert with_script == without


def test_the_buttons_of_a_map_cover_no_name_below_it(visit: Any, demo_site: str) -> None:
    page = visit(demo_site, "")
    # As on maps of many small topics, whose names fill the lines below.
    page.evaluate("""() => {
        const list = document.querySelector(".zoomed + .also");
        for (let count = 0; count < 90; count++) list.append(Object.assign(document.createElement("li"), {textContent: "topic"}));
    }""")
    buttons = page.locator(".zooms").bounding_box()
    names = [one.bounding_box() for one in page.locator(".zoomed + .also li").all()]
    assert len(names) > 90
    assert not [
        box for box in names if box["x"] + box["width"] > buttons["x"] and box["y"] < buttons["y"] + buttons["height"]
    ]


@pytest.mark.parametrize("calm", [False, True])
def test_a_map_can_be_enlarged_and_moved(visit: Any, demo_site: str, calm: bool) -> None:
    page = visit(demo_site, "", reduced_motion="reduce" if calm else "no-preference")
    box = "document.querySelector('svg[data-zoom]').getAttribute('viewBox').split(' ').map(Number)"
    whole = page.evaluate(box)
    page.click(".zooms button >> nth=0")
    if calm:
        assert page.evaluate(box)[2] == pytest.approx(0.6 * whole[2], rel=0.01), "at once"
    until(page, f"Math.abs({box}[2] - {0.6 * whole[2]}) < 1")
    left, top, width, height = page.evaluate(box)
    assert left + width / 2 == pytest.approx(whole[2] / 2, rel=0.01)
    at = page.locator("svg[data-zoom]").bounding_box()
    page.mouse.move(at["x"] + 300, at["y"] + 200)
    page.mouse.down()
    page.mouse.move(at["x"] + 200, at["y"] + 150, steps=4)
    page.mouse.up()
    moved = page.evaluate(box)
    scale = width / at["width"]
    assert moved == pytest.approx([left + 100 * scale, top + 50 * scale, width, height], abs=1)
    assert urlsplit(page.url).path == "/", "moving is no click"
    page.focus(".zooms button >> nth=1")
    page.keyboard.press("0")
    until(page, f"{box}[2] === {whole[2]}")
    for _ in range(8):
        page.keyboard.press("-")
    page.wait_for_timeout(300)
    assert page.evaluate(box) == whole, "never smaller than all of it"
    page.keyboard.press("+")
    until(page, f"{box}[2] < {whole[2]}")
