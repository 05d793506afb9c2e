"""What other rooms may import of this one; each name is loaded when it is first used."""

from .analysis import ANALYSER, analyse, form_of, form_table, tokens
from .check import check_text
from .filters import keep_pages, language_code, site_name
from .index import TEXT_ARRAYS, Hits, TextIndex, is_outdated, unfit_reason
from .largest import largest_score
from .make import add_text_index, make_text
from .originals import Originals
from .query import (
    ATTRIBUTES,
    MAX_QUERY_LENGTH,
    MAX_QUERY_WORDS,
    And,
    Not,
    Or,
    Phrase,
    Query,
    QueryError,
    Word,
    check_query,
    parse_query,
    query_from_json,
    query_to_json,
    wanted_words,
)
from .snippet import make_snippet
from .statistics import Stats, asked_forms, form_key

__all__ = [
    "ANALYSER",
    "ATTRIBUTES",
    "MAX_QUERY_LENGTH",
    "MAX_QUERY_WORDS",
    "TEXT_ARRAYS",
    "And",
    "Hits",
    "Not",
    "Or",
    "Originals",
    "Phrase",
    "Query",
    "QueryError",
    "Stats",
    "TextIndex",
    "Word",
    "add_text_index",
    "analyse",
    "asked_forms",
    "check_query",
    "check_text",
    "form_key",
    "form_of",
    "form_table",
    "is_outdated",
    "keep_pages",
    "language_code",
    "largest_score",
    "make_snippet",
    "make_text",
    "parse_query",
    "query_from_json",
    "query_to_json",
    "site_name",
    "tokens",
    "unfit_reason",
    "wanted_words",
]
