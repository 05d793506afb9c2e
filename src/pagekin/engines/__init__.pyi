"""What other rooms may import of this one; each name is loaded when it is first used."""

from .cluster_costs import ClusterCosts, divide_costs, usual_costs
from .costs import BuildCosts, estimate_costs
from .delta import DeltaReport, check_delta
from .delta_limits import LARGEST_SHARE
from .division import Census
from .drift import Drift, compare_first, first_related, measure_drift, sample_questions
from .leaves import LEAVES, BuiltLeaves, LeafBuilder, LeafPlan, LeafSite, LeavesError, lock_folder
from .local import BuildRecipe, BuildReport, build_collection, cluster_collection, index_collection, label_collection
from .local_shards import build_shards
from .needs import require_room
from .shards import ShardError, check_shards
from .spark import ClusterPlan, SparkError, build_on_spark
from .targets import build_here
from .update import UpdateReport, compact_collection, update_collection

__all__ = [
    "LARGEST_SHARE",
    "LEAVES",
    "BuildCosts",
    "BuildRecipe",
    "BuildReport",
    "BuiltLeaves",
    "Census",
    "ClusterCosts",
    "ClusterPlan",
    "DeltaReport",
    "Drift",
    "LeafBuilder",
    "LeafPlan",
    "LeafSite",
    "LeavesError",
    "ShardError",
    "SparkError",
    "UpdateReport",
    "build_collection",
    "build_here",
    "build_on_spark",
    "build_shards",
    "check_delta",
    "check_shards",
    "cluster_collection",
    "compact_collection",
    "compare_first",
    "divide_costs",
    "estimate_costs",
    "first_related",
    "index_collection",
    "label_collection",
    "lock_folder",
    "measure_drift",
    "require_room",
    "sample_questions",
    "update_collection",
    "usual_costs",
]
