"""What a page tells the robot: its links, and whether it wants to be followed and indexed.

turbohtml reads the page, the same parser that is Pagekin's strict reader: broken HTML becomes the tree that a browser
makes of it. (Pagekin's own lexer lives in a room above this one.)
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
_WIDE = re.compile(r"[a-z0-9_-]+\s*:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Link:
    """A link to another page."""

    url: str
    context: str
    """The element and the attribute that hold it, as WARC metadata records write them: `a/@href`."""
    follow: bool = True


@dataclass(frozen=True, slots=True)
class Told:
    """What a page tells."""

    links: tuple[Link, ...] = ()
    follow: bool = True
    index: bool = True


def read_page(html: bytes, url: str, content_type: str, tags: Iterable[str], most: int) -> Told:
    """What the page at `url` tells; `tags` are its X-Robots-Tag headers, `most` the links to look at."""
    document = _parsed(html, content_type)
    base = url
    based = False
    wishes: dict[str, set[str]] = {}
    found: list[tuple[str, str, bool]] = []
    for element in document.select(_TAGS):
        attributes: dict[str, Any] = element.attrs
        tag = element.tag
        if tag == "base":
            if not based:
                base = clean_url(_text(attributes.get("href")).strip(), url) or url
            based = True
        elif tag == "meta":
            name = _text(attributes.get("name")).strip().lower()
            content = _text(attributes.get("content"))
            if name in ("robots", PRODUCT):
                wishes.setdefault(name, set()).update(_words(content))
            elif _text(attributes.get("http-equiv")).strip().lower() == "refresh" and (to := _REFRESH.match(content)):
                found.append((to[1], "meta/@content", True))
        elif len(found) < most:
            attribute = "href" if tag in ("a", "area") else "src"
            follow = "nofollow" not in _text(attributes.get("rel")).lower().split()
            found.append((_text(attributes.get(attribute)), f"{tag}/@{attribute}", follow))
    for header in tags:
        name, words = _header_wish(header)
        if name in ("robots", PRODUCT):
            wishes.setdefault(name, set()).update(words)
    wish = wishes.get(PRODUCT, set()) | wishes.get("robots", set())
    return Told(_links(found, base), not wish & {"nofollow", "none"}, not wish & {"noindex", "none"})


def _links(found: list[tuple[str, str, bool]], base: str) -> tuple[Link, ...]:
    """Every address once, in order; to be followed if one of its links is."""
    links: dict[str, Link] = {}
    for written, context, follow in found:
        url = clean_url(written.strip(), base)
        if url is not None and (url not in links or (follow and not links[url].follow)):
            links[url] = Link(url, context, follow)
    return tuple(links.values())


def _parsed(html: bytes, content_type: str) -> Any:
    charset = _CHARSET.search(content_type)
    try:
        return parse(html, encoding=charset[1] if charset else None, detect_encoding=True, positions=False)
    except LookupError:
        return parse(html, detect_encoding=True, positions=False)


def _text(value: Any) -> str:
    """An attribute's value: those that are lists of words come as lists."""
    return " ".join(value) if isinstance(value, list) else value or ""


def _words(content: str) -> set[str]:
    return {word.strip().lower() for word in content.split(",")}


def _header_wish(header: str) -> tuple[str, set[str]]:
    """(for whom, words) of an X-Robots-Tag header."""
    named = _WIDE.match(header.strip())
    if named and named[0].lower().strip(": ") not in ("unavailable_after", "max-snippet", "max-image-preview"):
        return named[0].rstrip(": \t").lower(), _words(header.strip()[named.end() :])
    return "robots", _words(header)
