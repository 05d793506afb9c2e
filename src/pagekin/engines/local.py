"""Build on this machine: compiled kernels on as many threads as there are cores."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from pagekin.bags import BagWorkshop, Strategy, StrategyError, is_shard, make_bags, strategy_of_index
from pagekin.clusters import (
    NO_NAMES,
    THESAURUS_ARRAYS,
    TREE_ARRAYS,
    ClusterSettings,
    Directory,
    KeptNames,
    PageTopics,
    Tree,
    follow_trees,
    make_trees,
    put_trees,
    read_trees,
)
from pagekin.engines.needs import require_memory, require_room
from pagekin.engines.sample import sample_size
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
from pagekin.labels import LABEL_ARRAYS, AddedTerm, LabelError, added_terms, put_label
from pagekin.similarity import INDEX_ARRAYS, make_index
from pagekin.store import NO_LIMIT, Kin, KinError, KinWriter, MemoryBudget, Progress, no_progress, open_kin
from pagekin.text import TEXT_ARRAYS, is_outdated, make_text, unfit_reason


class Stages:
    """A clock that measures each stage and forwards progress.

    Stages report when a piece of work is done, so the time since the last report is theirs.
    """

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._since = time.perf_counter()

    def tell(self, stage: str, share: float) -> None:
        """Report that a part of a stage is done."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
        self._progress(stage, share)


@dataclass
class BuildReport:
    """The facts, times and sizes of a finished build."""

    facts: dict[str, Any]
    read: ReadReport | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """Time per stage of indexing."""
    bytes_on_disk: dict[str, int] = field(default_factory=dict)
    replaced: str | None = None
    """The name of the strategy of the index that was there before, if it had other settings."""
    failed_files: dict[str, str] = field(default_factory=dict)
    """Files that a cluster could not read and was allowed to leave out, and why."""


@dataclass(frozen=True)
class BuildRecipe:
    """The settings of the stages after reading."""

    strategy: Strategy
    clusters: ClusterSettings | None = None
    """Without them pages are put into no clusters, and there is no label."""
    text: bool = False
    """Whether pages can be searched."""
    names: KeptNames = NO_NAMES
    """Names that clusters keep."""

    @classmethod
    def of(cls, kin: Kin, kept: Mapping[str, Any]) -> "BuildRecipe":
        """Return the recipe of a collection, given the facts that are `kept` with its parts."""
        trees = [tree for tree in kin.facts.get("trees", ()) if tree["name"] == "clusters"]
        return cls(
            strategy_of_index(kin.facts["index"]),
            ClusterSettings.from_facts(trees[0]) if trees else None,
            "text" in kin.facts,
            msgspec.convert(kept.get("names", {}), KeptNames),
        )

    def settings(self) -> list[Any]:
        """Return what decides the result of all stages, but for the names of topics."""
        return [self.strategy.digest(), self.clusters.as_facts() if self.clusters else {}, self.text]

    def to_keep(self) -> dict[str, Any]:
        """Return the settings that are not in the manifest, for `of` to read back."""
        return names_to_keep(self.names)


def names_to_keep(names: KeptNames) -> dict[str, Any]:
    """Return the names of topics in the form that is kept for later builds."""
    return {"names": msgspec.to_builtins(names)}


def build_collection(
    plan: ReadPlan, recipe: BuildRecipe, progress: Progress = no_progress, note: Note = no_note
) -> BuildReport:
    """Read and index all sources in one commit: readers see the old collection or the new one.

    A build that was stopped goes on from what it had read, if sources and settings of reading are the same; `note` is told so.
    """
    plan = check_build(plan, recipe, note)
    with KinWriter(plan.out, "pagekin build", plan.memory) as writer:
        before = None
        with contextlib.suppress(KinError):
            before = open_kin(plan.out)
        added = added_terms(before.facts) if before else ()
        if plan.opt_outs:
            before = None  # words of its label may come from pages of which nothing is to be left
        return build_into(writer, plan, recipe, progress, note, before, added)


def check_build(plan: ReadPlan, recipe: BuildRecipe, note: Note, shards: int = 1) -> ReadPlan:
    """Return a plan with its units; raise an error if nothing could be indexed, or memory or disk would not do."""
    check_strategy(recipe.strategy)
    sample = sample_size(recipe.clusters) if recipe.clusters else 0
    clusters = recipe.clusters is not None
    return replace(plan, units=require_room(plan, clusters, recipe.text, note, shards=shards, sample=sample))


