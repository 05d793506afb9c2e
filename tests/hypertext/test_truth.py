"""The fast lexer against the strict reader, on real pages."""

import tarfile
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from pagekin.hypertext import Lexer, StrictLexer, to_utf8
from pagekin.sources import Limits

from .compare import Difference, compare

LIMITS = Limits()


def webkb_pages(data: Path) -> list[bytes]:
    """The text/html bodies of WebKB, the 52 that were fetched by FTP too."""
    pages = []
    with (data / "webkb" / "webkb.warc.gz").open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=True, record_types=WarcRecordType.response):
            content_type = record.http_headers.get("Content-Type") or ""
            if content_type.lower().startswith("text/html"):
                pages.append(to_utf8(record.reader.read(), content_type)[0])
    return pages


def school_pages(data: Path, count: int) -> list[bytes]:
    pages: list[bytes] = []
    with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
        for member in archive:
            if member.name.endswith(".htm") and "/wp/" in member.name:
                file = archive.extractfile(member)
                assert file is not None
                pages.append(to_utf8(file.read(), "")[0])
                if len(pages) == count:
                    break
    return pages


def report(name: str, found: Difference) -> str:
    return (
        f"{name}: words {found.words:,} of {found.words_of:,} ({found.word_share:.4%}), "
        f"anchors {found.anchors:,} of {found.anchors_of:,} ({found.anchor_share:.4%}), "
        f"worst pages {sorted(found.worst, reverse=True)[:5]}"
    )


@pytest.mark.parametrize("collection", ["webkb", "school"])
def test_fast_and_strict_agree_on_real_pages(data: Path, collection: str) -> None:
    pages = webkb_pages(data) if collection == "webkb" else school_pages(data, 120)
    assert len(pages) == (8253 if collection == "webkb" else 120)
    pages = pages[::8] if collection == "webkb" else pages
    found = compare(Lexer(LIMITS), StrictLexer(LIMITS), pages)
    assert found.words_of > 200_000
    assert found.word_share <= 0.003, report(collection, found)
    assert found.anchor_share <= 0.005, report(collection, found)
