"""Who is asked: judged by labels, against what the collections really hold."""

import random
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekin.collection import Filters, check_filters, parse_query, query_words
from pagekin.labels import AddedTerm, ContentLabel, TermFilter, read_label, router_label, term_key
from pagekin.routers.routing import RoutingTable, matching
from pagekin.text import (
    ANALYSER,
    And,
    Not,
    Or,
    Query,
    QueryError,
    Stats,
    TextIndex,
    Word,
    analyse,
    asked_forms,
    form_key,
    form_of,
)
from tests.labels.asking import may_hold
from tests.labels.invented import labels

from .questions import drawn
from .webs import searched_in

Labels = dict[str, ContentLabel]


@pytest.fixture(scope="module")
def indexes(collections: dict[str, Path]) -> dict[str, TextIndex]:
    return {name: TextIndex.at(path) for name, path in collections.items()}


@pytest.fixture(scope="module")
def leaf_labels(indexes: dict[str, TextIndex]) -> Labels:
    found = {name: read_label(index.corpus.kin) for name, index in indexes.items()}
    return {name: label for name, label in found.items() if label is not None}


@pytest.fixture(scope="module")
def table(leaf_labels: Labels) -> RoutingTable:
    return RoutingTable(leaf_labels)


@pytest.fixture(scope="module")
def questions(indexes: dict[str, TextIndex]) -> list[str]:
    return list(drawn([index.corpus for index in indexes.values()], 300, seed=7))


def holders(indexes: dict[str, TextIndex], query: str) -> set[str]:
    return {name for name, index in indexes.items() if searched_in(index, query)}


def test_whoever_is_skipped_holds_no_match_and_few_are_asked_in_vain(
    table: RoutingTable, indexes: dict[str, TextIndex], questions: list[str]
) -> None:
    asked = right = 0
    for query in questions:
        verdict = table.judge(parse_query(query))
        assert set(verdict.ask) | set(verdict.skipped) == set(indexes)
        assert not set(verdict.ask) & set(verdict.skipped)
        held = holders(indexes, query)
        assert held <= set(verdict.ask), (query, verdict.skipped)
        asked += len(verdict.ask)
        right += len(held)
    assert right >= len(questions), "every query was drawn from a page"
    assert asked < 0.6 * len(questions) * len(indexes), "labels must spare most calls"


def test_the_same_holds_by_the_labels_of_routers(
    leaf_labels: Labels, indexes: dict[str, TextIndex], questions: list[str]
) -> None:
    names = sorted(leaf_labels)
    groups = {f"router {n}": names[n::4] for n in range(4)}
    table = RoutingTable(
        {name: router_label(name, {one: leaf_labels[one] for one in group}).label for name, group in groups.items()}
    )
    skipped = 0
    for query in questions:
        held = holders(indexes, query)
        for name in table.judge(parse_query(query)).skipped:
            assert not held & set(groups[name]), (query, name)
            skipped += 1
    assert skipped > 100


def test_a_reason_names_words_that_no_page_of_the_child_holds(
    table: RoutingTable, indexes: dict[str, TextIndex], questions: list[str]
) -> None:
    named = 0
    for query in questions:
        for name, reason in table.judge(parse_query(query)).skipped.items():
            if reason.startswith("no page holds "):
                for word in reason.removeprefix("no page holds ").split(", "):
                    assert indexes[name].count(parse_query(word)) == 0
                    named += 1
            else:
                assert reason == "no group of its pages holds all words"
    assert named > 100


def test_not_never_prunes(table: RoutingTable, questions: list[str]) -> None:
    for query in questions[:40]:
        plain = query.partition(" NOT ")[0]
        everywhere = " NOT ".join(("", "the", "of", "a", "and"))
        assert table.judge(parse_query(plain + everywhere)).ask == table.judge(parse_query(plain)).ask
        assert table.judge(parse_query(f"{plain} NOT nowherefound")).ask == table.judge(parse_query(plain)).ask
    assert query_words(parse_query("lock NOT (queue OR title:key)")) == [(None, "lock")]


