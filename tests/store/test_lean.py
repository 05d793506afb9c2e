"""The program loads numba without scipy and others; everybody else in a process has all of them."""

import subprocess
import sys

import pytest

pytest.importorskip("scipy")
PROGRAM = """
import pagekin.__main__, sys
from pagekin.store import kernel

@kernel
def double(value):
    return 2 * value

assert double(21) == 42
print(*({"scipy", "yaml"} & set(sys.modules)))
import scipy.linalg, yaml
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_program_loads_kernels_without_scipy_which_others_may_import_still() -> None:
    assert run(PROGRAM) == ""


def test_a_program_that_imports_pagekin_has_a_numba_that_can_multiply_matrices() -> None:
    assert set(run(PROGRAM.replace("pagekin.__main__", "pagekin")).split()) == {"scipy", "yaml"}
