"""Abbreviate long addresses: our pages name dozens of them several times, and must stay small.

An address that would take much room in one of ours is given by its beginning, its length and its digest. So it is the same
in every build, and can be kept and sent like any other; the collection knows the rest.
"""

import re
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote_plus

import numpy as np

from pagekin.hypertext import Corpus

LONGEST = 200
"""Bytes that the address of a page may take in one of ours."""
KEPT = 48
"""Characters of the beginning of a longer one."""
MOST_TRIED = 20_000
"""Addresses of one beginning and one length of which the digest is made, to find one."""
_MARK = "…"
"""Stands in no address in its canonical form."""
_BRIEF = re.compile(rf"(.{{{KEPT}}}){_MARK}(\d{{1,9}})-([0-9a-f]{{24}})", re.DOTALL)


@lru_cache(4096)
def brief(url: str) -> str:
    """Return an address as our addresses contain it: whole, or abbreviated if it is long."""
    if len(url) <= LONGEST // 3 or (len(url) <= LONGEST and len(quote_plus(url)) <= LONGEST):
        return url
    data = url.encode()
    return f"{url[:KEPT]}{_MARK}{len(data)}-{_digest(data)}"


def number_in_full(corpus: Corpus, text: str) -> int:
    """Return the number of an abbreviated address; -1 if it is not one, or unknown."""
    match = _BRIEF.fullmatch(text)
    if not match:
        return -1
    prefix = match[1].encode("utf-8", "replace")
    # No byte of UTF-8 is 255, so this lies behind all that begin so.
    first, last = corpus.urls.nearest(prefix), corpus.urls.nearest(prefix + b"\xff")
    candidates = np.flatnonzero(np.diff(np.asarray(corpus.urls.offsets[first : last + 1])) == int(match[2]))
    for number in (first + candidates[:MOST_TRIED]).tolist():
        if _digest(corpus.urls[number]) == match[3]:
            return corpus.home(number)
    return -1


def _digest(url: bytes) -> str:
    return blake2b(url, digest_size=12).hexdigest()
