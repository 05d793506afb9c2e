"""ARC files, whole and damaged, against warcio's own reading of them."""

import gzip
import io
import itertools
import random
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from pagekin.sources import Item, Limits, Page, Redirect
from pagekin.sources.arc import read_arc
from pagekin.sources.http import unix_time
from tests.sources.making import (
    arc,
    arc_header,
    damage,
    html,
    html_records,
    http,
    members,
    read_file,
    reasons,
    some_arc_records,
    urls,
)

RECORDS = [arc_header(), *some_arc_records()]
GZIPPED = members(RECORDS)
STARTS = [0, *itertools.accumulate(map(len, GZIPPED))]
RAW_STARTS = [0, *itertools.accumulate(map(len, RECORDS))]


def read(data: bytes) -> list[Item]:
    return list(read_arc(io.BytesIO(data), "made.arc", Limits()))


def pages(items: list[Item]) -> list[Page]:
    return [item for item in items if isinstance(item, Page)]


@pytest.mark.parametrize(
    "data",
    [b"".join(RECORDS), b"".join(GZIPPED), gzip.compress(b"".join(RECORDS))],
    ids=["plain", "a member per record", "one member"],
)
def test_every_packing_of_an_arc_file_is_read(data: bytes) -> None:
    items = read(data)
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert [page.html for page in pages(items)] == [html(i) for i in range(5)]
    assert {page.date for page in pages(items)} == {unix_time("2005-06-07T08:09:10Z")}
    assert reasons(items) == {"record type warcinfo": 1}


def test_the_real_arc_file_gives_what_warcio_reads(data: Path) -> None:
    path = data / "warc" / "archivesunleashed+aut-example.arc.gz"
    expected = {}
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, arc2warc=True):
            headers = record.http_headers
            if headers is None or headers.get_statuscode() != "200":
                continue
            if (headers.get_header("Content-Type") or "").startswith("text/html"):
                date = unix_time(record.rec_headers.get_header("WARC-Date"))
                expected[record.rec_headers.get_header("WARC-Target-URI")] = (
                    record.content_stream().read(),
                    date,
                )
    ours = {page.url: (page.html, page.date) for page in pages(read_file(path))}
    assert len(ours) == 94
    assert ours == expected


def test_records_that_become_no_page_are_counted_by_reason() -> None:
    items = read(
        arc_header()
        + arc("dns:made.test", b"made.test. 1 IN A 127.0.0.1")
        + arc("ftp://made.test/a.html", http(b"<p>x</p>"))
        + arc("http://made.test/moved", http(b"", "Location: /new", "301 Moved"))
        + arc("http://made.test/gone", http(b"<p>", status="404 Gone"))
        + arc("http://made.test/picture", http(b"GIF89a", "Content-Type: image/gif"))
        + arc("http://made.test/empty", http(b""))
        + arc("http://made.test/bare", b"<p>no header")
        + arc("http://made.test/nothing", b"")
    )
    assert reasons(items) == {
        "record type warcinfo": 1,
        "not http": 2,
        "redirect": 1,
        "status 404": 1,
        "not html": 1,
        "empty page": 1,
        "no http status": 2,
    }
    assert [item.target for item in items if isinstance(item, Redirect)] == ["/new"]
    assert html_records(items) == 2


def test_addresses_with_spaces_and_records_of_version_2_are_read() -> None:
    block = http(b"<p>x</p>")
    second = f"http://made.test/v2 10.0.0.1 20050607080910 text/html 200 - - 99 f.arc {len(block)}\n"
    items = read(arc_header() + arc("http://made.test/two words", block) + second.encode() + block + b"\n")
    assert urls(items) == ["two words", "v2"]


@pytest.mark.parametrize("date", ["20051399999999", "0000", "20050231000000"])
def test_an_impossible_date_counts_as_unknown(date: str) -> None:
    assert [page.date for page in pages(read(arc("http://made.test/1", http(b"<p>x</p>"), date)))] == [0]


@pytest.mark.parametrize("shift", [0, 1, 3, 15, 60, 900, -1, -6])
def test_a_flipped_byte_costs_only_the_record_it_lies_in(shift: int) -> None:
    damaged = bytearray(b"".join(GZIPPED))
    damaged[STARTS[3] + shift if shift >= 0 else STARTS[4] + shift] ^= 0xFF
    items = read(bytes(damaged))
    assert urls(items) == ["0", "1", "3", "4"]
    assert damage(items) == [("damaged record", STARTS[3])]


def test_garbage_between_records_is_stepped_over() -> None:
    for records, starts in ((GZIPPED, STARTS), (RECORDS, RAW_STARTS)):
        items = read(b"".join(records[:3]) + b"garbage here\n" * 40 + b"".join(records[3:]))
        assert urls(items) == ["0", "1", "2", "3", "4"]
        assert [reason for reason, _offset in damage(items)] == ["damaged record"]
        assert starts[2] <= damage(items)[0][1] <= starts[3]


@pytest.mark.parametrize("kept", [1, 5, 300, 1_500])
def test_a_truncated_gzip_keeps_the_pages_before_it(kept: int) -> None:
    items = read(b"".join(GZIPPED)[: STARTS[4] + kept])
    assert urls(items)[:3] == ["0", "1", "2"]
    assert [offset for _reason, offset in damage(items)] == [STARTS[4]]


def test_a_cut_plain_file_keeps_the_beginning_of_its_last_page() -> None:
    items = read(b"".join(RECORDS)[: RAW_STARTS[5] + 800])
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert [page.cut for page in pages(items)] == [False] * 4 + [True]
    assert damage(items) == [("truncated record", RAW_STARTS[5])]


@pytest.mark.parametrize("length", [1_000, 5_000, 9_999_999])
def test_a_length_that_is_too_large_swallows_no_record(length: int) -> None:
    wrong = arc("http://made.test/wrong", http(b"<p>short</p>"), length=length)
    items = read(b"".join([*RECORDS[:2], wrong, *RECORDS[2:]]))
    assert urls(items) == ["0", "1", "2", "3", "4"]
    assert damage(items) == [("damaged record", RAW_STARTS[2])]
    assert html_records(items) == 6


def test_a_length_that_is_too_small_cuts_only_its_own_page() -> None:
    wrong = arc("http://made.test/wrong", http(html(9)), length=700)
    items = read(b"".join([*RECORDS[:2], wrong, *RECORDS[2:]]))
    assert urls(items) == ["0", "wrong", "1", "2", "3", "4"]
    assert damage(items) == [("damaged record", RAW_STARTS[2])]


def test_random_damage_never_hangs_and_spares_the_other_records() -> None:
    for whole, starts in ((b"".join(GZIPPED), STARTS), (b"".join(RECORDS), RAW_STARTS)):
        for seed in range(120):
            chosen = random.Random(seed)
            position = chosen.randrange(len(whole))
            data = whole[:position] + chosen.randbytes(20) + whole[position + 20 :]
            touched = {i - 1 for i in range(6) if starts[i] < position + 20 and position < starts[i + 1]}
            left = {str(i) for i in range(5) if i not in touched}
            assert left <= set(urls(read(data))), f"seed {seed}"


def test_a_file_that_is_no_arc_is_reported() -> None:
    assert damage(read(b"Dear diary,\n" * 50)) == [("damaged record", 0)]


def test_reading_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    read(b"".join([*RECORDS[:2], arc("http://made.test/w", http(html(9)), length=700), *RECORDS[2:]]))
    assert capfd.readouterr() == ("", "")
