"""Phrases that pages show in titles, breadcrumbs, headings and links, as written, without the site's own parts."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np
import numpy.typing as npt

from pagekin.bags import (
    EMPTY_PLACE,
    SKETCH_PLACES,
    BagMatrix,
    CopyIndex,
    Strategy,
    Vocabulary,
    is_telling,
    make_vocabulary,
)
from pagekin.clusters.furniture import is_furniture
from pagekin.clusters.levels import Rows
from pagekin.clusters.phrases import IN_TEXT, MOST_CONTENT, PhraseFinder, Phrases, find_phrases
from pagekin.clusters.products import Products, find_products
from pagekin.clusters.sampling import NAMED_PAGES, pages_to_name
from pagekin.clusters.terms import TERM_ATTRIBUTES, term_batches
from pagekin.clusters.titles import site_words
from pagekin.hypertext import Corpus, fold_case, host_of
from pagekin.store import Array, batch_ranges, distinct
from pagekin.text import tokens

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
_BEST_SAMPLES, _SAMPLES = 4, 8
"""Places that are looked at to learn how a phrase is written: of the best rank, and of all."""
_PLURAL = 0.2
"""The plural is taken if it is this share of the forms, at least: a topic is one of many."""
_SHORT = 3
"""Letters of an abbreviation, at most."""
_LOUD = 4
"""Letters of a word that is written in capitals alone only if it is never written otherwise: it is no abbreviation."""
_LEADING = 0.6
"""A word written large before a phrase belongs to it if it stands before this share of its places."""
_BROKEN = re.compile(r"[,;|@()\[\]{}<>\"“”„•·»«=\n\r\t!?…]|\s[-–—:/*.+]+\s|[:.]\s|–|—")
"""What stands between parts of a text, but not inside a phrase."""
_NAMES = re.compile(r"[^\W\d_].*\w.*\w|[A-Z]\w|[^\W\d_](?:\+\+|#)")
"""A name begins with a letter, and has three at least, or two large ones."""
_BEFORE = re.compile(r"(?:^|[\W_])((?:New|Old|Great|High|Long|Little|Big|Time|First|General|Good) )$")
"""Stop words that begin names, if they are written large: New Zealand."""


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

    @property
    def unfit(self) -> npt.NDArray[np.bool_]:
        """Mark the pages that do not count: notices and copies."""
        return self.notices | self.copies

    @cached_property
    def products(self) -> Products:
        """Return what the pages' sites call themselves."""
        return find_products(self.corpus, self.looked_at.tolist(), lambda page: not self.notices[page])

    @cached_property
    def rows(self) -> Rows:
        """Return the phrases of each page with their weights."""
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
        return weigh_ranks(self.phrases.ranks)

    @cached_property
    def df(self) -> npt.NDArray[np.int64]:
        """Return how many pages show each phrase."""
        return np.bincount(self.phrases.phrases, minlength=self.phrases.count)

    @cached_property
    def weight_of(self) -> npt.NDArray[np.float64]:
        """Return the weight of each phrase on all pages."""
        return np.bincount(self.phrases.phrases, self.weights, self.phrases.count).astype(np.float64)

    @cached_property
    def alone(self) -> npt.NDArray[np.float64]:
        """Return the share of pages on which each phrase is a whole title, heading or link text."""
        ranks = self.phrases.ranks % IN_TEXT
        alone = np.bincount(self.phrases.phrases, (ranks % 2 == 1) & (ranks != 5), self.phrases.count)
        shown = np.bincount(self.phrases.phrases, ranks > 0, self.phrases.count)
        return alone / np.maximum(shown, 1)

    @cached_property
    def in_crumbs(self) -> npt.NDArray[np.float64]:
        """Return the share of each phrase's pages that have it in their breadcrumbs, where authors name classes."""
        crumbs = (self.phrases.ranks % IN_TEXT == 6) | (self.phrases.ranks % IN_TEXT == 7)
        return np.bincount(self.phrases.phrases, crumbs, self.phrases.count) / np.maximum(self.df, 1)

    @cached_property
    def is_title(self) -> npt.NDArray[np.bool_]:
        """Mark the phrases that are the whole title of a page."""
        are_titles = np.zeros(self.phrases.count, np.bool_)
        are_titles[self._titles[0]] = True
        return are_titles

    @cached_property
    def _titles(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return (phrases that are the whole title of a page, ascending; these pages)."""
        entries = np.flatnonzero(self.phrases.ranks % IN_TEXT == 9)
        entries = entries[np.argsort(self.phrases.phrases[entries], kind="stable")]
        return self.phrases.phrases[entries], self._pages[entries]

    def pages_titled(self, phrase: int) -> npt.NDArray[np.int64]:
        """Return the pages whose title is a phrase, ascending."""
        phrases, pages = self._titles
        return pages[slice(*np.searchsorted(phrases, [phrase, phrase + 1]).tolist())]

    @cached_property
    def _by_phrase(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the entries of each phrase, the best ranks first, and where those of each phrase begin."""
        order = np.lexsort((-(self.phrases.ranks % IN_TEXT).astype(np.int64), self.phrases.phrases))
        return order, np.append(0, np.cumsum(self.df))

    @cached_property
    def stems(self) -> npt.NDArray[np.int64]:
        """Return the stems of each phrase, (phrases, 4), -1 where it has fewer."""
        order, starts = self._by_phrase
        content_stems = np.full((self.phrases.count, MOST_CONTENT), -1, np.int64)
        entries = order[starts[:-1][self.df > 0]]  # some phrases were left out on all their pages
        entries = entries[np.argsort(self._pages[entries], kind="stable")]
        for page, some in groupby(entries.tolist(), key=lambda entry: int(self._pages[entry])):
            stems = self.vocabulary.stem_of[self.corpus.words(page)]
            for entry in some:
                first = int(self.phrases.places[entry])
                content = stems[first : first + int(self.phrases.words[entry])]
                content = content[content >= 0]
                content_stems[self.phrases.phrases[entry], : len(content)] = content
        return content_stems

    @cached_property
    def _pages(self) -> npt.NDArray[np.int64]:
        return self.phrases.pages

    def on_other_pages(self, wanted: Array, threads: int = 1) -> tuple[Array, Array, Array]:
        """Return (pages, phrases, ranks) of some phrases, given by rising numbers, on the pages that were not looked at.

        Cost: a pass over these pages' words; memory for what is returned.
        """
        others = np.setdiff1d(np.arange(len(self.corpus)), self.looked_at, assume_unique=True)
        if not len(others):
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
        of_sites, _names, notices = site_words(self.corpus, others)
        of_sites[notices | self.copies] = -1
        finder = PhraseFinder(self.corpus, self.vocabulary, of_sites, threads)
        pages, places, ranks = zip(*finder.find_known(self.phrases.hashes[wanted]), strict=True)
        return np.concatenate(pages), wanted[np.concatenate(places)], np.concatenate(ranks)

    def forms(self, phrases: Iterable[int]) -> dict[int, str]:
        """Return the usual spelling of phrases in their best places; '' for one that cannot be a name.

        Cost: each page that shows a chosen place is opened once.
        """
        order, starts = self._by_phrase
        chosen: list[tuple[int, int, int]] = []
        for phrase in phrases:
            entries = order[starts[phrase] : starts[phrase + 1]]
            ranks = self.phrases.ranks[entries] % IN_TEXT
            entries, ranks = entries[ranks > 0], ranks[ranks > 0]
            if not len(entries):
                continue
            best = entries[ranks == ranks[0]][:_BEST_SAMPLES].tolist()
            spread = entries[:: max(len(entries) // _SAMPLES, 1)][:_SAMPLES].tolist()
            chosen += [(int(self._pages[entry]), entry, phrase) for entry in dict.fromkeys([*best, *spread])]
        written: dict[int, Counter[str]] = {}
        languages: dict[int, Counter[str]] = {}
        before: dict[int, Counter[str]] = {}
        for page, places in groupby(sorted(chosen), key=lambda one: one[0]):
            text, begins = self.corpus.text_bytes(page)
            ids = self.corpus.words(page)
            for _page, entry, phrase in places:
                first = int(self.phrases.places[entry])
                last = first + int(self.phrases.words[entry]) - 1
                length = len(self.corpus.word(int(ids[last])))
                form = _words_between(text, int(begins[first]), int(begins[last]), length)
                written.setdefault(phrase, Counter())[form] += 1
                languages.setdefault(phrase, Counter())[self.corpus.language(page)] += 1
                before.setdefault(phrase, Counter())[_word_before(text, int(begins[first]))] += 1
        named = {phrase: _common_form(forms, before[phrase]) for phrase, forms in written.items()}
        return {
            phrase: form
            if _is_phrase_of(form, languages[phrase].most_common(1)[0][0]) and not _is_site_name(form, self.site_names)
            else ""
            for phrase, form in named.items()
        }


def _is_phrase_of(form: str, language: str) -> bool:
    """Return whether a phrase begins and ends with words that tell something in a language, and has no pairs of characters."""
    words = tokens(form)
    return bool(words) and all(is_telling(word, language) for word in (words[0], words[-1]))


def weigh_ranks(ranks: Array) -> npt.NDArray[np.float64]:
    """Return the weights of phrases for a page, by their ranks there."""
    return np.asarray(np.minimum(_WEIGHTS[ranks % IN_TEXT] + _IN_TEXT * (ranks >= IN_TEXT), 1.0), np.float64)


def _is_site_name(form: str, sites: frozenset[str]) -> bool:
    """Return whether a phrase is a site's name or the beginning or end of its address, rather than what pages are about."""
    words = tokens(form)
    return " ".join(words) in sites or (len(words) == 1 and form.islower() and f".{words[0]}" in sites)


def _words_between(text: bytes, first: int, last: int, length: int) -> str:
    """Return the words of a text from the one at byte `first` to that of some letters at byte `last`."""
    end = text[last : last + 4 * length + 4].decode("utf-8", "ignore")
    more = re.match(r"\+\+|#(?!\w)", end[length:])
    return text[first:last].decode("utf-8", "ignore") + end[:length] + (more[0] if more else "")


def _word_before(text: bytes, first: int) -> str:
    """Return the capitalised word before a byte of a text if it belongs to what follows; "-" for part of a word."""
    behind = text[max(first - 24, 0) : first].decode("utf-8", "ignore")
    if behind[-1:] in ("-", "'", "@", "\u2019") and behind[-2:-1].isalnum():
        return "-"
    match = _BEFORE.search(behind)
    return match[1] if match else ""


def _common_form(forms: Counter[str], before: Counter[str]) -> str:
    """Return the form in which a phrase is written most often, in the plural if it is seen in both; '' if that names nothing.

    `before` are the words written large that stand before it.
    """
    leading, times = before.most_common(1)[0]
    if before["-"] * 2 > before.total():
        return ""
    whole = Counter({form: count for form, count in forms.items() if not _BROKEN.search(form)})
    if 2 * whole.total() < forms.total():
        return ""
    form = max(whole, key=lambda form: (whole[form], form))
    plural = [other for other in whole if _is_plural(fold_case(other), fold_case(form))]
    if plural and sum(whole[other] for other in plural) >= _PLURAL * whole.total():
        form = max(plural, key=lambda other: (whole[other], other))
    if is_furniture(form) or not _NAMES.match(form):
        return ""
    # Inside a sentence a word may be small that titles write large.
    if leading not in ("", "-") and times > _LEADING * before.total():
        return leading + form
    if form.isupper() and len(form) > _LOUD:
        quiet = [other for other in whole if fold_case(other) == fold_case(form) and not other.isupper()]
        form = max(quiet, key=lambda other: (whole[other], other), default=form)
    large = form[0].upper() + form[1:]
    if large in whole or not form.replace(" ", "").isalpha():
        return large if large in whole else form
    if not any(other[0].isupper() for other in whole):
        return large if " " in form else form  # a word that is always small may be a command
    same = [other for other in whole if other[0].isupper() and fold_case(other) == fold_case(form)]
    upper = max(same, key=lambda other: (whole[other], other), default=large)
    return large if upper.isupper() and len(upper) > _LOUD else upper


def _is_plural(one: str, other: str) -> bool:
    """Return whether one English phrase is the plural of another; abbreviations have none."""
    endings = one in (f"{other}s", f"{other}es") or (other.endswith("y") and one == f"{other[:-1]}ies")
    return endings and len(other) > _SHORT


def phrases_of_corpus(corpus: Corpus, threads: int = 1, sample: int = NAMED_PAGES) -> ShownPhrases:
    """Return the phrases of an open corpus, computed once; of a choice of pages if there are more than `sample`."""

    def find() -> ShownPhrases:
        return find_page_phrases(corpus, page_words(corpus, threads), pages_to_name(corpus, sample), threads)

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


def find_page_phrases(corpus: Corpus, held: PageWords, pages: Array, threads: int = 1) -> ShownPhrases:
    """Find the phrases of some pages, without the site's part of titles, template headings, server notices and copies."""
    of_sites, site_names, notices = site_words(corpus, pages)
    of_sites[notices | held.copies] = -1
    stems = make_vocabulary(corpus, STEMS)
    phrases = _without_navigation(corpus, find_phrases(PhraseFinder(corpus, stems, of_sites, threads)))
    stem_of = stems.stem_of[held.words.shown].astype(np.int64)
    phrases = _without_templates(corpus, phrases)
    return ShownPhrases(corpus, stems, stem_of, phrases, site_names, notices, held.copies, pages)


def _without_navigation(corpus: Corpus, phrases: Phrases) -> Phrases:
    """Leave out phrases that are mostly links to a different page each time: next, here, weiter.

    Also those that lead to one page of a site that is not in the collection: they thank or advertise somebody.
    """
    alone = np.flatnonzero(phrases.ranks % IN_TEXT == 3)
    anchor = _anchors_at(corpus, phrases.pages[alone], phrases.places[alone])
    known = anchor < len(corpus.anchors.target)
    alone, anchor = alone[known], anchor[known]
    targets = np.asarray(corpus.anchors.target)[anchor].astype(np.int64)
    pairs = distinct(phrases.phrases[alone] * len(corpus.urls) + targets)
    uses = np.bincount(phrases.phrases[alone], minlength=phrases.count)
    different = np.bincount(pairs // max(len(corpus.urls), 1), minlength=phrases.count)
    shown = np.bincount(phrases.phrases, phrases.ranks % IN_TEXT > 0, phrases.count)
    is_link = (uses >= _TEMPLATE_PAGES) & (2 * uses >= shown)
    navigation = is_link & (different >= _SCATTERED * uses)
    hosts = {host.decode("utf-8", "ignore") for host in corpus.hosts}
    for pair in pairs[is_link[pairs // len(corpus.urls)] & (different[pairs // len(corpus.urls)] == 1)].tolist():
        phrase, target = divmod(pair, len(corpus.urls))
        navigation[phrase] |= host_of(corpus.url(target)) not in hosts
    return phrases.keep(~navigation[phrases.phrases])


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


def _without_templates(corpus: Corpus, phrases: Phrases) -> Phrases:
    """Leave out headings that many pages of a host share, because they come from its template."""
    host_of_page = np.asarray(corpus.pages.host).astype(np.int64)
    ranks = phrases.ranks % IN_TEXT
    headings = np.flatnonzero((ranks == 4) | (ranks == 5))
    width = max(phrases.count, 1)
    keys = host_of_page[phrases.pages[headings]] * width + phrases.phrases[headings]
    pairs, held = np.unique(keys, return_counts=True)
    sizes = np.bincount(host_of_page, minlength=1)
    limit = np.maximum(_TEMPLATE_PAGES, _TEMPLATE * sizes[pairs // width])
    templates = pairs[held >= limit]
    own = (ranks >= 6) | ~np.isin(host_of_page[phrases.pages] * width + phrases.phrases, templates)
    return phrases.keep(own)


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
