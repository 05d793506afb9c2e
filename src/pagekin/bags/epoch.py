"""Epochs: what a bag depends on beyond its own page and the links to it.

Bags are comparable if they were weighed alike: by the same document frequencies, the same number of bags, the same centre and
factors of the frequency weight, the same furniture and pages that only list, and the same aliases. All of that is an epoch, and
its identity is a hash that says nothing about the order of reading or the numbers that a collection gives.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pagekin.bags.furniture import JudgedLinks, classify_by_epoch
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import frequency_weights
from pagekin.hypertext import Corpus
from pagekin.store import Array, Columns, Finding, Kin, KinWriter

LEAST_DF = 2
"""Document frequencies from here on belong to the epoch; a term that it does not name is held by one bag."""


@dataclass(frozen=True)
class EpochColumns(Columns):
    """What an epoch holds besides the document frequencies, which are `bagterm.hash` and `bagterm.df`, and the aliases."""

    prefix: ClassVar[str] = "epoch"

    factor: npt.NDArray[np.float64]
    """The factor of a term that so many bags hold, from 0 up to the greatest number."""
    furniture: npt.NDArray[np.uint32]
    """URLs, rising: pages to which links of their own host are furniture."""
    navigation: npt.NDArray[np.uint64]
    """Hashes of a host and the words of its links that are navigation, rising."""
    lists: npt.NDArray[np.uint32]
    """URLs, rising: pages that only list others."""


def write_epoch(
    corpus: Corpus, strategy: Strategy, judged: JudgedLinks, facts: dict[str, Any], writer: KinWriter
) -> dict[str, Any]:
    """Write the `epoch.*` arrays of bags that are written already; return the epoch's identity and the arrays' lengths."""
    written = writer.view({**corpus.facts, "index": facts}, corpus.kin)
    most = max(int(written["bagterm.df"].max(initial=0)), 1)
    arrays: dict[str, Array] = {
        "factor": frequency_weights(np.arange(most + 1), facts["bags"], strategy),
        "furniture": judged.common.astype(np.uint32),
        "navigation": judged.navigation,
        "lists": judged.listing.astype(np.uint32),
    }
    for name, array in arrays.items():
        writer.put(f"epoch.{name}", array)
    identity = epoch_identity(writer.view({**corpus.facts, "index": facts}, corpus.kin))
    return {"identity": identity, **{name: len(array) for name, array in arrays.items()}}


def epoch_lengths(facts: Mapping[str, Any]) -> dict[str, int]:
    """Return how long each array of the epoch is, given the facts about the index; none of indexes of earlier versions."""
    stated = facts.get("epoch", {})
    return {f"epoch.{name}": length for name, length in stated.items() if name != "identity"}


def epoch_identity(kin: Kin) -> str:
    """Return the identity of a collection's epoch, from its arrays and facts: 32 hexadecimal digits."""
    corpus, epoch, facts = Corpus(kin), EpochColumns.of(kin), kin.facts["index"]
    identity = hashlib.blake2b(digest_size=16)

    def add(name: str, data: bytes) -> None:
        identity.update(f"{name} {len(data)}\n".encode() + data)

    add("bags", str(facts["bags"]).encode())
    add("nmdf", repr(sorted(facts.get("nmdf", {}).items())).encode())
    add("factor", epoch.factor.tobytes())
    words, links = facts["bag_words"], facts["bag_words"] + facts["bag_links"]
    for name, start, end in (("words", 0, words), ("links", words, links), ("outlinks", links, len(kin["bagterm.df"]))):
        df = kin["bagterm.df"][start:end]
        common = df >= LEAST_DF
        add(f"{name} hashes", kin["bagterm.hash"][start:end][common].tobytes())
        add(f"{name} df", df[common].tobytes())
    add("navigation", epoch.navigation.tobytes())
    for name, urls in (("furniture", epoch.furniture), ("lists", epoch.lists)):
        add(name, b"\n".join(_addresses(corpus, urls)))
    for name, urls in zip(("aliases", "aliased"), corpus.aliases(), strict=True):
        add(name, b"\n".join(_addresses(corpus, urls)))
    return identity.hexdigest()


def _addresses(corpus: Corpus, urls: Array) -> Iterator[bytes]:
    return (corpus.urls[url] for url in urls.tolist())


def uses_by_epoch(kin: Kin) -> npt.NDArray[np.uint8]:
    """Return the `LinkUse` of every anchor of a collection, or of a shard, by its epoch."""
    epoch = EpochColumns.of(kin)
    return classify_by_epoch(Corpus(kin), epoch.furniture, epoch.navigation, epoch.lists)


def is_shard(kin: Kin) -> bool:
    """Return whether a collection is one of the shards of another, whose figures it goes by."""
    return "whole" in kin.facts.get("index", {})


def check_epoch(kin: Kin) -> Iterator[Finding]:
    """Yield what is wrong with an epoch; indexes of earlier versions have none, and shards know a part of theirs."""
    stated = kin.facts["index"].get("epoch")
    if stated is None:
        return
    urls = len(Corpus(kin).urls)
    for name in ("epoch.furniture", "epoch.lists"):
        if bool(np.any(kin[name] >= urls)):
            yield Finding(name, "refers to an address beyond the last")
            return
    if len(kin["epoch.factor"]) <= int(kin["bagterm.df"].max(initial=1)):
        yield Finding("epoch.factor", "has no factor for the most common term")
    elif not is_shard(kin) and epoch_identity(kin) != stated["identity"]:
        yield Finding("epoch", "is not the one that the index was made by")
    offsets = np.asarray(kin["bag.offsets"], dtype=np.int64)
    terms = np.asarray(kin["bag.terms"], dtype=np.int64)
    falls = np.flatnonzero(terms[1:] <= terms[:-1]) + 1
    if not bool(np.all(np.isin(falls, offsets))):
        yield Finding("bag.terms", "has bags whose terms do not stand by kind and hash")
