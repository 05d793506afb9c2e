"""Which documents are of one site, for answers from other sites (section 7.2's complaint)."""

import numpy as np

from pagekin.hypertext import Corpus, host_of, sites_of_urls
from pagekin.store import Array


def site_numbers(corpus: Corpus, urls: Array) -> tuple[Array, str]:
    """Return (the site number of each of `urls`, the rule); sites are registrable domains.

    Where all are of one domain, sites are its hosts (rule 'host'); where all are of one host, there are no
    other sites (rule 'none').
    """
    sites = sites_of_urls(corpus.urls)[0][urls]
    if len(np.unique(sites)) > 1:
        return sites, "domain"
    names = [host_of(corpus.url(int(url))) for url in urls]
    hosts = {name: number for number, name in enumerate(sorted(set(names)))}
    numbers = np.fromiter((hosts[name] for name in names), dtype=np.uint32, count=len(names))
    return numbers, "host" if len(hosts) > 1 else "none"
