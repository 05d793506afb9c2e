"""Figure 1 of hypursuit-1996, and documents that their authors spread over several pages."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from typer.testing import CliRunner

from pagekin.bags import BagMatrix
from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.clusters import (
    DOCUMENTS_TREE,
    ClusterDescription,
    complete_link,
    count_terms,
    document_of,
    find_documents,
    link_similarity,
    measure_agreement,
    page_graph,
    read_trees,
    term_similarity,
    term_words,
    weigh_terms,
)
from pagekin.clusters.documents import MOST_PAGES, document_tree
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.store import KinWriter, open_kin
from tests.bags.webs import read_records, record
from tests.clusters.conference import (
    BASE_URL,
    PAPERS,
    SESSIONS,
    paper_at,
    session_of,
    site,
    write_site,
)  # fmt: skip

load_verbs()
SITE = "http://site.example/"
generated = settings(derandomize=True, database=None, deadline=None, max_examples=40)


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


# -- Figure 1 -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def proceedings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proceedings")
    write_site(folder / "site")
    code, said = run(
        "read", folder / "site", "--out", folder / "site.kin", "--base-url", BASE_URL, "--parser", "strict",
        "--workers", "1",
    )  # fmt: skip
    assert code == 0, said
    return folder / "site.kin"


@pytest.fixture(scope="module")
def corpus(proceedings: Path) -> Corpus:
    return Corpus.open(proceedings)


def papers_of(corpus: Corpus) -> np.ndarray:
    """The paper of each page, -1 for pages of none."""
    return np.array([paper_at(corpus.page_url(page)) for page in range(len(corpus))])


def test_the_site_is_as_in_the_figure(corpus: Corpus) -> None:
    assert len(corpus) == len(site()) == sum(paper.pages() for paper in PAPERS) + 2
    assert Counter(papers_of(corpus).tolist()) == {-1: 2} | {n: paper.pages() for n, paper in enumerate(PAPERS)}
    assert len({paper.pages() for paper in PAPERS}) >= 5
    graph = page_graph(corpus)
    index = corpus.pages_of(corpus.url_number(f"{BASE_URL}index.html"))[0]
    listed = graph.out_targets[graph.out_offsets[index] : graph.out_offsets[index + 1]].tolist()
    covers = [f"{BASE_URL}papers/{paper.folder}/cover.html" for paper in PAPERS]
    assert sorted(corpus.page_url(page) for page in listed) == sorted([*covers, f"{BASE_URL}about.html"])
    for page, paper in enumerate(papers_of(corpus)):
        targets = graph.out_targets[graph.out_offsets[page] : graph.out_offsets[page + 1]]
        assert index in targets or page == index
        if paper >= 0:  # a page of a paper links to its paper and to the site's navigation, and to no other paper
            assert set(papers_of(corpus)[targets]) == {-1, paper}


def test_links_alone_rebuild_the_papers(corpus: Corpus) -> None:
    """Cut where as many clusters as papers are left: contents and about page have to join one of them."""
    papers = papers_of(corpus)
    clusters = complete_link(link_similarity(page_graph(corpus)), len(PAPERS)).labels()
    of_papers = papers >= 0
    assert measure_agreement(papers[of_papers], clusters[of_papers]).adjusted_rand == 1.0
    assert len(set(clusters[~of_papers])) == 1


def test_without_the_navigation_line_the_contents_page_is_a_cluster_too() -> None:
    """The figure itself has no links back to the contents page: then the cut at one more gives every paper and it."""
    line = "<p><a href='../../index.html'>"
    pages = {
        path: html[: html.index(line)] + html[html.index("<hr>") :] if line in html else html
        for path, html in site().items()
        if path != "about.html"
    }
    corpus = read_records(record(BASE_URL + path, html) for path, html in pages.items())
    clusters = complete_link(link_similarity(page_graph(corpus)), len(PAPERS) + 1).labels()
    assert measure_agreement(papers_of(corpus), clusters).adjusted_rand == 1.0


def test_links_alone_do_not_find_the_sessions(corpus: Corpus) -> None:
    papers = papers_of(corpus)
    inside = papers >= 0
    sessions = np.array([session_of(paper) for paper in papers[inside]])
    merges = complete_link(link_similarity(page_graph(corpus)), 1)
    for clusters in range(len(SESSIONS), len(SESSIONS) + 3):
        labels = merges.labels(len(corpus) - clusters)[inside]
        assert measure_agreement(sessions, labels).adjusted_rand < 0.15


def test_words_of_whole_papers_find_the_sessions(corpus: Corpus) -> None:
    """Each paper counts as one document with summed tf, as a router's sub-clusters do."""
    counted = count_terms(corpus, term_words(corpus))
    papers = papers_of(corpus)
    sums: list[Counter[int]] = [Counter() for _ in PAPERS]
    for page in np.flatnonzero(papers >= 0):
        row = slice(counted.offsets[page], counted.offsets[page + 1])
        sums[papers[page]].update(dict(zip(counted.terms[row].tolist(), counted.weights[row].tolist(), strict=True)))
    rows = [sorted(one.items()) for one in sums]
    offsets = np.cumsum([0, *map(len, rows)])
    terms, counts = (np.array([pair[side] for row in rows for pair in row]) for side in (0, 1))
    summed = BagMatrix(offsets, terms, counts, counted.columns)
    clusters = complete_link(term_similarity(weigh_terms(summed)), len(SESSIONS)).labels()
    assert (
        measure_agreement(np.array([session_of(paper) for paper in range(len(PAPERS))]), clusters).adjusted_rand == 1.0
    )
    single = complete_link(term_similarity(weigh_terms(counted)), len(SESSIONS)).labels()[papers >= 0]
    sessions = np.array([session_of(paper) for paper in papers[papers >= 0]])
    assert measure_agreement(sessions, single).adjusted_rand < 0.8  # pages alone have too few words


