"""What a build will cost: samples are taken from all over the sources, and what they take is carried on."""

import json
import subprocess
from pathlib import Path

import pytest

from pagekin.bags import Strategy
from pagekin.cli.app import fill_template
from pagekin.engines import BuildRecipe, costs, divide_costs, usual_costs
from pagekin.engines.costs import JOINED, Trial, _carry_on, carry_on_trials, take_sample
from pagekin.engines.local import build_collection
from pagekin.hypertext import ReadPlan
from pagekin.sources import Unit, plan_units
from tests.command import pagekin


def test_a_sample_is_taken_from_all_over_the_sources() -> None:
    units = [Unit("warc", "a.warc", 100 * place, 100 * place + 100) for place in range(64)]
    sizes = [100] * 64
    chosen = [unit.start // 100 for unit in take_sample(units, sizes, 800)]
    assert len(chosen) == len(set(chosen)) == 8
    assert {place // 16 for place in chosen} == {0, 1, 2, 3}
    assert len(take_sample(units, sizes, 10**9)) == 64
    folder = Unit("folder", "site", 0, 1_000, "", "http://a.test/", tuple(map(str, range(1_000))))
    assert len(take_sample([folder], [10_000], 100)[0].files) == 400


def test_costs_lie_on_the_line_through_what_was_measured() -> None:
    assert _carry_on((100, 10.0), (300, 30.0), 1_000) == 100.0
    assert _carry_on((100, 50.0), (300, 50.0), 1_000) == 50.0  # what does not grow
    assert _carry_on((100, 60.0), (300, 50.0), 1_000) == 50.0  # noise
    assert _carry_on((300, 30.0), (300, 30.0), 600) == 60.0  # one sample alone: in proportion
    assert _carry_on((300, 30.0), (300, 30.0), 300) == 30.0


def test_what_concerns_a_sample_does_not_grow_beyond_it() -> None:
    small = Trial(100, 100, 1_000, {"words": 1.0, "neighbours": 2.0, "names": 5.0}, 10, 5, 20)
    large = Trial(300, 300, 3_000, {"words": 3.0, "neighbours": 6.0, "names": 15.0}, 30, 15, 60)
    few, many = (carry_on_trials(small, large, pages, 1_000).seconds for pages in (800, 21_000))
    assert few == pytest.approx({"words": 8.0, "neighbours": 16.0, "names": 40.0})
    joining = JOINED * 20_000 * 0.02
    assert many == pytest.approx({"words": 210.0, "neighbours": 20.0, "names": 50.0, "joining": joining})
    assert carry_on_trials(small, large, 21_000, 0).seconds["names"] == pytest.approx(1_050.0)  # all are clustered


def test_pages_of_folders_are_counted_by_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for page in range(50):  # of very different sizes, the smallest first
        (tmp_path / f"{page:02}.html").write_text("<p>page" + "x" * 100 * page * page)
    (tmp_path / "a.css").write_text("b" * 10**5)
    monkeypatch.setattr(costs, "SAMPLES", (5_000, 20_000))
    monkeypatch.setattr(costs, "_FILES", 5)
    told = costs.estimate_costs(ReadPlan([str(tmp_path)], tmp_path / "out.kin", workers=1), BuildRecipe(Strategy()))
    assert (told.sample.pages, told.pages) == (5, 50)


def test_what_is_small_is_built_once_and_its_plan_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    class Here:
        """Runs what is submitted in this process."""

        def __init__(self, *_arguments: object) -> None: ...
        def __enter__(self) -> "Here":
            return self

        def __exit__(self, *_error: object) -> None: ...
        def submit(self, _function: object, plan: ReadPlan, *_more: object) -> "Here":
            tried.append(plan.units)
            return self

        def result(self) -> Trial:
            return Trial(201, 3, 201, {"reading": 0.5}, 27_000, 5_000, 190_000_000)

    monkeypatch.setattr(costs, "ProcessPoolExecutor", Here)
    for page in range(3):
        (tmp_path / f"{page}.html").write_text("<p>page")
    plan = ReadPlan([str(tmp_path)], tmp_path / "out.kin", base_url="http://a.test/")
    told = costs.estimate_costs(plan, BuildRecipe(Strategy(), text=True))
    assert len(tried) == 1
    assert (told.pages, told.was_tried, told.is_guess) == (3, True, False)
    assert "by building everything" in fill_template("plan", costs=told, out="x.kin")
    many = costs.estimate_costs(plan, BuildRecipe(Strategy(), text=True), pages=10**6)
    assert (many.was_tried, many.is_guess) == (False, True)
    assert "this is only a guess" in fill_template("plan", costs=many, out="x.kin")


def test_a_trial_builds_its_pages_once_and_few_others_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for page in range(60):
        (site / f"{page}.html").write_text(f"<title>page {page}</title><p>word{page % 7} and more")
    built = []

    def build(plan: ReadPlan, recipe: BuildRecipe) -> object:
        built.append(sum(len(unit.files) for unit in plan.units))
        return build_collection(plan, recipe)

    monkeypatch.setattr(costs, "build_collection", build)
    units = tuple(plan_units([str(site)], {}, "http://a.test/"))
    plan = ReadPlan([str(site)], tmp_path / "out.kin", base_url="http://a.test/", units=units)
    trial = costs._try(plan, BuildRecipe(Strategy(), text=True))
    assert built == [costs._WARM_UP, 60]
    assert costs._WARM_UP < 60 == trial.pages


@pytest.mark.parametrize("flags", [["--no-clusters", "--no-text"], []])
def test_the_plan_of_a_folder_says_what_its_build_takes(tmp_path: Path, flags: list[str]) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for page in range(60):
        words = " ".join(f"word{page * step % 97}" for step in range(200))
        (site / f"{page}.html").write_text(
            f"<title>page {page}</title><p>{words} <a href={(page + 1) % 60}.html>next one</a>"
        )
    kin = tmp_path / "site.kin"

    def run(*arguments: str) -> dict[str, object]:
        done = pagekin(*arguments, site, "--out", kin, "--json", *flags)
        assert done.returncode == 0, done.stderr
        told: dict[str, object] = json.loads(done.stdout)
        return told

    costs = run("plan")
    assert not kin.exists()
    built = run("build")
    assert costs["pages"] == built["pages"] == 60
    assert costs["html_bytes"] == built["html_bytes"]
    size = sum(file.stat().st_size for file in kin.rglob("*") if file.is_file())
    assert costs["disk"] == pytest.approx(size, rel=0.2)
    assert ("names" in costs["seconds"], "postings" in costs["seconds"]) == (not flags, not flags)  # type: ignore[operator]


def test_a_cluster_divides_reading_and_shards_and_one_task_makes_the_clusters_of_a_sample() -> None:
    costs, few = usual_costs(10**9), divide_costs(usual_costs(20_000), 1)
    one, many = divide_costs(costs, 1), divide_costs(costs, 100)
    assert few.hours == pytest.approx(usual_costs(20_000).total_seconds / 3600)  # all pages are in the sample
    assert many.hours == pytest.approx(one.hours / 100)  # the clusters take less than the shards
    assert few.clusters_hours < one.clusters_hours == many.clusters_hours < 2 * few.clusters_hours
    assert one.clusters_hours == divide_costs(usual_costs(2 * 10**9), 1).clusters_hours
    assert one.task_memory == costs.memory
    assert many.task_memory == pytest.approx(costs.memory / 100, rel=0.1)
    assert many.parts + many.collection == one.task_disk == costs.disk_meanwhile
    assert many.reading_core_hours > 50
    assert divide_costs(usual_costs(2 * 10**9), 100).parts == pytest.approx(2 * many.parts, rel=0.01)


def test_the_plan_of_a_cluster_needs_no_sources() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return pagekin("plan", *arguments)

    told = json.loads(run("--engine", "spark", "--pages", "3e9", "--cores", "500", "--json").stdout)
    assert told["pages"] == 3_000_000_000
    assert told["cores"] == 500
    shown = run("--engine", "spark", "--pages", "3e9", "--cores", "500").stdout
    assert shown.startswith("about 3,000,000,000 pages")
    assert "including merging" in shown
    assert "too much memory for a task" in run("--engine", "spark", "--pages", "3e9", "--cores", "8").stdout
    assert "too much memory" not in run("--engine", "spark", "--pages", "1e6").stdout
    for wrong in ([], ["--pages", "1e6"], ["--engine", "spark"]):
        done = run(*wrong)
        assert done.returncode == 2
        assert "name the sources" in done.stderr
