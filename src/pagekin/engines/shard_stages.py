"""Stages of a sharded build from the corpus to merged bags and links; each function runs one task of a stage.

Every function takes a task: its number, what others sent it, and where it may leave something. A stage has a task for each shard,
or for each of as many ranges of hashes, or one alone. Stages follow one another as `shard_plan` says.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pagekin import bags
from pagekin.engines.job_folder import JobFolder, Piece, Spool
from pagekin.engines.local import BuildRecipe, require_bags
from pagekin.hypertext import Corpus, Cut, widen_corpus
from pagekin.store import (
    NO_LIMIT,
    Array,
    Kin,
    KinWriter,
    MemoryBudget,
    RaggedBytes,
    Workspace,
    no_progress,
    on_this_machine,
    open_kin,
    pack_record,
    unpack_record,
)

Record = TypeVar("Record", bound=NamedTuple)


@dataclass(frozen=True)
class ShardWork:
    """The context of all tasks of a sharded build."""

    recipe: BuildRecipe
    shards: int
    out: str
    """The address of the collection."""
    folder: str
    """The address of the folder in which tasks leave what they made, for this input and these settings alone."""
    place: str = ""
    """The address at which finished shards are put; where it is empty, the collection's."""


@dataclass
class Task:
    """One task of a stage, with its input and its results."""

    work: ShardWork
    stage: str
    number: int
    room: Path
    """A folder of its own on the temporary disk."""
    files: contextlib.ExitStack
    threads: int = 1
    memory: MemoryBudget = NO_LIMIT
    sent: dict[str, Sequence[Piece]] = field(default_factory=dict)
    kept: Path | None = None
    """A folder of arrays that others will open."""
    received: int = 0
    rows: int = 0
    """Rows of all records and arrays that it takes and sends: see `count_rows`."""

    @property
    def job(self) -> JobFolder:
        """Return the folder through which tasks exchange results."""
        return JobFolder(self.work.folder)

    @property
    def round(self) -> int:
        """Return the round, for a stage with several."""
        return int(self.stage.partition(".")[2])

    def send(self, kind: str, records: Sequence[Any]) -> None:
        """Store a record for each task of a later stage."""
        self.sent[kind] = [pack_record(record) for record in records]
        self.rows += sum(map(count_rows, records))

    def spool(self, kind: str, count: int) -> Spool:
        """Return a spool on disk for any number of records to each of this many tasks of a later stage."""
        spool = Spool(self.room / f"spool-{kind}", count)
        self.sent[kind] = spool.files
        return spool

    def add_to_spool(self, spool: Spool, to: int, record: NamedTuple) -> None:
        """Add a record for a task of a later stage to a spool."""
        spool.add(to, pack_record(record))
        self.rows += count_rows(record)

    def receive_spooled(self, stage: str, kind: str, record: type[Record]) -> Iterator[Record]:
        """Yield the records that all tasks of a stage spooled for this one."""
        for number in range(self.work.shards):
            for data in self.job.read_spooled(self.job.record(stage, number), kind, self.number):
                yield self._unpack(record, data)

    def receive(
        self, stage: str, kind: str, record: type[Record], to: int | None = None, count: int | None = None
    ) -> list[Record]:
        """Return what all tasks of a stage (or `count`) sent to this one (or to number `to`), in their order."""
        numbers = range(self.work.shards if count is None else count)
        return [self.receive_from(stage, number, kind, record, to) for number in numbers]

    def receive_from(self, stage: str, number: int, kind: str, record: type[Record], to: int | None = None) -> Record:
        """Return what one task of a stage sent to this one (or to number `to`)."""
        data = self.job.read(self.job.record(stage, number), kind, self.number if to is None else to)
        return self._unpack(record, data)

    def _unpack(self, kind: type[Record], data: bytes) -> Record:
        """Return a record that was received, and count it."""
        record = unpack_record(kind, data)
        self.received += len(data)
        self.rows += count_rows(record)
        return record

    def result(self, stage: str, number: int = 0) -> dict[str, Any]:
        """Return the small result of a task."""
        return self.job.record(stage, number).result

    def open(self, stage: str, number: int | None = None) -> Kin:
        """Open the arrays that a task of an earlier stage kept: the task of the same number, or another."""
        kept = self.job.record(stage, self.number if number is None else number).kin
        kin = open_kin(self.files.enter_context(on_this_machine(kept)))
        self.received += sum(kin.bytes_on_disk.values())
        self.rows += max((len(array) for array in kin.arrays.values() if array.dtype != np.uint8), default=0)
        return kin

    @property
    def cuts(self) -> list[Cut]:
        """Return the cuts that divide the whole."""
        return [Cut(*numbers) for numbers in self.result("merge")["cuts"]]

    @property
    def bounds(self) -> list[bytes]:
        """Return the first addresses of all shards but the first."""
        return [name.encode("latin-1") for name in self.result("merge")["bounds"]]

    def corpus(self) -> Corpus:
        """Return the shard's corpus, with the words and addresses of its own pages."""
        return Corpus(self.open("corpus"))

    def wide_corpus(self) -> Corpus:
        """Return the shard's corpus, extended by the words and addresses of links from other shards."""
        base, wide = self.open("corpus"), self.open("bags")
        return Corpus(Kin(base.path, wide.manifest, {**base.arrays, **wide.arrays}))

    def own_addresses(self, corpus: Corpus) -> range:
        """Return the addresses in the shard's range."""
        cuts = self.url_cuts(corpus)
        return range(cuts[self.number], cuts[self.number + 1])

    def url_cuts(self, corpus: Corpus) -> list[int]:
        """Return where the addresses of each shard begin in a corpus, and where the last end."""
        return [0, *map(corpus.urls.nearest, self.bounds), len(corpus.urls)]


