"""Pages made to break a reader: huge, endless, deep, mislabelled. All are answered; nothing takes quadratic time.

No time is asserted, but every input is so large that a reader with a quadratic loop would not come back.
"""

import codecs
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.hypertext import Lexer, PageFlag, StrictLexer, to_utf8
from pagekin.hypertext.part import PartBuilder
from pagekin.sources import Limits, Page, plan_units, read_unit
from pagekin.store.kernels import CHECKED
from tests.hypertext.invariants import PageRead, read_all

URL = "http://hostile.example/page.html"
LIMITS = Limits()
READERS = [Lexer, StrictLexer]
MIB = (1 << 20) // (8 if CHECKED else 1)
"""Kernels that check every index show the same mistakes on smaller pages, and take ten times as long."""
both = pytest.mark.parametrize("reader", READERS)


def answered(reader: Any, html: bytes, tmp_path: Path, limits: Limits = LIMITS, content_type: str = "") -> PageRead:
    """What a reader makes of a page that went through a part as well: the part holds one page, of the same size."""
    (page,) = read_all(reader(limits), [to_utf8(html, content_type)[0]])
    row = stored(reader(limits), html, tmp_path, limits, content_type)
    assert row["tokens"] == len(page.words)
    assert row["anchors"] <= len(page.anchors)
    return page


def stored(reader: Any, html: bytes, tmp_path: Path, limits: Limits = LIMITS, content_type: str = "") -> Any:
    """The row of a page in a part that is made of it alone; the part's pieces fill its file."""
    builder = PartBuilder(reader, limits)
    builder.take(Page(URL, html, content_type))
    folder = tmp_path / "part"
    builder.write(folder)
    (row,) = np.load(folder / "pages.npy")
    pieces = 4 * row["tokens"] + 2 * row["marks"] + 13 * row["anchors"] + row["text"] + row["title"] + row["snippet"]
    assert (folder / "blobs").stat().st_size == pieces
    assert json.loads((folder / "about.json").read_text())["html_records"] == 1
    return row


# -- deep ---------------------------------------------------------------------------------------------------------------

DEEP = {
    **{tag: (f"<{tag}>", f"</{tag}>") for tag in "div b table ul font span h1 svg object dl noframes".split()},
    "a": ("<a href=x>", "</a>"),
    "cells": ("<table><tr><td>", "</table>"),
    "items": ("<ul><li>", "</ul>"),
    "misnested": ("<b><p>", "</b></p>"),
    "breadcrumbs": ("<div class=breadcrumb>", "</div>"),
    "attributes in words": ("x<i>", "</i>"),
}  # fmt: skip


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "left open"])
def test_a_hundred_thousand_nested_tags_are_read_by_the_lexer(kind: str, closed: bool, tmp_path: Path) -> None:
    start, end = DEEP[kind]
    html = f"first {start * 100_000} middle {end * 100_000 * closed} last"
    words = answered(Lexer, html.encode(), tmp_path).words
    assert [words[0], words[-2], words[-1]] == ["first", "middle", "last"]


@pytest.mark.parametrize("kind", DEEP)
def test_deeply_nested_tags_are_read_by_the_strict_reader(kind: str, tmp_path: Path) -> None:
    start, end = DEEP[kind]
    html = f"first {start * 10_000} middle {end * 10_000} last"
    assert {"first", "middle", "last"} <= set(answered(StrictLexer, html.encode(), tmp_path).words)


def test_the_strict_reader_does_not_recurse(tmp_path: Path) -> None:
    html = b"<div>" * 100_000 + b"middle" + b"</div>" * 100_000
    assert answered(StrictLexer, html, tmp_path).words == ["middle"]


def test_nesting_over_the_limit_is_flagged() -> None:
    shallow, deep = read_all(Lexer(LIMITS), [b"<div>" * 300 + b"x", b"<div>" * 500 + b"x"])
    assert not shallow.flags & PageFlag.DEEP
    assert deep.flags & PageFlag.DEEP


