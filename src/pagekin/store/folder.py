"""Read a `.kin` folder: the manifest and its memory-mapped arrays."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from pagekin.errors import PagekinError
from pagekin.store.arrays import Array, load_array

FORMAT = 2
MANIFEST = "manifest.json"
SHARDS = "shards"
"""The fact that lists the shards of a collection, each a `.kin` folder inside its folder."""
MOST_SHARDS = 1_000
"""The most shards of one collection."""

DELTA = "delta"
"""The fact that names the delta of a collection, a `.kin` folder inside its folder, with what was updated since."""


class KinError(PagekinError):
    """A `.kin` folder that cannot be used as asked; the message says what to do."""


@dataclass(frozen=True)
class Kin:
    """One consistent view of a `.kin` folder.

    All arrays are mapped when the folder is opened (a few dozen `mmap` calls, whatever the collection's
    size), so a later commit by a writer never changes what this view shows.
    """

    path: Path
    manifest: Mapping[str, Any]
    arrays: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        """Return the array called `name`."""
        try:
            return self.arrays[name]
        except KeyError:
            raise KinError(
                f"{self.path} holds no '{name}': an earlier Pagekin made it. "
                f"Make it again: pagekin build SOURCE... --out {self.path}"
            ) from None

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return the facts that builds stored: counts, settings, seeds, skipped records."""
        facts: Mapping[str, Any] = self.manifest["facts"]
        return facts

    @property
    def bytes_on_disk(self) -> dict[str, int]:
        """Return the bytes of each array's file."""
        return {name: int(entry["bytes"]) for name, entry in self.manifest["files"].items()}


class _Entry(msgspec.Struct):
    """An array whose file lies in the folder itself."""

    file: Annotated[str, msgspec.Meta(pattern=r"^(?!\.{1,2}$)[^/]+$")]
    dtype: str
    checksum: str
    bytes: int
    shape: tuple[Annotated[int, msgspec.Meta(ge=0)]]


class _Manifest(msgspec.Struct):
    """The required fields of a manifest."""

    format: Annotated[int, msgspec.Meta(ge=1)]
    facts: dict[str, Any]
    files: dict[str, _Entry]


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of the folder at `path`, or raise a KinError that says what is wrong with it."""
    try:
        raw = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        if path.is_dir():
            raise KinError(
                f"{path} is not a finished Pagekin collection (it has no {MANIFEST}). "
                f"Make one with: pagekin build SOURCE... --out {path}"
            ) from None
        raise KinError(f"{path} does not exist. Make it with: pagekin build SOURCE... --out {path}") from None
    except NotADirectoryError:
        raise KinError(f"{path} is a file; a Pagekin collection is a folder made by `pagekin build`.") from None
    except OSError as error:
        raise KinError(f"{path / MANIFEST} cannot be read: {error.strerror}.") from error
    return parse_manifest(raw, path)


def parse_manifest(raw: bytes, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Parse the bytes of a manifest, or raise a KinError that says what is wrong with them."""
    damaged = f"{os.fspath(path)}/{MANIFEST} is damaged. Read the sources again into a new folder."
    try:
        manifest: dict[str, Any] = json.loads(raw)
        kin_format = int(manifest["format"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise KinError(damaged) from None
    if kin_format > FORMAT:  # asked first: a newer format may look different in every other way
        raise KinError(
            f"{path} has format {kin_format}, and this Pagekin reads up to format {FORMAT}. "
            "Upgrade Pagekin, or read the sources again with this one."
        )
    try:
        msgspec.convert(manifest, _Manifest)
    except msgspec.ValidationError:
        raise KinError(damaged) from None
    return manifest


def names_in(manifest: Mapping[str, Any]) -> set[str]:
    """Return the files, shards and delta that a manifest names, and folders that an earlier version kept, now unread."""
    folders = manifest.get("folders")
    entries = folders.values() if isinstance(folders, dict) else ()
    former = {str(entry.get("folder")) for entry in entries if isinstance(entry, dict)}
    shards = {str(entry["folder"]) for entry in manifest["facts"].get(SHARDS, ())}
    if delta := manifest["facts"].get(DELTA):
        shards.add(str(delta["folder"]))
    return former | shards | {str(entry["file"]) for entry in manifest["files"].values()}


def make_manifest(facts: Mapping[str, Any], files: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of a collection with these facts and files."""
    manifest = {"format": FORMAT, "facts": dict(facts), "files": dict(sorted(files.items()))}
    # Through JSON and back, so that the checksum is over what a reader will see (keys become strings).
    return {**manifest, "checksum": manifest_digest(json.loads(json.dumps(manifest)))}


def pack_manifest(manifest: Mapping[str, Any]) -> bytes:
    """Return a manifest as bytes."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    return text.encode("utf-8", "surrogatepass")


def manifest_digest(manifest: Mapping[str, Any]) -> str:
    """Return the checksum of a manifest, over everything but the checksum itself."""
    said = {key: value for key, value in manifest.items() if key != "checksum"}
    text = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _map_array(path: Path, name: str, entry: Mapping[str, Any]) -> Array:
    file = path / entry["file"]
    try:
        return load_array(file, entry)
    except FileNotFoundError:
        raise
    except (ValueError, OSError, EOFError) as error:
        raise KinError(f"{file} ('{name}') is damaged: {error}. Run: pagekin check {path}") from error


def open_kin(path: str | os.PathLike[str]) -> Kin:
    """Open a read-only view of the folder at `path`, in time that does not depend on the collection's size."""
    folder = Path(path)
    for _attempt in range(5):
        manifest = read_manifest(folder)
        try:
            arrays = {name: _map_array(folder, name, entry) for name, entry in manifest["files"].items()}
        except FileNotFoundError as error:
            missing = error
            continue  # a writer replaced the manifest between our two reads: look again
        return Kin(folder, manifest, arrays)
    raise KinError(
        f"{folder} lacks {Path(missing.filename).name}, which its manifest names. Run: pagekin check {folder}"
    )
