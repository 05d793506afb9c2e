"""What single WARC records become."""

from datetime import UTC, datetime

import pytest

from pagekin.sources import Gone, Page, RecordPlace, Redirect, Revisit, Skip
from pagekin.sources.http import unix_time
from tests.sources.making import html_records, http, one_page, read_bytes, reasons, urls, warc

URL = "http://made.test/page"


def test_a_page_has_its_address_body_type_and_date() -> None:
    record = warc(URL, http(b"<p>hello</p>", "Content-Type: text/html; charset=koi8-r"))
    page = one_page(record)
    place = RecordPlace("made.warc", 0, len(record))
    date = int(datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp())
    assert page == Page(URL, b"<p>hello</p>", "text/html; charset=koi8-r", date, False, place)


@pytest.mark.parametrize("written", [f"<{URL}>", f" {URL} ", f"<{URL}> "])
def test_brackets_around_the_target_uri_are_dropped(written: str) -> None:
    assert one_page(warc(written, http(b"<p>x</p>"))).url == URL


def test_a_redirect_is_recorded_as_written_and_counted() -> None:
    for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
        items = read_bytes(warc(URL, http(b"", "Location: ../else", status)))
        assert [type(item) for item in items] == [Redirect, Skip]
        assert isinstance(items[0], Redirect)
        assert (items[0].url, items[0].target) == (URL, "../else")
        assert reasons(items) == {"redirect": 1}


def test_a_redirect_without_a_target_is_only_a_status() -> None:
    assert reasons(read_bytes(warc(URL, http(b"", "", "302 Found")))) == {"status 302": 1}


def test_header_bytes_that_are_not_utf8_do_not_cost_the_record() -> None:
    items = read_bytes(warc(URL, http(b"", "Location: /caf\xe9", "301 Moved")))
    assert isinstance(items[0], Redirect)
    assert items[0].target == "/caf\xe9"


def test_a_revisit_names_its_original() -> None:
    headers = "WARC-Refers-To-Target-URI: <http://made.test/first>"
    for block in (b"", http(b"")):
        items = read_bytes(warc(URL, block, "revisit", headers=headers))
        assert items[0] == Revisit(URL, "http://made.test/first", unix_time("2020-01-02T03:04:05Z"))
        assert reasons(items) == {"revisit": 1}


def test_a_revisit_that_names_no_original_repeats_its_own_address() -> None:
    items = read_bytes(warc(URL, b"", "revisit"))
    assert items[0] == Revisit(URL, URL, unix_time("2020-01-02T03:04:05Z"))


def test_a_resource_record_of_html_is_a_page() -> None:
    page = one_page(warc(URL, b"<p>saved</p>", "resource", "text/html"))
    assert (page.html, page.content_type) == (b"<p>saved</p>", "text/html")


def test_a_resource_record_of_something_else_is_not() -> None:
    items = read_bytes(warc(URL, b"GIF89a", "resource", "image/gif"))
    assert reasons(items) == {"not html": 1}
    assert html_records(items) == 0


@pytest.mark.parametrize("kind", ["warcinfo", "request", "metadata", "conversion"])
def test_other_record_types_are_counted_by_name(kind: str) -> None:
    assert reasons(read_bytes(warc(URL, b"x: y\r\n", kind, "text/plain"))) == {f"record type {kind}": 1}


@pytest.mark.parametrize("status", ["404 Not Found", "206 Partial Content", "500 Oops", "304 Not Modified"])
def test_only_status_200_becomes_a_page(status: str) -> None:
    items = read_bytes(warc(URL, http(b"<p>x</p>", status=status)))
    assert reasons(items) == {f"status {status[:3]}": 1}
    assert html_records(items) == 0


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
def test_an_answer_that_there_is_no_such_page_is_told_also_when_it_is_repeated(status: str) -> None:
    gone = Gone(URL, unix_time("2020-01-02T03:04:05Z"))
    assert read_bytes(warc(URL, http(b"<p>x</p>", status=status)))[1:] == [gone]
    repeated = read_bytes(warc(URL, http(b"", status=status), "revisit"))
    assert repeated[0] == gone
    assert reasons(repeated) == {"revisit": 1}


