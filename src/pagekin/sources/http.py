"""Decode HTTP bodies as archives hold them: transfer and content encodings, within limits."""

import io
import re
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import brotli
import zstandard

from pagekin.sources.growth import FREE
from pagekin.sources.items import BOMB
from pagekin.sources.limits import Limits

_STEP = 1 << 14
_FEW = 1 << 11
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CODINGS = 4
_DIGITS = re.compile(r"\d{4}|\d{6}|\d{8}|\d{10}|\d{12}|\d{14}|\d{17}", re.ASCII)
_YEAR_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)

_VALUED_RULES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
"""Rules of X-Robots-Tag that have a value after a colon, where others have the name of a robot before it."""
ROBOTS_HEADER = "X-Robots-Tag"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
GONE = frozenset({404, 410})
"""What a server answers when there is no such page, or no more."""
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
PDF_TYPE = "application/pdf"


class BodyError(Exception):
    """A body that cannot be decoded; `reason` is the reason for the skip."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason


@lru_cache(maxsize=1 << 8)
def media_type(content_type: str) -> str:
    """Return the type in a Content-Type header, without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def forbids_indexing(robots: str) -> bool:
    """Return whether X-Robots-Tag values, one per line, forbid indexing for all robots or for ours."""
    for line in robots.lower().splitlines():
        robot = "*"
        for part in line.split(","):
            name, colon, rest = (piece.strip() for piece in part.partition(":"))
            if colon and name not in _VALUED_RULES:
                robot, name = name, rest
            if name in ("noindex", "none") and robot in ("*", "pagekin"):
                return True
    return False


def looks_like_html(body: bytes) -> bool:
    """Return whether a body without a Content-Type is HTML, by a small subset of the WHATWG sniffing rules."""
    head = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n\f").lower()
    return head.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<!--"))


@lru_cache(maxsize=1 << 10)
def unix_time(stamp: str) -> int:
    """Parse a WARC date (ISO 8601, also a year alone) or an ARC date (digits); return seconds since 1970, or 0."""
    stamp = stamp.strip()
    if _DIGITS.fullmatch(stamp):
        digits = stamp[:14] + "00000101000000"[len(stamp) :]
        stamp = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}Z"
    elif _YEAR_MONTH.fullmatch(stamp):
        stamp += "-01"
    try:
        parsed = datetime.fromisoformat(stamp)
    except ValueError:
        return 0
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return max(0, int(parsed.timestamp()))


def decode_body(raw: bytes, transfer: str, content: str, limits: Limits) -> tuple[bytes, bool]:
    """Decode a payload by its Transfer-Encoding and Content-Encoding headers; return (body, whether it was cut).

    Archives often keep these headers for bodies that are decoded already, or drop them for bodies that are not. A body
    that is not encoded as its header says is therefore taken for what it looks like.
    """
    body, cut = raw, False
    if "chunked" in transfer.lower():
        body = _dechunk(body)
    for coding in reversed([c.strip().lower() for c in content.split(",")][:_MOST_CODINGS]):
        if not body:
            break
        if body[:2] == b"\x1f\x8b":
            coding = "gzip"
        elif body[:4] == b"\x28\xb5\x2f\xfd":
            coding = "zstd"
        elif coding not in ("deflate", "br"):
            continue
        try:
            plain, short = _decompress(_CODINGS[coding], body, len(raw), limits)
        except BodyError as error:
            if error.reason != "undecodable body" or not _looks_decoded(body):
                raise
            continue
        if plain or not _looks_decoded(body):
            body, cut = plain, cut or short
    if len(body) > limits.page_bytes:
        body, cut = body[: limits.page_bytes], True
    return body, cut


def _looks_decoded(body: bytes) -> bool:
    """Return whether a body is text with a tag rather than compressed bytes."""
    head = body[:1024]
    return b"<" in head and not _CONTROL.search(head)


def _dechunk(body: bytes) -> bytes:
    """Remove chunk headers; return a body without them unchanged."""
    parts: list[bytes] = []
    position = 0
    while match := _CHUNK_SIZE.match(body, position):
        size = int(match[1], 16)
        if size == 0:
            return b"".join(parts)
        start = match.end()
        parts.append(body[start : start + size])
        position = start + size
        if position >= len(body):
            return b"".join(parts)  # cut short: keep what came
        if body[position : position + 2] == b"\r\n":
            position += 2
        elif body[position : position + 1] == b"\n":
            position += 1
    # Damaged after at least two good chunks: keep the rest as it is. Otherwise the body was decoded already.
    return b"".join(parts) + body[position:] if len(parts) > 1 else body


