"""Tuning finds what is there to find, keeps its hands off the classes that judge it, and does not believe noise."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pagekin.cli.tune as verb
from pagekin.bags import PRESETS, Strategy, choose_strategy, load_strategy, setting_value
from pagekin.cli.app import BAD_INPUT, USAGE, app
from pagekin.clusters import Directory, DirectoryError, load_directory
from pagekin.evaluation import make_bench, tune_strategy
from pagekin.evaluation.experiments import with_sources
from pagekin.evaluation.halves import split_sources
from pagekin.evaluation.tune import AXES, PARTS
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web, record

SITE = "http://site.example/"
CLASSES = [f"{top}/{middle}/{low}" for top in "ab" for middle in "cdef" for low in "gh"]
ANY = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nprstvz"]


def pages(telling: bool) -> dict[str, str]:
    """Pages of 16 classes whose words are drawn from one list; if they are telling, numbers give the class away."""
    rng = random.Random(5)
    made = {}
    for number, path in enumerate(CLASSES):
        for page in range(5):
            words = rng.choices(ANY, k=12)
            digits = [str(1000 + number), str(2000 + number // 2), str(3000 + number // 8)] if telling else []
            made[f"{SITE}{path}/{page}"] = f"<title>{words[0]}</title><p>{' '.join([*words, *digits])}"
    return made


def tree_of(corpus: Corpus) -> Directory:
    return load_directory(corpus, "url-path")


@pytest.fixture(scope="module")
def telling() -> Corpus:
    return read_web(pages(telling=True))


@pytest.fixture(scope="module")
def noise() -> Corpus:
    return read_web(pages(telling=False))


def test_halves_share_no_second_level_class_and_leave_no_source_out(telling: Corpus) -> None:
    bench = make_bench(tree_of(telling))
    seconds = [bench.directory.classes[number][:2] for number in bench.classes[bench.class_offsets[:-1]][bench.sources]]
    splits = set()
    for seed in range(5):
        chosen, training, others = split_sources(bench, seed)
        assert {seconds[i] for i in np.flatnonzero(chosen)}.isdisjoint(seconds[i] for i in np.flatnonzero(~chosen))
        assert (training, others) == (4, 4)
        assert chosen.tolist() == split_sources(bench, seed)[0].tolist()
        splits.add(tuple(chosen.tolist()))
    assert len(splits) > 1


def test_a_half_keeps_all_candidates(telling: Corpus) -> None:
    bench = make_bench(tree_of(telling))
    chosen, _training, _others = split_sources(bench, 1)
    half = with_sources(bench, np.flatnonzero(chosen), 10, 1)
    assert len(half.sources) == np.count_nonzero(chosen) < len(bench.sources)
    assert half.urls is bench.urls


def test_numbers_that_tell_the_class_are_found(telling: Corpus) -> None:
    done = tune_strategy(telling, tree_of(telling), tries=60)
    assert done.improved
    assert done.advice is done.choice
    assert done.choice.words == "all"
    assert ("words", PRESETS[done.best_preset].words, "all") in done.changes()
    first = done.verdict.gains[0]
    assert first.measure == "nDCG@10"
    assert first.difference >= first.low > 0.1
    assert [one.name for one in done.judgements] == ["tuned", *PRESETS]
    for region in PARTS:
        tuned, best = (next(one for one in done.judgements if one.name == name) for name in ("tuned", done.best_preset))
        assert tuned.agreements[region].somers_d > best.agreements[region].somers_d
    assert done.tries == 60


def test_noise_is_not_called_an_improvement(noise: Corpus) -> None:
    said = [tune_strategy(noise, tree_of(noise), tries=40, seed=seed) for seed in range(1, 5)]
    # The training half always finds something; the other half must not believe it.
    assert [done.improved for done in said] == [False] * 4
    for done in said:
        assert done.advice == PRESETS[done.best_preset]
        assert not done.verdict.gains[0].direction > 0


def test_equal_tries_and_seeds_find_the_same(telling: Corpus) -> None:
    one, two = (tune_strategy(telling, tree_of(telling), tries=25, seed=3, threads=threads) for threads in (1, 2))
    assert one.choice == two.choice
    assert one.verdict == two.verdict
    assert one.tries == two.tries == 25
    assert one.compared == two.compared


def test_gains_are_paired_by_resample(telling: Corpus) -> None:
    done = tune_strategy(telling, tree_of(telling), tries=6)
    place = next(i for i, one in enumerate(done.judgements) if one.name == done.best_preset)
    one, other = done.judgements[0], done.judgements[place]
    ndcg, _map, _gamma, somers = done.verdict.gains
    assert somers.difference == pytest.approx(one.agreements["overall"].somers_d - other.agreements["overall"].somers_d)
    resampled = one.resampled["overall"][1] - other.resampled["overall"][1]
    assert (somers.low, somers.high) == pytest.approx(tuple(np.quantile(resampled, [0.025, 0.975])))
    ranked = done.scores[0].resampled[0] - done.scores[place].resampled[0]
    assert (ndcg.low, ndcg.high) == pytest.approx(tuple(np.quantile(ranked, [0.025, 0.975])))


class SlowClock:
    """A clock that goes on by a second whenever it is read."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1.0
        return self.seconds


