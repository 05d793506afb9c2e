"""Make the corpora of all shards from parts on one machine: one part, range of addresses or shard at a time.

What ranges know and write to each other between two rounds lies on the disk. The whole is never made.
"""

import heapq
import shutil
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pagekin.hypertext.captures import Captures, divide_captures, join_captures, list_captures
from pagekin.hypertext.choosing import (
    ChoiceState,
    ChosenPages,
    advance_choice,
    begin_choice,
    conclude_choice,
    count_left_out,
    divide_chosen,
    join_chosen,
)
from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.letters import Letter, Ranges, Round
from pagekin.hypertext.merge import count_records
from pagekin.hypertext.part_records import divide_part, read_part, sum_abouts, write_part
from pagekin.hypertext.shard_bounds import (
    ClosedRanges,
    Cut,
    Starts,
    find_starts,
    measure_chosen,
    settle_bounds,
    share_work,
    sum_sizes,
)
from pagekin.hypertext.shard_merge import count_shard, list_links, merge_shard, sum_facts
from pagekin.hypertext.shard_names import ShardNames, advance_names, begin_names
from pagekin.store import KinWriter, Names, Workspace, open_kin, pack_record, unpack_record

Record = TypeVar("Record", bound=NamedTuple)
_SAMPLE = 64
"""Addresses of each part by which ranges are chosen."""


@dataclass(frozen=True)
class ShardCorpora:
    """The corpora of all shards of a collection."""

    folders: list[Path]
    starts: Starts
    """Where shards begin but for the first."""
    counts: list[dict[str, Any]]
    """What each shard counts for the whole: see `count_shard`."""
    facts: dict[str, Any]
    """Those of the corpus of all shards in one."""

    def cuts(self) -> list[Cut]:
        """Return the shards as ranges of pages and addresses, by their numbers in the whole."""
        pages, urls = (np.cumsum([0, *(one[name] for one in self.counts)]).tolist() for name in ("pages", "urls"))
        return [Cut(*numbers) for numbers in zip(pages, pages[1:], urls, urls[1:], strict=False)]


