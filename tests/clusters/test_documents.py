"""Documents that their authors spread over several pages, found in any web."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.clusters import (
    document_of,
    find_documents,
)
from pagekin.clusters.documents import MOST_PAGES, document_tree
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from tests.bags.webs import read_records, record

SITE = "http://site.example/"
generated = settings(derandomize=True, database=None, deadline=None, max_examples=40)


class Web:
    """Pages by address, made link by link."""

    def __init__(self) -> None:
        self.links: dict[str, list[str]] = {}
        self.titles: dict[str, str] = {}

    def link(self, source: str, *targets: str) -> "Web":
        self.links.setdefault(source, []).extend(targets)
        for target in targets:
            self.links.setdefault(target, [])
        return self

    def both(self, one: str, *others: str) -> "Web":
        """Links from one page to others, and back."""
        self.link(one, *others)
        for other in others:
            self.link(other, one)
        return self

    def chain(self, *pages: str) -> "Web":
        for one, other in pairwise(pages):
            self.both(one, other)
        return self

    def manual(self, cover: str, *sections: str) -> "Web":
        """A cover that lists sections, which have links back, to the one before and to the next."""
        return self.both(cover, *sections).chain(*sections)

    def records(self) -> Iterable[bytes]:
        for path, targets in self.links.items():
            links = "".join(f"<li><a href='{absolute(target)}'>{target}</a>" for target in targets)
            title = self.titles.get(path, path.rpartition("/")[2].partition(".")[0])
            yield record(absolute(path), f"<title>{title}</title><p>words<ul>{links}</ul>")

    def corpus(self) -> Corpus:
        return read_records(self.records())

    def documents(self) -> list[tuple[str, set[str]]]:
        """Covers with the pages of their documents."""
        corpus = self.corpus()
        return [
            (path_of(corpus, one.cover), {path_of(corpus, page) for page in one.pages})
            for one in find_documents(corpus)
        ]


def absolute(path: str) -> str:
    return path if path.startswith("http") else SITE + path


def path_of(corpus: Corpus, page: int) -> str:
    return corpus.page_url(page).removeprefix(SITE)


def sections(count: int, folder: str = "m/") -> list[str]:
    return [f"{folder}s{number:03}.html" for number in range(count)]


def test_a_manual_with_next_and_previous_is_one_document() -> None:
    web = Web().manual("m/index.html", *sections(5)).link("home.html", "m/index.html")
    assert web.documents() == [("m/index.html", {"m/index.html", *sections(5)})]


def test_sections_of_sections_figures_and_notes_belong_to_it() -> None:
    web = Web().manual("m/index.html", *sections(4))
    web.both("m/s001.html", "m/s001a.html", "m/s001b.html").both("m/s001a.html", "m/fig/1.html")
    web.link("m/s002.html", "m/note.html").link("m/note.html", "m/index.html")
    web.link("m/s002.html", "m/dead-end.html")  # does not link back
    web.both("m/s003.html", "m/known.html").link("home.html", "m/known.html", "m/index.html")
    inside = {"m/index.html", *sections(4), "m/s001a.html", "m/s001b.html", "m/fig/1.html", "m/note.html"}
    assert web.documents() == [("m/index.html", inside)]


def test_pages_of_other_folders_and_hosts_stay_out() -> None:
    web = Web().manual("m/index.html", *sections(4))
    web.both("m/index.html", "other.html", "http://m.example/m/s.html", "mm/s.html")
    assert web.documents() == [("m/index.html", {"m/index.html", *sections(4)})]


def test_chapters_may_have_folders_of_their_own() -> None:
    chapters = [f"m/{letter}/index.html" for letter in "abcd"]
    assert Web().manual("m/index.html", *chapters).documents() == [("m/index.html", {"m/index.html", *chapters})]


@pytest.mark.parametrize(("count", "found"), [(MOST_PAGES - 1, 1), (MOST_PAGES, 0), (200, 0)])
def test_a_document_has_a_limit(count: int, found: int) -> None:
    assert len(Web().manual("m/index.html", *sections(count)).documents()) == found


def test_of_a_book_over_the_limit_the_chapters_are_documents() -> None:
    web = Web()
    chapters = [f"m/c{number}.html" for number in range(9)]
    web.manual("m/index.html", *chapters)
    expected = []
    for chapter in chapters:
        inside = [f"{chapter.removesuffix('.html')}-{number}.html" for number in range(8)]
        web.manual(chapter, *inside)
        expected.append((chapter, {chapter, *inside}))
    assert sorted(web.documents()) == expected


def test_the_cover_is_not_a_section_between_two_others() -> None:
    """Each section is linked with the one before, the contents and the next, in this order: much like a cover."""
    web = Web()
    names = sections(6)
    for before, name in zip(["m/z-contents.html", *names], names, strict=False):
        web.link(name, before, "m/z-contents.html").link(before, name)
    web.link("m/z-contents.html", *names[1:])
    assert web.documents() == [("m/z-contents.html", {"m/z-contents.html", *names})]


def test_a_section_is_no_cover_of_pages_that_the_contents_page_lists_in_another_order() -> None:
    web = Web()
    names = sections(6)
    for before, name, after in zip(["", *names], names, [*names[1:], ""], strict=False):
        web.link(name, *filter(None, (before, "m/index.html", after)))
    web.link("m/index.html", *(names[place] for place in (3, 0, 4, 1, 5, 2)))
    assert web.documents() == []


def test_pages_that_others_know_are_documents_of_their_own() -> None:
    web = Web().manual("m/index.html", *sections(6))
    for number in range(2):
        web.link(f"reader{number}.html", *sections(6))
    assert web.documents() == []


def test_pages_that_are_all_linked_with_all_are_no_document() -> None:
    web = Web()
    for name in sections(6):
        web.both("m/index.html", name).link(name, *(other for other in sections(6) if other != name))
    assert web.documents() == []


def test_an_encyclopaedia_has_none() -> None:
    """Articles link to each other as they please, and an index to all."""
    rng = np.random.default_rng(4)
    names = sections(80, "wiki/")
    web = Web().both("wiki/index.html", *names)
    for name in names:
        web.link(name, *rng.choice(names, 6).tolist())
    for one, other in rng.choice(names, (60, 2)).tolist():
        web.both(one, other)
    assert web.documents() == []


@pytest.mark.parametrize(
    ("titles", "found"),
    [
        ([f"np.linalg.f{n}" for n in range(5)], 0),
        ([f"std::f{n}" for n in range(5)], 0),
        ([f"get_{n}" for n in range(5)], 0),
        ([f"close{n}()" for n in range(5)], 0),
        (["Introduction", "U.S. Law", "3.2. Methods", "The get_all function", "Conclusions"], 1),
    ],
)
def test_entries_of_a_reference_are_documents_of_their_own(titles: list[str], found: int) -> None:
    web = Web().manual("m/index.html", *sections(5))
    web.titles = dict(zip(sections(5), titles, strict=True))
    assert len(web.documents()) == found


def course(number: str, folder: str) -> Web:
    """Pages of a course, with no order among them, beside other pages of the site."""
    web = Web().both(f"{folder}/home.html", *(f"{folder}/{page}.html" for page in ("staff", "dates", "work")))
    web.titles = {f"{folder}/{page}.html": f"{number}: {page}" for page in ("home", "staff", "dates", "work")}
    return web.link("start.html", f"{folder}/home.html", *(f"other{n}.html" for n in range(6)))


def test_pages_that_share_a_name_and_that_nobody_else_knows_are_one() -> None:
    inside = {f"cs302/{page}.html" for page in ("home", "staff", "dates", "work")}
    assert course("CS 302", "cs302").documents() == [("cs302/home.html", inside)]


def test_a_name_that_others_have_too_is_none() -> None:
    web = course("CS 302", "cs302")
    web.titles |= {f"other{n}.html": f"CS 302, another section {n}" for n in range(6)}
    assert web.documents() == []


def test_without_a_common_name_there_is_no_document() -> None:
    web = course("CS 302", "cs302")
    web.titles = {page: f"Title{n}" for n, page in enumerate(web.links)}
    assert web.documents() == []


def test_a_name_that_few_of_its_pages_have_is_none() -> None:
    web = course("CS 302", "cs302").both("cs302/home.html", *(f"cs302/{n}.html" for n in range(2)))
    assert len(web.documents()) == 1
    web.both("cs302/home.html", *(f"cs302/{n}.html" for n in range(2, 9)))
    web.link("start.html", *(f"other{n}.html" for n in range(6, 20)))
    assert web.documents() == []


def test_a_small_site_is_no_document_for_its_name() -> None:
    web = Web().both("www/", "www/staff.html", "www/dates.html", "www/work.html").link("start.html", "www/")
    web.titles = {page: f"Widgets: {page.removesuffix('.html')}" for page in web.links}
    assert web.documents() == []
    web.link("start.html", *(f"other{number}.html" for number in range(4)))
    assert len(web.documents()) == 1


def test_the_front_page_of_a_site_is_no_cover_for_its_name() -> None:
    web = Web().both("", "staff.html", "dates.html", "work.html").link("x/y.html", *(f"x/{n}.html" for n in range(9)))
    web.titles = {
        page: f"Widgets: {page.removesuffix('.html')}" for page in ("", "staff.html", "dates.html", "work.html")
    }
    assert web.documents() == []
    web = (
        Web()
        .both("w/", "w/staff.html", "w/dates.html", "w/work.html")
        .link("x/y.html", *(f"x/{n}.html" for n in range(9)))
    )
    web.titles = {
        page: f"Widgets: {page.removesuffix('.html')}" for page in ("w/", "w/staff.html", "w/dates.html", "w/work.html")
    }
    assert len(web.documents()) == 1


def test_pages_with_a_name_that_cite_each_other_at_will_are_a_site() -> None:
    names = [f"stars/{letter}.html" for letter in "abcdefgh"]
    web = Web().both("stars/index.html", *names).link("start.html", "stars/index.html")
    web.titles = {page: f"Stars: {page.removesuffix('.html')}" for page in web.links}
    web.link("start.html", *(f"other{number}.html" for number in range(12)))
    assert len(web.documents()) == 1
    for number, name in enumerate(names):
        web.link(name, *(names[(number + step) % 8] for step in (2, 3, 5)))
    assert web.documents() == []


def test_a_page_between_two_like_it_is_no_cover() -> None:
    """Without the contents page that all three had, the middle one is linked with both others, and they have a word."""
    web = (
        Web().chain("m/a.html", "m/b.html", "m/c.html").link("x.html", *(f"other{number}.html" for number in range(6)))
    )
    web.titles = {"m/a.html": "Wire Streams", "m/b.html": "Wire Locking", "m/c.html": "Wire Errors"}
    assert web.documents() == []
    web.titles["m/b.html"] = "Wire"
    assert len(web.documents()) == 1


@pytest.mark.parametrize(
    "records",
    [[record(SITE, "x"), record(SITE + "y", "y")], [record(SITE, f"<a href='{SITE}'>me</a>")], [record(SITE, "")]],
)
def test_webs_without_links_have_no_documents(records: list[bytes]) -> None:
    corpus = read_records(records)
    assert find_documents(corpus) == []
    assert document_of(document_tree(corpus), len(corpus)).tolist() == list(range(len(corpus)))


def test_captures_of_one_address_stay_together() -> None:
    web = Web().manual("m/index.html", *sections(3))
    older = record(absolute("m/s001.html"), "<p>before", "2001-01-01T00:00:00Z")
    corpus = read_records([*web.records(), older], all_captures=True)
    (found,) = find_documents(corpus)
    assert len(corpus) == 5
    assert found.pages == (0, 1, 2, 3, 4)


@some.composite
def webs(draw: some.DrawFn) -> Web:
    """Manuals of different lengths, and pages and links at random around and between them."""
    web = Web()
    for number in range(draw(some.integers(0, 3))):
        web.manual(f"m{number}/index.html", *sections(draw(some.integers(2, 7)), f"m{number}/"))
    for number in range(draw(some.integers(1, 6))):
        web.link(f"page{number}.html")
    pages = some.sampled_from(sorted(web.links))
    for one, other, back in draw(some.lists(some.tuples(pages, pages, some.booleans()), max_size=25)):
        web.both(one, other) if back else web.link(one, other)
    return web


@generated
@given(webs())
def test_documents_of_any_web_are_sound(web: Web) -> None:
    corpus = web.corpus()
    found = find_documents(corpus)
    pages = [page for one in found for page in one.pages]
    assert len(pages) == len(set(pages))
    assert [one.cover for one in found] == sorted(one.cover for one in found)
    for one in found:
        assert 3 <= len(one.pages) <= MOST_PAGES
        assert one.cover in one.pages
        inside = {path_of(corpus, page) for page in one.pages}
        cover = path_of(corpus, one.cover)
        assert reachable(web, cover, inside) == inside
        assert all(path.startswith(cover.rpartition("/")[0]) for path in inside)
        links = {(source, target) for source, all_of in web.links.items() for target in all_of if source != target}
        known = [source in inside for source, target in links if target in inside - {cover}]
        assert 3 * known.count(False) <= len(known)
        assert all(any(target in inside for target in web.links[path]) for path in inside)
    numbers = document_of(document_tree(corpus), len(corpus))
    for page in range(len(corpus)):
        home = next((one.cover for one in found if page in one.pages), page)
        assert numbers[page] == home


def reachable(web: Web, start: str, inside: set[str]) -> set[str]:
    """Pages that a reader who starts at the cover and stays inside can reach."""
    seen, todo = {start}, [start]
    while todo:
        fresh = {target for target in web.links[todo.pop()] if target in inside} - seen
        seen |= fresh
        todo += fresh
    return seen


def test_real_pages_of_1996(data: Path, tmp_path: Path) -> None:
    """Home pages of departments, people and courses: a course that a program split, one that a person did, few others."""
    plan = ReadPlan([str(data / "webkb" / "webkb.warc.gz")], tmp_path / "webkb.kin", workers=1)
    read_sources(plan)
    corpus = Corpus.open(tmp_path / "webkb.kin")
    found = {corpus.page_url(one.cover): one for one in find_documents(corpus)}
    host = "http://www.cs.wisc.edu/"
    split = found[f"{host}~cs564-1/cs564.html"]
    assert split.title == "CS 564 - Database Management Systems: Design and Implementation"
    assert [corpus.page_url(page).rpartition("/")[2] for page in split.pages] == [
        "cs564.html", *(f"node{number}.html" for number in (1, 2, 3, 5, 6, 7)),
    ]  # fmt: skip
    written = found[f"{host}~milo/cs302.html"]
    assert len(written.pages) == 19
    assert all("~milo/cs302" in corpus.page_url(page) for page in written.pages)
    assert f"{host}" not in found  # a department is not a document
    assert 20 <= len(found) <= 50
    assert sum(len(one.pages) for one in found.values()) < 0.04 * len(corpus)
