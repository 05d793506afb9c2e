"""Which hosts form a leaf, and which routers are above the leaves: by domain names, a directory, or similar labels.

Functions from counts, listings and labels to trees; the same input gives the same tree, in whatever order it comes.
"""

import hashlib
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import quote

import ada_url
import msgspec

from pagekin.hypertext import canonical_url, split_port
from pagekin.labels import ContentLabel, LabelBudget, is_plain, plain_line, router_label
from pagekin.net import is_loopback
from pagekin.routers.network import LONGEST_NAME, Network, NetworkError, Node, Settings
from pagekin.routers.place import Place

Way = tuple[str, ...]
"""The routers above a leaf, from the top down."""
ROOT = "root"
ADDRESSES = "IP addresses"
"""The router above hosts that have no name."""
_WORDS_IN_NAME = 4
_LONGEST_FILE = 200
_LAST_PORT = 65535
NODES_PATH = "nodes"
"""The path prefix of nodes that share the root's port; no page of the root begins with it."""
_LONGEST_START = LONGEST_NAME - 40
"""Of a name, so that an ending can be added."""


@dataclass(frozen=True, order=True)
class SiteGroup:
    """Hosts whose pages form one leaf: one host, or the small hosts of a domain."""

    domains: Way
    """From the top down, as in ('edu', 'cornell.edu')."""
    host: str
    """Empty if these are the domain's other hosts."""
    hosts: Way
    pages: int = field(compare=False)

    @property
    def name(self) -> str:
        """Return the name of the leaf, unless a router has that name."""
        if self.host:
            return shown_host(self.host)
        return f"other hosts of {shown_host(self.domains[-1])}" if self.domains else "other hosts"

    @property
    def file(self) -> str:
        """Return the name of the collection's folder, without the extension; no host contains an @."""
        name = self.host or f"other@{self.domains[-1] if self.domains else 'all'}"
        plain = name.replace(":", "@").replace(" ", "-")
        if len(plain) <= _LONGEST_FILE:
            return plain
        return f"{plain[:_LONGEST_FILE]}@{hashlib.blake2b(plain.encode(), digest_size=6).hexdigest()}"


@dataclass(frozen=True)
class Hierarchy:
    """A tree of routers over leaves."""

    name: str
    parents: Mapping[str, str]
    """Router -> the router above it; '' for the root."""
    homes: Mapping[str, str]
    """Leaf -> the router above it."""


def domains_of(host: str) -> Way:
    """Return the domains of a host from the top down: edu, cornell.edu, cs.cornell.edu for www.cs.cornell.edu.

    A host of one label is in none, an IP address in one that is made up for all of them.
    """
    name = split_port(host)[0]
    labels = [label for label in name.split(".") if label]
    # The URL standard takes every host that ends in a number for an IPv4 address.
    if name.startswith("[") or (labels and labels[-1].isdecimal()):
        return (ADDRESSES,)
    return tuple(".".join(labels[start:]) for start in range(len(labels) - 1, 0, -1))


def shown_host(host: str) -> str:
    """Return a host in Unicode, if that can be converted back to the host."""
    if "xn--" not in host:
        return host
    name, colon, port = split_port(host)
    letters: str = ada_url.idna_to_unicode(name)
    try:
        same = ada_url.idna_to_ascii(letters) == name.encode()
    except ValueError:
        return host
    return f"{letters}{colon}{port}" if same and is_plain(letters) and "/" not in letters else host


def group_hosts(hosts: Mapping[str, int], min_pages: int) -> list[SiteGroup]:
    """Group hosts to leaves: a group for each host with enough pages, shared ones for smaller hosts.

    Smaller hosts share a group in the lowest domain where they have enough pages. What is left at the top makes a group
    in any case. A host that is a domain of others stands in that domain.
    """
    above = {domain for host in hosts for domain in domains_of(host)}
    place = {host: (*domains_of(host), *({split_port(host)[0]} & above)) for host in hosts}
    groups = [SiteGroup(place[host], host, (host,), pages) for host, pages in hosts.items() if pages >= min_pages]
    small: defaultdict[Way, list[str]] = defaultdict(list)
    for host, pages in hosts.items():
        if 0 < pages < min_pages:
            small[place[host]].append(host)
    for depth in range(max(map(len, small), default=0), -1, -1):
        for domains in [one for one in small if len(one) == depth]:
            members = small.pop(domains)
            pages = sum(hosts[host] for host in members)
            if pages >= min_pages or not domains:
                groups.append(SiteGroup(domains, "", tuple(sorted(members)), pages))
            else:
                small[domains[:-1]] += members
    return sorted(groups)


