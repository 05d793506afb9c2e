"""One source: its counts are those of every pair looked at, and the better strategy is told from the worse."""

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import BagWorkshop, Strategy, choose_strategy
from pagekin.clusters import Directory, load_directory
from pagekin.evaluation import (
    REGIONS,
    Experiment,
    SourcePageError,
    classes_of_document,
    default_strategies,
    distinct_strategies,
    explain_source,
    figure_strategies,
    find_source,
    make_bench,
    relation_name,
)
from pagekin.evaluation.gamma import region_level
from pagekin.evaluation.source import (
    PLAIN,
    SourceAgreement,
    SourceExplanation,
    SourceJudgement,
    discordant_documents,
    distances_from,
    judge_source,
    split_sparse,
)
from pagekin.hypertext import Corpus
from tests.bags.webs import plainly, read_web

from . import oracle
from .benches import matrix_of, tree_of
from .topics import SITE, pages

CONTENT = choose_strategy(settings=["anchors.scale=0", "weight.frequency=none"])
AROUND_LINKS = choose_strategy(settings=["content.scale=0", "title.scale=0", "window.size=8", "weight.frequency=none"])
OAK = f"{SITE}living/plants/trees/1.html"

# Quarters and their sums are exact in both precisions, so similarities that are equal on paper are equal here.
WEIGHTS = some.sampled_from([0.25, 0.5, 1.0, 2.0])
BAGS = some.lists(some.dictionaries(some.integers(0, 5), WEIGHTS, max_size=4), min_size=3, max_size=12)
PATHS = some.tuples(some.sampled_from("ab"), some.sampled_from("cd"), some.sampled_from("ef"))


@given(data=some.data(), bags=BAGS, metric=some.sampled_from(["jaccard", "cosine"]), depth=some.integers(2, 3))
@settings(derandomize=True, database=None, deadline=None, max_examples=150)
def test_counts_and_order_are_those_of_every_pair_looked_at(
    data: Any, bags: list[dict[int, float]], metric: str, depth: int
) -> None:
    classes = some.lists(PATHS.map(lambda path: path[:depth]), min_size=1, max_size=2, unique=True)
    listed = data.draw(some.lists(classes, min_size=len(bags), max_size=len(bags)))
    source = data.draw(some.integers(0, len(bags) - 1))
    tree = tree_of(listed, depth)
    distance = distances_from(tree, source)
    strategy = Strategy().with_settings({"metric": metric})
    found = judge_source("x", strategy, matrix_of(bags, 6), source, distance, depth)
    wanted = oracle.count(source, bags, listed, metric)
    for region in REGIONS:
        here = (
            sorted({*wanted.concordant, *wanted.discordant, *wanted.tied})
            if region == "overall"
            else [(0, region_level(region, depth))]
        )
        sums = [sum(part.get(pair, 0) for pair in here) for part in (wanted.concordant, wanted.discordant, wanted.tied)]
        agreed = found.regions[region]
        assert [agreed.concordant, agreed.discordant, agreed.tied] == sums
        c, d, t = sums
        assert agreed.gamma == (c - d) / (c + d) if c + d else math.isnan(agreed.gamma)
        assert agreed.somers_d == (c - d) / (c + d + t) if c + d + t else math.isnan(agreed.somers_d)
    assert [(float(found.similarity[d]), d) for d in found.order.tolist()] == wanted.ranking
    for place, document in enumerate(found.order.tolist(), 1):
        assert found.place(document) == place
    for far, near in discordant_documents(found, distance):
        assert distance[far] > distance[near] >= 0
        assert found.similarity[far] > found.similarity[near]
    nearest = min((d for d in distance.tolist() if d >= 0), default=0)
    missed = any(n for (near, _far), n in wanted.discordant.items() if near == nearest)
    assert bool(discordant_documents(found, distance)) == missed


def test_distances_have_the_papers_names_in_a_tree_of_any_depth() -> None:
    assert [relation_name(d, 3) for d in range(4)] == ["same class", "sibling", "cousin", "unrelated"]
    assert [relation_name(d, 2) for d in range(3)] == ["same class", "sibling", "unrelated"]
    assert [relation_name(d, 5) for d in (2, 3, 4, 5)] == ["cousin", "distant cousin", "distant cousin", "unrelated"]


def test_of_several_classes_the_nearest_counts() -> None:
    tree = tree_of([[("a", "b", "c"), ("x", "y", "z")], [("x", "y", "w")], [("a", "q", "r")], [("u", "v", "w")]], 3)
    assert distances_from(tree, 0).tolist() == [-1, 1, 2, 3]
    assert classes_of_document(tree, 0) == [("a", "b", "c"), ("x", "y", "z")]


# -- misplaced pages ----------------------------------------------------------------------------------------------------


def judged(similarity: list[float]) -> SourceJudgement:
    values = np.array(similarity, np.float32)
    order = np.argsort(-values, kind="stable")
    return SourceJudgement("x", Strategy(), {}, values, order[values[order] > 0])


