"""Which children may hold what is asked for, judged by their labels alone."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pagekin.bags import preset
from pagekin.bags.words import bag_forms
from pagekin.clusters.terms import ATTRIBUTES, WORDS
from pagekin.labels import ContentLabel
from pagekin.labels.membership import FilterBank, term_key
from pagekin.labels.model import LARGEST, Terms, without_filters
from pagekin.routers.messages import Filters
from pagekin.text import ANALYSER, And, Not, Or, Phrase, Query, Stats, Word, analyse, parse
from pagekin.text.analysis import form_of
from pagekin.text.filters import language_code, site_name
from pagekin.text.index import form_key

Mask = npt.NDArray[np.bool_]
_CORI_SMOOTH, _CORI_LENGTH, _CORI_LEAST = 50.0, 150.0, 0.4


def matching(query: Query, holds: Callable[[str | None, str], Mask], everything: Mask) -> Mask:
    """Which of many groups of documents may hold a match, given which may hold a word under an attribute.

    NOT takes no group out: a group that holds a word holds documents without it, too.
    """
    if isinstance(query, And | Or):
        found = matching(query.parts[0], holds, everything)
        for part in query.parts[1:]:
            other = matching(part, holds, everything)
            found = found & other if isinstance(query, And) else found | other
        return found
    if isinstance(query, Not):
        return everything.copy()
    words = (query.word,) if isinstance(query, Word) else query.words
    found = everything.copy()
    for word in words:
        found &= holds(query.attribute, word)
    return found


def asked_words(query: Query) -> list[tuple[str | None, str]]:
    """The different words that a query names outside NOT, each with its attribute."""
    if isinstance(query, And | Or):
        return list(dict.fromkeys(pair for part in query.parts for pair in asked_words(part)))
    if isinstance(query, Not):
        return []
    words = query.words if isinstance(query, Phrase) else (query.word,)
    return list(dict.fromkeys((query.attribute, word) for word in words))


@dataclass(frozen=True)
class Verdict:
    """Who is to be asked, and why the others are not."""

    ask: tuple[str, ...]
    """Names, the most promising first if they were ranked."""
    skipped: Mapping[str, str]


class RoutingTable:
    """The labels of a router's children, laid out to be asked at once."""

    def __init__(self, labels: Mapping[str, ContentLabel]) -> None:
        self.labels = {
            name: label if label.analyser == ANALYSER else without_filters(label) for name, label in labels.items()
        }
        self.names = list(self.labels)
        filters, owner = [], []
        for place, label in enumerate(self.labels.values()):
            parts = [cluster.filters for cluster in label.clusters]
            # Sub-clusters tell which words stand together; where one has no filter, the whole's is all there is.
            mine = [one for part in parts for one in part] if parts and all(parts) else list(label.filters)
            filters += mine
            owner += [place] * len(mine)
        self._bank = FilterBank(filters)
        whole = [(place, one) for place, label in enumerate(self.labels.values()) for one in label.filters]
        self._whole = FilterBank([one for _place, one in whole])
        self._whole_owner = np.array([place for place, _one in whole], np.int64)
        self._owner = np.array(owner, np.int64)
        self._blind = np.bincount(self._owner, minlength=len(self.names)) == 0
        self._added = [
            {(one.attribute, analyse([one.word])[0]) for one in label.added} for label in self.labels.values()
        ]
        self._told = [_Told(label) for label in self.labels.values()]

    def judge(self, query: Query, routing: str = "filters", ask: int = 0) -> Verdict:
        """Who may hold a match, at most `ask` of them, the most promising, if that is not 0."""
        reasons: dict[str, str] = {}
        may = np.ones(len(self.names), np.bool_)
        if routing == "terms":
            may, reasons = self._by_terms(query)
        elif routing == "filters":
            may, reasons = self._by_filters(query)
        chosen = [name for name, kept in zip(self.names, may.tolist(), strict=True) if kept]
        if ask and len(chosen) > ask:
            scores = self.cori(query)
            chosen.sort(key=lambda name: (-scores[name], name))
            for name in chosen[ask:]:
                reasons[name] = f"{ask} others promise more"
            chosen = chosen[:ask]
        return Verdict(tuple(chosen), reasons)

    def _by_filters(self, query: Query) -> tuple[Mask, dict[str, str]]:
        pairs = asked_words(query)
        keys = np.array([term_key(word, attribute or "text") for attribute, word in pairs], np.uint64)
        held = self._bank.may_hold(keys)
        column = {pair: place for place, pair in enumerate(pairs)}
        added = {pair: self._has_added(*pair) for pair in pairs}

        def children(held: Mask, owner: npt.NDArray[np.int64]) -> Mask:
            """The children that have a filter which may hold a match."""

            def holds(attribute: str | None, word: str) -> Mask:
                return np.asarray(held[:, column[attribute, word]] | added[attribute, word][owner], np.bool_)

            found = np.zeros(len(self.names), np.bool_)
            found[owner[matching(query, holds, np.ones(len(owner), np.bool_))]] = True
            return found

        may = self._blind | children(held, self._owner)
        # A document's words are all in one filter of the whole, too, which errs about other words than sub-clusters' do.
        has_whole = np.bincount(self._whole_owner, minlength=len(self.names)) > 0
        may &= ~has_whole | children(self._whole.may_hold(keys), self._whole_owner)
        reasons = {}
        somewhere = np.zeros((len(self.names), len(pairs)), np.bool_)
        np.logical_or.at(somewhere, self._owner, held)
        for place in np.flatnonzero(~may).tolist():
            missing = [
                form_key(*pair)
                for pair, there in zip(pairs, somewhere[place].tolist(), strict=True)
                if not there and not added[pair][place]
            ]
            reasons[self.names[place]] = (
                f"no page holds {', '.join(missing[:5])}" if missing else "no group of its pages holds all words"
            )
        return may, reasons

    def _has_added(self, attribute: str | None, word: str) -> Mask:
        """Which children have a word added to their label."""
        if not any(self._added):
            return np.zeros(len(self.names), np.bool_)
        form = analyse([word])[0]
        any_of = [attribute] if attribute not in (None, "text") else ATTRIBUTES
        return np.array([any((one, form) in added for one in any_of) for added in self._added], np.bool_)

    def _by_terms(self, query: Query) -> tuple[Mask, dict[str, str]]:
        """As in 1996: by the terms that a label tells."""

        def holds(attribute: str | None, word: str) -> Mask:
            form = analyse([word])[0]
            asked = attribute if attribute != "text" else None
            told = np.array([one.df(asked, form) is not None for one in self._told], np.bool_)
            return np.asarray(told | self._has_added(attribute, word), np.bool_)

        may = matching(query, holds, np.ones(len(self.names), np.bool_))
        return may, {self.names[place]: "not among its heaviest terms" for place in np.flatnonzero(~may).tolist()}

    def cori(self, query: Query) -> dict[str, float]:
        """How promising each child is, by CORI: terms that are frequent in it and that few others have."""
        pairs = asked_words(query)
        keys = np.array([term_key(word, attribute or "text") for attribute, word in pairs], np.uint64)
        may = np.zeros((len(self.names), len(pairs)), np.bool_)
        np.logical_or.at(may, self._owner, self._bank.may_hold(keys))
        may |= self._blind[:, None]
        df = np.zeros(may.shape)
        forms = analyse([word for _attribute, word in pairs])
        for place, told in enumerate(self._told):
            for column, (pair, form) in enumerate(zip(pairs, forms, strict=True)):
                known = told.df(pair[0], form)
                df[place, column] = may[place, column] if known is None else known
        sizes = np.array([label.num_terms for label in self.labels.values()], float)
        in_child = df / (df + _CORI_SMOOTH + _CORI_LENGTH * (sizes / max(sizes.mean(), 1.0))[:, None])
        children = len(self.names)
        spread = np.maximum((df > 0).sum(axis=0), 0.5)
        rare = np.log((children + 0.5) / spread) / math.log(children + 1.0)
        belief = _CORI_LEAST + (1 - _CORI_LEAST) * in_child * np.maximum(rare, 0.0)
        means = belief.mean(axis=1) if len(pairs) else np.zeros(children)
        return dict(zip(self.names, means.tolist(), strict=True))

    def words_held(self, words: Sequence[str]) -> dict[str, int]:
        """How many of some words each child may hold together, in one group of its pages."""
        keys = np.array([term_key(word) for word in words], np.uint64)
        counts = self._bank.may_hold(keys).sum(axis=1)
        most = np.zeros(len(self.names), np.int64)
        np.maximum.at(most, self._owner, counts)
        most[self._blind] = len(words)
        return dict(zip(self.names, most.tolist(), strict=True))

    def stats(self, query: Query) -> Stats:
        """Document frequencies of the query's forms, summed over the children as far as their labels tell.

        Of a term that a label left out, the df is taken to be that of the rarest term it kept; of a stop word, of which
        labels know nothing, that of every page.
        """
        pages = min(sum(label.num_docs for label in self.labels.values()), LARGEST)
        df = {}
        for attribute, word in asked_words(query):
            form = form_of(word)
            key = form_key(attribute, form)
            if not bag_forms([word], preset(WORDS))[0] and word.isalpha():
                df[key] = pages
                continue
            # By the word: the stem of a stem is another.
            bits = np.array([term_key(word, attribute or "text")], np.uint64)
            may = np.zeros(len(self.names), np.bool_)
            np.logical_or.at(may, self._owner, self._bank.may_hold(bits)[:, 0])
            may |= self._blind
            known = [told.df(attribute, form) for told in self._told]
            df[key] = sum(
                (told.least if maybe else 0) if sure is None else sure
                for told, sure, maybe in zip(self._told, known, may.tolist(), strict=True)
            )
        words = min(sum(label.num_words for label in self.labels.values()), LARGEST)
        return Stats(analyser=ANALYSER, pages=pages, words=words, df={key: min(n, pages) for key, n in df.items()})


