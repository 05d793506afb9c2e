"""`pagekin build` against a pipeline of well-known parts that does the same: same gzipped WARC, two cores.

    python benchmarks/build_speed.py CACHE_DIR/docs-20k.warc.gz [--peer-pages 5000]

The peer reads records by fastwarc, walks resiliparse's trees (benchmarks/lexer_speed.py has the walk), stems by PyStemmer,
resolves links by ada-url, takes 32 kept words on each side of every link, one link per citing host, address and text as we
do, makes vectors by scikit-learn's DictVectorizer and TfidfTransformer, MinHashes (unweighted, which is much less work
than weighted) and a MinHashLSH by datasketch. It is treated kindly: it takes every page for UTF-8, finds no aliases or
languages, keeps no text or titles, and writes nothing to the disk. Each of its processes is given half of the archive.

The peer makes neither clusters nor an index of the full text, so our build is measured whole, without clusters, and
without both, which is the peer's job.

With --peer-pages the peer reads only so many pages, spread evenly over the archive; then `pagekin build` runs on those
too. Links lead to more addresses per page in a small sample, so prefer all pages if there is time.
"""

import argparse
import math
import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import ada_url
import numpy as np
import numpy.typing as npt
import Stemmer
from datasketch import MinHash, MinHashLSH
from fastwarc.warc import ArchiveIterator
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer

from growth import build, cpu_seconds, row, sample
from lexer_speed import ALT, TEXT, TITLE, WORD, Result, Words, walk_resiliparse
from pagekin.bags import Strategy

Array = npt.NDArray[Any]
Bag = dict[int, float]
Citation = tuple[str, str, tuple[int, ...]]
"""A link's target, the citing host and the link's words: it counts once."""
WANTED = 8.0
"""How many times as fast as the peer our build has to be without clusters."""
LEFT_OUT = {"": (), "without clusters": ("--no-clusters",), "without clusters and text": ("--no-clusters", "--no-text")}
JUDGED = "without clusters"
CORES = 2
WINDOW = 32
NEAR = [math.log2(WINDOW / (1 + distance)) for distance in range(WINDOW)]
"""The weight of a word by its distance from the link, 0 for the link's own words."""
ANCHOR_SCALE = Strategy().anchors.scale
THRESHOLD = 0.5


class _Stems(dict[str, int]):
    """The number of each word's stem, -1 for words that do not count; made when first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[str, int] = {}
        self._stemmer = Stemmer.Stemmer("porter")

    def __missing__(self, word: str) -> int:
        number = -1
        if word not in ENGLISH_STOP_WORDS and not word.isdigit():
            number = self.numbers.setdefault(self._stemmer.stemWord(word), len(self.numbers))
        self[word] = number
        return number


class Kept(Words):
    """Words to the numbers of their stems; what does not count is dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.stems = _Stems()

    def add(self, text: str, attribute: int, result: Result) -> None:
        """Append the stems of `text` to the stream."""
        found = [number for number in map(self.stems.__getitem__, WORD.findall(text.lower())) if number >= 0]
        if found:
            result.attributes.append((len(result.ids), attribute))
            result.ids.extend(found)


@dataclass
class Half:
    """What one process makes of its records: stems by number, each page's own bag, and a bag for each citation."""

    stems: list[str] = field(default_factory=list)
    own: dict[str, Bag] = field(default_factory=dict)
    cited: dict[Citation, Bag] = field(default_factory=dict)


def read_half(job: tuple[str, int, int]) -> Half:
    """The bags of `count` records from an offset of an archive on."""
    path, offset, count = job
    half, words = Half(), Kept()
    with Path(path).open("rb") as stream:
        stream.seek(offset)
        for number, record in enumerate(ArchiveIterator(stream, parse_http=True)):
            if number == count:
                break
            url = record.headers["WARC-Target-URI"]
            result = walk_resiliparse(record.reader.read(), words)
            half.own[url] = own_bag(result)
            cite(url, result, half.cited)
    half.stems = list(words.stems.numbers)
    return half


