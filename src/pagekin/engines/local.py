"""Builds on this machine: compiled kernels on as many threads as there are cores."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import BagWorkshop, Strategy, StrategyError, is_shard, make_bags
from pagekin.clusters import (
    NO_NAMES,
    THESAURUS_ARRAYS,
    TREE_ARRAYS,
    ClusterSettings,
    Directory,
    KeptNames,
    PageTopics,
    Tree,
    make_trees,
    put_trees,
    read_trees,
)
from pagekin.engines.needs import require_memory, require_room
from pagekin.hypertext import (
    Corpus,
    Note,
    ReadPlan,
    ReadReport,
    check_corpus,
    default_workers,
    no_note,
    read_sources_into,
)
from pagekin.labels import LABEL_ARRAYS, AddedTerm, LabelError, put_label
from pagekin.similarity import INDEX_ARRAYS, make_index
from pagekin.store import NO_LIMIT, Kin, KinError, KinWriter, MemoryBudget, Progress, no_progress, open_kin
from pagekin.text import TEXT_ARRAYS, is_outdated, make_text, unfit_reason


class Stages:
    """A clock that measures how long each stage takes, and passes progress on.

    Stages report when a piece of work is done, so the time since the last report is theirs.
    """

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._since = time.perf_counter()

    def tell(self, stage: str, share: float) -> None:
        """Note that a part of a stage is done."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
        self._progress(stage, share)


@dataclass
class BuildReport:
    """Facts, times and sizes of a finished build."""

    facts: dict[str, Any]
    read: ReadReport | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """Time per stage of indexing."""
    bytes_on_disk: dict[str, int] = field(default_factory=dict)
    replaced: str | None = None
    """The name of the strategy of the index that was there before, if it had other settings."""


def build_collection(
    plan: ReadPlan,
    strategy: Strategy,
    progress: Progress = no_progress,
    clusters: ClusterSettings | None = None,
    text: bool = False,
    names: KeptNames = NO_NAMES,
    note: Note = no_note,
) -> BuildReport:
    """Read all sources and index them: one commit, so that readers see the old collection or the new one.

    With `clusters` pages are put into clusters, which keep their `names`, and the label is made; with `text` they can be
    searched. A build that was stopped goes on from what it had read, if sources and settings of reading are the same;
    `note` is told so.
    """
    _check(strategy)
    plan = replace(plan, units=require_room(plan, clusters is not None, text, note))
    with KinWriter(plan.out, "pagekin build", plan.memory) as writer:
        before = None
        with contextlib.suppress(KinError):
            before = open_kin(plan.out)
        read = read_sources_into(writer, plan, progress, note)
        corpus = Corpus(writer.view(read.facts))
        stages = Stages(progress)
        facts = {**read.facts, **_index_facts(writer, corpus, strategy, stages, plan.workers, None)}
        if text:
            facts |= make_text(writer, corpus, stages.tell)
        if clusters:
            threads = _thread_count(plan.workers)
            with TemporaryDirectory(dir=writer.work) as folder:
                workshop = BagWorkshop(corpus, Path(folder), threads, memory=plan.memory)
                trees = make_trees(corpus, clusters, None, stages.tell, threads, names, workshop)
                facts |= _tree_facts(writer, corpus, trees, before, threads, stages, workshop)
        stages.tell("saving", 0.0)
        writer.commit(facts)
        stages.tell("saving", 1.0)
    return BuildReport(facts, read, stages.seconds, open_kin(plan.out).bytes_on_disk)


def index_collection(
    path: Path,
    strategy: Strategy,
    progress: Progress = no_progress,
    threads: int = 0,
    not_citing: Callable[[Corpus], npt.NDArray[np.int64]] | None = None,
    text: bool = False,
    memory: MemoryBudget = NO_LIMIT,
) -> BuildReport:
    """Index a collection that has been read, in place of the index it may have. No page is read again.

    With `text` its words become searchable, unless they are; a text index of an earlier version is renewed.
    """
    _check(strategy)
    with _renew(path, "pagekin index", memory) as (writer, corpus):
        stages = Stages(progress)
        left_out = not_citing(corpus) if not_citing else None
        facts = _index_facts(writer, corpus, strategy, stages, threads, left_out)
        anew: tuple[str, ...] = INDEX_ARRAYS
        if text and (unfit_reason(corpus.kin) or is_outdated(corpus.kin)):
            facts |= make_text(writer, corpus, stages.tell, threads)
            anew += TEXT_ARRAYS
        stages.tell("saving", 0.0)
        _commit(writer, corpus, facts, anew)
        stages.tell("saving", 1.0)
    before = corpus.facts.get("index", {})
    replaced = before["strategy"]["name"] if before and _settings(before) != _settings(facts["index"]) else None
    return BuildReport({**corpus.facts, **facts}, None, stages.seconds, open_kin(path).bytes_on_disk, replaced)


def _thread_count(asked: int) -> int:
    """Return the number of threads to run: one per core for 0, and never more, which would only cost memory."""
    return min(asked or default_workers(), default_workers())


