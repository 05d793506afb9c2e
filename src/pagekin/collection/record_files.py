"""Records of pages for other programs: copies as WARC and WACZ, and an index of them as CDXJ."""

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from pagekin import __version__
from pagekin.collection.page_tables import surt_key
from pagekin.hypertext import Corpus
from pagekin.sources import CopyError, RecordCopier, RecordPlace, payload_digest, warcinfo
from pagekin.store import fresh_file

_WARC_NAME = "data.warc.gz"
_STEP = 1 << 20


class PageRecord(NamedTuple):
    """A page, and the place of its record."""

    url: str
    title: str
    date: int
    place: RecordPlace
    digest: str = ""
    """Of the payload, as the record names it; '' if that is not known."""


@dataclass
class CopiedRecords:
    """The outcome of copying records: how many were copied, and why others were not."""

    copied: list[PageRecord] = field(default_factory=list)
    """With the places of the copies."""
    left_out: Counter[str] = field(default_factory=Counter)
    """How many were not copied, by the reason."""


def page_records(corpus: Corpus, copier: RecordCopier | None = None) -> Iterator[PageRecord]:
    """Yield all pages with the places of their records; KinError if an earlier version made the collection.

    Digests come from the records, where `copier` finds them.
    """
    for page in range(len(corpus)):
        url, place, digest = corpus.page_url(page), corpus.place(page), ""
        if copier is not None:
            with suppress(CopyError):
                digest = copier.digest(place, url)
        yield PageRecord(url, corpus.titles.text(page), int(corpus.pages.date[page]), place, digest)


def write_cdxj(records: Iterable[PageRecord], path: Path) -> int:
    """Write a sorted CDXJ index of records; return the number of records with a known place."""
    lines = _cdxj_lines(records)
    with fresh_file(path) as file:
        file.writelines(lines)
    return len(lines)


def copy_records(
    records: Iterable[PageRecord], copier: RecordCopier, path: Path, about: str, tell: Callable[[int], None] = lambda _n: None
) -> CopiedRecords:  # fmt: skip
    """Write copies of records as a WARC file, one gzip member each; all or nothing."""
    with fresh_file(path) as file:
        return _copy(records, copier, file, path.name, about, tell)


def write_wacz(
    records: Iterable[PageRecord], copier: RecordCopier, path: Path, about: str, tell: Callable[[int], None] = lambda _n: None
) -> CopiedRecords:  # fmt: skip
    """Write copies of records as a WACZ file: the records, their index, and the list of pages; all or nothing."""
    warc = path.with_name(f".{path.name}.records.unfinished")
    try:
        with warc.open("wb") as file:
            done = _copy(records, copier, file, _WARC_NAME, about, tell)
        with fresh_file(path) as out, zipfile.ZipFile(out, "w") as archive:
            resources = [_add_file(archive, f"archive/{_WARC_NAME}", warc)]
            resources.append(_add(archive, "indexes/index.cdxj", b"".join(_cdxj_lines(done.copied))))
            resources.append(_add(archive, "pages/pages.jsonl", b"".join(_page_lines(done.copied))))
            package = _json_line({
                "profile": "data-package", "wacz_version": "1.1.1", "title": about,
                "software": f"pagekin/{__version__}", "created": _iso(datetime.now(UTC)), "resources": resources,
            })  # fmt: skip
            added = _add(archive, "datapackage.json", package)
            _add(archive, "datapackage-digest.json", _json_line({"path": added["path"], "hash": added["hash"]}))
    finally:
        warc.unlink(missing_ok=True)
    return done


def _copy(
    records: Iterable[PageRecord], copier: RecordCopier, file: IO[bytes], name: str, about: str, tell: Callable[[int], None]
) -> CopiedRecords:  # fmt: skip
    done = CopiedRecords()
    file.write(warcinfo(name, about))
    for number, record in enumerate(records):
        tell(number)
        try:
            copy = copier.copy(record.place, record.url)
        except CopyError as error:
            done.left_out[str(error)] += 1
            continue
        place = RecordPlace(name, file.tell(), len(copy))
        done.copied.append(record._replace(place=place, digest=payload_digest(copy)))
        file.write(copy)
    return done


def _cdxj_lines(records: Iterable[PageRecord]) -> list[bytes]:
    """Return the lines of an index, in the order of their bytes."""
    lines = []
    for record in records:
        if record.place.length:
            about = {
                "url": record.url, "mime": "text/html", "status": "200",
                **({"digest": record.digest} if record.digest else {}), "length": str(record.place.length),
                "offset": str(record.place.offset), "filename": record.place.archive,
            }  # fmt: skip
            stamp = _moment(record.date).strftime("%Y%m%d%H%M%S")
            lines.append(f"{surt_key(record.url)} {stamp} ".encode("utf-8", "replace") + _json_line(about))
    return sorted(lines)


def _page_lines(records: Iterable[PageRecord]) -> Iterator[bytes]:
    yield _json_line({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})
    for record in records:
        page_id = hashlib.blake2b(f"{record.url} {record.date}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        yield _json_line({"id": page_id, "url": record.url, "ts": _iso(_moment(record.date)), "title": record.title})


def _json_line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _moment(date: int) -> datetime:
    return datetime.fromtimestamp(date, UTC)


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> dict[str, Any]:
    return _add_stream(archive, name, io.BytesIO(data), len(data))


def _add_file(archive: zipfile.ZipFile, name: str, path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return _add_stream(archive, name, file, path.stat().st_size)


def _add_stream(archive: zipfile.ZipFile, name: str, data: IO[bytes], size: int) -> dict[str, Any]:
    """Add a file to a WACZ, uncompressed, so that it can be read in place; return its entry for the package."""
    entry = zipfile.ZipInfo(name)
    entry.file_size = size
    digest = hashlib.sha256()
    with archive.open(entry, "w") as out:
        while piece := data.read(_STEP):
            digest.update(piece)
            out.write(piece)
    return {"name": Path(name).name, "path": name, "hash": f"sha256:{digest.hexdigest()}", "bytes": size}
