"""A small web about fruit, whose links and words can be followed by finger."""

import re
from typing import Any
from urllib.parse import urljoin

from tests.bags.webs import moved, record

ONE, TWO, GONE = "http://one.example", "http://two.example", "http://gone.example"
APPLE, PEAR, CIDER, COPY, ORCHARD = (
    f"{ONE}/apple",
    f"{ONE}/pear",
    f"{TWO}/cider",
    f"{TWO}/apple-copy",
    f"{GONE}/orchard",
)
PRINT = f"{ONE}/apple-print"
APPLE_TEXT = (
    "The apple is a crisp fruit of temperate gardens, sweet or sour, green or red. Its blossom opens in May, when bees "
    "visit every branch, and the harvest lasts from August until frost. Growers graft each variety upon a dwarf rootstock. "
    "Bramley, Cox, Russet and Pippin keep through winter in a cool cellar between straw."
)
PEAR_TEXT = (
    "The pear is a soft fruit of temperate gardens, sweet and rarely sour, green or yellow. Its blossom opens in April, "
    "before the apple, and the harvest is short. Growers graft each variety upon a quince rootstock. Conference, Comice and "
    "Williams ripen indoors and seldom keep beyond winter."
)
PAGES = {
    f"{ONE}/": "<title>Fruit garden</title><h1>Fruit garden</h1><ul><li><a href=apple>Apples</a><li><a href=pear>Pears</a>"
    "<li><a href=plum>Plums</a></ul><p>All about fruit that grows in temperate gardens, written by growers and bees.",
    APPLE: f"<html lang=en><title>Apple</title><p>Menu<p>{APPLE_TEXT}<p>See also the <a href=pear>pear</a>, its cousin, and the "
    f"famous <a href='{ORCHARD}'>old walled orchard</a> of Herefordshire.",
    PEAR: f"<title>Pear</title><p>{PEAR_TEXT}<p>Its cousin is the <a href=apple>apple</a>.",
    f"{ONE}/plum": "<title>Plum</title><p>The plum is a stone fruit of temperate gardens, sweet and blue, with a short harvest "
    "in August. Wasps love it, and prunes are made of it in Agen. Nobody links from here to anything.",
    CIDER: "<title>Cider</title><p>Short line.<p>Good cider begins with <a href='http://one.example/apple'>crisp apples</a>, "
    "pressed cold in autumn. Bittersweet fruit is milled, pressed and left to ferment in oak until spring.<p>The oldest "
    f"trees stand in the <a href='{ORCHARD}'>walled orchard</a> near Hereford.",
    PRINT: f"<title>Apple, to print</title><p>{APPLE_TEXT}<p>See also the pear, its cousin, and the famous old walled "
    "orchard of Herefordshire.",
    COPY: f"<title>Apple, again</title><p>Menu<p>{APPLE_TEXT}<p>See also the pear, its cousin, and the famous old walled "
    "orchard of Herefordshire.",
    f"{TWO}/perry": "<title>Perry</title><p>Perry is made of <a href='http://one.example/pear'>perry pears</a> as cider is of "
    "<a href='http://one.example/apple'>apples</a>: milled, pressed and fermented until spring in oak.",
    f"{TWO}/image": "<title>Picture</title><p>Nothing but <a href='http://one.example/apple'><img src=x></a> a picture of "
    "blossom.",
}  # fmt: skip
GUIDE = {
    f"{TWO}/guide/": "<title>Grafting guide</title><p>A guide to grafting in four parts.<ol>"
    + "".join(f"<li><a href='{n}'>Grafting guide part {n}</a>" for n in (1, 2, 3, 4))
    + "</ol>",
    **{
        f"{TWO}/guide/{n}": f"<title>Grafting guide part {n}</title><p>Part {n} of the guide: knife, wax, twine and patience{n}. "
        + f"<a href='./'>contents</a> {f'<a href={n - 1}>back</a>' if n > 1 else ''} "
        + (f"<a href={n + 1}>next</a>" if n < 4 else "")
        for n in (1, 2, 3, 4)
    },
}
WEB = PAGES | GUIDE
ALIAS = f"{ONE}/malus"


def records() -> list[bytes]:
    """The web as an archive; one address leads on to the apple's."""
    return [*(record(url, html, date="2021-05-04T12:00:00Z") for url, html in WEB.items()), moved(ALIAS, "/apple")]


def links() -> set[tuple[str, str]]:
    """(page, address) of all links, read from the pages themselves."""
    found = {(url, urljoin(url, href)) for url, html in WEB.items() for href in re.findall(r"href='?([^'> ]+)", html)}
    return {(source, target) for source, target in found if source != target}


def bag_of(index: Any, url: str) -> dict[str, float]:
    """A page's bag by words."""
    terms, weights = index.bags.bag(index.document(url))
    return {
        index.bags.term_text(index.corpus, int(term)): float(weight)
        for term, weight in zip(terms, weights, strict=True)
    }
