"""`pagekin index`: a collection that has been read, indexed by another strategy."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import BAD_INPUT, USAGE, app, fail, print_json, progress_bar, say
from pagekin.cli.build import Preset, Settings, StrategyFile, choose_strategy, print_index, round_times


@app.command()
def index(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin", help="A collection, indexed or not.")],
    preset: Preset = "",
    strategy: StrategyFile = "",
    settings: Settings = None,
    not_citing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREFIX",
            help="Leave out the links of pages whose URL begins with this, e.g. http://directory.example/.",
        ),
    ] = None,
    text: Annotated[bool, typer.Option(help="Make the words searchable, if they are not.")] = True,
    workers: Annotated[
        int, typer.Option(min=0, help="Threads, no more than there are cores; 0 means one per core.")
    ] = 0,
    show: Annotated[
        bool, typer.Option("--show", help="Print the strategy with all its settings as TOML, and do nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Index a collection that has been read, by any strategy."""
    chosen = choose_strategy(preset, strategy, settings)
    if show:
        say(chosen.as_toml().rstrip())
        return
    from pagekin.bags import StrategyError
    from pagekin.engines import index_collection
    from pagekin.store import KinError

    prefixes = tuple(not_citing or [])
    if "" in prefixes:
        fail("--not-citing: every URL begins with nothing; name the beginning of some", USAGE)
    try:
        with progress_bar(quiet or as_json) as tell:
            left_out = (lambda corpus: _pages_under(corpus, prefixes)) if prefixes else None
            report = index_collection(collection, chosen, tell, workers, left_out, text)
    except StrategyError as error:
        fail(str(error), USAGE)
    except KinError as error:
        fail(str(error), BAD_INPUT)
    if as_json:
        print_json({**report.facts["index"], "seconds": round_times(report.seconds)})
    elif not quiet:
        print_index(report, collection)


def _pages_under(corpus: Any, prefixes: tuple[str, ...]) -> Any:
    """Return the pages whose URL begins with one of `prefixes`; end if no page begins with one of them."""
    import numpy as np

    from pagekin.store import rank

    found: set[int] = set()
    for prefix in prefixes:
        low = corpus.urls.nearest(prefix.encode())
        high = corpus.urls.nearest(prefix.encode() + b"\xff")
        pages = [rank(corpus.pages.url, low), rank(corpus.pages.url, high)]
        if pages[0] == pages[1]:
            fail(f"--not-citing: no page of {corpus.kin.path} has a URL that begins with {prefix}")
        found |= set(range(pages[0], pages[1]))
    return np.array(sorted(found), dtype=np.int64)
