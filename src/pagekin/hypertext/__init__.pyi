"""What other rooms may import of this one; each name is loaded when it is first used."""

from .charset import decode_page, to_utf8
from .check import check_corpus
from .columns import CORPUS_ARRAYS, READABLE_TEXT, WORD_ARRAYS, HiddenColumns, PageColumns, page_count
from .corpus import Corpus, Stream, has_delta_error, in_shards_error
from .cutting import Cut, CutNumbers, cut_corpus, cut_pages
from .decoder import decode_starts, decode_stream, decode_words, runs_under
from .keeping import Keeping, keep_for_delta, read_keeping, replaces_sources, require_keeping, without_known
from .language import declared_language
from .leaving_out import leave_out
from .lexer import Lexer
from .matching import PageChanges, compare_pages, match_pages
from .merge import merge_parts
from .model import AnchorKind, Attribute, Boundary, CharClass, PageFlag, ReadPage, char_class, fold_case
from .nearest import guess_url, nearest_urls, unknown_url_message
from .opt_outs import NO_OPT_OUTS, OptOutError, OptOuts
from .picking import named_in_parts, pick_records, recorded_names
from .read import (
    PARSERS,
    DamagedInputError,
    Note,
    ReadPlan,
    ReadReport,
    UnitsRead,
    default_workers,
    no_note,
    read_parts,
    read_sources,
    read_sources_into,
    read_units,
    refuse_other_sources,
    refuse_to_lose,
    units_key,
)
from .regions import (
    BODY_MARK,
    LARGEST_PARSED,
    Regions,
    check_selector,
    find_regions,
    has_foreign_mark,
    keep_content,
    mark_place,
    remove_marked,
)
from .sharded import open_corpora, open_delta, open_shards, open_with_delta, put_hidden, shard_folders
from .sites import sites_of_urls
from .streams import DecodedPage, StreamBatch
from .strict import StrictLexer, read_strictly
from .titles import HostTitles, ShortTitles, repeated_ends
from .urls import canonical_url, host_of, host_of_url, site_of, split_port
from .widening import widen_corpus
from .workers import WorkerError
from .writing import WrittenWords, common_spellings, common_spellings_of_many

__all__ = [
    "BODY_MARK",
    "CORPUS_ARRAYS",
    "LARGEST_PARSED",
    "NO_OPT_OUTS",
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
    "HiddenColumns",
    "HostTitles",
    "Keeping",
    "Lexer",
    "Note",
    "OptOutError",
    "OptOuts",
    "PageChanges",
    "PageColumns",
    "PageFlag",
    "ReadPage",
    "ReadPlan",
    "ReadReport",
    "Regions",
    "ShortTitles",
    "Stream",
    "StreamBatch",
    "StrictLexer",
    "UnitsRead",
    "WorkerError",
    "WrittenWords",
    "canonical_url",
    "char_class",
    "check_corpus",
    "check_selector",
    "common_spellings",
    "common_spellings_of_many",
    "compare_pages",
    "cut_corpus",
    "cut_pages",
    "declared_language",
    "decode_page",
    "decode_starts",
    "decode_stream",
    "decode_words",
    "default_workers",
    "find_regions",
    "fold_case",
    "guess_url",
    "has_delta_error",
    "has_foreign_mark",
    "host_of",
    "host_of_url",
    "in_shards_error",
    "keep_content",
    "keep_for_delta",
    "leave_out",
    "mark_place",
    "match_pages",
    "merge_parts",
    "named_in_parts",
    "nearest_urls",
    "no_note",
    "open_corpora",
    "open_delta",
    "open_shards",
    "open_with_delta",
    "page_count",
    "pick_records",
    "put_hidden",
    "read_keeping",
    "read_parts",
    "read_sources",
    "read_sources_into",
    "read_strictly",
    "read_units",
    "recorded_names",
    "refuse_other_sources",
    "refuse_to_lose",
    "remove_marked",
    "repeated_ends",
    "replaces_sources",
    "require_keeping",
    "runs_under",
    "shard_folders",
    "site_of",
    "sites_of_urls",
    "split_port",
    "to_utf8",
    "units_key",
    "unknown_url_message",
    "widen_corpus",
    "without_known",
]
