"""Run a crawl: make the requests that it hands out, and give it the answers."""

import asyncio
import signal
import sqlite3
from collections.abc import Callable
from contextlib import suppress

from pagekin.sources.robot.fetch import Fetcher
from pagekin.sources.robot.fetched import FetchError
from pagekin.sources.robot.journey import Crawl, Task
from pagekin.sources.robot.plan import CrawlError, CrawlPlan
from pagekin.sources.robot.report import CrawlReport

Tell = Callable[[str, float], None]


def run_crawl(plan: CrawlPlan, tell: Tell) -> CrawlReport:
    """Crawl as `plan` says, resuming where an earlier run ended; CrawlError says why that is impossible."""
    crawl = Crawl(plan)
    try:
        asyncio.run(_run(crawl, tell))
    except sqlite3.OperationalError as error:
        crawl.stop("internal error")
        raise CrawlError(f"{plan.state} cannot be written: {error}. The same command resumes the crawl.") from error
    except BaseException:
        crawl.stop("internal error")
        raise
    finally:
        report = crawl.close()
    return report


async def _run(crawl: Crawl, tell: Tell) -> None:
    """Make requests until none is left; an interrupt cancels those under way."""
    this = asyncio.current_task()
    assert this is not None

    def interrupt() -> None:
        if not crawl.stopped:
            crawl.stop("interrupted")
            this.cancel()

    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError, ValueError):  # only the main thread receives signals
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    requests: set[asyncio.Task[None]] = set()
    fetcher = Fetcher(crawl.plan)
    try:
        while crawl.pending():
            while task := crawl.next_task():
                requests.add(asyncio.create_task(_request(crawl, fetcher, task)))
            wait = crawl.wake_in()
            if requests:
                done, requests = await asyncio.wait(requests, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    each.result()  # an error of ours ends the crawl
            else:
                await asyncio.sleep(wait or 0)
            tell("crawling", crawl.share)
    except asyncio.CancelledError:
        if not crawl.stopped:
            raise
    finally:
        for each in requests:
            each.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        await fetcher.close()


async def _request(crawl: Crawl, fetcher: Fetcher, task: Task) -> None:
    """Make one request and give the crawl its answer."""
    try:
        if task.entry is None:
            crawl.took_robots(task, await fetcher.fetch_robots(task.origin))
        else:
            crawl.took(task, await fetcher.fetch(task.entry.url, crawl.wanted))
    except FetchError as error:
        if task.entry is None:
            crawl.failed_robots(task, error)
        else:
            crawl.failed(task, error)