def test_every_paper_is_found_as_a_document(corpus: Corpus) -> None:
    papers = papers_of(corpus)
    found = find_documents(corpus)
    assert {(one.title, corpus.page_url(one.cover), one.pages) for one in found} == {
        (
            paper.title,
            f"{BASE_URL}papers/{paper.folder}/cover.html",
            tuple(np.flatnonzero(papers == number).tolist()),
        )
        for number, paper in enumerate(PAPERS)
    }


# -- documents of any web -----------------------------------------------------------------------------------------------


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


# -- in a collection ----------------------------------------------------------------------------------------------------


def test_the_tree_gives_each_page_its_document(tmp_path: Path, corpus: Corpus) -> None:
    from pagekin.clusters import put_trees

    made = document_tree(corpus)
    with KinWriter(tmp_path / "web.kin", "test") as writer:
        writer.commit(put_trees(writer, [made]))
    (again,) = read_trees(open_kin(tmp_path / "web.kin"))
    assert again.name == DOCUMENTS_TREE
    numbers = document_of(again, len(corpus))
    assert np.array_equal(numbers, document_of(made, len(corpus)))
    papers = papers_of(corpus)
    assert measure_agreement(papers[papers >= 0], numbers[papers >= 0]).adjusted_rand == 1.0
    alone = np.flatnonzero(papers < 0)
    assert np.array_equal(numbers[alone], alone)
    assert document_of(None, 3).tolist() == [0, 1, 2]
    uncovered = replace(made, descriptions=[ClusterDescription("", (), ())] * len(made))
    assert measure_agreement(numbers, document_of(uncovered, len(corpus))).adjusted_rand == 1.0


