"""`pagekin related`: which pages are related to these, and why."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, a_number, app, fail, is_address, open_index, print_json, say, title_line


@app.command()
def related(
    collection: Annotated[
        str, typer.Argument(metavar="SITE.kin|URL", help="An indexed collection, or the address of a router.")
    ],
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="[URL]...", help="Pages of the collection; several are asked about together."),
    ] = None,
    html: Annotated[
        str,
        typer.Option(
            metavar="FILE|-",
            help="Ask about a page that need not be in the collection: an HTML file, or - for standard input.",
        ),
    ] = "",
    address: Annotated[
        str, typer.Option("--url", metavar="URL", help="With --html: the page's address, for its relative links.")
    ] = "",
    k: Annotated[int, typer.Option("-k", min=1, max=10_000, help="How many pages to answer with.")] = 10,
    min_similarity: Annotated[
        float | None,
        typer.Option(min=0, max=1, callback=a_number, help="Only pages more similar than this (default: as indexed)."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Compare with every page, not only the likeliest; slower.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Compare signatures alone; gives 95 % error bounds.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why: shared terms and citing pages.")] = False,
    other_sites: Annotated[
        bool, typer.Option("--other-sites", help="Only pages of other sites (registrable domains).")
    ] = False,
    same_site: Annotated[bool, typer.Option("--same-site", help="Only pages of the same site.")] = False,
    captured: Annotated[
        bool, typer.Option("--captured", help="Only pages that were read, not merely linked to.")
    ] = False,
    unfold: Annotated[bool, typer.Option("--unfold", help="Show near-duplicates as results of their own.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the pages related to a page, and why."""
    if bool(urls) == bool(html):
        fail("name the pages to ask about, or give a file by --html (- is standard input)", USAGE)
    if address and not html:
        fail("--url says where the page of --html stands; without --html just name the page", USAGE)
    if exact and estimate:
        fail("--exact compares bags and --estimate signatures; give one of them", USAGE)
    if other_sites and same_site:
        fail("--other-sites and --same-site exclude each other; give one of them", USAGE)
    if is_address(collection):
        if html or explain or exact or estimate or other_sites or same_site or len(urls or []) != 1:
            fail("a router is asked about one page of its network, by its address alone", USAGE)
        _ask_router(collection, (urls or [""])[0], k, as_json)
        return
    index = open_index(collection)
    from pagekin.similarity import RelatedError

    try:
        if html:
            query = index.query_of_html(_read(html), html if html != "-" else "the page", address)
        else:
            query = index.query_of(urls)
        answer = index.answer(
            query, k, min_similarity=min_similarity, exact=exact, estimate=estimate, explain=explain, fold=not unfold,
            sites="other" if other_sites else "same" if same_site else "all", captured_only=captured,
        )  # fmt: skip
    except RelatedError as error:
        fail(str(error))
    if as_json:
        print_json(answer_as_dict(index, query, answer, explain))
    else:
        print_answer(index, query, answer)


def _ask_router(address: str, url: str, k: int, as_json: bool) -> None:
    """Ask a router for pages of its network that are related to one of them."""
    from pagekin.cli.search import asked, print_answer
    from pagekin.routers.messages import Answer, RelatedRequest

    print_answer(asked(address, "related", RelatedRequest(url=url, limit=min(k, 100)), Answer), as_json)


def _read(name: str) -> bytes:
    """Read a file, or standard input for '-': as much as is read of a page of a collection."""
    from pagekin.sources import Limits

    most = Limits().page_bytes
    try:
        if name == "-":
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as error:
        fail(f"--html: {name} cannot be read: {error.strerror}.")


def answer_as_dict(index: Any, query: Any, answer: Any, explain: bool) -> dict[str, Any]:
    """Return an answer for programs."""
    results = []
    for result in answer.results:
        one: dict[str, Any] = {
            "url": result.url,
            "title": result.title,
            "similarity": round(result.similarity, 6),
            "error": round(result.error, 6),
            "captured": result.captured,
            "copies": list(result.copies),
        }
        if explain:
            one["terms"] = [
                {
                    "term": shared.term, "share": round(shared.share, 6), "contribution": round(shared.contribution, 6),
                    "from": list(shared.origins), "query_from": list(shared.query_origins),
                }
                for shared in result.terms
            ]  # fmt: skip
            one["citations"] = [
                {"source": cited.source, "text": cited.text, "left": cited.left, "right": cited.right,
                 "cites_both": cited.cites_both}
                for cited in result.citations
            ]  # fmt: skip
        results.append(one)
    urls = [index.urls[document] for document in query.documents]
    return {
        "query": {
            "urls": urls,
            "titles": [index.title(document) for document in query.documents],
            "html": "" if urls else query.name,
            "copies": answer.copies,
            "strategy": index.strategy.name,
            "method": "estimate" if answer.estimated else "exact" if answer.exact else "re-ranked",
            "alpha": answer.alpha,
        },
        "below_threshold": answer.below_threshold,
        "results": results,
    }


def print_answer(index: Any, query: Any, answer: Any) -> None:
    """Print an answer for people."""
    for document in query.documents:
        say(f"{title_line(index.title(document))}\n{index.urls[document]}")
    if not query.documents:
        say(query.name)
    if answer.copies:
        say(f"near copies: {', '.join(answer.copies[:3])}{_more(len(answer.copies) - 3)}")
    say()
    if not answer.results and not answer.below_threshold:
        say("No page is related to it as asked.")
    for result in answer.results:
        error = f" ±{result.error:.3f}" if result.error else ""
        seen = "" if result.captured else "  (known only by links to it)"
        say(f"{result.similarity:.3f}{error}  {title_line(result.title)}{seen}")
        indent = " " * (7 + len(error))
        say(f"{indent}{result.url}")
        if result.copies:
            say(f"{indent}also: {', '.join(result.copies[:3])}{_more(len(result.copies) - 3)}")
        if result.terms:
            say(f"{indent}shares: {', '.join(_shared(index, term) for term in result.terms[:6])}")
        for cited in result.citations:
            both = " (links to both)" if cited.cites_both else ""
            say(f"{indent}cited by {cited.source}{both}: {cited.left}[{cited.text}]{cited.right}".rstrip())
    if answer.below_threshold:
        pages = f"{answer.below_threshold:,} page{'s' if answer.below_threshold > 1 else ''}"
        kept = "only pages more similar than that are shown" if answer.results else "no page is more similar than that"
        say(f"The threshold α = {answer.alpha:g} leaves out {pages}: {kept}. Without it: --min-similarity 0")


def _shared(index: Any, term: Any) -> str:
    """Return a shared term for people: a word and where it is from, or a page that both link to or are linked from."""
    if term.origins in (("outlinks",), ("links",)):
        kind = "a link to" if term.origins[0] == "outlinks" else "a link from"
        return f"{kind} {title_line(index.display_term(term.term))} {term.share:.0%}"
    return f"{term.term} {term.share:.0%} ({'+'.join(term.origins)})"


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""