class _Told:
    """df of the terms that a label tells."""

    def __init__(self, label: ContentLabel) -> None:
        self._words: dict[str, list[int]] = {}
        for word, form in enumerate(analyse(label.words)):
            self._words.setdefault(form, []).append(word)
        whole, inside = _numbers(label.terms), [_numbers(cluster.terms) for cluster in label.clusters]
        df = np.array(label.terms.df, np.int64)
        # Sub-clusters share no documents, so theirs add up.
        summed, place = np.unique(np.concatenate([np.zeros(0, np.int64), *inside]), return_inverse=True)
        parts = np.bincount(
            place, np.concatenate([np.zeros(0), *(cluster.terms.df for cluster in label.clusters)]), len(summed)
        )
        self._terms = np.union1d(whole, summed)
        self._df = np.zeros(len(self._terms), np.int64)
        self._df[np.searchsorted(self._terms, summed)] = parts.astype(np.int64)
        places = np.searchsorted(self._terms, whole)
        self._df[places] = np.maximum(self._df[places], df)
        self.least = int(df.min(initial=2**53)) if len(df) else 1

    def df(self, attribute: str | None, form: str) -> int | None:
        """On how many documents a form stands under an attribute, or None if the label does not tell.

        Under any attribute it is at least the largest of those under one.
        """
        kinds = range(len(ATTRIBUTES)) if attribute is None else (ATTRIBUTES.index(attribute),)
        numbers = np.array(
            [word * len(ATTRIBUTES) + kind for word in self._words.get(form, ()) for kind in kinds], np.int64
        )
        if not len(numbers) or not len(self._terms):
            return None
        places = np.minimum(np.searchsorted(self._terms, numbers), len(self._terms) - 1)
        found = self._df[places][self._terms[places] == numbers]
        return int(found.max()) if len(found) else None


def _numbers(terms: Terms) -> npt.NDArray[np.int64]:
    return np.cumsum(np.array(terms.steps, np.int64)) - 1


def check_filters(filters: Filters) -> None:
    """Refuse, with a QueryError, filters that every leaf would refuse."""
    if filters.language:
        language_code(filters.language)
    if filters.site:
        site_name(filters.site)


@lru_cache(4096)
def parsed(query: str) -> Query:
    """The query that a text tells; the same text is asked at many routers."""
    return parse(query)
