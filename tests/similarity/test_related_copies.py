"""Near-duplicates among related pages are folded, and those of the page itself are named apart."""

from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import EMPTY_PLACE, are_copies
from pagekin.similarity import RankingOptions, RelatedIndex

from .test_related import STONES, names
from .webs import index_web, plainly

TEXT = "granite mica quartz feldspar plutonic magma crystal quarry crust continent batholith pluton "


def copies_web(count: int) -> dict[str, str]:
    """A stone's page, `count` copies of another's, and three pages that are less like it."""
    web = {STONES + "granite": TEXT + "pegmatite aplite"}
    web |= {f"http://mirror{i:03}.example/": TEXT + "gneiss schist marble" for i in range(count)}
    return web | {STONES + name: f"granite mica quartz {name} {name}rock" for name in ("basalt", "gabbro", "tuff")}


@pytest.mark.parametrize("options", [{}, {"method": "exact"}, {"method": "estimate"}], ids=str)
@pytest.mark.parametrize("count", [3, 120])
def test_copies_are_folded_under_the_best_of_them_however_many_there_are(
    tmp_path: Path, count: int, options: dict[str, bool]
) -> None:
    index = index_web(tmp_path, copies_web(count), plainly())
    found = index.related(STONES + "granite", k=4, **options)  # type: ignore[arg-type]  # of several types
    assert found[0].url == "http://mirror000.example/"
    assert found[0].copies == tuple(f"http://mirror{i:03}.example/" for i in range(1, count))
    assert sorted(names(found[1:])) == ["basalt", "gabbro", "tuff"]
    assert all(result.copies == () for result in found[1:])
    unfolded = index.related(STONES + "granite", k=4, fold=False, **options)  # type: ignore[arg-type]  # of several types
    assert [r.url for r in unfolded[:3]] == [f"http://mirror{i:03}.example/" for i in range(3)]
    assert all(result.copies == () for result in unfolded)


def between_web() -> dict[str, str]:
    """A page whose words stand between those of two others: it is a near-duplicate of both, which are none of each other."""
    common = [f"stone{a}{b}" for a in "abcd" for b in "abcde"]
    left, right = ["leftcx", "leftcy"], ["rightcx", "rightcy"]
    pages = {"asked": common[:10] + left + right, "one": common + left, "other": common + right, "plain": common}
    return {STONES + name: " ".join(words) for name, words in pages.items()}


def test_a_near_duplicate_of_two_results_is_folded_under_the_better_one(tmp_path: Path) -> None:
    index = index_web(tmp_path, between_web())
    one, other, plain = index.bags.sketches(np.array([index.document(STONES + n) for n in ("one", "other", "plain")]))
    assert are_copies(np.array([one, other]), plain).tolist() == [True, True]
    assert not are_copies(one[None], other)[0]
    found = index.related(STONES + "asked")
    assert [(r.url, r.copies) for r in found] == [(STONES + "one", (STONES + "plain",)), (STONES + "other", ())]


def test_copies_of_the_page_that_was_asked_about_are_named_apart_and_are_no_results(tmp_path: Path) -> None:
    index = index_web(tmp_path, copies_web(3), plainly())
    asked = index.query_of(["http://mirror001.example/"])
    answer = index.answer(asked)
    assert answer.copies == ["http://mirror000.example/", "http://mirror002.example/"]
    assert names(answer.results)[0] == "granite"
    assert not any("mirror" in result.url for result in answer.results)
    unfolded = index.answer(asked, RankingOptions(fold=False))
    assert unfolded.copies == []
    assert [r.url for r in unfolded.results[:2]] == answer.copies
    assert unfolded.results[0].similarity == pytest.approx(1)


def test_a_mirror_is_told_by_its_words_though_other_pages_link_to_it(demo: RelatedIndex) -> None:
    answer = demo.answer(demo.query_of(["http://mountains.example/matterhorn.html"]))
    assert answer.copies == ["http://mirror.example/matterhorn.html"]
    for result in answer.results:
        if "mountains.example" in result.url:
            assert result.url.replace("mountains.example", "mirror.example") in result.copies


def test_several_pages_have_no_copies(demo: RelatedIndex) -> None:
    query = demo.query_of(["http://mountains.example/matterhorn.html", "http://mountains.example/eiger.html"])
    assert np.all(query.sketch == EMPTY_PLACE)
    assert demo.answer(query).copies == []
