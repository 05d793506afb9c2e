"""The demo web: a small web of pages about real things, made of fact files and templates.

It serves the tutorial, the tests and `pagekin demo`. The same call gives the same bytes on every machine; nothing is
fetched.
"""

from collections.abc import Iterator

from pagekin.sources.demo.facts import FactError, load_facts
from pagekin.sources.demo.markup import DemoPage
from pagekin.sources.demo.pages import build_pages

__all__ = ["DemoPage", "FactError", "demo_directory", "demo_pages"]


def demo_pages() -> Iterator[DemoPage]:
    """Generate all pages of the demo web, in a fixed order."""
    yield from build_pages(load_facts())


def demo_directory() -> list[tuple[str, str]]:
    """Return the directory of the demo web: each page's address and its path, '/Level1/Level2/Level3'."""
    return [(page.url, page.path) for page in demo_pages()]
