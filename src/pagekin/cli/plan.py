"""`pagekin plan`: what a build will cost, before it begins."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pagekin import bags, clusters, engines
from pagekin.cli import options
from pagekin.cli.app import app, fill_template, print_json, progress_bar, say
from pagekin.cli.read import make_plan


@app.command()
def plan(
    sources: options.Sources,
    out: Annotated[
        Path, typer.Option(metavar="SITE.kin", help="Where the collection is to be, for the disk that is free there.")
    ] = Path("site.kin"),
    preset: options.Preset = "",
    base_url: options.BaseUrls = None,
    workers: options.Workers = 0,
    exclude: options.Exclude = None,
    memory: options.Memory = None,
    with_clusters: Annotated[bool, typer.Option("--clusters/--no-clusters", help="With clusters.")] = True,
    text: Annotated[bool, typer.Option(help="With the search index.")] = True,
    as_json: options.AsJson = False,
) -> None:
    """Say what a build will cost here: time, memory, disk.

    Two samples of the sources are built in the temporary folder, and what they take is carried on to all of the sources.
    """
    chosen = bags.choose_strategy(preset, "", [])
    wanted = clusters.ClusterSettings() if with_clusters else None
    read = make_plan(sources, out, base_url, False, False, "fast", workers, None, exclude, memory=memory)
    with progress_bar(as_json) as tell:
        costs = engines.estimate_costs(read, chosen, wanted, text, tell)
    if as_json:
        print_json({**asdict(costs), "total_seconds": costs.total_seconds})
    else:
        say(fill_template("plan", costs=costs, out=out))
