"""Crowds: many copies of a page, or many pages that may be no answers, do not hide the others."""

from typing import Any

import numpy as np
import pytest

from pagekin.similarity import RankingOptions, RelatedIndex, all_neighbours
from pagekin.similarity.related import DEPTH
from tests.similarity.webs import index_web

WORDS = "granite basalt marble slate gneiss quartz feldspar mica obsidian pumice limestone sandstone".split()


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    """More copies of one page than are compared at first, and three pages that are like it."""
    pages = {f"http://copies.example/{i:04}.html": f"<p>{' '.join(WORDS)}" for i in range(DEPTH + 100)}
    pages |= {
        f"http://stones.example/{i}.html": f"<p>{' '.join(WORDS[i:])} coral{i} kelp{i} reef{i} pearl{i}"
        for i in range(4, 7)
    }
    return index_web(tmp_path_factory.mktemp("crowd"), pages)


@pytest.mark.parametrize("method", ["reranked", "estimate"])
def test_copies_of_the_page_do_not_take_the_places_of_related_ones(crowd: RelatedIndex, method: Any) -> None:
    found = crowd.answer(crowd.query_of(["http://copies.example/0000.html"]), RankingOptions(k=3, method=method))
    assert {result.url for result in found.results} == {f"http://stones.example/{i}.html" for i in range(4, 7)}
    assert len(found.copies) == DEPTH + 99


def test_the_precomputed_answers_see_through_a_crowd_too(crowd: RelatedIndex) -> None:
    document = crowd.document("http://copies.example/0000.html")
    ((_document, made),) = all_neighbours(crowd, np.array([document]), RankingOptions(k=3))
    asked = crowd.answer(crowd.query_of([crowd.urls[document]]), RankingOptions(k=3))
    assert [crowd.urls[one.document] for one in made.related] == [result.url for result in asked.results]
    assert len(made.copies) == DEPTH + 99


def test_pages_of_other_sites_are_found_behind_many_of_the_same(crowd: RelatedIndex) -> None:
    found = crowd.related("http://copies.example/0000.html", 3, sites="other")
    assert [result.url.split("/")[2] for result in found] == ["stones.example"] * 3
