"""Search from the browser's own search field: a description of the search, and words while one types."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Protocol
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from litestar import Response, get
from litestar.params import Parameter
from msgspec import Struct

from pagekin.hypertext import Corpus, fold
from pagekin.labels import ContentLabel
from pagekin.labels.model import plain
from pagekin.routers.http import served
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import RouterError
from pagekin.routers.router import Router
from pagekin.text import tokens
from pagekin.text.analysis import form_of
from pagekin.web import addresses
from pagekin.web.collection import Collection, collection_of
from pagekin.web.misspelt import NearWords
from pagekin.web.shown import Asking, short, templates

MOST = 8
"""Words that are offered."""
DESCRIPTION = "application/opensearchdescription+xml"
SUGGESTIONS = "application/x-suggestions+json"
_LOOKED_AT = 8
"""How many times as many words are looked at, since some are forms of one another."""
_FREQUENT = 0.2
"""A form of a word that is at least so often written as the commonest is offered instead if it is shorter."""
_COMMON = 100_000
"""Words, the commonest, among which one is looked for that may have been meant."""
_SHORT, _LONG = 16, 48
"""Characters of the names, by the specification."""
_HOST = re.compile(r"[A-Za-z0-9._\-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_LAST_WORD = re.compile(r"\w+\Z")
_PLAIN_WORDS = re.compile(r"\w+( \w+)*")
_BEGUN, _TITLES = 3, 3
"""Characters from which on titles are offered, and how many."""
_MOST_PAGES, _LONGEST_TITLE = 50_000, 60
_HIGHEST = "\U0010ffff"


class Description(Struct, frozen=True, kw_only=True):
    """What a browser needs to know of a search."""

    short_name: str
    long_name: str
    description: str
    icon: str
    results: str
    data: str
    suggestions: str
    itself: str


def origin(request: Asking) -> str:
    """The scheme and host by which browsers reach us: as we were told, or else those that a request was sent to.

    What a proxy says of them in headers anyone can say; the server's own address stands in for a host that cannot be one.
    """
    if told := addresses.ORIGIN.get():
        return told
    named = request.headers.get("host", "")
    if not _HOST.fullmatch(named):
        server: Any = request.scope.get("server") or ("localhost", 80)
        name = f"[{server[0]}]" if ":" in server[0] else server[0]
        named = f"{name}:{server[1]}"
    return f"{request.scope['scheme']}://{named}"


@get("/opensearch.xml", media_type=DESCRIPTION)
async def opensearch(request: Asking) -> Response[bytes]:
    """A description of the search here, for browsers."""
    name = plain(served(request.scope).service.name)
    at, asked = origin(request), "?q={searchTerms}"
    view = Description(
        short_name=short(name, _SHORT),
        long_name=short(f"Search {name}", _LONG),
        description=short(f"Search the pages of {name} with Pagekin.", 1_000),
        icon=at + addresses.static("icon.svg"),
        results=at + addresses.find("") + asked,
        data=at + addresses.find("") + addresses.JSON + asked,
        suggestions=at + addresses.complete() + asked,
        itself=at + addresses.service("opensearch.xml"),
    )
    page = templates().get_template("opensearch.xml").render(view=view)
    return Response(page.encode(), media_type=DESCRIPTION, headers={"Cache-Control": "no-cache"})


@get("/complete", media_type=SUGGESTIONS)
async def complete(
    request: Asking,
    q: Annotated[str, Parameter(max_length=2000, description="What has been typed.")] = "",
) -> Response[bytes]:
    """How a query that is being typed may go on: its last word completed, by the words that stand here most often."""
    words = completions(served(request.scope).service, q)
    headers = {"Cache-Control": "max-age=60"}
    return Response(msgspec.json.encode([q, words]), media_type=SUGGESTIONS, headers=headers)


def completions(service: Leaf | Router, q: str, most: int = MOST) -> list[str]:
    """The query with its last word completed, the most frequent first: a form of each stem, then if there is room the others.

    The last of them are titles of pages that begin as the query does, if there are such.
    """
    last = _LAST_WORD.search(q)
    begun = fold(last[0]) if last else ""
    if not last or not begun:
        return []
    try:
        found = _vocabulary(service).beginning(begun, _LOOKED_AT * most)
    except RouterError:
        return []
    of_stem: dict[str, dict[str, int]] = {}
    for word, count in found:
        if word != begun:
            of_stem.setdefault(form_of(word), {})[word] = count
    first = map(_best_form, of_stem.values())
    words = dict.fromkeys([*first, *(word for word, _count in found)])
    completed = [q[: last.start()] + plain(word) for word in words]
    titles = _titles(service, q)
    return list(dict.fromkeys([*completed[: most - len(titles)], *titles, *completed]))[:most]


_titles_of: WeakKeyDictionary[Collection, list[str]] = WeakKeyDictionary()


def _titles(service: Leaf | Router, q: str) -> list[str]:
    """A few titles that begin with what was typed, as they are searched for; a collection that is too large offers none."""
    if not isinstance(service, Leaf) or len(q) < _BEGUN or not _PLAIN_WORDS.fullmatch(q):
        return []
    collection = collection_of(service)
    if len(collection.corpus) > _MOST_PAGES:
        return []
    if collection not in _titles_of:
        titles = (" ".join(tokens(collection.leaf.titles.text(page))) for page in range(len(collection.corpus)))
        _titles_of[collection] = sorted({title for title in titles if " " in title and len(title) <= _LONGEST_TITLE})
    known, begun = _titles_of[collection], fold(q)
    first = bisect_left(known, begun)
    near = known[first : bisect_left(known, begun + _HIGHEST)]
    return sorted((title for title in near if title != begun), key=lambda title: (len(title), title))[:_TITLES]


def _best_form(forms: dict[str, int]) -> str:
    """Of the written forms of a word, with how often each is met, the shortest frequent one."""
    frequent = _FREQUENT * max(forms.values())
    return min((word for word in forms if forms[word] >= frequent), key=lambda word: (len(word), -forms[word]))


class Vocabulary(Protocol):
    """Words that can be looked up by how they begin."""

    def beginning(self, begun: str, most: int) -> list[tuple[str, int]]:
        """(word, how often it is met) of the words that begin so, the most frequent first."""
        ...

    def commonest(self, most: int) -> list[str]:
        """The most frequent words, the first first."""
        ...


class CorpusWords:
    """The words of a collection, as they stand on pages: numbered by frequency, and in the order of their bytes."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._order = corpus.term_table.order

    def _place(self, key: bytes) -> int:
        low, high = 0, len(self._order)
        while low < high:
            middle = (low + high) // 2
            if self._corpus.terms[int(self._order[middle])] < key:
                low = middle + 1
            else:
                high = middle
        return low

    def beginning(self, begun: str, most: int) -> list[tuple[str, int]]:
        """(word, how often it is met) of the words that begin so, the most frequent first."""
        key = begun.encode()
        # No byte of UTF-8 is 255, so this lies behind all that begin so.
        terms = np.asarray(self._order[self._place(key) : self._place(key + b"\xff")])
        if len(terms) > most:
            terms = np.partition(terms, most - 1)[:most]
        counts = self._corpus.term_table.count
        return [(self._corpus.word(term), int(counts[term])) for term in np.sort(terms).tolist()]

    def commonest(self, most: int) -> list[str]:
        """The most frequent words, the first first."""
        return [self._corpus.word(term) for term in range(min(most, len(self._corpus.terms)))]


