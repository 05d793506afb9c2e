"""`pagekin search`, `select`, `expand` and `suggest`: asking a collection, or a network of them."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, print_json, say, title_line

Target = Annotated[str, typer.Argument(metavar="SITE.kin|URL", help="A collection, or the address of a router.")]
Asked = Annotated[str, typer.Argument(metavar="QUERY", help='Words, title:word, "a phrase", OR, NOT; all must match.')]
Most = Annotated[int, typer.Option("-k", "--limit", min=1, max=10_000, help="Results at most.")]
Deadline = Annotated[float, typer.Option(min=0.05, max=120, help="Seconds to wait; what is missing then is told.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
From = Annotated[
    str,
    typer.Option(
        "--from", metavar="FILE", help="The results so far: what --json of these verbs printed; - is standard input."
    ),
]


@app.command()
def search(
    target: Target,
    query: Asked,
    limit: Most = 10,
    site: Annotated[str, typer.Option(metavar="HOST", help="Only this host, or hosts that end so: cornell.edu.")] = "",
    since: Annotated[str, typer.Option(metavar="DATE", help="Only pages of this day or later: 1996-12-01.")] = "",
    until: Annotated[str, typer.Option(metavar="DATE", help="Only pages of this day or earlier.")] = "",
    language: Annotated[str, typer.Option(metavar="CODE", help="Only pages in this language: en.")] = "",
    ask: Annotated[int, typer.Option(min=0, help="Children to ask at each router, the most promising; 0: all.")] = 0,
    routing: Annotated[
        str, typer.Option(metavar="filters|terms|all", help="By what children are chosen; terms is the 1996 paper's way.")
    ] = "filters",
    deadline: Deadline = 5.0,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Search a collection or a network.

    Who was asked, who was not and why is part of the answer, and so is what may be missing.
    """
    from pagekin.routers.messages import Answer, Filters, SearchRequest

    if routing not in ("filters", "terms", "all"):
        fail(f"--routing is one of filters, terms, all; not '{routing}'", USAGE)
    filters = Filters(site=site, since=_day(since), until=_day(until, 86_399), language=language)
    request = SearchRequest(
        query=query, limit=limit, filters=filters, ask=ask, routing=routing, deadline=deadline,  # type: ignore[arg-type]  # checked above
    )  # fmt: skip
    answer = asked(target, "search", request, Answer)
    print_answer(answer, as_json)


@app.command()
def select(target: Target, query: Asked, results: From = "", limit: Most = 100, as_json: AsJson = False) -> None:
    """Keep those of the results so far that may match. At first: a router's children."""
    from pagekin.routers.messages import Answer, SelectRequest

    request = SelectRequest(query=query, items=_items(results) if results else None, limit=limit)
    print_answer(asked(target, "select", request, Answer), as_json)


@app.command()
def expand(
    target: Target,
    query: Asked,
    results: From = "",
    limit: Most = 100,
    deadline: Deadline = 5.0,
    as_json: AsJson = False,
) -> None:
    """Go one step down. The matching children of those results so far that match."""
    from pagekin.routers.messages import Answer, SelectRequest

    items = _items(results) if results else None
    request = SelectRequest(query=query, items=items, limit=limit, deadline=deadline)
    print_answer(asked(target, "expand", request, Answer), as_json)


@app.command()
def suggest(
    target: Target,
    query: Annotated[str, typer.Argument(metavar="[QUERY]", help="What was searched for, without --from.")] = "",
    results: From = "",
    limit: Most = 10,
    deadline: Deadline = 5.0,
    as_json: AsJson = False,
) -> None:
    """Suggest documents like those found. From the same sub-clusters, and related pages."""
    from pagekin.routers.messages import Answer, Item, SearchRequest, SuggestRequest

    if bool(query) == bool(results):
        fail("name a query, or the results so far with --from", USAGE)
    if results:
        items = _items(results)
    else:
        found = asked(target, "search", SearchRequest(query=query, deadline=deadline, snippets=False), Answer)
        items = tuple(Item(one.kind, one.url, one.path, one.cluster) for one in found.results)
        if not items:
            fail(f"nothing in {target} matches '{query}', so there is nothing to suggest by")
    print_answer(asked(target, "suggest", SuggestRequest(items=items, limit=limit, deadline=deadline), Answer), as_json)


def asked(target: str, operation: str, request: Any, answer: Any) -> Any:
    """What a collection or a router answers, or an end with the reason."""
    from pagekin.routers.ask import ask
    from pagekin.routers.messages import RouterError
    from pagekin.store import KinError
    from pagekin.text import QueryError

    try:
        return ask(target, operation, request, answer)
    except QueryError as error:
        fail(str(error), USAGE)
    except (RouterError, KinError) as error:
        fail(str(error))


def _day(text: str, more: int = 0) -> int | None:
    """Seconds since 1970 of a day."""
    if not text:
        return None
    try:
        return max(0, int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) + more)
    except ValueError:
        fail(f"'{text}' is no day; write it as 1996-12-31", USAGE)


def _items(file: str) -> Any:
    """The results so far, from a file that holds an answer."""
    import msgspec

    from pagekin.routers.messages import Answer, Item

    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        found = msgspec.json.decode(raw, type=Answer)
    except OSError as error:
        fail(f"{file} cannot be read: {error.strerror}")
    except (msgspec.MsgspecError, UnicodeError) as error:
        fail(f"{file} holds no answer as --json prints it: {error}")
    return tuple(Item(one.kind, one.url, one.path, one.cluster) for one in found.results[:1000])


def print_answer(answer: Any, as_json: bool) -> None:
    """An answer as JSON, or for people: grouped by sub-cluster, with what is missing."""
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(answer))
        return
    many = f"{answer.total:,} found" + (
        f", the first {len(answer.results):,}" if len(answer.results) < answer.total else ""
    )
    say(f"{many}, in {1000 * answer.seconds:,.0f} ms" + _who(answer))
    for group in answer.groups:
        say(f"\n{group.name or '(no sub-cluster)'}")
        for place in group.results:
            _print_found(answer.results[place])
    for reason in answer.partial:
        say(f"\nmay be incomplete: {reason}")


def _who(answer: Any) -> str:
    leaves = sum(one.leaf for one in answer.asked)
    if not answer.asked and not answer.skipped:
        return ""
    return (
        f"; {leaves:,} sites asked through {len(answer.asked) - leaves:,} routers, {len(answer.skipped):,} passed over"
    )


def _print_found(found: Any) -> None:
    more = f" ({found.pages:,} pages)" if found.pages > 1 else ""
    score = f"{found.score:6.2f}" if found.score else " " * 6
    mark = "> " if found.kind == "cluster" else ""
    say(f"{score}  {mark}{title_line(found.title)}{more}\n        {found.url}")
    if found.snippet:
        say(f"        {_marked(found.snippet, found.marks)}")
    for copy in found.copies[:3]:
        say(f"        also at {copy}")


def _marked(text: str, marks: Any) -> str:
    """A snippet whose matches stand in [brackets]."""
    shown, last = "", 0
    for start, end in marks:
        if last <= start <= end <= len(text):
            shown += f"{text[last:start]}[{text[start:end]}]"
            last = end
    return shown + text[last:]
