"""Convert a page's bytes to UTF-8: byte order mark, HTTP header, meta element, then detection."""

import codecs
import re

from turbohtml.detect import detect

# Labels of the WHATWG Encoding Standard, where Python knows the encoding under another name or in a smaller form.
# Only encodings named here or in _DIRECT are ever used: Python's registry also holds codecs that are none (rot13, zip).
_LABELS = {
    **dict.fromkeys(
        "ascii us-ascii ansi_x3.4-1968 iso-8859-1 iso8859-1 iso_8859-1 iso88591 latin1 latin-1 l1 cp1252 windows-1252 "
        "x-cp1252 cp819 ibm819".split(),
        "cp1252",
    ),
    **dict.fromkeys("utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8 unicode11utf8 utf-8-sig".split(), "utf-8"),
    **dict.fromkeys("gb2312 gbk gb_2312-80 gb18030 chinese x-gbk csgb2312 iso-ir-58".split(), "gb18030"),
    **dict.fromkeys("big5 big5-hkscs cn-big5 csbig5 x-x-big5".split(), "big5hkscs"),
    **dict.fromkeys("shift_jis shift-jis sjis x-sjis ms_kanji csshiftjis windows-31j cp932 ms932".split(), "cp932"),
    **dict.fromkeys("euc-jp x-euc-jp cseucpkdfmtjapanese".split(), "euc_jp"),
    **dict.fromkeys("iso-2022-jp csiso2022jp".split(), "iso2022_jp_2"),
    **dict.fromkeys("euc-kr ks_c_5601-1987 ks_c_5601-1989 ksc5601 korean cseuckr windows-949 cp949".split(), "cp949"),
    **dict.fromkeys("iso-8859-9 iso8859-9 latin5 windows-1254 cp1254".split(), "cp1254"),
    **dict.fromkeys("iso-8859-11 tis-620 windows-874 cp874 dos-874".split(), "cp874"),
    **dict.fromkeys("macintosh mac x-mac-roman csmacintosh".split(), "mac_roman"),
    **dict.fromkeys("x-mac-cyrillic x-mac-ukrainian".split(), "mac_cyrillic"),
    **dict.fromkeys("koi8-r koi8_r koi8 koi cskoi8r".split(), "koi8_r"),
    **dict.fromkeys("koi8-u koi8-ru".split(), "koi8_u"),
    **dict.fromkeys("utf-16 utf-16le ucs-2 unicode iso-10646-ucs-2".split(), "utf-16-le"),
    "utf-16be": "utf-16-be",
    "ibm866": "cp866",
    "cp866": "cp866",
    "iso-8859-8-i": "iso8859_8",
    **{f"windows-125{n}": f"cp125{n}" for n in (0, 1, 3, 5, 6, 7, 8)},
    **{f"cp125{n}": f"cp125{n}" for n in (0, 1, 3, 5, 6, 7, 8)},
    **{f"x-cp125{n}": f"cp125{n}" for n in (0, 1, 3, 5, 6, 7, 8)},
    **{
        f"{p}{n}": f"iso8859_{n}"
        for p in ("iso-8859-", "iso8859-", "iso_8859-")
        for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)
    },
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
    """Return (text, whether some bytes were no characters) of a page.

    A declared encoding that plainly is not the page's (more than one character in a thousand cannot be decoded) gives
    way to the next in order.
    """
    for mark, encoding in _MARKS:
        if html.startswith(mark):
            return _decoded(html[len(mark) :], encoding)
    best: tuple[int, str] | None = None
    for encoding in _candidates(html, content_type):
        text, _ = _decoded(html, encoding)
        bad = text.count("\ufffd")
        if bad == 0 or bad * 1000 <= len(text):
            return text, bad > 0
        if best is None:
            best = (bad, text)
    return (best[1], True) if best else _decoded(html, "cp1252")


def to_utf8(html: bytes, content_type: str) -> tuple[bytes, bool]:
    """Do as `decode_page` does, to UTF-8 bytes, without decoding where the bytes are UTF-8 already."""
    if html.isascii() and b"\x1b" not in html and b"\0" not in html:
        return html, False  # every encoding we read agrees on these, but for UTF-16 and ISO-2022
    if (
        not html.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        and next(_candidates(html, content_type)) == "utf-8"
    ):
        try:
            html.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            return html.removeprefix(codecs.BOM_UTF8), False
    text, replaced = decode_page(html, content_type)
    return text.encode("utf-8", "replace"), replaced


def _candidates(html: bytes, content_type: str):  # type: ignore[no-untyped-def]
    """Yield the encodings to try, in order: HTTP header, meta element, detection; UTF-16 comes first if the bytes show it."""
    seen = set()
    wide = _utf_16(html)
    if wide:
        seen.add(wide)
        yield wide
    match = _HEADER.search(content_type)
    if match and (encoding := encoding_named(match[1])) and not encoding.startswith("utf-16"):
        seen.add(encoding)
        yield encoding
    head = html[:_META_WITHIN]
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    meta = _META.search(head)
    if meta and (encoding := encoding_named(meta[1].decode("ascii", "replace"))):
        if encoding.startswith("utf-16"):
            encoding = "utf-8"  # the declaration could be read, so it cannot be UTF-16
        if encoding not in seen:
            seen.add(encoding)
            yield encoding
    if "utf-8" not in seen:
        try:
            html.decode("utf-8")
            seen.add("utf-8")
            yield "utf-8"
        except UnicodeDecodeError:
            pass
    detected = detect(html[: 1 << 16]).encoding
    encoding = encoding_named(detected) if detected else None
    if encoding and encoding not in seen:
        seen.add(encoding)
        yield encoding
    if "cp1252" not in seen:
        yield "cp1252"


def _utf_16(html: bytes) -> str | None:
    """Return the kind of UTF-16 that a page is in: its markup has a zero in every second byte, as in no other encoding."""
    head = html[:_META_WITHIN]
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 20 < len(head) or min(even, odd) * 20 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _decoded(html: bytes, encoding: str) -> tuple[str, bool]:
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
