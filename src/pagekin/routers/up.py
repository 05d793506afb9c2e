"""The routers of a network file, opened to be run in this process."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pagekin.net import Guard, parse_allowed
from pagekin.routers.leaf import Leaf
from pagekin.routers.network import Network, Node
from pagekin.routers.router import Router, RouterSettings
from pagekin.routers.serve import Place
from pagekin.store import KinError


@dataclass(frozen=True)
class Opened:
    """Routers that can be served, and those that cannot, with the reason."""

    services: list[tuple[Leaf | Router, Place]]
    skipped: dict[str, str]


def open_nodes(
    network: Network, names: Iterable[str], refresh: float = 60.0, progress: Callable[[float], None] = lambda _s: None
) -> Opened:
    """Open some nodes of a network."""
    services: list[tuple[Leaf | Router, Place]] = []
    skipped: dict[str, str] = {}
    chosen = [network.by_name[name] for name in names]
    for place, node in enumerate(chosen, 1):
        try:
            services.append((_opened(network, node, refresh), Place.of(node.url)))
        except KinError as error:
            skipped[node.name] = str(error)
        progress(place / len(chosen))
    return Opened(services, skipped)


def _opened(network: Network, node: Node, refresh: float) -> Leaf | Router:
    if node.leaf:
        collection = network.collection_of(node)
        if collection is None:
            raise KinError(f"{node.name} names no collection")
        return Leaf(node.name, collection)
    settings = RouterSettings(
        refresh=refresh,
        budget=network.budget_of(node),
        added=network.added_of(node),
        guard=Guard(parse_allowed(network.allow_of(node))),
    )
    children = {child.name: child.url for child in network.children_of(node.name)}
    return Router(node.name, children, settings, network.level_of(node.name))


def share(network: Network, processes: int) -> list[list[str]]:
    """The nodes that run here, divided among processes: leaves evenly, routers all in the first."""
    leaves = [node.name for node in network.nodes if node.here and node.leaf]
    routers = [node.name for node in network.nodes if node.here and not node.leaf]
    if processes <= 1:
        return [routers + leaves]
    parts = [leaves[number::processes] for number in range(processes)]
    parts[0] = routers + parts[0]
    return [part for part in parts if part]
