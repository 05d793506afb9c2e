"""`pagekin plan`: estimate the cost of a build."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pagekin import bags, clusters, engines
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_choice, fail, fill_template, print_json, progress_bar, say
from pagekin.cli.read import make_plan


@app.command()
def plan(
    sources: options.SomeSources = None,
    out: Annotated[
        Path,
        typer.Option(metavar="SITE.kin", help="Where the collection will be; its free disk space is shown."),
    ] = Path("site.kin"),
    preset: options.Preset = "",
    base_url: options.BaseUrls = None,
    workers: options.Workers = 0,
    exclude: options.Exclude = None,
    memory: options.Memory = None,
    with_clusters: Annotated[
        bool, typer.Option("--clusters/--no-clusters", help="Whether pages are put into clusters.")
    ] = True,
    text: Annotated[bool, typer.Option(help="Whether the search index is made.")] = True,
    engine: options.Engine = "local",
    pages: Annotated[
        float | None,
        typer.Option(
            min=1,
            max=1e12,
            callback=options.refuse_nan,
            help="Estimate for this many pages of the same kind, e.g. 3e9.",
        ),
    ] = None,
    cores: Annotated[int, typer.Option(min=1, help="Cores of the cluster of --engine spark.")] = 64,
    as_json: options.AsJson = False,
) -> None:
    """Estimate the time, memory and disk space of a build.

    Sources of up to about 24 MB are built once in the temporary folder, so their plan costs as much as their build. Of larger
    ones two samples are built, and the cost of the whole is estimated from what these take: of a build here, or of one on a
    Spark cluster. Without sources, --engine spark and --pages go by figures that were measured once.
    """
    check_choice("--engine", engine, options.ENGINES)
    if not sources and not (engine == "spark" and pages):
        fail("name the sources (you may omit them only with --engine spark and --pages NUMBER)", USAGE)
    wanted = clusters.ClusterSettings() if with_clusters else None
    if sources:
        recipe = engines.BuildRecipe(bags.choose_strategy(preset, "", []), wanted, text)
        processes = 1 if engine == "spark" else workers
        read = make_plan(sources, out, base_url, False, False, "fast", processes, None, exclude, memory=memory)
        with progress_bar(as_json) as tell:
            costs = engines.estimate_costs(read, recipe, tell, round(pages or 0))
    else:
        costs = engines.usual_costs(round(pages or 0))
    if engine == "spark":
        divided = engines.divide_costs(costs, cores)
        if as_json:
            print_json({**asdict(divided), "hours": divided.hours})
        else:
            say(fill_template("cluster_plan", costs=divided, measured_here=bool(sources)))
    elif as_json:
        print_json({**asdict(costs), "total_seconds": costs.total_seconds})
    else:
        say(fill_template("plan", costs=costs, out=out))
