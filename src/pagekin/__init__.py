"""Pagekin finds a web page's kin.

import pagekin
index = pagekin.open("site.kin")
for page in index.related("https://docs.example/guide.html", k=5):
    print(page.similarity, page.url, page.title)
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagekin.similarity import RelatedIndex

__version__ = "0.2.0"


def open(path: str | os.PathLike[str]) -> "RelatedIndex":
    """The collection at `path`, made by `pagekin build`, open for questions."""
    from pagekin.similarity import RelatedIndex

    return RelatedIndex.open(path)
