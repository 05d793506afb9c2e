"""Bodies as servers sent them and archives kept them: chunked, compressed, mislabelled, cut and malicious."""

import gzip
import random
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from pagekin.sources import Limits, parse_limits
from pagekin.sources.http import BodyError, decode_body
from tests.sources.making import html, html_records, http, one_page, read_bytes, reasons, warc

PAGE = b"<html><title>Packed</title><p>" + b" ".join(b"word%d" % i for i in range(3_000)) + b"</html>"
MIB = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def chunked(data: bytes, size: int = 1_000, end: bytes = b"0\r\n\r\n") -> bytes:
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": raw_deflate,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
PACKED = {kind: pack(PAGE) for kind, pack in PACKERS.items()}


def record(body: bytes, coding: str = "", transfer: str = "") -> bytes:
    headers = "Content-Type: text/html"
    headers += f"\nContent-Encoding: {coding}" if coding else ""
    headers += f"\nTransfer-Encoding: {transfer}" if transfer else ""
    return warc("http://made.test/", http(body, headers))


def decoded(body: bytes, coding: str, transfer: str = "") -> tuple[bytes, bool]:
    return decode_body(body, transfer, coding, Limits())


@pytest.mark.parametrize("kind", PACKED)
def test_compressed_bodies_are_decompressed_chunked_or_not(kind: str) -> None:
    coding = kind.removeprefix("raw ")
    assert one_page(record(PACKED[kind], coding)).html == PAGE
    assert one_page(record(chunked(PACKED[kind], 77), coding, "chunked")).html == PAGE
    assert one_page(record(PACKED[kind], coding.upper())).html == PAGE


def test_a_chunked_body_loses_its_chunk_headers() -> None:
    for end in (b"0\r\n\r\n", b"0;last=1\r\nTrailer: x\r\n\r\n", b""):
        assert decoded(chunked(PAGE, end=end), "", "chunked") == (PAGE, False)
    assert decoded(b"5;ext=1\n<p>he\n3  \nllo\n0\n\n", "", "Chunked")[0] == b"<p>hello"


def test_a_chunk_that_is_cut_keeps_what_came() -> None:
    assert decoded(chunked(PAGE)[:2_500], "", "chunked")[0] == PAGE[: 2_500 - 2 * 7 - 5]


def test_a_damaged_chunk_header_does_not_bring_the_earlier_ones_back() -> None:
    broken = chunked(PAGE[:2_000], end=b"") + b"zzz\r\nrest"
    assert decoded(broken, "", "chunked")[0] == PAGE[:2_000] + b"zzz\r\nrest"


def test_a_body_that_is_not_chunked_as_its_header_claims_is_taken_as_it_is() -> None:
    for body in (PAGE, b"feed\r\n<p>a page that begins with hexadecimal digits" * 4_000):
        assert decoded(body, "", "chunked")[0] == body


@pytest.mark.parametrize("claim", ["gzip", "deflate", "br", "zstd", "unheard-of", "gzip, br"])
@pytest.mark.parametrize("body", [PAGE, b"\xef\xbb\xbf" + PAGE, b"<p>hi", b"Words first, <b>tags</b> later. " * 9])
def test_a_body_that_was_decoded_already_is_taken_as_it_is(claim: str, body: bytes) -> None:
    assert decoded(body, claim) == (body, False)


@pytest.mark.parametrize("claim", ["", "identity", "br", "deflate", "zstd"])
def test_a_gzipped_body_is_recognised_whatever_its_header_claims(claim: str) -> None:
    assert decoded(PACKED["gzip"], claim) == (PAGE, False)


def test_codings_are_undone_in_reverse_order() -> None:
    assert decoded(brotli.compress(PACKED["deflate"]), "deflate, br") == (PAGE, False)


def test_a_gzip_body_of_several_members_is_read_whole() -> None:
    assert decoded(gzip.compress(PAGE[:100]) + gzip.compress(PAGE[100:]), "gzip") == (PAGE, False)
    assert decoded(PACKED["gzip"] + b"trailing junk", "gzip")[0] == PAGE


