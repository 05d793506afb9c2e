"""What a host repeats in its titles is left out of them, and nothing else."""

import pytest

from pagekin.hypertext import ShortTitles
from pagekin.hypertext.titles import drop_number, repeated_ends
from tests.bags.webs import read_web


@pytest.mark.parametrize(
    ("titles", "begin", "end"),
    [
        ([f"page {n} - The Site" for n in range(5)], "", " - The Site"),
        ([f"page {n} — Guide — The Site 3.1" for n in range(9)], "", " — The Site 3.1"),
        ([f"The Site: page {n}" for n in range(5)], "The Site: ", ""),
        ([f"The Site | page {n} | home" for n in range(5)], "The Site | ", " | home"),
        ([f"page {n} - The Site" for n in range(4)], "", ""),  # too few to tell
        ([f"page {n} - site {n}" for n in range(9)], "", ""),
        ([*(f"page {n} - The Site" for n in range(5)), *(f"other {n}" for n in range(6))], "", ""),
        ([f"well-known thing {n}" for n in range(9)], "", ""),
        ([f"Class{n} (Java SE 17 & JDK 17)" for n in range(9)], "", " (Java SE 17 & JDK 17)"),
        ([f"Part {n} — The Manual (2.2.x)" for n in range(9)], "", " — The Manual (2.2.x)"),
        ([f"Part {n} — Book {n} (2.2.x)" for n in range(9)], "", " (2.2.x)"),
        ([f"Class (part {n})" for n in range(9)], "", ""),
        (
            [*(f"part {n} — Thing 2.4 documentation" for n in range(20)), *(f"thing.{n}" for n in range(80))],
            "",
            " — Thing 2.4 documentation",
        ),
        ([*(f"part {n} — an aside" for n in range(20)), *(f"thing.{n}" for n in range(80))], "", ""),
        ([*(f"part {n} — Thing documentation" for n in range(20)), *(f"thing.{n}" for n in range(800))], "", ""),
        ([], "", ""),
        ([""] * 9, "", ""),
    ],
)
def test_ends_that_half_of_the_titles_have(titles: list[str], begin: str, end: str) -> None:
    assert repeated_ends(titles) == (begin, end)


def test_titles_are_shortened_by_host_and_never_to_nothing() -> None:
    pages = {f"http://a.example/{n}": f"<title>page {n} - Site A</title>" for n in range(6)}
    pages |= {f"http://b.example/{n}": f"<title>page {n} - Site A</title>" for n in range(2)}
    pages["http://a.example/home"] = "<title> - Site A</title>"
    corpus = read_web(pages)
    short = ShortTitles(corpus)
    said = {corpus.page_url(page): short.text(page) for page in range(len(corpus))}
    assert said["http://a.example/3"] == "page 3"
    assert said["http://b.example/1"] == "page 1 - Site A"
    assert said["http://a.example/home"].endswith("Site A")


def test_titles_lose_the_name_of_their_book_and_its_version() -> None:
    titles = [f"{book} (10.1.60) - The {thing}" for book in ("Server Guide", "Cluster - The API") for thing in "abcdef"]
    titles += ["Small Guide (10.1.60) - The a", "Small Guide (10.1.60) - The b", "Pamphlet (10.1.60) - The z"]
    titles += [f"Part {n} - The x" for n in range(9)] + ["Old Guide (9.0) - The y", "Server Guide (10.1.60) - "]
    corpus = read_web({f"http://a.example/{n}": f"<title>{title}</title>" for n, title in enumerate(titles)})
    short = ShortTitles(corpus)
    said = {corpus.titles.text(page): short.text(page) for page in range(len(corpus))}
    assert said["Server Guide (10.1.60) - The c"] == said["Cluster - The API (10.1.60) - The c"] == "The c"
    assert said["Small Guide (10.1.60) - The b"] == "The b"
    assert said["Pamphlet (10.1.60) - The z"] == "Pamphlet (10.1.60) - The z"
    assert said["Part 3 - The x"] == "Part 3 - The x", "no version"
    assert said["Old Guide (9.0) - The y"] == "Old Guide (9.0) - The y", "one page is no book"
    assert said["Server Guide (10.1.60) -"] == "Server Guide (10.1.60) -"


@pytest.mark.parametrize(
    ("title", "short"),
    [
        ("13. What Now?", "What Now?"), ("2.1. Introduction", "Introduction"), ("3.11 release notes", "3.11 release notes"),
        ("2to3", "2to3"), ("35% Faster", "35% Faster"), ("7.", "7."), ("1984", "1984"),
    ],
)  # fmt: skip
def test_numbers_of_chapters_are_dropped_and_versions_are_not(title: str, short: str) -> None:
    assert drop_number(title) == short


def test_a_title_that_most_pages_have_gives_way_to_their_first_headings() -> None:
    pages = {
        f"http://book.example/{n}": f"<title>The Book</title><p>Home</p><h1>Chapter  <i>{n}</i>¶</h1><p>text {n}"
        for n in range(6)
    }
    pages["http://book.example/silent"] = "<title>The Book</title><p>no heading"
    pages |= {f"http://other.example/{n}": f"<title>The Book</title><h1>Part {n}</h1>" for n in range(3)}
    corpus = read_web(pages)
    short = ShortTitles(corpus)
    said = {corpus.page_url(page): short.text(page) for page in range(len(corpus))}
    assert said["http://book.example/4"] == "Chapter 4"
    assert said["http://book.example/silent"] == "The Book"
    assert said["http://other.example/1"] == "The Book", "three pages are too few to tell"
