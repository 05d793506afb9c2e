"""Folders that a collection keeps beside its arrays, so that it can be rebuilt, and a list of them.

A list belongs to one manifest and is called by its checksum, so that one rename, that of the manifest, moves both to
their new state. What the folders hold leaves no trace in the manifest: the same collection may keep it divided in any way.
"""

import hashlib
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import msgspec

from pagekin.store.folder import KinError

KEPT = "kept"
"""The folder, inside that of a collection."""
_FOLDER = re.compile(r"part-[0-9a-f]{12}")
_LIST = re.compile(r"[0-9a-f]{32}\.json")
_STEP = 1 << 20

Sums = Mapping[str, tuple[int, int]]
"""The files of a folder: how many bytes each has, and their CRC-32."""


@dataclass(frozen=True)
class KeptFolders:
    """The list of what a collection keeps."""

    about: Mapping[str, Any]
    """What the room that made the folders wants to know of them."""
    folders: Mapping[str, Sums]

    def paths(self, collection: Path) -> list[Path]:
        """Return the paths of the folders."""
        return [collection / KEPT / name for name in sorted(self.folders)]

    @property
    def bytes_on_disk(self) -> int:
        """Return the bytes of all files in the folders."""
        return sum(size for sums in self.folders.values() for size, _checksum in sums.values())


class _StoredList(msgspec.Struct):
    """The required fields of a list."""

    about: dict[str, Any]
    folders: dict[
        Annotated[str, msgspec.Meta(pattern=f"^{_FOLDER.pattern}$")],
        dict[Annotated[str, msgspec.Meta(pattern=r"^[a-z_]+(\.[a-z]+)?$")], tuple[int, int]],
    ]
    checksum: str


def sum_files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the sizes and checksums of the files of a folder."""
    return {file.name: (size := file.stat().st_size, checksum_of(file, size)) for file in sorted(folder.iterdir())}


def checksum_of(file: Path, size: int, progress: Callable[[int], None] = lambda _bytes: None) -> int:
    """Return the CRC-32 of the first bytes of a file; -1 if it has fewer."""
    checksum = 0
    with file.open("rb", buffering=0) as stream:
        while size and (data := stream.read(min(size, _STEP))):
            checksum = zlib.crc32(data, checksum)
            size -= len(data)
            progress(len(data))
    return -1 if size else checksum


def list_file(path: Path, manifest: Mapping[str, Any]) -> Path:
    """Return the path of a manifest's list, if it has one."""
    return path / KEPT / f"{manifest.get('checksum')}.json"


def read_kept(path: Path, manifest: Mapping[str, Any]) -> KeptFolders | None:
    """Return what the collection at `path` keeps, None if that is nothing; raise a KinError if the list is damaged."""
    file = list_file(path, manifest)
    try:
        stored = msgspec.convert(json.loads(file.read_bytes()), _StoredList)
        if stored.checksum != _digest(stored.about, stored.folders):
            raise KinError(f"{file} has changed since it was written. See all of it: pagekin check {path}")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KinError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError):  # msgspec.ValidationError is a ValueError
        raise KinError(f"{file} is damaged. See all of it: pagekin check {path}") from None
    return KeptFolders(stored.about, stored.folders)


def damaged_files(
    path: Path, kept: KeptFolders, progress: Callable[[int], None] = lambda _bytes: None, without: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the files of kept folders that are not as they were written, and what is wrong with each.

    Files with the name `without` are passed over.
    """
    for folder, sums in kept.folders.items():
        for name, (size, checksum) in sums.items():
            if name == without:
                continue
            where = f"{KEPT}/{folder}/{name}"
            try:
                if checksum_of(path / where, size, progress) != checksum:
                    yield where, "has changed since it was written (checksum differs)"
            except OSError as error:
                yield where, f"cannot be read: {error.strerror}"


def other_entries(
    path: Path, manifest: Mapping[str, Any] | None, kept: KeptFolders | None
) -> Iterator[tuple[Path, bool]]:
    """Yield entries among the kept folders that belong to no manifest, and whether a writer may have left them."""
    own = list_file(path, manifest) if manifest else None
    for entry in sorted((path / KEPT).iterdir()):
        if entry != own and (kept is None or entry.name not in kept.folders):
            yield entry, any(pattern.fullmatch(entry.name) for pattern in (_FOLDER, _LIST))


def tidy_kept(path: Path, manifest: Mapping[str, Any] | None) -> None:
    """Remove lists of other manifests, and folders that the list of this one does not name; nothing if that is damaged."""
    if not (path / KEPT).is_dir():
        return
    kept = read_kept(path, manifest) if manifest else None
    for entry, ours in other_entries(path, manifest, kept):
        if ours and entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        elif ours:
            entry.unlink(missing_ok=True)
    if not any((path / KEPT).iterdir()):
        (path / KEPT).rmdir()


def move_folders(folders: list[Path], path: Path, before: KeptFolders | None) -> dict[str, Sums]:
    """Move folders to those that a collection keeps, but for those that it kept `before`; return them as its list names them.

    A folder is called by what it holds, so none takes the place of another that is in use.
    """
    known = before.folders if before else {}
    moved = {folder.name: known[folder.name] for folder in folders if folder.parent == path / KEPT}
    (path / KEPT).mkdir(exist_ok=True)
    for folder in folders:
        if folder.parent == path / KEPT:
            continue
        sums = sum_files(folder)
        name = next(name for name in _names(sums) if name not in moved)
        moved[name] = sums
        if name not in known:
            for file in folder.iterdir():
                sync(file)
            shutil.rmtree(path / KEPT / name, ignore_errors=True)  # a writer that was stopped may have left it
            folder.replace(path / KEPT / name)
    sync(path / KEPT)
    return moved


def _names(sums: Sums) -> Iterator[str]:
    """Yield the names that a folder may have: the first, unless another folder holds the same."""
    for number in count():
        yield f"part-{hashlib.blake2b(json.dumps([sums, number]).encode(), digest_size=6).hexdigest()}"


def write_list(kept: KeptFolders, path: Path, manifest: Mapping[str, Any], work: Path) -> None:
    """Write the list of a manifest that is about to be committed."""
    about = json.loads(json.dumps(kept.about))
    stored = {"about": about, "folders": kept.folders, "checksum": _digest(about, kept.folders)}
    fresh = work / "kept.json"
    fresh.write_text(json.dumps(stored, indent=1), encoding="utf-8")
    sync(fresh)
    (path / KEPT).mkdir(exist_ok=True)
    fresh.replace(list_file(path, manifest))
    sync(path / KEPT)


def _digest(about: Mapping[str, Any], folders: Mapping[str, Sums]) -> str:
    said = json.dumps([about, folders], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(said.encode(), digest_size=16).hexdigest()


def sync(path: Path) -> None:
    """Sync a file, or a folder's own entries, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
