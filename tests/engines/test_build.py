"""The build on this machine: the same bytes however it is done, and all or nothing whatever happens."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pagekin.bags import Strategy, StrategyError, choose_strategy
from pagekin.clusters import choose_clusters
from pagekin.engines import BuildRecipe, BuildReport, build_collection, build_here, index_collection
from pagekin.hypertext import Corpus, ReadPlan, check_corpus, read_sources
from pagekin.similarity import RelatedIndex, check_index
from pagekin.store import Finding, KinError, KinWriter, check_files, open_kin
from tests.bags.webs import moved, record
from tests.demo_web import demo_pages
from tests.store.kins import in_child, kill_at

WHALES, SEALS, KRILL = (f"http://sea.example/{name}" for name in ("whales", "seals", "krill"))
OTHER = choose_strategy("haveliwala2002", settings=["signature.m=16", "links.scale=1"])


@pytest.fixture(scope="session")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Every fourth page of the demo web in three archives, so that several workers have something to do."""
    folder = tmp_path_factory.mktemp("archives")
    records = [record(page.url, page.html) for page in demo_pages()[::4]]
    for number in range(3):
        (folder / f"{number}.warc").write_bytes(b"".join(records[number::3]))
    return [str(folder / f"{number}.warc") for number in range(3)]


