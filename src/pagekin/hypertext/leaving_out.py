"""Write parts again without some of their records, so that nothing of these is left in them.

A part without an address that is opted out is as if that were the address of no page: its captures, redirects, revisits
and answers that it is gone are counted as skipped, and links, redirects and canonical claims that lead to it lead nowhere.
Each record is judged by itself, so it does not matter how records were divided into parts.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import Records
from pagekin.hypertext.journal import sign_part
from pagekin.hypertext.opt_outs import OptOuts
from pagekin.hypertext.part import ANCHOR, CUTS, PIECES, blob_sizes, write_tables
from pagekin.hypertext.urls import canonical_url
from pagekin.store import Array, RaggedBytes, pack_strings

OPTED_OUT, EXPIRED = "opted out", "expired"
_HIDDEN = "(opted out)"


class LeftOut(NamedTuple):
    """What is to go from a part: marks of its addresses."""

    records: npt.NDArray[np.bool_]
    """Addresses whose records go."""
    links: npt.NDArray[np.bool_]
    """Addresses to which links and other records lead no more."""
    reason: str
    claims: npt.NDArray[np.bool_] | None = None
    """Addresses whose pages name no canonical address any more; None for no more than lead nowhere."""


def leave_out(parts: Sequence[Path], opt_outs: OptOuts, folder: Path) -> list[Path]:
    """Return parts that hold nothing of what is opted out: those that held some are written again, in `folder`."""
    kept = []
    for number, part in enumerate(parts):
        marked = opt_outs.mark(read_strings(part, "urls"))
        examples = json.loads((part / "about.json").read_text())["damaged_examples"]
        if marked.any() or any(_hide(example, opt_outs) != example for example in examples):
            part = write_without(part, LeftOut(marked, marked, OPTED_OUT), folder / f"opted-{number}", opt_outs)
        kept.append(part)
    return kept


def expire(parts: Sequence[Path], before: int, folder: Path) -> list[Path]:
    """Return parts without the pages that were not seen since a time, in seconds since 1970: by no capture, no revisit."""
    last: dict[bytes, int] = {}
    for part in parts:
        for url, date in _seen(part):
            last[url] = max(date, last.get(url, 0))
    # What has no date was seen at a time that nobody knows.
    expired = {url for url, date in last.items() if 0 < date < before}
    kept = []
    for number, part in enumerate(parts):
        urls = read_strings(part, "urls")
        marked = np.fromiter((url in expired for url in urls), np.bool_, len(urls))
        what = LeftOut(marked, np.zeros_like(marked), EXPIRED)
        kept.append(write_without(part, what, folder / f"expired-{number}") if marked.any() else part)
    return kept


def _seen(part: Path) -> Iterator[tuple[bytes, int]]:
    """Yield the addresses of a part's pages and revisits, and when each was seen."""
    urls = read_strings(part, "urls")
    rows, revisits = np.load(part / "pages.npy"), np.load(part / "revisits.npy")
    for places, dates in ((rows["url"], rows["date"]), (revisits[:, 0], revisits[:, 2])):
        yield from ((urls[place], date) for place, date in zip(places.tolist(), dates.tolist(), strict=True))


def read_strings(part: Path, name: str) -> RaggedBytes:
    """Return the words or addresses of a part."""
    return RaggedBytes(_map(part / f"{name}.bytes", np.uint8), _map(part / f"{name}.offsets", np.int64))


def _map(file: Path, dtype: npt.DTypeLike) -> Array:
    """Return the numbers of a file, mapped: of large tables few pages may be read."""
    return np.memmap(file, dtype, "r") if file.stat().st_size else np.zeros(0, dtype)


