"""Sites that never end, lie to the robot, or try to break it."""

import email.utils
import gzip
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pagekin.net import Guard
from pagekin.sources import CrawlReport, Page, crawl
from tests.sources.making import read_file
from tests.sources.robot_server import QUICK, ReceivedRequest, Server, answer, page, pages, redirect_to, serve_sites

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def run(server: Server, folder: Path, **options: object) -> CrawlReport:
    return crawl(server.plan(folder / "site.warc.gz", **options))  # type: ignore[arg-type]  # limits, by name


def kept(folder: Path) -> dict[str, bytes]:
    """Return the pages of the archive by path."""
    items = read_file(folder / "site.warc.gz")
    return {re.sub(r"^http://[^/]+", "", item.url): item.html for item in items if isinstance(item, Page)}


# endless spaces


def test_a_chain_of_queries_ends_at_the_limit(tmp_path: Path) -> None:
    def site(request: ReceivedRequest) -> bytes:
        number = int(request.path.rpartition("=")[2]) if "=" in request.path else 0
        return page(f"/list?page={number + 1}", f"/list?page={number + 2}", "/end")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, queries=10, depth=1_000))
        assert len([path for path in server.requested_paths() if path.startswith("/list?")]) == 10
        assert "/end" in server.requested_paths()
    assert report.complete
    assert report.not_asked["many queries"] > 0


def test_a_calendar_ends_at_the_depth_limit(tmp_path: Path) -> None:
    def site(request: ReceivedRequest) -> bytes:
        day = int(request.path[1:]) if request.path[1:].isdecimal() else 0
        return page(f"/{day + 1}")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, depth=7))
        assert server.requested_paths() == ["/", *(f"/{day}" for day in range(1, 8))]
    assert report.not_asked == {"too deep": 1}


def test_growing_paths_end_when_they_repeat(tmp_path: Path) -> None:
    with serve_sites({"site.test": lambda request: page("a/", "b/")}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, repeats=2))
        assert max(len(path) for path in server.requested_paths()) == len("/a/b/a/b/")
        assert sum(path.count("/") == 5 for path in server.requested_paths()) == 6  # a and b twice each, in any order
    assert report.complete
    assert set(report.not_asked) == {"repeating path"}


def test_paths_without_end_are_cut_by_their_length(tmp_path: Path) -> None:
    with serve_sites(
        {"site.test": lambda request: page(request.path.rstrip("/") + f"/{len(request.path)}" + "x" * 30)}
    ) as server:
        report = run(server, tmp_path, limits=replace(QUICK, url_bytes=300, depth=1_000))
        assert len(server.log) < 20
    assert report.not_asked == {"long address": 1}


def test_session_ids_do_not_multiply_pages(tmp_path: Path) -> None:
    turn = iter(range(1_000))

    def site(request: ReceivedRequest) -> bytes:
        sid = f"{next(turn):032x}"
        return page(f"/a;jsessionid={sid}", f"/b?PHPSESSID={sid}", f"/c?sid={sid}&x=1")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path)
        assert sorted(server.requested_paths()) == ["/", "/a", "/b", "/c?x=1"]
    assert report.complete


def test_a_server_that_insists_on_session_ids_gets_them(tmp_path: Path) -> None:
    def site(request: ReceivedRequest) -> bytes:
        if ";jsessionid=" not in request.path:
            return redirect_to(f"{request.path};jsessionid=A1B2")
        return page("/x;jsessionid=A1B2", "/")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path)
        assert server.requested_paths() == ["/", "/;jsessionid=A1B2", "/x", "/x;jsessionid=A1B2"]
    assert (report.pages, report.complete) == (2, True)


def test_odd_types_do_not_fill_the_summary(tmp_path: Path) -> None:
    def site(request: ReceivedRequest) -> bytes:
        if request.path == "/":
            return page(*(f"/{n}" for n in range(20)))
        return answer(b"", f"Content-Type: \xe9{request.path}{'x' * 500}")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path)
    assert report.not_kept == {"not html (odd type)": 20}


