"""Check that the files of a `.kin` folder are undamaged and its arrays have the right shapes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.store.arrays import file_checksum, load_array
from pagekin.store.folder import MANIFEST, Kin, KinError, manifest_digest, names_in, read_manifest
from pagekin.store.kept import KEPT, damaged_files, list_file, other_entries, read_kept
from pagekin.store.writer import LOCK, is_being_written, is_part_of_a_build

_STEP = 1 << 22


@dataclass(frozen=True)
class Finding:
    """One fault, and its place."""

    where: str
    what: str
    leftover: bool = False
    """Whether it is only the rest of a build that was stopped: the collection is whole, and the next writer tidies up."""
    stray: bool = False
    """Whether it is something that lies there besides what the collection consists of."""


def check_files(
    path: Path, progress: Callable[[int], None] = lambda _bytes: None, contents: bool = True
) -> Iterator[Finding]:
    """Yield every file that is missing, of another length, or changed since it was written; stray files too.

    What a writer is just building does not count as stray. Without `contents` only sizes and headers are checked, in
    time that does not depend on the size of files.
    """
    try:
        manifest = read_manifest(path)
    except KinError as error:
        yield Finding(MANIFEST, str(error))
        return
    if manifest.get("checksum") != manifest_digest(manifest):
        yield Finding(MANIFEST, "has changed since it was written (checksum differs)")
    for name, entry in manifest["files"].items():
        wrong = _what_is_wrong(path / entry["file"], name, entry, progress if contents else None)
        if wrong and _was_replaced(path, manifest):
            if contents:
                yield Finding(MANIFEST, "was replaced by a writer during the check; check again")
            return
        if wrong:
            yield Finding(entry["file"], wrong)
    if not contents:
        return
    known = names_in(manifest) | {MANIFEST, LOCK, KEPT}
    building = is_being_written(path)
    for finding in _check_kept(path, manifest, progress):
        if _was_replaced(path, manifest):
            yield Finding(MANIFEST, "was replaced by a writer during the check; check again")
            return
        if not (building and finding.leftover):
            yield finding
    for file in sorted(path.iterdir()):
        if file.name not in known and not (building and is_part_of_a_build(file.name)):
            what = "is named by no manifest; a stopped build left it, or someone else did"
            yield Finding(file.name, what, is_part_of_a_build(file.name), stray=True)


def _check_kept(path: Path, manifest: Mapping[str, Any], progress: Callable[[int], None]) -> Iterator[Finding]:
    """Yield what is wrong with the folders that a collection keeps, and stray files among them."""
    if not (path / KEPT).is_dir():
        return
    try:
        kept = read_kept(path, manifest)
    except KinError as error:
        yield Finding(f"{KEPT}/{list_file(path, manifest).name}", str(error))
        return
    for where, what in damaged_files(path, kept, progress) if kept else ():
        yield Finding(where, what)
    for entry, ours in other_entries(path, manifest, kept):
        what = "is named by no list; a stopped build left it, or someone else did"
        yield Finding(f"{KEPT}/{entry.name}", what, ours, stray=True)


def _was_replaced(path: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return read_manifest(path) != manifest
    except KinError:
        return False


def _what_is_wrong(file: Path, name: str, entry: Mapping[str, Any], progress: Callable[[int], None] | None) -> str:
    """Return what is wrong with the file of one entry, or an empty string; without `progress`, by its size and header."""
    try:
        size = file.stat().st_size
        if size != entry["bytes"]:
            return f"has {size:,} bytes where the manifest says {entry['bytes']:,}"
        load_array(file, entry)
        if progress and file_checksum(file, progress) != entry["checksum"]:
            return "has changed since it was written (checksum differs)"
    except ValueError as error:
        return f"does not hold the array '{name}': {error}"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def check_shapes(
    kin: Kin, part: str, lengths: Mapping[str, int], ends: Mapping[str, int], limits: Mapping[str, int],
    rising: Iterable[str] = (),
) -> Iterator[Finding]:  # fmt: skip
    """Yield what is wrong with the arrays of one part of a collection.

    `lengths` is how long each array is; those in `ends` run from 0 to a number and never fall, all values of those in
    `limits` lie below a number, and those in `rising` rise everywhere.
    """
    for name, length in lengths.items():
        if name not in kin:
            yield Finding(name, f"is missing from the {part}")
        elif len(kin[name]) != length:
            yield Finding(name, f"has {len(kin[name]):,} entries where {length:,} belong")
    for name, end in ends.items():
        if name not in kin or not len(kin[name]):
            continue
        if int(kin[name][0]) != 0 or int(kin[name][-1]) != end:
            yield Finding(name, f"does not run from 0 to {end:,}")
        elif bool(np.any(kin[name][1:] < kin[name][:-1])):
            yield Finding(name, "falls somewhere; offsets only rise")
    for name in rising:
        if name in kin and bool(np.any(kin[name][1:] <= kin[name][:-1])):
            yield Finding(name, "does not rise everywhere")
    for name, limit in limits.items():
        if name in kin and any(
            bool(np.any(kin[name][start : start + _STEP] >= limit)) for start in range(0, len(kin[name]), _STEP)
        ):
            yield Finding(name, f"refers to a number beyond the last, {limit - 1:,}")
