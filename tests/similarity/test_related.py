"""Related pages by hand: what is asked, what is answered, and what is said when there is no answer."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import choose_strategy
from pagekin.similarity import Answer, RankingOptions, RelatedError, RelatedIndex, related
from pagekin.similarity.related import margin
from tests.bags.webs import moved
from tests.demo_web import demo_pages

from .webs import index_web, plainly

STONES = "http://stones.example/"
WEB = {
    STONES + "granite": "<title>Granite</title>granite mica quartz feldspar",
    STONES + "gneiss": "<title>Gneiss</title>gneiss mica quartz feldspar",
    STONES + "slate": "<title>Slate</title>slate clay mica shale",
    STONES + "waltz": "<title>Waltz</title>waltz vienna violin ballroom",
    STONES + "tango": "<title>Tango</title>tango vienna violin ballroom",
}
"""Pages of four words each, so that those that share s have s / (8 - s) in common."""


@pytest.fixture(scope="module")
def stones(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    return index_web(tmp_path_factory.mktemp("stones"), WEB)


def names(results: list[related.Result]) -> list[str]:
    """The last part of each result's address."""
    return [result.url.rpartition("/")[2] for result in results]


def message(index: RelatedIndex, *urls: str) -> str:
    """What is said about a question that cannot be answered."""
    with pytest.raises(RelatedError) as error:
        index.query_of(urls)
    return str(error.value)


# -- one page -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "reranked"])
def test_the_page_that_shares_most_comes_first_and_those_that_share_nothing_do_not_come(
    stones: RelatedIndex, method: str
) -> None:
    first, second = stones.related(STONES + "granite", method=method)
    assert (first.url, first.title, first.captured, first.error) == (STONES + "gneiss", "Gneiss", True, 0)
    assert first.similarity == pytest.approx(3 / 5, abs=1e-6)
    assert second.url == STONES + "slate"
    assert second.similarity == pytest.approx(1 / 7, abs=1e-6)


def test_no_more_than_k_are_given(stones: RelatedIndex) -> None:
    assert names(stones.related(STONES + "granite", k=1)) == ["gneiss"]
    assert stones.related(STONES + "granite", k=0) == []


def test_of_equally_similar_pages_the_first_by_address_comes_first(tmp_path: Path) -> None:
    web = {STONES + name: f"granite mica {name}stone" for name in "dbcae"}
    for options in ({}, {"method": "exact"}):
        found = index_web(tmp_path, web).related(STONES + "c", **options)  # type: ignore[arg-type]
        assert names(found) == ["a", "b", "d", "e"]


def test_an_estimate_is_the_share_of_equal_positions_and_says_how_far_off_it_may_be(stones: RelatedIndex) -> None:
    rows, m = stones.index.rows, stones.index.m
    found = stones.related(STONES + "granite", method="estimate")
    assert names(found) == ["gneiss", "slate"]
    for result in found:
        a, b = stones.document(STONES + "granite"), stones.document(result.url)
        assert result.similarity == np.count_nonzero(rows[a] == rows[b]) / m
        assert result.error == margin(result.similarity, m) > 0


@pytest.mark.parametrize(("estimate", "m"), [(0.0, 80), (0.1, 80), (0.5, 192), (0.97, 8), (1.0, 192)])
def test_the_error_is_half_of_wilsons_interval(estimate: float, m: int) -> None:
    """Its ends are the similarities p from which the estimate is 1.96 standard deviations away."""
    z = 1.96
    low, high = sorted(np.roots([1 + z * z / m, -2 * estimate - z * z / m, estimate * estimate]).real)
    assert margin(estimate, m) == pytest.approx((high - low) / 2, rel=1e-6)


def test_only_pages_above_the_asked_similarity_are_given(stones: RelatedIndex) -> None:
    asked = STONES + "granite"
    assert names(stones.related(asked, min_similarity=0.14)) == ["gneiss", "slate"]
    assert names(stones.related(asked, min_similarity=0.15)) == ["gneiss"]
    assert names(stones.related(asked, min_similarity=0.6)) == []  # above, not from there on
    assert names(stones.related(asked, min_similarity=0.6, method="exact")) == []
    assert names(stones.related(asked, min_similarity=0.99, method="estimate")) == []


