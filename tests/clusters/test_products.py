"""What sites call themselves: what titles repeat, what hosts are called, and which pages are a product's own."""

import pytest

from pagekin.clusters.products import NOBODY, clean_name, find_products, repeated_name
from tests.bags.webs import read_web

KINDS = "granite slate basalt marble gneiss quartz owl wren hawk heron swift robin".split()


@pytest.mark.parametrize(
    ("titles", "name"),
    [
        (["{} — CMake 3.25.1 Documentation", "{}(7) — CMake 3.25.1 Documentation"], "CMake"),
        (["{} in core::arch::x86 - Rust", "core::{} - Rust"], "Rust"),
        (["{} (Java SE 17 & JDK 17)", "Uses of Class java.awt.{} (Java SE 17 & JDK 17)"], "Java SE & JDK"),
        (["Point Cloud Library (PCL): pcl::{} Class Reference"], "Point Cloud Library"),
        (["{} | Qt Core 5.15.8", "{} | Qt Widgets 5.15.8", "{} | Qt Network 5.15.8"], "Qt"),
        (["{} - Scala Standard Library 2.11.12 - scala.{}"], "Scala Standard Library"),
        (["{}"], ""),
        (["{} - {} notes"], ""),
    ],
)
def test_a_name_is_what_titles_repeat_without_versions_and_kinds_of_text(titles: list[str], name: str) -> None:
    made = [title.replace("{}", kind) for kind in KINDS for title in titles]
    assert repeated_name(made)[0] == name


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("Gecode Reference Documentation", "Gecode"),
        ("The deal.II Library", "deal.II Library"),
        ("Welcome to the C++ Reference", "C++"),
        ("API Reference Manual 2.0", ""),
        ("one two three four five six", ""),
    ],
)
def test_words_that_say_what_kind_of_text_it_is_are_no_part_of_a_name(part: str, name: str) -> None:
    assert clean_name(part) == name


def site(host: str, folder: str, title: str, text: str) -> dict[str, str]:
    return {
        f"http://{host}/{folder}{kind}{number}": f"<title>{title.format(kind)}</title><p>{text} {kind}"
        for number, kind in enumerate(KINDS * 2)
    }


def products_of(pages: dict[str, str]) -> dict[str, set[str]]:
    """Return the names of products by the host and first folder of their pages."""
    corpus = read_web(pages)
    found = find_products(corpus, range(len(corpus)))
    made: dict[str, set[str]] = {}
    for page, number in enumerate(found.of_page.tolist()):
        place = "/".join(corpus.page_url(page).split("/")[2:4]).rstrip("0123456789")
        made.setdefault(place.rstrip("/"), set()).add("" if number == NOBODY else found.names[number])
    return made


def test_folders_of_one_host_are_products_of_their_own() -> None:
    pages = site("a.example", "doc/red/", "{} - Redstone 1.0", "stones")
    pages |= site("a.example", "doc/blue/", "Bluebird: {}", "birds")
    found = products_of(pages)
    assert found["a.example/doc"] == {"Redstone", "Bluebird"}


def test_mirrors_are_one_product() -> None:
    pages = site("a.example", "x/", "{} - Redstone 1.0", "stones") | site(
        "b.example", "x/", "{} - redstone 1.1", "stones"
    )
    assert products_of(pages) == {"a.example/x": {"Redstone"}, "b.example/x": {"Redstone"}}


def test_a_host_is_called_by_its_name_where_its_pages_mention_it_with_a_capital() -> None:
    pages = site("libboost.example", "x/", "Class {}", "boost boost boost, the Boost libraries")
    pages |= site("utexas.example", "x/", "Page of {}", "mail to me at utexas")
    pages |= site("plain.example", "x/", "On {}", "nothing")
    found = products_of(pages)
    assert found == {"libboost.example/x": {"Boost"}, "utexas.example/x": {""}, "plain.example/x": {""}}


def test_a_home_page_names_its_host_if_the_other_pages_mention_it() -> None:
    pages = site("a.example", "x/", "Class {}", "made for Gecode")
    pages["http://a.example/index.html"] = "<title>Gecode Reference Documentation</title><p>Gecode"
    assert products_of(pages)["a.example/x"] == {"Gecode"}


def rooms(host: str, kinds: str, text: str, title: str = "{} - The Quiet Room") -> dict[str, str]:
    body = "<title>{}</title><p>{}<p>The Quiet Room, {} since 1990, mail@{}"
    return {
        f"http://{host}/{kind}{number}": body.format(
            title.format(kind), text.format(kind) if number % 2 else kind, kinds, host
        )
        for number, kind in enumerate(KINDS * 2)
    }


def test_pages_are_called_what_they_are_about_if_only_the_template_says_the_sites_name() -> None:
    about = rooms("www.spoons.example", "spoons", "The {} is a spoon")
    assert products_of(about) == {f"www.spoons.example/{kind}": {"Spoons"} for kind in KINDS}
    mirror = {url.replace("www.spoons", "copy"): html for url, html in about.items()}
    assert {name for names in products_of(about | mirror).values() for name in names} == {"Spoons"}


@pytest.mark.parametrize(
    ("host", "text", "title", "name"),
    [
        ("spoons.example", "The {} is no such thing", "{} - The Quiet Room", "Quiet Room"),  # not about the host's word
        ("spoons.example", "The Quiet Room has a {} spoon", "{} - The Quiet Room", "Quiet Room"),  # texts use the name
        ("spoons.example", "The {} is a spoon", "{} - Spoons 2.1", "Spoons"),
        ("a.example", "The {} is a spoon", "{} - The Quiet Room", "Quiet Room"),
    ],
)
def test_a_sites_name_stays_where_texts_use_it_or_the_host_tells_nothing(
    host: str, text: str, title: str, name: str
) -> None:
    found = products_of(rooms(host, "things", text, title))
    assert {name for names in found.values() for name in names} == {name}
