"""Doors that answer otherwise than the first one, by reason.

The test holds this table in both directions: a difference that is not here fails, and so does a line here whose doors agree.
Whoever mends one removes its line; at the end the table is empty.
"""

Line = tuple[str, tuple[str, ...], tuple[str, ...]]
"""(web, questions, doors): each of the doors differs at each of the questions."""
AT_ADDRESS = ("command at address", "post", "get")
"""The doors to a service over HTTP."""
SERVICES = ("command", *AT_ADDRESS)
"""The doors to a service, wherever it is."""
KNOWN_DIFFERENCES: dict[str, list[Line]] = {
    "A leaf's search looks for copies among four times as many hits as are wanted; the page looks further.": [
        ("copies", ("search", "search attribute", "search phrase", "search since"), SERVICES),
    ],
    "A router asks its children for so few hits that copies take all places.": [
        ("network", ("search attribute", "search since"), (*AT_ADDRESS, "page")),
        ("network", ("expand", "expand since"), (*AT_ADDRESS, "page")),
    ],
    "A leaf's service selects documents; its page selects clusters.": [
        ("demo", ("select", "select site", "select language"), SERVICES),
        ("copies", ("select", "select site", "select since", "select until", "select language"), SERVICES),
    ],
    "A leaf's service expands as it selects; its page shows the three best documents of each cluster.": [
        ("demo", ("expand", "expand site"), ("page",)),
        ("copies", ("expand site", "expand until", "expand language"), ("page",)),
        ("copies", ("expand", "expand since"), (*SERVICES, "page")),
    ],
    "A router's total of `expand` is the number of results that were asked for; the page asks for one more than it shows.": [
        ("network", ("expand site", "expand until", "expand language"), ("page",)),
    ],
    "Services leave out related pages that were not read; Python, the command line and the page name them.": [
        ("copies", ("related",), AT_ADDRESS),
    ],
    "Related pages have no such options over HTTP: POST refuses them, GET takes no notice.": [
        ("demo", ("related exact", "related captured"), ("post",)),
        ("demo", ("related estimate", "related other sites", "related same site"), ("post", "get")),
        ("demo", ("related unfolded", "related similarity", "related explained"), ("post", "get")),
        ("demo", ("related several", "related html"), ("post", "get")),
        ("copies", ("related captured",), ("post",)),
        ("copies", ("related exact", "related estimate", "related other sites", "related same site"), ("post", "get")),
        ("copies", ("related unfolded", "related similarity", "related explained"), ("post", "get")),
        ("copies", ("related several", "related html"), ("post", "get")),
        ("network", ("related exact", "related estimate", "related other sites", "related same site"), ("post",)),
        ("network", ("related captured", "related unfolded", "related similarity", "related explained"), ("post",)),
        ("network", ("related several", "related html"), ("post",)),
        ("network", ("related html",), ("get",)),
    ],
    "The command line refuses options of related pages at an address, or takes no notice.": [
        ("demo", ("related exact", "related estimate", "related other sites"), ("command at address",)),
        ("demo", ("related same site", "related unfolded", "related similarity"), ("command at address",)),
        ("demo", ("related explained", "related several", "related html"), ("command at address",)),
        ("copies", ("related exact", "related estimate", "related other sites"), ("command at address",)),
        ("copies", ("related same site", "related unfolded", "related similarity"), ("command at address",)),
        ("copies", ("related explained", "related several", "related html"), ("command at address",)),
        ("network", ("related exact", "related estimate", "related other sites"), ("command at address",)),
        ("network", ("related same site", "related explained"), ("command at address",)),
        ("network", ("related several", "related html"), ("command at address",)),
    ],
    "The page of a page has other sites alone as an option; of a network it has none.": [
        ("demo", ("related estimate", "related same site", "related unfolded", "related similarity"), ("page",)),
        ("demo", ("related html",), ("page",)),
        ("copies", ("related estimate", "related same site", "related unfolded", "related similarity"), ("page",)),
        ("copies", ("related captured", "related html"), ("page",)),
        ("network", ("related several", "related html"), ("page",)),
    ],
    "Related pages have filters over HTTP alone.": [
        ("demo", ("related site", "related language"), ("command", "command at address", "page")),
        (
            "copies",
            ("related site", "related since", "related until", "related language"),
            ("command", "command at address", "page"),
        ),
        (
            "network",
            ("related site", "related since", "related until", "related language"),
            ("command at address", "page"),
        ),
    ],
    "The page leaves out forms of the query's own words and shows others in their place.": [
        ("demo", ("refine",), ("page",)),
    ],
    "The command line refines as in 1996 by all words of a collection's clusters, the service by the terms of its label.": [
        ("demo", ("refine 1996",), ("command at address", "post")),
    ],
    "GET takes no notice of the preset of a refinement, and the page has none.": [
        ("demo", ("refine 1996",), ("get", "page")),
        ("copies", ("refine 1996",), ("get", "page")),
        ("network", ("refine 1996",), ("get", "page")),
    ],
    "The command line suggests by ten results whose copies are not folded; who posts has folded ones.": [
        ("demo", ("suggest",), ("post",)),
        ("copies", ("suggest",), ("post",)),
        ("network", ("suggest",), ("post",)),
    ],
    "Nothing is suggested by GET.": [
        ("demo", ("suggest",), ("get",)),
        ("copies", ("suggest",), ("get",)),
        ("network", ("suggest",), ("get",)),
    ],
    "The page suggests by five results, folds copies and leaves out what matches.": [
        ("demo", ("suggest",), ("page",)),
        ("copies", ("suggest",), ("page",)),
        ("network", ("suggest",), ("page",)),
    ],
}
OPTIONS_THAT_NOBODY_TAKES: dict[str, tuple[str, ...]] = {
    "network": (
        "related estimate", "related other sites", "related same site", "related captured", "related unfolded",
        "related similarity",
    ),
}  # fmt: skip
"""Questions by web whose option no door takes notice of, though it would change the answer."""


def doors_that_differ(web: str, question: str) -> set[str]:
    """Return the doors whose answers to a question are known to differ."""
    lines = [line for lines in KNOWN_DIFFERENCES.values() for line in lines]
    return {door for at, questions, doors in lines if at == web and question in questions for door in doors}
