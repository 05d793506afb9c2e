"""Clusters of a sharded build: made of a sample of the pages by one task, and joined by the pages of each shard.

The sample are the pages whose addresses have the least hashes, as many as the settings say, so no task holds more of them
however large the collection is. If all pages are in it, its trees are cut for the shards, and no shard may begin inside of one of
its composite documents. Otherwise each shard puts its own pages to the nearest clusters, and finds its own documents.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pagekin import hypertext
from pagekin.bags import BagWorkshop
from pagekin.clusters import (
    PageTopics,
    SampledPages,
    describe_sample,
    document_tree,
    join_shard,
    make_trees,
    put_trees,
    read_trees,
)
from pagekin.engines.corpus_stages import forget_part, read_parts, reading_facts
from pagekin.engines.local import Stages, require_pages, write_tree_facts
from pagekin.engines.sample import pick_sample
from pagekin.engines.shard_stages import Task, keep_record, open_record
from pagekin.engines.shards import WHOLE, close_documents, cut_trees
from pagekin.hypertext import Corpus, Cut
from pagekin.labels import put_label
from pagekin.store import KinWriter, Workspace, no_progress

_SAMPLE = "sample"
"""The name under which clusters keep what shards need to join them."""


# -- the sample ---------------------------------------------------------------------------------------------------------


def pick(task: Task) -> dict[str, Any]:
    """Send the sampled pages of a group of parts to the task that clusters them."""
    spool, limit = task.spool("picked", 1), int(task.result("ranges")["sample_limit"])
    for number, part in enumerate(read_parts(task, [task.number])):
        folder = task.room / f"picked-{number}"
        for picked in pick_sample(part, limit, folder):
            task.add_to_spool(spool, 0, hypertext.read_part(picked))
        forget_part(task, part)
        shutil.rmtree(folder)
    return {}


def merge_whole(task: Task) -> dict[str, Any]:
    """Merge the corpus of the sample; if it has all pages, find the documents that no shard may divide."""
    is_sample, settings = task.result("ranges")["sample_limit"] is not None, reading_facts(task)
    if is_sample:
        picked = enumerate(task.receive_spooled("pick", "picked", hypertext.Part))
        parts = [hypertext.write_part(part, task.room / f"part-{number}") for number, part in picked]
    else:
        parts = list(read_parts(task, range(task.work.shards)))
    task.kept = task.room / WHOLE
    with KinWriter(task.kept, "pagekin build", task.memory) as writer:
        closed = merge_sample(
            parts, writer, is_sample, settings["all_captures"], task.work.out,
            lambda facts: facts | settings["settings"] | {"seeds": {}},
        )  # fmt: skip
    task.send("closed", [closed])
    return {"is_sample": is_sample}


def merge_sample(
    parts: Sequence[Path], writer: KinWriter, is_sample: bool, all_captures: bool, out: str,
    describe: Callable[[dict[str, Any]], dict[str, Any]], progress: Callable[[float], None] = lambda _share: None,
) -> hypertext.ClosedRanges:  # fmt: skip
    """Merge parts into the corpus for clustering and commit it; return the ranges of addresses that no shard may divide."""
    facts = describe(hypertext.merge_parts(list(parts), writer, all_captures, progress))
    corpus = Corpus(writer.view(facts))
    require_pages(len(corpus), facts["skipped"], out)
    space = Workspace(writer.work, writer.memory)
    closed = close_documents(corpus, [] if is_sample else [document_tree(corpus, space)])
    writer.commit(facts)
    return closed


# -- clusters -----------------------------------------------------------------------------------------------------------


def make_clusters(task: Task) -> dict[str, Any]:
    """Cluster the pages of the sample and name the clusters; if they are all pages, make topics and the label, too."""
    recipe, kin, is_sample = task.work.recipe, task.open("whole", 0), task.result("whole")["is_sample"]
    assert recipe.clusters is not None
    task.kept = task.room / WHOLE  # the label has this name
    with KinWriter(task.kept, "pagekin build", task.memory) as writer:
        corpus = Corpus(replace(kin, path=task.kept))
        workshop = BagWorkshop(corpus, task.room / "bags", task.threads, memory=task.memory)
        trees = make_trees(corpus, recipe.clusters, None, no_progress, task.threads, recipe.names, workshop)
        shape = {}
        if is_sample:
            trees[0] = replace(trees[0], facts={**trees[0].facts, "sampled": len(corpus)})
            facts = put_trees(writer, trees[:2])
            shape = keep_record(writer, _SAMPLE, describe_sample(corpus, trees[0], workshop))
        else:
            facts = write_tree_facts(writer, corpus, trees, None, task.threads, Stages(no_progress), workshop)
        writer.commit({**facts, **shape, "pages": len(corpus)})
    return {"facts": facts, "is_sample": is_sample}


def put_shard_trees(task: Task, writer: KinWriter, corpus: Corpus, cut: Cut) -> dict[str, Any]:
    """Write the trees, topics and label of a shard; return the facts about them."""
    kin = task.open("clusters", 0)
    trees = read_trees(kin)
    if not task.result("clusters")["is_sample"]:
        return cut_trees(kin, trees, cut, writer, corpus, task.threads)
    workshop = BagWorkshop(corpus, task.room / "workshop", task.threads, memory=task.memory)
    sample = open_record(kin, _SAMPLE, SampledPages).copy(workshop.space)
    joined = join_shard(corpus, sample, trees, workshop, task.threads)
    PageTopics.of(corpus, task.threads, joined[0].facts["method"] == "default", workshop).put(writer)
    return put_trees(writer, joined) | put_label(writer, corpus, joined, None, None, task.threads)


def describe_clusters(task: Task, shards: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the facts about the trees of the whole, given those of its shards."""
    clusters = task.result("clusters")
    if not clusters["is_sample"]:
        return dict(clusters["facts"])
    documents = sum(shard["trees"][0]["documents"] for shard in shards)
    return {"trees": [{**clusters["facts"]["trees"][0], "documents": documents}]}
