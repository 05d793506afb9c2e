"""Pick the records of some addresses from parts, for updates that touch old pages."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import Records
from pagekin.hypertext.corpus import Corpus
from pagekin.hypertext.journal import is_whole
from pagekin.hypertext.leaving_out import LeftOut, read_strings, write_without
from pagekin.store import Array, KinError, RaggedBytes, pack_strings

_NOT_PICKED = "not picked"


class RecordedNames(NamedTuple):
    """The addresses that have records in some parts."""

    changed: frozenset[bytes]
    """Those with a page, a redirect, a revisit of another address, or an answer that there is no such page."""
    seen_again: frozenset[bytes]
    """Those with a revisit of themselves: their page was as before."""
    leads: frozenset[tuple[bytes, bytes]]
    """Redirects, and revisits of other addresses: from where to where."""
    claimed: frozenset[bytes]
    """Canonical addresses that pages name."""


def recorded_names(parts: Sequence[Path]) -> RecordedNames:
    """Return the addresses that have records in some parts, by reading the parts' tables."""
    changed, seen_again, claimed = set[bytes](), set[bytes](), set[bytes]()
    leads = set[tuple[bytes, bytes]]()
    for part in parts:
        urls = read_strings(part, "urls")
        pages, redirects, revisits, gone = (np.load(part / f"{name}.npy") for name in ("pages", *Records._fields))
        again = revisits[:, 0] == revisits[:, 1]
        for numbers in (pages["url"], redirects[:, 0], gone[:, 0], revisits[~again, 0]):
            changed |= {urls[number] for number in numbers.tolist()}
        seen_again |= {urls[number] for number in revisits[again, 0].tolist()}
        for table in (redirects, revisits[~again]):
            leads |= {(urls[source], urls[target]) for source, target in table[:, :2].tolist()}
        claimed |= {urls[number] for number in pages["canonical"][pages["canonical"] >= 0].tolist()}
    return RecordedNames(frozenset(changed), frozenset(seen_again), frozenset(leads), frozenset(claimed))


def page_addresses(part: Path) -> list[bytes]:
    """Return the different addresses of the pages in a part, in order."""
    return list(read_strings(part, "urls").select(np.unique(np.load(part / "pages.npy")["url"])))


def named_in_parts(parts: Sequence[Path], addresses: Collection[bytes]) -> set[bytes]:
    """Return those of some addresses that a record or a link in the parts names."""
    known = set[bytes]()
    for part in parts:
        urls = read_strings(part, "urls")
        asked = [address for address in addresses if address not in known]
        known |= {address for address, place in zip(asked, urls.find_all(asked).tolist(), strict=True) if place >= 0}
    return known


def pick_records(
    parts: Sequence[Path], addresses: Sequence[bytes], without_claim: Collection[bytes], folder: Path
) -> list[Path]:
    """Write parts with only the records of some addresses, in `folder`; return those that are not empty.

    Pages of the addresses `without_claim` name no canonical address: that they did was not believed. Cost: the tables of all
    parts, and the pages that are picked.
    """
    folder.mkdir()
    picked = []
    names, plain = (RaggedBytes(*pack_strings(sorted(some))) for some in (addresses, without_claim))
    for number, part in enumerate(parts):
        urls = read_strings(part, "urls")
        wanted = _mark(urls, names)
        if wanted.any() and _has_records(part, wanted):
            if not is_whole(part):
                raise KinError(f"{part} has changed since it was written. See all of it with: pagekin check")
            nowhere = np.zeros_like(wanted)
            what = LeftOut(~wanted, nowhere, _NOT_PICKED, _mark(urls, plain))
            picked.append(write_without(part, what, folder / f"picked-{number}"))
    return picked


def _mark(urls: RaggedBytes, addresses: RaggedBytes) -> npt.NDArray[np.bool_]:
    marked = np.zeros(len(urls), np.bool_)
    places = urls.find_all(addresses)
    marked[places[places >= 0]] = True
    return marked


