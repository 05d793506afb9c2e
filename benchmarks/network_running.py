"""A network on this machine for benchmarks: a copy of its file with free ports, its processes, and a light client."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import msgspec

from pagekin.collection import Answer, Item, Request, SearchRequest, Summary, encode
from pagekin.routers import NETWORK_FILE, Network
from pagekin.routers.network import Node

T = TypeVar("T")
HERE = Path(__file__).parent
_PORTS = range(10_000, 32_000)
"""Below those that systems give to whoever calls out."""


def free_ports(count: int) -> list[int]:
    """Ports of this machine at which nobody listens."""
    found: list[int] = []
    first = random.SystemRandom().randrange(len(_PORTS))
    for step in range(len(_PORTS)):
        port = _PORTS[(first + step) % len(_PORTS)]
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise SystemExit(f"this machine has only {len(found):,} free ports, and {count:,} are needed")


def copied(path: Path, folder: Path) -> Network:
    """A copy in `folder` of the first hierarchy of a network, all of it here, each node at a port of its own."""
    whole = Network.load(path)
    if not whole.roots():
        raise SystemExit(f"{path} has no routers; make a network with: pagekin network init")
    root = whole.roots()[0].name
    below, waiting = {root}, [root]
    while waiting:
        more = [node.name for node in whole.children_of(waiting.pop()) if node.name not in below]
        below.update(more)
        waiting += more
    kept = [node for node in whole.nodes if node.name in below]
    if strangers := [node.name for node in kept if not node.here]:
        raise SystemExit(f"{path}: {', '.join(strangers[:5])} run elsewhere; a benchmark needs all of them here")
    nodes: list[Node] = []
    for node, port in zip(kept, free_ports(len(kept)), strict=True):
        collection = whole.collection_of(node)
        nodes.append(
            replace(
                node,
                url=f"http://127.0.0.1:{port}/",
                listen="",
                collection=collection.resolve() if collection else None,
                parents=tuple(parent for parent in node.parents if parent in below),
                settings=replace(node.settings, allow=("loopback",)),
            )
        )
    file = folder / NETWORK_FILE
    file.write_text(Network.of(whole.name, nodes, whole.defaults).to_toml())
    return Network.load(file)


@dataclass
class Process:
    """A process that serves some nodes."""

    names: list[str]
    popen: "subprocess.Popen[str]"
    listening: float = 0.0
    """Seconds from its start until all of its nodes listened, by its own clock."""

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.popen.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End it and wait until it is gone."""
        if self.popen.poll() is None:
            self.popen.send_signal(number)
        self.popen.wait()

    def memory(self) -> tuple[float, float, float]:
        """MB that it holds alone or shares in parts (PSS), that are resident, and that were at most."""
        kilobytes = {
            key: int(line.split()[1])
            for file in ("smaps_rollup", "status")
            for line in Path(f"/proc/{self.popen.pid}/{file}").read_text().splitlines()
            if (key := line.partition(":")[0]) in ("Pss", "VmRSS", "VmHWM")
        }
        return kilobytes["Pss"] / 1000, kilobytes["VmRSS"] / 1000, kilobytes["VmHWM"] / 1000

    def processor(self) -> float:
        """Seconds for which its threads were at work, whatever else the machine did meanwhile."""
        return time.clock_gettime((~self.popen.pid << 3) | 2)  # the number that clock_getcpuclockid(3) gives on Linux


@dataclass
class Running:
    """The processes of a network; they end with the block."""

    network: Network
    refresh: float = 60.0
    """Seconds after which routers ask whether labels changed."""
    processes: list[Process] = field(default_factory=list)

    def __enter__(self) -> "Running":
        return self

    def __exit__(self, *_error: object) -> None:
        for process in self.processes:
            process.end()

    def launch(self, names: Iterable[str]) -> Process:
        """Start a process that serves some nodes."""
        file = self.network.file
        assert file is not None
        chosen = list(names)
        list_file = file.parent / f"names-{len(self.processes)}.json"
        list_file.write_text(json.dumps(chosen))
        command = [sys.executable, str(HERE / "network_serve.py"), str(file), str(list_file), str(self.refresh)]
        process = Process(chosen, subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        self.processes.append(process)
        return process

    @staticmethod
    def wait(processes: Sequence[Process]) -> None:
        """Wait until all nodes of some processes listen."""
        for process in processes:
            assert process.popen.stdout is not None
            line = process.popen.stdout.readline().split()
            if len(line) != 2:
                raise SystemExit(f"a process with {len(process.names)} nodes did not start; its message stands above")
            process.listening = float(line[1])


@dataclass(frozen=True)
class Call:
    """An answer, and what it took."""

    body: bytes
    status: int
    seconds: float
    client: float
    """Seconds of it for which the asking process itself was at work."""
    processor: float = 0.0
    """Seconds for which the network's processes were at work meanwhile, if they are known."""

    def told(self, answer: type[T]) -> T:
        """The answer, if it is one."""
        if self.status != 200:
            raise RuntimeError(f"a router answered {self.status}: {self.body[:500]!r}")
        return msgspec.json.decode(self.body, type=answer)


class Client:
    """Asks routers, over connections that stay open."""

    def __init__(self, network: Network, processes: Sequence[Process] = ()) -> None:
        self._processes = processes
        self.urls = {node.name: node.url for node in network.nodes}
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._session.close()

    async def call(self, node: str, operation: str, request: Request) -> Call:
        """Ask a node for one operation."""
        before = sum(process.processor() for process in self._processes)
        began, worked = time.perf_counter(), time.process_time()
        body = encode(request)
        headers = {"Content-Type": "application/json"}
        async with self._session.post(self.urls[node] + operation, data=body, headers=headers) as response:
            raw = await response.read()
        seconds, worked = time.perf_counter() - began, time.process_time() - worked
        after = sum(process.processor() for process in self._processes)
        return Call(raw, response.status, seconds, worked, after - before)

    async def ask(self, node: str, operation: str, request: Request, answer: type[T]) -> T:
        """The answer of a node."""
        return (await self.call(node, operation, request)).told(answer)

    async def search(self, node: str, query: str, limit: int = 10, **more: Any) -> Answer:
        """What a node finds that holds all words."""
        return await self.ask(
            node, "search", SearchRequest(query=query, limit=limit, **{"match": "all"} | more), Answer
        )

    async def get(self, node: str, path: str) -> bytes:
        """What stands at a path of a node; nothing if it has no answer yet."""
        async with self._session.get(self.urls[node] + path) as response:
            return await response.read() if response.status == 200 else b""

    async def until_known(self, root: str, documents: int, patience: float = 600.0) -> float:
        """Seconds until a router tells of all documents."""
        began = time.perf_counter()
        while time.perf_counter() - began < patience:
            raw = await self.get(root, "summary")
            if raw and msgspec.json.decode(raw, type=Summary).documents >= documents:
                return time.perf_counter() - began
            await asyncio.sleep(0.2)
        raise SystemExit(f"{root} did not learn of all {documents:,} documents within {patience:.0f} s")


def items_of(answer: Answer) -> tuple[Item, ...]:
    """Results as a later request carries them."""
    return tuple(Item(one.kind, one.url, one.path, one.cluster) for one in answer.results)


def load() -> str:
    """How busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
