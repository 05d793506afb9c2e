"""What other rooms may import of this one; each name is loaded when it is first used."""

from .analysis import ANALYSER, IRREGULAR, analyse, form_of, form_table, learn_forms, tokens
from .beginning import running_text
from .calling import (
    CalledAddresses,
    LanguageWords,
    SaidWords,
    SameForms,
    ShownForms,
    WantedForms,
    WordUses,
    call_pages,
    count_uses,
    describe_text,
    find_languages,
    join_called,
    show_forms,
    unite_forms,
)
from .check import check_text
from .filters import is_of_site, keep_pages, language_code, site_name
from .fitness import is_outdated, unfit_reason
from .index import TEXT_ARRAYS, Hits, TextIndex
from .languages import have_stemmers
from .link_texts import LinkTexts, VisitingTexts, read_visiting_texts
from .make import make_text
from .misspelt import NearWords, distances
from .originals import Originals
from .plain import FormParts
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
    Some,
    Word,
    parse_query,
    wanted_words,
)
from .questions import FEW, IDLE, Question, describe_match, read_question
from .snippet import make_snippet
from .statistics import Stats, asked_forms, form_key, largest_score, weigh_query

__all__ = [
    "ANALYSER",
    "ATTRIBUTES",
    "FEW",
    "IDLE",
    "IRREGULAR",
    "MAX_QUERY_LENGTH",
    "MAX_QUERY_WORDS",
    "TEXT_ARRAYS",
    "And",
    "CalledAddresses",
    "FormParts",
    "Hits",
    "LanguageWords",
    "LinkTexts",
    "NearWords",
    "Not",
    "Or",
    "Originals",
    "Phrase",
    "Query",
    "QueryError",
    "Question",
    "SaidWords",
    "SameForms",
    "ShownForms",
    "Some",
    "Stats",
    "TextIndex",
    "VisitingTexts",
    "WantedForms",
    "Word",
    "WordUses",
    "analyse",
    "asked_forms",
    "call_pages",
    "check_text",
    "count_uses",
    "describe_match",
    "describe_text",
    "distances",
    "find_languages",
    "form_key",
    "form_of",
    "form_table",
    "have_stemmers",
    "is_of_site",
    "is_outdated",
    "join_called",
    "keep_pages",
    "language_code",
    "largest_score",
    "learn_forms",
    "make_snippet",
    "make_text",
    "parse_query",
    "read_question",
    "read_visiting_texts",
    "running_text",
    "show_forms",
    "site_name",
    "tokens",
    "unfit_reason",
    "unite_forms",
    "wanted_words",
    "weigh_query",
]