def test_without_a_similarity_asked_for_the_strategys_holds(tmp_path: Path) -> None:
    index = index_web(tmp_path, WEB, plainly("signature.alpha=0.3"))
    for options in ({}, {"method": "exact"}, {"method": "estimate"}):
        assert names(index.related(STONES + "granite", **options)) == ["gneiss"]  # type: ignore[arg-type]
    assert names(index.related(STONES + "granite", min_similarity=0.0)) == ["gneiss", "slate"]


@pytest.mark.parametrize("options", [{}, {"method": "exact"}, {"method": "estimate"}, {"fold": False}])
def test_an_answer_says_how_many_pages_the_threshold_left_out(stones: RelatedIndex, options: dict[str, bool]) -> None:
    def answer(alpha: float | None, k: int = 10) -> Answer:
        asked = RankingOptions(k=k, min_similarity=alpha, **options)  # type: ignore[arg-type]
        return stones.answer(stones.query_of([STONES + "granite"]), asked)

    assert (answer(0.99).alpha, answer(0.99).below_threshold, answer(0.99).results) == (0.99, 2, [])
    assert (answer(0.4).below_threshold, names(answer(0.4).results)) == (1, ["gneiss"])
    assert answer(0.4, k=1).below_threshold == 0  # as many as were asked for: nothing is missing
    assert (answer(None).alpha, answer(None).below_threshold) == (0.0, 0)


def test_pages_with_few_links_to_them_can_be_asked_about_but_are_no_answers(tmp_path: Path) -> None:
    hub = {"http://hub.example/": f"<a href={STONES}granite>x</a> <a href={STONES}slate>x</a>"}
    index = index_web(tmp_path, WEB | hub, plainly("signature.min_inlinks=1"))
    for options in ({}, {"method": "exact"}, {"method": "estimate"}):
        assert names(index.related(STONES + "gneiss", **options)) == ["granite", "slate"]  # type: ignore[arg-type]
        assert names(index.related(STONES + "granite", **options)) == ["slate"]  # type: ignore[arg-type]
        assert names(index.related(STONES + "tango", **options)) == []  # type: ignore[arg-type]


def test_an_index_in_which_no_page_may_be_an_answer_answers_with_nothing(tmp_path: Path) -> None:
    index = index_web(tmp_path, WEB, plainly("signature.min_inlinks=9"))
    for options in ({}, {"method": "exact"}, {"method": "estimate"}):
        assert index.related(STONES + "granite", **options) == []  # type: ignore[arg-type]


# -- other names ----------------------------------------------------------------------------------------------------


def test_an_alias_asks_about_its_page_and_stands_beside_the_result_that_it_is_a_name_of(tmp_path: Path) -> None:
    others = [moved(STONES + "old-granite", "/granite"), moved(STONES + "old-gneiss", "/gneiss")]
    index = index_web(tmp_path, WEB, others=others)
    by_alias, by_name = (index.related(STONES + name) for name in ("old-granite", "granite"))
    assert by_alias == by_name
    assert names(by_name) == ["gneiss", "slate"]
    assert by_name[0].copies == (STONES + "old-gneiss",)
    assert by_name[1].copies == ()


@pytest.mark.parametrize("spelling", ["HTTP://Stones.Example/granite", "http://stones.example:80/granite#top"])
def test_an_address_may_be_spelt_in_other_ways(stones: RelatedIndex, spelling: str) -> None:
    assert stones.document(spelling) == stones.document(STONES + "granite")


# -- several pages --------------------------------------------------------------------------------------------------


def test_several_pages_are_asked_about_by_the_mean_of_their_bags(stones: RelatedIndex) -> None:
    query = stones.query_of([STONES + "granite", STONES + "waltz"])
    words = {stones.bags.term_text(stones.corpus, int(term)) for term in query.terms[0]}
    assert words == set("granite mica quartz feldspar waltz vienna violin ballroom".split())
    assert query.weights == pytest.approx(np.full(8, 1 / 8))
    assert query.total == pytest.approx(1)
    for options in (RankingOptions(method="exact"), RankingOptions()):
        found = stones.answer(query, options).results
        assert names(found) == ["gneiss", "tango", "slate"]  # neither of the two that were named
        assert found[0].similarity == pytest.approx((3 / 8) / (2 - 3 / 8), abs=1e-6)
        assert found[2].similarity == pytest.approx((1 / 8) / (2 - 1 / 8), abs=1e-6)
    estimates = {result.url: result for result in stones.answer(query, RankingOptions(method="estimate")).results}
    for exact_one in found[:2]:
        estimate = estimates[exact_one.url]
        assert estimate.similarity == pytest.approx(exact_one.similarity, abs=2 * estimate.error)


