"""The network file: the routers and sites, their addresses, and their hierarchy.

People read and edit it, so that every message names the line. Several hierarchies may stand above the same sites
(hypursuit-1996, "Hierarchical Organization of a HyPursuit System").
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from pagekin.bags import toml_value
from pagekin.errors import PagekinError
from pagekin.labels import ROUTER_CLUSTERS, LabelBudget
from pagekin.routers.place import Place

NETWORK_FILE = "network.toml"
MAIN = "main"
"""The hierarchy of routers that name none, nor a parent that does."""
LONGEST_NAME = 200
TIMEOUT = 10.0
"""Seconds that a call may take, unless the file says otherwise."""
_RUNS = ("here", "elsewhere")
"""Who runs a node: this network, or somebody else."""
_HEAD = """\
# The network: routers, and the sites (leaves) below them. Read by `pagekin network`; edit it as you like.
#
# [network]   name; defaults for all routers: timeout, allow, max_terms, max_clusters, max_bytes, child_bytes
# [[router]]  name, url, parents, hierarchy; a router without parents is the root of its hierarchy
# [[site]]    name, url, parents, collection (a .kin folder, relative to this file)
#             both: listen, an http address of this machine, if a proxy answers at the url
#
# To add a site that someone else runs, leave out `collection`; a router of theirs has runs = "elsewhere".
"""


class NetworkError(PagekinError):
    """A network file that cannot be used; the message names the lines and says what is wrong."""


@dataclass(frozen=True)
class Settings:
    """Settings of a node, or of the network for all nodes; None if not set."""

    max_terms: int | None = None
    max_clusters: int | None = None
    max_bytes: int | None = None
    """The budget of its label: terms of a sub-cluster, sub-clusters, bytes of the JSON form."""
    child_bytes: int | None = None
    """Maximum bytes of each child's label that a router asks for."""
    timeout: float | None = None
    """Seconds that a router waits for the label of a child."""
    allow: tuple[str, ...] | None = None
    """Addresses that may be called although they are not public, for the address guard."""


SETTINGS = tuple(one.name for one in fields(Settings))


@dataclass(frozen=True)
class Node:
    """A router, or a site (a leaf router over one collection)."""

    name: str
    url: str
    """Where it answers; ends in a slash."""
    leaf: bool
    collection: Path | None = None
    """As written: relative to the file's folder."""
    parents: tuple[str, ...] = ()
    hierarchy: str = ""
    """Of a router; leaves are shared by all."""
    here: bool = True
    """False if somebody else runs it."""
    added: tuple[str, ...] = ()
    """Terms that the operator adds to its label, as WORD or ATTRIBUTE:WORD."""
    settings: Settings = Settings()
    listen: str = ""
    """Where it listens, if that is not its url: behind a proxy."""

    @property
    def place(self) -> Place:
        """Return where the node listens, if it runs here."""
        return Place.of(self.listen or self.url)

    @property
    def kind(self) -> str:
        """Return what the file calls the node: a site or a router."""
        return "site" if self.leaf else "router"


