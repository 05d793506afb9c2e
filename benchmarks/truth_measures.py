"""How well a side finds what authors put together, on one set: nDCG@10, see-also recall@10, Γ. See related_truth.py."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, cast
from urllib.parse import urldefrag, urljoin

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from lxml import html as lxml_html

from pagekin.clusters import Directory
from pagekin.evaluation import experiments, make_bench
from pagekin.evaluation.gamma import gamma
from truth_sets import SETS, Truth, judged_chapters

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FIRST = 10
SOURCES = 400
"""Pages that are asked about, for each of the two wishes at most: those with the least hashes."""
GAMMA_SOURCES = 100
"""As many of them, the first ones, are asked about for Γ."""
GAMMA_PAGES = 1000
"""Pages that Γ is counted over, of large sets."""
LEAST_LISTS = 20
"""Sets with fewer see-also lists are not judged by them."""
MATES = 3
"""Pages of a source's chapter that come into a sample with it."""


@dataclass(frozen=True)
class Side:
    """A way to tell which pages are related."""

    rank: Callable[[int, Mask | None], Sequence[int]]
    """Given a page's number, those of the ten pages thought closest; with a mask, of the pages that it marks."""
    rows: Callable[[Numbers], npt.NDArray[Any]]
    """Given numbers of pages, their similarities to all pages, (given, pages)."""
    sample_only: bool = False
    """Whether it knows no other pages than those of the sample."""


def rank_by_rows(rows: Callable[[Numbers], npt.NDArray[Any]], sample_only: bool = False) -> Side:
    """Make a side that ranks pages by their similarities; those of 0 and less are no answers."""

    def rank(number: int, among: Mask | None) -> list[int]:
        scores = np.array(rows(np.array([number]))[0], dtype=np.float64)
        if among is not None:
            scores[~among] = 0
        scores[number] = 0
        best = np.lexsort((np.arange(len(scores)), -scores))[:FIRST]
        return [int(other) for other in best if scores[other] > 0]

    return Side(rank, rows, sample_only)


@dataclass(frozen=True)
class Sample:
    """Some pages of a set."""

    pages: Mask
    sources: int
    """How many of the set's sources, of each kind, are asked about among them: the first ones."""

    @property
    def is_whole(self) -> bool:
        """Tell whether it holds all pages."""
        return bool(self.pages.all())