@pytest.mark.parametrize("kind", PACKED)
def test_a_compressed_body_that_ends_early_keeps_its_beginning(kind: str) -> None:
    noisy = html(1, 60_000)
    packed = PACKERS[kind](noisy)
    body, cut = decoded(packed[: len(packed) * 3 // 4], kind.removeprefix("raw "))
    # Zstandard hands out whole blocks of up to 128 KiB, so a small page that is cut may give nothing.
    assert noisy.startswith(body)
    if kind != "zstd":
        assert len(body) > len(noisy) // 2
        assert cut


def test_a_gzip_body_with_a_flipped_byte_keeps_what_came_before_it() -> None:
    noisy = html(1, 60_000)
    packed = bytearray(gzip.compress(noisy))
    packed[-3_000] ^= 0xFF
    body, cut = decoded(bytes(packed), "gzip")
    assert cut
    assert body[:40_000] == noisy[:40_000]


def test_a_gzip_body_with_a_wrong_checksum_keeps_everything() -> None:
    packed = bytearray(PACKED["gzip"])
    packed[-6] ^= 0xFF
    assert decoded(bytes(packed), "gzip") == (PAGE, True)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_body_that_is_neither_compressed_nor_text_is_undecodable(coding: str) -> None:
    magic = {"gzip": b"\x1f\x8b\x08", "deflate": b"\x78\x9c", "br": b""}[coding]
    junk = magic + random.Random(3).randbytes(5_000)
    items = read_bytes(record(junk, coding))
    assert reasons(items) == {"undecodable body": 1}
    assert html_records(items) == 1


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_decompression_bomb_is_skipped(coding: str) -> None:
    items = read_bytes(record(PACKERS[coding](b" <p>" + b"0" * (12 * MIB)), coding))
    assert reasons(items) == {"decompression bomb": 1}
    assert html_records(items) == 1


def test_a_small_body_may_grow_by_any_ratio_up_to_a_mebibyte() -> None:
    page = b"<p>" + b"0" * (MIB - 10)
    assert decoded(gzip.compress(page), "gzip") == (page, False)


def test_the_ratio_of_a_bomb_is_a_limit() -> None:
    page = b"<p>" + b"0123456789" * (MIB // 5)
    assert decode_body(gzip.compress(page), "", "gzip", parse_limits(Limits, ["ratio=100000"]))[0] == page
    with pytest.raises(BodyError) as refused:
        decode_body(gzip.compress(page), "", "gzip", parse_limits(Limits, ["ratio=10"]))
    assert refused.value.reason == "decompression bomb"


@pytest.mark.parametrize("coding", ["", "gzip", "deflate", "br", "zstd"])
def test_a_page_over_the_limit_is_cut_there_and_says_so(coding: str) -> None:
    noisy = html(5, 50_000)
    body = PACKERS[coding](noisy) if coding else noisy
    page = one_page(record(body, coding), parse_limits(Limits, ["page_bytes=30_000"]))
    assert page.html == noisy[:30_000][: len(page.html)]
    assert page.cut
    assert len(page.html) > 15_000


def test_a_page_just_at_the_limit_is_whole() -> None:
    page = one_page(record(b"<p>" + b"x" * 1_997), parse_limits(Limits, ["page_bytes=2_000"]))
    assert (len(page.html), page.cut) == (2_000, False)
    page = one_page(record(b"<p>" + b"x" * 1_998), parse_limits(Limits, ["page_bytes=2_000"]))
    assert (len(page.html), page.cut) == (2_000, True)


def test_a_chunked_page_that_the_limit_cuts_says_so() -> None:
    page = one_page(record(chunked(PAGE, 50), transfer="chunked"), parse_limits(Limits, ["page_bytes=5_000"]))
    assert page.cut
    assert PAGE.startswith(page.html)
