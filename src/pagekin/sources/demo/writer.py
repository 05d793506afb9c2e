"""The modern page style (HTML5), which is the base class of the older styles in `oldstyles`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from pagekin.sources.demo.links import Inline

CSS = """body{font-family:Georgia,serif;max-width:46em;margin:1em auto;padding:0 1em;line-height:1.5}
nav ol,nav ul{list-style:none;padding:0}nav li{display:inline;margin-right:.7em}
th{text-align:left;padding-right:1em}footer{border-top:1px solid #ccc;margin-top:2em;font-size:.9em}"""


@dataclass(frozen=True)
class Head:
    """The metadata and navigation of a page."""

    url: str
    title: str
    owner: str
    crumbs: Sequence[tuple[str, str]] = ()
    nav: Sequence[tuple[str, str]] = ()
    keywords: Sequence[str] = ()
    lang: str = "en"
    mailbox: str = "editor"


class Writer:
    """A writer of one page: call the block methods in order, then `finish` for the bytes."""

    charset = "utf-8"
    see_also = True

    def __init__(self, head: Head) -> None:
        """Begin a page."""
        self.head = head
        self.host = urlsplit(head.url).netloc
        self.blocks: list[str] = []

    # inline markup

    def text(self, words: str) -> str:
        """Escape words for running text."""
        return html.escape(words, quote=False)

    def quote(self, words: str) -> str:
        """Return words as a quoted attribute value."""
        return f'"{html.escape(words)}"'

    def href(self, url: str) -> str:
        """Return an address as this style writes it: from the root on the same host, in full elsewhere."""
        root = f"http://{self.host}/"
        return "/" + url.removeprefix(root) if url.startswith(root) else url

    def link(self, url: str, words: str) -> str:
        """Return a link."""
        return f"<a href={self.quote(self.href(url))}>{self.text(words)}</a>"

    def here_link(self, anchor: str, words: str) -> str:
        """Return a link to a named place on this page."""
        return f"<a href={self.quote(self.href(self.head.url) + '#' + anchor)}>{self.text(words)}</a>"

    def inline(self, pieces: Inline) -> str:
        """Return running text with links."""
        return "".join(
            self.text(piece) if isinstance(piece, str) else self.link(piece.target.url, piece.words) for piece in pieces
        )

    # blocks; `inner` and rows are markup from the inline methods

    def add(self, block: str) -> None:
        """Append a block of markup as it is."""
        self.blocks.append(block)

    def heading(self, level: int, words: str, anchor: str = "") -> None:
        """Add a heading."""
        mark = f" id={self.quote(anchor)}" if anchor else ""
        self.add(f"<h{level}{mark}>{self.text(words)}</h{level}>")

    def para(self, inner: str) -> None:
        """Add a paragraph."""
        self.add(f"<p>{inner}</p>")

    def items(self, inner: Iterable[str]) -> None:
        """Add a list."""
        self.add("<ul>\n" + "\n".join(f"<li>{item}</li>" for item in inner) + "\n</ul>")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table with a header row."""
        lines = [
            "<table>",
            "<thead><tr>" + "".join(f"<th>{self.text(h)}</th>" for h in header) + "</tr></thead>",
        ]
        lines += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
        self.add("\n".join([*lines, "</table>"]))

    def facts(self, layout: str, facts: Mapping[str, str]) -> None:
        """Add a page's facts in the site's layout."""
        pairs = [(self.text(name), self.text(value)) for name, value in facts.items()]
        if layout == "table":
            rows = "\n".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' for name, value in pairs)
            self.add(f'<table class="facts" id="facts">\n{rows}\n</table>')
        elif layout == "list":
            rows = "\n".join(f"<li><strong>{name}:</strong> {value}</li>" for name, value in pairs)
            self.add(f'<ul class="facts" id="facts">\n{rows}\n</ul>')
        else:
            rows = "\n".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs)
            self.add(f'<dl class="facts" id="facts">\n{rows}\n</dl>')

    def image(self, path: str, alt: str) -> None:
        """Add a picture."""
        self.add(f'<figure><img src={self.quote(path)} alt={self.quote(alt)} width="320" height="240"></figure>')

    # the whole page

    def finish(self) -> bytes:
        """Return the page's bytes."""
        return self.document().encode(self.charset, "xmlcharrefreplace")

    def document(self) -> str:
        """Return the whole document around the blocks."""
        head = self.head
        body = "\n".join(self.blocks)
        return (
            f'<!DOCTYPE html>\n<html lang="{head.lang}">\n<head>\n<meta charset="utf-8">\n'
            f"<title>{self.text(head.title)}</title>\n{self.keywords('>')}"
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>\n{CSS}\n</style>\n"
            f"</head>\n<body>\n{self.navigation()}<main>\n{body}\n</main>\n{self.footer()}</body>\n</html>\n"
        )

    def keywords(self, end: str) -> str:
        """Return the keywords line of the head, or an empty string."""
        if not self.head.keywords:
            return ""
        return f'<meta name="keywords" content={self.quote(", ".join(self.head.keywords))}{end}\n'

    def navigation(self) -> str:
        """Return the navigation bar and the breadcrumb."""
        out = ""
        if self.head.nav:
            links = "".join(f"<li>{self.link(url, words)}</li>" for url, words in self.head.nav)
            out += f'<header><nav class="site" aria-label="Site"><ul>{links}</ul></nav></header>\n'
        if self.head.crumbs:
            crumbs = "".join(f"<li>{self.link(url, words)} &rsaquo;</li>" for url, words in self.head.crumbs)
            out += f'<nav class="breadcrumb" aria-label="Breadcrumb"><ol>{crumbs}</ol></nav>\n'
        return out

    def footer(self) -> str:
        """Return the footer, which names the owner of the page."""
        return f"<footer><address>{self.text(self.head.owner)}, {self.mail()}</address></footer>\n"

    def mail(self) -> str:
        """Return a mail link to the owner of the page."""
        address = f"{self.head.mailbox}@{self.host}"
        return f'<a href="mailto:{address}">{address}</a>'


class PlainWriter(Writer):
    """A print version: only the text and its source, without navigation and pictures."""

    see_also = False

    def navigation(self) -> str:
        """Return nothing: a print version has no navigation."""
        return ""

    def image(self, path: str, alt: str) -> None:
        """Add nothing: a print version has no pictures."""
