"""Collections in shards: a folder of plain `.kin` folders, each with the pages of a range of addresses.

A shard has the weights, names and documents of the whole, so that shards answer together as one collection would. Here they are
cut from a collection in one piece; `local_shards` and `spark` build them without that, and make the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.bags import check_frequencies, cut_bags, find_bag_cut, strategy_of_index
from pagekin.clusters import DOCUMENTS_TREE, PageTopics, Tree, put_trees, read_trees
from pagekin.errors import PagekinError
from pagekin.hypertext import (
    ClosedRanges,
    Corpus,
    Cut,
    close_ranges,
    cut_corpus,
    cut_pages,
    default_workers,
    shard_folders,
)
from pagekin.labels import put_label
from pagekin.similarity import cut_index
from pagekin.store import (
    MOST_SHARDS,
    SHARDS,
    Finding,
    Kin,
    KinError,
    KinWriter,
    Progress,
    no_progress,
    open_kin,
)
from pagekin.text import cut_link_texts, make_text

WHOLE = "whole.kin"
"""The name of a collection that is to be cut; its label has it."""


class ShardError(PagekinError):
    """Shards that cannot be made as requested; the message says why."""

    fault = "input"


def shard_collection(path: Path, shards: int, out: Path, progress: Progress = no_progress, threads: int = 0) -> None:
    """Cut a collection into this many shards, at another place."""
    whole = open_kin(path)
    with KinWriter(out, "pagekin shard") as writer:
        writer.commit(_cut(whole, shards, writer, progress, threads))


def _cut(kin: Kin, shards: int, writer: KinWriter, progress: Progress, threads: int) -> dict[str, Any]:
    """Write the shards of a collection into a writer's folder; return the facts about the whole."""
    corpus, trees = Corpus(kin), read_trees(kin)
    cuts = plan_cuts(corpus, trees, shards)
    threads = min(threads or default_workers(), default_workers())
    entries = []
    for number, cut in enumerate(cuts):
        progress("shards", number / len(cuts))
        entries.append(_write_shard(corpus, trees, cut, number, len(cuts), writer, threads))
    progress("shards", 1.0)
    return whole_facts(kin.facts, [open_kin(writer.path / entry["folder"]).facts for entry in entries], entries)


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


def plan_cuts(corpus: Corpus, trees: Sequence[Tree], shards: int) -> list[Cut]:
    """Return the cuts that divide a collection into shards."""
    if SHARDS in corpus.facts:
        raise ShardError(f"{corpus.kin.path} is in shards already. Build it again to get another number of them.")
    require_count(shards)
    inside = _inside_documents(trees, len(corpus))
    cuts = cut_pages(corpus, shards, lambda page: not inside[page])
    require_division(len(corpus), shards, len(cuts))
    return cuts


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


def _inside_documents(trees: Sequence[Tree], pages: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mark the pages at which a cut would divide a composite document."""
    inside = np.zeros(pages + 1, np.int64)
    for tree in trees:
        if tree.name == DOCUMENTS_TREE:
            for node in tree.children[0]:
                held = tree.pages_of(node)
                if len(held):
                    inside[held[0] + 1] += 1
                    inside[held[-1] + 1] -= 1
    return np.asarray(np.cumsum(inside)[:pages] > 0)


def _write_shard(
    corpus: Corpus, trees: Sequence[Tree], cut: Cut, number: int, shards: int, writer: KinWriter, threads: int
) -> dict[str, Any]:
    """Write one shard; return the whole's facts about it."""
    kin = corpus.kin
    bag_cut = find_bag_cut(kin, cut) if "index" in kin.facts else None
    called = cut_link_texts(kin, cut.first_page, cut.last_page) if "text" in kin.facts else None
    place = {
        "number": number, "of": shards, "first_page": cut.first_page,
        "first_document": bag_cut.first if bag_cut else 0,
    }  # fmt: skip
    folder = writer.work / f"shard-{number}"
    with KinWriter(folder, "pagekin build") as own:
        more_urls = bag_cut.urls if bag_cut else np.zeros(0, np.int64)
        more_terms = np.concatenate(
            [*([bag_cut.words] if bag_cut else []), *([called.terms] if called else []), np.zeros(0, np.int64)]
        )
        facts, numbers = cut_corpus(corpus, cut, own, more_urls, more_terms)
        facts["shard"] = place
        if bag_cut:
            strategy = strategy_of_index(kin.facts["index"])
            index = cut_bags(kin, cut, bag_cut, numbers, own)
            facts["index"] = index | cut_index(kin, bag_cut.first, bag_cut.last, strategy, own, threads)
            facts["seeds"] = kin.facts["seeds"]
        shard = Corpus(own.view(facts))
        if called:
            facts |= make_text(own, shard, threads=threads, link_texts=called)
        facts |= cut_trees(kin, trees, cut, own, shard, threads)
        own.commit(facts)
    return adopt_shard(writer, folder, cut, corpus.url(cut.first_url))


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
    made = open_kin(folder)
    place = made.facts["shard"]
    name = f"shard-{place['number']}-{made.manifest['checksum'][:12]}.kin"
    writer.adopt(folder, name)
    return {
        "folder": name, "checksum": made.manifest["checksum"], "first_page": cut.first_page,
        "pages": cut.last_page - cut.first_page, "first_document": place["first_document"],
        "documents": made.facts["index"]["bags"] if "index" in made.facts else 0,
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
