"""The HTML of the demo web: one template per kind of page, and six looks, from the tag soup of 1996 to HTML5."""

import html
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html.entities import codepoint2name
from typing import Any
from urllib.parse import urlsplit

import jinja2

from pagekin.sources.demo.facts import Look
from pagekin.sources.demo.links import Link
from pagekin.sources.items import Page

_CHARSETS = {"soup": "iso-8859-1", "windows": "windows-1252"}
_LEFT_OUT = re.compile(r"</(?:p|li|dt|dd|t[dhr])>|</?thead>")
_FIRST_HEADING = re.compile(r"<h1>(.*?)</h1>")
_NAMED_HEADING = re.compile(r'<h2 id="(.)">(.*?)</h2>')
_TAG_NAME = re.compile(r"(?<=<)/?[a-z]+\d?")


@dataclass(frozen=True)
class Markup:
    """The inline markup of the page at `url`."""

    url: str
    look: Look

    def text(self, words: str) -> str:
        """Escape words for running text."""
        if self.look == "windows":  # with typographic quotes
            words = re.sub(r"(?<=\w)'", "\u2019", words)
            words = re.sub(r'"([^"]*)"', "\u201c\\1\u201d", words)
        return html.escape(words, quote=False)

    def quote(self, words: str) -> str:
        """Return words as a quoted attribute value."""
        escaped = self.text(words).replace('"', "&quot;") if self.look == "soup" else html.escape(words)
        return f'"{escaped}"'

    def href(self, url: str) -> str:
        """Return an address as a page of this look writes it: in full, from the root, or relative."""
        address, path = urlsplit(url), urlsplit(self.url).path
        root = f"http://{urlsplit(self.url).netloc}/"
        if self.look == "xhtml" or not url.startswith(root):
            return url
        if self.look == "based":
            return url.removeprefix(root) or "./"
        if self.look != "soup":
            return "/" + url.removeprefix(root)
        if address.fragment:
            return f"#{address.fragment}"
        relative = posixpath.relpath(address.path, posixpath.dirname(path))
        return relative + "/" if url.endswith("/") else relative

    def link(self, url: str, words: str) -> str:
        """Return a link; in a frame, one to another host leaves the frameset."""
        address, inner = self.quote(self.href(url)), self.text(words)
        if self.look == "soup":
            return f"<A HREF={address}>{inner}</A>"
        leave = ' target="_top"' if self.look == "framed" and address.startswith('"http') else ""
        return f"<a href={address}{leave}>{inner}</a>"

    def inline(self, pieces: Iterable[str | Link]) -> str:
        """Return running text with links."""
        return "".join(
            self.text(piece) if isinstance(piece, str) else self.link(piece.target.url, piece.words) for piece in pieces
        )


def make_soup(markup: str) -> str:
    """Rewrite plain HTML in the style of 1996: tags in capitals, optional end tags left out."""
    markup = _LEFT_OUT.sub("", markup)
    markup = _FIRST_HEADING.sub(r"<CENTER><H1><FONT COLOR=#663300>\1</FONT></H1></CENTER>\n<HR>", markup)
    markup = _NAMED_HEADING.sub(r'<H2><A NAME="\1">\2</A></H2>', markup)
    return _TAG_NAME.sub(lambda name: name[0].upper(), markup)


def _entity(char: re.Match[str]) -> str:
    """Return a Latin-1 letter as a named entity, any other character as a number."""
    code = ord(char[0])
    return f"&{codepoint2name[code]};" if 160 <= code < 256 else f"&#{code};"


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pagekin.sources.demo"),
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["soup"] = make_soup
    return environment


def render(template: str, url: str, look: Look = "modern", **values: Any) -> Page:
    """Render the page at `url` from a template."""
    markup = Markup(url, look)
    page = _templates().get_template(f"{template}.html").render(
        {"lang": "en", "mailbox": "editor", "crumbs": [], "nav": [], "keywords": [], **values},
        look=look,
        url=url,
        host=urlsplit(url).netloc,
        text=markup.text,
        quote=markup.quote,
        href=markup.href,
        link=markup.link,
        inline=markup.inline,
    )  # fmt: skip
    if look == "soup":
        page = re.sub(r"[^\x00-\x7f]", _entity, page)
    return Page(url, page.encode(_CHARSETS.get(look, "utf-8"), "xmlcharrefreplace"))
