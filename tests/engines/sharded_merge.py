"""The corpora of shards, made directly from parts by the stages that any engine may call."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin import hypertext
from pagekin.hypertext import Captures, ChosenPages, Letter, Ranges, Round, ShardNames
from pagekin.store import KinWriter, Names, Workspace, open_kin

from .shuffling import Attempt, ShufflingEngine


class Sent(NamedTuple):
    """To which ranges the letters of a round go, the tally of it, and whether it is the last."""

    to: npt.NDArray[np.int64]
    tally: npt.NDArray[np.int64]
    done: npt.NDArray[np.bool_]


class MergedShards(NamedTuple):
    """What the stages made."""

    folders: list[Path]
    starts: hypertext.Starts
    facts: dict[str, Any]
    """Those of the whole."""


class ShardMergeJob:
    """One run of all stages between parts and the corpora of shards."""

    def __init__(self, engine: ShufflingEngine, parts: Sequence[Path], all_captures: bool) -> None:
        """Begin with some parts, in any order."""
        self.engine, self.parts, self.all_captures = engine, engine.shuffled(parts), all_captures

    def make(self, shards: int, slices: Sequence[bytes]) -> MergedShards:
        """Run all stages; pages are chosen in ranges that begin at `slices`, wherever shards begin."""
        chosen = self._choose(slices)
        starts = self._find_starts(chosen, shards)
        firsts = starts.addresses.strings()
        shards = len(firsts) + 1  # fewer than asked for if there are too few addresses
        whole = self.engine.combine(
            [{**hypertext.read_part(part).facts()} for part in self.parts], hypertext.sum_abouts
        )  # fmt: skip
        parts = self._divide_parts(firsts)
        divided = [hypertext.divide_chosen(one, firsts) for one in chosen]
        chosen = [
            self.engine.combine([one[shard] for one in divided], hypertext.join_chosen) for shard in range(shards)
        ]
        links, names = self._find_names(parts, chosen, firsts)
        latest = max(int(one.latest) for one in chosen)

        def merge(shard: int) -> Any:
            def corpus(attempt: Attempt) -> Path:
                folder = attempt.folder / "shard.kin"
                with KinWriter(folder, "test") as writer:
                    facts = hypertext.merge_shard(
                        self.engine.shuffled(parts[shard]), chosen[shard], links[shard], names[shard], whole, latest,
                        self.all_captures, writer, lambda share: attempt.progress("merge", share),
                    )  # fmt: skip
                    writer.commit(facts)
                return folder

            return corpus

        made = self.engine.run({shard: merge(shard) for shard in range(shards)})
        folders = [made[shard] for shard in range(shards)]
        corpora = [hypertext.Corpus(open_kin(folder)) for folder in folders]
        used = ((corpus, np.flatnonzero(np.asarray(corpus.term_table.count))) for corpus in corpora)
        terms = {corpus.terms[term] for corpus, numbers in used for term in numbers.tolist()}
        hosts = {host for corpus in corpora for host in corpus.hosts}
        counts = [
            hypertext.count_shard(corpora[n].facts, chosen[n], names[n]) for n in self.engine.shuffled(range(shards))
        ]
        facts = hypertext.sum_facts(counts, whole, len(terms), len(hosts), self.all_captures)
        return MergedShards(folders, starts, facts)

    def _rounds(
        self, count: int, advance: Callable[[int, Any, list[Letter], int], Round[Any]], state: Any
    ) -> list[Any]:
        """Carry letters until all ranges are done."""
        states, inboxes, tally = dict.fromkeys(range(count), state), {number: [] for number in range(count)}, 0
        done = False
        while not done:

            def task(number: int, states: Any = states, inboxes: Any = inboxes, tally: int = tally) -> Any:
                def run(_attempt: Attempt) -> list[Any]:
                    one = advance(number, states[number], self.engine.shuffled(inboxes[number]), tally)
                    sent = Sent(np.array(list(one.letters), np.int64), np.array([one.tally]), np.array([one.done]))
                    return [one.state, sent, *one.letters.values()]

                return run

            made = self.engine.run({number: task(number) for number in range(count)})
            inboxes = {number: [] for number in range(count)}
            for _state, sent, *letters in self.engine.shuffled(made.values()):
                for to, letter in zip(sent.to.tolist(), letters, strict=True):
                    inboxes[to].append(letter)
            states = {number: one[0] for number, one in made.items()}
            tally = sum(int(one[1].tally[0]) for one in made.values())
            ends = {bool(one[1].done[0]) for one in made.values()}
            assert len(ends) == 1
            done = ends.pop()
        return [states[number] for number in range(count)]

    def _choose(self, slices: Sequence[bytes]) -> list[ChosenPages]:
        def list_captures(part: Path) -> Any:
            return lambda _attempt: hypertext.divide_captures(
                hypertext.list_captures(hypertext.read_part(part)), slices
            )

        listed = self.engine.run({part: list_captures(part) for part in self.parts})
        captures: list[Captures] = [
            self.engine.combine([one[number] for one in listed.values()], hypertext.join_captures)
            for number in range(len(slices) + 1)
        ]

        def advance(number: int, state: Any, inbox: list[Letter], tally: int) -> Round[hypertext.ChoiceState]:
            return hypertext.advance_choice(captures[number], state, inbox, tally, Ranges(number, tuple(slices)))

        states = self._rounds(len(captures), advance, hypertext.begin_choice())
        return [
            hypertext.conclude_choice(own, state, self.all_captures)
            for own, state in zip(captures, states, strict=True)
        ]

    def _find_starts(self, chosen: list[ChosenPages], shards: int) -> hypertext.Starts:
        sizes = [hypertext.measure_chosen(one) for one in chosen]
        shares = hypertext.share_work(hypertext.sum_sizes(sizes), shards)
        while True:
            found = [
                hypertext.find_starts(one, hypertext.sum_sizes(sizes[:number]), shares)
                for number, one in enumerate(chosen)
            ]
            starts, wanted = hypertext.settle_bounds(self.engine.shuffled(found), shares)
            if wanted.tolist() == shares.tolist():
                return starts
            shares = wanted

    def _divide_parts(self, firsts: list[bytes]) -> dict[int, list[Path]]:
        def divide(part: Path) -> Any:
            return lambda _attempt: hypertext.divide_part(hypertext.read_part(part), firsts)

        divided = self.engine.run({part: divide(part) for part in self.parts})
        room = self.engine.make_room()
        return {
            shard: [
                hypertext.write_part(parts[shard], room / f"{shard}-{number}")
                for number, parts in enumerate(divided.values())
            ]
            for shard in range(len(firsts) + 1)
        }

    def _find_names(
        self, parts: Mapping[int, list[Path]], chosen: list[ChosenPages], firsts: list[bytes]
    ) -> tuple[dict[int, Names], list[ShardNames]]:
        def list_links(shard: int) -> Any:
            return lambda attempt: hypertext.list_links(
                self.engine.shuffled(parts[shard]), chosen[shard], self.all_captures, Workspace(attempt.folder)
            )

        links = self.engine.run({shard: list_links(shard) for shard in range(len(chosen))})

        def advance(number: int, state: Any, inbox: list[Letter], _tally: int) -> Round[ShardNames]:
            ranges = Ranges(number, tuple(firsts))
            return hypertext.advance_names(chosen[number], links[number], state, inbox, ranges)

        return links, self._rounds(len(chosen), advance, hypertext.begin_names())
