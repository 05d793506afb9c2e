"""Signatures by darts against those of the 2002 paper, ICWS, datasketch and rensa: same bags, one core.

Darts, `paper` and ICWS (Ioffe 2010) sign weighted bags; datasketch and rensa sign sets of words, which is less, and
are given their words ready made. Rensa's batch functions are shown beside its documented use, and without a target: its
last one starts from hashes as darts do, and what is left to it is a multiplication per word and value.

    python benchmarks/signature_speed.py COLLECTION.kin... [--bags 2000]

A collection has to be indexed. Times are processor time, so neither other programs nor more threads count.
"""

import argparse
import math
import os
import time
from collections.abc import Callable
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # before rensa starts its threads

import datasketch
import numba
import numpy as np
import numpy.typing as npt
import rensa

from pagekin.bags import Signature
from pagekin.similarity.darts import Darts
from pagekin.similarity.paper import Paper
from pagekin.store import open_kin

Array = npt.NDArray[Any]
WANTED = {"paper": 6.0, "ICWS": 30.0, "datasketch": 25.0, "rensa": 1.5}
SLOW = {"ICWS", "datasketch"}
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(inline="always")
def mix64(z: Any) -> Any:
    """The finaliser of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@numba.njit(inline="always")
def uniform(bits: Any) -> Any:
    """A number between 0 and 1 from 32 bits."""
    return (np.float64(np.int64(bits & np.uint64(0xFFFFFFFF))) + 0.5) * 2.0**-32


@numba.njit(nogil=True, fastmath=True)
def sign_by_icws(terms: Array, weights: Array, offsets: Array, hashes: Array, seeds: Array, out: Array) -> None:
    """Improved consistent weighted sampling: r and c of gamma(2, 1) and a uniform b for every term and position.

    In logarithms, which saves the exponentials; three of them and three hashes for each term and position.
    """
    m = len(seeds)
    least = np.empty(m)
    for i in range(len(offsets) - 1):
        least[:] = np.inf
        for k in range(offsets[i], offsets[i + 1]):
            term = hashes[terms[k]]
            log_weight = math.log(weights[k])
            for j in range(m):
                first = mix64(term ^ seeds[j])
                second = mix64(first + GOLDEN)
                r = -math.log(uniform(first) * uniform(first >> np.uint64(32)))
                c = -math.log(uniform(second) * uniform(second >> np.uint64(32)))
                b = uniform(mix64(second + GOLDEN))
                t = math.floor(log_weight / r + b)
                rank = math.log(c) - r * (t - b + 1.0)
                if rank < least[j]:
                    least[j] = rank
                    out[i, j] = np.uint32(mix64(first + np.uint64(np.int64(t))) >> np.uint64(32))


class Bags:
    """Some of a collection's bags, in every form that a maker asks for."""

    def __init__(self, path: str, count: int) -> None:
        kin = open_kin(path)
        offsets = np.asarray(kin["bag.offsets"], dtype=np.int64)
        sizes = np.diff(offsets)
        # In runs of ten: neighbours share words, as they do when a whole collection is signed.
        starts = np.arange(0, len(sizes), max(10, 10 * len(sizes) // count))
        chosen = np.unique(np.minimum((starts[:, None] + np.arange(10)).ravel(), len(sizes) - 1))
        chosen = chosen[sizes[chosen] > 0][:count]
        self.offsets = np.concatenate([[0], np.cumsum(sizes[chosen])])
        entries = np.repeat(offsets[chosen] - self.offsets[:-1], sizes[chosen]) + np.arange(self.offsets[-1])
        self.terms = np.asarray(kin["bag.terms"])[entries]
        self.weights = np.asarray(kin["bag.weights"])[entries]
        self.hashes = np.array(kin["bagterm.hash"])
        self.flat = self.hashes[self.terms]
        # Numbers in decimal digits stand for the words: strings of about the same length.
        words = [str(term) for term in self.terms.tolist()]
        self.words = [words[a:b] for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)]
        self.bytes = [[word.encode() for word in bag] for bag in self.words]

    def __len__(self) -> int:
        return len(self.words)


def jobs(bags: Bags, m: int) -> dict[str, Callable[[], object]]:
    """What is timed, by name: each signs all bags with m values."""
    darts, paper = Darts(m, 1), Paper(m, 1, Signature().units)
    given = (bags.terms, bags.weights, bags.offsets, bags.hashes)
    seeds = np.random.default_rng(1).integers(0, 2**64, m, dtype=np.uint64)
    rows = np.empty((len(bags), m), dtype=np.uint32)

    def sign_with_datasketch() -> None:
        for words in bags.bytes:
            signature = datasketch.MinHash(num_perm=m, seed=1)
            signature.update_batch(words)

    def sign_with_rensa() -> None:
        for words in bags.words:
            signature = rensa.RMinHash(num_perm=m, seed=1)
            signature.update(words)
            signature.digest()

    return {
        "darts": lambda: darts.sign_bags(*given),
        "paper": lambda: paper.sign_bags(*given),
        "ICWS": lambda: sign_by_icws(*given, seeds, rows),
        "datasketch": sign_with_datasketch,
        "rensa": sign_with_rensa,
        "rensa, batch of words": lambda: rensa.RMinHash.digest_matrix_from_token_sets(bags.words, m, 1),
        "rensa, batch of hashes": lambda: rensa.RMinHash.digest_matrix_from_flat_token_hashes(
            bags.flat, bags.offsets.astype(np.uint64), m, 1
        ),
    }


def measure(work: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least processor time of each job; in turns, because the machine's speed changes from minute to minute."""
    best = dict.fromkeys(work, math.inf)
    for turn in range(rounds):
        for name, job in work.items():
            if turn and name in SLOW and turn % 4:
                continue  # far behind, and most of the time is theirs
            started = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - started)
    return best


def compile_all(bags: Bags) -> None:
    """Compile what is compiled, on a few bags."""
    few = bags.offsets[:3]
    given = (bags.terms[: few[-1]], bags.weights[: few[-1]], few, bags.hashes)
    for maker in (Darts(8, 1), Paper(8, 1, Signature().units)):
        maker.sign_bags(*given)
    sign_by_icws(*given, np.ones(8, dtype=np.uint64), np.empty((2, 8), dtype=np.uint32))


def main() -> None:
    """Print one table per collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="+")
    parser.add_argument("--bags", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=13)
    options = parser.parse_args()
    for path in options.collections:
        bags = Bags(path, options.bags)
        compile_all(bags)
        mean = len(bags.terms) / len(bags)
        print(f"{path}: {len(bags):,} bags of {mean:.0f} terms on average; one core; best of {options.rounds}")
        print(f"{'':<25}{'m':>5}{'µs a bag':>10}{'darts are':>12}{'wanted':>9}")
        for m in (80, 192):
            best = measure(jobs(bags, m), options.rounds)
            for name, seconds in best.items():
                ratio = seconds / best["darts"]
                wanted = f"{WANTED[name]:g} x" if name in WANTED else ""
                missed = "  missed" if ratio < WANTED.get(name, 0) else ""
                print(f"{name:<25}{m:>5}{seconds / len(bags) * 1e6:>10.2f}{ratio:>10.1f} x{wanted:>9}{missed}")


if __name__ == "__main__":
    main()
