"""`pagekin search`, `select`, `expand` and `suggest`: asking a collection, or a network of them."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, print_json, say, title_line

Target = Annotated[
    str,
    typer.Argument(metavar="SITE.kin|URL|NET", help="A collection, the address of a router, or a network's folder."),
]
Asked = Annotated[str, typer.Argument(metavar="QUERY", help='Words, title:word, "a phrase", OR, NOT; all must match.')]
Most = Annotated[int, typer.Option("-k", "--limit", min=1, max=10_000, help="Results at most.")]
Deadline = Annotated[float, typer.Option(min=0.05, max=120, help="Seconds to wait; what is missing then is told.")]
Site = Annotated[
    str, typer.Option(metavar="HOST", help="Only pages of this host, or of hosts that end so: cornell.edu.")
]
Since = Annotated[str, typer.Option(metavar="DATE", help="Only pages of this day or later: 1996-12-01.")]
Until = Annotated[str, typer.Option(metavar="DATE", help="Only pages of this day or earlier.")]
Language = Annotated[str, typer.Option(metavar="CODE", help="Only pages in this language: en.")]
_REASONS_SHOWN = 3
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
    site: Site = "",
    since: Since = "",
    until: Until = "",
    language: Language = "",
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
    from pagekin.routers.messages import Answer, SearchRequest

    if routing not in ("filters", "terms", "all"):
        fail(f"--routing is one of filters, terms, all; not '{routing}'", USAGE)
    filters = filters_of(site, since, until, language)
    request = SearchRequest(
        query=query, limit=limit, filters=filters, ask=ask, routing=routing, deadline=deadline,  # type: ignore[arg-type]  # checked above
    )  # fmt: skip
    answer = asked(target, "search", request, Answer)
    print_answer(answer, as_json)


@app.command()
def select(
    target: Target,
    query: Asked,
    results: From = "",
    limit: Most = 100,
    site: Site = "",
    since: Since = "",
    until: Until = "",
    language: Language = "",
    as_json: AsJson = False,
) -> None:
    """Keep those of the results so far that may match. At first: a router's children, which filters leave in."""
    from pagekin.routers.messages import Answer, SelectRequest

    filters = filters_of(site, since, until, language)
    request = SelectRequest(query=query, items=_items(results) if results else None, limit=limit, filters=filters)
    print_answer(asked(target, "select", request, Answer), as_json)


@app.command()
def expand(
    target: Target,
    query: Asked,
    results: From = "",
    limit: Most = 100,
    site: Site = "",
    since: Since = "",
    until: Until = "",
    language: Language = "",
    deadline: Deadline = 5.0,
    as_json: AsJson = False,
) -> None:
    """Go one step down. The matching children of those results so far that match."""
    from pagekin.routers.messages import Answer, SelectRequest

    items = _items(results) if results else None
    filters = filters_of(site, since, until, language)
    request = SelectRequest(query=query, items=items, limit=limit, filters=filters, deadline=deadline)
    print_answer(asked(target, "expand", request, Answer), as_json)


@app.command()
def suggest(
    target: Target,
    query: Annotated[str, typer.Argument(metavar="[QUERY]", help="What was searched for, without --from.")] = "",
    results: From = "",
    limit: Most = 10,
    site: Site = "",
    since: Since = "",
    until: Until = "",
    language: Language = "",
    deadline: Deadline = 5.0,
    as_json: AsJson = False,
) -> None:
    """Suggest documents like those found. From the same sub-clusters, and related pages; filters are for these alone."""
    from pagekin.routers.messages import Answer, Item, SearchRequest, SuggestRequest

    if bool(query) == bool(results):
        fail("name a query, or the results so far with --from", USAGE)
    filters = filters_of(site, since, until, language)
    if results:
        items = _items(results)
    else:
        found = asked(target, "search", SearchRequest(query=query, deadline=deadline, snippets=False), Answer)
        items = tuple(Item(one.kind, one.url, one.path, one.cluster) for one in found.results)
        if not items:
            fail(f"nothing in {target} matches '{query}', so there is nothing to suggest by")
    request = SuggestRequest(items=items, limit=limit, filters=filters, deadline=deadline)
    print_answer(asked(target, "suggest", request, Answer), as_json)


def filters_of(site: str, since: str, until: str, language: str) -> Any:
    """The filters that options name, or an end with what is wrong with them."""
    from pagekin.routers.messages import Filters

    return Filters(site, _day(since), _day(until, 86_399), language)


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
    _print_missing(answer.partial)


def _print_missing(reasons: Any) -> None:
    """What may be missing: some of many reasons, one of each kind first."""
    if not reasons:
        return
    kinds: dict[str, str] = {}
    for reason in reasons:
        kinds.setdefault(reason.partition(": ")[2], reason)
    shown = list(dict.fromkeys([*kinds.values(), *reasons]))[:_REASONS_SHOWN]
    many = f" for {len(reasons):,} reasons, such as" if len(reasons) > len(shown) else ""
    say(f"\nmay be incomplete{many}:")
    for reason in shown:
        say(f"  {reason}")
    if many:
        say("  all of them: --json")


def _who(answer: Any) -> str:
    if not answer.asked and not answer.skipped:
        return ""
    leaves = len({one.mark or one.path for one in answer.asked if one.leaf})
    failed = sum(one.failed for one in answer.asked)
    routers = sum(not one.leaf and not one.failed for one in answer.asked)
    said = f"; {leaves:,} sites asked through {routers:,} routers, {len(answer.skipped):,} passed over"
    return said + (f", {failed:,} gave no answer" if failed else "")


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
