"""An evaluation, on a small web where we know what is best."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pagekin.clusters import Directory, DirectoryError
from pagekin.evaluation import (
    REGIONS,
    Evaluation,
    directory_pages,
    evaluate_strategies,
    make_bench,
    summarise_comparisons,
)
from pagekin.evaluation.compare import compare_bars
from pagekin.evaluation.experiments import with_sources
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web

from .benches import linked_pages, tree_of
from .topics import HOSTILE, SITE, STRATEGIES, pages


def test_the_better_strategy_wins_and_equal_ones_are_equal(evaluation: Evaluation) -> None:
    judged = {one.name: one for one in evaluation.judgements}
    assert list(judged) == [*STRATEGIES, "content again"]
    assert judged["content"].agreements["siblings"].somers_d > 0.5
    assert abs(judged["link texts"].agreements["siblings"].somers_d) < 0.3
    assert judged["content again"].counts is judged["content"].counts
    for one in evaluation.judgements:
        for region in REGIONS:
            agreement = one.agreements[region]
            assert agreement.low <= agreement.gamma <= agreement.high
            assert agreement.somers_low <= agreement.somers_d <= agreement.somers_high
            assert abs(agreement.somers_d) <= abs(agreement.gamma)


def test_one_seed_gives_one_result_however_many_threads(
    corpus: Corpus, directory: Directory, evaluation: Evaluation
) -> None:
    again = evaluate_strategies(corpus, directory, STRATEGIES, threads=1)
    for one, other in zip(evaluation.judgements, again.judgements, strict=False):
        assert one.agreements == other.agreements
        assert np.array_equal(one.nearest, other.nearest)


def test_progress_rises_by_halves_of_a_strategy_and_ends(corpus: Corpus, directory: Directory) -> None:
    told: list[float] = []
    evaluate_strategies(corpus, directory, STRATEGIES, progress=lambda _stage, share: told.append(share))
    assert told == pytest.approx([part / 6 for part in range(7)])


def test_no_temporary_file_is_left_behind(
    corpus: Corpus, directory: Directory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    evaluate_strategies(corpus, directory, {"content": STRATEGIES["content"]})

    def stop(_stage: str, _share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_strategies(corpus, directory, {"content": STRATEGIES["content"]}, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_the_values_for_programs_are_json_without_nan(evaluation: Evaluation) -> None:
    plain = json.loads(json.dumps(evaluation.as_dict(), allow_nan=False))
    assert plain["directory"]["depth"] == 3
    assert plain["directory"]["mode"] == "lenient"
    assert plain["directory"]["choice"] == "primary"
    assert plain["directory"]["not in the collection"] == 2
    assert plain["directory"]["listed too high"] == 1
    assert [one["name"] for one in plain["strategies"]] == [*STRATEGIES, "content again"]
    assert plain["strategies"][0]["siblings"]["pairs"] > 0


# -- which pages --------------------------------------------------------------------------------------------------------


def test_linked_pages_are_those_that_another_page_links_to() -> None:
    corpus = read_web(
        {
            f"{SITE}a": f"<a href={SITE}b>b</a> <a href={SITE}a>myself</a> <a href={SITE}unseen>unseen</a>",
            f"{SITE}b": "<p>no links",
            f"{SITE}c": f"<a href={SITE}c>myself</a>",
        }
    )
    found = linked_pages(corpus, np.arange(len(corpus.urls)))
    assert [corpus.url(int(url)) for url in found] == [f"{SITE}b", f"{SITE}unseen"]


def test_content_is_judged_again_on_pages_without_links(corpus: Corpus, directory: Directory) -> None:
    found = evaluate_strategies(corpus, directory, STRATEGIES, linked=True)
    names = [one.name for one in found.judgements]
    assert names == [*STRATEGIES, "content (all pages)", f"{HOSTILE} (all pages)"]
    assert len(found.bench.sources) < 30
    assert found.bench.note.startswith(f"{len(found.bench.sources)} of 30 pages")
    assert "links to" in found.bench.note
    by_name = {one.name: one for one in found.judgements}
    assert len(by_name["content"].counts.orthogonal) == len(found.bench.sources)
    assert len(by_name["content (all pages)"].counts.orthogonal) == 30


def test_all_pairs_of_sibling_classes_are_taken_where_there_are_fewer_than_asked_for(directory: Directory) -> None:
    bench = make_bench(directory, sample=300)
    # Trees and mosses are the only siblings.
    assert len(bench.sources) == 12
    assert "1 drawn pair of" in bench.note
    assert "all there are; 300 were asked for" in bench.note


def test_so_many_pairs_as_asked_for_are_drawn_and_the_seed_says_which() -> None:
    tree = tree_of([[(a, b, c)] for a in "xy" for b in "pq" for c in "12345678" for _ in range(2)], 3)
    drawn = [make_bench(tree, sample=3, seed=seed, rounds=5) for seed in (1, 1, 2)]
    classes = [sorted({tree.classes[c] for c in bench.classes.tolist()}) for bench in drawn]
    assert classes[0] == classes[1] != classes[2]
    for bench, some in zip(drawn, classes, strict=True):
        assert 4 <= len(some) <= 6
        assert len(bench.urls) == len(bench.sources) == 2 * len(some)
        assert all(any(a[:2] == b[:2] and a != b for b in some) for a in some)
        assert "asked for" not in bench.note


def test_sources_may_be_some_of_the_pages_and_all_stay_candidates() -> None:
    tree = tree_of([[(a, b)] for a in "xyz" for b in "pq" for _ in range(5)], 2)
    bench = with_sources(make_bench(tree, rounds=5), np.arange(0, 28, 4), 5, 1)
    assert (len(bench.sources), len(bench.urls)) == (7, 30)
    few = make_bench(tree, only=np.arange(10), rounds=5)
    assert (len(few.sources), len(few.urls)) == (10, 10)
    assert few.note == "10 of 30 pages of the directory"
    assert make_bench(tree, rounds=5).note == "all 30 pages of the directory"


# -- comparisons --------------------------------------------------------------------------------------------------------


def test_the_best_strategy_is_compared_with_every_other(evaluation: Evaluation) -> None:
    plain = json.loads(json.dumps(evaluation.as_dict(), allow_nan=False))
    told = plain["differences"]
    (first,) = {one["first"] for one in told}
    best = next(one for one in evaluation.judgements if one.name == first)
    assert best.agreements["siblings"].somers_d == max(
        one.agreements["siblings"].somers_d for one in evaluation.judgements
    )
    others = {one["second"] for one in told}
    assert "link texts" in others
    assert best.name not in others
    assert len(others) == 2  # of two equal strategies one counts
    assert {(one["region"], one["measure"]) for one in told} == {
        *((r, m) for r in REGIONS for m in ("gamma", "somers_d")), ("", "ndcg10"), ("", "map"),
    }  # fmt: skip
    by = {one.name: one.agreements["siblings"].somers_d for one in evaluation.judgements}
    for one in told:
        assert one["low"] <= one["high"]
        assert 0 <= one["p"] <= 1
        if (one["region"], one["measure"]) == ("siblings", "somers_d"):
            assert one["difference"] == pytest.approx(by[best.name] - by[one["second"]], abs=1e-5)
        better = one["first"] if one["difference"] > 0 else one["second"]
        assert one["verdict"] == (f"{better} is better" if one["beyond_chance"] else "may be chance")
    assert plain["difference_is"] == "first minus second"
    assert plain["summary"] == evaluation.summary


def test_one_line_says_whether_the_best_is_better_than_chance(evaluation: Evaluation) -> None:
    equal = [replace(one, p=1.0) for one in evaluation.comparisons()]
    assert "no difference beyond chance, corrected for" in summarise_comparisons(equal, "siblings")
    sure = [replace(one, p=0.001) for one in evaluation.comparisons()]
    assert " is better than " in summarise_comparisons(sure, "siblings")
    assert summarise_comparisons([], "siblings") == ""


def test_steps_between_bars_are_paired_and_corrected_for_their_number() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.2, 2000)  # of the classes drawn, the same for all bars
    bars = {
        "low": (0.2, 0.2 + noise), "same": (0.2, 0.2 + noise + rng.normal(0, 0.01, 2000)),
        "high": (0.3, 0.3 + noise + rng.normal(0, 0.01, 2000)),
    }  # fmt: skip
    first, second = compare_bars(bars, [("low", "same"), ("same", "high")])
    assert not first.sure
    assert second.sure
    assert second.difference == pytest.approx(0.1)
    assert second.low < second.difference < second.high
    alone = compare_bars(bars, [("same", "high")])[0]
    assert second.p == pytest.approx(2 * alone.p)


# -- the directory's own pages ------------------------------------------------------------------------------------------


def test_the_directorys_own_pages_cite_nothing_and_are_not_judged(corpus: Corpus, directory: Directory) -> None:
    own = [f"{SITE}lists/", f"{SITE}sky/stars/giants/0"]
    pages_of = directory_pages(corpus, own)
    assert len(pages_of) == 7
    words = {"link texts": STRATEGIES["link texts"]}
    found = evaluate_strategies(corpus, directory, words, own_pages=own)
    assert found.bench.directory.facts["pages"] == 29
    assert found.bench.directory.facts["own pages"] == 7
    assert len(found.bench.urls) == 29
    # All links are on the lists, so that nothing is left.
    assert found.judgements[0].facts["without_bag"] == 29
    assert len(evaluate_strategies(corpus, directory, words, own_pages=own, linked=True).bench.urls) == 0
    assert directory.facts["pages"] == 30


def test_a_beginning_that_no_page_has_is_refused(corpus: Corpus, directory: Directory) -> None:
    for prefix in ("http://elsewhere.example/", ""):
        with pytest.raises(DirectoryError, match="no page of the collection has a URL that begins"):
            directory_pages(corpus, [prefix])
    with pytest.raises(DirectoryError, match="all listed pages are the directory's own"):
        evaluate_strategies(corpus, directory, STRATEGIES, own_pages=[SITE])
    assert len(directory_pages(corpus, [])) == 0


def test_sources_are_told_apart_by_how_many_pages_link_to_them(corpus: Corpus, directory: Directory) -> None:
    found = evaluate_strategies(corpus, directory, {"3: content": STRATEGIES["content"]})
    ((name, groups),) = found.inlinks
    assert name == "3: content"
    (one,) = found.judgements
    citing = {
        url: len({page for page in pages() if page != url and f"'{url}'" in pages()[page]})
        for url in pages()
        if "/lists/" not in url
    }
    sizes = {label: sum(least <= n <= most for n in citing.values())
             for label, least, most in (("0", 0, 0), ("1-3", 1, 3), ("4-15", 4, 15))}  # fmt: skip
    assert [label for label, *_numbers in groups] == [f"{label} ({n} pages)" for label, n in sizes.items() if n]
    part = np.array([1 <= citing[corpus.url(int(url))] <= 3 for url in found.bench.urls])
    right, wrong, _tied = (counts[part].sum() for counts in one.counts.region("siblings"))
    gammas = {label.partition(" ")[0]: value for label, value, _low, _high in groups}
    assert gammas["1-3"] == pytest.approx((right - wrong) / (right + wrong))
