"""Queries and filters, checked once for every service."""

from functools import lru_cache

from pagekin.collection.messages import Filters
from pagekin.hypertext import canonical_url, host_of
from pagekin.text import Query, is_of_site, language_code, site_name, wanted_words
from pagekin.text import parse_query as parse


@lru_cache(4096)
def parse_query(text: str) -> Query:
    """Return the query that a text means, or raise a QueryError; remembered, as one query is asked of many services."""
    return parse(text)


def query_words(query: Query) -> list[tuple[str | None, str]]:
    """Return the distinct (attribute, word) pairs that a query names outside NOT."""
    return list(dict.fromkeys((part.attribute, word) for part in wanted_words(query) for word in part.words))


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
