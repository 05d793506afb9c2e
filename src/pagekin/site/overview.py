"""Describe a site as a whole: its page of topics, `llms.txt`, and related pages as data for programs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import msgspec

from pagekin.clusters import read_trees
from pagekin.hypertext import HostTitles
from pagekin.site.pages import RelatedLink, SitePages
from pagekin.wording import plural

_INSIDE_NAME = re.compile(r"([A-Za-z][._]+)(?=[A-Za-z])")
_TOPICS = 100
_PAGES_OF_TOPIC = 10
_UNFOLDING = 2_000
"""Pages of a site up to which its page of topics holds them all."""
_LLMS_TOPICS = 40
_DESCRIPTION = 120
_RELATED_PAGES, _RELATED_FILES = 500, 64
"""Pages of a file of related pages at least, and files at most."""
_SCRIPTED_PAGES, _SCRIPTED_FILES = 40, 512
"""The same where a browser reads one of the files for each page that it shows: some 20 kB."""


class Topic(NamedTuple):
    """A cluster of a site's pages."""

    name: str
    pages: tuple[int, ...]
    """Those with a title: central ones first, then those that most pages link to."""


def site_name(pages: SitePages, fallback: str) -> str:
    """Return the name of a site: what its titles begin or end with, or the title of its first page."""
    corpus = pages.corpus
    for page in pages.order[:1]:
        repeated = HostTitles([corpus]).repeated(corpus.hosts[int(corpus.pages.host[page])])
        for text in (repeated.suffix, repeated.prefix, repeated.whole):
            if name := text.strip(" \t-–—|·»:()"):
                return name
    return pages.title(pages.home_page) if pages.home_page >= 0 else fallback


def site_topics(pages: SitePages, links_to: Mapping[int, int]) -> list[Topic]:
    """Return the topics of a site, the largest first; none without clusters.

    `links_to` is the number of pages that link to each page.
    """
    tree = next((tree for tree in read_trees(pages.corpus.kin) if tree.name == "clusters"), None)
    if tree is None:
        return []
    topics = []
    for node in tree.facts.get("shown", ()):
        members = [page for page in tree.pages_of(node).tolist() if page in pages.file_of]
        central = [page for page in tree.descriptions[node].central if page in pages.file_of]
        members.sort(key=lambda page: (-links_to[page], pages.title(page), pages.file_of[page]))
        shown = [page for page in dict.fromkeys([*central, *members]) if pages.has_title(page)]
        chosen = tuple(shown or central or members)
        if tree.descriptions[node].name and chosen:
            topics.append(Topic(tree.descriptions[node].name, chosen))
    return sorted(topics, key=lambda topic: (-len(topic.pages), topic.name))[:_TOPICS]


def topics_page(pages: SitePages, topics: Sequence[Topic], name: str, search: bool, script: str, style: str) -> bytes:
    """Return the page of topics and search, which lies one folder below the root."""
    sections = "".join(_topic_section(pages, topic) for topic in topics)
    box = "<div data-pagekin-search></div><noscript><p>Search needs JavaScript; the topics below do not.</p></noscript>"
    title = f"{'Search and topics' if search else 'Topics'}: {name}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        '<meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="{style}"></head>'
        f'<body class="pagekin-page"><main><p><a href="../{escape(pages.home)}">{escape(name)}</a></p>'
        f"<h1>{escape(title.partition(':')[0])}</h1>{box if search else ''}"
        f'<div class="pagekin-topics">{sections}</div></main>'
        f'{f"""<script src="{script}" defer></script>""" if search else ""}</body></html>\n'
    ).encode("utf-8", "replace")


def _breakable(text: str) -> str:
    """Return a text for HTML, in which names as in programs may break after a dot or _, and nowhere else."""
    return _INSIDE_NAME.sub(r"\1<wbr>", escape(text))


def _topic_section(pages: SitePages, topic: Topic) -> str:
    """Return a topic with its first pages; the others unfold, unless the site has too many pages for that."""
    counts = Counter(pages.title(page) for page in topic.pages)

    def items(some: Iterable[int]) -> str:
        return "".join(
            f'<li><a href="{escape("../" + pages.address(pages.file_of[page]))}">{_breakable(pages.title(page))}</a>'
            + (
                f'<small class="pagekin-path">{escape(pages.file_of[page])}</small>'
                if counts[pages.title(page)] > 1
                else ""
            )
            + "</li>"
            for page in some
        )

    first, rest = topic.pages[:_PAGES_OF_TOPIC], topic.pages[_PAGES_OF_TOPIC:]
    size = plural(len(topic.pages), "page")
    more = ""
    if len(pages.order) > _UNFOLDING:
        size = f"{len(first)} of {size}" if rest else size
    elif rest:
        more = f"<details><summary>{len(rest):,} more</summary><ul>{items(rest)}</ul></details>"
    return f"<section><h2>{_breakable(topic.name)} <small>{size}</small></h2><ul>{items(first)}</ul>{more}</section>"


def llms_text(pages: SitePages, topics: Sequence[Topic], name: str) -> bytes:
    """Return `llms.txt`: the site's topics with their first pages, in the format of llmstxt.org."""
    base = pages.survey.base_url if pages.survey.address_from else ""
    order = f"up to {_PAGES_OF_TOPIC} pages of each topic: central ones first, then those that most pages link to."
    lines = [f"# {_line(name)}", "", f"> {plural(len(pages.order), 'page')}. This file lists {order}"]
    for topic in topics[:_LLMS_TOPICS]:
        lines += ["", f"## {_line(topic.name)}", ""]
        for page in topic.pages[:_PAGES_OF_TOPIC]:
            title = _line(pages.title(page)).replace("[", "(").replace("]", ")")
            address = base + pages.address(pages.file_of[page]).removeprefix("./").replace("(", "%28").replace(
                ")", "%29"
            )
            lines.append(f"- [{title}]({address}): {_line(pages.snippet(page, _DESCRIPTION))}")
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _line(text: str) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def related_files(pages: SitePages, lists: Mapping[int, Sequence[RelatedLink]]) -> dict[str, bytes]:
    """Return related pages as JSON in few files, sorted by path."""
    divided = _divide_lists(pages, lists, _RELATED_PAGES, _RELATED_FILES)
    return {name: msgspec.json.encode(content) for name, content in divided}


def _divide_lists(
    pages: SitePages, lists: Mapping[int, Sequence[RelatedLink]], least: int, most: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (the name of a file, its content)."""
    rows = sorted((pages.file_of[page], page) for page in pages.order)
    size = max(least, -(-len(rows) // most))
    for place in range(0, len(rows), size):
        some = rows[place : place + size]
        listed = {path: {"title": pages.title(page), "related": lists[page]} for path, page in some}
        yield f"related-{place // size:03}.json", {"format": 1, "pages": listed}


def scripted_files(pages: SitePages, lists: Mapping[int, Sequence[RelatedLink]], heading: str) -> dict[str, bytes]:
    """Return related pages as JSON for `related.js`: small files, and an index of which page is in which file."""
    files = dict(_divide_lists(pages, lists, _SCRIPTED_PAGES, _SCRIPTED_FILES))
    firsts = {name: min(content["pages"]) for name, content in files.items()}
    index = {"format": 1, "heading": heading, "files": firsts}
    return {name: msgspec.json.encode(content) for name, content in (*files.items(), ("related.json", index))}
