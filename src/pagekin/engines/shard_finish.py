"""The last stages of a build by shards: what needs the whole corpus at once, the shards as they are stored, the manifest."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin import bags
from pagekin.bags import BagWorkshop
from pagekin.clusters import make_trees, read_trees
from pagekin.engines.local import Stages, write_tree_facts
from pagekin.engines.shard_stages import Task, judged_links, kept_words, open_record, raw_bags
from pagekin.engines.shards import WHOLE, adopt_shard, cut_trees, whole_facts
from pagekin.hypertext import Corpus, widen_corpus
from pagekin.similarity import make_index
from pagekin.store import (
    KinWriter,
    RaggedBytes,
    make_manifest,
    no_progress,
    open_kin,
    pack_manifest,
    pack_strings,
    upload_shard,
)
from pagekin.text import LinkTexts, cut_link_texts, make_link_texts, make_text


class CalledPages(NamedTuple):
    """What links of the same host call the pages of a shard: `LinkTexts` that travel."""

    names: npt.NDArray[np.uint8]
    """The forms that some page is called, as one string, …"""
    offsets: npt.NDArray[np.int64]
    """… and where each begins."""
    form: npt.NDArray[np.int64]
    page: npt.NDArray[np.int64]
    strength: npt.NDArray[np.uint8]
    words: npt.NDArray[np.uint8]
    """For each form a word behind it, the most common one of the whole, …"""
    word_offsets: npt.NDArray[np.int64]
    """… and where each begins."""


# -- of the whole -------------------------------------------------------------------------------------------------------


def find_link_texts(task: Task) -> dict[str, Any]:
    """Find what links call the pages of all shards: which forms stand for one word is decided by all words together."""
    corpus = Corpus(task.open("merge", 0))
    with KinWriter(task.room / "texts.kin", "pagekin build") as writer:
        facts = make_link_texts(writer, corpus)
        kin = writer.view(facts, corpus.kin)
        task.send("called", [_called(corpus, cut_link_texts(kin, cut.first_page, cut.last_page)) for cut in task.cuts])
    return facts


def _called(corpus: Corpus, texts: LinkTexts) -> CalledPages:
    return CalledPages(
        *pack_strings([name.encode() for name in texts.names]), texts.form, texts.page, texts.strength,
        *pack_strings([corpus.terms[term] for term in texts.terms.tolist()]),
    )  # fmt: skip


def make_clusters(task: Task) -> dict[str, Any]:
    """Put the pages of all shards into clusters, name these, and make the label of the whole."""
    recipe, kin = task.work.recipe, task.open("merge", 0)
    assert recipe.clusters is not None
    task.kept = task.room / WHOLE  # the label has this name
    with KinWriter(task.kept, "pagekin build") as writer:
        corpus = Corpus(replace(kin, path=task.kept))
        workshop = BagWorkshop(corpus, task.room / "bags", task.threads)
        trees = make_trees(corpus, recipe.clusters, None, no_progress, task.threads, recipe.names, workshop)
        facts = write_tree_facts(writer, corpus, trees, None, task.threads, Stages(no_progress), workshop)
        writer.commit({**facts, "pages": len(corpus)})
    return facts


# -- shards -------------------------------------------------------------------------------------------------------------


def finish_shard(task: Task) -> dict[str, Any]:
    """Write a shard as it is stored: corpus, weighted bags, links, signatures, lists, text, trees and label."""
    recipe, number, cut = task.work.recipe, task.number, task.cuts[task.number]
    figures = task.result("figures")
    called = task.receive_from("link_texts", 0, "called", CalledPages) if recipe.text else None
    with KinWriter(task.room / "made.kin", "pagekin build") as writer:
        folder = writer.work / f"shard-{number}"
        with KinWriter(folder, "pagekin build") as own:
            facts, corpus, index = _write_bags(task, own, figures, called)
            index |= make_index(own.view(facts), recipe.strategy, own, no_progress, task.threads, of_shard=True)
            facts |= {"index": index, "seeds": _seeds(task)}
            facts["shard"] = {
                "number": number, "of": task.work.shards, "first_page": cut.first_page,
                "first_document": figures["firsts"][number],
            }  # fmt: skip
            if called:
                facts |= make_text(own, corpus, threads=task.threads, link_texts=_link_texts(called))
            if recipe.clusters:
                trees = task.open("clusters", 0)
                facts |= cut_trees(trees, read_trees(trees), cut, own, corpus, task.threads)
            own.commit(facts)
        first_address = task.bounds[number - 1].decode("utf-8", "replace") if number else ""
        entry = adopt_shard(writer, folder, cut, first_address)
        upload_shard(writer.path / entry["folder"], task.work.out)
        sizes = open_kin(writer.path / entry["folder"]).bytes_on_disk
    return {"entry": entry, "facts": {name: facts[name] for name in ("index", "text") if name in facts}, "bytes": sizes}


def _seeds(task: Task) -> dict[str, Any]:
    return {**task.result("merge")["facts"].get("seeds", {}), "signatures": task.work.recipe.strategy.signature.seed}


def _link_texts(called: CalledPages) -> LinkTexts:
    names = [name.decode() for name in RaggedBytes(called.names, called.offsets)]
    return LinkTexts(names, called.form, called.page, called.strength, np.zeros(0, np.int64))


def _write_bags(
    task: Task, writer: KinWriter, figures: dict[str, Any], called: CalledPages | None
) -> tuple[dict[str, Any], Corpus, dict[str, Any]]:
    """Write the corpus of a shard with its bags and their links; return the facts, the corpus and the facts of the bags."""
    strategy, corpus, raw = task.work.recipe.strategy, task.wide_corpus(), raw_bags(task)
    words = bags.make_vocabulary(corpus, strategy)
    frequencies = bags.sum_frequencies(task.receive("sum", "frequencies", bags.Frequencies))
    frequencies = frequencies._replace(totals=np.array(figures["totals"], np.int64))
    shown = {
        key: word
        for part in task.receive("sum", "shown", bags.ShownWords)
        for key, word in zip(part.hashes.tolist(), RaggedBytes(part.words, part.offsets), strict=True)
    }
    facts, stored = _write_corpus(task, writer, corpus, raw, shown, called)
    rule = bags.SiteRule(*figures["site_rule"])
    sites = task.receive_from("figures", 0, "sites", bags.SiteNumbers)
    presentation = bags.Presentation(
        _number_urls(corpus, stored),
        _number_words(stored, [shown.get(key, b"") for key in words.hashes.tolist()]),
        bags.site_column(corpus, task.own(corpus), raw.urls, sites, rule),
        rule.name,
        figures["most_inlinks"],
    )
    index = bags.weigh(corpus, strategy, words, raw, frequencies, writer, no_progress, presentation)
    judged = judged_links(task)
    out = open_record(task.open("collect_links"), "out", bags.DocumentLinks)
    into = bags.collect_links(task.receive("collect_links", "links", bags.DocumentLinks), "targets")
    first = figures["firsts"][task.number]
    index |= bags.write_links(corpus, judged.uses, raw.urls, into, out, writer, first)
    index["links_into"] = len(into.targets)
    whole = task.receive_from("figures", 0, "epoch", bags.EpochPart, to=0)
    epoch = bags.EpochFigures(figures["epoch"]["identity"], figures["totals"][0], figures["most"])
    index["epoch"] = bags.put_epoch(stored, strategy, epoch, whole, writer)
    bags.write_sketches(kept_words(task), words, writer)
    index["whole"] = dict(zip(("bags", "own_pages", "own_words"), figures["totals"], strict=True))
    return facts, stored, index | _shared_facts(task, figures)


def _shared_facts(task: Task, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of an index that the whole and its shards have alike."""
    strategy = task.work.recipe.strategy
    return {
        "window_words": figures["window_words"], "not_citing": 0, "strategy": strategy.as_dict(),
        "digest": strategy.digest(),
    }  # fmt: skip


