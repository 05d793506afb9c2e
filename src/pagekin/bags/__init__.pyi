"""What other rooms may import of this one; each name is loaded when it is first used."""

from .bags import BAG_ARRAYS, Bags, Origin
from .build import keep, make_bags, merge
from .check import check_bag_shapes, check_bags, check_frequencies, spread_sample
from .copies import (
    EMPTY_PLACE,
    NEAR_COPY,
    NO_SKETCH,
    SKETCH_PLACES,
    CopyIndex,
    are_copies,
    common_words,
    copy_sketches,
    fold_copies,
    has_sketches,
)
from .cutting import BagCut, cut_bags, find_bag_cut
from .epoch import (
    EpochColumns,
    EpochPart,
    epoch_identity,
    epoch_part,
    identify_epoch,
    is_shard,
    join_epoch_parts,
    write_epoch,
)
from .frequencies import Frequencies, count_frequencies, keep_common, sum_frequencies
from .furniture import LinkUse, host_hashes
from .graph import LinkColumns, check_links, link_shares, link_weights, write_links
from .judging import JudgedLinks, classify_links, find_captured, judge_links, judge_links_in_rounds
from .kernels import mix_number
from .link_pairs import (
    DocumentLinks,
    NamedLinks,
    collect_links,
    count_outlinks,
    divide_links,
    find_links,
    name_links,
    number_links,
)
from .links import citing_pages
from .mixing import mix64
from .page import page_bag, page_sketch
from .settings import change_settings, check_settings, number, one_of, read_assignments, settings_table
from .strategy import (
    PRESETS,
    Signals,
    Signature,
    Strategy,
    StrategyError,
    choose_strategy,
    load_strategy,
    preset_strategy,
    setting_value,
    strategy_from_dict,
    strategy_of_index,
)
from .tallies import Tally, sum_tallies
from .visits import Visits, divide_visits, emit_visits, reduce_visits
from .weighing import weigh
from .weights import nmdf_parameters
from .words import STOP_WORDS, Vocabulary, bag_forms, is_telling, make_vocabulary, stem_of_word, stop_words, word_hash
from .workshop import BagMatrix, BagWorkshop

__all__ = [
    "BAG_ARRAYS",
    "EMPTY_PLACE",
    "NEAR_COPY",
    "NO_SKETCH",
    "PRESETS",
    "SKETCH_PLACES",
    "STOP_WORDS",
    "BagCut",
    "BagMatrix",
    "BagWorkshop",
    "Bags",
    "CopyIndex",
    "DocumentLinks",
    "EpochColumns",
    "EpochPart",
    "Frequencies",
    "JudgedLinks",
    "LinkColumns",
    "LinkUse",
    "NamedLinks",
    "Origin",
    "Signals",
    "Signature",
    "Strategy",
    "StrategyError",
    "Tally",
    "Visits",
    "Vocabulary",
    "are_copies",
    "bag_forms",
    "change_settings",
    "check_bag_shapes",
    "check_bags",
    "check_frequencies",
    "check_links",
    "check_settings",
    "choose_strategy",
    "citing_pages",
    "classify_links",
    "collect_links",
    "common_words",
    "copy_sketches",
    "count_frequencies",
    "count_outlinks",
    "cut_bags",
    "divide_links",
    "divide_visits",
    "emit_visits",
    "epoch_identity",
    "epoch_part",
    "find_bag_cut",
    "find_captured",
    "find_links",
    "fold_copies",
    "has_sketches",
    "host_hashes",
    "identify_epoch",
    "is_shard",
    "is_telling",
    "join_epoch_parts",
    "judge_links",
    "judge_links_in_rounds",
    "keep",
    "keep_common",
    "link_shares",
    "link_weights",
    "load_strategy",
    "make_bags",
    "make_vocabulary",
    "merge",
    "mix64",
    "mix_number",
    "name_links",
    "nmdf_parameters",
    "number",
    "number_links",
    "one_of",
    "page_bag",
    "page_sketch",
    "preset_strategy",
    "read_assignments",
    "reduce_visits",
    "setting_value",
    "settings_table",
    "spread_sample",
    "stem_of_word",
    "stop_words",
    "strategy_from_dict",
    "strategy_of_index",
    "sum_frequencies",
    "sum_tallies",
    "weigh",
    "word_hash",
    "write_epoch",
    "write_links",
]