def test_the_order_of_several_pages_does_not_matter_nor_does_naming_one_twice(stones: RelatedIndex) -> None:
    granite, waltz = STONES + "granite", STONES + "waltz"
    assert stones.related([granite, waltz]) == stones.related([waltz, granite, waltz])
    assert stones.related([granite, granite]) == stones.related(granite)


def test_pages_that_share_words_weigh_them_by_the_mean(stones: RelatedIndex) -> None:
    query = stones.query_of([STONES + "granite", STONES + "gneiss"])
    weights = {
        stones.bags.term_text(stones.corpus, int(t)): w for t, w in zip(query.terms[0], query.weights, strict=True)
    }
    assert weights == pytest.approx(
        {"granite": 1 / 8, "gneiss": 1 / 8, "mica": 1 / 4, "quartz": 1 / 4, "feldspar": 1 / 4}
    )
    (first,) = stones.answer(query).results
    assert first.similarity == pytest.approx(1 / 7, abs=1e-6)


# -- pages from outside ---------------------------------------------------------------------------------------------


def same_query(index: RelatedIndex, url: str, html: bytes) -> None:
    """A page's HTML asks what the page itself asks if nobody links to it."""
    asked, page = index.query_of_html(html), index.query_of([url])
    (asked_terms,), (page_terms,) = asked.terms, page.terms
    a, b = np.argsort(asked_terms), np.argsort(page_terms)
    np.testing.assert_array_equal(asked_terms[a], page_terms[b])
    np.testing.assert_allclose(asked.weights[a], page.weights[b], rtol=1e-6)
    np.testing.assert_array_equal(asked.origins[a], page.origins[b])
    np.testing.assert_array_equal(asked.sketch, page.sketch)
    assert (
        np.count_nonzero(asked.signature == page.signature) >= index.index.m - 1
    )  # weights may differ in the last bit


@pytest.mark.parametrize(
    "settings", [[], ["content.scale=0"], ["title.scale=0"], ["anchors.scale=0"], ["words=letters"]]
)
def test_html_asks_what_the_same_page_in_the_collection_asks(tmp_path: Path, settings: list[str]) -> None:
    web = {url: html + ". <h2>Stones</h2> A stone, 7 stones, of age <img alt='a stone'>" for url, html in WEB.items()}
    index = index_web(tmp_path, web, choose_strategy(settings=settings))
    for url, html in web.items():
        same_query(index, url, html.encode())


def test_html_of_real_pages_that_nobody_links_to_asks_what_the_pages_ask(demo: RelatedIndex) -> None:
    html = {page.url: page.html for page in demo_pages()}
    alone = np.flatnonzero(np.asarray(demo.corpus.kin["bag.inlinks"]) == 0)
    assert len(alone) >= 10
    for document in alone.tolist():
        url = demo.urls[document]
        same_query(demo, url, html[url])
        answer = demo.answer(demo.query_of_html(html[url]), RankingOptions(fold=False))
        assert answer.results[0].url == url
        # Without its address nothing is known of the page's links.
        by_words = names(demo.related(url, 9, fold=False))
        assert len({*names(answer.results)[1:]} & {*by_words}) >= 6


def test_the_page_that_html_is_a_copy_of_is_named_apart(stones: RelatedIndex) -> None:
    answer = stones.answer(stones.query_of_html(WEB[STONES + "granite"].encode()))
    assert answer.copies == [STONES + "granite"]
    assert names(answer.results) == ["gneiss", "slate"]


def test_words_that_the_collection_does_not_know_make_a_page_less_similar(stones: RelatedIndex) -> None:
    query = stones.query_of_html(b"<p>granite mica porphyry pumice")
    found = stones.answer(query).results
    assert [(r.url, r.similarity) for r in found] == [
        (STONES + "granite", pytest.approx(2 / 6, abs=1e-6)),
        (STONES + "gneiss", pytest.approx(1 / 7, abs=1e-6)),
        (STONES + "slate", pytest.approx(1 / 7, abs=1e-6)),
    ]
    estimates = stones.answer(query, RankingOptions(method="estimate")).results
    assert estimates[0].similarity == pytest.approx(1 / 3, abs=3 * np.sqrt(2 / 9 / 192))


