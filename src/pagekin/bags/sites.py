"""Group documents by site, for answers from other sites only (a wish in section 7.2)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, host_of, sites_of_urls
from pagekin.store import Array, RaggedBytes, pack_strings, smallest_uint, union_strings


class SiteNames(NamedTuple):
    """The sites of a shard's addresses, and the hosts of its documents."""

    sites: npt.NDArray[np.uint8]
    """The names of the sites, in order, as one string, …"""
    site_offsets: npt.NDArray[np.int64]
    """… and where each begins."""
    held: npt.NDArray[np.bool_]
    """(sites): whether each has a document."""
    hosts: npt.NDArray[np.uint8]
    """The names of the documents' hosts, in order; none where the documents are of several sites."""
    host_offsets: npt.NDArray[np.int64]


class SiteNumbers(NamedTuple):
    """The numbers in the whole of a shard's `SiteNames`."""

    sites: npt.NDArray[np.int64]
    hosts: npt.NDArray[np.int64]


class SiteRule(NamedTuple):
    """How sites are defined in a collection, and the greatest site number of a document."""

    name: str
    """Registrable domains ('domain'); where all documents are of one, hosts ('host'); where all are of one host, 'none'."""
    most: int


def site_numbers(corpus: Corpus, urls: Array) -> tuple[Array, str]:
    """Return (the site number of each of `urls`, the rule); sites are registrable domains.

    Where all are of one domain, sites are its hosts (rule 'host'); where all are of one host, there are no
    other sites (rule 'none').
    """
    own = range(len(corpus.urls))
    (numbers,), rule = number_sites([name_sites(corpus, own, urls)])
    return site_column(corpus, own, urls, numbers, rule), rule.name


def name_sites(corpus: Corpus, own: range, documents: Array) -> SiteNames:
    """Return the names of the sites of a shard's `own` addresses, which include its documents."""
    of_url, names = _own_sites(corpus, own)
    held = np.zeros(len(names), np.bool_)
    held[of_url[documents.astype(np.int64) - own.start]] = True
    few = np.count_nonzero(held) <= 1
    hosts = sorted({host_of(corpus.url(url)) for url in documents.tolist()}) if few else []
    packed = (pack_strings([name.encode() for name in some]) for some in (names, hosts))
    return SiteNames(*next(packed), held, *next(packed))


def number_sites(shards: Sequence[SiteNames]) -> tuple[list[SiteNumbers], SiteRule]:
    """Return (the numbers in the whole of all shards' sites and hosts, the rule)."""
    _sites, sites = union_strings([RaggedBytes(part.sites, part.site_offsets) for part in shards])
    hosts, of_hosts = union_strings([RaggedBytes(part.hosts, part.host_offsets) for part in shards])
    held = np.unique(np.concatenate([numbers[part.held] for numbers, part in zip(sites, shards, strict=True)]))
    numbered = [SiteNumbers(*pair) for pair in zip(sites, of_hosts, strict=True)]
    if len(held) > 1:
        return numbered, SiteRule("domain", int(held[-1]))
    return numbered, SiteRule("host" if len(hosts) > 1 else "none", max(len(hosts) - 1, 0))


def site_column(corpus: Corpus, own: range, documents: Array, numbers: SiteNumbers, rule: SiteRule) -> Array:
    """Return the site of each of a shard's documents, as numbered in the whole."""
    if rule.name == "domain":
        of_document = _own_sites(corpus, own)[0][documents.astype(np.int64) - own.start]
        return numbers.sites[of_document].astype(smallest_uint(rule.most))
    hosts = [host_of(corpus.url(url)) for url in documents.tolist()]
    number = dict(zip(sorted(set(hosts)), numbers.hosts.tolist(), strict=True))
    return np.array([number[host] for host in hosts], smallest_uint(rule.most))


def _own_sites(corpus: Corpus, own: range) -> tuple[npt.NDArray[np.uint32], list[str]]:
    """Return (the site of each of a shard's own addresses, the names of the sites); cached with the open corpus."""
    urls = RaggedBytes(corpus.urls.data, corpus.urls.offsets[own.start : own.stop + 1])
    return corpus.term_tables(("sites", own), lambda: sites_of_urls(urls))
