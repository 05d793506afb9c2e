"""Phrases that pages show in titles, breadcrumbs, headings and links, as written, without the site's own parts."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pagekin.bags import (
    EMPTY_PLACE,
    SKETCH_PLACES,
    BagMatrix,
    CopyIndex,
    Strategy,
    Vocabulary,
    make_vocabulary,
)
from pagekin.clusters.levels import Rows
from pagekin.clusters.phrases import IN_TEXT, MOST_CONTENT, PhraseFinder, Phrases, find_phrases
from pagekin.clusters.products import Products, find_products
from pagekin.clusters.sampling import NAMED_PAGES, pages_to_name
from pagekin.clusters.terms import TERM_ATTRIBUTES, term_batches
from pagekin.clusters.titles import site_words
from pagekin.clusters.unspaced import is_in_context, is_unspaced, phrase_in_context, unspaced_form
from pagekin.clusters.written_phrases import (
    NumberedTexts,
    common_form,
    is_phrase_of,
    is_site_name,
    word_before,
    words_between,
)
from pagekin.hypertext import Corpus, host_of
from pagekin.store import IN_MEMORY, Array, Workspace, batch_ranges, distinct, is_among

STEMS = Strategy().with_settings({"stemming": "stem"})
"""How words of phrases are compared: those of one stem are the same."""
_WEIGHTS = np.array([0, 0, 0.25, 0.3, 0.1, 0.15, 0.8, 1.0, 0.6, 1.0, 0, 0, 0, 0, 0, 0])
"""What a phrase counts by its rank: in a link, a heading, breadcrumbs, the title; more if nothing else stands there."""
_IN_TEXT = 0.5
"""What it counts besides if the page's text has it several times; never more than 1 together."""
_TEMPLATE = 0.25
"""A heading that at least this share of a host's pages have is the template's."""
_BATCH_ANCHORS = 1 << 22
"""Anchors that are looked at together."""
_TEMPLATE_PAGES = 5
_SCATTERED = 0.7
"""Links of one text that lead to different pages as often as this are navigation."""
_THANKED = 2
"""Addresses of a person or a sponsor to which links of one text lead, at most."""
_BEST_SAMPLES, _SAMPLES = 4, 8
"""Places that are looked at to learn how a phrase is written: of the best rank, and of all."""
_BITS = 40
"""Bits of the number of an entry; those of its rank stand before them."""
_GATHERED, _GATHERED_BYTES = 1 << 22, 64
"""Entries of phrases whose places are chosen together, and bytes that each takes meanwhile."""


