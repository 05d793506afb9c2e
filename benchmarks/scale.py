"""Scale: made-up webs of growing size, built whole, and ten million bags: time, memory, disk, and the speed of questions.

    python benchmarks/scale.py webs FOLDER --addresses 100000,1000000 [--without clusters,text] [--memory 1G]
    python benchmarks/scale.py bags FOLDER --documents 10000000 [--terms 50] [--memory 1G]

`webs` writes each web to FOLDER (benchmarks/web_generator.py), builds it, and asks for related pages of 500 of its pages. `bags`
makes bags alone, by Zipf's law within topics, and signs, inverts and asks them: what a question costs does not depend on the
pages behind the bags. Questions are asked cold, in random order: before each of 30 questions the index is opened anew, after all
of its files were dropped from the page cache (`posix_fadvise`). Then warm: all files were read once, so that the page cache has
them as far as memory goes, and 500 other questions were asked. The peer is Figure 11 of the 2002 paper read literally:
every signature compared. Time that is linear in the size has the same number of seconds for each address in all rows.
"""

import argparse
import gc
import os
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from growth import row
from meter import Meter
from pagekin.bags import Bags, Strategy, mix64
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import Corpus, ReadPlan
from pagekin.similarity import DEPTH, LIST_ENTRIES, RankingOptions, RelatedIndex, SignatureIndex, make_index
from pagekin.similarity.exact import ExactSimilarity
from pagekin.store import KinWriter, MemoryBudget, open_kin, parse_size, smallest_uint
from web_generator import MadeWeb, WebFigures

Ask = Callable[[int], Any]
WARM, COLD, SCANS = 500, 30, 5
WANTED_P50, WANTED_P99 = 5.0, 50.0
"""Milliseconds of a warm question at ten million documents."""
LINEAR = 0.2
BATCH = 100_000
READ_AT_ONCE = 1 << 24
TOPICS = 4_096
WORDS_OF_TOPIC = 3_000


def percentiles(seconds: list[float]) -> str:
    """The median and the 99th percentile, in milliseconds."""
    return " / ".join(f"{1000 * value:.1f}" for value in np.percentile(seconds, [50, 99]))


def timed(ask: Ask, documents: list[int]) -> list[float]:
    """How long each question takes."""
    seconds = []
    for document in documents:
        started = time.perf_counter()
        ask(document)
        seconds.append(time.perf_counter() - started)
    return seconds


def drop_from_cache(folder: Path) -> None:
    """Let the system forget what it keeps in memory of a folder's files; what is mapped it does not forget."""
    for file in filter(Path.is_file, folder.iterdir()):
        handle = os.open(file, os.O_RDONLY)
        try:
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(handle)


def read_into_cache(folder: Path) -> None:
    """Read a folder's files once, so that the system keeps them in memory as far as it has room."""
    for file in folder.glob("*.npy"):
        with file.open("rb", buffering=0) as stream:
            while stream.read(READ_AT_ONCE):
                pass


def asked_cold(start: Callable[[], Ask], folders: list[Path], documents: list[int]) -> list[float]:
    """How long each question takes right after the collection was opened, when none of it is in memory."""
    os.sync()
    seconds = []
    for document in documents:
        gc.collect()  # what was open before lets go of its files
        for folder in folders:
            drop_from_cache(folder)
        seconds += timed(start(), [document])
    return seconds


def ask_all(name: str, start: Callable[[], Ask], folders: list[Path], documents: npt.NDArray[np.int64], m: int) -> None:
    """Print how fast questions are answered; the last of the folders holds the signatures."""
    chosen = np.random.default_rng(7).permutation(documents)[: 2 * WARM].tolist()
    cold = asked_cold(start, folders, chosen[:COLD])
    for folder in folders:
        read_into_cache(folder)
    ask = start()
    timed(ask, chosen[WARM:])
    warm = timed(ask, chosen[:WARM])
    rows = open_kin(folders[-1])["signature.rows"].reshape(-1, m)

    def scan(document: int) -> Any:
        counts = np.zeros(len(rows), np.int64)
        for first in range(0, len(rows), BATCH):
            counts[first : first + BATCH] = np.count_nonzero(rows[first : first + BATCH] == rows[document], axis=1)
        return np.argpartition(counts, -10)[-10:]

    scanned = f"{1000 * np.median(timed(scan, chosen[:SCANS])):,.0f}"
    p50, p99 = np.percentile(warm, [50, 99]) * 1000
    missed = "" if p50 <= WANTED_P50 and p99 <= WANTED_P99 else ", **missed**"
    row(name, percentiles(warm), percentiles(cold), scanned, f"{WANTED_P50:g} / {WANTED_P99:g}{missed}")