def build_into(
    writer: KinWriter, plan: ReadPlan, recipe: BuildRecipe, progress: Progress, note: Note,
    before: Kin | None, added: Sequence[AddedTerm] | None = None, follow: bool = False,
) -> BuildReport:  # fmt: skip
    """Read the sources of a plan, index them, and commit with `writer`.

    Of the collection `before`, label parts that hardly differ stay, and the terms that were added unless others are given. So
    do clusters, with `follow`, if few pages differ.
    """
    read = read_sources_into(writer, replace(plan, recipe=recipe.to_keep()), progress, note)
    corpus = Corpus(writer.view(read.facts))
    stages = Stages(progress)
    facts = {**read.facts, **_index_facts(writer, corpus, recipe.strategy, stages, plan.workers, None)}
    if recipe.text:
        facts |= make_text(writer, corpus, stages.tell)
    if recipe.clusters:
        threads = thread_count(plan.workers)
        with TemporaryDirectory(dir=writer.work) as folder:
            workshop = BagWorkshop(corpus, Path(folder), threads, memory=plan.memory)
            trees = (
                _follow(corpus, before, recipe.clusters, workshop, stages, threads, note) if before and follow else []
            )
            trees = trees or make_trees(corpus, recipe.clusters, None, stages.tell, threads, recipe.names, workshop)
            facts |= write_tree_facts(writer, corpus, trees, before, threads, stages, workshop, added)
    stages.tell("saving", 0.0)
    writer.commit(facts)
    stages.tell("saving", 1.0)
    return BuildReport(facts, read, stages.seconds, open_kin(plan.out).bytes_on_disk)


def _follow(
    corpus: Corpus, before: Kin, settings: ClusterSettings, workshop: BagWorkshop, stages: Stages, threads: int, note: Note
) -> list[Tree]:  # fmt: skip
    """Return the previous trees extended to the pages of a corpus, or none; note the reason."""
    followed = follow_trees(corpus, Corpus(before), read_trees(before), workshop, settings.sample, stages.tell, threads)
    stages.tell("joining", 1.0)
    if followed.reason:
        note(f"clusters are made anew: {followed.reason}")
        note_lost_directory(before, note)
    elif followed.joined:
        note(f"{followed.joined:,} pages join the clusters nearest to them; pagekin compact makes clusters anew")
    return followed.trees


def note_lost_directory(kin: Kin, note: Note) -> None:
    """Note that a collection's directory hierarchy is not rebuilt with its clusters."""
    if any(tree["name"] == "directory" for tree in kin.facts.get("trees", ())):
        note(f"the directory beside the clusters is left out; add it: pagekin cluster {kin.path} --directory FILE")


def index_collection(
    path: Path,
    strategy: Strategy,
    progress: Progress = no_progress,
    threads: int = 0,
    not_citing: Callable[[Corpus], npt.NDArray[np.int64]] | None = None,
    text: bool = False,
    memory: MemoryBudget = NO_LIMIT,
) -> BuildReport:
    """Index a collection again without reading pages again.

    With `text` its words become searchable, unless they are; a text index of an earlier version is renewed.
    """
    check_strategy(strategy)
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


def thread_count(asked: int) -> int:
    """Return the number of threads to run: one per core for 0, and never more than cores."""
    return min(asked or default_workers(), default_workers())


