"""Archives that grow: whatever is packed in what, it is given up early, and everything else is kept."""

import contextlib
import gzip
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
import zstandard
from benchmarks.hostile import good, growing, growing_body, growing_member, record, write_wacz

from pagekin.sources import Limits, Page, Skip, SourceError, plan_units, read_unit
from pagekin.sources.growth import FREE, FREE_IN_ALL, STEP
from pagekin.sources.http import BodyError, decode_body
from tests.sources.making import arc, arc_header, http, members, read_bytes, read_file, reasons, urls, warc

MIB = 1 << 20
BEFORE, AFTER = gzip.compress(good(1)), gzip.compress(good(2))


def bomb_of(items: list[object]) -> Skip:
    (skip,) = (item for item in items if isinstance(item, Skip) and item.reason == "decompression bomb")
    return skip


@pytest.mark.parametrize(
    ("bomb", "url"),
    [(growing_member(64 * MIB), "http://bomb.example/"), (growing_body(64 * MIB), "http://bomb.example/")],
    ids=["member", "body"],
)
def test_a_record_that_grows_is_skipped_and_those_around_it_are_kept(bomb: bytes, url: str) -> None:
    for data in (BEFORE + bomb + AFTER, BEFORE + AFTER + bomb, bomb + BEFORE + AFTER):
        items = read_bytes(data)
        assert urls(items) == ["1", "2"]
        skip = bomb_of(list(items))
        assert skip.url == url
        assert skip.html
        assert "grow" in skip.detail


def test_what_is_said_of_a_record_that_grows_names_where_reading_went_on() -> None:
    bomb = growing_member(64 * MIB)
    skip = bomb_of(list(read_bytes(BEFORE + bomb + AFTER)))
    assert skip.offset == len(BEFORE)
    assert f"resumed at byte {len(BEFORE + bomb):,}" in skip.detail
    assert "nothing after it can be read" in bomb_of(list(read_bytes(BEFORE + bomb))).detail


def test_a_record_that_grows_is_given_up_after_a_step_or_two() -> None:
    skip = bomb_of(list(read_bytes(BEFORE + growing_member(512 * MIB))))
    fed = int(skip.detail.split()[0].replace(",", ""))
    assert fed * 1_000 < Limits().page_bytes + 4 * STEP  # zeros are packed a thousand times


def test_a_record_that_is_longer_than_its_header_says_is_not_unpacked_to_find_its_end() -> None:
    items = read_bytes(BEFORE + growing_member(512 * MIB, said=1_000) + AFTER)
    assert [name for name in urls(items) if name] == ["1", "2"]
    assert reasons(items) == {"damaged record": 1}


def test_a_cut_record_that_grows_is_skipped_as_well() -> None:
    items = read_bytes(BEFORE + growing_member(64 * MIB)[:-1_000])
    assert urls(items) == ["1"]
    assert reasons(items) == {"decompression bomb": 1}


def test_where_records_share_a_member_those_before_a_bomb_are_kept() -> None:
    start = good(1) + record("http://bomb.example/", b"", 64 * MIB)
    data, _crc, _size = growing(start, bytes(MIB), 64, 31)
    items = read_bytes(data)
    assert urls(items) == ["1"]
    assert "nothing after it can be read" in bomb_of(list(items)).detail


def test_what_is_no_page_may_not_grow_either_and_what_packs_well_is_kept() -> None:
    zeros = warc("http://made.test/zeros", http(bytes(64 * MIB), "Content-Type: image/png"))
    lines = warc("http://made.test/lines", http(b"".join(b"<p>line %d of many</p>\n" % i for i in range(200_000))))
    items = read_bytes(b"".join([*members([zeros, lines]), AFTER]))
    assert urls(items) == ["lines", "2"]
    assert reasons(items) == {"decompression bomb": 1}


def test_many_small_records_do_not_grow_more_together_than_one_may() -> None:
    small = [warc(f"http://made.test/{i}", http(b"<p>" + b" " * (FREE - 1_000) + b"x")) for i in range(100)]
    plain = [warc(f"http://made.test/good{i}", http(b"<p>good")) for i in range(5)]
    data = b"".join(members([*small, *plain]))
    items = read_bytes(data)
    pages = [item for item in items if isinstance(item, Page)]
    assert sum(len(page.html) for page in pages) <= max(FREE_IN_ALL, 200 * len(data)) + FREE
    assert len(pages) < 50
    assert urls(items)[-5:] == [f"good{i}" for i in range(5)]  # what does not grow is kept
    assert len(pages) + reasons(items)["decompression bomb"] == 105


def test_a_record_of_an_arc_file_that_grows_is_skipped(tmp_path: Path) -> None:
    records = [arc_header(), arc("http://a.test/1", http(b"<p>1")), arc("http://a.test/0", bytes(64 * MIB))]
    path = tmp_path / "made.arc.gz"
    path.write_bytes(b"".join(members([*records, arc("http://a.test/2", http(b"<p>2"))])))
    items = read_file(path)
    assert urls(items) == ["1", "2"]
    assert reasons(items)["decompression bomb"] == 1