def questions_header() -> None:
    """Print the head of the table of questions."""
    print()
    row("collection", "warm, p50 / p99 ms", "cold, p50 / p99 ms", "full scan (Figure 11), ms", "wanted warm, ms")
    row("---", *["---:"] * 4)


def build_webs(folder: Path, sizes: list[int], without: set[str], memory: MemoryBudget) -> None:
    """Build made-up webs of these numbers of addresses, and ask them."""
    row("addresses", "pages", "stage", "processor seconds", "microseconds per address", "peak memory, MB")
    row("---:", "---:", "---", "---:", "---:", "---:")
    built: list[Path] = []
    per_address: list[float] = []
    for size in sizes:
        archive, out = folder / f"web-{size}.warc", folder / f"web-{size}.kin"
        if not archive.exists():
            fresh = archive.with_suffix(".new")
            with fresh.open("wb") as stream:
                stream.writelines(MadeWeb(size, WebFigures()).records())
            fresh.replace(archive)
        with Meter() as meter:
            clusters = None if "clusters" in without else ClusterSettings()
            recipe = BuildRecipe(Strategy(), clusters, text="text" not in without)
            report = build_collection(
                ReadPlan([str(archive)], out, workers=2, replace=True, memory=memory), recipe, meter.tell
            )
        addresses, pages = report.facts["urls"], report.facts["pages"]
        for stage, spent in meter.stages.items():
            row(
                f"{addresses:,}",
                f"{pages:,}",
                stage,
                f"{spent.cpu:.1f}",
                f"{1e6 * spent.cpu / addresses:.1f}",
                f"{spent.peak / 1e6:,.0f}",
            )
        total = sum(spent.cpu for spent in meter.stages.values())
        peak = max(spent.peak for spent in meter.stages.values())
        row(
            f"{addresses:,}",
            f"{pages:,}",
            "**all**",
            f"{total:.1f}",
            f"{1e6 * total / addresses:.1f}",
            f"{peak / 1e6:,.0f}",
        )
        per_address.append(total / addresses)
        built.append(out)
    growth = max((larger / smaller for smaller, larger in pairwise(per_address)), default=1.0) - 1
    missed = "" if growth <= LINEAR else ", **missed**"
    print(f"\nTime for each address changes by {growth:+.0%} to the next web (wanted: at most {LINEAR:+.0%}{missed}).")
    questions_header()
    for out in built:
        index = RelatedIndex.open(out)
        captured, name, m = (
            np.flatnonzero(index.are_captured(np.arange(len(index)))),
            f"{len(index):,} documents",
            index.index.m,
        )
        del index
        ask_all(name, partial(start_web, out), [out], captured, m)


def start_web(path: Path) -> Ask:
    """Open a collection for questions."""
    index = RelatedIndex(Corpus.open(path), compiled=True)
    return lambda document: index.answer(index.query_of_documents((document,)), RankingOptions())


