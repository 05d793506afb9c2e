"""Refining at a router by what goes together on the pages below: against counting on the leaves' pages, plainly."""

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import stem_of_word
from pagekin.clusters import Cooccurrences, PageThesaurus, PageTopics, is_count, is_furniture, numbers_of
from pagekin.collection import MOST_COOCCURRENCES, CooccurrenceCounts, LabelThesaurus, decode_counts, encode_counts
from pagekin.hypertext import Corpus
from pagekin.labels import label_from_json
from pagekin.text import TextIndex, form_of

from .webs import Web, ask, get, searched_in

QUERIES = ["metal", "bird", "island harbour", "oxygen metal gas", "violin OR oxygen", "nowherefound"]


@dataclass
class Counted:
    """What goes with a query in some collections."""

    pages: int = 0
    documents: int = 0
    both: Counter[str] = field(default_factory=Counter)
    df: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Counted") -> None:
        if other.pages:
            self.pages, self.documents = self.pages + other.pages, self.documents + other.documents
            self.both.update(other.both)
            self.df.update(other.df)

    def cut(self) -> "Counted":
        words = sorted(self.both, key=lambda word: (-self.both[word], self.df[word], word))[:MOST_COOCCURRENCES]
        return Counted(self.pages, self.documents, *(Counter({w: c[w] for w in words}) for c in (self.both, self.df)))

    def one_form_each(self) -> "Counted":
        """Keep of each word the form that most pages are about, of those that go with the query half as often as the best.

        It is called by its plural or singular, whichever more pages are about.
        """
        chosen: dict[str, str] = {}
        for stem in {stem_of_word(word) for word in self.both}:
            forms = [word for word in self.both if stem_of_word(word) == stem]
            often = max(self.both[word] for word in forms)
            chosen[stem] = max((word for word in forms if 2 * self.both[word] >= often), key=lambda word: self.df[word])
        kept = [word for word in self.both if word in chosen.values()]
        called = {
            word: max(
                (one for one in numbers_of(word) if one in self.both and stem_of_word(one) == stem_of_word(word)),
                key=lambda one: (self.df[one], one == word),
            )
            for word in kept
        }
        counts = (Counter({called[w]: c[w] for w in kept}) for c in (self.both, self.df))
        return Counted(self.pages, self.documents, *counts)

    def lists(self, count: int) -> dict[str, list[str]]:
        values: dict[str, dict[str, float]] = {"collocated": {}, "broader": {}, "narrower": {}}
        for word, both in self.both.items():
            df, share = self.df[word], both / self.pages
            lift = share / (df / self.documents)
            if both < max(2, 0.03 * self.pages) or df < 3:
                continue
            if both / df >= 0.5 and df < 0.7 * self.pages:
                values["narrower"][word] = both * both / df
            elif share >= 0.25 and df > 1.5 * self.pages and lift > 1.5:
                values["broader"][word] = share * math.log(lift)
            elif lift > 1 and both >= min(3, self.pages // 2):
                values["collocated"][word] = share * math.log(lift)
        return {
            kind: sorted(some, key=lambda word: (-round(some[word], 9), word))[:count] for kind, some in values.items()
        }


def words_of(corpus: Corpus) -> list[set[str]]:
    """What each page is about, of that what may be suggested with a star before it."""
    about = PageTopics.read(corpus.kin)
    assert about is not None
    assert about.offered is not None
    shown = [("*" if offered else "") + word.decode() for word, offered in zip(about.words, about.offered, strict=True)]
    ends = about.offsets.tolist()
    return [{shown[term] for term in about.terms[first:last].tolist()} for first, last in pairwise(ends)]


def counted(web: Web, collections: dict[str, Path], name: str, query: str) -> Counted:
    """What goes with a query below a router, by its leaves' pages."""
    if name in web.children:
        whole = Counted()
        for child in web.children[name]:
            whole.add(counted(web, collections, child, query).cut())
        return whole
    corpus = Corpus.open(collections[name])
    pages, thesaurus = words_of(corpus), PageThesaurus.of(corpus)
    shown = [word.decode() for word in PageTopics.of(corpus).words]
    asked = [word for word in query.split() if word not in ("OR", "NOT")]
    own = {shown[number] for word in asked if (number := thesaurus.find(word)) >= 0}
    plain = [{word.lstrip("*") for word in page} for page in pages]
    chosen = [
        page for page, words in zip(pages, plain, strict=True) if all({*numbers_of(word)} & words for word in own)
    ]
    if len(own) < len(asked):
        chosen = []
    if not chosen:
        numbers = {corpus.page_url(page): page for page in range(len(corpus))}
        scores = searched_in(TextIndex.open(corpus), query)
        good = [url for place, url in enumerate(scores) if place < 5 or 2 * scores[url] >= max(scores.values())]
        chosen = [pages[numbers[url]] for url in good]
    found = Counted(len(chosen), len(pages))
    found.both = Counter(word[1:] for page in chosen for word in page if word[0] == "*" and word[1:] not in own)
    df = Counter(word.lstrip("*") for page in pages for word in page)
    found.df = Counter({word: df[word] for word in found.both})
    return found


def fitting_words(true: Counted, query: str) -> dict[str, list[str]]:
    """The best twelve of each kind, no word twice, narrower ones first; none of the query's own words or of templates."""
    seen = {form_of(word.lower()) for word in query.split()}
    lists = true.one_form_each().lists(36 + len(seen))
    fitting = {}
    for kind in ("narrower", "broader", "collocated"):
        fitting[kind] = []
        for word in lists[kind]:
            forms = {form_of(part) for part in word.split()}
            key = forms if len(forms) == 1 else {word}
            useless = forms <= seen or key <= seen or is_furniture(word) or is_count(word)
            if len(fitting[kind]) < 12 and not useless:
                fitting[kind].append(word)
                seen |= key
    return fitting


@pytest.mark.parametrize("query", QUERIES)
def test_a_router_refines_by_the_pages_of_all_leaves_below(web: Web, collections: dict[str, Path], query: str) -> None:
    for name in web.children:
        true = counted(web, collections, name, query)
        found = ask(web.urls[name], "refine", query=query, count=12)
        assert found["partial"] == []
        if true.pages:
            assert found["known"] == true.pages
            assert found["children"]
            assert {kind: found[kind] for kind in ("collocated", "broader", "narrower")} == fitting_words(true, query)
        else:
            assert (found["known"], found["collocated"]) == (0, [])


def test_a_query_of_which_no_page_is_about_all_is_refined_by_the_pages_that_match_it(web: Web) -> None:
    found = ask(web.urls["elements"], "refine", query="violin OR oxygen", count=12)
    assert found["known"] and found["collocated"]
    assert not {"oxygen", "violin"} & {*found["collocated"], *found["broader"], *found["narrower"]}


def test_as_many_children_are_asked_as_were_wanted(web: Web) -> None:
    few = ask(web.urls["root"], "cooccurrences", query="page", ask=1)
    many = ask(web.urls["root"], "cooccurrences", query="page", ask=8)
    assert 0 < few["pages"] < many["pages"]
    assert len(many["words"]) == len(many["both"]) == len(many["df"]) <= MOST_COOCCURRENCES


def test_if_nobody_below_answers_labels_tell_what_goes_together(web: Web) -> None:
    labels = {child: label_from_json(get(web.urls[child], "label").body) for child in web.children["nature"]}
    true = LabelThesaurus(labels).suggest([(None, "metal")], 6)
    found = ask(web.urls["nature"], "refine", query="metal", count=6, hops=0)
    assert (found["children"], found["known"]) == (0, true.pages)
    assert tuple(found["collocated"]) == true.collocated


def test_a_childs_counts_cannot_outweigh_what_it_holds() -> None:
    lies = CooccurrenceCounts(
        pages=10**9, documents=10**15, words=("gold", "a\x1bb", "x"), both=(10**12, 3), df=(5, 2, 7)
    )
    found = decode_counts(lies, documents=40)
    assert (found.pages, found.documents, found.words) == (40, 40, ("gold", "a b"))
    assert found.both.tolist() == [5, 2]
    assert found.df.tolist() == [5, 2]


def test_counts_that_travel_are_of_the_commonest_words_and_the_rarer_of_these() -> None:
    names = tuple(f"w{number:03}" for number in range(MOST_COOCCURRENCES + 50))
    both = np.array([number % 7 + 1 for number in range(len(names))])
    df = both + np.array([number % 11 for number in range(len(names))])
    told = encode_counts(Cooccurrences(9, 100, names, both, df), ["one is missing"])
    order = sorted(range(len(names)), key=lambda place: (-both[place], df[place], names[place]))[:MOST_COOCCURRENCES]
    assert list(told.words) == [names[place] for place in order]
    assert list(told.both) == [both[place] for place in order]
    assert list(told.df) == [df[place] for place in order]
    assert (told.pages, told.documents, told.partial) == (9, 100, ("one is missing",))
