"""The demo web: a small web of pages about real things, made of fact files and templates.

It serves the tutorial, the tests and `pagekin demo`. The same call gives the same bytes on every machine; nothing is
fetched.
"""

from collections.abc import Iterator

from pagekin.sources.demo.facts import load_facts
from pagekin.sources.demo.pages import build_pages
from pagekin.sources.items import Page


def demo_pages() -> Iterator[Page]:
    """Generate all pages of the demo web, in a fixed order."""
    yield from build_pages(load_facts())
