"""Proving that a `.kin` folder's files are whole."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekin.store.arrays import HEADER_BYTES, load_array, payload_digest
from pagekin.store.folder import MANIFEST, KinError, manifest_digest, read_manifest
from pagekin.store.writer import LOCK, is_being_written, is_part_of_a_build

_STEP = 1 << 20


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and where."""

    where: str
    what: str
    leftover: bool = False
    """Whether it is only the rest of a build that was stopped: the collection is whole, and the next writer tidies up."""


def check_files(path: Path, progress: Callable[[int], None] = lambda _bytes: None) -> Iterator[Finding]:
    """Every file that is missing, of another length, or changed since it was written; stray files too.

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
    known = {entry["file"] for entry in manifest["files"].values()} | {MANIFEST, LOCK}
    building = is_being_written(path)
    for file in sorted(path.iterdir()):
        if file.name not in known and not (building and is_part_of_a_build(file.name)):
            what = "is named by no manifest; a stopped build left it, or someone else did"
            yield Finding(file.name, what, is_part_of_a_build(file.name))


def _was_replaced(path: Path, manifest: Mapping[str, Any]) -> bool:
    try:
        return read_manifest(path) != manifest
    except KinError:
        return False


def _what_is_wrong(file: Path, name: str, entry: Mapping[str, Any], progress: Callable[[int], None]) -> str:
    """What is wrong with the file of one entry, or an empty string."""
    try:
        size = file.stat().st_size
        if size != entry["bytes"]:
            return f"has {size:,} bytes where the manifest says {entry['bytes']:,}"
        try:
            load_array(file, entry)
        except ValueError as error:
            return f"does not hold the array '{name}': {error}"
        digest = payload_digest()
        with file.open("rb") as handle:
            handle.seek(HEADER_BYTES)
            while block := handle.read(_STEP):
                digest.update(block)
                progress(len(block))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "" if digest.hexdigest() == entry["checksum"] else "has changed since it was written (checksum differs)"
