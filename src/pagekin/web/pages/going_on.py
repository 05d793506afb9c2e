"""How to go on from the results of a query: other words, filters, what was meant, examples."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import fold
from pagekin.hypertext.writing import written
from pagekin.labels import ContentLabel
from pagekin.labels.model import plain
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import Found, RouterError
from pagekin.routers.router import Router
from pagekin.routers.routing import parsed
from pagekin.text import Query, QueryError, tokens
from pagekin.text.analysis import form_of
from pagekin.web import addresses as to
from pagekin.web.collection import Collection, collection_of
from pagekin.web.languages import language_name
from pagekin.web.pages.opensearch import words_near
from pagekin.web.pages.result_views import Choice, Choices, Link
from pagekin.web.queries import exchanged, words_of
from pagekin.web.question import Question
from pagekin.web.shown import host

TERMS = 8
"""Terms in each list."""
_PAGES = 10
"""Pages that tell how words are written."""
_MOST_SITES, _MOST_YEARS, _MEANT = 50, 12, 5
_A_DAY = 86_400


def examples(service: Leaf | Router) -> list[Link]:
    """Queries that can be typed here, each with what it finds."""
    try:
        label = service.label
    except RouterError:
        return []
    words = [cluster.heaviest[:2] for cluster in label.clusters if len(cluster.heaviest) > 1][:3]
    if not words:
        words = [label.heaviest[:2]] if len(label.heaviest) > 1 else []
    if not words:
        return []
    (one, two), (other, _more) = words[0], words[-1]
    found = [
        (f"{one} {two}", "both words"),
        (f"{one} OR {other}", "either of two"),
        (f"{one} NOT {two}", "one without the other"),
    ]
    found += [(f"title:{other}", "a word in the title")]
    if isinstance(service, Leaf) and (phrase := _phrase(collection_of(service), label)):
        found.append((f'"{phrase}"', "words in this order"))
    return [Link(text=text, about=about, address=to.find(text)) for text, about in found]


def _phrase(collection: Collection, label: ContentLabel) -> str:
    """The first words of a central page's title that has several."""
    for cluster in label.clusters:
        for url in cluster.urls[:3]:
            pages = collection.corpus.pages_of(collection.corpus.url_number(url))
            words = tokens(collection.leaf.titles.text(pages[0])) if pages else []
            if 2 <= len(words) <= 4:
                return " ".join(words)
    return ""


class GoingOn:
    """Ways on from a question."""

    def __init__(self, service: Leaf | Router, collection: Collection | None, asked: Question, query: Query) -> None:
        self.service, self.collection, self.asked, self.query = service, collection, asked, query

    def written(self, words: Sequence[str], documents: Sequence[Found]) -> dict[str, str]:
        """Words as those who wrote the results, or what was found in topics, write them, as far as that is here."""
        if not self.collection:
            return {}
        corpus = self.collection.corpus
        pages = [page for one in documents[:_PAGES] for page in corpus.pages_of(corpus.url_number(one.url))[:1]]
        pages = pages or self.collection.leaf.text.search(self.query, _PAGES).pages
        return dict(zip(words, written(corpus, words, pages), strict=True))

    def terms(
        self,
        words: Iterable[str],
        changed: Callable[[str, Query, str], str],
        asked_for: set[str],
        forms: dict[str, str],
    ) -> list[Link]:
        """Links that put words into the query; without forms of its own words, and those that change nothing."""
        text = self.asked.q
        queries = {word: changed(text, self.query, word) for word in words if form_of(fold(word)) not in asked_for}
        found = [
            Link(text=plain(forms.get(word, word)), address=self.asked.address(q=query))
            for word, query in queries.items()
            if query != text
        ]
        return found[:TERMS]

    def active(self) -> list[Link]:
        """The filters that are set."""
        asked = self.asked
        set_to = {"site": asked.site, "since": asked.since, "until": asked.until, "language": asked.language}
        names = {"site": "site", "since": "from", "until": "to", "language": "language"}
        return [
            Link(text=f"{names[name]} {plain(value)}", address=asked.address(**{name: ""}))
            for name, value in set_to.items()
            if value.strip()
        ]

    def choices(self, results: Sequence[Found]) -> Choices:
        """What filters can be set to: of a collection all that its matching pages have, of a network what results have."""
        if not self.collection:
            found = [one for one in results if one.kind == "document"]
            hosts = Counter(host(one.url) for one in found)
            codes = Counter(one.language for one in found if one.language)
            return Choices(
                sites=[Choice(value=name, name=name) for name, _count in hosts.most_common(_MOST_SITES)],
                languages=[Choice(value=code, name=language_name(code)) for code in sorted(codes)],
            )
        leaf, corpus = self.collection.leaf, self.collection.corpus
        there = leaf.text.found(self.query, leaf.documents)
        sites = _counted(np.asarray(corpus.pages.host)[there], corpus.hosts.text)
        languages = _counted(np.asarray(corpus.pages.language)[there], corpus.facts["language_codes"].__getitem__)
        dates = np.asarray(corpus.pages.date)[there].astype(np.int64)
        days = np.unique(dates[dates > 0] // _A_DAY)
        return Choices(
            sites=[Choice(value=name, name=plain(name), count=count) for name, count in sites[:_MOST_SITES]],
            languages=[Choice(value=code, name=language_name(code), count=count) for code, count in languages],
            years=self._years(dates[dates > 0]),
            dates=len(days) > 1,
            closed=len(sites) <= _MOST_SITES,
        )

    def _years(self, dates: npt.NDArray[np.int64]) -> list[Link]:
        """The years of some days, the last first, each a link to what is of it; none where there are too many, or is only one."""
        years = dates.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64) + 1970
        found = _counted(years, str)
        if not 1 < len(found) <= _MOST_YEARS:
            return []
        links = []
        for year, count in sorted(found, reverse=True):
            since, until = f"{year:0>4}-01-01", f"{year:0>4}-12-31"
            on = (self.asked.since, self.asked.until) == (since, until)
            address = self.asked.address(since="", until="") if on else self.asked.address(since=since, until=until)
            links.append(Link(text=year, about=f"{count:,}", address=address, on=on))
        return links

    def meant(self) -> list[Link]:
        """The query with a word that nobody uses changed into one that is spelt alike, if that finds something."""
        words = list(dict.fromkeys(one.word for one in words_of(self.query)))
        found: dict[str, int] = {}
        for word in words:
            if self.collection and self._finds(word):
                continue
            texts = (exchanged(self.asked.q, word, other) for other in words_near(self.service, word, 2 * _MEANT))
            found |= {text: count for text in texts if text != self.asked.q and (count := self._finds(text))}
        # The words beside it tell which of those that are spelt alike was meant.
        order = sorted(found, key=lambda text: -found[text]) if len(words) > 1 else found
        return [Link(text=plain(text), address=self.asked.address(q=text)) for text in order][:_MEANT]

    def _finds(self, text: str) -> int:
        """How many a query finds here; 1 for a network, of which that is not known before all are asked."""
        if not self.collection:
            return 1
        try:
            return self.collection.leaf.text.search(parsed(text), 1).total
        except QueryError:
            return 0


def _counted(numbers: npt.NDArray[Any], name: Callable[[int], str]) -> list[tuple[str, int]]:
    """(name, how often) of some numbers, the most frequent first; without those that have no name."""
    values, counts = np.unique(numbers, return_counts=True)
    found = [(name(value), count) for value, count in zip(values.tolist(), counts.tolist(), strict=True)]
    return sorted((one for one in found if one[0]), key=lambda one: (-one[1], one[0]))