def sample_addresses(addresses: Names, most: int = _SAMPLE) -> Names:
    """Return some addresses, evenly spaced."""
    every = addresses.strings()
    return Names.of(every[:: max(1, -(-len(every) // most))])


def choose_ranges(samples: Sequence[Names], count: int) -> list[bytes]:
    """Return the first addresses of ranges, without the first, with about equal numbers of sampled addresses."""
    every = sorted(address for sample in samples for address in sample.strings())
    return sorted({every[len(every) * number // count] for number in range(1, count)}) if every else []


def merge_in_shards(
    parts: Sequence[Path], shards: int, all_captures: bool, writer: KinWriter, progress: Callable[[float], None],
    settings: Mapping[str, Any] = types.MappingProxyType({}), closed: ClosedRanges | None = None,
    check: Callable[[Mapping[str, Any], int], None] = lambda _counts, _shards: None,
) -> ShardCorpora:  # fmt: skip
    """Write the corpora of shards into folders of a writer's work folder; no shard begins in a `closed` range.

    There are fewer shards than asked for if there are too few addresses: `check` is told what was counted of records and pages,
    and how many shards there are, before these are made. `settings` are facts that say how parts were read.
    """
    with TemporaryDirectory(dir=writer.work) as folder:
        job = _Job(Path(folder), writer, all_captures)
        whole, ranges = job.divide_captures(parts, shards)
        progress(0.1)
        job.choose(ranges)
        progress(0.2)
        starts = job.find_starts(len(ranges) + 1, shards, closed)
        firsts = starts.addresses.strings()
        check(job.count(len(ranges) + 1, whole), len(firsts) + 1)
        job.move_chosen(len(ranges) + 1, firsts)
        folders = job.divide_parts(parts, firsts)
        progress(0.4)
        job.find_names(folders, firsts)
        progress(0.5)
        counts = []
        for shard, own_parts in enumerate(folders):
            counts.append(job.merge(shard, own_parts, whole, settings))
            progress(0.5 + 0.5 * (shard + 1) / len(folders))
        corpus_folders = [job.corpus_folder(shard) for shard in range(len(folders))]
    corpora = [Corpus(open_kin(path)) for path in corpus_folders]
    terms, hosts = _count_different(map(_iterate_terms, corpora)), _count_different(one.hosts for one in corpora)
    return ShardCorpora(corpus_folders, starts, counts, sum_facts(counts, whole, terms, hosts, all_captures))


class _Shelf:
    """Records in files of a folder, any number per name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, record: NamedTuple) -> None:
        """Add a record under a name."""
        data = pack_record(record)
        with (self.folder / name).open("ab") as file:
            file.write(len(data).to_bytes(8, "little"))
            file.write(data)

    def read(self, name: str, kind: type[Record]) -> Iterator[Record]:
        """Yield the records under a name."""
        if not (self.folder / name).exists():
            return
        with (self.folder / name).open("rb") as file:
            while size := file.read(8):
                yield unpack_record(kind, file.read(int.from_bytes(size, "little")))

    def only_record(self, name: str, kind: type[Record]) -> Record:
        """Return the only record under a name."""
        (record,) = self.read(name, kind)
        return record

    def take(self, name: str, kind: type[Record]) -> list[Record]:
        """Return the records under a name, and forget them."""
        records = list(self.read(name, kind))
        (self.folder / name).unlink(missing_ok=True)
        return records


class _Job:
    """One merge into shards; its steps pass records on by range or shard."""

    def __init__(self, folder: Path, writer: KinWriter, all_captures: bool) -> None:
        self._shelf, self._writer, self._all_captures = _Shelf(folder), writer, all_captures
        self._folder = folder

    def divide_captures(self, parts: Sequence[Path], count: int) -> tuple[dict[str, Any], list[bytes]]:
        """Divide the captures of all parts; return (the sum of the parts' facts, the first addresses of ranges)."""
        whole, samples = sum_abouts([]), []
        for number, path in enumerate(parts):
            part = read_part(path)
            captures = list_captures(part)
            whole = sum_abouts([whole, part.facts()])
            samples.append(sample_addresses(captures.names))
            self._shelf.add(f"listed-{number}", captures)
        ranges = choose_ranges(samples, count)
        for number in range(len(parts)):
            for captures in self._shelf.take(f"listed-{number}", Captures):
                for place, own in enumerate(divide_captures(captures, ranges)):
                    self._shelf.add(f"divided-{place}", own)
        for place in range(len(ranges) + 1):
            self._shelf.add(f"captures-{place}", join_captures(self._shelf.take(f"divided-{place}", Captures)))
        return whole, ranges

    def choose(self, ranges: Sequence[bytes]) -> None:
        """Choose the pages and aliases of every range."""
        count = len(ranges) + 1

        def advance(number: int, state: ChoiceState, inbox: list[Letter], tally: int) -> Round[ChoiceState]:
            captures = self._shelf.only_record(f"captures-{number}", Captures)
            return advance_choice(captures, state, inbox, tally, Ranges(number, tuple(ranges)))

        self._run_rounds(count, ChoiceState, begin_choice(), advance)
        for number in range(count):
            (captures,) = self._shelf.take(f"captures-{number}", Captures)
            (state,) = self._shelf.take(f"state-{number}", ChoiceState)
            self._shelf.add(f"chosen-{number}", conclude_choice(captures, state, self._all_captures))

    def count(self, ranges: int, whole: Mapping[str, Any]) -> dict[str, Any]:
        """Return the facts about records and pages that are known before shards are made."""
        skipped, pages = Counter(whole["skipped"]), 0
        for number in range(ranges):
            chosen = self._shelf.only_record(f"chosen-{number}", ChosenPages)
            skipped += count_left_out(chosen)
            pages += int(measure_chosen(chosen).pages)
        return count_records(whole, skipped) | {"pages": pages}

    def find_starts(self, ranges: int, shards: int, closed: ClosedRanges | None) -> Starts:
        """Return the first addresses of all shards but the first."""
        sizes = [measure_chosen(self._shelf.only_record(f"chosen-{number}", ChosenPages)) for number in range(ranges)]
        wanted = share_work(sum_sizes(sizes), shards)
        while True:
            shares = wanted
            possible = [
                find_starts(
                    self._shelf.only_record(f"chosen-{number}", ChosenPages), sum_sizes(sizes[:number]), shares, closed
                )
                for number in range(ranges)
            ]
            starts, wanted = settle_bounds(possible, shares)
            if wanted.tolist() == shares.tolist():
                return starts

    def move_chosen(self, ranges: int, firsts: Sequence[bytes]) -> None:
        """Regroup the chosen pages from ranges into shards."""
        for number in range(ranges):
            (chosen,) = self._shelf.take(f"chosen-{number}", ChosenPages)
            for shard, own in enumerate(divide_chosen(chosen, firsts)):
                self._shelf.add(f"pieces-{shard}", own)
        for shard in range(len(firsts) + 1):
            self._shelf.add(f"shard-{shard}", join_chosen(self._shelf.take(f"pieces-{shard}", ChosenPages)))

    def divide_parts(self, parts: Sequence[Path], firsts: Sequence[bytes]) -> list[list[Path]]:
        """Divide all parts; return each shard's folders of parts."""
        folders: list[list[Path]] = [[] for _ in range(len(firsts) + 1)]
        for number, path in enumerate(parts):
            for shard, own in enumerate(divide_part(read_part(path), firsts)):
                if len(own.pages):
                    folders[shard].append(write_part(own, self._folder / f"part-{shard}-{number}"))
        return folders

    def find_names(self, folders: Sequence[Sequence[Path]], firsts: Sequence[bytes]) -> None:
        """Find the addresses that each shard knows."""
        for shard, parts in enumerate(folders):
            with TemporaryDirectory(dir=self._folder) as folder:
                room, chosen = (
                    Workspace(Path(folder), self._writer.memory),
                    self._shelf.only_record(f"shard-{shard}", ChosenPages),
                )
                self._shelf.add(f"links-{shard}", list_links(parts, chosen, self._all_captures, room))

        def advance(number: int, state: ShardNames, inbox: list[Letter], _tally: int) -> Round[ShardNames]:
            chosen, links = (
                self._shelf.only_record(f"shard-{number}", ChosenPages),
                self._shelf.only_record(f"links-{number}", Names),
            )
            return advance_names(chosen, links, state, inbox, Ranges(number, tuple(firsts)))

        self._run_rounds(len(folders), ShardNames, begin_names(), advance)
        for shard in range(len(folders)):
            self._shelf.add(f"names-{shard}", self._shelf.take(f"state-{shard}", ShardNames)[0])

    def corpus_folder(self, shard: int) -> Path:
        """Return the folder of a shard's corpus."""
        return self._writer.work / f"corpus-{shard}.kin"

    def merge(
        self, shard: int, parts: Sequence[Path], whole: Mapping[str, Any], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Write the corpus of a shard; return its share of the whole's facts."""
        chosen, names = (
            self._shelf.only_record(f"shard-{shard}", ChosenPages),
            self._shelf.only_record(f"names-{shard}", ShardNames),
        )
        links = self._shelf.only_record(f"links-{shard}", Names)
        with KinWriter(self.corpus_folder(shard), "pagekin build", self._writer.memory) as own:
            facts = merge_shard(parts, chosen, links, names, whole, int(chosen.latest), self._all_captures, own)
            own.commit({**facts, **settings})
        for part in parts:
            shutil.rmtree(part)
        return count_shard(facts, chosen, names)

    def _run_rounds(
        self, count: int, kind: type[Record], first: Record,
        advance: Callable[[int, Record, list[Letter], int], Round[Record]],
    ) -> None:  # fmt: skip
        """Run rounds until all ranges are done, and keep their last states."""
        for number in range(count):
            self._shelf.add(f"state-{number}", first)
        inbox, outbox, tally, done = "inbox", "outbox", 0, False
        while not done:
            rounds_tally, done = 0, True
            for number in range(count):
                (state,) = self._shelf.take(f"state-{number}", kind)
                one = advance(number, state, self._shelf.take(f"{inbox}-{number}", Letter), tally)
                self._shelf.add(f"state-{number}", one.state)
                for to, letter in one.letters.items():
                    self._shelf.add(f"{outbox}-{to}", letter)
                rounds_tally, done = rounds_tally + one.tally, done and one.done
            inbox, outbox, tally = outbox, inbox, rounds_tally


def _count_different(lists: Iterable[Iterable[bytes]]) -> int:
    """Return the number of different strings in sorted lists."""
    return sum(1 for _string in groupby(heapq.merge(*lists)))


def _iterate_terms(corpus: Corpus) -> Iterator[bytes]:
    """Yield the words of a corpus, sorted."""
    order = np.asarray(corpus.term_table.order)
    return (corpus.terms[term] for term in order.tolist())
