"""Collections in shards: which folders they are, opened in their order."""

import os
from pathlib import Path

from pagekin.hypertext.corpus import Corpus
from pagekin.store import SHARDS, Kin, KinError, open_kin


def shard_folders(kin: Kin) -> list[Path]:
    """Return the folders of a collection's shards; none if it is in one piece."""
    return [kin.path / Path(str(one["folder"])).name for one in kin.facts.get(SHARDS, ())]


def open_shards(kin: Kin) -> list[Kin]:
    """Open a collection's shards; raise a KinError unless they are those that its manifest names."""
    opened = [open_kin(folder) for folder in shard_folders(kin)]
    for shard, named in zip(opened, kin.facts.get(SHARDS, ()), strict=True):
        if shard.manifest.get("checksum") != named.get("checksum"):
            raise KinError(
                f"{shard.path} is another shard than the one that {kin.path} names. See all of it: pagekin check {kin.path}"
            )
    return opened


def open_corpora(path: str | os.PathLike[str]) -> list[Corpus]:
    """Open the corpus of the collection at `path`, or those of its shards."""
    kin = open_kin(path)
    return [Corpus(shard) for shard in open_shards(kin) or [kin]]