@pytest.fixture(scope="module")
def clustered(proceedings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("clustered") / "site.kin"
    shutil.copytree(proceedings, copy)
    code, said = run("cluster", copy, "--max-clusters", "5")
    assert code == 0, said
    return copy


def test_documents_are_listed(clustered: Path) -> None:
    assert [tree.name for tree in read_trees(open_kin(clustered))] == ["clusters", "addresses", "documents"]
    assert open_kin(clustered).facts["trees"][0]["documents"] == len(PAPERS)
    assert run("check", clustered)[0] == 0
    told = json.loads(run("clusters", clustered, "--documents", "--json")[1])
    assert {one["title"]: (one["pages"], one["url"]) for one in told} == {
        paper.title: (paper.pages(), f"{BASE_URL}papers/{paper.folder}/cover.html") for paper in PAPERS
    }
    assert [one["pages"] for one in told] == sorted((paper.pages() for paper in PAPERS), reverse=True)
    code, said = run("clusters", clustered, "--documents")
    assert (code, said) == run("clusters", clustered, "--hierarchy", "documents")
    assert code == 0
    for paper in PAPERS:
        assert f"{paper.pages()} pages  {paper.title}" in said


def test_one_document_with_all_its_pages(clustered: Path) -> None:
    figure = f"{BASE_URL}papers/queue/figure1.html"
    code, said = run("clusters", clustered, figure, "--documents")
    assert code == 0
    assert "A Lock-Free Queue, 7 pages" in said
    lines = [line.strip() for line in said.splitlines() if "http" in line]
    assert lines[0] == f"{BASE_URL}papers/queue/cover.html"
    assert sorted(lines) == sorted(BASE_URL + path for path in site() if path.startswith("papers/queue/"))
    told = json.loads(run("clusters", clustered, figure, "--documents", "--json")[1])
    assert [part["url"] for part in told["parts"]] == sorted(lines)
    assert json.loads(run("clusters", clustered, str(told["document"]), "--documents", "--json")[1]) == told


def test_pages_of_a_document_are_shown_once_in_a_cluster(clustered: Path) -> None:
    told = json.loads(run("clusters", clustered, "--tree", "--json")[1])
    seen = 0
    nodes = [told]
    while nodes:
        node = nodes.pop()
        nodes += node["children"]
        urls = [page["url"] for page in node["central"]]
        assert len(urls) == len(set(urls))
        for page in node["central"]:
            paper = paper_at(page["url"])
            assert page["pages"] == (PAPERS[paper].pages() if paper >= 0 else 1)
            assert paper < 0 or page["url"].endswith("/cover.html")
            seen += paper >= 0
    assert seen > 5
    said = run("clusters", clustered, f"{BASE_URL}papers/queue/section1.html")[1]
    assert said.count("A Lock-Free Queue (7 pages)") == 1
    assert "papers/queue/section" not in said
    assert any(f"{paper.title} ({paper.pages()} pages)" in run("clusters", clustered)[1] for paper in PAPERS)


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--documents", "--hierarchy", "addresses"], "leave out --hierarchy addresses", USAGE),
        ([f"{BASE_URL}about.html", "--documents"], "about.html is a document of one page", BAD_INPUT),
        ([f"{BASE_URL}gone.html", "--documents"], "is not in", BAD_INPUT),
        (["99", "--documents"], "the last is 19", USAGE),
    ],
)
def test_mistakes_are_told(clustered: Path, arguments: list[str], said: str, code: int) -> None:
    found, output = run("clusters", clustered, *arguments)
    assert (found, said in output) == (code, True), output


def test_a_collection_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(b"".join(Web().both("a.html", "b.html").records()))
    kin = tmp_path / "web.kin"
    read_sources(ReadPlan([str(tmp_path / "web.warc")], kin, parser="strict", workers=1))
    assert run("clusters", kin, "--documents")[0] == BAD_INPUT
    assert run("cluster", kin)[0] == 0
    assert [tree.name for tree in read_trees(open_kin(kin))] == ["clusters", "addresses"]
    assert run("clusters", kin, "--documents") == (0, "No documents of several pages.\n")
    assert json.loads(run("clusters", kin, "--documents", "--json")[1]) == []
    code, said = run("clusters", kin, absolute("a.html"), "--documents")
    assert (code, "no documents of several pages" in said) == (BAD_INPUT, True)


def test_clusters_from_before_there_were_documents_say_how_to_find_them(clustered: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site.kin"
    shutil.copytree(clustered, copy)
    kin = open_kin(copy)
    facts = json.loads(json.dumps(dict(kin.facts)))
    del facts["trees"][0]["documents"]
    facts["trees"] = facts["trees"][:2]
    with KinWriter(copy, "test") as writer:
        writer.commit(facts, keep=kin.manifest["files"])
    code, said = run("clusters", copy, "--documents")
    assert (code, "pagekin cluster" in said) == (BAD_INPUT, True)
    assert run("clusters", copy)[0] == 0
