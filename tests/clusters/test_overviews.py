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
