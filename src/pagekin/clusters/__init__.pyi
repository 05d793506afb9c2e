"""What other rooms may import of this one; each name is loaded when it is first used."""

from .agreement import measure_agreement
from .check import check_trees
from .communities import cluster_pages
from .complete import complete_link
from .directory import (
    DIRECTORY_CHOICES,
    DIRECTORY_MODES,
    OWN_DIRECTORIES,
    Directory,
    DirectoryError,
    familial_distance,
    load_directory,
    read_listings,
)
from .documents import DOCUMENTS_TREE, document_of, document_tree, find_documents, fold_documents
from .following import FollowedTrees, describe_sample, follow_trees, join_clusters, join_shard, match_some
from .furniture import is_count, is_furniture
from .hierarchy import TREE_ARRAYS, ClusterDescription, Tree, join_shard_trees, join_trees, put_trees, read_trees
from .kept_names import NO_NAMES, KeptNames, write_names
from .links import link_similarity, page_graph
from .make import MOST_PAGES, compare_methods, make_trees
from .sampling import LeastHashes, SampledPages, hash_addresses, least_hashes, sample_limit
from .settings import (
    ClusterError,
    ClusterSettings,
    LinkSettings,
    TermSettings,
    choose_clusters,
)
from .terms import (
    TERM_ATTRIBUTES,
    TERM_PRESET,
    count_terms,
    count_terms_in,
    term_batches,
    term_similarity,
    term_vectors,
    term_words,
    weigh_terms,
)
from .thesaurus import THESAURUS_ARRAYS, Cooccurrences, PageThesaurus, PageTopics, Suggestions, numbers_of
from .topics_over_delta import topics_over_delta

__all__ = [
    "DIRECTORY_CHOICES",
    "DIRECTORY_MODES",
    "DOCUMENTS_TREE",
    "MOST_PAGES",
    "NO_NAMES",
    "OWN_DIRECTORIES",
    "TERM_ATTRIBUTES",
    "TERM_PRESET",
    "THESAURUS_ARRAYS",
    "TREE_ARRAYS",
    "ClusterDescription",
    "ClusterError",
    "ClusterSettings",
    "Cooccurrences",
    "Directory",
    "DirectoryError",
    "FollowedTrees",
    "KeptNames",
    "LeastHashes",
    "LinkSettings",
    "PageThesaurus",
    "PageTopics",
    "SampledPages",
    "Suggestions",
    "TermSettings",
    "Tree",
    "check_trees",
    "choose_clusters",
    "cluster_pages",
    "compare_methods",
    "complete_link",
    "count_terms",
    "count_terms_in",
    "describe_sample",
    "document_of",
    "document_tree",
    "familial_distance",
    "find_documents",
    "fold_documents",
    "follow_trees",
    "hash_addresses",
    "is_count",
    "is_furniture",
    "join_clusters",
    "join_shard",
    "join_shard_trees",
    "join_trees",
    "least_hashes",
    "link_similarity",
    "load_directory",
    "make_trees",
    "match_some",
    "measure_agreement",
    "numbers_of",
    "page_graph",
    "put_trees",
    "read_listings",
    "read_trees",
    "sample_limit",
    "term_batches",
    "term_similarity",
    "term_vectors",
    "term_words",
    "topics_over_delta",
    "weigh_terms",
    "write_names",
]
