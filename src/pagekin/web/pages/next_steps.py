"""Suggest next steps from the results of a query: other words, filters, other spellings, examples."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from pagekin.collection import Hit, SearchRequest, Service, ServiceError, count_facets
from pagekin.hypertext import common_spellings
from pagekin.labels import ContentLabel, plain_text
from pagekin.text import Query, QueryError, Word, tokens, wanted_words
from pagekin.web import addresses as to
from pagekin.web.collection_view import CollectionView, in_collection
from pagekin.web.languages import language_name
from pagekin.web.pages.result_views import Choice, Choices, Link
from pagekin.web.queries import exchange_word
from pagekin.web.question import Question
from pagekin.web.rendering import host
from pagekin.web.vocabulary import words_near

TERMS = 8
"""The most terms in each list."""
_PAGES = 10
"""Pages that show how words are written."""
_MOST_SITES, _MOST_YEARS, _SPELLINGS = 50, 12, 5


async def example_queries(service: Service) -> list[Link]:
    """Return example queries for this collection, each with what it finds."""
    examples = word_examples(service)
    if not service.leaf or not examples:
        return examples
    phrase = await in_collection(service, _title_phrase, service.label)
    return [*examples, _example(f'"{phrase}"', "words in this order")] if phrase else examples


def word_examples(service: Service) -> list[Link]:
    """Return the examples that need only the label; none without a label."""
    try:
        label = service.label
    except ServiceError:
        return []
    words = [cluster.heaviest[:2] for cluster in label.clusters if len(cluster.heaviest) > 1][:3]
    if not words:
        words = [label.heaviest[:2]] if len(label.heaviest) > 1 else []
    if not words:
        return []
    (one, two), (other, _more) = words[0], words[-1]
    return [
        _example(f"{one} {two}", "both words"),
        _example(f"{one} OR {other}", "either of two"),
        _example(f"{one} NOT {two}", "one without the other"),
        _example(f"title:{other}", "a word in the title"),
    ]


def _example(query: str, about: str) -> Link:
    return Link(text=query, about=about, address=to.find(query))


def _title_phrase(collection: CollectionView, label: ContentLabel) -> str:
    """Return the words of the first short title among the central pages."""
    for cluster in label.clusters:
        for page in map(collection.page_at, cluster.urls[:3]):
            words = tokens(collection.collection.titles.text(page)) if page >= 0 else []
            if 2 <= len(words) <= 4:
                return " ".join(words)
    return ""


class NextSteps:
    """Next steps from a question; for a leaf, computed in the thread of its collection."""

    def __init__(self, service: Service, collection: CollectionView | None, question: Question, query: Query) -> None:
        self.service, self.collection, self.question, self.query = service, collection, question, query

    def written_forms(self, words: Sequence[str], hits: Sequence[Hit]) -> dict[str, str]:
        """Return words in the spelling of the hits, or of the best matches; nothing for a network."""
        if not self.collection:
            return {}
        urls = [hit.url for hit in hits[:_PAGES] if hit.kind == "document"]
        if not urls:
            best = self.collection.collection.search(SearchRequest(query=self.question.q, limit=_PAGES, raw=True))
            urls = [hit.url for hit in best.results]
        pages = [page for page in map(self.collection.page_at, urls) if page >= 0]
        return dict(zip(words, common_spellings(self.collection.corpus, words, pages), strict=True))

    def term_links(
        self, words: Iterable[str], change: Callable[[str, Query, str], str], forms: Mapping[str, str]
    ) -> list[Link]:
        """Return links that add words to the query, without those that change nothing."""
        text = self.question.q
        queries = {word: change(text, self.query, word) for word in words}
        return [
            Link(text=plain_text(forms.get(word, word)), address=self.question.address(q=query))
            for word, query in queries.items()
            if query != text
        ]

    def active_filters(self) -> list[Link]:
        """Return the active filters, each with a link to the question without it."""
        names = {"site": "site", "since": "from", "until": "to", "language": "language"}
        return [
            Link(text=f"{said} {plain_text(value)}", address=self.question.address(**{name: ""}))
            for name, said in names.items()
            if (value := getattr(self.question, name)).strip()
        ]

    def filter_choices(self, hits: Sequence[Hit]) -> Choices:
        """Return the values of filters: those of all matching pages in a collection, or of a network's hits."""
        if not self.collection:
            documents = [hit for hit in hits if hit.kind == "document"]
            hosts = Counter(host(hit.url) for hit in documents)
            codes = sorted({hit.language for hit in documents if hit.language})
            return Choices(
                sites=[Choice(value=name, name=name) for name, _count in hosts.most_common(_MOST_SITES)],
                languages=[Choice(value=code, name=language_name(code)) for code in codes],
            )
        facets = count_facets(self.collection.collection, self.question.q)
        return Choices(
            sites=[
                Choice(value=name, name=plain_text(name), count=count) for name, count in facets.sites[:_MOST_SITES]
            ],
            languages=[Choice(value=code, name=language_name(code), count=count) for code, count in facets.languages],
            years=self._year_links(facets.years),
            dates=facets.days > 1,
            closed=len(facets.sites) <= _MOST_SITES,
        )

    def _year_links(self, years: Sequence[tuple[str, int]]) -> list[Link]:
        """Return links to the matches of each year, the last first; none for a single year or too many."""
        if not 1 < len(years) <= _MOST_YEARS:
            return []
        links = []
        for year, count in sorted(years, reverse=True):
            since, until = f"{year}-01-01", f"{year}-12-31"
            on = (self.question.since, self.question.until) == (since, until)
            since, until = ("", "") if on else (since, until)
            address = self.question.address(since=since, until=until)
            links.append(Link(text=year, about=f"{count:,}", address=address, on=on))
        return links

    def other_spellings(self) -> list[Link]:
        """Return the query with an unused word replaced by a similar one, if that matches something."""
        words = list(dict.fromkeys(one.word for one in wanted_words(self.query) if isinstance(one, Word)))
        matches: dict[str, int] = {}
        for word in words:
            if self.collection and self._count_matches(word):
                continue
            opened = self.collection.collection if self.collection else None
            near = words_near(self.service, opened, word, 2 * _SPELLINGS)
            texts = (exchange_word(self.question.q, word, other) for other in near)
            matches |= {
                text: count for text in texts if text != self.question.q and (count := self._count_matches(text))
            }
        # The words beside it show which of those that are spelt alike was meant.
        order = sorted(matches, key=lambda text: -matches[text]) if len(words) > 1 else matches
        return [Link(text=plain_text(text), address=self.question.address(q=text)) for text in order][:_SPELLINGS]

    def _count_matches(self, text: str) -> int:
        """Return the number of documents that match a query; 1 for a network, which would have to ask everyone."""
        if not self.collection:
            return 1
        try:
            return self.collection.collection.search(SearchRequest(query=text, limit=0, raw=True, match="all")).total
        except QueryError:
            return 0
