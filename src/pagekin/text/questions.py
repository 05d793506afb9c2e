"""Questions in plain words: which words matter, and what to search for if few pages hold all of them."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from pagekin.hypertext import CharClass, char_class, fold_case
from pagekin.text.analysis import form_of
from pagekin.text.query import And, Phrase, Query, Some, Word, is_plain, parse_query

FEW = 10
"""If fewer documents hold all words of a question, those that hold some are also shown."""
_ASKING = frozenset("how what what's whats which who who's whos whom whose when where where's why".split())
"""Words with which questions begin."""
_HELPING = frozenset("do does did is are was were can could should would".split())
"""Words with which questions of three words and more begin."""
IDLE = (
    frozenset(
        "a about am an and any as at be been being but by for from he her his i if in into it its just may me might must my "
        "of on or our out please s she so such t than that the their them then there these they this those to too up us we "
        "while with you your will shall has have had tell explain".split()
    )
    | _ASKING
    | _HELPING
)
"""Words that do not affect what is searched for."""
_FEWEST_PAIRS, _MOST_PARTS = 3, 32
"""Pairs of characters of a text without spaces that are looked for one by one, at least; parts of a question, at most."""
_IDLE_PAIR = re.compile(
    r".*[をはがにでともへや的了吗呢么].*|[るたいすし][\u3400-\u9fff]|する|ます|です|した|して|ない|れる|せる|ある|いる|える|よう|こと|ため|どう|から|まで|方法|如何|怎样|哪里"
)
"""Pairs of characters with particles, and endings of verbs."""


class Question(msgspec.Struct, frozen=True):
    """A question and its words."""

    query: Query
    """The query that pages with all words match."""
    parts: tuple[Word | Phrase, ...] = ()
    """Of words side by side, those that matter, each form once; () for a query with operators, quotes or attributes.

    Of a text in a script without spaces, its pairs of characters.
    """
    typed: tuple[str, ...] = ()
    """These parts as they were typed."""

    @property
    def some(self) -> Some | None:
        """Return the query for pages with some of the words; None if there is only one, or the query is exact."""
        return Some(self.parts) if len(self.parts) > 1 else None

    def respell(self, spellings: Mapping[str, str]) -> str:
        """Return the words that matter, some of them respelt."""
        return " ".join(spellings.get(word, word) for part in self.parts for word in part.words)


@lru_cache(4096)
def read_question(text: str) -> Question:
    """Parse a text as a question, or raise a QueryError.

    Of words side by side that begin or end as a question does, those that say nothing of what is asked for are ignored,
    unless nothing else is left. A query with quotes, operators or attributes is taken as it is written.
    """
    query = parse_query(text)
    if not is_plain(text):
        return Question(query)
    parts = query.parts if isinstance(query, And) else (query,)
    atoms = tuple(part for part in parts if isinstance(part, Word | Phrase))
    telling = tuple(part for part in atoms if not isinstance(part, Word) or part.word not in IDLE) or atoms
    if _is_question(text, len(atoms)):
        query = And(telling) if len(telling) > 1 else telling[0]
    typed = _once(telling)
    parts = _once([one for part in telling for one in _pairs(part)])[:_MOST_PARTS]
    return Question(query, parts, tuple(map(_as_typed, typed)))


def _once(parts: Sequence[Word | Phrase]) -> tuple[Word | Phrase, ...]:
    """Return parts, each form once."""
    different = {tuple(map(form_of, part.words)): part for part in reversed(parts)}
    return tuple(part for part in parts if different[tuple(map(form_of, part.words))] is part)


def _pairs(part: Word | Phrase) -> Sequence[Word | Phrase]:
    """Return the telling pairs of characters of a text without spaces; the part itself for other texts and short ones."""
    if part.attribute or len(part.words) < _FEWEST_PAIRS or not any(map(_is_pair, part.words)):
        return (part,)
    telling = [word for word in part.words if not _IDLE_PAIR.fullmatch(word)]
    return [Word(None, word) for word in telling or part.words]


def _is_pair(word: str) -> bool:
    """Return whether a word is characters of a script without spaces."""
    return all(char_class(char) is CharClass.PAIR for char in word)


def _as_typed(part: Word | Phrase) -> str:
    """Return a part as a person types it: pairs of characters put together."""
    if not any(map(_is_pair, part.words)):
        return str(part)
    typed = part.words[0]
    for word in part.words[1:]:
        typed += word[1:] if _is_pair(word) and typed[-1] == word[0] else word
    return typed


def _is_question(text: str, words: int) -> bool:
    """Return whether a text of this many words is a question, by its first word or a question mark."""
    first = fold_case(text.split(maxsplit=1)[0])
    return text.rstrip().endswith(("?", "\uff1f")) or first in _ASKING or (first in _HELPING and words > 2)


def describe_match(question: Question, whole: int, total: int, spellings: Mapping[str, str]) -> str:
    """Return a note on how an answer was found: which words were respelt, and that few pages have all of them.

    `whole` documents hold all words, `total` were found.
    """
    notes = [f"No page has \u201c{word}\u201d; searched for \u201c{other}\u201d." for word, other in spellings.items()]
    if question.some and whole < FEW:
        words = ", ".join(question.typed)
        if not total:
            notes.append(f"No page has any of: {words}.")
        elif not whole:
            notes.append(f"No page has all of: {words}. These have some of them.")
        elif total > whole:
            have = "document has" if whole == 1 else "documents have"
            notes.append(f"Only {whole} {have} all of: {words}. The others have some of them.")
    return " ".join(notes)
