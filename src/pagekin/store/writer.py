"""Writing a `.kin` folder: one writer at a time, all or nothing."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

from pagekin.store.folder import FORMAT, MANIFEST, Array, KinError, read_manifest

LOCK = ".lock"
_HEADER_BYTES = 128  # a .npy header of fixed size, so that it can be filled in when the length is known


def smallest_uint(largest: int) -> np.dtype[Any]:
    """The smallest unsigned type that holds `largest`; stored arrays use it so that small collections stay small."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if largest <= np.iinfo(kind).max:
            return np.dtype(kind)
    return np.dtype(np.uint64)


def payload_digest() -> "hashlib._Hash":
    """The checksum that the manifest holds for every file, over the array's bytes without the .npy header."""
    return hashlib.blake2b(digest_size=16)


class ArrayFile:
    """A one-dimensional `.npy` file that grows by appending, with a running checksum."""

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        self.path = path
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.length = 0
        self._digest = payload_digest()
        self._file: IO[bytes] = path.open("wb")
        self._file.write(b"\0" * _HEADER_BYTES)

    def append(self, values: Array | bytes) -> None:
        """Add `values` at the end; they must fit the file's type."""
        if isinstance(values, bytes):
            data, count = memoryview(values), len(values) // self.dtype.itemsize
        else:
            array = np.ascontiguousarray(values, dtype=self.dtype)
            data, count = memoryview(array.view(np.uint8)), array.size
        self._digest.update(data)
        self._file.write(data)
        self.length += count

    def close(self) -> dict[str, Any]:
        """Finish the header, bring everything to the disk, and give the file's manifest entry."""
        described = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': ({self.length},), }}"
        header = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
        header += described.encode().ljust(_HEADER_BYTES - 11) + b"\n"
        self._file.seek(0)
        self._file.write(header)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return {
            "dtype": self.dtype.str,
            "shape": [self.length],
            "bytes": _HEADER_BYTES + self.length * self.dtype.itemsize,
            "checksum": self._digest.hexdigest(),
        }

    def abandon(self) -> None:
        """Close without finishing."""
        self._file.close()


class KinWriter:
    """The one writer of a `.kin` folder.

    Use it as a context: files are created in a work folder inside the `.kin` folder, and `commit` moves them beside
    the old ones and replaces the manifest. Leaving the context without `commit` leaves the folder as it was.
    """

    def __init__(self, path: str | os.PathLike[str], purpose: str) -> None:
        self.path = Path(path)
        self._purpose = purpose
        self._open: dict[str, ArrayFile] = {}
        self._lock: IO[str] | None = None
        self._made_folder = False
        self.work = self.path / "unset"

    def __enter__(self) -> Self:
        self._refuse_foreign_folder()
        self._made_folder = not self.path.exists()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise KinError(f"{self.path} cannot be made: {error.strerror}.") from error
        self._take_lock()
        for leftover in self.path.glob(
            ".work-*"
        ):  # of a writer that died: we hold the lock, so nobody uses it
            shutil.rmtree(leftover, ignore_errors=True)
        self.work = Path(tempfile.mkdtemp(prefix=".work-", dir=self.path))
        return self

    def _refuse_foreign_folder(self) -> None:
        if self.path.is_file():
            raise KinError(f"{self.path} is a file; name a folder to write to, for example site.kin.")
        if self.path.is_dir():
            if (self.path / MANIFEST).exists():
                read_manifest(self.path)  # refuses a newer format rather than overwriting it
            elif any(not entry.name.startswith(".") for entry in self.path.iterdir()):
                raise KinError(
                    f"{self.path} holds other files; name a new or an empty folder, for example site.kin."
                )

    def _take_lock(self) -> None:
        try:
            lock = (self.path / LOCK).open("a+")
        except OSError as error:
            raise KinError(f"{self.path} cannot be written: {error.strerror}.") from error
        try:
            # The kernel drops the lock when its holder dies, so a stale one is taken over without guessing.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read().strip() or "another process"
            lock.close()
            raise KinError(
                f"{self.path} is being written by {holder}. Wait for it to end, or stop it; readers are not affected."
            ) from None
        lock.seek(0)
        lock.truncate()
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        lock.write(f"process {os.getpid()} on {socket.gethostname()} ({self._purpose}) since {since}\n")
        lock.flush()
        self._lock = lock

    def create(self, name: str, dtype: npt.DTypeLike) -> ArrayFile:
        """A new array called `name`, to be appended to."""
        if name in self._open:
            raise ValueError(f"array {name} is made twice")
        self._open[name] = ArrayFile(self.work / f"{name}.npy", dtype)
        return self._open[name]

    def put(self, name: str, values: Array) -> None:
        """Store `values` whole as the array called `name`."""
        self.create(name, values.dtype).append(values)

    def commit(self, facts: Mapping[str, Any], keep: Mapping[str, Any] | None = None) -> None:
        """Make everything created since entering visible at once, with `facts`; `keep` names old entries to retain."""
        files: dict[str, Any] = dict(keep or {})
        for name, array in self._open.items():
            entry = array.close()
            entry["file"] = f"{name}-{entry['checksum'][:12]}.npy"
            files[name] = entry
        for name in self._open:
            (self.work / f"{name}.npy").replace(self.path / files[name]["file"])
        self._open = {}
        manifest = {"format": FORMAT, "facts": facts, "files": dict(sorted(files.items()))}
        fresh = self.work / MANIFEST
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(manifest, file, indent=1, ensure_ascii=False, sort_keys=True)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(self.path)
        fresh.replace(self.path / MANIFEST)
        _sync_folder(self.path)
        self._made_folder = False
        self._remove_unnamed({entry["file"] for entry in files.values()})

    def _remove_unnamed(self, named: set[str]) -> None:
        """Remove the array files that no manifest names; open views keep their maps."""
        for file in self.path.glob("*.npy"):
            if file.name not in named:
                file.unlink(missing_ok=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for array in self._open.values():
            array.abandon()
        shutil.rmtree(self.work, ignore_errors=True)
        if kind is not None and (self.path / MANIFEST).exists():
            with contextlib.suppress(KinError):
                manifest = read_manifest(self.path)
                self._remove_unnamed({entry["file"] for entry in manifest["files"].values()})
        if self._lock is not None:
            if self._made_folder:  # nothing was committed: leave no empty folder behind
                shutil.rmtree(self.path, ignore_errors=True)
            else:
                self._lock.seek(0)
                self._lock.truncate()
            self._lock.close()


def _sync_folder(path: Path) -> None:
    """Bring a folder's own entries to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
