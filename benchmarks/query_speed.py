"""How fast related pages are found, and how many of the right ones: beside datasketch and tantivy, on the same pages.

    python benchmarks/query_speed.py COLLECTION.kin [--queries 1000] [--judged 200]

One process, one thread, everything in memory: as many other queries as are timed warm each method up. Queries are random
pages that were read. The right answers are the k pages most similar by the bags themselves, every page compared; an
answer that is as similar as the k-th of them is right too. Peers are treated kindly:

- datasketch's MinHashLSH holds the unweighted MinHash of every bag's terms, of as many values as our signatures. Its
  candidates are ranked by their MinHashes in one numpy call, which is faster than its own `jaccard`, one by one. Low
  thresholds find more and take longer, so several are shown.
- tantivy holds the plain text of the pages that were read, stemmed, and is asked for more like this one; fetching the
  addresses of what it found is not timed.
- ours are whole answers, with addresses and titles.

The cold start is `pagekin related` as a new process, the files in the page cache, beside one that only imports numpy.

For collections of any size:

    python benchmarks/query_speed.py big.kin --judged 20 --thresholds 0.5 --peer-memory 8G --cold 30 [--clock processor]

With --peer-memory datasketch holds as many bags as fit, the pages asked about among them; recall counts what it does not hold as
missed. With --cold so many questions are asked by the clock after all files of ours, and then of tantivy's, were dropped from the
page cache (`posix_fadvise`) and opened again. With --clock processor the others are timed by the processor, beside other work.
"""

import argparse
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tantivy
from datasketch import MinHash, MinHashLSH

from growth import row
from meter import memory_of
from pagekin.similarity import LIST_ENTRIES, RankingOptions, RelatedIndex
from pagekin.similarity.related import DEPTH
from pagekin.store import parse_size
from scale import asked_cold, percentiles

Array = npt.NDArray[Any]
Ask = Callable[[int], Any]
THRESHOLDS = "0.2,0.35,0.5"
INSERTED = 5_000
"""Bags that datasketch is given before its memory is measured."""
ESTIMATES, RERANKED, SERVED = "pagekin, estimates", "pagekin, re-ranked", "pagekin, re-ranked and folded"
WANTED_MS = {ESTIMATES: (1.0, 5.0), RERANKED: (4.0, 15.0), SERVED: (4.0, 15.0)}
"""(median, 99th percentile) that each kind of answer may take."""
WANTED_START = 0.5


@dataclass
class Method:
    """One way to find related pages: `ask` is what is timed, `found` gives documents from what it returns."""

    name: str
    ask: Ask
    found: Callable[[Any, bool], Array] | None
    """Given an answer and whether only pages that were read count, the documents found, the best first."""
    read_only: bool = False
    """Whether it knows only the pages that were read."""
    milliseconds: list[Array] = field(default_factory=list)
    clock: Callable[[], float] = time.perf_counter

    def time(self, warm: Sequence[int], documents: Sequence[int]) -> None:
        """Ask about all documents once, after as many others."""
        for document in warm:
            self.ask(document)
        spent = []
        for document in documents:
            started = self.clock()
            self.ask(document)
            spent.append(self.clock() - started)
        self.milliseconds.append(np.array(spent) * 1e3)

    def percentiles(self) -> tuple[float, float]:
        """(median, 99th percentile) of the round with the least median."""
        rounds = [tuple(np.percentile(one, [50, 99]).tolist()) for one in self.milliseconds]
        p50, p99 = min(rounds)
        return p50, p99


class Ours:
    """Our answers, by document."""

    def __init__(self, index: RelatedIndex, k: int) -> None:
        self.index = index
        self.k = k
        self.urls = index.urls

    def method(self, name: str, **options: Any) -> Method:
        """A method that asks with `options`."""

        def ask(document: int) -> Any:
            return document, self.index.related(self.urls[document], self.k, **options)

        def found(answer: Any, read_only: bool) -> Array:
            document, results = answer
            if read_only:
                results = self.index.related(self.urls[document], self.k, captured_only=True, **options)
            return np.array([self.index.document(result.url) for result in results], dtype=np.int64)

        return Method(name, ask, None if options.get("fold", True) else found)


