"""Number the sites of many URLs."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.urls import host_of, site_of
from pagekin.store import RaggedBytes

_SHORTEST_ORIGIN = len("http://h")
_AT_ONCE = 1 << 16
"""URLs that are looked at together."""


def site_of_address(address: bytes) -> str:
    """Return the name of the site of a canonical URL."""
    return _site_of_origin(_origin(address))


@lru_cache(maxsize=1 << 16)
def _site_of_origin(origin: bytes) -> str:
    return site_of(host_of(origin.decode("utf-8", "replace")))


def _origin(address: bytes) -> bytes:
    """Return a canonical URL up to its path."""
    return address[: address.index(b"/", _SHORTEST_ORIGIN)]


def _origins_in_a_row(urls: RaggedBytes) -> Iterator[tuple[bytes, int]]:
    """Yield (origin, how many URLs in a row have it): where the URLs are sorted, each origin once or twice."""
    for first in range(0, len(urls), _AT_ONCE):
        bounds = urls.offsets[first : first + _AT_ONCE + 1].astype(np.int64)
        data = np.asarray(urls.data[bounds[0] : bounds[-1]])
        begins = bounds[:-1] - bounds[0]
        slashes = np.flatnonzero(data == ord("/"))
        sizes = slashes[np.searchsorted(slashes, begins + _SHORTEST_ORIGIN)] - begins
        same_size = np.flatnonzero(sizes[1:] == sizes[:-1]) + 1
        length = sizes[same_size]
        first_byte = np.cumsum(length) - length
        inside = np.arange(length.sum()) - np.repeat(first_byte, length)
        here, before = (data[np.repeat(begins[which], length) + inside] for which in (same_size, same_size - 1))
        is_new = np.ones(len(begins), np.bool_)
        if len(same_size):
            is_new[same_size] = np.logical_or.reduceat(here != before, first_byte)
        starts = np.flatnonzero(is_new)
        for start, count in zip(starts.tolist(), np.diff(np.append(starts, len(begins))).tolist(), strict=True):
            yield data[begins[start] : begins[start] + sizes[start]].tobytes(), count


def site_names(urls: RaggedBytes) -> list[str]:
    """Return the names of the sites of sorted canonical URLs; O(hosts log URLs)."""
    names: set[str] = set()
    place = 0
    while place < len(urls):
        url = urls[place]
        origin = url[: url.index(b"/", _SHORTEST_ORIGIN)]
        names.add(site_of(host_of(origin.decode("utf-8", "replace"))))
        place = urls.nearest(origin + b"/\xff")  # which is in no address
    return sorted(names)


def sites_of_urls(urls: RaggedBytes) -> tuple[npt.NDArray[np.uint32], list[str]]:
    """Return (the site number of each canonical URL, the sorted names of sites); O(URLs)."""
    origins: dict[bytes, int] = {}
    runs = [(origins.setdefault(origin, len(origins)), count) for origin, count in _origins_in_a_row(urls)]
    numbers = np.repeat(*np.array(runs, np.int64).reshape(-1, 2).T)
    sites = list(map(_site_of_origin, origins))
    names = sorted(set(sites))
    ranks = {name: rank for rank, name in enumerate(names)}
    return np.array([ranks[site] for site in sites], dtype=np.uint32)[numbers], names
