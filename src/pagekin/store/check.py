"""Proving that a `.kin` folder's files are whole."""

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pagekin.store.folder import MANIFEST, KinError, read_manifest
from pagekin.store.writer import LOCK, payload_digest


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, and where."""

    where: str
    what: str


def check_files(path: Path, progress: Callable[[int], None] = lambda _bytes: None) -> Iterator[Finding]:
    """Every file that is missing, of another length, or changed since it was written; stray files too."""
    try:
        manifest = read_manifest(path)
    except KinError as error:
        yield Finding(MANIFEST, str(error))
        return
    for name, entry in manifest["files"].items():
        file = path / entry["file"]
        try:
            size = file.stat().st_size
        except OSError as error:
            yield Finding(entry["file"], f"cannot be read: {error.strerror}")
            continue
        if size != entry["bytes"]:
            yield Finding(entry["file"], f"has {size:,} bytes where the manifest says {entry['bytes']:,}")
            continue
        try:
            array = np.load(file, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as error:
            yield Finding(entry["file"], f"has a damaged header: {error}")
            continue
        if list(array.shape) != entry["shape"] or array.dtype.str != entry["dtype"]:
            yield Finding(entry["file"], f"is not the array '{name}' that the manifest describes")
            continue
        payload = entry["bytes"] - int(np.prod(array.shape)) * array.dtype.itemsize
        if _digest(file, payload, progress) != entry["checksum"]:
            yield Finding(entry["file"], "has changed since it was written (checksum differs)")
    known = {entry["file"] for entry in manifest["files"].values()} | {MANIFEST, LOCK}
    for file in sorted(path.iterdir()):
        if file.name not in known:
            yield Finding(file.name, "is named by no manifest; a stopped build left it, or someone else did")


def _digest(file: Path, start: int, progress: Callable[[int], None]) -> str:
    digest = payload_digest()
    with file.open("rb") as handle:
        handle.seek(start)
        while block := handle.read(mmap.ALLOCATIONGRANULARITY * 256):
            digest.update(block)
            progress(len(block))
    return digest.hexdigest()
