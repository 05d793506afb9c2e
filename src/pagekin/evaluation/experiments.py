"""Judge strategies: make bags of the directory's pages, compare them, and measure the agreement with the directory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagMatrix, BagWorkshop, Strategy
from pagekin.clusters import Directory
from pagekin.evaluation.gamma import REGIONS, Agreement, ClassBootstrap, PairCounts
from pagekin.hypertext import Corpus
from pagekin.store import Array, Progress, map_in_order, no_progress
from pagekin.wording import plural

Rows = Callable[[Array], Array]
"""From the numbers of some documents to their similarities to all documents, (some, documents)."""
Counted = tuple[PairCounts, Array, Array]
"""Of each source: pairs of documents by distance and agreement, the nearest documents, their similarities."""
NEAREST = 100
INLINK_GROUPS = (0, 1, 4, 16, 64, np.inf)
_COMMON = 8
"""Terms that more than one in so many documents holds are common."""
_FULL_BYTES = 64 << 20
"""Memory for the full columns of common terms."""


@dataclass(frozen=True)
class Bench:
    """The documents to judge by: which of them are sources, and their directory."""

    directory: Directory
    urls: npt.NDArray[np.int64]
    """URL numbers of the documents, rows of every matrix."""
    sources: npt.NDArray[np.int64]
    class_offsets: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]
    apart: npt.NDArray[np.int64]
    bootstrap: ClassBootstrap
    note: str
    """Which pages take part, for the report."""

    @property
    def primary(self) -> Array:
        """Return the first class of each document."""
        return self.classes[self.class_offsets[:-1]]


@dataclass(frozen=True)
class Judgement:
    """The agreement of one strategy with the directory."""

    name: str
    strategy: dict[str, Any]
    counts: PairCounts
    agreements: dict[str, Agreement]
    resampled: dict[str, list[Array]]
    """Per region Γ and Somers' D of each resample."""
    orthogonality: float
    """The share of pairs of one class with nothing in common (Figure 4)."""
    nearest: npt.NDArray[np.int64]
    """The most similar documents of each source, -1 where there are no more."""
    nearest_similarity: npt.NDArray[np.float32]
    facts: dict[str, Any]
    seconds: float


def make_bench(
    directory: Directory, only: Array | None = None, sample: int = 0, seed: int = 1, rounds: int = 1000
) -> Bench:
    """Make a bench of a directory's pages, all of them sources.

    `only` keeps those of these URLs. With `sample`, so many pairs of sibling classes are drawn, as in the paper, and the
    pages of drawn classes are kept.
    """
    rng = np.random.default_rng(seed)
    keep = np.ones(len(directory.urls), np.bool_)
    note = ""
    if only is not None:
        keep &= np.isin(directory.urls, only)
    if sample:
        drawn, there_are = _sampled_classes(directory, sample, rng)
        of_class = np.isin(directory.members, drawn)
        keep &= np.add.reduceat(of_class, directory.offsets[:-1]).astype(np.bool_)
        pairs = min(sample, there_are)
        note = f", those of {plural(pairs, 'drawn pair')} of sibling classes" + (
            f" (all there are; {sample:,} were asked for)" if there_are < sample else ""
        )
    kept = keep_documents(directory, keep)
    of_all = "all" if keep.all() else f"{len(kept.urls):,} of"
    note = f"{of_all} {plural(len(keep), 'page')} of the directory{note}"
    bootstrap = ClassBootstrap(kept.members[kept.offsets[:-1]], rounds, seed)
    every = np.arange(len(kept.urls))
    return Bench(directory, kept.urls, every, kept.offsets, kept.members, directory.class_distances(), bootstrap, note)


def with_sources(bench: Bench, chosen: Array, rounds: int, seed: int) -> Bench:
    """Return the bench with some of its sources; all documents stay candidates."""
    sources = bench.sources[chosen]
    return replace(bench, sources=sources, bootstrap=ClassBootstrap(bench.primary[sources], rounds, seed))


def keep_documents(directory: Directory, keep: Array) -> Directory:
    """Return the directory with the documents in a mask."""
    sizes = np.diff(directory.offsets)
    offsets = np.concatenate([[0], np.cumsum(sizes[keep])])
    members = directory.members[np.repeat(keep, sizes)]
    return replace(directory, urls=directory.urls[keep], offsets=offsets, members=members)


