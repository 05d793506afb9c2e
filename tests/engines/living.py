"""Collections that are updated, for tests: archives of records, builds that keep their parts, and all that is in a folder."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, BuildReport, UpdateReport, build_collection, update_collection
from pagekin.hypertext import Corpus, OptOuts, ReadPlan, open_corpora
from pagekin.hypertext.part import PAGE_ROW, blob_sizes
from pagekin.store import KEPT
from tests.sources.making import http, warc


def archive(folder: Path, name: str, records: Iterable[bytes]) -> str:
    """Write an archive; return its path."""
    (folder / name).write_bytes(b"".join(records))
    return str(folder / name)


def not_found(url: str, date: str) -> bytes:
    """An answer that there is no such page, as a WARC record."""
    return warc(url, http(b"", status="404 Not Found"), date=date)


def build(sources: Sequence[str], out: Path, *, whole: bool = False, **options: Any) -> BuildReport:
    """Build a collection that keeps its parts; with clusters, label and search if it is `whole`."""
    plan = ReadPlan(list(sources), out, **{"parser": "strict", "keep": True, **options})
    return build_collection(
        plan, BuildRecipe(Strategy(), ClusterSettings(max_clusters=4) if whole else None, text=whole)
    )


def update(out: Path, *sources: str, remove: Sequence[str] = (), **options: Any) -> UpdateReport:
    return update_collection(out, sources, opt_outs=OptOuts.of(remove), **options)


def files_of(path: Path) -> dict[str, bytes]:
    """All files of a collection proper: without what it keeps."""
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file() and file.name != ".lock"}


def page_urls(path: Path) -> set[str]:
    corpus = Corpus.open(path)
    return {corpus.page_url(page) for page in range(len(corpus))}


def everything_in(path: Path) -> Iterator[tuple[str, bytes]]:
    """All bytes of a collection and of what it keeps, by file, and everything in them that is compressed, unpacked."""
    for file in sorted(path.rglob("*")):
        if file.is_file():
            yield str(file.relative_to(path)), file.read_bytes()
    for corpus in open_corpora(path):
        where = "" if corpus.kin.path == path else f" of {corpus.kin.path.name}"
        for page in range(len(corpus)):
            words = " ".join(corpus.terms.text(term) for term in corpus.stream(page).words.tolist())
            yield f"words of page {page}{where}", words.encode()
        frames, ends = np.asarray(corpus.kin["text.frames"]), np.asarray(corpus.kin["page.text"]).tolist()
        for page in range(len(corpus)):
            frame = frames[ends[page] : ends[page + 1]].tobytes()
            yield f"text of page {page}{where}", zstandard.ZstdDecompressor().decompress(frame)
    for part in sorted((path / KEPT).glob("part-*")):
        rows, blobs = np.load(part / "pages.npy"), (part / "blobs").read_bytes()
        assert rows.dtype == PAGE_ROW
        for number, row in enumerate(rows):
            first = int(row["blob"]) + int(blob_sizes(row, "text"))
            frame = blobs[first : first + int(row["text"])]
            yield f"{part.name}, page {number}", zstandard.ZstdDecompressor().decompress(frame)


def places_of(path: Path, text: str) -> list[str]:
    """Where in a collection, or in what it keeps, a text stands."""
    return [where for where, data in everything_in(path) if text.encode() in data.lower()]
