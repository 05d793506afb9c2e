"""What other rooms may import of this one; each name is loaded when it is first used."""

from .http import HTTP_ERRORS, PATH_PREFIX, HttpRequest, ServedService, health_route, router_app, service_of
from .network import NETWORK_FILE, Network, NetworkError
from .network_file import clean_node_url
from .opening import BlockingService, address_of, is_in_shards, open_collection, open_service
from .router import Router
from .serve import Place, free_port, listening_socket
from .sharded import LeafService, ShardedCollection, open_whole
from .sizes import parts_on_disk
from .topology import (
    Hierarchy,
    SiteGroup,
    check_ports,
    cluster_tree,
    directory_tree,
    dns_tree,
    group_hosts,
    make_network,
    move_to_port,
)
from .up import ask_health, choose_nodes, run_leaf, run_network

__all__ = [
    "HTTP_ERRORS",
    "NETWORK_FILE",
    "PATH_PREFIX",
    "BlockingService",
    "Hierarchy",
    "HttpRequest",
    "LeafService",
    "Network",
    "NetworkError",
    "Place",
    "Router",
    "ServedService",
    "ShardedCollection",
    "SiteGroup",
    "address_of",
    "ask_health",
    "check_ports",
    "choose_nodes",
    "clean_node_url",
    "cluster_tree",
    "directory_tree",
    "dns_tree",
    "free_port",
    "group_hosts",
    "health_route",
    "is_in_shards",
    "listening_socket",
    "make_network",
    "move_to_port",
    "open_collection",
    "open_service",
    "open_whole",
    "parts_on_disk",
    "router_app",
    "run_leaf",
    "run_network",
    "service_of",
]
