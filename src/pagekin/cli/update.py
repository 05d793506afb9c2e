"""`pagekin update` and `pagekin compact`: add pages to a collection and remove others."""

import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import engines, hypertext, store
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_option, fail, fill_template, print_json, progress_bar, say
from pagekin.cli.read import keep_what_was_read, note_of, opt_outs_of_file, parse_base_urls, round_times, seconds

_DAY = 24 * 3600
_AGES = {"d": _DAY, "w": 7 * _DAY, "y": 365 * _DAY}

Updated = Annotated[Path, typer.Argument(metavar="SITE.kin", help="A collection that was built with --updatable.")]


def parse_age(text: str) -> int:
    """Return the seconds of an age as people write it: 90d, 12w, 1y."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*([dwy])\s*", text)
    if match is None or not int(match[1]):
        raise typer.BadParameter(f"an age is written 90d, 12w or 1y; not '{text}'")
    return int(match[1]) * _AGES[match[2]]


@app.command()
def update(
    collection: Updated,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE]...", help="New WARC, ARC or WACZ files; folders of HTML replace their earlier state."),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Permanently leave out this page, with its aliases; repeatable."),
    ] = None,
    remove_site: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Permanently leave out all pages of a host and its subdomains; repeatable."),
    ] = None,
    remove_from: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same for the addresses and hosts in a file, one per line.")
    ] = None,
    expire: Annotated[
        Any,
        typer.Option(
            metavar="AGE", parser=parse_age,
            help="Leave out pages that were not seen for this long: 90d, 12w, 1y. They return when they are seen again.",
        ),
    ] = None,
    delta: Annotated[
        bool, typer.Option("--delta", help="Write a delta beside the collection, even if it is small or the update large.")
    ] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="Rebuild the collection, even if it is large and the update small.")
    ] = False,
    erase: Annotated[
        bool,
        typer.Option(
            "--erase", help="Erase the bytes of what is removed, now or earlier; this rebuilds the collection."
        ),
    ] = False,
    base_url: options.BaseUrls = None,
    workers: options.Workers = 0,
    memory: options.Memory = None,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Add new and changed pages to a collection, and remove others.

    Only the new sources are read. A small update of a large collection is written as a delta beside it; otherwise the collection
    is rebuilt from what it keeps. Pages that are gone (404, 410) in the new sources are removed. Pages that you remove stay out
    of later builds and updates. With a delta they disappear from all answers at once; `compact` or --erase deletes their bytes.
    Running servers switch to the new state automatically.
    """
    if not (sources or remove or remove_site or remove_from or expire or erase):
        fail(
            "there is nothing to do: name new sources, or give --remove, --remove-site, --remove-from, --expire or --erase",
            USAGE,
        )
    if delta and (merge or erase):
        fail("--delta leaves the collection as it is; --merge and --erase rebuild it: give only one of them", USAGE)
    with check_option("--remove"):
        named = hypertext.OptOuts.parse(remove or [])
    with check_option("--remove-site"):
        named |= hypertext.OptOuts.parse((), remove_site or [])
    bases, default_base = parse_base_urls(base_url or [])
    with keep_what_was_read(collection), progress_bar(quiet or as_json) as tell:
        report = engines.update_collection(
            collection, sources or [], base_urls=bases, base_url=default_base,
            opt_outs=named | opt_outs_of_file(remove_from),
            expire_before=int(time.time()) - expire if expire else 0,
            way="delta" if delta else "merge" if merge else "auto", erase=erase,
            workers=workers or hypertext.default_workers(),
            memory=memory or store.NO_LIMIT, progress=tell, note=note_of(quiet),
        )  # fmt: skip
    if as_json:
        print_json(
            {
                "changed": bool(report.way), "way": report.way, "reason": report.reason,
                "delta": asdict(report.delta) if report.delta else None, "pages": report.pages._asdict(),
                "opted_out": report.opted_out, "bytes_stay": report.bytes_stay,
                "parts_rewritten": report.build.read.parts_rewritten if report.build and report.build.read else 0,
                "read_before": report.read_before, "seconds": _seconds(report.build),
            }
        )  # fmt: skip
    elif not quiet:
        say(fill_template("update", report=report, collection=collection, erase=erase))


@app.command()
def compact(
    collection: Updated,
    workers: options.Workers = 0,
    memory: options.Memory = None,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Rebuild a collection from what it keeps. The result is the same as a build of all its sources with the same settings."""
    with keep_what_was_read(collection), progress_bar(quiet or as_json) as tell:
        report = engines.compact_collection(
            collection, workers=workers or hypertext.default_workers(), memory=memory or store.NO_LIMIT, progress=tell,
            note=note_of(quiet),
        )  # fmt: skip
    if as_json:
        print_json({"pages": report.facts["pages"], "seconds": _seconds(report)})
    elif not quiet:
        say(f"{collection}: {report.facts['pages']:,} pages, the same as after a build of all its sources")


def _seconds(report: "engines.BuildReport | None") -> dict[str, float]:
    """Return the times of a build, rounded."""
    if report is None or report.read is None:
        return {}
    return {**seconds(report.read), **round_times(report.seconds)}