def test_a_child_of_another_analyser_and_one_without_filters_are_always_asked(leaf_labels: Labels) -> None:
    stranger = msgspec.structs.replace(leaf_labels["birds"], analyser="another-9")
    table = RoutingTable({**leaf_labels, "stranger": stranger})
    assert table.judge(parse_query("nowherefound")).ask == ("stranger",)
    above = router_label("above", {"stranger": stranger, "trees": leaf_labels["trees"]}).label
    assert RoutingTable({"above": above, "trees": leaf_labels["trees"]}).judge(parse_query("nowherefound")).ask == (
        "above",
    )
    assert table.judge(parse_query("nowherefound"), "all").ask == tuple(table.names)


def test_words_that_an_operator_added_lead_to_a_child(leaf_labels: Labels) -> None:
    added = (AddedTerm("keyword", "literature", "operator"),)
    poems = msgspec.structs.replace(leaf_labels["composers"], added=added)
    table = RoutingTable({"poems": poems, "birds": leaf_labels["birds"]})
    for query in ("literature", "keyword:literature", "text:literature", "literatures"):
        assert "poems" in table.judge(parse_query(query)).ask, query
        assert "poems" in table.judge(parse_query(query), "terms").ask, query
    assert "poems" not in table.judge(parse_query("title:literature nowherefound")).ask
    assert "poems" not in table.judge(parse_query("title:literature")).ask


def test_routing_by_terms_loses_what_the_heaviest_terms_do_not_tell(
    table: RoutingTable, indexes: dict[str, TextIndex], questions: list[str]
) -> None:
    """As in 1996: a word counts only if a term of the label tells it."""
    lost = 0
    for query in questions:
        verdict = table.judge(parse_query(query), "terms")
        lost += len(holders(indexes, query) - set(verdict.ask))
        assert set(verdict.skipped.values()) <= {"not among its heaviest terms"}
    assert lost, "labels leave stop words out, so some query must lose a match"


@pytest.mark.parametrize("ask", [1, 2, 5])
def test_ask_takes_the_most_promising(table: RoutingTable, questions: list[str], ask: int) -> None:
    for query in questions[:60]:
        every, some = table.judge(parse_query(query)), table.judge(parse_query(query), ask=ask)
        scores = table.cori(parse_query(query))
        assert set(some.ask) <= set(every.ask)
        assert len(some.ask) == min(ask, len(every.ask))
        left = set(every.ask) - set(some.ask)
        assert all(some.skipped[name] == f"{ask} others promise more" for name in left)
        if left:
            assert min(scores[name] for name in some.ask) >= max(scores[name] for name in left)
        assert all(0.0 <= score <= 1.0 for score in scores.values())


def test_promise_grows_with_frequency_and_falls_with_how_many_have_a_word(
    table: RoutingTable, indexes: dict[str, TextIndex]
) -> None:
    df = {
        name: index.stats_of(parse_query("oxygen")).df[asked_forms(parse_query("oxygen"))[0][1]]
        for name, index in indexes.items()
    }
    best = max(df, key=lambda name: df[name])
    scores = table.cori(parse_query("oxygen"))
    assert max(scores, key=lambda name: scores[name]) == best
    assert all(scores[best] > scores[name] for name in df if not df[name])


def test_statistics_are_those_of_all_pages_where_labels_tell_them(
    table: RoutingTable, indexes: dict[str, TextIndex], questions: list[str]
) -> None:
    close = counted = 0
    for query in questions:
        told = table.stats(parse_query(query))
        true = Stats.sum([index.stats_of(parse_query(query)) for index in indexes.values()])
        assert (told.pages, told.words, told.analyser) == (true.pages, true.words, true.analyser)
        assert set(told.df) == set(true.df)
        for key, df in told.df.items():
            assert df <= told.pages
            assert df or not true.df[key], f"{key} is on {true.df[key]} pages"
            if df < told.pages:  # of stop words labels know nothing, so they are taken to be on every page
                counted += 1
                close += abs(df - true.df[key]) <= max(3, 0.4 * true.df[key])
    assert close > 0.9 * counted > 200


def test_a_stop_word_is_no_rare_word_whatever_its_stem(table: RoutingTable) -> None:
    for word in ("because", "was", "once", "always"):
        stats = table.stats(parse_query(f"text:{word} oxygen"))
        assert stats.df[form_key("text", form_of(word))] == stats.pages, word


