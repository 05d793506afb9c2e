"""Crawls that were killed, stopped or damaged resume where they were."""

import gzip
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pagekin.sources import DAMAGE_REASONS, CrawlError, Page, crawl
from pagekin.sources.robot.crawler import Crawler
from pagekin.sources.robot.frontier import Entry, Frontier
from tests.sources.making import read_file, reasons
from tests.sources.robot_server import QUICK, ReceivedRequest, Server, Site, page, pages, serve_sites


def kept(path: Path) -> list[str]:
    """Return the paths of all pages in an archive, in order."""
    items = read_file(path)
    assert not set(reasons(items)) & DAMAGE_REASONS
    return [re.sub(r"^http://[^/]+", "", item.url) for item in items if isinstance(item, Page)]


def web(size: int, pause: float = 0.0) -> Site:
    """Return a site of `size` pages that compress badly; each response comes after a pause."""

    def site(request: ReceivedRequest) -> bytes:
        time.sleep(pause)
        if request.path != "/" and not request.path[1:].isdecimal():
            return page(status="404 Not Found")
        number = int(request.path[1:] or 0)
        noise = random.Random(number).randbytes(4_000).hex()
        return page(*(f"/{n}" for n in range(3 * number + 1, min(3 * number + 4, size))), body=noise)

    return site


def start(server: Server, out: Path, *options: str) -> "subprocess.Popen[bytes]":
    """Start `pagekin crawl` in a process of its own."""
    command = [sys.executable, "-m", "pagekin", "crawl", server.url("site.test"), "--out", str(out), "--delay", "0"]
    command += ["--allow", "loopback", "--resolve", f"*:{server.port}:127.0.0.1", "--pages", "1000", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_crawl_survives_being_killed_again_and_again(tmp_path: Path) -> None:
    size, kills = 100, 0
    with serve_sites({"site.test": web(size)}) as server:
        crawl(server.plan(tmp_path / "calm.warc.gz"))
        calm = kept(tmp_path / "calm.warc.gz")
        assert len(calm) == size
    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(size, pause=0.004)}) as server:
        for wanted in (1, 40, 80):
            process = start(server, out)
            while len(server.log) < wanted and process.poll() is None:
                time.sleep(0.001)
            time.sleep(random.Random(wanted).random() * 0.02)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
            found = read_file(out) if out.exists() and out.stat().st_size else []
            assert set(reasons(found)) & DAMAGE_REASONS <= {"truncated record", "damaged record"}
        process = start(server, out)
        said, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
        twice = Counter(each.path for each in server.log)
    assert kept(out) == calm
    assert sum(twice.values()) - len(twice) <= kills
    assert b"(resumed)" in said


def stopped_after(server: Server, out: Path, pages: int) -> None:
    """Crawl until `pages` pages are kept."""
    report = crawl(server.plan(out, limits=replace(QUICK, pages=pages)))
    assert (report.pages, report.complete, report.stopped) == (pages, False, "pages")


def test_a_higher_limit_goes_on_where_the_lower_one_ended(tmp_path: Path) -> None:
    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(40)}) as server:
        for count in (1, 7, 20):
            stopped_after(server, out, count)
            assert len(server.requested_paths()) == count
        report = crawl(server.plan(out, limits=replace(QUICK, depth=2)))
        assert (report.not_asked, report.complete) == ({"too deep": 20}, True)
        report = crawl(server.plan(out))
        assert report.resumed
        assert max(Counter(each.path for each in server.log).values()) == 1
        before = out.read_bytes()
        assert crawl(server.plan(out)).complete
        assert out.read_bytes() == before
    assert sorted(kept(out), key=lambda path: int(path[1:] or 0)) == ["/", *(f"/{n}" for n in range(1, 40))]


