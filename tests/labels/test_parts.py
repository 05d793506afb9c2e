"""Labels in parts: they come together again, travel compressed, and are published anew only if they changed."""

from pathlib import Path

import msgspec
import numpy as np
import pytest
import zstandard
from hypothesis import given, settings

from pagekin.labels import (
    ABSTRACTION_FUNCTIONS,
    AddedTerm,
    ContentLabel,
    LabelError,
    LabelLimits,
    TermFilter,
    check_stored_label,
    join_parts,
    label_etag,
    label_from_wire,
    label_part,
    label_parts,
    label_to_json,
    label_to_wire,
    parts_to_publish,
    term_key,
)
from pagekin.labels.model import check_label
from pagekin.store import Kin
from tests.labels.asking import label_may_hold, may_hold
from tests.labels.invented import labels
from tests.labels.test_merge import LOCKS, RIVERS, site

generated = settings(derandomize=True, database=None, deadline=None, max_examples=60)


def keys_of(*groups: dict[str, int]) -> list[np.ndarray]:
    each = [np.array([term_key(word) for word in words], np.uint64) for words in groups]
    return [np.unique(np.concatenate(each)), *each]


def tags(parts: dict[str, ContentLabel]) -> dict[str, str]:
    return {function: label_etag(part) for function, part in parts.items()}


@generated
@given(labels())
def test_the_parts_of_a_label_are_labels_and_come_together_again(label: ContentLabel) -> None:
    parts = label_parts(label)
    for part in parts.values():
        check_label(part)
    assert join_parts(parts) == label


@generated
@given(labels())
def test_a_label_comes_back_from_the_wire_as_it_was(label: ContentLabel) -> None:
    assert label_from_wire(label_to_wire(label)) == label


def test_each_part_holds_what_its_function_needs_and_no_more() -> None:
    label = site("a", (5, RIVERS), (6, LOCKS))
    parts = label_parts(label)
    assert parts["routing"].filters == label.filters
    assert list(parts["routing"].rows(parts["routing"].terms)) == list(label.rows(label.terms))
    assert [one.filters for one in parts["routing"].clusters] == [one.filters for one in label.clusters]
    assert not any(one.urls or one.terms.steps or one.name for one in parts["routing"].clusters)
    assert [one.urls for one in parts["browsing"].clusters] == [one.urls for one in label.clusters]
    assert not parts["browsing"].words
    assert not any(one.filters for one in parts["refinement"].clusters)
    assert len(set(tags(parts).values())) == 3


@pytest.mark.parametrize(
    "data", [b"", b"nothing", zstandard.compress(b"{}"), zstandard.compress(b'{"version": 1}')[:-3]]
)
def test_what_is_no_label_on_the_wire_is_refused(data: bytes) -> None:
    with pytest.raises(LabelError):
        label_from_wire(data)


def test_a_bomb_on_the_wire_is_refused_at_its_limit() -> None:
    bomb = zstandard.compress(b" " * (1 << 28))
    assert len(bomb) < 100_000
    with pytest.raises(LabelError, match="the limit"):
        label_from_wire(bomb, LabelLimits(bytes=1 << 20))


def kept(raw: dict[str, bytes], etags: dict[str, str]) -> Kin:
    """What a collection would keep of a label."""
    arrays = {f"label.{function}": np.frombuffer(part, np.uint8) for function, part in raw.items()}
    return Kin(Path("some.kin"), {"facts": {"label": {"etags": etags}}}, arrays)


def test_a_part_that_an_older_version_wrote_is_whole() -> None:
    raw = {function: label_to_json(part) for function, part in label_parts(site("a", (5, RIVERS))).items()}
    older = {function: part.replace(b'"num_words":0,', b"") for function, part in raw.items()}
    assert older != raw
    assert {function: label_etag(part) for function, part in raw.items()} != {
        f: label_etag(part) for f, part in older.items()
    }
    etags = {function: label_etag(part) for function, part in older.items()}
    assert list(check_stored_label(kept(older, etags))) == []
    assert [one.where for one in check_stored_label(kept(raw, etags))] == [
        f"label.{function}" for function in ABSTRACTION_FUNCTIONS
    ]


def test_the_same_label_again_changes_no_etag() -> None:
    label = site("a", (5, RIVERS), (6, LOCKS))
    first = parts_to_publish(None, label)
    assert join_parts(first) == label
    assert tags(parts_to_publish(first, label, keys_of(RIVERS, LOCKS))) == tags(first)


