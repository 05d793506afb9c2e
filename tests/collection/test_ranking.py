"""Lists of results: merged, copies folded, grouped."""

import base64

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.bags import SKETCH_PLACES
from pagekin.collection import Hit, fold_hits, group_hits, merge_hits


def sketch(words: int, changed: int = 0) -> str:
    """The sketch of a text; texts of the same words that differ in few of them are copies."""
    row = np.random.default_rng(words).integers(0, 60_000, SKETCH_PLACES).astype("<u2")
    row[:changed] = np.random.default_rng([words, changed]).integers(0, 60_000, changed)
    return base64.b64encode(row.tobytes()).decode()


def found(url: str, score: float = 1.0, text: int | None = None, changed: int = 0, **more: object) -> Hit:
    return Hit(
        kind="document", url=url, score=score, sketch="" if text is None else sketch(text, changed), **more  # type: ignore[arg-type]  # fields by name
    )  # fmt: skip


def test_the_best_come_first_and_of_equal_ones_the_first_address() -> None:
    some = [found("http://b/", 1.0), found("http://c/", 2.0), found("http://a/", 1.0)]
    assert [one.url for one in fold_hits(some, 10)] == ["http://c/", "http://a/", "http://b/"]
    assert [one.url for one in fold_hits(some, 2)] == ["http://c/", "http://a/"]
    assert fold_hits(some, 0) == []
    assert fold_hits([], 10) == []


def test_the_same_address_stands_once_with_its_best_score_and_all_copies() -> None:
    some = [
        found("http://a/", 1.0, copies=("http://x/",)), found("http://a/", 3.0, copies=("http://y/", "http://a/")),
        found("http://b/", 2.0),
    ]  # fmt: skip
    first, second = fold_hits(some, 10)
    assert (first.url, first.score, set(first.copies)) == ("http://a/", 3.0, {"http://x/", "http://y/"})
    assert second.url == "http://b/"


def test_near_copies_are_folded_into_the_best_and_others_are_not() -> None:
    some = [
        found("http://copy/", 1.0, text=1, changed=5), found("http://first/", 2.0, text=1),
        found("http://unlike/", 1.5, text=1, changed=20), found("http://other/", 1.4, text=2), found("http://bare/", 1.3),
        found("http://also-bare/", 1.2),
    ]  # fmt: skip
    result = fold_hits(some, 10)
    assert [one.url for one in result] == [
        "http://first/", "http://unlike/", "http://other/", "http://bare/", "http://also-bare/",
    ]  # fmt: skip
    assert result[0].copies == ("http://copy/",)
    assert all(one.copies == () for one in result[1:])
    assert len(merge_hits(some, 10)) == 6


def test_sketches_that_are_none_fold_nothing() -> None:
    for wrong in ("!", "AAAA", "a" * 200, base64.b64encode(b"x" * 127).decode(), "é"):
        some = [Hit(kind="document", url=f"http://{n}/", sketch=wrong) for n in range(3)]
        assert len(fold_hits(some, 10)) == 3
    empty = base64.b64encode(np.full(SKETCH_PLACES, 65_535, "<u2").tobytes()).decode()
    assert len(fold_hits([Hit(kind="document", url=f"http://{n}/", sketch=empty) for n in range(3)], 10)) == 3


@given(
    st.lists(
        st.tuples(
            st.integers(0, 9), st.sampled_from([0.0, 1.0, 2.5]), st.integers(0, 4) | st.none(),
            st.sets(st.integers(0, 9), max_size=3),
        ),
        max_size=25,
    ),
    st.integers(0, 12),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_whatever_comes_nothing_stands_twice_and_nothing_is_lost(
    rows: list[tuple[int, float, int | None, set[int]]], limit: int
) -> None:
    some = [
        found(f"http://{url}/", score, text, copies=tuple(f"http://{copy}/" for copy in sorted(copies - {url})))
        for url, score, text, copies in rows
    ]
    result = fold_hits(some, limit)
    assert len(result) <= limit
    urls = [one.url for one in result]
    assert len(set(urls)) == len(urls)
    order = [(-one.score, one.url) for one in result]
    assert order == sorted(order)
    for one in result:
        assert one.url not in one.copies and len(set(one.copies)) == len(one.copies)
        assert one.score == max(other.score for other in some if other.url == one.url)
    everything = fold_hits(some, 10_000)
    told = {url for one in everything for url in (one.url, *one.copies)}
    assert told == {url for one in some for url in (one.url, *one.copies)}
    assert [one.url for one in everything][: len(result)] == urls
    assert fold_hits(reversed(some), limit) == result or any(
        (a.score, a.url) == (b.score, b.url) and a != b for a in some for b in some
    )


def test_no_more_than_a_hundred_copies_are_named() -> None:
    some = [found(f"http://{n:03}/", text=1) for n in range(150)]
    (one,) = fold_hits(some, 1000)
    assert len(one.copies) == 100


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x", "y"])), max_size=12))
def test_groups_hold_every_place_once_in_the_order_of_first_results(pairs: list[tuple[int, str]]) -> None:
    some = [found(f"http://{n}/", cluster=number, cluster_name=name) for n, (number, name) in enumerate(pairs)]
    groups = group_hits(some)
    assert sorted(place for group in groups for place in group.results) == list(range(len(some)))
    assert [group.results[0] for group in groups] == sorted(group.results[0] for group in groups)
    assert [(group.cluster, group.name) for group in groups] == list(dict.fromkeys(pairs))
    for group in groups:
        assert list(group.results) == sorted(group.results)
        assert all(pairs[place] == (group.cluster, group.name) for place in group.results)
