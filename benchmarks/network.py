"""A whole network of routers on this machine: start, sizes, times, what routing loses, refinement, faults.

    python benchmarks/network.py NET [--processes 2] [--queries 500] [--quick]

NET is a network file, or its folder, whose sites are built (`pagekin network init`). It runs from a copy of the file with
free ports, in processes of its own, without caches; the client is this process, which asks one query at a time unless
the table says otherwise. Queries are two or three words of one page, drawn by occurrence with a fixed seed.
The paper's figures (hypursuit-1996, Tables 2 and 3) stand beside ours: 100 sites of about 100 pages, 42 routers.
"""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path

import network_faults
import network_refinement
import network_routing
import network_tables
from growth import row
from network_running import Client, Running, copied, load
from network_sites import Sites
from pagekin.routers import Network, NetworkError
from pagekin.routers.up import share

PARTS = ("sizes", "times", "routing", "refinement", "faults")
WANTED_START = 60.0


async def start(running: Running, client: Client, sites: Sites, root: str, processes: int) -> None:
    """Start the network, and tell what it took."""
    network = running.network
    began = time.perf_counter()
    started = [running.launch(names) for names in share(network, processes)]
    running.wait(started)
    listening = time.perf_counter() - began
    await client.until_known(root, sites.documents)
    known = time.perf_counter() - began
    routers = sum(not node.leaf for node in network.nodes)
    row("sites", "routers", "levels", "pages", "processes", "all listen, s", "the root knows all, s", "wanted, s")
    row(*["---:"] * 8)
    row(
        len(sites.leaves), routers, network.level_of(root) + 1, f"{sites.pages:,}", len(started), f"{listening:.1f}",
        f"{known:.1f}", f"{WANTED_START:g}" if known <= WANTED_START else f"{WANTED_START:g}, **missed**",
    )  # fmt: skip
    print()
    memory(running)


def memory(running: Running) -> None:
    """Print what the processes hold."""
    row("process", "nodes", "its own memory (PSS), MB", "resident, MB", "at most, MB")
    row("---", *["---:"] * 4)
    for number, process in enumerate(running.processes, 1):
        row(number, len(process.names), *(f"{size:,.0f}" for size in process.memory()))


def titled(title: str) -> None:
    """Begin a part."""
    print(f"\n### {title} ({load()})\n", flush=True)


async def measure(network: Network, options: argparse.Namespace) -> None:
    """Print all tables that were asked for."""
    quick: bool = options.quick
    sites = Sites(network)
    root = network.roots()[0].name
    seed: int = options.seed
    only = options.only or PARTS
    with Running(network, options.refresh) as running:
        async with Client(network, running.processes) as client:
            titled("Start")
            await start(running, client, sites, root, options.processes)
            if "sizes" in only:
                titled("Sizes in KB (Table 2)")
                await network_tables.sizes(client, network)
            if "times" in only:
                await network_tables.warm(client, sites)
                titled("Times (Table 3)")
                await network_tables.operation_times(client, sites, 40 if quick else options.timed, seed)
                print("\nAfter all nodes have answered everything:\n")
                memory(running)
            if "routing" in only:
                titled("Routing")
                queries = sites.draws(seed, 60 if quick else options.queries, stop_words=True)
                network_routing.report(await network_routing.route(client, sites, root, queries), len(sites.leaves))
            if "refinement" in only:
                titled("Refinement")
                await network_refinement.report(client, sites, root, 25 if quick else 100, seed)
    if "faults" in only:
        titled("Faults")
        await network_faults.faults(network, sites, options.processes, 60 if quick else 200, seed, options.refresh)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, metavar="NET")
    parser.add_argument("--processes", type=int, default=2, help="processes that serve it")
    parser.add_argument("--queries", type=int, default=500, help="queries that routing is judged by")
    parser.add_argument("--timed", type=int, default=200, help="queries for each level of the table of times")
    parser.add_argument(
        "--refresh", type=float, default=60.0, help="seconds after which routers ask for changed labels"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="only these parts, after the start")
    parser.add_argument("--quick", action="store_true", help="few queries: to see that it works")
    options = parser.parse_args()
    if min(options.processes, options.queries, options.timed) < 1:
        parser.error("--processes, --queries and --timed are 1 or more")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # or the network's processes would live on
    with tempfile.TemporaryDirectory(prefix="pagekin-network-") as folder:
        try:
            network = copied(options.network, Path(folder))
        except NetworkError as error:
            raise SystemExit(str(error)) from None
        asyncio.run(measure(network, options))


if __name__ == "__main__":
    main()
