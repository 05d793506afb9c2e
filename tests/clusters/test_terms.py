from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.bags import BagMatrix, word_hash
from pagekin.clusters import (
    TERM_ATTRIBUTES,
    TermSettings,
    count_terms,
    term_similarity,
    term_vectors,
    term_words,
    weigh_terms,
)
from pagekin.clusters import terms as module
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web
from tests.clusters.term_oracle import FACTORS, Piece, Term, WrittenPage, frequencies, similarity, weights

WORDS = "queue queues locking lock the and river rivers x86 2020 café map".split()
TAGS = ["p", "alt", "h1", "p b", "address", "h3 em", "address p em b", "address h1 b"]
some_words = st.lists(st.sampled_from(WORDS), max_size=6)
pieces = st.builds(Piece, some_words, st.sampled_from([tuple(tags.split()) for tags in TAGS]))
pages = st.builds(WrittenPage, some_words, st.lists(st.sampled_from(WORDS), max_size=2), st.lists(pieces, max_size=5))
webs = st.lists(pages, min_size=1, max_size=6)
generated = settings(derandomize=True, database=None, deadline=None, max_examples=60)


def read(web: list[WrittenPage]) -> Corpus:
    return read_web({f"http://a.example/{number:03}": page.html for number, page in enumerate(web)})


def names(corpus: Corpus, web: list[WrittenPage]) -> dict[int, Term]:
    """The (attribute, stem) behind each term of the web's pages."""
    number = {int(value): word for word, value in enumerate(term_words(corpus).hashes)}
    found = {}
    for attribute, stem in {term for page in web for term in frequencies(page)}:
        found[number[word_hash(stem)] * len(TERM_ATTRIBUTES) + TERM_ATTRIBUTES.index(attribute)] = (attribute, stem)
    return found


def rows(corpus: Corpus, web: list[WrittenPage], made: BagMatrix) -> list[dict[Term, float]]:
    named = names(corpus, web)
    found = []
    for start, end in zip(made.offsets[:-1], made.offsets[1:], strict=True):
        assert np.all(np.diff(made.terms[start:end]) > 0)
        found.append(
            {
                named[t]: v
                for t, v in zip(made.terms[start:end].tolist(), made.weights[start:end].tolist(), strict=True)
                if v
            }
        )
    return found


@generated
@given(webs, st.lists(st.sampled_from([0.0, 1.0, 2.5, 10.0]), min_size=6, max_size=6))
def test_vectors_and_similarities_are_those_of_the_oracle(web: list[WrittenPage], factors: list[float]) -> None:
    corpus = read(web)
    assert rows(corpus, web, count_terms(corpus, term_words(corpus))) == [frequencies(page) for page in web]
    for chosen in [list(FACTORS.values()), factors]:
        if not any(chosen):
            continue
        vectors = term_vectors(corpus, TermSettings(*chosen))
        truth = [weights(page, dict(zip(TERM_ATTRIBUTES, chosen, strict=True))) for page in web]
        made = rows(corpus, web, vectors)
        assert [row.keys() for row in made] == [row.keys() for row in truth]
        for row, true in zip(made, truth, strict=True):
            assert row == pytest.approx(true, rel=1e-6)
        found = term_similarity(vectors)
        assert found.dtype == np.float32
        assert found.tolist() == [pytest.approx([similarity(a, b) for b in truth], abs=1e-6) for a in truth]