def test_a_site_without_pages_ends_at_the_request_limit(tmp_path: Path) -> None:
    def site(request: ReceivedRequest) -> bytes:
        if request.path == "/":
            return page(*(f"/{n}" for n in range(500)))
        return answer(b"", status="404 Not Found")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, requests=50))
        assert len(server.log) == 50
    assert (report.stopped, report.pages) == ("requests", 1)


def test_a_page_of_very_many_links_is_no_trouble(tmp_path: Path) -> None:
    with serve_sites({"site.test": pages({"/": page(*(f"/{n}" for n in range(20_000)))})}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, links=5_000, addresses=3_000, requests=5))
    assert report.not_asked == {"many addresses": 2_001}
    assert report.left == 2_996


# redirects


def test_redirects_in_a_circle_end(tmp_path: Path) -> None:
    table = {
        "/": page("/a", "/self"),
        "/a": redirect_to("/b"),
        "/b": redirect_to("/c"),
        "/c": redirect_to("/a"),
        "/self": redirect_to("/self"),
    }
    with serve_sites({"site.test": pages(table)}) as server:
        report = run(server, tmp_path)
        assert max(Counter(server.requested_paths()).values()) == 1
    assert report.not_kept == {"redirect": 4}
    assert report.complete


def test_a_root_that_redirects_in_a_circle_is_explained(tmp_path: Path) -> None:
    with serve_sites({"site.test": pages({"/": redirect_to("/a"), "/a": redirect_to("/")})}) as server:
        report = run(server, tmp_path)
        assert len(server.log) == 3
    assert report.root == "its redirects lead in a circle"


def test_a_chain_of_redirects_is_followed_to_the_limit(tmp_path: Path) -> None:
    def site(request: ReceivedRequest) -> bytes:
        found = re.fullmatch(r"/(\D*)(\d+)", request.path)
        if found is None or request.path == "/good5":
            return page("/0", "/good0")
        return redirect_to(f"/{found[1]}{int(found[2]) + 1}")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path)
        assert "/5" in server.requested_paths()
        assert "/6" not in server.requested_paths()
    assert "/good5" in kept(tmp_path)
    assert report.not_kept == {"redirect": 10, "many redirects": 1}


@pytest.mark.parametrize(
    "target", ["", "http://[bad", "javascript:alert(1)", "mailto:a@b.example", "http://user:pass@site.test/"]
)
def test_odd_redirects_are_not_followed(tmp_path: Path, target: str) -> None:
    with serve_sites({"site.test": pages({"/": page("/r"), "/r": redirect_to(target)})}) as server:
        report = run(server, tmp_path)
        assert server.requested_paths() == ["/", "/r"]
    assert report.complete


def test_a_redirect_is_checked_by_the_guard_and_by_robots_txt(tmp_path: Path) -> None:
    with serve_sites({}) as server:
        secret = f"http://127.0.0.1:{server.port}/secret"
        rules = answer(b"User-agent: *\nDisallow: /no", "Content-Type: text/plain")
        server.sites["site.test"] = pages({
            "/": page("/in", "/out", "/meta"), "/out": redirect_to(secret), "/in": redirect_to("/no"), "/robots.txt": rules,
            "/meta": redirect_to("http://169.254.169.254/latest/"),
        })  # fmt: skip
        report = run(server, tmp_path)
        assert server.requested_paths() == ["/", "/in", "/out", "/meta"]
        assert server.requested_paths("127.0.0.1") == []
    assert report.not_asked == {"other host": 2, "robots.txt": 1}


def test_a_root_that_redirects_to_a_forbidden_address_gets_nowhere(tmp_path: Path) -> None:
    for target in ("http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://0xa9fea9fe/"):
        with serve_sites({"site.test": pages({"/": redirect_to(target)})}) as server:
            report = run(server, tmp_path)
        assert report.pages == 0
        assert "never allowed" in report.root


