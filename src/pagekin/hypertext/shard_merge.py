"""Merge the parts of a shard into its corpus; the bytes equal those of a shard cut from the whole.

A shard's parts hold the captures of its range of addresses (see `divide_part`). Which of them are pages, which addresses it
knows, and what its arrays have in common with those of other shards comes from stages before: `choosing`, `shard_names`,
`sum_abouts`.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pagekin.hypertext.chains import find_places
from pagekin.hypertext.choosing import ChosenPages, count_left_out
from pagekin.hypertext.merge import (
    Ids,
    Parts,
    Selection,
    all_rows,
    count_links,
    count_records,
    write_corpus,
)
from pagekin.hypertext.part_records import names_part, sum_abouts, write_part
from pagekin.hypertext.shard_names import ShardNames, list_known
from pagekin.hypertext.string_lists import gather_pieces
from pagekin.store import Array, KinWriter, Names, Workspace

_SUMS = ("pages", "words", "anchors", "links", "html_bytes")


def list_links(folders: Sequence[Path], chosen: ChosenPages, all_captures: bool, room: Workspace) -> Names:
    """Return the sorted addresses that the pages of a shard link to, as written there."""
    with contextlib.ExitStack() as files:
        parts, url_ids = _open(folders, chosen.pages.array(), room, files)
        addresses = url_ids.merge()
        rows = all_rows(parts, url_ids, sum_abouts(parts.abouts)["languages"])
        left_out = _leave_out(rows, url_ids.of_part(len(parts) - 1), len(addresses.starts) - 1, all_captures)
        linked = np.flatnonzero(count_links(parts, url_ids, rows, left_out, len(addresses.starts) - 1))
        pieces = list(gather_pieces(*addresses, linked))
    ends = np.concatenate([np.zeros(1, np.int64), *(np.diff(ends, prepend=0) for _data, ends in pieces)])
    return Names(np.concatenate([np.zeros(0, np.uint8), *(data for data, _ends in pieces)]), np.cumsum(ends))


def merge_shard(
    folders: Sequence[Path], chosen: ChosenPages, links: Names, names: ShardNames, whole: Mapping[str, Any], latest: int,
    all_captures: bool, writer: KinWriter, progress: Callable[[float], None] = lambda _share: None,
) -> dict[str, Any]:  # fmt: skip
    """Write the corpus of a shard from its parts; return the facts about it.

    `whole` is the sum of what all parts of the collection say of themselves, and `latest` the date of its newest page.
    """
    known = list_known(chosen, links, names)
    every = np.unique(np.concatenate([known.addresses, known.links.sources]))
    with TemporaryDirectory(dir=writer.work) as folder, contextlib.ExitStack() as files:
        room = Workspace(Path(folder), writer.memory)
        parts, url_ids = _open(folders, every, room, files, whole)
        addresses = url_ids.merge()

        def select() -> Selection:
            ids, url_count = url_ids.of_part(len(parts) - 1), len(addresses.starts) - 1

            def find(some: Array) -> Array:
                return np.asarray(ids[np.searchsorted(every, some)])

            rows = all_rows(parts, url_ids, whole["languages"])
            left_out = _leave_out(rows, find(chosen.pages.array()), url_count, all_captures)
            is_known = np.zeros(url_count, np.bool_)
            is_known[find(known.addresses)] = True
            number = np.where(is_known, np.cumsum(is_known) - 1, -1)
            link_number = number.copy()
            link_number[find(known.links.sources)] = number[find(known.links.targets)]
            alias_url, alias_target = (number[find(some)] for some in known.aliases)
            return Selection(rows, left_out, number, link_number, alias_url, alias_target, latest, Counter())

        facts = write_corpus(parts, url_ids, addresses, select, whole, room, writer, progress)
    nothing = count_records(sum_abouts([]), {}) | {"html_records": facts["pages"]}
    return facts | nothing | {"language_codes": whole["languages"], "all_captures": all_captures}


def count_shard(facts: Mapping[str, Any], chosen: ChosenPages, names: ShardNames) -> dict[str, Any]:
    """Return a shard's share of the whole's facts: addresses and aliases of its own range only."""
    needed = names.needed.array()
    aliases = int(np.count_nonzero(find_places(needed, chosen.aliases.array())[1]))
    return {
        **{name: facts[name] for name in (*_SUMS, "languages")},
        **{"urls": len(needed), "aliases": aliases, "skipped": dict(count_left_out(chosen))},
    }


def sum_facts(
    shards: Iterable[Mapping[str, Any]], whole: Mapping[str, Any], terms: int, hosts: int, all_captures: bool
) -> dict[str, Any]:
    """Return the facts about the whole corpus, given each shard's share (see `count_shard`).

    `whole` is the sum of what parts say of themselves; `terms` and `hosts` count the different words and hosts of all shards.
    """
    every = list(shards)
    in_language, skipped = (
        sum((Counter(one[name]) for one in every), Counter[str]()) for name in ("languages", "skipped")
    )
    codes = [code or "unknown" for code in whole["languages"]]
    return {
        **{name: sum(one[name] for one in every) for name in (*_SUMS, "urls", "aliases")},
        "terms": terms,
        "hosts": hosts,
        **count_records(whole, Counter(whole["skipped"]) + skipped),
        "languages": {code: in_language[code] for code in codes if in_language[code]},
        "language_codes": whole["languages"],
        "all_captures": all_captures,
    }


def _open(
    folders: Sequence[Path], names: Array, room: Workspace, files: contextlib.ExitStack, about: Mapping[str, Any] | None = None
) -> tuple[Parts, Ids]:  # fmt: skip
    """Return (the parts of a shard, and a last one that names `addresses`; the numbers of their addresses)."""
    more = write_part(names_part(Names.of(names), about or sum_abouts([])), room.folder / "names")
    parts = Parts([*folders, more], files)
    return parts, Ids(parts, "urls", room)


def _leave_out(rows: Array, pages: Array, url_count: int, all_captures: bool) -> Array:
    """Mark the captures that are not pages: older ones, and those of addresses without a page."""
    is_page = np.zeros(url_count, np.bool_)
    is_page[pages] = True
    left_out = ~is_page[rows["url"]]
    if not all_captures:
        left_out |= np.append(False, rows["url"][1:] == rows["url"][:-1])[: len(rows)]
    return np.asarray(left_out)
