"""A folder of HTML files as a site."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from ada_url import URL

from pagekin.sources import Item, Limits, Page, Redirect, Skip, SourceError, parse_limits, plan_units
from pagekin.sources import plan as planning
from pagekin.sources.folder import file_url, list_folder, read_folder
from tests.sources.making import html_records, read_file, reasons

BASE = "http://made.test/"


def read(root: Path, limits: Limits | None = None) -> list[Item]:
    return list(read_folder(root, list_folder(root), BASE, limits or Limits()))


def page_urls(items: list[Item]) -> list[str]:
    return [item.url for item in items if isinstance(item, Page)]


def skips(items: list[Item]) -> dict[str, str]:
    return {Path(item.where).name: item.reason for item in items if isinstance(item, Skip)}


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<p>{name}</p>")


def test_files_are_pages_in_sorted_order_and_others_are_counted(tmp_path: Path) -> None:
    write(tmp_path, "b.html", "a/z.HTM", "a/b/c.xhtml", "style.css", "noending", "d.shtml")
    items = read(tmp_path)
    assert page_urls(items) == [f"{BASE}{name}" for name in ("a/b/c.xhtml", "a/z.HTM", "b.html", "d.shtml")]
    assert reasons(items) == {"not html": 2}


def test_an_index_page_also_answers_for_its_folder(tmp_path: Path) -> None:
    write(tmp_path, "index.html", "a/Index.HTM", "a/b/index.php.html")
    redirects = {(item.url, item.target) for item in read(tmp_path) if isinstance(item, Redirect)}
    assert redirects == {(BASE, f"{BASE}index.html"), (f"{BASE}a/", f"{BASE}a/Index.HTM")}


def test_of_two_index_pages_one_answers(tmp_path: Path) -> None:
    write(tmp_path, "index.htm", "index.html")
    redirects = [item for item in read(tmp_path) if isinstance(item, Redirect)]
    assert [item.target for item in redirects] == [f"{BASE}index.html"]


@pytest.mark.parametrize(
    "name",
    [
        "two words",
        "100%",
        "%41",
        "what?",
        "a#b",
        "café",
        "日本",
        "back\\slash",
        "tab\there",
        "a;b=c&d",
        "~x:y@z",
        "<b>",
    ],
)
def test_every_file_name_survives_as_an_address(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"{name}.html", f"{name}/x.html")
    first, second = page_urls(read(tmp_path))
    for url in (first, second):
        parsed = URL(url)
        assert (parsed.search, parsed.hash) == ("", "")
    paths = {URL(first).pathname, URL(second).pathname}
    # The way back, as a web server goes it with the path of a request.
    assert {unquote(path) for path in paths} == {f"/{name}.html", f"/{name}/x.html"}


def test_names_that_are_not_utf8_get_addresses_and_printable_reports(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html")).write_text("<p>x</p>")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("x")
    items = read(tmp_path)
    assert page_urls(items) == [f"{BASE}caf%E9.html"]
    assert [str(item).encode() for item in items if isinstance(item, Skip)]


def test_links_inside_the_folder_are_read_and_links_out_of_it_are_not(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(root, "real.html", "sub/page.html")
    write(outside, "secret.html")
    (root / "inside.html").symlink_to("real.html")
    (root / "out.html").symlink_to(outside / "secret.html")
    (root / "outfolder").symlink_to(outside)
    (root / "subagain").symlink_to("sub")
    (root / "loop.html").symlink_to("loop.html")
    (root / "dangling.html").symlink_to("nowhere.html")
    items = read(root)
    assert page_urls(items) == [f"{BASE}{name}" for name in ("inside.html", "real.html", "sub/page.html")]
    assert skips(items) == {
        "out.html": "link out of the folder",
        "outfolder": "link out of the folder",
        "subagain": "link to a folder",
        "loop.html": "unreadable file",
        "dangling.html": "unreadable file",
    }


def test_a_folder_reached_by_a_link_is_read(tmp_path: Path) -> None:
    write(tmp_path / "real", "a.html")
    (tmp_path / "link").symlink_to("real")
    assert page_urls(read_file(tmp_path / "link")) == ["http://localhost/a.html"]


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path, "a.html")
    os.mkfifo(tmp_path / "pipe.html")
    assert skips(read(tmp_path)) == {"pipe.html": "not a file"}


def test_empty_files_are_counted_as_html_that_became_no_page(tmp_path: Path) -> None:
    (tmp_path / "empty.html").write_bytes(b"")
    (tmp_path / "blank.html").write_bytes(b" \r\n\t")
    items = read(tmp_path)
    assert reasons(items) == {"empty page": 2}
    assert html_records(items) == 2


def test_a_file_over_the_limit_is_cut(tmp_path: Path) -> None:
    (tmp_path / "long.html").write_bytes(b"<p>" + b"x" * 5_000)
    (tmp_path / "short.html").write_bytes(b"<p>" + b"x" * 1_997)
    pages = [item for item in read(tmp_path, parse_limits(Limits, ["page_bytes=2000"])) if isinstance(item, Page)]
    assert [(len(page.html), page.cut) for page in pages] == [(2_000, True), (2_000, False)]


@pytest.fixture
def ordinary_user() -> Iterator[Path]:
    """A folder whose owner is subject to permissions, which root is not, for the time of a test."""
    with tempfile.TemporaryDirectory() as name:
        user = os.geteuid()
        if user == 0:
            os.chown(name, 65534, -1)
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            os.seteuid(user)


def test_what_may_not_be_read_is_reported(ordinary_user: Path) -> None:
    write(ordinary_user, "open.html", "closed.html", "closed/inside.html")
    (ordinary_user / "closed.html").chmod(0)
    (ordinary_user / "closed").chmod(0)
    items = read(ordinary_user)
    assert page_urls(items) == [f"{BASE}open.html"]
    assert skips(items) == {"closed.html": "unreadable file", "closed": "unreadable folder"}
    (ordinary_user / "closed").chmod(0o700)


def test_a_source_that_may_not_be_read_is_refused(ordinary_user: Path) -> None:
    write(ordinary_user, "closed/inside.html", "closed.warc")
    (ordinary_user / "closed.warc").chmod(0)
    (ordinary_user / "closed").chmod(0)
    for name in ("closed", "closed.warc", "closed/inside.warc"):
        with pytest.raises(SourceError, match="cannot be read: Permission denied"):
            plan_units([str(ordinary_user / name)], {})
    (ordinary_user / "closed").chmod(0o700)


def test_a_large_folder_is_several_units_covering_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, *(f"{i}.html" for i in range(25)))
    monkeypatch.setattr(planning, "UNIT_FILES", 10)
    units = plan_units([str(tmp_path)], {}, "http://made.test/~x")
    assert [len(unit.files) for unit in units] == [10, 10, 5]
    assert [name for unit in units for name in unit.files] == list_folder(tmp_path)
    assert {unit.base_url for unit in units} == {"http://made.test/~x/"}


def test_the_root_itself_has_the_base_address() -> None:
    assert file_url(BASE, "") == BASE
