"""The WARC file of a crawl. Each record is written in one piece, so that a kill cuts at most the last one."""

import io
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pagekin import __version__
from pagekin.sources.robot.exchange import Exchange
from pagekin.sources.robot.frontier import Entry
from pagekin.sources.robot.links import Link
from pagekin.sources.robot.plan import PRODUCT, CrawlPlan


class Archive:
    """A WARC file open for appending; each record is compressed by itself if the name ends in `.gz`."""

    def __init__(self, path: Path, length: int, info: dict[str, str]) -> None:
        """Open the file at `path` and cut it to `length` bytes, because the rest may be incomplete.

        `info` holds the fields of a warcinfo record, which is written before the first new record.
        """
        self.path = path
        self._info = info
        self._gzip = path.name.lower().endswith(".gz")
        self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)
        self._file.truncate(length)
        self._file.seek(length)
        self.length = length

    def close(self) -> None:
        """Close the file after syncing it to the disk."""
        os.fsync(self._file.fileno())
        self._file.close()

    def write_exchange(self, exchange: Exchange, entry: Entry | None, links: tuple[Link, ...] = ()) -> None:
        """Write a response, its request, and for a page how it was reached and what it links to."""
        buffer = io.BytesIO()
        writer = WARCWriter(buffer, gzip=self._gzip, warc_version="1.1")
        if self._info:
            writer.write_record(writer.create_warcinfo_record(self.path.name, self._info))
            self._info = {}
        date = datetime.fromtimestamp(exchange.started, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        response_id = f"<urn:uuid:{uuid.uuid4()}>"
        headers = {"WARC-Record-ID": response_id, "WARC-Date": date, "WARC-IP-Address": exchange.address}
        if exchange.cut:
            headers["WARC-Truncated"] = exchange.cut
        response = _make_record(writer, exchange.url, "response", headers, exchange.body, exchange.response_head)
        headers = {"WARC-Date": date, "WARC-Concurrent-To": response_id}
        writer.write_record(response)
        writer.write_record(_make_record(writer, exchange.url, "request", headers, b"", exchange.request_head))
        if entry is not None:
            lines = [f"via: {entry.via}"] if entry.via else ["seed: "]
            lines += [f"hopsFromSeed: {entry.hops}"] if entry.hops else []
            lines += [f"fetchTimeMs: {exchange.seconds * 1000:.0f}"]
            lines += [f"outlink: {link.url} {'L' if link.follow else 'N'} {link.context}" for link in links]
            body = "\r\n".join([*lines, ""]).encode("utf-8", "replace")
            writer.write_record(_make_record(writer, exchange.url, "metadata", headers, body))
        self._append(buffer)

    def _append(self, buffer: io.BytesIO) -> None:
        left = memoryview(buffer.getvalue())
        while left:
            left = left[self._file.write(left) :]
        self.length = self._file.tell()


def warcinfo_fields(plan: CrawlPlan) -> dict[str, str]:
    """Return the warcinfo fields that describe a crawl."""
    return {
        "software": f"{PRODUCT}/{__version__}", "format": "WARC File Format 1.1", "robots": "obey",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "http-header-user-agent": plan.user_agent, "operator": plan.contact,
        "description": f"pages from {plan.root} ({plan.scope})",
    }  # fmt: skip


class _Head(StatusAndHeaders):  # type: ignore[misc]  # warcio has no types
    """An HTTP head that is written unchanged; warcio would re-encode what is not ASCII."""

    def __init__(self, raw: bytes) -> None:
        super().__init__("", [])
        self._raw = raw

    def __bool__(self) -> bool:
        return True

    def compute_headers_buffer(self, header_filter: Any = None) -> None:
        """Keep the given bytes unchanged."""
        self.headers_buff = self._raw


def _make_record(writer: Any, url: str, kind: str, headers: dict[str, str], body: bytes, head: bytes = b"") -> Any:
    return writer.create_warc_record(
        url, kind, payload=io.BytesIO(body), length=len(body), http_headers=_Head(head) if head else None,
        warc_headers_dict=dict(headers),
    )  # fmt: skip
