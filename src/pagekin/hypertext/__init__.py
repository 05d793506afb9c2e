"""From pages to the corpus: words in document order with attributes, anchors and boundaries; URLs; terms.

`read_sources` makes it, `Corpus` reads it, `check_corpus` proves it whole. Two readers of HTML stand behind it: the
fast lexer (compiled) and the strict one (plain Python over a WHATWG tree), which vouch for each other. Nothing here
imports the compiler unless pages are read by the fast lexer.
"""

from pagekin.hypertext.check import check_corpus
from pagekin.hypertext.columns import CORPUS_ARRAYS, READABLE_TEXT, WORD_ARRAYS, PageColumns
from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.model import AnchorKind, Attribute, Boundary, PageFlag, fold
from pagekin.hypertext.sites import site_of, sites_of_urls
from pagekin.hypertext.urls import canonical

__all__ = [
    "CORPUS_ARRAYS",
    "READABLE_TEXT",
    "WORD_ARRAYS",
    "AnchorKind",
    "Attribute",
    "Boundary",
    "Corpus",
    "PageColumns",
    "PageFlag",
    "canonical",
    "check_corpus",
    "fold",
    "site_of",
    "sites_of_urls",
]
