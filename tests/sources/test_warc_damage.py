"""Damaged WARC files: all before and after the damage is read, and it is reported where it is."""

import gzip
import itertools
import random
from pathlib import Path

import pytest

from pagekin.sources import Page
from tests.sources.making import (
    damage,
    html,
    html_records,
    http,
    members,
    one_page,
    read_bytes,
    read_file,
    reasons,
    some_records,
    urls,
    warc,
)

RAW = some_records()
GZIPPED = members(RAW)
STARTS = [0, *itertools.accumulate(map(len, GZIPPED))]
RAW_STARTS = [0, *itertools.accumulate(map(len, RAW))]
FIRST, SECOND = STARTS[2], STARTS[3]


def flipped(data: bytes, *positions: int) -> bytes:
    changed = bytearray(data)
    for position in positions:
        changed[position] ^= 0xFF
    return bytes(changed)


@pytest.mark.parametrize(
    "position",
    [FIRST, FIRST + 1, FIRST + 3, FIRST + 15, FIRST + 200, SECOND - 1_000, SECOND - 6, SECOND - 1],
)
def test_a_flipped_byte_costs_only_the_record_it_lies_in(position: int) -> None:
    items = read_bytes(flipped(b"".join(GZIPPED), position))
    assert urls(items) == ["0", "1", "3", "4"]
    assert damage(items) == [("damaged record", FIRST)]


def test_a_flipped_byte_in_a_large_record_is_reported_at_that_record() -> None:
    large = members(some_records(3, size=400_000))
    items = read_bytes(flipped(b"".join(large), len(large[0]) + len(large[1]) - 5_000))
    assert urls(items) == ["0", "2"]
    assert damage(items) == [("damaged record", len(large[0]))]


def test_damage_of_the_very_first_bytes_costs_only_the_first_record() -> None:
    for records, starts in ((GZIPPED, STARTS), (RAW, RAW_STARTS)):
        items = read_bytes(flipped(b"".join(records), 0, 1, 2))
        assert urls(items) == ["1", "2", "3", "4"]
        assert damage(items) == [("damaged record", 0)]
        assert f"resumed at byte {starts[1]:,}" in str(items[0])


def test_several_damaged_records_are_reported_one_by_one() -> None:
    hit = (STARTS[1], STARTS[3], STARTS[4])
    items = read_bytes(flipped(b"".join(GZIPPED), *(start + 1_200 for start in hit)))
    assert urls(items) == ["0", "2"]
    assert damage(items) == [("damaged record", start) for start in hit]


def test_neighbours_whose_openings_are_damaged_are_reported_as_one_gap() -> None:
    items = read_bytes(flipped(b"".join(GZIPPED), STARTS[1] + 15, STARTS[2] + 15))
    assert urls(items) == ["0", "3", "4"]
    assert damage(items) == [("damaged record", STARTS[1])]


@pytest.mark.parametrize("garbage", [b"garbage here " * 40, b"\0" * 512, b"\x1f\x8b\x08" * 9])
def test_garbage_between_gzipped_records_is_stepped_over(garbage: bytes) -> None:
    items = read_bytes(b"".join(GZIPPED[:2]) + garbage + b"".join(GZIPPED[2:]))
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert damage(items) == [("damaged record", STARTS[2])]


def test_garbage_between_plain_records_is_stepped_over() -> None:
    items = read_bytes(b"".join(RAW[:2]) + b"garbage here\r\n" * 40 + b"".join(RAW[2:]))
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert damage(items) == [("damaged record", RAW_STARTS[2])]


@pytest.mark.parametrize("kept", [1, 2, 5, 11, 300])
def test_a_truncated_gzip_keeps_the_pages_before_it(kept: int) -> None:
    items = read_bytes(b"".join(GZIPPED)[: STARTS[3] + kept])
    assert urls(items)[:3] == ["0", "1", "2"]
    assert damage(items) == [("truncated record", STARTS[3])]


def test_a_gzip_that_lacks_only_its_checksum_keeps_the_last_page_too() -> None:
    items = read_bytes(b"".join(GZIPPED)[:-6])
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert damage(items) == [("truncated record", STARTS[4])]


def test_a_page_cut_by_the_end_of_the_file_is_kept_and_says_so() -> None:
    items = read_bytes(b"".join(RAW)[: RAW_STARTS[4] + 1_500])
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert damage(items) == [("truncated record", RAW_STARTS[4])]
    assert [item.cut for item in items if isinstance(item, Page)] == [False] * 4 + [True]


@pytest.mark.parametrize("kept", [5, 30, 90])
def test_a_file_that_ends_inside_a_header_says_so(kept: int) -> None:
    items = read_bytes(b"".join(RAW)[: RAW_STARTS[4] + kept])
    assert urls(items) == ["0", "1", "2", "3"]
    assert [offset for _reason, offset in damage(items)] == [RAW_STARTS[4]]


@pytest.mark.parametrize("length", [2_000, 4_500, 99_999_999])
def test_a_content_length_that_is_too_large_swallows_no_record(length: int) -> None:
    wrong = warc("http://made.test/wrong", http(b"<p>short</p>"), length=length)
    for pieces in ([RAW[0], wrong, *RAW[1:]], members([RAW[0], wrong, *RAW[1:]])):
        items = read_bytes(b"".join(pieces))
        assert urls(items) == ["0", "1", "2", "3", "4"]
        assert damage(items) == [("damaged record", len(pieces[0]))]
        assert html_records(items) == 6


