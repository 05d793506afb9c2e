"""`pagekin evaluate`: which strategy agrees best with a directory."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from pagekin import clusters, evaluation, hypertext, similarity
from pagekin import collection as collection_room
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_choice, fail, fill_template, print_json, progress_bar, say, use_file
from pagekin.errors import PagekinError


@app.command()
def evaluate(
    collection: options.Collection,
    directory: options.DirectoryName = "",
    strategies: options.Strategies = "",
    figures: options.Figures = False,
    sample: Annotated[
        int, typer.Option(min=0, help="Judge a sample of this many pairs of sibling classes, as the paper did; 0: all.")
    ] = 0,
    linked: Annotated[
        bool, typer.Option("--linked", help="Judge only pages that others link to, as the paper did.")
    ] = False,
    depth: options.Depth = 3,
    mode: options.Mode = "lenient",
    classes: options.Classes = "primary",
    loose: options.Loose = False,
    directory_pages: options.OwnPages = None,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also judge similarities of other tools: TF-IDF, BM25 and more.")
    ] = False,
    wish: options.Wish = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and intervals.")] = 1,
    workers: options.Threads = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a report: index.html, CSV, TOML, TREC files.")
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Ignore the cache of earlier runs, and cache nothing.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge strategies by a human-made directory."""
    if figures and strategies:
        fail("--figures and --strategies exclude each other; give one of them", USAGE)
    if wish:
        check_choice("--for", wish, options.WISHES)
    corpus = hypertext.Corpus.open(collection)
    tree = open_directory(corpus, directory, depth, mode, classes, loose)
    if strategies:
        todo = evaluation.read_strategies(Path(strategies))
    else:
        todo = evaluation.figure_strategies() if figures else evaluation.own_strategies(corpus)
    with progress_bar(as_json) as tell:
        done = evaluation.evaluate_strategies(
            corpus, tree, todo, linked=linked or figures, sample=sample, seed=seed,
            threads=workers or hypertext.default_workers(), own_pages=directory_pages or (),
            baselines=list(evaluation.BASELINES) if baselines else [], cache=not no_cache,
            served=None if strategies or figures else open_served(corpus), wish=wish, progress=tell,
        )  # fmt: skip
    page = None
    if out is not None:
        with use_file(out):
            page = done.write(out, f"{Path(collection).name} against {Path(directory).name}", figures)
    given = {"--figures": figures, "--linked": linked, "--baselines": baselines, "--loose": loose}
    valued = {
        "--strategies": (Path(strategies).name, ""), "--sample": (sample, 0), "--depth": (depth, 3),
        "--mode": (mode, "lenient"), "--classes": (classes, "primary"), "--seed": (seed, 1),
        "--for": (wish, ""),
    }  # fmt: skip
    flags = [name for name, on in given.items() if on]
    flags += [f"{name} {quote(str(value))}" for name, (value, usual) in valued.items() if value != usual]
    flags += [f"--directory-pages {quote(prefix)}" for prefix in directory_pages or ()]
    command = collection_room.command_to_repeat("evaluate", collection, directory, *flags)
    keep_report(corpus, "evaluate", evaluation.summarise_evaluation(done, Path(directory).name, command))
    if as_json:
        print_json(done.as_dict())
        return
    print_judgements(done)
    if page is not None:
        say(f"\nReport: {page}")


def open_served(corpus: "hypertext.Corpus") -> "similarity.RelatedIndex | None":
    """Return the collection's index for related pages; None if this version cannot read it."""
    try:
        return similarity.RelatedIndex(corpus, compiled=True) if corpus.facts.get("index") else None
    except PagekinError as error:
        say(f"pagekin: the served ranking was not judged: {error}", err=True)
        return None


def keep_report(corpus: "hypertext.Corpus", kind: str, kept: "collection_room.StoredEvaluation") -> None:
    """Store results in their collection; if that fails, print a message and continue."""
    try:
        evaluation.store_evaluation(corpus.kin, kind, kept)
    except (PagekinError, OSError) as error:
        say(f"pagekin: the results were not stored in the collection: {error}", err=True)


def open_directory(
    corpus: "hypertext.Corpus", source: str, depth: int, mode: str, classes: str, loose: bool
) -> "clusters.Directory":
    """Open the directory, or end with a clear message."""
    if not source:
        fail(
            "give --directory: a FILE with an address and a path on each line, or the collection's own tree by url-path or "
            "breadcrumbs",
            USAGE,
        )
    check_choice("--mode", mode, clusters.DIRECTORY_MODES)
    check_choice("--classes", classes, clusters.DIRECTORY_CHOICES)
    return clusters.load_directory(corpus, source, depth, mode, classes, loose)


def print_judgements(done: "evaluation.Evaluation") -> None:
    """Print judgements as a table for people."""
    # Of two, all measures tell; of more, the line about the best is enough, and the report has the rest.
    rivals = {one.second for one in done.comparisons()}
    say(fill_template("judgements", done=done, pair=done.comparisons() if len(rivals) == 1 else []))
