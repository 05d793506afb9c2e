"""Run a crawl: make the requests that the crawler hands out, and give it the responses."""

import asyncio
import signal
import sqlite3
from contextlib import suppress

from pagekin.sources.robot.crawler import Crawler, Request
from pagekin.sources.robot.exchange import FetchError
from pagekin.sources.robot.fetch import Fetcher
from pagekin.sources.robot.plan import CrawlError, CrawlPlan
from pagekin.sources.robot.report import CrawlReport
from pagekin.store import Progress


def run_crawl(plan: CrawlPlan, on_progress: Progress) -> CrawlReport:
    """Begin or resume the crawl of `plan` and run it to its end; CrawlError says why it cannot run."""
    crawler = Crawler(plan)
    try:
        asyncio.run(_make_requests(crawler, on_progress))
    except BaseException as error:
        crawler.stop("internal error")
        if isinstance(error, sqlite3.OperationalError):
            raise CrawlError(
                f"{plan.state_file} cannot be written: {error}. Run the same command to resume."
            ) from error
        raise
    finally:
        report = crawler.close()
    return report


async def _make_requests(crawler: Crawler, on_progress: Progress) -> None:
    """Make requests until the crawl ends; SIGINT and SIGTERM cancel those under way."""
    this = asyncio.current_task()
    assert this is not None

    def interrupt() -> None:
        if not crawler.stopped:
            crawler.stop("interrupted")
            this.cancel()

    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError, RuntimeError, ValueError):  # only the main thread receives signals
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, interrupt)
    tasks: set[asyncio.Task[None]] = set()
    fetcher = Fetcher(crawler.plan)
    try:
        while crawler.has_more():
            while request := crawler.next_request():
                tasks.add(asyncio.create_task(_make_request(crawler, fetcher, request)))
            wait = crawler.seconds_to_wait()
            if tasks:
                done, tasks = await asyncio.wait(tasks, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()  # an error of ours ends the crawl
            else:
                await asyncio.sleep(wait or 0)
            on_progress("crawling", crawler.progress)
    except asyncio.CancelledError:
        if not crawler.stopped:
            raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await fetcher.close()


async def _make_request(crawler: Crawler, fetcher: Fetcher, request: Request) -> None:
    """Make one request and give the crawler the response, or the reason why none came."""
    try:
        if request.entry is None:
            crawler.handle_robots(request, await fetcher.fetch_robots(request.origin))
        else:
            crawler.handle_page(request, await fetcher.fetch(request.entry.url, crawler.body_limit))
    except FetchError as error:
        crawler.handle_failure(request, error)
