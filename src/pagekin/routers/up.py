"""Open the routers of a network file, and run them in this process and others."""

import contextlib
import errno
import gc
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Any

from pagekin.collection import Health, Service, ServiceError
from pagekin.hypertext import default_workers
from pagekin.labels import operator_terms, plain_text
from pagekin.net import Guard, parse_allowed
from pagekin.routers.http import router_app
from pagekin.routers.knowledge import RouterSettings
from pagekin.routers.network import TIMEOUT, Network, Node
from pagekin.routers.opening import fetch, open_collection
from pagekin.routers.process_group import ProcessGroup, Tell
from pagekin.routers.router import Router
from pagekin.routers.serve import MakeApp, Place, listening_socket, obstacles, run
from pagekin.routers.sharded import LeafService, mount
from pagekin.routers.warm import warm, warm_leaf

_PAUSE = 0.5
"""Seconds between two checks whether all nodes are ready."""
_SETTLED = 60.0
"""Seconds after listening begins, after which missing nodes are reported."""
_TOO_MANY_FILES = os.strerror(errno.EMFILE)
_MOST_TOLD = 5
"""Maximum number of names and lines of a kind in messages."""


@dataclass
class OpenNodes:
    """Nodes of a network that can be served, and what is wrong with some."""

    services: list[tuple[Service, Place]] = field(default_factory=list)
    nodes: int = 0
    """How many of them are nodes of the network; the others are shards."""
    ill: int = 0
    """How many nodes cannot answer until their collection is repaired."""
    complaints: list[str] = field(default_factory=list)
    """Lines that say what is wrong with these, and why others are not run."""


def open_nodes(network: Network, names: Iterable[str], refresh: float = 60.0) -> OpenNodes:
    """Open some nodes of a network; note those that cannot be opened or cannot answer yet."""
    opened = OpenNodes()
    near: dict[str, Service] = {}
    # Children first, so that routers find those that run in this process.
    for node in sorted((network.by_name[name] for name in names), key=lambda node: network.level_of(node.name)):
        path = network.collection_of(node)
        if not node.leaf:
            near[node.name] = _open_router(network, node, refresh, near)
        elif path is None:
            opened.complaints.append(f"not run: {node.name} names no collection")
            continue
        else:
            near[node.name] = leaf = open_collection(node.name, path, node.url, patient=True)
            opened.services += mount(leaf, node.place)[1:]
            if leaf.error:
                opened.ill += 1
                opened.complaints.append(f"cannot answer yet: {node.name}: {leaf.reason}")
        near[node.name].above = tuple((name, network.by_name[name].url) for name in node.parents)
        opened.services.append((near[node.name], node.place))
        opened.nodes += 1
    return opened


def _open_router(network: Network, node: Node, refresh: float, near: Mapping[str, Service]) -> Router:
    own = network.settings_of(node)
    settings = RouterSettings(
        refresh=refresh, label_seconds=own.timeout or TIMEOUT, budget=network.budget_of(node), child_bytes=own.child_bytes,
        added=operator_terms(node.added), guard=Guard(parse_allowed(own.allow or ())),
    )  # fmt: skip
    children = {child.name: child.url for child in network.children_of(node.name)}
    return Router(node.name, children, settings, network.level_of(node.name), near)