@generated
@given(webs, st.integers(2, 4))
def test_threads_and_batches_change_nothing(web: list[WrittenPage], threads: int) -> None:
    corpus = read(web * 3)
    whole = term_vectors(corpus)
    alike = term_similarity(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BATCH_WORDS", 3)
        patch.setattr(module, "_BATCH_PAIRS", 5)
        parts = term_vectors(corpus, threads=threads)
        assert all(np.array_equal(a, b) for a, b in zip(astuple(whole), astuple(parts), strict=True))
        assert np.array_equal(term_similarity(parts, threads), alike)
    assert np.array_equal(alike, alike.T)


@generated
@given(webs)
def test_equal_pages_are_wholly_similar_and_equally_similar_to_others(web: list[WrittenPage]) -> None:
    corpus = read([*web, *web])
    found = term_similarity(term_vectors(corpus))
    n = len(web)
    assert np.array_equal(found[:n], found[n:])
    has_words = np.array([bool(frequencies(page)) for page in web])
    assert np.array_equal(found.diagonal()[:n], has_words)
    assert found.max(initial=0) <= 1


def test_many_pages_are_mirrored_over_the_diagonal() -> None:
    rng = np.random.default_rng(5)
    dense = rng.random((300, 40)) * (rng.random((300, 40)) < 0.2)
    dense[7] = 0
    size = np.linalg.norm(dense, axis=1, keepdims=True)
    dense = np.divide(dense, size, out=dense, where=size > 0).astype(np.float32)
    row, column = np.nonzero(dense)
    vectors = BagMatrix(np.searchsorted(row, np.arange(301)), column, dense[row, column], 40)
    shares: list[float] = []
    found = term_similarity(vectors, 2, shares.append)
    assert np.allclose(found, dense @ dense.T, atol=1e-6)
    assert np.array_equal(found, found.T)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_page_of_figure_5_has_its_words_under_each_attribute() -> None:
    page = WrittenPage(["Computers"], [], [Piece(["computer", "science"], ("h1",)), Piece(["computer"], ("p",))])
    corpus = read([page])
    words = term_words(corpus)
    counted = count_terms(corpus, words)
    named = []
    for word, attribute in (divmod(term, len(TERM_ATTRIBUTES)) for term in counted.terms.tolist()):
        named.append(f"{TERM_ATTRIBUTES[attribute]}:{corpus.word(int(words.shown[word]))}".removeprefix("text:"))
    assert dict(zip(named, counted.weights.tolist(), strict=True)) == {
        "title:computer": 1, "header:computer": 1, "computer": 2, "header:science": 1, "science": 1,
    }  # fmt: skip
    vector = weigh_terms(counted)
    size = np.sqrt(7.5**2 + 3.75**2 + 1 + 3.75**2 + 0.75**2)
    assert dict(zip(named, (vector.weights * size).tolist(), strict=True)) == pytest.approx(
        {"title:computer": 7.5, "header:computer": 3.75, "computer": 1, "header:science": 3.75, "science": 0.75}
    )


def test_words_beyond_the_65535_commonest_and_headings_far_apart() -> None:
    own = [
        ["".join("bcdfghjklm"[int(digit)] for digit in f"{17_000 * page + i:06}") for i in range(17_000)]
        for page in range(4)
    ]
    web = [WrittenPage(w[:3], [], [Piece(w, ("p",)), Piece(w[-5:], ("h1",)), Piece(w[:600], ("p",))]) for w in own]
    corpus = read_web({f"http://a.example/{number}": page.html for number, page in enumerate(web)}, parser="fast")
    assert corpus.kin["page.rare"][-1] > 1_000
    assert rows(corpus, web, count_terms(corpus, term_words(corpus), 2)) == [frequencies(page) for page in web]


def test_a_web_of_wordless_pages_has_empty_rows() -> None:
    corpus = read([WrittenPage([], [], []), WrittenPage(["the"], [], [])])
    vectors = term_vectors(corpus)
    assert vectors.offsets.tolist() == [0, 0, 0]
    assert term_similarity(vectors).tolist() == [[0, 0], [0, 0]]


def test_no_pages_have_no_similarities() -> None:
    nothing = BagMatrix(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32), 0)
    assert term_similarity(nothing).shape == (0, 0)


def test_the_default_factors_are_the_papers() -> None:
    assert dict(zip(TERM_ATTRIBUTES, astuple(TermSettings()), strict=True)) == FACTORS


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_impossible_factors_are_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="header"):
        TermSettings(header=factor)


def test_leaving_out_every_attribute_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        replace(TermSettings(0, 0, 0, 0, 0, 1), text=0)
