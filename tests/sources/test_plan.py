"""Sources split into units: whatever their size, the units together are the source."""

import gzip
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from pagekin.sources import Limits, Page, SourceError, Unit, plan_units, read_unit
from pagekin.sources import plan as planning
from tests.sources.making import damage, html, http, members, read_file, reasons, some_records, urls, warc


def split(path: Path, monkeypatch: pytest.MonkeyPatch, unit_bytes: int) -> list[Unit]:
    monkeypatch.setattr(planning, "UNIT_BYTES", unit_bytes)
    units = plan_units([str(path)], {})
    assert [unit.start for unit in units] == [0, *(unit.end for unit in units[:-1])]
    assert units[-1].end == path.stat().st_size
    return units


def pages_and_stop(unit: Unit) -> tuple[list[str], int]:
    *items, stop = read_unit(unit, Limits())
    assert isinstance(stop, int)
    return urls(item for item in items if not isinstance(item, int)), stop


@pytest.mark.parametrize("unit_bytes", [1, 1_000, 3_000, 10_000, 1 << 20])
@pytest.mark.parametrize("packing", ["plain", "gzip"])
def test_units_of_any_size_cover_the_file_and_stop_where_the_next_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit_bytes: int, packing: str
) -> None:
    records = some_records(12)
    path = tmp_path / ("made.warc.gz" if packing == "gzip" else "made.warc")
    path.write_bytes(b"".join(members(records) if packing == "gzip" else records))
    units = split(path, monkeypatch, unit_bytes)
    assert len(units) == {1: 12, 1 << 20: 1}.get(unit_bytes, len(units))
    found = []
    for unit in units:
        pages, stop = pages_and_stop(unit)
        assert stop == unit.end
        found += pages
    assert found == [str(i) for i in range(12)]


@pytest.mark.parametrize("unit_bytes", [1, 50_000, 1_000_000])
def test_units_of_a_real_file_give_what_one_unit_gives(
    data: Path, monkeypatch: pytest.MonkeyPatch, unit_bytes: int
) -> None:
    path = data / "warc" / "webrecorder+pywb-iana.warc.gz"
    whole = read_file(path)
    units = split(path, monkeypatch, unit_bytes)
    parts = [list(read_unit(unit, Limits())) for unit in units]
    assert [items.pop() for items in parts] == [unit.end for unit in units]
    assert [item for items in parts for item in items] == whole


def test_units_meet_at_a_damaged_record_and_one_of_them_reports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = members(some_records(6))
    starts = [sum(map(len, pieces[:i])) for i in range(6)]
    damaged = bytearray(b"".join(pieces))
    damaged[starts[3] + 1_200] ^= 0xFF
    path = tmp_path / "made.warc.gz"
    path.write_bytes(damaged)
    units = split(path, monkeypatch, 1)
    assert [unit.start for unit in units] == starts
    items = [item for unit in units for item in read_unit(unit, Limits())]
    assert [item for item in items if isinstance(item, int)] == [*starts[1:], len(damaged)]
    records = [item for item in items if not isinstance(item, int)]
    assert urls(records) == ["0", "1", "2", "4", "5"]
    assert damage(records) == [("damaged record", starts[3])]


