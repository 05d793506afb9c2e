"""The query language: words, phrases, attributes, OR, NOT and parentheses, as a tree."""

import re
from collections.abc import Iterator

import msgspec

from pagekin.errors import PagekinError
from pagekin.hypertext import Attribute
from pagekin.text.analysis import tokens

ATTRIBUTES = tuple(attribute.name.lower() for attribute in Attribute if attribute.name)
"""The names of the attributes, in the order of their bits."""
MAX_QUERY_LENGTH = 1_000
MAX_QUERY_WORDS = 32
_DEEPEST = 8
_MOST_OPEN = 40
"""Parentheses that may be open at once, needed or not: the parser goes down by one call for each."""


class QueryError(PagekinError, ValueError):
    """A query that cannot be answered; the message says why and what to write instead."""

    fault = "usage"


class Word(msgspec.Struct, frozen=True):
    """Pages with this (folded) word under an attribute, or under any."""

    attribute: str | None
    word: str

    @property
    def words(self) -> tuple[str, ...]:
        """Return the word as a phrase has its words."""
        return (self.word,)

    def __str__(self) -> str:
        return f"{self.attribute}:{self.word}" if self.attribute else self.word


class Phrase(msgspec.Struct, frozen=True):
    """Pages with these (folded) words in a row under an attribute, or in the title or the text."""

    attribute: str | None
    words: tuple[str, ...]

    def __str__(self) -> str:
        quoted = f'"{" ".join(self.words)}"'
        return f"{self.attribute}:{quoted}" if self.attribute else quoted


class And(msgspec.Struct, frozen=True):
    """Pages that all parts find."""

    parts: tuple["Query", ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, And | Or) else str(part) for part in self.parts)


class Or(msgspec.Struct, frozen=True):
    """Pages that some part finds."""

    parts: tuple["Query", ...]

    def __str__(self) -> str:
        return " OR ".join(f"({part})" if isinstance(part, And | Or) else str(part) for part in self.parts)


class Some(msgspec.Struct, frozen=True):
    """Pages that some part finds, with those that all parts find first; a question becomes this if few pages hold all words."""

    parts: tuple["Query", ...]

    def __str__(self) -> str:
        return " ".join(map(str, self.parts))


class Not(msgspec.Struct, frozen=True):
    """Pages that the part does not find."""

    part: "Query"

    def __str__(self) -> str:
        return f"NOT ({self.part})" if isinstance(self.part, And | Or) else f"NOT {self.part}"


Query = Word | Phrase | And | Or | Some | Not


_TOO_DEEP = f"parentheses may be nested {_DEEPEST} deep; write the query with fewer"


def _unknown(name: str) -> str:
    known = ", ".join(f"{attribute}:" for attribute in ATTRIBUTES)
    return f"there is no attribute '{name}:'. There are {known}; to look for the words themselves, put them in quotes"


def _below(query: Query) -> tuple[Query, ...]:
    if isinstance(query, And | Or | Some):
        return query.parts
    return (query.part,) if isinstance(query, Not) else ()


def _nesting(query: Query) -> int:
    """Return the nesting depth of the query's parentheses."""
    deepest = max((_nesting(part) for part in _below(query)), default=0)
    return deepest + any(isinstance(part, And | Or) for part in _below(query))


def _takes_hold(query: Query) -> bool:
    """Return whether every page that the query finds holds at least one of its words."""
    if isinstance(query, And):
        return any(map(_takes_hold, query.parts))
    if isinstance(query, Or):
        return all(map(_takes_hold, query.parts))
    return not isinstance(query, Not)


def wanted_words(query: Query) -> list[Word | Phrase]:
    """Return the words and phrases that are looked for, in their order: all but those under NOT."""
    if isinstance(query, Word | Phrase):
        return [query]
    if isinstance(query, Not):
        return []
    return [word for part in query.parts for word in wanted_words(part)]


# -- from what people type ----------------------------------------------------------------------------------------------

