"""`pagekin tune`: search for the strategy that suits a collection best."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import collection as collection_room
from pagekin import evaluation, hypertext
from pagekin.cli import options
from pagekin.cli.app import app, fill_template, print_json, progress_bar, say, use_file
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
    directory: options.DirectoryName,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Write the strategy to use; for pagekin index --strategy."),
    ] = None,
    budget: Annotated[
        Any, typer.Option(metavar="TIME", parser=parse_seconds, help="How long to search: 60s, 5m, 1h.")
    ] = "60s",
    tries: Annotated[
        int,
        typer.Option(min=0, help="Judge exactly this many strategies instead; the result is then the same everywhere."),
    ] = 0,
    depth: options.Depth = 3,
    mode: options.Mode = "lenient",
    classes: options.Classes = "primary",
    loose: options.Loose = False,
    directory_pages: options.OwnPages = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search, of the halves and of intervals.")] = 1,
    workers: options.Threads = 0,
    as_json: options.AsJson = False,
) -> None:
    """Search for a strategy that agrees better with a directory.

    The search sees one half of the directory's second-level classes; the other half judges what it found.
    """
    corpus = hypertext.Corpus.open(collection)
    tree = open_directory(corpus, directory, depth, mode, classes, loose)
    with progress_bar(as_json) as tell:
        done = evaluation.tune_strategy(
            corpus, tree, own_pages=directory_pages or (), budget=budget, tries=tries, seed=seed,
            threads=workers or hypertext.default_workers(), progress=tell,
        )  # fmt: skip
    if save is not None:
        with use_file(save):
            save.write_text(done.as_toml(f"{Path(collection).name} and {Path(directory).name}"), encoding="utf-8")
    flags = [f"--tries {tries}"] if tries else [f"--budget {budget:g}s"]
    flags += [f"--seed {seed}"] if seed != 1 else []
    command = collection_room.command_to_repeat("tune", collection, directory, *flags)
    keep_report(corpus, "tune", evaluation.summarise_tuning(done, tree, Path(directory).name, command))
    if as_json:
        print_json(done.as_dict())
        return
    say(fill_template("tuning", done=done))
    if save is not None:
        what = "the tuned strategy" if done.improved else f"the preset '{done.best_preset}'"
        say(f"\n{save} holds {what}. Next: pagekin index {collection} --strategy {save}")