class AddressNames(NamedTuple):
    """Addresses sent between tasks."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]


class Flags(NamedTuple):
    """Answers to questions about addresses."""

    are_true: npt.NDArray[np.bool_]


class Hashes(NamedTuple):
    """Hashes sent between tasks."""

    hashes: npt.NDArray[np.uint64]


def count_rows(record: NamedTuple) -> int:
    """Return the length of a record's longest column, where bytes of strings are none; of records in it, all together."""
    inside = sum(count_rows(values) for values in record if hasattr(values, "_fields"))
    columns = (np.asarray(values) for values in record if not hasattr(values, "_fields"))
    return inside + max((column.size for column in columns if column.dtype != np.uint8), default=0)


def keep_record(writer: KinWriter, name: str, record: NamedTuple) -> dict[str, Any]:
    """Write a named tuple of arrays for memory-mapping later; return the fact that describes it."""
    shapes = {}
    for column, values in zip(record._fields, record, strict=True):
        array = np.asarray(values)
        writer.put(f"{name}.{column}", array.reshape(-1))
        shapes[column] = array.shape
    return {name: shapes}


def open_record(kin: Kin, name: str, kind: type[Record]) -> Record:
    """Open a named tuple of arrays that `keep_record` wrote, memory-mapped."""
    shapes = kin.facts[name]
    arrays: list[Any] = [kin[f"{name}.{column}"].reshape(shapes[column]) for column in kind._fields]
    return kind(*arrays)


def _range_pieces(hashes: npt.NDArray[np.uint64], count: int) -> list[Hashes]:
    ranges = bags.ranges_of(hashes, count)
    return [Hashes(hashes[ranges == number]) for number in range(count)]


# -- the corpus ---------------------------------------------------------------------------------------------------------


def ask(task: Task) -> dict[str, Any]:
    """Ask other shards about the addresses and hosts that the pages of this one mention."""
    corpus = task.corpus()
    pieces = []
    for low, high in pairwise(task.url_cuts(corpus)):
        offsets = np.asarray(corpus.urls.offsets[low : high + 1], np.int64)
        pieces.append(AddressNames(np.asarray(corpus.urls.data[offsets[0] : offsets[-1]]), offsets - offsets[0]))
    task.send("asked", pieces)
    task.send("hosts", _range_pieces(bags.host_hashes(corpus), task.work.shards))
    return {"pages": len(corpus), "urls": len(corpus.urls)}


def answer(task: Task) -> dict[str, Any]:
    """Tell all shards which addresses of this range have a page, and which hosts of a range of hashes are divided."""
    corpus = task.corpus()
    asked = task.receive("ask", "asked", AddressNames)
    task.send("captured", [Flags(bags.find_captured(corpus, list(RaggedBytes(*names)))) for names in asked])
    hosts = [part.hashes for part in task.receive("ask", "hosts", Hashes)]
    names, counts = np.unique(np.concatenate(hosts), return_counts=True)
    task.send("cut_hosts", [Hashes(np.intersect1d(some, names[counts > 1])) for some in hosts])
    return {}


