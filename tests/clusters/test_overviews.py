"""Names that authors gave a topic: the title of its overview page, what its titles begin with."""

from dataclasses import replace

import numpy as np
import pytest

from pagekin.clusters.levels import PageLinks
from pagekin.clusters.overviews import Overviews
from pagekin.clusters.shown import phrases_of_corpus
from tests.bags.webs import read_web

from .test_naming import BIRDS, STONES, named, names_below, topic


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Chapter 53. System Catalogs", "System Catalogs"),
        ("36.14. Embedded SQL Commands", "Embedded SQL Commands"),
        ("Appendix F. Additional Supplied Modules", "Additional Supplied Modules"),
        ("asyncio — Asynchronous I/O", "asyncio"),
        ("SNMP Reference Manual", "SNMP"),
        ("Tools User's Guide", "Tools"),
        ("The Information Schema", "Information Schema"),
        ("Partie I. Premiers pas", "Premiers pas"),
        ("Глава 3. Фильтры", "Фильтры"),
        ("第3章 印刷", "印刷"),
        ("の使い方", "使い方"),
        ("はじめに", "はじめに"),
        ("8.34. Le sous-menu « Carte »", "Carte"),
        ("The “Tone Mapping” Submenu", "Tone Mapping"),
        ("Overview of the Loop Facility", "Loop Facility"),
        ("Introduction", ""),
        ("3. ", ""),
        ("How to do one thing after another thing with a third thing", ""),
    ],
)
def test_what_a_title_is_about_is_left_of_it(title: str, name: str) -> None:
    assert Overviews.clean(title) == name


def title_by_links(links: list[tuple[int, int]]) -> str:
    """What a topic of twelve stones, pages 00 to 11, and of page 12 is called by the page that is linked with most of it."""
    words = {kind + end: " ".join(f"{kind}{end}{letter}" for letter in "abcdef") for kind in STONES for end in "xy"}
    pages = {
        f"http://a.example/{number:02}": f"<title>{number}. {kind}</title>{words[kind]}"
        for number, kind in enumerate(words)
    }
    pages["http://a.example/12"] = f"<title>Chapter 7. Stones of the quarry</title>{' '.join(words.values())}"
    corpus = read_web(pages)
    tree = named(corpus, [0] * 13)
    central = [replace(one, central=(12, 0, 1, 2, 3)) for one in tree.descriptions]
    overviews = Overviews(
        replace(tree, descriptions=central), phrases_of_corpus(corpus), PageLinks.of(np.array(links), len(corpus))
    )
    return overviews.title(0)


def test_a_topic_is_called_what_the_page_is_called_that_is_linked_with_most_of_it() -> None:
    assert title_by_links([(12, stone) for stone in range(12)]) == "Stones of the quarry"
    assert title_by_links([(stone, 12) for stone in range(12)]) == "Stones of the quarry", "its own links are not known"
    assert title_by_links([(12, 0), *((stone, 12) for stone in range(12))]) == "", "it is famous, and lists one"
    assert title_by_links([(12, stone) for stone in range(2)]) == "", "it lists too few"


def test_pages_that_all_link_to_each_other_have_no_overview() -> None:
    assert title_by_links([(one, other) for one in range(13) for other in range(13) if one != other]) == ""


def test_titles_that_begin_alike_name_the_topic() -> None:
    news = {
        f"http://a.example/{kind}": f"<title>What's new in Quarry 3.{number}</title><p>"
        + " ".join(f"{kind}{one}" for one in "abcdefgh")
        for number, kind in enumerate(STONES)
    }
    birds = topic("b.example", BIRDS, "Song birds", "has wings and a nest and lays eggs", "Grey Notebook")
    assert names_below(named(read_web(news | birds), [0] * 6 + [1] * 6))[0] == "What's new in Quarry"


def test_names_in_code_that_begin_alike_name_the_topic_by_that() -> None:
    classes = {
        f"http://a.example/{kind}": f"<title>qx{kind.title()}</title><p>{' '.join(f'{kind}{letter}' for letter in 'abcdefgh')}"
        for kind in STONES
    }
    birds = topic("b.example", BIRDS, "Song birds", "has wings and a nest and lays eggs", "Grey Notebook")
    assert names_below(named(read_web(classes | birds), [0] * 6 + [1] * 6))[0] == "qx"


