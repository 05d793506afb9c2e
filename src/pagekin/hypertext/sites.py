"""Number the sites of many URLs."""

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.urls import host_of, site_of
from pagekin.store import RaggedBytes

_SHORTEST_ORIGIN = len("http://h")


def sites_of_urls(urls: RaggedBytes) -> tuple[npt.NDArray[np.uint32], list[str]]:
    """Return (the site number of each canonical URL, the names of the sites in sorted order); O(URLs)."""
    origins: dict[bytes, int] = {}
    # A canonical URL has a path and a host, so no slash of "https://" is met from there on.
    until_path = (url[: url.index(b"/", _SHORTEST_ORIGIN)] for url in urls)
    numbers = np.fromiter((origins.setdefault(origin, len(origins)) for origin in until_path), np.uint32, len(urls))
    sites = [site_of(host_of(origin.decode("utf-8", "replace"))) for origin in origins]
    names = sorted(set(sites))
    ranks = {name: rank for rank, name in enumerate(names)}
    return np.array([ranks[site] for site in sites], dtype=np.uint32)[numbers], names
