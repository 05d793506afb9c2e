"""Pages that ask not to be indexed, and pages beyond the limit of their host, are left out, counted and stay out."""

import hashlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pagekin.bags import Strategy
from pagekin.cli.app import app, load_verbs
from pagekin.engines import BuildRecipe, build_collection, update_collection
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.sources.http import forbids_indexing
from tests.engines.living import files_of, page_urls
from tests.sources.making import http, members, warc

META = b"<meta name=robots content='noindex, follow'><p>hidden words <a href=/linked>link</a>"


def write_archive(path: Path, *pages: tuple[str, bytes, str, str]) -> str:
    """Write pages, given by path, body, further headers and date."""
    records = [
        warc(f"http://made.test/{name}", http(body, f"Content-Type: text/html\n{headers}"), date=date)
        for name, body, headers, date in pages
    ]
    path.write_bytes(b"".join(members(records)))
    return str(path)


@pytest.fixture
def archive(tmp_path: Path) -> str:
    early, late = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
    return write_archive(
        tmp_path / "a.warc.gz",
        ("plain", b"<p>plain words", "", early),
        ("meta", META, "", early),
        ("header", b"<p>secret words", "X-Robots-Tag: noarchive\nX-Robots-Tag: noindex", early),
        ("other", b"<p>other words", "X-Robots-Tag: googlebot: noindex", early),
        ("later", b"<p>first words", "", early),
        ("later", META, "", late),
    )


def read(archive: str, out: Path, *options: str) -> tuple[set[str], dict[str, int]]:
    load_verbs("read")
    done = CliRunner().invoke(app, ["read", archive, "--out", str(out), *options])
    assert done.exit_code == 0, done.output
    return {url.rpartition("/")[2] for url in page_urls(out)}, Corpus.open(out).facts["skipped"]


def test_pages_are_left_out_by_the_ways_that_are_obeyed(archive: str, tmp_path: Path) -> None:
    every, skipped = read(archive, tmp_path / "all.kin")
    assert every == {"plain", "meta", "header", "other", "later"}
    assert "noindex" not in skipped
    by_meta, skipped = read(archive, tmp_path / "meta.kin", "--obey", "noindex")
    # What asked for it last stays out, though it had not asked before.
    assert by_meta == {"plain", "header", "other"}
    assert (skipped["noindex"], skipped["gone"]) == (2, 1)
    assert Corpus.open(tmp_path / "meta.kin").term_number("hidden") < 0
    assert Corpus.open(tmp_path / "meta.kin").url_number("http://made.test/linked") < 0
    both, skipped = read(archive, tmp_path / "both.kin", "--obey", "noindex", "--obey", "x-robots-tag")
    assert both == {"plain", "other"}
    assert (skipped["noindex"], skipped["x-robots-tag"]) == (2, 1)


def test_an_unknown_way_is_refused(archive: str, tmp_path: Path) -> None:
    load_verbs("read")
    done = CliRunner().invoke(app, ["read", archive, "--out", str(tmp_path / "x.kin"), "--obey", "nofollow"])
    assert done.exit_code == 2
    assert "x-robots-tag" in done.output


@pytest.mark.parametrize(
    ("header", "forbids"),
    [
        ("noindex", True), ("NONE", True), ("noarchive, NoIndex", True), ("*: noindex", True), ("pagekin: noindex", True),
        ("googlebot: noindex", False), ("googlebot: nofollow, noindex", False), ("googlebot: nofollow\nnoindex", True),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", True), ("max-snippet: 20, noindex", True),
        ("", False), ("index, follow", False),
    ],
)  # fmt: skip
def test_the_header_is_understood_as_it_is_written(header: str, forbids: bool) -> None:
    assert forbids_indexing(header) is forbids


def test_a_host_keeps_the_addresses_of_least_hash(tmp_path: Path) -> None:
    names = [f"page{number}" for number in range(20)]
    date = "2020-01-01T00:00:00Z"
    some = write_archive(
        tmp_path / "a.warc.gz", *((name, b"<p>words " + name.encode(), "", date) for name in names[:12])
    )
    more = write_archive(
        tmp_path / "b.warc.gz", *((name, b"<p>words " + name.encode(), "", date) for name in names[8:])
    )
    urls = [f"http://made.test/{name}" for name in names]
    least = set(sorted(urls, key=lambda url: hashlib.blake2b(url.encode(), digest_size=8).digest())[:5])
    outs = [tmp_path / f"{number}.kin" for number in range(3)]
    for out, sources in zip(outs, ([some, more], [more, some]), strict=False):
        build_collection(ReadPlan(sources, out, "strict", max_per_host=5), BuildRecipe(Strategy()))
        assert page_urls(out) == least
    facts = Corpus.open(outs[0]).facts
    assert facts["skipped"]["over the limit of its host"] == 24 - len(least) - _twice(least, urls)
    assert files_of(outs[0]) == files_of(outs[1])
    # An update with the second archive leaves what a build of both leaves.
    build_collection(ReadPlan([some], outs[2], "strict", keep=True, max_per_host=5), BuildRecipe(Strategy()))
    update_collection(outs[2], [more])
    assert page_urls(outs[2]) == least
    read_sources(ReadPlan([some], tmp_path / "free.kin", "strict"))
    assert len(page_urls(tmp_path / "free.kin")) == 12


def _twice(least: set[str], urls: list[str]) -> int:
    """How many addresses that stay are in both archives."""
    return len(least & set(urls[8:12]))
