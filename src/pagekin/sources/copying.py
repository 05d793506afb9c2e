"""Find records of archives by position: copy them as gzip members of a WARC file, or read their digests."""

import gzip
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from pagekin import __version__
from pagekin.sources.captures import plain_url
from pagekin.sources.growth import STEP
from pagekin.sources.items import RecordPlace, SourceError
from pagekin.sources.scan import GZIP_MAGIC
from pagekin.sources.urls import canonical_url
from pagekin.wording import missing_file

_PIECE = 1 << 16
_NAMES = (".warc", ".warc.gz", ".arc", ".arc.gz", ".wacz", ".zip")
NO_ARCHIVE, NO_PLACE_KNOWN, NOT_THERE, OTHER_RECORD = (
    "of no archive", "record not known", "archive not given", "another record stands there"
)  # fmt: skip
"""Why a record cannot be copied."""


class CopyError(Exception):
    """A record that cannot be copied; the message is one of the reasons above."""


class RecordCopier:
    """Finds records in archives, given as files or as folders that hold them."""

    def __init__(self, archives: Iterable[str | Path]) -> None:
        self._paths: dict[str, list[Path]] = {}
        for given in map(Path, archives):
            if not given.exists():
                raise SourceError(missing_file(str(given)))
            for path in sorted(given.rglob("*")) if given.is_dir() else [given]:
                if path.name.lower().endswith(_NAMES) and path.is_file():
                    self._paths.setdefault(path.name, []).append(path)
        if not self._paths:
            raise SourceError("there is no web archive (.warc, .warc.gz, .arc, .arc.gz, .wacz) among --archives.")

    def copy(self, place: RecordPlace, url: str) -> bytes:
        """Return the record of a page as a gzip member of a WARC file; raise a CopyError if that is impossible.

        Files of one name are told apart by the record: it has to be one of this address.
        """
        for raw, is_arc in self._read(place):
            try:
                record = _as_warc(raw, is_arc)
                if len(raw) == place.length and _target(_read_head(record, whole=True)) == url:
                    return record if record[:3] == GZIP_MAGIC else gzip.compress(record, mtime=0)
            except (OSError, EOFError, ValueError, zlib.error):
                continue
        raise CopyError(OTHER_RECORD)

    def digest(self, place: RecordPlace, url: str) -> str:
        """Return the payload digest in a page's record, '' if it has none; raise a CopyError if there is no record."""
        for raw, is_arc in self._read(place, _PIECE):
            try:
                if is_arc:
                    return ""  # records of ARC files have no digests
                head = _read_head(raw)
                if _target(head) == url:
                    return payload_digest(raw)
            except (OSError, EOFError, ValueError, zlib.error):
                continue
        raise CopyError(OTHER_RECORD)

    def _read(self, place: RecordPlace, most: int | None = None) -> Iterator[tuple[bytes, bool]]:
        """Yield (the bytes at a position, or the first of them; whether they are ARC) from each file of that name."""
        if not place.archive:
            raise CopyError(NO_ARCHIVE)
        if not place.length:
            raise CopyError(NO_PLACE_KNOWN)
        name, _colon, member = place.archive.partition(":") if ".wacz:" in place.archive else (place.archive, "", "")
        paths = self._paths.get(name)
        if not paths:
            raise CopyError(NOT_THERE)
        for path in paths:
            try:
                with _open(path, member) as file:
                    file.seek(place.offset)
                    raw = file.read(min(place.length, most or place.length))
            except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error):
                continue
            yield raw, ".arc" in name.lower()


def payload_digest(record: bytes) -> str:
    """Return the payload digest, such as `sha1:…`, in the header of a WARC record; '' if it has none."""
    return _read_head(record).get(b"warc-payload-digest", b"").decode("ascii", "replace")


def warcinfo(name: str, about: str) -> bytes:
    """Return the first record of a new WARC file, compressed, which says who wrote it and from what."""
    from warcio.warcwriter import WARCWriter

    out = io.BytesIO()
    writer = WARCWriter(out, gzip=True)
    fields = {"software": f"pagekin/{__version__}", "format": "WARC File Format 1.0", "description": about}
    writer.write_record(writer.create_warcinfo_record(name, fields))
    return out.getvalue()


@contextmanager
def _open(path: Path, member: str) -> Iterator[BinaryIO]:
    """Open an archive, or the archive inside a WACZ file."""
    with ExitStack() as files:
        if not member:
            yield files.enter_context(path.open("rb"))
            return
        archive = files.enter_context(zipfile.ZipFile(path))
        yield cast(BinaryIO, files.enter_context(archive.open(member)))


def _as_warc(raw: bytes, from_arc: bool) -> bytes:
    """Return a record as a WARC record, converted if it is from an ARC file."""
    if not from_arc:
        return raw
    from warcio.archiveiterator import ArchiveIterator
    from warcio.warcwriter import WARCWriter

    out = io.BytesIO()
    writer: Any = WARCWriter(out, gzip=True)
    for record in ArchiveIterator(io.BytesIO(raw), arc2warc=True):
        writer.write_record(record)
    return out.getvalue()


def _read_head(record: bytes, whole: bool = False) -> dict[bytes, bytes]:
    """Return the first value of each field in a record's header; with `whole`, raise an error for a damaged member."""
    head = record[:_PIECE]
    if record[:3] == GZIP_MAGIC:
        head = zlib.decompressobj(31).decompress(record, _PIECE)
        if whole:
            with gzip.GzipFile(fileobj=io.BytesIO(record)) as file:
                while file.read(STEP):  # to its end, where the checksum of the member stands
                    pass
    fields: dict[bytes, bytes] = {}
    for line in head.splitlines():
        if not line:
            break
        field, colon, value = line.partition(b":")
        if colon:
            fields.setdefault(field.strip().lower(), value.strip())
    return fields


def _target(head: dict[bytes, bytes]) -> str | None:
    """Return the canonical address of a record."""
    url = head.get(b"warc-target-uri")
    return None if url is None else canonical_url(plain_url(url.decode("utf-8", "replace")))
