"""The slow, obvious way to answer a query: look at every word of every page."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from pagekin.hypertext import Attribute, Boundary, Corpus
from pagekin.text import IDLE, And, Not, Or, Phrase, Query, Some, Word, form_table
from pagekin.text import form_of as stem


class Oracle:
    """Answers from the word streams alone."""

    def __init__(self, corpus: Corpus) -> None:
        table = form_table(corpus)
        names = list(table.names())
        self._same = (
            {}
            if table.same is None
            else {name: names[form] for name, form in zip(names, table.same.tolist(), strict=True)}
        )
        """Forms that stand for the same word in another language have one name."""
        stems = [self._known(stem(corpus.word(term))) for term in range(len(corpus.terms))]
        self.pages: list[list[tuple[str, int]]] = []
        for page in range(len(corpus)):
            stream = corpus.stream(page)
            words = [stems[word] for word in stream.words.tolist()]
            self.pages.append(list(zip(words, stream.attributes.tolist(), strict=True)))
        self._titles = [len(title) for title in corpus.titles]
        self._counts: list[dict[str, Counter[int]]] = [{} for _page in self.pages]
        """For each page and form, how often it stands there under which attributes."""
        for page, counts in zip(self.pages, self._counts, strict=True):
            for form, flags in page:
                counts.setdefault(form, Counter())[flags] += 1
        self._called = _link_texts(corpus, stems)
        self.openings = [frozenset(_opening(corpus, page, stems)) for page in range(len(corpus))]
        self._under = [
            {a.name.lower(): [form for form, flags in page if flags & a] for a in Attribute if a.name}
            for page in self.pages
        ]

    def _known(self, form: str) -> str:
        return self._same.get(form, form)

    def finds(self, query: Query, page: int) -> bool:
        """Whether a query finds a page."""
        if isinstance(query, And):
            return all(self.finds(part, page) for part in query.parts)
        if isinstance(query, Or | Some):
            return any(self.finds(part, page) for part in query.parts)
        if isinstance(query, Not):
            return not self.finds(query.part, page)
        if isinstance(query, Word):
            return self._stands(page, query.attribute, stem(query.word))
        fields = [query.attribute] if query.attribute else ["title", "text"]
        return any(self._in_a_row(page, field, [stem(word) for word in query.words]) for field in fields)

    def finds_together(self, query: Query, pages: Sequence[int]) -> bool:
        """Whether a query finds pages that are searched as one document."""
        if isinstance(query, And):
            return all(self.finds_together(part, pages) for part in query.parts)
        if isinstance(query, Or):
            return any(self.finds_together(part, pages) for part in query.parts)
        if isinstance(query, Not):
            return not self.finds_together(query.part, pages)
        return any(self.finds(query, page) for page in pages)

    def _in_a_row(self, page: int, attribute: str, stems: list[str]) -> bool:
        here, stems = self._under[page][attribute], [self._known(form) for form in stems]
        return any(here[at : at + len(stems)] == stems for at in range(len(here) - len(stems) + 1))

    def _stands(self, page: int, attribute: str | None, form: str) -> bool:
        return self.weight(page, attribute, form) + self.in_title(page, attribute, form) > 0

    def weight(self, page: int, attribute: str | None, form: str) -> int:
        """How much a word counts on a page outside of its title."""
        total = 0
        for flags, count in self._counts[page].get(self._known(form), {}).items():
            if not flags & Attribute.TITLE and (attribute is None or flags & Attribute[attribute.upper()]):
                total += (2 if flags & Attribute.HEADER else 1) * count
        return total

    def in_title(self, page: int, attribute: str | None, form: str) -> int:
        """How often a word stands in a page's title."""
        if attribute not in (None, "title"):
            return 0
        here = self._counts[page].get(self._known(form), {})
        return sum(count for flags, count in here.items() if flags & Attribute.TITLE)

    def search(self, query: Query, among: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """(page, score) of all pages that a query finds, in order; statistics are those of the pages `among`."""
        scores = self.scores(query, among)
        if isinstance(query, Some):
            scores = {page: self._score_of_some(query, page, scores) for page in scores}
        found = [(page, score) for page, score in scores.items() if self.finds(query, page)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def scores(self, query: Query, among: Sequence[int] | None = None) -> dict[int, float]:
        """The score of each page, whether it is found or not."""
        every = range(len(self.pages)) if among is None else among
        mean = sum(len(self.pages[page]) for page in every) / len(every)
        idf = self._rarities(query, every)
        return {page: self._score(page, idf, mean) for page in every}

    def _rarities(self, query: Query, every: Sequence[int]) -> dict[tuple[str | None, str], float]:
        """The inverse frequency of each word of a query, in the order of their names."""
        asked = sorted(set(_asked(query)), key=lambda pair: f"{pair[0]}:{pair[1]}" if pair[0] else pair[1])
        idf = {}
        for attribute, form in asked:
            df = sum(self._stands(page, attribute, form) for page in every)
            idf[attribute, form] = math.log(1.0 + (len(every) - df + 0.5) / (df + 0.5))
        return idf

    def _score_of_some(self, query: Some, page: int, scores: Mapping[int, float]) -> float:
        """Above 1 for a page that holds all words, or is called all but one and most of what was asked; below 1 for others."""
        idf = self._rarities(query, range(len(self.pages)))
        score = scores[page]
        for first, second in pairwise(query.parts):
            if isinstance(first, Word) and isinstance(second, Word):
                pair = [stem(first.word), stem(second.word)]
                if any(self._in_a_row(page, field, pair) for field in ("title", "text")):
                    score += 0.5 * (idf[None, pair[0]] + idf[None, pair[1]])
        named = [
            form for _none, form in idf if self.in_title(page, None, form) or self._called[page][self._known(form)]
        ]
        weight = sum(idf[None, form] for form in named)
        is_called = len(named) >= len(idf) - 1 and weight > 0.5 * sum(idf.values()) * (1 + 1e-9)
        return 1.0 + score if is_called or self.finds(And(query.parts), page) else score / (1.0 + score)

    def _score(self, page: int, idf: Mapping[tuple[str | None, str], float], mean: float) -> float:
        """What the words say for a page, and what its title says."""
        length = 1.2 * (1.0 - 0.75 + 0.75 * (len(self.pages[page]) / mean))
        text = title = named = 0.0
        is_opening = is_called = True
        for (attribute, form), rarity in idf.items():
            tf, times = self.weight(page, attribute, form), self.in_title(page, attribute, form)
            text += rarity * (tf * (1.2 + 1.0) / (tf + length))
            title += rarity * (12.0 * times / (times + (self._titles[page] + 10.0) / 80.0))
            called = 0.0 if times or attribute else self._called[page][self._known(form)]
            title += rarity * (5.0 * called)
            named += rarity if times or called else 0.0
            is_opening &= not attribute and self._known(form) in self.openings[page]
            is_called &= not attribute and ((times > 0 and self._titles[page] <= 300) or called * 255 > 59.5)
        square = (named / sum(idf.values())) * (named / sum(idf.values()))
        score = text + title * (square * square * square)
        return score + 1.5 * sum(idf.values()) if len(idf) > 1 and (is_opening or is_called) else score


def _opening(corpus: Corpus, page: int, stems: list[str]) -> Iterator[str]:
    """The forms of a page's title, and of the first 45 words of the paragraph in which it says what it is about."""
    stream = corpus.stream(page)
    forms = [stems[word] for word in stream.words.tolist()]
    title = [form for form, flags in zip(forms, stream.attributes.tolist(), strict=True) if flags & Attribute.TITLE][
        :45
    ]
    yield from title
    names = set(title) - {stem(word) for word in IDLE}
    borders: defaultdict[int, set[int]] = defaultdict(set)
    for at, kind in zip(stream.boundary_at.tolist(), stream.boundary_kind.tolist(), strict=True):
        borders[at].add(kind)
    cuts = [0, *sorted(at for at in borders if 0 < at < len(forms) and borders[at] - {Boundary.SENTENCE}), len(forms)]
    likely = []
    for begin, end in pairwise(cuts):
        sentences = any(Boundary.SENTENCE in borders[at] for at in range(begin + 1, end + 1))
        if sentences and end - begin >= 12 and not stream.attributes[begin] & (Attribute.TITLE | Attribute.HEADER):
            place = next((at for at, form in enumerate(forms[begin : begin + 12]) if form in names), 12)
            in_cell = Boundary.CELL in borders[begin] and Boundary.TABLE_END not in borders[begin]
            likely += [(2 if place >= 5 else int(in_cell), begin, end)] if place < 12 else []
    if likely:
        _kind, begin, end = min(likely)
        yield from forms[begin : min(end, begin + 45)]


def _link_texts(corpus: Corpus, stems: list[str]) -> list[Counter[str]]:
    """How strongly links of the same host say each form, page by page."""
    said: list[defaultdict[str, set[int]]] = [defaultdict(set) for _page in range(len(corpus))]
    linking: list[set[int]] = [set() for _page in range(len(corpus))]
    for source in range(len(corpus)):
        words = corpus.words(source).tolist()
        first, last = int(corpus.pages.anchors[source]), int(corpus.pages.anchors[source + 1])
        for anchor in range(first, last):
            pages = corpus.pages_of(int(corpus.anchors.target[anchor]))[:1]
            start, length = int(corpus.anchors.start[anchor]), int(corpus.anchors.length[anchor])
            if not pages or pages[0] == source or not 0 < length <= 10:
                continue
            if corpus.pages.host[pages[0]] == corpus.pages.host[source]:
                linking[pages[0]].add(source)
                for word in words[start : start + length]:
                    said[pages[0]][stems[word]].add(source)
    strengths: list[Counter[str]] = []
    for forms, sources in zip(said, linking, strict=True):
        shares = {form: len(those) / (len(sources) + 2) for form, those in forms.items()}
        strengths.append(Counter({form: round(255 * math.sqrt(share)) / 255 for form, share in shares.items()}))  # type: ignore[arg-type]
    return strengths


def _asked(query: Query) -> Iterator[tuple[str | None, str]]:
    if isinstance(query, Word):
        yield query.attribute, stem(query.word)
    elif isinstance(query, Phrase):
        yield from ((query.attribute, stem(word)) for word in query.words)
    elif isinstance(query, And | Or | Some):
        for part in query.parts:
            yield from _asked(part)
