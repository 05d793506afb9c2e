"""What other rooms may import of this one; each name is loaded when it is first used."""

from .answers import Answer, Query, RankedDocuments, RelatedError, Result
from .check import INDEX_ARRAYS, check_index
from .documents import Documents
from .exact import jaccard
from .explain import Citations, cut_text, links_to, shared_terms, tidy_text
from .index import make_index
from .links import DocumentLinks
from .lists import SignatureIndex
from .makers import make_maker
from .neighbours import all_neighbours, near_duplicates
from .options import Citation, Method, RankingOptions, Share, SharedTerm, SignalShare, Sites, Wish
from .related import DEPTH, LIST_ENTRIES, RelatedIndex
from .signals import SIGNALS, QuerySignals, SignalReader, score_signals

__all__ = [
    "DEPTH",
    "INDEX_ARRAYS",
    "LIST_ENTRIES",
    "SIGNALS",
    "Answer",
    "Citation",
    "Citations",
    "DocumentLinks",
    "Documents",
    "Method",
    "Query",
    "QuerySignals",
    "RankedDocuments",
    "RankingOptions",
    "RelatedError",
    "RelatedIndex",
    "Result",
    "Share",
    "SharedTerm",
    "SignalReader",
    "SignalShare",
    "SignatureIndex",
    "Sites",
    "Wish",
    "all_neighbours",
    "check_index",
    "cut_text",
    "jaccard",
    "links_to",
    "make_index",
    "make_maker",
    "near_duplicates",
    "score_signals",
    "shared_terms",
    "tidy_text",
]
