"""Queries as people change them by a click: a word more, a word less, any of the words."""

import re

from pagekin.hypertext import fold
from pagekin.text import And, Not, Or, Query, Word, asked_forms
from pagekin.text.analysis import form_of
from pagekin.text.query import LONGEST, MOST_WORDS, wanted

_PLAIN = re.compile(r"[^\W_]+")


def words_of(query: Query) -> list[Word]:
    """The single words that a query looks for."""
    return [part for part in wanted(query) if isinstance(part, Word)]


def forms_of(query: Query) -> set[str]:
    """The forms of all words that a query looks for, also in phrases."""
    return {form for _attribute, form in asked_forms(query)}


def written(word: str) -> str:
    """A term as it is typed: in quotes where it would be read otherwise."""
    return word if _PLAIN.fullmatch(word) else f'"{word.replace(chr(34), " ")}"'


def narrowed(text: str, query: Query, word: str) -> str:
    """A query with a word more, or without it if it is there already."""
    parts = query.parts if isinstance(query, And) else (query,)
    rest = [part for part in parts if not _is(part, word)]
    if len(rest) < len(parts):
        return text if all(isinstance(part, Not) for part in rest) else str(_all(rest))
    return _within(f"{text.strip()} {written(word)}", text, query)


def widened(text: str, query: Query, word: str) -> str:
    """A query that finds what it found and what a word finds, or without the word if it is one of the choices."""
    if isinstance(query, Or) and any(_is(part, word) for part in query.parts):
        rest = tuple(part for part in query.parts if not _is(part, word))
        return str(Or(rest) if len(rest) > 1 else rest[0]) if rest else text
    whole = f"({text.strip()})" if isinstance(query, And) else text.strip()
    return _within(f"{whole} OR {written(word)}", text, query)


def exchanged(text: str, word: str, other: str) -> str:
    """A query as it was typed with another word for a (folded) one."""
    return re.sub(r"\w+", lambda found: other if fold(found[0]) == word else found[0], text)


def parts_of(query: Query) -> list[tuple[str, str]]:
    """(a part that must match, the query without it); nothing where a query has one part, or would find anything without."""
    if not isinstance(query, And):
        return []
    found = []
    for place, part in enumerate(query.parts):
        rest = query.parts[:place] + query.parts[place + 1 :]
        if not all(isinstance(other, Not) for other in rest):
            found.append((str(part), str(_all(rest))))
    return found


def any_of(query: Query) -> str:
    """A query for pages with any of the words and phrases; empty where it would be the same."""
    looked_for = dict.fromkeys(map(str, wanted(query)))
    return " OR ".join(looked_for) if isinstance(query, And) and len(looked_for) > 1 else ""


def _is(part: Query, word: str) -> bool:
    return isinstance(part, Word) and not part.attribute and form_of(part.word) == form_of(word)


def _all(parts: list[Query] | tuple[Query, ...]) -> Query:
    return And(tuple(parts)) if len(parts) > 1 else parts[0]


def _within(changed: str, text: str, query: Query) -> str:
    """The changed query, or the old one where there is no room for more."""
    return changed if len(changed) <= LONGEST and len(wanted(query)) < MOST_WORDS else text
