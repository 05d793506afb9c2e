"""Keep compiled kernels between runs, in files that travel with the package.

A file lies in the `__pycache__` beside its kernel's source. It is good on every machine with the same processor baseline,
interpreter and numba release, so a wheel or a packed environment can carry it. Where that folder cannot be written, new
files go to the user's cache folder. Its name has a hash of what the machine code is for (`Variant`) and of the types of the
arguments; its head a digest of all sources that it depends on. So no list of files is kept that two processes could write
at the same time, and a file that is stale, cut short or damaged is compiled again and replaced.

Numba's own cache does not notice edits in files that a kernel imports, and numbers the files of a function: two processes
that compile it for other types at once can swap their files.
"""

import hashlib
import os
import pickle
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from pagekin.store.kernel_sources import stamp_sources
from pagekin.store.kernel_types import signature_text

_HEAD = b"pagekin kernel 1\n"
_DIGEST = hashlib.sha256().digest_size
# The features that a level of the x86-64 psABI adds, as LLVM names them.
_LEVELS = {
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
    "x86-64-v2": ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"),
}
CHECKED = os.environ.get("PAGEKIN_CHECK_KERNELS", "") not in ("", "0")
"""Whether kernels check every index, and raise IndexError in place of touching memory that is not theirs."""


class CompiledKernel(NamedTuple):
    """A kernel that had to be compiled, for these types of arguments."""

    module: str
    function: str
    signature: str
    seconds: float
    """Of the processor."""


watchers: list[Callable[[CompiledKernel], None]] = []
"""Functions that are called when a kernel had to be compiled in this process."""


class Variant(NamedTuple):
    """The variant that machine code is compiled for; only code of the same variant may run here."""

    processor: str
    features: str
    system: str
    python: str
    numba: str
    numpy: str
    vector_library: bool
    """Whether numba uses Intel's library of vector functions, which not every machine has."""
    checked: bool


@cache
def processor_baseline() -> str:
    """Return the baseline to compile for, the same on most machines of a kind; empty for a kind without one.

    `NUMBA_CPU_NAME` in the environment names another processor.
    """
    if named := os.environ.get("NUMBA_CPU_NAME"):
        return named
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        from llvmlite import binding

        features, fits = binding.get_host_cpu_features(), "x86-64"
        for level, needed in reversed(_LEVELS.items()):
            if not all(features.get(name) for name in needed):
                break
            fits = level
        return fits
    if machine == "arm64":
        return "apple-m1"
    return "generic" if machine == "aarch64" else ""


@cache
def this_variant() -> Variant:
    """Return the variant that this process compiles kernels for."""
    import llvmlite.binding
    import numba

    processor, features = processor_baseline(), os.environ.get("NUMBA_CPU_FEATURES", "")
    if not processor:
        processor, features = llvmlite.binding.get_host_cpu_name(), _numba("codegen").get_host_cpu_features()
    return Variant(
        processor=processor,
        features=features,
        system=f"{sys.platform}-{platform.machine().lower()}",
        python=f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}",
        numba=f"{numba.__version__}+{llvmlite.__version__}",
        numpy=np.__version__.partition(".")[0],
        vector_library=bool(numba.config.USING_SVML),  # type: ignore[attr-defined]
        checked=CHECKED,
    )


def fix_processor() -> None:
    """Make numba compile for the baseline instead of this processor, in the whole process."""
    if processor_baseline():
        from numba import config

        config.CPU_NAME = processor_baseline()  # type: ignore[attr-defined]
        config.CPU_FEATURES = os.environ.get("NUMBA_CPU_FEATURES", "")  # type: ignore[attr-defined]


