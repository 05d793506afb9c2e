"""Pagekin finds a web page's kin.

import pagekin
kin = pagekin.open("site.kin")
for page in kin.related("https://docs.example/guide.html", k=5):
    print(page.similarity, page.url, page.title)
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pagekin.index import PageIndex

__version__ = "0.2.0"


def open(target: str | os.PathLike[str], *, compiled: bool = False, threads: int = 1) -> "PageIndex":
    """Open a collection (`site.kin`), a network's folder, or the address of a service, for questions.

    Pass compiled=True to ask a collection many questions: it takes some seconds, and each answer is then faster.
    """
    from pagekin.index import PageIndex

    return PageIndex(target, compiled=compiled, threads=threads)
