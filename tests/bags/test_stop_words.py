"""Words that tell people nothing, by language: neither reasons nor names consist of them."""

from pathlib import Path

import pytest

from pagekin.bags import STOP_WORDS, is_telling, stop_words
from pagekin.collection import Collection
from pagekin.collection.messages import RelatedOptions, RelatedRequest
from pagekin.hypertext import fold_case
from tests.bags.webs import record
from tests.routers.webs import build_leaf

LANGUAGES = "ar cs de el es fa fr id it ko nl pl pt ru tr uk vi".split()
GERMAN = (
    "Der Leuchtturm steht an der Küste, und der Wärter zündet in der Nacht das Licht für die Schiffe an. Nummer {n}."
)
JAPANESE = "灯台は海岸にある建物であり、夜に船のために光を灯すものである。番号{n}である。lighthouse"
ARABIC = "المنارة من المباني التي تقع على الساحل، وهي من علامات الملاحة في الليل. رقم {n}."


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_a_list_of_folded_words(language: str) -> None:
    words = stop_words(language)
    assert len(words) > 40
    assert all(fold_case(word) == word and " " not in word for word in words)


def test_a_word_tells_something_in_one_language_and_nothing_in_another() -> None:
    assert not is_telling("die", "de")
    assert is_telling("die", "en")
    assert not is_telling("war", "de")
    assert is_telling("war", "en")
    assert not is_telling("من", "ar")
    assert stop_words("en") == STOP_WORDS
    assert stop_words("xx") == frozenset()


def test_pairs_of_characters_tell_nothing() -> None:
    assert not is_telling("ある", "ja")
    assert not is_telling("灯台", "")
    assert is_telling("lighthouse", "ja")
    assert is_telling("http://a.test/灯台", "ja")


@pytest.fixture(scope="module")
def harbours(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """Pages about the same in three languages, those of each linked among themselves."""
    pages: list[bytes] = []
    for language, text in (("de", GERMAN), ("ja", JAPANESE), ("ar", ARABIC)):
        for n in range(6):
            links = " ".join(f"<a href=http://{language}.test/{other}>{other}</a>" for other in range(6))
            html = f"<html lang={language}><meta charset=utf-8><title>{n}</title><p>{text.format(n=n) * 3}<p>{links}"
            pages.append(record(f"http://{language}.test/{n}", html))
    path: Path = build_leaf(tmp_path_factory.mktemp("languages") / "harbours.kin", pages, clusters=3)
    return Collection("harbours", path)


@pytest.mark.parametrize("language", ["de", "ja", "ar"])
def test_reasons_are_words_that_tell_something(harbours: Collection, language: str) -> None:
    options = RelatedOptions(k=3, explain=True, fold=False)
    answer = harbours.related(RelatedRequest(url=f"http://{language}.test/0", options=options))
    assert answer.results
    shown = {term.term for hit in answer.results for term in hit.terms}
    assert shown or language == "ja"  # where all heavy terms are pairs of characters
    assert all(is_telling(term, language) for term in shown)


def test_names_and_terms_of_topics_are_words_that_tell_something(harbours: Collection) -> None:
    tree = harbours.trees["clusters"]
    for node, described in enumerate(tree.descriptions):
        languages = {harbours.corpus.language(int(page)) for page in tree.pages_of(node)}
        if len(languages) == 1:
            (language,) = languages
            assert all(is_telling(fold_case(term), language) for term in described.terms)
    terms = {fold_case(term) for described in tree.descriptions for term in described.terms}
    assert "leuchtturm" in terms
    assert not any(char in term for term in terms for char in "あるで灯")
