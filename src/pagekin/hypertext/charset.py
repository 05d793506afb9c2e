"""Convert a page's bytes to UTF-8: byte order mark, HTTP header, meta element, then detection."""

import codecs
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files

from turbohtml.detect import detect

# Only encodings with labels are ever used: Python's registry also holds codecs that are none (rot13, zip).
_LABELS = {
    label: encoding
    for encoding, labels in tomllib.loads(files("pagekin.hypertext").joinpath("encodings.toml").read_text()).items()
    for label in labels.split()
}
# What stands between "=" and the label is one run: two would take quadratic time over a million spaces.
_HEADER = re.compile(r"charset\s*=[\s\"']*([^\s\"';,]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{0,500}?charset\s*=[\s\"']*([a-zA-Z0-9_:.-]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META_WITHIN = 4096


def encoding_named(label: str) -> str | None:
    """Return Python's name of the encoding with a WHATWG label, or None if no page may use it."""
    return _LABELS.get(label.strip().lower())


def decode_page(html: bytes, content_type: str) -> tuple[str, bool]:
    """Return (the text of a page, whether some bytes were not valid characters).

    A declared encoding that plainly is not the page's (more than one character in a thousand cannot be decoded) gives
    way to the next in order.
    """
    for mark, encoding in _MARKS:
        if html.startswith(mark):
            return _decode(html[len(mark) :], encoding)
    for encoding in _candidates(html, content_type):
        text, _ = _decode(html, encoding)
        bad = text.count("\ufffd")
        if bad * 1000 <= len(text):
            return text, bad > 0
    return _decode(html, "cp1252")


def to_utf8(html: bytes, content_type: str) -> tuple[bytes, bool]:
    """Decode as `decode_page` does, but to UTF-8 bytes; bytes that are valid UTF-8 already are not decoded."""
    if html.isascii() and b"\x1b" not in html and b"\0" not in html:
        return html, False  # every encoding we read agrees on these, but for UTF-16 and ISO-2022
    if (
        not html.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        and next(_candidates(html, content_type), None) == "utf-8"
    ):
        try:
            html.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            return html.removeprefix(codecs.BOM_UTF8), False
    text, replaced = decode_page(html, content_type)
    return text.encode("utf-8", "replace"), replaced


def _candidates(html: bytes, content_type: str) -> Iterator[str]:
    """Yield the encodings to try: HTTP header, meta element, detection; UTF-16 first if the bytes look like it."""
    wide = _utf_16(html)
    if wide:
        yield wide
    match = _HEADER.search(content_type)
    if match and (encoding := encoding_named(match[1])) and not encoding.startswith("utf-16"):
        yield encoding
    head = html[:_META_WITHIN]
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    meta = _META.search(head)
    if meta and (encoding := encoding_named(meta[1].decode("ascii", "replace"))):
        # The declaration could be read, so it cannot be UTF-16.
        yield "utf-8" if encoding.startswith("utf-16") else encoding
    if not _decode(html, "utf-8")[1]:
        yield "utf-8"
    detected = detect(html[: 1 << 16]).encoding
    if detected and (encoding := encoding_named(detected)):
        yield encoding


def _utf_16(html: bytes) -> str | None:
    """Return which UTF-16 a page is in, if any: every second byte of its markup is zero, as in no other encoding."""
    head = html[:_META_WITHIN]
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 20 < len(head) or min(even, odd) * 20 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _decode(html: bytes, encoding: str) -> tuple[str, bool]:
    if encoding == "cp1252":
        # WHATWG's windows-1252 has a character for every byte; Python's leaves five out.
        return codecs.charmap_decode(html, "strict", _WINDOWS_1252)[0], False
    try:
        return html.decode(encoding), False
    except UnicodeDecodeError:
        return html.decode(encoding, "replace"), True


_WINDOWS_1252 = "".join(
    char if (char := bytes([byte]).decode("cp1252", "replace")) != "\ufffd" else chr(byte) for byte in range(256)
)
