"""On the school encyclopaedia the paper's findings hold where they must."""

from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import BagWorkshop
from pagekin.clusters import load_directory
from pagekin.evaluation import Experiment, make_bench
from pagekin.evaluation.experiments import Judgement, judge_all
from pagekin.evaluation.figures import figures
from pagekin.evaluation.ranking import draw_rankings
from pagekin.hypertext import Corpus

from .benches import draw_sources, linked_pages


@pytest.fixture(scope="module")
def judged(school: tuple[Corpus, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Judgement]:
    """By figure and bar: the bars about windows and weights, on 400 sources."""
    corpus, table = school
    directory = load_directory(corpus, str(table))
    bench = draw_sources(make_bench(directory, linked_pages(corpus, directory.urls), rounds=1), 400, rounds=200)
    experiment = Experiment(corpus, bench, BagWorkshop(corpus, tmp_path_factory.mktemp("workshop"), 2), 2)
    wanted = {
        f"{figure.number}|{label}": strategy
        for figure in figures()
        for label, strategy in figure.strategies.items()
        if figure.number in ("6", "7") or (figure.number == "3" and label in ("window 0", "window 8", "window 32"))
    }
    found = {}
    for one in judge_all(experiment, wanted):
        number, label = one.name.split("|")
        found[number, label] = one
    return found


def test_the_directory_is_that_of_the_encyclopaedia(school: tuple[Corpus, Path]) -> None:
    corpus, table = school
    directory = load_directory(corpus, str(table))
    assert directory.facts["listings"] == 5259
    assert directory.facts["pages"] == 4610
    assert "not in the collection" not in directory.facts
    assert all(len(path) == 3 for path in directory.classes)
    strict = load_directory(corpus, str(table), mode="strict")
    assert 0 < strict.facts["pages"] < 4610


def somers(one: Judgement) -> float:
    return one.agreements["siblings"].somers_d


def test_frequency_weights_help_in_the_papers_order(judged: dict[tuple[str, str], Judgement]) -> None:
    none, root, nmdf = (somers(judged["7", label]) for label in ("none", "sqrt", "NMDF"))
    assert none < root < nmdf


def test_distance_weights_help_and_frequency_weights_help_more(judged: dict[tuple[str, str], Judgement]) -> None:
    """Both together are no better than frequency weights alone here: unlike in the paper, nothing is left to gain."""
    none, distance, frequency, both = (somers(judged["6", bar]) for bar in ("none", "distance", "frequency", "both"))
    assert none < distance < min(frequency, both)


def test_larger_windows_leave_fewer_pairs_orthogonal_and_agree_better(
    judged: dict[tuple[str, str], Judgement],
) -> None:
    windows = [judged["3", f"window {size}"] for size in (0, 8, 32)]
    shares = [one.orthogonality for one in windows]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.5 > 0.1 > shares[2]
    assert somers(windows[0]) < somers(windows[1])


def test_larger_windows_rank_better(school: tuple[Corpus, Path], judged: dict[tuple[str, str], Judgement]) -> None:
    corpus, table = school
    directory = load_directory(corpus, str(table))
    bench = draw_sources(make_bench(directory, linked_pages(corpus, directory.urls), rounds=1), 400, rounds=5)
    rankings = draw_rankings(corpus, bench)
    assert len(rankings.rows) == 400
    few, many = (rankings.scores(judged["3", f"window {size}"]) for size in (0, 32))
    assert few.ndcg10 < many.ndcg10 < 1
    assert few.map < many.map < 1


def test_an_interval_holds_its_value_and_the_nearest_pages_are_nearest_first(
    judged: dict[tuple[str, str], Judgement],
) -> None:
    for one in judged.values():
        for agreement in one.agreements.values():
            assert agreement.low <= agreement.gamma <= agreement.high
        assert np.all(np.diff(one.nearest_similarity, axis=1) <= 0)
        assert np.all((one.nearest_similarity > 0) == (one.nearest >= 0))
