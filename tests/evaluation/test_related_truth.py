"""The benchmark of related pages: what it takes for true, and that right rankings get full marks."""

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lxml")
pytest.importorskip("scipy")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from lxml import html as lxml_html

from related_truth import compare
from truth_dictionaries import write_pages
from truth_measures import GAMMA_PAGES, Site, judge, rank_by_rows
from truth_sets import Truth, field_rule, links_in, see_also_blocks, take_out

CHAPTERS = 40
PAGES = 2 * GAMMA_PAGES


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Return a set of pages in chapters that take turns; each names the next page of its chapter."""
    (tmp_path / "site").mkdir()
    paths = [f"{number:04}.html" for number in range(PAGES)]
    for path in paths:
        (tmp_path / "site" / path).write_text("<title>a page</title>")
    chapters = {path: f"chapter {number % CHAPTERS}" for number, path in enumerate(paths)}
    see_also = {path: [paths[(number + CHAPTERS) % PAGES]] for number, path in enumerate(paths)}
    return Site("made", tmp_path, Truth(chapters, see_also), sample_size=200)


def similarities(site: Site, right: float) -> np.ndarray:
    """Return similarities by which pages of the same chapter, and the next one above all, are as similar as told."""
    numbers = np.arange(len(site))
    chapter = np.array([site.chapters[number] for number in numbers])
    matrix = np.where(chapter[:, None] == chapter[None, :], right, 0.5)
    for page, targets in site.see_also.items():
        matrix[page, list(targets)] = right * 1.1
    return matrix


def test_right_rankings_get_full_marks_and_wrong_ones_none(site: Site) -> None:
    """Full marks are 1 for all three measures, among all pages and among the sample."""
    right, wrong = (judge(site, rank_by_rows(similarities(site, value).__getitem__)) for value in (0.9, 0.1))
    assert right.values == pytest.approx((1.0, 1.0, 1.0))
    assert right.sampled.values == pytest.approx((1.0, 1.0, 1.0))
    assert wrong.values == wrong.sampled.values == (0.0, 0.0, -1.0)
    assert len(right.sample_ndcg) < len(right.ndcg)
    for difference, low, high in compare(site, right, wrong):
        assert difference > 0
        assert (low, high) == pytest.approx((difference, difference))


def test_a_side_that_knows_the_sample_alone_is_asked_among_it(site: Site) -> None:
    """Such a side has no figures among all pages, and is compared with the other's figures among the sample."""
    matrix = similarities(site, 0.9)
    sampled = judge(site, rank_by_rows(lambda some: matrix[some] * site.sample.pages, sample_only=True))
    assert (sampled.ndcg, sampled.see_also, sampled.pairs) == ([], [], [])
    assert sampled.sampled.values == pytest.approx((1.0, 1.0, 1.0))
    assert np.count_nonzero(site.sample.pages) == 200
    everywhere = judge(site, rank_by_rows(matrix.__getitem__))
    assert [difference for difference, _low, _high in compare(site, everywhere, sampled)] == [0.0, 0.0, 0.0]


def test_see_also_lists_are_found_and_taken_out() -> None:
    """Lists under headings, in marked boxes and in paragraphs count; other links do not, and stay."""
    page = lxml_html.document_fromstring(
        '<h2>Use</h2><p>With <a href="kept.html">this</a>.</p>'
        '<div class="admonition seealso"><a href="box.html">box</a></div>'
        '<p>See also <a href="../up/paragraph.html#part">that</a>.</p>'
        '<h2>See Also</h2><ul><li><a href="listed.html">list</a></ul><h2>Notes</h2><p><a href="note.html">note</a></p>'
    )
    blocks = see_also_blocks(page)
    named = {target for block in blocks for target in links_in(block, "in/page.html")}
    assert named == {"in/box.html", "up/paragraph.html", "in/listed.html"}
    for block in blocks:
        take_out(block)
    assert set(links_in(page, "in/page.html")) == {"in/kept.html", "in/note.html"}


def test_links_of_a_list_begin_where_the_page_says() -> None:
    page = lxml_html.document_fromstring(
        '<base href="../../"><div class="relatedtopics"><a href="in/other.html">other</a><a href="">itself</a></div>'
    )
    assert [*links_in(see_also_blocks(page)[0], "in/deep/page.html")] == ["in/other.html"]


def test_entries_of_a_dictionary_are_pages_with_links_and_lists(tmp_path: Path) -> None:
    """References are links if there is such an entry; sentences that name nothing but entries are a see-also list."""
    text = (
        "00-database-info\n\n   A header of some words.\n\n"
        "owl\nbarn owl\n\n   <bird, night> A bird that hunts {mouse}s at {night},\n   like other owls.\n\n"
        "   See also {eagle}, {mouse}.  (1999-07-10)\n\n"
        "mouse\n\n   <mammal> A small animal that an {owl} eats.\n\n"
        "eagle\n\n   A bird with a view. Compare the {barn owl} with it.\n\n"
        "hoot\n\n   See {owl}.\n"
    )
    file = tmp_path / "some.dict.dz"
    file.write_bytes(gzip.compress(text.encode()))
    pages = {path: lxml_html.document_fromstring(page) for path, page in write_pages(file)}
    assert [*pages] == ["owl.html", "mouse.html", "eagle.html"]
    lists = {path: [*links_in(see_also_blocks(page)[0], path)] for path, page in pages.items()}
    assert lists == {"owl.html": ["eagle.html", "mouse.html"], "mouse.html": [], "eagle.html": []}
    assert pages["eagle.html"].xpath("//p//a/@href") == ["owl.html"]
    assert [field_rule(path, page) for path, page in pages.items()] == ["bird", "mammal", None]
    assert not any(word in pages["owl.html"].text_content() for word in ("1999", "night>", "{"))
