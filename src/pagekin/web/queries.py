"""Change queries by a click: add a word, remove a word, search for any of the words."""

import re

from pagekin.hypertext import fold_case
from pagekin.text import MAX_QUERY_LENGTH, MAX_QUERY_WORDS, And, Not, Or, Query, Word, form_of, wanted_words

_PLAIN = re.compile(r"[^\W_]+")


def quote_word(word: str) -> str:
    """Return a term as a user has to type it: in quotes where it would be misread."""
    return word if _PLAIN.fullmatch(word) else f'"{word.replace(chr(34), " ")}"'


def narrow(text: str, query: Query, word: str) -> str:
    """Return a query that also requires a word, or no longer requires it if it did."""
    parts = query.parts if isinstance(query, And) else (query,)
    rest = [part for part in parts if not _is(part, word)]
    if len(rest) < len(parts):
        return text if all(isinstance(part, Not) for part in rest) else str(_all(rest))
    return _within(f"{text.strip()} AND {quote_word(word)}", text, query)


def widen(text: str, query: Query, word: str) -> str:
    """Return a query with a word as an alternative, or without it if it was one."""
    if isinstance(query, Or) and any(_is(part, word) for part in query.parts):
        rest = tuple(part for part in query.parts if not _is(part, word))
        return str(Or(rest) if len(rest) > 1 else rest[0]) if rest else text
    whole = f"({text.strip()})" if isinstance(query, And) else text.strip()
    return _within(f"{whole} OR {quote_word(word)}", text, query)


def exchange_word(text: str, word: str, other: str) -> str:
    """Return a query as it was typed, with a (folded) word replaced by another."""
    return re.sub(r"\w+", lambda match: other if fold_case(match[0]) == word else match[0], text)


def parts_of(query: Query) -> list[tuple[str, str]]:
    """Return (a required part, the query without it) for each part of a query that has several."""
    if not isinstance(query, And):
        return []
    parts = []
    for place, part in enumerate(query.parts):
        rest = query.parts[:place] + query.parts[place + 1 :]
        if not all(isinstance(other, Not) for other in rest):
            parts.append((str(part), str(_all(rest))))
    return parts


def any_of(query: Query) -> str:
    """Return a query for pages with any of the words and phrases; '' if it would be the same query."""
    looked_for = dict.fromkeys(map(str, wanted_words(query)))
    return " OR ".join(looked_for) if isinstance(query, And) and len(looked_for) > 1 else ""


def _is(part: Query, word: str) -> bool:
    return isinstance(part, Word) and not part.attribute and form_of(part.word) == form_of(word)


def _all(parts: list[Query] | tuple[Query, ...]) -> Query:
    return And(tuple(parts)) if len(parts) > 1 else parts[0]


def _within(changed: str, text: str, query: Query) -> str:
    """Return the changed query, or the old one if the change makes it too long."""
    return changed if len(changed) <= MAX_QUERY_LENGTH and len(wanted_words(query)) < MAX_QUERY_WORDS else text
