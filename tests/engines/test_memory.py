"""Builds with little memory, and on disks that fill up: the same bytes, or a clear refusal and the old state."""

import resource
import shutil
from pathlib import Path
from typing import Any

import pytest

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, build_collection, build_shards, index_collection, needs
from pagekin.engines.needs import least_memory
from pagekin.hypertext import ReadPlan
from pagekin.store import DiskFullError, MemoryBudget, TooLittleMemoryError, can_be_resumed, open_kin
from tests.bags.webs import record
from tests.demo_web import demo_pages
from tests.store.kins import in_child

LITTLE = MemoryBudget(1 << 20)


@pytest.fixture
def no_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let builds be given so little memory that all arrays lie in files and every stage works in many batches."""
    monkeypatch.setattr(needs, "LEAST_MEMORY", 0)
    monkeypatch.setattr(needs, "MEMORY_SHARE", 0)


def build(source: str, out: Path, memory: MemoryBudget, **more: Any) -> dict[str, Any]:
    clusters = ClusterSettings(max_clusters=8)
    plan = ReadPlan([source], out, memory=memory)
    build_collection(plan, BuildRecipe(Strategy(), clusters, text=True), **more)
    return dict(open_kin(out).manifest["files"])


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of some pages of the demo web, beside the archive that it was made of."""
    folder = tmp_path_factory.mktemp("demo")
    pages = demo_pages()[::12]
    (folder / "demo.warc").write_bytes(b"".join(record(page.url, page.html) for page in pages))
    build(str(folder / "demo.warc"), folder / "demo.kin", MemoryBudget(0))
    return folder / "demo.kin"


def source_of(kin: Path) -> str:
    return str(kin.with_suffix(".warc"))


@pytest.mark.usefixtures("no_least")
def test_the_demo_web_has_the_same_bytes_in_any_memory(demo: Path, tmp_path: Path) -> None:
    wanted = open_kin(demo).manifest["files"]
    assert build(source_of(demo), tmp_path / "small" / "demo.kin", LITTLE) == wanted
    assert build(source_of(demo), tmp_path / "large" / "demo.kin", MemoryBudget(1 << 30)) == wanted


@pytest.mark.usefixtures("no_least")
def test_real_pages_have_the_same_bytes_in_any_memory(universities: Path, tmp_path: Path) -> None:
    source = str(universities)
    made = [build(source, tmp_path / str(limit) / "webkb.kin", MemoryBudget(limit)) for limit in (0, 4 << 20)]
    assert made[0] == made[1]


def test_too_little_memory_is_refused_before_work_starts_with_the_least_that_would_do(tmp_path: Path) -> None:
    out = tmp_path / "a.kin"
    with pytest.raises(TooLittleMemoryError, match=r"--memory 100M is too little .* 400M would do. Nothing was begun."):
        build("demo", out, MemoryBudget(100 << 20))
    assert not out.exists()


def test_shards_need_less_memory_than_one_piece_and_their_clusters_are_counted() -> None:
    large, sample = 100 << 30, 90_000
    needed = [least_memory(large, shards) for shards in (1, 8, 64)]
    assert needed[0] > needed[1] > needed[2] > needs.WHOLE_TABLES * needs.MEMORY_SHARE * large
    for shards in (1, 8):
        assert least_memory(1 << 30, shards, sample) > least_memory(1 << 30, shards)
        assert least_memory(1 << 30, shards, 30_000) == least_memory(
            1 << 30, shards
        )  # there is room for the usual sample
        assert least_memory(1 << 30, shards, sample) == least_memory(
            2 << 30, shards, sample
        )  # of a sample, not of all pages


def test_too_little_memory_for_shards_is_refused_and_the_message_says_what_clusters_cost(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    with (site / "large.html").open("wb") as file:
        file.truncate(1 << 30)
    plan = ReadPlan([str(site)], tmp_path / "a.kin", workers=1, memory=MemoryBudget(100 << 20))
    with pytest.raises(
        TooLittleMemoryError, match=r"MB of HTML in 3 shards; \d+M would do, or \d+M with --no-clusters"
    ):
        build_shards(plan, 3, BuildRecipe(Strategy(), ClusterSettings(sample=200_000)))
    with pytest.raises(TooLittleMemoryError, match=r"MB of HTML in 3 shards; \d+M would do. Nothing was begun."):
        build_shards(plan, 3, BuildRecipe(Strategy()))
    assert not plan.out.exists()


def test_indexing_again_asks_for_memory_too(demo: Path) -> None:
    with pytest.raises(TooLittleMemoryError, match="is too little"):
        index_collection(demo, Strategy(), memory=MemoryBudget(1 << 20))


def test_a_disk_that_plainly_cannot_hold_the_build_is_refused_with_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    with (site / "large.html").open("wb") as file:
        file.truncate(1 << 40)
    monkeypatch.setattr(needs, "SURE", 1.0)
    with pytest.raises(DiskFullError, match=r"GB free, and the build takes about 1,0\d\d\.\d\d GB while it runs"):
        build(str(site), tmp_path / "a.kin", MemoryBudget(0))
    assert not (tmp_path / "a.kin").exists()


STAGES = [
    "reading", "merging", "words", "windows", "bags", "weighing", "signing", "lists", "forms", "postings", "neighbours",
    "clusters", "names", "topics", "label", "saving",
]  # fmt: skip


def test_every_stage_is_tried_with_a_full_disk(demo: Path, tmp_path: Path) -> None:
    told: set[str] = set()
    build(source_of(demo), tmp_path / "a.kin", MemoryBudget(0), progress=lambda stage, _share: told.add(stage))
    assert told <= {*STAGES, "starting"}


@pytest.mark.usefixtures("no_least")
@pytest.mark.parametrize("stage", STAGES)
def test_a_full_disk_in_any_stage_leaves_the_old_state_and_the_build_goes_on(
    demo: Path, tmp_path: Path, stage: str
) -> None:
    memory = LITTLE if STAGES.index(stage) % 2 else MemoryBudget(0)
    out = tmp_path / "demo.kin"
    shutil.copytree(demo, out)
    before = {file.name: file.read_bytes() for file in out.iterdir() if file.name != ".lock"}

    def limited() -> None:
        def tell(current: str, _share: float) -> None:
            if current == stage:  # from here on no file may grow beyond a page
                resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))

        with pytest.raises(DiskFullError, match="may not grow any further"):
            build(source_of(demo), out, memory, progress=tell)

    assert in_child(limited) == 0
    after = {file.name: file.read_bytes() for file in out.iterdir() if file.is_file() and file.name != ".lock"}
    assert after == before
    assert can_be_resumed(out) == (stage != "reading")  # before, there is nothing to go on from
    assert build(source_of(demo), out, memory) == open_kin(demo).manifest["files"]
