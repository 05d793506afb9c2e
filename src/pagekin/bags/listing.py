"""Recognise pages that only list others, from one page alone."""

import re
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus
from pagekin.store import Array

LISTED_WORDS = 0.2
"""The share of its words that stand in links: less is a text that mentions many pages."""
INDEX_ENTRIES = 50
"""Links that an alphabetical index has at least, …"""
INDEX_TARGETS = 20
"""… to so many pages; …"""
LINK_WORDS = 0.7
"""… the share of its words that stand in links; …"""
IN_ORDER = 0.7
"""… the share of links that follow the one before in alphabetical order (half of them would by chance); …"""
ONE_LETTER = 0.35
"""… and the share that begins with the same letter, …"""
MOST_SHEETS = 4
"""Pages on which most links of an index stand, at most: what is on more of them is a sidebar in alphabetical order."""
SHEET_WORDS = 0.5
"""The share of words in links on a further sheet of an index: on a short one, what stands around it takes more room."""
_SHEET = re.compile(r"(.*/[^/?#]+[-_])[^-_/?#]*")
"""The address of one of the sheets that an index is divided into: genindex-A.html, index-12.html, functions_b.html."""
SAME_TARGET = 3
"""… or so many links for each page linked to: an index of terms has several, a list of members has one."""


def sheet_prefix(url: str) -> str:
    """Return the common beginning of the addresses of an index's sheets, given one of them; '' if there is none."""
    match = _SHEET.fullmatch(url)
    return match[1] if match else ""


def is_of_links(corpus: Corpus, page: int, share: float = LINK_WORDS) -> bool:
    """Return whether at least this share of a page's words is in links."""
    part = slice(*np.asarray(corpus.pages.anchors[page : page + 2], dtype=np.int64).tolist())
    length = int(corpus.pages.tokens[page + 1]) - int(corpus.pages.tokens[page])
    return int(np.sum(corpus.anchors.length[part], dtype=np.int64)) >= share * length


def is_index(corpus: Corpus, page: int, linked: int, first_words: npt.NDArray[np.int64], counts: Array) -> bool:
    """Return whether a page that links to this many others is an alphabetical or chronological index of terms.

    Of the page's links, `counts` marks those that are looked at.
    """
    words = first_words[counts & (first_words >= 0)]
    if len(words) < INDEX_ENTRIES or not is_of_links(corpus, page):
        return False
    texts = [word.decode("utf-8", "replace") for word in corpus.terms.select(words)]
    in_order = sum(one <= two for one, two in pairwise(texts))
    letters = np.unique([text[0] for text in texts], return_counts=True)[1]
    return bool(
        in_order >= IN_ORDER * (len(texts) - 1)
        and (letters.max() >= ONE_LETTER * len(texts) or len(texts) >= SAME_TARGET * linked)
    )