def test_small_records_of_an_arc_file_do_not_grow_more_together_than_one_may(tmp_path: Path) -> None:
    packed = gzip.compress(b"<p>" + b" " * (8 * MIB) + b"x")
    small = [arc(f"http://a.test/{i}", http(packed)) for i in range(50)]
    plain = [arc(f"http://a.test/good{i}", http(b"<p>good")) for i in range(3)]
    path = tmp_path / "made.arc.gz"
    path.write_bytes(b"".join(members([arc_header(), *small, *plain])))
    items = read_file(path, Limits(ratio=2_000))
    size = sum(len(item.html) for item in items if isinstance(item, Page))
    assert size <= max(FREE_IN_ALL, 2_000 * path.stat().st_size)
    assert urls(items)[-3:] == ["good0", "good1", "good2"]


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda body: brotli.compress(body, quality=5),
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_that_grows_is_refused_however_large_it_is_packed(coding: str) -> None:
    # With what comes after the part that grows, the whole body would be within the ratio.
    body = CODINGS[coding](b"<p>" + bytes(40 * MIB)) + bytes(300_000)
    with pytest.raises(BodyError) as refused:
        decode_body(body, "", coding, Limits())
    assert refused.value.reason == "decompression bomb"


def test_a_body_packed_twice_may_not_grow_more_than_one_packed_once() -> None:
    twice = gzip.compress(gzip.compress(b"<p>" + b" " * (8 * MIB)))
    with pytest.raises(BodyError) as refused:
        decode_body(twice, "", "gzip, gzip", Limits())
    assert refused.value.reason == "decompression bomb"


def test_a_long_page_is_cut_and_no_bomb() -> None:
    body = b"".join(b"<p>line %d of very many</p>\n" % i for i in range(1_000_000))
    plain, cut = decode_body(gzip.compress(body), "", "gzip", Limits())
    assert cut
    assert plain == body[: Limits().page_bytes]


# -- WACZ ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [230, 1_000])
def test_a_wacz_that_grows_is_not_unpacked_and_its_other_files_are_read(tmp_path: Path, ratio: int) -> None:
    path = tmp_path / "bomb.wacz"
    write_wacz(path, 256 * MIB, ratio)
    items = [item for unit in plan_units([str(path)], {}) for item in read_unit(unit, Limits())]
    steps = [item for item in items if isinstance(item, int)]
    assert len(steps) <= (FREE_IN_ALL + STEP) // STEP  # it stopped where it was free to come to
    kept = [item for item in items if not isinstance(item, int)]
    assert urls(kept) == ["1", "2"]
    skip = bomb_of(list(kept))
    assert skip.url == "http://bomb.example/"
    assert "nothing after it can be read" in skip.detail


def test_a_wacz_may_take_so_much_of_the_temporary_disk(tmp_path: Path) -> None:
    path = tmp_path / "large.wacz"
    filler = b"".join(b"%d " % i for i in range(300_000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/a.warc", good(1) + warc("http://made.test/long", http(filler)) + good(2))
    assert urls(read_file(path)) == ["1", "long", "2"]
    items = read_file(path, Limits(unpacked_bytes=1_000_000))
    assert urls(items) == ["1"]
    assert "1,000,000 bytes of the temporary disk" in bomb_of(list(items)).detail


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_of_a_zip_file_are_bounded_too(tmp_path: Path, compression: int) -> None:
    path = tmp_path / "bomb.wacz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("archive/a.warc", good(1) + record("http://bomb.example/", bytes(32 * MIB)))
    items = read_file(path)
    assert urls(items) == ["1"]
    assert reasons(items) == {"decompression bomb": 1}


def test_records_packed_in_a_packed_wacz_do_not_grow_more_than_it_may(tmp_path: Path) -> None:
    inner = b"".join(gzip.compress(warc(f"http://made.test/{i}", http(b" " * FREE + b"x")), 1) for i in range(200))
    path = tmp_path / "nested.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/a.warc.gz", inner)
    items = read_file(path)
    size = sum(len(item.html) for item in items if isinstance(item, Page))
    assert size <= max(FREE_IN_ALL, 200 * path.stat().st_size) + FREE
    assert reasons(items)["decompression bomb"] > 0


def test_files_of_a_zip_file_that_overlap_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "overlap.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/a.warc", b"".join(good(i) for i in range(100)))
        first = archive.filelist[0]
        for i in range(50):  # the same bytes, listed again and again
            again = zipfile.ZipInfo(f"archive/{i}.warc")
            for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(again, name, getattr(first, name))
            archive.filelist.append(again)
    with pytest.raises(SourceError, match="files in it overlap"):
        plan_units([str(path)], {})


def test_many_files_in_a_wacz_may_not_grow_more_than_one(tmp_path: Path) -> None:
    path = tmp_path / "many.wacz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(40):
            archive.writestr(f"archive/{i:02}.warc", record(f"http://made.test/{i}", b" " * (4 * MIB) + b"x"))
    items = read_file(path)
    assert urls(items) == []
    assert reasons(items) == {"decompression bomb": 40}


@pytest.mark.parametrize("at", [10, 5_000, 100_000, 1_000_000])
def test_what_comes_before_the_damage_in_a_body_is_kept_to_the_last_byte(at: int) -> None:
    body = gzip.compress(b"".join(b"<p>line %d</p>" % (i * i) for i in range(400_000)))
    assert len(body) > 1_000_000
    damaged = body[:at] + b"\xff" * 64 + body[at + 64 :]
    known = zlib.decompressobj(31)
    kept = bytearray()
    with contextlib.suppress(zlib.error):
        for place in range(len(damaged)):
            kept += known.decompress(damaged[place : place + 1])
    if kept:
        plain, cut = decode_body(damaged, "", "gzip", Limits())
        assert cut
        assert plain == kept[: Limits().page_bytes]
    else:
        with pytest.raises(BodyError):
            decode_body(damaged, "", "gzip", Limits())
