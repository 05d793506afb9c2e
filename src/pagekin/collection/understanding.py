"""How a leaf interprets a question: it respells words that no page has, and accepts some of the words if few pages hold all."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from pagekin.collection.messages import Match
from pagekin.collection.queries import parse_query, relaxed_query
from pagekin.hypertext import Corpus
from pagekin.text import NearWords, Query, describe_match, form_of, read_question

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

T = TypeVar("T")
_COMMON = 100_000
"""How many words, the most common ones, are considered for respelling."""


def corpus_words(collection: "Collection") -> NearWords:
    """Return the most common words of a collection, as candidates for respelling; a companion of it."""
    return NearWords(_commonest([collection.corpus]))


def _commonest(corpora: Sequence[Corpus]) -> list[str]:
    """Return the most common words of all shards together; ties are ordered by bytes.

    A word beyond the first 200,000 of a shard is not counted there, so the last of very many words may be others.
    """
    if len(corpora) == 1:
        return [corpora[0].word(term) for term in range(min(_COMMON, len(corpora[0].terms)))]
    counts: Counter[bytes] = Counter()
    for corpus in corpora:
        each = corpus.term_table.count[: 2 * _COMMON].tolist()
        for term, count in enumerate(each):
            counts[corpus.terms[term]] += count
    first = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:_COMMON]
    return [word.decode("utf-8", "replace") for word, _count in first]


class KnownWords:
    """The words of a collection, or of the shards of one."""

    def __init__(self, parts: Sequence["Collection"]) -> None:
        self._parts = parts

    def holds(self, word: str) -> bool:
        """Return whether a page has a word."""
        return any(part.text.holds(form_of(word)) for part in self._parts)

    @cached_property
    def near(self) -> NearWords:
        """Return the most common words, as candidates for respelling."""
        if len(self._parts) == 1:
            return self._parts[0].companion(corpus_words)
        return NearWords(_commonest([part.corpus for part in self._parts]))


def respell(text: str, is_known: Callable[[str], bool], near: Callable[[], NearWords]) -> tuple[str, dict[str, str]]:
    """Return (the question with unknown words respelt, the unknown words with their replacements)."""
    words = dict.fromkeys(word for part in read_question(text).parts for word in part.words)
    unknown = [word for word in words if not is_known(word)]
    nearest = {word: other[0] for word in unknown if (other := near().near(word, 1))}
    return (read_question(text).respell(nearest), nearest) if nearest else (text, {})


def ask_best(
    words: KnownWords, text: str, match: Match, ask: Callable[[Query], T], total_of: Callable[[T], int]
) -> tuple[T, Query, str]:
    """Return (the result of `ask`, the query it was given, a note on how the question was interpreted).

    If few documents hold all words of a question, it is asked again for those that hold some.
    """
    if match != "best":
        query = parse_query(text, match)
        return ask(query), query, ""
    spelt, spellings = respell(text, words.holds, lambda: words.near)
    question = read_question(spelt)
    hits, query = ask(question.query), question.query
    whole = total_of(hits)
    if some := relaxed_query(question, match, whole):
        hits, query = ask(some), some
    return hits, query, describe_match(question, whole, total_of(hits), spellings)


def effective_query(collection: "Collection", text: str) -> tuple[Query, str]:
    """Return (the query that documents must match, a note): all words, or some of them if few documents match all."""
    best = ask_best(
        collection.whole.words, text, "best",
        lambda query: collection.text.search(query, 0, documents=collection.documents), lambda hits: hits.total,
    )  # fmt: skip
    return best[1:]