@pytest.mark.parametrize("damage", ["half a record", "garbage", "a whole record"])
def test_what_a_kill_left_at_the_end_of_the_archive_is_cut_off(tmp_path: Path, damage: str) -> None:
    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(20)}) as server:
        stopped_after(server, out, 8)
        whole = out.read_bytes()
        tail = {
            "half a record": whole[:700],
            "garbage": os.urandom(300),
            "a whole record": gzip.compress(b"WARC/1.1\r\n"),
        }[damage]
        out.write_bytes(whole + tail)
        crawl(server.plan(out))
        assert max(Counter(server.requested_paths()).values()) == 1
    assert out.read_bytes().startswith(whole)
    assert len(kept(out)) == len(set(kept(out))) == 20


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_an_archive_that_lost_its_end_is_completed(tmp_path: Path, share: float) -> None:
    """As after a power cut: the state was on the disk, the archive was not."""
    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(20)}) as server:
        stopped_after(server, out, 12)
        whole = out.read_bytes()
        out.write_bytes(whole[: int(len(whole) * share)])
        report = crawl(server.plan(out))
    assert report.complete
    assert report.pages == 20
    assert len(kept(out)) == len(set(kept(out))) == 20


def test_a_stop_signal_ends_the_crawl_at_once_and_it_goes_on_later(tmp_path: Path) -> None:
    out = tmp_path / "site.warc.gz"
    hold = threading.Event()

    def site(request: ReceivedRequest) -> bytes:
        if len(server.requested_paths()) == 10:
            hold.wait(20)
        return web(30)(request)  # type: ignore[return-value]

    with serve_sites({"site.test": site}) as server:
        process = start(server, out)
        while len(server.requested_paths()) < 10 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=15)
        hold.set()
        assert process.returncode == 130
        assert b"run the same command to resume" in errors
        assert b"9 pages" in said
        assert len(kept(out)) == 9
        process = start(server, out)
        process.communicate()
        assert process.returncode == 0
        assert sum(Counter(server.requested_paths()).values()) == 31  # the one that was held up was asked for again
    assert len(kept(out)) == 30


def test_two_crawls_cannot_share_a_state(tmp_path: Path) -> None:
    with serve_sites({"site.test": web(5)}) as server:
        plan = server.plan(tmp_path / "site.warc.gz")
        first = Crawler(plan)
        with pytest.raises(CrawlError, match="in use"):
            crawl(plan)
        first.close()


@pytest.mark.parametrize("change", [
    {"path": "/1"}, {"scope": "site"}, {"include": ("x",)}, {"exclude": ("x",)}, {"keep_others": True}, {"host": "b.test"},
])  # fmt: skip
def test_another_crawl_does_not_go_on_with_this_one(tmp_path: Path, change: dict[str, Any]) -> None:
    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(5)}) as server:
        stopped_after(server, out, 2)
        before = out.read_bytes()
        with pytest.raises(CrawlError, match="belongs to another crawl"):
            crawl(server.plan(out, **change))
    assert out.read_bytes() == before


def test_an_archive_of_others_is_never_touched(tmp_path: Path) -> None:
    out = tmp_path / "site.warc.gz"
    out.write_bytes(b"precious")
    with serve_sites({"site.test": web(5)}) as server:
        with pytest.raises(CrawlError, match="choose another name"):
            crawl(server.plan(out))
        assert server.log == []
    assert out.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [out]


def test_a_lost_archive_and_a_foreign_state_are_explained(tmp_path: Path) -> None:
    out = tmp_path / "site.warc.gz"
    state = tmp_path / "site.warc.gz.crawl"
    with serve_sites({"site.test": web(5)}) as server:
        stopped_after(server, out, 2)
        out.rename(tmp_path / "moved")
        with pytest.raises(CrawlError, match="put it back"):
            crawl(server.plan(out))
        state.write_bytes(b"This is no database, but a text that someone wrote." * 100)
        out.write_bytes(b"")
        with pytest.raises(CrawlError, match="not the state of a crawl"):
            crawl(server.plan(out))
        with pytest.raises(CrawlError, match="not a folder"):
            crawl(server.plan(tmp_path / "none" / "site.warc.gz"))