@dataclass
class Site:
    """A set's pages in order of their paths, and what is known of them."""

    name: str
    folder: Path
    truth: Truth
    sample_size: int

    @cached_property
    def paths(self) -> list[str]:
        """Return the paths of all pages."""
        root = self.folder / "site"
        return sorted(file.relative_to(root).as_posix() for file in root.rglob("*.htm*") if file.is_file())

    @cached_property
    def number(self) -> dict[str, int]:
        """Return the number of each path."""
        return {path: number for number, path in enumerate(self.paths)}

    def __len__(self) -> int:
        return len(self.paths)

    def url(self, number: int) -> str:
        """Return the address of a page."""
        return SETS[self.name].url(self.paths[number])

    @cached_property
    def digest(self) -> str:
        """Return a digest of all pages and of what is known of them."""
        total = hashlib.sha256((self.folder / "truth.json").read_bytes())
        for path in self.paths:
            total.update(path.encode() + b"\0" + hashlib.sha256((self.folder / "site" / path).read_bytes()).digest())
        return total.hexdigest()

    @cached_property
    def _parsed(self) -> tuple[list[str], sp.csr_matrix]:
        """Return every page's title and text, and which page links to which."""
        texts, rows, columns = [], [], []
        numbers = {self.url(number): number for number in range(len(self))}
        for number, path in enumerate(self.paths):
            raw = (self.folder / "site" / path).read_bytes()
            page = lxml_html.document_fromstring(raw, parser=lxml_html.HTMLParser(encoding="utf-8"))
            targets = {numbers.get(address, number) for address in _addresses(page, self.url(number))} - {number}
            rows += [number] * len(targets)
            columns += sorted(targets)
            words = page.xpath("//text()[not(parent::script or parent::style)]")
            texts.append(" ".join(" ".join(words).split()))
        return texts, sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(self), len(self)))

    @property
    def texts(self) -> list[str]:
        """Return every page's title and text."""
        return self._parsed[0]

    @property
    def links(self) -> sp.csr_matrix:
        """Return which page (row) links to which (column)."""
        return self._parsed[1]

    @cached_property
    def word_counts(self) -> sp.csr_matrix:
        """Return how often each page has each word, without stop words."""
        from sklearn.feature_extraction.text import CountVectorizer

        vectorizer = CountVectorizer(stop_words="english", token_pattern=r"(?u)\b\w\w+\b")
        return vectorizer.fit_transform(self.texts).astype(np.float64)

    def forget_pages(self) -> None:
        """Free the memory of texts, words and links."""
        self.__dict__.pop("_parsed", None)
        self.__dict__.pop("word_counts", None)

    # -- what is asked ---------------------------------------------------------------------------------------------

    @cached_property
    def chapters(self) -> dict[int, str]:
        """Return the chapter of each page that one is judged by."""
        judged = judged_chapters(self.truth)
        return {self.number[path]: chapter for path, chapter in judged.items() if path in self.number}

    @cached_property
    def see_also(self) -> dict[int, set[int]]:
        """Return the pages that each page's see-also lists name."""
        named = {
            self.number[path]: {self.number[target] for target in targets if target in self.number}
            for path, targets in self.truth.see_also.items()
            if path in self.number
        }
        lists = {page: targets for page, targets in named.items() if targets}
        return lists if len(lists) >= LEAST_LISTS else {}

    @cached_property
    def chapter_sources(self) -> list[int]:
        """Return the pages asked about for their chapters."""
        return self._by_hash(self.chapters)[:SOURCES]

    @cached_property
    def see_also_sources(self) -> list[int]:
        """Return the pages asked about for their see-also lists."""
        return self._by_hash(self.see_also)[:SOURCES]

    def _by_hash(self, numbers: Iterable[int]) -> list[int]:
        """Put pages into an order that depends on nothing but their paths."""
        return sorted(numbers, key=lambda number: hashlib.sha256(self.paths[number].encode()).digest())

    @cached_property
    def sample(self) -> Sample:
        """Return the sample for sides that take long."""
        return self._sample(self.sample_size)

    @cached_property
    def gamma_sample(self) -> Sample:
        """Return the sample that Γ is counted over."""
        return self._sample(GAMMA_PAGES)

    def _sample(self, size: int) -> Sample:
        """Choose pages: for one half sources of both kinds with right answers, then any; all where there are few."""
        mates: dict[str, list[int]] = {}
        for page in self._by_hash(self.chapters):
            mates.setdefault(self.chapters[page], []).append(page)
        chosen: dict[int, None] = {}
        sources = 0
        while len(chosen) < size / 2 and sources < SOURCES:
            for page in self.chapter_sources[sources : sources + 1]:
                others = [other for other in mates[self.chapters[page]] if other != page]
                first = sources % len(others)
                chosen.update(dict.fromkeys([page, *others[first : first + MATES]]))
            for page in self.see_also_sources[sources : sources + 1]:
                chosen.update(dict.fromkeys([page, *sorted(self.see_also[page])]))
            sources += 1
        rest = (page for page in self._by_hash(range(len(self))) if page not in chosen)
        mask = np.zeros(len(self), np.bool_)
        mask[[*chosen, *islice(rest, max(0, size - len(chosen)))]] = True
        return Sample(mask, SOURCES if mask.all() else sources)


def _addresses(page: Any, own: str) -> Iterable[str]:
    """Yield the addresses that a page links to."""
    own = urljoin(own, str(next(iter(page.xpath("//base/@href")), "")))
    for href in page.xpath("//a/@href"):
        try:
            yield urldefrag(urljoin(own, str(href).strip())).url
        except ValueError:
            continue  # no address


