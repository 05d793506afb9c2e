"""`pagekin page`: what was understood of one page."""

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

import pagekin
from pagekin.cli import options
from pagekin.cli.app import app, human_bytes, print_json, print_table, say

_SHOWN = 12
_MOST_INLINKS = 10_000


@app.command()
def page(
    target: options.Target,
    url: Annotated[str, typer.Argument(metavar="URL")],
    deadline: options.Deadline = 5.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, everything in full.")] = False,
) -> None:
    """Show what was understood of a page. Title, words by attribute, anchors out and in with their windows, regions."""
    with pagekin.open(target) as index:
        about = index.page(url, _MOST_INLINKS if as_json else _SHOWN, deadline=deadline)
    if as_json:
        print_json(about)
    else:
        print_page(about)


def print_page(about: dict[str, Any]) -> None:
    """Print a page for people."""
    say(about["title"] or "(no title)")
    say(about["url"])
    rows = []
    if about["captured"]:
        date = datetime.fromtimestamp(about["date"], UTC).strftime("%Y-%m-%d") if about["date"] else "unknown date"
        about_it = f"{date}, {human_bytes(about['html_bytes'])}, language {about['language'] or 'unknown'}"
        rows.append(("captured", about_it))
        if about["flags"]:
            rows.append(("noted", ", ".join(about["flags"])))
    else:
        rows.append(("captured", "no: known only from links to it"))
    if about["aliases"]:
        rows.append(("aliases", ", ".join(about["aliases"])))
    for name, words in about["words"].items():
        if words:
            rows.append((name, f"{len(words):,}: {' '.join(words[:_SHOWN])}{' ...' if len(words) > _SHOWN else ''}"))
    print_table(rows)
    for title, anchors, other, total in (
        ("links to", about["anchors_out"], "target", len(about["anchors_out"])),
        ("linked from", about["anchors_in"], "source", about["anchors_in_total"]),
    ):
        if anchors:
            say(f"\n{title} ({total:,})")
        for anchor in anchors[:_SHOWN]:
            say(f"  {anchor[other]}")
            left, right = " ".join(anchor["left"][-6:]), " ".join(anchor["right"][:6])
            say(f"    {left} [{anchor['text']}] {right}".rstrip())
        if total > _SHOWN:
            say(f"  ... and {total - _SHOWN:,} more (--json shows all)")
    if about.get("regions"):
        kinds = Counter(region["kind"] for region in about["regions"])
        say("\nregions: " + ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in sorted(kinds.items())))
