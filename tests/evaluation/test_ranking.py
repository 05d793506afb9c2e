"""nDCG@10 and MAP by familial distance, against a slow twin, and as TREC files."""

import math
import subprocess
import sys
from pathlib import Path

import ir_measures
import numpy as np
import pytest

from pagekin.bags import choose_strategy
from pagekin.clusters import load_directory
from pagekin.evaluation import Evaluation, evaluate_strategies, make_bench
from pagekin.evaluation.experiments import Judgement, make_judgement
from pagekin.evaluation.ranking import Rankings, document_id, draw_rankings, measures, slug, write_trec
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web

from .benches import count_matrix, matrix_of, tree_of

PATHS = [
    ("a", "p", "1"), ("a", "p", "1"), ("a", "p", "1"), ("a", "p", "2"), ("a", "p", "2"), ("a", "q", "1"), ("b", "p", "1"),
    ("b", "p", "1"), ("c", "z", "1"),
]  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web({f"http://site.example/{number}": f"<p>page {number}" for number in range(len(PATHS))})


def judged(seed: int, corpus: Corpus) -> tuple[Rankings, Judgement]:
    """Random bags on a small tree, in which some documents share nothing with others."""
    rng = np.random.default_rng(seed)
    bags = [{int(term): float(rng.random()) + 0.1 for term in rng.choice(9, 3, replace=False)} for _ in PATHS]
    bench = make_bench(tree_of([[path] for path in PATHS], 3), rounds=5)
    counted = count_matrix(bench, matrix_of(bags, 9), "jaccard", 1)
    one = make_judgement(bench, "some", {}, counted, {"judged": bench.note}, 0.0)
    return draw_rankings(corpus, bench), one


def by_hand(one: Judgement) -> tuple[float, float]:
    """Mean nDCG@10 and mean average precision, as a textbook has them."""
    ndcgs, precisions = [], []
    for source, path in enumerate(PATHS):
        if PATHS.count(path) < 2:
            continue
        near = sorted(
            ((s, d) for d, s in zip(one.nearest[source], one.nearest_similarity[source], strict=True) if d >= 0),
            reverse=True,  # of equals the last address first
        )
        grade = [
            3 if PATHS[d] == path else 2 if PATHS[d][:2] == path[:2] else 1 if PATHS[d][0] == path[0] else 0
            for d in range(len(PATHS))
        ]
        ideal = sorted((g for d, g in enumerate(grade) if d != source), reverse=True)
        gain = sum(grade[d] / math.log2(rank + 2) for rank, (_s, d) in enumerate(near[:10]))
        ndcgs.append(gain / sum(g / math.log2(rank + 2) for rank, g in enumerate(ideal[:10])))
        found, total = 0, 0.0
        for rank, (_s, d) in enumerate(near, 1):
            if grade[d] == 3:
                found += 1
                total += found / rank
        precisions.append(total / (PATHS.count(path) - 1))
    return float(np.mean(ndcgs)), float(np.mean(precisions))


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_those_of_a_textbook(seed: int, corpus: Corpus) -> None:
    rankings, one = judged(seed, corpus)
    scores = rankings.scores(one)
    assert (scores.ndcg10, scores.map) == pytest.approx(by_hand(one))
    for value, (low, high) in zip(by_hand(one), scores.intervals, strict=True):
        assert low <= value <= high
    # Two documents are alone in their classes.
    assert len(rankings.rows) == len(PATHS) - 2
    assert f"{len(rankings.rows)} drawn sources" in rankings.note


def test_grades_are_the_depth_less_the_familial_distance(corpus: Corpus) -> None:
    rankings, _one = judged(1, corpus)
    said = {corpus.url(d)[-1]: g for d, g in enumerate([0, 3, 3, 2, 2, 1]) if g}
    assert {name[-1]: grade for name, grade in rankings.grades["http://site.example/0"].items()} == said


