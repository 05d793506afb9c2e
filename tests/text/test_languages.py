"""Search in other languages than English: words of one stem are found by each other, on the pages of their language."""

import numpy as np
import pytest

from pagekin.text import TextIndex, check_text, form_table, make_snippet, parse_query
from tests.bags.webs import read_web
from tests.text.collections import searchable

PAGES = {
    "de": [
        "Das alte Haus steht am Rand des Dorfes und hat einen großen Garten.",
        "Viele Häuser in dieser Straße wurden vor hundert Jahren gebaut.",
        "Die Katze schläft den ganzen Tag auf dem warmen Ofen.",
    ],
    "fr": [
        "Les chevaux sauvages galopent dans la plaine au lever du soleil.",
        "La boulangère vend des gâteaux délicieux tous les dimanches.",
        "Une nation est libre quand ses citoyens sont libres ; toute liberté est nationale.",
    ],
    "es": [
        "Los niños jugaban en la playa mientras las gaviotas gritaban.",
        "El niño perdió su pelota cerca del río.",
        "La cocina de la abuela olía a canela y a naranjas.",
    ],
    "ru": [
        "Старые книги хранятся в библиотеке нашего города.",
        "Эта книга рассказывает о жизни северных народов.",
        "Зимой река замерзает и дети катаются на коньках.",
    ],
    "it": ["Le montagne sono coperte di neve.", "La montagna più alta della regione domina la valle."],
    "nl": ["De boeken liggen op tafel.", "Mijn boek is gisteren gestolen."],
    "pl": ["Stare zamki stoją nad rzeką.", "Ten zamek zbudował król."],
    "sv": ["Bilarna kör långsamt genom staden.", "Min bil är röd."],
    "pt": ["Os pescadores saíram ao mar.", "O pescador consertou a rede."],
    "tr": ["Evler denize bakıyor.", "Bu ev çok eski."],
    "en": ["The old house stands near the river.", "A horse runs over the plain."],
}


def web() -> dict[str, str]:
    return {
        f"http://{language}.example/{number}": f'<html lang="{language}"><title>{number}</title><p>{text}'
        for language, texts in PAGES.items()
        for number, text in enumerate(texts)
    }


@pytest.fixture(scope="module", params=["plain", "compiled"])
def index(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> TextIndex:
    made = searchable(tmp_path_factory.mktemp("languages") / "web.kin", web())
    return TextIndex.open(made.corpus, compiled=request.param == "compiled")


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("Haus", {"de/0", "de/1"}),
        ("Häuser", {"de/0", "de/1"}),
        ("Garten", {"de/0"}),
        ("gâteaux", {"fr/1"}),
        ("niños", {"es/0", "es/1"}),
        ("niño", {"es/0", "es/1"}),
        ("книга", {"ru/0", "ru/1"}),
        ("книги", {"ru/0", "ru/1"}),
        ("montagna", {"it/0", "it/1"}),
        ("boek", {"nl/0", "nl/1"}),
        ("bil", {"sv/0", "sv/1"}),
        ("pescador", {"pt/0", "pt/1"}),
        ("house", {"en/0"}),
        ('"alte Häuser"', {"de/0"}),
    ],
)
def test_words_of_one_stem_are_found_by_each_other(index: TextIndex, query: str, right: set[str]) -> None:
    found = index.search(parse_query(query), 10)
    urls = {index.corpus.page_url(page).removeprefix("http://").replace(".example", "") for page in found.pages}
    assert urls == right
    assert found.total == len(right)


def test_what_was_found_by_another_form_is_highlighted(index: TextIndex) -> None:
    query = parse_query("Haus")
    snippets = [
        make_snippet(index.corpus, page, query, compiled=index.compiled) for page in index.search(query, 10).pages
    ]
    assert {text for pieces in snippets for text, matches in pieces if matches} == {"Haus", "Häuser"}


def test_a_whole_index_is_found_to_be_whole(index: TextIndex) -> None:
    assert not list(check_text(index.corpus.kin))


def test_forms_that_stand_for_the_same_word_have_the_least_of_them() -> None:
    forms = form_table(read_web(web()))
    assert forms.same is not None
    assert np.all(forms.same <= np.arange(len(forms)))
    assert np.array_equal(forms.same[forms.same], forms.same)
    assert np.array_equal(forms.same[forms.of_term], forms.of_term)
    groups: dict[int, set[str]] = {}
    for name, number in zip(forms.names(), forms.same.tolist(), strict=True):
        groups.setdefault(number, set()).add(name)
    joined = {frozenset(group) for group in groups.values() if len(group) > 1}
    assert frozenset({"hau", "häuser"}) in joined
    assert frozenset({"книга", "книги"}) in joined


def test_a_collection_in_english_has_forms_that_stand_for_themselves() -> None:
    forms = form_table(read_web({url: html for url, html in web().items() if "/en." in url}))
    assert forms.same is None


def test_a_word_that_mostly_stands_on_english_pages_keeps_its_form() -> None:
    pages = {f"http://en.example/{n}": f'<html lang="en"><p>The stars shine {n}. Star light.' for n in range(5)}
    pages["http://de.example/0"] = '<html lang="de"><p>Die Stars und der Star und Sterne leuchten.'
    forms = form_table(read_web(pages))
    by_name = dict(zip(forms.names(), range(len(forms)), strict=True))
    assert forms.same is None or int(forms.same[by_name["star"]]) == by_name["star"]