def test_nothing_is_connected_to_without_permission(tmp_path: Path) -> None:
    with serve_sites({"site.test": pages({"/": page()})}) as server:
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "site.test", "2130706433", "0x7f.1", "127.0.0.1."):
            plan = server.plan(tmp_path / "site.warc.gz", host, guard=Guard())
            report = crawl(plan)
            assert "loopback" in report.root, host
        assert server.log == []
    assert list(tmp_path.iterdir()) == []


# answers without end


def drip(pieces: Iterable[bytes], pause: float) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        time.sleep(pause)


def test_an_endless_page_is_cut_at_its_size(tmp_path: Path) -> None:
    def endless() -> Iterator[bytes]:
        yield HEAD + b"<a href=/after>x</a>"
        while True:
            yield b"<p>more " * 2_000

    site = pages({"/": page("/endless"), "/after": page()})
    with serve_sites(
        {"site.test": lambda request: endless() if request.path == "/endless" else site(request)}
    ) as server:
        report = run(server, tmp_path, limits=replace(QUICK, page_bytes=300_000))
    assert report.cut == {"length": 1}
    assert len(kept(tmp_path)["/endless"]) == 300_000
    assert "/after" in kept(tmp_path)
    assert report.bytes < 310_000


@pytest.mark.parametrize("where", ["body", "head", "silence"])
def test_a_slow_drip_ends_in_time(tmp_path: Path, where: str) -> None:
    slow = {"body": [HEAD, b"<a href=/after>x</a>", *[b"."] * 400], "head": [b"HTTP/1.1 200 OK\r\n", *[b"X: y\r\n"] * 400],
            "silence": [b""] * 400}[where]  # fmt: skip
    site = pages({"/": page("/slow", "/fine"), "/after": page(), "/fine": page()})
    with serve_sites(
        {"site.test": lambda request: drip(slow, 0.05) if request.path == "/slow" else site(request)}
    ) as server:
        report = run(server, tmp_path, limits=replace(QUICK, page_seconds=1.5, retries=0))
    assert "/fine" in kept(tmp_path)
    if where == "body":
        assert report.cut == {"time": 1}
        assert "/after" in kept(tmp_path)
    else:
        assert report.not_kept == {"no answer in time": 1}


def test_the_bytes_of_all_pages_have_a_limit(tmp_path: Path) -> None:
    big = "<p>water" * 2_000
    with serve_sites({"site.test": lambda request: page(*(f"/{n}" for n in range(50)), body=big)}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, all_bytes=100_000))
        assert 5 < len(server.requested_paths()) < 10
    assert report.stopped == "all_bytes"
    assert 100_000 <= report.bytes < 120_000


@pytest.mark.parametrize("head", [
    b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"a" * 2_000_000 + b"\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300_000 + b"\r\n",
    b"HTTP/1.1 200 " + b"x" * 1_000_000 + b"\r\n\r\n",
], ids=["long", "many", "status line"])  # fmt: skip
def test_huge_headers_are_refused(tmp_path: Path, head: bytes) -> None:
    with serve_sites(
        {"site.test": pages({"/": page("/huge", "/fine"), "/huge": head + b"<p>x", "/fine": page()})}
    ) as server:
        report = run(server, tmp_path, limits=replace(QUICK, retries=0))
    assert report.not_kept == {"bad answer": 1}
    assert "/fine" in kept(tmp_path)


@pytest.mark.parametrize("raw", [
    b"", b"\r\n\r\n", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 abc OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: minus\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nabcde",
    b"<html>no head at all</html>", b"\x16\x03\x01\x02\x00", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nx",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n" * 3,
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n\x1f\x8b\xff\xff",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: \xff\xfe\r\nContent-Length: 1\r\n\r\nx",
    b"HTTP/1.1 302 Found\r\nLocation: \xff\xfe\x00\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n",
])  # fmt: skip
def test_nonsense_is_counted_and_the_crawl_goes_on(tmp_path: Path, raw: bytes) -> None:
    with serve_sites({"site.test": pages({"/": page("/odd", "/fine"), "/odd": raw, "/fine": page()})}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, retries=1, page_seconds=2))
    assert set(kept(tmp_path)) == {"/", "/fine"}
    assert report.complete
    assert 1 <= sum(report.not_kept.values()) <= 2  # where a redirect to nonsense is taken for an address, two


