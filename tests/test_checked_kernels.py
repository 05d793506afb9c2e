"""Tests with hostile and random input run with kernels that check every index.

They run in a process of their own, since a process has kernels of one kind; a run of all tests leaves them to it.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import HOSTILE

TESTS = Path(__file__).parent


def test_no_kernel_reaches_outside_its_arrays_whatever_it_is_given() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(str(TESTS / name) for name in HOSTILE)],
        env={**os.environ, "PAGEKIN_CHECK_KERNELS": "1"},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
