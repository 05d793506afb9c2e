"""What a crawl fetches next, step by step and without a network."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pagekin.sources.robot.crawler import Crawler, Request
from pagekin.sources.robot.exchange import Exchange, FetchError
from pagekin.sources.robot.plan import CrawlLimits, CrawlPlan

LIMITS = CrawlLimits(delay=5, pages=100, backoff=40)


@dataclass
class Steps:
    """A crawl in progress with a clock that the test turns."""

    crawler: Crawler
    now: list[float]
    requests: dict[str, Request] = field(default_factory=dict)

    def next(self) -> str:
        """Return the address of the next request, or an empty string."""
        request = self.crawler.next_request()
        if request is None:
            return ""
        self.requests[url_of(request)] = request
        return url_of(request)

    def answer(self, url: str, *links: str, status: int = 200, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Answer a request with a page that has these links."""
        request = self.requests.pop(url)
        html = "<title>x</title>" + "".join(f"<a href='{link}'>x</a>" for link in links)
        kind = b"text/html" if request.entry else b"text/plain"
        exchange = Exchange(
            url, "/", (), "192.0.2.1", time.time(), 0.1, "HTTP/1.1", status, "OK", ((b"Content-Type", kind), *headers),
            html.encode() if request.entry else b"",
        )  # fmt: skip
        if request.entry is None:
            self.crawler.handle_robots(request, [exchange])
        else:
            self.crawler.handle_page(request, exchange)


def url_of(request: Request) -> str:
    return request.entry.url if request.entry else f"{request.origin}/robots.txt"


@pytest.fixture
def steps(tmp_path: Path) -> Iterator[Steps]:
    now = [1_000.0]
    plan = CrawlPlan("http://a.rivers.example/", tmp_path / "a.warc.gz", "site", limits=LIMITS)
    made = Steps(Crawler(plan, clock=lambda: now[0]), now)
    yield made
    made.crawler.close()


A, B, C = (f"http://{name}.rivers.example/" for name in "abc")


def begin(steps: Steps, *links: str) -> None:
    """Ask for robots.txt and the root, which has these links."""
    for url in (A + "robots.txt", A):
        assert steps.next() == url
        steps.answer(url, *links)
        steps.now[0] += LIMITS.delay


def test_a_host_is_left_in_peace_for_the_delay(steps: Steps) -> None:
    assert steps.next() == A + "robots.txt"
    assert steps.next() == ""
    steps.now[0] += 3
    steps.answer(A + "robots.txt")
    assert (steps.next(), steps.crawler.seconds_to_wait()) == ("", 5)
    steps.now[0] += 4.9
    assert steps.next() == ""
    assert steps.crawler.seconds_to_wait() == pytest.approx(0.1)
    steps.now[0] += 0.2
    assert steps.next() == A


def test_nothing_wakes_the_crawl_while_it_waits_for_an_answer(steps: Steps) -> None:
    begin(steps, A + "1", B)
    assert {steps.next(), steps.next(), steps.next()} == {A + "1", B + "robots.txt", ""}
    assert steps.crawler.seconds_to_wait() is None
    assert steps.crawler.has_more()


def test_a_deeper_page_waits_for_the_shallower_ones_under_way(steps: Steps) -> None:
    begin(steps, A + "1", B + "1")
    assert steps.next() == B + "robots.txt"
    assert steps.next() == A + "1"
    steps.answer(B + "robots.txt")
    steps.answer(A + "1", A + "2")
    steps.now[0] += 5
    assert steps.next() == B + "1"
    assert steps.next() == "", "A/2 lies deeper than B/1, which may lead to pages that come before it"
    assert steps.crawler.seconds_to_wait() is None
    steps.answer(B + "1")
    assert steps.next() == A + "2"


def test_pages_under_way_count_towards_the_limit(tmp_path: Path) -> None:
    plan = CrawlPlan(A, tmp_path / "a.warc.gz", "site", limits=replace(LIMITS, pages=2, delay=0))
    steps = Steps(Crawler(plan), [0.0])
    for url in (A + "robots.txt", A):
        assert steps.next() == url
        steps.answer(url, A + "1", A + "2", B)
    assert steps.next() == B + "robots.txt"
    assert steps.next() == A + "1"
    steps.answer(B + "robots.txt")
    assert steps.next() == "", "the root and A/1 are two pages"
    steps.answer(A + "1", status=404)
    assert steps.next() == A + "2"
    steps.answer(A + "2")
    assert (steps.next(), steps.crawler.has_more()) == ("", False)
    report = steps.crawler.close()
    assert (report.pages, report.stopped, report.left) == (2, "pages", 1)


def test_hosts_asked_at_the_same_time_are_limited(tmp_path: Path) -> None:
    plan = CrawlPlan(A, tmp_path / "a.warc.gz", "site", limits=replace(LIMITS, hosts=2, delay=0))
    steps = Steps(Crawler(plan), [0.0])
    for url in (A + "robots.txt", A):
        assert steps.next() == url
        steps.answer(url, A + "1", B, C)
    assert [bool(steps.next()) for _ in range(3)] == [True, True, False]
    steps.crawler.close()


def test_a_failed_page_waits_longer_each_time_and_then_counts_as_failed(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = [time.time()]
    monkeypatch.setattr("pagekin.sources.robot.crawler.time.time", lambda: wall[0])

    def turn(seconds: float) -> None:
        steps.now[0] += seconds
        wall[0] += seconds

    begin(steps, A + "1")
    for wait in (40, 80):
        assert steps.next() == A + "1"
        steps.crawler.handle_failure(steps.requests.pop(A + "1"), FetchError("disconnected", "", temporary=True))
        turn(wait - 1)
        assert steps.next() == ""
        assert steps.crawler.seconds_to_wait() == pytest.approx(1, abs=0.01)
        turn(1.01)
    assert steps.next() == A + "1"
    steps.crawler.handle_failure(steps.requests.pop(A + "1"), FetchError("disconnected", "", temporary=True))
    turn(LIMITS.delay)
    assert (steps.next(), steps.crawler.has_more()) == ("", False)
    assert steps.crawler.report().not_kept == {"disconnected": 1}


def test_links_found_meanwhile_do_not_cut_a_wait_for_robots_txt_short(steps: Steps) -> None:
    begin(steps, B, A + "1")
    assert steps.next() == B + "robots.txt"
    assert steps.next() == A + "1"
    steps.answer(B + "robots.txt", status=500)
    steps.answer(A + "1", B + "more", A + "2")
    steps.now[0] += 6
    assert steps.next() == A + "2"
    steps.answer(A + "2")
    steps.now[0] += 6
    assert steps.next() == ""
    steps.now[0] += 40
    assert steps.next() == B + "robots.txt"


def test_robots_txt_is_asked_for_again_after_a_day(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(steps, A + "1", A + "2")
    assert steps.next() == A + "1"
    steps.answer(A + "1")
    steps.now[0] += 5
    later = time.time() + 90_000
    monkeypatch.setattr("pagekin.sources.robot.crawler.time.time", lambda: later)
    assert steps.next() == A + "robots.txt"
    steps.answer(A + "robots.txt")
    steps.now[0] += 5
    assert steps.next() == A + "2"


def test_http_and_https_of_a_host_share_its_peace_but_not_its_rules(steps: Steps) -> None:
    begin(steps, "https://a.rivers.example/s")
    assert steps.next() == "https://a.rivers.example/robots.txt"
    steps.answer("https://a.rivers.example/robots.txt")
    assert steps.next() == ""
    steps.now[0] += 5
    assert steps.next() == "https://a.rivers.example/s"
