"""What other rooms may import of this one; each name is loaded when it is first used."""

from .charset import decode_page, to_utf8
from .check import check_corpus
from .columns import CORPUS_ARRAYS, READABLE_TEXT, WORD_ARRAYS, PageColumns, page_count
from .corpus import Corpus, Stream, in_shards_error
from .cutting import Cut, CutNumbers, cut_corpus, cut_pages
from .decoder import decode_starts, decode_stream, decode_words, runs_under
from .language import declared_language
from .lexer import Lexer
from .model import AnchorKind, Attribute, Boundary, CharClass, PageFlag, ReadPage, char_class, fold_case
from .nearest import nearest_urls, unknown_url_message
from .read import (
    PARSERS,
    DamagedInputError,
    Note,
    ReadPlan,
    ReadReport,
    default_workers,
    no_note,
    read_sources,
    read_sources_into,
    refuse_other_sources,
)
from .sharded import open_corpora, open_shards, shard_folders
from .sites import sites_of_urls
from .streams import DecodedPage, StreamBatch
from .strict import StrictLexer, read_strictly
from .titles import HostTitles, ShortTitles, repeated_ends
from .urls import canonical_url, host_of, host_of_url, site_of, split_port
from .widening import widen_corpus
from .workers import WorkerError
from .writing import WrittenWords, common_spellings, common_spellings_of_many

__all__ = [
    "CORPUS_ARRAYS",
    "PARSERS",
    "READABLE_TEXT",
    "WORD_ARRAYS",
    "AnchorKind",
    "Attribute",
    "Boundary",
    "CharClass",
    "Corpus",
    "Cut",
    "CutNumbers",
    "DamagedInputError",
    "DecodedPage",
    "HostTitles",
    "Lexer",
    "Note",
    "PageColumns",
    "PageFlag",
    "ReadPage",
    "ReadPlan",
    "ReadReport",
    "ShortTitles",
    "Stream",
    "StreamBatch",
    "StrictLexer",
    "WorkerError",
    "WrittenWords",
    "canonical_url",
    "char_class",
    "check_corpus",
    "common_spellings",
    "common_spellings_of_many",
    "cut_corpus",
    "cut_pages",
    "declared_language",
    "decode_page",
    "decode_starts",
    "decode_stream",
    "decode_words",
    "default_workers",
    "fold_case",
    "host_of",
    "host_of_url",
    "in_shards_error",
    "nearest_urls",
    "no_note",
    "open_corpora",
    "open_shards",
    "page_count",
    "read_sources",
    "read_sources_into",
    "read_strictly",
    "refuse_other_sources",
    "repeated_ends",
    "runs_under",
    "shard_folders",
    "site_of",
    "sites_of_urls",
    "split_port",
    "to_utf8",
    "unknown_url_message",
    "widen_corpus",
]
