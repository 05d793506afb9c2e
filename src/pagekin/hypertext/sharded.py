"""Collections in shards: which folders they are, opened in their order."""

import os
from pathlib import Path
from typing import Any

from pagekin.hypertext.corpus import Corpus
from pagekin.store import Kin, KinError, open_kin, read_manifest


def shard_folders(path: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Return the folders of the shards of the collection at `path`, in their order; none if it is in one piece."""
    return tuple(folder for folder, _facts in _named(Path(path)))


def _named(path: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return (folder, what the whole's manifest says of it) of each shard."""
    shards = read_manifest(path)["facts"].get("shards", ())
    try:
        return [(path / Path(str(shard["folder"])).name, shard) for shard in shards]
    except (TypeError, KeyError):
        raise KinError(
            f"{path} is damaged: its manifest names shards without folders. Run: pagekin check {path}"
        ) from None


def open_shards(path: str | os.PathLike[str]) -> tuple[Kin, ...]:
    """Open the shards of the collection at `path`; raise a KinError unless they are those that its manifest names."""
    opened = []
    for folder, facts in _named(Path(path)):
        kin = open_kin(folder)
        if kin.manifest.get("checksum") != facts.get("checksum"):
            raise KinError(
                f"{folder} is not the shard that {os.fspath(path)} was made with. "
                f"Make it again: pagekin build SOURCE... --out {os.fspath(path)}"
            )
        opened.append(kin)
    return tuple(opened)


def open_corpora(path: str | os.PathLike[str]) -> tuple[Corpus, ...]:
    """Open the corpus of the collection at `path`, or those of its shards."""
    return tuple(Corpus(kin) for kin in open_shards(path) or [open_kin(path)])
