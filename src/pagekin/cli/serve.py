"""`pagekin serve`: a collection as a web site, and as a leaf router."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from pagekin.cli.app import USAGE, app, fail, say


@app.command()
def serve(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin", help="A collection.")],
    host: Annotated[
        str, typer.Option(help="The address to listen at; 0.0.0.0 is every one of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8600,
    name: Annotated[str, typer.Option(help="Its name in a network; by default that of the collection.")] = "",
    processes: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer.")] = 1,
) -> None:
    """Serve a collection as a web site. Browse, search, related pages; also a leaf router that a network can take in."""
    serve_collection(collection, host, port, name or collection.stem, processes)


def _tell(address: str, pages: int) -> None:
    say(f"{pages:,} pages at {address}   (Ctrl-C ends it)")
    say(f"Ask it:       pagekin search {address} WORDS")
    say(f"Its services: {address}schema/openapi.json")


def serve_collection(
    collection: Path, host: str, port: int, name: str, processes: int = 1, tell: Callable[[str, int], None] = _tell
) -> None:
    """Serve a collection until this process is stopped; `tell` is called with its address and pages once it listens."""
    from pagekin.routers.leaf import Leaf
    from pagekin.routers.messages import RouterError
    from pagekin.routers.open_leaf import plain
    from pagekin.routers.serve import Place, free_port
    from pagekin.routers.up import run_leaf
    from pagekin.store import KinError
    from pagekin.web import warm, web_app

    if not host.strip():
        fail("name the address to listen at, such as --host 127.0.0.1", USAGE)
    try:
        leaf = Leaf(plain(name).strip() or "collection", collection)
        warm(leaf)
        place = Place(host, port or free_port(host))
        address = f"http://{f'[{host}]' if ':' in host else host}:{place.port}/"

        def ready() -> None:
            tell(address, leaf.label.num_docs)
            sys.stdout.flush()  # who reads it through a pipe is waiting

        run_leaf(leaf, place, processes, ready, web_app)
    except (KinError, RouterError) as error:
        fail(str(error))
