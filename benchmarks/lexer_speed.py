"""The lexer against DOM walks in resiliparse, selectolax and lxml: same pages, same job, one core.

The job: from decoded bytes to word ids, attributes, boundaries and raw hrefs. Resolving the hrefs to URLs is
the same work for all and is timed apart.

    python benchmarks/lexer_speed.py CACHE_DIR/docs-20k.warc.gz [--pages 3000]
"""

import argparse
import re
import time
from collections.abc import Callable
from pathlib import Path

import ada_url
from lxml import etree
from lxml import html as lxml_html
from resiliparse.parse.html import HTMLTree
from selectolax.lexbor import LexborHTMLParser

from pagekin.hypertext import Lexer, to_utf8
from pagekin.hypertext.model import CELLS, HEADINGS, HIDDEN, ITEMS, KEYWORD_TAGS, PARAGRAPHS
from pagekin.sources import Limits, Page, plan_units, read_unit

WORD = re.compile(r"[^\W_]+")
TITLE, HEADER, KEYWORD, ADDRESS, ALT, TEXT = 1, 2, 4, 8, 16, 32
# What a walk does at an element, by its tag, so that each walk makes one look-up per element.
BITS = {
    **dict.fromkeys(HEADINGS, HEADER),
    **dict.fromkeys(KEYWORD_TAGS, KEYWORD),
    "address": ADDRESS,
}
BORDER = {
    **dict.fromkeys(PARAGRAPHS, 1),
    **dict.fromkeys(CELLS, 2),
    **dict.fromkeys(ITEMS, 3),
    "br": 4,
    **dict.fromkeys(HEADINGS, 6),
}
LINKS = frozenset({"a", "area", "frame", "iframe"})


class Result:
    """What one walk makes of one page."""

    __slots__ = ("anchors", "attributes", "borders", "ids")

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.attributes: list[tuple[int, int]] = []
        self.borders: list[tuple[int, int]] = []
        self.anchors: list[tuple[str, int, int]] = []


