"""Which words go into bags, and as what (sections 3.1 and 3.2): per-word tables made from the strategy."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from pagekin.bags import STOP_WORDS, Strategy, bag_forms, choose_strategy, make_vocabulary, word_hash
from pagekin.bags.words import DROPPED, link_hash
from pagekin.hypertext import fold_case

from . import oracle
from .webs import plainly, read_web

generated = settings(derandomize=True, database=None, deadline=None, max_examples=200)
KINDS = ("letters", "mixed", "all")
STEMMINGS = ("nostem", "stopstem", "stem")


def by(words: str = "mixed", stemming: str = "nostem") -> Strategy:
    return choose_strategy(settings=[f"words={words}", f"stemming={stemming}"])


def form(word: str, words: str = "mixed", stemming: str = "nostem") -> str:
    return bag_forms([word], by(words, stemming))[0]


@pytest.mark.parametrize(
    ("word", "letters", "mixed", "every"),
    [
        ("carbon", "carbon", "carbon", "carbon"),
        ("mp3", "mp", "mp3", "mp3"),
        ("ay95", "ay", "ay95", "ay95"),
        ("b2b", "bb", "b2b", "b2b"),
        ("1848", "", "", "1848"),
        ("½", "", "", "½"),
        ("2b", "", "2b", "2b"),  # a single letter is a stop word, and 2b is none
        ("the", "", "", ""),
        ("the1", "", "the1", "the1"),
        ("naïve", "naïve", "naïve", "naïve"),
        ("炭素", "炭素", "炭素", "炭素"),
    ],
)
def test_words_are_taken_by_their_letters_or_with_a_letter_or_all(
    word: str, letters: str, mixed: str, every: str
) -> None:
    assert [form(word, kind) for kind in KINDS] == [letters, mixed, every]


@pytest.mark.parametrize(
    ("word", "nostem", "stopstem", "stem"),
    [
        ("stones", "stones", "stones", "stone"),
        ("relational", "relational", "relational", "relat"),
        ("the", "", "", ""),
        ("homes", "homes", "", ""),  # "home" is stopped
        ("pleased", "pleased", "", ""),
        ("naïves", "naïves", "naïves", "naïves"),  # Porter's rules are for English
    ],
)
def test_a_stem_decides_what_is_stopped_and_perhaps_what_is_held(
    word: str, nostem: str, stopstem: str, stem: str
) -> None:
    assert [form(word, stemming=stemming) for stemming in STEMMINGS] == [nostem, stopstem, stem]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("motoring", "motor"),
        ("hopping", "hop"),
        ("conditional", "condit"),
        ("rational", "ration"),
        ("triplicate", "triplic"),
        ("feudalism", "feudal"),
        ("adjustable", "adjust"),
        ("controlling", "control"),
        ("oscillators", "oscil"),
    ],
)
def test_stems_are_those_of_porters_paper(word: str, stem: str) -> None:
    assert form(word, stemming="stem") == stem


def test_letters_are_left_before_a_word_is_stemmed_and_stopped() -> None:
    assert form("stones2", "letters", "stem") == "stone"
    assert form("stones2", "mixed", "stem") == "stones2"
    assert form("w3w", "letters", "stem") == "ww"
    assert form("4you", "letters", "stem") == ""


some_words = some.one_of(
    some.text(min_size=1, max_size=12).map(fold_case),
    some.from_regex(r"[a-z0-9]{1,12}", fullmatch=True),
    some.sampled_from(sorted(STOP_WORDS)),
    some.builds(str.__add__, some.sampled_from(sorted(STOP_WORDS)), some.sampled_from(["s", "ed", "ing", "3"])),
)


@generated
@given(some.lists(some_words, max_size=20))
@example(["mp3", "1848", "homes", "the"])
def test_forms_follow_the_definitions(words: list[str]) -> None:
    for kind in KINDS:
        nostem, stopstem, stem = (bag_forms(words, by(kind, stemming)) for stemming in STEMMINGS)
        for place, word in enumerate(words):
            assert nostem[place] in ("", word if kind != "letters" else "".join(filter(str.isalpha, word)))
            assert nostem[place] not in STOP_WORDS
            assert bool(stopstem[place]) == bool(stem[place]), "both drop by the stem"
            assert stopstem[place] in ("", nostem[place]), "stems stop more words, never fewer"
        if kind == "letters":
            assert "".join(nostem + stopstem) == "".join(filter(str.isalpha, "".join(nostem + stopstem)))
        for stemming, forms in zip(STEMMINGS, (nostem, stopstem, stem), strict=True):
            assert forms == [oracle.form(word, kind, stemming) for word in words]


def test_hashes_are_the_same_on_every_machine() -> None:
    assert word_hash("granit") == 289595614430974254
    assert word_hash("炭素") == 390543986239258622
    assert link_hash("http://a.example/") == link_hash(b"http://a.example/") == 6390741326254203152
    assert word_hash("http://a.example/") != link_hash("http://a.example/")


def test_the_vocabulary_numbers_forms_by_their_most_common_word() -> None:
    corpus = read_web({"http://a.example/": "the the the stones stones stone mica mica mica 1848"})
    table = make_vocabulary(corpus, by("mixed", "stem"))
    number = {corpus.word(term): int(stem) for term, stem in enumerate(table.stem_of)}
    assert number == {"the": DROPPED, "1848": DROPPED, "mica": 0, "stones": 1, "stone": 1}
    assert [corpus.word(int(term)) for term in table.shown] == ["mica", "stones"]
    assert table.hashes.tolist() == [word_hash("mica"), word_hash("stone")]
    assert table.hashes.dtype == np.uint64


def test_the_vocabulary_tells_how_far_it_is() -> None:
    corpus = read_web({"http://a.example/": "mica quartz"})
    told: list[float] = []
    make_vocabulary(corpus, plainly(), told.append)
    assert told == [1.0]
