"""Collections in shards: a folder of plain `.kin` folders, each with the pages of a range of addresses.

A shard has the weights, names and documents of the whole, so that shards answer together as one collection would.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pagekin.bags import check_frequencies
from pagekin.clusters import DOCUMENTS_TREE, PageTopics, Tree, put_trees
from pagekin.errors import PagekinError
from pagekin.hypertext import (
    ClosedRanges,
    Corpus,
    Cut,
    close_ranges,
    shard_folders,
)
from pagekin.labels import put_label
from pagekin.store import (
    MOST_SHARDS,
    SHARDS,
    Finding,
    Kin,
    KinError,
    KinWriter,
    open_kin,
)

WHOLE = "whole.kin"
"""The name of the collection of which clusters are made; the label has it."""


class ShardError(PagekinError):
    """Shards that cannot be made as requested; the message says why."""

    fault = "input"


def whole_facts(
    facts: Mapping[str, Any], of_shards: Sequence[Mapping[str, Any]], entries: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the facts of a sharded collection: those of the whole, with lists and postings as the shards have them."""
    said = {**facts, SHARDS: list(entries)}
    for name, counts in (("index", ("lists", "listed", "list_words")), ("text", ("postings",))):
        if name in facts:
            # Checksums of the whole's words would be of arrays that nobody has.
            known = {key: value for key, value in facts[name].items() if key != "corpus"}
            said[name] = {**known, **{count: sum(shard[name][count] for shard in of_shards) for count in counts}}
    if "index" in said:
        said["index"]["singles_left_out"] = any(shard["index"]["singles_left_out"] for shard in of_shards)
    return said


def require_count(shards: int) -> None:
    """Raise an error for an impossible number of shards."""
    if not 1 <= shards <= MOST_SHARDS:
        raise ShardError(f"a collection may have 1 to {MOST_SHARDS:,} shards, not {shards:,}.")


def require_division(pages: int, asked: int, shards: int) -> None:
    """Raise an error if pages cannot be divided into as many shards as requested."""
    if shards < asked:
        raise ShardError(
            f"the {pages:,} pages cannot be divided into {asked:,} shards; at most {shards:,} are possible."
        )


def close_documents(corpus: Corpus, trees: Sequence[Tree]) -> ClosedRanges:
    """Return the ranges of addresses of composite documents, which no shard may divide."""
    held = [tree.pages_of(node) for tree in trees if tree.name == DOCUMENTS_TREE for node in tree.children[0]]
    urls = (
        [corpus.urls[int(corpus.pages.url[page])] for page in (pages[0], pages[-1])] for pages in held if len(pages)
    )
    return close_ranges((first, last) for first, last in urls)


def cut_trees(
    kin: Kin, trees: Sequence[Tree], cut: Cut, writer: KinWriter, shard: Corpus, threads: int
) -> dict[str, Any]:
    """Write a shard's part of the trees and topics of `kin`, and its label; return the facts about them."""
    if not trees:
        return {}
    mine = [tree.cut(cut.first_page, cut.last_page) for tree in trees]
    if topics := PageTopics.read(kin):
        topics.cut(cut.first_page, cut.last_page).put(writer)
    return put_trees(writer, mine) | put_label(writer, shard, mine, None, None, threads)


def adopt_shard(writer: KinWriter, folder: Path, cut: Cut, first_address: str) -> dict[str, Any]:
    """Move a finished shard into the folder of its collection; return the whole's facts about it."""
    shard = open_kin(folder)
    place = shard.facts["shard"]
    name = f"shard-{place['number']}-{shard.manifest['checksum'][:12]}.kin"
    writer.adopt(folder, name)
    return {
        "folder": name, "checksum": shard.manifest["checksum"], "first_page": cut.first_page,
        "pages": cut.last_page - cut.first_page, "first_document": place["first_document"],
        "documents": shard.facts["index"]["bags"] if "index" in shard.facts else 0,
        "first_address": first_address if place["number"] else "",
    }  # fmt: skip


def check_shards(kin: Kin) -> Iterator[Finding]:
    """Yield where the shards of a collection do not fit together; each shard is checked separately."""
    indexed: list[Kin] = []
    first_page = first_document = 0
    for entry, folder in zip(kin.facts[SHARDS], shard_folders(kin), strict=True):
        try:
            shard = open_kin(folder)
        except KinError as error:
            yield Finding(entry["folder"], f"cannot be opened: {error}")
            return
        if shard.manifest["checksum"] != entry["checksum"]:
            yield Finding(entry["folder"], "is another shard than the one that the manifest names")
        if (entry["first_page"], entry["first_document"]) != (first_page, first_document):
            yield Finding("manifest.json", f"says that {entry['folder']} begins where the one before does not end")
        first_page += shard.facts["pages"]
        if index := shard.facts.get("index"):
            first_document += index["bags"]
            if index["epoch"]["identity"] != kin.facts["index"]["epoch"]["identity"]:
                yield Finding(entry["folder"], "has bags of another epoch")
            indexed.append(shard)
    if first_page != kin.facts["pages"]:
        yield Finding("manifest.json", f"says {kin.facts['pages']:,} pages, and the shards have {first_page:,}")
    yield from check_frequencies(indexed)
