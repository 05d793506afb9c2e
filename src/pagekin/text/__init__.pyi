"""What other rooms may import of this one; each name is loaded when it is first used."""

from .analysis import ANALYSER, analyse, form_of, form_table, tokens
from .check import check_text
from .filters import is_of_site, keep_pages, language_code, site_name
from .index import TEXT_ARRAYS, Hits, TextIndex, is_outdated, unfit_reason
from .make import make_text
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
    parse_query,
    wanted_words,
)
from .snippet import make_snippet
from .statistics import Stats, asked_forms, form_key, largest_score

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
    "analyse",
    "asked_forms",
    "check_text",
    "form_key",
    "form_of",
    "form_table",
    "is_of_site",
    "is_outdated",
    "keep_pages",
    "language_code",
    "largest_score",
    "make_snippet",
    "make_text",
    "parse_query",
    "site_name",
    "tokens",
    "unfit_reason",
    "wanted_words",
]
