"""Compare `pagekin crawl` with Scrapy on a site of this machine, without delays: pages per second.

    python benchmarks/crawl_speed.py [--pages 2000] [--rounds 3]

The site is served by a process of its own. Both robots obey robots.txt, walk breadth-first and ask for one page at a time.
Scrapy runs with its own middlewares, scheduler (queues in memory) and link extractor, and keeps nothing; Pagekin writes
the WARC file and the state from which it resumes after a kill.
"""

import argparse
import asyncio
import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from aiohttp import web

from pagekin.net import Guard, parse_allowed
from pagekin.sources import CrawlLimits, CrawlPlan, crawl

LINKS = 20
WORDS = 1_000


def serve(pages: int, pipe: Connection) -> None:
    """Serve a site of `pages` pages with random links; send the port through `pipe`."""
    numbers = random.Random(1)
    vocabulary = [f"word{n}" for n in range(5_000)]
    bodies = []
    for page in range(pages):
        targets = [page + 1, *(numbers.randrange(pages) for _ in range(LINKS))]
        links = "".join(f'<p><a href="/{target % pages}">page {target % pages}</a>' for target in targets)
        text = " ".join(numbers.choices(vocabulary, k=WORDS))
        bodies.append(f"<!doctype html><title>Page {page}</title><body><p>{text}{links}".encode())

    async def respond(request: web.Request) -> web.Response:
        name = request.path[1:]
        if not name.isdecimal():
            raise web.HTTPNotFound
        return web.Response(body=bodies[int(name)], content_type="text/html")

    async def run() -> None:
        app = web.Application()
        app.router.add_get("/{page:.*}", respond)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        pipe.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


def crawl_with_pagekin(url: str, pages: int) -> int:
    """Crawl into a temporary archive; return the number of pages."""
    limits = CrawlLimits(pages=10 * pages, depth=1_000, delay=0)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "site.warc.gz"
        return crawl(CrawlPlan(url, out, guard=Guard(parse_allowed(["loopback"])), limits=limits)).pages


def crawl_with_scrapy(url: str, _pages: int) -> int:
    """Crawl with Scrapy as it comes, breadth-first; return the number of pages."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    class Spider(scrapy.Spider):
        name = "peer"
        extractor = LinkExtractor()
        count = 0

        async def start(self) -> Any:
            yield scrapy.Request(url)

        def parse(self, response: Any, **_: Any) -> Any:
            Spider.count += 1
            for link in self.extractor.extract_links(response):
                yield scrapy.Request(link.url)

    process = CrawlerProcess({
        "ROBOTSTXT_OBEY": True, "DEPTH_PRIORITY": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": 0,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue", "LOG_ENABLED": False, "COOKIES_ENABLED": False,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue", "TELNETCONSOLE_ENABLED": False,
    })  # fmt: skip
    process.crawl(Spider)
    process.start()
    return Spider.count


def measure(robot: Callable[[str, int], int], url: str, pages: int, pipe: Connection) -> None:
    """Send the pages per second of one crawl through `pipe`."""
    begun = time.perf_counter()
    count = robot(url, pages)
    pipe.send((count, count / (time.perf_counter() - begun)))


def main() -> None:
    """Run both robots in turn and print the fastest round of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    server = spawn.Process(target=serve, args=(options.pages, there), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{here.recv()}/0"
    speeds: dict[str, float] = {}
    for _ in range(options.rounds):
        for name, robot in (("pagekin", crawl_with_pagekin), ("scrapy", crawl_with_scrapy)):
            process = spawn.Process(target=measure, args=(robot, url, options.pages, there))
            process.start()
            count, speed = here.recv()
            process.join()
            if count != options.pages:
                raise SystemExit(f"{name} found {count} of {options.pages} pages")
            speeds[name] = max(speeds.get(name, 0.0), speed)
    server.terminate()
    for name, speed in speeds.items():
        print(f"{name:<8} {speed:6.0f} pages/s  {speed / speeds['scrapy']:.2f} x")


if __name__ == "__main__":
    main()
