"""`pagekin demo`: the built-in demo web, indexed and asked."""

from pathlib import Path
from typing import Annotated

import typer

from pagekin.cli.app import BAD_INPUT, app, fail, open_index, progress_bar, say
from pagekin.cli.build import print_index
from pagekin.cli.read import print_summary
from pagekin.cli.related import print_answer

_SAMPLES = ("http://elements.example/carbon.html", "http://mountains.example/mauna-kea.html")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DEMO.kin", help="Where to write it.")] = Path("demo.kin"),
) -> None:
    """Index the built-in demo web and show related pages."""
    from pagekin.bags import Strategy
    from pagekin.clusters.make import ClusterPlan
    from pagekin.engines import build_collection
    from pagekin.hypertext.read import ReadPlan, default_workers
    from pagekin.sources import SourceError
    from pagekin.store import KinError

    say("Building an index of the demo web (the very first time, compiling takes half a minute) ...", err=True)
    try:
        with progress_bar() as tell:
            clusters = ClusterPlan(threads=default_workers())
            report = build_collection(ReadPlan(["demo"], out), Strategy(), tell, clusters, text=True)
    except (SourceError, KinError) as error:
        fail(str(error), BAD_INPUT)
    if report.read is not None:
        print_summary(report.read, out)
    print_index(report, out)
    index = open_index(str(out))
    for sample in _SAMPLES:
        say()
        query = index.query_of([sample])
        print_answer(index, query, index.answer(query, 3, explain=True))
    say()
    say("Look further:")
    say(f"  pagekin related {out} {_SAMPLES[0]} -k 20 --other-sites --explain")
    say(f"  pagekin clusters {out} --tree")
    say(f"  pagekin label {out}")
    say(f"  pagekin refine {out} volcano")
    say(f"  pagekin duplicates {out}")
    say(f"  pagekin info {out}")
