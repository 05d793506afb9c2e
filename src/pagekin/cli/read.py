"""`pagekin read`: sources to a collection."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from pagekin import engines, hypertext, sources, store
from pagekin.cli import options
from pagekin.cli.app import (
    INTERRUPTED,
    USAGE,
    app,
    check_choice,
    check_option,
    fail,
    fill_template,
    print_json,
    progress_bar,
    say,
)


@app.command()
def read(
    sources: options.Sources,
    out: options.NewCollection,
    base_url: options.BaseUrls = None,
    all_captures: options.AllCaptures = False,
    strict: options.Strict = False,
    parser: options.Parser = "fast",
    workers: options.Workers = 0,
    limit: options.Limit = None,
    exclude: options.Exclude = None,
    content: options.Content = None,
    obey: options.Obey = None,
    max_per_host: options.MaxPerHost = 0,
    replace: options.Replace = False,
    memory: options.Memory = None,
    as_json: options.SummaryAsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Read web archives or folders of HTML, without an index."""
    plan = make_plan(
        sources, out, base_url, all_captures, strict, parser, workers, limit, exclude, replace, memory, content
    )
    obey_pages(plan, obey, max_per_host)
    plan.units = engines.require_room(plan, clusters=False, text=False, note=note_of(quiet), index=False)
    with keep_what_was_read(out), progress_bar(quiet or as_json) as tell:
        report = hypertext.read_sources(plan, tell, note_of(quiet))
    if as_json:
        print_json({**report.facts, "seconds": seconds(report)})
    elif not quiet:
        print_summary(report, out)


def make_plan(
    archives: list[str], out: Path, base_url: list[str] | None, all_captures: bool, strict: bool, parser: str,
    workers: int, limit: list[str] | None, exclude: list[str] | None = None, replace: bool = False,
    memory: "store.MemoryBudget | None" = None, content: list[str] | None = None,
) -> "hypertext.ReadPlan":  # fmt: skip
    """Make the plan that the options describe, or end with a message if they are invalid."""
    check_choice("--parser", parser, hypertext.PARSERS)
    with check_option("--set-limit"):
        limits = sources.parse_limits(sources.Limits, limit or [])
    with check_option("--content"):
        for selector in content or ():
            hypertext.check_selector(selector)
    bases, default_base = parse_base_urls(base_url or [])
    processes = workers or hypertext.default_workers()
    return hypertext.ReadPlan(
        archives, out, parser, processes, bases, default_base, all_captures, strict, limits,
        exclude=tuple(exclude or ()), content=tuple(content or ()), replace=replace, memory=memory or store.NO_LIMIT,
        small_here=not workers,
    )  # fmt: skip


def obey_pages(plan: "hypertext.ReadPlan", obey: list[str] | None, max_per_host: int) -> None:
    """Set the options --obey and --max-per-host of a plan."""
    for way in obey or ():
        check_choice("--obey", way, hypertext.OBEYED)
    plan.obey, plan.max_per_host = tuple(sorted(set(obey or ()))), max_per_host


def opt_outs_of_file(file: Path | None) -> "hypertext.OptOuts":
    """Return the addresses and hosts listed in a file; none without a file. End with a message if it is invalid."""
    with check_option():
        return hypertext.OptOuts.load(file) if file else hypertext.NO_OPT_OUTS


def note_of(quiet: bool) -> "hypertext.Note":
    """Return the function that prints the notes of a read."""
    return (lambda _text: None) if quiet else (lambda text: say(f"pagekin: {text}", err=True))


@contextmanager
def keep_what_was_read(out: Path) -> Iterator[None]:
    """After Ctrl-C, say that the same command continues, if there is something to continue from."""
    try:
        yield
    except KeyboardInterrupt:
        if not store.can_be_resumed(out):
            raise
        say("pagekin: stopped; what was read is kept. Run the same command again to continue.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def parse_base_urls(settings: list[str]) -> tuple[dict[str, str], str]:
    """Return (address per folder, address of the only folder) from --base-url settings."""
    bases: dict[str, str] = {}
    default = ""
    for setting in settings:
        folder, equals, url = setting.partition("=")
        if not equals or "://" in folder:
            folder, url = "", setting
        address = hypertext.canonical_url(url)
        if address is None:
            fail(f"--base-url: '{url}' is not an http(s) address, such as https://www.example.org/", USAGE)
        if folder:
            bases[folder] = address
        else:
            default = address
    return bases, default


def round_times(times: dict[str, float]) -> dict[str, float]:
    """Round times for people."""
    return {name: round(value, 2) for name, value in times.items()}


def seconds(report: "hypertext.ReadReport") -> dict[str, float]:
    """Return a report's times, rounded."""
    return round_times({name: getattr(report, name) for name in ("start_up", "reading", "merging")})


def print_summary(report: "hypertext.ReadReport", out: Path | str) -> None:
    """Print what was read, for people."""
    facts = report.facts
    say(fill_template("read", report=report, out=out))
    for example in facts["damaged_examples"]:
        say(f"  damaged: {example}", err=True)
    if not facts["pages"]:
        say("Warning: no page was found; a page is HTML with status 200.", err=True)
