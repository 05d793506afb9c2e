"""The robot: it visits a site politely, page by page, and writes a WARC file.

`crawl(plan)` runs it. A crawl that was stopped or killed resumes when it is run again. `fetch_seeds` reads the sitemaps of a
site, for a crawl to begin with.
"""

from collections.abc import Callable
from dataclasses import replace

from pagekin.sources.robot.addresses import clean_url, has_credentials
from pagekin.sources.robot.plan import CrawlError, CrawlPlan
from pagekin.sources.robot.report import CrawlReport
from pagekin.sources.robot.seeds import Seeds


def crawl(plan: CrawlPlan, on_progress: Callable[[str, float], None] = lambda _stage, _share: None) -> CrawlReport:
    """Run the crawl that `plan` describes, or resume it; CrawlError says why it cannot run."""
    root = clean_url(plan.root)
    if root is None or has_credentials(root):
        raise CrawlError(f"'{plan.root}' is not a public http(s) address.")
    from pagekin.sources.robot.run import run_crawl  # imports aiohttp, which takes a quarter of a second

    return run_crawl(replace(plan, root=root), on_progress)


def fetch_seeds(plan: CrawlPlan, url: str) -> Seeds:
    """Fetch the addresses that a list, a sitemap, an index of sitemaps or a robots.txt names; CrawlError if there are none."""
    address = clean_url(url)
    if address is None or has_credentials(address):
        raise CrawlError(f"'{url}' is not a public http(s) address.")
    from pagekin.sources.robot.sitemaps import fetch_sitemap  # imports aiohttp

    return fetch_sitemap(plan, address)
