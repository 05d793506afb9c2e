"""`pagekin build`: sources to an indexed collection."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import bags, engines, hypertext, similarity, store
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_choice, fail, fill_template, print_json, progress_bar, say, use_file
from pagekin.cli.cluster import clusters_of_options, names_of_option
from pagekin.cli.evaluate import open_directory
from pagekin.cli.read import (
    keep_what_was_read,
    make_plan,
    note_of,
    obey_pages,
    opt_outs_of_file,
    print_summary,
    round_times,
    seconds,
)
from pagekin.cli.tune import fit_signals, parse_seconds
from pagekin.cli.tune import save_strategy as write_strategy
from pagekin.errors import PagekinError


@app.command()
def build(
    sources: options.Sources,
    out: options.NewOrRemoteCollection,
    preset: options.Preset = "",
    strategy: options.StrategyFile = "",
    settings: options.Settings = None,
    base_url: options.BaseUrls = None,
    all_captures: options.AllCaptures = False,
    strict: options.Strict = False,
    parser: options.Parser = "fast",
    workers: options.Workers = 0,
    limit: options.Limit = None,
    exclude: options.Exclude = None,
    content: options.Content = None,
    obey: options.Obey = None,
    max_per_host: options.MaxPerHost = 0,
    replace: options.Replace = False,
    memory: options.Memory = None,
    updatable: options.Updatable = None,
    opt_outs: options.OptOuts = None,
    clusters: Annotated[bool, typer.Option(help="Put the pages into clusters, as `pagekin cluster` does.")] = True,
    clusters_preset: options.ClustersPreset = "",
    cluster_settings: options.ClusterSetting = None,
    names: options.KeptNames = "",
    text: Annotated[bool, typer.Option(help="Make the full-text index for `pagekin search`.")] = True,
    tune: Annotated[
        Any,
        typer.Option(
            metavar="TIME", parser=parse_seconds,
            help="Afterwards fit the signals of related pages to the collection for this long, as `pagekin tune` does: 60s, 5m.",
        ),
    ] = None,
    tune_by: Annotated[
        str, typer.Option(metavar="FILE|url-path|breadcrumbs|links", help="What --tune judges by.")
    ] = "url-path",
    save_strategy: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Write the strategy that --tune chose to a file, for --strategy of later builds."),
    ] = None,
    shards: Annotated[
        int,
        typer.Option(
            min=1, max=store.MOST_SHARDS, metavar="N",
            help="Write a folder of this many shards, which is used like one collection.",
        ),
    ] = 1,
    engine: options.Engine = "local",
    master: Annotated[
        str,
        typer.Option(
            metavar="spark://HOST:PORT", help="The cluster for --engine spark; omit it under spark-submit."
        ),
    ] = "",
    max_failed_files: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="With --engine spark: skip up to this many unreadable files, and list them."
        ),
    ] = 0,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Read and index web archives or folders of HTML.

    Makes related pages, clusters, search and the content label, in one commit.
    """
    if not clusters and (clusters_preset or cluster_settings or names):
        fail(
            "--clusters-preset, --cluster-set and --names have no effect with --no-clusters; leave one of them out",
            USAGE,
        )
    if save_strategy and not tune:
        fail("--save-strategy writes what --tune chose; give --tune TIME", USAGE)
    if tune and shards > 1:
        fail(
            "--tune fits a collection in one piece; build one with --tune and --save-strategy FILE.toml, and then the shards "
            "with --strategy FILE.toml",
            USAGE,
        )
    check_choice("--engine", engine, options.ENGINES)
    if engine != "spark" and (master or max_failed_files):
        fail("--master and --max-failed-files need --engine spark", USAGE)
    if tune and (engine == "spark" or isinstance(out, str)):
        fail("--tune needs a collection on this machine; build it here with --engine local", USAGE)
    if (updatable or opt_outs) and (engine == "spark" or isinstance(out, str)):
        fail("--updatable and --opt-outs need a folder on this machine and --engine local", USAGE)
    chosen = bags.choose_strategy(preset, strategy, settings or [])
    wanted = clusters_of_options(clusters_preset, cluster_settings) if clusters else None
    recipe = engines.BuildRecipe(chosen, wanted, text, names_of_option(names))
    here = out if isinstance(out, Path) else Path("site.kin")
    plan = make_plan(
        sources, here, base_url, all_captures, strict, parser, workers, limit, exclude, replace, memory, content
    )
    obey_pages(plan, obey, max_per_host)
    plan.keep, plan.opt_outs = updatable, opt_outs_of_file(opt_outs)
    with keep_what_was_read(here), progress_bar(quiet or as_json) as tell:
        if engine == "spark":
            cluster = engines.ClusterPlan(out, shards, master, max_failed_files)
            report = engines.build_on_spark(plan, cluster, recipe, tell, note_of(quiet))
        else:
            report = engines.build_here(plan, out, shards, recipe, tell, note_of(quiet))
    assert report.read is not None
    if not as_json and not quiet:
        print_summary(report.read, out)
        print_index(report, out)
    tuning: dict[str, Any] = {}
    if tune:
        tuning = _tune(out, tune_by, tune, workers, save_strategy, quiet or as_json)
    if as_json:
        times = {**seconds(report.read), **round_times(report.seconds)}
        facts = store.open_kin(out).facts if tune else report.facts
        failed = {"failed_files": report.failed_files} if report.failed_files else {}
        print_json({**facts, "seconds": times, **failed, **({"tuning": tuning} if tune else {})})


def _tune(out: Path, by: str, budget: float, workers: int, save: Path | None, quiet: bool) -> dict[str, Any]:
    """Fit the signals to a collection, and use them if they are better; return the outcome.

    A collection that cannot be judged is left as it is: it has been built, and that is what was asked for first.
    """
    corpus = hypertext.Corpus.open(out)
    try:
        tree = None if by == "links" else open_directory(corpus, by, 3, "lenient", "primary", False)
        with progress_bar(quiet) as tell:
            done = fit_signals(corpus, tree, (), budget, 1, tell)
            if done.improved:
                engines.index_collection(out, done.advice, tell, workers)
    except PagekinError as error:
        if not quiet:
            say(f"\nNot tuned: {error}")
        return {"improved": False, "error": str(error)}
    if save is not None and done.improved:
        write_strategy(save, done, out, "" if by == "links" else by)
    elif save is not None:
        with use_file(save):
            save.write_text(done.strategy.as_toml(), encoding="utf-8")
    if not quiet:
        say("\n" + fill_template("signals", done=done))
    return done.as_dict()


def print_index(report: "engines.BuildReport", out: Path | str) -> None:
    """Print what was indexed, for people."""
    size = sum(size for name, size in report.bytes_on_disk.items() if name.startswith(similarity.INDEX_ARRAYS))
    say(fill_template("index", report=report, size=size, out=out))