@pytest.fixture(scope="session")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three pages, with an older capture of one and a redirect to another."""
    archive = tmp_path_factory.mktemp("sea") / "sea.warc"
    archive.write_bytes(
        record(WHALES, "<title>Whales</title><p>Whales eat <a href=krill>krill</a> below the ice.")
        + record(WHALES, "<title>Harpoons</title><p>Harpoons for <a href=seals>hunters</a>.", "1999-01-01T00:00:00Z")
        + record(SEALS, "<title>Seals</title><p>Seals hunt fish below the ice. <a href=old>Singing whales</a> pass by.")
        + record(KRILL, "<title>Krill</title><p>Tiny krill feed whales and seals below the ice.")
        + moved("http://sea.example/old", WHALES)
    )
    return archive


def build(sources: list[str], out: Path, strategy: Strategy | None = None, **options: Any) -> BuildReport:
    return build_collection(ReadPlan(sources, out, parser="strict", **options), BuildRecipe(strategy or Strategy()))


def files(path: Path) -> dict[str, Any]:
    """What the manifest says about every array: type, length, checksum."""
    return dict(open_kin(path).manifest["files"])


def snapshot(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir()}


def asked(path: Path, url: str = WHALES) -> list[tuple[str, float]]:
    return [(result.url, result.similarity) for result in RelatedIndex.open(path).related(url)]


def damage(path: Path) -> Iterator[Finding]:
    """All that `pagekin check` would find, but for what a stopped build left behind."""
    yield from (finding for finding in check_files(path) if not finding.leftover)
    yield from check_corpus(open_kin(path))
    yield from check_index(open_kin(path))


# -- the same bytes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [Strategy(), OTHER], ids=["darts", "paper"])
def test_workers_and_the_way_there_change_no_byte(archives: list[str], strategy: Strategy, tmp_path: Path) -> None:
    alone, together, in_steps = (tmp_path / name for name in ("alone.kin", "together.kin", "in_steps.kin"))
    build(archives, alone, strategy, workers=1)
    build(archives, together, strategy, workers=2)
    assert len(files(alone)) > 40
    assert files(together) == files(alone)
    read_sources(ReadPlan(archives, in_steps, parser="strict", workers=1))
    index_collection(in_steps, choose_strategy(settings=["window.size=3"]), threads=1)
    index_collection(in_steps, strategy, threads=2)
    assert files(in_steps) == files(alone)
    assert open_kin(in_steps).facts["index"] == open_kin(alone).facts["index"]
    assert list(damage(in_steps)) == []


def test_a_report_tells_times_and_what_was_replaced(sea: Path, tmp_path: Path) -> None:
    kin = tmp_path / "sea.kin"
    read_sources(ReadPlan([str(sea)], kin, parser="strict"))
    told: list[tuple[str, float]] = []
    first = index_collection(kin, Strategy(), lambda stage, share: told.append((stage, share)))
    assert {"words", "windows", "signing", "lists", "saving"} < set(first.seconds)
    assert all(share <= 1 for _stage, share in told)
    assert told[-1] == ("saving", 1)
    assert first.replaced is None
    assert index_collection(kin, Strategy(name="another name")).replaced is None
    assert index_collection(kin, choose_strategy(settings=["window.size=4"])).replaced == "another name"
    assert index_collection(kin, OTHER).replaced == "default"


# -- what collections hold -----------------------------------------------------------------------------------------------


def test_of_several_captures_the_newest_speaks(sea: Path, tmp_path: Path) -> None:
    kin = tmp_path / "sea.kin"
    build([str(sea)], kin, all_captures=True)
    assert list(damage(kin)) == []
    index = RelatedIndex.open(kin)
    assert len(index.corpus) == 4
    assert len(index) == 3
    assert index.title(index.document(WHALES)) == "Whales"
    for url in (WHALES, SEALS):
        terms = [term for term, _weight, _origins in index.heaviest(index.document(url), 100)]
        assert not {"harpoons", "hunters"} & set(terms)
    assert KRILL in dict(asked(kin))


def test_links_to_another_name_of_a_page_speak_of_the_page(sea: Path, tmp_path: Path) -> None:
    kin = tmp_path / "sea.kin"
    build([str(sea)], kin)
    index = RelatedIndex.open(kin)
    assert index.corpus.aliases_of(index.corpus.url_number(WHALES)) == ["http://sea.example/old"]
    terms = {term: origins for term, _weight, origins in index.heaviest(index.document(WHALES), 100)}
    assert terms["singing"] == ["anchors"]
    (whales,) = (result for result in index.related(SEALS) if result.url == WHALES)
    assert whales.copies == ("http://sea.example/old",)


def test_pages_without_a_word_that_counts_make_no_index(sea: Path, tmp_path: Path) -> None:
    archive = tmp_path / "a.warc"
    archive.write_bytes(record("http://a.example/", "<title>The</title><p>the and of 1 2 3"))
    with pytest.raises(KinError, match=r"no page has a word that counts.*left as it was"):
        build([str(archive)], tmp_path / "new.kin")
    assert not (tmp_path / "new.kin").exists()
    build([str(sea)], tmp_path / "old.kin")
    before = snapshot(tmp_path / "old.kin")
    with pytest.raises(KinError, match=r"no page has a word that counts.*left as it was"):
        build([str(archive)], tmp_path / "old.kin", replace=True)
    assert snapshot(tmp_path / "old.kin") == before


def test_a_metric_without_signatures_is_refused_before_anything_is_written(sea: Path, tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="jaccard"):
        build([str(sea)], tmp_path / "a.kin", choose_strategy(settings=["metric=cosine"]))
    assert not (tmp_path / "a.kin").exists()


# -- all or nothing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verb", "stride"), [("index", 3), ("build", 5)])
def test_kill_9_at_any_moment_leaves_a_whole_collection_that_answers(
    sea: Path, verb: str, stride: int, tmp_path: Path
) -> None:
    kin = tmp_path / "sea.kin"

    def change(strategy: Strategy) -> None:
        if verb == "build":
            build([str(sea)], kin, strategy)
        else:
            index_collection(kin, strategy)

    build([str(sea)], kin, OTHER)
    new = asked(kin)
    change(Strategy())
    old = asked(kin)
    assert old != new
    outcomes: list[bool] = []
    for step in range(0, 1_000, stride):

        def killed(step: int = step) -> None:
            kill_at(step)
            change(OTHER)

        status = in_child(killed)
        assert list(damage(kin)) == [], f"step {step}"
        assert asked(kin) in (old, new), f"step {step}"
        outcomes.append(asked(kin) == new)
        if status == 0:
            break
        assert status == -signal.SIGKILL
        if outcomes[-1]:
            change(Strategy())
        shutil.rmtree(kin / ".resume", ignore_errors=True)  # a build that goes on takes fewer steps
        with KinWriter(kin, "the next writer"):
            assert list(check_files(kin)) == [], f"step {step}"
    # Killed early the old one stands, killed late the new one, and the change comes once.
    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) > 5
    assert outcomes.count(True) > 2


def test_kill_9_of_a_first_build_leaves_no_half_a_collection(sea: Path, tmp_path: Path) -> None:
    for step in (0, 1, 2, 5, 20, 60):
        kin = tmp_path / f"{step}.kin"

        def killed(step: int = step, kin: Path = kin) -> None:
            kill_at(step)
            build([str(sea)], kin)

        assert in_child(killed) == -signal.SIGKILL
        with pytest.raises(KinError, match="pagekin build"):
            open_kin(kin)
        build([str(sea)], kin)
        assert list(check_files(kin)) == []


def test_a_build_that_was_killed_after_reading_reads_nothing_again(archives: list[str], tmp_path: Path) -> None:
    build(archives, tmp_path / "undisturbed.kin", workers=1)
    kin = tmp_path / "a.kin"
    plan = ReadPlan(archives, kin, parser="strict", workers=1)
    for last in ("words", "signing", "saving"):

        def kill(stage: str, _share: float, last: str = last) -> None:
            if stage == last:
                os.kill(os.getpid(), signal.SIGKILL)

        assert in_child(lambda kill=kill: build_collection(plan, BuildRecipe(Strategy()), kill)) == -signal.SIGKILL  # type: ignore[misc]
    notes: list[str] = []
    report = build_collection(plan, BuildRecipe(Strategy()), note=notes.append)
    assert notes == ["continuing: 3 of 3 pieces were already read"]
    assert report.read is not None
    assert report.read.reading == 0
    assert snapshot(kin).keys() - {".lock"} == snapshot(tmp_path / "undisturbed.kin").keys() - {".lock"}
    assert files(kin) == files(tmp_path / "undisturbed.kin")
    assert open_kin(kin).facts == open_kin(tmp_path / "undisturbed.kin").facts


def test_a_second_build_is_told_who_builds_and_the_first_comes_to_its_end(sea: Path, tmp_path: Path) -> None:
    kin = tmp_path / "sea.kin"
    script = (
        "import sys\n"
        "from pagekin.bags import Strategy\n"
        "from pagekin.engines import BuildRecipe, build_collection\n"
        "from pagekin.hypertext.read import ReadPlan\n"
        "def wait(stage, share):\n"
        "    if stage == 'signing':\n"
        "        print('half way', flush=True)\n"
        "        sys.stdin.readline()\n"
        "build_collection(ReadPlan([sys.argv[1]], sys.argv[2], parser='strict'), BuildRecipe(Strategy()), wait)\n"
    )
    command = [sys.executable, "-c", script, str(sea), str(kin)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdin
        assert first.stdout
        assert first.stdout.readline() == "half way\n"
        with pytest.raises(
            KinError, match=rf"is being written by process {first.pid} on .* \(pagekin build\) since 20"
        ):
            build([str(sea)], kin)
        with pytest.raises(KinError, match="not a finished"):
            index_collection(kin, Strategy())
        first.communicate("\n")
    assert first.returncode == 0
    assert list(damage(kin)) == []
    with (
        KinWriter(kin, "pagekin index"),
        pytest.raises(KinError, match=rf"process {os.getpid()} on .*\(pagekin index\)"),
    ):
        index_collection(kin, OTHER)
    assert asked(kin)


@pytest.mark.parametrize("most", [0, 150, 400, 2_000])
def test_files_that_may_not_grow_leave_the_old_index(sea: Path, most: int, tmp_path: Path) -> None:
    kin = tmp_path / "sea.kin"
    build([str(sea)], kin)
    before = snapshot(kin)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with pytest.raises(KinError, match=r"File too large.*as it was before"):
            index_collection(kin, choose_strategy(settings=["signature.m=512"]))

    assert in_child(limited) == 0
    assert snapshot(kin) == before
    assert list(damage(kin)) == []


def test_an_open_index_answers_while_another_takes_its_place(sea: Path, tmp_path: Path) -> None:
    kin = tmp_path / "sea.kin"
    build([str(sea)], kin)
    index = RelatedIndex.open(kin)
    before = index.related(WHALES, explain=True)
    build([str(sea)], kin, OTHER)
    assert index.related(WHALES, explain=True) == before
    assert RelatedIndex.open(kin).strategy == OTHER
    assert Corpus.open(kin).facts["index"]["strategy"]["name"] == "haveliwala2002"


@pytest.mark.parametrize("shards", [1, 3])
def test_a_build_takes_room_only_on_the_disk_of_its_collection(
    archives: list[str], shards: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no folder").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no folder"))
    plan = ReadPlan(archives, tmp_path / "a.kin", workers=1)
    build_here(plan, plan.out, shards, BuildRecipe(Strategy(), choose_clusters(), text=True))
    assert len(open_kin(plan.out).facts.get("shards", ())) == (shards if shards > 1 else 0)
