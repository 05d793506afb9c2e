"""Why two pages are related: the terms they share and the pages that cite them."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Origin
from pagekin.hypertext import Corpus, fold_case
from pagekin.similarity.answers import Query
from pagekin.similarity.documents import Documents
from pagekin.similarity.options import Citation, SharedTerm
from pagekin.store import Numbering

Array = npt.NDArray[Any]
Closeness = Callable[[Array, str], Array]
"""How like some pages are to what was asked about and to an answer, given by its address."""
Counting = Callable[[Array, str], Array]
"""Which of some pages have a link to an address that counts: neither furniture nor an entry of a page that only lists."""
TERMS = 10
CITATIONS = 3
AROUND = 90
"""Characters before and after a link that are told."""
LINK_TEXT = 160
"""Characters of a link's own words that are told."""
_AMID = 40
"""Characters around a link from which on it stands amid a text."""
_READ = 2
"""How many times as many texts are read as citations are wanted."""
_COMPARED = 512
"""Citing pages, those with the fewest links, that are compared with what they cite."""
_STRAY_SPACE = re.compile(r" (?=[,.;:!?)\]](?: |$)|['’]s\b)|(?<=[(\[]) ")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_SPACE, _WORD = re.compile(r"\s+"), re.compile(r"\w+")


def shared_terms(documents: Documents, query: Query, document: int, count: int = TERMS) -> tuple[SharedTerm, ...]:
    """Return the terms that a query shares with a document, those that count most first."""
    part, own = documents.numbering.place(document)
    corpus, bags = documents.shards[part].corpus, documents.shards[part].bags
    terms, weights = bags.bag(own)
    asked, known = query.terms_in(part)
    common, mine, theirs = np.intersect1d(asked, terms, assume_unique=True, return_indices=True)
    least = np.minimum(query.weights[known][mine], weights[theirs]).astype(np.float64)
    shared = float(np.sum(least))
    union = query.total + float(np.sum(weights, dtype=np.float64)) - shared
    origins, query_origins = bags.origins(own)[theirs], query.origins[known][mine]
    return tuple(
        SharedTerm(
            term=bags.term_text(corpus, int(common[i])),
            share=float(least[i]) / shared,
            contribution=float(least[i]) / union,
            origins=tuple(Origin(int(origins[i])).names()),
            query_origins=tuple(Origin(int(query_origins[i])).names()),
        )
        for i in np.lexsort((common, -least))[:count].tolist()
        if shared > 0
    )


def links_to(corpus: Corpus, url: int) -> tuple[Array, Array]:
    """Return (anchors, pages): one link from each other page to an address, preferably one with words."""
    anchors = corpus.anchors_in(url).astype(np.int64)
    if not len(anchors):
        return anchors, anchors
    pages = np.searchsorted(corpus.pages.anchors, anchors.astype(corpus.pages.anchors.dtype), side="right") - 1
    wordless = np.asarray(corpus.anchors.length[anchors]) == 0
    order = np.lexsort((anchors, wordless, pages))
    anchors, pages = anchors[order], pages[order]
    # Older captures of a page follow the newest: of all of them one link is enough.
    urls = np.asarray(corpus.pages.url)[pages]
    first = np.append(True, urls[1:] != urls[:-1]) & (urls != url)
    return anchors[first], pages[first]


