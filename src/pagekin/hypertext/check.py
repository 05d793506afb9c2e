"""Check that a corpus is consistent: lengths that fit, references that lead somewhere."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.streams import RARE
from pagekin.store import Finding, Kin

_STEP = 1 << 22


def check_corpus(kin: Kin) -> Iterator[Finding]:
    """Yield every length or cross reference that does not fit."""
    if "page.url" not in kin:
        yield Finding("manifest.json", "names no corpus")
        return
    pages, urls = len(kin["page.url"]), len(kin["url.offsets"]) - 1
    terms, anchors = len(kin["term.offsets"]) - 1, len(kin["anchor.target"])
    for offsets, data in (
        ("url.offsets", "url.bytes"), ("term.offsets", "term.bytes"), ("title.offsets", "title.bytes"),
        ("snippet.offsets", "snippet.bytes"), ("host.offsets", "host.bytes"), ("page.tokens", "stream.words"),
        ("page.rare", "stream.rare"), ("page.marks", "mark.gap"), ("page.anchors", "anchor.target"),
        ("page.text", "text.frames"), ("inlink.offsets", "inlink.anchors"),
    ):  # fmt: skip
        table = kin[offsets]
        if len(table) == 0 or int(table[0]) != 0 or int(table[-1]) != len(kin[data]):
            yield Finding(offsets, f"does not end where {data} ends")
        elif bool(np.any(table[1:] < table[:-1])):
            yield Finding(offsets, "falls somewhere; offsets only rise")
    for name, length in (
        ("page.tokens", pages + 1), ("page.rare", pages + 1), ("page.marks", pages + 1), ("page.anchors", pages + 1),
        ("page.text", pages + 1), ("title.offsets", pages + 1), ("snippet.offsets", pages + 1), ("page.date", pages),
        ("page.digest", pages), ("page.html_bytes", pages), ("page.language", pages), ("page.flags", pages),
        ("page.host", pages), ("anchor.start", anchors), ("anchor.length", anchors), ("anchor.flags", anchors),
        ("inlink.offsets", urls + 1), ("inlink.anchors", anchors), ("mark.kind", len(kin["mark.gap"])),
        ("term.count", terms), ("term.order", terms), ("alias.target", len(kin["alias.url"])),
    ):  # fmt: skip
        if len(kin[name]) != length:
            yield Finding(name, f"has {len(kin[name]):,} entries where {length:,} belong")
    for name, most in (
        ("page.url", urls), ("anchor.target", urls), ("inlink.anchors", anchors), ("stream.rare", terms),
        ("term.order", terms), ("alias.url", urls), ("alias.target", urls), ("page.host", len(kin["host.offsets"]) - 1),
        ("page.language", len(kin.facts["language_codes"])),
    ):  # fmt: skip
        for start in range(0, len(kin[name]), _STEP):
            if bool(np.any(kin[name][start : start + _STEP] >= most)):
                yield Finding(name, f"refers to a number beyond the last, {most - 1:,}")
                break
    yield from _check_streams(kin, pages, terms)
    for fact, found in (("pages", pages), ("urls", urls), ("terms", terms), ("anchors", anchors),
                        ("words", len(kin["stream.words"]))):  # fmt: skip
        if kin.facts[fact] != found:
            yield Finding("manifest.json", f"says {kin.facts[fact]:,} {fact}, and there are {found:,}")


def _check_streams(kin: Kin, pages: int, terms: int) -> Iterator[Finding]:
    """Check word ids, rare words and anchor spans, page by page."""
    rare = words = 0
    for start in range(0, len(kin["stream.words"]), _STEP):
        piece = kin["stream.words"][start : start + _STEP]
        rare += int(np.count_nonzero(piece == RARE))
        words += int(np.count_nonzero((piece != RARE) & (piece >= terms)))
    if rare != len(kin["stream.rare"]):
        yield Finding("stream.rare", f"holds {len(kin['stream.rare']):,} words where the streams mark {rare:,}")
    if words:
        yield Finding("stream.words", f"holds {words:,} words beyond the last term")
    if len(kin["page.anchors"]) == pages + 1 and len(kin["page.tokens"]) == pages + 1:
        counts = _steps(kin["page.anchors"])
        lengths = _steps(kin["page.tokens"])
        ends = kin["anchor.start"].astype(np.int64) + kin["anchor.length"]
        if len(ends) == counts.sum() and bool(np.any(ends > np.repeat(lengths, counts))):
            yield Finding("anchor.length", "has spans that reach beyond their page")


def _steps(offsets: Any) -> npt.NDArray[np.int64]:
    """Return how far each offset is from the one before."""
    wide = np.asarray(offsets, dtype=np.int64)
    return wide[1:] - wide[:-1]
