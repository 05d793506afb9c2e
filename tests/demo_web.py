"""The pages of the demo web, generated once for all tests of a process."""

from functools import cache

from pagekin.sources import Page
from pagekin.sources import demo_pages as generate_pages


@cache
def demo_pages() -> tuple[Page, ...]:
    """Return all pages of the demo web, in a fixed order."""
    return tuple(generate_pages())