def own_bag(result: Result) -> Bag:
    """The weights of a page's own words: 1 for each in the text, as much as a link's own words for the title's."""
    bag: Bag = {}
    for (start, attribute), (end, _) in pairwise([*result.attributes, (len(result.ids), 0)]):
        weight = NEAR[0] if attribute == TITLE else 1.0 if attribute & (TEXT | ALT) else 0.0
        for number in result.ids[start:end]:
            bag[number] = bag.get(number, 0.0) + weight
    return bag


def cite(url: str, result: Result, cited: dict[Citation, Bag]) -> None:
    """Add a bag for each link of a page that is not there yet: the link's words and those around it."""
    host = url.split("/", 3)[2]
    targets: dict[str, str] = {}
    for href, start, end in result.anchors:
        target = targets.get(href)
        if target is None:
            try:
                target = ada_url.join_url(url, href).partition("#")[0]
            except ValueError:
                target = ""
            targets[href] = target
        citation = target, host, tuple(result.ids[start:end])
        if not target.startswith("http") or citation in cited:
            continue
        bag: Bag = {}
        for number in citation[2]:
            bag[number] = bag.get(number, 0.0) + ANCHOR_SCALE * NEAR[0]
        for around in (result.ids[max(0, start - WINDOW + 1) : start][::-1], result.ids[end : end + WINDOW - 1]):
            for distance, number in enumerate(around, 1):
                bag[number] = bag.get(number, 0.0) + ANCHOR_SCALE * NEAR[distance]
        cited[citation] = bag


def merge(halves: Sequence[Half]) -> dict[str, Bag]:
    """One bag for each address, from its page and its citations."""
    stems: dict[str, int] = {}
    bags: dict[str, Bag] = {}
    seen: set[Citation] = set()
    for half in halves:
        number_of = [stems.setdefault(stem, len(stems)) for stem in half.stems]
        for url, bag in half.own.items():
            add(bags.setdefault(url, {}), bag, number_of)
        for (target, host, text), bag in half.cited.items():
            citation = target, host, tuple([number_of[number] for number in text])
            if citation not in seen:
                seen.add(citation)
                add(bags.setdefault(target, {}), bag, number_of)
    return {url: bag for url, bag in bags.items() if bag}


def add(bag: Bag, more: Bag, number_of: list[int]) -> None:
    """Add a half's bag to one of all."""
    for number, weight in more.items():
        term = number_of[number]
        bag[term] = bag.get(term, 0.0) + weight


def sign(job: tuple[Array, Array, int]) -> Array:
    """The MinHashes of some rows of a sparse matrix, given its columns and where each row begins."""
    columns, begins, m = job
    bounds = begins.tolist()
    rows = (columns[a:b].tolist() for a, b in pairwise(bounds))
    # Columns are numbers already: datasketch mixes them, and need not hash them by SHA-1 before.
    return np.stack([minhash.hashvalues for minhash in MinHash.generator(rows, num_perm=m, hashfunc=int)])


def run_peer(archive: Path, begins: Sequence[int], m: int) -> tuple[dict[str, float], int]:
    """(seconds for each stage, addresses) of the peer's pipeline."""
    spent: dict[str, float] = {}
    since = time.perf_counter()

    def note(stage: str) -> None:
        nonlocal since
        now = time.perf_counter()
        spent[stage] = now - since
        since = now

    middle = len(begins) // 2
    with multiprocessing.get_context("fork").Pool(CORES) as pool:
        pool.map(abs, range(CORES), chunksize=1)
        note("start_up")
        jobs = [(str(archive), 0, middle), (str(archive), begins[middle], len(begins) - middle)]
        halves = pool.map(read_half, jobs, chunksize=1)
        note("reading and windows")
        bags = merge(halves)
        del halves
        note("merging")
        matrix = TfidfTransformer(norm="l1").fit_transform(DictVectorizer(sort=False).fit_transform(bags.values()))
        note("vectors")
        half = matrix.shape[0] // 2
        parts = [(0, half), (half, matrix.shape[0])]
        pieces = [
            (matrix.indices[matrix.indptr[a] : matrix.indptr[b]], matrix.indptr[a : b + 1] - matrix.indptr[a], m)
            for a, b in parts
        ]
        values = np.concatenate(pool.map(sign, pieces, chunksize=1))
        note("signing")
    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=m)
    empty = MinHash(num_perm=m)
    for url, hashvalues in zip(bags, values, strict=True):
        minhash = MinHash(hashvalues=hashvalues, permutations=empty.permutations, scheme=empty.scheme)
        lsh.insert(url, minhash, check_duplication=False)
    note("lists")
    return spent, len(bags)


