"""A small web of pages about real things, made from fact files: for the tutorial, the tests and the demo.

The same call gives the same bytes on every machine; nothing is fetched and nothing but the standard
library is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pagekin.sources.demo.build import build_pages
from pagekin.sources.demo.facts import FactError, load_facts

__all__ = ["DemoPage", "FactError", "demo_directory", "demo_pages"]


@dataclass(frozen=True)
class DemoPage:
    """A page of the demo web: its address and its bytes as a server would send them."""

    url: str
    html: bytes


def demo_pages() -> Iterator[DemoPage]:
    """All pages of the demo web, in a fixed order."""
    for page in build_pages(load_facts()):
        yield DemoPage(page.url, page.html)


def demo_directory() -> list[tuple[str, str]]:
    """The human directory of the demo web: every page's address and its path, '/Level1/Level2/Level3'."""
    return [(page.url, page.path) for page in build_pages(load_facts())]