def test_html_without_words_or_without_known_ones_is_refused_in_a_sentence(stones: RelatedIndex) -> None:
    with pytest.raises(RelatedError, match="the page has no word that counts"):
        stones.query_of_html(b"<p>The 1984, of <!-- granite --> and")
    with pytest.raises(RelatedError, match=r"the page shares no word with the 5 pages of .*web\.kin"):
        stones.query_of_html(b"<p>pumice")


def test_which_sites_are_others_is_not_known_for_html(demo: RelatedIndex) -> None:
    with pytest.raises(RelatedError, match="outside the collection"):
        demo.answer(demo.query_of_html(b"<p>carbon"), RankingOptions(sites="other"))


# -- questions that cannot be answered ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        "https://stones.example/granite",
        "http://www.stones.example/granite",
        "http://stones.example/granite/",
        "granite",
    ],
)
def test_an_address_that_can_only_mean_one_page_is_that_page(stones: RelatedIndex, asked: str) -> None:
    assert stones.document(asked) == stones.document("http://stones.example/granite")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("http://stones.example/Granite", "http://stones.example/granite"),
        ("http://stones.example/granit", "http://stones.example/granite"),
        ("granit", "http://stones.example/granite"),
    ],
)
def test_an_unknown_address_is_answered_with_those_that_look_like_it(
    stones: RelatedIndex, asked: str, meant: str
) -> None:
    said = message(stones, asked)
    assert said.startswith(f"{asked} is not in ")
    assert meant in said.splitlines()[1:2][0]


def test_an_address_like_none_in_the_collection_is_just_unknown(stones: RelatedIndex) -> None:
    assert message(stones, "gopher:0123456789").endswith("The collection holds no address like it.")


def test_one_unknown_address_among_several_is_named(stones: RelatedIndex) -> None:
    assert message(stones, STONES + "granite", STONES + "marble").startswith(f"{STONES}marble is not in ")


def test_a_page_without_words_can_not_be_asked_about(tmp_path: Path) -> None:
    index = index_web(tmp_path, WEB | {STONES + "empty": "<title>Empty</title>the of 123"})
    assert "cannot be compared" in message(index, STONES + "empty")
    assert STONES + "empty" not in index.urls
    assert len(index) == len(WEB)


def test_naming_no_page_is_refused(stones: RelatedIndex) -> None:
    assert message(stones) == "no page was named"


# -- sites ----------------------------------------------------------------------------------------------------------


def granites(*addresses: str) -> dict[str, str]:
    """The same stone on many addresses; each page has a word of its own."""
    return {url: f"granite mica quartz feldspar word{place}" for place, url in enumerate(addresses)}


def sites_of(index: RelatedIndex, asked: str, sites: str) -> list[str]:
    return sorted(result.url for result in index.related(asked, sites=sites))


def test_sites_are_registrable_domains(tmp_path: Path) -> None:
    a, b, c, d, e = (
        f"http://{host}/" for host in ("a.example", "www.a.example", "b.example", "b.co.uk", "shop.b.example")
    )
    index = index_web(tmp_path, granites(a, b, c, d, e))
    assert sites_of(index, a, "all") == sorted([b, c, d, e])
    assert sites_of(index, a, "other") == sorted([c, d, e])
    assert sites_of(index, a, "same") == [b]
    assert sorted(r.url for r in index.related([a, c], sites="other")) == [d]
    assert sorted(r.url for r in index.related([a, d], sites="same", method="estimate")) == [b]


def test_in_a_collection_of_one_domain_sites_are_hosts(tmp_path: Path) -> None:
    a, b, c = "http://a.uni.example/", "http://a.uni.example/more", "http://b.uni.example/"
    index = index_web(tmp_path, granites(a, b, c))
    assert sites_of(index, a, "other") == [c]
    assert sites_of(index, a, "same") == [b]


@pytest.mark.parametrize("sites", ["other", "same"])
def test_in_a_collection_of_one_host_there_are_no_other_sites(stones: RelatedIndex, sites: str) -> None:
    with pytest.raises(RelatedError, match="one host only"):
        stones.related(STONES + "granite", sites=sites)


def test_a_choice_of_sites_that_there_is_not_is_refused(demo: RelatedIndex) -> None:
    with pytest.raises(RelatedError, match="all, other, same; not 'others'"):
        demo.related(demo.urls[0], sites="others")


