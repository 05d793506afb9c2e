"""What other rooms may import of this one; each name is loaded when it is first used."""

from .local import BuildReport, build_collection, cluster_collection, index_collection, label_collection
from .network import NetworkPlan, init_network

__all__ = [
    "BuildReport",
    "NetworkPlan",
    "build_collection",
    "cluster_collection",
    "index_collection",
    "init_network",
    "label_collection",
]
