"""Terms and documents that a collection suggests: whole words and phrases, each worth a click."""

from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings, Cooccurrences, PageTopics, Suggestions
from pagekin.collection import (
    Collection,
    Item,
    RefineRequest,
    SearchRequest,
    SuggestRequest,
    parse_query,
    suggestion,
    without_own_words,
)
from pagekin.collection.refinement import AddedTerms
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.text import tokens
from tests.bags.webs import record

SITE = "http://site.example/"


def web() -> dict[str, str]:
    """Return pages about black holes, which link to one another by that phrase, pages about stars, and birds with black holes."""
    pages = {}
    for number in range(8):
        own = " ".join(f"hole{number}{letter}" for letter in "abcdef")
        pages[f"{SITE}holes/{number}"] = (
            f"<title>Black holes {number}</title><p>A black hole bends gravity and light; black holes are dark. {own} "
            f"quasar {'horizon' if number < 6 else 'jets'} <a href='/holes/{(number + 1) % 8}'>black hole</a>."
        )
        pages[f"{SITE}stars/{number}"] = (
            f"<title>Stars {number}</title><p>A star has gravity and gives light, stars shine. star{number} "
            f"{own.replace('hole', 'sun')} <a href='/stars/{(number + 1) % 8}'>star</a>."
        )
        pages[f"{SITE}birds/{number}"] = (
            f"<title>Woodpecker {number}</title><p>A black bird pecks a hole into trees: nest {number} feathers. "
            f"{own.replace('hole', 'wood')} <a href='/birds/{(number + 1) % 8}'>woodpecker</a>."
        )
    return pages


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder = tmp_path_factory.mktemp("refined")
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in web().items()))
    plan = ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=1)
    build_collection(plan, BuildRecipe(Strategy(), ClusterSettings(), text=True))
    return Collection("web", folder / "web.kin")


def test_pages_are_about_phrases_by_the_default_method_alone(collection: Collection) -> None:
    kept = PageTopics.read(collection.corpus.kin)
    assert kept is not None
    words = [word.decode() for word in kept.words]
    assert any(" " in word for word in words)
    assert not any(" " in word.decode() for word in PageTopics.of(collection.corpus).words)


def test_a_question_that_is_a_phrase_is_taken_as_one(collection: Collection) -> None:
    terms = collection.refine(RefineRequest(query="black hole"))
    assert terms.known == 8
    every = {*terms.collocated, *terms.broader, *terms.narrower}
    assert every & {"quasar", "horizon", "gravity", "light", "dark", "bends"}
    assert not every & {"woodpecker", "nest", "feathers", "trees"}


@pytest.mark.parametrize("query", ["black hole", "gravity", "light", "nest", "star"])
def test_every_term_leaves_documents_and_narrower_ones_are_narrower(collection: Collection, query: str) -> None:
    terms = collection.refine(RefineRequest(query=query))
    before = collection.search(SearchRequest(query=query, limit=100, match="all"))
    for term in (*terms.collocated, *terms.broader, *terms.narrower):
        after = collection.search(SearchRequest(query=f"{query} {term}", limit=100, match="all"))
        assert min(5, before.total) <= after.total < before.total
    for term in terms.narrower:
        alone = collection.search(SearchRequest(query=term, limit=100, match="all")).total
        both = collection.search(SearchRequest(query=f"{query} {term}", limit=100, match="all")).total
        assert alone < before.total
        assert both >= 0.5 * alone


def test_documents_are_like_the_hits_that_are_about_the_query(collection: Collection) -> None:
    found = collection.suggest(SuggestRequest(query="title:star", limit=5)).results
    assert found
    assert not any("/birds/" in hit.url for hit in found)


