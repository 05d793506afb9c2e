"""Names of topics by the chapters in which their pages stand, and by what their parts are called."""

from dataclasses import replace

import numpy as np

from pagekin.clusters import Tree
from pagekin.clusters.chapters import Chapters
from pagekin.clusters.make import describe_trees
from pagekin.clusters.names import TreeNames, is_small, prefer_words
from pagekin.clusters.shown import phrases_of_corpus
from pagekin.hypertext import ShortTitles
from tests.bags.webs import read_web

from .test_naming import BIRDS, STONES, candidate, named, names_below, topic, web


def chapters_of(*titles: str) -> Chapters:
    """Return the chapters of a book with a page for each title."""
    corpus = read_web({f"http://a.example/{place:02}": f"<title>{title}</title>" for place, title in enumerate(titles)})
    return Chapters(corpus, ShortTitles(corpus), np.arange(len(corpus)))


def test_most_pages_of_a_topic_stand_in_a_chapter() -> None:
    titles = [
        "Chapter 8. Stones",
        "8.1. Granite",
        "8.2. Slate",
        "8.2.1. Roofs",
        "8.2.2. Floors",
        "9.1. Wren",
        "A. Owls",
    ]
    book = chapters_of(*titles)
    assert book.head([0, 1, 2, 5]) == 0
    assert book.head([2, 3, 4]) == 2, "the section is smaller than its chapter"
    assert book.head([1, 5, 6]) == -1, "too few"
    assert book.head([1, 2]) == -1, "nearly nothing"
    assert book.head([5, 6]) == -1, "nobody wrote chapter 9"
    assert [book.bare_title(page) for page in (0, 4, 6)] == ["Stones", "Floors", "Owls"]


def test_a_part_of_a_chapter_is_not_called_like_the_whole() -> None:
    book = chapters_of("1. Stones", *(f"1.{number}. Kind" for number in range(1, 9)))
    assert book.head([0, 1, 2]) == -1
    assert book.head([0, 1, 2, 3, 4]) == 0


def test_numbers_that_begin_anew_in_each_chapter_tell_nothing() -> None:
    assert (
        chapters_of("1. Stones", "1.1. Granite", "1.2. Slate", "1. Birds", "1.1. Wren", "1.2. Owl").head([0, 1, 2])
        == -1
    )


def test_a_number_without_a_dot_counts_if_others_go_on_counting() -> None:
    book = chapters_of("7 Wonders", "A Cow", "Birds")
    assert [book.bare_title(page) for page in range(3)] == ["7 Wonders", "A Cow", "Birds"]
    book = chapters_of("7 Wonders", "8 Stones", "9 Birds")
    assert [book.bare_title(page) for page in range(3)] == ["Wonders", "Stones", "Birds"]


def test_a_topic_is_named_by_its_chapter() -> None:
    pages = {
        f"http://a.example/{kind}": f"<title>3.{number}. {kind.title()}</title><p>"
        + " ".join(f"{kind}{letter}" for letter in "abcdefgh")
        for number, kind in enumerate(STONES)
    }
    pages["http://a.example/zz"] = "<title>Chapter 3. Under the quarry</title><p>hill dale well"
    birds = topic("b.example", BIRDS, "Song birds", "has wings and a nest and lays eggs", "Grey Notebook")
    assert names_below(named(read_web(pages | birds), [0] * 7 + [1] * 6))[0] == "Under the quarry"


def test_pages_that_lead_on_to_one_page_are_called_like_it() -> None:
    stub = "<title>{0}</title><meta http-equiv=refresh content='0; url=http://b.example/all#{0}'><p>{0} is elsewhere, {0}x."
    pages = web() | {"http://b.example/all": f"<title>Old birds</title><p>{' '.join(BIRDS)}"}
    pages |= {f"http://c.example/{kind}": stub.format(kind) for kind in BIRDS}
    assert names_below(named(read_web(pages), [0] * 6 + [1] * 7 + [2] * 6))[2] == "Old birds"


def test_who_is_thanked_on_all_pages_names_nothing() -> None:
    thanks = "<p>Drawn by <a href='http://elsewhere.example/{}'>Ada Draws</a>."
    pages = {
        url: html + thanks.format("" if place % 3 else "ada") * (place % 6 < 3)
        for place, (url, html) in enumerate(web().items())
    }
    shown = phrases_of_corpus(read_web(pages))
    assert "Ada Draws" not in shown.forms(range(shown.phrases.count)).values()
    pages |= {"http://elsewhere.example/": "<title>Ada</title>"}
    shown = phrases_of_corpus(read_web(pages))
    assert "Ada Draws" in shown.forms(range(shown.phrases.count)).values(), "she is one of the collection"


def test_a_group_that_is_mostly_one_topic_is_called_by_its_parts() -> None:
    more = [f"{kind}{letter}" for kind in STONES for letter in "xyzuv"]
    pages = topic("a.example", more, "Building stones", "is hard and lies in a quarry by a nest", "Grey Notebook")
    pages |= topic("b.example", BIRDS, "Song birds", "has wings and lies in a nest", "Grey Notebook")
    corpus = read_web(
        {url: html.replace("<h2>", "<h2>Old nests</h2><h2>") for url, html in pages.items()}
        | topic("c.example", list("ABCDEF"), "Capital letters", "is a sign", "Grey Notebook")
    )
    labels = np.array([0] * 30 + [1] * 6 + [2] * 6)
    facts: dict[str, list[int]] = {}
    tree = Tree.of_levels("clusters", [labels // 2, labels], facts)
    facts["shown"] = [node for node in range(len(tree)) if not tree.children[node]]
    (made,) = describe_trees(corpus, [replace(tree, facts=facts)], 1)
    group = next(node for node in made.children[0] if made.children[node])
    assert made.descriptions[group].name == "Building stones, Song birds"
    assert names_below(made, group) == ["Building stones", "Song birds"]


def test_words_are_preferred_to_words_that_are_always_small() -> None:
    assert is_small("postqueue") and is_small("git-add")
    assert not any(map(is_small, ("Queue", "mail queue", "ei_x_encode")))
    command, queue = candidate("tlsmgr", 0.4, list(range(7))), candidate("TLS", 0.03, list(range(9)))
    assert prefer_words([command, queue], 11) == [queue]
    assert prefer_words([command, queue], 30) == [command, queue], "few of the topic's pages show it"
    verb = candidate("Browse", 0.3, list(range(9)))
    assert prefer_words([command, verb], 11) == [command, verb], "a single word may be none that names"


def test_a_title_says_more_than_a_small_word() -> None:
    better = TreeNames._better
    assert better("TTY Tapset", "tty", True, True) == "TTY Tapset"
    assert better("Installation From Source", "INSTALL", True, True) == "Installation From Source"
    assert better("Complete list of terminals", "Terminals", True, True) == ""
    assert better("xml-tree.h File Reference", "xml-tree", True, True) == ""
    assert better("System Catalogs", "Catalogs", True, False) == "System Catalogs", "the phrase is weak"