def test_the_budget_holds_the_search_and_all_judging(telling: Corpus) -> None:
    # A try takes a second by this clock, and afterwards three strategies have to be judged, which it does not see.
    for budget in (20.0, 60.0):
        clock, judging = SlowClock(), []

        def note(stage: str, share: float, clock: SlowClock = clock, judging: list[float] = judging) -> None:
            if stage == "judging":
                judging.append(clock.seconds)

        done = tune_strategy(telling, tree_of(telling), budget=budget, now=clock, progress=note)
        assert len(PRESETS) < done.tries <= budget / 3
        assert budget / 2 < judging[0] < budget  # without a reserve the search alone would take all of it


def test_json_has_no_nan_where_a_region_has_no_pairs(telling: Corpus) -> None:
    done = tune_strategy(telling, tree_of(telling), tries=3)
    nothing = replace(done.compared[0], difference=math.nan, low=math.nan, high=math.nan)
    told = json.loads(json.dumps(replace(done, compared=[nothing]).as_dict(), allow_nan=False))
    assert told["held_out"]["differences"][0]["difference"] is None


def test_every_value_of_every_axis_is_allowed() -> None:
    for name, values in AXES.items():
        for value in values:
            assert setting_value(Strategy().with_settings({name: value}), name) == value
        if not isinstance(values[0], str):
            assert list(values) == sorted(values)
    defaults = {name: setting_value(choose_strategy(), name) for name in AXES}
    assert all(isinstance(value, str) or AXES[name][0] <= value <= AXES[name][-1] for name, value in defaults.items())


def test_a_tree_with_one_second_level_class_cannot_be_halved(tmp_path: Path) -> None:
    corpus = read_web({f"{SITE}a/b/{low}/{page}": f"<p>{ANY[page]}" for low in "cd" for page in range(3)})
    table = tmp_path / "directory.tsv"
    table.write_text("".join(f"{SITE}a/b/{low}/{page}\ta/b/{low}\n" for low in "cd" for page in range(3)))
    tree = load_directory(corpus, str(table))
    assert {path[:2] for path in tree.classes} == {("a", "b")}
    with pytest.raises(DirectoryError, match="at least two second-level classes"):
        tune_strategy(corpus, tree, tries=3)


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from pagekin.hypertext import ReadPlan, read_sources

    folder = tmp_path_factory.mktemp("tuned")
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in pages(telling=True).items()))
    read_sources(ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=1))
    return folder / "web.kin"


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["tune", "--bags", *map(str, arguments)])
    return result.exit_code, result.output


def test_the_saved_strategy_is_one_that_an_index_takes(kin: Path, tmp_path: Path) -> None:
    saved = tmp_path / "strategy.toml"
    code, said = run(kin, "--directory", "url-path", "--tries", "60", "--save", saved)
    assert code == 0, said
    assert "The tuned strategy is better than" in said
    assert f"pagekin index {kin} --strategy {saved}" in said
    assert load_strategy(saved).words == "all"
    assert "#   nDCG@10 +" in saved.read_text()
    assert saved.read_text().startswith("# Tuned on web.kin and url-path: 60 tries, seed 1.")


def test_json_says_what_was_found(kin: Path) -> None:
    code, said = run(kin, "--directory", "url-path", "--tries", "8", "--json")
    assert code == 0, said
    told = json.loads(said)
    assert told["tries"] == 8
    assert [one["name"] for one in told["held_out"]["strategies"]] == ["tuned", *PRESETS]
    assert {"gamma", "somers_d", "low", "high"} <= told["held_out"]["strategies"][0]["siblings"].keys()
    assert {one["second"] for one in told["held_out"]["differences"]} == set(PRESETS)
    assert told["strategy"] == (told["tuned"] if told["improved"] else PRESETS[told["best_preset"]].as_dict())


@pytest.mark.parametrize("text", ["0s", "ten", "5x", "-3s", "", "1e9s", "200h"])
def test_times_that_are_none_are_refused(kin: Path, text: str) -> None:
    code, said = run(kin, "--directory", "url-path", "--budget", text)
    assert code == USAGE
    assert "60s, 5m or 1h" in said


def test_times_as_people_write_them() -> None:
    assert [verb.parse_seconds(text) for text in ("60s", "5m", "1h", "90", "2 min", "1.5s")] == [
        60,
        300,
        3600,
        90,
        120,
        1.5,
    ]


def test_a_file_that_cannot_be_written_is_said(kin: Path, tmp_path: Path) -> None:
    code, said = run(kin, "--directory", "url-path", "--tries", "3", "--save", tmp_path / "none" / "s.toml")
    assert code == BAD_INPUT
    assert "cannot be written" in said


def test_the_budget_ends_the_search(kin: Path) -> None:
    code, said = run(kin, "--directory", "url-path", "--budget", "1s", "--json")
    assert code == 0
    assert json.loads(said)["tries"] >= 2
