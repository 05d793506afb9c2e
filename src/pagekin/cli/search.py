"""`pagekin search`, `select`, `expand` and `suggest`: documents that match, and documents like them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

import pagekin
from pagekin import collection, sources
from pagekin.cli import export_tables, options
from pagekin.cli.app import USAGE, app, check_choice, fail, say, use_file
from pagekin.cli.questions import print_answer
from pagekin.wording import plural

if TYPE_CHECKING:
    from pagekin.index import PageIndex

_ROUTINGS = ("filters", "terms", "all")
_MOST_ITEMS = 1_000
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE",
        help="The results so far: the --json output of search, select, expand or suggest; - is standard input.",
    ),
]


@app.command()
def search(
    target: options.Target,
    query: options.QueryText,
    limit: options.Most = 10,
    page: options.PageNumber = 1,
    site: options.Site = "",
    since: options.Since = "",
    until: options.Until = "",
    language: options.Language = "",
    ask: Annotated[int, typer.Option(min=0, help="Ask this many children at each router, the most promising; 0: all.")] = 0,
    routing: Annotated[
        str, typer.Option(metavar="filters|terms|all", help="How to choose children; terms is the method of the 1996 paper.")
    ] = "filters",
    deadline: options.Deadline = 5.0,
    csv: Annotated[str, typer.Option("--csv", metavar="FILE", help="Write the results as CSV; - is standard output.")] = "",
    warc: Annotated[
        Path | None,
        typer.Option("--warc", metavar="FILE.warc.gz", help="Write the records of the results, copied from --archives."),
    ] = None,
    archives: export_tables.Archives = None,
    as_json: options.AsJson = False,
) -> None:  # fmt: skip
    """Search a collection or a network.

    The answer lists the services that were asked, those that were not and why, and what may be missing.
    """
    check_choice("--routing", routing, _ROUTINGS)
    if warc is not None and not warc.name.endswith(".warc.gz"):
        fail(f"--warc: '{warc}' must end in .warc.gz", USAGE)
    if csv not in ("", "-") and not csv.endswith(".csv"):
        fail(f"--csv: '{csv}' must end in .csv", USAGE)
    copier = export_tables.open_copier(archives) if warc is not None else None
    with pagekin.open(target) as index:
        answer = index.search(
            " ".join(query), limit, (page - 1) * limit, site=site, since=since, until=until, language=language, ask=ask,
            routing=routing, deadline=deadline,  # type: ignore[arg-type]  # checked above
        )  # fmt: skip
        if warc is not None and copier is not None:
            _copy_hits(index, answer, copier, warc, as_json or csv == "-")
    if csv == "-":
        collection.print_csv(answer, sys.stdout.buffer)
        return
    if csv:
        with use_file(csv, then=" Nothing was left behind."):
            collection.write_table(answer, Path(csv))
        if not as_json:
            say(f"{csv}: {plural(len(answer), 'result')}")
    print_answer(answer, as_json, page, limit)


def _copy_hits(
    opened: "PageIndex", answer: "collection.Answer", copier: "sources.RecordCopier", out: Path, quiet: bool
) -> None:
    """Write the records of all hits that were captured, and say how many."""
    records = []
    for hit in answer.results:
        about = opened.page(hit.url, 0) if hit.url else {}
        if about.get("captured"):
            where = (about.get(name, 0) for name in ("warc_record_offset", "warc_record_length"))
            place = sources.RecordPlace(about.get("warc_filename", ""), *where)
            records.append(collection.PageRecord(about["url"], about["title"], about["date"], place))
    with use_file(out, then=" Nothing was left behind."):
        done = collection.copy_records(records, copier, out, f"results of the search: {answer.query}")
    if not quiet:
        say(f"{out}: {len(done.copied):,} records of {len(answer.results):,} results")
    export_tables.say_left_out(dict(done.left_out))


@app.command()
def select(
    target: options.Target,
    query: options.QueryText,
    results: From = "",
    limit: options.Most = 100,
    page: options.PageNumber = 1,
    site: options.Site = "",
    since: options.Since = "",
    until: options.Until = "",
    language: options.Language = "",
    deadline: options.Deadline = 5.0,
    as_json: options.AsJson = False,
) -> None:
    """Keep the results that match.

    Without --from it chooses among the sub-clusters of a collection or the children of a router; filters do not remove these.
    """
    with pagekin.open(target) as index:
        answer = index.select(
            " ".join(query), _read_results(results), limit=limit, first=(page - 1) * limit, site=site, since=since, until=until,
            language=language, deadline=deadline,
        )  # fmt: skip
    print_answer(answer, as_json, page, limit)


@app.command()
def expand(
    target: options.Target,
    query: options.QueryText,
    results: From = "",
    limit: options.Most = 100,
    page: options.PageNumber = 1,
    each: Annotated[
        int,
        typer.Option(min=0, max=10_000, metavar="N", help="Maximum number of documents of each sub-cluster; 0: all."),
    ] = 0,
    site: options.Site = "",
    since: options.Since = "",
    until: options.Until = "",
    language: options.Language = "",
    deadline: options.Deadline = 5.0,
    as_json: options.AsJson = False,
) -> None:
    """Go one step down.

    Shows the matching children of the results that match: documents of a collection's sub-clusters, or children of routers.
    """
    with pagekin.open(target) as index:
        answer = index.expand(
            " ".join(query), _read_results(results), limit=limit, first=(page - 1) * limit, each=each, site=site, since=since,
            until=until, language=language, deadline=deadline,
        )  # fmt: skip
    print_answer(answer, as_json, page, limit)


@app.command()
def suggest(
    target: options.Target,
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUERY...]", help="Suggest documents similar to its best hits; or use --from."),
    ] = None,
    results: From = "",
    limit: options.Most = 10,
    preset: Annotated[
        str,
        typer.Option(
            metavar="|".join(options.PRESETS),
            help="Related and central pages, or (1996) all documents of the sub-clusters.",
        ),
    ] = "default",
    site: options.Site = "",
    since: options.Since = "",
    until: options.Until = "",
    language: options.Language = "",
    deadline: options.Deadline = 5.0,
    as_json: options.AsJson = False,
) -> None:
    """Suggest documents similar to results.

    They come from the same sub-clusters and from related pages. Filters apply only to the suggested documents.
    """
    check_choice("--preset", preset, options.PRESETS)
    if bool(query) == bool(results):
        fail("name a query, or the results so far with --from", USAGE)
    with pagekin.open(target) as index:
        answer = index.suggest(
            " ".join(query or ()), _read_results(results) or (), limit=limit, preset=preset, site=site, since=since, until=until,  # type: ignore[arg-type]  # checked above
            language=language, deadline=deadline,
        )  # fmt: skip
    print_answer(answer, as_json)


def _read_results(file: str) -> "tuple[collection.Hit, ...] | None":
    """Return the results so far, from a file that holds an answer; None without a file."""
    if not file:
        return None
    with use_file(file, "read"):
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return msgspec.json.decode(raw, type=collection.Answer).results[:_MOST_ITEMS]
    except (msgspec.MsgspecError, UnicodeError) as error:
        fail(f"{file} is not the --json output of a search: {error}")
