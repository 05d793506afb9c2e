"""Copy a collection to a shared disk or an object store, and back.

All files but the manifest have names that carry a digest of what they hold, so that whoever copies them a second time copies
the same bytes. The manifest comes last: until then readers have the collection that was there before.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagekin.store.batches import Progress, no_progress
from pagekin.store.check import check_files
from pagekin.store.disk import temporary_folder
from pagekin.store.folder import MANIFEST, SHARDS, KinError, names_in, parse_manifest, read_manifest
from pagekin.store.storage import MissingFileError, Storage, is_remote
from pagekin.store.writer import LOCK, KinWriter, is_part_of_a_build


def upload_files(folder: Path, address: str) -> None:
    """Copy all files of a collection but its manifest; nobody sees them until `put_manifest`."""
    for name in sorted(names_in(read_manifest(folder))):
        if (folder / name).is_dir():
            upload_shard(folder / name, address)
        else:
            Storage(address).upload(folder / name, name)


def upload_shard(shard: Path, address: str) -> None:
    """Move a shard into the collection at an address, or copy it if they are on different disks."""
    if _move(shard, f"{address}/{shard.name}"):
        return
    target = Storage(address)
    for file in sorted(shard.iterdir()):
        if file.name != LOCK:
            target.upload(file, f"{shard.name}/{file.name}")


def put_manifest(address: str, manifest: bytes) -> None:
    """Make the files that a manifest names the collection at an address, and remove those of the one before."""
    target = Storage(address)
    target.write(MANIFEST, manifest)
    named = names_in(parse_manifest(manifest, address))
    for name in target.names():
        first = name.partition("/")[0]
        if first not in named and is_part_of_a_build(first):
            target.remove(name)


def publish(folder: Path, address: str) -> None:
    """Copy a collection to an address, replacing what is there."""
    upload_files(folder, address)
    put_manifest(address, (folder / MANIFEST).read_bytes())


def hand_over(folder: Path, address: str) -> None:
    """Move a collection to a new address, or copy it if they are on different disks."""
    if not _move(folder, address):
        publish(folder, address)


def _move(folder: Path, address: str) -> bool:
    """Move a folder to an address; return whether that can be done, at once and without copying."""
    if is_remote(address):
        return False
    (folder / LOCK).unlink(missing_ok=True)
    try:
        Path(address).parent.mkdir(parents=True, exist_ok=True)
        folder.rename(address)
    except OSError:  # another disk, or another attempt was here before
        return False
    return True


@contextlib.contextmanager
def on_this_machine(address: str) -> Iterator[Path]:
    """Yield the folder of a collection: its own on a disk, or else a temporary copy."""
    if not is_remote(address):
        yield Path(address)
        return
    with temporary_folder("copy") as folder:
        fetch(address, folder / "copy.kin")
        yield folder / "copy.kin"


def fetch(address: str, out: Path, shard: int | None = None, progress: Progress = no_progress) -> None:
    """Copy a collection, or one of its shards, to this machine: one commit, and every file is checked."""
    source = Storage(address)
    raw, manifest = _read_remote(source)
    if shard is not None:
        folders = [str(entry["folder"]) for entry in manifest["facts"].get(SHARDS, ())]
        if not 0 <= shard < len(folders):
            has = f"{len(folders):,} shards, from 0" if folders else "no shards"
            raise KinError(f"{address} has {has}; there is no shard {shard}.")
        source = Storage(f"{address.rstrip('/')}/{folders[shard]}")
        raw, manifest = _read_remote(source)
    named = names_in(manifest)
    wanted = [name for name in source.names() if name.partition("/")[0] in named]
    if missing := named - {name.partition("/")[0] for name in wanted}:
        raise KinError(f"{source.address} lacks {min(missing)}, which its manifest names. Nothing was changed here.")
    with KinWriter(out, "pagekin fetch") as writer:
        writer.refuse_to_lose_kept()
        copy = writer.work / "copy"
        copy.mkdir()
        for number, name in enumerate(wanted):
            progress("fetching", number / len(wanted))
            (copy / name).parent.mkdir(exist_ok=True)
            source.download(name, copy / name)
        (copy / MANIFEST).write_bytes(raw)
        for part in (copy, *(one for one in copy.iterdir() if one.is_dir())):
            for finding in check_files(part):
                where = finding.where if part == copy else f"{part.name}/{finding.where}"
                raise KinError(f"{source.address}/{where} {finding.what}. Nothing was changed here.")
        for name in sorted(named):
            writer.adopt(copy / name, name)
        writer.commit_manifest(raw)
        progress("fetching", 1.0)


def _read_remote(source: Storage) -> tuple[bytes, dict[str, Any]]:
    """Return the manifest of a collection at an address, as bytes and parsed."""
    try:
        raw = source.read(MANIFEST)
    except MissingFileError:
        raise KinError(f"{source.address} is not a finished Pagekin collection: it has no {MANIFEST}.") from None
    return raw, parse_manifest(raw, source.address)