@dataclass(frozen=True)
class Run:
    """One run of either side."""

    name: str
    pages: int
    addresses: int
    stages: dict[str, float]
    whole: float
    cpu: float
    """Seconds of all its processes together: other work on the machine disturbs them less than the clock's."""

    @property
    def start_up(self) -> float:
        """Seconds before work begins."""
        return self.stages.get("start_up", 0.0)

    def cells(self) -> list[str]:
        """The run as cells of a table."""
        rate = f"{self.pages / self.whole:,.0f}"
        working = f"{self.pages / (self.whole - self.start_up):,.0f}"
        return [
            self.name, f"{self.pages:,}", f"{self.addresses:,}", f"{self.whole:.1f}", rate, working, f"{self.cpu:.1f}"
        ]  # fmt: skip


def run_ours(archive: Path, folder: Path, rounds: int, left_out: str) -> Run:
    """The fastest of some runs of `pagekin build`."""
    runs = []
    for _ in range(rounds):
        summary, whole, used = build(archive, folder / "ours.kin", CORES, *LEFT_OUT[left_out])
        name = f"pagekin build {archive.name} {left_out}".strip()
        runs.append(Run(name, summary["pages"], summary["index"]["bags"], summary["seconds"], whole, used))
    return min(runs, key=lambda run: run.whole)


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--peer-pages", type=int, default=0, help="pages that the peer reads, 0 for all")
    parser.add_argument("--rounds", type=int, default=3, help="runs of ours, of which the fastest counts")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])  # for all processes that are started
    m = Strategy().signature.m
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        few = folder / "few.warc.gz"
        sample(options.archive, 100, few)
        build(few, folder / "few.kin", CORES)  # compiles the kernels if that was not done yet
        part = folder / f"sample-{options.peer_pages}.warc.gz"
        copy = part if options.peer_pages else folder / options.archive.name
        begins = sample(options.archive, options.peer_pages, copy)
        archives = [options.archive, copy] if options.peer_pages else [options.archive]
        runs = [run_ours(archive, folder, options.rounds, left_out) for archive in archives for left_out in LEFT_OUT]
        started, used = time.perf_counter(), cpu_seconds()
        stages, addresses = run_peer(copy, begins, m)
        whole, used = time.perf_counter() - started, cpu_seconds() - used
        peer = Run(f"the peer on {copy.name}", len(begins), addresses, stages, whole, used)
    print(f"{CORES} cores, m = {m}, the fastest of {options.rounds} runs of ours, the peer's threshold {THRESHOLD}\n")
    row("", "pages", "addresses", "seconds", "pages/s", "pages/s, start-up apart", "CPU seconds")
    row("---", *["---:"] * 6)
    for run in (*runs, peer):
        row(*run.cells())
    print()
    for run in (*runs, peer):
        told = ", ".join(f"{stage.replace('_', '-')} {spent:.1f} s" for stage, spent in run.stages.items())
        print(f"{run.name}: {told}")
    for run in runs:
        ratio = (run.pages / run.whole) / (peer.pages / peer.whole)
        wanted = ""
        if run.name.endswith(JUDGED):
            wanted = f" (wanted: {WANTED:.0f} x{', missed' if ratio < WANTED else ''})"
        apart = (run.pages / (run.whole - run.start_up)) / (peer.pages / (peer.whole - peer.start_up))
        cpu = (run.pages / run.cpu) / (peer.pages / peer.cpu)
        print(
            f"{run.name} is {ratio:.1f} x as fast as the peer, start-up included{wanted}; "
            f"start-up apart {apart:.1f} x; by CPU seconds {cpu:.1f} x"
        )


if __name__ == "__main__":
    main()
