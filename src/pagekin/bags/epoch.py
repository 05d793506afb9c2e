"""Epochs: the statistics of the whole collection that every bag depends on.

Bags are comparable if they were weighed alike: by the same document frequencies, the same number of bags, the same centre and
factors of the frequency weight, the same furniture and pages that only list, and the same aliases. All of that is an epoch, and
its identity is a hash that says nothing about the order of reading or the numbers that a collection gives.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.bags.frequencies import Frequencies, keep_common
from pagekin.bags.furniture import LinkUse, classify_by_epoch
from pagekin.bags.strategy import Strategy
from pagekin.bags.weights import frequency_weights, nmdf_parameters
from pagekin.hypertext import Corpus
from pagekin.store import Array, Columns, Finding, Kin, KinWriter, RaggedBytes, chunks, pack_strings, union_strings

USES = "link.use"
"""The `LinkUse` of every anchor, in collections of one piece; those of earlier versions do not have it."""
REPEATS = 3
"""In its place: the link counts, but not for the bag of its target, since an earlier one of the same host has the same words."""


@dataclass(frozen=True)
class EpochColumns(Columns):
    """The arrays of an epoch, besides document frequencies (`bagterm.hash`, `bagterm.df`) and aliases."""

    prefix: ClassVar[str] = "epoch"

    factor: npt.NDArray[np.float64]
    """The factor of a term that so many bags hold, from 0 up to the greatest number."""
    furniture: npt.NDArray[np.uint32]
    """URLs, rising: pages to which links of their own host are furniture."""
    navigation: npt.NDArray[np.uint64]
    """Hashes of a host and the words of its links that are navigation, rising."""
    lists: npt.NDArray[np.uint32]
    """URLs, rising: pages that only list others."""


class EpochPart(NamedTuple):
    """One shard's share of an epoch, without document frequencies: sorted, distinct hashes and addresses."""

    navigation: npt.NDArray[np.uint64]
    furniture: npt.NDArray[np.uint8]
    furniture_offsets: npt.NDArray[np.int64]
    lists: npt.NDArray[np.uint8]
    lists_offsets: npt.NDArray[np.int64]
    aliases: npt.NDArray[np.uint8]
    aliases_offsets: npt.NDArray[np.int64]
    aliased: npt.NDArray[np.uint8]
    """The addresses that the aliases stand for, one for each."""
    aliased_offsets: npt.NDArray[np.int64]


def epoch_part(corpus: Corpus, common: Array, navigation: npt.NDArray[np.uint64], listing: Array) -> EpochPart:
    """Return a corpus's share of an epoch; for `common`, `navigation` and `listing` see `JudgedLinks`."""
    names = (
        part
        for urls in (common, listing, *corpus.aliases())
        for part in pack_strings([corpus.urls[url] for url in urls.tolist()])
    )
    return EpochPart(navigation, *names)


def join_epoch_parts(parts: Iterable[EpochPart]) -> EpochPart:
    """Join the epoch parts of several shards; the order does not matter, and joined parts can be joined again."""
    every = list(parts)
    if len(every) == 1:
        return every[0]
    furniture, lists = (
        union_strings([RaggedBytes(*part[column : column + 2]) for part in every])[0] for column in (1, 3)
    )
    homes: dict[bytes, bytes] = {}
    for part in every:
        homes |= zip(RaggedBytes(*part[5:7]), RaggedBytes(*part[7:9]), strict=True)
    aliases = sorted(homes)
    return EpochPart(
        np.unique(np.concatenate([part.navigation for part in every])),
        furniture.data, furniture.offsets, lists.data, lists.offsets,
        *pack_strings(aliases), *pack_strings([homes[alias] for alias in aliases]),
    )  # fmt: skip


def write_epoch(
    corpus: Corpus, strategy: Strategy, frequencies: Frequencies, whole: EpochPart, writer: KinWriter
) -> dict[str, Any]:
    """Write the `epoch.*` arrays; return the epoch's identity and the arrays' lengths.

    `frequencies` and `whole` are those of all shards.
    """
    identity = identify_epoch(strategy, frequencies, whole)
    figures = EpochFigures(identity, frequencies.bags, int(frequencies.df.max(initial=0)))
    return put_epoch(corpus, strategy, figures, whole, writer)


class EpochFigures(NamedTuple):
    """The figures of an epoch that a shard needs, besides the frequencies of its own terms."""

    identity: str
    bags: int
    """Bags of the whole."""
    most: int
    """How many of them hold the most common term."""


def put_epoch(
    corpus: Corpus, strategy: Strategy, figures: EpochFigures, whole: EpochPart, writer: KinWriter
) -> dict[str, Any]:
    """Write the `epoch.*` arrays from the figures of the whole; return the epoch's identity and the arrays' lengths.

    Of furniture and lists a shard holds the addresses that it knows.
    """
    arrays: dict[str, Array] = {
        "factor": _factors(strategy, figures.bags, figures.most),
        "furniture": _known_addresses(corpus, RaggedBytes(whole.furniture, whole.furniture_offsets)),
        "navigation": whole.navigation,
        "lists": _known_addresses(corpus, RaggedBytes(whole.lists, whole.lists_offsets)),
    }
    for name, array in arrays.items():
        writer.put(f"epoch.{name}", array)
    return {"identity": figures.identity, **{name: len(array) for name, array in arrays.items()}}


def _known_addresses(corpus: Corpus, addresses: RaggedBytes) -> npt.NDArray[np.uint32]:
    """Return the numbers of those addresses that a corpus knows."""
    numbers = corpus.urls.find_all(addresses)
    return numbers[numbers >= 0].astype(np.uint32)


