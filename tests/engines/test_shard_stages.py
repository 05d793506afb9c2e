"""A build by shards gives the bytes of a build in one piece that is cut, whatever its tasks suffer."""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekin.bags import Strategy, choose_strategy
from pagekin.clusters import ClusterSettings, check_trees, read_trees
from pagekin.engines import BuildRecipe, build_here, corpus_stages, shard_plan
from pagekin.engines.job_folder import JobFolder
from pagekin.engines.shard_plan import note_parts, run_stages, run_task
from pagekin.engines.shard_stages import ShardWork
from pagekin.engines.shards import WHOLE as WHOLE_NAME
from pagekin.hypertext import Corpus, ReadPlan, ReadReport, gather_parts, read_units, shard_folders
from pagekin.sources import plan_units
from pagekin.store import KinError, KinWriter, Storage, open_kin
from tests.bags.test_order import all_records, make_web
from tests.bags.webs import record
from tests.clusters.test_sampling import web as topical_web
from tests.cutting import shard_collection

from .collections import files_of
from .test_stages import index_web

WHOLE = BuildRecipe(Strategy(), ClusterSettings(), text=True)


class TaskDiedError(Exception):
    """What a task dies of."""


class ShufflingRunner:
    """Runs tasks in this process: in any order, some again beside an attempt that was not done, some after one that died."""

    def __init__(self, work: ShardWork, seed: int, last: str = "") -> None:
        """Stop when the stage `last` is to begin."""
        self.work, self.last, self.rng = work, last, random.Random(seed)
        self.deaths = self.repeats = 0
        self.results: dict[str, dict[int, dict[str, Any]]] = {}

    def run(self, stage: str, numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Run the tasks of a stage."""
        if stage == self.last:
            raise TaskDiedError
        order = list(numbers)
        self.rng.shuffle(order)
        self.results[stage] = {number: self._run(stage, number) for number in order}
        return self.results[stage]

    def _run(self, stage: str, number: int) -> dict[str, Any]:
        is_done = JobFolder(self.work.folder).find(stage, number) is not None
        if not is_done and self.rng.random() < 0.2:
            self.deaths += 1
            with pytest.MonkeyPatch.context() as patched, pytest.raises(TaskDiedError):
                patched.setattr(Storage, "write", self._die)
                run_task(self.work, stage, number)
        result = run_task(self.work, stage, number).result
        if self.rng.random() < 0.2:
            self.repeats += 1
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(JobFolder, "find", _find_without(stage, number))
                patched.setattr(JobFolder, "record", _FIND)
                assert run_task(self.work, stage, number).result == result
        return result

    def _die(self, *_arguments: object) -> None:
        raise TaskDiedError

    def start(self, stage: str, numbers: Iterable[int]) -> Callable[[], object]:
        """Run the tasks of a stage now, or when somebody waits for them."""
        if self.rng.random() < 0.5:
            done = self.run(stage, numbers)
            return lambda: done
        return lambda: self.run(stage, numbers)


_FIND = JobFolder.find


def read_here(work: ShardWork, plan: ReadPlan, folder: Path) -> None:
    """Read all sources of a plan into parts on this machine, and record them, unless that was done."""
    if JobFolder(work.folder).find("parts", 0):
        return
    report = ReadReport({})
    with KinWriter(folder / "read.kin", "pagekin build", plan.memory) as writer:
        merged = gather_parts(writer, replace(plan, replace=True, recipe=work.recipe.to_keep()), report)
        moved = [part.rename(folder / part.name) for part in merged.parts]
    note_parts(work, plan, merged.sources, list(map(str, moved)), report.units)


def _find_without(stage: str, number: int) -> Callable[..., Any]:
    """Return a way to find records that does not know the one of a task."""
    return lambda job, *task: None if task == (stage, number) else _FIND(job, *task)


def build_by_shards(
    plan: ReadPlan, out: Path, shards: int, recipe: BuildRecipe, seed: int = 0, last: str = ""
) -> ShufflingRunner:
    """Build a collection by shards in this process."""
    with KinWriter(out, "test") as writer:
        work = ShardWork(recipe, shards, str(out), str(writer.resume_folder() / "stages"))
        runner = ShufflingRunner(work, seed, last)
        read_here(work, plan, writer.resume_folder())
        writer.commit_manifest(run_stages(work, runner).encode("utf-8", "surrogatepass"))
    return runner


def assert_same_bytes(mine: Path, expected: Path) -> None:
    """Compare two collections, and say first which arrays of which shard differ."""
    made, wanted = files_of(mine), files_of(expected)
    differ = sorted(made.keys() ^ wanted.keys())
    assert not [name.partition("-")[2] for name in differ]
    assert made["manifest.json"].decode().splitlines() == wanted["manifest.json"].decode().splitlines()
    assert made == wanted


def cut_here(plan: ReadPlan, shards: int, recipe: BuildRecipe, out: Path) -> None:
    """Build a collection in one piece, and cut it."""
    whole = out.parent / "in-one-piece" / WHOLE_NAME  # the label has this name
    build_here(replace(plan, out=whole), whole, 1, recipe)
    shard_collection(whole, shards, out)


def check(plan: ReadPlan, shards: int, recipe: BuildRecipe, folder: Path, seed: int) -> ShufflingRunner:
    """Build by shards and in one piece that is cut, and compare."""
    cut_here(plan, shards, recipe, folder / "here.kin")
    runner = build_by_shards(plan, folder / "there.kin", shards, recipe, seed)
    assert_same_bytes(folder / "there.kin", folder / "here.kin")
    return runner


def test_the_demo_web_with_tasks_that_die_and_tasks_that_run_twice(tmp_path: Path) -> None:
    runner = check(ReadPlan(["demo"], tmp_path / "x.kin"), 3, WHOLE, tmp_path, 1)
    assert runner.deaths
    assert runner.repeats


def archive_of(records: list[bytes], folder: Path) -> ReadPlan:
    (folder / "web.warc").write_bytes(b"".join(records))
    return ReadPlan([str(folder / "web.warc")], folder / "x.kin")


SETTINGS = (
    "",
    "links.scale=1 anchors.repeat=every weight.distance=log",
    "content.lead=3 window.kind=syntactic links.scale=0.3 outlinks.scale=0.7 anchors.scale=0.1",
    "anchors.within_site=off content.furniture=1 links.scale=1 weight.frequency=log",
)


@pytest.mark.parametrize("seed", range(4))
def test_small_webs_by_many_strategies(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_stages, "RANGE_ADDRESSES", 1)  # pages are chosen in as many ranges as there are shards
    recipe = BuildRecipe(choose_strategy(settings=SETTINGS[seed].split()), None, text=bool(seed % 2))
    plan = replace(archive_of(all_records(make_web(seed)), tmp_path), all_captures=seed == 1)
    check(plan, 2 + seed % 2, recipe, tmp_path, seed)


def test_a_host_that_is_cut_is_judged_in_rounds(tmp_path: Path) -> None:
    """All pages are of one host, which has furniture, and an index in sheets that lie in several shards."""
    check(archive_of(index_web(1), tmp_path), 4, BuildRecipe(Strategy(), None, text=True), tmp_path, 5)


@pytest.mark.parametrize(
    "settings", ["", "links.scale=1", "anchors.within_site=off links.scale=1", "anchors.repeat=every"]
)
def test_equal_links_of_a_host_that_is_cut_count_once_and_no_window_travels_alone(
    settings: str, tmp_path: Path
) -> None:
    """Pages in all shards link by the same words, or by none, to pages of their own host in any shard and to one elsewhere."""
    texts, host = ("granite", "mica slate", "", "quartz vein"), "http://b.example"
    pages = [
        record(
            f"{host}/{page:02}",
            f"<title>stone{page}</title>word{page} "
            + "".join(
                f"around{page}x{step} <a href={target}>{texts[page % 4]}</a> after{page % 5} <p>"
                for step in range(3)
                for target in (f"{host}/{(page * 7 + step * 20) % 60:02}", "http://a.example/")
            ),
        )
        for page in range(60)
    ]
    pages += [record(f"http://{name}.example/", f"gneiss <a href={host}/30>{texts[0]}</a> {name}") for name in "ac"]
    strategy = choose_strategy(settings=["content.furniture=1", *settings.split()])
    runner = check(archive_of(pages, tmp_path), 4, BuildRecipe(strategy, None), tmp_path, 2)
    windows, compared = runner.results["windows"].values(), runner.results["compare"].values()
    assert any(one["sums"] for one in windows)
    if not strategy.links.scale:
        assert [one["visits"] for one in windows] == [0] * 4
    assert bool(sum(one["lost"] for one in compared)) == (strategy.anchors.repeat == "once")


def test_windows_do_not_meet_in_the_shards_of_a_large_host(tmp_path: Path) -> None:
    """Every page links to one address by many texts; half of the pages are of one host, which lies in several shards."""
    urls = [f"http://large.example/{page}" for page in range(120)] + [f"http://b{page}.example/" for page in range(120)]
    links = [f"stone{link} <a href=http://z.example/>quartz{link}</a> slate{link % 7} " for link in range(720)]
    pages = [record(url, "".join(links[(place + step) % 720] for step in range(24))) for place, url in enumerate(urls)]
    there, recipe = tmp_path / "there.kin", BuildRecipe(choose_strategy(settings=["content.furniture=1"]), None)
    with pytest.raises(TaskDiedError):
        build_by_shards(archive_of(pages, tmp_path), there, 6, recipe, last="bags")
    job = JobFolder(str(there / ".resume" / "stages"))
    assert sum(job.record("keep", number).result["claims"] > 0 for number in range(6)) >= 3
    for stage in ("keep", "windows"):
        rows = sorted(job.record(stage, number).costs["rows"] for number in range(6))
        assert rows[-1] <= 1.5 * rows[3], stage


def test_a_host_keeps_its_limit_over_the_parts_of_all_groups(tmp_path: Path) -> None:
    """Three archives, each a part and a group of its own, hold pages of a large host, of one at its limit and of small ones."""
    pages = [f"http://large.example/{page:02}" for page in range(40)]
    pages += [f"http://full.example/{page}" for page in range(7)]
    pages += [f"http://small{page}.example/" for page in range(9)]
    archives = []
    for number in range(3):
        archives.append(tmp_path / f"{number}.warc")
        links = [f"<a href={pages[(number * 5 + step * 11) % len(pages)]}>granite {step}</a>" for step in range(9)]
        some = [url for place, url in enumerate(pages) if (place + number) % 3]  # all addresses lie in two archives
        archives[-1].write_bytes(b"".join(record(url, f"{url[7:]} mica {links[len(url) % 9]}") for url in some))
    recipe, here, there = BuildRecipe(Strategy(), None, text=True), tmp_path / "here.kin", tmp_path / "there.kin"
    plan = ReadPlan(list(map(str, archives)), here, max_per_host=7)
    build_here(plan, here, 3, recipe)
    with KinWriter(there, "test") as writer:
        folder = writer.resume_folder()
        work = ShardWork(recipe, 3, str(there), str(folder / "stages"))
        units = plan_units(plan.sources, {})
        parts = [str(part) for unit in units for part, _items in read_units(plan, [unit], folder).parts]
        note_parts(work, plan, [unit.where for unit in units], parts, len(units))
        runner = ShufflingRunner(work, 4)
        writer.commit_manifest(run_stages(work, runner).encode())
    assert [runner.results["cap"][group]["rewritten"] for group in range(3)] == [1] * 3
    assert open_kin(here).facts["pages"] == 7 + 7 + 9
    assert_same_bytes(there, here)


def test_words_of_one_stem_in_several_shards_are_one_form(tmp_path: Path) -> None:
    """What links say in German counts by the stems of all shards, and the page's own shard need not know the words."""
    words = ("Haus", "Häuser", "Straße", "Straßen", "Gärten", "Garten", "Wälder", "Wald")
    pages = [
        record(
            f"http://a.example/{place}",
            f"<html lang={'de' if place % 5 else 'en'}><title>{word}</title>{word} {words[place % 3]} quartz {place} "
            + "".join(f"<a href=/{(place + step) % 40}>{words[(place + step * 3) % 8]}</a> " for step in (1, 7, 19)),
        )
        for place, word in enumerate(words * 5)
    ]
    check(archive_of(pages, tmp_path), 3, BuildRecipe(Strategy(), None, text=True), tmp_path, 3)
    assert any("form.same" in open_kin(folder) for folder in shard_folders(open_kin(tmp_path / "there.kin")))


@pytest.mark.parametrize(("name", "stage"), [("judge.0/1", "tally.0"), ("same/0", "call")])
def test_a_record_that_a_machine_does_not_see_fails_the_task_that_needs_it(
    name: str, stage: str, tmp_path: Path
) -> None:
    """On some shared disks a machine takes a while to see what another wrote."""
    there, recipe = tmp_path / "there.kin", BuildRecipe(Strategy(), None, text=True)
    web = [*index_web(2), record("http://a.example/wald", "<html lang=de>Wälder Wald")]
    with pytest.raises(TaskDiedError):
        build_by_shards(archive_of(web, tmp_path), there, 2, recipe, last=stage)
    folder = there / ".resume" / "stages"
    (folder / f"{name}.json").unlink()
    with pytest.raises(LookupError, match="all machines must see"):
        run_task(ShardWork(recipe, 2, str(there), str(folder)), stage, 0)


def test_a_job_that_was_stopped_goes_on_from_the_stages_that_are_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = BuildRecipe(Strategy(), None, text=True)
    plan, there = archive_of(index_web(2), tmp_path), tmp_path / "there.kin"
    with pytest.raises(TaskDiedError):
        build_by_shards(plan, there, 2, recipe, last="name_links")
    assert not (there / "manifest.json").exists()

    def never(_task: object) -> dict[str, Any]:
        raise AssertionError("a task that was done runs again")

    done = ("list", "choose", "divide", "names", "corpus", "answer", "judge", "tally", "keep", "bags", "sum", "figures")
    monkeypatch.setattr(shard_plan, "TASKS", {**shard_plan.TASKS, **dict.fromkeys(done, never)})
    monkeypatch.setitem(globals(), "gather_parts", never)
    monkeypatch.setattr(ShufflingRunner, "_run", lambda self, *task: run_task(self.work, *task).result)
    build_by_shards(plan, there, 2, recipe)
    cut_here(plan, 2, recipe, tmp_path / "here.kin")
    assert_same_bytes(there, tmp_path / "here.kin")


def test_a_web_without_a_word_that_counts_is_refused_as_on_one_machine(tmp_path: Path) -> None:
    pages = [record(f"http://{name}.example/", "the of and") for name in "ab"]
    with pytest.raises(KinError, match=r"no page has a word that counts .*there\.kin is left as it was"):
        build_by_shards(archive_of(pages, tmp_path), tmp_path / "there.kin", 2, BuildRecipe(Strategy()))


def test_pages_outside_of_the_sample_join_the_nearest_clusters_a_shard_at_a_time(tmp_path: Path) -> None:
    """No task sees all pages, every page stands with those of its topic, and both engines make the same bytes."""
    pages, sample, there, here = topical_web(), 45, tmp_path / "there.kin", tmp_path / "here.kin"
    recipe = BuildRecipe(Strategy(), ClusterSettings(max_clusters=3, sample=sample), text=True)
    plan = archive_of([record(url, html) for url, html in pages.items()], tmp_path)
    build_by_shards(plan, there, 3, recipe, seed=7)
    build_here(replace(plan, out=here), here, 3, recipe)
    assert_same_bytes(there, here)
    # So many pages had the corpus of which the clusters were made.
    assert [tree["sampled"] for tree in open_kin(there).facts["trees"]] == [sample]
    topics: dict[int, list[int]] = {}
    for folder in shard_folders(open_kin(there)):
        corpus, (tree, *_others) = Corpus.open(folder), read_trees(open_kin(folder))
        assert not list(check_trees(corpus.kin))
        assert len(tree.pages_of(0)) == len(corpus)
        for node in tree.facts["shown"]:
            topics.setdefault(node, []).extend(
                int(corpus.page_url(page)[-3:]) % 3 for page in tree.pages_of(node).tolist()
            )
    assert sum(map(len, topics.values())) == len(pages)
    assert sum(max(map(some.count, range(3))) for some in topics.values()) >= 0.95 * len(pages)
    assert len(topics) == 3
