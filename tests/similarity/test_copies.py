"""Copies are told by a sketch of the page's own words: mirrors and print versions are found, other pages are not."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import (
    EMPTY_PLACE,
    NEAR_COPY,
    SKETCH_PLACES,
    are_copies,
    bag_forms,
    choose_strategy,
    classify_links,
    common_words,
    page_sketch,
)
from pagekin.bags.copies import sketch
from pagekin.bags.furniture import words_in_furniture
from pagekin.hypertext import Attribute
from pagekin.similarity import RelatedIndex, near_duplicates
from pagekin.similarity.neighbours import CopyGroup

from .webs import Array, index_web

generated = settings(derandomize=True, database=None, deadline=None, max_examples=150)
hashes = some.lists(some.integers(0, 2**64 - 1), max_size=200).map(lambda items: np.array(items, dtype=np.uint64))
THRESHOLDS = (0.5, 0.7, NEAR_COPY, 1.0)


def own_words(index: RelatedIndex, document: int) -> set[str]:
    """The kept words of a document's page, without its title and the site's furniture."""
    (page,) = index.bags.pages(np.array([document])).tolist()
    stream = index.corpus.stream(page)
    own = ~words_in_furniture(index.corpus, page, classify_links(index.corpus, index.strategy))
    running = stream.words[own & ((stream.attributes & (Attribute.TEXT | Attribute.ALT)) > 0)]
    return {form for form in bag_forms([index.corpus.word(int(word)) for word in running], index.strategy) if form}


# -- sketches -------------------------------------------------------------------------------------------------------


def plain_sketch(items: list[int]) -> list[int]:
    """The least mixed hash in each of 64 places, its last 16 bits."""
    places: dict[int, int] = {}
    for item in items:
        z = (item ^ item >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        z ^= z >> 31
        places[z >> 58] = min(z, places.get(z >> 58, z))
    return [
        min(places[place] % 2**16, EMPTY_PLACE - 1) if place in places else EMPTY_PLACE
        for place in range(SKETCH_PLACES)
    ]


@generated
@given(hashes)
def test_a_sketch_keeps_the_least_hash_of_each_place(items: Array) -> None:
    assert sketch(items).tolist() == plain_sketch(items.tolist())


def test_numpy_and_the_compiler_sketch_all_pages_of_the_demo_web_alike(demo: RelatedIndex) -> None:
    corpus = demo.corpus
    rows = corpus.kin["copy.rows"].reshape(-1, SKETCH_PLACES)
    assert len(rows) == len(corpus)
    left_out = classify_links(corpus, demo.strategy)
    assert left_out.any()
    for page in range(len(corpus)):
        stream = corpus.stream(page)
        own = ~words_in_furniture(corpus, page, left_out)
        words = [corpus.word(int(word)) for word in stream.words[own]]
        np.testing.assert_array_equal(page_sketch(words, stream.attributes[own].tolist(), demo.strategy), rows[page])


def test_a_title_is_no_part_of_a_sketch_and_neither_is_what_does_not_count() -> None:
    strategy = choose_strategy(settings=["words=mixed", "stemming=stem"])
    words, text, title = ["granite", "the", "1984", "mica"], int(Attribute.TEXT), int(Attribute.TITLE)
    alone = page_sketch(["granite"], [text], strategy)
    assert np.count_nonzero(alone != EMPTY_PLACE) == 1
    np.testing.assert_array_equal(page_sketch(words, [text, text, text, title], strategy), alone)
    np.testing.assert_array_equal(page_sketch(["granites", *words], [text, text, text, text, title], strategy), alone)


# -- two pages ------------------------------------------------------------------------------------------------------


@generated
@given(hashes, hashes)
def test_commonness_is_symmetric_and_whole_for_a_page_itself(a: Array, b: Array) -> None:
    one, other = sketch(a), sketch(b)
    assert common_words(one[None], other) == common_words(other[None], one)
    assert common_words(one[None], one)[0] == (len(a) > 0)
    for threshold in THRESHOLDS:
        assert are_copies(one[None], other, threshold) == are_copies(other[None], one, threshold)
        assert are_copies(one[None], one, threshold)[0] == (len(a) > 0)  # pages without words are nobody's copies


@generated
@given(hashes, hashes, some.sampled_from(THRESHOLDS))
def test_copies_are_pages_with_the_asked_share_in_common(a: Array, b: Array, threshold: float) -> None:
    both = np.concatenate([a, b[: len(b) // 8]])
    one, other = sketch(a), sketch(both)
    common = common_words(one[None], other)[0]
    assert are_copies(one[None], other, threshold)[0] == (common >= threshold - 1e-12 and common > 0)


def test_the_estimated_share_of_common_words_is_near_the_true_one() -> None:
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, 3_000, dtype=np.uint64)
    for shared in (0, 500, 1_500, 2_700, 3_000):
        estimates = []
        for _ in range(200):
            others = rng.integers(0, 2**64, 3_000 - shared, dtype=np.uint64)
            page = np.concatenate([rng.permutation(words)[:shared], others])
            estimates.append(common_words(sketch(page)[None], sketch(words))[0])
        truth = shared / (6_000 - shared)
        assert np.mean(estimates) == pytest.approx(
            truth, abs=0.01 + 4 * np.sqrt(truth * (1 - truth) / SKETCH_PLACES / 200)
        )


# -- a collection ---------------------------------------------------------------------------------------------------


def group_of(index: RelatedIndex, groups: list[CopyGroup]) -> dict[str, int]:
    return {index.urls[document]: number for number, group in enumerate(groups) for document in group.documents}


def compare_all(index: RelatedIndex, threshold: float) -> dict[int, list[int]]:
    """Groups by comparing each page with every first one of a group: no bands."""
    inlinks = np.asarray(index.corpus.kin["bag.inlinks"])
    pages = [d for d in range(len(index)) if index.are_captured(np.array([d]))[0]]
    sketches = index.bags.sketches(np.arange(len(index)))
    groups: dict[int, list[int]] = {}
    for document in sorted(pages, key=lambda d: (-int(inlinks[d]), d)):
        firsts = np.array(list(groups), dtype=np.int64)
        alike = firsts[are_copies(sketches[firsts], sketches[document], threshold)]
        if len(alike):
            groups[int(alike[np.argmax(common_words(sketches[alike], sketches[document]))])].append(document)
        else:
            groups[document] = []
    return {first: others for first, others in groups.items() if others}


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_groups_are_those_that_comparing_all_pages_finds(demo: RelatedIndex, threshold: float) -> None:
    groups = near_duplicates(demo, threshold)
    expected = compare_all(demo, threshold)
    assert {group.documents[0]: list(group.documents[1:]) for group in groups} == expected
    sizes = [len(group.documents) for group in groups]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_every_member_has_the_asked_share_in_common_with_the_first(demo: RelatedIndex, threshold: float) -> None:
    for group in near_duplicates(demo, threshold):
        first, *others = (own_words(demo, document) for document in group.documents)
        assert group.common[0] == 1
        for common, words in zip(group.common[1:], others, strict=True):
            assert common >= threshold - 1e-12
            truth = len(first & words) / len(first | words)
            assert common == pytest.approx(truth, abs=4 * np.sqrt(max(truth * (1 - truth), 0.02) / 40))


def test_mirrors_are_found_and_pages_that_differ_are_not(demo: RelatedIndex) -> None:
    groups = near_duplicates(demo)
    found = group_of(demo, groups)
    mirrored = [url for url in demo.urls if url.startswith("http://mirror.example/")]
    assert len(mirrored) >= 40
    for url in mirrored:
        assert found[url] == found[url.replace("mirror.example", "mountains.example")]
    originals = {url.replace("/print/", "/").replace("mirror.example", "mountains.example") for url in found}
    assert len(originals) == len(groups)  # nothing but mirrors and print versions with their originals


def test_print_versions_are_found_where_fewer_words_have_to_be_common(demo: RelatedIndex) -> None:
    """They leave out navigation and end in other words: four in five words are common, not nine in ten."""
    groups = near_duplicates(demo, 0.7)
    found = group_of(demo, groups)
    prints = [url for url in demo.urls if "/print/" in url]
    assert len(prints) >= 10
    for url in prints:
        assert found[url] == found[url.replace("/print/", "/")]
    originals = {url.replace("/print/", "/").replace("mirror.example", "mountains.example") for url in found}
    assert len(originals) == len(groups)


def test_a_page_joins_the_group_that_it_has_most_in_common_with(tmp_path: Path) -> None:
    words = [f"stone{a}{b}" for a in "abcdefghij" for b in "abcdefghij"]
    pages = {"1": words[:60], "2": words[30:90], "3": words[17:77]}
    index = index_web(tmp_path, {f"http://a.example/{name}": " ".join(held) for name, held in pages.items()})
    first, second, third = index.bags.sketches(np.arange(3))
    near, nearer = common_words(np.array([first, second]), third)
    assert 0.5 < near < nearer
    assert common_words(first[None], second)[0] < 0.5
    assert [group.documents for group in near_duplicates(index, 0.5)] == [(1, 2)]


def test_the_page_with_the_most_links_to_it_stands_first(demo: RelatedIndex) -> None:
    inlinks = np.asarray(demo.corpus.kin["bag.inlinks"])
    for group in near_duplicates(demo, 0.7):
        assert inlinks[group.documents[0]] == max(inlinks[list(group.documents)])


def test_double_articles_of_the_encyclopaedia_are_found(school: RelatedIndex) -> None:
    found = group_of(school, near_duplicates(school))
    base = "http://schools.example/wp/"
    assert found[base + "c/Cleopatra_VII.htm"] == found[base + "c/Cleopatra_VII_of_Egypt.htm"]
    assert found[base + "d/Dove.htm"] == found[base + "p/Pigeon.htm"]
    assert len(found) < 50  # of 4,653 articles