def test_small_changes_are_not_published_but_a_new_word_is_for_routing() -> None:
    many = {f"word{number}": 20 for number in range(100)}
    label = site("a", (50, many), (60, LOCKS))
    first = parts_to_publish(None, label)
    moved = site("a", (50, {**many, "word3": 21, "word4": 19}), (60, LOCKS))
    after = parts_to_publish(first, moved, keys_of(many, LOCKS))
    assert tags(after) == tags(first)
    new = site("a", (50, {**many, "zebra": 1}), (60, LOCKS))
    after = parts_to_publish(first, new, keys_of({**many, "zebra": 1}, LOCKS))
    assert after["routing"] == label_part(new, "routing")
    assert label_may_hold(join_parts(after), "zebra")
    assert tags(after)["refinement"] == tags(first)["refinement"]
    assert tags(after)["browsing"] == tags(first)["browsing"]
    check_label(join_parts(after))


def test_large_changes_are_published_where_they_matter() -> None:
    label = site("a", (50, RIVERS), (60, LOCKS))
    first = parts_to_publish(None, label)
    changes = {
        "refinement": site("a", (50, {**RIVERS, "bank": 40}), (60, LOCKS)),
        "browsing": msgspec.structs.replace(
            label, clusters=(msgspec.structs.replace(label.clusters[0], name="floods"), label.clusters[1])
        ),
        "routing": msgspec.structs.replace(label, added=(AddedTerm("text", "geography", "operator"),)),
    }
    for function, new in changes.items():
        after = parts_to_publish(first, new, keys_of(RIVERS, LOCKS))
        assert tags(after)[function] != tags(first)[function], function
        assert after[function] == label_part(new, function)
    grown = site("a", (70, RIVERS), (60, LOCKS))
    assert all(
        tags(parts_to_publish(first, grown, keys_of(RIVERS, LOCKS)))[one] != tags(first)[one]
        for one in ABSTRACTION_FUNCTIONS
    )
    split = site("a", (50, RIVERS), (30, LOCKS), (30, LOCKS))
    assert parts_to_publish(first, split, keys_of(RIVERS, LOCKS, LOCKS)) == label_parts(split)


def test_a_page_that_moves_to_another_sub_cluster_takes_its_words_along() -> None:
    label = site("a", (50, RIVERS), (60, {**LOCKS, "map": 1}))
    first = parts_to_publish(None, label)
    moved = site("a", (51, {**RIVERS, "map": 1}), (59, LOCKS))
    after = parts_to_publish(first, moved, keys_of({**RIVERS, "map": 1}, LOCKS))
    assert may_hold(after["routing"].clusters[0].filters[0], np.array([term_key("map")], np.uint64)).all()


def test_words_that_are_gone_are_forgotten_when_they_are_many() -> None:
    many = {f"word{number}": 2 for number in range(100)}
    label = site("a", (50, many))
    few = dict(list(many.items())[:80])
    after = parts_to_publish(parts_to_publish(None, label), site("a", (50, few)), keys_of(few))
    assert after["routing"].filters[0].keys == 80


def test_a_routers_filters_are_compared_as_they_are() -> None:
    label = site("a", (50, RIVERS), (60, LOCKS))
    first = parts_to_publish(None, label)
    assert tags(parts_to_publish(first, label)) == tags(first)
    other = msgspec.structs.replace(label, filters=(TermFilter.of(np.array([7], np.uint64)),))
    assert parts_to_publish(first, other)["routing"] == label_part(other, "routing")


def test_parts_that_do_not_belong_together_are_refused() -> None:
    one, two = label_parts(site("a", (5, RIVERS), (6, LOCKS))), label_parts(site("a", (5, RIVERS)))
    with pytest.raises(LabelError, match="do not belong together"):
        join_parts({**one, "routing": two["routing"]})


def test_a_part_that_is_missing_is_named() -> None:
    with pytest.raises(KeyError, match="refinement"):
        join_parts({})


def test_a_router_that_hears_from_another_child_says_so_at_once() -> None:
    waiting = msgspec.structs.replace(site("a", (50, RIVERS), (60, LOCKS)), waiting=2)
    first = parts_to_publish(None, waiting)
    assert join_parts(first).waiting == 2
    after = parts_to_publish(first, msgspec.structs.replace(waiting, waiting=0))
    assert join_parts(after).waiting == 0
    assert all(tags(after)[function] != tags(first)[function] for function in ABSTRACTION_FUNCTIONS)