class KernelFiles:
    """The cache files of one kernel: their places, names and validity."""

    def __init__(self, source: Path, name: str) -> None:
        self._source, self._name, self._room = source, name, source.parent.parent.name
        # Now, as early as can be: sources that are edited while a program runs are not what it runs.
        self._head = _HEAD + stamp_sources(source.parent).encode() + b"\n"

    def read(self, signature: str) -> bytes | None:
        """Return the cached code of a signature; None if it is missing, stale, truncated or damaged."""
        head = self._head
        for folder in self._folders():
            with suppress(OSError):
                raw = (folder / self._file_name(signature)).read_bytes()
                body = raw[len(head) + _DIGEST :]
                if raw[: len(head) + _DIGEST] == head + hashlib.sha256(body).digest():
                    return body
        return None

    def find(self, signature: str) -> Path | None:
        """Return the file with a signature's current code, judged by its header; None if there is none."""
        head = self._head
        for folder in self._folders():
            path = folder / self._file_name(signature)
            with suppress(OSError), path.open("rb") as file:
                if file.read(len(head)) == head:
                    return path
        return None

    def write(self, signature: str, body: bytes) -> None:
        """Store the code of a signature in the first writable place, if there is one."""
        raw = self._head + hashlib.sha256(body).digest() + body
        for folder in self._folders():
            fresh = folder / f".{uuid4().hex}.tmp"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                fresh.write_bytes(raw)
                fresh.replace(folder / self._file_name(signature))
            except OSError:
                with suppress(OSError):
                    fresh.unlink()
                continue
            return

    def _file_name(self, signature: str) -> str:
        digest = hashlib.sha256(repr((self._room, self._name, signature, *this_variant())).encode()).hexdigest()
        return f"{self._source.stem}.{self._name}-{digest[:20]}.kernel"

    def _folders(self) -> list[Path]:
        """Return the package's own folder, and those of this user that can be trusted: compiled code is run from them."""
        return [self._source.parent / "__pycache__", *_user_folders()]


def writable_folder() -> Path | None:
    """Return a folder where compiled kernels can be kept; None if there is none."""
    for folder in (Path(__file__).parent / "__pycache__", *_user_folders()):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


@cache
def _user_folders() -> tuple[Path, ...]:
    """Return the cache folders outside the package: the configured one, the user's cache, or temporary files."""
    home = os.environ.get("XDG_CACHE_HOME")
    bases = [Path(home) / "pagekin"] if home else []
    if not home:
        with suppress(RuntimeError):  # no home at all
            bases.append(Path("~/.cache").expanduser() / "pagekin")
    bases.append(Path(tempfile.gettempdir()) / f"pagekin-{os.getuid()}")
    if "NUMBA_CACHE_DIR" in os.environ:
        bases.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]) / "pagekin")
    return tuple(base for base in bases if _is_ours(base))


def _is_ours(folder: Path) -> bool:
    """Return whether a folder belongs to this user and others cannot write to it; create it if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        state = folder.stat()
    except OSError:
        return False
    return state.st_uid == os.getuid() and not state.st_mode & 0o002


class KernelCache:
    """The cache that numba asks for a kernel's machine code, and gives new code to."""

    def __init__(self, function: Any) -> None:
        code = function.__code__
        source = Path(code.co_filename)
        # Two functions of one name in one file differ in their code.
        suffix = "" if function.__qualname__ == function.__name__ else f"-{code.co_firstlineno}"
        self.cache_path = str(source.parent / "__pycache__")
        self._module, self._function = function.__module__, function.__name__
        self._files = None if function.__closure__ else KernelFiles(source, function.__name__ + suffix)
        self.seconds: dict[str, float] = {}
        """What it took to compile those that were loaded."""
        self._since: list[float] = []

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return a kernel that was compiled before; None makes numba compile it."""
        from pagekin.store.compiling import compile_once

        # All that machine code needs of numba. What compiling needs, a third of numba's modules, is loaded by the compiler.
        import_module("numba.core.runtime").rtsys.initialize(target)
        types = _argument_types(signature)
        if self._files:
            key = _key(types, target.codegen())
            body = self._files.read(key)
            if body is None and compile_once(self._module, self._function, key):
                body = self._files.read(key)
            if body is not None:
                kept, self.seconds[key], parts = pickle.loads(body)
                if kept == types:
                    return _numba("compiler").CompileResult._rebuild(target, *parts)
        self._since.append(time.process_time())
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a kernel that numba has compiled."""
        types = _argument_types(signature)
        seconds = time.process_time() - self._since.pop() if self._since else 0.0
        for watch in watchers:
            watch(CompiledKernel(self._module, self._function, signature_text(types), seconds))
        if self._files and not compiled.library.has_dynamic_globals:
            self._files.write(
                _key(types, compiled.codegen), _numba("serialize").dumps((types, seconds, compiled._reduce()))
            )

    def flush(self) -> None:
        """Do nothing: numba calls this before recompiling, but the files already detect changed sources."""


def _numba(module: str) -> Any:
    """Return a module of numba's core, which is imported where it is needed, and has no types."""
    return import_module(f"numba.core.{module}")


def _key(types: tuple[Any, ...], codegen: Any) -> str:
    """Return the types as text, with the processor if numba was already set to compile for another one."""
    machine = codegen.magic_tuple()[1:]
    text = signature_text(types)
    return text if machine == this_variant()[:2] else f"{text} for {machine}"


def _argument_types(signature: Any) -> tuple[Any, ...]:
    return tuple(getattr(signature, "args", signature))
