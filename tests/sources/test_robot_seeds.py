"""Addresses to begin a crawl with, from lists and sitemaps."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from pagekin.sources import CrawlError, crawl, read_seeds
from tests.sources.robot_server import page, pages, serve_sites

SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> http://made.test/a?x=1&amp;y=2 </loc><image:image><image:loc>http://made.test/a.png</image:loc></image:image></url>
<url><loc><![CDATA[http://made.test/b]]></loc></url><url><loc>mailto:someone@made.test</loc></url>
</urlset>"""
INDEX = """<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://made.test/maps/one.xml.gz</loc></sitemap><sitemap><loc>http://made.test/../../missing.xml</loc></sitemap>
<sitemap><loc>http://made.test/index.xml</loc></sitemap></sitemapindex>"""


def test_a_sitemap_names_pages_and_not_their_pictures(tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(SITEMAP)
    found = read_seeds(tmp_path / "one.xml")
    assert found.urls == ("http://made.test/a?x=1&y=2", "http://made.test/b")
    assert found.refused == ("mailto:someone@made.test",)


def test_an_index_names_the_sitemaps_beside_it(tmp_path: Path) -> None:
    (tmp_path / "index.xml").write_text(INDEX)
    (tmp_path / "one.xml.gz").write_bytes(gzip.compress(SITEMAP.encode()))
    found = read_seeds(tmp_path / "index.xml")
    assert len(found.urls) == 2
    assert {"http://made.test/../../missing.xml", "http://made.test/index.xml"} <= set(found.refused)


def test_a_list_has_an_address_on_each_line(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("# ours\nhttp://made.test/a\n\nhttp://made.test/a\nno address\n")
    assert read_seeds(tmp_path / "list.txt") == (("http://made.test/a",), ("no address",))


@pytest.mark.parametrize("content", [b"", b"nothing\n", b"\x1f\x8bnot gzip", gzip.compress(bytes(80 << 20))])
def test_a_file_without_addresses_or_too_large_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "list").write_bytes(content)
    with pytest.raises(CrawlError):
        read_seeds(tmp_path / "list")
    with pytest.raises(CrawlError, match="does not exist"):
        read_seeds(tmp_path / "missing")


def test_a_crawl_begins_with_the_root_and_the_addresses_of_a_list(tmp_path: Path) -> None:
    away = page(status="302 Found", headers="Location: http://other.test/away")
    site = pages(
        {"/": page("/linked"), "/linked": page(), "/listed": page("/deeper"), "/deeper": page(), "/moved": away}
    )
    with serve_sites({"site.test": site, "other.test": pages({"/away": page()})}) as server:
        seeds = (server.url("site.test", "/listed"), server.url("site.test", "/moved"), server.url("other.test", "/no"))
        plan = server.plan(tmp_path / "site.warc.gz", seeds=seeds)
        report = crawl(replace(plan, limits=replace(plan.limits, depth=0)))
        asked = {(each.host.partition(":")[0], each.path) for each in server.log if each.path != "/robots.txt"}
    # Neither an address outside the scope nor one that a listed page redirects to there is fetched.
    assert asked == {("site.test", path) for path in ("/", "/listed", "/moved")}
    assert report.pages == 2