def test_a_kill_before_the_archive_exists_loses_nothing(tmp_path: Path) -> None:
    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(5)}) as server:
        Frontier(tmp_path / "site.warc.gz.crawl").close()
        assert crawl(server.plan(out)).pages == 5
        (tmp_path / "two.warc.gz.crawl").touch()
        assert crawl(server.plan(tmp_path / "two.warc.gz")).pages == 5


def test_a_resumed_crawl_does_not_ask_for_robots_txt_again_until_it_is_old(tmp_path: Path) -> None:
    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(6)}) as server:
        stopped_after(server, out, 2)
        stopped_after(server, out, 3)
        assert [each.path for each in server.log].count("/robots.txt") == 1
        frontier = Frontier(tmp_path / "site.warc.gz.crawl")
        with frontier.transaction():
            kept_rules = frontier.get_robots(server.url("site.test", ""))
            assert kept_rules is not None
            frontier.set_robots(server.url("site.test", ""), 404, b"", time.time() - 90_000, 0)
        frontier.close()
        stopped_after(server, out, 4)
        assert [each.path for each in server.log].count("/robots.txt") == 2


def test_a_page_that_turns_out_nearer_is_taken_as_near() -> None:
    """With several hosts a page may first be found by a longer way; the depth limit counts the shorter."""
    frontier = Frontier(Path(":memory:"))
    frontier.add([Entry("http://a/x", "http://a", 5, "LLLLL", "http://a/")], 9, 9)
    frontier.add([Entry("http://a/x", "http://a", 2, "LL", "http://a/y")], 9, 9)
    frontier.add([Entry("http://a/x", "http://a", 7, "LLLLLLL", "http://a/z")], 9, 9)
    entry = frontier.first_due("http://a", time.time(), 9)
    assert entry is not None
    assert (entry.depth, entry.hops, entry.via) == (2, "LL", "http://a/y")
    frontier.finish(entry, "", 0, "", 1)
    frontier.add([Entry("http://a/x", "http://a", 1, "L", "http://a/q")], 9, 9)
    assert frontier.first_due("http://a", time.time(), 9) is None
    frontier.close()


@pytest.mark.parametrize(("what", "error", "seen"), [
    ("archive.Archive._append", OSError(28, "No space left on device"), OSError),
    ("frontier.Frontier.finish", sqlite3.OperationalError("database or disk is full"), CrawlError),
    ("fetch.Fetcher.fetch", RuntimeError("a mistake of ours"), RuntimeError),
    ("fetch._read_body", RuntimeError("a mistake of ours"), RuntimeError),
    ("crawler.parse_page", RuntimeError("a mistake of ours"), RuntimeError),
    ("crawler.Crawler.next_request", RuntimeError("a mistake of ours"), RuntimeError),
])  # fmt: skip
def test_an_error_of_ours_is_not_swallowed_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, error: Exception, seen: type[Exception]
) -> None:
    def broken(*_: object) -> None:
        raise error

    out = tmp_path / "site.warc.gz"
    with serve_sites({"site.test": web(6)}) as server:
        stopped_after(server, out, 2)
        with monkeypatch.context() as patch:
            patch.setattr(f"pagekin.sources.robot.{what}", broken)
            with pytest.raises(seen, match=str(error.args[-1])):
                crawl(server.plan(out))
        assert crawl(server.plan(out)).complete
    assert len(kept(out)) == len(set(kept(out))) == 6


def test_pages_are_the_same_whatever_the_number_of_runs(tmp_path: Path) -> None:
    with serve_sites({"site.test": pages({"/": page("/a"), "/a": page()})}) as server:
        stopped_after(server, tmp_path / "site.warc.gz", 1)
        crawl(server.plan(tmp_path / "site.warc.gz"))
        infos = gzip.decompress((tmp_path / "site.warc.gz").read_bytes()).count(b"WARC-Type: warcinfo")
    assert infos == 2  # each run that writes says who it is
