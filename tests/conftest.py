"""Fixtures for all tests: the real data, which lies outside the project. Where it is required, so is a browser."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# Machines that run the tests may be busy: how long an example takes tells nothing. The same examples each time.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")
REQUIRED = os.environ.get("PAGEKIN_DATA_REQUIRED") == "1"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real archives that PAGEKIN_DATA names."""
    named = os.environ.get("PAGEKIN_DATA", "")
    if named and Path(named).is_dir():
        return Path(named)
    reason = f"no real data: PAGEKIN_DATA is {f'{named}, which is no folder' if named else 'not set'}"
    if REQUIRED:
        pytest.fail(f"{reason}, but PAGEKIN_DATA_REQUIRED=1 asks for it")
    pytest.skip(reason)


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
