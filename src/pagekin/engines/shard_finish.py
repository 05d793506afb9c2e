"""The last stages of a sharded build: what links call pages, the stored shards, the manifest."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin import bags, text
from pagekin.engines.shard_clusters import describe_clusters, put_shard_trees
from pagekin.engines.shard_stages import (
    Task,
    find_captured,
    judged_links,
    kept_words,
    open_record,
    raw_bags,
    vocabulary,
)
from pagekin.engines.shards import adopt_shard, whole_facts
from pagekin.hypertext import Corpus, widen_corpus
from pagekin.similarity import make_index
from pagekin.store import (
    KinWriter,
    Names,
    RaggedBytes,
    Workspace,
    make_manifest,
    no_progress,
    open_kin,
    pack_manifest,
    upload_shard,
)

# -- what links call pages ----------------------------------------------------------------------------------------------


def count_uses(task: Task) -> dict[str, Any]:
    """Count the languages in which the words of a shard are used."""
    task.send("uses", text.count_uses(task.corpus(), task.work.shards))
    return {}


def find_languages(task: Task) -> dict[str, Any]:
    """Find the languages of the words in a range of hashes."""
    task.send("words", [text.find_languages(task.receive("uses", "uses", text.WordUses))])
    return {}


def unite_forms(task: Task) -> dict[str, Any]:
    """Find the forms of the same word, over the words of all shards."""
    same = text.unite_forms(task.receive("languages", "words", text.LanguageWords, to=0))
    task.send("same", [same])
    return {"forms": len(same.forms.offsets) - 1}


def call_pages(task: Task) -> dict[str, Any]:
    """Send to all shards the link texts with which this shard refers to their pages."""
    corpus, room = task.corpus(), Workspace(task.room, task.memory)
    same = text.SameForms(Names.of([]), Names.of([]))
    if text.have_stemmers(task.result("merge")["facts"]["language_codes"]):
        same = task.receive_from("same", 0, "same", text.SameForms, to=0)
    calls = text.call_pages(corpus, same, find_captured(task), task.url_cuts(corpus), room)
    task.send("called", calls.called)
    task.send("said", calls.said)
    task.send("wanted", calls.wanted)
    return {}


def show_forms(task: Task) -> dict[str, Any]:
    """Choose the display words of the forms in a range of hashes."""
    said, wanted = task.receive("call", "said", text.SaidWords), task.receive("call", "wanted", text.WantedForms)
    shown, forms = text.show_forms(said, wanted, task.work.shards)
    task.send("shown", shown)
    return {"forms": forms}


# -- shards -------------------------------------------------------------------------------------------------------------


def finish_shard(task: Task) -> dict[str, Any]:
    """Write a shard in its final form: corpus, weighted bags, links, signatures, lists, text, trees and label."""
    recipe, number, cut = task.work.recipe, task.number, task.cuts[task.number]
    figures = task.result("figures")
    called, words = _join_called(task) if recipe.text else (None, [])
    with KinWriter(task.room / "made.kin", "pagekin build") as writer:
        folder = writer.work / f"shard-{number}"
        with KinWriter(folder, "pagekin build", task.memory) as own:
            facts, corpus, index = _write_bags(task, own, figures, words)
            index |= make_index(own.view(facts), recipe.strategy, own, no_progress, task.threads, of_shard=True)
            facts |= {"index": index, "seeds": _seeds(task)}
            facts["shard"] = {
                "number": number, "of": task.work.shards, "first_page": cut.first_page,
                "first_document": figures["firsts"][number],
            }  # fmt: skip
            if called:
                facts |= text.make_text(own, corpus, threads=task.threads, link_texts=called)
            if recipe.clusters:
                facts |= put_shard_trees(task, own, corpus, cut)
            own.commit(facts)
        first_address = task.bounds[number - 1].decode("utf-8", "replace") if number else ""
        entry = adopt_shard(writer, folder, cut, first_address)
        sizes = open_kin(writer.path / entry["folder"]).bytes_on_disk
        upload_shard(writer.path / entry["folder"], task.work.place or task.work.out)
    return {
        "entry": entry,
        "facts": {name: facts[name] for name in ("index", "text", "trees") if name in facts},
        "bytes": sizes,
    }


def _seeds(task: Task) -> dict[str, Any]:
    return {**task.result("merge")["facts"].get("seeds", {}), "signatures": task.work.recipe.strategy.signature.seed}


def _join_called(task: Task) -> tuple[text.LinkTexts, list[bytes]]:
    """Return all shards' link texts for the pages of one, and the words in them."""
    called = task.receive("call", "called", text.CalledAddresses)
    return text.join_called(task.corpus(), called, task.receive("show", "shown", text.ShownForms))


