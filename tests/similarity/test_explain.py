"""Why two pages are related: shares that add up, origins that are true, and links by pages that cite both."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import Strategy
from pagekin.similarity import Citation, Citations, Query, RankingOptions, RelatedIndex, SharedTerm, shared_terms
from pagekin.similarity.explain import AROUND

from .webs import index_web, plainly

A, B, LONELY = "http://a.example/", "http://b.example/", "http://lonely.example/"
HUB, OTHER = "http://hub.example/", "http://other.example/"
ALL_OF_IT = plainly("title.scale=1", "anchors.scale=1", "anchors.repeat=every", "links.scale=1", "window.size=2")


def shared(index: RelatedIndex, query: Query, document: int, count: int = 1_000_000) -> tuple[SharedTerm, ...]:
    return shared_terms(index.documents, query, document, count)


def cited(
    index: RelatedIndex, url: str, *asked: str, words: frozenset[str] = frozenset(), count: int = 1_000
) -> list[Citation]:
    citations = Citations([index.corpus], asked)
    return list(citations.best_for(url, words, count))


# -- shared terms ---------------------------------------------------------------------------------------------------


def queries(index: RelatedIndex) -> Iterator[Query]:
    """One page, two pages, a page from outside."""
    for document in range(0, len(index), 60):
        yield index.query_of([index.urls[document]])
        yield index.query_of([index.urls[document], index.urls[document - 1]])
    yield index.query_of_html(b"<title>Carbon</title><p>Diamond is carbon, says nobody called Xyzzyqux.")


def test_over_all_shared_terms_shares_sum_to_1_and_contributions_to_the_bags_similarity(demo: RelatedIndex) -> None:
    compared = 0
    for query in queries(demo):
        for result in demo.answer(query, RankingOptions(k=5, fold=False)).results:
            terms = shared(demo, query, demo.document(result.url))
            assert sum(term.share for term in terms) == pytest.approx(1)
            (of_bags,) = demo.similarities(query, np.array([demo.document(result.url)]))
            assert sum(term.contribution for term in terms) == pytest.approx(of_bags, abs=1e-6)
            assert sorted(terms, key=lambda term: -term.contribution) == list(terms)
            compared += 1
    assert compared > 100


def test_an_explained_result_has_the_ten_terms_that_count_most(demo: RelatedIndex) -> None:
    query = demo.query_of(["http://planets.example/jupiter.html"])
    for result in demo.answer(query, RankingOptions(k=5, explain=True)).results:
        assert result.terms == shared(demo, query, demo.document(result.url))[:10]
        assert len(result.terms) == 10


def test_pages_that_share_nothing_share_no_terms(tmp_path: Path) -> None:
    index = index_web(tmp_path, {A: "granite mica", B: "waltz violin"})
    assert shared(index, index.query_of([A]), index.document(B)) == ()


def test_shares_by_hand(tmp_path: Path) -> None:
    index = index_web(tmp_path, {A: "granite granite mica quartz", B: "granite mica mica slate"})
    terms = shared(index, index.query_of([A]), index.document(B))
    assert {(term.term, term.share) for term in terms} == {("granite", 0.5), ("mica", 0.5)}
    assert [term.contribution for term in terms] == pytest.approx([1 / 6, 1 / 6])
    assert [term.origins for term in terms] == [("content",), ("content",)]


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    """A and B, both cited by a hub, B by another page and by itself too."""
    both = f"<p>Famous stones are <a href={A}>granite</a> quarried <p>here and <a href={B}>gneiss</a> quarried there"
    return index_web(
        tmp_path_factory.mktemp("linked"),
        {
            A: "<title>granite mica</title> schist quartz",
            B: f"<title>gneiss mica</title> schist <a href={B}>gneiss gneiss itself</a>",
            HUB: both,
            OTHER: f"A page about folded <a href={B}>gneiss stone</a> alone",
            LONELY: "nobody links here, schist",
        },
        ALL_OF_IT,
    )


def test_origins_say_where_each_of_the_two_pages_has_a_term_from(linked: RelatedIndex) -> None:
    terms = {term.term: term for term in shared(linked, linked.query_of([A]), linked.document(B))}
    assert set(terms) == {"mica", "schist", "granite", "gneiss", "quarried", HUB}
    assert (terms["mica"].origins, terms["mica"].query_origins) == (("title",), ("title",))
    assert (terms["schist"].origins, terms["schist"].query_origins) == (("content",), ("content",))
    assert (terms["quarried"].origins, terms["quarried"].query_origins) == (("anchors",), ("anchors",))
    assert (terms["granite"].origins, terms["granite"].query_origins) == (("anchors",), ("anchors", "title"))
    # B says it in its title and in its text, and links to B say it; near A's link it is said of its neighbour.
    assert terms["gneiss"].origins == ("content", "anchors", "title")
    assert terms["gneiss"].query_origins == ("anchors",)
    assert (terms[HUB].origins, terms[HUB].query_origins) == (("links",), ("links",))


def test_the_origins_of_several_pages_are_those_of_any(linked: RelatedIndex) -> None:
    query = linked.query_of([A, LONELY])
    terms = {term.term: term for term in shared(linked, query, linked.document(B))}
    assert terms["schist"].query_origins == ("content",)
    assert terms["quarried"].query_origins == ("anchors",)


# -- citations ------------------------------------------------------------------------------------------------------


def test_pages_that_link_to_both_come_first_and_no_page_cites_itself(linked: RelatedIndex) -> None:
    assert cited(linked, B, A) == [
        Citation(HUB, "gneiss", "here and ", " quarried there", True),
        Citation(OTHER, "gneiss stone", "A page about folded ", " alone", False),
    ]
    (result,) = (r for r in linked.related(A, explain=True) if r.url == B)
    assert [c.source for c in result.citations] == [HUB, OTHER]


def test_of_pages_alike_in_that_the_one_that_uses_more_shared_words_comes_first(linked: RelatedIndex) -> None:
    assert [c.source for c in cited(linked, B, words=frozenset({"folded"}))] == [OTHER, HUB]
    assert [c.source for c in cited(linked, B, words=frozenset({"Quarried"}))] == [HUB, OTHER]
    assert [c.source for c in cited(linked, B, A, words=frozenset({"folded"}))] == [HUB, OTHER]


def test_a_page_that_nobody_links_to_has_no_citations(linked: RelatedIndex) -> None:
    assert cited(linked, LONELY, A) == []


def test_a_page_links_to_one_page_alone_even_if_that_page_links_to_itself(tmp_path: Path) -> None:
    """A links to itself and to B: it cites B, but nobody cites both."""
    index = index_web(tmp_path, {A: f"<a href={A}>myself</a> and <a href={B}>gneiss</a>", B: "gneiss"})
    assert [(c.source, c.cites_both) for c in cited(index, B, A)] == [(A, False)]


def test_a_page_is_cited_once_by_a_link_with_words(tmp_path: Path) -> None:
    web = {HUB: f"<a href={B}><img src=x></a> mica <a href={B}>Gneiss</a>, schist <a href={B}>stone</a>", B: "gneiss"}
    (found,) = cited(index_web(tmp_path, web), B)
    assert (found.text, found.right) == ("Gneiss", ", schist stone")


def test_links_without_words_are_quoted_only_where_there_are_no_others(tmp_path: Path) -> None:
    arrows = {f"http://menu{i}.example/": f"<a href={B}><img src=x></a> updated today" for i in range(3)}
    (found,) = cited(index_web(tmp_path, arrows | {HUB: f"mica <a href={B}>Gneiss</a>", B: "gneiss"}), B)
    assert (found.source, found.text) == (HUB, "Gneiss")
    (tmp_path / "arrows").mkdir()
    assert len(cited(index_web(tmp_path / "arrows", arrows | {B: "gneiss"}), B)) == 3


def test_no_more_than_three_citations_are_told_with_the_text_around_them(tmp_path: Path) -> None:
    words = " ".join(f"w{i:02}" for i in range(40))
    web = {f"http://hub{i}.example/": f"<p>{words} <a href={B}>gneiss</a>, {words}" for i in range(5)}
    index = index_web(tmp_path, web | {A: "gneiss", B: "gneiss mica"})
    (result, *_) = index.related(A, explain=True)
    assert [c.source for c in result.citations] == [f"http://hub{i}.example/" for i in range(3)]
    for citation in result.citations:
        assert citation.left.startswith("… ")
        assert f"{words} ".endswith(citation.left[2:])
        assert citation.right.endswith(" …")
        assert f", {words}".startswith(citation.right[:-2])
        assert AROUND - 6 <= len(citation.left) <= AROUND + 2 >= len(citation.right) >= AROUND - 6


def test_whoever_links_to_both_is_found_among_many_that_do_not(tmp_path: Path) -> None:
    """Of many links only some are read, but of all it is known whether their page links to both, and to how much."""
    many = 40
    web = {f"http://for-a.example/{i:03}": f"<a href={A}>granite</a>" for i in range(many)}
    lists = "".join(f"<a href=http://c.example/{i}>other</a>" for i in range(5))
    web |= {f"http://for-b.example/{i:03}": f"<a href={B}>gneiss</a> {lists if i != 17 else ''}" for i in range(many)}
    both = "http://for-b.example/zzz-and-a"  # the last of all that link to B
    web |= {both: f"{lists} {lists} <a href={A}>granite</a> and <a href={B}>gneiss</a>", A: "granite", B: "gneiss"}
    found = cited(index_web(tmp_path, web), B, A, count=2)
    assert [(c.source, c.cites_both) for c in found] == [(both, True), ("http://for-b.example/017", False)]


def test_a_link_amid_a_text_tells_more_than_one_in_a_menu(tmp_path: Path) -> None:
    told = f"<p>Most of the old quarries of the valley gave <a href={B}>gneiss</a> and nothing besides"
    web = {"http://a-menu.example/": f"<ul><li><a href={B}>gneiss</a></ul>", "http://told.example/": told, B: "gneiss"}
    assert [c.source for c in cited(index_web(tmp_path, web), B)] == ["http://told.example/", "http://a-menu.example/"]


def test_a_bracket_that_opens_in_a_link_closes_in_it(tmp_path: Path) -> None:
    index = index_web(
        tmp_path, {A: "granite", B: f"See <a href={A}>Granite (Spring 1996)</a>, and (<a href={A}>mica</a>)."}
    )
    (citation,) = cited(index, A)
    assert (citation.left, citation.text, citation.right[:5]) == ("See ", "Granite (Spring 1996)", ", and")


def test_links_that_do_not_count_are_no_reasons(tmp_path: Path) -> None:
    book, text = "http://book.example/", "Old quarries of the valley gave gneiss and slate."
    web = {f"{book}{n}": f"<p>{text} <a rel=next href={book}{(n + 1) % 6}>Part {(n + 1) % 6}</a>" for n in range(6)}
    web[f"{book}2"] += f"<p>Compare <a href={book}5>the last part</a>, which is better."
    index = index_web(tmp_path, web, Strategy())
    sources = {
        result.url: [citation.source for citation in result.citations]
        for result in index.related(f"{book}0", 5, explain=True, fold=False)
    }
    assert sources == {f"{book}{n}": [f"{book}2"] if n == 5 else [] for n in range(1, 6)}


def test_links_of_real_pages_are_judged_as_their_anchors_say(demo: RelatedIndex) -> None:
    corpus = demo.corpus
    asked = corpus.url_number("http://planets.example/jupiter.html")
    assert asked >= 0
    targets: dict[str, set[int]] = {}
    for page in range(len(corpus)):
        links = [int(corpus.kin["anchor.target"][a]) for a in corpus.anchors_out(page)]
        targets[corpus.page_url(page)] = set(links)
    both = 0
    for result in demo.related(corpus.url(asked), 20, explain=True):
        number = corpus.url_number(result.url)
        for citation in result.citations:
            assert number in targets[citation.source]
            assert citation.cites_both == (asked in targets[citation.source] and citation.source != corpus.url(asked))
            assert citation.source != result.url
            both += citation.cites_both
    assert both > 10


def test_the_default_strategy_explains_by_words_and_linked_pages_and_never_by_numbers(demo: RelatedIndex) -> None:
    assert demo.strategy == Strategy()
    result = demo.related("http://planets.example/jupiter.html", 1, explain=True)[0]
    linked = [term for term in result.terms if "outlinks" in term.origins]
    assert linked
    assert all(term.origins == term.query_origins == ("outlinks",) for term in linked)
    assert all(demo.corpus.url_number(term.term) >= 0 for term in linked)
    assert all(term.term.isalpha() for term in result.terms if term not in linked)
    assert np.all(np.diff([-term.share for term in result.terms]) >= 0)
