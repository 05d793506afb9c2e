"""`pagekin index`: a collection that has been read, indexed by another strategy."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import bags, engines, hypertext, store
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, print_json, progress_bar, say
from pagekin.cli.build import print_index
from pagekin.cli.read import round_times


@app.command()
def index(
    collection: Annotated[Path, typer.Argument(metavar="SITE.kin", help="A collection, indexed or not.")],
    preset: options.Preset = "",
    strategy: options.StrategyFile = "",
    settings: options.Settings = None,
    not_citing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREFIX",
            help="Leave out the links of pages whose URL begins with this, e.g. http://directory.example/.",
        ),
    ] = None,
    text: Annotated[bool, typer.Option(help="Also make the full-text index, if it is missing.")] = True,
    workers: options.CoreThreads = 0,
    show: Annotated[
        bool, typer.Option("--show", help="Print the strategy with all its settings as TOML, and do nothing.")
    ] = False,
    memory: options.Memory = None,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Index a collection that has been read, by any strategy."""
    chosen = bags.choose_strategy(preset, strategy, settings or [])
    if show:
        say(chosen.as_toml().rstrip())
        return
    prefixes = tuple(not_citing or [])
    if "" in prefixes:
        fail("--not-citing: the prefix is empty; give the beginning of some URLs", USAGE)
    left_out = (lambda corpus: _pages_under(corpus, prefixes)) if prefixes else None
    with progress_bar(quiet or as_json) as tell:
        report = engines.index_collection(collection, chosen, tell, workers, left_out, text, memory or store.NO_LIMIT)
    if as_json:
        print_json({**report.facts["index"], "seconds": round_times(report.seconds)})
    elif not quiet:
        print_index(report, collection)


def _pages_under(corpus: "hypertext.Corpus", prefixes: tuple[str, ...]) -> Any:
    """Return the pages whose URL begins with one of `prefixes`; end if no page begins with one of them."""
    import numpy as np

    pages: set[int] = set()
    for prefix in prefixes:
        under = corpus.pages_under(prefix)
        if not under:
            fail(f"--not-citing: no page of {corpus.kin.path} has a URL that begins with {prefix}")
        pages.update(under)
    return np.array(sorted(pages), dtype=np.int64)
