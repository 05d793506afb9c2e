"""The build on this machine: compiled kernels on as many threads as there are cores."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import Strategy, StrategyError
from pagekin.bags.build import make_bags
from pagekin.hypertext import Corpus, check_corpus
from pagekin.hypertext.read import ReadPlan, ReadReport, default_workers, read_into
from pagekin.similarity.check import ARRAYS
from pagekin.similarity.index import make_index
from pagekin.similarity.sites import site_numbers
from pagekin.store import Kin, KinError, KinWriter, open_kin, smallest_uint

Progress = Callable[[str, float], None]


@dataclass
class BuildReport:
    """How a build went."""

    facts: dict[str, Any]
    read: ReadReport | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """Time per stage of indexing."""
    bytes_on_disk: dict[str, int] = field(default_factory=dict)
    replaced: str | None = None
    """The name of the strategy of the index that was there before, if it had other settings."""


class _Stages:
    """A clock that notes how long each stage took, and passes progress on.

    Stages report when a piece of work is done, so the time since the last report is theirs.
    """

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._since = time.perf_counter()

    def tell(self, stage: str, share: float) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
        self._progress(stage, share)


def build_collection(plan: ReadPlan, strategy: Strategy, progress: Progress = lambda _s, _p: None) -> BuildReport:
    """Read all sources and index them: one commit, so that readers see the old collection or the new one."""
    _check(strategy)
    with KinWriter(plan.out, "pagekin build") as writer:
        read = read_into(writer, plan, progress)
        corpus = Corpus(writer.view(read.facts))
        stages = _Stages(progress)
        facts = {**read.facts, **_index_facts(writer, corpus, strategy, stages, plan.workers, None)}
        stages.tell("saving", 0.0)
        writer.commit(facts)
        stages.tell("saving", 1.0)
    return BuildReport(facts, read, stages.seconds, open_kin(plan.out).bytes_on_disk)


def index_collection(
    path: Path,
    strategy: Strategy,
    progress: Progress = lambda _s, _p: None,
    threads: int = 0,
    not_citing: Callable[[Corpus], npt.NDArray[np.int64]] | None = None,
) -> BuildReport:
    """Index a collection that has been read, in place of the index it may have. No page is read again."""
    _check(strategy)
    open_kin(path)  # a folder that is no collection is refused, not made
    with KinWriter(path, "pagekin index") as writer:
        corpus = Corpus.open(path)
        kin = corpus.kin
        # Compiled code does not look where it reads, so damage would end it without a word.
        if damage := next(check_corpus(kin), None):
            raise KinError(f"{path} is damaged: {damage.where} {damage.what}. Run: pagekin check {path}")
        stages = _Stages(progress)
        left_out = not_citing(corpus) if not_citing else None
        facts = {**kin.facts, **_index_facts(writer, corpus, strategy, stages, threads, left_out)}
        stages.tell("saving", 0.0)
        writer.commit(facts, keep=_kept(kin.manifest["files"]))
        stages.tell("saving", 1.0)
    before = kin.facts.get("index", {})
    replaced = before["strategy"]["name"] if before and _settings(before) != _settings(facts["index"]) else None
    return BuildReport(facts, None, stages.seconds, open_kin(path).bytes_on_disk, replaced)


def _settings(index: Mapping[str, Any]) -> tuple[Any, ...]:
    """What decides about an index besides its collection."""
    return index.get("digest"), index.get("not_citing")


def _check(strategy: Strategy) -> None:
    if strategy.metric != "jaccard":
        raise StrategyError(
            f"an index needs metric = 'jaccard', not '{strategy.metric}': signatures exist for Jaccard alone; "
            "cosine is for comparing strategies"
        )


def _kept(files: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest entries of the corpus."""
    return {name: entry for name, entry in files.items() if not name.startswith(ARRAYS)}


def _index_facts(
    writer: KinWriter, corpus: Corpus, strategy: Strategy, stages: _Stages, threads: int,
    not_citing: npt.NDArray[np.int64] | None,
) -> dict[str, Any]:  # fmt: skip
    """Write all arrays of the index; give the facts to add to the manifest."""
    if not len(corpus):
        skipped = ", ".join(f"{count:,} {reason}" for reason, count in corpus.facts["skipped"].items())
        raise KinError(
            f"there is nothing to index: no page was found, and a page is HTML with status 200. "
            f"Skipped: {skipped or 'nothing'}. {corpus.kin.path} is left as it was."
        )
    threads = min(threads or default_workers(), default_workers())  # more would only cost memory
    facts = make_bags(corpus, strategy, writer, stages.tell, not_citing, threads)
    kin: Kin = writer.view(corpus.facts, corpus.kin)
    if not facts["bags"]:
        raise KinError(
            f"there is nothing to index: no page has a word that counts by the strategy '{strategy.name}'. "
            f"{corpus.kin.path} is left as it was."
        )
    facts |= make_index(kin, strategy, writer, stages.tell, threads)
    sites, rule = site_numbers(corpus, np.asarray(kin["bag.url"]))
    writer.put("bag.site", sites.astype(smallest_uint(int(sites.max(initial=0)))))
    facts |= {"strategy": strategy.as_dict(), "digest": strategy.digest(), "site_rule": rule}
    return {"index": facts, "seeds": {**corpus.facts.get("seeds", {}), "signatures": strategy.signature.seed}}