@dataclass(frozen=True, eq=False)
class ShownPhrases:
    """The phrases that a collection's pages show, and how they are spelt."""

    corpus: Corpus
    vocabulary: Vocabulary
    """Stems."""
    stem_of_word: npt.NDArray[np.int64]
    """The stem of each word that bags have."""
    phrases: Phrases
    site_names: frozenset[str]
    """Names of sites, of two words or more; and the parts of their hosts, with a dot before them."""
    notices: npt.NDArray[np.bool_]
    """Whether a page is a server's notice: moved, not found, a list of files."""
    copies: npt.NDArray[np.bool_]
    """Whether a page is a copy of one before it."""
    looked_at: npt.NDArray[np.int64]
    """The pages whose phrases these are, rising."""
    space: Workspace = IN_MEMORY
    """Where large arrays may be put."""

    @property
    def unfit(self) -> npt.NDArray[np.bool_]:
        """Mark the pages that do not count: notices and copies."""
        return self.notices | self.copies

    @cached_property
    def products(self) -> Products:
        """Return what the pages' sites call themselves."""
        return find_products(self.corpus, self.looked_at.tolist(), lambda page: not self.notices[page])

    @property
    def rows(self) -> Rows:
        """Return the phrases of each page with their weights, with room to sum them up."""
        return Rows(self.phrases.offsets, self.phrases.phrases, self.weights, self.phrases.count)

    @cached_property
    def site_words(self) -> frozenset[str]:
        """Return the words of sites' names."""
        return frozenset(word for name in self.site_names for word in name.split() if word[0] != ".")

    @cached_property
    def of_sites(self) -> npt.NDArray[np.bool_]:
        """Return whether a phrase is one word of a site's name."""
        numbers = map(self.corpus.term_number, self.site_words)
        stems = {int(self.vocabulary.stem_of[number]) for number in numbers if number >= 0} - {-1}
        return np.asarray((self.stems[:, 1] < 0) & np.isin(self.stems[:, 0], sorted(stems)))

    @cached_property
    def weights(self) -> npt.NDArray[np.float64]:
        """Return the weight of each phrase for the page that shows it."""
        weights = self.space.empty(len(self.phrases.ranks), np.float64)
        for part, _pages in self.phrases.parts():
            weights[part] = weigh_ranks(self.phrases.ranks[part])
        return weights

    @cached_property
    def df(self) -> npt.NDArray[np.int64]:
        """Return how many pages show each phrase."""
        return np.bincount(self.phrases.phrases, minlength=self.phrases.count)

    @cached_property
    def weight_of(self) -> npt.NDArray[np.float64]:
        """Return the weight of each phrase on all pages."""
        return np.bincount(self.phrases.phrases, self.weights, self.phrases.count).astype(np.float64)

    def _count(self, are_counted: Callable[[Array], Array]) -> npt.NDArray[np.int64]:
        """Return on how many pages each phrase has one of the ranks that a function marks."""
        counts = np.zeros(self.phrases.count, np.int64)
        for part, _pages in self.phrases.parts():
            counted = are_counted(self.phrases.ranks[part] % IN_TEXT)
            np.add.at(counts, self.phrases.phrases[part][counted], 1)
        return counts

    @cached_property
    def alone(self) -> npt.NDArray[np.float64]:
        """Return the share of pages on which each phrase is a whole title, heading or link text."""
        alone = self._count(lambda ranks: (ranks % 2 == 1) & (ranks != 5))
        return alone / np.maximum(self._count(lambda ranks: ranks > 0), 1)

    @cached_property
    def in_crumbs(self) -> npt.NDArray[np.float64]:
        """Return the share of each phrase's pages that have it in their breadcrumbs, where authors name classes."""
        return self._count(lambda ranks: (ranks == 6) | (ranks == 7)) / np.maximum(self.df, 1)

    @cached_property
    def is_title(self) -> npt.NDArray[np.bool_]:
        """Mark the phrases that are the whole title of a page."""
        are_titles = np.zeros(self.phrases.count, np.bool_)
        are_titles[self._titles[0]] = True
        return are_titles

    @cached_property
    def _titles(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return (phrases that are the whole title of a page, ascending; these pages)."""
        entries = self.phrases.select(lambda part, _pages: self.phrases.ranks[part] % IN_TEXT == 9)
        entries = entries[np.argsort(self.phrases.phrases[entries], kind="stable")]
        return self.phrases.phrases[entries], self.phrases.pages_of(entries)

    def pages_titled(self, phrase: int) -> npt.NDArray[np.int64]:
        """Return the pages whose title is a phrase, ascending."""
        phrases, pages = self._titles
        return pages[slice(*np.searchsorted(phrases, [phrase, phrase + 1]).tolist())]

    @cached_property
    def stems(self) -> npt.NDArray[np.int32]:
        """Return the stems of each phrase, (phrases, 4), -1 where it has fewer."""
        content_stems = self.space.full((self.phrases.count, MOST_CONTENT), -1, np.int32)
        first_of, longest = self._best_entries(), np.arange(int(self.phrases.words.max(initial=0)))
        for part, pages in self.phrases.parts():
            entries = np.flatnonzero(first_of[self.phrases.phrases[part]] == np.arange(part.start, part.stop))
            pages, entries = pages[entries], entries + part.start
            begins = np.append(np.flatnonzero(np.diff(pages, prepend=-1)), len(pages)).tolist()
            for first, last in pairwise(begins):
                some = entries[first:last]
                stems = self.vocabulary.stem_of[self.corpus.words(int(pages[first]))]
                at = np.minimum(self.phrases.places[some][:, None] + longest, len(stems) - 1)
                held = np.where(longest < self.phrases.words[some][:, None], np.maximum(stems[at], -1), -1)
                # Stop words are left out, and what follows takes their places.
                in_front = np.argsort(held < 0, axis=1, kind="stable")[:, :MOST_CONTENT]
                content_stems[self.phrases.phrases[some], : in_front.shape[1]] = np.take_along_axis(held, in_front, 1)
        return content_stems

    @cached_property
    def unspaced(self) -> npt.NDArray[np.bool_]:
        """Mark the phrases that begin with a pair of characters of a script without spaces."""
        stems = np.unique(self.stems[:, 0])
        stems = stems[stems >= 0]
        words = (self.corpus.word(int(self.vocabulary.shown[stem])) for stem in stems.tolist())
        are_pairs = np.fromiter((not word.isascii() and is_unspaced(word) for word in words), np.bool_, len(stems))
        return np.isin(self.stems[:, 0], stems[are_pairs])

    def _best_entries(self) -> npt.NDArray[np.int64]:
        """Return the first entry of the best rank of each phrase, -1 for a phrase that is on no page any more."""
        best = np.full(self.phrases.count, -1, np.int64)
        for part, _pages in self.phrases.parts():
            ranks = (self.phrases.ranks[part] % IN_TEXT).astype(np.int64)
            np.maximum.at(best, self.phrases.phrases[part], (ranks + 1 << _BITS) - 1 - np.arange(part.start, part.stop))
        return np.where(best < 0, -1, (1 << _BITS) - 1 - (best & ((1 << _BITS) - 1)))

    def on_looked_at(self, wanted: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Yield (pages, phrases, ranks) of marked phrases on the pages that were looked at, some thousand pages at a time."""
        for part, pages in self.phrases.parts():
            here = wanted[self.phrases.phrases[part]]
            yield pages[here], self.phrases.phrases[part][here], self.phrases.ranks[part][here]

    def on_other_pages(self, wanted: Array, threads: int = 1) -> Iterator[tuple[Array, Array, Array]]:
        """Yield the same of some phrases, given by rising numbers, on the pages that were not looked at.

        Cost: a pass over these pages' words; memory for some thousand pages.
        """
        others = np.setdiff1d(np.arange(len(self.corpus)), self.looked_at, assume_unique=True)
        if not len(others):
            return
        of_sites, _names, notices = site_words(self.corpus, others)
        of_sites[notices | self.copies] = -1
        finder = PhraseFinder(self.corpus, self.vocabulary, of_sites, threads)
        for pages, places, ranks in finder.find_known(self.phrases.hashes[wanted]):
            yield pages, wanted[places], ranks

    def forms(self, phrases: Iterable[int]) -> dict[int, str]:
        """Return the usual spelling of phrases in their best places; '' for one that cannot be a name.

        Cost: each page that shows a chosen place is opened once.
        """
        places = self._places_of(np.fromiter(phrases, np.int64))
        # A phrase stands for a few places: what is written there is noted by number, since there may be many phrases.
        forms, languages, before = NumberedTexts(), NumberedTexts(), NumberedTexts()
        noted = self.space.empty((len(places), 3), np.int32)
        pages = self.phrases.pages_of(places[:, 1])
        for first, last in pairwise(np.append(np.flatnonzero(np.diff(pages, prepend=-1)), len(pages)).tolist()):
            page = int(pages[first])
            text, begins = self.corpus.text_bytes(page)
            ids, language = self.corpus.words(page), languages.number(self.corpus.language(page))
            for row, entry in enumerate(places[first:last, 1].tolist(), first):
                at = int(self.phrases.places[entry])
                end = at + int(self.phrases.words[entry]) - 1
                length = len(self.corpus.word(int(ids[end])))
                form = words_between(text, int(begins[at]), int(begins[end]), length)
                leading = word_before(text, int(begins[at]))
                if is_unspaced(form):
                    form = phrase_in_context(text, int(begins[at]), form, self.corpus.language(page))
                noted[row] = forms.number(form), language, before.number(leading)
        found: dict[int, str] = {}
        order = np.argsort(places[:, 0], kind="stable")
        ordered = places[order, 0]
        begins_of = np.append(np.flatnonzero(np.diff(ordered, prepend=-1)), len(order))
        for phrase in np.argsort(order[begins_of[:-1]]).tolist():  # in the order of their first places
            first, last = begins_of[phrase : phrase + 2].tolist()
            mine = noted[order[first:last]]
            written = forms.count(mine[:, 0])
            if any(map(is_in_context, written)):
                found[int(ordered[first])] = unspaced_form(written)
                continue
            form = common_form(written, before.count(mine[:, 2]))
            language_here = languages.count(mine[:, 1]).most_common(1)[0][0]
            is_name = is_phrase_of(form, language_here) and not is_site_name(form, self.site_names)
            found[int(ordered[first])] = form if is_name else ""
        return found

    def _places_of(self, phrases: Array) -> npt.NDArray[np.int64]:
        """Return (phrase, entry) of places where some phrases stand, (places, 2), by rising entries: the best, and some of all.

        Entries are collected for some phrases at a time, so that memory holds them.
        """
        phrases = np.sort(phrases)
        most = self.space.memory.items(_GATHERED, _GATHERED_BYTES)
        chosen = [np.zeros((0, 2), np.int64)]
        for first, last in batch_ranges(np.append(0, np.cumsum(self.df[phrases])), most) if len(phrases) else ():
            wanted = np.zeros(self.phrases.count, np.bool_)
            wanted[phrases[first:last]] = True
            entries = self._shown_entries(wanted)
            phrase, ranks = self.phrases.phrases[entries], self.phrases.ranks[entries] % IN_TEXT
            order = np.lexsort((-ranks.astype(np.int16), phrase))
            phrase, entries, ranks = phrase[order], entries[order], ranks[order]
            begins = np.flatnonzero(np.diff(phrase, prepend=-1))
            sizes = np.diff(np.append(begins, len(phrase)))
            rank_in_phrase = np.arange(len(phrase)) - np.repeat(begins, sizes)
            step = np.repeat(np.maximum(sizes // _SAMPLES, 1), sizes)
            is_best = (ranks == np.repeat(ranks[begins], sizes)) & (rank_in_phrase < _BEST_SAMPLES)
            is_spread = (rank_in_phrase % step == 0) & (rank_in_phrase < _SAMPLES * step)
            kept = is_best | is_spread
            chosen.append(np.stack([phrase[kept], entries[kept]], axis=1))
        places = np.concatenate(chosen)
        return places[np.argsort(places[:, 1])]

    def _shown_entries(self, wanted: Array) -> npt.NDArray[np.int64]:
        """Return the entries of marked phrases that stand elsewhere than in the text alone."""
        every = self.phrases
        return every.select(lambda part, _pages: wanted[every.phrases[part]] & (every.ranks[part] % IN_TEXT > 0))


def weigh_ranks(ranks: Array) -> npt.NDArray[np.float64]:
    """Return the weights of phrases for a page, by their ranks there."""
    return np.asarray(np.minimum(_WEIGHTS[ranks % IN_TEXT] + _IN_TEXT * (ranks >= IN_TEXT), 1.0), np.float64)


def phrases_of_corpus(
    corpus: Corpus, threads: int = 1, sample: int = NAMED_PAGES, space: Workspace = IN_MEMORY
) -> ShownPhrases:
    """Return the phrases of an open corpus, computed once; of a choice of pages if there are more than `sample`.

    Large arrays are put into `space`.
    """

    def find() -> ShownPhrases:
        return find_page_phrases(corpus, page_words(corpus, threads), pages_to_name(corpus, sample), threads, space)

    return corpus.term_tables(("shown", sample), find)


@dataclass(frozen=True)
class PageWords:
    """Facts from the counted words of all pages, collected in one pass."""

    words: Vocabulary
    titles: BagMatrix
    """The words of each page's title, and how often they stand there."""
    heads: npt.NDArray[np.int64]
    """For each page the first that has nearly the same words."""

    @property
    def copies(self) -> npt.NDArray[np.bool_]:
        """Return whether a page has nearly the same words as a page before it."""
        return np.asarray(self.heads != np.arange(len(self.heads)))


def mirrored_pages(corpus: Corpus, threads: int = 1) -> npt.NDArray[np.int64]:
    """Return for each page the first that has nearly the same words and the same title, on whatever site."""
    heads = page_words(corpus, threads).heads
    first: dict[tuple[int, str], int] = {}
    originals = np.arange(len(corpus))
    several = np.bincount(heads, minlength=1)[heads] > 1
    for page in np.flatnonzero(several).tolist():
        originals[page] = first.setdefault((int(heads[page]), corpus.titles.text(page)), page)
    return originals


def page_words(corpus: Corpus, threads: int = 1) -> PageWords:
    """Return the words of titles, and which pages are copies, found once for an open corpus.

    Cost: one pass over the terms; memory for the titles and a sketch of each page.
    """

    def find() -> PageWords:
        words = make_vocabulary(corpus, Strategy())
        sketches = np.full((len(corpus), SKETCH_PLACES), EMPTY_PLACE, np.uint16)
        sizes = np.zeros(len(corpus) + 1, np.int64)
        titles: list[tuple[Array, Array]] = [(np.zeros(0, np.int64), np.zeros(0, np.int32))]
        for first, batch in term_batches(corpus, words, threads):
            sketches[first : first + len(batch)] = sketch_terms(batch, words)
            in_title = batch.terms % len(TERM_ATTRIBUTES) == TERM_ATTRIBUTES.index("title")
            sizes[first + 1 : first + len(batch) + 1] = np.bincount(batch.rows[in_title], minlength=len(batch))
            titles.append((batch.terms[in_title] // len(TERM_ATTRIBUTES), batch.weights[in_title]))
        terms, counts = (np.concatenate(column) for column in zip(*titles, strict=True))
        titled = BagMatrix(np.cumsum(sizes), terms, counts, len(words.shown))
        return PageWords(words, titled, CopyIndex(sketches).fold_all())

    return corpus.term_tables("page words", find)


def find_page_phrases(
    corpus: Corpus, held: PageWords, pages: Array, threads: int = 1, space: Workspace = IN_MEMORY
) -> ShownPhrases:
    """Find the phrases of some pages, without the site's part of titles, template headings, server notices and copies."""
    of_sites, site_names, notices = site_words(corpus, pages)
    of_sites[notices | held.copies] = -1
    stems = make_vocabulary(corpus, STEMS)
    phrases = find_phrases(PhraseFinder(corpus, stems, of_sites, threads), space)
    phrases = _without_templates(corpus, _without_navigation(corpus, phrases, space), space)
    stem_of = stems.stem_of[held.words.shown].astype(np.int64)
    return ShownPhrases(corpus, stems, stem_of, phrases, site_names, notices, held.copies, pages, space)


def _without_navigation(corpus: Corpus, phrases: Phrases, space: Workspace) -> Phrases:
    """Leave out phrases that are mostly links to a different page each time: next, here, weiter.

    Also those that lead to one page or two of sites that are not in the collection: they thank or advertise somebody.
    """
    alone = phrases.select(lambda part, _pages: phrases.ranks[part] % IN_TEXT == 3)
    anchor = _anchors_at(corpus, phrases.pages_of(alone), phrases.places[alone])
    known = anchor < len(corpus.anchors.target)
    alone, anchor = alone[known], anchor[known]
    targets = np.asarray(corpus.anchors.target)[anchor].astype(np.int64)
    pairs = distinct(phrases.phrases[alone] * len(corpus.urls) + targets)
    uses = np.bincount(phrases.phrases[alone], minlength=phrases.count)
    different = np.bincount(pairs // max(len(corpus.urls), 1), minlength=phrases.count)
    shown = np.zeros(phrases.count, np.int64)
    for part, _pages in phrases.parts():
        np.add.at(shown, phrases.phrases[part][phrases.ranks[part] % IN_TEXT > 0], 1)
    is_link = (uses >= _TEMPLATE_PAGES) & (2 * uses >= shown)
    navigation = is_link & (different >= _SCATTERED * uses)
    thanks = is_link & (different <= _THANKED)
    hosts = {host.decode("utf-8", "ignore") for host in corpus.hosts}
    for pair in pairs[thanks[pairs // max(len(corpus.urls), 1)]].tolist():
        phrase, target = divmod(pair, len(corpus.urls))
        thanks[phrase] &= host_of(corpus.url(target)) not in hosts
    navigation |= thanks
    return phrases.keep(lambda part, _pages: ~navigation[phrases.phrases[part]], space)


def _anchors_at(corpus: Corpus, pages: Array, places: Array) -> npt.NDArray[np.int64]:
    """Return, for each place on a page, the first anchor that begins there or later; uses bounded memory."""
    anchors = np.full(len(pages), len(corpus.anchors.target), np.int64)
    bounds = np.asarray(corpus.pages.anchors, np.int64)
    width = int(np.max(corpus.anchors.start, initial=0)) + int(np.max(places, initial=0)) + 1
    order = np.argsort(pages, kind="stable")
    ordered = pages[order]
    for first, last in batch_ranges(bounds, _BATCH_ANCHORS):
        some = order[slice(*np.searchsorted(ordered, [first, last]).tolist())]
        page_of_anchor = np.repeat(np.arange(first, last), np.diff(bounds[first : last + 1]))
        starts = np.asarray(corpus.anchors.start[bounds[first] : bounds[last]], np.int64)
        keys = page_of_anchor * width + starts
        anchors[some] = bounds[first] + np.searchsorted(keys, pages[some] * width + places[some])
    return anchors


def _without_templates(corpus: Corpus, phrases: Phrases, space: Workspace) -> Phrases:
    """Leave out headings that many pages of a host share, because they come from its template."""
    host_of_page = np.asarray(corpus.pages.host).astype(np.int64)
    headings = phrases.select(lambda part, _pages: phrases.ranks[part] % IN_TEXT // 2 == 2)
    width = max(phrases.count, 1)
    keys = host_of_page[phrases.pages_of(headings)] * width + phrases.phrases[headings]
    pairs, held = np.unique(keys, return_counts=True)
    sizes = np.bincount(host_of_page, minlength=1)
    limit = np.maximum(_TEMPLATE_PAGES, _TEMPLATE * sizes[pairs // width])
    templates = pairs[held >= limit]

    def are_own(part: slice, pages: Array) -> Array:
        here = host_of_page[pages] * width + phrases.phrases[part]
        return (phrases.ranks[part] % IN_TEXT >= 6) | ~is_among(here, templates)

    return phrases.keep(are_own, space)


def sketch_terms(counted: BagMatrix, words: Vocabulary) -> npt.NDArray[np.uint16]:
    """Return a sketch of the words of each page, (pages, SKETCH_PLACES), to recognise copies."""
    from pagekin.clusters._kernels.sums import least_hashes

    none = np.iinfo(np.uint64).max
    least = np.full((len(counted), SKETCH_PLACES), none, np.uint64)
    least_hashes(counted.offsets, counted.terms // len(TERM_ATTRIBUTES), words.hashes, least)
    sketches: npt.NDArray[np.uint16] = np.minimum(least & np.uint64(0xFFFF), np.uint64(EMPTY_PLACE - 1)).astype(
        np.uint16
    )
    sketches[least == none] = EMPTY_PLACE
    return sketches
