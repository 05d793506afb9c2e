"""What other rooms may import of this one; each name is loaded when it is first used."""

from .captures import Captures, divide_captures, join_captures, list_captures
from .charset import decode_page, to_utf8
from .check import check_corpus
from .choosing import (
    ChoiceState,
    Chosen,
    advance_choice,
    begin_choice,
    conclude_choice,
    count_left_out,
    divide_chosen,
    join_chosen,
)
from .columns import CORPUS_ARRAYS, READABLE_TEXT, RECORD_ARRAYS, WORD_ARRAYS, HiddenColumns, PageColumns, page_count
from .corpus import Corpus, Stream, has_delta_error, in_shards_error
from .cutting import Cut, CutNumbers, cut_corpus, cut_pages
from .decoder import decode_starts, decode_stream, decode_words, runs_under
from .journal import code_digest
from .keeping import Keeping, keep_for_delta, read_keeping, replaces_sources, require_keeping, without_known
from .language import declared_language
from .leaving_out import leave_out
from .letters import Letter, Ranges, Round
from .lexer import Lexer
from .matching import PageChanges, compare_pages, match_pages
from .merge import merge_parts
from .model import AnchorFlag, AnchorKind, Attribute, Boundary, CharClass, PageFlag, ReadPage, char_class, fold_case
from .nearest import guess_url, nearest_urls, unknown_url_message
from .opt_outs import NO_OPT_OUTS, OptOutError, OptOuts
from .part import OBEYED
from .part_records import Part, divide_part, read_part, sum_abouts, write_part
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
from .shard_bounds import RangeSize, Starts, find_starts, measure_chosen, settle_bounds, share_work, sum_sizes
from .shard_merge import count_shard, list_hosts, list_links, list_terms, merge_shard, sum_facts
from .shard_names import ShardNames, advance_names, begin_names
from .sharded import open_corpora, open_delta, open_shards, open_with_delta, put_hidden, shard_folders
from .shards_of_parts import ShardCorpora, choose_ranges, merge_in_shards, sample_addresses
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
    "OBEYED",
    "PARSERS",
    "READABLE_TEXT",
    "RECORD_ARRAYS",
    "WORD_ARRAYS",
    "AnchorFlag",
    "AnchorKind",
    "Attribute",
    "Boundary",
    "Captures",
    "CharClass",
    "ChoiceState",
    "Chosen",
    "Corpus",
    "Cut",
    "CutNumbers",
    "DamagedInputError",
    "DecodedPage",
    "HiddenColumns",
    "HostTitles",
    "Keeping",
    "Letter",
    "Lexer",
    "Note",
    "OptOutError",
    "OptOuts",
    "PageChanges",
    "PageColumns",
    "PageFlag",
    "Part",
    "RangeSize",
    "Ranges",
    "ReadPage",
    "ReadPlan",
    "ReadReport",
    "Regions",
    "Round",
    "ShardCorpora",
    "ShardNames",
    "ShortTitles",
    "Starts",
    "Stream",
    "StreamBatch",
    "StrictLexer",
    "UnitsRead",
    "WorkerError",
    "WrittenWords",
    "advance_choice",
    "advance_names",
    "begin_choice",
    "begin_names",
    "canonical_url",
    "char_class",
    "check_corpus",
    "check_selector",
    "choose_ranges",
    "code_digest",
    "common_spellings",
    "common_spellings_of_many",
    "compare_pages",
    "conclude_choice",
    "count_left_out",
    "count_shard",
    "cut_corpus",
    "cut_pages",
    "declared_language",
    "decode_page",
    "decode_starts",
    "decode_stream",
    "decode_words",
    "default_workers",
    "divide_captures",
    "divide_chosen",
    "divide_part",
    "find_regions",
    "find_starts",
    "fold_case",
    "guess_url",
    "has_delta_error",
    "has_foreign_mark",
    "host_of",
    "host_of_url",
    "in_shards_error",
    "join_captures",
    "join_chosen",
    "keep_content",
    "keep_for_delta",
    "leave_out",
    "list_captures",
    "list_hosts",
    "list_links",
    "list_terms",
    "mark_place",
    "match_pages",
    "measure_chosen",
    "merge_in_shards",
    "merge_parts",
    "merge_shard",
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
    "read_part",
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
    "sample_addresses",
    "settle_bounds",
    "shard_folders",
    "share_work",
    "site_of",
    "sites_of_urls",
    "split_port",
    "sum_abouts",
    "sum_facts",
    "sum_sizes",
    "to_utf8",
    "units_key",
    "unknown_url_message",
    "widen_corpus",
    "without_known",
    "write_part",
]