def test_the_farthest_of_the_first_and_the_last_of_the_class_are_the_examples() -> None:
    distance = np.array([-1, 0, 0, 1, 3, 3, 2])
    found = discordant_documents(judged([0, 0.9, 0.1, 0.8, 0.5, 0.05, 0.3]), distance)
    assert found == [(4, 2)]  # (6, 1) would agree with the tree
    found = discordant_documents(judged([0, 0.2, 0.1, 0.8, 0.5, 0.05, 0.3]), distance)
    assert found == [(4, 2), (6, 1)]
    assert discordant_documents(judged([0, 0.9, 0.8, 0.7, 0.1, 0.1, 0.3]), distance) == []
    assert discordant_documents(judged([0.0] * 7), distance) == []


def test_a_wrong_page_far_down_is_an_example_where_no_earlier_one_is() -> None:
    similarity = [0.0, 0.01] + [0.5] * 150 + [0.1]
    distance = np.array([-1, 0] + [0] * 150 + [3])
    assert discordant_documents(judged(similarity), distance) == [(152, 1)]


# -- which is better ----------------------------------------------------------------------------------------------------


def named(name: str, concordant: int, discordant: int, tied: int) -> SourceJudgement:
    return SourceJudgement(
        name,
        Strategy(),
        {"siblings": SourceAgreement(concordant, discordant, tied)},
        np.zeros(0, np.float32),
        np.zeros(0, int),
    )


def test_a_strategy_that_ties_most_pairs_is_neither_best_nor_worst() -> None:
    good, bad, sparse, silent = named("g", 8, 1, 1), named("b", 4, 4, 2), named("s", 2, 0, 8), named("n", 0, 0, 10)
    assert split_sparse([sparse, good, bad, silent], "siblings") == ([good, bad], [sparse, silent])
    assert split_sparse([sparse, good, silent], "siblings") == ([sparse, good], [silent])
    assert split_sparse([silent], "siblings") == ([silent], [])


def test_the_strategies_judged_by_default_are_the_presets_and_plain_ones() -> None:
    corpus = read_web({f"{SITE}a/b/c": "<p>oak"})
    assert list(default_strategies(corpus)) == ["default", "haveliwala2002", *PLAIN]
    figures = figure_strategies()
    assert 20 < len(distinct_strategies(figures)) < len(figures)
    assert len({strategy.digest() for strategy in distinct_strategies(figures).values()}) == len(
        distinct_strategies(figures)
    )


# -- a small web --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web(pages())


@pytest.fixture(scope="module")
def tree(corpus: Corpus) -> Directory:
    return load_directory(corpus, "url-path")


@pytest.fixture(scope="module")
def done(corpus: Corpus, tree: Directory) -> SourceExplanation:
    both = {
        "around links": AROUND_LINKS,
        "content": CONTENT,
        "content in cosine": CONTENT.with_settings({"metric": "cosine"}),
    }
    return explain_source(corpus, tree, find_source(corpus, tree, OAK), both, threads=2)


def test_words_that_tell_the_class_are_best_and_mixed_lists_of_links_worst(done: SourceExplanation) -> None:
    assert done.region == "siblings"
    assert done.best.name.startswith("content")
    assert done.worst.name == "around links"
    assert done.best.regions["siblings"].gamma > 0.5
    gammas = [one.regions["siblings"].gamma for one in done.judgements]
    assert gammas == sorted(gammas, reverse=True)


def test_a_source_counts_as_in_an_evaluation_of_all(corpus: Corpus, tree: Directory, done: SourceExplanation) -> None:
    bench = make_bench(tree, rounds=2)
    with tempfile.TemporaryDirectory() as folder:
        experiment = Experiment(corpus, bench, BagWorkshop(corpus, Path(folder)))
        for one in done.judgements:
            all_sources = experiment.judge(one.name, one.strategy)
            for region in REGIONS:
                counts = [int(part[done.source]) for part in all_sources.counts.region(region)]
                agreed = one.regions[region]
                assert [agreed.concordant, agreed.discordant, agreed.tied] == counts
            nearest = all_sources.nearest[done.source]
            assert one.order[:100].tolist() == nearest[nearest >= 0].tolist()