class Citations:
    """Quotes links to explain answers about the addresses `asked`; reads each page's text once.

    Links and pages of several shards have numbers of the whole.
    """

    def __init__(
        self,
        corpora: Sequence[Corpus],
        asked: Iterable[str] = (),
        closeness: Closeness | None = None,
        counting: Counting | None = None,
    ) -> None:
        self._corpora = tuple(corpora)
        self._anchors = Numbering(len(corpus.anchors.target) for corpus in corpora)
        self._pages = Numbering(map(len, corpora))
        self._closeness, self._counting = closeness, counting
        self._texts: dict[int, tuple[bytes, Array]] = {}
        self._citing = np.zeros(len(self._pages), np.bool_)
        for url in asked:
            self._citing[self._all_links_to(url)[1]] = True

    def _links_to(self, url: str) -> tuple[Array, Array]:
        """Return (anchors, pages) of one link from each other page to an address, without pages whose links do not count."""
        anchors, pages = self._all_links_to(url)
        if self._counting and len(pages):
            counts = self._counting(pages, url)
            anchors, pages = anchors[counts], pages[counts]
        return anchors, pages

    def _all_links_to(self, url: str) -> tuple[Array, Array]:
        every = []
        for part, corpus in enumerate(self._corpora):
            if (number := corpus.urls.find(url.encode())) >= 0:
                anchors, pages = links_to(corpus, number)
                every.append((anchors + self._anchors.bounds[part], pages + self._pages.bounds[part]))
        if len(every) == 1:
            return every[0]
        nothing = np.zeros(0, np.int64)
        return np.concatenate([nothing, *(one[0] for one in every)]), np.concatenate(
            [nothing, *(one[1] for one in every)]
        )

    def _links_of(self, pages: Array) -> npt.NDArray[np.int64]:
        """Return the number of links on each page."""
        links = np.empty(len(pages), np.int64)
        for part, places, own in self._pages.split(pages):
            bounds = self._corpora[part].pages.anchors
            links[places] = np.asarray(bounds[own + 1]).astype(np.int64) - np.asarray(bounds[own]).astype(np.int64)
        return links

    def of(self, anchor: int) -> Citation:
        """Quote a link with the text of its line around it."""
        return self._cite(*self._read_around(anchor), False)

    def best_for(self, url: str, shared: Collection[str] = (), count: int = CITATIONS) -> tuple[Citation, ...]:
        """Return links to an address from different pages; those that explain best why it is an answer come first.

        First from pages that link to what was asked about, too. Of these, from pages that are like both, if that can be told,
        and then from pages with few links, since a page that links to little means more by it than a list of everything; so
        few texts have to be read. Of what these say, links amid a text come before those in menus, and then lines with more of
        the words that are shared. Links without words, such as arrows to the next page, count only where there are no others.
        """
        anchors, pages = self._links_to(url)
        both = self._citing[pages]
        words = {fold_case(word) for word in shared}
        order = np.lexsort((pages, self._links_of(pages), ~both))
        if self._closeness and len(order) > 1:
            some = order[:_COMPARED]
            order = some[np.lexsort((-self._closeness(pages[some], url), ~both[some]))]
        read = []
        for place in order[: _READ * count].tolist():
            page, left, text, right = self._read_around(int(anchors[place]))
            held = len(words & set(_WORD.findall(fold_case(f"{left} {text} {right}")))) if words else 0
            rank = not both[place], len(left) + len(right) < _AMID, -held
            read.append((rank, self._cite(page, left, text, right, bool(both[place]))))
        citations = [citation for _rank, citation in sorted(read, key=lambda one: one[0])]
        return tuple(([one for one in citations if one.text] or citations)[:count])

    def _read_around(self, anchor: int) -> tuple[int, str, str, str]:
        """Return (the page of a link; its line's text before it, in it and after it, cut to a readable length)."""
        part, own = self._anchors.place(anchor)
        corpus = self._corpora[part]
        page_there = corpus.page_of_anchor(own)
        page = self._pages.bounds[part] + page_there
        if page not in self._texts:
            self._texts[page] = corpus.text_bytes(page_there)
        data, at = self._texts[page]
        start, length = int(corpus.anchors.start[own]), int(corpus.anchors.length[own])
        begin = int(at[start]) if start < len(at) else len(data)
        end = begin
        if length:
            end = max(begin, int(at[start + length]) if start + length < len(at) else len(data))
        line, close = data.rfind(b"\n", 0, begin) + 1, data.find(b"\n", end)
        left = data[max(line, begin - 4 * AROUND) : begin].decode("utf-8", "ignore")
        text = data[begin : min(end, begin + 4 * LINK_TEXT)].decode("utf-8", "ignore")
        right = data[end : min(close if close >= 0 else len(data), end + 4 * AROUND)].decode("utf-8", "ignore")
        words = len(text)
        while words and not (text[words - 1].isalnum() or unicodedata.category(text[words - 1])[0] == "M"):
            words -= 1
        text, right = _close_bracket(text[:words], text[words:] + right)
        return page, left, text, right.partition("\n")[0]

    def _cite(self, page: int, left: str, text: str, right: str, both: bool) -> Citation:
        part, own = self._pages.place(page)
        return Citation(
            source=self._corpora[part].page_url(own),
            text=" ".join(text.split())[:LINK_TEXT],
            left=cut_text(tidy_text(left)[::-1], AROUND)[::-1],
            right=cut_text(tidy_text(right), AROUND),
            cites_both=both,
        )


def _close_bracket(text: str, right: str) -> tuple[str, str]:
    """Return a link's words and what follows them; a bracket that opens in the link closes in it, too."""
    last = right[:1]
    if last and last in _BRACKETS and text.count(_BRACKETS[last]) > text.count(last):
        return text + last, right[1:]
    return text, right


def cut_text(text: str, most: int) -> str:
    """Return the beginning of a text, cut between words where it is too long."""
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


def tidy_text(text: str) -> str:
    """Return a text with single spaces, and none before a comma or after a bracket, where a link began or ended."""
    return _STRAY_SPACE.sub("", _SPACE.sub(" ", text))
