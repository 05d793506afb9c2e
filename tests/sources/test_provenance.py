"""Where the record of each page stands, with warcio's index as the judge."""

import gzip
import io
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from pagekin.sources import NO_PLACE, Limits, Page, plan, plan_units, read_unit
from tests.sources.making import arc, arc_header, members, some_arc_records, some_records


def index_by_warcio(data: bytes) -> dict[tuple[int, int], str]:
    """Return the address of each record of an archive by its offset and length."""
    records = ArchiveIterator(io.BytesIO(data), arc2warc=True)
    found = {}
    for record in records:
        offset = records.get_record_offset()
        records.read_to_end(record)
        found[offset, records.get_record_length()] = record.rec_headers.get_header("WARC-Target-URI")
    return found


def pages_of(path: Path) -> list[Page]:
    return [
        item for unit in plan_units([str(path)], {}) for item in read_unit(unit, Limits()) if isinstance(item, Page)
    ]


@pytest.mark.parametrize("number", range(5))
def test_places_in_real_archives_are_those_that_warcio_finds(data: Path, number: int) -> None:
    path = sorted((data / "warc").iterdir())[number]
    index, pages = index_by_warcio(path.read_bytes()), pages_of(path)
    assert pages
    assert {page.place.archive for page in pages} == {path.name}
    assert [index.get(page.place[1:]) for page in pages] == [page.url for page in pages]


@pytest.mark.parametrize("name", ["made.warc", "made.warc.gz", "made.arc", "made.arc.gz"])
def test_places_in_made_archives_are_those_that_warcio_finds(tmp_path: Path, name: str) -> None:
    records = [arc_header(), *some_arc_records()] if ".arc" in name else some_records()
    data = b"".join(members(records) if name.endswith("gz") else records)
    (tmp_path / name).write_bytes(data)
    pages = pages_of(tmp_path / name)
    index = {offset: url for (offset, _length), url in index_by_warcio(data).items()}
    assert [index.get(page.place.offset) for page in pages] == [page.url for page in pages]
    # Unlike warcio's, the length of a record in a plain file has the empty lines that end it.
    pieces = members(records) if name.endswith("gz") else records
    assert [data[at : at + length] for _name, at, length in (page.place for page in pages)] == pieces[-5:]


def test_places_do_not_depend_on_how_a_file_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "made.warc.gz"
    path.write_bytes(b"".join(members(some_records(12))))
    whole = [page.place for page in pages_of(path)]
    monkeypatch.setattr(plan, "UNIT_BYTES", 4_000)
    assert len(plan_units([str(path)], {})) > 2
    assert [page.place for page in pages_of(path)] == whole


@pytest.mark.parametrize("name", ["made.warc.gz", "made.arc.gz"])
def test_records_that_share_a_gzip_member_have_no_place_of_their_own(tmp_path: Path, name: str) -> None:
    records = [arc_header(), *some_arc_records()] if ".arc" in name else some_records()
    (tmp_path / name).write_bytes(gzip.compress(b"".join(records)))
    pages = pages_of(tmp_path / name)
    assert len(pages) == 5
    assert {page.place for page in pages} == {NO_PLACE._replace(archive=name)}


def test_pages_after_damage_keep_their_places(tmp_path: Path) -> None:
    packed = members(some_records())
    packed[2] = packed[2][:40] + b"damage" + packed[2][46:]
    (tmp_path / "made.warc.gz").write_bytes(b"".join(packed))
    places = {page.url[-1]: page.place[1:] for page in pages_of(tmp_path / "made.warc.gz")}
    starts = [sum(map(len, packed[:number])) for number in range(5)]
    assert places == {str(number): (starts[number], len(packed[number])) for number in (0, 1, 3, 4)}


def test_an_arc_record_in_a_member_of_its_own_is_found_after_a_shared_one(tmp_path: Path) -> None:
    own = gzip.compress(
        arc("http://made.test/own", b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>own"), mtime=0
    )
    shared = gzip.compress(b"".join([arc_header(), *some_arc_records(2)]), mtime=0)
    (tmp_path / "made.arc.gz").write_bytes(shared + own)
    assert [page.place[1:] for page in pages_of(tmp_path / "made.arc.gz")] == [(0, 0), (0, 0), (len(shared), len(own))]