# -- trees --------------------------------------------------------------------------------------------------------------


def dns_tree(groups: Iterable[SiteGroup]) -> Hierarchy:
    """Make routers by the domains of hosts (the paper's Figure 2); leaves have the names of their groups' files."""
    paths = {group.file: group.domains for group in groups}
    return tree_of_paths("dns", ROOT, paths, lambda path: shown_host(path[-1]))


def directory_tree(classes: Mapping[str, Mapping[Way, int]]) -> Hierarchy:
    """Make routers by the classes of a directory: each leaf is where most of its pages are, or below the root.

    `classes` tells for each leaf how many pages are in which class.
    """
    paths: dict[str, Way] = {}
    for leaf, counts in classes.items():
        chosen = min(counts, key=lambda path: (-counts[path], path), default=())
        paths[leaf] = tuple(_plain_name(part) or "-" for part in chosen)
    return tree_of_paths("directory", "directory", paths, " > ".join)


def cluster_tree(labels: Mapping[str, ContentLabel]) -> Hierarchy:
    """Make routers over leaves with similar labels: complete link on the terms of the whole, to about sqrt(n) groups.

    A router has the name of the words that its leaves share in contrast to the others.
    """
    bare = {leaf: msgspec.structs.replace(label, clusters=(), filters=()) for leaf, label in labels.items()}
    most = max(1, round(math.sqrt(len(bare))))
    merged = router_label("clusters", bare, LabelBudget(clusters=most, bytes=1 << 40))
    group_of = {leaf: next(iter(home.values())) for leaf, home in merged.homes.items()}
    names = _group_names(
        {leaf: {term.word for term in label.rows(label.terms)} for leaf, label in bare.items()}, group_of
    )
    paths = {leaf: (names[group],) for leaf, group in group_of.items()}
    return tree_of_paths("clusters", "clusters", paths, lambda path: path[-1])


def _group_names(words: Mapping[str, set[str]], group_of: Mapping[str, int]) -> dict[int, str]:
    """Name each group by the words that most of its leaves have and few others.

    A word counts by how many leaves have it, times the log of how much more often than others they do.
    """
    held = Counter(word for some in words.values() for word in some)
    names: dict[int, str] = {}
    for group, size in sorted(Counter(group_of.values()).items()):
        inside = Counter(word for leaf, home in group_of.items() if home == group for word in words[leaf])
        others = len(words) - size
        weight = {
            word: count / size * math.log((count + 0.5) / (size + 1) * (others + 1) / (held[word] - count + 0.5))
            for word, count in inside.items()
        }
        chosen: list[str] = []
        for word in sorted(weight, key=lambda one: (-round(weight[one], 9), one)):
            # Two forms of a word would tell the same twice.
            if len(chosen) < _WORDS_IN_NAME and not any(word[:5] == one[:5] for one in chosen):
                chosen.append(word)
        name = _plain_name(" ".join(chosen)) or f"group {group}"
        names[group] = name if name not in names.values() else f"{name} {group}"
    return names


def _plain_name(text: str) -> str:
    return plain_line(text).replace("/", "-").strip()


def tree_of_paths(name: str, root: str, paths: Mapping[str, Way], named: Callable[[Way], str]) -> Hierarchy:
    """Make the tree in which each leaf is at the end of its path; a router with one child is replaced by it.

    Only a root above a single leaf stays.
    """
    below: defaultdict[Way, set[Way | str]] = defaultdict(set)
    for leaf, path in paths.items():
        below[path].add(leaf)
        for depth in range(len(path), 0, -1):
            below[path[: depth - 1]].add(path[:depth])
    stand_ins: dict[Way, Way | str] = {}
    for path in sorted(below, key=len, reverse=True):
        children = {stand_ins[child] if isinstance(child, tuple) else child for child in below[path]}
        below[path] = children
        only = next(iter(children))
        stand_ins[path] = only if len(children) == 1 and (path or isinstance(only, tuple)) else path
    top = stand_ins.get((), ())
    parents: dict[str, str] = {}
    homes: dict[str, str] = {}
    router_names: dict[Way, str] = {}
    waiting: list[tuple[Way | str, str]] = [(top, "")]
    while waiting:
        child, parent = waiting.pop()
        if isinstance(child, str):
            homes[child] = parent
            continue
        router_names[child] = _unique(named(child) if child else root, parents)
        parents[router_names[child]] = parent
        waiting += ((one, router_names[child]) for one in sorted(below[child], key=_order, reverse=True))
    return Hierarchy(name, parents, homes)


