"""Judgements are kept between runs, and never mistaken for others."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.bags import Strategy, choose_strategy
from pagekin.clusters import Directory, load_directory
from pagekin.evaluation import Evaluation, evaluate_strategies
from pagekin.evaluation import cache as judged
from pagekin.evaluation.cache import Cache, cache_folder, corpus_digest
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web

STRATEGIES = {
    "content": choose_strategy(settings=["anchors.scale=0"]),
    "roots": choose_strategy(settings=["weight.frequency=sqrt"]),
}


def web(word: str = "word") -> dict[str, str]:
    return {
        f"http://site.example/{top}/{middle}/{leaf}/{number}": f"<p>{top} {middle} {leaf} {word}{number % 2}"
        for top in ("sea", "land") for middle in ("north", "south") for leaf in ("day", "night") for number in range(3)
    }  # fmt: skip


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web(web())


@pytest.fixture(scope="module")
def directory(corpus: Corpus) -> Directory:
    return load_directory(corpus, "url-path")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache's folder, new for each test."""
    found = tmp_path / "pagekin" / "evaluations"
    monkeypatch.setattr("pagekin.evaluation.evaluate.cache_folder", lambda: found)
    return found


def told(done: Evaluation) -> Any:
    """All that is told, but for how often the cache helped."""
    plain = json.loads(json.dumps(done.as_dict()))
    del plain["cached"]
    return plain


def test_a_second_run_finds_what_the_first_one_judged(corpus: Corpus, directory: Directory) -> None:
    first = evaluate_strategies(corpus, directory, STRATEGIES)
    second = evaluate_strategies(corpus, directory, STRATEGIES)
    assert (first.cached, second.cached) == (0, 2)
    for one, other in zip(told(first)["strategies"], told(second)["strategies"], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    assert told(first)["differences"] == told(second)["differences"]
    assert first.frequencies is not None
    assert second.frequencies is not None
    assert np.array_equal(first.frequencies[0], second.frequencies[0])
    for one, other in zip(first.judgements, second.judgements, strict=True):
        assert np.array_equal(one.nearest, other.nearest)
        assert one.facts == other.facts


def test_other_resamples_and_other_names_need_no_new_judgement(corpus: Corpus, directory: Directory) -> None:
    evaluate_strategies(corpus, directory, STRATEGIES)
    renamed = {f"{name} again": replace(strategy, name="new") for name, strategy in STRATEGIES.items()}
    second = evaluate_strategies(corpus, directory, renamed, seed=5)
    fresh = evaluate_strategies(corpus, directory, renamed, seed=5, cache=False)
    assert second.cached == 2
    assert second.judgements[0].name == "content again"
    assert second.judgements[0].strategy["name"] == "new"
    assert [one.agreements for one in second.judgements] == [one.agreements for one in fresh.judgements]


def test_another_directory_strategy_or_collection_is_judged(corpus: Corpus, directory: Directory) -> None:
    evaluate_strategies(corpus, directory, STRATEGIES)
    deeper = load_directory(corpus, "url-path", depth=2)
    assert evaluate_strategies(corpus, deeper, STRATEGIES).cached == 0
    other: dict[str, Strategy] = {"content": choose_strategy(settings=["anchors.scale=0", "title.scale=3"])}
    assert evaluate_strategies(corpus, directory, other).cached == 0
    assert evaluate_strategies(corpus, directory, STRATEGIES, own_pages=["http://site.example/sea/north"]).cached == 0
    changed = read_web(web("other"))
    assert corpus_digest(changed) != corpus_digest(corpus)
    assert evaluate_strategies(changed, load_directory(changed, "url-path"), STRATEGIES).cached == 0
    assert evaluate_strategies(corpus, directory, STRATEGIES).cached == 2


def test_another_judge_judges_anew(corpus: Corpus, directory: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate_strategies(corpus, directory, STRATEGIES)
    monkeypatch.setattr(judged, "FORMAT", judged.FORMAT + 1)
    assert evaluate_strategies(corpus, directory, STRATEGIES).cached == 0


def test_without_the_cache_nothing_is_read_or_written(corpus: Corpus, directory: Directory, folder: Path) -> None:
    evaluate_strategies(corpus, directory, STRATEGIES, cache=False)
    assert not folder.exists()
    evaluate_strategies(corpus, directory, STRATEGIES)
    assert evaluate_strategies(corpus, directory, STRATEGIES, cache=False).cached == 0


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "folder"])
def test_a_damaged_file_is_judged_again(corpus: Corpus, directory: Directory, folder: Path, damage: str) -> None:
    first = evaluate_strategies(corpus, directory, STRATEGIES)
    for file in list(folder.iterdir()):
        raw = bytearray(file.read_bytes())
        if damage == "cut":
            file.write_bytes(raw[: len(raw) // 2])
        elif damage == "flipped":
            raw[len(raw) // 2] ^= 4
            file.write_bytes(raw)
        elif damage == "empty":
            file.write_bytes(b"")
        else:
            file.unlink()
            file.mkdir()
    again = evaluate_strategies(corpus, directory, STRATEGIES)
    assert again.cached == 0
    assert [one.agreements for one in again.judgements] == [one.agreements for one in first.judgements]
    if damage != "folder":
        assert evaluate_strategies(corpus, directory, STRATEGIES).cached == 2


def test_a_place_that_cannot_be_written_is_no_error(corpus: Corpus, directory: Directory, folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file in the way")
    assert evaluate_strategies(corpus, directory, STRATEGIES).cached == 0
    assert folder.read_text() == "a file in the way"


def test_the_cache_lies_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "pagekin" / "evaluations"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache_folder() == Path("/home/somebody/.cache/pagekin/evaluations")


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_path: Path) -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    assert cache_folder() is None
    cache = Cache(None)
    cache.store("key", {"a": np.arange(3)})
    assert cache.load("key") is None


def kept(folder: Path) -> Sequence[str]:
    return sorted(file.name for file in folder.iterdir())


def test_what_was_not_used_for_longest_makes_room(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    folder = tmp_path / "cache"
    cache = Cache(folder, most_bytes=4500)
    for number, key in enumerate("abc"):
        cache.store(key, {"noise": rng.integers(0, 256, 1000, np.uint8)})
        os.utime(folder / key, (number, number))
    assert kept(folder) == ["a", "b", "c"]
    assert cache.load("a") is not None  # so it is the newest
    cache.store("d", {"noise": rng.integers(0, 256, 1000, np.uint8)})
    assert kept(folder) == ["a", "c", "d"]
    cache.store("huge", {"noise": rng.integers(0, 256, 9000, np.uint8)})
    assert kept(folder) == ["a", "c", "d"]
