"""What is asked at `/find`: a query, how to look, and filters; all of it stands in the address."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct

from pagekin.routers.messages import Filters
from pagekin.text import QueryError
from pagekin.web import addresses

MODES = {
    "search": ("Pages", "all that match"),
    "select": ("Topics", "that hold matches"),
    "expand": ("By topic", "the best of each"),
}
"""What the ways to look are called for people, and what they show."""
LAST_PAGE = 50
"""Nobody reads further; programs ask the services."""
LONGEST = 2_000
"""Bytes of a query in an address: every link of a page of results repeats it."""
_LONGEST_NAME = 200
_DAY_ENDS = 86_399


class Question(Struct, frozen=True, kw_only=True):
    """A question."""

    q: str = ""
    mode: str = "search"
    site: str = ""
    since: str = ""
    until: str = ""
    language: str = ""
    page: int = 1
    ask: int = 0

    def address(self, **changes: Any) -> str:
        """The address of this question with something changed; from its first page on unless that is named."""
        new = msgspec.structs.replace(self, **{"page": 1} | changes)
        return addresses.find(
            new.q, mode="" if new.mode == "search" else new.mode, site=new.site, since=new.since, until=new.until,
            language=new.language, page=new.page if new.page > 1 else 0, ask=new.ask,
        )  # fmt: skip

    def filters(self) -> Filters:
        """Which pages may be results, or a QueryError that says what is wrong."""
        for name in ("site", "language"):
            if len(getattr(self, name)) > _LONGEST_NAME:
                raise QueryError(f"the {name} is longer than {_LONGEST_NAME} characters")
        since, until = _seconds(self.since), _seconds(self.until, _DAY_ENDS)
        if since is not None and until is not None and since > until:
            raise QueryError(f"the time from {self.since} to {self.until} ends before it begins; exchange the two days")
        return Filters(site=self.site.strip(), since=since, until=until, language=self.language.strip())

    def check(self) -> None:
        """Refuse what cannot be asked with a QueryError."""
        if self.mode not in MODES:
            raise QueryError(f"there is no way to look called '{self.mode[:40]}'; there are {', '.join(MODES)}")
        if len(quote_plus(self.q)) > LONGEST:
            raise QueryError(
                f"the query takes {len(quote_plus(self.q)):,} bytes in an address; {LONGEST:,} is the most"
            )
        if not 1 <= self.page <= LAST_PAGE:
            raise QueryError(f"there are pages 1 to {LAST_PAGE}; to see more, ask for something narrower")
        if not 0 <= self.ask <= 10_000:
            raise QueryError("ask 1 to 10,000 others, or 0 for all that may know something")
        self.filters()


def _seconds(day: str, more: int = 0) -> int | None:
    """Seconds since 1970 of a day."""
    if not day.strip():
        return None
    try:
        return max(0, int(datetime.strptime(day.strip(), "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) + more)
    except (ValueError, OverflowError):
        raise QueryError(f"'{day[:40]}' is no day; write it as 1996-12-31") from None
