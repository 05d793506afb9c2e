"""Print the answers to several kinds of questions."""

from collections.abc import Sequence

import msgspec

from pagekin import collection
from pagekin.cli.app import print_json, say, title_line

_REASONS_SHOWN = 3


def print_answer(answer: "collection.Answer", as_json: bool, page: int = 1, limit: int = 0) -> None:
    """Print an answer as JSON, or for people: hits by sub-cluster, and what may be missing.

    It is the given page of `limit` hits each; without a limit there are no pages.
    """
    if as_json:
        print_json(msgspec.to_builtins(answer))
        return
    say(f"{_counts(answer, (page - 1) * limit)}, in {1000 * answer.seconds:,.0f} ms{_describe_asked(answer)}")
    for group in answer.groups:
        say(f"\n{group.name or '(no sub-cluster)'}")
        for place in group.results:
            _print_hit(answer.results[place])
    if answer.note:
        say(f"\n{answer.note}")
    if limit and answer.more:
        say(f"\nFurther results: --page {page + 1}")
    print_missing(answer.partial)


def _counts(answer: "collection.Answer", first: int) -> str:
    """Return a line that says how many documents match, and which of them are shown."""
    total = f"{answer.total:,} found"
    many = len(answer.results)
    if first:
        return f"{total}, {first + 1:,} to {first + many:,}" if many else f"{total}, none from {first + 1:,} on"
    return f"{total}, the first {many:,}" if many < answer.total else total


def _describe_asked(answer: "collection.Answer") -> str:
    """Return how many services were asked."""
    if not answer.asked and not answer.skipped:
        return ""
    leaves = len({node.mark or node.path for node in answer.asked if node.leaf})
    failed = sum(node.failed for node in answer.asked)
    routers = sum(not node.leaf and not node.failed for node in answer.asked)
    text = f"; {leaves:,} sites asked through {routers:,} routers, {len(answer.skipped):,} skipped"
    return text + (f", {failed:,} gave no answer" if failed else "")


def _print_hit(hit: "collection.Hit") -> None:
    pages = [f"{hit.pages:,} pages"] if hit.pages > 1 else []
    matches = [f"{hit.matches:,} match"] if hit.matches else []
    size = f" ({', '.join([*pages, *matches])})" if pages or matches else ""
    score = f"{hit.score:6.2f}" if hit.score else " " * 6
    mark = "> " if hit.kind == "cluster" else ""
    say(f"{score}  {mark}{title_line(hit.title)}{size}\n        {hit.url}")
    if hit.snippet:
        say(f"        {_mark_matches(hit.snippet, hit.marks)}")
    for copy in hit.copies[:3]:
        say(f"        also at {copy}")


def _mark_matches(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """Return a snippet with its matches in [brackets]."""
    marked, last = "", 0
    for start, end in marks:
        if last <= start <= end <= len(text):
            marked += f"{text[last:start]}[{text[start:end]}]"
            last = end
    return marked + text[last:]


def print_missing(reasons: Sequence[str]) -> None:
    """Print why results may be missing: if there are many reasons, one of each kind first."""
    if not reasons:
        return
    kinds: dict[str, str] = {}
    for reason in reasons:
        kinds.setdefault(reason.partition(": ")[2], reason)
    some = list(dict.fromkeys([*kinds.values(), *reasons]))[:_REASONS_SHOWN]
    many = f" for {len(reasons):,} reasons, such as" if len(reasons) > len(some) else ""
    say(f"\nmay be incomplete{many}:")
    for reason in some:
        say(f"  {reason}")
    if many:
        say("  all of them: --json")