def find_captured(task: Task) -> npt.NDArray[np.bool_]:
    """Mark the addresses of a shard's corpus that have a page in any shard."""
    return np.concatenate([part.are_true for part in task.receive("answer", "captured", Flags)])


def find_cut_hosts(task: Task) -> npt.NDArray[np.uint64]:
    """Return the hashes of the hosts of a shard that have pages in other shards, too."""
    return np.concatenate([part.hashes for part in task.receive("answer", "cut_hosts", Hashes)])


# -- furniture ----------------------------------------------------------------------------------------------------------


def judge(task: Task) -> dict[str, Any]:
    """Judge the links of a shard, as far as the counts of earlier rounds allow."""
    corpus = task.corpus()
    captured = find_captured(task)
    cut_hosts = find_cut_hosts(task)
    sums = [bags.sum_tallies(task.receive(f"tally.{number}", "sums", bags.Tally)) for number in range(task.round)]
    judged = bags.judge_links_in_rounds(corpus, task.work.recipe.strategy, captured, cut_hosts, sums)
    if isinstance(judged, bags.Tally):
        task.send("tally", bags.divide_tally(judged, task.work.shards))
        return {"judged": False}
    task.kept = task.room / "judged.kin"
    with KinWriter(task.kept, "pagekin build", task.memory) as writer:
        writer.commit(keep_record(writer, "judged", judged))
    return {"judged": True}


def tally(task: Task) -> dict[str, Any]:
    """Add up the shards' counts of a round, for a range of keys; send each shard the sums that it needs."""
    stage = f"judge.{task.round}"
    parts = {number: task.receive_from(stage, number, "tally", bags.Tally) for number in _unjudged(task, task.round)}
    total = bags.sum_tallies(parts.values())
    nothing = total.take(slice(0))
    task.send(
        "sums",
        [
            bags.select_tally(total, parts[number], bags.ASKED_BY_ALL) if number in parts else nothing
            for number in range(task.work.shards)
        ],
    )
    return {}


def _unjudged(task: Task, last: int) -> list[int]:
    """Return the shards that were not judged in a round; every record is asked for, since a missing one would go unnoticed."""
    waiting = list(range(task.work.shards))
    for number in range(last + 1):
        waiting = [shard for shard in waiting if not task.result(f"judge.{number}", shard)["judged"]]
    return waiting


def judged_links(task: Task) -> bags.JudgedLinks:
    """Return the judgement of a shard's links."""
    judged = open_record(task.open("judged"), "judged", bags.JudgedLinks)
    return judged._replace(uses=np.array(judged.uses))  # kernels are compiled for arrays that can be written to


# -- bags ---------------------------------------------------------------------------------------------------------------


def keep(task: Task) -> dict[str, Any]:
    """Keep the words and windows of a shard; send what is decided over all shards."""
    strategy, shards, corpus = task.work.recipe.strategy, task.work.shards, task.corpus()
    judged = judged_links(task)
    words = bags.make_vocabulary(corpus, strategy)
    kept, windows = bags.keep(
        corpus, strategy, words, judged.uses, task.room, no_progress, task.threads, memory=task.memory
    )
    task.kept = task.room / "kept.kin"
    with KinWriter(task.kept, "pagekin build", task.memory) as writer:
        writer.commit(keep_record(writer, "kept", kept) | _keep_vocabulary(writer, words))
    citing, cut_hosts = bags.citing_pages(corpus), find_cut_hosts(task)
    claims = bags.claim_links(corpus, strategy, words, kept, citing, cut_hosts)
    task.send("claims", bags.divide_claims(claims, shards))
    task.send("words", bags.divide_words(bags.count_words(corpus, words), shards))
    task.send("epoch", [bags.epoch_part(corpus, *judged[1:])])
    return {"windows": windows.tolist(), "claims": len(claims.keys)}


def compare_links(task: Task) -> dict[str, Any]:
    """Tell all shards which of their links do not count, because a shard before them has an equal one: a range of hashes."""
    lost = bags.find_lost(task.receive("keep", "claims", bags.Claims))
    task.send("lost", lost)
    return {"lost": sum(len(part.keys) for part in lost)}


