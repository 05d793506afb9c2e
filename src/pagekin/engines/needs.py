"""Estimate the memory and disk that a build needs at least, before it begins."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from pagekin.hypertext import Note, ReadPlan, no_note
from pagekin.sources import HTML_ENDINGS, Unit, plan_units
from pagekin.store import DiskFullError, MemoryBudget, TooLittleMemoryError, use_memory_tightly

LEAST_MEMORY = 400 << 20
"""What a build of few pages takes, with the compiled code of all its stages, and the clusters of a sample of `HELD_SAMPLE`."""
MEMORY_SHARE = 1 / 16
"""Bytes of memory for each byte of HTML that are not left on the disk."""
SHARDS_MORE = 50 << 20
"""What a build in shards takes besides: one process has the compiled code and the buffers of all stages."""
WHOLE_TABLES = 3 / 8
"""The share of that memory that shards do not make smaller: names, words and counts of the whole collection. By measurements
of builds in one piece and in eight shards: docs/benchmarks.md."""
UNEVEN = 2
"""How many times the mean shard the largest is, at most: shards are cut by addresses, not by bytes."""
HELD_SAMPLE = 30_000
CLUSTERED_PAGE = 6 << 10
"""Bytes of memory for each further page of the sample of which clusters are made: the graph of its neighbours."""
SMALL_PAGE = 4 << 10
"""Bytes of HTML of a small page: how many pages there are is not known before they are read."""
PACKED = 4
"""Bytes of HTML in a byte of a compressed archive, about."""
PARTS, CORPUS, INDEX, TEXT, CLUSTERS, TEMPORARY = 0.25, 0.2, 0.13, 0.1, 0.02, 0.25
"""Bytes on the disk for each byte of HTML, as measured on documentation; pages with little markup take more."""
SURE = 0.25
"""A disk that is free for less than this share of what is expected is refused: no pages that we know take so little."""
_WORTH_TELLING = 1 << 30
_STEP = 10 << 20


def source_bytes(unit: Unit) -> int:
    """Return the size of a unit in its source; for a folder, of its pages."""
    if unit.kind == "folder":
        pages = (name for name in unit.files if name.lower().endswith(HTML_ENDINGS))
        return sum(_file_bytes(Path(unit.path) / name) for name in pages) or 1
    return max(unit.end - unit.start, 1)


def _file_bytes(file: Path) -> int:
    """Return the size of a file; 0 if it is missing or a dangling link."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def html_bytes(units: Sequence[Unit]) -> int:
    """Return the approximate bytes of HTML in some units."""
    packed = (".gz", ".zst", ".lz4", ".wacz")
    return sum(source_bytes(unit) * (PACKED if unit.path.lower().endswith(packed) else 1) for unit in units)


def least_memory(html: int, shards: int = 1, sample: int = 0) -> int:
    """Return the least memory for a build of this many bytes of HTML, in multiples of 10 MiB.

    Shards are made one after another, and before them clusters, from a sample of at most so many pages; 0 without clusters.
    """
    least, held = LEAST_MEMORY, MEMORY_SHARE * html
    if shards > 1:
        least += SHARDS_MORE
        held *= min(WHOLE_TABLES + (1 - WHOLE_TABLES) * UNEVEN / shards, 1.0)
    held = max(held, CLUSTERED_PAGE * (min(sample, html // SMALL_PAGE) - HELD_SAMPLE))
    return -(-(least + round(held)) // _STEP) * _STEP


def require_memory(memory: MemoryBudget, html: int, shards: int = 1, sample: int = 0) -> None:
    """Raise an error if a build has too little memory; with a limit, make the allocator return free memory."""
    if not memory.limit:
        return
    if memory.limit < (least := least_memory(html, shards, sample)):
        divided = f" in {shards:,} shards" if shards > 1 else ""
        plain = least_memory(html, shards)
        without = f", or {plain >> 20}M with --no-clusters" if plain < least else ""
        raise TooLittleMemoryError(
            f"--memory {memory.limit / (1 << 20):,.0f}M is too little for {html / 1e6:,.0f} MB of HTML{divided}; "
            f"{least >> 20}M would do{without}. Nothing was begun."
        )
    use_memory_tightly()


def disk_need(html: int, index: bool = True, text: bool = True, clusters: bool = True) -> int:
    """Return the approximate disk space that a build of this much HTML takes."""
    share = PARTS + CORPUS + index * (INDEX + TEMPORARY) + text * TEXT + clusters * CLUSTERS
    return round(share * html)


def free_disk(path: str | os.PathLike[str]) -> int:
    """Return the free bytes on the disk of a folder, which need not exist yet."""
    whole = Path(path).absolute()
    return shutil.disk_usage(next(one for one in (whole, *whole.parents) if one.exists())).free


def require_room(
    plan: ReadPlan, clusters: bool, text: bool, note: Note = no_note, index: bool = True, held: int = 0,
    shards: int = 1, sample: int = 0,
) -> tuple[Unit, ...]:  # fmt: skip
    """Raise an error for too little memory or disk; tell `note` how much disk a large build needs.

    Return the units of the sources, so that a large folder is listed once. With them, so many bytes of HTML are `held` in parts.
    `shards` and `sample` are those of `least_memory`.
    """
    units = list(plan.units) or plan_units(plan.sources, plan.base_urls, plan.base_url)
    html = html_bytes(units) + held
    require_memory(plan.memory, html, shards, sample)
    need, free = disk_need(html, index, text, clusters), free_disk(plan.out)
    if free < SURE * need:
        raise DiskFullError(
            f"the disk at {plan.out} has {free / 1e9:,.2f} GB free, and the build takes about {need / 1e9:,.2f} GB "
            "while it runs. Make room there, or name another place with --out. Nothing was begun."
        )
    if need >= min(_WORTH_TELLING, free // 2):
        note(f"takes about {need / 1e9:,.1f} GB of disk while it runs; {free / 1e9:,.1f} GB are free at {plan.out}")
    return tuple(units)
