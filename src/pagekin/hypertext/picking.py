"""Pick the records of some addresses from parts, for updates that touch old pages."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import Records
from pagekin.hypertext.leaving_out import LeftOut, read_strings, write_without
from pagekin.store import RaggedBytes, pack_strings

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
    return any(bool(wanted[numbers].any()) for numbers in (np.load(part / "pages.npy")["url"], *tables))
