"""Check that the files of a `.kin` folder are whole."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekin.store.arrays import HEADER_BYTES, file_checksum, load_array
from pagekin.store.folder import MANIFEST, KinError, former_folders, manifest_digest, read_manifest
from pagekin.store.writer import LOCK, is_being_written, is_part_of_a_build


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and where."""

    where: str
    what: str
    leftover: bool = False
    """Whether it is only the rest of a build that was stopped: the collection is whole, and the next writer tidies up."""
    stray: bool = False
    """Whether it is something that lies there besides what the collection consists of."""


def check_files(path: Path, progress: Callable[[int], None] = lambda _bytes: None) -> Iterator[Finding]:
    """Yield every file that is missing, of another length, or changed since it was written; stray files too.

    What a writer is just building does not count as stray.
    """
    try:
        manifest = read_manifest(path)
    except KinError as error:
        yield Finding(MANIFEST, str(error))
        return
    if manifest.get("checksum") != manifest_digest(manifest):
        yield Finding(MANIFEST, "has changed since it was written (checksum differs)")
    for name, entry in manifest["files"].items():
        wrong = _what_is_wrong(path / entry["file"], name, entry, progress)
        if wrong and _was_replaced(path, manifest):
            yield Finding(MANIFEST, "was replaced by a writer during the check; check again")
            return
        if wrong:
            yield Finding(entry["file"], wrong)
    known = {entry["file"] for entry in manifest["files"].values()} | former_folders(manifest) | {MANIFEST, LOCK}
    building = is_being_written(path)
    for file in sorted(path.iterdir()):
        if file.name not in known and not (building and is_part_of_a_build(file.name)):
            what = "is named by no manifest; a stopped build left it, or someone else did"
            yield Finding(file.name, what, is_part_of_a_build(file.name), stray=True)


def check_sizes(path: Path) -> Iterator[Finding]:
    """Yield every file that is missing, of another length, or that does not begin as the manifest says.

    In time that does not depend on the size of files: what has changed inside them `check_files` finds.
    """
    try:
        manifest = read_manifest(path)
    except KinError as error:
        yield Finding(MANIFEST, str(error))
        return
    findings: list[Finding] = []
    if manifest.get("checksum") != manifest_digest(manifest):
        findings.append(Finding(MANIFEST, "has changed since it was written (checksum differs)"))
    for name, entry in manifest["files"].items():
        if wrong := _looks_wrong(path / entry["file"], name, entry):
            findings.append(Finding(entry["file"], wrong))
    if not _was_replaced(path, manifest):
        yield from findings


def _was_replaced(path: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return read_manifest(path) != manifest
    except KinError:
        return False


def _what_is_wrong(file: Path, name: str, entry: Mapping[str, Any], progress: Callable[[int], None]) -> str:
    """Return what is wrong with the file of one entry, or an empty string."""
    if wrong := _looks_wrong(file, name, entry):
        return wrong
    try:
        checksum = file_checksum(file, progress, HEADER_BYTES)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if checksum == entry["checksum"] else "has changed since it was written (checksum differs)"


def _looks_wrong(file: Path, name: str, entry: Mapping[str, Any]) -> str:
    """Return what is wrong with the file of one entry by its size and header, or an empty string."""
    try:
        size = file.stat().st_size
        if size != entry["bytes"]:
            return f"has {size:,} bytes where the manifest says {entry['bytes']:,}"
        try:
            load_array(file, entry)
        except ValueError as error:
            return f"does not hold the array '{name}': {error}"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""
