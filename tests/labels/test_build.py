"""The label of a collection: exact counts, budgets that are kept, and filters that never lose a match."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekin.bags import BagMatrix, bag_forms, preset_strategy
from pagekin.clusters import TERM_ATTRIBUTES, TERM_PRESET, Tree, count_terms, term_words
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.labels import (
    AddedTerm,
    ContentLabel,
    FilterBank,
    LabelBudget,
    LabelError,
    TermFilter,
    label_from_json,
    label_to_json,
    label_to_sexpr,
    leaf_label,
    term_key,
)
from pagekin.labels.build import chosen_nodes, mark_unnoted
from tests.labels.asking import any_may_hold, label_may_hold, may_hold
from tests.labels.sexpr_reader import label_from_sexpr


@pytest.fixture(scope="module")
def label(demo: Corpus, demo_tree: Tree) -> ContentLabel:
    return leaf_label(demo, demo_tree)


@pytest.fixture(scope="module")
def held(demo: Corpus) -> list[Counter[tuple[str, str]]]:
    """For each page how often each word, as it stands there, has each attribute: the slow way."""
    found = []
    for page in range(len(demo)):
        stream = demo.stream(page)
        words = [demo.word(int(word)) for word in stream.words]
        counted: Counter[tuple[str, str]] = Counter()
        for word, flags in zip(words, stream.attributes.tolist(), strict=True):
            names = ["title"] if flags & 1 else [name for bit, name in enumerate(TERM_ATTRIBUTES) if flags >> bit & 1]
            counted.update((name, word) for name in names)
        found.append(counted)
    return found


def forms_of(words: list[str]) -> dict[str, str]:
    return dict(zip(words, bag_forms(words, preset_strategy(TERM_PRESET)), strict=True))


def test_a_label_of_the_demo_web_travels_in_both_forms(label: ContentLabel) -> None:
    assert label_from_json(label_to_json(label)) == label
    assert label_from_sexpr(label_to_sexpr(label)) == label


def test_a_label_is_the_same_each_time(demo: Corpus, demo_tree: Tree, label: ContentLabel) -> None:
    assert label_to_json(leaf_label(demo, demo_tree, threads=2)) == label_to_json(label)


def test_the_clusters_that_were_asked_for_hold_every_page_once(demo: Corpus, demo_tree: Tree) -> None:
    nodes = chosen_nodes(demo_tree)
    assert len(nodes) == demo_tree.facts["clusters"]
    pages = np.concatenate([demo_tree.pages_of(node) for node in nodes])
    assert sorted(pages.tolist()) == list(range(len(demo)))


def test_counts_are_those_of_the_pages(
    demo: Corpus, demo_tree: Tree, label: ContentLabel, held: list[Counter[tuple[str, str]]]
) -> None:
    forms = forms_of(sorted({word for page in held for _name, word in page}))
    assert label.num_docs == len(demo)
    assert label.size == int(np.asarray(demo.kin["page.html_bytes"]).astype(np.int64).sum())
    for cluster in label.clusters:
        pages = sorted(page for node in cluster.nodes for page in demo_tree.pages_of(node).tolist())
        tf: Counter[tuple[str, str]] = Counter()
        df: Counter[tuple[str, str]] = Counter()
        for page in pages:
            stems: Counter[tuple[str, str]] = Counter()
            for (name, word), count in held[page].items():
                if forms[word]:
                    stems[name, forms[word]] += count
            tf.update(stems)
            df.update(stems.keys())
        assert (cluster.num_docs, cluster.num_terms) == (len(pages), len(tf))
        rows = list(label.rows(cluster.terms))
        assert len(rows) == min(500, len(tf))
        for attribute, word, count, documents in rows:
            assert (count, documents) == (tf[attribute, forms[word]], df[attribute, forms[word]])
        assert {demo.page_url(page) for page in pages} >= set(cluster.urls)


def test_no_term_of_the_collection_is_reported_absent(
    demo_tree: Tree, label: ContentLabel, held: list[Counter[tuple[str, str]]]
) -> None:
    keys = {pair: term_key(pair[1], pair[0]) for pair in {pair for page in held for pair in page}}
    assert len(set(keys.values())) > 10_000
    (whole,) = label.filters
    assert may_hold(whole, np.array(sorted(set(keys.values())), np.uint64)).all()
    for cluster in label.clusters:
        pages = [page for node in cluster.nodes for page in demo_tree.pages_of(node).tolist()]
        mine = {keys[pair] for page in pages for pair in held[page]}
        (one,) = cluster.filters
        assert may_hold(one, np.array(sorted(mine), np.uint64)).all()
    assert all(label_may_hold(label, word, name) for name, word in list(keys)[::50])


def test_absent_terms_are_reported_present_in_one_case_of_a_hundred(label: ContentLabel) -> None:
    rng = np.random.default_rng(5)
    letters = np.array(list("bcdfghjklmnpqrtvwxz"))
    words = ["zq" + "".join(rng.choice(letters, 9)) for _ in range(10_000)]
    for attribute in ("text", "title"):
        asked = np.array([term_key(word, attribute) for word in words], np.uint64)
        found = [may_hold(one, asked).mean() for part in (label, *label.clusters) for one in part.filters]
        assert found[0] <= 0.01
        assert np.mean(found[1:]) <= 0.01
    sizes = [(len(one.bits), one.keys) for part in (label, *label.clusters) for one in part.filters]
    assert sum(size for size, _keys in sizes) <= 1.27 * sum(keys for _size, keys in sizes)


@given(st.sets(st.integers(0, 2**64 - 1), max_size=200))
def test_a_filter_holds_what_was_put_in(keys: set[int]) -> None:
    made = TermFilter.of(np.array(sorted(keys), np.uint64))
    assert may_hold(made, np.array(sorted(keys), np.uint64)).all()
    assert made.fault() == ""
    assert TermFilter.of(np.array(sorted(keys, reverse=True) * 2, np.uint64)) == made


@pytest.mark.parametrize("size", [1, 10, 50, 300, 5000])
def test_filters_of_all_sizes_are_wrong_in_one_case_of_a_hundred(size: int) -> None:
    rng = np.random.default_rng(size)
    found = []
    for _ in range(20):
        made = TermFilter.of(rng.integers(0, 2**64, size, np.uint64))
        found.append(may_hold(made, rng.integers(0, 2**64, 5000, np.uint64)).mean())
    assert np.mean(found) <= 0.01


def test_any_of_several_filters_will_do_and_none_say_nothing() -> None:
    queue, lock = (TermFilter.of(np.array([term_key(word)], np.uint64)) for word in ("queue", "lock"))
    assert any_may_hold((queue, lock), "queues")
    assert any_may_hold((queue, lock), "lock")
    assert not any_may_hold((queue,), "lock")
    assert not any_may_hold((queue,), "queue", "title")
    assert any_may_hold((), "zebra")
    assert not any_may_hold((queue,), "the"), "stop words are words, too"
    assert not any_may_hold((TermFilter.of(np.zeros(0, np.uint64)),), "queue")


def test_a_bank_of_filters_tells_what_each_of_them_tells() -> None:
    rng = np.random.default_rng(3)
    keys = [rng.integers(0, 2**64, size, np.uint64) for size in (0, 1, 7, 300, 5000, 0)]
    filters = [TermFilter.of(one) for one in keys]
    asked = np.concatenate([*(one[:20] for one in keys), rng.integers(0, 2**64, 3000, np.uint64)])
    found = FilterBank(filters).may_hold(asked)
    assert found.tolist() == [may_hold(one, asked).tolist() for one in filters]
    assert found.any()
    assert FilterBank([]).may_hold(asked).shape == (0, len(asked))


def test_terms_of_the_operator_are_marked_and_found(demo: Corpus, demo_tree: Tree, label: ContentLabel) -> None:
    assert not label_may_hold(label, "xylographies")
    more = leaf_label(demo, demo_tree, added=[AddedTerm("text", "xylography", "operator")])
    assert label_may_hold(more, "xylographies")
    assert more.added[0].by == "operator"
    assert more.words == label.words


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 600), st.integers(1, 40), st.integers(1, 300_000))
def test_budgets_are_always_kept_and_what_is_lost_is_told(
    demo: Corpus, demo_tree: Tree, max_terms: int, max_clusters: int, max_bytes: int
) -> None:
    try:
        made = leaf_label(demo, demo_tree, LabelBudget(max_terms, max_clusters, max_bytes))
    except LabelError as error:
        assert "is the least" in str(error)
        assert max_bytes < 1000
        return
    data = label_to_json(made)
    assert label_from_json(data) == made
    assert len(data) <= max_bytes
    assert 1 <= len(made.clusters) <= max_clusters
    assert all(len(part.terms.steps) <= max_terms for part in (made, *made.clusters))
    assert sum(cluster.num_docs for cluster in made.clusters) == made.num_docs == len(demo)
    kept = sum(len(cluster.terms.steps) for cluster in made.clusters)
    assert made.lost.terms == sum(cluster.num_terms for cluster in made.clusters) - kept
    assert made.lost.clusters == len(chosen_nodes(demo_tree)) - len(made.clusters)
    assert made.lost.filters == 1 + len(made.clusters) - sum(len(part.filters) for part in (made, *made.clusters))


def test_a_long_page_gives_its_first_and_its_most_frequent_terms(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    vocabulary = ["".join(rng.choice(list("bcdfghjkmnpqrtvwxz"), 7)) for _ in range(3000)]
    first = vocabulary[:600]
    later = rng.choice(vocabulary, 4000)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "long.html").write_text("<p>" + " ".join([*first, *later]) + "</p><h2>tail heading</h2>")
    (tmp_path / "site" / "short.html").write_text("<p>" + " ".join(vocabulary[-900:]))
    read_sources(ReadPlan([str(tmp_path / "site")], tmp_path / "long.kin"))
    corpus = Corpus.open(tmp_path / "long.kin")
    words = term_words(corpus)
    counted = count_terms(corpus, words)
    marked = mark_unnoted(corpus.stream_batch(), words, counted).weights
    assert np.abs(marked).tolist() == counted.weights.tolist()
    ends = np.append(0, np.cumsum(marked > 0))[counted.offsets]
    noted = BagMatrix(ends, counted.terms[marked > 0], marked[marked > 0], counted.columns)
    pages = {corpus.page_url(page).rpartition("/")[2]: page for page in range(2)}

    def shown(made: BagMatrix, name: str) -> dict[tuple[str, str], int]:
        row = slice(*made.offsets[pages[name] : pages[name] + 2].tolist())
        pairs = (divmod(term, len(TERM_ATTRIBUTES)) for term in made.terms[row].tolist())
        names = [(TERM_ATTRIBUTES[attribute], corpus.word(int(words.shown[word]))) for word, attribute in pairs]
        return dict(zip(names, made.weights[row].tolist(), strict=True))

    assert shown(noted, "short.html") == shown(counted, "short.html")
    assert len(shown(noted, "short.html")) == 900
    everything, kept = shown(counted, "long.html"), shown(noted, "long.html")
    assert len(everything) > 2000
    assert len(kept) == 1000
    in_order = list(dict.fromkeys([("text", word) for word in [*first, *later.tolist()]]))
    assert set(in_order[:500]) <= kept.keys()
    others = sorted((everything[term] for term in everything if term not in in_order[:500]), reverse=True)
    assert sorted((kept[term] for term in kept if term not in in_order[:500]), reverse=True) == others[:500]
    assert all(everything[term] == count for term, count in kept.items())


def test_the_heaviest_terms_stay(demo: Corpus, demo_tree: Tree, label: ContentLabel) -> None:
    few = leaf_label(demo, demo_tree, LabelBudget(20))
    for mine, all_of_it in zip(few.clusters, label.clusters, strict=True):
        assert set(few.rows(mine.terms)) <= set(label.rows(all_of_it.terms))
        assert any(term.word in mine.heaviest for term in few.rows(mine.terms))
