"""The stop words: their form, their number, and samples of what must and must not be among them."""

import re
from collections import Counter
from pathlib import Path

import pytest

from pagekin.bags import STOP_WORDS, words


def test_the_list_has_the_intended_size() -> None:
    assert 750 <= len(STOP_WORDS) <= 850


def test_every_word_is_one_that_the_corpus_can_hold() -> None:
    assert [word for word in sorted(STOP_WORDS) if not re.fullmatch("[a-z]+", word)] == []


def test_no_word_is_listed_twice() -> None:
    lines = Path(words.__file__).with_name("stopwords.txt").read_text(encoding="utf-8").splitlines()
    counts = Counter(" ".join(line for line in lines if not line.startswith("#")).split())
    assert [word for word, count in counts.items() if count > 1] == []
    assert counts.keys() == STOP_WORDS


def test_every_letter_is_a_stop_word() -> None:
    assert STOP_WORDS.issuperset("abcdefghijklmnopqrstuvwxyz")


@pytest.mark.parametrize(
    "text",
    [
        "The one that I have and you do not",
        "don't isn't wasn't won't we'll they've you're she's I'm he'd",
        "may might must should would could",
        "go goes going went gone, make made, take took, say said, see seen, know known",
        "about above under with without from into",
        "one two three ten twenty hundred first second",
        "Welcome to this home page; please click here. Copyright, all reserved, last updated: www http html mailto",
    ],
)
def test_filler_is_left_out_whole(text: str) -> None:
    assert set(re.findall("[a-z]+", text.lower())) - STOP_WORDS == set()


def test_words_with_a_topic_stay() -> None:
    topics = """
        state world water music china march august apple window windows java language science physics computer network
        search index information image news system theory case type right rights law health school student university
        game film book art history river city house car food money market war peace number group field order set class
        vision learning logic memory process program parallel graph tree sort bit string
    """.split()
    assert STOP_WORDS.intersection(topics) == set()
