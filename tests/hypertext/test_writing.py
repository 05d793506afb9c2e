"""How people write words, told by the pages where they do."""

import pytest

from pagekin.hypertext import Corpus, WrittenWords, common_spellings, common_spellings_of_many
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


def test_many_are_written_as_each_by_itself(corpus: Corpus) -> None:
    words = ("dna", "england", "usa", "words", "éire", "ipod", "nowhere", "", "of")
    some = [words, words[:2], words[4:5], ()]
    asked = [WrittenWords(chosen, pages) for chosen in some for pages in ((0,), (1,), (2, 0, 2), (1, 0, 2, 2), ())]
    expected = [common_spellings(corpus, one.words, one.pages) for one in asked]
    assert common_spellings_of_many(corpus, asked) == expected


def test_many_forms_long_words_and_letters_beyond_ascii_are_told_apart() -> None:
    long, kelvin = "x" * 70, "\u212aelvin"  # whose first letter folds to a k
    forms = [format(number, "011b").translate({48: "a", 49: "A"}) for number in range(1_100)]
    text = f"one {long.title()} or {long.title()} {kelvin} not kelvin, a {kelvin} {' b '.join(forms)} or {forms[1_050]}"
    corpus = read_web({"http://site.example/": f"<p>{text}", "http://site.example/2": f"<p>a {'A' * 11} {'A' * 11}"})
    words = (long, "kelvin", "a" * 11)
    for pages in ((0,), (1,), (0, 1)):
        one = WrittenWords(words, pages)
        assert common_spellings_of_many(corpus, [one]) == [common_spellings(corpus, words, pages)]
