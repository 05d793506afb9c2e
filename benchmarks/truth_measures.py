"""How well a side finds what authors put together, on one set: nDCG@10, see-also recall@10, Γ. See related_truth.py."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import urldefrag, urljoin

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from lxml import html as lxml_html

from pagekin.clusters import Directory
from pagekin.evaluation import make_bench
from pagekin.evaluation.experiments import count_pairs_by_rows
from truth_sets import SETS, Truth, judged_chapters

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

FIRST = 10
SOURCES = 400
"""Pages that are asked about, for each of the two wishes at most: those with the least hashes."""
SAMPLE_SOURCES = 100
"""As many of them, the first ones, are asked about among a sample, and for Γ."""
LEAST_LISTS = 20
"""Sets with fewer see-also lists are not judged by them."""
MATES = 10
"""Pages of a source's chapter that come into a sample before others do."""


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

    def forget_pages(self) -> None:
        """Free the memory of texts and links."""
        self.__dict__.pop("_parsed", None)

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
    def sample(self) -> list[int]:
        """Return the pages of the sample, all if there are few: first the first sources, then right answers, then any."""
        by_chapter, by_list = self.chapter_sources[:SAMPLE_SOURCES], self.see_also_sources[:SAMPLE_SOURCES]
        chosen = [*by_chapter, *by_list, *self._by_hash({page for source in by_list for page in self.see_also[source]})]
        mates: dict[str, list[int]] = {}
        for page in self._by_hash(self.chapters):
            mates.setdefault(self.chapters[page], []).append(page)
        for place in range(MATES + 1):
            for source in by_chapter:
                chosen += mates[self.chapters[source]][place : place + 1]
        chosen += self._by_hash(range(len(self)))
        return list(dict.fromkeys(chosen))[: self.sample_size]

    @cached_property
    def sampled(self) -> Mask:
        """Return which pages are in the sample."""
        mask = np.zeros(len(self), np.bool_)
        mask[self.sample] = True
        return mask


def _addresses(page: Any, own: str) -> Iterable[str]:
    """Yield the addresses that a page links to."""
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
    sample_ndcg: list[float]
    """Among the pages of the sample, for the first sources."""
    sample_see_also: list[float]
    pairs: list[list[int]]
    """For the first sources: pairs of a page of its chapter and one of another that are concordant, discordant, tied."""

    @property
    def gamma(self) -> float:
        """Return Γ of all pairs; nan if none is ordered."""
        concordant, discordant, _tied = np.sum(np.array(self.pairs).reshape(-1, 3), axis=0)
        both = concordant + discordant
        return float((concordant - discordant) / both) if both else float("nan")


def ndcg(hits: Sequence[bool], right: int) -> float:
    """Return the discounted gain of the first ten, as a share of the best possible."""
    discounts = 1 / np.log2(np.arange(2, FIRST + 2))
    best = discounts[: min(right, FIRST)].sum()
    return float(sum(discount for discount, hit in zip(discounts, hits, strict=False) if hit) / best) if best else 0.0


def judge(site: Site, side: Side) -> Figures:
    """Ask a side about the set's sources, among all pages and among the sample."""
    whole = len(site.sample) == len(site)
    among_all = ([], []) if side.sample_only and not whole else _ask(site, side, None, SOURCES)
    if whole:
        sampled = (among_all[0][:SAMPLE_SOURCES], among_all[1][:SAMPLE_SOURCES])
    else:
        sampled = _ask(site, side, site.sampled, SAMPLE_SOURCES)
    return Figures(*among_all, *sampled, count_pairs(site, side))


def _ask(site: Site, side: Side, among: Mask | None, sources: int) -> tuple[list[float], list[float]]:
    """Return (nDCG of each source by chapter, recall of each source's see-also list) among some pages."""
    there = among if among is not None else np.ones(len(site), np.bool_)
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


def count_pairs(site: Site, side: Side) -> list[list[int]]:
    """Count how a side orders pages of a source's chapter and pages of others, all of them in the sample.

    Pairs are counted as `pagekin evaluate` counts them, by a directory of one level.
    """
    pages = np.array(sorted(page for page in site.chapters if site.sampled[page]), np.int64)
    names = sorted({site.chapters[page] for page in pages.tolist()})
    places = {name: place for place, name in enumerate(names)}
    members = np.array([places[site.chapters[page]] for page in pages.tolist()], np.int64)
    classes = tuple((name,) for name in names)
    directory = Directory(site.name, 1, "lenient", "primary", classes, pages, np.arange(len(pages) + 1), members)
    bench = make_bench(directory)
    sources = np.searchsorted(pages, np.array(site.chapter_sources[:SAMPLE_SOURCES], np.int64))
    counts = count_pairs_by_rows(bench, sources, lambda some: side.rows(pages[some])[:, pages])[0]
    return cast(list[list[int]], np.array(counts.region("overall"), np.int64).T.tolist())
