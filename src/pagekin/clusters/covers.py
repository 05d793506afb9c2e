"""How pages are listed for people: those of one document once, as the document."""

from collections.abc import Iterable

from pagekin.clusters.hierarchy import Tree


class DocumentCovers:
    """The documents of several pages, each known by its cover."""

    def __init__(self, documents: Tree | None) -> None:
        self._cover: dict[int, int] = {}
        self._pages: dict[int, int] = {}
        if documents is None:
            return
        for node in documents.children[0]:
            central, pages = documents.descriptions[node].central, documents.pages_of(node).tolist()
            if not pages:
                continue
            cover = central[0] if central else pages[0]
            self._cover |= dict.fromkeys(pages, cover)
            self._pages[cover] = len(pages)

    def fold(self, pages: Iterable[int]) -> list[int]:
        """Return pages that are alone and covers of documents, in the order of their first pages."""
        return list(dict.fromkeys(self._cover.get(page, page) for page in pages))

    def pages(self, page: int) -> int:
        """Return the number of pages of the document that a page covers; 1 if it is alone."""
        return self._pages.get(page, 1)