class Lsh:
    """datasketch's MinHashLSH over the bags, at one threshold: all of them, or as many as fit in some bytes of memory."""

    def __init__(
        self, index: RelatedIndex, k: int, is_read: Array, threshold: float, first: Sequence[int], limit: int
    ) -> None:
        self.k, self.is_read, self.threshold = k, is_read, threshold
        bags, m = index.bags, index.index.m
        hashes = (bags.hashes >> np.uint64(32)).astype(np.uint32)
        others = np.setdiff1d(np.arange(len(bags)), first, assume_unique=True)
        self.documents = np.concatenate([np.array(first, np.int64), np.random.default_rng(3).permutation(others)])
        self.lsh = MinHashLSH(threshold=threshold, num_perm=m)
        self.minhashes: list[MinHash] = []
        before, made, filled, held = memory_of(os.getpid()), 0.0, 0.0, 0
        while len(self.minhashes) < len(self.documents) and (not limit or held < limit):
            done = len(self.minhashes)
            fresh = self.documents[done : done + INSERTED].tolist()
            term_sets = (hashes[bags.terms[bags.offsets[d] : bags.offsets[d + 1]]].tolist() for d in fresh)
            started = time.process_time()
            # Terms are hashed already, so datasketch need not do that again.
            self.minhashes += MinHash.bulk(term_sets, num_perm=m, hashfunc=int)
            between = time.process_time()
            for number, minhash in enumerate(self.minhashes[done:], done):
                self.lsh.insert(number, minhash, check_duplication=False)
            made, filled = made + between - started, filled + time.process_time() - between
            held = memory_of(os.getpid()) - before
        self.documents = self.documents[: len(self.minhashes)]
        self.number = {document: number for number, document in enumerate(self.documents.tolist())}
        self.values = np.stack([minhash.hashvalues for minhash in self.minhashes])
        self.everyone = np.ones(len(bags), np.bool_)
        print(
            f"datasketch made {len(self.documents):,} of {len(bags):,} MinHashes of {m} values in {made:.0f} s of processor "
            f"time, and filled {self.lsh.b} tables of {self.lsh.r} values each (threshold {threshold}) in {filled:.0f} s; "
            f"{held / 1e9:.1f} GB of memory, {held / max(len(self.documents), 1) / 1e3:.1f} kB for each",
            flush=True,
        )

    def method(self) -> Method:
        """A method that asks the index."""

        def ask(document: int) -> Any:
            return document, self.ranked(document, self.everyone)

        def found(answer: Any, read_only: bool) -> Array:
            document, documents = answer
            return self.ranked(document, self.is_read) if read_only else documents

        return Method(f"datasketch MinHashLSH, threshold {self.threshold}", ask, found)

    def ranked(self, document: int, allowed: Array) -> Array:
        """The k documents in the same buckets whose MinHashes agree most often, the best first."""
        number = self.number[document]
        numbers = np.array(self.lsh.query(self.minhashes[number]), dtype=np.int64)
        numbers = numbers[(numbers != number) & allowed[self.documents[numbers]]]
        agreeing = np.count_nonzero(self.values[numbers] == self.values[number], axis=1)
        documents = self.documents[numbers]
        order = np.lexsort((documents, -agreeing))[: self.k]
        return np.asarray(documents[order])


