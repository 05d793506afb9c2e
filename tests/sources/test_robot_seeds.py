"""Addresses to begin a crawl with, from lists and sitemaps."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from pagekin.sources import CrawlError, crawl, fetch_seeds, read_seeds
from tests.sources.robot_server import Answer, Server, answer, page, pages, redirect_to, serve_sites

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


@pytest.mark.parametrize("hostile", [
    "<loc>" + " " * 2_000_000, "<loc>" * 400_000, "<loc><![CDATA[" * 200_000, "<" + "a" * 2_000_000, "<loc" + " " * 2_000_000,
    "<!--" * 500_000, '<!DOCTYPE a [<!ENTITY b "http://made.test/secret">]>', '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
])  # fmt: skip
def test_a_hostile_sitemap_is_read_in_linear_time_and_expands_nothing(tmp_path: Path, hostile: str) -> None:
    (tmp_path / "one.xml").write_text(
        f"<urlset><url><loc>http://made.test/a</loc></url><loc>&b;</loc>{hostile}</urlset>"
    )
    found = read_seeds(tmp_path / "one.xml")
    assert found.urls == ("http://made.test/a",)
    assert found.refused == ("&b;",)


def test_a_commented_page_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(
        "<urlset><loc>http://made.test/a</loc><!-- <loc>http://made.test/b</loc> --></urlset>"
    )
    assert read_seeds(tmp_path / "one.xml").urls == ("http://made.test/a",)


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


def urlset(*urls: str) -> str:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>"


def index_of(*urls: str) -> str:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>"


def xml(text: str) -> bytes:
    return answer(text.encode(), "Content-Type: application/xml")


def a_site_with_sitemaps(server: Server) -> None:
    home, other = server.url("site.test", ""), server.url("other.test", "")
    robots = f"User-agent: *\nDisallow: /private\nSitemap: {home}/index.xml\n"
    maps = ("one.xml.gz", "moved.xml", "private.xml", "missing.xml", "index.xml", "nested.xml")
    server.sites["site.test"] = pages({
        "/robots.txt": answer(robots.encode(), "Content-Type: text/plain"), "/": page(),
        "/index.xml": xml(index_of(*(f"{home}/{name}" for name in maps), f"{other}/far.xml")),
        "/one.xml.gz": answer(gzip.compress(urlset(f"{home}/a", f"{home}/private/b").encode()), "Content-Type: x/gzip"),
        "/moved.xml": redirect_to("/two.xml"), "/two.xml": xml(urlset(f"{home}/c")),
        "/nested.xml": xml(index_of(f"{home}/two.xml")),
        "/list.txt": answer(f"{home}/d\n".encode(), "Content-Type: text/plain"), "/a": page(), "/c": page(),
    })  # fmt: skip
    server.sites["other.test"] = pages({"/far.xml": xml(urlset(f"{home}/far"))})


@pytest.mark.parametrize("named", ["/index.xml", "/robots.txt"])
def test_an_index_of_sitemaps_is_fetched_within_its_site_and_by_robots_txt(tmp_path: Path, named: str) -> None:
    with serve_sites({}) as server:
        a_site_with_sitemaps(server)
        found = fetch_seeds(server.plan(tmp_path / "site.warc.gz"), server.url("site.test", named))
        home = server.url("site.test", "")
        assert found.urls == (f"{home}/a", f"{home}/private/b", f"{home}/c")
        refused = " ".join(found.refused)
        assert "robots.txt forbids it" in refused and "status 404" in refused and "far.xml" in refused
        assert {each.host for each in server.log} == {"site.test"}
        assert not any(path.startswith("/private") for path in server.requested_paths())
        # An index below an index is not read.
        assert server.requested_paths()[-2:] == ["/missing.xml", "/nested.xml"]


def test_a_list_at_an_address_is_fetched_and_what_is_none_is_explained(tmp_path: Path) -> None:
    with serve_sites({}) as server:
        a_site_with_sitemaps(server)
        plan = server.plan(tmp_path / "site.warc.gz")
        assert fetch_seeds(plan, server.url("site.test", "/list.txt")).urls == (server.url("site.test", "/d"),)
        for path, why in (
            ("/missing.xml", "status 404"),
            ("/private.xml", "robots.txt forbids"),
            ("/a", "names no http"),
        ):
            with pytest.raises(CrawlError, match=why):
                fetch_seeds(plan, server.url("site.test", path))
        refused = replace(plan, guard=type(plan.guard)())
        with pytest.raises(CrawlError, match="loopback"):
            fetch_seeds(refused, server.url("site.test", "/list.txt"))


def test_no_more_sitemaps_are_fetched_than_a_crawl_can_use(tmp_path: Path) -> None:
    with serve_sites({}) as server:
        home = server.url("site.test", "")
        site: dict[str, Answer] = {
            f"/{number}.xml": xml(urlset(*(f"{home}/{number}/{one}" for one in range(60)))) for number in range(9)
        }
        site["/index.xml"] = xml(index_of(*(home + path for path in site)))
        server.sites["site.test"] = pages(site)
        plan = server.plan(tmp_path / "site.warc.gz")
        few = replace(plan, limits=replace(plan.limits, pages=1))  # which allows 110 requests
        found = fetch_seeds(few, f"{home}/index.xml")
    assert (len(found.urls), len(found.refused)) == (120, 7)
