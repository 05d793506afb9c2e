"""The question at `/find`: a query, a mode and filters, all of which stand in the address."""

from typing import Any
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct

from pagekin.collection import Filters, make_filters
from pagekin.text import QueryError
from pagekin.web import addresses

MODES = {
    "search": ("Pages", "all that match", "Search: all that match, the best first"),
    "select": ("Topics", "that hold matches", "Select: where the matches are, and how many there are"),
    "expand": ("By topic", "the best of each", "Expand: what matches in each place, the best first"),
}
"""What the ways to look are called for people, what they show, and how programs and the papers call them."""
NETWORK_MODES = MODES | {
    "select": ("Sites", "that may hold matches", MODES["select"][2]),
    "expand": ("By site", "a look into each", MODES["expand"][2]),
}
"""The same in a network."""
PRESETS = ("", "default", "hypursuit1996")
"""How terms that refine a query are chosen."""
LAST_PAGE = 50
"""Nobody reads further; programs ask the services."""
LONGEST = 2_000
"""Bytes of a query in an address: every link of a page of results repeats it."""
MOST_OF_EACH = 20
"""The most results of each topic."""
_LONGEST_NAME = 200


class Question(Struct, frozen=True, kw_only=True):
    """The parameters of `/find`."""

    q: str = ""
    mode: str = "search"
    site: str = ""
    since: str = ""
    until: str = ""
    language: str = ""
    page: int = 1
    ask: int = 0
    each: int = 0
    """The most results of each topic, where they are shown by topic; 0 means as many as usual."""
    preset: str = ""
    """How terms that refine the query are chosen."""

    def address(self, **changes: Any) -> str:
        """Return the address of this question with changes; of its first page unless another is named."""
        new = msgspec.structs.replace(self, **{"page": 1} | changes)
        given = msgspec.structs.asdict(new)
        given |= {"mode": "" if new.mode == "search" else new.mode, "page": new.page if new.page > 1 else 0}
        return addresses.find(**given)

    def filters(self) -> Filters:
        """Return the filters of the question, or raise a QueryError that says what is wrong."""
        return filters_of(self.site, self.since, self.until, self.language)

    def check(self) -> None:
        """Raise a QueryError for an invalid question."""
        if self.mode not in MODES:
            raise QueryError(f"there is no mode '{self.mode[:40]}'; there are {', '.join(MODES)}")
        if len(quote_plus(self.q)) > LONGEST:
            raise QueryError(
                f"the query takes {len(quote_plus(self.q)):,} bytes in an address; {LONGEST:,} is the most"
            )
        if not 1 <= self.page <= LAST_PAGE:
            raise QueryError(f"only pages 1 to {LAST_PAGE} are shown; to see more, narrow the query")
        if not 0 <= self.ask <= 10_000:
            raise QueryError("ask= takes 1 to 10,000 children, or 0 for all that may hold a match")
        if not 0 <= self.each <= MOST_OF_EACH:
            raise QueryError(f"each= takes 1 to {MOST_OF_EACH} results of each topic, or 0 for the default")
        if self.preset not in PRESETS:
            raise QueryError(f"there is no preset '{self.preset[:40]}'; there are {', '.join(filter(None, PRESETS))}")
        self.filters()


def filters_of(site: str, since: str, until: str, language: str) -> Filters:
    """Return filters from text, with days as 1996-12-31 or seconds since 1970; raise a QueryError for invalid ones."""
    for name, value in (("site", site), ("language", language)):
        if len(value) > _LONGEST_NAME:
            raise QueryError(f"the {name} is longer than {_LONGEST_NAME} characters")
    filters = make_filters(site.strip(), since, until, language.strip())
    if filters.since is not None and filters.until is not None and filters.since > filters.until:
        raise QueryError(f"{since} is later than {until}; exchange the two days")
    return filters
