"""The crawl on Scrapy's engine: its scheduler asks the frontier, its downloader asks the network through the guard.

Scrapy's own queue does not survive a kill and its own handler connects anywhere, so both are ours; they plug in where
Scrapy lets them. Its engine runs on asyncio alone, without Twisted's reactor.
"""

import asyncio
import logging
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.http import Response

from pagekin.sources.robot.fetch import Fetcher
from pagekin.sources.robot.fetched import FetchError, StoppedError
from pagekin.sources.robot.journey import Crawl, Task
from pagekin.sources.robot.plan import CrawlError, CrawlPlan
from pagekin.sources.robot.report import CrawlReport

Tell = Callable[[str, float], None]
_TASK = "pagekin_task"
_ANSWER = "pagekin_answer"


class FrontierScheduler(BaseScheduler):
    """Gives Scrapy's engine the requests of the frontier, each when its host may be asked."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "FrontierScheduler":
        """The scheduler of a crawler."""
        return cls(crawler)

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._timer: asyncio.TimerHandle | None = None

    def open(self, spider: Spider) -> None:
        """Begin: the crawl is the spider's."""
        assert isinstance(spider, Robot)
        self._robot = spider
        self._crawl = spider.crawl
        spider.wake = self.wake

    def close(self, reason: str) -> None:
        """End."""
        if self._timer is not None:
            self._timer.cancel()

    def has_pending_requests(self) -> bool:
        """Whether there will be more requests."""
        return self._crawl.pending()

    def enqueue_request(self, request: Request) -> bool:
        """Nothing: the frontier is filled where pages are read, together with the archive."""
        return False

    def next_request(self) -> Request | None:
        """The next request; if there is none yet, the engine is called when there may be one."""
        task = None
        with self._robot.failing():
            task = self._crawl.next_task()
        if task is not None:
            url = task.entry.url if task.entry else f"{task.origin}/robots.txt"
            return Request(
                url, callback=self._robot.took, errback=self._robot.failed, meta={_TASK: task}, dont_filter=True
            )
        wait = self._crawl.wake_in()
        if wait is not None:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_later(wait + 0.001, self.wake)
        return None

    def wake(self) -> None:
        """Let the engine ask again; a request that nobody takes is Scrapy's public way to do so."""
        if self._crawler.engine is not None and self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(Request("http://wake.invalid/"))


class GuardedHandler(BaseDownloadHandler):
    """Makes Scrapy's requests through the address guard and within the limits of a page."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        assert isinstance(crawler.spider, Robot)
        self._crawl = crawler.spider.crawl
        self._fetcher = crawler.spider.fetcher

    async def download_request(self, request: Request) -> Response:
        """The answer to a request; the exchange is in the request's meta."""
        task: Task = request.meta[_TASK]
        if task.entry is None:
            last, seen = await self._fetcher.fetch_robots(task.origin)
            request.meta[_ANSWER] = last, seen
        else:
            last = await self._fetcher.fetch(task.entry.url, self._crawl.wanted)  # Scrapy respells a request's
            request.meta[_ANSWER] = last, [last]
        return Response(request.url, status=last.status, request=request)

    async def close(self) -> None:
        """Close all connections."""
        await self._fetcher.close()


class Robot(Spider):
    """Hands answers to the crawl."""

    name = "pagekin"

    def __init__(self, crawl: Crawl, fetcher: Fetcher, tell: Tell, faults: list[BaseException], **options: Any) -> None:
        super().__init__(**options)
        self.crawl = crawl
        self.fetcher = fetcher
        self._tell = tell
        self.wake: Callable[[], None] = lambda: None
        self.faults = faults

    def fail(self, error: BaseException) -> None:
        """Stop because of a mistake of ours."""
        self.faults.append(error)
        self.stop("internal error")

    def stop(self, why: str) -> None:
        """Ask for nothing more, and do not wait for what is under way."""
        self.crawl.stop(why)
        self.fetcher.stop()
        self.wake()

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: the frontier holds the root."""
        nothing: tuple[Any, ...] = ()
        for each in nothing:
            yield each

    def took(self, response: Response) -> None:
        """An answer came."""
        assert response.request is not None
        task: Task = response.request.meta[_TASK]
        last, seen = response.request.meta[_ANSWER]
        with self.failing():
            if task.entry is None:
                self.crawl.took_robots(task, last, seen)
            else:
                self.crawl.took(task, last)
        self._tell("crawling", self.crawl.share)

    def failed(self, failure: Any) -> None:
        """No answer came."""
        task: Task = failure.request.meta[_TASK]
        error = failure.value
        with self.failing():
            if isinstance(error, FetchError) and task.entry is None:
                self.crawl.failed_robots(task, error)
            elif isinstance(error, FetchError):
                self.crawl.failed(task, error)
            else:
                self.crawl.abandoned(task)
                if not isinstance(error, StoppedError):
                    raise error

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Stop at a mistake of ours: Scrapy would write it to a log and go on, or wait for ever."""
        try:
            yield
        except Exception as error:
            self.fail(error)


def _settings(hosts: int) -> dict[str, Any]:
    """Scrapy's settings: its engine alone, nothing that follows, retries, delays or remembers on its own."""
    handler = {scheme: None for scheme in ("data", "file", "ftp", "s3")}
    return {
        "TWISTED_REACTOR_ENABLED": False,
        "SCHEDULER": FrontierScheduler,
        "DOWNLOAD_HANDLERS": {**handler, "http": GuardedHandler, "https": GuardedHandler},
        "DOWNLOADER_MIDDLEWARES_BASE": {},
        "SPIDER_MIDDLEWARES_BASE": {},
        "EXTENSIONS_BASE": {},
        "CONCURRENT_REQUESTS": hosts,
        "CONCURRENT_REQUESTS_PER_DOMAIN": hosts,
        "CONCURRENT_ITEMS": 1,  # as many tasks are started for every answer
        "DOWNLOAD_DELAY": 0,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_ENABLED": False,
    }


def crawl(plan: CrawlPlan, tell: Tell = lambda _stage, _share: None) -> CrawlReport:
    """Crawl as `plan` says, resuming where an earlier run ended; CrawlError says why that is impossible."""
    return asyncio.run(_run(Crawl(plan), tell))


async def _run(crawl: Crawl, tell: Tell) -> CrawlReport:
    logging.getLogger("scrapy").setLevel(logging.CRITICAL)
    fetcher = Fetcher(crawl.plan)
    crawler = Crawler(Robot, _settings(crawl.limits.hosts))
    faults: list[BaseException] = []

    def interrupt() -> None:
        if isinstance(crawler.spider, Robot):
            crawler.spider.stop("interrupted")

    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError, ValueError):  # only the main thread hears signals
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    try:
        await AsyncCrawlerRunner({"TWISTED_REACTOR_ENABLED": False}).crawl(
            crawler, crawl=crawl, fetcher=fetcher, tell=tell, faults=faults
        )
    finally:
        await fetcher.close()
        report = crawl.close()
    for fault in faults:
        if isinstance(fault, sqlite3.OperationalError):
            raise CrawlError(f"{crawl.plan.state} cannot be written: {fault}. The same command goes on from here.")
        raise fault
    return report
