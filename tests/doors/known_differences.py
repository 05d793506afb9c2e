"""Doors that answer otherwise than the first one, by reason.

The test holds this table in both directions: a difference that is not here fails, and so does a line here whose doors agree.
Whoever mends one removes its line; at the end the table is empty.
"""

Line = tuple[str, tuple[str, ...], tuple[str, ...]]
"""(web, questions, doors): each of the doors differs at each of the questions."""
KNOWN_DIFFERENCES: dict[str, list[Line]] = {
    "The page of results suggests documents by the default method alone: its preset chooses terms.": [
        (web, ("suggest 1996",), ("page",))
        for web in ("demo", "copies", "demo in shards", "copies in shards", "network")
    ],
    "A whole page does not fit into an address, and a router has no pages to compare it with.": [
        ("demo", ("related html",), ("get", "page")),
        ("copies", ("related html",), ("get", "page")),
        ("demo in shards", ("related html",), ("get", "page")),
        ("copies in shards", ("related html",), ("get", "page")),
        ("network", ("related html",), ("python at address", "command at address", "post", "get", "page")),
    ],
}
OPTIONS_THAT_NOBODY_TAKES: dict[str, tuple[str, ...]] = {}
"""Questions by web whose option no door takes notice of, though it would change the answer."""


def doors_that_differ(web: str, question: str) -> set[str]:
    """Return the doors whose answers to a question are known to differ."""
    lines = [line for lines in KNOWN_DIFFERENCES.values() for line in lines]
    return {door for at, questions, doors in lines if at == web and question in questions for door in doors}