_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'))
_LEXEME = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<open>\()
    | (?P<close>\))
    | (?P<minus>-(?=[^\s()\-]|\())
    | (?P<quoted>"[^"]*")
    | (?P<quote>")
    | (?P<attribute>[^\W\d_]+):(?![:/])(?=(?P<next>\s*.?))
    | (?P<bare>[^\s()"]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPERATORS = ("AND", "OR", "NOT")


_Lexeme = Query | str
"""A word or a phrase; or AND, OR, NOT, open, close."""
_ENDS = ("end", "close", "AND", "OR")
"""What cannot begin something to look for."""


def _atom(attribute: str | None, text: str) -> Word | Phrase | None:
    words = tokens(text)
    if not words:
        return None
    return Word(attribute, words[0]) if len(words) == 1 else Phrase(attribute, tuple(words))


def _lexemes(text: str) -> Iterator[_Lexeme]:
    attribute = None
    for match in _LEXEME.finditer(text):  # every character begins some lexeme
        kind, what = str(match.lastgroup), match[0]
        if kind == "space":
            continue
        if (name := match["attribute"]) is not None:
            if name.lower() in ATTRIBUTES:
                if attribute:
                    raise QueryError(f"{attribute}: is followed by {name}:, not by a word")
                attribute = name.lower()
                continue
            if match["next"].strip() == match["next"] != "" and match["next"] not in "()":
                raise QueryError(_unknown(name))
            kind = "bare"  # `Note:` before a space is a word with a colon after it
        if attribute and kind in ("open", "close", "minus"):
            raise QueryError(f"{attribute}: stands before one word or a phrase in quotes, not before '{what}'")
        if kind == "quote":
            raise QueryError('a quotation mark (") has no partner; close the phrase with another one')
        if kind in ("open", "close"):
            yield kind
        elif kind == "minus":
            yield "NOT"
        elif kind == "bare" and what in _OPERATORS and not attribute:
            yield what
        else:
            query = _atom(attribute, what)
            if query:
                yield query
            elif attribute:
                raise QueryError(f"{attribute}: is followed by '{what}', in which there is no word")
            attribute = None
    if attribute:
        raise QueryError(f"{attribute}: is followed by nothing; write a word after it, as in {attribute}:memory")


class _Parser:
    """Recursive descent parser: AND joins parts, each of which OR joins from smaller ones."""

    def __init__(self, text: str) -> None:
        self._left = list(_lexemes(text))
        self._left.reverse()
        count = sum(len(lexeme.words) for lexeme in self._left if isinstance(lexeme, Word | Phrase))
        if count > MAX_QUERY_WORDS:
            raise QueryError(f"the query has {count:,} words, and {MAX_QUERY_WORDS} is the most; ask for fewer")

    def _next(self) -> _Lexeme:
        return self._left[-1] if self._left else "end"

    def whole(self) -> Query:
        query = self._parse_all(0)
        if self._left:
            raise QueryError("there is a ')' without its '('")
        return query

    def _parse_all(self, depth: int) -> Query:
        """Parse parts side by side, up to the end or a closing parenthesis."""
        if depth > _MOST_OPEN:
            raise QueryError(_TOO_DEEP)
        parts: list[Query] = []
        while self._next() not in ("end", "close"):
            if self._next() == "AND":
                self._left.pop()
                if not parts or self._next() in _ENDS:
                    raise QueryError("AND stands between two things to look for; it may also be left out")
            parts.append(self._parse_some(depth))
        if not parts:
            raise QueryError(
                "there is nothing between '(' and ')'" if depth else "there is no word to look for in the query"
            )
        return _join(And, parts)

    def _parse_some(self, depth: int) -> Query:
        parts = [self._parse_part(depth)]
        while self._next() == "OR":
            self._left.pop()
            parts.append(self._parse_part(depth))
        return _join(Or, parts)

    def _parse_part(self, depth: int) -> Query:
        negative = False
        while self._next() == "NOT":
            self._left.pop()
            negative = not negative
            if self._next() in _ENDS:
                raise QueryError("NOT is followed by nothing; write what to leave out after it")
        if self._next() in _ENDS:
            raise QueryError("OR stands between two things to look for, as in: paging OR segmentation")
        part = self._left.pop()
        if isinstance(part, str):  # an opening parenthesis, as all else was refused
            part = self._parse_all(depth + 1)
            if self._next() != "close":
                raise QueryError("there is a '(' without its ')'")
            self._left.pop()
        if not negative:
            return part
        return part.part if isinstance(part, Not) else Not(part)


def _join(kind: type[And] | type[Or], parts: list[Query]) -> Query:
    """Join the parts to one query: a part of the same kind is dissolved, a single part is returned as it is."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def is_plain(text: str) -> bool:
    """Return whether a query consists of words side by side: no operator, quotes, attribute or parenthesis."""
    return all(
        match.lastgroup in ("space", "bare") and match[0] not in _OPERATORS
        for match in _LEXEME.finditer(text.translate(_QUOTES))
    )


def parse_query(text: str) -> Query:
    """Parse the query that a person typed; raise QueryError with what is wrong with it.

    Words side by side must all be there; OR binds more closely than that: `a b OR c` is a, and b or c.
    """
    if len(text) > MAX_QUERY_LENGTH:
        raise QueryError(f"the query has {len(text):,} characters, and {MAX_QUERY_LENGTH:,} is the most; ask for less")
    query = _Parser(text.translate(_QUOTES)).whole()
    if _nesting(query) > _DEEPEST:
        raise QueryError(_TOO_DEEP)
    if not _takes_hold(query):
        raise QueryError(
            "NOT only takes pages away, so there must be something to take them from: "
            "write what to look for as well, as in: memory NOT windows"
        )
    return query
