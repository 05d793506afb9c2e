"""One process of a benchmarked network: serves the nodes that a file names, without caches, and says when all listen.

python benchmarks/network_serve.py NETWORK.toml NAMES.json REFRESH
"""

import json
import sys
import time
from pathlib import Path

from pagekin.routers import Network, Router
from pagekin.routers.serve import run
from pagekin.routers.up import open_and_warm


def main() -> None:
    """Serve until a signal comes."""
    started = time.perf_counter()
    names = json.loads(Path(sys.argv[2]).read_text())
    opened = open_and_warm(
        Network.load(sys.argv[1]), names, float(sys.argv[3]), lambda line: print(line, file=sys.stderr)
    )
    for service, _place in opened.services:
        if isinstance(service, Router):
            service.answers.seconds = 0.0
    run(opened.services, lambda: print(f"listening {time.perf_counter() - started:.3f}", flush=True))


if __name__ == "__main__":
    main()