def _lost_claims(task: Task) -> bags.Claims:
    return bags.join_claims(task.receive("compare", "lost", bags.Claims))


def sum_windows(task: Task) -> dict[str, Any]:
    """Sum up the windows of links to other shards, as far as they count; send one partial bag for each target.

    Windows never leave the shard of their page: by now it is known which of them count, so they are made here, and summed.
    """
    strategy, corpus = task.work.recipe.strategy, task.corpus()
    own = task.own_addresses(corpus)
    is_target = np.ones(len(corpus.urls), np.bool_)
    is_target[own.start : own.stop] = False
    words, kept, citing = vocabulary(task, "keep"), kept_words(task), bags.citing_pages(corpus)
    batches = bags.emit_visits(corpus, strategy, words, kept, citing, is_target)
    visits = bags.sum_visits(batches, strategy, _lost_claims(task))
    task.send("visits", bags.divide_visits(visits, task.bounds, strategy))
    return {"visits": len(visits.target), "sums": len(visits.sums)}


def make_bags(task: Task) -> dict[str, Any]:
    """Merge the bags of a shard from its own pages and visiting links."""
    strategy, base = task.work.recipe.strategy, task.corpus()
    visits = bags.reduce_visits(task.receive("windows", "visits", bags.Visits), strategy)
    known = vocabulary(task, "keep").hashes
    strings = RaggedBytes(visits.strings, visits.string_offsets)
    new_words = [strings[place] for place in np.flatnonzero(~np.isin(visits.hashes, known)).tolist()]
    visitors = RaggedBytes(visits.citing, visits.citing_offsets) if strategy.links.scale else ()
    task.kept = task.room / "bags.kin"
    with KinWriter(task.kept, "pagekin build", task.memory) as writer:
        facts = widen_corpus(base, visitors, new_words, writer)
        corpus = Corpus(writer.view(facts, base.kin))
        own, words = task.own_addresses(corpus), bags.make_vocabulary(corpus, strategy)
        kept, citing = kept_words(task), bags.citing_pages(corpus)
        lost = bags.lost_anchors(corpus, strategy, words, kept, citing, find_cut_hosts(task), _lost_claims(task))
        room, scope = Workspace(task.room, task.memory), bags.MergeScope(visits, own, lost)
        raw = bags.merge(corpus, strategy, words, kept, citing, room, no_progress, task.threads, scope)
        task.send("frequencies", bags.divide_frequencies(bags.count_frequencies(corpus, raw), task.work.shards))
        task.send("sites", [bags.name_sites(corpus, own, raw.urls)])
        writer.commit({**facts, **keep_record(writer, "merged", raw), **_keep_vocabulary(writer, words)})
    return {
        "documents": len(raw.urls),
        "most_inlinks": int(raw.inlinks.max(initial=0)),
        "visits": len(visits.target),
        "entries": len(raw.terms),
    }


def kept_words(task: Task) -> "bags.KeptWords":
    """Return the kept words of a shard, in array types for which kernels are precompiled."""
    kept = open_record(task.open("keep"), "kept", bags.KeptWords)
    return kept._replace(offsets=np.array(kept.offsets), titles=np.array(kept.titles))


class _Words(NamedTuple):
    """The arrays of a vocabulary."""

    stem_of: npt.NDArray[np.int32]
    shown: npt.NDArray[np.uint32]
    hashes: npt.NDArray[np.uint64]


def _keep_vocabulary(writer: KinWriter, words: bags.Vocabulary) -> dict[str, Any]:
    """Write a shard's vocabulary for later stages, which takes much longer to make than to read; return the fact about it."""
    return keep_record(writer, "words", _Words(words.stem_of, words.shown, words.hashes))


def vocabulary(task: Task, stage: str) -> bags.Vocabulary:
    """Return the vocabulary of a shard's corpus that a stage kept: `keep` that of its own pages, `bags` the extended one."""
    return bags.Vocabulary(*map(np.array, open_record(task.open(stage), "words", _Words)))


def raw_bags(task: Task) -> bags.Raw:
    """Return the merged bags of a shard."""
    return open_record(task.open("bags"), "merged", bags.Raw)