def epoch_lengths(facts: Mapping[str, Any]) -> dict[str, int]:
    """Return the length of each epoch array, from the facts about the index; empty for earlier versions."""
    stated = facts.get("epoch", {})
    return {f"epoch.{name}": length for name, length in stated.items() if name != "identity"}


def identify_epoch(strategy: Strategy, frequencies: Frequencies, whole: EpochPart) -> str:
    """Return the identity of an epoch, from the frequencies and all other arrays: 32 hexadecimal digits."""
    most = int(frequencies.df.max(initial=0))
    return identify_epoch_of_ranges(strategy, frequencies.bags, most, [lambda: frequencies], whole)


def identify_epoch_of_ranges(
    strategy: Strategy, bags: int, most: int, ranges: Sequence[Callable[[], Frequencies]], whole: EpochPart
) -> str:
    """Return the identity of an epoch whose frequencies come in ranges of hashes, one range in memory at a time.

    `bags` are those of the whole, and `most` of them hold the most common term. Each range is asked for several times.
    """
    nmdf = dict(zip(("mu", "sigma"), nmdf_parameters(strategy, bags), strict=True))
    factor = _factors(strategy, bags, most)
    return _identity(nmdf if strategy.weight.frequency == "nmdf" else {}, factor, bags, ranges, whole)


def _factors(strategy: Strategy, bags: int, most: int) -> npt.NDArray[np.float64]:
    return frequency_weights(np.arange(max(most, 1) + 1), bags, strategy)


def epoch_identity(kin: Kin) -> str:
    """Return the identity of a collection's epoch, from its arrays and facts."""
    epoch, facts = EpochColumns.of(kin), kin.facts["index"]
    words, links = facts["bag_words"], facts["bag_words"] + facts["bag_links"]
    df = np.asarray(kin["bagterm.df"], np.int64)
    frequencies = Frequencies(
        kin["bagterm.hash"], np.array([words, links, len(df)]), df, df, np.array([facts["bags"], 0, 0])
    )
    part = epoch_part(Corpus(kin), epoch.furniture, epoch.navigation, epoch.lists)
    return _identity(facts.get("nmdf", {}), epoch.factor, frequencies.bags, [lambda: frequencies], part)


def _identity(
    nmdf: Mapping[str, float], factor: Array, bags: int, ranges: Sequence[Callable[[], Frequencies]], whole: EpochPart
) -> str:
    identity = hashlib.blake2b(digest_size=16)

    def add(name: str, data: bytes) -> None:
        identity.update(f"{name} {len(data)}\n".encode() + data)

    def add_column(name: str, size: int, take: Callable[[Frequencies], Array]) -> None:
        identity.update(f"{name} {size}\n".encode())
        for part in ranges:
            identity.update(take(keep_common(part())).tobytes())

    ends = np.sum([keep_common(part()).limits for part in ranges], axis=0)
    add("bags", str(bags).encode())
    add("nmdf", repr(sorted(nmdf.items())).encode())
    add("factor", factor.tobytes())
    for kind, (name, count) in enumerate(zip(("words", "links", "outlinks"), np.diff(ends, prepend=0), strict=True)):
        rows = partial(_rows_of_kind, kind)
        add_column(f"{name} hashes", 8 * count, lambda part, rows=rows: part.hashes[rows(part)])  # type: ignore[misc]
        add_column(f"{name} df", 4 * count, lambda part, rows=rows: part.df[rows(part)].astype(np.uint32))  # type: ignore[misc]
    add("navigation", whole.navigation.tobytes())
    for place, name in enumerate(("furniture", "lists", "aliases", "aliased")):
        add(name, b"\n".join(RaggedBytes(*whole[1 + 2 * place : 3 + 2 * place])))
    return identity.hexdigest()


def _rows_of_kind(kind: int, frequencies: Frequencies) -> slice:
    return slice(int(frequencies.limits[kind - 1]) if kind else 0, int(frequencies.limits[kind]))


def put_uses(writer: KinWriter, uses: Array, repeats: Array) -> None:
    """Write the `LinkUse` of every anchor, given also which links repeat others."""
    file = writer.create(USES, np.uint8)
    for start, chunk in chunks(uses):
        file.append(np.where(repeats[start : start + len(chunk)] == 1, REPEATS, chunk).astype(np.uint8))


def stored_uses(kin: Kin) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Return (the `LinkUse` of every anchor of a collection, which links are known to repeat others), as its index has it.

    Where that does not say so, uses are found by the epoch, and no link is known to repeat another.
    """
    uses = np.array(kin[USES]) if USES in kin else uses_by_epoch(kin)
    repeats = uses == REPEATS
    uses[repeats] = LinkUse.COUNTS
    return uses, repeats


def uses_by_epoch(kin: Kin) -> npt.NDArray[np.uint8]:
    """Return the `LinkUse` of every anchor of a collection or shard, by its epoch."""
    epoch = EpochColumns.of(kin)
    return classify_by_epoch(Corpus(kin), epoch.furniture, epoch.navigation, epoch.lists)


def is_shard(kin: Kin) -> bool:
    """Return whether a collection is a shard of another."""
    return "whole" in kin.facts.get("index", {})


def is_delta(kin: Kin) -> bool:
    """Return whether a collection is the delta of another."""
    return "replaced.document" in kin


def check_epoch(kin: Kin) -> Iterator[Finding]:
    """Yield what is wrong with an epoch; earlier versions have none, and shards have a part of theirs."""
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
