"""What people type is understood, or refused with what to write instead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.text import (
    ATTRIBUTES,
    And,
    Not,
    Or,
    Phrase,
    Query,
    QueryError,
    Word,
    parse_query,
    tokens,
)


def w(word: str, attribute: str | None = None) -> Word:
    return Word(attribute, word)


def p(words: str, attribute: str | None = None) -> Phrase:
    return Phrase(attribute, tuple(words.split()))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("lock", w("lock")),
        ("  Lock  ", w("lock")),
        ("title:Lock", w("lock", "title")),
        ("TITLE:lock", w("lock", "title")),
        ("title: lock", w("lock", "title")),
        ('alt:"Virtual Memory"', p("virtual memory", "alt")),
        ("“virtual memory”", p("virtual memory")),
        ('"lock"', w("lock")),
        ("e-mail", p("e mail")),
        ("title:e-mail", p("e mail", "title")),
        ("日本語", p("日本 本語")),
        ("a b", And((w("a"), w("b")))),
        ("a AND b", And((w("a"), w("b")))),
        ("a & b", And((w("a"), w("b")))),
        ("a or b", And((w("a"), w("or"), w("b")))),
        ("a OR b", Or((w("a"), w("b")))),
        ('a "OR" b', And((w("a"), w("or"), w("b")))),
        ("title:OR", w("or", "title")),
        ("a b OR c d", And((w("a"), Or((w("b"), w("c"))), w("d")))),
        ("(a b) OR c", Or((And((w("a"), w("b"))), w("c")))),
        ("a (b (c d))", And((w("a"), w("b"), w("c"), w("d")))),
        ("a OR (b OR c)", Or((w("a"), w("b"), w("c")))),
        ("((((((((((a))))))))))", w("a")),
        ("a NOT b", And((w("a"), Not(w("b"))))),
        ("a -b", And((w("a"), Not(w("b"))))),
        ('-title:"b c" a', And((Not(p("b c", "title")), w("a")))),
        ("a -(b OR c)", And((w("a"), Not(Or((w("b"), w("c"))))))),
        ("a NOT NOT b", And((w("a"), w("b")))),
        ("--help", w("help")),
        ("a - b", And((w("a"), w("b")))),
        ("well-known -x", And((p("well known"), Not(w("x"))))),
        ("C++", w("c")),
        ("12:30", p("12 30")),
        ("http://www.x.org/a", p("http www x org a")),
        ("std::vector", p("std vector")),
        ("Note: this", And((w("note"), w("this")))),
        ("f(x)", And((w("f"), w("x")))),
        ('"foo:bar"', p("foo bar")),
        (
            'title:operating text:lock "virtual memory" OR paging NOT windows',
            And(
                (
                    w("operating", "title"),
                    w("lock", "text"),
                    Or((p("virtual memory"), w("paging"))),
                    Not(w("windows")),
                )
            ),
        ),
    ],
)
def test_what_is_typed_is_understood(text: str, query: Query) -> None:
    assert parse_query(text) == query
    assert parse_query(str(query)) == query


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no word to look for"),
        (" \t\n", "no word to look for"),
        ("?! --", "no word to look for"),
        ('""', "no word to look for"),
        ("()", r"nothing between '\(' and '\)'"),
        ("a ()", r"nothing between '\(' and '\)'"),
        ("(a", r"'\(' without its '\)'"),
        ("a)", r"'\)' without its '\('"),
        (")(", "no word to look for|without its"),
        ('"a b', "no partner"),
        ('a" b', "no partner"),
        ("foo:bar", "no attribute 'foo:'.*title:, header:, keyword:, address:, alt:, text:.*quotes"),
        ('foo:"bar"', "no attribute 'foo:'"),
        ("titel:x", "no attribute 'titel:'"),
        ("title:", "title: is followed by nothing"),
        ("title:++", "title: is followed by '[+][+]', in which there is no word"),
        ('title:""', "in which there is no word"),
        ("title:(a b)", "title: stands before one word"),
        ("title:-x", "title: stands before one word"),
        ("title:text:x", "title: is followed by text:"),
        ("NOT a", "NOT only takes pages away.*memory NOT windows"),
        ("-a -b", "NOT only takes pages away"),
        ("a OR NOT b", "NOT only takes pages away"),
        ("-(a b)", "NOT only takes pages away"),
        ("a NOT", "NOT is followed by nothing"),
        ("a NOT OR b", "NOT is followed by nothing"),
        ("OR a", "OR stands between two"),
        ("a OR", "OR stands between two"),
        ("a OR OR b", "OR stands between two"),
        ("AND a", "AND stands between two"),
        ("a AND", "AND stands between two"),
        ("a AND OR b", "AND stands between two"),
        ("a" * 1_001, "1,001 characters, and 1,000 is the most"),
        ("a " * 33, "33 words, and 32 is the most"),
        ('"' + "a " * 33 + '"', "33 words"),
        ("(" * 400 + "a" + ")" * 400, "nested 8 deep"),
        ("a OR (b " * 9 + "c" + ")" * 9, "nested 8 deep"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(QueryError, match=f"(?s){reason}"):
        parse_query(text)


def test_the_limits_themselves_are_allowed() -> None:
    assert len(parse_query("a " * 32).parts) == 32  # type: ignore[union-attr]  # an And, as the count shows
    assert parse_query("b" * 1_000) == w("b" * 120)
    deep = "a OR (b " * 4 + "c" + ")" * 4
    assert parse_query(str(parse_query(deep))) == parse_query(deep)


@given(st.one_of(st.text(max_size=60), st.text('ab "():-+ORNT&titlex\u65e5\u201c\n', max_size=40)))
def test_anything_typed_is_understood_or_refused(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError as refused:
        assert str(refused)
        return
    assert parse_query(str(query)) == query


WORDS = st.one_of(
    st.sampled_from(["lock", "or", "not", "and", "title", "x1", "関数", "é", "strasse"]),
    st.text(min_size=1, max_size=8).map(tokens).filter(lambda t: len(t) == 1 and tokens(t[0]) == t).map(lambda t: t[0]),
)
NAMES = st.sampled_from([None, *ATTRIBUTES])
ATOMS: st.SearchStrategy[Query] = st.one_of(
    st.builds(Word, NAMES, WORDS),
    st.builds(Phrase, NAMES, st.lists(WORDS, min_size=2, max_size=4).map(tuple)),
)


def _several(inner: st.SearchStrategy[Query], other: type) -> st.SearchStrategy[tuple[Query, ...]]:
    """Parts that are not of the kind they are to be joined by: the parser dissolves those."""
    return st.lists(inner.filter(lambda part: not isinstance(part, other)), min_size=2, max_size=3).map(tuple)


QUERIES: st.SearchStrategy[Query] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(And, _several(inner, And)),
        st.builds(Or, _several(inner, Or)),
        st.builds(Not, inner.filter(lambda part: not isinstance(part, Not))),
    ),
    max_leaves=8,
)


@given(QUERIES)
def test_a_printed_query_is_the_same_query(query: Query) -> None:
    try:
        parse_query(str(query))
    except QueryError:
        query = And((w("held"), *(query.parts if isinstance(query, And) else (query,))))
    assert parse_query(str(query)) == query
