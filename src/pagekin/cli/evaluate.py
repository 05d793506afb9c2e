"""`pagekin evaluate`: which strategy agrees best with a directory."""

import math
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from pagekin.cli.app import BAD_INPUT, USAGE, app, fail, open_corpus, print_json, progress_bar, say

DirectoryOption = Annotated[
    str,
    typer.Option(
        metavar="FILE|url-path|breadcrumbs", help="A table of addresses and paths, or the collection's own tree."
    ),
]
Depth = Annotated[int, typer.Option(min=2, max=10, help="Levels of the tree; what is deeper is collapsed.")]
Mode = Annotated[str, typer.Option(metavar="lenient|strict", help="Pages listed above that depth: pad, or leave out.")]
Classes = Annotated[str, typer.Option(metavar="primary|all", help="Pages in several classes: the deepest, or all.")]
OwnPages = Annotated[
    list[str] | None,
    typer.Option(
        "--directory-pages", metavar="PREFIX",
        help="The directory's own pages, by the beginning of their URLs: their links are left out; not judged.",
    ),
]  # fmt: skip
Loose = Annotated[bool, typer.Option("--loose", help="Match addresses also if scheme, last slash or capitals differ.")]


@app.command()
def evaluate(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin")],
    directory: DirectoryOption,
    strategies: Annotated[str, typer.Option(metavar="FILE", help="TOML with a table [NAME] per strategy.")] = "",
    figures: Annotated[bool, typer.Option("--figures", help="The strategies of the paper's figures 3 to 9.")] = False,
    sample: Annotated[int, typer.Option(min=0, help="Draw this many pairs of sibling classes, as the paper did.")] = 0,
    linked: Annotated[
        bool, typer.Option("--linked", help="Judge only pages that others link to, as the paper did.")
    ] = False,
    depth: Depth = 3,
    mode: Mode = "lenient",
    classes: Classes = "primary",
    loose: Loose = False,
    directory_pages: OwnPages = None,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also judge similarities of other tools: TF-IDF, BM25 and more.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and intervals.")] = 1,
    workers: Annotated[int, typer.Option(min=0, help="Threads; 0 means one per core.")] = 0,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a report: index.html, CSV, TOML, TREC files.")
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Judge again what an earlier run judged, and keep nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Judge strategies by a human-made directory."""
    if figures and strategies:
        fail("--figures and --strategies exclude each other; give one of them", USAGE)
    corpus = open_corpus(collection)
    tree = open_directory(corpus, directory, depth, mode, classes, loose)
    from pagekin.clusters import DirectoryError
    from pagekin.evaluation import evaluate_strategies, figure_strategies, own_strategies, read_strategies
    from pagekin.hypertext import default_workers

    if figures:
        todo = figure_strategies()
    else:
        todo = load_strategies(read_strategies, strategies) if strategies else own_strategies(corpus)
    named: list[str] = []
    if baselines:
        from pagekin.evaluation import BASELINES

        named = list(BASELINES)
    try:
        with progress_bar(as_json) as tell:
            done = evaluate_strategies(
                corpus, tree, todo, linked=linked or figures, sample=sample, seed=seed,
                threads=workers or default_workers(), own_pages=directory_pages or (), baselines=named,
                cache=not no_cache, progress=tell,
            )  # fmt: skip
    except DirectoryError as error:
        fail(str(error))
    page = None
    if out is not None:
        try:
            page = done.write(out, f"{Path(collection).name} against {Path(directory).name}", figures)
        except OSError as error:
            fail(f"{out} cannot be written: {error.strerror}.", BAD_INPUT)
    from pagekin.evaluation import command_to_repeat, summarise_evaluation

    given = {"--figures": figures, "--linked": linked, "--baselines": baselines, "--loose": loose}
    valued = {
        "--strategies": (Path(strategies).name, ""), "--sample": (sample, 0), "--depth": (depth, 3),
        "--mode": (mode, "lenient"), "--classes": (classes, "primary"), "--seed": (seed, 1),
    }  # fmt: skip
    options = [name for name, on in given.items() if on]
    options += [f"{name} {quote(str(value))}" for name, (value, usual) in valued.items() if value != usual]
    options += [f"--directory-pages {quote(prefix)}" for prefix in directory_pages or ()]
    command = command_to_repeat("evaluate", collection, directory, *options)
    keep_report(corpus, "evaluate", summarise_evaluation(done, Path(directory).name, command))
    if as_json:
        print_json(done.as_dict())
        return
    print_judgements(done)
    if page is not None:
        say(f"\nReport: {page}")


def keep_report(corpus: Any, kind: str, kept: Any) -> None:
    """Keep results in the collection that they are about; if that fails, say so and go on."""
    from pagekin.evaluation import store_evaluation
    from pagekin.store import KinError

    try:
        store_evaluation(corpus.kin, kind, kept)
    except (KinError, OSError) as error:
        say(f"pagekin: the results are not kept in the collection: {error}", err=True)


def load_strategies(read: Any, file: str) -> Any:
    """Read the strategies in a file, or end with what is wrong with it."""
    from pagekin.bags import StrategyError

    try:
        return read(Path(file))
    except StrategyError as error:
        fail(str(error), USAGE)


def open_directory(corpus: Any, source: str, depth: int, mode: str, classes: str, loose: bool) -> Any:
    """Open the directory, or end with a clear message."""
    from pagekin.clusters import DIRECTORY_CHOICES, DIRECTORY_MODES, DirectoryError, load_directory

    for name, value, allowed in (("--mode", mode, DIRECTORY_MODES), ("--classes", classes, DIRECTORY_CHOICES)):
        if value not in allowed:
            fail(f"{name} is one of {', '.join(allowed)}, not '{value}'", USAGE)
    try:
        return load_directory(corpus, source, depth, mode, classes, loose)
    except DirectoryError as error:
        fail(str(error))


def print_judgements(done: Any) -> None:
    """Print judgements as a table for people."""
    from pagekin.evaluation import summarise_comparisons

    facts = done.bench.directory.facts
    tree = done.bench.directory
    say(
        f"{facts['pages']:,} pages in {facts['classes']:,} classes (depth {tree.depth}, {tree.mode}, {tree.choice}); "
        f"judged: {done.bench.note}"
    )
    if facts.get("not in the collection"):
        hints = facts.get("other spellings") or {}
        hint = "; " + ", ".join(f"{n:,} differ by {why}" for why, n in hints.items()) + " (--loose)" if hints else ""
        say(
            f"{facts['not in the collection']:,} listed addresses are not in the collection, e.g. {facts['examples'][0]}{hint}"
        )
    if facts.get("listed too high"):
        say(f"{facts['listed too high']:,} listings stand too high in the tree to count")
    if facts.get("own pages"):
        say(f"{facts['own pages']:,} pages are the directory's own: they cite nothing and are not judged")
    say()
    width = max(len(one.name) for one in done.judgements)
    say(
        f"{'Γ (Somers D)':<{width}}  {'overall':>15} {'siblings':>15} {'cousins':>15} {'unrelated':>15}  "
        "tied  orthogonal  nDCG@10    MAP"
    )
    for one in done.judgements:
        cells = " ".join(
            f"{number_cell(a.gamma)} ({number_cell(a.somers_d)})".rjust(15) for a in one.agreements.values()
        )
        tied = one.agreements[done.region or "siblings"].tied
        scores = done.scores[one.name]
        say(
            f"{one.name:<{width}}  {cells}  {_share(tied):>4}  {_share(one.orthogonality):>10}  {number_cell(scores.ndcg10):>7}"
            f"  {number_cell(scores.map)}"
        )
    say()
    best = summarise_comparisons(done.comparisons(), done.region)
    if best:
        say(best)
    say(f"{done.rankings.note}.")
    if done.cached:
        say(f"{done.cached:,} judgements are an earlier run's; --no-cache judges anew.")
    if done.left_out:
        say(f"{len(done.left_out):,} baselines were left out: {'; '.join(done.left_out.values())}.")


def number_cell(value: float) -> str:
    """Return a number with three digits, or a dash if it is none."""
    return f"{value:.3f}" if math.isfinite(value) else "-"


def _share(value: float) -> str:
    return f"{value:.0%}" if math.isfinite(value) else "-"
