"""Labels of routers: from the labels of their children alone, in any order, within budgets."""

from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekin.bags import bag_forms, preset_strategy
from pagekin.clusters import TERM_PRESET
from pagekin.labels import (
    LABEL_VERSION,
    AddedTerm,
    ContentLabel,
    LabelBudget,
    LabelError,
    SubCluster,
    TermFilter,
    cut_label,
    label_from_json,
    label_to_json,
    router_label,
    term_key,
)
from pagekin.labels.model import LabelLosses, Term, check_label, pack_terms
from tests.labels.asking import label_may_hold
from tests.labels.invented import labels

hard = [HealthCheck.too_slow, HealthCheck.filter_too_much]
generated = settings(derandomize=True, database=None, deadline=None, max_examples=40, suppress_health_check=hard)
families = st.dictionaries(st.text("abc", min_size=1, max_size=3), labels(), min_size=1, max_size=4)


def site(name: str, *clusters: tuple[int, dict[str, int]]) -> ContentLabel:
    """A label by hand: for each sub-cluster its documents and its words with their df; tf is twice that."""
    rows = [[Term("text", word, 2 * df, df) for word, df in words.items()] for _docs, words in clusters]
    total: Counter[str] = Counter()
    for _docs, held in clusters:
        total.update(held)
    words, packed = pack_terms([[Term("text", word, 2 * df, df) for word, df in total.items()], *rows])
    filters = [TermFilter.of(np.array([term_key(word) for word in held], np.uint64)) for _docs, held in clusters]
    whole = TermFilter.of(np.array([term_key(word) for word in total], np.uint64))
    made = tuple(
        SubCluster(
            number, f"{name} {number}", docs, 10 * docs, len(held), (number,), (f"http://{name}.example/{number}",),
            tuple(held)[:3], packed[number], (filters[number - 1],),
        )
        for number, (docs, held) in enumerate(clusters, 1)
    )  # fmt: skip
    docs = sum(one.num_docs for one in made)
    label = ContentLabel(
        LABEL_VERSION,
        "porter-2",
        name,
        docs,
        10 * docs,
        len(total),
        True,
        LabelLosses(),
        (),
        (),
        words,
        packed[0],
        (whole,),
        made,
    )
    check_label(label)
    return label


RIVERS = {"river": 5, "water": 4, "bank": 2}
LOCKS = {"lock": 6, "queue": 3, "thread": 5}
POEMS = {"poem": 3, "verse": 3}


@generated
@given(families, st.randoms(use_true_random=False), st.integers(1, 6), st.integers(0, 8))
def test_any_children_in_any_order_give_the_same_sound_label(family, random, clusters, terms) -> None:
    budget = LabelBudget(terms, clusters)
    made = router_label("top", family, budget)
    assert label_from_json(label_to_json(made.label)) == made.label
    names = list(family)
    random.shuffle(names)
    other = router_label("top", {name: family[name] for name in names}, budget)
    assert label_to_json(other.label) == label_to_json(made.label)
    assert other.homes == made.homes
    assert len(made.label.clusters) <= clusters
    assert all(len(part.terms.steps) <= terms for part in (made.label, *made.label.clusters))


@generated
@given(families, st.integers(1, 6))
def test_every_sub_cluster_of_a_child_finds_its_home_and_is_counted_there(family, clusters) -> None:
    made = router_label("top", family, LabelBudget(10_000, clusters))
    docs: Counter[int] = Counter()
    tf: Counter[tuple[int, str, str]] = Counter()
    parts = {
        (child, one.number): (label, one)
        for child, label in family.items()
        for one in (label.clusters or [SubCluster(0, "", label.num_docs, 0, 0, terms=label.terms)])
    }
    assert {(child, number) for child, homes in made.homes.items() for number in homes} == set(parts)
    for (child, number), (label, one) in parts.items():
        home = made.homes[child][number]
        docs[home] += one.num_docs
        for term in label.rows(one.terms):
            stem = bag_forms([term.word], preset_strategy(TERM_PRESET))[0] or term.word
            tf[home, term.attribute, stem] += term.tf
    largest = 2**53 - 1
    assert {one.number: one.num_docs for one in made.label.clusters} == {k: min(v, largest) for k, v in docs.items()}
    found = {
        (one.number, term.attribute, bag_forms([term.word], preset_strategy(TERM_PRESET))[0] or term.word): term.tf
        for one in made.label.clusters
        for term in made.label.rows(one.terms)
    }
    assert found == dict(tf)