def test_a_split_inside_an_archive_in_an_archive_shows_in_the_stop_offset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record whose payload is itself a .warc.gz, kept uncompressed, holds what looks like record starts.

    Planning looks only at bytes, so a unit may begin inside the payload. The unit before it knows better: it
    reads the outer record to its end, and stops at the first record after it. Its stop is then not where the
    next unit begins, which tells the caller that that unit is false: its items are to be dropped, and reading
    goes on from the stop.
    """
    inner = b"".join(members(some_records(6)))
    packer = gzip.compress(warc("http://made.test/inner.warc.gz", http(inner, "Content-Type: x/y")), 0, mtime=0)
    pieces = [*members(some_records(2)), packer, *members(some_records(4)[2:])]
    path = tmp_path / "nested.warc.gz"
    path.write_bytes(b"".join(pieces))
    outer = len(pieces[0]) + len(pieces[1])
    units = split(path, monkeypatch, outer + 2_000)
    assert outer < units[1].start < outer + len(packer)

    pages, stop = pages_and_stop(units[0])
    assert pages == ["0", "1"]
    assert stop == outer + len(packer) != units[1].start
    rest, end = pages_and_stop(Unit("warc", str(path), stop, units[-1].end))
    assert (rest, end) == (["2", "3"], path.stat().st_size)


def test_files_whose_records_share_gzip_members_are_not_divided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = some_records(12)
    path = tmp_path / "pairs.warc.gz"
    path.write_bytes(b"".join(gzip.compress(records[i] + records[i + 1]) for i in range(0, 12, 2)))
    (unit,) = split(path, monkeypatch, 1)
    assert pages_and_stop(unit) == ([str(i) for i in range(12)], path.stat().st_size)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_gives_what_its_warc_gives(data: Path, tmp_path: Path, compression: int) -> None:
    source = data / "warc" / "webrecorder+pywb-iana.warc.gz"
    path = tmp_path / "made.wacz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("datapackage.json", "{}")
        archive.write(source, "archive/data.warc.gz")
        archive.writestr("indexes/index.cdx.gz", b"no archive")
    inside, outside = ([one for one in read_file(file) if isinstance(one, Page)] for file in (path, source))
    assert [replace(page, place=page.place._replace(archive="")) for page in inside] == [
        replace(page, place=page.place._replace(archive="")) for page in outside
    ]
    assert {page.place.archive for page in inside} == {"made.wacz:archive/data.warc.gz"}
    assert [unit.where for unit in plan_units([str(path)], {})] == ["made.wacz:archive/data.warc.gz"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_wacz_reports_it_and_keeps_what_came_before(tmp_path: Path, compression: int) -> None:
    path = tmp_path / "made.wacz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("archive/a.warc", b"".join(some_records(200)))
    damaged = path.read_bytes()
    middle = len(damaged) // 2
    path.write_bytes(damaged[:middle] + b"\xff" * 4_000 + damaged[middle + 4_000 :])
    items = read_file(path)
    assert len(urls(items)) > 80
    assert reasons(items)["damaged record"] >= 1


def test_what_is_no_wacz_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "made.wacz"
    path.write_bytes(b"PK but no zip")
    with pytest.raises(SourceError, match="not a readable WACZ"):
        plan_units([str(path)], {})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    with pytest.raises(SourceError, match="holds no WARC file"):
        plan_units([str(path)], {})


def test_sources_that_cannot_be_read_are_refused_by_name(tmp_path: Path) -> None:
    for name, content, message in [
        ("empty.warc.gz", b"", r"empty\.warc\.gz is empty"),
        ("notes.txt", b"hello", "not something that Pagekin reads"),
        ("page.html", b"<p>", "not something that Pagekin reads"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SourceError, match=message):
            plan_units([str(tmp_path / name)], {})
    with pytest.raises(SourceError, match=r"missing\.warc does not exist"):
        plan_units([str(tmp_path / "missing.warc")], {})
    with pytest.raises(SourceError, match="an address, and a build reads files"):
        plan_units(["https://docs.example/"], {})
    os.mkfifo(tmp_path / "pipe.warc")
    with pytest.raises(SourceError, match="neither a file nor a folder"):
        plan_units([str(tmp_path / "pipe.warc")], {})
    (tmp_path / "bare").mkdir()
    with pytest.raises(SourceError, match="bare holds no files"):
        plan_units([str(tmp_path / "bare")], {})


def test_several_folders_need_an_address_each(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    for folder in (first, second):
        Path(folder).mkdir()
        Path(folder, "a.html").write_bytes(html(1))
    with pytest.raises(SourceError, match="needs its own address"):
        plan_units([first, second], {})
    with pytest.raises(SourceError, match="needs its own address"):
        plan_units([first, second], {}, "http://shared.test/")
    units = plan_units([first, second], {first: "http://one.test", f"{second}/": "http://two.test/x/"})
    assert [unit.base_url for unit in units] == ["http://one.test/", "http://two.test/x/"]
    assert [unit.base_url for unit in plan_units([first], {}, "http://only.test")] == ["http://only.test/"]


def test_an_address_for_no_folder_or_of_no_web_server_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(html(1))
    with pytest.raises(SourceError, match="not one of the folders to read"):
        plan_units([str(tmp_path)], {"elsewhere": "http://one.test/"})
    with pytest.raises(SourceError, match="takes an address such as"):
        plan_units([str(tmp_path)], {}, "www.example.org")


def test_the_demo_web_is_a_source() -> None:
    (unit,) = plan_units(["demo"], {})
    assert isinstance(next(read_unit(unit, Limits())), Page)


def test_a_list_names_files_beside_it_and_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "warc").mkdir()
    for place in ("warc/a.warc", "b.warc"):
        (tmp_path / place).write_bytes(some_records(1)[0])
    named = f"warc/a.warc\n\n{tmp_path / 'b.warc'}\r\n"
    (tmp_path / "warc.paths").write_text(named)
    (tmp_path / "warc.paths.gz").write_bytes(gzip.compress(named.encode()))
    for name in ("warc.paths", "warc.paths.gz"):
        units = plan_units([str(tmp_path / name)], {})
        assert [unit.path for unit in units] == [str(tmp_path / "warc" / "a.warc"), str(tmp_path / "b.warc")]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "names no file"), (b"\xff\xfe", "is not a readable list"), (b"none.warc", "does not exist")],
)
def test_a_list_that_is_none(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "made.paths").write_bytes(content)
    with pytest.raises(SourceError, match=said):
        plan_units([str(tmp_path / "made.paths")], {})
    (tmp_path / "made.paths.gz").write_bytes(content or b"no gzip")
    with pytest.raises(SourceError, match="is not a readable list"):
        plan_units([str(tmp_path / "made.paths.gz")], {})
