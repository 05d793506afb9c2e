"""A page as a browser would read it, for what tests want to know of it."""

import re
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "input", "br", "wbr", "hr", "img"}
OWN_SCRIPT = "/static/script.js"
FORBIDDEN = {"iframe", "object", "embed", "base", "img", "style", "template", "animate", "foreignobject", "b"}
"""What none of our pages is made of."""
ADDRESS = re.compile(r"https?://|/(?!/)|#|$")


class Parsed(HTMLParser):
    """The elements of a page: tags with their attributes, text by tag, and whether they are well nested."""

    def __init__(self, html: str | bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(html.decode() if isinstance(html, bytes) else html)
        self.faults += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self._open[-1] if self._open else "", data.strip()))

    @property
    def text(self) -> str:
        return " ".join(" ".join(text for _tag, text in self.texts).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for found, attributes in self.tags if found == tag]

    @property
    def links(self) -> list[str]:
        return [one["href"] for one in self.all("a") if "href" in one]

    def linked(self, **having: str) -> list[str]:
        """The addresses of links with some attributes."""
        wanted = {name.replace("_", "-"): value for name, value in having.items()}
        return [one["href"] for one in self.all("a") if wanted.items() <= one.items()]


def harm(html: str | bytes) -> list[str]:
    """What a stranger's text has done to a page, or may do to who reads it; nothing is what there should be."""
    page = Parsed(html)
    found = list(page.faults)
    for tag, attributes in page.tags:
        if tag in FORBIDDEN:
            found.append(f"<{tag}>")
        if tag == "script" and not attributes.get("src", "").partition("?")[0].endswith(OWN_SCRIPT):
            found.append(f"<script {attributes}>")
        for name, value in attributes.items():
            if name.startswith("on") or name == "style":
                found.append(f"<{tag} {name}={value[:40]}>")
            if name in ("href", "src", "action", "xlink:href") and not ADDRESS.match(value):
                found.append(f"<{tag} {name}={value[:40]}>")
    ids = [attributes["id"] for _tag, attributes in page.tags if "id" in attributes]
    found += [f"id {one} stands twice" for one in set(ids) if ids.count(one) > 1]
    if len(page.all("h1")) != 1:
        found.append(f"{len(page.all('h1'))} h1")
    if any(mark in page.text for mark in "\u202e\u2067\u2066\u202a"):
        found.append("a mark that turns lines around")
    return found


def unguarded(html: str | bytes, rel: str = "noopener noreferrer") -> list[str]:
    """Links to other sites that tell these more than they should."""
    return [
        one["href"][:100]
        for one in Parsed(html).all("a")
        if one.get("href", "").startswith("http") and not set(rel.split()) <= set(one.get("rel", "").split())
    ]


def harmless(html: str) -> Parsed:
    """A page in which nothing of a stranger's became code, with its headings in order."""
    assert harm(html) == []
    assert unguarded(html, "noopener noreferrer nofollow") == []
    page = Parsed(html)
    assert len(page.all("main")) == 1
    levels = [int(tag[1]) for tag, _attributes in page.tags if re.fullmatch(r"h\d", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    return page
