"""What other rooms may import of this one; each name is loaded when it is first used."""

from .costs import BuildCosts, estimate_costs
from .division import Census
from .leaves import LEAVES, BuiltLeaves, LeafBuilder, LeafPlan, LeafSite, LeavesError, lock_folder, write_atomically
from .local import BuildReport, build_collection, cluster_collection, index_collection, label_collection
from .needs import require_room
from .shards import MOST_SHARDS, ShardError, build_shards, check_shards, shard_collection

__all__ = [
    "LEAVES",
    "MOST_SHARDS",
    "BuildCosts",
    "BuildReport",
    "BuiltLeaves",
    "Census",
    "LeafBuilder",
    "LeafPlan",
    "LeafSite",
    "LeavesError",
    "ShardError",
    "build_collection",
    "build_shards",
    "check_shards",
    "cluster_collection",
    "estimate_costs",
    "index_collection",
    "label_collection",
    "lock_folder",
    "require_room",
    "shard_collection",
    "write_atomically",
]
