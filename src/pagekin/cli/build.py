"""`pagekin build`: sources to an indexed collection."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import BAD_INPUT, USAGE, app, fail, human_bytes, print_json, progress_bar, say
from pagekin.cli.cluster import ClusterSetting, ClustersPreset, clusters_of_options
from pagekin.cli.read import (
    AllCaptures,
    BaseUrls,
    Limit,
    Parser,
    Sources,
    Strict,
    Workers,
    make_plan,
    print_summary,
    report_worker,
    seconds,
)  # fmt: skip

Preset = Annotated[
    str, typer.Option("--preset", metavar="NAME", help="A strategy by name: default, haveliwala2002 (as in the paper).")
]
StrategyFile = Annotated[
    str,
    typer.Option(
        "--strategy", metavar="FILE", help="A strategy from a TOML file, such as `pagekin index --show` prints."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a setting of the strategy, e.g. window.size=16; repeatable."
    ),
]


@app.command()
def build(
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SITE.kin", help="The collection to write.")],
    preset: Preset = "",
    strategy: StrategyFile = "",
    settings: Settings = None,
    base_url: BaseUrls = None,
    all_captures: AllCaptures = False,
    strict: Strict = False,
    parser: Parser = "fast",
    workers: Workers = 0,
    limit: Limit = None,
    clusters: Annotated[bool, typer.Option(help="Put the pages into clusters, as `pagekin cluster` does.")] = True,
    clusters_preset: ClustersPreset = "",
    cluster_settings: ClusterSetting = None,
    text: Annotated[bool, typer.Option(help="Make the words searchable by `pagekin search`.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Read and index web archives or folders of HTML.

    Related pages, clusters, search and the content label: all is made, in one commit.
    """
    from pagekin.bags import StrategyError
    from pagekin.clusters import ClusterError
    from pagekin.engines import build_collection
    from pagekin.hypertext import WorkerError
    from pagekin.sources import SourceError
    from pagekin.store import KinError

    if not clusters and (clusters_preset or cluster_settings):
        fail("--no-clusters leaves out what --clusters-preset and --cluster-set describe; give one of them", USAGE)
    chosen = choose_strategy(preset, strategy, settings)
    wanted = clusters_of_options(clusters_preset, cluster_settings) if clusters else None
    plan = make_plan(sources, out, base_url, all_captures, strict, parser, workers, limit)
    try:
        with progress_bar(quiet or as_json) as tell:
            report = build_collection(plan, chosen, tell, wanted, text)
    except (SourceError, KinError, ClusterError) as error:
        fail(str(error), BAD_INPUT)
    except StrategyError as error:
        fail(str(error), USAGE)
    except WorkerError as error:
        report_worker(error)
    if as_json:
        print_json({**report.facts, "seconds": {**seconds(report.read), **round_times(report.seconds)}})
    elif not quiet:
        print_summary(report.read, out)
        print_index(report, out)


def choose_strategy(preset: str, file: str, settings: list[str] | None) -> Any:
    """Return the strategy of the command line, or end with what is wrong with it."""
    from pagekin.bags import StrategyError
    from pagekin.bags import choose_strategy as choose

    try:
        return choose(preset, file, settings or [])
    except StrategyError as error:
        fail(str(error), USAGE)


def round_times(times: dict[str, float]) -> dict[str, float]:
    """Round times for people."""
    return {name: round(value, 2) for name, value in times.items()}


def print_index(report: Any, out: Path) -> None:
    """Print what was indexed, for people."""
    from pagekin.similarity import INDEX_ARRAYS

    facts = report.facts["index"]
    signature = facts["strategy"]["signature"]
    size = sum(size for name, size in report.bytes_on_disk.items() if name.startswith(INDEX_ARRAYS))
    say(
        f"indexed {facts['bags']:,} addresses by '{facts['strategy']['name']}': "
        f"{facts['bag_entries'] / max(facts['bags'], 1):,.0f} terms each, windows of {facts['window_words']['left']:.1f} "
        f"and {facts['window_words']['right']:.1f} words, {signature['m']} values per signature ({signature['maker']}), "
        f"{human_bytes(size)}"
    )
    say("took " + ", ".join(f"{name} {time:.1f} s" for name, time in report.seconds.items()))
    if facts["without_words"]:
        say(f"pages with nothing that counts, and so without related pages: {facts['without_words']:,}")
    if facts["not_citing"]:
        say(f"pages whose links were left out: {facts['not_citing']:,}")
    if report.replaced is not None:
        say(f"It replaces an index with other settings, '{report.replaced}'.")
    say(f"Ask it:       pagekin related {out} URL --explain")
    if "trees" in report.facts:
        say(f"Browse it:    pagekin clusters {out}   ({report.facts['trees'][0]['clusters']:,} clusters)")
