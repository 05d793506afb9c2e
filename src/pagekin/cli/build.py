"""`pagekin build`: sources to an indexed collection."""

from pathlib import Path
from typing import Annotated

import typer

from pagekin import bags, engines, similarity
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail, fill_template, print_json, progress_bar, say
from pagekin.cli.cluster import clusters_of_options, names_of_option
from pagekin.cli.read import make_plan, print_summary, round_times, seconds


@app.command()
def build(
    sources: options.Sources,
    out: options.NewCollection,
    preset: options.Preset = "",
    strategy: options.StrategyFile = "",
    settings: options.Settings = None,
    base_url: options.BaseUrls = None,
    all_captures: options.AllCaptures = False,
    strict: options.Strict = False,
    parser: options.Parser = "fast",
    workers: options.Workers = 0,
    limit: options.Limit = None,
    clusters: Annotated[bool, typer.Option(help="Put the pages into clusters, as `pagekin cluster` does.")] = True,
    clusters_preset: options.ClustersPreset = "",
    cluster_settings: options.ClusterSetting = None,
    names: options.KeptNames = "",
    text: Annotated[bool, typer.Option(help="Make the words searchable by `pagekin search`.")] = True,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Read and index web archives or folders of HTML.

    Related pages, clusters, search and the content label: all is made, in one commit.
    """
    if not clusters and (clusters_preset or cluster_settings or names):
        fail(
            "--no-clusters leaves out what --clusters-preset, --cluster-set and --names describe; give one of them",
            USAGE,
        )
    chosen = bags.choose_strategy(preset, strategy, settings or [])
    wanted = clusters_of_options(clusters_preset, cluster_settings) if clusters else None
    kept = names_of_option(names)
    plan = make_plan(sources, out, base_url, all_captures, strict, parser, workers, limit)
    with progress_bar(quiet or as_json) as tell:
        report = engines.build_collection(plan, chosen, tell, wanted, text, kept)
    assert report.read is not None
    if as_json:
        print_json({**report.facts, "seconds": {**seconds(report.read), **round_times(report.seconds)}})
    elif not quiet:
        print_summary(report.read, out)
        print_index(report, out)


def print_index(report: "engines.BuildReport", out: Path) -> None:
    """Print what was indexed, for people."""
    size = sum(size for name, size in report.bytes_on_disk.items() if name.startswith(similarity.INDEX_ARRAYS))
    say(fill_template("index", report=report, size=size, out=out))
