"""The routers of a network file, opened to be run in this process."""

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from pagekin.net import Guard, parse_allowed
from pagekin.routers.ask import fetch
from pagekin.routers.http import router_app
from pagekin.routers.keeper import RouterSettings
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import Health, RouterError
from pagekin.routers.network import Network, Node
from pagekin.routers.router import Router
from pagekin.routers.serve import MakeApp, Place, listening, run
from pagekin.store import KinError

_PAUSE = 0.5
"""Seconds after which it is looked whether all processes live."""


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
            service = _opened(network, node, refresh)
            service.above = tuple((name, network.by_name[name].url) for name in node.parents)
            services.append((service, Place.of(node.url)))
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
        label_seconds=network.timeout_of(node),
        budget=network.budget_of(node),
        added=network.added_of(node),
        child_bytes=network.child_bytes_of(node),
        guard=Guard(parse_allowed(network.allow_of(node))),
    )
    children = {child.name: child.url for child in network.children_of(node.name)}
    return Router(node.name, children, settings, network.level_of(node.name))


def chosen_nodes(network: Network, only: Sequence[str], host: str) -> list[str]:
    """The nodes that are to run in this place: those named, or those at a host, or all that run here."""
    if unknown := [name for name in only if name not in network.by_name]:
        near = get_close_matches(unknown[0], network.by_name, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise RouterError(f"the network has no node '{unknown[0]}'{hint}")
    found = [node for node in network.nodes if (node.name in only if only else node.here)]
    if host:
        found = [node for node in found if Place.of(node.url).host == host]
    if not found:
        raise RouterError(f"no node of the network runs at '{host}'" if host else "no node of the network runs here")
    return [node.name for node in found]


def share(network: Network, processes: int, names: Sequence[str] | None = None) -> list[list[str]]:
    """The nodes that run here, or those named, divided among processes.

    Asking children costs more than answering: the first process has the routers with most of them, up to 85 % of all
    children, and the others share the other routers and the leaves.
    """
    chosen = set(names) if names is not None else {node.name for node in network.nodes if node.here}
    leaves = [node.name for node in network.nodes if node.name in chosen and node.leaf]
    routers = [node.name for node in network.nodes if node.name in chosen and not node.leaf]
    if processes <= 1:
        return [routers + leaves]
    routers.sort(key=lambda name: -len(network.children_of(name)))
    links, taken, first = sum(len(network.children_of(name)) for name in routers), 0, 0
    while first < len(routers) and taken < links * 0.85:
        taken += len(network.children_of(routers[first]))
        first += 1
    others = routers[first:] + leaves
    parts = [routers[:first], *(others[number :: processes - 1] for number in range(processes - 1))]
    return [part for part in parts if part]


def run_network(
    network: Network,
    names: Sequence[str],
    processes: int,
    refresh: float,
    tell: Callable[[str], None],
    make_app: MakeApp = router_app,
) -> None:
    """Run nodes of a network until this process is stopped; its other processes end with it."""
    parts = share(network, processes, names)
    with _others(_run_part, [(network, part, refresh, make_app) for part in parts[1:]]):
        opened = open_nodes(network, parts[0], refresh)
        for name, reason in opened.skipped.items():
            tell(f"not run: {name}: {reason}")
        roots = ", ".join(f"{root.name} at {root.url}" for root in network.roots() if root.name in names)
        run(
            opened.services,
            lambda: tell(
                f"{len(names) - len(opened.skipped):,} nodes listen{'; ' + roots if roots else ''}   "
                "(routers learn in some seconds what all hold; Ctrl-C ends)"
            ),
            make_app,
        )


def _run_part(parent: int, network: Network, names: list[str], refresh: float, make_app: MakeApp) -> None:
    """Run some nodes in a process of their own, until the one that started it is gone."""
    _run_under(parent)
    opened = open_nodes(network, names, refresh)
    for name, reason in opened.skipped.items():
        print(f"not run: {name}: {reason}", file=sys.stderr)  # noqa: T201  # the only way to tell from here
    run(opened.services, make_app=make_app)


def run_leaf(
    leaf: Leaf, place: Place, processes: int, ready: Callable[[], None], make_app: MakeApp = router_app
) -> None:
    """Run a leaf until this process is stopped, in several processes that listen at one address."""
    if processes == 1:
        run([(leaf, place)], ready, make_app)
        return
    at = listening(place)
    with contextlib.closing(at), _others(_run_copy, [(leaf.name, leaf.path, place, at, make_app)] * (processes - 1)):
        run([(leaf, place)], ready, make_app, [at])


def _run_copy(parent: int, name: str, path: Path, place: Place, at: socket.socket, make_app: MakeApp) -> None:
    """Run a leaf in one more process, until the one that started it is gone."""
    _run_under(parent)
    run([(Leaf(name, path), place)], make_app=make_app, shared=[at])


@contextlib.contextmanager
def _others(target: Callable[..., None], calls: Sequence[tuple[Any, ...]]) -> Iterator[None]:
    """Processes beside this one, which end with it; one that dies before is replaced."""
    others = [_started(target, call) for call in calls]
    over = threading.Event()
    watch = threading.Thread(target=_replace_the_dead, args=(others, target, calls, over), daemon=True)
    if others:
        watch.start()
    try:
        yield
    finally:
        over.set()
        if others:
            watch.join(5)
        for one in others:
            one.terminate()
        for one in others:
            one.join(5)


def _started(target: Callable[..., None], call: tuple[Any, ...]) -> BaseProcess:
    """A process beside this one. Ctrl-C is for this one alone, also while the other begins."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        made = multiprocessing.get_context("spawn").Process(target=target, args=(os.getpid(), *call), daemon=True)
        made.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return made


def _replace_the_dead(
    others: list[BaseProcess], target: Callable[..., None], calls: Sequence[tuple[Any, ...]], over: threading.Event
) -> None:
    """Start a process anew that has died; the oftener it dies, the later."""
    pause = _PAUSE
    while not over.wait(pause):
        for place, one in enumerate(others):
            if not one.is_alive() and not over.is_set():
                print(f"a process has died ({one.exitcode}); starting another", file=sys.stderr)  # noqa: T201  # no one else tells
                others[place] = _started(target, calls[place])
                pause = min(2 * pause, 60.0)


def _run_under(parent: int) -> None:
    """Leave signals from the keyboard to the process that started this one, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even by kill -9."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def ask_health(network: Network, seconds: float) -> list[dict[str, Any]]:
    """How each node is, asked at once."""

    def one(node: Node) -> dict[str, Any]:
        row: dict[str, Any] = {
            "name": node.name, "url": node.url, "level": network.level_of(node.name), "leaf": node.leaf, "up": False,
            "ready": False, "label_bytes": 0, "label_age": None, "documents": 0, "requests": 0, "error": "",
        }  # fmt: skip
        try:
            found = fetch(node.url, "health", Health, seconds)
        except RouterError as error:
            return {**row, "error": str(error)}
        wrong = next((f"{child.name}: {child.error}" for child in found.children if child.error), "")
        return {
            **row, "up": True, "ready": found.ready, "label_bytes": found.label_bytes, "label_age": found.label_age,
            "documents": found.documents, "requests": found.requests, "error": found.error or wrong,
        }  # fmt: skip

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(one, network.nodes))
