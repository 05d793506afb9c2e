"""Open collections in shards, or with a delta."""

import os
from pathlib import Path

import numpy as np

from pagekin.hypertext.columns import HiddenColumns
from pagekin.hypertext.corpus import Corpus
from pagekin.store import DELTA, SHARDS, Array, Kin, KinError, KinWriter, open_kin


def shard_folders(kin: Kin) -> list[Path]:
    """Return the folders of a collection's shards, in order; none if it is in one piece."""
    return [kin.path / Path(str(one["folder"])).name for one in kin.facts.get(SHARDS, ())]


def open_shards(kin: Kin) -> list[Kin]:
    """Open a collection's shards; raise a KinError if they are not those in its manifest."""
    opened = [open_kin(folder) for folder in shard_folders(kin)]
    for shard, named in zip(opened, kin.facts.get(SHARDS, ()), strict=True):
        if shard.manifest.get("checksum") != named.get("checksum"):
            raise KinError(
                f"{shard.path} is another shard than the one that {kin.path} names. See all of it: pagekin check {kin.path}"
            )
    return opened


def open_corpora(path: str | os.PathLike[str]) -> list[Corpus]:
    """Open the corpus of the collection at `path`, or the corpora of its shards, or of its base and delta."""
    kin = open_kin(path)
    if shards := open_shards(kin):
        return [Corpus(shard) for shard in shards]
    base, delta = open_with_delta(kin)
    return [base] if delta is None else [base, delta]  # one without pages hides some


def open_with_delta(kin: Kin) -> tuple[Corpus, Corpus | None]:
    """Return the corpora of a collection and its delta, if any; hide what the delta replaces."""
    base, delta = Corpus(kin), open_delta(kin)
    if delta is None:
        return base, None
    hidden = HiddenColumns.of(delta)
    base.hide(hidden.page, hidden.address)
    return base, Corpus(delta)


def put_hidden(writer: KinWriter, pages: Array, addresses: Array) -> None:
    """Write which pages and addresses of its base a delta hides."""
    writer.put("hidden.page", np.asarray(pages).astype(np.uint32))
    writer.put("hidden.address", np.asarray(addresses).astype(np.uint32))


def open_delta(kin: Kin) -> Kin | None:
    """Open the delta of a collection, None if there is none; raise a KinError if it is not the one in the manifest."""
    if not (named := kin.facts.get(DELTA)):
        return None
    delta = open_kin(kin.path / Path(str(named["folder"])).name)
    if delta.manifest.get("checksum") != named.get("checksum"):
        raise KinError(
            f"{delta.path} is another delta than the one that {kin.path} names. See all of it: pagekin check {kin.path}"
        )
    return delta
