"""`pagekin tune`: fit the signals, or the bags, to a collection."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import clusters, evaluation, hypertext, similarity, store
from pagekin import collection as collection_room
from pagekin.cli import options
from pagekin.cli.app import (
    USAGE,
    app,
    check_choice,
    fail,
    fill_template,
    print_json,
    progress_bar,
    say,
    use_file,
)
from pagekin.cli.evaluate import keep_report, open_directory

_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def parse_seconds(text: str) -> float:
    """Return the seconds of a time as people write it: 60s, 5m, 1h, or plain seconds."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|m|min|h)?\s*", text)
    seconds = float(match[1]) * _UNITS[match[2] or ""] if match else 0.0
    if not 1 <= seconds <= 7 * 24 * 3600:
        raise typer.BadParameter(f"a time is written 60s, 5m or 1h, from 1s to 168h; not '{text}'")
    return seconds


@app.command()
def tune(
    collection: options.Collection,
    directory: options.DirectoryName = "",
    wish: Annotated[
        str,
        typer.Option(
            "--for", "--wish", metavar="kin|see-also",
            help="Weights for pages of the same kind, by a directory, or for pages worth a link, by see-also lists or "
            "hidden links.",
        ),
    ] = "",
    bags: Annotated[
        bool, typer.Option("--bags", help="Search the settings of the bags by a directory, not the signals' weights.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Write the chosen strategy to a file, for pagekin index --strategy."),
    ] = None,
    budget: Annotated[
        Any, typer.Option(metavar="TIME", parser=parse_seconds, help="How long to search and judge: 60s, 5m, 1h.")
    ] = "60s",
    tries: Annotated[
        int,
        typer.Option(min=0, help="With --bags: try this many strategies, whatever the time; makes the result reproducible."),
    ] = 0,
    depth: options.Depth = 3,
    mode: options.Mode = "lenient",
    classes: options.Classes = "primary",
    loose: options.Loose = False,
    directory_pages: options.OwnPages = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search, of the halves and of intervals.")] = 1,
    workers: options.Threads = 0,
    as_json: options.AsJson = False,
) -> None:  # fmt: skip
    """Fit the signals' weights or the bags to a collection.

    Each of the directory's second-level classes, or page with hidden links, is judged by weights that were fitted to others. With
    --bags the search sees one half of the classes, and the other half judges.
    """
    check_choice("--for", wish, ("", "kin", "see-also"))
    if bags and (wish or not directory):
        fail("--bags needs --directory and excludes --for, because the settings of bags do not depend on it", USAGE)
    if wish != "see-also" and not directory:
        fail("give --directory FILE|url-path|breadcrumbs to tune for kin, or --for see-also", USAGE)
    if wish == "see-also" and directory:
        fail("--for see-also is judged by see-also lists or hidden links; leave --directory out", USAGE)
    if tries and not bags:
        fail("--tries needs --bags", USAGE)
    corpus = hypertext.Corpus.open(collection)
    tree = open_directory(corpus, directory, depth, mode, classes, loose) if directory else None
    done: evaluation.Tuning | evaluation.SignalTuning
    with progress_bar(as_json) as tell:
        if bags and tree is not None:
            done = evaluation.tune_strategy(
                corpus, tree, own_pages=directory_pages or (), budget=budget, tries=tries, seed=seed,
                threads=workers or hypertext.default_workers(), progress=tell,
            )  # fmt: skip
        else:
            done = fit_signals(corpus, tree, directory_pages or (), budget, seed, tell)
    if save is not None:
        save_strategy(save, done, collection, directory)
    if tree is not None and isinstance(done, evaluation.Tuning):
        flags = ["--bags", f"--tries {tries}" if tries else f"--budget {budget:g}s"]
        flags += [f"--seed {seed}"] if seed != 1 else []
        command = collection_room.command_to_repeat("tune", collection, directory, *flags)
        keep_report(corpus, "tune", evaluation.summarise_tuning(done, tree, Path(directory).name, command))
    if as_json:
        print_json(done.as_dict())
        return
    say(fill_template("tuning" if isinstance(done, evaluation.Tuning) else "signals", done=done))
    if save is not None:
        what = "the tuned strategy" if done.improved else f"the strategy '{done.advice.name}'"
        say(f"\n{save} holds {what}. Next: pagekin index {collection} --strategy {save}")


def fit_signals(
    corpus: "hypertext.Corpus", tree: "clusters.Directory | None", own_pages: Sequence[str], budget: float, seed: int,
    tell: "store.Progress",
) -> "evaluation.SignalTuning":  # fmt: skip
    """Fit the weights of the signals to a directory, or without one to see-also lists or hidden links."""
    index = similarity.RelatedIndex(corpus, compiled=True)
    if tree is None:
        return evaluation.tune_see_also(index, budget=budget, seed=seed, progress=tell)
    return evaluation.tune_kin(index, tree, own_pages=own_pages, budget=budget, seed=seed, progress=tell)


def save_strategy(
    file: Path, done: "evaluation.Tuning | evaluation.SignalTuning", collection: str | Path, directory: str
) -> None:
    """Write the chosen strategy to a file, with a note on how it was judged."""
    by = Path(directory).name or (done.judged_by if isinstance(done, evaluation.SignalTuning) else "")
    judged_by = f"{Path(collection).name} and {by}"
    with use_file(file):
        file.write_text(done.as_toml(judged_by), encoding="utf-8")
