"""The sides of related_truth.py: Pagekin by its presets, and the peers beside it. All see the same pages."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

import pagekin
from pagekin.bags import choose_strategy
from pagekin.engines import BuildRecipe, build_collection
from pagekin.evaluation.vectors import VectorStore
from pagekin.hypertext import Corpus, ReadPlan
from pagekin.similarity import RankingOptions, RelatedError, RelatedIndex, Wish
from pagekin.store import open_kin
from truth_measures import FIRST, Mask, Numbers, Side, Site, rank_by_rows
from truth_sets import SETS

QUERY_WORDS = 25
BEGINNING = 200
"""Words of a page that MiniLM is given: more than it reads."""


@dataclass(frozen=True)
class Means:
    """What sides need besides the pages."""

    out: Path
    data: Path
    rebuild: bool
    """Whether a collection is built again if Pagekin's sources have changed."""
    encoders: dict[str, Encoder]


# -- Pagekin ---------------------------------------------------------------------------------------------------------


def sources_digest() -> str:
    """Return a digest of Pagekin's own source files."""
    root = Path(pagekin.__file__).parent
    total = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        total.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


def collection(site: Site, preset: str, means: Means) -> Path:
    """Return the collection of a set's pages; it is built again if the pages or Pagekin have changed."""
    path, note = site.folder / f"{preset}.kin", site.folder / f"{preset}.built"
    made_of = site.digest + (sources_digest() if means.rebuild else "")
    if not path.exists() or not note.exists() or not note.read_text().startswith(made_of):
        chosen = SETS[site.name]
        sources = [str(means.data / chosen.archive) if chosen.archive else str(site.folder / "site")]
        plan = ReadPlan(sources, path, base_url="" if chosen.archive else chosen.base)
        build_collection(plan, BuildRecipe(choose_strategy(preset)))
        note.write_text(site.digest + sources_digest())
    return path


def pagekin_side(preset: str, site: Site, means: Means, wish: Wish = "") -> Side:
    """Rank by Pagekin with a preset, as `pagekin related --captured --unfold` does: peers do not fold copies either.

    Similarities, for Γ, are those that it serves when all pages of the samples are compared and copies are not folded.
    """
    corpus = Corpus(open_kin(collection(site, preset, means)))
    index = RelatedIndex(corpus, compiled=True)
    urls = [corpus.url_number(site.url(number)) for number in range(len(site))]
    numbers = {url: number for number, url in reversed(list(enumerate(urls))) if url >= 0}
    pages = [corpus.pages_of(url) if url >= 0 else [] for url in urls]

    def kept(among: Mask | None) -> Mask | None:
        if among is None:
            return None
        mask = np.zeros(len(corpus), np.bool_)
        mask[[pages[number][0] for number in np.flatnonzero(among).tolist() if len(pages[number])]] = True
        return mask

    def ask(number: int, options: RankingOptions, among: Mask | None) -> list[tuple[int, float]]:
        try:
            query = index.query_of([site.url(number)])
        except RelatedError:
            return []  # a page without words
        results = index.answer(query, options, kept(among)).results
        found = [(numbers.get(corpus.url_number(result.url), -1), result.similarity) for result in results]
        return [(other, similarity) for other, similarity in found if other >= 0]

    def rank(number: int, among: Mask | None) -> list[int]:
        return [
            other for other, _ in ask(number, RankingOptions(k=FIRST, captured_only=True, fold=False, wish=wish), among)
        ]

    def rows(some: Numbers) -> npt.NDArray[np.float32]:
        everything = RankingOptions(
            k=10_000, captured_only=True, method="exact", fold=False, min_similarity=0.0, wish=wish
        )
        out = np.zeros((len(some), len(site)), np.float32)
        wanted = site.sample.pages | site.gamma_sample.pages
        for row, number in zip(out, some.tolist(), strict=True):
            for other, similarity in ask(number, everything, wanted):
                row[other] = similarity
        return out

    return Side(rank, rows)


# -- words and links -------------------------------------------------------------------------------------------------


