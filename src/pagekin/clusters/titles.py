"""Titles: which part of them is the site's, the names of sites in them, and which pages are server notices."""

import re

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import AnchorKind, Corpus, host_of, repeated_ends, repeated_title
from pagekin.store import Array
from pagekin.text import tokens

_STUB = 60
"""A page that leads on by itself is a notice if it has fewer words than this."""
_NOTICE = re.compile(
    r"\W*(?:http(?:/\d\.\d)?\s+)?(?:error\s*)?\b(?:30[0-8]|4\d\d|50\d)\b\W*(?:$|moved|found|redirect|multiple|see other|not|"
    r"bad|unauth|forbid|error|internal|service|gateway|file|document|object|gone)|(?:\W*(?:document|object|page|file|url) "
    r"(?:has )?(?:been )?(?:moved|not found))|\W*(?:moved|not found|access denied|forbidden|redirect(?:ing|ion)?)\b|"
    r"\W*index of /|\W*directory (?:of|listing)|\W*error\W*$",
    re.IGNORECASE,
)
"""Titles of pages that a server made: redirections, errors, lists of files."""


def site_words(corpus: Corpus, chosen: Array) -> tuple[npt.NDArray[np.int16], frozenset[str], npt.NDArray[np.bool_]]:
    """Return (the numbers of site words at both ends of each title, (pages, 2); the names of sites; the notices).

    Sites call themselves what their titles repeat, and by the parts of their addresses. Pages that were not chosen have -1.
    """
    by_host: dict[str, list[int]] = {}
    for page in chosen.tolist():
        by_host.setdefault(host_of(corpus.page_url(page)), []).append(page)
    counts = np.full((len(corpus), 2), -1, np.int16)
    notices = np.zeros(len(corpus), np.bool_)
    names: set[str] = set()
    for host, pages in by_host.items():
        titles = [corpus.titles.text(page) for page in pages]
        begin, end = repeated_ends(titles)
        whole = repeated_title(titles)
        words = tokens(begin), tokens(end)
        names |= {f".{part}" for part in host.split(".")}
        for name in words:
            names |= {" ".join(name[first:]) for first in range(len(name) - 1)}
            names |= {" ".join(name[:last]) for last in range(2, len(name) + 1)}
        for page, title in zip(pages, titles, strict=True):
            counts[page, 0] = len(tokens(title)) if title == whole else len(words[0]) if title.startswith(begin) else 0
            counts[page, 1] = len(words[1]) if title.endswith(end) else 0
            own = title.removeprefix(begin).removesuffix(end)
            notices[page] = bool(_NOTICE.match(title) or _NOTICE.match(own))
    leading = np.flatnonzero(np.asarray(corpus.anchors.flags) >> 1 == AnchorKind.REFRESH)
    stubs = np.zeros(len(corpus), np.bool_)
    stubs[np.searchsorted(corpus.pages.anchors, leading, side="right") - 1] = True
    notices |= stubs & (np.diff(corpus.pages.tokens).astype(np.int64) < _STUB)
    return counts, frozenset(names), notices
