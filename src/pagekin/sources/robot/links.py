"""Read a page for the robot: its links, and whether it allows them to be followed and itself to be indexed.

The parser is turbohtml, as in Pagekin's strict reader: it makes the same tree of broken HTML as a browser. (Pagekin's own
lexer belongs to a room that builds on this one.)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from turbohtml import parse

from pagekin.sources.robot.addresses import clean_url
from pagekin.sources.robot.plan import PRODUCT

_CHARSET = re.compile(r"charset\s*=[\s\"']*([^\s\"';,]+)", re.IGNORECASE)
_REFRESH = re.compile(r"^[\s\d.]*[;,\s]\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)
_TAGS = "a[href], area[href], frame[src], iframe[src], base[href], meta[content]"
_ROBOT_NAME = re.compile(r"[a-z0-9_-]+\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another page."""

    url: str
    context: str
    """The element and attribute of the link, as WARC metadata records write them: `a/@href`."""
    follow: bool = True


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page's links and its directives for robots."""

    links: tuple[Link, ...] = ()
    follow: bool = True
    index: bool = True


def parse_page(html: bytes, url: str, content_type: str, tags: Iterable[str], most: int) -> ParsedPage:
    """Parse the page at `url`; `tags` are its X-Robots-Tag headers, `most` is the number of links to read."""
    document = _parse(html, content_type)
    base = url
    has_base = False
    directives: dict[str, set[str]] = {}
    written: list[tuple[str, str, bool]] = []
    for element in document.select(_TAGS):
        attributes: dict[str, Any] = element.attrs
        tag = element.tag
        if tag == "base":
            if not has_base:
                base = clean_url(_text(attributes.get("href")).strip(), url) or url
            has_base = True
        elif tag == "meta":
            name = _text(attributes.get("name")).strip().lower()
            content = _text(attributes.get("content"))
            if name in ("robots", PRODUCT):
                directives.setdefault(name, set()).update(_split_words(content))
            elif _text(attributes.get("http-equiv")).strip().lower() == "refresh" and (to := _REFRESH.match(content)):
                written.append((to[1], "meta/@content", True))
        elif len(written) < most:
            attribute = "href" if tag in ("a", "area") else "src"
            follow = "nofollow" not in _text(attributes.get("rel")).lower().split()
            written.append((_text(attributes.get(attribute)), f"{tag}/@{attribute}", follow))
    for header in tags:
        name, words = _parse_tag_header(header)
        if name in ("robots", PRODUCT):
            directives.setdefault(name, set()).update(words)
    words = directives.get(PRODUCT, set()) | directives.get("robots", set())
    return ParsedPage(_resolve_links(written, base), not words & {"nofollow", "none"}, not words & {"noindex", "none"})


def _resolve_links(written: list[tuple[str, str, bool]], base: str) -> tuple[Link, ...]:
    """Return one link per address, in order; it may be followed if one of the links to the address may."""
    links: dict[str, Link] = {}
    for reference, context, follow in written:
        url = clean_url(reference.strip(), base)
        if url is not None and (url not in links or (follow and not links[url].follow)):
            links[url] = Link(url, context, follow)
    return tuple(links.values())


def _parse(html: bytes, content_type: str) -> Any:
    charset = _CHARSET.search(content_type)
    try:
        return parse(html, encoding=charset[1] if charset else None, detect_encoding=True, positions=False)
    except LookupError:
        return parse(html, detect_encoding=True, positions=False)


def _text(value: Any) -> str:
    """Return an attribute's value as text; turbohtml gives lists for attributes such as `rel`."""
    return " ".join(value) if isinstance(value, list) else value or ""


def _split_words(content: str) -> set[str]:
    return {word.strip().lower() for word in content.split(",")}


def _parse_tag_header(header: str) -> tuple[str, set[str]]:
    """Return (name of the robot, directives) of an X-Robots-Tag header."""
    named = _ROBOT_NAME.match(header.strip())
    if named and named[0].lower().strip(": ") not in ("unavailable_after", "max-snippet", "max-image-preview"):
        return named[0].rstrip(": \t").lower(), _split_words(header.strip()[named.end() :])
    return "robots", _split_words(header)