def test_hits_that_people_see_are_not_suggested_later_ones_are(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def suggested() -> set[str]:
        return {hit.url for hit in collection.suggest(SuggestRequest(query="gravity", limit=20)).results}

    hits = {hit.url for hit in collection.search(SearchRequest(query="gravity", limit=30)).results}
    assert not suggested() & hits
    monkeypatch.setattr(suggestion, "_SEEN", 2)
    assert suggested() & hits


def test_the_expansion_of_1996_is_all_other_pages_of_the_sub_clusters_that_hold_results(collection: Collection) -> None:
    given = [f"{SITE}holes/1", f"{SITE}holes/2", f"{SITE}stars/3"]
    tree = collection.trees["clusters"]
    sub_clusters = [
        {collection.corpus.page_url(page) for node in cluster.nodes for page in tree.pages_of(node).tolist()}
        for cluster in collection.label.clusters
    ]
    holding = [pages for pages in sub_clusters if pages & set(given)]
    items = tuple(Item("document", url) for url in given)
    answer = collection.suggest(SuggestRequest(items=items, limit=100, preset="hypursuit1996"))
    assert 1 < len(holding) < len(sub_clusters)
    assert sorted(hit.url for hit in answer) == sorted(set().union(*holding) - set(given))
    assert answer.total == len(answer)
    shares = [max(len(pages & set(given)) for pages in holding if hit.url in pages) for hit in answer]
    assert shares == sorted(shares, reverse=True)


def test_forms_of_one_word_are_suggested_once() -> None:
    words = ("infect", "infected", "infection", "fever")
    counts = Cooccurrences(10, 100, words, np.array([5, 5, 4, 6]), np.array([12, 14, 20, 30]))
    assert set(counts.merge_forms().words) == {"infection", "fever"}
    rare = Cooccurrences(10, 100, words, np.array([5, 5, 1, 6]), np.array([12, 14, 20, 30]))
    assert set(rare.merge_forms().words) == {
        "infected",
        "fever",
    }  # a form that hardly goes with the question does not stand for it


def test_a_word_is_offered_in_the_number_that_is_more_common() -> None:
    words = ("treatment", "treatments", "parasites", "gas", "gases")
    counts = Cooccurrences(10, 100, words, np.array([1, 4, 3, 3, 2]), np.array([24, 12, 5, 9, 30]))
    assert set(counts.merge_forms().words) == {
        "treatment",
        "parasites",
        "gas",
        "gases",
    }  # gas and gases differ in their stems


def test_what_few_pages_have_in_common_is_not_collocated() -> None:
    words = ("pyramid", "throne")
    counts = Cooccurrences(12, 1000, words, np.array([2, 3]), np.array([15, 15]))
    assert counts.suggest().collocated == ("throne",)
    few = Cooccurrences(5, 1000, words, np.array([2, 3]), np.array([20, 20]))
    assert set(few.suggest().broader + few.suggest().collocated) == {"pyramid", "throne"}


def test_numbers_and_units_are_not_offered() -> None:
    junk = ("12th", "11am", "1990s", "km²", "δ", "metres")
    found = Suggestions(9, (*junk, "lava", "3d"), junk, junk)
    assert without_own_words(lambda _count: found, parse_query("volcano"), 8) == Suggestions(9, ("lava", "3d"), (), ())


def test_lists_hold_no_word_twice_and_none_of_the_query() -> None:
    found = Suggestions(9, ("hot springs", "lava", "volcanoes"), ("lavas", "rock"), ("cone", "lava", "hot springs"))
    kept = without_own_words(lambda _count: found, parse_query("volcano"), 8)
    assert kept == Suggestions(9, (), ("rock",), ("cone", "lava", "hot springs"))


def test_an_added_term_is_judged_by_what_it_leaves() -> None:
    pages = {"lava": range(2, 9), "rock": range(30), "all": range(20), "few": range(2), "rim": range(14, 24)}

    def mask_of(term: str) -> np.ndarray:
        mask = np.zeros(40, np.bool_)
        mask[list(pages[tokens(term)[0]])] = True
        return mask

    query = np.zeros(40, np.bool_)
    query[:20] = True
    added = AddedTerms(query, mask_of)
    assert [term for term in pages if added.is_useful(term)] == ["lava", "rim"]
    assert [term for term in pages if added.is_narrower(term)] == ["lava", "rim"]
    pages["wide"] = range(10, 29)
    assert added.is_useful("wide")
    assert added.is_narrower("wide")
    pages["outside"] = range(14, 33)
    assert added.is_useful("outside")
    assert not added.is_narrower("outside")
    assert not added.is_broader("outside")  # hardly more pages than the query
    pages["broad"] = range(5, 40)
    assert added.is_broader("broad")


def test_terms_that_are_no_broader_are_collocated_and_furniture_is_nothing() -> None:
    """Few pages are about a word that many match: what is compared with the few alone is called broader too easily."""
    pages = {"fever": range(2, 12), "health": range(5, 40), "external": range(2, 12)}
    masks = {term: np.isin(np.arange(40), list(held)) for term, held in pages.items()}
    found = Suggestions(7, (), ("external", "fever", "health"), ())
    kept = without_own_words(
        lambda _count: found, parse_query("malaria"), 8, AddedTerms(np.arange(40) < 20, masks.__getitem__)
    )
    assert kept == Suggestions(7, ("fever",), ("health",), ())


def test_a_collection_without_search_still_suggests(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(b"".join(record(url, html) for url, html in web().items()))
    plan = ReadPlan([str(tmp_path / "web.warc")], tmp_path / "web.kin", parser="strict", workers=1)
    build_collection(plan, BuildRecipe(Strategy(), ClusterSettings(), text=False))
    terms = Collection("web", tmp_path / "web.kin").refine(RefineRequest(query="star"))
    assert terms.known == 8
