"""Generate all pages of the demo web."""

from __future__ import annotations

from collections.abc import Iterator

from pagekin.sources.demo.extras import MIRRORED_SITE, attic_pages, links_pages, mirror_pages, people_pages
from pagekin.sources.demo.facts import FactError, Facts
from pagekin.sources.demo.links import LinkMap
from pagekin.sources.demo.sites import DemoPage, site_pages


def build_pages(facts: Facts) -> Iterator[DemoPage]:
    """Generate every page once: the sites in order of their keys, then the smaller parts."""
    links = LinkMap(facts)
    seen: set[str] = set()
    for page in _all_pages(facts, links):
        if page.url in seen:
            raise FactError(f"two pages have the address {page.url}")
        seen.add(page.url)
        yield page


def _all_pages(facts: Facts, links: LinkMap) -> Iterator[DemoPage]:
    """Generate the pages of all parts of the web."""
    for site in facts.sites:
        prints = [item for item in facts.prints if item.page.startswith(f"{site.key}:")]
        pages = list(site_pages(site, links, prints))
        yield from pages
        if site.key == MIRRORED_SITE:
            yield from mirror_pages(pages, site.host)
    yield from people_pages(facts, links)
    yield from attic_pages(facts, links)
    yield from links_pages(facts, links)