class MoreLikeThis:
    """tantivy over the plain text of the pages that were read."""

    def __init__(self, index: RelatedIndex, k: int, folder: str) -> None:
        self.k, self.folder = k, folder
        corpus, bags = index.corpus, index.bags
        started, used = time.perf_counter(), time.process_time()
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", stored=True, tokenizer_name="en_stem")
        schema.add_integer_field("document", stored=True, indexed=True)
        made = tantivy.Index(schema.build(), path=folder)
        writer = made.writer(heap_size=512 << 20, num_threads=1)
        for page in range(len(corpus)):
            document = bags.document(int(corpus.kin["page.url"][page]))
            if document >= 0:
                writer.add_document(tantivy.Document(text=corpus.text_bytes(page)[0].decode(), document=document))
        writer.commit()
        writer.wait_merging_threads()
        self.places: dict[int, tantivy.DocAddress] = {}
        self.open()
        spent, cpu = time.perf_counter() - started, time.process_time() - used
        segments, size = self.searcher.num_segments, sum(file.stat().st_size for file in Path(folder).iterdir())
        print(
            f"tantivy indexed {self.searcher.num_docs:,} pages in {spent:.0f} s ({cpu:.0f} s of processor time), "
            f"segments: {segments}, {size / 1e9:.2f} GB",
            flush=True,
        )

    def open(self) -> None:
        """Open the index, anew if it was open."""
        made = tantivy.Index.open(self.folder)
        self.searcher, self.schema = made.searcher(), made.schema

    def place(self, document: int) -> tantivy.DocAddress:
        """Where tantivy keeps a document."""
        if document not in self.places:
            query = tantivy.Query.term_query(self.schema, "document", document)
            self.places[document] = self.searcher.search(query, 1).hits[0][1]
        return self.places[document]

    def method(self, documents: Sequence[int]) -> Method:
        """A method that asks about `documents`."""
        for document in documents:
            self.place(document)

        def found(answer: Any, _read_only: bool) -> Array:
            document, hits = answer
            names = [int(self.searcher.doc(address)["document"][0]) for _score, address in hits]
            return np.array([name for name in names if name != document][: self.k], dtype=np.int64)

        return Method("tantivy more-like-this", self.ask, found, read_only=True)

    def ask(self, document: int) -> Any:
        """The pages like a document, and it."""
        query = tantivy.Query.more_like_this_query(self.places[document], min_doc_frequency=1, min_term_frequency=1)
        return document, self.searcher.search(query, self.k + 1, count=False).hits

    def start(self) -> Ask:
        """Open the index anew and return how it is asked."""
        self.open()
        return self.ask


class Judge:
    """Which answers are right, by comparing every bag."""

    def __init__(self, index: RelatedIndex, documents: Sequence[int], k: int) -> None:
        self.index = index
        self.documents = documents
        self.queries = {document: index.query_of([index.urls[document]]) for document in documents}
        self.floors: dict[tuple[int, bool], tuple[int, float]] = {}
        started = time.perf_counter()
        for document, query in self.queries.items():
            for read_only in (False, True):
                options = RankingOptions(k=k, method="exact", fold=False, captured_only=read_only)
                results = index.answer(query, options).results
                least = results[-1].similarity if results else 0.0
                self.floors[document, read_only] = len(results), least
        spent = (time.perf_counter() - started) / max(len(self.floors), 1) * 1e3
        print(f"comparing a page with every other one takes {spent:.0f} ms; {len(documents)} pages were")

    def recall(self, method: Method, read_only: bool) -> float:
        """The share of the right answers that a method gives."""
        right = total = 0
        for document in self.documents:
            assert method.found is not None
            found = method.found(method.ask(document), read_only)
            count, least = self.floors[document, read_only]
            _, similarity = self.index.rerank(self.index.signals(self.queries[document]), found)
            right += min(int(np.count_nonzero(similarity >= least)), count)
            total += count
        return right / max(total, 1)


