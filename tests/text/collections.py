"""Small collections that can be searched."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.text import TextIndex, add_text_index
from tests.bags.webs import record


def read(path: Path, records: Iterable[bytes], **options: Any) -> Path:
    """A collection of some records, without a full-text index."""
    path.parent.mkdir(parents=True, exist_ok=True)
    archive = path.with_suffix(".warc")
    archive.write_bytes(b"".join(records))
    read_sources(ReadPlan([str(archive)], path, **{"parser": "strict", **options}))
    return path


def searchable(path: Path, pages: Mapping[str, str], **options: Any) -> TextIndex:
    """The full-text index of pages, given by address."""
    read(path, (record(url, html) for url, html in pages.items()), **options)
    add_text_index(path)
    return TextIndex.at(path)


def addresses(corpus: Corpus, pages: Iterable[int]) -> list[str]:
    """The last part of each page's address."""
    return [corpus.page_url(page).rpartition("/")[2] for page in pages]
