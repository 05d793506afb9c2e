"""The demo web: enough pages, every link leads somewhere, and the same bytes everywhere."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit
from xml.etree import ElementTree

import pytest

from pagekin.sources import Page, demo_pages
from pagekin.sources.demo.links import split_sentences


class LinkFinder(HTMLParser):
    """A parser that collects the links, the title, the base and the words of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.base: str | None = None
        self.links: list[str] = []
        self.title = ""
        self.words: list[str] = []
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "base":
            self.base = values.get("href")
        elif tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
        elif tag == "frame":
            self.links.append(str(values["src"]))
        if tag in ("title", "style"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside == ["title"]:
            self.title += data
        elif not self._inside:
            self.words.append(data)


def charset_of(html: bytes) -> str:
    """Return the character set that the page declares."""
    found = re.search(rb"charset=\"?([\w-]+)", html)
    assert found
    return found[1].decode("ascii")


def read(page: Page) -> LinkFinder:
    """Decode a page by its own character set and parse it."""
    finder = LinkFinder()
    finder.feed(page.html.decode(charset_of(page.html)))
    finder.close()
    return finder


def targets(page: Page, finder: LinkFinder) -> list[str]:
    """Return the absolute addresses that a page links to, without fragments and mail addresses."""
    base = urljoin(page.url, finder.base or "")
    found = (urldefrag(urljoin(base, link)).url for link in finder.links)
    return [url for url in found if not url.startswith("mailto:")]


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    return {page.url: page for page in demo_pages()}


@pytest.fixture(scope="module")
def parsed(pages: dict[str, Page]) -> dict[str, LinkFinder]:
    return {url: read(page) for url, page in pages.items()}


def digest() -> str:
    """Return one checksum of all addresses and bytes, in order."""
    total = hashlib.sha256()
    for page in demo_pages():
        total.update(page.url.encode() + b"\0" + page.html + b"\0")
    return total.hexdigest()


def test_many_pages_on_many_hosts(pages: dict[str, Page]) -> None:
    assert len(pages) >= 600
    assert len({urlsplit(url).netloc for url in pages}) >= 12


def test_addresses_are_distinct(pages: dict[str, Page]) -> None:
    assert sum(1 for _ in demo_pages()) == len(pages)


def test_same_bytes_in_two_calls_and_in_another_process() -> None:
    here = digest()
    assert digest() == here
    script = (
        "import hashlib\nfrom pagekin.sources.demo import demo_pages\ntotal = hashlib.sha256()\n"
        "for page in demo_pages():\n    total.update(page.url.encode() + b'\\0' + page.html + b'\\0')\n"
        "print(total.hexdigest())"
    )
    for seed in ("1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == here


def test_every_link_leads_to_a_page(pages: dict[str, Page], parsed: dict[str, LinkFinder]) -> None:
    dead = [
        (url, target) for url, page in pages.items() for target in targets(page, parsed[url]) if target not in pages
    ]
    assert dead == []


def test_every_page_has_a_title_and_words(parsed: dict[str, LinkFinder]) -> None:
    for url, finder in parsed.items():
        assert finder.title.strip(), url
        assert len(" ".join(finder.words).split()) >= 8, url
        assert "[[" not in "".join(finder.words), url


def test_titles_are_distinct_within_a_host(parsed: dict[str, LinkFinder]) -> None:
    titles = Counter((urlsplit(url).netloc, finder.title) for url, finder in parsed.items())
    assert [title for title, count in titles.items() if count > 1] == []


def test_mirror_equals_its_original(pages: dict[str, Page]) -> None:
    originals = [url for url in pages if urlsplit(url).netloc == "mountains.example"]
    mirrored = [url for url in pages if urlsplit(url).netloc == "mirror.example"]
    assert len(originals) == len(mirrored) > 0
    for url in originals:
        copy = pages[url.replace("mountains.example", "mirror.example")]
        assert copy.html == pages[url].html.replace(b"mountains.example", b"mirror.example")
        assert copy.html.replace(b"mirror.example", b"mountains.example") == pages[url].html


def test_print_versions_are_nearly_their_originals(parsed: dict[str, LinkFinder]) -> None:
    prints = [url for url in parsed if "/print/" in url]
    assert len(prints) >= 10
    for url in prints:
        copy = set(" ".join(parsed[url].words).split())
        original = set(" ".join(parsed[url.replace("/print/", "/")].words).split())
        assert 0.6 < len(copy & original) / len(copy | original) < 1


def test_attic_is_hardly_linked(pages: dict[str, Page], parsed: dict[str, LinkFinder]) -> None:
    inlinks: Counter[str] = Counter()
    for url, page in pages.items():
        inlinks.update({target for target in targets(page, parsed[url]) if target != url})
    lonely = [url for url in pages if inlinks[url] <= 1]
    assert len(lonely) >= 10
    attic = [url for url in pages if url.startswith("http://archive.example/attic/")]
    assert len(attic) >= 10
    assert set(attic) <= set(lonely)


def test_personal_pages_link_across_sites(pages: dict[str, Page], parsed: dict[str, LinkFinder]) -> None:
    people = [url for url in pages if "people.example/~" in url]
    assert len(people) >= 30
    for url in people:
        hosts = {urlsplit(target).netloc for target in targets(pages[url], parsed[url])}
        assert len(hosts - {"people.example", "links.example"}) >= 2, url


def test_several_page_styles(pages: dict[str, Page]) -> None:
    def has(*marks: bytes) -> bool:
        return any(all(mark in page.html for mark in marks) for page in pages.values())

    assert has(b"<!DOCTYPE html>", b'<html lang="en">', b'<nav class="breadcrumb" aria-label=', b"<address>")
    assert has(b"HTML 3.2", b"<FONT", b"<CENTER>", b"<LI>", b"<P>")
    assert has(b'<?xml version="1.0"', b"XHTML 1.0", b" />")
    assert has(b'<base href="http://')
    assert has(b"<frameset", b"<noframes>")
    assert has(b"&eacute;")
    assert has(b'name="keywords"')
    assert has(b'<table class="facts"') and has(b'<dl class="facts"') and has(b'<ul class="facts"')


def test_xhtml_pages_are_well_formed(pages: dict[str, Page]) -> None:
    strict = [page for page in pages.values() if b"XHTML 1.0" in page.html]
    assert len(strict) >= 10
    for page in strict:
        assert ElementTree.fromstring(page.html).tag.endswith("html"), page.url


def test_character_sets_matter(pages: dict[str, Page]) -> None:
    sets = Counter(charset_of(page.html) for page in pages.values())
    assert set(sets) == {"utf-8", "iso-8859-1", "windows-1252"}
    windows = [page.html for page in pages.values() if charset_of(page.html) == "windows-1252"]
    assert any(b"\x92" in html for html in windows)


def test_sentences_keep_short_forms_together() -> None:
    assert split_sentences("Mount St. Helens blew up. Nobody slept.") == [
        "Mount St. Helens blew up.",
        "Nobody slept.",
    ]