# -- measures --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """One side on one set: a value for each page that was asked about, in the order of the site's sources."""

    ndcg: list[float]
    see_also: list[float]
    pairs: list[list[int]]
    """For the first sources: pairs of a page of its chapter and one of another that are concordant, discordant, tied."""
    sample_ndcg: list[float]
    sample_see_also: list[float]
    sample_pairs: list[list[int]]
    """The same among the sample, of sides that know no other pages and of ours."""

    @property
    def sampled(self) -> Figures:
        """Return the figures among the sample in place of those among all pages."""
        return replace(self, ndcg=self.sample_ndcg, see_also=self.sample_see_also, pairs=self.sample_pairs)

    @property
    def values(self) -> tuple[float, float, float]:
        """Return nDCG, see-also recall and Γ; nan where nothing was asked."""
        means = [float(np.mean(values)) if values else float("nan") for values in (self.ndcg, self.see_also)]
        concordant, discordant, _tied = np.sum(np.array(self.pairs).reshape(-1, 3), axis=0)
        return means[0], means[1], float(gamma(concordant, discordant))


def ndcg(hits: Sequence[bool], right: int) -> float:
    """Return the discounted gain of the first ten, as a share of the best possible."""
    discounts = 1 / np.log2(np.arange(2, FIRST + 2))
    best = discounts[: min(right, FIRST)].sum()
    return float(sum(discount for discount, hit in zip(discounts, hits, strict=False) if hit) / best) if best else 0.0


def judge(site: Site, side: Side, sampled: bool = True) -> Figures:
    """Ask a side about the set's sources among all pages, and among the sample if so told and it is not all of them."""
    figures = Figures([], [], [], [], [], [])
    whole = site.sample.is_whole
    if whole or not side.sample_only:
        by_chapter, by_list = _ask(site, side, Sample(np.ones(len(site), np.bool_), SOURCES))
        pairs = count_pairs(site, side, site.gamma_sample)
        figures = replace(figures, ndcg=by_chapter, see_also=by_list, pairs=pairs)
    if sampled and not whole:
        by_chapter, by_list = _ask(site, side, site.sample)
        pairs = count_pairs(site, side, site.sample)
        figures = replace(figures, sample_ndcg=by_chapter, sample_see_also=by_list, sample_pairs=pairs)
    return figures


def _ask(site: Site, side: Side, sample: Sample) -> tuple[list[float], list[float]]:
    """Return (nDCG of each source by chapter, recall of each source's see-also list) among some pages."""
    there, sources = sample.pages, sample.sources
    among = None if sample.is_whole else there
    sizes = Counter(chapter for page, chapter in site.chapters.items() if there[page])
    by_chapter = []
    for page in site.chapter_sources[:sources]:
        hits = [site.chapters.get(other) == site.chapters[page] for other in side.rank(page, among)]
        by_chapter.append(ndcg(hits, sizes[site.chapters[page]] - 1))
    by_list = []
    for page in site.see_also_sources[:sources]:
        wanted = {other for other in site.see_also[page] if there[other]}
        by_list.append(len(wanted & set(side.rank(page, among))) / max(1, len(wanted)))
    return by_chapter, by_list


def gamma_sources(site: Site, sample: Sample) -> list[int]:
    """Return the pages that are asked about for Γ."""
    return site.chapter_sources[: min(GAMMA_SOURCES, sample.sources)]


def count_pairs(site: Site, side: Side, sample: Sample) -> list[list[int]]:
    """Count how a side orders pages of a source's chapter and pages of others, all of them in a sample.

    Pairs are counted as `pagekin evaluate` counts them, by a directory of one level.
    """
    pages = np.array(sorted(page for page in site.chapters if sample.pages[page]), np.int64)
    names = sorted({site.chapters[page] for page in pages.tolist()})
    places = {name: place for place, name in enumerate(names)}
    members = np.array([places[site.chapters[page]] for page in pages.tolist()], np.int64)
    classes = tuple((name,) for name in names)
    directory = Directory(site.name, 1, "lenient", "primary", classes, pages, np.arange(len(pages) + 1), members)
    bench = make_bench(directory)
    sources = np.searchsorted(pages, np.array(gamma_sources(site, sample), np.int64))
    counts = experiments.count_pairs(bench, sources, lambda some: side.rows(pages[some])[:, pages])[0]
    return cast(list[list[int]], np.array(counts.region("overall"), np.int64).T.tolist())
