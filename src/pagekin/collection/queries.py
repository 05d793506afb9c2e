"""Queries and filters, checked once for every service."""

from functools import lru_cache

from pagekin.collection.messages import Filters
from pagekin.hypertext import canonical_url, host_of
from pagekin.text import And, Not, Or, Phrase, Query, language_code, site_name
from pagekin.text import parse_query as parse


@lru_cache(4096)
def parse_query(text: str) -> Query:
    """Return the query that a text means, or raise a QueryError; remembered, as one query is asked of many services."""
    return parse(text)


def query_words(query: Query) -> list[tuple[str | None, str]]:
    """Return the distinct (attribute, word) pairs that a query names outside NOT."""
    if isinstance(query, And | Or):
        return list(dict.fromkeys(pair for part in query.parts for pair in query_words(part)))
    if isinstance(query, Not):
        return []
    words = query.words if isinstance(query, Phrase) else (query.word,)
    return list(dict.fromkeys((query.attribute, word) for word in words))


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
    host = host_of(address)
    bare, colon, port = host.rpartition(":")
    if colon and port.isdigit() and not wanted.rpartition(":")[2].isdigit():
        host = bare
    return host == wanted or host.endswith(f".{wanted}")