def _settings(index: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the settings that an index depends on."""
    return index.get("digest"), index.get("not_citing")


def check_strategy(strategy: Strategy) -> None:
    """Raise an error for a strategy that would leave nothing to index."""
    if strategy.metric != "jaccard":
        raise StrategyError(
            f"an index needs metric = 'jaccard', not '{strategy.metric}': signatures exist only for Jaccard; "
            "cosine is for `pagekin evaluate`"
        )


@contextlib.contextmanager
def _renew(path: Path, purpose: str, memory: MemoryBudget = NO_LIMIT) -> Iterator[tuple[KinWriter, Corpus]]:
    """Open a collection to rebuild a part of it; refuse a damaged one, because kernels do not check array bounds."""
    require_memory(
        memory, int(open_kin(path).facts["html_bytes"])
    )  # a folder that is no collection is refused, not made
    with KinWriter(path, purpose, memory) as writer:
        corpus = Corpus.open(path)
        if is_shard(corpus.kin):
            raise KinError(
                f"{path} is a shard, which depends on the whole collection: build that again with pagekin build --shards."
            )
        if damage := next(check_corpus(corpus.kin), None):
            raise KinError(f"{path} is damaged: {damage.where} {damage.what}. Run: pagekin check {path}")
        yield writer, corpus


def _commit(writer: KinWriter, corpus: Corpus, facts: Mapping[str, Any], anew: tuple[str, ...]) -> None:
    """Commit new arrays and facts, and keep all others of a collection."""
    files = corpus.kin.manifest["files"].items()
    keep = {name: entry for name, entry in files if not name.startswith(anew)}
    writer.commit({**corpus.facts, **facts}, keep)


def cluster_collection(
    path: Path, settings: ClusterSettings, directory: Directory | None = None,
    progress: Progress = no_progress, threads: int = 0, names: KeptNames = NO_NAMES, memory: MemoryBudget = NO_LIMIT,
) -> list[Tree]:  # fmt: skip
    """Replace the clusters and the label of a collection; `names` are the topic names to keep."""
    threads = thread_count(threads)
    with _renew(path, "pagekin cluster", memory) as (writer, corpus):
        stages = Stages(progress)
        with TemporaryDirectory(dir=writer.work) as folder:
            workshop = BagWorkshop(corpus, Path(folder), threads, memory=memory)
            trees = make_trees(corpus, settings, directory, stages.tell, threads, names, workshop)
            facts = write_tree_facts(writer, corpus, trees, corpus.kin, threads, stages, workshop)
        writer.note_kept({"recipe": names_to_keep(names)})
        _commit(writer, corpus, facts, (TREE_ARRAYS, LABEL_ARRAYS, THESAURUS_ARRAYS))
    return trees


def label_collection(path: Path, added: Sequence[AddedTerm], threads: int = 1) -> None:
    """Replace the label of a collection, with these terms added."""
    with _renew(path, "pagekin label") as (writer, corpus):
        trees = read_trees(corpus.kin)
        if not any(tree.name == "clusters" for tree in trees):
            raise LabelError(f"{path} has no clusters yet. Make them with: pagekin cluster {path}")
        _commit(writer, corpus, put_label(writer, corpus, trees, corpus.kin, added, threads), (LABEL_ARRAYS,))


def write_tree_facts(
    writer: KinWriter, corpus: Corpus, trees: list[Tree], before: Kin | None, threads: int, stages: Stages,
    workshop: BagWorkshop, added: Sequence[AddedTerm] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Write the trees, the pages' topics and the label; return the facts about them."""
    stages.tell("topics", 0.0)
    PageTopics.of(corpus, threads, trees[0].facts["method"] == "default", workshop).put(writer)
    stages.tell("topics", 1.0)
    stages.tell("label", 0.0)
    facts = put_trees(writer, trees) | put_label(writer, corpus, trees, before, added, threads)
    stages.tell("label", 1.0)
    return facts


def _index_facts(
    writer: KinWriter, corpus: Corpus, strategy: Strategy, stages: Stages, threads: int,
    not_citing: npt.NDArray[np.int64] | None,
) -> dict[str, Any]:  # fmt: skip
    """Write all arrays of the index; return the facts for the manifest."""
    require_pages(len(corpus), corpus.facts["skipped"], corpus.kin.path)
    threads = thread_count(threads)
    facts = make_bags(corpus, strategy, writer, stages.tell, not_citing, threads)
    kin: Kin = writer.view(corpus.facts, corpus.kin)
    require_bags(facts["bags"], strategy, corpus.kin.path)
    facts |= make_index(kin, strategy, writer, stages.tell, threads)
    facts |= {"strategy": strategy.as_dict(), "digest": strategy.digest()}
    return {"index": facts, "seeds": {**corpus.facts.get("seeds", {}), "signatures": strategy.signature.seed}}


def require_pages(pages: int, left_out: Mapping[str, int], out: str | Path) -> None:
    """Raise an error if a collection, meant for `out`, has no page; say what was skipped."""
    if not pages:
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
        pdfs = " PDFs count as pages with --set-limit pdf_pages=500." if "not html" in left_out else ""
        raise KinError(
            f"there is nothing to index: no page was found, and a page is HTML with status 200.{pdfs} "
            f"Skipped: {skipped or 'nothing'}. {out} is left as it was."
        )


def require_bags(bags: int, strategy: Strategy, out: str | Path) -> None:
    """Raise an error if a collection, meant for `out`, has no bag."""
    if not bags:
        raise KinError(
            f"there is nothing to index: no page has a word that counts with the strategy '{strategy.name}'. "
            f"{out} is left as it was."
        )