def test_a_body_without_an_http_header_is_skipped() -> None:
    assert reasons(read_bytes(warc(URL, b"<p>no header at all"))) == {"no http status": 1}
    assert reasons(read_bytes(warc(URL, b"<p>x", content_type="text/html"))) == {"no http response": 1}


@pytest.mark.parametrize("content_type", ["application/xhtml+xml", "TEXT/HTML", "text/html;charset=x", " text/html "])
def test_every_spelling_of_html_is_read(content_type: str) -> None:
    assert one_page(warc(URL, http(b"<p>x</p>", f"Content-Type: {content_type}"))).html == b"<p>x</p>"


def test_without_a_content_type_the_body_decides() -> None:
    assert one_page(warc(URL, http(b"\n<!DOCTYPE HTML><p>x", ""))).content_type == ""
    items = read_bytes(warc(URL, http(b"just words", "")))
    assert reasons(items) == {"not html": 1}
    assert html_records(items) == 0


def test_html_records_that_become_no_page_are_still_counted_as_html() -> None:
    ftp = read_bytes(warc("ftp://made.test/readme.html", http(b"<p>x</p>")))
    empty = read_bytes(warc(URL, http(b" \r\n ")))
    broken = read_bytes(warc(URL, http(b"\x1f\x8b\x08garbage", "Content-Type: text/html\nContent-Encoding: gzip")))
    assert [reasons(items) for items in (ftp, empty, broken)] == [
        {"not http": 1},
        {"empty page": 1},
        {"undecodable body": 1},
    ]
    assert [html_records(items) for items in (ftp, empty, broken)] == [1, 1, 1]


def test_what_is_neither_http_nor_html_is_not_counted_as_html() -> None:
    dns = warc("dns:made.test", b"made.test. 1 IN A 127.0.0.1", "response", "text/dns")
    picture = warc("ftp://made.test/a.gif", http(b"GIF89a", "Content-Type: image/gif"))
    missing = warc("ftp://made.test/a.html", http(b"<p>", status="404 Not Found"))
    items = read_bytes(dns + picture + missing)
    assert reasons(items) == {"not http": 3}
    assert html_records(items) == 0


def test_addresses_outside_ascii_are_kept() -> None:
    assert urls(read_bytes(warc("http://made.test/caf\u00e9", http(b"<p>x</p>")))) == ["caf\u00e9"]


@pytest.mark.parametrize("version", [b"WARC/1.1", b"WARC/0.18", b"WARC/0.17"])
def test_other_versions_of_warc_are_read(version: bytes) -> None:
    record = warc(URL, http(b"<p>x</p>")).replace(b"WARC/1.0", version)
    assert one_page(record).url == URL


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2020-01-02T03:04:05Z", (2020, 1, 2, 3, 4, 5)),
        ("2020-01-02T03:04:05.123456789Z", (2020, 1, 2, 3, 4, 5)),
        ("2020-01-02T03:04:05+02:00", (2020, 1, 2, 1, 4, 5)),
        ("2020-01-02T03:04:05", (2020, 1, 2, 3, 4, 5)),
        ("2020-01-02", (2020, 1, 2)),
        ("2020-03", (2020, 3, 1)),
        ("2020", (2020, 1, 1)),
        ("20200102030405", (2020, 1, 2, 3, 4, 5)),
        ("20200102030405678", (2020, 1, 2, 3, 4, 5)),
        ("202001020304", (2020, 1, 2, 3, 4)),
        ("20200102", (2020, 1, 2)),
    ],
)  # fmt: skip
def test_dates_of_archives_are_understood(stamp: str, expected: tuple[int, ...]) -> None:
    year, month, day, hour, minute, second = (*expected, 0, 0, 0)[:6]
    assert unix_time(stamp) == datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "stamp", ["", "yesterday", "20201399999999", "2020-02-30T00:00:00Z", "0", "1960-01-01T00:00:00Z"]
)
def test_what_is_no_date_counts_as_unknown(stamp: str) -> None:
    assert unix_time(stamp) == 0
