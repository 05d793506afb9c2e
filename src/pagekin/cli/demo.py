"""`pagekin demo`: the built-in demo web, read and shown."""

from pathlib import Path
from typing import Annotated

import typer

from pagekin.cli.app import BAD_INPUT, app, fail, open_corpus, progress_bar, say
from pagekin.cli.page import print_page
from pagekin.cli.read import print_summary

_SAMPLE = "http://elements.example/carbon.html"


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DEMO.kin", help="Where to write it.")] = Path("demo.kin"),
) -> None:
    """Read the built-in demo web (no network) and show what was found."""
    from pagekin.hypertext.read import ReadPlan, read_sources
    from pagekin.sources import SourceError
    from pagekin.store import KinError

    say("Reading the demo web (the very first time, compiling takes half a minute) ...", err=True)
    try:
        with progress_bar() as tell:
            report = read_sources(ReadPlan(["demo"], out), tell)
    except (SourceError, KinError) as error:
        fail(str(error), BAD_INPUT)
    print_summary(report, out)
    say()
    about = open_corpus(str(out)).describe(_SAMPLE)
    if about is not None:
        print_page(about)
    say()
    say(f"Look further:  pagekin info {out}    pagekin page {out} {_SAMPLE} --json    pagekin check {out}")
