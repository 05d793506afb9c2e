"""`pagekin page`: show what was read from a page."""

from collections import Counter
from typing import Annotated, Any

import typer

import pagekin
from pagekin.cli import options
from pagekin.cli.app import app, fill_template, print_json, say
from pagekin.collection import name_times

_SHOWN = 12
_MOST_INLINKS = 10_000


@app.command()
def page(
    target: options.Target,
    url: Annotated[str, typer.Argument(metavar="URL")],
    deadline: options.Deadline = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, everything in full.")] = False,
) -> None:
    """Show what was read from a page. Title, words by attribute, anchors out and in with their windows, regions."""
    with pagekin.open(target) as index:
        about = index.page(url, _MOST_INLINKS if as_json else _SHOWN, deadline=deadline)
    if as_json:
        print_json(about)
    else:
        print_page(about)


def print_page(about: dict[str, Any]) -> None:
    """Print a page for people."""
    date = name_times([about["date"]])[0] if about.get("date") else ""
    dates = name_times(about.get("capture_dates", ()))
    kinds = sorted(Counter(region["kind"] for region in about.get("regions", ())).items())
    say(fill_template("page", about=about, date=date, dates=dates, kinds=kinds, most=_SHOWN))
