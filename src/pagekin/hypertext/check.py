"""Check that a corpus is consistent: lengths that fit, references that lead somewhere."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.streams import RARE
from pagekin.store import Finding, Kin, check_shapes

_STEP = 1 << 22


def check_corpus(kin: Kin) -> Iterator[Finding]:
    """Yield a message for every array length or cross reference that is wrong."""
    if "page.url" not in kin:
        yield Finding("manifest.json", "names no corpus")
        return
    pages, urls = len(kin["page.url"]), len(kin["url.offsets"]) - 1
    terms, anchors = len(kin["term.offsets"]) - 1, len(kin["anchor.target"])
    by_page = ("page.date", "page.digest", "page.html_bytes", "page.language", "page.flags", "page.host")
    page_offsets = (
        "page.tokens", "page.rare", "page.marks", "page.anchors", "page.text", "title.offsets", "snippet.offsets",
    )  # fmt: skip
    divided = {
        "url.offsets": "url.bytes", "term.offsets": "term.bytes", "title.offsets": "title.bytes",
        "snippet.offsets": "snippet.bytes", "host.offsets": "host.bytes", "page.tokens": "stream.words",
        "page.rare": "stream.rare", "page.marks": "mark.gap", "page.anchors": "anchor.target",
        "page.text": "text.frames", "inlink.offsets": "inlink.anchors",
    }  # fmt: skip
    records = ("record.archive", "record.offset", "record.length") if "record.archive" in kin else ()
    if records:
        divided["archive.offsets"] = "archive.bytes"
    wrong = [
        *check_shapes(
            kin,
            "corpus",
            lengths={
                **dict.fromkeys((*by_page, *records), pages),
                **dict.fromkeys(page_offsets, pages + 1),
                **dict.fromkeys(("anchor.start", "anchor.length", "anchor.flags", "inlink.anchors"), anchors),
                **dict.fromkeys(("term.count", "term.order"), terms),
                "inlink.offsets": urls + 1,
                "mark.kind": len(kin["mark.gap"]),
                "alias.target": len(kin["alias.url"]),
            },
            ends={offsets: len(kin[data]) for offsets, data in divided.items()},
            limits={
                **dict.fromkeys(("page.url", "anchor.target", "alias.url", "alias.target"), urls),
                **dict.fromkeys(("stream.rare", "term.order"), terms),
                "inlink.anchors": anchors,
                "page.host": len(kin["host.offsets"]) - 1,
                **({"record.archive": len(kin["archive.offsets"]) - 1} if records else {}),
                "page.language": len(kin.facts["language_codes"]),
            },
        )
    ]
    yield from wrong
    if wrong:
        return
    yield from _check_streams(kin, terms)
    for fact, count in (("pages", pages), ("urls", urls), ("terms", terms), ("anchors", anchors),
                        ("words", len(kin["stream.words"]))):  # fmt: skip
        if kin.facts[fact] != count:
            yield Finding("manifest.json", f"says {kin.facts[fact]:,} {fact}, and there are {count:,}")


def _check_streams(kin: Kin, terms: int) -> Iterator[Finding]:
    """Check word ids, rare words and anchor spans; the arrays must have the right shapes."""
    rare = words = 0
    for start in range(0, len(kin["stream.words"]), _STEP):
        piece = kin["stream.words"][start : start + _STEP]
        rare += int(np.count_nonzero(piece == RARE))
        words += int(np.count_nonzero((piece != RARE) & (piece >= terms)))
    if rare != len(kin["stream.rare"]):
        yield Finding("stream.rare", f"holds {len(kin['stream.rare']):,} words where the streams mark {rare:,}")
    if words:
        yield Finding("stream.words", f"holds {words:,} words beyond the last term")
    counts: npt.NDArray[Any] = np.diff(kin["page.anchors"].astype(np.int64))
    lengths = np.diff(kin["page.tokens"].astype(np.int64))
    if bool(np.any(kin["anchor.start"].astype(np.int64) + kin["anchor.length"] > np.repeat(lengths, counts))):
        yield Finding("anchor.length", "has spans that reach beyond their page")
