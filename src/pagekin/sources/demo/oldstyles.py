"""Older page styles: tag soup, XHTML, pages with a base element, framesets, windows-1252."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from html.entities import codepoint2name
from urllib.parse import urlsplit

from pagekin.sources.demo.writer import Head, Writer


class SoupWriter(Writer):
    """HTML 3.2 as many wrote it in 1996: capitals, no end tags, fonts and rules, entities for accents."""

    charset = "iso-8859-1"

    def text(self, words: str) -> str:
        """Escape words, with named entities for the letters of Latin 1 and numbers for others."""
        escaped = html.escape(words, quote=False)
        return "".join(self._letter(char) for char in escaped)

    @staticmethod
    def _letter(char: str) -> str:
        """Return a character as an entity unless it is ASCII."""
        code = ord(char)
        if code < 128:
            return char
        return f"&{codepoint2name[code]};" if 160 <= code < 256 else f"&#{code};"

    def quote(self, words: str) -> str:
        """Return an attribute value with the same entities."""
        return '"' + self.text(words).replace('"', "&quot;") + '"'

    def href(self, url: str) -> str:
        """Return an address relative to this page."""
        root = f"http://{self.host}/"
        if not url.startswith(root):
            return url
        here = posixpath.dirname(urlsplit(self.head.url).path)
        path = posixpath.relpath(urlsplit(url).path, here)
        return path + "/" if url.endswith("/") else path

    def link(self, url: str, words: str) -> str:
        """Return a link in capitals."""
        return f"<A HREF={self.quote(self.href(url))}>{self.text(words)}</A>"

    def here_link(self, anchor: str, words: str) -> str:
        """Return a link within the page."""
        return f'<A HREF="#{anchor}">{self.text(words)}</A>'

    def heading(self, level: int, words: str, anchor: str = "") -> None:
        """Add a heading; the first level is large and centred."""
        inner = f'<A NAME="{anchor}">{self.text(words)}</A>' if anchor else self.text(words)
        if level == 1:
            self.add(f"<CENTER><H1><FONT COLOR=#663300>{inner}</FONT></H1></CENTER>\n<HR>")
        else:
            self.add(f"<H{level}>{inner}</H{level}>")

    def para(self, inner: str) -> None:
        """Add a paragraph without an end tag."""
        self.add(f"<P>{inner}")

    def items(self, inner: Iterable[str]) -> None:
        """Add a list without end tags of its items."""
        self.add("<UL>\n" + "\n".join(f"<LI>{item}" for item in inner) + "\n</UL>")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table with a border and without end tags of its cells."""
        lines = ["<TABLE BORDER=1 CELLPADDING=4>", "<TR>" + "".join(f"<TH>{self.text(h)}" for h in header)]
        lines += ["<TR>" + "".join(f"<TD>{cell}" for cell in row) for row in rows]
        self.add("\n".join([*lines, "</TABLE>"]))

    def facts(self, layout: str, facts: Mapping[str, str]) -> None:
        """Add the facts as a table or a definition list, without end tags of cells and terms."""
        pairs = [(self.text(name), self.text(value)) for name, value in facts.items()]
        if layout == "table":
            rows = "\n".join(f"<TR><TD><B>{name}</B><TD>{value}" for name, value in pairs)
            self.add(f"<TABLE BORDER=1>\n{rows}\n</TABLE>")
        else:
            self.add("<DL>\n" + "\n".join(f"<DT><B>{name}</B><DD>{value}" for name, value in pairs) + "\n</DL>")

    def image(self, path: str, alt: str) -> None:
        """Add a picture at the right-hand side."""
        self.add(f'<IMG SRC="{path}" ALT={self.quote(alt)} ALIGN=RIGHT WIDTH=160>')

    def document(self) -> str:
        """Return the document; of the outer elements only BODY has an end tag."""
        head = self.head
        words = self.quote(", ".join(head.keywords))
        keywords = f'<META NAME="keywords" CONTENT={words}>\n' if head.keywords else ""
        crumbs = " &gt; ".join(self.link(url, words) for url, words in head.crumbs)
        nav = " | ".join(self.link(url, words) for url, words in head.nav)
        bar = f"<FONT SIZE=2>[ {nav} ]<BR>\n{crumbs}</FONT>\n<HR>\n" if nav or crumbs else ""
        return (
            '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">\n<HTML>\n<HEAD>\n'
            '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=iso-8859-1">\n'
            f"<TITLE>{self.text(head.title)}</TITLE>\n{keywords}<BODY BGCOLOR=#FFFFEE TEXT=#000000>\n"
            f"{bar}" + "\n".join(self.blocks) + "\n<HR>\n"
            f"<ADDRESS>{self.text(head.owner)} - "
            f'<A HREF="mailto:{head.mailbox}@{self.host}">send mail</A></ADDRESS>\n'
            "<CENTER><FONT SIZE=1>Best viewed with any browser</FONT></CENTER>\n</BODY>\n"
        )


