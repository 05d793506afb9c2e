"""Kernels are compiled in one way: checked when asked to be, and kept under a digest of all that they depend on."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pagekin
from pagekin.store import kernel_cache

OUTSIDE = """
import sys
import numpy as np
from pagekin.hypertext._kernels.borrow import array_at, borrow, load, store
from pagekin.store import CHECKED, kernel

@kernel
def plain(array, at):
    return array[at]

@kernel
def read(array, at):
    return borrow(array)[at]

@kernel
def write(array, at):
    borrow(array)[at] = 1
    return 0

@kernel
def read_wide(array, at):
    return load(borrow(array), at)

@kernel
def write_wide(array, at):
    store(borrow(array), at, np.uint64(1))
    return 0

@kernel
def read_address(array, at):
    return array_at(array.ctypes.data, len(array), np.uint8)[at]

assert CHECKED
array = np.arange(16, dtype=np.uint8)
for function, last in ((plain, 15), (read, 15), (write, 15), (read_wide, 8), (write_wide, 8), (read_address, 15)):
    function(array, last)
    for outside in (last + 1, 1 << 40, -17) + (() if function is plain else (-1,)):
        try:
            function(array, outside)
        except IndexError:
            continue
        sys.exit(f"{function.__name__} did not notice the index {outside}")
"""


def test_a_checked_kernel_notices_every_index_outside_its_arrays(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(OUTSIDE)
    environment = {**os.environ, "PAGEKIN_CHECK_KERNELS": "1", "XDG_CACHE_HOME": str(tmp_path)}
    source = str(Path(pagekin.__file__).parent.parent)
    environment["PYTHONPATH"] = os.pathsep.join([source, environment.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, str(tmp_path / "outside.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert [folder.name.split("-")[0] for folder in (tmp_path / "pagekin").iterdir()].count("kernels") == 0


def test_compiled_kernels_are_kept_apart_by_what_they_depend_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = tmp_path / "pagekin"
    shutil.copytree(Path(pagekin.__file__).parent, house, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernel_cache, "_HOUSE", house)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))

    def folder_after(edited: str = "", kind: str = "kernels") -> str:
        if edited:
            with (house / edited).open("a") as file:
                file.write("\n# edited\n")
        kernel_cache.cache_folder.cache_clear()
        return kernel_cache.cache_folder(house / "hypertext" / "_kernels", kind)

    before = folder_after()
    assert Path(before).parent == tmp_path / "cache"
    assert folder_after(kind="checked") != before
    # A kernel's own file, a file of the room that gives it constants, and the decorator behind another room's door.
    for dependency in ("hypertext/_kernels/words.py", "hypertext/model.py", "store/kernels.py"):
        after = folder_after(dependency)
        assert after != before, dependency
        before = after
    for other in ("hypertext/merge.py", "store/writer.py", "bags/_kernels/merge.py"):
        assert folder_after(other) == before, other
    kernel_cache.cache_folder.cache_clear()
