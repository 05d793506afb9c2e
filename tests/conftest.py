"""Fixtures for all tests: the demo web, and the real data, which lies outside the project."""

import fcntl
import gc
import os
import shutil
import tarfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import settings

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan, read_sources
from pagekin.sources import Limits, Page, plan_units, read_unit

# Machines that run the tests may be busy: how long an example takes tells nothing. The same examples each time, and 60 of them:
# more of the same find nothing new.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")
MakeOnce = Callable[[str, Callable[[Path], object]], Path]
HostLeaf = Callable[[str], Path]
REQUIRED = os.environ.get("PAGEKIN_DATA_REQUIRED") == "1"
CHECKED = ("hypertext/test_fuzz.py", "hypertext/test_string_kernels.py")
"""Tests that `test_checked_kernels` alone runs, in a process of their own, with every index of every kernel checked."""

LONGEST = (
    "test_spark.py", "test_checked_kernels.py", "test_browser.py", "test_shard_stages.py", "test_update.py", "test_resume.py",
    "test_stages.py", "test_four_doors.py", "test_damaged.py", "test_memory.py", "test_sharded.py", "test_delta.py",
    "test_build.py", "test_how_to.py", "test_generators.py", "test_script.py", "test_site.py",
)  # fmt: skip
"""Files of tests that take half a minute of a processor or more, the longest first."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that renews the golden digests of the demo web's arrays."""
    parser.addoption(
        "--renew-golden", default="", metavar="GROUPS", help="Renew these groups of tests/golden.json, e.g. text,label."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Note whether all tests run; the processes that share them see it in their environment."""
    if not hasattr(config, "workerinput"):
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        os.environ["PAGEKIN_ALL_TESTS"] = "" if named else "1"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave tests with random input to `test_checked_kernels` when all tests run; when they are named, run them."""
    if os.environ["PAGEKIN_ALL_TESTS"] and any(collection_path == Path(__file__).parent / name for name in CHECKED):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files of tests first, so that no process is left alone with one of them at the end."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of all later garbage collections: half a million objects that stay anyway."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _disk_is_not_waited_for() -> Iterator[None]:
    """Let tests leave it to the system when files come to the disk: none of them cuts the power, and many would wait for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _file: None)
        yield


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> MakeOnce:
    """Return a function that makes a folder once for all processes that share the tests, and waits while another makes it.

    All tests share what is in such a folder: one that changes a collection copies it first.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent

    def make(name: str, fill: Callable[[Path], object]) -> Path:
        folder = shared / name
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "made").exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                (folder / "made").touch()
        return folder

    return make


@pytest.fixture(scope="session")
def demo_kin(made_once: MakeOnce) -> Path:
    """The demo web as `pagekin build demo` makes it: 968 pages on 17 hosts, indexed, in clusters, searchable."""

    def build(folder: Path) -> None:
        plan = ReadPlan(["demo"], folder / "demo.kin", workers=1)
        build_collection(plan, BuildRecipe(Strategy(), ClusterSettings(), text=True))

    return made_once("demo", build) / "demo.kin"


@pytest.fixture(scope="session")
def demo_read(made_once: MakeOnce) -> Path:
    """The demo web as `pagekin read demo` makes it: words and links, no index; not to be changed."""
    return made_once("demo-read", lambda folder: read_sources(ReadPlan(["demo"], folder / "demo.kin"))) / "demo.kin"


@pytest.fixture(scope="session")
def host_leaf(made_once: MakeOnce) -> HostLeaf:
    """Return a function that builds a collection of the first pages of a host of the demo web; not to be changed."""
    from tests.routers.webs import build_leaf, host_records

    def build(name: str) -> Path:
        folder = made_once(f"leaf-{name}", lambda folder: build_leaf(folder / f"{name}.kin", host_records()[name]))
        return folder / f"{name}.kin"

    return build


@pytest.fixture(scope="session")
def school_folder(made_once: MakeOnce, data: Path) -> Path:
    """The school encyclopaedia, `school.kin`, with its subject index, `directory.tsv`: 4,653 articles of one host."""

    def build(folder: Path) -> None:
        with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        (site,) = folder.rglob("site")
        (site.parent / "directory.tsv").rename(folder / "directory.tsv")
        build_collection(
            ReadPlan([str(site)], folder / "school.kin", base_url="http://schools.example/"), BuildRecipe(Strategy())
        )

    return made_once("school", build)


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder of real archives that PAGEKIN_DATA names."""
    named = os.environ.get("PAGEKIN_DATA", "")
    if named and Path(named).is_dir():
        return Path(named)
    reason = f"no real data: PAGEKIN_DATA is {f'{named}, which is no folder' if named else 'not set'}"
    if REQUIRED:
        pytest.fail(f"{reason}, but PAGEKIN_DATA_REQUIRED=1 asks for it")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def universities(made_once: MakeOnce, data: Path) -> Path:
    """Two of the universities of WebKB as an archive, 1,673 pages, for tests that need real pages and not all of them."""
    from tests.sources.making import http, warc  # other tests use this file where there are no others

    def write(folder: Path) -> None:
        units = plan_units([str(data / "webkb" / "webkb.warc.gz")], {})
        pages = (item for unit in units for item in read_unit(unit, Limits()) if isinstance(item, Page))
        some = [page for page in pages if (urlsplit(page.url).hostname or "").endswith(("cornell.edu", "utexas.edu"))]
        (folder / "universities.warc").write_bytes(b"".join(warc(page.url, http(page.html)) for page in some))

    return made_once("universities", write) / "universities.warc"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn any skip into a failure where all that tests need is required."""
    report = yield
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but PAGEKIN_DATA_REQUIRED=1 asks for all that tests need: {report.longrepr}"
    return report
