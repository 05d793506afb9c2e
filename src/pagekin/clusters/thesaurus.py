"""Suggest terms to refine a query with: collocated, broader and narrower ones.

`PageThesaurus` asks what pages are about. HyPursuit's own way, by the terms of sub-clusters, is the `LabelThesaurus` of the room
`collection`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Strategy, bag_forms, stem_of_word, stop_words
from pagekin.clusters.unspaced import is_unspaced, join_words
from pagekin.hypertext import Corpus, fold_case
from pagekin.store import (
    Array,
    Kin,
    KinWriter,
    RaggedBytes,
    Workspace,
    batch_ranges,
    chunks,
    count_targets,
    pack_strings,
    smallest_uint,
    temporary_folder,
)

if TYPE_CHECKING:
    from pagekin.bags import BagWorkshop, Vocabulary

ABOUT = 60
"""How many of its heaviest words a page is about."""
_FEWEST = 3
"""Pages that must be about a word before it is suggested."""
_LEAST_SHARE = 0.03
"""The share of the question's pages that are about a word before it is suggested: a few of many may be by chance."""
_FEWEST_TOGETHER = 3
"""Pages of the question that must be about a collocated word, or half of them if they are few."""
THESAURUS_ARRAYS = "about."
_PART = 1 << 14
"""Pages whose words are sorted at a time."""
_ENTRIES = 1 << 20
"""Words of pages that are written anew at a time."""
_ALONE_UNSPACED = 0.05
"""The share of places where a phrase in a script without spaces stands alone: there it is mostly inside longer ones."""
_ALONE, _SHOWN = 0.3, 0.6
"""The share of places where a phrase stands alone, and what it counts on a page, for the page to be about it."""
_OFTEN = (3, 2)
"""How often a page says what it is about: the first of these that tells something where pages are as long as here."""
_TELLING = (0.2, 0.1)
"""The share of pages that say a word they are about so often, for each number of `_OFTEN` to tell something."""
_STRATEGY = Strategy().with_settings({"outlinks.scale": 0})


@dataclass(frozen=True)
class Suggestions:
    """Terms to refine a query with, the best first."""

    pages: int
    """Pages, or sub-clusters, that hold all that was asked."""
    collocated: tuple[str, ...]
    broader: tuple[str, ...]
    narrower: tuple[str, ...]