def test_a_word_that_only_the_filters_know_is_not_taken_to_be_absent() -> None:
    """Its key is made of the word: the stem of a stem may be another."""
    (stem,) = analyse(["universities"])
    assert analyse([stem]) != [stem]
    held = (TermFilter.of(np.array([term_key("universities")], np.uint64)),)
    label = ContentLabel(1, ANALYSER, "", 5, 0, 10, True, filters=held, num_words=50)
    stats = RoutingTable({"campus": label}).stats(parse_query("universities OR oxygen"))
    assert stats.df == {stem: 1, form_of("oxygen"): 0}


def test_words_held_counts_words_of_one_group(table: RoutingTable, leaf_labels: Labels) -> None:
    words = ["oxygen", "violin", "the", "nowherefound", "beech"]
    found = table.words_held(words)
    for name, label in leaf_labels.items():
        keys = np.array([term_key(word) for word in words], np.uint64)
        groups = [one for cluster in label.clusters for one in cluster.filters]
        assert found[name] == max(int(may_hold(one, keys).sum()) for one in groups)


def test_words_of_one_query_must_stand_in_one_group() -> None:
    """Two sub-clusters with a word each: no page holds both."""

    def holding(*words: str) -> tuple[TermFilter, ...]:
        return (TermFilter.of(np.array([term_key(word) for word in words], np.uint64)),)

    base = ContentLabel(1, "", "", 4, 0, 10, True)
    whole = router_label("x", {"one": base}).label
    cluster = msgspec.structs.replace(whole.clusters[0], terms=whole.clusters[0].terms, num_docs=2)
    label = msgspec.structs.replace(
        whole, words=(), filters=holding("lock", "queue"),
        clusters=(
            msgspec.structs.replace(cluster, number=1, filters=holding("lock")),
            msgspec.structs.replace(cluster, number=2, filters=holding("queue")),
        ),
    )  # fmt: skip
    table = RoutingTable({"apart": label})
    assert table.judge(parse_query("lock")).ask == table.judge(parse_query("lock OR queue")).ask == ("apart",)
    assert table.judge(parse_query("lock queue")).skipped == {"apart": "no group of its pages holds all words"}
    assert table.judge(parse_query("lock NOT queue")).ask == ("apart",)


def told_slowly(label: ContentLabel, query: Query) -> str:
    """Why a child is not asked, worked out filter by filter; '' if it is."""

    def holds(one: TermFilter, attribute: str | None, word: str) -> bool:
        key = np.array([term_key(word, attribute or "text")], np.uint64)
        return bool(may_hold(one, key)[0]) or added(attribute, word)

    def added(attribute: str | None, word: str) -> bool:
        any_of = {attribute} if attribute not in (None, "text") else {row.attribute for row in label.added}
        return any(row.attribute in any_of and analyse([row.word]) == analyse([word]) for row in label.added)

    def may_match(part: Query, one: TermFilter) -> bool:
        if isinstance(part, And | Or):
            return (all if isinstance(part, And) else any)(may_match(each, one) for each in part.parts)
        if isinstance(part, Not):
            return True
        words = (part.word,) if isinstance(part, Word) else part.words
        return all(holds(one, part.attribute, word) for word in words)

    groups = [one for cluster in label.clusters for one in cluster.filters]
    if not label.clusters or not all(cluster.filters for cluster in label.clusters):
        groups = list(label.filters)
    found = not groups or any(may_match(query, one) for one in groups)
    if found and (not label.filters or any(may_match(query, one) for one in label.filters)):
        return ""
    missing = [
        form_key(*pair) for pair in query_words(query)
        if not added(*pair) and not any(holds(one, *pair) for one in groups)
    ]  # fmt: skip
    return f"no page holds {', '.join(missing[:5])}" if missing else "no group of its pages holds all words"