class LabelWords:
    """The words that a router knows from labels, with how often they occur in all sub-clusters."""

    def __init__(self, label: ContentLabel) -> None:
        counted: Counter[str] = Counter()
        for part in label.clusters or (label,):
            for term in label.rows(part.terms):
                counted[term.word] += term.tf
        self.label = label
        self._words: Sequence[str] = sorted(counted)
        self._counts = np.array([counted[word] for word in self._words], np.int64)

    def beginning(self, begun: str, most: int) -> list[tuple[str, int]]:
        """(word, how often it is met) of the words that begin so, the most frequent first."""
        first, last = bisect_left(self._words, begun), bisect_left(self._words, begun + _HIGHEST)
        best = np.argsort(-self._counts[first:last], kind="stable")[:most] + first
        return [(self._words[place], int(self._counts[place])) for place in best.tolist()]

    def commonest(self, most: int) -> list[str]:
        """The most frequent words, the first first."""
        return [self._words[place] for place in np.argsort(-self._counts, kind="stable")[:most].tolist()]


_near: WeakKeyDictionary[Any, NearWords] = WeakKeyDictionary()


def words_near(service: Leaf | Router, word: str, most: int) -> list[str]:
    """The words here that are spelt most like a (folded) one, the commonest first of those that are as like."""
    try:
        vocabulary = _vocabulary(service)
    except RouterError:
        return []
    if vocabulary not in _near:
        _near[vocabulary] = NearWords(vocabulary.commonest(_COMMON))
    return _near[vocabulary].near(word, most)


_of_collection: WeakKeyDictionary[Collection, CorpusWords] = WeakKeyDictionary()
_of_router: WeakKeyDictionary[Router, LabelWords] = WeakKeyDictionary()


def _vocabulary(service: Leaf | Router) -> Vocabulary:
    """The words of a collection, or of a router's label as it is now."""
    if isinstance(service, Leaf):
        collection = collection_of(service)
        if collection not in _of_collection:
            _of_collection[collection] = CorpusWords(collection.corpus)
        return _of_collection[collection]
    known = _of_router.get(service)
    if known is None or known.label is not service.label:
        known = _of_router[service] = LabelWords(service.label)
    return known