def test_real_answers_keep_to_the_sites_that_were_asked_for(demo: RelatedIndex) -> None:
    asked = "http://birds.example/osprey.html"
    for options in ({}, {"method": "exact"}, {"method": "estimate"}):
        others = demo.related(asked, sites="other", **options)  # type: ignore[arg-type]
        same = demo.related(asked, sites="same", **options)  # type: ignore[arg-type]
        assert len(others) == len(same) == 10
        assert not any(result.url.startswith("http://birds.example/") for result in others)
        assert all(result.url.startswith("http://birds.example/") for result in same)


# -- pages known by links alone -------------------------------------------------------------------------------------


LINKED = {
    "http://a.example/": f"granite mica <a href={STONES}granite>granite quarry</a> quartz <a href=/b>pumice</a>",
    "http://b.example/": f"granite mica <a href={STONES}granite>granite quarry</a> quartz",
    "http://c.example/": f"granite lava <a href={STONES}granite>the quarry</a> pumice",
}


def test_a_page_that_was_never_read_is_known_by_the_words_of_links_to_it(tmp_path: Path) -> None:
    index = index_web(tmp_path, LINKED, plainly("anchors.scale=1", "anchors.repeat=every"))
    (found,) = (r for r in index.related("http://b.example/") if r.url == STONES + "granite")
    assert found.captured is False
    assert found.title == "granite quarry"  # what most links say
    assert not any(r.url.startswith(STONES) for r in index.related("http://b.example/", captured_only=True))
    assert all(r.captured for r in index.related("http://b.example/", captured_only=True, method="exact"))
    asked = index.related(STONES + "granite")  # and can be asked about
    assert {"http://a.example/", "http://b.example/", "http://c.example/"} <= {r.url for r in asked}


# -- looking at some or at all --------------------------------------------------------------------------------------


@pytest.mark.parametrize("fold", [True, False])
def test_answers_that_look_at_every_candidate_are_the_exact_ones(
    demo: RelatedIndex, monkeypatch: pytest.MonkeyPatch, fold: bool
) -> None:
    """All candidates are all documents that agree with the page anywhere; the best ten are hardly ever others."""
    monkeypatch.setattr(related, "DEPTH", len(demo))
    monkeypatch.setattr(related, "LIST_ENTRIES", 1 << 40)
    asked = range(0, len(demo), 10)
    same = 0
    for document in asked:
        query = demo.query_of([demo.urls[document]])
        exact = demo.answer(query, RankingOptions(method="exact", fold=fold))
        same += exact == demo.answer(query, RankingOptions(fold=fold))
        agree = np.any(demo.index.rows == query.signature, axis=1)
        agree[document] = False
        documents, similarity = demo.rerank(demo.signals(query), np.flatnonzero(agree))
        unfolded = demo.answer(query, RankingOptions(fold=False)).results
        assert [result.url for result in unfolded] == [demo.urls[d] for d in documents[:10].tolist()]
        assert [result.similarity for result in unfolded] == similarity[:10].tolist()
    assert same >= 0.97 * len(asked)


def test_estimates_alone_have_an_error(stones: RelatedIndex) -> None:
    for method in ("exact", "estimate", "reranked"):
        found = stones.related(STONES + "granite", method=method)
        assert all((result.error > 0) == (method == "estimate") for result in found)


def test_reasons_are_given_on_demand(stones: RelatedIndex) -> None:
    assert all(r.terms == () and r.citations == () for r in stones.related(STONES + "granite"))
    explained = stones.related(STONES + "granite", explain=True)
    assert [term.term for term in explained[1].terms] == ["mica"]
    assert [replace(r, terms=(), citations=(), signals=()) for r in explained] == stones.related(STONES + "granite")


def test_the_heaviest_terms_of_a_bag_are_told_with_their_origin(tmp_path: Path) -> None:
    web = {STONES + "a": "<title>quarry</title>granite granite granite mica mica quarry", STONES + "b": "mica"}
    index = index_web(tmp_path, web, plainly("title.scale=1"))
    heaviest = index.heaviest(index.document(STONES + "a"), 2)
    assert heaviest[0] == ("granite", pytest.approx(3 / 7), ["content"])
    assert heaviest[1] in [
        ("mica", pytest.approx(2 / 7), ["content"]),
        ("quarry", pytest.approx(2 / 7), ["content", "title"]),
    ]
