"""Pagekin finds a web page's kin.

import pagekin
kin = pagekin.build("public_html", "site.kin", base_url="https://docs.example/")
for page in kin.related("https://docs.example/guide.html", limit=5):
    print(page.similarity, page.url, page.title)
"""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekin.index import PageIndex

__version__ = "1.0.0rc1"
__all__ = ["build", "open"]


def open(target: str | os.PathLike[str], *, compiled: bool = False, threads: int = 1) -> "PageIndex":
    """Open a collection (`site.kin`), a network's folder, or the address of a service, for questions.

    Pass compiled=True to ask a collection many questions: it takes some seconds, and each answer is then faster.
    """
    from pagekin.index import PageIndex

    return PageIndex(target, compiled=compiled, threads=threads)


def build(sources: Any, out: str | os.PathLike[str], **options: Any) -> "PageIndex":
    """Read and index web archives or folders of HTML, and open the collection `out`.

    The options are those of `pagekin build`; `pagekin.building.build` names them with their types.
    """
    from pagekin.building import build as build_collection

    build_collection(sources, out, **options)
    return open(out)
