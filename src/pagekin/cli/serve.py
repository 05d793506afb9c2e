"""`pagekin serve`: a collection as a web site, and as a leaf router."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pagekin import collection as collection_room
from pagekin import labels, routers, web
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_option, fail, say
from pagekin.errors import PagekinError
from pagekin.wording import plural


@app.command()
def serve(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin", help="A collection.")],
    host: Annotated[
        str, typer.Option(help="The address to listen at; 0.0.0.0 means all addresses of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 8600,
    name: Annotated[str, typer.Option(help="Its name in a network; by default the collection's name.")] = "",
    processes: Annotated[int, typer.Option("--workers", min=1, max=64, help="Processes that answer.")] = 1,
    public_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The address that browsers use, if a proxy is in front, e.g. https://find.example/below/.",
        ),
    ] = "",
    replay: options.Replay = "",
) -> None:
    """Serve a collection as a web site. It can also be a leaf of a network."""
    serve_collection(collection, host, port, name or collection.stem, processes, public_url=public_url, replay=replay)


def _tell(address: str, pages: int) -> None:
    say(f"{plural(pages, 'page')} at {address}   (Ctrl-C ends it)")
    say(f"Ask it:       pagekin search {address} WORDS")
    say(f"Its services: {address}schema/openapi.json")


def serve_collection(
    collection: Path, host: str, port: int, name: str, processes: int = 1, tell: Callable[[str, int], None] = _tell,
    public_url: str = "", replay: str = "",
) -> None:  # fmt: skip
    """Serve a collection until this process is stopped; `tell` is called with its address and pages once it listens."""
    if not host.strip():
        fail("name the address to listen at, such as --host 127.0.0.1", USAGE)
    with check_option("--public-url"):
        public = "".join(web.public_address(public_url))
    with check_option("--replay"):
        pattern = web.replay_pattern(replay)
    place = routers.Place(host, port or routers.free_port(host))
    address = f"http://{f'[{host}]' if ':' in host else host}:{place.port}/"
    leaf = routers.open_collection(
        labels.plain_text(name).strip() or "collection", collection, f"{public}/" if public else address
    )
    _warm(leaf)

    def ready() -> None:
        tell(address, sum(part.corpus.alive for part in leaf.whole.parts))
        if public:
            say(f"For browsers: {public}/   (the proxy must pass requests on without the path)")
        sys.stdout.flush()  # who reads it through a pipe is waiting

    routers.run_leaf(leaf, place, processes, ready, partial(web.web_app, public, pattern))


def _warm(leaf: "routers.LeafService") -> None:
    """Open everything that the first visitor would have to wait for; a failure may mean a damaged collection."""
    try:
        web.warm_pages(leaf)
    except PagekinError:
        raise
    except Exception as error:
        raise collection_room.explain_damage(leaf.path, error) from error
