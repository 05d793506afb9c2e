"""Number the sites of many URLs."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.urls import host_of, site_of
from pagekin.store import RaggedBytes

_SHORTEST_ORIGIN = len("http://h")


def site_of_address(address: bytes) -> str:
    """Return the name of the site of a canonical URL."""
    return _site_of_origin(_origin(address))


@lru_cache(maxsize=1 << 16)
def _site_of_origin(origin: bytes) -> str:
    return site_of(host_of(origin.decode("utf-8", "replace")))


def _origin(address: bytes) -> bytes:
    """Return a canonical URL up to its path."""
    return address[: address.index(b"/", _SHORTEST_ORIGIN)]


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
    each = (origins.setdefault(origin, len(origins)) for origin in map(_origin, urls))
    numbers = np.fromiter(each, np.uint32, len(urls))
    sites = list(map(_site_of_origin, origins))
    names = sorted(set(sites))
    ranks = {name: rank for rank, name in enumerate(names)}
    return np.array([ranks[site] for site in sites], dtype=np.uint32)[numbers], names
