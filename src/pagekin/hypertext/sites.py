"""Tell which hosts are under one owner, and so one site, by the Public Suffix List.

A site is a registrable domain: the public suffix under which names are handed out (`edu`, `co.uk`, `github.io`) and
one label more. Suffixes that companies opened to their customers count like those of the registries, so that
`alice.github.io` and `bob.github.io` are two sites. The list comes with an installed package and is never fetched.
"""

import functools
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.urls import host_of
from pagekin.store import RaggedBytes

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_SHORTEST_ORIGIN = len("http://h")


@functools.cache
def _suffixes() -> "PublicSuffixList":
    """Return the Public Suffix List, read at the first question: most commands never ask."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def site_of(host: str) -> str:
    """Return the site of a host, without port: its registrable domain, or the host itself where it has none.

    IP addresses, single labels and public suffixes have none. Empty labels, as in `www..example.org` or after a last
    dot, are passed over.
    """
    host = host.lower()
    if host.startswith("["):
        return host[: host.find("]") + 1] or host
    labels = [label for label in host.partition(":")[0].split(".") if label]
    name = ".".join(labels)
    # The URL standard takes every host that ends in a number for an IPv4 address.
    if len(labels) < 2 or labels[-1].isdecimal():
        return name or host
    return _suffixes().privatesuffix(name) or name


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