class Words:
    """Words to ids, as a Python program would do it."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def add(self, text: str, attribute: int, result: Result) -> None:
        """Append the words of `text` to the stream."""
        ids = self.ids
        words = WORD.findall(text.lower())
        if words:
            result.attributes.append((len(result.ids), attribute))
            result.ids.extend([ids.setdefault(word, len(ids)) for word in words])


def walk_selectolax(html: bytes, words: Words) -> Result:
    """Depth first over selectolax's (Lexbor's) nodes."""
    result = Result()
    root = LexborHTMLParser(html).root
    if root is None:
        return result
    stack: list[tuple[object, int, bool]] = [(root, TEXT, False)]
    while stack:
        node, attribute, leaving = stack.pop()
        tag = node.tag  # type: ignore[attr-defined]
        if leaving:
            if tag == "a":
                number = attribute
                href, start, _ = result.anchors[number]
                result.anchors[number] = (href, start, len(result.ids))
            else:
                result.borders.append((len(result.ids), attribute))
            continue
        if tag == "-text":
            words.add(node.text_content, attribute, result)  # type: ignore[attr-defined]
            continue
        if tag is None or tag in HIDDEN or tag[0] in "-_!":
            continue
        attribute = TITLE if tag == "title" else attribute | BITS.get(tag, 0)
        border = BORDER.get(tag)
        if border:
            result.borders.append((len(result.ids), border))
            stack.append((node, border, True))
        if tag in LINKS:
            attributes = node.attributes  # type: ignore[attr-defined]
            href = attributes.get("href") or attributes.get("src")
            if href is not None:
                result.anchors.append((href, len(result.ids), len(result.ids)))
                if tag == "a":
                    stack.append((node, len(result.anchors) - 1, True))
        elif tag == "img":
            alt = node.attributes.get("alt")  # type: ignore[attr-defined]
            if alt:
                words.add(alt, ALT, result)
        child = node.last_child  # type: ignore[attr-defined]
        while child is not None:
            stack.append((child, attribute, False))
            child = child.prev
    return result


def walk_resiliparse(html: bytes, words: Words) -> Result:
    """Depth first over resiliparse's (Lexbor's) nodes."""
    result = Result()
    root = HTMLTree.parse_from_bytes(html, "utf-8").document
    stack: list[tuple[object, int, bool]] = [(root, TEXT, False)]
    while stack:
        node, attribute, leaving = stack.pop()
        tag = node.tag  # type: ignore[attr-defined]
        if leaving:
            if tag == "a":
                href, start, _ = result.anchors[attribute]
                result.anchors[attribute] = (href, start, len(result.ids))
            else:
                result.borders.append((len(result.ids), attribute))
            continue
        if tag == "#text":
            words.add(node.text, attribute, result)  # type: ignore[attr-defined]
            continue
        if tag in HIDDEN or (tag and tag[0] in "#!" and tag != "#document"):
            continue
        attribute = TITLE if tag == "title" else attribute | BITS.get(tag, 0)
        border = BORDER.get(tag)
        if border:
            result.borders.append((len(result.ids), border))
            stack.append((node, border, True))
        if tag in LINKS:
            href = node.getattr("href") or node.getattr("src")  # type: ignore[attr-defined]
            if href is not None:
                result.anchors.append((href, len(result.ids), len(result.ids)))
                if tag == "a":
                    stack.append((node, len(result.anchors) - 1, True))
        elif tag == "img":
            alt = node.getattr("alt")  # type: ignore[attr-defined]
            if alt:
                words.add(alt, ALT, result)
        child = node.last_child  # type: ignore[attr-defined]
        while child is not None:
            stack.append((child, attribute, False))
            child = child.prev
    return result


def walk_lxml(html: bytes, words: Words) -> Result:
    """Start and end events over lxml's (libxml2's) tree."""
    result = Result()
    try:
        root = lxml_html.document_fromstring(html, parser=lxml_html.HTMLParser(encoding="utf-8"))
    except etree.ParserError:
        return result
    attributes = [TEXT]
    open_anchors: list[int] = []
    hidden = 0
    for event, node in etree.iterwalk(root, events=("start", "end")):
        tag = node.tag
        if not isinstance(tag, str):
            if event == "end" and node.tail and not hidden:
                words.add(node.tail, attributes[-1], result)
            continue
        if event == "start":
            if tag in HIDDEN:
                hidden += 1
            attribute = TITLE if tag == "title" else attributes[-1] | BITS.get(tag, 0)
            attributes.append(attribute)
            border = BORDER.get(tag)
            if border:
                result.borders.append((len(result.ids), border))
            if tag in LINKS:
                href = node.get("href") or node.get("src")
                if href is not None:
                    result.anchors.append((href, len(result.ids), len(result.ids)))
                    if tag == "a":
                        open_anchors.append(len(result.anchors) - 1)
            elif tag == "img":
                alt = node.get("alt")
                if alt:
                    words.add(alt, ALT, result)
            if node.text and not hidden:
                words.add(node.text, attribute, result)
        else:
            attributes.pop()
            if tag in HIDDEN:
                hidden -= 1
            border = BORDER.get(tag)
            if border:
                result.borders.append((len(result.ids), border))
            if tag == "a" and node.get("href") is not None and open_anchors:
                number = open_anchors.pop()
                href, start, _ = result.anchors[number]
                result.anchors[number] = (href, start, len(result.ids))
            if node.tail and not hidden:
                words.add(node.tail, attributes[-1], result)
    return result


def load(path: Path, count: int) -> list[tuple[str, bytes]]:
    """The first `count` pages of an archive, as UTF-8; meta-refresh stubs (under 512 bytes) are left out."""
    limits = Limits()
    found: list[tuple[str, bytes]] = []
    for unit in plan_units([str(path)], {}):
        for item in read_unit(unit, limits):
            if isinstance(item, Page) and len(item.html) >= 512:
                found.append((item.url, to_utf8(item.html, item.content_type)[0]))
                if len(found) == count:
                    return found
    return found


def time_lexer(pages: list[bytes]) -> tuple[float, int, int]:
    """(seconds, words, anchors) of our lexer over all pages, its tables fresh."""
    started = time.perf_counter()
    lexer = Lexer(Limits())
    words = anchors = 0
    batch: list[bytes] = []
    size = 0
    for page in [*pages, b""]:
        if batch and (size + len(page) > 2 << 20 or not page):
            lexed = lexer.lex(batch)
            words += len(lexed.words)
            anchors += len(lexed.anchors)
            batch, size = [], 0
        batch.append(page)
        size += len(page)
    return time.perf_counter() - started, words, anchors


def time_walk(walk: Callable[[bytes, Words], Result], pages: list[bytes]) -> tuple[float, int, int]:
    """(seconds, words, anchors) of a DOM walk over all pages."""
    started = time.perf_counter()
    words = Words()
    count = anchors = 0
    for page in pages:
        result = walk(page, words)
        count += len(result.ids)
        anchors += len(result.anchors)
    return time.perf_counter() - started, count, anchors


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    loaded = load(options.archive, options.pages)
    pages = [page for _, page in loaded]
    size = sum(map(len, pages))
    sizes = f"{size / 1e6:.1f} MB, {size / len(pages) / 1e3:.1f} kB a page"
    print(f"{len(pages):,} pages, {sizes}; one core; best of {options.rounds}")
    time_lexer(pages[:20])  # load the compiled kernel
    walks = {"resiliparse": walk_resiliparse, "selectolax": walk_selectolax, "lxml": walk_lxml}
    timings = {name: (float("inf"), 0, 0) for name in ("pagekin", *walks)}
    for _ in range(options.rounds):  # interleaved: the machine's speed changes from minute to minute
        timings["pagekin"] = min(timings["pagekin"], time_lexer(pages))
        for name, walk in walks.items():
            timings[name] = min(timings[name], time_walk(walk, pages))
    ours = timings["pagekin"][0]
    print(f"{'':<14}{'pages/s':>9}{'MB/s':>8}{'words':>12}{'anchors':>10}{'pagekin is':>12}")
    for name, (seconds, words, anchors) in timings.items():
        ratio = f"{seconds / ours:.1f} x"
        speed = f"{len(pages) / seconds:>9,.0f}{size / seconds / 1e6:>8.1f}"
        print(f"{name:<14}{speed}{words:>12,}{anchors:>10,}{ratio:>12}")
    best = min(seconds for name, (seconds, _, _) in timings.items() if name != "pagekin")
    print(f"against the best of the three: {best / ours:.1f} x (wanted: 12 x)")
    some = [(url, walk_selectolax(page, Words())) for url, page in loaded[:500]]
    hrefs = [(url, href) for url, result in some for href, _, _ in result.anchors]
    started = time.perf_counter()
    for url, href in hrefs:
        try:
            ada_url.join_url(url, href)
        except ValueError:
            continue
    spent = time.perf_counter() - started
    print(f"apart: resolving one href with ada-url {spent / len(hrefs) * 1e6:.1f} us ({len(hrefs):,} hrefs)")


if __name__ == "__main__":
    main()