@dataclass(frozen=True)
class PageTopics:
    """What each page is about: its heaviest words."""

    offsets: npt.NDArray[Any]
    """Per page, its share of `terms`."""
    terms: npt.NDArray[Any]
    """Numbers of words."""
    words: RaggedBytes
    """Each word in its most common form."""
    offered: npt.NDArray[np.bool_] | None = None
    """Which words may be suggested: those that pages talk about. None if all may be."""

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        threads: int = 1,
        phrases: bool = False,
        workshop: "BagWorkshop | None" = None,
        pages: npt.NDArray[np.int64] | None = None,
    ) -> "PageTopics":
        """Find what the pages of a corpus are about, or only some of them, given by rising numbers.

        With `phrases` also phrases of their titles, breadcrumbs and links; and only words that pages talk about are offered,
        since the words of a template stand on its pages, but are said no more, and those of code are no subject. Cost: a sort
        of each page's words, some thousand pages at a time.
        """
        from pagekin.bags import BagWorkshop  # which questions do not need
        from pagekin.clusters._kernels.sums import heaviest_terms
        from pagekin.clusters.code_words import stand_in_code

        chosen = np.arange(len(corpus)) if pages is None else pages
        page_url = np.asarray(corpus.pages.url)[chosen].astype(np.int64)
        with temporary_folder("thesaurus") as folder:
            workshop = workshop or BagWorkshop(corpus, folder, threads)
            space = workshop.space
            sizes, held = [np.zeros(1, np.int64)], space.growing(np.uint32)
            for first in range(0, len(page_url), _PART):
                matrix = workshop.matrix(_STRATEGY, page_url[first : first + _PART], words_alone=True)
                heaviest = np.empty(len(matrix.terms), np.uint32)
                count = heaviest_terms(matrix.offsets, matrix.terms, matrix.weights, ABOUT, heaviest)
                sizes.append(np.minimum(np.diff(matrix.offsets), ABOUT))
                held.append(heaviest[:count])
                del matrix, heaviest
            offsets, terms = np.cumsum(np.concatenate(sizes)), held.finish()
            words = workshop.vocabulary(_STRATEGY)
            offered = _is_talked_about(corpus, words, offsets, terms, threads, pages, space) if phrases else None
            offered = offered & ~stand_in_code(corpus, words, pages) if offered is not None else None
            met = count_targets(terms, len(words.shown)) > 0
            number, used = np.cumsum(met, dtype=np.uint32) - np.uint32(1), np.flatnonzero(met)
            for start, chunk in chunks(terms):
                terms[start : start + len(chunk)] = number[chunk]
            shown = [workshop.term_text(_STRATEGY, term).encode() for term in used.tolist()]
            if offered is not None:
                before, terms_before = offsets, terms
                more, numbers, texts, whole = _page_phrases(corpus, threads, chosen, space)
                order = np.argsort(more, kind="stable")
                offsets, terms = _append_to_pages(offsets, terms, more[order], numbers[order] + len(shown), space)
                # A pair of characters may be suggested only if it is a word.
                is_word = [text.isascii() or text in whole or not is_unspaced(text.decode()) for text in shown]
                fit = np.array(is_word, np.bool_) & ~_say_nothing(corpus, chosen, before, terms_before, shown)
                offered = np.append(offered[used] & fit, np.ones(len(texts), np.bool_))
                shown += texts
        return cls(offsets, terms, RaggedBytes(*pack_strings(shown)), offered)

    @classmethod
    def read(cls, kin: Kin) -> "PageTopics | None":
        """Read it from a collection; None if the collection has none."""
        if f"{THESAURUS_ARRAYS}terms" not in kin:
            return None
        words, offered = RaggedBytes.of(kin, f"{THESAURUS_ARRAYS}word"), f"{THESAURUS_ARRAYS}offered"
        return cls(
            kin[f"{THESAURUS_ARRAYS}offsets"],
            kin[f"{THESAURUS_ARRAYS}terms"],
            words,
            kin[offered].astype(np.bool_) if offered in kin else None,
        )

    def cut(self, first: int, last: int) -> "PageTopics":
        """Return what the pages `first` to `last` are about."""
        offsets = np.asarray(self.offsets[first : last + 1], np.int64)
        used, terms = np.unique(np.asarray(self.terms[offsets[0] : offsets[-1]]), return_inverse=True)
        words = RaggedBytes(*pack_strings([self.words[one] for one in used.tolist()]))
        offered = None if self.offered is None else self.offered[used]
        return PageTopics(offsets - offsets[0], terms.astype(np.uint32), words, offered)

    def put(self, writer: KinWriter) -> None:
        """Store it in a collection."""
        writer.put(f"{THESAURUS_ARRAYS}offsets", self.offsets.astype(smallest_uint(len(self.terms))))
        terms = writer.create(f"{THESAURUS_ARRAYS}terms", smallest_uint(len(self.words)))
        for _start, chunk in chunks(self.terms):
            terms.append(chunk.astype(terms.dtype))
        writer.put(f"{THESAURUS_ARRAYS}word.bytes", np.asarray(self.words.data))
        writer.put(f"{THESAURUS_ARRAYS}word.offsets", np.asarray(self.words.offsets))
        if self.offered is not None:
            writer.put(f"{THESAURUS_ARRAYS}offered", self.offered.astype(np.uint8))


