"""The real archives in the data folder: all of them are read, with the counts of the data's README."""

import re
from pathlib import Path

import pytest

from pagekin.sources import DAMAGE_REASONS, Limits, Page, plan_units, read_unit
from tests.sources.making import html_records, read_file, reasons


def counts_of_the_readme(data: Path) -> dict[str, int]:
    """HTML records by a part of the file's name, as the README's table says."""
    text = (data / "README.md").read_text()
    said = re.search(r"status-200 HTML: ([^|]*)", text)
    assert said
    named = dict(re.findall(r"([\w ]+?) (\d+)(?:, |\s*$)", said[1].strip()))
    return {name.strip(): int(count) for name, count in named.items()}


@pytest.mark.parametrize(
    ("name", "ending", "in_readme", "records"),
    [
        ("aut-example", ".arc.gz", "aut ARC", 94),
        ("aut-example", ".warc.gz", "aut WARC", 94),
        ("iana", ".warc.gz", "iana", 16),
        ("BL-", ".warc.gz", "BL", 32),
        ("flashfrozen", ".warc.gz", "flashfrozen", 2),
    ],
)
def test_each_sample_has_the_html_records_of_the_readme(
    data: Path, name: str, ending: str, in_readme: str, records: int
) -> None:
    (path,) = (p for p in (data / "warc").iterdir() if name in p.name and p.name.endswith(f"{ending}"))
    items = read_file(path)
    assert html_records(items) == records == counts_of_the_readme(data)[in_readme]
    assert not DAMAGE_REASONS & set(reasons(items))


def test_webkb_has_8253_html_records_of_which_52_came_by_ftp(data: Path) -> None:
    units = plan_units([str(data / "webkb" / "webkb.warc.gz")], {})
    assert len(units) > 1
    items = []
    for unit in units:
        *found, stop = read_unit(unit, Limits())
        assert stop == unit.end
        items += [item for item in found if not isinstance(item, int)]
    assert html_records(items) == 8_253
    assert reasons(items) == {"record type warcinfo": 1, "not http": 52, "not html": 22}
    assert all(item.date > 0 for item in items if isinstance(item, Page))
    assert not any(item.cut for item in items if isinstance(item, Page))


def test_the_arc_and_the_warc_of_one_crawl_hold_the_same_pages(data: Path) -> None:
    first, second = (
        {item.url: item.html for item in read_file(data / "warc" / name) if isinstance(item, Page)}
        for name in ("archivesunleashed+aut-example.arc.gz", "archivesunleashed+aut-example.warc.gz")
    )
    assert first == second
