"""Which children may hold what is asked for, judged by their labels alone."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pagekin.bags import preset
from pagekin.bags.words import bag_forms
from pagekin.clusters.terms import ATTRIBUTES, WORDS
from pagekin.labels import ContentLabel
from pagekin.labels.membership import FilterBank, term_key
from pagekin.labels.model import Terms, without_filters
from pagekin.text import ANALYSER, And, Not, Or, Phrase, Query, Stats, Word, analyse
from pagekin.text.index import asked_forms, form_key

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
        self._owner = np.array(owner, np.int64)
        self._blind = np.bincount(self._owner, minlength=len(self.names)) == 0
        self._added = [
            {(one.attribute, analyse([one.word])[0]) for one in label.added} for label in self.labels.values()
        ]
        self._df = [_frequencies(label) for label in self.labels.values()]

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

        def holds(attribute: str | None, word: str) -> Mask:
            place = column[attribute, word]
            return np.asarray(held[:, place] | added[attribute, word][self._owner], np.bool_)

        groups = matching(query, holds, np.ones(len(self._bank), np.bool_))
        may = self._blind.copy()
        may[self._owner[groups]] = True
        reasons = {}
        for place in np.flatnonzero(~may).tolist():
            mine = held[self._owner == place]
            missing = [
                form_key(*pair)
                for pair, there in zip(pairs, mine.any(axis=0).tolist(), strict=True)
                if not there and not added[pair][place]
            ]
            reasons[self.names[place]] = (
                f"no page holds {', '.join(missing[:5])}" if missing else "no group of its pages holds all words"
            )
        return may, reasons

    def _has_added(self, attribute: str | None, word: str) -> Mask:
        """Which children have a word added to their label."""
        form = analyse([word])[0]
        any_of = [attribute] if attribute not in (None, "text") else ATTRIBUTES
        return np.array([any((one, form) in added for one in any_of) for added in self._added], np.bool_)

    def _by_terms(self, query: Query) -> tuple[Mask, dict[str, str]]:
        """As in 1996: by the terms that a label tells."""

        def holds(attribute: str | None, word: str) -> Mask:
            key = form_key(attribute if attribute != "text" else None, analyse([word])[0])
            told = np.array([key in df for df in self._df], np.bool_)
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
        for place, told in enumerate(self._df):
            for column, (attribute, word) in enumerate(pairs):
                key = form_key(attribute, analyse([word])[0])
                df[place, column] = told.get(key, int(may[place, column]))
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
        pages = sum(label.num_docs for label in self.labels.values())
        df = {}
        for attribute, form in asked_forms(query):
            key = form_key(attribute, form)
            if not bag_forms([form], preset(WORDS))[0] and form.isalpha():
                df[key] = pages
                continue
            bits = np.array([term_key(form, attribute or "text")], np.uint64)
            may = np.zeros(len(self.names), np.bool_)
            np.logical_or.at(may, self._owner, self._bank.may_hold(bits)[:, 0])
            may |= self._blind
            df[key] = sum(told.get(key, told[""] if may[place] else 0) for place, told in enumerate(self._df))
        words = sum(label.num_words for label in self.labels.values())
        return Stats(analyser=ANALYSER, pages=pages, words=words, df={key: min(n, pages) for key, n in df.items()})


def _frequencies(label: ContentLabel) -> dict[str, int]:
    """Df of the terms that a label tells, by their form under an attribute and under any; under '' the least of all."""
    whole = _told(label, label.terms)
    inside: Counter[str] = Counter()
    for cluster in label.clusters:
        # Sub-clusters share no documents, so theirs add up.
        inside.update(_told(label, cluster.terms))
    found = {key: max(whole.get(key, 0), inside[key]) for key in {*whole, *inside}}
    return {**found, "": min(whole.values(), default=1)}


def _told(label: ContentLabel, terms: Terms) -> dict[str, int]:
    """Df of some terms of a label; under any attribute it is at least the largest of those under one."""
    rows = list(label.rows(terms))
    found: dict[str, int] = {}
    for row, form in zip(rows, analyse([row.word for row in rows]), strict=True):
        for key in (form_key(row.attribute, form), form):
            found[key] = max(found.get(key, 0), row.df)
    return found