def _has_records(part: Path, wanted: npt.NDArray[np.bool_]) -> bool:
    """Return whether a part has records, not only links, of the marked addresses."""
    tables = (np.load(part / f"{name}.npy")[:, 0] for name in Records._fields)
    pages = np.load(part / "pages.npy", mmap_mode="r")  # of all columns but one is needed
    return any(bool(wanted[numbers].any()) for numbers in (pages["url"], *tables))


# -- sources that take the place of themselves --------------------------------------------------------------------------


def divide_unchanged(parts: Sequence[Path], base: Corpus, folder: Path) -> tuple[list[Path], list[Path]]:
    """Divide parts by what a base already has; return (parts of records that it has, parts of all others).

    A base has a record if its page at that address is the same capture, or if the address stands for the same page there.
    """
    folder.mkdir()
    same, others = list[Path](), list[Path]()
    for number, part in enumerate(parts):
        known = _mark_known(part, base)
        nowhere = np.zeros_like(known)
        for mark, name, halves in ((known, "same", same), (~known, "others", others)):
            if mark.any() and _has_records(part, mark):
                halves.append(write_without(part, LeftOut(~mark, nowhere, _NOT_PICKED), folder / f"{name}-{number}"))
    return same, others


def _mark_known(part: Path, base: Corpus) -> npt.NDArray[np.bool_]:
    """Mark the addresses of a part of which a base has all records."""
    urls, rows = read_strings(part, "urls"), np.load(part / "pages.npy")
    tables = Records(*(np.load(part / f"{name}.npy") for name in Records._fields))
    number = base.urls.find_all(urls)
    is_same = _captures_in(rows, number, base) >= 0
    alias, home = (np.asarray(one).astype(np.int64) for one in base.aliases())
    stands_for = np.full(len(base.urls) + 1, -1, np.int64)  # the last for what the base does not know
    stands_for[alias] = home
    leads = tables.redirects[:, :2]
    is_led = (stands_for[number[leads[:, 0]]] >= 0) & (stands_for[number[leads[:, 0]]] == number[leads[:, 1]])
    known = np.zeros(len(urls), np.bool_)
    known[rows["url"][is_same]] = known[leads[is_led, 0]] = True
    for places in (rows["url"][~is_same], leads[~is_led, 0], tables.revisits[:, 0], tables.gone[:, 0]):
        known[places] = False
    return known


def _captures_in(rows: Array, number: Array, base: Corpus) -> npt.NDArray[np.int64]:
    """Return the page of a base that each row of a part is, -1 for other captures; `number` has the addresses' numbers there."""
    page_url = np.asarray(base.pages.url).astype(np.int64)
    if not len(page_url):
        return np.full(len(rows), -1, np.int64)
    urls = number[rows["url"]]
    place = np.minimum(np.searchsorted(page_url, urls), len(page_url) - 1)
    is_same = page_url[place] == urls
    for name in ("digest", "date"):
        is_same &= np.asarray(base.kin[f"page.{name}"])[place] == rows[name]
    return np.where(is_same, place, -1)


def vanished_names(parts: Sequence[Path], base: Corpus) -> tuple[set[bytes], set[bytes]]:
    """Return (addresses of a base's pages of which no part has the capture, its other names of which no part has a record)."""
    is_there, has_record = np.zeros(len(base), np.bool_), np.zeros(len(base.urls) + 1, np.bool_)
    for part in parts:
        number, rows = base.urls.find_all(read_strings(part, "urls")), np.load(part / "pages.npy")
        pages = _captures_in(rows, number, base)
        is_there[pages[pages >= 0]] = True
        for places in (rows["url"], *(np.load(part / f"{name}.npy")[:, 0] for name in Records._fields)):
            has_record[number[places]] = True
    names = np.asarray(base.aliases()[0]).astype(np.int64)
    gone = np.asarray(base.pages.url)[~is_there]
    return set(base.urls.select(gone)), set(base.urls.select(names[~has_record[names]]))