def test_sub_clusters_about_the_same_come_together() -> None:
    children = {
        "a": site("a", (5, RIVERS), (6, LOCKS)),
        "b": site("b", (7, {"rivers": 4, "waters": 6, "flood": 1}), (3, POEMS)),
        "c": site("c", (9, {"locking": 2, "queues": 8, "threads": 7})),
    }
    made = router_label("top", children, LabelBudget(clusters=3))
    homes = made.homes
    assert homes["a"][1] == homes["b"][1]
    assert homes["a"][2] == homes["c"][1]
    assert len({homes["a"][1], homes["a"][2], homes["b"][2]}) == 3
    assert made.label.lost.clusters == 2
    assert made.label.num_docs == 30
    assert made.label.exact
    rows = {(term.attribute, term.word): (term.tf, term.df) for term in made.label.rows(made.label.terms)}
    assert rows["text", "queues"] == (22, 11), "forms of one stem are one term, shown as the more frequent"
    assert ("text", "queue") not in rows
    names = {one.number: one.name for one in made.label.clusters}
    assert set(names[homes["a"][1]].split(", ")) <= {"River", "Rivers", "Waters", "Flood", "Bank"}
    assert names[homes["b"][2]] == "b 2", "what was not merged keeps its name"
    urls = next(one.urls for one in made.label.clusters if one.number == homes["a"][2])
    assert set(urls) == {"http://a.example/2", "http://c.example/1"}


def test_merged_sub_clusters_are_named_by_what_many_of_their_pages_hold_and_few_others() -> None:
    courses = {"exam": 60, "homework": 45, "page": 90, "krithi": 4}
    children = {
        "a": site("a", (100, courses), (100, {"river": 50, "page": 95, "exam": 2, "homework": 1})),
        "b": site("b", (100, courses | {"grade": 30}), (100, {"poem": 70, "page": 92})),
    }
    made = router_label("top", children, LabelBudget(clusters=3))
    home = made.homes["a"][1]
    assert home == made.homes["b"][1], "courses come together"
    label = next(one for one in made.label.clusters if one.number == home)
    assert label.name == "Exam, Homework, Grade"
    assert label.heaviest[:3] == ("exam", "homework", "grade")


def test_words_of_the_names_of_sites_are_in_the_name_of_a_group_only_for_want_of_others() -> None:
    courses = {"exam": 60, "example": 80, "a": 75}
    children = {name: site(name, (100, courses), (100, {"river": 50})) for name in "ab"}
    made = router_label("top", children, LabelBudget(clusters=2))
    assert {one.name for one in made.label.clusters} == {"Exam", "River"}
    bare = {name: site(name, (100, {"example": 60}), (100, {"river": 50})) for name in "ab"}
    made = router_label("top", bare, LabelBudget(clusters=2))
    assert {one.name for one in made.label.clusters} == {"Example", "River"}


def test_a_routers_label_knows_every_word_that_its_children_know() -> None:
    children = {"a": site("a", (5, RIVERS), (6, LOCKS)), "b": site("b", (3, POEMS))}
    above = router_label(
        "top", {"edu": router_label("edu", children, LabelBudget(1, 1)).label, "c": site("c", (2, {"map": 1}))}
    )
    for word in (*RIVERS, *LOCKS, *POEMS, "map", "maps"):
        assert label_may_hold(above.label, word), word
    assert not label_may_hold(above.label, "zebra")
    assert above.label.lost.clusters == 2
    told = sum(len(one.terms.steps) for one in above.label.clusters)
    assert above.label.lost.terms + told >= len({*RIVERS, *LOCKS, *POEMS, "map"})


