"""Labels on the wire: what goes out comes back, and what cannot be is refused with a reason."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from pagekin.labels import (
    AddedTerm,
    ContentLabel,
    LabelError,
    LabelLimits,
    SubCluster,
    TermFilter,
    label_from_json,
    label_to_json,
    label_to_sexpr,
)
from pagekin.labels.model import Term, pack_terms
from tests.labels.invented import labels
from tests.labels.sexpr_reader import label_from_sexpr


def small() -> ContentLabel:
    """A label of two sub-clusters."""
    whole = [Term("text", "queue", 9, 5), Term("title", "lock", 3, 3)]
    first = [Term("header", "queue", 2, 1), Term("text", "queue", 5, 3)]
    table, packed = pack_terms([whole, first, [Term("text", "zebra", 4, 2)]])
    held = TermFilter.of(np.arange(40, dtype=np.uint64))
    clusters = (
        SubCluster(1, "queues", 3, 700, 4, (2,), ("http://a.example/1", "http://a.example/2"), ("queue",), packed[1]),
        SubCluster(2, "animals", 2, 300, 3, (5, 6), (), (), packed[2], (held,)),
    )
    return ContentLabel(
        1, "porter-2", "site", 5, 1000, 6, True, heaviest=("queue",), added=(AddedTerm("text", "literature", "operator"),),
        words=table, terms=packed[0], filters=(held,), clusters=clusters,
    )  # fmt: skip


@given(labels())
def test_a_label_comes_back_from_json_as_it_was(label: ContentLabel) -> None:
    data = label_to_json(label)
    assert label_from_json(data) == label
    assert label_to_json(label_from_json(data)) == data


@given(labels())
def test_a_label_comes_back_from_an_s_expression_as_it_was(label: ContentLabel) -> None:
    text = label_to_sexpr(label)
    assert label_from_sexpr(text) == label
    assert label_to_sexpr(label_from_sexpr(text)) == text


def test_terms_are_found_again_in_the_columns() -> None:
    label = small()
    assert list(label.rows(label.terms)) == [Term("title", "lock", 3, 3), Term("text", "queue", 9, 5)]
    assert [term.word for term in label.rows(label.clusters[1].terms)] == ["zebra"]


def test_an_s_expression_reads_like_figure_5() -> None:
    lines = label_to_sexpr(small()).splitlines()
    assert lines[0] == "((version: 1)"
    assert "((cluster-num: 1) (size: 700) (num-docs: 3) (num-terms: 4)" in lines
    assert '(url: "http://a.example/1")' in lines
    assert "(term: ((attribute: header) (value: queue) (tf: 2) (df: 1)))" in lines
    assert "(term: ((value: queue) (tf: 5) (df: 3)))" in lines
    assert "filter:" not in label_to_sexpr(small(), filters=False)


def change(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """What sets one place, like `clusters.0.terms.df.1`, to a value."""

    def apply(told: dict[str, Any]) -> None:
        *steps, last = path.split(".")
        place: Any = told
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        place[int(last) if isinstance(place, list) else last] = value

    return apply


HOSTILE = {
    "another version": (change("version", 2), "has version 2"),
    "a negative count": (change("num_docs", -1), "num_docs"),
    "a negative tf": (change("terms.tf.0", -3), "terms.tf"),
    "a control character in the analyser": (change("analyser", "\x1b[2J"), "control character"),
    "a huge count": (change("size", 2**60), "size"),
    "a count that is a text": (change("size", "many"), "size"),
    "a fraction": (change("num_docs", 5.5), "num_docs"),
    "an unknown field": (change("evil", 1), "evil"),
    "a control character in a term": (change("words.0", "lo\x1b[2Jck"), "control character"),
    "a turned-around term": (change("words.0", "lo\u202eck"), "control character"),
    "a space in a term": (change("words.0", "lo ck"), "space"),
    "an empty term": (change("words.0", ""), "words"),
    "a long term": (change("words.0", "l" * 5000), "words"),
    "a control character in a name": (change("clusters.0.name", "a\x07"), "control character"),
    "a control character in a heavy word": (change("heaviest.0", "a\x07"), "control character"),
    "unsorted words": (change("words.0", "zzz"), "are unsorted, or one occurs twice"),
    "a word twice": (change("words.0", "queue"), "are unsorted, or one occurs twice"),
    "a word of no term": (change("words", ["lock", "queue", "zebra", "zzz"]), "'zzz' belongs to no term"),
    "a term twice": (change("terms.steps.1", 0), "are unsorted, or one occurs twice"),
    "a term beyond the words": (change("terms.steps.1", 10**15), "beyond the words"),
    "columns of different lengths": (change("terms.tf", [1]), "different lengths"),
    "df of more documents than there are": (
        change("clusters.1.terms", {"steps": [13], "tf": [9], "df": [3]}),
        "df is 3",
    ),
    "df above tf": (change("terms.tf.1", 1), "more than its tf"),
    "df of 0": (change("terms.df.0", 0), "df is 0"),
    "more terms than num-terms": (change("clusters.0.num_terms", 1), "num-terms is 1"),
    "a sub-cluster larger than the whole": (change("clusters.0.num_docs", 6), "larger than that of the whole"),
    "a wrong number": (change("clusters.1.number", 1), "numbered 1"),
    "an address twice": (change("clusters.0.urls.0", "http://a.example/2"), "occurs twice"),
    "a script for an address": (change("clusters.0.urls.0", "javascript:alert(1)"), "not an http(s) address"),
    "more addresses than documents": (change("clusters.0.num_docs", 1), "num-docs is 1"),
    "a filter of another size": (change("filters.0.bits", "AAAA"), "a filter of 40 keys has"),
    "a filter that holds everything": (change("filters.0.bits", "/" * 77 + "w=="), "bits set"),
    "a filter that is no base64": (change("filters.0.bits", "?"), "bits"),
    "a filter of a billion keys": (change("filters.0.keys", 10**9), "keys"),
    "an added term of unknown origin": (change("added.0.by", "nobody"), "unknown attribute or origin"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_label_is_refused_with_a_reason(name: str) -> None:
    spoil, reason = HOSTILE[name]
    told = json.loads(label_to_json(small()))
    assert label_from_json(json.dumps(told).encode()) == small()
    spoil(told)
    with pytest.raises(LabelError) as refused:
        label_from_json(json.dumps(told).encode())
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not a content label"),
        (b"[]", "not a content label"),
        (b"{}", "version"),
        (b'{"version":1}', "missing"),
        (b"\xff\xfe", "not a content label"),
        (b'{"version":1,"name":"\xff"}', "not a content label"),
        (b'{"version":1,"name":"\\ud800"}', "not a content label"),
        (b"[" * 100_000, "not a content label"),
        (b'{"a":' * 100_000, "not a content label"),
        (b" " * (33 << 20), "bytes"),
    ],
    ids=["nothing", "a list", "no version", "a version alone", "no text", "a bad text", "half a character", "deep lists",
         "deep objects", "too long"],
)  # fmt: skip
def test_what_is_no_label_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(LabelError, match=reason):
        label_from_json(data)


def test_a_million_terms_are_too_many() -> None:
    told = json.loads(label_to_json(small()))
    million = 1_000_000
    told |= {"num_terms": million, "words": [f"{n:07}" for n in range(million)]}
    told["terms"] = {"steps": [6] * million, "tf": [1] * million, "df": [1] * million}
    with pytest.raises(LabelError, match="1,000,003 terms; the limit is 500,000"):
        label_from_json(json.dumps(told, separators=(",", ":")).encode())


def test_limits_can_be_narrower() -> None:
    data = label_to_json(small())
    for limits in (LabelLimits(bytes=100), LabelLimits(terms=3), LabelLimits(clusters=1), LabelLimits(urls=1)):
        with pytest.raises(LabelError, match="the limit"):
            label_from_json(data, limits)
