"""What other rooms may import of this one; each name is loaded when it is first used."""

from .build import leaf_label
from .fitting import ROUTER_CLUSTERS, LabelBudget, plain_line
from .keep import LABEL_ARRAYS, added_terms, check_stored_label, put_label, read_label, read_label_parts, stored_etag
from .membership import FilterBank, TermFilter, TermKeys, probes_of, term_key
from .merge import MergedLabel, cut_label, router_label
from .model import (
    LABEL_VERSION,
    LARGEST_COUNT,
    AddedTerm,
    ContentLabel,
    LabelError,
    LabelLimits,
    LabelTerms,
    LeafCount,
    SubCluster,
    is_plain,
    label_from_json,
    label_to_json,
    plain_text,
    without_filters,
)
from .over_delta import PagesOf, label_over_delta, put_label_over_delta
from .parts import (
    ABSTRACTION_FUNCTIONS,
    join_parts,
    label_etag,
    label_from_wire,
    label_part,
    label_parts,
    label_to_wire,
    leaf_identity,
    parts_to_publish,
)
from .sexpr import label_to_sexpr
from .widen import broader_terms, operator_terms

__all__ = [
    "ABSTRACTION_FUNCTIONS",
    "LABEL_ARRAYS",
    "LABEL_VERSION",
    "LARGEST_COUNT",
    "ROUTER_CLUSTERS",
    "AddedTerm",
    "ContentLabel",
    "FilterBank",
    "LabelBudget",
    "LabelError",
    "LabelLimits",
    "LabelTerms",
    "LeafCount",
    "MergedLabel",
    "PagesOf",
    "SubCluster",
    "TermFilter",
    "TermKeys",
    "added_terms",
    "broader_terms",
    "check_stored_label",
    "cut_label",
    "is_plain",
    "join_parts",
    "label_etag",
    "label_from_json",
    "label_from_wire",
    "label_over_delta",
    "label_part",
    "label_parts",
    "label_to_json",
    "label_to_sexpr",
    "label_to_wire",
    "leaf_identity",
    "leaf_label",
    "operator_terms",
    "parts_to_publish",
    "plain_line",
    "plain_text",
    "probes_of",
    "put_label",
    "put_label_over_delta",
    "read_label",
    "read_label_parts",
    "router_label",
    "stored_etag",
    "term_key",
    "without_filters",
]
