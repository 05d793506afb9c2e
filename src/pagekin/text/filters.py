"""Filters: which pages may be hits, by site, date and language."""

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, canonical_url, declared_language, host_of
from pagekin.text.query import QueryError


def keep_pages(
    corpus: Corpus,
    *,
    site: str | None = None,
    since: int | None = None,
    until: int | None = None,
    language: str | None = None,
) -> npt.NDArray[np.bool_]:
    """Return whether each page passes all filters that are given.

    `site` is a host, or the end of one: cornell.edu keeps cs.cornell.edu. `since` and `until` are seconds since 1970, both
    included; a page whose date is unknown passes neither. `language` is a code such as en.
    """
    keep = np.ones(len(corpus), np.bool_)
    if site is not None:
        name = site_name(site)
        hosts = [is_of_site(corpus.hosts.text(number), name) for number in range(len(corpus.hosts))]
        keep &= np.array(hosts, np.bool_)[np.asarray(corpus.pages.host)]
    dates = np.asarray(corpus.pages.date).astype(np.int64)
    if since is not None:
        keep &= (dates > 0) & (dates >= since)
    if until is not None:
        keep &= (dates > 0) & (dates <= until)
    if language is not None:
        chosen = np.array(corpus.facts["language_codes"], np.str_) == language_code(language)
        keep &= chosen[np.asarray(corpus.pages.language)]
    return keep


def language_code(language: str) -> str:
    """Return a language code in the form that pages use; raise a QueryError if it is invalid."""
    code = declared_language(language)
    if not code:
        raise QueryError(f"'{language}' is not a language code; write two letters, such as en or de")
    return code


def site_name(site: str) -> str:
    """Return the host or domain that a site names; raise a QueryError if it is invalid."""
    address = canonical_url(site if "://" in site else f"http://{site.strip().lstrip('.')}/")
    if address is None:
        raise QueryError(
            f"'{site}' is not a host; write one such as cs.cornell.edu, or the end of one such as cornell.edu"
        )
    return host_of(address)


def is_of_site(host: str, site: str) -> bool:
    """Return whether a host is a site or one of its subdomains; a site without a port matches all ports."""
    bare, colon, port = host.rpartition(":")
    if colon and port.isdigit() and not site.rpartition(":")[2].isdigit():
        host = bare
    return host == site or host.endswith(f".{site}")
