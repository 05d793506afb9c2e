"""A web in which everything is as long as it may be: addresses, titles, words, names of hosts, lists of links."""

from collections.abc import Iterator
from urllib.parse import quote

from tests.bags.webs import moved, record

PAGES, HOSTS = 72, 60
LONG = 1_990
"""Characters of an address: links over 2,000 bytes are not read."""
SIGNS = "'\"&<>"
LETTERS = ("é", "水", "🌋", "'", "&", "ש", "%E6%B0%B4")
"""What addresses are made of: each page's of one of these."""
DEEP = 5
"""A page below a thousand folders."""
LANGUAGES = "en de fr es it nl sv da fi pl cs hu pt ro tr ru uk el ar he fa hi ja ko zh th vi id".split()


def host(number: int) -> str:
    """A host whose name is as long as names may be."""
    return ".".join([f"host{number % HOSTS}{'x' * 50}", "y" * 60, "z" * 60, "example"])


def address(number: int) -> str:
    """An address that begins like many others, and is long."""
    letters = LETTERS[number % len(LETTERS)] if number != DEEP else "'/"
    start = f"http://{host(number)}/{'begins-alike' * 9}/"
    room = LONG - len(start) - 8
    filled = (letters * room)[: room // len(quote(letters, safe="/'&%")) * len(letters)]
    return f"{start}{filled}{number:05d}"


def title(number: int) -> str:
    """10,000 characters, each of which takes several bytes."""
    return (f"{number} " + ("🌋", "'", "&lt;", "水", "ש", "&amp;", "é")[number % 7] * 10_000) if number % 11 else ""


def words(number: int) -> str:
    """Words of a topic and of the page's own, as long as words may be."""
    topic = [f"{chr(97 + number % 6)}{kind}{'水' * 35}" for kind in "pqrstuvw"]
    return " ".join([*topic, *topic, f"own{number}{'ö' * 50}", "volcano"])


def records() -> Iterator[bytes]:
    """The pages, of which many are near copies of one another, and of which each links to many; with redirects to some."""
    for number in range(PAGES):
        around = SIGNS.replace("<", "&lt;").replace(">", "&gt;") * 30
        others = {0, 1, 2, *((number * 7 + step * 13) % PAGES for step in range(40))} - {number}
        links = "".join(
            f'<p>{around} <a href="{address(other).replace("&", "&amp;")}">{title(other)[:400]}</a> {around}'
            for other in sorted(others)
        )
        language = LANGUAGES[number % len(LANGUAGES)]
        same = number - number % 12 if number % 3 == 0 else number
        yield record(
            address(number),
            f"<html lang={language}><title>{title(number)}</title><h1>{title(number)}</h1>"
            f"<p>{around} {words(same)} {around}. {words(same)} {around}</p>{links}",
            date=f"20{10 + number % 10}-01-01T00:00:00Z",
        )
    for number in range(30):
        yield moved(f"{address(PAGES + number)}-moved", address(0))