def test_a_page_in_several_classes_has_the_smallest_distance(corpus: Corpus) -> None:
    tree = tree_of([[("a", "p")], [("a", "q"), ("b", "p")], [("b", "p")], [("a", "p")]], 2)
    grades = draw_rankings(corpus, make_bench(tree, rounds=5)).grades
    assert {name[-1]: grade for name, grade in grades["http://site.example/0"].items()} == {"1": 1, "3": 2}
    assert {name[-1]: grade for name, grade in grades["http://site.example/1"].items()} == {"0": 1, "2": 2, "3": 1}


def test_the_seed_says_which_sources_are_drawn_and_no_more_than_asked_for(corpus: Corpus) -> None:
    bench = make_bench(tree_of([[path] for path in PATHS], 3), rounds=5)
    some = [draw_rankings(corpus, bench, seed, most=3) for seed in (1, 1, 2)]
    assert [len(one.rows) for one in some] == [3, 3, 3]
    assert some[0].rows.tolist() == some[1].rows.tolist() != some[2].rows.tolist()
    assert np.all(np.diff(some[0].rows) > 0)


def test_without_two_pages_of_a_class_there_are_no_scores(corpus: Corpus) -> None:
    bench = make_bench(tree_of([[("a", "p", str(i))] for i in range(4)], 3), rounds=5)
    rankings = draw_rankings(corpus, bench)
    _rankings, one = judged(1, corpus)
    assert len(rankings.rows) == 0
    scores = rankings.scores(one)
    assert all(map(math.isnan, (scores.ndcg10, scores.map, *scores.intervals[0])))


# -- TREC files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_trec_files_read_back_give_the_same_scores(seed: int, corpus: Corpus, tmp_path: Path) -> None:
    rankings, one = judged(seed, corpus)
    write_trec(tmp_path / "trec", rankings, [one])
    assert sorted(file.name for file in (tmp_path / "trec").iterdir()) == ["qrels.txt", "some.run"]
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "trec" / "qrels.txt")))
    run = list(ir_measures.read_trec_run(str(tmp_path / "trec" / "some.run")))
    found = ir_measures.calc_aggregate(measures(3), qrels, run)
    scores = rankings.scores(one)
    assert [found[measure] for measure in measures(3)] == pytest.approx([scores.ndcg10, scores.map], abs=1e-12)


def test_addresses_hold_no_white_space_and_names_of_files_are_plain_and_different() -> None:
    assert document_id("http://a.example/b c\td\u00a0e") == "http://a.example/b%20c%09d%C2%A0e"
    taken: set[str] = set()
    names = [slug(name, taken) for name in ("3: window 0", "3 window 0", "../../etc", "Γ", "x" * 300)]
    assert names == ["3-window-0", "3-window-0-2", "etc", "strategy", "x" * 80]


def test_an_evaluation_writes_a_run_for_each_strategy_and_its_scores(tmp_path: Path) -> None:
    web = {
        f"http://site.example/{top}/{middle}/{leaf}/{number}": f"<p>{top} {middle} {leaf} word{number}"
        for top in ("sea", "land") for middle in ("north", "south") for leaf in ("day", "night") for number in range(3)
    }  # fmt: skip
    corpus = read_web(web)
    strategies = {
        "plain": choose_strategy(settings=["anchors.scale=0"]), "no weights": choose_strategy(settings=["weight.frequency=none"]),
    }  # fmt: skip
    done: Evaluation = evaluate_strategies(corpus, load_directory(corpus, "url-path"), strategies)
    done.write(tmp_path, "web", with_figures=False)
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "trec" / "qrels.txt")))
    for name, file in (("plain", "plain.run"), ("no weights", "no-weights.run")):
        run = list(ir_measures.read_trec_run(str(tmp_path / "trec" / file)))
        found = ir_measures.calc_aggregate(measures(3), qrels, run)
        plain = next(one for one in done.as_dict()["strategies"] if one["name"] == name)
        assert [plain["ndcg10"], plain["map"]] == pytest.approx([found[m] for m in measures(3)], abs=1e-6)
    assert done.as_dict()["ranked_sources"] == 24


def test_the_package_of_measures_is_loaded_only_when_it_is_used() -> None:
    code = "import sys, pagekin.evaluation, pagekin.cli.evaluate; sys.exit('ir_measures' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
