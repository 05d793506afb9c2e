"""The language of a text: told by its little words, or by the detector, or not at all."""

import pytest

from pagekin.hypertext.language import detected_language

TEXTS = {
    "en": "Routines for scanning foreign tables of the server. Routines for scanning foreign joins of the server. Planning of "
    "the scan. Callback routines of the wrapper and of the planner.",
    "nl": "In de zomer is het in Nederland vaak mooi weer, en is de zee warm genoeg om in te zwemmen, zodat veel mensen naar het "
    "strand gaan en daar de hele dag blijven.",
    "fr": "Le chat dort sur le canapé de la maison pendant que les enfants jouent dans le jardin avec le chien de la voisine, et "
    "personne ne les dérange de toute la journée.",
    "de": "Es ist ein schöner Tag in der Stadt, und viele Menschen sind im Park, denn die Sonne scheint, und der Wind ist warm "
    "genug für einen langen Abend am Fluss.",
}


@pytest.mark.parametrize("code", list(TEXTS))
def test_texts_are_in_their_language(code: str) -> None:
    assert detected_language(TEXTS[code]) == code


def test_english_needs_more_than_the_little_words_that_others_have() -> None:
    """Names and numbers beside "a" and "in" are of no language."""
    assert (
        detected_language(
            "in a 12 in b 14 in a 13 xqz in plk a vbn in mnh 77 in a qwx zzk in a plm 31 a in vbx a in " * 3
        )
        == ""
    )


def test_short_texts_are_not_judged() -> None:
    assert detected_language("The end of the story") == ""