@dataclass(frozen=True)
class Network:
    """Routers and sites. `load` reads the file and checks it, `to_toml` writes it."""

    name: str
    nodes: tuple[Node, ...]
    """Roots first, then routers by hierarchy, level and name, then sites by name."""
    defaults: Settings = Settings()
    file: Path | None = field(default=None, compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """What is odd about the file, with lines."""

    @classmethod
    def of(
        cls, name: str, nodes: Iterable[Node], defaults: Settings | None = None, file: Path | None = None,
        warnings: Iterable[str] = (),
    ) -> "Network":  # fmt: skip
        """Make a network of nodes in any order. They are not checked, but there must be no cycle."""
        every = tuple(nodes)
        level = levels_of(every)
        ordered = sorted(every, key=lambda n: (n.leaf, bool(n.parents), n.hierarchy, -level[n.name], n.name))
        return cls(name, tuple(ordered), defaults or Settings(), file, tuple(warnings))

    @staticmethod
    def load(path: str | Path) -> "Network":
        """Load a network from a file, or from network.toml in a folder; raise NetworkError with all that is wrong."""
        file = Path(path)
        if file.is_dir():
            file /= NETWORK_FILE
        from pagekin.routers.network_file import NetworkReader

        return NetworkReader(file).read()

    # -- the tree ------------------------------------------------------------------------------------------------------

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        """Return the nodes by their names."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def _children(self) -> Mapping[str, tuple[Node, ...]]:
        by_parent: defaultdict[str, list[Node]] = defaultdict(list)
        for node in self.nodes:
            for parent in node.parents:
                by_parent[parent].append(node)
        return {name: tuple(children) for name, children in by_parent.items()}

    @cached_property
    def _level(self) -> Mapping[str, int]:
        return levels_of(self.nodes)

    def children_of(self, name: str) -> tuple[Node, ...]:
        """Return the nodes below a router, routers first."""
        return self._children.get(name, ())

    def roots(self) -> tuple[Node, ...]:
        """Return the routers that have no parents."""
        return tuple(node for node in self.nodes if not node.leaf and not node.parents)

    def level_of(self, name: str) -> int:
        """Return the level of a node: 0 for a leaf; a router is one above its highest child."""
        return self._level[name]

    def leaves_below(self, name: str) -> tuple[Node, ...]:
        """Return the sites below a node, each once, or the site itself."""
        seen, waiting = {name}, deque([name])
        while waiting:
            for child in self.children_of(waiting.popleft()):
                if child.name not in seen:
                    seen.add(child.name)
                    waiting.append(child.name)
        return tuple(sorted((self.by_name[one] for one in seen if self.by_name[one].leaf), key=lambda one: one.name))

    # -- what holds for a node -----------------------------------------------------------------------------------------

    def collection_of(self, node: Node) -> Path | None:
        """Return where a site's collection is."""
        if node.collection is None:
            return None
        return (self.file.parent if self.file else Path()) / node.collection

    def settings_of(self, node: Node) -> Settings:
        """Return the effective settings of a node: its own, or else the network's."""
        return Settings(**_set(self.defaults) | _set(node.settings))

    def budget_of(self, node: Node) -> LabelBudget:
        """Return the budget of a router's label."""
        own = self.settings_of(node)
        named = {"terms": own.max_terms, "clusters": own.max_clusters or ROUTER_CLUSTERS, "bytes": own.max_bytes}
        return LabelBudget(**{name: value for name, value in named.items() if value is not None})

    # -- the file ------------------------------------------------------------------------------------------------------

    def to_toml(self) -> str:
        """Return the text of the file."""
        lines = [_HEAD, "[network]", *_pairs({"name": self.name} | _set(self.defaults))]
        for node in self.nodes:
            usually_here = not node.leaf or node.collection is not None
            keys = {
                "name": node.name, "url": node.url, "listen": node.listen,
                "collection": node.collection.as_posix() if node.collection else "", "parents": node.parents,
                "hierarchy": node.hierarchy, "runs": "" if node.here == usually_here else _RUNS[not node.here],
                "added": node.added,
            }  # fmt: skip
            written = {name: value for name, value in keys.items() if value}
            lines += ["", f"[[{node.kind}]]", *_pairs(written | _set(node.settings))]
        return "\n".join(lines) + "\n"


def levels_of(nodes: Iterable[Node]) -> dict[str, int]:
    """Return the level of each node; those in or above a cycle get none."""
    by_name = {node.name: node for node in nodes}
    waiting_for = dict.fromkeys(by_name, 0)
    for node in by_name.values():
        for parent in node.parents:
            if parent in waiting_for:
                waiting_for[parent] += 1
    level = {node.name: 0 if node.leaf else 1 for node in by_name.values()}
    ready = deque(name for name, children in waiting_for.items() if not children)
    done: dict[str, int] = {}
    while ready:
        name = ready.popleft()
        done[name] = level[name]
        for parent in by_name[name].parents:
            if parent in waiting_for:
                level[parent] = max(level[parent], level[name] + 1)
                waiting_for[parent] -= 1
                if not waiting_for[parent]:
                    ready.append(parent)
    return done


# -- writing ------------------------------------------------------------------------------------------------------------


def _set(settings: Settings) -> dict[str, Any]:
    return {name: value for name in SETTINGS if (value := getattr(settings, name)) is not None}


def _pairs(keys: Mapping[str, Any]) -> Iterable[str]:
    return (f"{name} = {toml_value(value)}" for name, value in keys.items())