class XhtmlWriter(Writer):
    """XHTML 1.0: end tags everywhere, every address in full."""

    def href(self, url: str) -> str:
        """Return the address in full."""
        return url

    def image(self, path: str, alt: str) -> None:
        """Add a picture."""
        self.add(f'<div class="picture"><img src="{path}" alt={self.quote(alt)} width="320" /></div>')

    def navigation(self) -> str:
        """Return the navigation in `div` elements, as before HTML5."""
        nav = " | ".join(self.link(url, words) for url, words in self.head.nav)
        crumbs = " / ".join(self.link(url, words) for url, words in self.head.crumbs)
        out = f'<div id="nav">{nav}</div>\n' if nav else ""
        return out + (f'<p class="breadcrumb">You are here: {crumbs}</p>\n' if crumbs else "")

    def footer(self) -> str:
        """Return a rule and the address."""
        return f"<hr />\n<address>{self.text(self.head.owner)}<br />{self.mail()}</address>\n"

    def document(self) -> str:
        """Return a well-formed document."""
        head = self.head
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n'
            '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
            '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n'
            f'<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="{head.lang}" lang="{head.lang}">\n<head>\n'
            '<meta http-equiv="Content-Type" content="text/html; charset=utf-8" />\n'
            f"<title>{self.text(head.title)}</title>\n{self.keywords(' />')}</head>\n<body>\n"
            f'{self.navigation()}<div id="content">\n' + "\n".join(self.blocks) + f"\n</div>\n{self.footer()}"
            "</body>\n</html>\n"
        )


class BaseElementWriter(Writer):
    """Pages with the site's root as base element, and links relative to it."""

    def href(self, url: str) -> str:
        """Return the address without the root."""
        root = f"http://{self.host}/"
        return url.removeprefix(root) or "./"

    def document(self) -> str:
        """Return the modern document with a base element in its head."""
        base = f'<head>\n<base href="http://{self.host}/">\n'
        return super().document().replace("<head>\n", base, 1)


class FramesetWriter(Writer):
    """HTML 4 pages inside a frameset; `frameset` returns the page that holds the frames."""

    def link(self, url: str, words: str) -> str:
        """Return a link; one to another host leaves the frameset."""
        leave = "" if url.startswith(f"http://{self.host}/") else ' target="_top"'
        return f"<a href={self.quote(self.href(url))}{leave}>{self.text(words)}</a>"

    def document(self) -> str:
        """Return the document of a page within a frame."""
        head = self.head
        return (
            f'{_HTML4}<html lang="{head.lang}">\n<head>\n{_HTML4_META}'
            f"<title>{self.text(head.title)}</title>\n{self.keywords('>')}</head>\n<body>\n"
            f"{self.navigation()}" + "\n".join(self.blocks) + f"\n<hr>\n{self.footer()}</body>\n</html>\n"
        )

    def navigation(self) -> str:
        """Return a line of links; the navigation bar is in the left frame."""
        crumbs = " &raquo; ".join(self.link(url, words) for url, words in self.head.crumbs)
        return f'<div class="breadcrumb">{crumbs}</div>\n' if crumbs else ""

    def footer(self) -> str:
        """Return the address."""
        return f"<address>{self.text(self.head.owner)}, {self.mail()}</address>\n"

    def frameset(self, left: str, main: str) -> bytes:
        """Return the frameset document; browsers without frames show the blocks so far."""
        frames = (
            f'<frameset cols="25%,75%">\n<frame name="contents" src={self.quote(self.href(left))}>\n'
            f'<frame name="main" src={self.quote(self.href(main))}>\n<noframes>\n<body>\n'
        )
        inner = "\n".join(self.blocks)
        page = (
            f'{_HTML4}<html lang="{self.head.lang}">\n<head>\n{_HTML4_META}'
            f"<title>{self.text(self.head.title)}</title>\n{self.keywords('>')}</head>\n"
            f"{frames}{inner}\n</body>\n</noframes>\n</frameset>\n</html>\n"
        )
        return page.encode(self.charset, "xmlcharrefreplace")


_HTML4 = '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Frameset//EN" "http://www.w3.org/TR/html4/frameset.dtd">\n'
_HTML4_META = '<meta http-equiv="Content-Type" content="text/html; charset=utf-8">\n'


class WindowsWriter(Writer):
    """Pages in windows-1252 with curly apostrophes and quotation marks."""

    charset = "windows-1252"

    def text(self, words: str) -> str:
        """Escape words, with typographic quotes."""
        words = re.sub(r"(?<=\w)'", "\u2019", words)
        words = re.sub(r'"([^"]*)"', "\u201c\\1\u201d", words)
        return super().text(words)

    def document(self) -> str:
        """Return the modern document with windows-1252 as the charset in its head."""
        return super().document().replace('<meta charset="utf-8">', '<meta charset="windows-1252">', 1)


WRITERS: dict[str, type[Writer]] = {
    "modern": Writer,
    "soup": SoupWriter,
    "xhtml": XhtmlWriter,
    "based": BaseElementWriter,
    "framed": FramesetWriter,
    "windows": WindowsWriter,
}

SITE_LOOKS = {
    "dinosaurs": "soup",
    "composers": "xhtml",
    "mountains": "based",
    "instruments": "framed",
    "dishes": "windows",
}


def writer_for(key: str, head: Head) -> Writer:
    """Return a writer in the style of a site."""
    return WRITERS[SITE_LOOKS.get(key, "modern")](head)