def _write_bags(
    task: Task, writer: KinWriter, figures: dict[str, Any], called: Sequence[bytes]
) -> tuple[dict[str, Any], Corpus, dict[str, Any]]:
    """Write a shard's corpus, bags and links; return (facts, corpus, facts of the bags)."""
    strategy, corpus, raw = task.work.recipe.strategy, task.wide_corpus(), raw_bags(task)
    words = vocabulary(task, "bags")
    frequencies = bags.sum_frequencies(task.receive("sum", "frequencies", bags.Frequencies))
    frequencies = frequencies._replace(totals=np.array(figures["totals"], np.int64))
    shown = {
        key: word
        for part in task.receive("sum", "shown", bags.DisplayWords)
        for key, word in zip(part.hashes.tolist(), RaggedBytes(part.words, part.offsets), strict=True)
    }
    facts, stored = _write_corpus(task, writer, corpus, raw, shown, called)
    rule = bags.SiteRule(*figures["site_rule"])
    sites = task.receive_from("figures", 0, "sites", bags.SiteNumbers)
    presentation = bags.Presentation(
        _number_urls(corpus, stored),
        _number_words(stored, [shown.get(key, b"") for key in words.hashes.tolist()]),
        bags.site_column(corpus, task.own_addresses(corpus), raw.urls, sites, rule),
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
    """Return the facts of an index that are equal in the whole and its shards."""
    strategy = task.work.recipe.strategy
    return {
        "window_words": figures["window_words"], "not_citing": 0, "strategy": strategy.as_dict(),
        "digest": strategy.digest(),
    }  # fmt: skip


def _write_corpus(
    task: Task, writer: KinWriter, wide: Corpus, raw: bags.Raw, shown: dict[int, bytes], called: Sequence[bytes]
) -> tuple[dict[str, Any], Corpus]:
    """Write the corpus of a shard with the words and addresses of its bags and of the link texts to its pages."""
    base = task.corpus()
    used = np.unique(raw.citing[np.flatnonzero(raw.df[raw.limits[0] : raw.limits[1]])])
    facts = widen_corpus(base, [wide.urls[url] for url in used.tolist()], [*shown.values(), *called], writer)
    written = writer.view({}).arrays.keys()
    for name, array in base.kin.arrays.items():
        if name not in written:
            writer.put(name, np.asarray(array))
    return facts, Corpus(writer.view(facts))


def _number_urls(wide: Corpus, stored: Corpus) -> npt.NDArray[np.int64]:
    """Return the numbers of a wide corpus's addresses in a stored one; -1 for unknown addresses."""
    if len(wide.urls) == len(stored.urls):  # it knows no others
        return np.arange(len(wide.urls))
    number = {name: place for place, name in enumerate(stored.urls)}
    return np.fromiter((number.get(name, -1) for name in wide.urls), np.int64, len(wide.urls))


def _number_words(corpus: Corpus, words: list[bytes]) -> npt.NDArray[np.int64]:
    """Return the terms of some words in a corpus; 0 for unknown ones, which are never displayed."""
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
        forms = sum(task.result("show", one)["forms"] for one in range(task.work.shards))
        facts |= text.describe_text(facts["pages"], forms)
    if task.work.recipe.clusters:
        facts |= describe_clusters(task, [shard["facts"] for shard in shards])
    facts = whole_facts(facts, [shard["facts"] for shard in shards], [shard["entry"] for shard in shards])
    manifest = pack_manifest(make_manifest(facts, {}))
    return {"manifest": manifest.decode("utf-8", "surrogatepass")}