def _settings(index: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what an index depends on besides its collection."""
    return index.get("digest"), index.get("not_citing")


def _check(strategy: Strategy) -> None:
    if strategy.metric != "jaccard":
        raise StrategyError(
            f"an index needs metric = 'jaccard', not '{strategy.metric}': signatures exist for Jaccard alone; "
            "cosine is for comparing strategies"
        )


@contextlib.contextmanager
def _renew(path: Path, purpose: str, memory: MemoryBudget = NO_LIMIT) -> Iterator[tuple[KinWriter, Corpus]]:
    """Open a collection to make a part of it again; refuse a damaged one: compiled code does not check where it reads."""
    require_memory(
        memory, int(open_kin(path).facts["html_bytes"])
    )  # a folder that is no collection is refused, not made
    with KinWriter(path, purpose, memory) as writer:
        corpus = Corpus.open(path)
        if is_shard(corpus.kin):
            raise KinError(
                f"{path} is a shard, and what it holds goes by the whole collection: make that again, by pagekin build --shards."
            )
        if damage := next(check_corpus(corpus.kin), None):
            raise KinError(f"{path} is damaged: {damage.where} {damage.what}. Run: pagekin check {path}")
        yield writer, corpus


def _commit(writer: KinWriter, corpus: Corpus, facts: Mapping[str, Any], anew: tuple[str, ...]) -> None:
    """Commit what was made again with its facts, and keep all other arrays and facts of a collection."""
    files = corpus.kin.manifest["files"].items()
    keep = {name: entry for name, entry in files if not name.startswith(anew)}
    writer.commit({**corpus.facts, **facts}, keep)


def cluster_collection(
    path: Path, settings: ClusterSettings, directory: Directory | None = None,
    progress: Progress = no_progress, threads: int = 0, names: KeptNames = NO_NAMES, memory: MemoryBudget = NO_LIMIT,
) -> list[Tree]:  # fmt: skip
    """Make the clusters of a collection and its label, in place of those it has; `names` are those that topics keep."""
    threads = _thread_count(threads)
    with _renew(path, "pagekin cluster", memory) as (writer, corpus):
        stages = Stages(progress)
        with TemporaryDirectory(dir=writer.work) as folder:
            workshop = BagWorkshop(corpus, Path(folder), threads, memory=memory)
            trees = make_trees(corpus, settings, directory, stages.tell, threads, names, workshop)
            facts = _tree_facts(writer, corpus, trees, corpus.kin, threads, stages, workshop)
        _commit(writer, corpus, facts, (TREE_ARRAYS, LABEL_ARRAYS, THESAURUS_ARRAYS))
    return trees


def label_collection(path: Path, added: Sequence[AddedTerm], threads: int = 1) -> None:
    """Make the label of a collection again, with these terms added."""
    with _renew(path, "pagekin label") as (writer, corpus):
        trees = read_trees(corpus.kin)
        if not any(tree.name == "clusters" for tree in trees):
            raise LabelError(f"{path} has no clusters yet. Make them with: pagekin cluster {path}")
        _commit(writer, corpus, put_label(writer, corpus, trees, corpus.kin, added, threads), (LABEL_ARRAYS,))


def _tree_facts(
    writer: KinWriter, corpus: Corpus, trees: list[Tree], before: Kin | None, threads: int, stages: Stages,
    workshop: BagWorkshop,
) -> dict[str, Any]:  # fmt: skip
    """Write trees, what pages are about, and the label; give the facts about them."""
    stages.tell("topics", 0.0)
    PageTopics.of(corpus, threads, trees[0].facts["method"] == "default", workshop).put(writer)
    stages.tell("topics", 1.0)
    stages.tell("label", 0.0)
    facts = put_trees(writer, trees) | put_label(writer, corpus, trees, before, None, threads)
    stages.tell("label", 1.0)
    return facts


def _index_facts(
    writer: KinWriter, corpus: Corpus, strategy: Strategy, stages: Stages, threads: int,
    not_citing: npt.NDArray[np.int64] | None,
) -> dict[str, Any]:  # fmt: skip
    """Write all arrays of the index; give the facts to add to the manifest."""
    if not len(corpus):
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in corpus.facts["skipped"].items())
        raise KinError(
            f"there is nothing to index: no page was found, and a page is HTML with status 200. "
            f"Skipped: {skipped or 'nothing'}. {corpus.kin.path} is left as it was."
        )
    threads = _thread_count(threads)
    facts = make_bags(corpus, strategy, writer, stages.tell, not_citing, threads)
    kin: Kin = writer.view(corpus.facts, corpus.kin)
    if not facts["bags"]:
        raise KinError(
            f"there is nothing to index: no page has a word that counts by the strategy '{strategy.name}'. "
            f"{corpus.kin.path} is left as it was."
        )
    facts |= make_index(kin, strategy, writer, stages.tell, threads)
    facts |= {"strategy": strategy.as_dict(), "digest": strategy.digest()}
    return {"index": facts, "seeds": {**corpus.facts.get("seeds", {}), "signatures": strategy.signature.seed}}