def make_some_bags(out: Path, documents: int, terms: int) -> None:
    """Write bags by Zipf's law within topics, as if they were those of a collection."""
    rng = np.random.default_rng(11)
    vocabulary = TOPICS * WORDS_OF_TOPIC // 4
    with KinWriter(out, "benchmark") as writer:
        stored, weights = writer.create("bag.terms", np.uint32), writer.create("bag.weights", np.float32)
        sizes = [np.zeros(1, np.int64)]
        for first in range(0, documents, BATCH):
            count = min(BATCH, documents - first)
            topic = rng.integers(0, TOPICS, (count, 1))
            ranks = (WORDS_OF_TOPIC ** rng.random((count, terms))).astype(np.int64)
            own = (topic * 7_919 + ranks * 104_729) % vocabulary
            words = np.sort(np.where(rng.random((count, terms)) < 0.3, ranks, own), axis=1)
            fresh = np.ones(words.shape, np.bool_)
            fresh[:, 1:] = words[:, 1:] != words[:, :-1]
            weight = np.where(fresh, 0.2 + rng.random(words.shape), 0.0)
            weight /= weight.sum(axis=1, keepdims=True)
            stored.append(words[fresh].astype(np.uint32))
            weights.append(weight[fresh].astype(np.float32))
            sizes.append(fresh.sum(axis=1))
        offsets = np.cumsum(np.concatenate(sizes))
        writer.put("bag.offsets", offsets.astype(smallest_uint(int(offsets[-1]))))
        writer.put("bag.url", np.arange(documents, dtype=np.uint32))
        writer.put("bag.inlinks", np.ones(documents, np.uint8))
        writer.put("bagterm.hash", mix64(np.arange(vocabulary, dtype=np.uint64)))
        writer.commit({"index": {"bags": documents}})


def ask_bags(folder: Path, documents: int, terms: int, memory: MemoryBudget) -> None:
    """Sign, invert and ask so many made-up bags."""
    bags_only, out = folder / f"bags-{documents}.kin", folder / f"index-{documents}.kin"
    make_some_bags(bags_only, documents, terms)
    strategy = Strategy()
    with Meter() as meter, KinWriter(out, "benchmark", memory) as writer:
        kin = open_kin(bags_only)
        make_index(kin, strategy, writer, meter.tell, threads=2)
        writer.commit({})
    row("documents", "stage", "seconds", "processor seconds", "microseconds per document", "peak memory, MB")
    row("---:", "---", "---:", "---:", "---:", "---:")
    for stage, spent in meter.stages.items():
        row(
            f"{documents:,}",
            stage,
            f"{spent.seconds:.1f}",
            f"{spent.cpu:.1f}",
            f"{1e6 * spent.cpu / documents:.1f}",
            f"{spent.peak / 1e6:,.0f}",
        )
    made = open_kin(out)
    sizes = [sum(one.bytes_on_disk.values()) / documents for one in (made, kin)]
    print(f"\nFor each document {sizes[0]:,.0f} bytes of signatures and lists, and {sizes[1]:,.0f} of bags")
    del made, kin
    questions_header()
    folders = [bags_only, out]
    ask_all(f"{documents:,} bags", partial(start_bags, *folders), folders, np.arange(documents), strategy.signature.m)


def start_bags(bags_only: Path, signatures: Path) -> Ask:
    """Open bags and signatures for questions: candidates from the shortest lists, the likeliest compared exactly."""
    index, bags = SignatureIndex(open_kin(signatures), Strategy().signature.m), Bags(open_kin(bags_only))
    exact = ExactSimilarity(bags, compiled=True)

    def ask(document: int) -> Any:
        found = index.candidates(index.rows[document], DEPTH, LIST_ENTRIES, lambda some: some != document).docs
        similarity = exact.jaccard(*bags.bag(document), 1.0, found)
        return found[np.lexsort((found, -similarity))[:10]]

    return ask


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("webs", "bags"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--addresses", default="100000,1000000")
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument("--terms", type=int, default=50)
    parser.add_argument("--without", default="", help="clusters, text, or both")
    parser.add_argument("--memory", help="what a build may take; as much as it likes without")
    options = parser.parse_args()
    memory = MemoryBudget(parse_size(options.memory) if options.memory else 0)
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.what == "webs":
        build_webs(
            options.folder,
            [int(size) for size in options.addresses.split(",")],
            set(options.without.split(",")),
            memory,
        )
    else:
        ask_bags(options.folder, options.documents, options.terms, memory)


if __name__ == "__main__":
    main()
