"""Tests with hostile and random input run with kernels that check every index.

They run in a process of their own, since a process has kernels of one kind. Those of the strict reader, which has no kernels,
are left out, and pages of 50 MB, which reach no other place of a kernel than smaller ones.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import CHECKED

TESTS = Path(__file__).parent


def test_no_kernel_reaches_outside_its_arrays_whatever_it_is_given() -> None:
    files = (*CHECKED, "hypertext/test_hostile.py")
    options = ["-q", "-p", "no:cacheprovider", "-k", "not strict and not StrictLexer and not 50_mb"]
    # Indices are checked whatever else the compiler does, and with less of it these kernels compile in half of the time.
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(TESTS / name) for name in files)],
        env={**os.environ, "PAGEKIN_CHECK_KERNELS": "1", "NUMBA_OPT": "1"},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