# bodies that lie


def test_a_body_shorter_than_promised_is_kept_as_it_came(tmp_path: Path) -> None:
    table = {"/": page("/short", "/long"), "/short": answer(b"<p>short<a href=/after>", length=5_000),
             "/long": answer(b"<p>long", length=3), "/after": page()}  # fmt: skip
    with serve_sites({"site.test": pages(table)}) as server:
        report = run(server, tmp_path)
    assert kept(tmp_path)["/short"] == b"<p>short<a href=/after>"
    assert (
        kept(tmp_path).get("/long", b"<p>") == b"<p>"
    )  # what follows a body is no part of it, or the whole is refused
    assert "/after" in kept(tmp_path)
    assert report.cut == {"disconnect": 1}


def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    bomb = gzip.compress(b"<a href=/no>x</a>" + bytes(40_000_000), 9)
    packed = answer(bomb, "Content-Type: text/html\nContent-Encoding: gzip")
    twice = answer(
        gzip.compress(gzip.compress(bytes(50_000_000))), "Content-Type: text/html\nContent-Encoding: gzip, gzip"
    )
    table = {"/": page("/bomb", "/twice", "/fine"), "/bomb": packed, "/twice": twice, "/fine": page()}
    with serve_sites({"site.test": pages(table)}) as server:
        report = run(server, tmp_path)
        assert "/no" not in server.requested_paths()
    assert set(kept(tmp_path)) == {"/", "/fine"}
    assert report.not_kept == {"decompression bomb": 2}


# servers in trouble


def test_a_failure_that_passes_is_tried_again(tmp_path: Path) -> None:
    turns = {"/a": [answer(b"", status="500 Oops"), b"", page("/b")], "/b": [answer(b"", status="503 Busy"), page()]}

    def site(request: ReceivedRequest) -> bytes:
        return turns[request.path].pop(0) if request.path in turns else pages({"/": page("/a")})(request)  # type: ignore[return-value]

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path)
        assert server.requested_paths() == ["/", "/a", "/a", "/a", "/b", "/b"]
    assert (report.pages, report.not_kept) == (3, {})


@pytest.mark.parametrize(("said", "reason"), [(answer(b"", status="500 Oops"), "status 500"), (b"", "disconnected")])
def test_a_failure_that_does_not_pass_is_given_up(tmp_path: Path, said: bytes, reason: str) -> None:
    with serve_sites({"site.test": pages({"/": page("/a", "/b"), "/a": said, "/b": page()})}) as server:
        report = run(server, tmp_path, limits=replace(QUICK, retries=3))
        assert Counter(server.requested_paths()) == {"/": 1, "/a": 4, "/b": 1}
        tries = [each.time for each in server.log if each.path == "/a"]
        assert server.requested_paths().index("/b") < len(server.requested_paths()) - 1  # others do not wait for it
        assert tries[-1] - tries[0] > 0.9 * QUICK.backoff * (1 + 2 + 4)
    assert report.not_kept == {reason: 1}


@pytest.mark.parametrize(("status", "form"), [("429 Slow down", "seconds"), ("503 Busy", "date")])
def test_retry_after_is_kept_for_the_whole_host(tmp_path: Path, status: str, form: str) -> None:
    busy = iter([True])

    def site(request: ReceivedRequest) -> bytes:
        if request.path == "/a" and next(busy, False):
            when = "1" if form == "seconds" else email.utils.formatdate(time.time() + 2, usegmt=True)
            return answer(b"", f"Retry-After: {when}", status)
        return page("/a", "/b")

    with serve_sites({"site.test": site}) as server:
        run(server, tmp_path)
        at = [each.path for each in server.log].index("/a")
        assert server.log[at + 1].time - server.log[at].time > 0.9
        assert Counter(server.requested_paths()) == {"/": 1, "/a": 2, "/b": 1}


