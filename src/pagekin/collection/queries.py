"""Queries and filters, checked once for every service."""

from pagekin.collection.messages import Filters, Match
from pagekin.hypertext import canonical_url, host_of
from pagekin.text import FEW, Query, Question, is_of_site, language_code, read_question, site_name, wanted_words


def parse_query(text: str, match: Match = "best") -> Query:
    """Return the query that a text means, or raise a QueryError: for pages with all of its words, or with some."""
    question = read_question(text)
    return (match == "some" and question.some) or question.query


def relaxed_query(question: Question, match: Match, whole: int) -> Query | None:
    """Return the query for pages with some of the words, if it is to be asked where `whole` documents hold all; else None."""
    return question.some if match == "best" and whole < FEW else None


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
