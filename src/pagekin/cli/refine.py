"""`pagekin refine`: terms to refine a question with."""

from typing import Annotated

import typer

import pagekin
from pagekin import hypertext
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_choice, fail, print_json, say
from pagekin.cli.questions import print_missing


@app.command()
def refine(
    target: options.Target,
    terms: Annotated[list[str], typer.Argument(metavar="TERM...", help="The words of the question.")],
    count: Annotated[int, typer.Option("-k", "--limit", min=1, max=1000, help="Maximum number of terms in each list.")] = 8,
    preset: Annotated[
        str,
        typer.Option(metavar="|".join(options.PRESETS), help="Use what pages are about, or (1996) the terms of sub-clusters."),
    ] = "default",
    workers: Annotated[
        int, typer.Option(min=0, help="Threads, needed only if the collection was built without clusters; 0: one per core.")
    ] = 0,
    deadline: options.Deadline = 5.0,
    as_json: options.AsJson = False,
) -> None:  # fmt: skip
    """Suggest collocated, broader and narrower terms."""
    words = [word for term in terms for word in term.split()]
    if not words:
        fail("name at least one word to refine", USAGE)
    check_choice("--preset", preset, options.PRESETS)
    with pagekin.open(target, threads=workers or hypertext.default_workers()) as index:
        refinements = index.refine(" ".join(words), count, preset=preset, deadline=deadline)  # type: ignore[arg-type]  # checked above
    if not (refinements.known or refinements.partial):
        what = "page" if preset == "default" else "sub-cluster"
        fail(f"no {what} of {target} is about {' '.join(map(repr, words))}")
    lists = {name: list(getattr(refinements, name)) for name in ("collocated", "broader", "narrower")}
    if as_json:
        print_json({"terms": words, "pages": refinements.known, **lists})
        return
    say(
        f"{' '.join(words)}: {refinements.known:,} {'pages are about it' if preset == 'default' else 'sub-clusters hold it'}"
    )
    for name, some in lists.items():
        say(f"{name:<10}  {', '.join(some) or '-'}")
    print_missing(refinements.partial)