def test_stubs_that_lead_to_one_page_are_called_what_it_is_called() -> None:
    stub = "<title>XREF{0}</title><meta http-equiv=refresh content='0; url=/real'><p>The node {0} is elsewhere {0}x."
    pages = {f"http://a.example/{kind}{end}": stub.format(kind + end) for kind in STONES for end in "pqrs"}
    pages["http://a.example/real"] = (
        f"<title>Properties of axes</title><p>{' '.join(STONES)} and axes, properties of axes."
    )
    birds = topic("b.example", BIRDS, "Song birds", "has wings and a nest and lays eggs", "Grey Notebook")
    assert "Properties of axes" in names_below(named(read_web(pages | birds), [0] * 25 + [1] * 6))


def test_names_in_code_in_one_module_name_the_topic_by_it() -> None:
    def web_of(modules: dict[str, list[str]]) -> dict[str, str]:
        return {
            f"http://a.example/{module}.{kind}": f"<title>{module}.{kind}</title>"
            + " ".join(f"{kind}{letter} {module.replace('.', '')}{letter}" for letter in "abcdefgh")
            for module, kinds in modules.items()
            for kind in kinds
        }

    corpus = read_web(web_of({"quarry.hard.stones": STONES, "quarry.songs": BIRDS}))
    tree = named(corpus, [0] * 6 + [1] * 6)
    assert sorted(names_below(tree)) == ["quarry.hard.stones", "quarry.songs"]
    # Where half of a topic's pages are of another module, or another topic has as many of this one, it says too little.
    mixed = named(corpus, [0, 1] * 6)
    assert not any("." in name for name in names_below(mixed))


def contents_by_links(links: list[tuple[int, int]], title: str = "8. Kinds of stone", least: float = 0.7) -> str:
    """What a topic of eight pages, 0 to 7, is called by the page whose links are its pages; page 8 is outside."""
    words = {f"{kind}x": " ".join(f"{kind}{letter}" for letter in "abcdef") for kind in [*STONES, "flint", "slag"]}
    pages = {f"http://a.example/{n}": f"<title>{kind}</title>{words[kind]}" for n, kind in enumerate(words)}
    pages["http://a.example/8"] = f"<title>{title}</title>{' '.join(words.values())}"
    pages["http://a.example/9"] = "<title>Owls</title>owl wren hawk heron swift robin"
    corpus = read_web(pages)
    tree = named(corpus, [0] * 8 + [1] * 2)
    overviews = Overviews(tree, phrases_of_corpus(corpus), PageLinks.of(np.array(links), len(corpus)))
    node = next(node for node in tree.children[0] if len(tree.pages_of(node)) == 8)
    return overviews.contents(node, least)


def test_a_topic_is_called_what_its_contents_page_is_called_though_that_stands_outside() -> None:
    listed = [(8, stone) for stone in range(8)]
    assert contents_by_links(listed) == "Kinds of stone"
    assert contents_by_links(listed, "What stones are there?") == "", "nobody searches for a question"
    assert contents_by_links(listed[:3]) == "", "it lists too few"
    assert contents_by_links([*listed[:5]]) == "" and contents_by_links(
        [*listed[:5], *((stone, 8) for stone in range(5))]
    ), "they link up to it"
    assert contents_by_links([*listed[:5], *((stone, 8) for stone in range(5))], least=0.85) == "", "a group needs more"
    assert contents_by_links([*listed, *((9, stone) for stone in range(8))]) == "", "two list the same: it is a menu"


def test_pages_of_a_few_words_are_alike_but_their_titles_name_them() -> None:
    pages = {
        f"http://a.example/{n}": f"<title>KRB_LRQ_{kind.upper()}</title><p>A constant." for n, kind in enumerate(STONES)
    }
    corpus = read_web(pages | {f"http://b.example/{kind}": f"<title>{kind}</title>{kind}x {kind}y" for kind in BIRDS})
    tree = named(corpus, [0] * 6 + [1] * 6)
    overviews = Overviews(tree, phrases_of_corpus(corpus), PageLinks.of(np.zeros((0, 2), np.int64), len(corpus)))
    assert "KRB_LRQ" in [overviews.prefix(node) for node in tree.children[0]]
