"""The answers make sense: articles of the school encyclopaedia have the kin that a reader expects."""

import pytest

from pagekin.similarity import RelatedIndex

EXPECTED = {
    "j/Jupiter": "Saturn Neptune Uranus Solar_System",
    "j/Johann_Sebastian_Bach": "Johann_Pachelbel Joseph_Haydn Felix_Mendelssohn Wolfgang_Amadeus_Mozart",
    "m/Malaria": "Tuberculosis AIDS HIV Yellow_fever Sickle-cell_disease",
    "n/Nile": "Khartoum Lake_Victoria Zambezi Congo_River",
    "o/Oxygen": "Nitrogen Hydrogen Ozone",
    "l/Lion": "Barbary_Lion Cape_Lion Tiger Cheetah",
    "p/Plato": "Socrates Aristotle Philosophy",
    "c/Chess": "Draughts Backgammon Go_(board_game)",
    "v/Volcano": "1980_eruption_of_Mount_St._Helens Mount_St._Helens Mauna_Loa Decade_Volcanoes Magma",
    "d/Dinosaur": "Saurischia Sauropodomorpha Theropoda Ornithischia",
    "i/Isaac_Newton": "Philosophiae_Naturalis_Principia_Mathematica Gottfried_Leibniz Galileo_Galilei",
    "w/World_War_II": "World_War_I Battle_of_Normandy Battle_of_France",
}
"""Kin that stand well above the tenth place."""


def related(index: RelatedIndex, article: str, **options: bool) -> list[str]:
    """The names of the ten most related articles."""
    results = index.related(f"http://schools.example/wp/{article}.htm", **options)  # type: ignore[arg-type]
    return [result.url.rpartition("/")[2].removesuffix(".htm") for result in results]


@pytest.mark.parametrize("article", EXPECTED)
def test_the_expected_kin_are_among_the_ten_most_related(school: RelatedIndex, article: str) -> None:
    expected, found = set(EXPECTED[article].split()), related(school, article)
    assert len(found) == 10
    assert article[2:] not in found
    assert len(expected & set(found)) >= len(expected) - 1, found
    assert found[0] in expected


def test_unrelated_articles_have_unrelated_kin(school: RelatedIndex) -> None:
    kin = {article: set(related(school, article)) for article in ("j/Jupiter", "c/Chess", "m/Malaria", "p/Plato")}
    assert len(set().union(*kin.values())) == sum(map(len, kin.values()))


def test_two_articles_together_have_the_kin_of_both(school: RelatedIndex) -> None:
    base = "http://schools.example/wp/"
    found = {r.url for r in school.related([base + "l/Lion.htm", base + "t/Tiger.htm"])}
    assert {base + "c/Cheetah.htm", base + "b/Barbary_Lion.htm"} <= found


def test_jupiter_and_saturn_are_related_by_what_planets_have(school: RelatedIndex) -> None:
    results = school.related("http://schools.example/wp/j/Jupiter.htm", explain=True)
    (saturn,) = (result for result in results if result.url.endswith("/Saturn.htm"))
    assert {"planet", "moons"} & {term.term for term in saturn.terms} or "moon" in {term.term for term in saturn.terms}
    assert any(citation.cites_both for citation in saturn.citations)
