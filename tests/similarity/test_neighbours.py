"""The answers for all pages at once are those for each page alone."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pagekin.similarity import RankedDocuments, RankingOptions, RelatedIndex, all_neighbours, neighbours
from pagekin.similarity import related as one_by_one

from .test_related import STONES, WEB
from .test_related_copies import between_web, copies_web
from .webs import index_web, plainly

Answers = list[tuple[list[str], list[str], list[tuple[str, ...]], list[float]]]


def together(index: RelatedIndex, answers: Iterable[tuple[int, RankedDocuments]]) -> Answers:
    """For each answer the near-duplicates of the page, the related pages, their near-duplicates and similarities."""
    urls = index.urls
    return [
        (
            [urls[copy] for copy in answer.copies],
            [urls[one.document] for one in answer.related],
            [tuple(urls[copy] for copy in one.copies) for one in answer.related],
            [one.similarity for one in answer.related],
        )
        for _document, answer in answers
    ]


def apart(index: RelatedIndex, k: int, fold: bool, alpha: float | None = None, every: int = 1) -> Answers:
    """The same, asked one by one; no collection here has aliases, so all copies are near-duplicates."""
    found: Answers = []
    for url in list(index.urls)[::every]:
        answer = index.answer(index.query_of([url]), RankingOptions(k=k, fold=fold, min_similarity=alpha))
        results = answer.results
        found.append(
            (answer.copies, [r.url for r in results], [r.copies for r in results], [r.similarity for r in results])
        )
    return found


def assert_same(found: Answers, expected: Answers) -> None:
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine[:3] == theirs[:3]
        np.testing.assert_allclose(mine[3], theirs[3], atol=1e-6)


@pytest.mark.parametrize("fold", [True, False])
def test_the_answers_for_all_pages_of_the_demo_web_are_those_for_each(
    demo: RelatedIndex, monkeypatch: pytest.MonkeyPatch, fold: bool
) -> None:
    every = 2 if fold else 4
    expected = apart(demo, 10, fold, every=every)
    assert fold == any(copies for copies, *_ in expected)
    everyone = np.arange(0, len(demo), every)
    for threads, batch in ((1, 1_024), (2, 100)):
        monkeypatch.setattr(neighbours, "_BATCH", batch)
        found = list(all_neighbours(demo, everyone, RankingOptions(fold=fold), threads))
        assert [document for document, _answer in found] == everyone.tolist()
        assert_same(together(demo, found), expected)


@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize(("k", "alpha"), [(1, None), (3, 0.15), (500, 0.02)])
def test_any_number_of_pages_above_any_similarity_may_be_asked_for(
    demo: RelatedIndex, monkeypatch: pytest.MonkeyPatch, k: int, alpha: float | None, fold: bool
) -> None:
    monkeypatch.setattr(one_by_one, "DEPTH", 60)
    monkeypatch.setattr(one_by_one, "LIST_ENTRIES", 300)
    some = np.arange(5, len(demo), 41)
    found = together(demo, all_neighbours(demo, some, RankingOptions(k=k, fold=fold, min_similarity=alpha)))
    assert any(len(related) == k for _, related, *_ in found) == (k < 500)
    expected = [
        demo.answer(demo.query_of([demo.urls[document]]), RankingOptions(k=k, fold=fold, min_similarity=alpha))
        for document in some.tolist()
    ]
    for mine, answer in zip(found, expected, strict=True):
        assert mine[0] == answer.copies
        assert mine[1] == [r.url for r in answer.results]
        assert mine[2] == [r.copies for r in answer.results]


@pytest.mark.parametrize("count", [3, 120])
def test_a_page_with_many_copies_has_other_neighbours_all_the_same(tmp_path: Path, count: int) -> None:
    index = index_web(tmp_path, copies_web(count))
    found = together(index, all_neighbours(index, np.arange(len(index)), RankingOptions(k=4)))
    assert_same(found, apart(index, 4, fold=True))
    granite = found[index.document(STONES + "granite")]
    assert [len(copies) for copies in granite[2]] == [count - 1, 0, 0, 0]


def test_a_near_duplicate_of_two_neighbours_belongs_to_the_better_one(tmp_path: Path) -> None:
    index = index_web(tmp_path, between_web())
    found = together(index, all_neighbours(index, np.arange(len(index)), RankingOptions(k=4)))
    assert_same(found, apart(index, 4, fold=True))
    assert found[index.document(STONES + "asked")][2] == [(STONES + "plain",), ()]


@pytest.mark.parametrize(("alpha", "count"), [(0.0, 2), (0.59, 1), (0.6, 0)])
def test_neighbours_are_above_the_asked_similarity_not_at_it(tmp_path: Path, alpha: float, count: int) -> None:
    index = index_web(tmp_path, WEB)
    ((_document, found),) = all_neighbours(
        index, np.array([index.document(STONES + "granite")]), RankingOptions(k=4, min_similarity=alpha)
    )
    assert [one.similarity for one in found.related] == pytest.approx([0.6, 1 / 7][:count], abs=1e-6)


def test_pages_that_may_be_no_answers_have_neighbours_and_are_nobodys(tmp_path: Path) -> None:
    web = {f"http://a.example/{i}": f"granite mica stone{i} <a href=/{i // 2}>stone</a>" for i in range(1, 12)}
    index = index_web(tmp_path, web, plainly("signature.min_inlinks=1", "signature.alpha=0.1"))
    found = together(index, all_neighbours(index, np.arange(len(index)), RankingOptions(k=20)))
    assert_same(found, apart(index, 20, fold=True))
    related = {url for _, urls, *_ in found for url in urls}
    assert related == {f"http://a.example/{i}" for i in range(1, 6)}
    assert all(urls for _, urls, *_ in found)


def test_where_no_page_may_be_an_answer_there_are_no_neighbours(tmp_path: Path) -> None:
    index = index_web(tmp_path, copies_web(3), plainly("signature.min_inlinks=9"))
    assert all(
        not answer.related for _document, answer in all_neighbours(index, np.arange(len(index)), RankingOptions(k=4))
    )


def test_pages_known_by_links_alone_are_neighbours_but_no_copies(tmp_path: Path) -> None:
    hubs = {
        f"http://hub{i}.example/": f"granite mica <a href=http://s.example/{i % 3}>quartz</a> slate word{i}"
        for i in range(9)
    }
    index = index_web(tmp_path, hubs, plainly("anchors.scale=1"))
    found = together(index, all_neighbours(index, np.arange(len(index)), RankingOptions(k=20)))
    assert_same(found, apart(index, 20, fold=True))
    asked = found[index.document("http://s.example/0")]
    assert asked[0] == []
    assert {"http://s.example/1", "http://s.example/2"} <= set(asked[1])


def test_nobody_asked_about_gives_no_answers(demo: RelatedIndex) -> None:
    assert list(all_neighbours(demo, np.zeros(0, np.int64), RankingOptions())) == []