def test_a_content_length_that_is_too_small_cuts_only_its_own_page() -> None:
    wrong = warc("http://made.test/wrong", http(html(9)), length=700)
    for pieces in ([RAW[0], wrong, *RAW[1:]], members([RAW[0], wrong, *RAW[1:]])):
        items = read_bytes(b"".join(pieces))
        assert urls(items) == ["0", "wrong", "1", "2", "3", "4"]
        assert damage(items) == [("damaged record", len(pieces[0]))]


@pytest.mark.parametrize("length", ["none", "-5", "9" * 30])
def test_a_content_length_that_is_no_number_costs_only_its_record(length: str) -> None:
    wrong = RAW[1].replace(b"Content-Length: ", b"Content-Length: %s" % length.encode())
    items = read_bytes(RAW[0] + wrong + RAW[2])
    assert urls(items) == ["0", "2"]
    assert damage(items) == [("damaged record", len(RAW[0]))]


def test_a_header_overwritten_up_to_the_next_page_is_noticed() -> None:
    start = RAW_STARTS[1] + 60
    whole = b"".join(RAW)
    items = read_bytes(whole[:start] + b"\xff" * 4_000 + whole[start + 4_000 :])
    assert urls(items) == ["0", "3", "4"]
    assert damage(items) == [("damaged record", RAW_STARTS[1])]


def test_a_gzip_member_around_a_whole_file_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "one.warc.gz"
    path.write_bytes(gzip.compress(b"".join(some_records(40, size=20_000))))
    items = read_file(path)
    assert urls(items) == [str(i) for i in range(40)]
    assert not damage(items)


def test_a_truncated_gzip_member_around_a_whole_file_is_noticed() -> None:
    data = gzip.compress(b"".join(RAW))
    items = read_bytes(data[: len(data) // 2])
    assert urls(items)[:2] == ["0", "1"]
    assert [reason for reason, _offset in damage(items)] == ["truncated record"]


def test_a_file_that_is_no_warc_says_so() -> None:
    items = read_bytes(b"Dear diary,\n" * 100)
    assert damage(items) == [("damaged record", 0)]
    assert "made.warc at byte 0: damaged record: not a WARC file" in str(items[0])


def test_header_lines_of_any_length_are_read() -> None:
    long = warc("http://made.test/long", http(b"<p>x</p>", "Content-Type: text/html\nX-Long: " + "a" * 90_000))
    assert urls(read_bytes(RAW[0] + long + RAW[1])) == ["0", "long", "1"]


@pytest.mark.parametrize("packed", [False, True])
def test_warc_headers_with_bare_newlines_are_read(packed: bool) -> None:
    records = []
    for record in RAW:
        head, block = record.split(b"\r\n\r\n", 1)
        records.append(head.replace(b"\r\n", b"\n") + b"\n\n" + block.removesuffix(b"\r\n\r\n") + b"\n\n")
    items = read_bytes(b"".join(members(records) if packed else records))
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert not damage(items)


def test_http_headers_with_bare_newlines_are_read() -> None:
    old = warc("http://made.test/old", http(b"<p>1996</p>").replace(b"\r\n", b"\n"))
    assert one_page(old).html == b"<p>1996</p>"


def test_random_damage_never_hangs_and_never_costs_a_record_it_does_not_touch() -> None:
    whole = b"".join(GZIPPED)
    for seed in range(150):
        chosen = random.Random(seed)
        position = chosen.randrange(len(whole))
        width = chosen.choice([1, 2, 30, 700])
        data = whole[:position] + chosen.randbytes(width) + whole[position + width :]
        touched = {i for i in range(5) if STARTS[i] < position + width and position < STARTS[i + 1]}
        assert {str(i) for i in range(5) if i not in touched} <= set(urls(read_bytes(data))), f"seed {seed}"


def test_random_damage_of_plain_records_spares_the_others() -> None:
    whole = b"".join(RAW)
    for seed in range(150):
        chosen = random.Random(seed)
        position = chosen.randrange(len(whole))
        data = whole[:position] + chosen.randbytes(20) + whole[position + 20 :]
        touched = {i for i in range(5) if RAW_STARTS[i] < position + 20 and position < RAW_STARTS[i + 1]}
        assert {str(i) for i in range(5) if i not in touched} <= set(urls(read_bytes(data))), f"seed {seed}"


def test_damage_in_a_real_file_costs_few_records(data: Path, tmp_path: Path) -> None:
    real = (data / "warc" / "archivesunleashed+aut-example.warc.gz").read_bytes()
    path = tmp_path / "damaged.warc.gz"
    path.write_bytes(flipped(real, *range(100_000, len(real), 400_000)))
    items = read_file(path)
    flips = len(range(100_000, len(real), 400_000))
    assert 1 <= reasons(items)["damaged record"] <= flips
    assert 94 - flips <= html_records(items) <= 94


def test_a_real_file_cut_in_the_middle_keeps_what_came_before(data: Path, tmp_path: Path) -> None:
    source = data / "warc" / "archivesunleashed+aut-example.warc.gz"
    path = tmp_path / "cut.warc.gz"
    path.write_bytes(source.read_bytes()[: source.stat().st_size // 2])
    before, after = urls(read_file(path)), urls(read_file(source))
    assert 10 < len(before) < len(after)
    assert after[: len(before)] == before
    assert reasons(read_file(path))["truncated record"] == 1
