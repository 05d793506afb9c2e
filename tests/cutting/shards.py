"""Cut shards from a collection in one piece: the obvious way to make what builds in shards make without the whole."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.bags import strategy_of_index
from pagekin.clusters import DOCUMENTS_TREE, Tree, read_trees
from pagekin.engines.shards import adopt_shard, cut_trees, whole_facts
from pagekin.hypertext import Corpus, Cut, default_workers
from pagekin.similarity import make_index
from pagekin.store import Kin, KinWriter, RaggedBytes, open_kin
from pagekin.text import LinkTexts, analyse, make_text

from .bags import cut_bags, find_bag_cut
from .corpus import cut_corpus, cut_pages


def shard_collection(path: Path, shards: int, out: Path) -> None:
    """Cut a collection into this many shards, at another place."""
    kin, threads = open_kin(path), default_workers()
    corpus, trees = Corpus(kin), read_trees(kin)
    inside = _inside_documents(trees, len(corpus))
    cuts = cut_pages(corpus, shards, lambda page: not inside[page])
    with KinWriter(out, "pagekin shard") as writer:
        entries = [
            _write_shard(corpus, trees, cut, number, len(cuts), writer, threads) for number, cut in enumerate(cuts)
        ]
        facts = [open_kin(writer.path / entry["folder"]).facts for entry in entries]
        writer.commit(whole_facts(kin.facts, facts, entries))


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
    called = _cut_link_texts(kin, cut.first_page, cut.last_page) if "text" in kin.facts else None
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
            view = own.view({**facts, "index": index})
            facts["index"] = index | make_index(view, strategy, own, threads=threads, of_shard=True)
            facts["seeds"] = kin.facts["seeds"]
        shard = Corpus(own.view(facts))
        if called:
            facts |= make_text(own, shard, threads=threads, link_texts=called)
        facts |= cut_trees(kin, trees, cut, own, shard, threads)
        own.commit(facts)
    return adopt_shard(writer, folder, cut, corpus.url(cut.first_url))


def _cut_link_texts(kin: Kin, first: int, last: int) -> LinkTexts:
    """Return what the pages `first` to `last` of a collection are called, with pages numbered from `first` on."""
    offsets = np.asarray(kin["posting.called_offsets"], dtype=np.int64)
    page = np.asarray(kin["posting.called_page"], dtype=np.int64)
    inside = np.flatnonzero((page >= first) & (page < last))
    form = np.searchsorted(offsets, inside, side="right") - 1
    called, place = np.unique(form, return_inverse=True)
    of_term = np.asarray(kin["form.of_term"])
    terms = np.flatnonzero(np.isin(of_term, called))
    _forms, at = np.unique(of_term[terms], return_index=True)
    names = [RaggedBytes.of(kin, "form").text(one) for one in called.tolist()]
    if "form.same" in kin:  # the form of a term may have the name of another one that stands for the same word
        words = RaggedBytes.of(kin, "term")
        names = analyse([words.text(term) for term in terms[at].tolist()])
    strength = np.asarray(kin["posting.called"])[inside]
    return LinkTexts(names, place, page[inside] - first, strength, terms[at])