def test_the_table_judges_as_its_labels_do_one_by_one(leaf_labels: Labels, questions: list[str]) -> None:
    """With children of all kinds: some without sub-clusters, some without filters, some with words added, routers."""
    replace = msgspec.structs.replace
    added = (AddedTerm("keyword", "oxygen", "operator"), AddedTerm("title", "violins", "operator"))
    strange: Labels = {
        "added": replace(leaf_labels["mirror"], added=added),
        "blind": replace(leaf_labels["people"], filters=(), clusters=()),
        "half": replace(
            leaf_labels["trees"],
            clusters=(replace(leaf_labels["trees"].clusters[0], filters=()), *leaf_labels["trees"].clusters[1:]),
        ),
        "empty": replace(leaf_labels["trees"], filters=(TermFilter.of(np.zeros(0, np.uint64)),), clusters=()),
        "no whole": replace(leaf_labels["planets"], filters=()),
        "router": router_label("router", {name: leaf_labels[name] for name in ("birds", "elements")}).label,
    }
    names = list(leaf_labels)
    some = {**{name: leaf_labels[name] for name in names[:4]}, **strange, **{n: leaf_labels[n] for n in names[4:]}}
    table = RoutingTable(some)
    asked = skipped = 0
    for text in [
        *questions[:120],
        "oxygen violin",
        "title:violin NOT oxygen",
        "nowherefound OR keyword:oxygen",
        '"a b"',
    ]:
        verdict = table.judge(parse_query(text))
        expected = {name: told_slowly(label, parse_query(text)) for name, label in some.items()}
        assert verdict.skipped == {name: reason for name, reason in expected.items() if reason}, text
        assert verdict.ask == tuple(name for name in some if not expected[name]), text
        asked, skipped = asked + len(verdict.ask), skipped + len(verdict.skipped)
    assert min(asked, skipped) > 300


@given(st.dictionaries(st.sampled_from("abcdef"), labels(), min_size=1, max_size=2), st.sampled_from(
    ["lock", "a:b", 'title:"x y"', "1996 OR é", "lock NOT queue"]
))  # fmt: skip
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_any_label_that_passes_the_checks_can_be_judged(invented: Labels, text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError:
        return
    table = RoutingTable(invented)
    for routing in ("filters", "terms", "all"):
        for ask in (0, 1):
            verdict = table.judge(query, routing, ask)
            assert set(verdict.ask) | set(verdict.skipped) == set(invented)
    assert all(np.isfinite(list(table.cori(query).values())))
    stats = table.stats(query)
    assert all(0 <= df <= stats.pages for df in stats.df.values())
    assert set(stats.df) == {form_key(*pair) for pair in asked_forms(query)}


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_matching_is_what_a_reader_would_work_out(data: st.DataObject) -> None:
    """Against sets of words: a group is out only if the query fails for every page that the group could hold."""
    words = ["a1", "b2", "c3", "d4"]
    chance = random.Random(data.draw(st.integers(0, 10**6)))

    def text(depth: int) -> str:
        kind = chance.choice(["word", "word", "and", "or", "not", "phrase"]) if depth else "word"
        if kind == "and":
            return f"({text(depth - 1)} {text(depth - 1)})"
        if kind == "or":
            return f"({text(depth - 1)} OR {text(depth - 1)})"
        if kind == "not":
            return f"({chance.choice(words)} NOT {text(depth - 1)})"
        return f'"{chance.choice(words)} {chance.choice(words)}"' if kind == "phrase" else chance.choice(words)

    query = parse_query(text(3))
    groups = [frozenset(chance.sample(words, chance.randrange(5))) for _ in range(6)]
    found = matching(query, lambda _attribute, word: np.array([word in one for one in groups]), np.ones(6, np.bool_))
    for group, may in zip(groups, found.tolist(), strict=True):
        assert may or not _some_page_matches(query, group)


def _some_page_matches(query: object, group: frozenset[str]) -> bool:
    from itertools import chain, combinations

    from pagekin.text import And, Not, Or, Phrase, Word

    def holds(part: object, page: frozenset[str]) -> bool:
        if isinstance(part, And):
            return all(holds(one, page) for one in part.parts)
        if isinstance(part, Or):
            return any(holds(one, page) for one in part.parts)
        if isinstance(part, Not):
            return not holds(part.part, page)
        if isinstance(part, Phrase):
            return set(part.words) <= page
        assert isinstance(part, Word)
        return part.word in page

    pages = chain.from_iterable(combinations(sorted(group), size) for size in range(len(group) + 1))
    return any(holds(query, frozenset(page)) for page in pages)


def test_filters_that_no_leaf_would_take_are_refused_before_anyone_is_asked() -> None:
    check_filters(Filters())
    check_filters(Filters(site="cornell.edu", language="en-GB", since=1, until=2))
    check_filters(Filters(site="http://one.example:8080/x"))
    for wrong, message in ((Filters(language="e!"), "not a language code"), (Filters(site="a b"), "not a host")):
        with pytest.raises(QueryError, match=message):
            check_filters(wrong)