def _decompress(
    pieces: Callable[[bytes], Iterator[tuple[bytes, int]]], body: bytes, raw: int, limits: Limits
) -> tuple[bytes, bool]:
    """Join decompressed pieces; return (body, whether it was cut). A bomb is refused before it fills the memory.

    `raw` are the bytes of the record's body, which all its encodings together may not let grow beyond the ratio. A body that
    is cut is judged by the part of it that was decompressed: nobody knows what the rest would grow to.
    """
    allowed = max(FREE, raw * limits.ratio)
    out = bytearray()
    try:
        for piece, taken in pieces(body):
            out += piece
            if len(out) > allowed or (len(out) > limits.page_bytes and len(out) > max(FREE, taken * limits.ratio)):
                raise BodyError(BOMB, f"{min(raw, taken):,} bytes grow more than {limits.ratio} times")
            if len(out) > limits.page_bytes:
                return bytes(out[: limits.page_bytes]), True
    except EOFError:
        return bytes(out), True
    except (zlib.error, brotli.error, zstandard.ZstdError) as error:
        if out:
            return bytes(out), True
        raise BodyError("undecodable body", f"compressed body: {error}") from None
    return bytes(out), False


def _inflate(body: bytes, wbits: int = 31) -> Iterator[tuple[bytes, int]]:
    """Decompress gzip (with one or more members), zlib or raw deflate, up to the first damage.

    Like its neighbours, it yields pieces of at most a few MiB, each with how many bytes of the body it took so far.
    """
    rest = body
    while rest:
        stream = zlib.decompressobj(wbits)
        while not stream.eof:
            spare = stream.copy()
            try:
                piece = stream.decompress(rest, FREE)
            except zlib.error:
                yield from _inflate_to_damage(spare, rest, len(body) - len(rest))
                raise
            rest = stream.unconsumed_tail
            yield piece, len(body) - len(rest or stream.unused_data)
            if not piece and not rest and not stream.eof:
                raise EOFError
        rest = stream.unused_data
        if wbits != 31 or rest[:2] != b"\x1f\x8b":
            return


def _inflate_to_damage(stream: Any, rest: bytes, taken: int) -> Iterator[tuple[bytes, int]]:
    """Decompress up to the damage in `rest`, byte by byte at the end, because a failing call returns nothing."""
    for start in range(0, len(rest), _FEW):
        spare = stream.copy()
        try:
            yield stream.decompress(rest[start : start + _FEW]), taken + start + _FEW
        except zlib.error:
            for at in range(start, start + _FEW):
                yield spare.decompress(rest[at : at + 1]), taken + at + 1
            raise


def _undeflate(body: bytes) -> Iterator[tuple[bytes, int]]:
    """Decompress `deflate`, which is zlib in RFC 9110, but raw deflate from many servers."""
    zlib_header = len(body) > 1 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0
    return _inflate(body, 15 if zlib_header else -15)


def _unbrotli(body: bytes) -> Iterator[tuple[bytes, int]]:
    stream = brotli.Decompressor()
    for start in range(0, len(body), _STEP):
        # output_buffer_limit bounds the output of one call; further calls return the rest.
        taken = min(start + _STEP, len(body))
        yield stream.process(body[start:taken], output_buffer_limit=FREE), taken
        while not stream.is_finished() and not stream.can_accept_more_data():
            yield stream.process(b"", output_buffer_limit=FREE), taken
        if stream.is_finished():
            return
    raise EOFError


def _unzstd(body: bytes) -> Iterator[tuple[bytes, int]]:
    # 8 MiB is the largest window that RFC 9659 allows in HTTP.
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 23)
    source = io.BytesIO(body)
    with decompressor.stream_reader(source, read_size=_STEP, read_across_frames=True) as stream:
        while piece := stream.read(FREE):
            yield piece, source.tell()


_CODINGS: dict[str, Callable[[bytes], Iterator[tuple[bytes, int]]]] = {
    "gzip": _inflate, "zstd": _unzstd, "deflate": _undeflate, "br": _unbrotli
}  # fmt: skip
