"""How a leaf understands a question: words that no page has are spelt otherwise, and where few pages hold all, some will do."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from pagekin.collection.messages import Match
from pagekin.collection.queries import parse_query, relaxed_query
from pagekin.store import Array
from pagekin.text import NearWords, Query, describe_match, form_of, read_question

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

T = TypeVar("T")
_COMMON = 100_000
"""The most words, the commonest, among which those that are spelt alike are looked for."""


def corpus_words(collection: "Collection") -> NearWords:
    """Return the commonest words of a collection, to look for some that are spelt alike; its companion."""
    corpus = collection.corpus
    return NearWords([corpus.word(term) for term in range(min(_COMMON, len(corpus.terms)))])


def respell(text: str, is_known: Callable[[str], bool], near: Callable[[], NearWords]) -> tuple[str, dict[str, str]]:
    """Return (a question in which words that nobody has are spelt otherwise, these words with the nearest known ones)."""
    words = dict.fromkeys(word for part in read_question(text).parts for word in part.words)
    unknown = [word for word in words if not is_known(word)]
    nearest = {word: other[0] for word in unknown if (other := near().near(word, 1))}
    return (read_question(text).respell(nearest), nearest) if nearest else (text, {})


def _spell(collection: "Collection", text: str) -> tuple[str, Mapping[str, str]]:
    index = collection.text
    return respell(
        text, lambda word: index.look_up(form_of(word)).pages > 0, lambda: collection.companion(corpus_words)
    )


def ask_best(
    collection: "Collection", text: str, match: Match, ask: Callable[[Query], T], total_of: Callable[[T], int]
) -> tuple[T, Query, str]:
    """Return (what `ask` finds, the query that it was asked, a note that says how the question was understood).

    If few documents hold all words of a question, it is asked again for those that hold some.
    """
    if match != "best":
        query = parse_query(text, match)
        return ask(query), query, ""
    spelt, spellings = _spell(collection, text)
    question = read_question(spelt)
    found, query = ask(question.query), question.query
    whole = total_of(found)
    if some := relaxed_query(question, match, whole):
        found, query = ask(some), some
    return found, query, describe_match(question, whole, total_of(found), spellings)


def effective_query(
    collection: "Collection", text: str, match: Match = "best", keep: Array | None = None
) -> tuple[Query, str]:
    """Return (what documents must match, a note): all that was asked for, or some of it where few match all."""
    if match != "best":
        return parse_query(text, match), ""
    found = ask_best(
        collection, text, match, lambda query: collection.text.search(query, 0, keep=keep, documents=collection.documents),
        lambda hits: hits.total,
    )  # fmt: skip
    return found[1:]
