"""Queries and filters, checked once for every service."""

from datetime import UTC, date, datetime

from pagekin.collection.messages import Filters, Match
from pagekin.hypertext import canonical_url, host_of
from pagekin.text import (
    FEW,
    Query,
    QueryError,
    Question,
    is_of_site,
    language_code,
    read_question,
    site_name,
    wanted_words,
)

Day = str | date | int | None
"""A day as '1996-12-31' or a date; a moment as a datetime, or in seconds since 1970."""
_LAST_SECOND = 86_399
"""Of a day."""
_LONGEST_NUMBER = 13


def parse_query(text: str, match: Match = "best") -> Query:
    """Return the query that a text means, or raise a QueryError: for pages with all of its words, or with some."""
    question = read_question(text)
    return (match == "some" and question.some) or question.query


def relaxed_query(question: Question, match: Match, whole: int) -> Query | None:
    """Return the query for pages with some of the words if only `whole` documents hold all and that is too few; else None."""
    return question.some if match == "best" and whole < FEW else None


def query_words(query: Query) -> list[tuple[str | None, str]]:
    """Return the distinct (attribute, word) pairs that a query names outside NOT."""
    return list(dict.fromkeys((part.attribute, word) for part in wanted_words(query) for word in part.words))


def make_filters(site: str = "", since: Day = None, until: Day = None, language: str = "") -> Filters:
    """Return filters, where `since` is the first second of a day and `until` the last; raise a QueryError for an invalid day."""
    return Filters(site, _seconds(since), _seconds(until, _LAST_SECOND), language)


def _seconds(day: Day, more: int = 0) -> int | None:
    """Return seconds since 1970, plus `more` if the text names a whole day; days before 1970 count as 0."""
    day = day.strip() or None if isinstance(day, str) else day
    if day is None or isinstance(day, int):
        return day
    if isinstance(day, datetime):
        return max(0, int(day.timestamp()))
    if isinstance(day, str) and day.isdecimal() and len(day) < _LONGEST_NUMBER:
        return int(day)
    try:
        named = datetime.strptime(day, "%Y-%m-%d") if isinstance(day, str) else day
        return max(0, int(datetime(named.year, named.month, named.day, tzinfo=UTC).timestamp()) + more)
    except (ValueError, OverflowError):
        raise QueryError(f"'{str(day)[:40]}' is not a day; write it as 1996-12-31") from None


def check_filters(filters: Filters) -> None:
    """Raise a QueryError for filters that every leaf would refuse."""
    if filters.language:
        language_code(filters.language)
    if filters.site:
        site_name(filters.site)


def may_pass(url: str, filters: Filters) -> bool:
    """Return whether a document may pass filters by its address alone, which gives its site, but no date or language."""
    if not filters.site:
        return True
    address, wanted = canonical_url(url), site_name(filters.site)
    if address is None:
        return False
    return is_of_site(host_of(address), wanted)
