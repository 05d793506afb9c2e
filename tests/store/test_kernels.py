"""Kernels are compiled in one way: checked when asked to be, and kept in files that travel with their sources."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pagekin
from pagekin.store import kernel_sources
from pagekin.store.kernel_cache import KernelFiles

SOURCE = Path(pagekin.__file__).parent.parent
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
ADDING = """
from pagekin.store import kernel
from small._kernels.constants import STEP

@kernel
def add(number):
    return number + STEP
"""
CALLING = """
import json, sys
from pagekin.store.kernel_cache import watchers
compiled = []
watchers.append(lambda one: compiled.append(one.signature))
from small._kernels.adding import add
print(json.dumps([[add(number) for number in json.loads(sys.argv[1])], compiled]))
"""


def environment(**more: str) -> dict[str, str]:
    paths = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": paths, **more}


def test_a_checked_kernel_notices_every_index_outside_its_arrays(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(OUTSIDE)
    run = subprocess.run(
        [sys.executable, str(tmp_path / "outside.py")], env=environment(PAGEKIN_CHECK_KERNELS="1"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr


def test_a_kernel_is_stale_after_an_edit_in_any_file_that_it_depends_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = tmp_path / "pagekin"
    shutil.copytree(SOURCE / "pagekin", house, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernel_sources, "_HOUSE", house)

    def stamp_after(edited: str = "") -> str:
        if edited:
            with (house / edited).open("a") as file:
                file.write("\n# edited\n")
        kernel_sources.forget_sources()
        return kernel_sources.stamp_sources(house / "hypertext" / "_kernels")

    before = stamp_after()
    # A kernel's own file, a file of the room that gives it constants, and the decorator behind another room's door.
    for dependency in ("hypertext/_kernels/words.py", "hypertext/model.py", "store/kernels.py"):
        after = stamp_after(dependency)
        assert after != before, dependency
        before = after
    for other in ("hypertext/merge.py", "store/kernel_cache.py", "bags/_kernels/merge.py"):
        assert stamp_after(other) == before, other
    kernel_sources.forget_sources()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A small package with a kernel."""
    folder = tmp_path / "here" / "small" / "_kernels"
    folder.mkdir(parents=True)
    (folder / "adding.py").write_text(ADDING)
    (folder / "constants.py").write_text("STEP = 3\n")
    return tmp_path / "here"


def start(place: Path, numbers: list[Any]) -> "subprocess.Popen[str]":
    """Call the package's kernel with numbers in a process of its own, with a user's cache of its own."""
    variables = environment(XDG_CACHE_HOME=str(place.parent / "cache"))
    variables["PYTHONPATH"] = os.pathsep.join([str(place), variables["PYTHONPATH"]])
    command = [sys.executable, "-c", CALLING, json.dumps(numbers)]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: "subprocess.Popen[str]") -> Any:
    """What the kernel returned, and the types for which it had to be compiled."""
    answer, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return json.loads(answer)


def test_compiled_kernels_travel_with_a_copied_package_and_two_processes_may_compile_at_once(package: Path) -> None:
    both = [start(package, [1]), start(package, [1.5])]
    assert [finish(one) for one in both] == [[[4], ["int64"]], [[4.5], ["float64"]]]
    elsewhere = package.parent / "elsewhere"
    shutil.copytree(package, elsewhere)
    for file in elsewhere.rglob("*.py"):
        file.touch()
    shutil.rmtree(package)
    assert finish(start(elsewhere, [1, 1.5])) == [[4, 4.5], []]
    assert not list((package.parent / "cache").rglob("*.kernel")), "the package's own folder is enough"
    # Where that folder cannot be used, the user's takes its place; and what was compiled from other sources is not used.
    (elsewhere / "small/_kernels/constants.py").write_text("STEP = 5\n")
    shutil.rmtree(elsewhere / "small/_kernels/__pycache__")
    (elsewhere / "small/_kernels/__pycache__").write_text("in the way")
    assert finish(start(elsewhere, [1])) == [[6], ["int64"]]
    assert finish(start(elsewhere, [1])) == [[6], []]


@pytest.fixture
def files(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KernelFiles]:
    kept = KernelFiles(package / "small" / "_kernels" / "adding.py", "add")
    kept.write("int64", b"machine code")
    yield kept
    kernel_sources.forget_sources()


def test_a_file_that_is_cut_short_or_damaged_anywhere_is_not_used(files: KernelFiles) -> None:
    path = files.find("int64")
    assert path is not None
    assert files.read("int64") == b"machine code"
    assert files.read("float64") is None
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place])
        assert files.read("int64") is None
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert files.read("int64") is None
    files.write("int64", b"machine code")
    assert files.read("int64") == b"machine code"


def test_code_of_other_sources_is_not_used_and_is_replaced(files: KernelFiles, package: Path) -> None:
    path = files.find("int64")
    (package / "small" / "_kernels" / "constants.py").write_text("STEP = 4\n")
    kernel_sources.forget_sources()
    edited = KernelFiles(package / "small" / "_kernels" / "adding.py", "add")
    assert edited.read("int64") is None
    assert edited.find("int64") is None
    edited.write("int64", b"newer")
    assert edited.find("int64") == path, "what is stale does not stay beside it"
    assert edited.read("int64") == b"newer"
    assert files.read("int64") is None, "a program that runs the older sources does not take it"
