"""HTTP bodies as archives hold them: transfer and content encodings undone, within limits."""

import re
import zlib
from collections.abc import Callable
from datetime import UTC, datetime

import brotli
import zstandard

from pagekin.sources.limits import Limits

_FREE_GROWTH = 1 << 20  # a small body may grow by any ratio up to this
_STEP = 1 << 16
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})


class BodyError(Exception):
    """A body that cannot be decoded; `reason` is the reason of skipping."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def media_type(content_type: str) -> str:
    """The type of a Content-Type header without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a Content-Type is HTML: a small subset of the WHATWG sniffing rules."""
    head = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n\f").lower()
    return head.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<!--"))


def unix_time(stamp: str) -> int:
    """Seconds since 1970 of an ISO 8601 date as in WARC-Date; 0 if it is none."""
    try:
        parsed = datetime.fromisoformat(stamp.strip())
    except ValueError:
        return 0
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return max(0, int(parsed.timestamp()))


def decode_body(raw: bytes, transfer: str, content: str, limits: Limits) -> tuple[bytes, bool]:
    """(body, cut) of a raw payload, given its Transfer-Encoding and Content-Encoding headers.

    Archives often keep these headers over bodies that were decoded already; a body that is not encoded as its header
    claims is taken as it is.
    """
    body, cut = raw, False
    if "chunked" in transfer.lower():
        body = _dechunk(body)
    for coding in reversed([c.strip().lower() for c in content.split(",")]):
        if coding in ("gzip", "x-gzip") and body[:2] == b"\x1f\x8b":
            body, cut = _inflate(body, 31, limits)
        elif coding == "deflate" and body:
            # RFC 9110 means zlib; many servers sent raw deflate. Neither: the body was decoded already.
            wbits = 15 if body[0] & 0x0F == 8 and (body[0] << 8 | body[1 if len(body) > 1 else 0]) % 31 == 0 else -15
            try:
                body, cut = _inflate(body, wbits, limits)
            except BodyError as error:
                if error.reason != "undecodable body" or b"<" not in body[:1024]:
                    raise
        elif coding == "br" and body:
            body, cut = _unbrotli(body, limits)
        elif coding == "zstd" and body[:4] == b"\x28\xb5\x2f\xfd":
            body, cut = _unzstd(body, limits)
    if len(body) > limits.page_bytes:
        body, cut = body[: limits.page_bytes], True
    return body, cut


def _dechunk(body: bytes) -> bytes:
    """`body` without chunk headers, or `body` itself if it has none."""
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
    return b"".join(parts) if parts and position >= len(body) else body


def _allowed(size: int, limits: Limits) -> int:
    """Bytes a body of `size` compressed bytes may become before it is refused as a bomb."""
    return max(_FREE_GROWTH, size * limits.ratio)


def _bomb(size: int, limits: Limits) -> BodyError:
    return BodyError("decompression bomb", f"{size:,} bytes grow more than {limits.ratio} times")


def _inflate(body: bytes, wbits: int, limits: Limits) -> tuple[bytes, bool]:
    """Gzip (several members too), zlib or raw deflate, up to the limits."""
    most = min(limits.page_bytes, _allowed(len(body), limits))
    out: list[bytes] = []
    size, rest = 0, body
    while rest:
        stream = zlib.decompressobj(wbits)
        while not stream.eof:
            try:
                piece = stream.decompress(rest, most - size + 1)
            except zlib.error as error:
                if size:
                    return b"".join(out), True  # keep what came before the damage
                raise BodyError("undecodable body", f"compressed body: {error}") from None
            out.append(piece)
            size += len(piece)
            if size > most:
                if most < limits.page_bytes:
                    raise _bomb(len(body), limits)
                return b"".join(out)[:most], True
            rest = stream.unconsumed_tail
            if not rest and not stream.eof:
                return b"".join(out), True
        rest = stream.unused_data
        if wbits != 31 or rest[:2] != b"\x1f\x8b":
            break
    return b"".join(out), False


def _stepwise(body: bytes, limits: Limits, process: Callable[[bytes], bytes]) -> tuple[bytes, bool]:
    """Decompress in small steps so that a bomb is noticed before it is in memory."""
    most = min(limits.page_bytes, _allowed(len(body), limits))
    out: list[bytes] = []
    size = 0
    for start in range(0, len(body), _STEP):
        try:
            piece = process(body[start : start + _STEP])
        except (brotli.error, zstandard.ZstdError) as error:
            if size:
                return b"".join(out), True
            raise BodyError("undecodable body", f"compressed body: {error}") from None
        out.append(piece)
        size += len(piece)
        if size > most:
            if most < limits.page_bytes:
                raise _bomb(len(body), limits)
            return b"".join(out)[:most], True
    return b"".join(out), False


def _unbrotli(body: bytes, limits: Limits) -> tuple[bytes, bool]:
    if b"<" in body[:64] and body.lstrip()[:1] == b"<":
        return body, False  # decoded already
    stream = brotli.Decompressor()
    most = min(limits.page_bytes, _allowed(len(body), limits))

    def process(piece: bytes) -> bytes:
        # output_buffer_limit bounds one call's output; the rest stays inside and is asked for again.
        out = [stream.process(piece, output_buffer_limit=_FREE_GROWTH)]
        size = len(out[0])
        while size <= most and not stream.is_finished() and not stream.can_accept_more_data():
            out.append(stream.process(b"", output_buffer_limit=_FREE_GROWTH))
            size += len(out[-1])
        return b"".join(out)

    return _stepwise(body, limits, process)


def _unzstd(body: bytes, limits: Limits) -> tuple[bytes, bool]:
    most = min(limits.page_bytes, _allowed(len(body), limits))
    stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(body, read_across_frames=True)
    try:
        out = stream.read(most + 1)
    except zstandard.ZstdError as error:
        raise BodyError("undecodable body", f"compressed body: {error}") from None
    if len(out) > most:
        if most < limits.page_bytes:
            raise _bomb(len(body), limits)
        return out[:most], True
    return out, False
