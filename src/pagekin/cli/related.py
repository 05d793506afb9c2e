"""`pagekin related`: which pages are related to these, and why."""

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

import pagekin
from pagekin import collection, similarity, sources
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_choice, fail, print_json, say, title_line, use_file
from pagekin.cli.questions import print_missing

_STANDARD_INPUT = "the page"
"""What a page that came by standard input is called."""


@app.command()
def related(
    target: options.Target,
    urls: Annotated[
        list[str] | None,
        typer.Argument(metavar="[URL]...", help="Pages; for several, the pages related to all of them."),
    ] = None,
    html: Annotated[
        str,
        typer.Option(
            metavar="FILE|-",
            help="Ask a collection about any page, given as an HTML file; - is standard input.",
        ),
    ] = "",
    address: Annotated[
        str, typer.Option("--url", metavar="URL", help="With --html: the page's address, for its relative links.")
    ] = "",
    k: options.Most = 10,
    min_similarity: options.MinSimilarity = None,
    wish: options.Wish = "",
    exact: Annotated[
        bool, typer.Option("--exact", help="Compare with every page, not only the best candidates; slower.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Compare only signatures; gives 95 % error bounds.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why: signals, shared terms and citing pages.")
    ] = False,
    other_sites: options.OtherSites = False,
    same_site: Annotated[bool, typer.Option("--same-site", help="Only pages of the same site.")] = False,
    captured: options.Captured = False,
    site: options.Site = "",
    since: options.Since = "",
    until: options.Until = "",
    language: options.Language = "",
    unfold: Annotated[bool, typer.Option("--unfold", help="Show near-duplicates as separate results.")] = False,
    ask: Annotated[
        int, typer.Option(min=1, max=1_000, help="Ask this many children at each router, the most promising.")
    ] = 4,
    deadline: options.Deadline = 5.0,
    as_json: options.AsJson = False,
) -> None:
    """Show the pages related to a page, and why."""
    if bool(urls) == bool(html):
        fail("name the pages to ask about, or give a file with --html (- is standard input)", USAGE)
    if address and not html:
        fail("--url gives the address of the page of --html; without --html just name the page", USAGE)
    if exact and estimate:
        fail("--exact compares bags and --estimate signatures; give one of them", USAGE)
    if wish:
        check_choice("--for", wish, options.WISHES)
    if other_sites and same_site:
        fail("--other-sites and --same-site exclude each other; give one of them", USAGE)
    method = "exact" if exact else "estimate" if estimate else "reranked"
    page = _read_page(html) if html else None
    with pagekin.open(target) as index:
        try:
            answer = index.related(
                urls or address, k, html=page, min_similarity=min_similarity, wish=wish,  # type: ignore[arg-type]  # checked above
                other_sites=other_sites, same_site=same_site, captured=captured, exact=exact, estimate=estimate,
                unfold=unfold, explain=explain, ask=ask, deadline=deadline, site=site, since=since, until=until,
                language=language,
            )  # fmt: skip
        except collection.ServiceError as error:
            fail(f"{html}: {error}" if html not in ("", "-") else str(error))
    name = _STANDARD_INPUT if html == "-" else html
    if as_json:
        print_json(answer_as_dict(answer, name, method, explain))
    else:
        print_related(answer, name)


def _read_page(name: str) -> bytes:
    """Return the bytes of a file, or of standard input for '-': no more than are read of a page of a collection."""
    most = sources.Limits().page_bytes
    if name == "-":
        return sys.stdin.buffer.read(most)
    with use_file(name, "read"), Path(name).open("rb") as file:
        return file.read(most)


def answer_as_dict(answer: "collection.Answer", html: str, method: str, explain: bool) -> dict[str, Any]:
    """Return an answer for programs; `html` names a page that is in no collection."""
    return {
        "query": {
            "urls": [subject.url for subject in answer.subjects],
            "titles": [subject.title for subject in answer.subjects],
            "html": html, "copies": list(answer.copies), "strategy": answer.strategy,
            "method": "re-ranked" if method == "reranked" else method, "alpha": answer.alpha,
        },
        "below_threshold": answer.below_threshold,
        "results": [_hit_as_dict(hit, explain) for hit in answer],
        "partial": list(answer.partial),
    }  # fmt: skip


def _hit_as_dict(hit: "collection.Hit", explain: bool) -> dict[str, Any]:
    about: dict[str, Any] = {
        "url": hit.url, "title": hit.title, "similarity": round(hit.similarity, 6), "error": round(hit.error, 6),
        "captured": hit.captured, "copies": list(hit.copies),
    }  # fmt: skip
    if explain:
        about["terms"] = [
            {
                "term": shared.term, "share": round(shared.share, 6), "contribution": round(shared.contribution, 6),
                "from": list(shared.origins), "query_from": list(shared.query_origins),
            }
            for shared in hit.terms
        ]  # fmt: skip
        about["citations"] = msgspec.to_builtins(hit.citations)
        about["signals"] = msgspec.to_builtins(hit.signals)
    return about


def print_related(answer: "collection.Answer", html: str = "") -> None:
    """Print an answer for people; `html` names a page that is in no collection."""
    for subject in answer.subjects:
        say(f"{title_line(subject.title)}\n{subject.url}")
    if html:
        say(html)
    if answer.copies:
        say(f"near copies: {', '.join(answer.copies[:3])}{_more(len(answer.copies) - 3)}")
    if answer.subjects or html:
        say()
    if not answer.results and not answer.note:
        say("No related page matches these options.")
    for hit in answer:
        _print_hit(hit)
    if answer.note:
        say(answer.note + (" Without it: --min-similarity 0" if answer.below_threshold else ""))
    print_missing(answer.partial)


def _print_hit(hit: "collection.Hit") -> None:
    error = f" ±{hit.error:.3f}" if hit.error else ""
    uncaptured = "" if hit.captured else "  (known only by links to it)"
    say(f"{hit.similarity:.3f}{error}  {title_line(hit.title)}{uncaptured}")
    indent = " " * (7 + len(error))
    say(f"{indent}{hit.url}")
    if hit.copies:
        say(f"{indent}also: {', '.join(hit.copies[:3])}{_more(len(hit.copies) - 3)}")
    if hit.signals:
        say(f"{indent}because: {', '.join(signal.describe(hit.similarity) for signal in hit.signals[:4])}")
    if hit.terms:
        say(f"{indent}shares: {', '.join(_describe_term(term) for term in hit.terms[:6])}")
    for cited in hit.citations:
        both = " (links to both)" if cited.cites_both else ""
        say(f"{indent}cited by {cited.source}{both}: {cited.left}[{cited.text}]{cited.right}".rstrip())


def _describe_term(term: "similarity.SharedTerm") -> str:
    """Return a shared term for people: a word and where it is from, or a page that both link to or are linked from."""
    if term.origins in (("outlinks",), ("links",)):
        kind = "a link to" if term.origins[0] == "outlinks" else "a link from"
        return f"{kind} {title_line(term.title or term.term)} {term.share:.0%}"
    return f"{term.term} {term.share:.0%} ({'+'.join(term.origins)})"


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""
