"""How people write words, told by the pages where they do."""

import pytest

from pagekin.hypertext import Corpus, common_spellings
from tests.bags.webs import read_web

PAGES = [
    "<p>Words are many. Words of DNA, of England and of the USA. All words of DNA stay.",
    "<p>England and the usa. See USA. Éire and Éire is not <b>iPod</b>, nor the ipod, an iPod",
    "<p>dna dna dna dna. ENGLAND",
]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web({f"http://site.example/{number}": text for number, text in enumerate(PAGES)})


@pytest.mark.parametrize(
    ("pages", "forms"),
    [
        ([0], ["DNA", "England", "USA", "words", "éire", "ipod"]),
        ([1], ["dna", "England", "usa", "words", "Éire", "iPod"]),
        ([0, 1, 2], ["dna", "England", "USA", "words", "Éire", "iPod"]),
        ([], ["dna", "england", "usa", "words", "éire", "ipod"]),
    ],
)
def test_a_word_has_its_most_frequent_form(corpus: Corpus, pages: list[int], forms: list[str]) -> None:
    assert common_spellings(corpus, ["dna", "england", "usa", "words", "éire", "ipod"], pages) == forms


def test_where_a_sentence_begins_a_capital_tells_little(corpus: Corpus) -> None:
    # "Words" begins two sentences, "words" stands inside one.
    assert common_spellings(corpus, ["words", "all"], [0]) == ["words", "All"]


def test_a_word_of_no_page_stays_as_it_is(corpus: Corpus) -> None:
    assert common_spellings(corpus, ["nowhere", "", "http://site.example/"], [0, 1]) == [
        "nowhere",
        "",
        "http://site.example/",
    ]
