"""`pagekin read`: sources to a collection."""

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from pagekin.cli.app import BAD_INPUT, OUR_FAULT, USAGE, app, fail, human_bytes, print_json, progress_bar, say

Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE...", help="WARC, ARC or WACZ files, folders of HTML, or `demo` for the demo web."),
]
BaseUrls = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[FOLDER=]URL", help="The address of a folder's root (default http://localhost/); once per folder."
    ),
]
AllCaptures = Annotated[bool, typer.Option(help="Keep every capture of a URL, not only the newest.")]
Strict = Annotated[bool, typer.Option(help="Fail (exit 3) on damaged records instead of stepping over them.")]
Parser = Annotated[str, typer.Option(metavar="fast|strict", help="How to read HTML; strict is slow.")]
Workers = Annotated[int, typer.Option(min=0, help="Processes that read; 0 means one per core.")]
Limit = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=NUMBER", help="Change a limit per page, e.g. page_bytes=1000000."),
]


@app.command()
def read(
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SITE.kin", help="The collection to write.")],
    base_url: BaseUrls = None,
    all_captures: AllCaptures = False,
    strict: Strict = False,
    parser: Parser = "fast",
    workers: Workers = 0,
    limit: Limit = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no summary.")] = False,
) -> None:
    """Read web archives or folders of HTML, without an index."""
    from pagekin.hypertext import WorkerError, read_sources
    from pagekin.sources import SourceError
    from pagekin.store import KinError

    plan = make_plan(sources, out, base_url, all_captures, strict, parser, workers, limit)
    try:
        with progress_bar(quiet or as_json) as tell:
            report = read_sources(plan, tell)
    except (SourceError, KinError) as error:
        fail(str(error), BAD_INPUT)
    except WorkerError as error:
        report_worker(error)
    if as_json:
        print_json({**report.facts, "seconds": seconds(report)})
    elif not quiet:
        print_summary(report, out)


def make_plan(
    sources: list[str], out: Path, base_url: list[str] | None, all_captures: bool, strict: bool, parser: str,
    workers: int, limit: list[str] | None,
) -> Any:  # fmt: skip
    """Make the plan that options describe, or end with what is wrong with them."""
    from pagekin.hypertext import PARSERS, ReadPlan, default_workers
    from pagekin.sources import parse_limits

    if parser not in PARSERS:
        fail(f"--parser is one of {', '.join(PARSERS)}, not '{parser}'", USAGE)
    try:
        limits = parse_limits(limit or [])
    except ValueError as error:
        fail(f"--limit: {error}", USAGE)
    bases, default_base = parse_base_urls(base_url or [])
    return ReadPlan(
        sources, out, parser, workers or default_workers(), bases, default_base, all_captures, strict, limits
    )


def report_worker(error: Any) -> NoReturn:
    """End with what a worker process said."""
    import os

    if os.environ.get("PAGEKIN_DEBUG"):
        say(error.detail, err=True)
    fail(str(error), OUR_FAULT)


def parse_base_urls(settings: list[str]) -> tuple[dict[str, str], str]:
    """Return (address per folder, address of the only folder) from --base-url settings."""
    from pagekin.hypertext import canonical_url

    bases: dict[str, str] = {}
    default = ""
    for setting in settings:
        folder, equals, url = setting.partition("=")
        if not equals or "://" in folder:
            folder, url = "", setting
        address = canonical_url(url)
        if address is None:
            fail(f"--base-url: '{url}' is no http(s) address, for example https://www.example.org/", USAGE)
        if folder:
            bases[folder] = address
        else:
            default = address
    return bases, default


def seconds(report: Any) -> dict[str, float]:
    """Return a report's times, rounded."""
    return {name: round(getattr(report, name), 2) for name in ("start_up", "reading", "merging")}


def print_summary(report: Any, out: Path) -> None:
    """Print what was read, for people."""
    facts = report.facts
    rate = facts["html_records"] / report.reading if report.reading else 0
    say(
        f"{out}: {facts['pages']:,} pages of {facts['hosts']:,} hosts, {facts['words']:,} words, "
        f"{facts['anchors']:,} anchors to {facts['urls']:,} addresses ({human_bytes(facts['html_bytes'])} of HTML)"
    )
    say(
        f"start-up {report.start_up:.1f} s, reading {report.reading:.1f} s ({rate:,.0f} pages/s), "
        f"merging {report.merging:.1f} s"
    )
    if facts["skipped"]:
        reasons = sorted(facts["skipped"].items(), key=lambda item: -item[1])
        say("skipped: " + ", ".join(f"{count:,} {reason}" for reason, count in reasons))
    if facts["cut"]:
        say("cut at a limit: " + ", ".join(f"{count:,} pages ({name})" for name, count in facts["cut"].items()))
    for example in facts["damaged_examples"]:
        say(f"  damaged: {example}", err=True)
    if not facts["pages"]:
        say("Warning: no page was found; a page is HTML with status 200.", err=True)
