"""Fixtures for all tests: the demo web, and the real data, which lies outside the project."""

import os
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import settings

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import build_collection
from pagekin.hypertext import ReadPlan
from pagekin.sources import Limits, Page, plan_units, read_unit
from tests.sources.making import http, warc

# Machines that run the tests may be busy: how long an example takes tells nothing. The same examples each time.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
REQUIRED = os.environ.get("PAGEKIN_DATA_REQUIRED") == "1"
CHECKED = ("hypertext/test_fuzz.py", "hypertext/test_string_kernels.py")
"""Tests that `test_checked_kernels` alone runs, in a process of their own, with every index of every kernel checked."""


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
    """Put the longest file of tests first, so that the other processes need not wait for it at the end."""
    items.sort(key=lambda item: item.path.name != "test_checked_kernels.py")


@pytest.fixture(scope="session")
def demo_kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo web as `pagekin build demo` makes it: 968 pages on 17 hosts, indexed, in clusters, searchable.

    All tests share it: one that changes a collection copies it first.
    """
    path = tmp_path_factory.mktemp("demo") / "demo.kin"
    build_collection(ReadPlan(["demo"], path, workers=1), Strategy(), clusters=ClusterSettings(), text=True)
    return path


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
def universities(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of the universities of WebKB as an archive, 1,673 pages, for tests that need real pages and not all of them."""
    path = tmp_path_factory.mktemp("universities") / "universities.warc"
    units = plan_units([str(data / "webkb" / "webkb.warc.gz")], {})
    pages = (item for unit in units for item in read_unit(unit, Limits()) if isinstance(item, Page))
    some = [page for page in pages if (urlsplit(page.url).hostname or "").endswith(("cornell.edu", "utexas.edu"))]
    path.write_bytes(b"".join(warc(page.url, http(page.html)) for page in some))
    return path


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