def _append_to_pages(
    offsets: Array, terms: Array, pages: Array, more: Array, space: Workspace
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """Return (offsets, terms) of pages with more terms behind their own, given with their pages, which rise."""
    every, begins = space.growing(np.uint32), np.searchsorted(pages, np.arange(len(offsets)))
    for first, last in batch_ranges(offsets, _ENTRIES):
        here = slice(int(begins[first]), int(begins[last]))
        places = offsets[pages[here] + 1] - offsets[first]
        every.append(np.insert(terms[offsets[first] : offsets[last]], places, more[here].astype(np.uint32)))
    return offsets + begins, every.finish()


def _is_talked_about(
    corpus: Corpus, words: "Vocabulary", offsets: Array, terms: Array, threads: int, pages: "npt.NDArray[np.int64] | None",
    space: Workspace,
) -> npt.NDArray[np.bool_]:  # fmt: skip
    """Mark the words that pages, all or some, repeat, given the words that each page is about.

    A page says a word often if it stands in the title or some times in the text. Compared are the shares of pages that do so, of
    those about the word and of those about any; half of that is enough. Where pages are too short to say anything often,
    all words are kept. Cost: one pass over all words.
    """
    from pagekin.clusters.terms import TERM_ATTRIBUTES, term_batches

    of_text, of_title = TERM_ATTRIBUTES.index("text"), TERM_ATTRIBUTES.index("title")
    columns = len(words.shown)
    titled, said = space.full(len(terms), False, np.bool_), space.full((len(_OFTEN), len(terms)), False, np.bool_)
    for first, counted in term_batches(corpus, words, threads, pages):
        word, attribute = np.divmod(counted.terms, len(TERM_ATTRIBUTES))
        keys, in_text = counted.rows * columns + word, attribute == of_text
        bounds = offsets[first : first + len(counted) + 1]
        here = slice(int(bounds[0]), int(bounds[-1]))
        mine = np.repeat(np.arange(len(counted)), np.diff(bounds)) * columns + terms[here]
        titled[here] = np.isin(mine, keys[attribute == of_title])
        for number, times in enumerate(_OFTEN):
            said[number, here] = np.isin(mine, keys[in_text & (counted.weights >= times)])
    for repeated, least in zip(said, _TELLING, strict=True):
        if len(terms) and repeated.mean() >= least:
            often = np.logical_or(repeated, titled, out=titled)
            usual = often.mean()
            # Half a page more that says it: a word of few pages is given the benefit of the doubt.
            held, saying = count_targets(terms, columns), np.zeros(columns, np.int64)
            for start, chunk in chunks(terms):
                np.add.at(saying, chunk[often[start : start + len(chunk)]], 1)
            return np.asarray((saying + 0.5) / (held + 0.5 / usual) >= usual / 2)
    return np.ones(columns, np.bool_)


def _say_nothing(
    corpus: Corpus, pages: npt.NDArray[np.int64], offsets: Array, terms: Array, words: Sequence[bytes]
) -> npt.NDArray[np.bool_]:
    """Mark the words that are stop words in the language of at least half of the pages that are about them."""
    written: dict[str, int] = {}
    numbers = np.empty(len(pages), np.int64)
    for place, page in enumerate(pages.tolist()):
        numbers[place] = written.setdefault(corpus.language(page), len(written))
    held, idle = count_targets(terms, len(words)), np.zeros(len(words), np.bool_)
    texts = [word.decode() for word in words]
    for language, number in written.items():
        stop = stop_words(language)
        likely = [place for place, word in enumerate(texts) if word in stop] if stop else []
        here = np.zeros(len(words), np.int64)
        for first, last in batch_ranges(offsets, _ENTRIES) if likely else ():
            of_language = np.repeat(numbers[first:last] == number, np.diff(offsets[first : last + 1]))
            np.add.at(here, terms[offsets[first] : offsets[last]][of_language], 1)
        idle[likely] |= 2 * here[likely] >= held[likely]
    return idle


def _page_phrases(
    corpus: Corpus, threads: int, chosen: npt.NDArray[np.int64], space: Workspace
) -> tuple[Array, Array, list[bytes], set[bytes]]:  # fmt: skip
    """Return (places in the chosen pages, numbers of the phrases that these are about, the phrases, pairs that are words).

    Only phrases that often stand alone count; how often, all pages of the corpus say. In scripts without spaces a pair of
    characters is a phrase, too; if it is a word by itself, it is not returned as a phrase.
    """
    from pagekin.clusters.shown import phrases_of_corpus, weigh_ranks  # which questions do not need
    from pagekin.text import tokens

    shown = phrases_of_corpus(corpus, threads, space=space)
    are_likely = (shown.stems[:, 1] >= 0) & (shown.alone >= _ALONE)
    are_likely |= shown.unspaced & (shown.alone >= _ALONE_UNSPACED)
    places = shown.on_looked_at(are_likely), shown.on_other_pages(np.flatnonzero(are_likely), threads)
    columns = [np.zeros((2, 0), np.int64)]
    for on_pages, showing, ranks in chain.from_iterable(places):
        columns.append(np.stack([on_pages, showing])[:, weigh_ranks(ranks) >= _SHOWN])
    pages, phrases = np.concatenate(columns, axis=1)
    is_chosen = np.zeros(len(corpus), np.bool_)
    is_chosen[chosen] = True
    kept = is_chosen[pages] & (np.bincount(phrases, minlength=shown.phrases.count)[phrases] >= _FEWEST)
    forms = shown.forms(np.unique(phrases[kept]).tolist())
    written = {phrase: tokens(form) for phrase, form in forms.items()}
    texts = {phrase: join_words(words).encode() for phrase, words in written.items()}
    usual = {texts[phrase]: phrase for phrase, words in reversed(written.items()) if len(words) > 1}
    whole = {texts[phrase] for phrase, words in written.items() if len(words) == 1 and is_unspaced(words[0])}
    number = np.full(max(shown.phrases.count, 1), -1, np.int64)
    for place, phrase in enumerate(usual.values()):
        number[phrase] = place
    kept &= number[phrases] >= 0
    return np.searchsorted(chosen, pages[kept]), number[phrases[kept]], list(usual), whole


def numbers_of(word: str) -> tuple[str, ...]:
    """Return a word with its possible singular and plural forms, by English rules."""
    others = [f"{word}s", f"{word}es", word.removesuffix("s"), word.removesuffix("es")]
    others += [f"{word[:-1]}ies"] if word.endswith("y") else []
    others += [f"{word[:-3]}y"] if word.endswith("ies") else []
    return tuple(dict.fromkeys((word, *others)))


class PageThesaurus:
    """Suggestions from what pages are about.

    A word is narrower than the question if most pages about it are about the question too, and they are fewer; broader,
    if many pages about the question are about it, more than elsewhere, and there are more of them. Collocated is what else
    stands out: P(t | question) times the logarithm of the lift.
    """

    def __init__(self, about: PageTopics, hidden: "npt.NDArray[np.bool_] | None" = None) -> None:
        """Take what pages are about, and a mask of the pages that are hidden."""
        self._words = len(about.words)
        self._offered = np.ones(self._words, np.bool_) if about.offered is None else about.offered
        self._shown = [word.decode("utf-8", "replace") for word in about.words]
        self._term = np.asarray(about.terms).astype(np.int64)
        self._starts = np.asarray(about.offsets).astype(np.int64)
        self._pages = len(self._starts) - 1
        if hidden is not None:
            stays = np.repeat(~hidden, np.diff(self._starts))
            self._term, self._starts = self._term[stays], np.append(0, np.cumsum(stays))[self._starts]
            self._pages -= int(np.count_nonzero(hidden))
        self._page = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))
        self._df = np.bincount(self._term, minlength=self._words)
        self._number = {word: term for term, word in enumerate(self._shown) if self._df[term]}

    @classmethod
    def of(cls, corpus: Corpus, threads: int = 1) -> "PageThesaurus":
        """Make the thesaurus of a collection, from its stored arrays if it has them."""
        return cls(PageTopics.read(corpus.kin) or PageTopics.of(corpus, threads), corpus.hidden)

    @cached_property
    def _of_stem(self) -> dict[str, int]:
        """Return the most common word with each stem."""
        most_common: dict[str, int] = {}
        for word, term in self._number.items():
            stem = stem_of_word(word)
            if stem not in most_common or self._df[term] > self._df[most_common[stem]]:
                most_common[stem] = term
        return most_common

    def find(self, word: str) -> int:
        """Return the number of a word, or of the most common word with its stem; -1 if no page is about it."""
        (form,) = bag_forms([fold_case(word)], _STRATEGY)
        if form in self._number:
            return self._number[form]
        return self._of_stem.get(stem_of_word(form), -1) if form else -1

    def known_terms(self, words: Sequence[str]) -> tuple[list[int], bool]:
        """Return the numbers of the words that pages are about, and whether these are all words that could be.

        Stop words cannot, so they do not matter unless there are no others.
        """
        telling = [word for word in words if bag_forms([fold_case(word)], _STRATEGY)[0]] or words
        numbers = [number for word in telling if (number := self.find(word)) >= 0]
        return numbers, len(numbers) == len(telling)

    def find_phrase(self, words: Sequence[str]) -> int:
        """Return the number of a phrase of several words; -1 if no page is about it."""
        text = join_words([fold_case(word) for word in words])
        return self._number.get(text, self._of_stem.get(stem_of_word(text), -1)) if len(words) > 1 else -1

    def pages(self, terms: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the pages that are about all of some terms, each in the singular or the plural."""
        held = np.ones(len(self._starts) - 1, np.bool_)
        for term in set(terms):
            forms = [self._number[form] for form in numbers_of(self._shown[term]) if form in self._number]
            here = np.zeros(len(held), np.bool_)
            here[self._page[np.isin(self._term, forms)]] = True
            held &= here
        return np.flatnonzero(held)

    def words_of(self, page: int) -> tuple[str, ...]:
        """Return the words that a page is about and that may be suggested, the heaviest first."""
        terms = self._term[self._starts[page] : self._starts[page + 1]]
        return tuple(self._shown[term] for term in terms[self._offered[terms]].tolist())

    def cooccurrences(self, pages: Array, terms: Sequence[int]) -> "Cooccurrences":
        """Count the words that some pages are about and that may be suggested, besides the terms of the question."""
        asked = np.zeros(len(self._starts) - 1, np.bool_)
        asked[pages] = True
        both = np.bincount(self._term[asked[self._page]], minlength=self._words)
        both[list(terms)] = 0
        both[~self._offered] = 0
        terms_met = np.flatnonzero(both)
        words = tuple(self._shown[term] for term in terms_met.tolist())
        return Cooccurrences(len(pages), self._pages, words, both[terms_met], self._df[terms_met])

    def suggest(self, terms: Sequence[int], count: int = 8) -> Suggestions:
        """Suggest terms for a question of some terms."""
        return self.cooccurrences(self.pages(terms), terms).suggest(count)


@dataclass(frozen=True)
class Cooccurrences:
    """Counts of words that occur together with a question, of one collection or summed over several."""

    pages: int
    """Pages of the question."""
    documents: int
    """Pages in all."""
    words: tuple[str, ...]
    both: npt.NDArray[Any]
    """Pages of the question that are about each word."""
    df: npt.NDArray[Any]
    """Pages that are about it."""

    @classmethod
    def sum_of(cls, several: Sequence["Cooccurrences"]) -> "Cooccurrences":
        """Sum the counts of several collections that share no page; those without a page of the question do not count."""
        several = [one for one in several if one.pages]
        numbers: dict[str, int] = {}
        for one in several:
            for word in one.words:
                numbers.setdefault(word, len(numbers))
        both, df = np.zeros((2, len(numbers)))
        for one in several:
            places = [numbers[word] for word in one.words]
            np.add.at(both, places, one.both)
            np.add.at(df, places, one.df)
        pages, documents = (sum(getattr(one, name) for one in several) for name in ("pages", "documents"))
        return cls(pages, documents, tuple(numbers), both, df)

    def first(self, most: int) -> "Cooccurrences":
        """Return the counts of the words on most pages of the query; ties go to rarer words, which are more informative."""
        places = sorted(range(len(self.words)), key=lambda one: (-self.both[one], self.df[one], self.words[one]))
        order = np.array(places[:most], np.int64)
        words = tuple(self.words[place] for place in places[:most])
        return Cooccurrences(self.pages, self.documents, words, self.both[order], self.df[order])

    def merge_forms(self) -> "Cooccurrences":
        """Return the counts with one form per word: the most common of those that co-occur with the query."""
        best: dict[str, int] = {}
        most: dict[str, int] = {}
        stems = [stem_of_word(word) for word in self.words]
        for place, stem in enumerate(stems):
            most[stem] = max(most.get(stem, 0), int(self.both[place]))
        for place, stem in enumerate(stems):
            if 2 * self.both[place] >= most[stem] and (stem not in best or self.df[place] > self.df[best[stem]]):
                best[stem] = place
        places = np.array(sorted(best.values()), np.int64)
        known = {word: place for place, word in enumerate(self.words)}

        def usual_number(place: int) -> str:
            """Return a word in the plural or singular, whichever more pages are about."""
            forms = [known.get(form, place) for form in numbers_of(self.words[place])]
            forms = [form for form in forms if stems[form] == stems[place]]
            return self.words[max(forms, key=lambda form: (self.df[form], form == place))]

        words = tuple(map(usual_number, places.tolist()))
        return Cooccurrences(self.pages, self.documents, words, self.both[places], self.df[places])

    def suggest(self, count: int = 8) -> Suggestions:
        """Return the best suggestions, each word in one form."""
        return self.merge_forms()._suggest(count) if self.pages else Suggestions(0, (), (), ())

    def _suggest(self, count: int) -> Suggestions:
        in_question, of_term = self.both / self.pages, self.both / np.maximum(self.df, 1)
        lift = in_question / np.maximum(self.df / max(self.documents, 1), 1e-9)
        may = (self.both >= max(2, _LEAST_SHARE * self.pages)) & (self.df >= _FEWEST)
        collocated = may & (self.both >= min(_FEWEST_TOGETHER, self.pages // 2))
        narrower = may & (of_term >= 0.5) & (self.df < 0.7 * self.pages)
        broader = may & (in_question >= 0.25) & (self.df > 1.5 * self.pages) & (lift > 1.5)
        value = in_question * np.log(np.maximum(lift, 1.0))
        return Suggestions(
            self.pages,
            self._best(collocated & ~narrower & ~broader & (lift > 1), value, count),
            self._best(broader, value, count),
            self._best(narrower, self.both * of_term, count),
        )

    def _best(self, may: Array, value: Array, count: int) -> tuple[str, ...]:
        # Of equally good ones the first by the alphabet, in whatever order they were counted.
        places = sorted(
            np.flatnonzero(may).tolist(), key=lambda place: (-round(float(value[place]), 9), self.words[place])
        )
        return tuple(self.words[place] for place in places[:count])