def _sampled_classes(directory: Directory, count: int, rng: Any) -> tuple[Array, int]:
    """Return (the classes in `count` random pairs of sibling classes, the number of such pairs)."""
    by_parent: dict[tuple[str, ...], list[int]] = {}
    for number, path in enumerate(directory.classes):
        by_parent.setdefault(path[:-1], []).append(number)
    pairs = [pair for group in by_parent.values() for pair in combinations(group, 2)]
    if len(pairs) <= count:
        return np.unique(np.array(pairs, np.int64)), len(pairs)
    drawn = rng.choice(len(pairs), count, replace=False)
    return np.unique(np.array([pairs[i] for i in drawn], np.int64)), len(pairs)


class Experiment:
    """Judges strategies on one corpus and one bench, sharing stages of bag making."""

    def __init__(self, corpus: Corpus, bench: Bench, workshop: BagWorkshop, threads: int = 1) -> None:
        self.corpus, self.bench, self.workshop, self.threads = corpus, bench, workshop, threads

    def judge(self, name: str, strategy: Strategy, bagged: Callable[[], None] = lambda: None) -> Judgement:
        """Judge how well a strategy agrees with the directory; call `bagged` when its bags are made."""
        started = time.perf_counter()
        bags = self.workshop.bags(strategy)
        matrix = bags.matrix(self.bench.urls)
        bagged()
        facts = {
            "judged": self.bench.note, "window_words": bags.window_words, "terms": bags.terms_in_use,
            "without_bag": int(np.count_nonzero(np.diff(matrix.offsets) == 0)),
        }  # fmt: skip
        rows = matrix_similarities(matrix, strategy.metric)
        counted = count_pairs(self.bench, self.bench.sources, rows, self.threads)
        return make_judgement(self.bench, name, strategy.as_dict(), counted, facts, started)


def make_judgement(
    bench: Bench, name: str, strategy: dict[str, Any], counted: Counted, facts: dict[str, Any], started: float
) -> Judgement:
    """Make a judgement from counts, with the time since it was started."""
    counts, nearest, similarity = counted
    agreements, resampled = {}, {}
    for region in REGIONS:
        agreements[region], *resampled[region] = bench.bootstrap.agreement(counts, region)
    same, apart = counts.orthogonal.sum(axis=0).tolist()
    return Judgement(
        name, strategy, counts, agreements, resampled, apart / same if same else float("nan"), nearest, similarity,
        facts, time.perf_counter() - started,
    )  # fmt: skip