def choose_nodes(network: Network, only: Sequence[str], host: str) -> list[str]:
    """Return the nodes to run in this place: those named, or those at a host, or all that run here."""
    if unknown := [name for name in only if name not in network.by_name]:
        near = get_close_matches(unknown[0], network.by_name, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise ServiceError(f"the network has no node '{unknown[0]}'{hint}")
    chosen = [node for node in network.nodes if (node.name in only if only else node.here)]
    if host:
        chosen = [node for node in chosen if host in (node.place.host, Place.of(node.url).host)]
    if not chosen:
        raise ServiceError(f"no node of the network runs at '{host}'" if host else "no node of the network runs here")
    return [node.name for node in chosen]


def share(network: Network, processes: int, names: Sequence[str] | None = None) -> list[list[str]]:
    """Divide the nodes that run here, or those named, among processes, the one with the root first.

    Nodes of one process ask each other without HTTP. So what stands below a router stays with it as far as possible: the nodes
    are put in order, each router after all that is below it, and this order is cut into equal pieces.
    """
    chosen = set(names) if names is not None else {node.name for node in network.nodes if node.here}
    order: dict[str, None] = {}

    def add(node: Node) -> None:
        if node.name not in order:
            for child in network.children_of(node.name):
                add(child)
            order[node.name] = None

    for node in (*network.roots(), *network.nodes):
        add(node)
    ordered = [name for name in order if name in chosen]
    count = max(min(processes, len(ordered)), 1)
    cuts = [len(ordered) * number // count for number in range(count + 1)]
    return [ordered[begin:end] for begin, end in reversed(list(pairwise(cuts)))]


def run_network(
    network: Network,
    names: Sequence[str],
    processes: int,
    refresh: float,
    tell: Callable[[str], None],
    make_app: MakeApp = router_app,
) -> None:
    """Run nodes of a network until this process is stopped; its other processes end with it.

    With 0 processes there is one for each core, or one if nodes share a port. No node listens before all that first questions
    need is open, and this process, which has most routers, is the last.
    Raise ServiceError, with nothing left running, if one of them cannot start.
    """
    if not processes:
        processes = 1 if _share_a_port(network, names) else default_workers()
    elif processes > 1 and _share_a_port(network, names):
        raise ServiceError(
            f"{processes} processes cannot share the one port of these nodes: run them in one (--workers 1), or give each node a "
            "port of its own (pagekin network init ... --replace --port-each)"
        )
    _check_places(network, names)
    _may_open_many()
    began = time.monotonic()
    parts = share(network, processes, names)
    tell(f"opening {len(names):,} nodes" + (f" in {len(parts)} processes" if len(parts) > 1 else ""))
    with ProcessGroup(_run_part, [(network, part, refresh, make_app) for part in parts[1:]], tell) as others:
        opened = open_and_warm(network, parts[0], refresh, tell)
        others.until_ready()
        count = others.count + opened.nodes
        ill = others.ill + opened.ill

        def listens() -> None:
            some = f"{count:,} of {len(names):,}" if count < len(names) else f"{count:,}"
            about = f", {ill:,} of which cannot answer yet" if ill else ""
            roots = "".join(f"; {root.name} at {root.url}" for root in network.roots() if root.name in names)
            tell(f"{some} nodes listen{about}{roots}   (Ctrl-C ends)")
            others.watch()
            threading.Thread(target=_report_when_ready, args=(network, names, began, tell), daemon=True).start()

        run(opened.services, listens, make_app)


def _share_a_port(network: Network, names: Sequence[str]) -> bool:
    """Return whether several nodes share a port, distinguished by paths."""
    places = [network.by_name[name].place for name in names]
    return len({(place.host, place.port) for place in places}) < len(places)


def _may_open_many() -> None:
    """Raise the limit of open files, for this process and those it starts, as far as allowed: sites hold many."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _check_places(network: Network, names: Sequence[str]) -> None:
    """Refuse to run nodes if another program listens at one of their places; name all of them, and start nothing."""
    taken = obstacles(network.by_name[name].place for name in names)
    if taken:
        more = f"\n... and {len(taken) - _MOST_TOLD:,} more" if len(taken) > _MOST_TOLD else ""
        raise ServiceError("\n".join(taken[:_MOST_TOLD]) + more + "\nNothing was started.")


def open_and_warm(network: Network, names: Sequence[str], refresh: float, tell: Callable[[str], None]) -> OpenNodes:
    """Open nodes and warm them; report what is wrong with some."""
    opened = open_nodes(network, names, refresh)
    if any(_TOO_MANY_FILES in line for line in opened.complaints):
        raise ServiceError(
            f"{len(names):,} nodes need more open files than the system lets one process have: raise that limit (ulimit -n), or "
            "let more --workers share them"
        )
    warm(service for service, _place in opened.services)
    # What is open now stays open: the collector of cycles need not go through it again, some 40 ms amid a question.
    gc.collect()
    gc.freeze()
    for line in opened.complaints:
        tell(line)
    return opened


def _report_when_ready(network: Network, names: Sequence[str], began: float, tell: Callable[[str], None]) -> None:
    """Report when the highest routers here have the labels of everything below, and after a while which have not."""
    waiting = {name for name in names if not network.by_name[name].leaf}
    waiting -= {name for name in waiting if waiting & set(network.by_name[name].parents)}
    known: dict[str, int] = {}
    late = time.monotonic() + _SETTLED
    while waiting:
        for name in sorted(waiting):
            node = network.by_name[name]
            try:
                health = fetch(node.place.url, "health", Health, 5.0)
            except ServiceError:
                continue
            if health.ready and not health.waiting:
                known[name] = health.documents
                waiting.remove(name)
        if waiting and time.monotonic() > late:
            tell(
                f"not all is there yet: {', '.join(sorted(waiting)[:_MOST_TOLD])} waits for sites below. "
                f"Who they are: pagekin network status {network.file or 'NET'}"
            )
            late = float("inf")
        if waiting:
            time.sleep(_PAUSE)
    if known:
        all_of = ", ".join(f"{name} with {pages:,} pages" for name, pages in sorted(known.items())[:_MOST_TOLD])
        tell(f"ready after {time.monotonic() - began:.0f} s: {all_of}")


def _run_part(tell: Tell, network: Network, names: list[str], refresh: float, make_app: MakeApp) -> None:
    """Run some nodes in a separate process."""
    opened = open_and_warm(network, names, refresh, lambda line: tell("line", line))
    run(opened.services, lambda: tell("ready", opened.nodes, opened.ill), make_app)


def run_leaf(
    leaf: LeafService, place: Place, processes: int, ready: Callable[[], None], make_app: MakeApp = router_app
) -> None:
    """Run a leaf until this process is stopped, in several processes that listen at one address."""
    if processes == 1:
        run(mount(leaf, place), ready, make_app)
        return
    at = listening_socket(place)
    calls = [(leaf.name, leaf.path, getattr(leaf, "address", ""), place, at, make_app)] * (processes - 1)
    with contextlib.closing(at), ProcessGroup(_run_copy, calls) as others:
        others.until_ready()

        def all_ready() -> None:
            others.watch()
            ready()

        run(mount(leaf, place), all_ready, make_app, [at])


def _run_copy(
    tell: Tell, name: str, path: Path, address: str, place: Place, at: socket.socket, make_app: MakeApp
) -> None:
    """Run a leaf in one more process."""
    leaf = open_collection(name, path, address)
    warm_leaf(leaf)
    run(mount(leaf, place), lambda: tell("ready", 1, 0), make_app, [at])


def ask_health(network: Network, seconds: float) -> list[dict[str, Any]]:
    """Return the health of each node; all are asked at once."""

    def one(node: Node) -> dict[str, Any]:
        row: dict[str, Any] = {
            "name": node.name, "url": node.url, "level": network.level_of(node.name), "leaf": node.leaf, "up": False,
            "ready": False, "waiting": 0, "label_bytes": 0, "label_age": None, "documents": 0, "requests": 0, "error": "",
        }  # fmt: skip
        try:
            health = fetch(node.url, "health", Health, seconds, _guard_of(network, node))
        except ServiceError as error:
            return {**row, "error": str(error)}
        wrong = [f"{child.name}: {child.error}" for child in health.children if child.error]
        more = f" (and {len(wrong) - 1:,} more children)" if len(wrong) > 1 else ""
        return {
            **row, "up": health.ready or not health.leaf, "ready": health.ready and not health.waiting, "waiting": health.waiting,
            "label_bytes": health.label_bytes, "label_age": health.label_age, "documents": health.documents,
            "requests": health.requests, "error": plain_text(health.error or "".join(wrong[:1]) + more),
        }  # fmt: skip

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(one, network.nodes))


def _guard_of(network: Network, node: Node) -> Guard:
    """Make the guard for calls to a node: it allows what the routers above may call, and local networks if the node runs here."""
    callers = (node, *(network.by_name[name] for name in node.parents))
    allowed = [each for caller in callers for each in network.settings_of(caller).allow or ()]
    return Guard(parse_allowed([*allowed, *(("loopback", "private") if node.here else ())]))
