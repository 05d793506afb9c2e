"""One process of a benchmarked network: serves the nodes that a file names, without caches, and says when all listen.

python benchmarks/network_serve.py NETWORK.toml NAMES.json REFRESH
"""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from pagekin.routers import Network, Router
from pagekin.routers.serve import run
from pagekin.routers.up import open_nodes


def main() -> None:
    """Serve until a signal comes."""
    started = time.perf_counter()
    names = json.loads(Path(sys.argv[2]).read_text())
    opened = open_nodes(Network.load(sys.argv[1]), names, float(sys.argv[3]))
    for line in opened.complaints:
        print(line, file=sys.stderr)
    for service, _place in opened.services:
        if isinstance(service, Router):
            service.settings = replace(service.settings, cached=0.0)
    run(opened.services, lambda: print(f"listening {time.perf_counter() - started:.3f}", flush=True))


if __name__ == "__main__":
    main()
