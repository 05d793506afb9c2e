"""The sample of pages of which the clusters of a sharded collection are made, taken from parts."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from pagekin.clusters import MOST_PAGES, ClusterSettings, LeastHashes, hash_addresses, least_hashes, sample_limit
from pagekin.hypertext import page_addresses, pick_records


def sample_size(settings: ClusterSettings) -> int:
    """Return how many addresses make the clusters; the paper's method takes all, and refuses too many."""
    return settings.sample if settings.method == "default" else max(settings.sample, 2 * MOST_PAGES)


def least_of_parts(parts: Iterable[Path], settings: ClusterSettings) -> LeastHashes:
    """Return the least hashes of the addresses of pages in some parts."""
    every = (LeastHashes(hash_addresses(page_addresses(part))) for part in parts)
    return join_least(every, settings)


def join_least(several: Iterable[LeastHashes], settings: ClusterSettings) -> LeastHashes:
    """Return the least hashes of several together."""
    least = LeastHashes(np.zeros(0, np.uint64))
    for one in several:
        least = least_hashes([least.hashes, one.hashes], sample_size(settings))
    return least


def choose_limit(least: Iterable[LeastHashes], settings: ClusterSettings) -> int | None:
    """Return the largest hash in the sample, given the least hashes of all parts; None if all addresses are in it."""
    return sample_limit(join_least(least, settings), sample_size(settings))


def pick_sample(part: Path, limit: int, folder: Path) -> list[Path]:
    """Write a part with only the records of sampled addresses, in `folder`; return it, or nothing if there are none."""
    addresses = page_addresses(part)
    hashes = hash_addresses(addresses).tolist()
    sampled = [address for address, number in zip(addresses, hashes, strict=True) if number <= limit]
    return pick_records([part], sampled, (), folder)