def cold_starts(collection: str, urls: Sequence[str]) -> tuple[Array, Array]:
    """Seconds that `pagekin related` takes as a new process, for each URL; and one that only imports numpy."""

    def spend(*arguments: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started

    spend("-m", "pagekin", "related", collection, urls[0])  # writes bytecode if there is none
    ours, floor = [], []
    for url in urls:
        ours.append(spend("-m", "pagekin", "related", collection, url))
        floor.append(spend("-c", "import numpy"))
    return np.array(ours), np.array(floor)


def ask_ours_cold(collection: str, k: int, documents: list[int]) -> str:
    """The median and the 99th percentile of questions to a collection of which nothing is in memory, in milliseconds."""

    def start() -> Ask:
        ours = Ours(RelatedIndex.open(collection), k)
        return lambda document: ours.index.related(ours.urls[document], k)

    start()(documents[0])  # loads the code
    return percentiles(asked_cold(start, [Path(collection)], documents[1:]))


def verdict(value: float, wanted: float) -> str:
    """A target, and whether it was met."""
    return f"{wanted:g}" if value <= wanted else f"{wanted:g}, **missed**"


def report(methods: Sequence[Method], judge: Judge, k: int) -> None:
    """Print times and recall of all methods."""
    base = methods[[method.name for method in methods].index(RERANKED)].percentiles()
    recall = f"recall of the exact top {k}"
    row("", "p50, ms", "wanted", "p99, ms", "wanted", "p50 / ours", "p99 / ours", recall, "among pages read")
    row("---", *["---:"] * 8)
    for method in methods:
        p50, p99 = method.percentiles()
        wanted = WANTED_MS.get(method.name)
        shares = ["", ""]
        if method.found is not None:
            shares = [
                "" if method.read_only and not read_only else f"{judge.recall(method, read_only):.1%}"
                for read_only in (False, True)
            ]
        row(
            method.name,
            f"{p50:.2f}",
            verdict(p50, wanted[0]) if wanted else "",
            f"{p99:.2f}",
            verdict(p99, wanted[1]) if wanted else "",
            f"{p50 / base[0]:.2f} x",
            f"{p99 / base[1]:.2f} x",
            *shares,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--judged", type=int, default=200, help="queries that recall is measured on")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--thresholds", default=THRESHOLDS, help="of datasketch")
    parser.add_argument("--peer-memory", type=parse_size, default=0, help="of each index of datasketch, such as 8G")
    parser.add_argument("--cold", type=int, default=0, help="questions to ask with nothing in the page cache")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    options = parser.parse_args()
    index = RelatedIndex.open(options.collection)
    k = options.k
    is_read = np.isin(index.bags.urls, np.asarray(index.corpus.kin["page.url"]))
    pages = np.flatnonzero(is_read)
    if len(pages) < 2 * options.queries:
        raise SystemExit(f"{options.collection} has {len(pages):,} pages, too few for --queries {options.queries}")
    chosen = np.random.default_rng(options.seed).choice(pages, 2 * options.queries, replace=False).tolist()
    warm, documents = chosen[: options.queries], chosen[options.queries :]
    print(
        f"{len(index.corpus):,} pages, {len(index):,} addresses, m = {index.index.m}, depth {DEPTH:,}, {LIST_ENTRIES:,} entries; "
        f"{len(documents):,} queries, the best of {options.rounds} rounds",
        flush=True,
    )
    cold = {}
    if options.cold:
        asked_about = pages[:: max(len(pages) // (options.cold + 1), 1)][: options.cold + 1].tolist()
        del index
        cold["pagekin, re-ranked and folded"] = ask_ours_cold(options.collection, k, asked_about)
        index = RelatedIndex.open(options.collection)
    starts, floor = cold_starts(options.collection, [index.urls[document] for document in documents[: options.starts]])
    judge = Judge(index, documents[: options.judged], k)
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(index, k)
        peers = [
            Lsh(index, k, is_read, float(threshold), chosen, options.peer_memory)
            for threshold in options.thresholds.split(",")
        ]
        like = MoreLikeThis(index, k, folder)
        methods = [
            ours.method(ESTIMATES, method="estimate", fold=False),
            ours.method(RERANKED, fold=False),
            ours.method(SERVED),
            *(lsh.method() for lsh in peers),
            like.method(chosen),
        ]
        for method in methods:
            method.clock = time.process_time if options.clock == "processor" else time.perf_counter
        gc.collect()
        gc.freeze()  # or the peers' millions of objects would be searched for garbage while ours are timed
        for _ in range(options.rounds):  # interleaved: the machine's speed changes from minute to minute
            for method in methods:
                method.time(warm, documents)
        print()
        report(methods, judge, k)
        if options.cold:
            cold["tantivy more-like-this"] = percentiles(
                asked_cold(like.start, [Path(folder)], documents[: options.cold])
            )
    for name, told in cold.items():
        print(f"{name}, {options.cold} questions with nothing in the page cache: p50 / p99 {told} ms")
    print()
    row(f"a new process, {len(starts)} times", "median, s", "wanted", "longest, s", "wanted")
    row("---", *["---:"] * 4)
    median, longest = float(np.median(starts)), float(starts.max())
    wanted = [verdict(value, WANTED_START) for value in (median, longest)]
    row("pagekin related", f"{median:.2f}", wanted[0], f"{longest:.2f}", wanted[1])
    row("python, import numpy", f"{np.median(floor):.2f}", "", f"{floor.max():.2f}", "")


if __name__ == "__main__":
    main()