@pytest.mark.parametrize(
    ("settings", "far", "terms"),
    [
        (["content.scale=1", "stemming=stem"], "plants/mosses/fork", ("forest", "acorn")),
        (["links.scale=1"], "stars/giants/one", (f"{SITE}lists/of/pages",)),
        (["links.scale=0.5", "outlinks.scale=1"], "stars/giants/one", (f"{SITE}nuts", f"{SITE}lists/of/pages")),
    ],
    ids=["words", "links", "links both ways"],
)
def test_a_discordant_pair_comes_with_the_terms_behind_it(
    settings: list[str], far: str, terms: tuple[str, ...]
) -> None:
    """The palm is the only other page of the oak's class, and has nothing in common with it."""
    corpus = read_web(
        {
            f"{SITE}plants/trees/oak": "<p>acorn forest <a href=/nuts></a>",
            f"{SITE}plants/trees/palm": "<p>coconut beach",
            f"{SITE}plants/mosses/fork": "<p>Acorns, damp, forest",
            f"{SITE}stars/giants/one": "<p>helium <a href=/nuts></a>",
            f"{SITE}lists/of/pages": f"<a href={SITE}plants/trees/oak>one</a> <a href={SITE}stars/giants/one>two</a>",
        }
    )
    tree = load_directory(corpus, "url-path")
    strategies = {"asked": plainly("anchors.scale=0", *settings)}
    found = explain_source(corpus, tree, find_source(corpus, tree, f"{SITE}plants/trees/oak"), strategies)
    (miss,) = found.misses["asked"]
    urls = [corpus.url(int(tree.urls[document])) for document in (miss.far, miss.near)]
    assert urls == [SITE + far, f"{SITE}plants/trees/palm"]
    assert (miss.far_terms, miss.near_terms) == (terms, ())


def test_without_siblings_the_whole_ordering_decides(corpus: Corpus, tree: Directory) -> None:
    owl = find_source(corpus, tree, f"{SITE}living/birds/owls/3.html")
    found = explain_source(corpus, tree, owl, {"content": CONTENT})
    assert found.region == "overall"
    assert found.best is found.worst
    assert found.best.regions["siblings"].pairs == 0


def test_no_temporary_file_is_left_behind(
    corpus: Corpus, tree: Directory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def stop(_stage: str, share: float) -> None:
        if share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explain_source(corpus, tree, 0, {"content": CONTENT}, progress=stop)
    explain_source(corpus, tree, 0, {"content": CONTENT})
    assert list(tmp_path.iterdir()) == []


# -- pages that cannot be judged ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("table") / "directory.tsv"
    rows = [(f"{number}.html", "living/plants/trees") for number in range(1, 4)]
    listed = "".join(f"{SITE}living/plants/trees/{name}\t{path}\n" for name, path in rows)
    file.write_text(f"{listed}{SITE}sky/stars/giants/0.html\tsky\n{SITE}sky/stars/giants/1.html\tsky/stars\n")
    return file


@pytest.mark.parametrize(
    ("url", "mode", "said"),
    [
        (f"{SITE}living/plants/trees/9.html", "lenient", r"is not in .*\. Did you mean\n  .*trees"),
        (
            f"{SITE}living/plants/trees/0.html",
            "lenient",
            r"is in .*, but not in the directory .*\. Listed are\n  .*trees/[123]\.html",
        ),
        (f"{SITE}sky/stars/giants/0.html", "lenient", r"stands at /sky in .*level 2 or deeper are compared\.$"),
        (
            f"{SITE}sky/stars/giants/1.html",
            "strict",
            r"stands at /sky/stars in .*level 3 or deeper.*With --mode lenient",
        ),
        (f"{SITE}living/plants/trees/1.html", "strict", "equally far"),
    ],
)
def test_a_page_that_cannot_be_judged_is_refused_with_the_reason(
    corpus: Corpus, table: Path, url: str, mode: str, said: str
) -> None:
    tree = load_directory(corpus, str(table), mode=mode)
    with pytest.raises(SourcePageError, match=said):
        explain_source(corpus, tree, find_source(corpus, tree, url), {"content": CONTENT})


def test_a_page_in_no_folder_has_no_place_in_the_tree_of_addresses() -> None:
    corpus = read_web({f"{SITE}top": "<p>oak", f"{SITE}a/b/c": "<p>oak", f"{SITE}a/d/e": "<p>ash"})
    tree = load_directory(corpus, "url-path")
    with pytest.raises(SourcePageError, match="not in the directory url-path: it lies in no folder"):
        find_source(corpus, tree, f"{SITE}top")


# -- the school encyclopaedia -------------------------------------------------------------------------------------------


def test_the_families_of_malaria_are_those_of_its_shelf(school: tuple[Corpus, Path], tmp_path: Path) -> None:
    corpus, table = school
    tree = load_directory(corpus, str(table))
    source = find_source(corpus, tree, "http://schools.example/wp/m/Malaria.htm")
    distance = distances_from(tree, source)
    matrix = BagWorkshop(corpus, tmp_path, 2).bags(CONTENT).matrix(tree.urls)
    found = judge_source("content", CONTENT, matrix, source, distance, tree.depth)
    first = [corpus.titles.text(corpus.pages_of(int(tree.urls[d]))[0]) for d in found.order[:5].tolist()]
    assert "Tuberculosis" in first
    assert (distance[found.order[:10]] == 0).sum() >= 8
    assert found.regions["siblings"].gamma > 0.5
    assert found.regions["siblings"].pairs == (distance == 0).sum() * (distance == 1).sum()
