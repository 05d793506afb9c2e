"""Crawls of invented and real sites on this machine: what is fetched, in what order, and what is written."""

import gzip
import io
import itertools
import random
import re
import zlib
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

import brotli
import lxml.html
import pytest
from fastwarc.warc import ArchiveIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from pagekin.sources import DAMAGE_REASONS, CrawlReport, Page, Redirect, crawl
from tests.sources.making import read_file, reasons
from tests.sources.robot_server import (
    MISSING,
    QUICK,
    ReceivedRequest,
    Server,
    Site,
    answer,
    page,
    pages,
    redirect_to,
    serve_sites,
)


def run(server: Server, folder: Path, **options: object) -> CrawlReport:
    """Crawl a site of the server and check that nothing is fetched twice."""
    report = crawl(server.plan(folder / "site.warc.gz", **options))  # type: ignore[arg-type]  # limits, by name
    again = {key: n for key, n in Counter((each.host, each.path) for each in server.log).items() if n > 1}
    assert again == {}
    return report


def kept(folder: Path) -> dict[str, Page]:
    """Return the pages of the archive by path."""
    items = read_file(folder / "site.warc.gz")
    assert not set(reasons(items)) & DAMAGE_REASONS
    return {re.sub(r"^http://[^/]+", "", item.url): item for item in items if isinstance(item, Page)}


def records(path: Path) -> list[tuple[str, str, dict[str, str], bytes]]:
    """Read (type, URL, headers, content) of every record with another reader, and check its digests."""
    found = []
    with path.open("rb") as stream:
        for record in WarcioIterator(stream, check_digests="raise"):
            record.raw_stream.read()
        stream.seek(0)
        for record in WarcioIterator(stream, no_record_parse=True):
            headers = dict(record.rec_headers.headers)
            found.append((record.rec_type, headers.get("WARC-Target-URI", ""), headers, record.raw_stream.read()))
    return found


# finding pages


def random_site(seed: int, size: int = 60) -> tuple[Site, dict[str, list[str]]]:
    """Return a site of pages /0, /1 ... with random links, and the links of each page."""
    numbers = random.Random(seed)
    links = {f"/{n}": [f"/{numbers.randrange(size)}" for _ in range(numbers.choice([0, 1, 2, 3]))] for n in range(size)}
    links["/"] = ["/0", "/1", "/2"]
    return pages({path: page(*targets) for path, targets in links.items()}), links


def depths(root: str, links: dict[str, list[str]]) -> dict[str, int]:
    """Return how far every page is from the root, by a breadth-first walk."""
    found, queue = {root: 0}, deque([root])
    while queue:
        path = queue.popleft()
        for target in links.get(path, []):
            if target not in found:
                found[target] = found[path] + 1
                queue.append(target)
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_reachable_page_is_found_the_nearest_first(tmp_path: Path, seed: int) -> None:
    site, links = random_site(seed)
    far = depths("/", links)
    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path)
        order = [far[path] for path in server.requested_paths()]
    assert set(kept(tmp_path)) == set(far)
    assert order == sorted(order)
    assert (report.pages, report.complete, report.left, report.stopped) == (len(far), True, 0, "")


@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_depth_and_page_limits_cut_the_walk_where_they_say(tmp_path: Path, depth: int) -> None:
    site, links = random_site(5)
    far = depths("/", links)
    within = [path for path, level in far.items() if level <= depth]
    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, depth=depth))
        assert sorted(server.requested_paths()) == sorted(within)
    assert report.not_asked.get("too deep", 0) == len({t for p in within for t in links.get(p, [])} - set(within))
    (tmp_path / "few").mkdir()
    with serve_sites({"site.test": site}) as server:
        run(server, tmp_path / "few", limits=replace(QUICK, pages=len(within)))
        assert sorted(server.requested_paths()) == sorted(within)


def by_lxml(html: bytes, url: str) -> list[str]:
    """Return the links of a page by another parser."""
    document = lxml.html.document_fromstring(b"<html>" + html)
    base = next((b.get("href") for b in document.iter("base") if b.get("href")), "")
    written = [e.get("href") for e in document.iter("a", "area")] + [
        e.get("src") for e in document.iter("frame", "iframe")
    ]
    return [urljoin(urljoin(url, base), link.strip()).partition("#")[0] for link in written if link]