def by_product(questions: sp.csr_matrix, pages: sp.csr_matrix) -> Side:
    """Rank pages by the products of the rows of two matrices."""
    turned = pages.T.tocsr()
    return rank_by_rows(lambda some: np.asarray((questions[some] @ turned).toarray()))


def tfidf(site: Site, means: Means) -> Side:
    """Rank by the cosine of TF-IDF vectors, with logarithms of the counts."""
    from sklearn.feature_extraction.text import TfidfTransformer

    weights = TfidfTransformer(sublinear_tf=True).fit_transform(site.word_counts)
    return by_product(weights, weights)


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


def bm25(site: Site, means: Means) -> Side:
    """Rank by BM25 with all words of the page as the question."""
    counts = site.word_counts
    return by_product(counts, bm25_weights(counts))


def more_like_this(site: Site, means: Means) -> Side:
    """Rank by BM25 with the page's heaviest words as the question, as Lucene's more-like-this does."""
    counts = site.word_counts
    idf = np.log(counts.shape[0] / (np.diff(counts.tocsc().indptr) + 1)) + 1
    questions = counts.copy()
    questions.data *= idf[questions.indices]
    for first, last in zip(questions.indptr[:-1], questions.indptr[1:], strict=True):
        row = questions.data[first:last]
        if len(row) > QUERY_WORDS:
            row[row < np.sort(row)[-QUERY_WORDS]] = 0
    return by_product(questions, bm25_weights(counts))


def cocitation(site: Site, means: Means) -> Side:
    """Rank by the cosine of the sets of pages that link to both."""
    from sklearn.preprocessing import normalize

    citing = normalize(site.links.T.tocsr())
    return by_product(citing, citing)


# -- embeddings ------------------------------------------------------------------------------------------------------


class Encoder:
    """A process that turns texts into vectors, started when the first are asked for."""

    def __init__(self, model: str, python: str) -> None:
        self._command = [python, str(Path(__file__).with_name("embed_texts.py")), model]
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one vector for each text."""
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(texts).encode() + b"\n")
        self._process.stdin.flush()
        shape = tuple(map(int, self._process.stdout.readline().split()))
        if not shape:
            raise SystemExit(f"{' '.join(self._command)} ended; --embedding-python names the Python that has the model")
        size = 4 * shape[0] * shape[1]
        return np.frombuffer(self._process.stdout.read(size), np.float32).reshape(shape)


def embedding(model: str, words: int | None, site: Site, means: Means) -> Side:
    """Rank by the cosine of vectors of the pages; with `words`, of the beginnings of the pages in the sample alone.

    Vectors are kept in the folder of all sets, by the digests of the texts.
    """
    pages = np.arange(len(site)) if words is None else np.flatnonzero(site.sample.pages)
    texts = [" ".join(site.texts[page].split()[:words]) for page in pages.tolist()]
    store = VectorStore(means.out / "vectors" / model)
    store.add(store.find_missing(texts), means.encoders[model], words or 0, lambda share: None)
    some, _facts = store.vectors(texts)
    vectors = np.zeros((len(site), some.shape[1]), np.float32)
    vectors[pages] = some / np.maximum(np.linalg.norm(some, axis=1, keepdims=True), 1e-9)
    known = vectors.any(axis=1)
    # Between 0 and 1, because nobody ranks pages below 0.
    return rank_by_rows(lambda chosen: (1 + vectors[chosen] @ vectors.T) / 2 * known, words is not None)


SIDES: dict[str, Callable[[Site, Means], Side]] = {
    "default": partial(pagekin_side, "default"),
    "kin": partial(pagekin_side, "default", wish="kin"),
    "see-also": partial(pagekin_side, "default", wish="see-also"),
    "haveliwala2002": partial(pagekin_side, "haveliwala2002"),
    "tfidf": tfidf,
    "bm25": bm25,
    "more-like-this": more_like_this,
    "co-citation": cocitation,
    "minilm": partial(embedding, "minilm", BEGINNING),
    "wordllama": partial(embedding, "wordllama", None),
}
MODELS = ("minilm", "wordllama")
OURS = ("default", "kin", "see-also", "haveliwala2002")
