"""Kernels are compiled beforehand, by several processes, with progress; once, however many ask for it."""

import fcntl
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pagekin
from pagekin.store import listed_kernels, missing_kernels
from pagekin.store.kernel_types import read_signature, signature_text

SOURCE = Path(pagekin.__file__).parent


def test_every_kernel_of_the_list_exists_and_its_types_can_be_read() -> None:
    assert len(listed_kernels()) > 50
    for kernel in listed_kernels():
        function = getattr(import_module(kernel.module), kernel.function)
        types = read_signature(kernel.signature)
        assert signature_text(types) == kernel.signature
        assert len(types) == function.py_func.__code__.co_argcount, kernel
    assert len({kernel[:3] for kernel in listed_kernels()}) == len(listed_kernels())


def test_what_is_missing_is_compiled_once_with_progress_however_many_ask_for_it(tmp_path: Path) -> None:
    shutil.copytree(SOURCE, tmp_path / "pagekin", ignore=shutil.ignore_patterns("__pycache__"))
    quick = sorted(listed_kernels(), key=lambda kernel: kernel.seconds)[:3]
    lines = ["\t".join(("0.5", *kernel[:3])) for kernel in quick]
    (tmp_path / "pagekin/store/kernel_list.txt").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "pagekin", "compile"]

    def start() -> "subprocess.Popen[str]":
        return subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    (tmp_path / "pagekin/store/__pycache__").mkdir()
    with (tmp_path / "pagekin/store/__pycache__/compiling.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        processes = [start(), start()]
        for process in processes:
            assert process.stderr is not None
            assert "waiting for another process" in process.stderr.readline()
    both = [process.communicate(timeout=120) for process in processes]
    assert sorted(said for said, _progress in both) == ["All kernels are compiled.\n", "Compiled 3 kernels.\n"]
    progress = next(progress for said, progress in both if said.startswith("Compiled"))
    assert "compiling 3 kernels, only this once" in progress
    assert "compiled in 0:" in progress
    assert len(list((tmp_path / "pagekin").glob("*/_kernels/__pycache__/*.kernel"))) >= 3
    assert not list((tmp_path / "cache").rglob("*.kernel"))


LOADS_EACH = """
import os, sys
from importlib import import_module
import pagekin.__main__
from pagekin.store import kernel_cache, listed_kernels
from pagekin.store.kernel_types import read_signature

kernel_cache.watchers.append(lambda compiled: os._exit(1))
every = [(getattr(import_module(one.module), one.function), one.signature) for one in listed_kernels()]
for kernel, signature in every:
    if not os.fork():
        kernel.compile(read_signature(signature))
        os._exit(0)
    if os.wait()[1]:
        print("not loaded:", kernel)
print(*({"numba.np.arraymath", "numba.cpython.unicode"} & set(sys.modules)))
"""
"""Each in a process of its own, so that none depends on what another has loaded."""


@pytest.mark.skipif(bool(missing_kernels()), reason="not all kernels are compiled: pagekin compile")
def test_each_compiled_kernel_is_loaded_without_the_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS_EACH], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