def _write_corpus(
    task: Task, writer: KinWriter, wide: Corpus, raw: bags.Raw, shown: dict[int, bytes], called: CalledPages | None
) -> tuple[dict[str, Any], Corpus]:
    """Write the corpus of a shard that knows the words and addresses of its bags, and what its pages are called."""
    base = task.corpus()
    used = np.unique(raw.citing[np.flatnonzero(raw.df[raw.limits[0] : raw.limits[1]])])
    names: Iterable[bytes] = RaggedBytes(called.words, called.word_offsets) if called else ()
    facts = widen_corpus(base, [wide.urls[url] for url in used.tolist()], [*shown.values(), *names], writer)
    written = writer.view({}).arrays.keys()
    for name, array in base.kin.arrays.items():
        if name not in written:
            writer.put(name, np.asarray(array))
    return facts, Corpus(writer.view(facts))


def _number_urls(wide: Corpus, stored: Corpus) -> npt.NDArray[np.int64]:
    """Return the numbers that the addresses of a wide corpus have in one that is stored; -1 for those that it does not know."""
    if len(wide.urls) == len(stored.urls):  # it knows no others
        return np.arange(len(wide.urls))
    number = {name: place for place, name in enumerate(stored.urls)}
    return np.fromiter((number.get(name, -1) for name in wide.urls), np.int64, len(wide.urls))


def _number_words(corpus: Corpus, words: list[bytes]) -> npt.NDArray[np.int64]:
    """Return the terms of a corpus that some words are; 0 for those that it does not know, which nobody shows."""
    asked = set(words)
    number = {name: place for place, name in enumerate(corpus.terms) if name in asked}
    return np.array([number.get(word, 0) for word in words], np.int64)


def write_manifest(task: Task) -> dict[str, Any]:
    """Return the manifest of the collection."""
    figures, shards = task.result("figures"), [task.result("finish", one) for one in range(task.work.shards)]
    parts = [shard["facts"]["index"] for shard in shards]
    added = (
        "bags",
        "bag_entries",
        "own_words",
        "own_pages",
        "without_words",
        "document_links",
        "listing_pages",
        "answers",
    )
    index = {name: sum(part[name] for part in parts) for name in added}
    index |= dict(zip(("bag_words", "bag_links", "bag_outlinks"), figures["terms"], strict=True))
    index |= {name: parts[0][name] for name in ("site_rule", "nmdf") if name in parts[0]}
    index |= {"epoch": figures["epoch"]} | _shared_facts(task, figures)
    facts = {**task.result("merge")["facts"], "index": index, "seeds": _seeds(task)}
    if task.work.recipe.text:
        facts |= task.result("link_texts")
    if task.work.recipe.clusters:
        facts |= task.result("clusters")
    facts = whole_facts(facts, [shard["facts"] for shard in shards], [shard["entry"] for shard in shards])
    manifest = pack_manifest(make_manifest(facts, {}))
    return {"manifest": manifest.decode("utf-8", "surrogatepass")}
