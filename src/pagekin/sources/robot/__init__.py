"""The robot: visits a site, page by page and politely, and writes a WARC file that Pagekin reads like any other.

`crawl(plan)` does it; it needs Scrapy (`pip install 'pagekin[crawl]'`), which is loaded when it is called. A crawl that
is killed at any moment goes on where it was when it is asked for again.
"""

from collections.abc import Callable
from dataclasses import replace

from pagekin.sources.robot.addresses import clean_url, has_credentials
from pagekin.sources.robot.plan import (
    CRAWL_LIMITS,
    SCOPES,
    CrawlError,
    CrawlLimits,
    CrawlPlan,
    checked_limits,
    parse_crawl_limits,
)
from pagekin.sources.robot.report import CrawlReport

__all__ = [
    "CRAWL_LIMITS",
    "SCOPES",
    "CrawlError",
    "CrawlLimits",
    "CrawlPlan",
    "CrawlReport",
    "checked_limits",
    "crawl",
    "parse_crawl_limits",
]


def crawl(plan: CrawlPlan, tell: Callable[[str, float], None] = lambda _stage, _share: None) -> CrawlReport:
    """Crawl as `plan` says; CrawlError says why that is impossible, and when Scrapy is missing."""
    root = clean_url(plan.root)
    if root is None or has_credentials(root):
        raise CrawlError(f"'{plan.root}' is no http(s) address that anyone may visit.")
    from pagekin.sources.robot.run import run_crawl  # loads aiohttp, which takes a quarter of a second

    return run_crawl(replace(plan, root=root), tell)