# -- huge ---------------------------------------------------------------------------------------------------------------

FILLER = b"<p>Some <b>bold</b> words &amp; a <a href='page.html'>link</a>.</p>\n"


def huge(size: int) -> bytes:
    return b"<title>Huge</title>" + FILLER * (size // len(FILLER))


def test_a_page_of_50_mb_is_read_when_the_limit_allows_it(tmp_path: Path) -> None:
    limits = Limits(page_bytes=64 << 20)
    row = stored(Lexer(limits), huge(50_000_000), tmp_path, limits)
    assert row["tokens"] == limits.tokens
    assert row["anchors"] == limits.anchors
    assert row["flags"] & (PageFlag.CUT_TOKENS | PageFlag.CUT_ANCHORS) == PageFlag.CUT_TOKENS | PageFlag.CUT_ANCHORS


def test_a_page_of_50_mb_is_cut_at_the_default_limit(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "huge.html").write_bytes(huge(50_000_000))
    (unit,) = plan_units([str(tmp_path / "site")], {})
    (page,) = [item for item in read_unit(unit, LIMITS) if isinstance(item, Page)]
    assert page.cut
    assert len(page.html) == LIMITS.page_bytes
    assert stored(Lexer(LIMITS), page.html, tmp_path)["html_bytes"] == LIMITS.page_bytes


def test_a_huge_page_of_words_all_different(tmp_path: Path) -> None:
    html = b" ".join(b"w%d" % i for i in range(LIMITS.tokens + 1000))
    row = stored(Lexer(LIMITS), html, tmp_path)
    assert row["tokens"] == LIMITS.tokens
    assert row["flags"] & PageFlag.CUT_TOKENS


@both
def test_more_anchors_than_the_limit_are_cut(reader: Any, tmp_path: Path) -> None:
    count = 1_000_000 if reader is Lexer and not CHECKED else 60_000
    html = b"".join(b"<a href=p%d>x</a> " % i for i in range(count))
    row = stored(reader(LIMITS), html, tmp_path)
    assert row["anchors"] == LIMITS.anchors
    assert row["flags"] & PageFlag.CUT_ANCHORS


# -- one endless thing --------------------------------------------------------------------------------------------------

ENDLESS = {
    "tag": b"<a " + b"x " * (5 * MIB),
    "tag's name": b"<" + b"x" * (10 * MIB),
    "tags": b"<p " * (3 * MIB),
    "attribute": b"<a href=\"" + b"x> " * (3 * MIB),
    "unquoted attribute": b"<a href=" + b"x" * (10 * MIB),
    "attributes": b"<a " + b"x='y' " * (MIB // 4),
    "comment": b"<!-- " + b"- <p> " * (2 * MIB),
    "comments": b"<!- <!-- " * MIB,
    "script": b"<script>" + b"<!-- <script> </p> " * (MIB // 2),
    "scripts": b"<script></scrip" * (MIB // 2),
    "style": b"<style>" + b"</styl " * MIB,
    "title": b"<title>" + b"</titl " * MIB,
    "textarea": b"<textarea>" + b"</textare " * MIB,
    "template": b"<template>" + b"<template> <!-- " * (MIB // 8),
    "CDATA section": b"<svg><![CDATA[" + b"]] > " * (2 * MIB),
    "declarations": b"<!" * (5 * MIB),
    "lone brackets": b"<" * (2 * MIB),
    "ampersands": b"&" * (2 * MIB),
    "reference": b"&#" + b"1" * (10 * MIB),
    "named reference": b"&" + b"notin" * (2 * MIB),
}  # fmt: skip


@pytest.mark.parametrize("what", ENDLESS)
def test_ten_megabytes_of_something_unclosed_are_read_by_the_lexer(what: str, tmp_path: Path) -> None:
    html = b"<p>before</p> " + ENDLESS[what]
    assert answered(Lexer, html, tmp_path, Limits(tokens=2_000)).words[0] == "before"


@pytest.mark.parametrize("what", ENDLESS)
def test_something_unclosed_is_read_by_the_strict_reader(what: str, tmp_path: Path) -> None:
    html = b"<p>before</p> " + ENDLESS[what][: MIB // 4]
    assert answered(StrictLexer, html, tmp_path, Limits(tokens=2_000)).words[0] == "before"


@both
@pytest.mark.parametrize(
    "html", [b"", b"<", b"<a", b"<a>", b"<a href=x>", b"</a>", b"<!--", b"&", b"\0", b" ", b"\xef\xbb\xbf", b"\xff\xfe"]
)
def test_a_page_that_is_one_tag_or_less(reader: Any, html: bytes, tmp_path: Path) -> None:
    assert answered(reader, html, tmp_path).words == []


@both
def test_a_page_that_is_one_tag_of_a_megabyte(reader: Any, tmp_path: Path) -> None:
    html = b"<img src=x " + b"data-x='y' " * (MIB // 11) + b"alt='a picture'>"
    assert answered(reader, html, tmp_path).words == ["a", "picture"]


# -- long ---------------------------------------------------------------------------------------------------------------

LONG_WORDS = {
    "letters": "a" * 10_000,
    "accented letters": "é" * 10_000,
    "letters and tags": "a<b>b</b>" * 5_000,
    "references": "&eacute;" * 10_000,
    "marks": "e" + "\u0301" * 10_000,
    "marks to be put in order": "e" + "\u0301\u0316" * 5_000,
    "folded to more": "ﬃ" * 10_000,
    "beyond sixteen bits": "𝔘" * 10_000,
    "jamo": "\u1112\u1161\u11ab" * 5_000,
    "joined": "a\u200d" * 10_000,
}


@both
@pytest.mark.parametrize("kind", LONG_WORDS)
def test_a_word_of_ten_thousand_characters_is_cut(reader: Any, kind: str, tmp_path: Path) -> None:
    page = answered(reader, f"before {LONG_WORDS[kind]} after".encode(), tmp_path)
    assert len(page.words) == 3
    assert [page.words[0], page.words[2]] == ["before", "after"]


@both
def test_both_readers_cut_long_words_alike(reader: Any) -> None:
    pages = [f"{word} after".encode() for word in LONG_WORDS.values()]
    assert [p.words for p in read_all(reader(LIMITS), pages)] == [p.words for p in read_all(Lexer(LIMITS), pages)]


@both
def test_ten_thousand_characters_of_a_script_without_spaces_become_pairs(reader: Any, tmp_path: Path) -> None:
    assert answered(reader, ("漢字" * 5_000).encode(), tmp_path).words == ["漢字", "字漢"] * 4_999 + ["漢字"]


@both
@pytest.mark.parametrize(
    "tag",
    ["<a href='{}'>", "<area href='{}'>", "<iframe src='{}'></iframe>", "<meta http-equiv=refresh content='0;url={}'>"],
)
def test_an_address_of_a_megabyte_is_dropped(reader: Any, tag: str, tmp_path: Path) -> None:
    html = "before " + tag.format("/x" * (MIB // 2)) + "after</a> <a href=y>kept</a>"
    page = answered(reader, html.encode(), tmp_path)
    assert [href for href, *_ in page.anchors] == ["y"]
    assert page.words == ["before", "after", "kept"]


@both
def test_a_base_or_canonical_address_of_a_megabyte_is_dropped(reader: Any, tmp_path: Path) -> None:
    long = "http://h/" + "x" * MIB + "/"
    html = f"<base href='{long}'><link rel=canonical href='{long}'>" + "<a href=y>x</a> " * 20_000
    row = stored(reader(LIMITS), html.encode(), tmp_path)
    assert row["canonical"] == -1
    assert row["anchors"] == 20_000
    end = int(np.fromfile(tmp_path / "part" / "urls.offsets", np.int64)[-1])
    urls = (tmp_path / "part" / "urls.bytes").read_bytes()
    assert urls[:end] == b"http://hostile.example/page.htmlhttp://hostile.example/y"


def test_a_page_whose_own_address_is_a_megabyte_is_skipped(tmp_path: Path) -> None:
    builder = PartBuilder(Lexer(LIMITS), LIMITS)
    builder.take(Page("http://h/" + "x" * MIB, b"<a href=y>x</a>" * 20_000))
    builder.write(tmp_path / "part")
    assert builder.skipped == {"bad url": 1}


@both
@pytest.mark.parametrize(
    "url",
    ["http://h/\ud800", "http://\udcff/", "http://[::1", "http://h:99999/", "\0", "", "http://" + "ü" * 1500 + ".de/"],
)
def test_odd_addresses_of_pages_are_pages_or_counted(reader: Any, url: str, tmp_path: Path) -> None:
    builder = PartBuilder(reader(LIMITS), LIMITS)
    builder.take(Page(url, b"<a href=y>x</a>"))
    builder.write(tmp_path / "part")
    assert len(np.load(tmp_path / "part" / "pages.npy")) + builder.skipped["bad url"] == 1


@both
def test_odd_link_addresses_are_resolved_or_dropped(reader: Any, tmp_path: Path) -> None:
    hrefs = [
        "\ufffd", "&#xD800;", "http://[", "//", "///x", "http:", "http:x",
        "https:", "\\\\x\\y", "?", "?&amp;", "%", "%zz", "javascript:void(0)", "JAVA\tSCRIPT:x", "data:,x", "mailto:x@y", "http://\u3002/",
        "http://xn--/", "http://a b/", ":", "x:", "..", "../../../..", "./.", "a/../b",
        "http://1.2.3.4.5/", "http://0x7f.1/", "//\0/", "\x01http://x/", "ü",
    ]  # fmt: skip
    html = "".join(f"<a href='{href}'>x</a> " for href in hrefs).encode()
    page = answered(reader, html, tmp_path)
    assert len(page.anchors) == len(hrefs)


# -- mislabelled --------------------------------------------------------------------------------------------------------

SAMPLES = {
    "utf-8": "marker naïve 日本語 москва",
    "utf-16-le": "marker naïve 日本語",
    "utf-16-be": "marker naïve 日本語",
    "utf-32-le": "marker naïve",
    "latin-1": "marker naïve Übergrößenträger",
    "cp1251": "marker москва столица",
    "koi8_r": "marker москва столица",
    "shift_jis": "marker 日本語のページ",
    "euc_jp": "marker 日本語のページ",
    "iso2022_jp": "marker 日本語のページ",
    "gb18030": "marker 中文网页",
    "big5": "marker 中文網頁",
    "euc_kr": "marker 한국어 문서",
    "utf-7": "marker naïve",
    "cp037": "marker",
}
LABELS = [
    *(
        "utf-8",
        "utf-16",
        "utf-16le",
        "utf-16be",
        "utf-32",
        "utf-7",
        "iso-8859-1",
        "windows-1252",
        "windows-1251",
        "koi8-r",
        "shift_jis",
    ),
    *(
        "euc-jp",
        "iso-2022-jp",
        "iso-2022-kr",
        "hz-gb-2312",
        "gb2312",
        "gb18030",
        "big5",
        "euc-kr",
        "windows-874",
        "x-user-defined",
    ),
    *(
        "replacement",
        "rot13",
        "rot_13",
        "zip",
        "zlib",
        "bz2",
        "hex",
        "base64",
        "uu",
        "quopri",
        "undefined",
        "idna",
        "punycode",
        "mbcs",
    ),
    *(
        "unicode_escape",
        "raw_unicode_escape",
        "string_escape",
        "utf-8-sig",
        "none",
        "null",
        "nonsense",
        "",
        " ",
        "\0",
        '"',
        "ü",
        "日本",
        "../x",
    ),
    *("utf-8; charset=utf-16", "=utf-8", "UTF-8" * 50_000, " " * MIB, "'" * MIB),
]
PLAIN = [name for name in SAMPLES if name not in ("utf-16-le", "utf-16-be", "utf-32-le", "cp037")]


def page_in(encoding: str, label: str = "") -> bytes:
    meta = f"<meta charset='{label[:2000]}'>" if label else ""
    html = f"<title>t</title>{meta}<p>{SAMPLES[encoding]} marker</p>"
    return html.encode(encoding, "replace")


@pytest.mark.parametrize("encoding", SAMPLES)
def test_every_encoding_under_every_label_is_answered(encoding: str, tmp_path: Path) -> None:
    pages = []
    for label in LABELS:
        for html, content_type in ((page_in(encoding), f"text/html; charset={label}"), (page_in(encoding, label), "")):
            utf8, _ = to_utf8(html, content_type)
            pages.append(utf8)
            assert utf8.decode("utf-8").count("marker") == 2 or encoding not in PLAIN, (label, utf8)
    fast, strict = (read_all(reader(LIMITS), pages) for reader in READERS)
    assert [page.words for page in fast] == [page.words for page in strict] or encoding in ("utf-32-le", "cp037")
    builder = PartBuilder(Lexer(LIMITS), LIMITS)
    for place, label in enumerate(LABELS):
        builder.take(Page(f"{URL}?{place}", page_in(encoding), f"text/html; charset={label}"))
    builder.write(tmp_path / "part")
    assert len(np.load(tmp_path / "part" / "pages.npy")) == len(LABELS)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("label", ["", "iso-8859-1", "utf-8", "utf-16", "shift_jis", "rot13"])
def test_utf_16_is_known_by_its_zeros_under_any_label(encoding: str, label: str) -> None:
    utf8, replaced = to_utf8(page_in(encoding), f"text/html; charset={label}")
    assert SAMPLES[encoding] in utf8.decode()
    assert not replaced


@pytest.mark.parametrize("label", ["utf-16", "utf-16be"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_page_without_zeros_is_not_utf_16_whatever_its_label(encoding: str, label: str) -> None:
    assert SAMPLES[encoding] in to_utf8(page_in(encoding), f"text/html; charset={label}")[0].decode()


def test_python_codecs_that_are_no_encodings_are_never_used() -> None:
    for label in ("rot13", "zlib", "hex", "unicode_escape", "undefined", "idna"):
        codecs.lookup(label)
        assert to_utf8(b"caf\xe9 \\u0041 6869", f"text/html; charset={label}")[0].decode() == "café \\u0041 6869"


@both
@pytest.mark.parametrize(
    "damage",
    [b"\xff" * MIB, b"\xc3" * MIB, b"\xed\xa0\x80" * (MIB // 4), b"\xf4\x90\x80\x80" * 1000, b"\xc0\x80" * 1000,
     b"\x80 " * (MIB // 2), b"\x1b$B" * (MIB // 4)],
    ids=["ff", "cut characters", "surrogates", "beyond unicode", "overlong", "continuations", "escapes"],
)  # fmt: skip
@pytest.mark.parametrize("label", ["utf-8", "iso-2022-jp", "windows-874", ""])
def test_a_megabyte_of_bytes_that_are_no_text(reader: Any, damage: bytes, label: str, tmp_path: Path) -> None:
    if reader is StrictLexer:
        damage = damage[: MIB // 32]
    html = b"<title>t</title><p>before " + damage + b" after"
    assert "before" in answered(reader, html, tmp_path, Limits(tokens=2_000), f"text/html; charset={label}").words


@both
def test_references_to_lone_surrogates_are_no_characters(reader: Any, tmp_path: Path) -> None:
    page = answered(reader, b"a&#xD800;b &#55357;&#56832; &#xDFFF c&#x0;d", tmp_path)
    assert page.words == ["a", "b", "c", "d"]
    assert "\ufffd" in page.text