def sum_range(task: Task) -> dict[str, Any]:
    """Add up document frequencies in a range of hashes, and choose the display words of its terms."""
    parts = task.receive("bags", "frequencies", bags.Frequencies)
    total = bags.sum_frequencies(parts)
    task.send("frequencies", [bags.select_frequencies(total, part) for part in parts])
    task.send("common", [bags.keep_common(total)])
    shown = bags.choose_display_words(task.receive("keep", "words", bags.WordCounts))
    task.send("shown", [bags.select_display_words(shown, part.hashes[: part.limits[0]]) for part in parts])
    return {
        "most": int(total.df.max(initial=0)),
        "totals": total.totals.tolist(),
        "terms": np.diff(total.limits, prepend=0).tolist(),
    }


def figure(task: Task) -> dict[str, Any]:
    """Compute the figures that all shards share: where their documents begin, the epoch, the sites."""
    strategy, shards = task.work.recipe.strategy, range(task.work.shards)
    merged = [task.result("bags", number) for number in shards]
    ranges = [task.result("sum", number) for number in shards]
    totals = np.sum([one["totals"] for one in ranges], axis=0)
    require_bags(int(totals[0]), strategy, task.work.out)
    whole = bags.join_epoch_parts(task.receive("keep", "epoch", bags.EpochPart, to=0))
    most = max(one["most"] for one in ranges)

    def common(number: int) -> Callable[[], bags.Frequencies]:
        return lambda: task.receive_from("sum", number, "common", bags.Frequencies, to=0)

    identity = bags.identify_epoch_of_ranges(strategy, int(totals[0]), most, [common(one) for one in shards], whole)
    numbers, rule = bags.number_sites(task.receive("bags", "sites", bags.SiteNames, to=0))
    task.send("epoch", [whole])
    task.send("sites", numbers)
    windows = np.sum([task.result("keep", number)["windows"] for number in shards], axis=0)
    epoch = {
        "factor": max(most, 1) + 1, "furniture": len(whole.furniture_offsets) - 1,
        "navigation": len(whole.navigation), "lists": len(whole.lists_offsets) - 1,
    }  # fmt: skip
    return {
        "firsts": np.cumsum([0, *(one["documents"] for one in merged)]).tolist(),
        "most": most,
        "most_inlinks": max(one["most_inlinks"] for one in merged),
        "site_rule": list(rule),
        "totals": totals.tolist(),
        "terms": np.sum([one["terms"] for one in ranges], axis=0).tolist(),
        "window_words": bags.round_windows(windows),
        "epoch": {"identity": identity, **epoch},
    }


# -- links --------------------------------------------------------------------------------------------------------------


def name_links(task: Task) -> dict[str, Any]:
    """Find the links of a shard's documents; send them with the names of their targets."""
    corpus, raw, firsts = task.wide_corpus(), raw_bags(task), task.result("figures")["firsts"]
    judged = judged_links(task)
    strategy, citing = task.work.recipe.strategy, bags.citing_pages(corpus)
    addresses, sources = bags.find_links(corpus, strategy, judged.uses, citing, raw.urls, firsts[task.number])
    parts = [slice(*np.searchsorted(addresses, pair).tolist()) for pair in pairwise(task.url_cuts(corpus))]
    task.send("links", [bags.name_links(corpus, addresses[part], sources[part]) for part in parts])
    return {"links": len(sources)}


def number_links(task: Task) -> dict[str, Any]:
    """Give numbers to the links to a shard's documents, and send them to the shards of the citing documents."""
    corpus, raw, firsts = task.wide_corpus(), raw_bags(task), task.result("figures")["firsts"]
    none: tuple[Array, Array] = (np.zeros(0, np.int64), np.zeros(0, np.uint32))
    visiting = task.receive("name_links", "links", bags.NamedLinks)
    links = bags.number_links(corpus, raw.urls, none, visiting, firsts[task.number])
    task.send("links", bags.divide_links(links, "sources", firsts[1:-1]))
    return {"links": len(links.targets)}


def collect_links(task: Task) -> dict[str, Any]:
    """Collect the links from a shard's documents; send the outlink counts to the shards of the targets."""
    firsts = task.result("figures")["firsts"]
    out = bags.collect_links(task.receive("number_links", "links", bags.DocumentLinks), "sources")
    task.kept = task.room / "links.kin"
    with KinWriter(task.kept, "pagekin build", task.memory) as writer:
        writer.commit(keep_record(writer, "out", out))
    task.send("links", bags.divide_links(bags.count_outlinks(out), "targets", firsts[1:-1]))
    return {"links": len(out.targets)}
