"""`pagekin demo`: the built-in demo web, indexed and served."""

import webbrowser
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer

import pagekin
from pagekin import bags, clusters, engines, hypertext, routers, store
from pagekin.cli.app import USAGE, app, fail, progress_bar, say
from pagekin.cli.build import print_index
from pagekin.cli.read import print_summary
from pagekin.cli.related import print_related
from pagekin.cli.serve import serve_collection
from pagekin.errors import PagekinError

_SAMPLES = ("http://elements.example/carbon.html", "http://mountains.example/mauna-kea.html")
_HOST, _FIRST_PORT, _PORTS = "127.0.0.1", 8600, 50
_STAGES = {"index", "text", "trees", "label"}
"""What a whole collection has, as the manifest's facts name it."""


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DEMO.kin", help="The collection; built if it does not exist.")
    ] = Path("demo.kin"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes the first free one from 8600 on.")] = 0,
    no_serve: Annotated[
        bool, typer.Option("--no-serve", help="Show some related pages here instead of serving.")
    ] = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Index the built-in demo web and serve it. It runs on this machine and needs no internet."""
    if no_serve and open_browser:
        fail("--no-serve and --open exclude each other; give one of them", USAGE)
    if not _is_fresh(out):
        _build(out, report_it=no_serve)
    if no_serve:
        _show(out)
        return

    def tell(address: str, pages: int) -> None:
        say(f"{pages:,} pages of the demo web. Look at them in a browser (Ctrl-C ends it):")
        say(address)
        if open_browser:
            webbrowser.open(address)

    serve_collection(out, _HOST, port or _free_port(), "The demo web", tell=tell)


def _is_fresh(out: Path) -> bool:
    """Return whether the demo web is at `out`, whole, as this version builds it; end if something else is there."""
    if not out.exists():
        return False
    try:
        facts = store.read_manifest(out)["facts"]
    except store.KinError:
        # Not a collection, or a damaged one: the build says what it may replace.
        return False
    if facts.get("sources") != ["demo"]:
        fail(
            f"{out} is a collection of something else. Name another place for the demo web: pagekin demo --out DEMO.kin"
        )
    return (
        facts.get("pagekin") == pagekin.__version__
        and facts.keys() >= _STAGES
        and _code_changed() <= _change_time(out / "manifest.json")
    )


def _code_changed() -> float:
    """Return when our code last changed."""
    return max(map(_change_time, Path(__file__).resolve().parents[1].rglob("*.py")))


def _change_time(path: Path) -> float:
    return path.stat().st_mtime


def _build(out: Path, report_it: bool) -> None:
    """Build the demo web, and print what was built if wanted."""
    say("Building an index of the demo web ...", err=True)
    plan = hypertext.ReadPlan(["demo"], out)
    with progress_bar() as tell:
        recipe = engines.BuildRecipe(bags.Strategy(), clusters.ClusterSettings(), text=True)
        report = engines.build_collection(plan, recipe, tell)
    if report_it and report.read is not None:
        print_summary(report.read, out)
        print_index(report, out)


def _free_port() -> int:
    """Return the first port from 8600 on that nobody listens at; 0, for any, if there is none among fifty."""
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        with suppress(PagekinError), closing(routers.listening_socket(routers.Place(_HOST, port))):
            return port
    return 0


def _show(out: Path) -> None:
    """Show related pages of two pages, and how to look further."""
    with pagekin.open(out) as index:
        for sample in _SAMPLES:
            say()
            print_related(index.related(sample, 3, explain=True))
    say(f"\nLook further:\n  pagekin related {out} {_SAMPLES[0]} -k 20 --other-sites --explain")
    say(f"  pagekin clusters {out} --tree")
    say(f"  pagekin label {out}")
    say(f"  pagekin refine {out} volcano")
    say(f"  pagekin duplicates {out}")
    say(f"  pagekin info {out}")