def write_without(part: Path, what: LeftOut, out: Path, hidden: OptOuts | None = None) -> Path:
    """Write a part again without some records; return where. Memory: for the part."""
    out.mkdir()
    rows = np.load(part / "pages.npy")
    rows_before = len(rows)
    rows = rows[~what.records[rows["url"]]]
    claims = rows["canonical"] >= 0
    nowhere = what.links[rows["canonical"][claims]]
    if what.claims is not None:
        nowhere |= what.claims[rows["url"][claims]]
    rows["canonical"][claims] = np.where(nowhere, -1, rows["canonical"][claims])
    others = {name: np.load(part / f"{name}.npy") for name in Records._fields}
    gone = rows_before - len(rows) + sum(int(what.records[table[:, 0]].sum()) for table in others.values())
    others = {name: table[~what.records[table[:, 0]] & ~(what.links[table[:, 1]])] for name, table in others.items()}
    words, urls = read_strings(part, "words"), read_strings(part, "urls")
    pages = list(_read_blobs(part, rows))
    anchors_before = int(rows["anchors"].sum(dtype=np.int64))
    pages = [page._replace(anchors=page.anchors[~what.links[page.anchors["target"]]]) for page in pages]
    rows["anchors"] = [len(page.anchors) for page in pages]
    word_counts = _count((page.tokens for page in pages), len(words))
    url_counts = _count((page.anchors["target"] for page in pages), len(urls))
    named = url_counts > 0
    for places in (rows["url"], rows["canonical"][rows["canonical"] >= 0], *(t[:, :2] for t in others.values())):
        named[places] = True
    new_word, new_url = (np.cumsum(used) - 1 for used in (word_counts > 0, named))
    with (out / "blobs").open("wb") as file:
        for page in pages:
            anchors = page.anchors.copy()
            anchors["target"] = new_url[anchors["target"]]
            tokens = new_word[page.tokens].astype("<u4")
            file.write(tokens.tobytes() + page.marks + anchors.tobytes() + page.texts)
    about = _about(json.loads((part / "about.json").read_text()), rows, pages, hidden)
    about["skipped"] = Counter(about["skipped"]) + Counter({what.reason: gone})
    about["dropped_links"] += anchors_before - int(rows["anchors"].sum(dtype=np.int64))
    claims = rows["canonical"] >= 0
    rows["canonical"][claims] = new_url[rows["canonical"][claims]]
    rows["url"] = new_url[rows["url"]]
    rows["blob"] = np.cumsum(blob_sizes(rows)) - blob_sizes(rows)
    for table in others.values():
        table[:, :2] = new_url[table[:, :2]]
    strings = {"words": _chosen(words, word_counts > 0), "urls": _chosen(urls, named)}
    write_tables(out, rows, strings, {"words": word_counts[word_counts > 0], "urls": url_counts[named]}, others)
    (out / "about.json").write_text(json.dumps(about))
    sign_part(out)
    return out


class _Blob(NamedTuple):
    """What a part holds of a page, its pieces between words and anchors, and after these, as bytes."""

    tokens: Array
    marks: bytes
    anchors: Array
    texts: bytes


def _read_blobs(part: Path, rows: Array) -> Iterator[_Blob]:
    """Yield the blobs of some pages of a part."""
    data = memoryview(_map(part / "blobs", np.uint8))
    starts = {piece: (rows["blob"].astype(np.int64) + blob_sizes(rows, piece)).tolist() for piece in PIECES}
    ends = (rows["blob"].astype(np.int64) + blob_sizes(rows)).tolist()
    for number, end in enumerate(ends):
        tokens, marks, anchors, text = (starts[piece][number] for piece in ("tokens", "marks", "anchors", "text"))
        yield _Blob(
            np.frombuffer(data[tokens:marks], "<u4"), bytes(data[marks:anchors]),
            np.frombuffer(data[anchors:text], ANCHOR), bytes(data[text:end]),
        )  # fmt: skip


def _count(numbers: Iterable[Array], size: int) -> npt.NDArray[np.int64]:
    """Return how often each number below `size` occurs."""
    counts = np.zeros(size, np.int64)
    for some in numbers:
        np.add.at(counts, some, 1)
    return counts


def _chosen(strings: RaggedBytes, used: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return (data, offsets) of the strings that are used."""
    return pack_strings([strings[place] for place in np.flatnonzero(used).tolist()])


def _about(about: dict[str, Any], rows: Array, pages: Sequence[_Blob], hidden: OptOuts | None) -> dict[str, Any]:
    """Return what a part says of itself when these pages are left; their languages are numbered anew."""
    spoken = sorted({0, *rows["language"].tolist()})  # the first one, '', is always there
    number = np.zeros(len(about["languages"]), np.uint16)
    number[spoken] = np.arange(len(spoken))
    rows["language"] = number[rows["language"]]
    cut = {name: int(np.count_nonzero(rows["flags"] & flag)) for flag, name in CUTS.items()}
    return about | {
        "cut": +Counter(cut),
        "damaged_examples": [_hide(example, hidden) for example in about["damaged_examples"]],
        "pages": len(rows),
        "languages": [about["languages"][place] for place in spoken],
        "longest_page": int(rows["tokens"].max(initial=0)),
        "longest_anchor": max((int(page.anchors["length"].max(initial=0)) for page in pages), default=0),
    }


def _hide(example: str, hidden: OptOuts | None) -> str:
    """Return the description of a damaged record without an address that is opted out."""
    if not hidden:
        return example
    pieces = example.split(": ")
    addresses = [canonical_url(piece) if "://" in piece else None for piece in pieces]
    return ": ".join(
        _HIDDEN if address is not None and address in hidden else piece
        for piece, address in zip(pieces, addresses, strict=True)
    )
