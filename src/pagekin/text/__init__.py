"""The full-text index: attribute queries, scores that sites can share, snippets.

`make_text` writes it, `TextIndex` answers, `parse` reads what people type, `snippet` shows where a page answers,
`keep_pages` narrows by site, date and language, `check_text` proves it whole. Asking imports no compiler.
"""

from pagekin.text.analysis import ANALYSER, analyse, tokens
from pagekin.text.check import check_text
from pagekin.text.filters import keep_pages
from pagekin.text.index import ARRAYS, FOLDER, Hits, Stats, TextIndex
from pagekin.text.make import make_text, text_collection
from pagekin.text.originals import Originals
from pagekin.text.query import (
    ATTRIBUTES,
    And,
    Not,
    Or,
    Phrase,
    Query,
    QueryError,
    Word,
    checked,
    from_json,
    parse,
    to_json,
)
from pagekin.text.snippet import snippet

__all__ = [
    "ANALYSER",
    "ARRAYS",
    "ATTRIBUTES",
    "FOLDER",
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
    "check_text",
    "checked",
    "from_json",
    "keep_pages",
    "make_text",
    "parse",
    "snippet",
    "text_collection",
    "to_json",
    "tokens",
]
