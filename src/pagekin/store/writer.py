"""Writing a `.kin` folder: one writer at a time, all or nothing."""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy.typing as npt

from pagekin.store.arrays import Array, ArrayFile, file_checksum
from pagekin.store.folder import FORMAT, MANIFEST, Kin, KinError, manifest_digest, read_manifest

LOCK = ".lock"
_WORK = ".work-"
_NAME = re.compile(r"[a-z0-9_.]+", re.IGNORECASE)
_OUR_FILE = re.compile(r"[a-z0-9_.]+-[0-9a-f]{12}\.npy", re.IGNORECASE)
_OUR_FOLDER = re.compile(r"[a-z0-9_.]+-[0-9a-f]{12}\.files", re.IGNORECASE)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_part_of_a_build(name: str) -> bool:
    """Whether a file of this name may have been left by a writer that did not come to its end."""
    return name.startswith(_WORK) or bool(_OUR_FILE.fullmatch(name) or _OUR_FOLDER.fullmatch(name))


def is_being_written(path: Path) -> bool:
    """Whether some process holds the folder's lock."""
    try:
        with (path / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


class KinWriter:
    """The one writer of a `.kin` folder.

    Use it as a context: files are created in a work folder inside the `.kin` folder, and `commit` moves them
    beside the old ones and replaces the manifest. Leaving the context without `commit` leaves the folder as
    it was.
    """

    def __init__(self, path: str | os.PathLike[str], purpose: str) -> None:
        self.path = Path(path)
        self._purpose = purpose
        self._open: dict[str, ArrayFile] = {}
        self._folders: dict[str, Path] = {}
        self._lock: IO[str] | None = None
        self._made_folder = False
        self.work = self.path / "unset"

    def __enter__(self) -> Self:
        try:
            self._refuse_foreign_folder()
            self._take_lock()
            try:
                self._remove_leftovers()
                self.work = Path(tempfile.mkdtemp(prefix=_WORK, dir=self.path))
            except BaseException:
                self._release()
                raise
        except OSError as error:
            raise KinError(f"{self.path} cannot be written: {error.strerror}.") from error
        return self

    def _refuse_foreign_folder(self) -> None:
        if self.path.is_dir():
            if (self.path / MANIFEST).exists():
                read_manifest(self.path)  # refuses a newer format rather than overwriting it
            elif any(self._is_foreign(entry.name) for entry in self.path.iterdir()):
                raise KinError(f"{self.path} holds other files; name a new or an empty folder, for example site.kin.")
        elif self.path.exists() or self.path.is_symlink():
            raise KinError(f"{self.path} is a file; name a folder to write to, for example site.kin.")

    def _is_foreign(self, name: str) -> bool:
        """Whether a file in a folder without a manifest is not the rest of a writer that died."""
        return name != LOCK and not ((self.path / LOCK).exists() and is_part_of_a_build(name))

    def _take_lock(self) -> None:
        while True:
            made = not self.path.exists()
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / LOCK).open("a+")
            try:
                # The kernel drops the lock when its holder dies, so a stale one is taken over without
                # guessing.
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read().strip() or "another process"
                lock.close()
                raise KinError(
                    f"{self.path} is being written by {holder}. "
                    "Wait for it to end, or stop it; readers are not affected."
                ) from None
            except OSError:
                lock.close()
                raise
            if _is_same_file(lock, self.path / LOCK):
                break
            lock.close()  # its last holder removed the folder that it had made: begin again
        self._lock, self._made_folder = lock, made
        lock.seek(0)
        lock.truncate()
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        lock.write(f"process {os.getpid()} on {socket.gethostname()} ({self._purpose}) since {since}\n")
        with contextlib.suppress(OSError):  # on a full disk nobody learns who we are, but the lock holds
            lock.flush()

    def create(self, name: str, dtype: npt.DTypeLike) -> ArrayFile:
        """A new array called `name`, to be appended to."""
        self._refuse_name(name)
        self._open[name] = ArrayFile(self.work / f"{name}.npy", dtype)
        return self._open[name]

    def create_folder(self, name: str) -> Path:
        """A new, empty folder called `name`, for plain files that another library writes; no folders inside it.

        Whatever lies in it at `commit` becomes part of the collection.
        """
        self._refuse_name(name)
        folder = self.work / f"{name}.files"
        folder.mkdir()
        self._folders[name] = folder
        return folder

    def _refuse_name(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name}' is no name for an array or a folder: letters, digits, dots and underscores are")
        if name in self._open or name in self._folders:
            raise ValueError(f"{name} is made twice")

    def put(self, name: str, values: Array) -> None:
        """Store `values` whole as the array called `name`."""
        self.create(name, values.dtype).append(values)

    def view(self, facts: Mapping[str, Any], base: Kin | None = None) -> Kin:
        """What was written so far as if it were committed, with the arrays of `base` besides."""
        arrays = dict(base.arrays) if base else {}
        arrays |= {name: array.mapped() for name, array in self._open.items()}
        return Kin(self.path, {"format": FORMAT, "facts": facts, "files": {}}, arrays)

    def commit(
        self, facts: Mapping[str, Any], keep: Mapping[str, Any] | None = None, drop: Collection[str] = ()
    ) -> None:
        """Make all that was created visible at once, with `facts`; `keep` holds old entries to retain.

        Where old arrays are retained, so are the old folders, but for those made anew and those that `drop` names.
        """
        files: dict[str, Any] = dict(keep or {})
        folders: dict[str, Any] = {}
        if keep is not None and (self.path / MANIFEST).exists():
            old = read_manifest(self.path).get("folders", {})
            folders = {name: entry for name, entry in old.items() if name not in drop}
        for name, folder in self._folders.items():
            folders[name] = _finish_folder(folder)
        for name, array in self._open.items():
            files[name] = array.close()
        for name, array in self._open.items():
            array.path.replace(self.path / files[name]["file"])
        for name, folder in self._folders.items():
            self._move_folder(folder, name, folders[name])
        self._open, self._folders = {}, {}
        manifest = {"format": FORMAT, "facts": dict(facts), "files": dict(sorted(files.items()))}
        if folders:
            manifest["folders"] = dict(sorted(folders.items()))
        # Through JSON and back, so that the checksum is over what a reader will see (keys become strings).
        manifest["checksum"] = manifest_digest(json.loads(json.dumps(manifest)))
        fresh = self.work / MANIFEST
        with fresh.open("w", encoding="utf-8", errors="surrogatepass") as file:
            json.dump(manifest, file, indent=1, ensure_ascii=False, sort_keys=True)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(self.path)
        fresh.replace(self.path / MANIFEST)
        _sync_folder(self.path)
        if self._made_folder:
            _sync_folder(self.path.parent)
        self._made_folder = False
        self._remove_unnamed(_names(manifest))

    def _move_folder(self, folder: Path, name: str, entry: dict[str, Any]) -> None:
        """Move a finished folder beside the old ones, under a name that follows from its content and is not taken.

        A folder cannot replace another, and one of the same content may be there: in use, or damaged.
        """
        said = json.dumps(entry["files"], sort_keys=True)
        for attempt in range(100):
            digest = hashlib.blake2b(f"{attempt} {said}".encode(), digest_size=6).hexdigest()
            entry["folder"] = f"{name}-{digest}.files"
            if not (self.path / entry["folder"]).exists():
                break
        folder.rename(self.path / entry["folder"])

    def _remove_leftovers(self) -> None:
        """Remove what a writer that died left behind: we hold the lock, so nobody uses it."""
        for leftover in self.path.glob(f"{_WORK}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        named: set[str] = set()
        if (self.path / MANIFEST).exists():
            named = _names(read_manifest(self.path))
        self._remove_unnamed(named)

    def _remove_unnamed(self, named: set[str]) -> None:
        """Remove our files and folders that no manifest names; open views keep their maps."""
        for file in self.path.glob("*.npy"):
            if file.name not in named and _OUR_FILE.fullmatch(file.name):
                file.unlink(missing_ok=True)
        for folder in self.path.glob("*.files"):
            if folder.name not in named and _OUR_FOLDER.fullmatch(folder.name):
                shutil.rmtree(folder, ignore_errors=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for array in self._open.values():
            array.abandon()
        with contextlib.suppress(KinError, OSError):
            self._remove_leftovers()
        self._release()
        if isinstance(error, OSError) and error.errno in _FULL:
            raise KinError(
                f"{self.path} could not be written: {error.strerror}. It is as it was before; "
                "make room on the disk and run the command again."
            ) from error

    def _release(self) -> None:
        """Give the lock back, and leave no empty folder behind if nothing was committed."""
        if self._lock is None:
            return
        with contextlib.suppress(OSError):
            if self._made_folder:
                (self.path / LOCK).unlink()
                self.path.rmdir()
            else:
                self._lock.seek(0)
                self._lock.truncate()
        with contextlib.suppress(OSError):
            self._lock.close()
        self._lock = None


def _names(manifest: Mapping[str, Any]) -> set[str]:
    """The files and folders that a manifest names."""
    named = {str(entry["file"]) for entry in manifest["files"].values()}
    return named | {str(entry["folder"]) for entry in manifest.get("folders", {}).values()}


def _finish_folder(folder: Path) -> dict[str, Any]:
    """Bring a folder's files to the disk; its manifest entry, but for the name it will have."""
    files = {}
    for file in sorted(folder.iterdir()):
        if file.is_symlink() or not file.is_file():
            raise ValueError(f"{file.name} in {folder.name} is no plain file: a collection's folders hold nothing else")
        file.chmod(folder.stat().st_mode & 0o666)  # some libraries let nobody else read what they write
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
        files[file.name] = {"bytes": file.stat().st_size, "checksum": file_checksum(file)}
    _sync_folder(folder)
    return {"files": files}


def _is_same_file(lock: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _sync_folder(path: Path) -> None:
    """Bring a folder's own entries to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
