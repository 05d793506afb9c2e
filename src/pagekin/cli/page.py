"""`pagekin page`: what was understood of one page."""

import difflib
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from pagekin.cli.app import app, fail, human_bytes, open_corpus, print_json, say, table

_SHOWN = 12


@app.command()
def page(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin")],
    url: Annotated[str, typer.Argument(metavar="URL")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, everything in full.")] = False,
) -> None:
    """Show what was understood of a page: title, words by attribute, anchors out and in with their windows, regions."""
    corpus = open_corpus(collection)
    about = corpus.describe(url, None if as_json else _SHOWN)
    if about is None:
        near = nearest_urls(corpus, url)
        hint = "\n  ".join(["Did you mean", *near]) if near else "The collection holds no address like it."
        fail(f"{url} is not in {collection}. {hint}")
    if as_json:
        print_json(about)
    else:
        print_page(about)


def nearest_urls(corpus: Any, url: str, count: int = 3) -> list[str]:
    """Known addresses that look like `url`: its neighbours in sorted order and the same path under another scheme."""
    from pagekin.hypertext import canonical

    wanted = canonical(url) or canonical(f"http://{url}") or url
    candidates: set[str] = set()
    rest = wanted.partition("://")[2] or wanted
    for scheme in ("http://", "https://"):
        for spelling in (rest, rest.removeprefix("www."), "www." + rest, rest.rstrip("/"), rest + "/"):
            place = corpus.urls.nearest((scheme + spelling).encode())
            candidates |= {corpus.url(i) for i in range(max(0, place - 3), min(len(corpus.urls), place + 4))}
    return difflib.get_close_matches(wanted, sorted(candidates), count, 0.5)


def print_page(about: dict[str, Any]) -> None:
    """A page for people."""
    say(about["title"] or "(no title)")
    say(about["url"])
    rows = []
    if about["captured"]:
        date = datetime.fromtimestamp(about["date"], UTC).strftime("%Y-%m-%d") if about["date"] else "unknown date"
        rows.append(
            (
                "captured",
                f"{date}, {human_bytes(about['html_bytes'])}, language {about['language'] or 'unknown'}",
            )
        )
        if about["flags"]:
            rows.append(("noted", ", ".join(about["flags"])))
    else:
        rows.append(("captured", "no: known only from links to it"))
    if about["aliases"]:
        rows.append(("aliases", ", ".join(about["aliases"])))
    for name, words in about["words"].items():
        if words:
            rows.append((name, f"{len(words):,}: {' '.join(words[:_SHOWN])}{' ...' if len(words) > _SHOWN else ''}"))
    table(rows)
    for title, anchors, other, total in (
        ("links to", about["anchors_out"], "target", len(about["anchors_out"])),
        ("linked from", about["anchors_in"], "source", about["anchors_in_total"]),
    ):
        if anchors:
            say()
            say(f"{title} ({total:,})")
        for anchor in anchors[:_SHOWN]:
            say(f"  {anchor[other]}")
            left, right = " ".join(anchor["left"][-6:]), " ".join(anchor["right"][:6])
            say(f"    {left} [{anchor['text']}] {right}".rstrip())
        if total > _SHOWN:
            say(f"  ... and {total - _SHOWN:,} more (--json shows all)")
    if about.get("regions"):
        kinds: dict[str, int] = {}
        for region in about["regions"]:
            kinds[region["kind"]] = kinds.get(region["kind"], 0) + 1
        say()
        say("regions: " + ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in sorted(kinds.items())))
