"""The `data` fixture of all tests: without data it skips, unless the data is required."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

def test_reads(data):
    assert data.is_dir()

def test_gives_up():
    pytest.skip("no time")

def test_needs_nothing():
    pytest.skip("not now")
"""


def outcome(tmp_path: Path, **settings: str) -> tuple[int, str]:
    shutil.copy(Path(__file__).parents[1] / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(TESTS)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PAGEKIN_DATA")}
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "."]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**clean, **settings, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("folder", ["", "/no/such/folder"])
def test_without_data_its_tests_skip_and_say_why(tmp_path: Path, folder: str) -> None:
    code, said = outcome(tmp_path, PAGEKIN_DATA=folder)
    assert (code, "3 skipped" in said) == (0, True)
    assert f"PAGEKIN_DATA is {folder or 'not set'}" in said


def test_without_required_data_the_run_fails(tmp_path: Path) -> None:
    code, said = outcome(tmp_path, PAGEKIN_DATA_REQUIRED="1")
    assert code == 1
    assert "PAGEKIN_DATA is not set, but PAGEKIN_DATA_REQUIRED=1 asks for it" in said


def test_no_test_may_skip_where_the_data_is_required(tmp_path: Path) -> None:
    code, said = outcome(tmp_path, PAGEKIN_DATA_REQUIRED="1", PAGEKIN_DATA=str(tmp_path))
    assert code == 1
    assert "2 failed, 1 passed" in said
    assert "skipped" not in said.splitlines()[-1]
    assert all(reason in said for reason in ("no time", "not now"))
