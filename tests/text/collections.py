"""Small collections that can be searched."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.store import KinWriter
from pagekin.text import TEXT_ARRAYS, TextIndex, make_text
from tests.bags.webs import record


def read(path: Path, records: Iterable[bytes], **options: Any) -> Path:
    """A collection of some records, without a full-text index."""
    path.parent.mkdir(parents=True, exist_ok=True)
    archive = path.with_suffix(".warc")
    archive.write_bytes(b"".join(records))
    read_sources(ReadPlan([str(archive)], path, **{"parser": "strict", **options}))
    return path


def add_text_index(path: Path, progress: Any = lambda _s, _p: None, threads: int = 0) -> dict[str, Any]:
    """Add the full-text index to a collection, in place of the one that it may have; return its facts."""
    with KinWriter(path, "test") as writer:
        corpus = Corpus.open(path)
        kin = corpus.kin
        facts = make_text(writer, corpus, progress, threads)
        kept = {name: entry for name, entry in kin.manifest["files"].items() if not name.startswith(TEXT_ARRAYS)}
        writer.commit({**kin.facts, **facts}, keep=kept)
    return facts


def searchable(path: Path, pages: Mapping[str, str], **options: Any) -> TextIndex:
    """The full-text index of pages, given by address."""
    read(path, (record(url, html) for url, html in pages.items()), **options)
    add_text_index(path)
    return TextIndex.at(path)


def addresses(corpus: Corpus, pages: Iterable[int]) -> list[str]:
    """The last part of each page's address."""
    return [corpus.page_url(page).rpartition("/")[2] for page in pages]
