"""Rewrite parts without some of their records, so that no byte of these is left.

A part without an address that is opted out is as if that were the address of no page: its captures, redirects, revisits
and answers that it is gone are counted as skipped, and links, redirects and canonical claims that lead to it lead nowhere.
Each record is judged by itself, so it does not matter how records were divided into parts.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import Records
from pagekin.hypertext.opt_outs import OptOuts
from pagekin.hypertext.part_records import map_file, read_part, take_records, write_part
from pagekin.hypertext.urls import canonical_url, host_of
from pagekin.store import Array, RaggedBytes

OPTED_OUT, EXPIRED, TOO_MANY = "opted out", "expired", "over the limit of its host"
_HIDDEN = "(opted out)"
_SPARE = 1_000


class LeftOut(NamedTuple):
    """The addresses whose records are removed from a part, as masks."""

    records: npt.NDArray[np.bool_]
    """Addresses whose records go."""
    links: npt.NDArray[np.bool_]
    """Addresses to which links and other records lead no more."""
    reason: str
    claims: npt.NDArray[np.bool_] | None = None
    """Addresses whose pages name no canonical address any more; None for no more than lead nowhere."""


def leave_out(parts: Sequence[Path], opt_outs: OptOuts, folder: Path) -> list[Path]:
    """Return parts without what is opted out; parts that held some of it are rewritten in `folder`."""
    kept = []
    for number, part in enumerate(parts):
        marked = opt_outs.mark(read_strings(part, "urls"))
        examples = json.loads((part / "about.json").read_text())["damaged_examples"]
        if marked.any() or any(_hide(example, opt_outs) != example for example in examples):
            part = write_without(part, LeftOut(marked, marked, OPTED_OUT), folder / f"opted-{number}", opt_outs)
        kept.append(part)
    return kept


def expired_addresses(parts: Sequence[Path], before: int) -> set[bytes]:
    """Return the addresses that were last seen (captured or revisited) before a time, in seconds since 1970.

    What has no date was seen at a time that nobody knows. Cost: the tables of all parts, and the addresses last seen long ago.
    """
    old, seen = set[bytes](), list[tuple[RaggedBytes, npt.NDArray[np.bool_]]]()
    for part in parts:
        urls, places, dates = _list_sightings(part)
        latest = np.zeros(len(urls), np.int64)
        np.maximum.at(latest, places, dates)
        old |= set(urls.select(np.flatnonzero((latest > 0) & (latest < before))))
        seen.append((urls, latest >= before))
    for urls, is_fresh in seen if old else ():
        names = sorted(old)
        places = urls.find_all(names)
        old -= {name for name, place in zip(names, places.tolist(), strict=True) if place >= 0 and is_fresh[place]}
    return old


def expire(parts: Sequence[Path], before: int, folder: Path) -> list[Path]:
    """Return parts without pages that were not seen (captured or revisited) since a time, in seconds since 1970."""
    expired = expired_addresses(parts, before)
    kept = []
    for number, part in enumerate(parts):
        urls = read_strings(part, "urls")
        marked = np.fromiter((url in expired for url in urls), np.bool_, len(urls))
        what = LeftOut(marked, np.zeros_like(marked), EXPIRED)
        kept.append(write_without(part, what, folder / f"expired-{number}") if marked.any() else part)
    return kept


def cap_hosts(parts: Sequence[Path], most: int, folder: Path) -> list[Path]:
    """Return parts with at most this many captured addresses per host: those with the smallest hashes.

    Which these are depends on the addresses alone, so an update leaves the same ones as a build of everything.
    """
    limits = HostLimits(last_of_hosts(least_of_hosts(parts, most), most))
    return [cap_part(part, limits, folder / f"capped-{number}") for number, part in enumerate(parts)]


def least_of_hosts(parts: Iterable[Path], most: int) -> list[bytes]:
    """Return of each host at most this many captured addresses: those with the smallest hashes in some parts."""
    least: dict[bytes, dict[bytes, bytes]] = {}
    for part in parts:
        urls = read_strings(part, "urls")
        for url in (urls[place] for place in np.unique(np.load(part / "pages.npy")["url"]).tolist()):
            of_host = least.setdefault(name_host(url), {})
            of_host[url] = _hash(url)
            if len(of_host) > 2 * most + _SPARE:
                _keep_least(of_host, most)
    for of_host in least.values():
        _keep_least(of_host, most)
    return [url for of_host in least.values() for url in of_host]


def last_of_hosts(urls: Iterable[bytes], most: int) -> list[bytes]:
    """Return for each host with this many addresses or more the last that it may keep, given the least of all parts."""
    least: dict[bytes, set[tuple[bytes, bytes]]] = {}
    for url in urls:
        least.setdefault(name_host(url), set()).add((_hash(url), url))
    return [sorted(of_host)[most - 1][1] for of_host in least.values() if len(of_host) >= most]


class HostLimits:
    """The last addresses that hosts may keep."""

    def __init__(self, last: Iterable[bytes]) -> None:
        self._last = {name_host(url): (_hash(url), url) for url in last}

    def exclude(self, url: bytes) -> bool:
        """Return whether an address is over the limit of its host."""
        last = self._last.get(name_host(url))
        return last is not None and (_hash(url), url) > last


def cap_part(part: Path, limits: HostLimits, out: Path) -> Path:
    """Return a part without captured addresses over the limits of their hosts; if it had some, it is rewritten as `out`."""
    urls, captured = read_strings(part, "urls"), np.unique(np.load(part / "pages.npy")["url"])
    marked = np.zeros(len(urls), np.bool_)
    marked[captured] = [limits.exclude(urls[place]) for place in captured.tolist()]
    return write_without(part, LeftOut(marked, np.zeros_like(marked), TOO_MANY), out) if marked.any() else part


def name_host(url: bytes) -> bytes:
    """Return the host of an address of a part."""
    return host_of(url.decode("utf-8", "replace")).encode()


def _hash(url: bytes) -> bytes:
    """Return the hash by which the addresses of a host are chosen."""
    return hashlib.blake2b(url, digest_size=8).digest()


def _keep_least(hashes: dict[bytes, bytes], most: int) -> None:
    """Keep this many addresses: those with the smallest hashes."""
    for url in sorted(hashes, key=lambda url: (hashes[url], url))[most:]:
        del hashes[url]


def _list_sightings(part: Path) -> tuple[RaggedBytes, Array, Array]:
    """Return (the addresses of a part, the places of its pages and revisits among them, when each was seen)."""
    rows, revisits = np.load(part / "pages.npy"), np.load(part / "revisits.npy")
    places = np.concatenate([rows["url"].astype(np.int64), revisits[:, 0]])
    return read_strings(part, "urls"), places, np.concatenate([rows["date"].astype(np.int64), revisits[:, 2]])


def read_strings(part: Path, name: str) -> RaggedBytes:
    """Return the words or addresses of a part."""
    return RaggedBytes(map_file(part / f"{name}.bytes", np.uint8), map_file(part / f"{name}.offsets", np.int64))


def write_without(folder: Path, what: LeftOut, out: Path, hidden: OptOuts | None = None) -> Path:
    """Rewrite a part without some records; return its folder. The part is held in memory."""
    part = read_part(folder)
    rows = part.pages[~what.records[part.pages["url"]]]
    claims = rows["canonical"] >= 0
    nowhere = what.links[rows["canonical"][claims]]
    if what.claims is not None:
        nowhere |= what.claims[rows["url"][claims]]
    rows["canonical"][claims] = np.where(nowhere, -1, rows["canonical"][claims])
    others = Records(*(table[~what.records[table[:, 0]] & ~(what.links[table[:, 1]])] for table in part.others))
    # A redirect goes with either end, so it counts whichever is left out first.
    gone = len(part.pages) - len(rows) + sum(map(len, part.others)) - sum(map(len, others))
    left = take_records(part, rows, others, what.links)
    about = left.facts()
    about["skipped"] = Counter(about["skipped"]) + Counter({what.reason: gone})
    about["damaged_examples"] = [_hide(example, hidden) for example in about["damaged_examples"]]
    return write_part(left.with_facts(about), out)


def _hide(example: str, hidden: OptOuts | None) -> str:
    """Return the description of a damaged record without an opted-out address."""
    if not hidden:
        return example
    pieces = example.split(": ")
    addresses = [canonical_url(piece) if "://" in piece else None for piece in pieces]
    return ": ".join(
        _HIDDEN if address is not None and address in hidden else piece
        for piece, address in zip(pieces, addresses, strict=True)
    )
