"""A query's words are divided and folded as a page's words are, and searched by their stems."""

import html
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.hypertext import read_strictly
from pagekin.sources import Limits
from pagekin.text import TextIndex, analyse, form_table, tokens

from .oracle import stem

LIVELY = (
    "aB\u00e9e\u0301\u0130\u00df\ufb01 1-_'.\u00ad\u200d\u3042\u65e5\u672c\u8a9e\u0e01\u0e34\u03a3\u0345\U00020000,"
)


@given(st.one_of(st.text(LIVELY), st.text(st.characters(exclude_categories=["Cc", "Cs"]))))
def test_a_text_has_the_same_words_as_on_a_page(text: str) -> None:
    assert tokens(text) == read_strictly(f"<p>{html.escape(text)}", Limits()).words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("E-mail, don't!", "e mail don t"),
        ("hyper\u00adtext STRASSE Straße", "hypertext strasse strasse"),
        ("Python入門書", "python 入門 門書"),
        ("12:30 C++ md5", "12 30 c md5"),
        ("", ""),
        ("... -- \u0301", ""),
    ],
)
def test_words_of_texts(text: str, words: str) -> None:
    assert tokens(text) == words.split()


def test_a_long_word_is_cut_as_on_a_page() -> None:
    for word in ("a" * 5_000, "é" * 5_000):
        assert tokens(word) == read_strictly(f"<p>{word}", Limits()).words
        assert len(tokens(word)[0].encode()) <= Limits().word_bytes


def test_forms_are_porter_stems_of_ascii_words() -> None:
    assert analyse(["running", "systems", "the", "2020", "md5s", "naïveties", "straßen", "関数"]) == [
        "run", "system", "the", "2020", "md5", "naïveties", "straßen", "関数",
    ]  # fmt: skip
    assert analyse([]) == []


@given(st.lists(st.text(min_size=1).map(tokens).filter(bool).map(lambda words: words[0])))
def test_forms_are_those_of_bags(words: list[str]) -> None:
    assert analyse(words) == [stem(word) for word in words]


def test_every_term_of_a_collection_has_its_form(demo: TextIndex) -> None:
    corpus = demo.corpus
    shares: list[float] = []
    table = form_table(corpus, shares.append)
    number = {name: form for form, name in enumerate(table.names())}
    own = [number[stem(corpus.word(term))] for term in range(len(corpus.terms))]
    assert table.same is not None  # some pages of the demo web are in other languages
    assert table.of_term.tolist() == table.same[own].tolist()
    assert np.mean(table.same[own] == own) > 0.99
    assert list(table.names()) == sorted(set(table.names()), key=str.encode)
    assert shares[-1] == 1.0


def test_threads_do_not_disturb_each_other() -> None:
    words = [f"{stem}{end}" for stem in ("relat", "oper", "hous", "comput") for end in ("ing", "ed", "es", "ation")]
    expected = analyse(words)
    wrong: list[list[str]] = []

    def work() -> None:
        wrong.extend(found for found in (analyse(words) for _ in range(500)) if found != expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