def test_a_server_that_asks_for_a_very_long_wait_is_left_alone(tmp_path: Path) -> None:
    def site(request: ReceivedRequest) -> bytes:
        if request.path in ("/", "/robots.txt"):
            return page("/a", "/b", "/c")
        return answer(b"", "Retry-After: 86400", "429 Slow down")

    with serve_sites({"site.test": site}) as server:
        report = run(server, tmp_path)
        assert len(server.requested_paths()) == 2
    assert (report.pages, report.left, report.complete) == (1, 3, False)
    assert "86,400 s" in report.stopped


def test_a_server_that_dies_is_left_alone_and_asked_again_when_resumed(tmp_path: Path) -> None:
    links = [f"/{n}" for n in range(40)]
    with serve_sites({"site.test": pages({"/": page(*links)})}) as server:
        plan = server.plan(tmp_path / "site.warc.gz", limits=replace(QUICK, pages=1))
        assert crawl(plan).pages == 1
    plan = replace(plan, limits=replace(QUICK, retries=0))
    report = crawl(plan)  # nobody listens any more
    assert report.not_kept == {"no connection": 8}
    assert (report.stopped, report.left) == ("no connection", 32)


def test_nobody_listening_is_said(tmp_path: Path) -> None:
    with serve_sites({}) as server:
        plan = server.plan(tmp_path / "site.warc.gz")
    report = crawl(plan)
    assert report.pages == 0
    assert report.root.startswith("robots.txt: no connection")
    assert list(tmp_path.iterdir()) == []


# odd addresses


def test_addresses_are_sent_as_they_are_spelled(tmp_path: Path) -> None:
    html = (
        "<p><a href='/caf\xe9?q=\xe9 x'>1</a> <a href='/a%2Fb%20c'>2</a> <a href='/%E9'>3</a> <a href=\"/it's\">4</a>"
    )
    html += "<a href='/p#frag'>5</a><a href='/q;v=1?a=1&amp;b=%'>6</a><a href='/\u017d'>7</a><a href='/x?y=[1]|2'>8</a>"
    site = pages(
        {"/": answer(html.encode("cp1250", "xmlcharrefreplace"), "Content-Type: text/html; charset=windows-1250")}
    )
    with serve_sites({"site.test": lambda request: site(request) if request.path == "/" else page()}) as server:
        report = run(server, tmp_path)
        assert sorted(server.requested_paths()) == sorted([
            "/", "/caf%C3%A9?q=%C3%A9%20x", "/a%2Fb%20c", "/%E9", "/it's", "/p", "/q;v=1?a=1&b=%", "/%C5%BD", "/x?y=[1]|2",
        ])  # fmt: skip
    assert set(kept(tmp_path)) == set(server.requested_paths())
    assert report.complete


def test_a_base_element_moves_links(tmp_path: Path) -> None:
    with serve_sites(
        {
            "site.test": pages(
                {"/": page("x", head="<base href='/deep/er/'>"), "/deep/er/x": page("../y"), "/deep/y": page()}
            )
        }
    ) as server:
        run(server, tmp_path)
        assert server.requested_paths() == ["/", "/deep/er/x", "/deep/y"]


def test_links_with_passwords_and_to_robots_txt_are_not_followed(tmp_path: Path) -> None:
    with serve_sites({}) as server:
        here = f"site.test:{server.port}"
        server.sites["site.test"] = pages(
            {"/": page(f"http://user:pass@{here}/x", "/robots.txt", f"http://@{here}/y"), "/y": page()}
        )
        report = run(server, tmp_path)
        assert server.requested_paths() == ["/", "/y"]
        assert not any("authorization" in each.headers for each in server.log)
    assert report.not_asked == {"credentials": 1, "robots.txt itself": 1}


def test_no_cookies_are_sent_back(tmp_path: Path) -> None:
    with serve_sites({"site.test": lambda request: page("/a", headers="Set-Cookie: id=1; Path=/")}) as server:
        run(server, tmp_path)
        assert not any("cookie" in each.headers for each in server.log)
