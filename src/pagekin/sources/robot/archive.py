"""The WARC file that a crawl writes: whole records in one piece each, so that a kill leaves at most one cut record."""

import io
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pagekin import __version__
from pagekin.sources.robot.fetched import Exchange
from pagekin.sources.robot.frontier import Entry
from pagekin.sources.robot.links import Link
from pagekin.sources.robot.plan import PRODUCT, CrawlPlan


class Archive:
    """A WARC file that grows by records; compressed record by record if its name ends in `.gz`."""

    def __init__(self, path: Path, length: int, info: dict[str, str]) -> None:
        """Open the file at `path`, cut to `length`: what lies beyond is not known to be whole.

        `info` describes the records that follow; it is written with the first of them.
        """
        self.path = path
        self._info = info
        self._gzip = path.name.lower().endswith(".gz")
        self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)
        self._file.truncate(length)
        self._file.seek(length)
        self.length = length

    def close(self) -> None:
        """Close the file, with all of it on the disk."""
        os.fsync(self._file.fileno())
        self._file.close()

    def write_exchange(self, exchange: Exchange, entry: Entry | None, links: tuple[Link, ...] = ()) -> None:
        """Write a request, its response, and how it was reached and where it leads."""
        writer, buffer = self._writer()
        date = datetime.fromtimestamp(exchange.started, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        response_id = f"<urn:uuid:{uuid.uuid4()}>"
        headers = {"WARC-Record-ID": response_id, "WARC-Date": date, "WARC-IP-Address": exchange.address}
        if exchange.cut:
            headers["WARC-Truncated"] = exchange.cut
        response = _record(writer, exchange.url, "response", headers, exchange.body, exchange.reply_head)
        headers = {"WARC-Date": date, "WARC-Concurrent-To": response_id}
        writer.write_record(response)
        writer.write_record(_record(writer, exchange.url, "request", headers, b"", exchange.request_head))
        if entry is not None:
            lines = [f"via: {entry.via}"] if entry.via else ["seed: "]
            lines += [f"hopsFromSeed: {entry.hops}"] if entry.hops else []
            lines += [f"fetchTimeMs: {exchange.seconds * 1000:.0f}"]
            lines += [f"outlink: {link.url} {'L' if link.follow else 'N'} {link.context}" for link in links]
            body = "\r\n".join([*lines, ""]).encode("utf-8", "replace")
            writer.write_record(_record(writer, exchange.url, "metadata", headers, body))
        self._append(buffer)

    def _writer(self) -> tuple[Any, io.BytesIO]:
        buffer = io.BytesIO()
        writer = WARCWriter(buffer, gzip=self._gzip, warc_version="1.1")
        if self._info:
            writer.write_record(writer.create_warcinfo_record(self.path.name, self._info))
            self._info = {}
        return writer, buffer

    def _append(self, buffer: io.BytesIO) -> None:
        left = memoryview(buffer.getvalue())
        while left:
            left = left[self._file.write(left) :]
        self.length = self._file.tell()


def crawl_info(plan: CrawlPlan) -> dict[str, str]:
    """What the archive of a crawl says of its making."""
    return {
        "software": f"{PRODUCT}/{__version__}", "format": "WARC File Format 1.1", "robots": "obey",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "http-header-user-agent": plan.user_agent, "operator": plan.contact,
        "description": f"pages from {plan.root} ({plan.scope})",
    }  # fmt: skip


class _Head(StatusAndHeaders):  # type: ignore[misc]  # warcio has no types
    """An HTTP head that is written byte by byte as it is: the writer would respell what is not ASCII."""

    def __init__(self, raw: bytes) -> None:
        super().__init__("", [])
        self._raw = raw

    def __bool__(self) -> bool:
        return True

    def compute_headers_buffer(self, header_filter: Any = None) -> None:
        """Take the bytes as they are."""
        self.headers_buff = self._raw


def _record(writer: Any, url: str, kind: str, headers: dict[str, str], body: bytes, head: bytes = b"") -> Any:
    return writer.create_warc_record(
        url, kind, payload=io.BytesIO(body), length=len(body), http_headers=_Head(head) if head else None,
        warc_headers_dict=dict(headers),
    )  # fmt: skip
