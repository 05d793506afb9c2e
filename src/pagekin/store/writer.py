"""Write a `.kin` folder: one writer at a time, all or nothing."""

import contextlib
import fcntl
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy.typing as npt

from pagekin.errors import PagekinError
from pagekin.store.arrays import Array, ArrayFile
from pagekin.store.disk import DiskFullError, describe_full, is_full
from pagekin.store.folder import FORMAT, MANIFEST, Kin, KinError, make_manifest, names_in, pack_manifest, read_manifest
from pagekin.store.kept import KEPT, KeptFolders, list_file, move_folders, read_kept, sync, tidy_kept, write_list
from pagekin.store.memory import NO_LIMIT, MemoryBudget

LOCK = ".lock"
_WORK = ".work-"
_SYNCED = 8
"""Files that are brought to the disk at a time."""
RESUME = ".resume"
"""The folder inside a collection with what a later writer may go on from."""
_COMMITTED = "committed"
"""The file in that folder with the manifest that was about to be committed: if it is the collection's, nobody goes on."""
_NAME = re.compile(r"[a-z0-9_.]+", re.IGNORECASE)
_OURS = re.compile(r"[a-z0-9_.-]+-[0-9a-f]{12}\.(npy|files|kin)", re.IGNORECASE)
"""Names of arrays' files, of shards, and of the folders of plain files that earlier versions kept in collections."""


def is_part_of_a_build(name: str) -> bool:
    """Return whether a file of this name may be left from an interrupted writer."""
    return name.startswith(_WORK) or name in (RESUME, KEPT) or _OURS.fullmatch(name) is not None


def can_be_resumed(path: Path) -> bool:
    """Return whether an interrupted writer left something to resume from."""
    return (path / RESUME).exists()