def test_a_real_site_of_1996_is_walked_as_another_parser_walks_it(tmp_path: Path, data: Path) -> None:
    bodies: dict[str, bytes] = {}
    with serve_sites({}) as server:
        host = "www.cs.cornell.edu"
        here = server.url(host, "").encode()
        with (data / "webkb" / "webkb.warc.gz").open("rb") as stream:
            for record in ArchiveIterator(stream):
                url = record.headers.get("WARC-Target-URI") or ""
                if url.lower().startswith(f"http://{host}/"):
                    html = re.sub(rb"(?i)http://www\.cs\.cornell\.edu(:80)?(?=[/\"'\s>])", here, record.reader.read())
                    bodies["/" + url.split("/", 3)[3]] = html
        server.sites[host] = lambda request: answer(bodies[request.path]) if request.path in bodies else MISSING
        root = "/Info/Department/Department.html" if "/Info/Department/Department.html" in bodies else "/"
        assert root in bodies
        links = {path: [to.removeprefix(server.url(host, "")) for to in by_lxml(html, server.url(host, path))]
                 for path, html in bodies.items()}  # fmt: skip
        far = depths(root, links)
        reachable = {path for path in bodies if far.get(path, 99) <= 3}
        report = run(server, tmp_path, host=host, path=root, limits=replace(QUICK, depth=3))
        assert report.complete
    assert len(reachable) > 100
    assert set(kept(tmp_path)) == reachable
    for path, item in kept(tmp_path).items():
        assert item.html == bodies[path]


# robots.txt


def robots(text: str) -> bytes:
    return answer(text.encode(), "Content-Type: text/plain")


def test_robots_txt_is_asked_for_first_and_once_and_obeyed(tmp_path: Path) -> None:
    table = {
        "/robots.txt": robots("User-agent: *\nDisallow: /\n\nUser-agent: pagekin\nDisallow: /no\nAllow: /no/yes"),
        "/": page("/a", "/no", "/no/x", "/no/yes"), "/a": page(), "/no": page(), "/no/x": page(), "/no/yes": page(),
    }  # fmt: skip
    with serve_sites({"site.test": pages(table)}) as server:
        report = run(server, tmp_path)
        assert [each.path for each in server.log] == ["/robots.txt", "/", "/a", "/no/yes"]
        assert all("pagekin/" in each.headers["user-agent"] for each in server.log)
    assert report.not_asked == {"robots.txt": 2}


