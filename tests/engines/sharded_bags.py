"""The bags of a collection, made shard by shard by the stages that any engine may call."""

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin import bags
from pagekin.bags import Strategy
from pagekin.bags._kernels.keep import KeptWords
from pagekin.bags.raw import Raw
from pagekin.hypertext import Corpus, widen_corpus
from pagekin.store import KinWriter, RaggedBytes, Workspace, open_kin, pack_strings

from .shuffling import Attempt, ShufflingEngine


class Names(NamedTuple):
    """Addresses that travel."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def strings(self) -> list[bytes]:
        return list(RaggedBytes(self.data, self.offsets))


class Flags(NamedTuple):
    """Answers to a question about addresses."""

    are_true: npt.NDArray[np.bool_]


class MadeShards(NamedTuple):
    """What the stages made."""

    folders: list[Path]
    raw: list[Raw]
    frequencies: bags.Frequencies
    identity: str


class ShardedJob:
    """One run of all stages over the corpora of shards, which lie in folders, each with a range of addresses."""

    def __init__(self, engine: ShufflingEngine, shards: list[Path], bounds: list[bytes], strategy: Strategy) -> None:
        """Begin; `bounds` are the first addresses of all shards but the first."""
        self.engine, self.strategy = engine, strategy
        self.folders, self.bounds = shards, bounds
        self.numbers = range(len(shards))

    def make(self) -> MadeShards:
        """Run all stages."""
        judged, whole = self._judge()
        kept = self.engine.run({shard: self._keep(shard, judged[shard]) for shard in self.numbers})
        lost = self._compare_links(kept)
        visits = self._send_visits(kept, lost)
        wide = self.engine.run({shard: self._widen(shard, visits[shard]) for shard in self.numbers})
        self.folders = [wide[shard] for shard in self.numbers]
        raw = self.engine.run(
            {shard: self._merge(shard, kept[shard], visits[shard], lost[shard]) for shard in self.numbers}
        )
        counted = [bags.count_frequencies(self._corpus(shard), raw[shard]) for shard in self.numbers]
        frequencies = self.engine.combine(counted, bags.sum_frequencies)
        firsts = np.cumsum([0, *(len(raw[shard].urls) for shard in self.numbers)]).tolist()
        into, out = self._link(raw, judged, firsts)
        made = self.engine.run(
            {
                shard: self._weigh(
                    shard, raw[shard], judged[shard], into[shard], out[shard], firsts, frequencies, whole
                )
                for shard in self.numbers
            }
        )
        identity = bags.identify_epoch(self.strategy, frequencies, whole)
        return MadeShards(
            [made[shard] for shard in self.numbers], [raw[shard] for shard in self.numbers], frequencies, identity
        )

    def _corpus(self, shard: int) -> Corpus:
        return Corpus(open_kin(self.folders[shard]))

    def _own(self, corpus: Corpus, shard: int) -> range:
        cuts = [0, *map(corpus.urls.nearest, self.bounds), len(corpus.urls)]
        return range(cuts[shard], cuts[shard + 1])

    # -- furniture --------------------------------------------------------------------------------------------------

    def _judge(self) -> tuple[dict[int, bags.JudgedLinks], bags.EpochPart]:
        hosts = [bags.host_hashes(self._corpus(shard)) for shard in self.engine.shuffled(self.numbers)]
        names, counts = np.unique(np.concatenate(hosts), return_counts=True)
        self.cut_hosts = names[counts > 1]
        captured, sums = self._ask_captured(), []
        while True:

            def judge(shard: int) -> Any:
                return lambda _attempt: bags.judge_links_in_rounds(
                    self._corpus(shard), self.strategy, captured[shard].are_true, names[counts > 1], sums
                )

            found = self.engine.run({shard: judge(shard) for shard in self.numbers})
            if all(isinstance(one, bags.JudgedLinks) for one in found.values()):
                parts = [bags.epoch_part(self._corpus(shard), *found[shard][1:]) for shard in self.numbers]
                return found, self.engine.combine(parts, bags.join_epoch_parts)
            counted = {shard: one for shard, one in found.items() if isinstance(one, bags.Tally)}
            sums.append(self.engine.combine(counted.values(), bags.sum_tallies))

    def _ask_captured(self) -> dict[int, Flags]:
        """Let each shard ask the others which of the addresses that it knows have a page."""

        def ask(shard: int) -> Any:
            def names(_attempt: Attempt) -> list[Names]:
                corpus = self._corpus(shard)
                every = list(corpus.urls)
                cuts = [0, *map(corpus.urls.nearest, self.bounds), len(every)]
                return [Names(*pack_strings(every[low:high])) for low, high in pairwise(cuts)]

            return names

        def answer(asking: int, shard: int) -> Any:
            return lambda _attempt: Flags(bags.find_captured(self._corpus(shard), asked[asking][shard].strings()))

        asked = self.engine.run({shard: ask(shard) for shard in self.numbers})
        pairs = {(asking, shard): answer(asking, shard) for asking in self.numbers for shard in self.numbers}
        answers = self.engine.run(pairs)
        return {
            asking: Flags(np.concatenate([answers[asking, shard].are_true for shard in self.numbers]))
            for asking in self.numbers
        }

    # -- bags -------------------------------------------------------------------------------------------------------

    def _keep(self, shard: int, judged: bags.JudgedLinks) -> Any:
        def keep(attempt: Attempt) -> KeptWords:
            corpus = self._corpus(shard)
            words = bags.make_vocabulary(corpus, self.strategy)
            return bags.keep(corpus, self.strategy, words, judged.uses, attempt.folder, attempt.progress, 1)[0]

        return keep

    def _compare_links(self, kept: dict[int, KeptWords]) -> dict[int, bags.Claims]:
        """Find the links of each shard that say what links of a shard before it say; or let the shards of targets find them."""
        self.sums_up = self.engine.rng.random() < 0.7
        if not self.sums_up:
            return dict.fromkeys(self.numbers, bags.join_claims([]))
        ranges = self.engine.rng.randint(1, 4)

        def claim(shard: int) -> Any:
            def claims(_attempt: Attempt) -> list[bags.Claims]:
                corpus = self._corpus(shard)
                words, citing = bags.make_vocabulary(corpus, self.strategy), bags.citing_pages(corpus)
                made = bags.claim_links(corpus, self.strategy, words, kept[shard], citing, self.cut_hosts)
                return bags.divide_claims(made, ranges)

            return claims

        def compare(number: int) -> Any:
            return lambda _attempt: bags.find_lost([claimed[shard][number] for shard in self.numbers])

        claimed = self.engine.run({shard: claim(shard) for shard in self.numbers})
        lost = self.engine.run({number: compare(number) for number in range(ranges)})
        return {shard: bags.join_claims([lost[number][shard] for number in range(ranges)]) for shard in self.numbers}

    def _send_visits(self, kept: dict[int, KeptWords], lost: dict[int, bags.Claims]) -> dict[int, bags.Visits]:
        def emit(shard: int) -> Any:
            def visit(_attempt: Attempt) -> list[bags.Visits]:
                corpus = self._corpus(shard)
                is_target = np.ones(len(corpus.urls), np.bool_)
                own = self._own(corpus, shard)
                is_target[own.start : own.stop] = False
                words, citing = bags.make_vocabulary(corpus, self.strategy), bags.citing_pages(corpus)
                batches = bags.emit_visits(corpus, self.strategy, words, kept[shard], citing, is_target)
                if self.sums_up:
                    visits = bags.sum_visits(batches, self.strategy, lost[shard])
                else:
                    visits = bags.reduce_visits(batches, self.strategy)
                return bags.divide_visits(visits, self.bounds, self.strategy)

            return visit

        sent = self.engine.run({shard: emit(shard) for shard in self.numbers})
        return {
            shard: self.engine.combine(
                [sent[source][shard] for source in self.numbers], lambda some: bags.reduce_visits(some, self.strategy)
            )
            for shard in self.numbers
        }

    def _widen(self, shard: int, visits: bags.Visits) -> Any:
        def widen(attempt: Attempt) -> Path:
            corpus = self._corpus(shard)
            known = bags.make_vocabulary(corpus, self.strategy).hashes
            strings = RaggedBytes(visits.strings, visits.string_offsets)
            words = [strings[place] for place in np.flatnonzero(~np.isin(visits.hashes, known)).tolist()]
            addresses = list(RaggedBytes(visits.targets, visits.target_offsets))
            if self.strategy.links.scale:
                addresses += RaggedBytes(visits.citing, visits.citing_offsets)
            folder = attempt.folder / "wide.kin"
            with KinWriter(folder, "test") as writer:
                facts = widen_corpus(corpus, addresses, words, writer)
                for name in corpus.kin.arrays.keys() - writer.view({}).arrays.keys():
                    writer.put(name, np.asarray(corpus.kin[name]))
                writer.commit(facts)
            return folder

        return widen

    def _merge(self, shard: int, kept: KeptWords, visits: bags.Visits, lost: bags.Claims) -> Any:
        def merge(attempt: Attempt) -> Raw:
            corpus = self._corpus(shard)
            words, citing = bags.make_vocabulary(corpus, self.strategy), bags.citing_pages(corpus)
            own = self._own(corpus, shard)
            anchors = bags.lost_anchors(corpus, self.strategy, words, kept, citing, self.cut_hosts, lost)
            room, scope = Workspace(attempt.folder), bags.MergeScope(visits, own, anchors)
            return bags.merge(corpus, self.strategy, words, kept, citing, room, attempt.progress, 1, scope)

        return merge

    # -- links ------------------------------------------------------------------------------------------------------

    def _link(
        self, raw: dict[int, Raw], judged: dict[int, bags.JudgedLinks], firsts: list[int]
    ) -> tuple[dict[int, bags.DocumentLinks], dict[int, bags.DocumentLinks]]:
        def name(shard: int) -> Any:
            def links(_attempt: Attempt) -> list[bags.NamedLinks]:
                corpus = self._corpus(shard)
                found = bags.find_links(
                    corpus, self.strategy, judged[shard].uses, bags.citing_pages(corpus), raw[shard].urls, firsts[shard]
                )
                cuts = [0, *map(corpus.urls.nearest, self.bounds), len(corpus.urls)]
                parts = [slice(*np.searchsorted(found[0], pair).tolist()) for pair in pairwise(cuts)]
                return [bags.name_links(corpus, found[0][part], found[1][part]) for part in parts]

            return links

        def number(shard: int) -> Any:
            def links(_attempt: Attempt) -> list[bags.DocumentLinks]:
                none = np.zeros(0, np.int64), np.zeros(0, np.uint32)
                visiting = self.engine.shuffled(named[source][shard] for source in self.numbers)
                found = bags.number_links(self._corpus(shard), raw[shard].urls, none, visiting, firsts[shard])
                return bags.divide_links(found, "sources", firsts[1:-1])

            return links

        def leave(shard: int) -> Any:
            parts = self.engine.shuffled(numbered[target][shard] for target in self.numbers)
            return lambda _attempt: bags.collect_links(parts, "sources")

        def arrive(shard: int) -> Any:
            parts = self.engine.shuffled(counted[source][shard] for source in self.numbers)
            return lambda _attempt: bags.collect_links(parts, "targets")

        named = self.engine.run({shard: name(shard) for shard in self.numbers})
        numbered = self.engine.run({shard: number(shard) for shard in self.numbers})
        out = self.engine.run({shard: leave(shard) for shard in self.numbers})
        counted = {
            shard: bags.divide_links(bags.count_outlinks(out[shard]), "targets", firsts[1:-1]) for shard in self.numbers
        }
        return self.engine.run({shard: arrive(shard) for shard in self.numbers}), out

    def _weigh(
        self, shard: int, raw: Raw, judged: bags.JudgedLinks, into: bags.DocumentLinks, out: bags.DocumentLinks,
        firsts: list[int], frequencies: bags.Frequencies, whole: bags.EpochPart,
    ) -> Any:  # fmt: skip
        known = bags.keep_common(frequencies) if self.engine.rng.random() < 0.5 else frequencies

        def weigh(attempt: Attempt) -> Path:
            corpus = self._corpus(shard)
            words = bags.make_vocabulary(corpus, self.strategy)
            folder = attempt.folder / "bags.kin"
            with KinWriter(folder, "test") as writer:
                facts = bags.weigh(corpus, self.strategy, words, raw, known, writer, attempt.progress)
                facts |= bags.write_links(corpus, judged.uses, raw.urls, into, out, writer, firsts[shard])
                facts["epoch"] = bags.write_epoch(corpus, self.strategy, frequencies, whole, writer)
                writer.commit({"index": facts})
            return folder

        return weigh