def is_being_written(path: Path) -> bool:
    """Return whether some process holds the folder's lock."""
    try:
        with (path / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


class KinWriter:
    """The one writer of a `.kin` folder.

    Use it as a context: files are created in a work folder inside the `.kin` folder, and `commit` moves them
    beside the old ones and replaces the manifest. Leaving the context without `commit` leaves the folder as
    it was, but for the folder that `resume_folder` gives.
    """

    def __init__(self, path: str | os.PathLike[str], purpose: str, memory: MemoryBudget = NO_LIMIT) -> None:
        """Open a folder for writing, with a `memory` limit for stages that use the writer's workspace."""
        self.path = Path(path)
        self.memory = memory
        self._purpose = purpose
        self._open: dict[str, ArrayFile] = {}
        self._lock: IO[str] | None = None
        self._made_folder = False
        self._resumes = self._committed = False
        self._kept: tuple[Mapping[str, Any], list[Path]] | None = None
        self._kept_changes: Mapping[str, Any] = {}
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
            if is_full(error):
                if self._is_scratch:
                    raise
                raise DiskFullError(f"{self.path} cannot be written: {describe_full(error, self.path)}.") from error
            raise KinError(f"{self.path} cannot be written: {error.strerror}.") from error
        return self

    @property
    def _is_scratch(self) -> bool:
        """Return whether the folder is in the work folder of another writer, which says what to do about a full disk."""
        return any(part.startswith(_WORK) for part in self.path.parts)

    def _refuse_foreign_folder(self) -> None:
        if self.path.is_dir():
            if (self.path / MANIFEST).exists():
                read_manifest(self.path)  # refuses a newer format rather than overwriting it
            elif any(self._is_foreign(entry.name) for entry in self.path.iterdir()):
                raise KinError(f"{self.path} holds other files; name a new or an empty folder, for example site.kin.")
        elif self.path.exists() or self.path.is_symlink():
            raise KinError(f"{self.path} is a file; name a folder to write to, for example site.kin.")

    def _is_foreign(self, name: str) -> bool:
        """Return whether a file, in a folder without a manifest, does not come from a dead writer."""
        return name != LOCK and not ((self.path / LOCK).exists() and is_part_of_a_build(name))

    def _take_lock(self) -> None:
        while True:
            is_new = not self.path.exists()
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / LOCK).open("a+")
            try:
                # The kernel drops the lock when its holder dies, so a stale one is taken over without guessing.
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
        # What an earlier writer of the same collection made, and left to be resumed, is ours to remove.
        is_new = is_new or (can_be_resumed(self.path) and not (self.path / MANIFEST).exists())
        self._lock, self._made_folder = lock, is_new
        lock.seek(0)
        lock.truncate()
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        lock.write(f"process {os.getpid()} on {socket.gethostname()} ({self._purpose}) since {since}\n")
        with contextlib.suppress(OSError):  # on a full disk nobody learns who we are, but the lock holds
            lock.flush()

    def resume_folder(self) -> Path:
        """Return the folder of data to resume from; an earlier writer may have left something there.

        It outlives this writer if that is killed, interrupted, or fails for a reason that may pass. A commit removes it.
        """
        self._resumes = True
        folder = self.path / RESUME
        folder.mkdir(exist_ok=True)
        return folder

    def create(self, name: str, dtype: npt.DTypeLike) -> ArrayFile:
        """Create an array called `name`, to be appended to."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"'{name}' is no name for an array: letters, digits, dots and underscores are")
        if name in self._open:
            raise ValueError(f"{name} is made twice")
        self._open[name] = ArrayFile(self.work / f"{name}.npy", dtype)
        return self._open[name]

    def put(self, name: str, values: Array) -> None:
        """Store `values` whole as the array called `name`."""
        self.create(name, values.dtype).append(values)

    def adopt(self, folder: Path, name: str) -> None:
        """Move a folder from the work folder into the collection's; it belongs to it if the facts of the commit name it."""
        shutil.rmtree(self.path / name, ignore_errors=True)
        folder.replace(self.path / name)

    def keep(self, about: Mapping[str, Any], folders: list[Path]) -> None:
        """Let the next commit keep these folders, some of which may be kept already, and what is said `about` them."""
        self._kept = about, folders

    def forget_kept(self) -> None:
        """Undo `keep`."""
        self._kept = None

    def note_kept(self, changes: Mapping[str, Any]) -> None:
        """Let the next commit change what is said about the folders that the collection keeps, if it keeps some."""
        self._kept_changes = changes

    def view(self, facts: Mapping[str, Any], base: Kin | None = None) -> Kin:
        """Return a view of what was written so far, as if it were committed, with the arrays of `base`."""
        arrays = dict(base.arrays) if base else {}
        arrays |= {name: array.mapped() for name, array in self._open.items()}
        return Kin(self.path, {"format": FORMAT, "facts": facts, "files": {}}, arrays)

    def commit(self, facts: Mapping[str, Any], keep: Mapping[str, Any] | None = None) -> None:
        """Make everything that was created visible at once, with `facts`; `keep` lists old entries to retain.

        With `keep`, the collection goes on keeping the folders that it was made of, too.
        """
        files: dict[str, Any] = dict(keep or {})
        for name, array in self._open.items():
            files[name] = array.finish()
        with ThreadPoolExecutor(_SYNCED) as pool:  # the disk takes many at once, and about as long as for one
            list(pool.map(ArrayFile.close, self._open.values()))
        for name, array in self._open.items():
            array.path.replace(self.path / files[name]["file"])
        self._open = {}
        manifest = make_manifest(facts, files)
        self._commit_kept(manifest, keep is not None)
        self.commit_manifest(pack_manifest(manifest))

    def refuse_to_lose_kept(self) -> None:
        """Refuse a collection that keeps folders beside its arrays, because a build elsewhere would lose them."""
        if (self.path / MANIFEST).exists() and read_kept(self.path, read_manifest(self.path)):
            raise KinError(
                f"{self.path} is updatable or leaves addresses out, and replacing it by one built elsewhere "
                "would lose that. It is left as it was; name another place with --out."
            )

    def commit_manifest(self, manifest: bytes) -> None:
        """Make the files that a manifest names visible at once: all of them are in the folder already."""
        fresh = self.work / MANIFEST
        if self._resumes and can_be_resumed(self.path):
            (self.path / RESUME / _COMMITTED).write_bytes(manifest)
        with fresh.open("wb") as file:
            file.write(manifest)
            file.flush()
            os.fsync(file.fileno())
        sync(self.path)
        fresh.replace(self.path / MANIFEST)
        sync(self.path)
        if self._made_folder:
            sync(self.path.parent)
        self._made_folder = False
        self._committed = True

    def _commit_kept(self, manifest: Mapping[str, Any], renewed: bool) -> None:
        """Write the list of what the collection of a manifest keeps; the manifest takes its place next."""
        before = read_kept(self.path, read_manifest(self.path)) if (self.path / MANIFEST).exists() else None
        if self._kept:
            about, folders = self._kept
            kept = KeptFolders(about, move_folders(folders, self.path, before))
        elif renewed and before:
            kept = KeptFolders({**before.about, **self._kept_changes}, before.folders)
        else:
            list_file(self.path, manifest).unlink(
                missing_ok=True
            )  # of the same collection, which kept something so far
            return
        write_list(kept, self.path, manifest, self.work)

    def _remove_leftovers(self) -> None:
        """Remove what no manifest names: we hold the lock, so no writer uses it, and open views keep their maps."""
        manifest = read_manifest(self.path) if (self.path / MANIFEST).exists() else None
        named = names_in(manifest) if manifest else set()
        with contextlib.suppress(OSError):  # there is none, unless a writer was killed right after its commit
            if (self.path / RESUME / _COMMITTED).read_bytes() == (self.path / MANIFEST).read_bytes():
                shutil.rmtree(self.path / RESUME, ignore_errors=True)
        with contextlib.suppress(KinError):  # a damaged list names nothing, and its folders may be of use
            tidy_kept(self.path, manifest)
        for entry in self.path.iterdir():
            if entry.name in named or entry.name in (RESUME, KEPT) or not is_part_of_a_build(entry.name):
                continue
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for array in self._open.values():
            array.abandon()
        with contextlib.suppress(KinError, OSError):
            self._remove_leftovers()
        self._leave_resume_folder(error)
        kept = self._resumes and can_be_resumed(self.path)
        self._release()
        if is_full(error) and not self._is_scratch:
            raise DiskFullError(
                f"{self.path} could not be written: {describe_full(error, self.path)}. It is as it was before; "
                "make room on the disk and run the command again."
                + (" It continues from what was read, which is kept." if kept else "")
            ) from error

    def _leave_resume_folder(self, error: BaseException | None) -> None:
        """Remove the folder of data to resume from, unless it is not empty and a later writer may use it."""
        if not self._resumes:
            return
        folder = self.path / RESUME
        if self._committed or error is None or _is_final(error):
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.rmdir()

    def _release(self) -> None:
        """Release the lock, and remove an empty folder if nothing was committed."""
        if self._lock is None:
            return
        with contextlib.suppress(OSError):
            if self._made_folder and not can_be_resumed(self.path):
                (self.path / LOCK).unlink()
                self.path.rmdir()
            else:
                self._lock.seek(0)
                self._lock.truncate()
        with contextlib.suppress(OSError):
            self._lock.close()
        self._lock = None


def _is_final(error: BaseException) -> bool:
    """Return whether the same command would fail again, because its input or options are wrong."""
    return isinstance(error, PagekinError) and error.fault != "ours" and not error.may_pass


def _is_same_file(lock: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(lock.fileno()), path.stat())
    except FileNotFoundError:
        return False
