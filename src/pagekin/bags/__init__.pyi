"""What other rooms may import of this one; each name is loaded when it is first used."""

from .bags import BAG_ARRAYS, Bags, Origin
from .build import make_bags
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
from .epoch import EpochColumns, epoch_identity, is_shard
from .furniture import LinkUse, classify_links
from .graph import LinkColumns, check_links, link_weights
from .kernels import mix_number
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
    "EpochColumns",
    "LinkColumns",
    "LinkUse",
    "Origin",
    "Signals",
    "Signature",
    "Strategy",
    "StrategyError",
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
    "common_words",
    "copy_sketches",
    "cut_bags",
    "epoch_identity",
    "find_bag_cut",
    "fold_copies",
    "has_sketches",
    "is_shard",
    "is_telling",
    "link_weights",
    "load_strategy",
    "make_bags",
    "make_vocabulary",
    "mix64",
    "mix_number",
    "nmdf_parameters",
    "number",
    "one_of",
    "page_bag",
    "page_sketch",
    "preset_strategy",
    "read_assignments",
    "setting_value",
    "settings_table",
    "spread_sample",
    "stem_of_word",
    "stop_words",
    "strategy_from_dict",
    "strategy_of_index",
    "word_hash",
]