def matrix_similarities(matrix: BagMatrix, metric: str) -> Rows:
    """Return a function that compares matrix rows with all rows: common terms as columns, others as postings."""
    from pagekin.evaluation._kernels.judge import COSINE, JACCARD, TILE, Matrix, similarities

    documents, jaccard = len(matrix.offsets) - 1, metric == "jaccard"
    rows, slot_of = matrix.rows, _slots(matrix)
    values = matrix.weights.astype(np.float64)
    sizes = np.bincount(rows, values if jaccard else values * values, documents)
    slots = slot_of[matrix.terms]
    common, rare = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
    tiles = np.zeros((-(-documents // TILE), int(slot_of.max(initial=-1)) + 1, TILE), np.float32)
    tiles[rows[common] // TILE, slots[common], rows[common] % TILE] = matrix.weights[common]
    rare = rare[np.argsort(matrix.terms[rare], kind="stable")]
    postings = np.concatenate([[0], np.cumsum(np.bincount(matrix.terms[rare], minlength=matrix.columns))])
    columns = Matrix(
        matrix.offsets, matrix.terms, matrix.weights, slot_of, tiles, postings, rows[rare].astype(np.int32),
        matrix.weights[rare], sizes if jaccard else np.sqrt(sizes), JACCARD if jaccard else COSINE,
    )  # fmt: skip

    def compare(sources: Array) -> Array:
        sums = np.empty((len(sources), documents))
        similarities(sources, columns, sums)
        return sums.astype(np.float32)

    return compare


def count_pairs(bench: Bench, sources: Array, rows: Rows, threads: int = 1) -> Counted:
    """Count pairs for some sources, a batch of rows at a time; similarities of 0 and below are tied."""
    from pagekin.evaluation._kernels.judge import BLOCK, Classes, Counts, judge

    total, levels = len(sources), bench.directory.depth + 1
    concordant, discordant, tied = np.zeros((3, total, levels, levels), np.int64)
    nearest, similarity = np.full((total, NEAREST), -1, np.int64), np.zeros((total, NEAREST), np.float32)
    counts = Counts(concordant, discordant, tied, np.zeros((total, 2), np.int64), nearest, similarity)
    classes = Classes(bench.class_offsets, bench.classes, bench.apart)

    def part(first: int, last: int) -> None:
        here = slice(first, last)
        similar = np.ascontiguousarray(rows(sources[here]), np.float32)
        judge(sources[here], similar, classes, Counts(*(array[here] for array in counts)))

    for _range, _nothing in map_in_order(threads, part, [(i, min(i + BLOCK, total)) for i in range(0, total, BLOCK)]):
        pass
    return PairCounts(*counts[:4]), nearest, similarity


def _slots(matrix: BagMatrix) -> npt.NDArray[np.int64]:
    """Give a slot to each term in so many documents that a full column is faster than a list; -1 to the others."""
    documents = len(matrix.offsets) - 1
    df = np.bincount(matrix.terms, minlength=matrix.columns)
    slot_of = np.full(matrix.columns, -1, np.int64)
    common = np.flatnonzero(df * _COMMON > documents)
    if len(common) * documents * 4 > _FULL_BYTES:
        most = _FULL_BYTES // (documents * 4)
        common = np.sort(common[np.argsort(-df[common], kind="stable")[:most]])
    slot_of[common] = np.arange(len(common))
    return slot_of


def agreement_by_inlinks(judgement: Judgement, bench: Bench, citing: Array) -> list[tuple[str, float, float, float]]:
    """Return (number of inlinks, sibling Γ, low, high) of groups of sources (footnote 11).

    `citing` is the number for each source.
    """
    rows = []
    for least, below in pairwise(INLINK_GROUPS):
        here = (citing >= least) & (citing < below)
        if not here.any():
            continue
        part = judgement.counts.restrict_to(here)
        agreement, _gammas, _somers = bench.bootstrap.agreement(part, "siblings")
        label = f"{least:g}" if below == least + 1 else f"{least:g}-{below - 1:g}"
        if below == np.inf:
            label = f"{least:g} or more"
        rows.append(
            (f"{label} ({plural(int(np.count_nonzero(here)), 'page')})", agreement.gamma, agreement.low, agreement.high)
        )
    return rows


def judge_all(
    experiment: Experiment,
    strategies: dict[str, Strategy],
    progress: Progress = no_progress,
) -> list[Judgement]:
    """Judge named strategies in order, equal ones once."""
    by_digest: dict[str, Judgement] = {}
    judgements = []
    for done, (name, strategy) in enumerate(strategies.items()):
        progress("judging", done / len(strategies))
        key = strategy.digest()
        if key not in by_digest:
            by_digest[key] = experiment.judge(
                name, strategy, partial(progress, "judging", (done + 0.5) / len(strategies))
            )
        one = by_digest[key]
        judgements.append(one if one.name == name else replace(one, name=name))
    progress("judging", 1.0)
    return judgements


def count_inlinks(corpus: Corpus, urls: Array, not_citing: Sequence[int] | Array = ()) -> npt.NDArray[np.int64]:
    """Count the other pages that link to each URL, without the pages numbered in `not_citing`."""
    offsets, anchors = corpus.inlinks.offsets, corpus.inlinks.anchors
    page_url = np.asarray(corpus.pages.url)
    cites = np.ones(len(page_url), np.bool_)
    cites[np.asarray(not_citing, np.int64)] = False
    counts = np.zeros(len(urls), np.int64)
    for place, url in enumerate(urls.tolist()):
        some = anchors[int(offsets[url]) : int(offsets[url + 1])]
        pages = np.searchsorted(corpus.pages.anchors, some, side="right") - 1
        citing = np.unique(page_url[pages[cites[pages]]])
        counts[place] = np.count_nonzero(citing != url)
    return counts