def test_a_site_that_is_reached_in_two_ways_makes_counts_bounds() -> None:
    shared = site("a", (5, RIVERS))
    one, two = (
        router_label("one", {"a": shared}).label,
        router_label("two", {"a": shared, "b": site("b", (3, POEMS))}).label,
    )
    assert one.exact
    assert two.exact
    top = router_label("top", {"one": one, "two": two}).label
    assert not top.exact
    assert top.num_docs == 13
    assert len(top.filters) == 2, "the same filter is kept once"


def test_without_the_filters_of_one_child_nothing_is_certain() -> None:
    bare = router_label("edu", {"a": site("a", (5, RIVERS))}, LabelBudget(bytes=420)).label
    assert bare.lost.filters == 2
    assert not bare.filters
    top = router_label("top", {"edu": bare, "b": site("b", (3, POEMS))}).label
    assert label_may_hold(top, "zebra")
    assert not top.exact


def test_filters_of_another_analysis_are_not_believed() -> None:
    import msgspec

    strange = msgspec.structs.replace(site("a", (5, RIVERS)), analyser="snowball-9")
    made = router_label("top", {"a": strange}).label
    assert label_may_hold(made, "zebra")
    assert made.lost.filters == 2
    assert made.analyser == "porter-2"


def test_added_terms_travel_upwards() -> None:
    import msgspec

    added = (AddedTerm("text", "literature", "operator"),)
    poems = msgspec.structs.replace(site("b", (3, POEMS)), added=added)
    made = router_label("top", {"b": poems}, added=[AddedTerm("title", "art", "thesaurus")]).label
    assert made.added == (*added, AddedTerm("title", "art", "thesaurus"))
    assert label_may_hold(made, "literature")


def test_a_router_without_children_has_nothing_to_tell() -> None:
    with pytest.raises(LabelError, match="no child"):
        router_label("top", {})


@pytest.mark.parametrize("budget", [300, 600, 1000, 3000])
def test_bytes_are_kept(budget: int) -> None:
    children = {name: site(name, (5, RIVERS), (6, LOCKS), (3, POEMS)) for name in "abcdef"}
    try:
        made = router_label("top", children, LabelBudget(bytes=budget)).label
    except LabelError as error:
        assert "is the least" in str(error)
        assert budget < 400
        return
    assert len(label_to_json(made)) <= budget


def test_what_a_cut_label_tells_besides_counts_too() -> None:
    label = msgspec.structs.replace(site("a", (5, RIVERS), (6, LOCKS), (3, POEMS)), waiting=2**50)
    for size in range(600, 1100):
        assert len(label_to_json(cut_label(label, LabelBudget(bytes=size)))) <= size


@generated
@given(labels(), st.integers(400, 4000))
def test_a_label_is_cut_to_a_size_and_tells_what_it_is_made_of(label, size) -> None:
    try:
        cut = cut_label(label, LabelBudget(bytes=size))
    except LabelError as error:
        assert "is the least" in str(error)
        return
    assert label_from_json(label_to_json(cut)) == cut
    assert len(label_to_json(cut)) <= size
    inside = sorted(number for cluster in cut.clusters for number in cluster.nodes)
    assert inside == [cluster.number for cluster in label.clusters] or inside == [0]
    docs = {cluster.number: cluster.num_docs for cluster in label.clusters}
    if inside != [0]:
        assert all(one.num_docs == min(sum(docs[n] for n in one.nodes), 2**53 - 1) for one in cut.clusters)
    assert (cut.name, cut.waiting, cut.num_words) == (label.name, label.waiting, label.num_words)