def test_a_root_that_robots_txt_forbids_is_not_visited(tmp_path: Path) -> None:
    with serve_sites(
        {"site.test": pages({"/robots.txt": robots("User-agent: *\nDisallow: /"), "/": page()})}
    ) as server:
        report = run(server, tmp_path)
        assert server.requested_paths() == []
    assert (report.pages, report.root) == (0, "robots.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "410 Gone", "401 Unauthorized"])
def test_without_a_robots_txt_everything_is_allowed(tmp_path: Path, status: str) -> None:
    table = {"/robots.txt": answer(b"User-agent: *\nDisallow: /", status=status), "/": page("/a"), "/a": page()}
    with serve_sites({"site.test": pages(table)}) as server:
        assert run(server, tmp_path).pages == 2


@pytest.mark.parametrize("status", ["500 Oops", "503 Busy", "429 Too Many Requests"])
def test_while_robots_txt_fails_nothing_is_allowed_until_it_recovers(tmp_path: Path, status: str) -> None:
    broken = True

    def site(request: ReceivedRequest) -> bytes:
        if request.path == "/robots.txt":
            return answer(b"", status=status) if broken else robots("User-agent: *\nDisallow: /b")
        return pages({"/": page("/a", "/b"), "/a": page(), "/b": page()})(request)  # type: ignore[return-value]  # a reply of one piece

    with serve_sites({"site.test": site}) as server:
        report = crawl(server.plan(tmp_path / "site.warc.gz"))
        assert [each.path for each in server.log] == ["/robots.txt"] * (1 + QUICK.retries)
        assert (report.pages, report.root) == (0, f"robots.txt: status {status[:3]}")
        broken = False
        server.log.clear()
        assert run(server, tmp_path).pages == 2


def test_a_robots_txt_that_recovers_while_we_wait_is_used(tmp_path: Path) -> None:
    turns = iter([answer(b"", status="502 Oops"), robots("User-agent: *\nDisallow: /b")])
    table = pages({"/": page("/a", "/b"), "/a": page(), "/b": page()})
    with serve_sites(
        {"site.test": lambda request: next(turns) if request.path == "/robots.txt" else table(request)}
    ) as server:
        report = crawl(server.plan(tmp_path / "site.warc.gz"))
        assert [each.path for each in server.log] == ["/robots.txt", "/robots.txt", "/", "/a"]
    assert report.complete


@pytest.mark.parametrize(
    "cut", [answer(b"User-agent: *\nAllow: /\n", "Content-Type: text/plain", length=500), b"", b"HTTP/1.1 junk\r\n\r\n"]
)
def test_a_robots_txt_that_does_not_come_whole_allows_nothing(tmp_path: Path, cut: bytes) -> None:
    with serve_sites({"site.test": pages({"/robots.txt": cut, "/": page()})}) as server:
        assert crawl(server.plan(tmp_path / "site.warc.gz")).pages == 0
        assert server.requested_paths() == []


def test_a_compressed_robots_txt_is_obeyed(tmp_path: Path) -> None:
    rules = gzip.compress(b"User-agent: *\nDisallow: /a")
    table = {
        "/robots.txt": answer(rules, "Content-Type: text/plain\nContent-Encoding: gzip"),
        "/": page("/a"),
        "/a": page(),
    }
    with serve_sites({"site.test": pages(table)}) as server:
        run(server, tmp_path)
        assert server.requested_paths() == ["/"]


@pytest.mark.parametrize(("hops", "paths"), [(5, ["/"]), (6, ["/", "/no"])])
def test_five_redirects_of_robots_txt_are_followed_even_to_another_host(
    tmp_path: Path, hops: int, paths: list[str]
) -> None:
    with serve_sites({}) as server:
        chain = ["/robots.txt", *(f"/r{n}" for n in range(1, hops))]
        table = {path: redirect_to(to) for path, to in itertools.pairwise(chain)}
        table |= {chain[-1]: redirect_to(server.url("other.test", "/rules")), "/": page("/no"), "/no": page()}
        server.sites["site.test"] = pages(table)  # type: ignore[arg-type]
        server.sites["other.test"] = pages({"/rules": robots("User-agent: *\nDisallow: /no")})
        report = crawl(server.plan(tmp_path / "site.warc.gz"))
        assert [path for path in server.requested_paths() if path not in chain] == paths
    assert report.pages == len(paths)


def test_every_host_of_a_site_has_its_own_robots_txt(tmp_path: Path) -> None:
    with serve_sites({}) as server:
        server.sites["www.site.test"] = pages({"/": page(server.url("docs.site.test"), server.url("other.test"))})
        server.sites["docs.site.test"] = pages({
            "/robots.txt": robots("User-agent: *\nDisallow: /x"), "/": page("/x", "/y"), "/y": page(), "/x": page(),
        })  # fmt: skip
        report = run(server, tmp_path, host="www.site.test", scope="site")
        assert [(each.host, each.path) for each in server.log] == [
            ("www.site.test", "/robots.txt"), ("www.site.test", "/"), ("docs.site.test", "/robots.txt"),
            ("docs.site.test", "/"), ("docs.site.test", "/y"),
        ]  # fmt: skip
    assert report.not_asked == {"other site": 1, "robots.txt": 1}


# politeness


def gaps(server: Server, host: str) -> list[float]:
    times = [each.time for each in server.log if each.host == host]
    return [after - before for before, after in itertools.pairwise(times)]


def test_requests_to_a_host_are_spaced_by_the_delay(tmp_path: Path) -> None:
    with serve_sites(
        {"site.test": pages({"/": page("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": page()})}
    ) as server:
        run(server, tmp_path, limits=replace(QUICK, delay=0.25))
        assert len(server.log) == 5
        assert min(gaps(server, "site.test")) > 0.22


def test_a_longer_crawl_delay_is_kept_and_a_shorter_one_is_not(tmp_path: Path) -> None:
    for crawl_delay, delay in ((0.3, 0.01), (0.01, 0.3)):
        folder = tmp_path / str(crawl_delay)
        folder.mkdir()
        table = {"/robots.txt": robots(f"User-agent: *\nCrawl-delay: {crawl_delay}"), "/": page("/a"), "/a": page()}
        with serve_sites({"site.test": pages(table)}) as server:
            run(server, folder, limits=replace(QUICK, delay=delay))
            assert min(gaps(server, "site.test")) > 0.27


def test_a_host_is_asked_for_one_page_at_a_time_and_hosts_at_the_same_time(tmp_path: Path) -> None:
    names = [f"h{n}.site.test" for n in range(4)]
    with serve_sites({}) as server:
        for name in names:
            server.sites[name] = pages({"/": page("/a", "/b"), "/a": page(), "/b": page()})
        server.sites["site.test"] = pages({"/": page(*(server.url(name) for name in names))})
        report = run(server, tmp_path, scope="site", limits=replace(QUICK, delay=0.2))
        assert report.pages == 13
        for name in names:
            assert min(gaps(server, name)) > 0.17
        asked = [(each.host, each.path) for each in server.log if each.host in names]
        assert {host for host, _path in asked[:4]} == set(names), "all hosts are asked before one is asked again"
        assert {path for _host, path in asked[:4]} == {"/robots.txt"}


# what is kept


def test_only_html_is_read_beyond_its_headers(tmp_path: Path) -> None:
    sent: list[int] = []

    def endless() -> Iterable[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 900000000\r\n\r\n"
        for _ in range(900):
            sent.append(1)
            yield bytes(1_000_000)

    table = {"/": page("/a.pdf", "/b.txt", "/c", "/d", "/e"), "/b.txt": answer(b"plain", "Content-Type: text/plain"),
             "/c": answer(b"<html><p>untyped", "X: y"), "/d": answer(b"GIF89a", "X: y"),
             "/e": answer(b"<p>x", "Content-Type: application/xhtml+xml; charset=utf-8")}  # fmt: skip
    with serve_sites(
        {"site.test": lambda request: endless() if request.path == "/a.pdf" else pages(table)(request)}
    ) as server:
        report = run(server, tmp_path)
    assert len(sent) < 20
    assert set(kept(tmp_path)) == {"/", "/c", "/e"}
    assert report.not_kept == {"not html (application/pdf)": 1, "not html (text/plain)": 1, "not html (no type)": 1}
    assert report.bytes < 1_000


def test_others_are_kept_on_request(tmp_path: Path) -> None:
    table = {"/": page("/b.txt", "/c.pdf"), "/b.txt": answer(b"plain", "Content-Type: text/plain"),
             "/c.pdf": answer(b"%PDF" + bytes(50_000), "Content-Type: application/pdf")}  # fmt: skip
    with serve_sites({"site.test": pages(table)}) as server:
        run(server, tmp_path, keep_others=True, limits=replace(QUICK, page_bytes=20_000))
    found = {url.rpartition("/")[2]: (headers.get("WARC-Truncated"), body.partition(b"\r\n\r\n")[2])
             for kind, url, headers, body in records(tmp_path / "site.warc.gz") if kind == "response"}  # fmt: skip
    assert found["b.txt"] == (None, b"plain")
    assert found["c.pdf"] == ("length", (b"%PDF" + bytes(50_000))[:20_000])


TEXT = "<!doctype html><title>Größe</title><p>Žluťoučký kůň <a href=/x>weiter</a>" + "<p>Wasser" * 50


def chunked(body: bytes, size: int = 100) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize("coding", ["", "gzip", "deflate", "raw deflate", "br", "chunked", "gzip chunked"])
def test_the_archive_gives_the_page_whatever_it_was_sent_as(tmp_path: Path, coding: str) -> None:
    raw = TEXT.encode()
    body = {
        "gzip": gzip.compress(raw), "deflate": zlib.compress(raw), "br": brotli.compress(raw), "chunked": chunked(raw),
        "raw deflate": zlib.compress(raw)[2:-4], "gzip chunked": chunked(gzip.compress(raw)), "": raw,
    }[coding]  # fmt: skip
    headers = ["HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8"]
    headers += ["Transfer-Encoding: chunked"] if "chunked" in coding else [f"Content-Length: {len(body)}"]
    content = coding.replace("chunked", "").replace("raw", "").strip()
    headers += [f"Content-Encoding: {content}"] if content else []
    sent = "\r\n".join([*headers, "", ""]).encode() + body
    with serve_sites({"site.test": pages({"/": sent})}) as server:
        run(server, tmp_path)
        assert "/x" in server.requested_paths()
    assert kept(tmp_path)["/"].html == raw
    (page_read,) = [item for item in read_file(tmp_path / "site.warc.gz") if isinstance(item, Page)]
    assert page_read.content_type == "text/html; charset=utf-8"
    heads = [
        body.partition(b"\r\n\r\n")[0] for kind, _, _, body in records(tmp_path / "site.warc.gz") if kind == "response"
    ]
    assert b"\r\nTransfer-Encoding:" not in heads[0], "the archive holds no chunks"
    assert not page_read.cut


def test_noindex_pages_are_followed_but_not_kept_and_nofollow_is_obeyed(tmp_path: Path) -> None:
    table = {
        "/": page("/hidden", "/quiet", "/tagged", body="<a rel=nofollow href=/ad>x</a><a rel=nofollow href=/both>x</a>"),
        "/hidden": page("/a", head="<meta name=robots content=noindex>"), "/a": page("/both"),
        "/quiet": page("/b", head="<meta name=robots content=nofollow>"),
        "/tagged": page("/c", headers="X-Robots-Tag: noindex, nofollow"),
        "/ad": page(), "/both": page(), "/b": page(), "/c": page(),
    }  # fmt: skip
    with serve_sites({"site.test": pages(table)}) as server:
        report = run(server, tmp_path)
        assert set(server.requested_paths()) == {"/", "/hidden", "/quiet", "/tagged", "/a", "/both"}
    assert set(kept(tmp_path)) == {"/", "/quiet", "/a", "/both"}
    assert report.not_kept == {"noindex": 2}
    assert report.not_asked == {"nofollow": 3}


def test_redirects_are_kept_as_aliases_and_their_targets_as_pages(tmp_path: Path) -> None:
    table = {
        "/": page("/old"),
        "/old": redirect_to("/new?x=1#part"),
        "/new?x=1": page("/old", "/tmp"),
        "/tmp": redirect_to("/", "302 Found"),
    }
    with serve_sites({"site.test": pages(table)}) as server:
        report = run(server, tmp_path)
        here = server.url("site.test", "")
    redirects = {item.url: item.target for item in read_file(tmp_path / "site.warc.gz") if isinstance(item, Redirect)}
    assert redirects == {f"{here}/old": "/new?x=1#part", f"{here}/tmp": "/"}
    assert set(kept(tmp_path)) == {"/", "/new?x=1"}
    assert report.not_kept == {"redirect": 2}


def test_where_the_root_redirects_to_is_crawled_and_other_hosts_are_not(tmp_path: Path) -> None:
    with serve_sites({}) as server:
        www = server.url("www.site.test", "/home")
        server.sites["site.test"] = pages({"/": redirect_to(www)})
        server.sites["www.site.test"] = pages({"/home": page("/a", "/off"), "/a": page(server.url("site.test", "/b")),
                                               "/off": redirect_to(server.url("other.test"))})  # fmt: skip
        server.sites["other.test"] = pages({"/": page()})
        report = run(server, tmp_path)
        assert server.requested_paths("www.site.test") == ["/home", "/a", "/off"]
        assert server.requested_paths("site.test") == ["/", "/b"]
        assert server.requested_paths("other.test") == []
    assert report.not_asked == {"other host": 1}


def test_the_archive_tells_how_each_page_was_reached_and_where_it_leads(tmp_path: Path) -> None:
    table = {"/": page("/old", "http://far.example/x"), "/old": redirect_to("/new"), "/end": page(), "/f": page(),
             "/new": page("/end", body="<iframe src=/f></iframe>")}  # fmt: skip
    with serve_sites({"site.test": pages(table)}) as server:
        table["/robots.txt"] = robots("")
        run(server, tmp_path, contact="me@owner.example")
        here = server.url("site.test", "")
        agents = {each.headers["user-agent"] for each in server.log}
        assert {each.headers["from"] for each in server.log} == {"me@owner.example"}
    found = records(tmp_path / "site.warc.gz")
    kinds = Counter(kind for kind, *_ in found)
    assert kinds == {"warcinfo": 1, "response": 6, "request": 6, "metadata": 5}
    assert found[0][0] == "warcinfo"
    (agent,) = agents
    assert agent.endswith(" (+me@owner.example)")
    assert f"http-header-user-agent: {agent}\r\n".encode() in found[0][3]
    told = {url.removeprefix(here): body.decode().splitlines() for kind, url, _, body in found if kind == "metadata"}
    assert told["/"][0] == "seed: "
    assert [line for line in told["/"] if line.startswith("outlink")] == [
        f"outlink: {here}/old L a/@href", "outlink: http://far.example/x L a/@href",
    ]  # fmt: skip
    assert told["/new"][:2] == [f"via: {here}/old", "hopsFromSeed: LR"]
    assert told["/f"][:2] == [f"via: {here}/new", "hopsFromSeed: LRL"]
    assert f"outlink: {here}/f L iframe/@src" in told["/new"]
    responses = {headers["WARC-Record-ID"]: url for kind, url, headers, _ in found if kind == "response"}
    for kind, url, headers, body in found:
        if kind in ("request", "metadata"):
            assert responses[headers["WARC-Concurrent-To"]] == url
        if kind == "request":
            assert body.startswith(f"GET {url.removeprefix(here)} HTTP/1.1\r\nHost: site.test:".encode())
        if kind == "response":
            assert headers["WARC-IP-Address"] == "127.0.0.1"


def test_a_plain_warc_is_written_where_the_name_says_so(tmp_path: Path) -> None:
    with serve_sites({"site.test": pages({"/": page("/a"), "/a": page()})}) as server:
        crawl(server.plan(tmp_path / "site.warc"))
    assert (tmp_path / "site.warc").read_bytes().startswith(b"WARC/1.1\r\n")
    assert len([item for item in read_file(tmp_path / "site.warc") if isinstance(item, Page)]) == 2


def test_headers_are_archived_byte_by_byte(tmp_path: Path) -> None:
    sent = b'HTTP/1.0 200 \xc3\xbc\r\ncontent-type:text/html\r\nX-Odd: caf\xe9; a="b"\r\nX-odd: two\r\n\r\n<p>x'
    with serve_sites({"site.test": pages({"/": sent})}) as server:
        run(server, tmp_path)
    body = next(
        body for kind, url, _, body in records(tmp_path / "site.warc.gz") if kind == "response" and url.endswith("/")
    )
    assert b'X-Odd: caf\xe9; a="b"\r\nX-odd: two\r\n' in body
    assert io.BytesIO(body).readline().startswith(b"HTTP/1.0 200")


def test_patterns_choose_what_is_asked_for(tmp_path: Path) -> None:
    table = {"/": page("/docs/a", "/docs/old/b", "/blog/c"), "/docs/a": page("/docs/d"), "/docs/d": page()}
    with serve_sites({"site.test": pages(table)}) as server:
        report = run(server, tmp_path, include=("/docs/",), exclude=("/old/",))
        assert server.requested_paths() == ["/", "/docs/a", "/docs/d"]
    assert report.not_asked == {"excluded": 1, "not included": 1}