def _order(child: Way | str) -> tuple[bool, Way]:
    return (True, (child,)) if isinstance(child, str) else (False, child)


def _unique(name: str, taken: Container[str], kind: str = "") -> str:
    """Return the name if it is valid and free, or else a similar one."""
    name = name[:_LONGEST_START].strip()
    if name in ("", ".", ".."):
        name = f"({name})"
    endings = itertools.chain(("", f" ({kind})") if kind else ("",), (f" ({number})" for number in itertools.count(2)))
    return next(name + ending for ending in endings if name + ending not in taken)


# -- the network --------------------------------------------------------------------------------------------------------


def make_network(
    name: str, groups: Sequence[SiteGroup], trees: Sequence[Hierarchy], host: str = "127.0.0.1", port: int = 8700,
    one_port: bool = True, leaves: str = "leaves",
) -> Network:  # fmt: skip
    """Make a network of these leaves below these trees of routers, every node with an address of its own.

    All have paths at one port, the first root `/`; or else ports that rise from `port` on, routers first.
    """
    routers: dict[str, Node] = {}
    parents_of: defaultdict[str, list[str]] = defaultdict(list)
    for tree in trees:
        renamed = {"": ""}
        for router in tree.parents:  # parents come before their children
            renamed[router] = _unique(router, routers, tree.name)
            above = renamed[tree.parents[router]]
            routers[renamed[router]] = Node(
                renamed[router], "", False, parents=(above,) if above else (), hierarchy=tree.name
            )
        for leaf, home in tree.homes.items():
            parents_of[leaf].append(renamed[home])
    nodes = dict(routers)
    for group in sorted(groups):
        # The router keeps the domain's name: cs.cornell.edu stands for all below it, "host cs.cornell.edu" for one host.
        leaf_name = group.name if group.name not in nodes else f"host {group.name}"
        leaf_name = _unique(leaf_name, nodes)
        nodes[leaf_name] = Node(
            leaf_name, "", True, Path(leaves) / f"{group.file}.kin", tuple(parents_of[group.file])
        )  # fmt: skip
    network = Network.of(name, nodes.values(), Settings(allow=allowed_for(host) or None))
    check_ports(len(network.nodes), port, one_port)
    # Whoever opens the port in a browser finds the first root there.
    first = network.roots()[0].name if network.roots() else ""
    placed = [
        replace(
            node,
            url=_url(host, port, "" if node.name == first else node.name) if one_port else _url(host, port + place),
        )
        for place, node in enumerate(network.nodes)
    ]
    return replace(network, nodes=tuple(placed))


def check_ports(nodes: int, port: int, one_port: bool) -> None:
    """Refuse, with a NetworkError, more nodes than there are ports from `port` on."""
    if not one_port and port + nodes - 1 > _LAST_PORT:
        raise NetworkError(
            f"{nodes:,} nodes have no room from port {port} on: name a lower port, or let them share one"
        )


def _url(host: str, port: int, name: str = "") -> str:
    """Return an address at a port; named nodes get a path that no page of the root has."""
    shown = f"[{host}]" if ":" in host else host
    path = f"{NODES_PATH}/{quote(name, safe='')}/" if name else ""
    return canonical_url(f"http://{shown}:{port}/{path}") or ""


def move_to_port(network: Network, port: int) -> Network:
    """Return a network whose nodes here share another port; NetworkError if they share none."""
    here = {Place.of(node.url).port for node in network.nodes if node.here}
    if len(here) != 1 or any(node.listen for node in network.nodes if node.here):
        raise NetworkError(
            f"--port moves a network whose nodes share one port, and these have {len(here):,}, or listen elsewhere than "
            "their addresses say: edit network.toml"
        )
    (before,) = here
    moved = [
        replace(node, url=node.url.replace(f":{before}/", f":{port}/", 1)) if node.here else node
        for node in network.nodes
    ]
    return replace(network, nodes=tuple(moved))


def allowed_for(host: str) -> Way:
    """Return what the address guard has to allow, so that nodes at `host` can be called."""
    if is_loopback(host):
        return ("loopback",)
    try:
        address = ip_address(host)
    except ValueError:
        return ()
    return () if address.is_global else (str(ip_network(address)),)
